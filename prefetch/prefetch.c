// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policies: the tables of them, and nothing they decide.
 *
 * Invariants: the tables are constant and the first row of a kind is its
 * default; nswap_prefetch_validate() has accepted them before a node can be
 * brought up. Policies have no state of their own: to switch, a pointer is
 * replaced.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "prefetch.h"

static const struct nswap_prefetch_choice off = {
	.name = "off", .help = "no page is prefetched",
};

const struct nswap_prefetch_choice nswap_prefetch_on = {
	.name = "on", .help = "pages are brought nearer ahead of their use",
};

static const struct nswap_prefetch_choice ram = {
	.name = "ram", .help = "pages that peers hold",
};

const struct nswap_prefetch_choice nswap_prefetch_disk = {
	.name = "disk", .help = "pages at home",
};

static const struct nswap_prefetch_choice flash = {
	.name = "flash", .help = "to the flash of the device, see after",
};

static const struct nswap_prefetch_choice to_ram = {
	.name = "ram", .help = "to peers, which then have the only copy",
};

static const struct nswap_prefetch_choice copy = {
	.name = "copy", .help = "the peer keeps its copy",
};

const struct nswap_prefetch_choice nswap_prefetch_move = {
	.name = "move", .help = "the peer drops its copy",
};

static const struct nswap_prefetch_choice *const enable_rows[] = {
	&off, &nswap_prefetch_on,
};

static const struct nswap_prefetch_choice *const when_rows[] = {
	&nswap_when_always_ops.is,
	&nswap_when_swapping_ops.is,
	&nswap_when_idle_ops.is,
	&nswap_when_adaptive_ops.is,
};

static const struct nswap_prefetch_choice *const count_rows[] = {
	&nswap_count_out_ops.is,
	&nswap_count_used_ops.is,
	&nswap_count_adaptive_ops.is,
};

static const struct nswap_prefetch_choice *const which_rows[] = {
	&nswap_which_rr_ops.is,
	&nswap_which_rand_ops.is,
	&nswap_which_lrs_ops.is,
	&nswap_which_mrs_ops.is,
	&nswap_which_adaptive_ops.is,
};

static const struct nswap_prefetch_choice *const from_rows[] = {
	&ram, &nswap_prefetch_disk,
};

static const struct nswap_prefetch_choice *const to_rows[] = {
	&flash, &to_ram,
};

static const struct nswap_prefetch_choice *const after_rows[] = {
	&copy, &nswap_prefetch_move,
};

/* the ways there are; each from stands here once */
static const struct {
	const struct nswap_prefetch_choice *from;
	const struct nswap_prefetch_choice *to;
} ways[] = {
	{ &ram, &flash },
	{ &nswap_prefetch_disk, &to_ram },
};

/**
 * struct kind - one kind and its rows
 * @name: as users write it
 * @row: its choices, the default first
 * @nr: how many
 */
struct kind {
	const char *name;
	const struct nswap_prefetch_choice *const *row;
	unsigned int nr;
};

#define KIND(rows, text) \
	{ .name = text, .row = rows, .nr = ARRAY_SIZE(rows) }

static const struct kind kinds[NSWAP_PREFETCH_KINDS] = {
	[NSWAP_PREFETCH_ENABLE] = KIND(enable_rows, "enable"),
	[NSWAP_PREFETCH_WHEN] = KIND(when_rows, "when"),
	[NSWAP_PREFETCH_COUNT] = KIND(count_rows, "count"),
	[NSWAP_PREFETCH_WHICH] = KIND(which_rows, "which"),
	[NSWAP_PREFETCH_FROM] = KIND(from_rows, "from"),
	[NSWAP_PREFETCH_TO] = KIND(to_rows, "to"),
	[NSWAP_PREFETCH_AFTER] = KIND(after_rows, "after"),
};

static bool row_valid(const struct kind *k, unsigned int n)
{
	const struct nswap_prefetch_choice *c = k->row[n];
	unsigned int i;

	if (!c || !c->name || !*c->name ||
	    strlen(c->name) >= NSWAP_PREFETCH_NAME || !c->help)
		return false;
	for (i = 0; i < n; i++)
		if (!strcmp(k->row[i]->name, c->name))
			return false;
	return true;
}

static bool which_valid(const struct nswap_which_ops *ops)
{
	if (ops->choose)
		return !ops->look && !ops->arm;
	return ops->look && ops->arm && ops->arm < NSWAP_PREFETCH_ARMS;
}

