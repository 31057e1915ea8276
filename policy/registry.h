/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policies by kind and name.
 *
 * A policy is a constant table with struct nswap_policy as its first member
 * @is; the code that decides by it gets the rest with container_of().
 */
#ifndef NSWAP_REGISTRY_H
#define NSWAP_REGISTRY_H

#include <linux/container_of.h>
#include <linux/types.h>

#define NSWAP_POLICY_NAME	20	/* longest name, with its NUL */
#define NSWAP_POLICY_LIST	72	/* all names of one kind, with two brackets */
#define NSWAP_POLICY_FOLLOW	"default" /* for a device: use the node's */
#define NSWAP_POLICY_PREFETCH	"prefetch-" /* prefix of the kinds of prefetch */

/**
 * enum nswap_policy_kind - what a policy decides
 * @NSWAP_PLACE: which peer gets a page-out
 * @NSWAP_SIZE: how much the node lends
 * @NSWAP_READ: which copy of a page is read
 * @NSWAP_PREFETCH_ENABLE: prefetch at all?
 * @NSWAP_PREFETCH_WHEN: is this a moment to do it?
 * @NSWAP_PREFETCH_COUNT: how many pages?
 * @NSWAP_PREFETCH_WHICH: which ones?
 * @NSWAP_PREFETCH_FROM: from which tier?
 * @NSWAP_PREFETCH_TO: to which tier? another than the one they are in
 * @NSWAP_PREFETCH_AFTER: what happens to the first copy
 * @NSWAP_POLICY_KINDS: number of kinds
 */
enum nswap_policy_kind {
	NSWAP_PLACE,
	NSWAP_SIZE,
	NSWAP_READ,
	NSWAP_PREFETCH_ENABLE,
	NSWAP_PREFETCH_WHEN,
	NSWAP_PREFETCH_COUNT,
	NSWAP_PREFETCH_WHICH,
	NSWAP_PREFETCH_FROM,
	NSWAP_PREFETCH_TO,
	NSWAP_PREFETCH_AFTER,
	NSWAP_POLICY_KINDS,
};

/**
 * struct nswap_policy - first member of every policy
 * @name: as users write it (required)
 * @help: one line for users (required)
 */
struct nswap_policy {
	const char *name;
	const char *help;
};

int nswap_policy_validate(void);
int nswap_policy_kind(const char *name);
const char *nswap_policy_kind_name(enum nswap_policy_kind kind);
const struct nswap_policy *nswap_policy_find(enum nswap_policy_kind kind,
					     const char *name);
const struct nswap_policy *nswap_policy_nth(enum nswap_policy_kind kind,
					    unsigned int n);
const char *nswap_policy_names(enum nswap_policy_kind kind,
			       const struct nswap_policy *current_one,
			       char *buf, size_t len);

#endif
