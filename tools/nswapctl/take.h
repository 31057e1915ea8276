/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Taking attributes of replies apart. One that is missing reads as 0 or "".
 */
#ifndef NSWAPCTL_TAKE_H
#define NSWAPCTL_TAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "nl.h"

/* a list that grows while a dump comes in */
struct growing {
	char *entry;
	size_t size;
	size_t nr;
	size_t room;
};

static inline void *one_more(struct growing *g)
{
	if (g->nr == g->room) {
		g->room = g->room ? 2 * g->room : 16;
		g->entry = realloc(g->entry, g->room * g->size);
		if (!g->entry)
			ctl_refuse("no memory");
	}
	memset(g->entry + g->nr * g->size, 0, g->size);
	return g->entry + g->nr++ * g->size;
}

static inline uint64_t u64_of(const struct nlattr *a)
{
	return a ? nla_get_u64(a) : 0;
}

static inline uint32_t u32_of(const struct nlattr *a)
{
	return a ? nla_get_u32(a) : 0;
}

static inline void text_of(const struct nlattr *a, char *buf, size_t len)
{
	if (a)
		snprintf(buf, len, "%.*s", nla_len(a),
			 (const char *)nla_data(a));
}

static inline void nested(struct nlattr **tb, int max, struct nlattr *nest)
{
	if (nest && nla_parse_nested(tb, max, nest, NULL))
		ctl_refuse("the module's reply makes no sense");
}

#endif