static bool ops_valid(enum nswap_prefetch_kind kind,
		      const struct nswap_prefetch_choice *c)
{
	switch (kind) {
	case NSWAP_PREFETCH_WHEN:
		return container_of(c, struct nswap_when_ops, is)->due;
	case NSWAP_PREFETCH_COUNT:
		return container_of(c, struct nswap_count_ops, is)->pages;
	case NSWAP_PREFETCH_WHICH:
		return which_valid(container_of(c, struct nswap_which_ops, is));
	default:
		return true;
	}
}

/* every row complete, no name twice */
static int kind_validate(const struct kind *k, enum nswap_prefetch_kind kind)
{
	unsigned int i;

	if (!k->nr)
		return -EINVAL;
	for (i = 0; i < k->nr; i++)
		if (!row_valid(k, i) || !ops_valid(kind, k->row[i]))
			return -EINVAL;
	return 0;
}

/**
 * nswap_prefetch_validate() - refuse to load with a broken policy
 *
 * Context: process context, at module load.
 * Return: 0; -EINVAL if a policy lacks a required member, or two share a name.
 */
int nswap_prefetch_validate(void)
{
	unsigned int kind;
	int ret = 0;

	for (kind = 0; kind < NSWAP_PREFETCH_KINDS && !ret; kind++)
		ret = kind_validate(&kinds[kind], kind);
	return ret;
}

/**
 * nswap_prefetch_kind_name() - the name of a kind
 * @kind: kind
 *
 * Context: any.
 * Return: as users write it.
 */
const char *nswap_prefetch_kind_name(enum nswap_prefetch_kind kind)
{
	return kinds[kind].name;
}

/**
 * nswap_prefetch_kind_find() - the kind of a name
 * @name: as users write it
 *
 * Context: any.
 * Return: enum nswap_prefetch_kind, -ENOENT if there is none of that name.
 */
int nswap_prefetch_kind_find(const char *name)
{
	unsigned int kind;

	for (kind = 0; kind < NSWAP_PREFETCH_KINDS; kind++)
		if (!strcmp(kinds[kind].name, name))
			return kind;
	return -ENOENT;
}

/**
 * nswap_prefetch_find() - the choice of a name
 * @kind: among which
 * @name: as users write it
 *
 * Context: any.
 * Return: the choice, NULL if there is none of that name.
 */
const struct nswap_prefetch_choice *
nswap_prefetch_find(enum nswap_prefetch_kind kind, const char *name)
{
	const struct kind *k = &kinds[kind];
	unsigned int i;

	for (i = 0; i < k->nr; i++)
		if (!strcmp(k->row[i]->name, name))
			return k->row[i];
	return NULL;
}

/**
 * nswap_prefetch_nth() - the choices, one after the other
 * @kind: of which
 * @n: 0 for the first, the default
 *
 * Context: any.
 * Return: the choice, NULL past the last.
 */
const struct nswap_prefetch_choice *
nswap_prefetch_nth(enum nswap_prefetch_kind kind, unsigned int n)
{
	return n < kinds[kind].nr ? kinds[kind].row[n] : NULL;
}

/**
 * nswap_prefetch_names() - the names of the choices in one line
 * @kind: of which
 * @current_one: shown in brackets
 * @buf: where to
 * @len: bytes there
 *
 * Context: any.
 * Return: @buf.
 */
const char *nswap_prefetch_names(enum nswap_prefetch_kind kind,
				 const struct nswap_prefetch_choice *current_one,
				 char *buf, size_t len)
{
	const struct kind *k = &kinds[kind];
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < k->nr; i++) {
		bool now = k->row[i] == current_one;

		at += scnprintf(buf + at, len - at, "%s%s%s%s", at ? " " : "",
				now ? "[" : "", k->row[i]->name,
				now ? "]" : "");
	}
	return buf;
}

/**
 * nswap_prefetch_to_of() - where pages of a place are brought
 * @from: a choice of NSWAP_PREFETCH_FROM
 *
 * Context: any.
 * Return: the choice of NSWAP_PREFETCH_TO that goes with it, the only one.
 */
const struct nswap_prefetch_choice *
nswap_prefetch_to_of(const struct nswap_prefetch_choice *from)
{
	unsigned int i = 0;

	while (ways[i].from != from)
		i++;
	return ways[i].to;
}

/**
 * nswap_prefetch_ways() - from where to where pages are brought, in one line
 * @buf: where to
 * @len: bytes there
 *
 * Context: any.
 * Return: @buf.
 */
const char *nswap_prefetch_ways(char *buf, size_t len)
{
	unsigned int i;
	size_t at = 0;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		at += scnprintf(buf + at, len - at, "%s%s to %s",
				at ? " or " : "", ways[i].from->name,
				ways[i].to->name);
	return buf;
}
