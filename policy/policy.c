// SPDX-License-Identifier: GPL-2.0
/*
 * Policies: the table of them, and nothing they decide.
 *
 * Invariants: the tables are constant and the first entry of a kind is its default;
 * nswap_policy_validate() has accepted them before a node can be brought up, so
 * nobody tests a required member afterwards. Policies live in this module and
 * have no state of their own: no locks and no reference counts are needed to
 * switch, a pointer is replaced.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "policy.h"

#define PLACE_ENTRY(name)	&nswap_place_##name##_ops,
#define SIZE_ENTRY(name)	&nswap_size_##name##_ops,
#define READ_ENTRY(name)	&nswap_read_##name##_ops,

static const struct nswap_place_ops *const place_policies[] = {
	NSWAP_PLACE_POLICIES(PLACE_ENTRY)
};

static const struct nswap_size_ops *const size_policies[] = {
	NSWAP_SIZE_POLICIES(SIZE_ENTRY)
};

static const struct nswap_read_ops *const read_policies[] = {
	NSWAP_READ_POLICIES(READ_ENTRY)
};

static bool name_valid(const char *name, const char *help)
{
	return name && *name && strlen(name) < NSWAP_POLICY_NAME && help;
}

/* every entry complete, no name twice */
static int place_validate(const struct nswap_place_ops *const *table,
			  unsigned int nr)
{
	unsigned int i, j;

	if (!nr)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (!table[i] || !table[i]->pick ||
		    !name_valid(table[i]->name, table[i]->help))
			return -EINVAL;
		for (j = 0; j < i; j++)
			if (!strcmp(table[i]->name, table[j]->name))
				return -EINVAL;
	}
	return 0;
}

static int size_validate(const struct nswap_size_ops *const *table,
			 unsigned int nr)
{
	unsigned int i, j;

	if (!nr)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (!table[i] || !table[i]->lend ||
		    !name_valid(table[i]->name, table[i]->help))
			return -EINVAL;
		for (j = 0; j < i; j++)
			if (!strcmp(table[i]->name, table[j]->name))
				return -EINVAL;
	}
	return 0;
}

static int read_validate(const struct nswap_read_ops *const *table,
			 unsigned int nr)
{
	unsigned int i, j;

	if (!nr)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (!table[i] || !table[i]->pick ||
		    !name_valid(table[i]->name, table[i]->help))
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
	return place_validate(place_policies, ARRAY_SIZE(place_policies)) ?:
	       size_validate(size_policies, ARRAY_SIZE(size_policies)) ?:
	       read_validate(read_policies, ARRAY_SIZE(read_policies));
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

/**
 * nswap_size_find() - the size policy of a name
 * @name: as users write it
 *
 * Context: any.
 * Return: the policy, NULL if there is none of that name.
 */
const struct nswap_size_ops *nswap_size_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(size_policies); i++)
		if (!strcmp(size_policies[i]->name, name))
			return size_policies[i];
	return NULL;
}

/**
 * nswap_size_default() - what a node starts with
 *
 * Context: any.
 * Return: the first size policy of the table.
 */
const struct nswap_size_ops *nswap_size_default(void)
{
	return size_policies[0];
}

/**
 * nswap_size_nth() - the size policies, one after the other
 * @n: 0 for the first
 *
 * Context: any.
 * Return: the policy, NULL past the last.
 */
const struct nswap_size_ops *nswap_size_nth(unsigned int n)
{
	return n < ARRAY_SIZE(size_policies) ? size_policies[n] : NULL;
}

/**
 * nswap_read_find() - the reading policy of a name
 * @name: as users write it
 *
 * Context: any.
 * Return: the policy, NULL if there is none of that name.
 */
const struct nswap_read_ops *nswap_read_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(read_policies); i++)
		if (!strcmp(read_policies[i]->name, name))
			return read_policies[i];
	return NULL;
}

/**
 * nswap_read_default() - what a node starts with
 *
 * Context: any.
 * Return: the first reading policy of the table.
 */
const struct nswap_read_ops *nswap_read_default(void)
{
	return read_policies[0];
}

/**
 * nswap_read_nth() - the reading policies, one after the other
 * @n: 0 for the first
 *
 * Context: any.
 * Return: the policy, NULL past the last.
 */
const struct nswap_read_ops *nswap_read_nth(unsigned int n)
{
	return n < ARRAY_SIZE(read_policies) ? read_policies[n] : NULL;
}

static size_t add_name(char *buf, size_t len, size_t at, const char *name,
		       bool current_one)
{
	return at + scnprintf(buf + at, len - at, "%s%s%s%s", at ? " " : "",
			      current_one ? "[" : "", name,
			      current_one ? "]" : "");
}

/**
 * nswap_place_names() - the names of the placement policies in one line
 * @current_one: shown in brackets
 * @buf: where to
 * @len: bytes there
 *
 * Context: any.
 * Return: @buf.
 */
const char *nswap_place_names(const struct nswap_place_ops *current_one,
			      char *buf, size_t len)
{
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(place_policies); i++)
		at = add_name(buf, len, at, place_policies[i]->name,
			      place_policies[i] == current_one);
	return buf;
}

/**
 * nswap_size_names() - the names of the size policies in one line
 * @current_one: shown in brackets
 * @buf: where to
 * @len: bytes there
 *
 * Context: any.
 * Return: @buf.
 */
const char *nswap_size_names(const struct nswap_size_ops *current_one,
			     char *buf, size_t len)
{
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(size_policies); i++)
		at = add_name(buf, len, at, size_policies[i]->name,
			      size_policies[i] == current_one);
	return buf;
}

/**
 * nswap_read_names() - the names of the reading policies in one line
 * @current_one: shown in brackets
 * @buf: where to
 * @len: bytes there
 *
 * Context: any.
 * Return: @buf.
 */
const char *nswap_read_names(const struct nswap_read_ops *current_one,
			     char *buf, size_t len)
{
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(read_policies); i++)
		at = add_name(buf, len, at, read_policies[i]->name,
			      read_policies[i] == current_one);
	return buf;
}
