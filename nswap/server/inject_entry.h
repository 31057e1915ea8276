/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand that concern a page of the Nswap Cache; in test builds only.
 *
 * Invariant: a kept previous generation (entry->prev) belongs to its entry and
 * is put with it.
 */
#ifndef NSWAP_INJECT_ENTRY_H
#define NSWAP_INJECT_ENTRY_H

#include <linux/highmem.h>

#include "cache.h"
#include "core/inject.h"

#ifdef NSWAP_INJECT
/**
 * nswap_inject_keep_entry() - keep the generation that was replaced
 * @e: the new entry
 * @old: the entry it replaced
 *
 * Context: process, does not sleep.
 * Return: true if @old belongs to @e from now on.
 */
static inline bool nswap_inject_keep_entry(struct nswap_entry *e,
					   struct nswap_entry *old)
{
	if (!nswap_inject_keep() || old->prev)
		return false;
	e->prev = old;
	return true;
}

/**
 * nswap_inject_page() - what to send instead of a page
 * @e: entry that is asked for
 *
 * Context: process, does not sleep.
 * Return: another page to send, NULL to send the right one.
 */
static inline struct page *nswap_inject_page(struct nswap_entry *e)
{
	if (e->prev && nswap_inject_stale())
		return e->prev->page;
	if (nswap_inject_corrupt()) {
		u8 *p = kmap_local_page(e->page);

		p[1000] ^= 1;
		kunmap_local(p);
	}
	return NULL;
}
#else
static inline bool nswap_inject_keep_entry(struct nswap_entry *e,
					   struct nswap_entry *old)
{
	return false;
}

static inline struct page *nswap_inject_page(struct nswap_entry *e)
{
	return NULL;
}
#endif

#endif
