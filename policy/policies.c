// SPDX-License-Identifier: GPL-2.0
/*
 * Policies: the table of them, and no decisions.
 *
 * Invariants: the table is constant and the first policy of a kind is its
 * default; nswap_policy_validate() has accepted it before a node can be brought
 * up, so required members are not tested afterwards. Policies are part of this
 * module and have no state of their own, so switching needs no lock and no
 * reference count: a pointer is replaced.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "../prefetch/prefetch.h"
#include "policy.h"

#define PLACE_ROW(name)	&nswap_place_##name##_ops.is,
#define SIZE_ROW(name)	&nswap_size_##name##_ops.is,
#define READ_ROW(name)	&nswap_read_##name##_ops.is,
#define CHOICE_ROW(name) &nswap_prefetch_##name,

/**
 * struct policy_kind - one kind and its policies
 * @name: as users write it
 * @row: its policies, the default first, NULL behind the last
 * @needs: offset of the function that each must have, 0 for kinds of names only
 * @complete: further requirements on each; NULL if none
 */
struct policy_kind {
	const char *name;
	const struct nswap_policy *const *row;
	size_t needs;
	bool (*complete)(const struct nswap_policy *policy);
};

static bool which_complete(const struct nswap_policy *policy)
{
	const struct nswap_which_ops *ops =
		container_of(policy, struct nswap_which_ops, is);

	if (ops->choose)
		return !ops->look && !ops->arm;
	return ops->look && ops->arm && ops->arm < NSWAP_PREFETCH_ARMS;
}

#define ROWS(list, row) \
	(const struct nswap_policy *const[]){ list(row) NULL }

static const struct policy_kind kinds[NSWAP_POLICY_KINDS] = {
	[NSWAP_PLACE] = { "place", ROWS(NSWAP_PLACE_POLICIES, PLACE_ROW),
			  offsetof(struct nswap_place_ops, pick) },
	[NSWAP_SIZE] = { "size", ROWS(NSWAP_SIZE_POLICIES, SIZE_ROW),
			 offsetof(struct nswap_size_ops, lend) },
	[NSWAP_READ] = { "read", ROWS(NSWAP_READ_POLICIES, READ_ROW),
			 offsetof(struct nswap_read_ops, pick) },
	[NSWAP_PREFETCH_ENABLE] = { NSWAP_POLICY_PREFETCH "enable",
				    ROWS(NSWAP_ENABLE_CHOICES, CHOICE_ROW) },
	[NSWAP_PREFETCH_WHEN] = { NSWAP_POLICY_PREFETCH "when",
				  nswap_when_policies,
				  offsetof(struct nswap_when_ops, due) },
	[NSWAP_PREFETCH_COUNT] = { NSWAP_POLICY_PREFETCH "count",
				   nswap_count_policies,
				   offsetof(struct nswap_count_ops, pages) },
	[NSWAP_PREFETCH_WHICH] = { NSWAP_POLICY_PREFETCH "which",
				   nswap_which_policies,
				   0, which_complete },
	[NSWAP_PREFETCH_FROM] = { NSWAP_POLICY_PREFETCH "from",
				  ROWS(NSWAP_FROM_CHOICES, CHOICE_ROW) },
	[NSWAP_PREFETCH_TO] = { NSWAP_POLICY_PREFETCH "to",
				ROWS(NSWAP_TO_CHOICES, CHOICE_ROW) },
	[NSWAP_PREFETCH_AFTER] = { NSWAP_POLICY_PREFETCH "after",
				   ROWS(NSWAP_AFTER_CHOICES, CHOICE_ROW) },
};

static const struct nswap_policy *policy_find(const struct policy_kind *k,
					      const char *name)
{
	unsigned int i;

	for (i = 0; k->row[i]; i++)
		if (!strcmp(k->row[i]->name, name))
			return k->row[i];
	return NULL;
}

static bool policy_complete(const struct policy_kind *k,
			    const struct nswap_policy *p)
{
	if (!p->name || !*p->name || !p->help ||
	    strlen(p->name) >= NSWAP_POLICY_NAME ||
	    !strcmp(p->name, NSWAP_POLICY_FOLLOW))
		return false;
	if (k->needs && !*(void *const *)((const char *)p + k->needs))
		return false;
	return !k->complete || k->complete(p);
}

/* check that every policy is complete, no name is used twice, and all names fit */
static int policy_kind_validate(const struct policy_kind *k)
{
	size_t len = sizeof("[]") - 1;
	unsigned int i;

	for (i = 0; k->row[i]; i++) {
		if (!policy_complete(k, k->row[i]) ||
		    policy_find(k, k->row[i]->name) != k->row[i])
			return -EINVAL;
		len += strlen(k->row[i]->name) + 1;
	}
	return i && len <= NSWAP_POLICY_LIST ? 0 : -EINVAL;
}

/*
 * Called at module load, which fails with a broken policy. Returns 0; -EINVAL if a
 * policy lacks a required member, two of a kind share a name, or their names are too
 * long.
 */
int nswap_policy_validate(void)
{
	unsigned int kind;
	int ret = 0;

	for (kind = 0; kind < NSWAP_POLICY_KINDS && !ret; kind++)
		ret = policy_kind_validate(&kinds[kind]);
	return ret;
}

/* the kind of this name: enum nswap_policy_kind, or -ENOENT */
int nswap_policy_kind(const char *name)
{
	unsigned int kind;

	for (kind = 0; kind < NSWAP_POLICY_KINDS; kind++)
		if (!strcmp(kinds[kind].name, name))
			return kind;
	return -ENOENT;
}

const char *nswap_policy_kind_name(enum nswap_policy_kind kind)
{
	return kinds[kind].name;
}

/* the policy of this name, or NULL */
const struct nswap_policy *nswap_policy_find(enum nswap_policy_kind kind,
					     const char *name)
{
	return policy_find(&kinds[kind], name);
}

/* the n-th policy of a kind, NULL after the last */
const struct nswap_policy *nswap_policy_nth(enum nswap_policy_kind kind,
					    unsigned int n)
{
	return kinds[kind].row[n];
}

/*
 * The names of a kind's policies in one line; @current_one: shown in brackets; NULL
 * for none.
 */
const char *nswap_policy_names(enum nswap_policy_kind kind,
			       const struct nswap_policy *current_one,
			       char *buf, size_t len)
{
	const struct nswap_policy *p;
	unsigned int i;
	size_t at = 0;

	for (i = 0; (p = kinds[kind].row[i]); i++)
		at += scnprintf(buf + at, len - at, "%s%s%s%s", at ? " " : "",
				p == current_one ? "[" : "", p->name,
				p == current_one ? "]" : "");
	return buf;
}
