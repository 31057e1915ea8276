// SPDX-License-Identifier: GPL-2.0
/*
 * Policies: the table of them, and nothing they decide.
 *
 * Invariants: the table is constant and its first entry is the default;
 * nswap_policy_validate() has accepted it before a node can be brought up, so
 * nobody tests a required member afterwards. Policies live in this module and
 * have no state of their own: no locks and no reference counts are needed to
 * switch, a pointer is replaced.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "policy.h"

static const struct nswap_place_ops *const place_policies[] = {
	&nswap_place_most_free_ops,
	&nswap_place_rr_ops,
};

static bool place_valid(const struct nswap_place_ops *ops)
{
	return ops && ops->name && *ops->name &&
	       strlen(ops->name) < NSWAP_POLICY_NAME && ops->help && ops->pick;
}

/* every entry complete, no name twice */
static int place_validate(const struct nswap_place_ops *const *table,
			  unsigned int nr)
{
	unsigned int i, j;

	if (!nr)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (!place_valid(table[i]))
			return -EINVAL;
		for (j = 0; j < i; j++)
			if (!strcmp(table[i]->name, table[j]->name))
				return -EINVAL;
	}
	return 0;
}

/**
 * nswap_policy_validate() - refuse to load with a broken policy
 *
 * Context: process context, at module load.
 * Return: 0; -EINVAL if a policy lacks a required member, or two share a name.
 */
int nswap_policy_validate(void)
{
	return place_validate(place_policies, ARRAY_SIZE(place_policies));
}

/**
 * nswap_place_find() - the placement policy of a name
 * @name: as users write it
 *
 * Context: any.
 * Return: the policy, NULL if there is none of that name.
 */
const struct nswap_place_ops *nswap_place_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(place_policies); i++)
		if (!strcmp(place_policies[i]->name, name))
			return place_policies[i];
	return NULL;
}

/**
 * nswap_place_default() - what a node starts with
 *
 * Context: any.
 * Return: the first placement policy of the table.
 */
const struct nswap_place_ops *nswap_place_default(void)
{
	return place_policies[0];
}

/**
 * nswap_place_nth() - the placement policies, one after the other
 * @n: 0 for the first
 *
 * Context: any.
 * Return: the policy, NULL past the last.
 */
const struct nswap_place_ops *nswap_place_nth(unsigned int n)
{
	return n < ARRAY_SIZE(place_policies) ? place_policies[n] : NULL;
}
