// SPDX-License-Identifier: GPL-2.0
/*
 * What a device has chosen itself, in lists.
 */
#include <stdio.h>

#include "json.h"
#include "view.h"

char view_mark(const struct view_policy *p, const char *device)
{
	if (!p->current)
		return ' ';
	return device && !p->own ? '+' : '*';
}

void view_print_own(const struct view_device *d)
{
	size_t i;

	for (i = 0; i < d->nr_own; i++)
		printf("%s%s=%s", i ? "," : "", d->own[i].kind, d->own[i].name);
	puts(d->nr_own ? "" : "-");
}

void view_json_own(const struct view_device *d)
{
	size_t i;

	json_object("policies");
	for (i = 0; i < d->nr_own; i++)
		json_string(d->own[i].kind, d->own[i].name);
	json_end();
}
