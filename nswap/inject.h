/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand, in test builds only (make INJECT=1). Without NSWAP_INJECT
 * every question here is answered "no" by the compiler.
 */
#ifndef NSWAP_INJECT_H
#define NSWAP_INJECT_H

#include <linux/types.h>

struct nswap_entry;

#ifdef NSWAP_INJECT
bool nswap_inject_keep(struct nswap_entry *e, struct nswap_entry *old);
struct page *nswap_inject_page(struct nswap_entry *e);
bool nswap_inject_cut_ack(void);
bool nswap_inject_drop_ack(void);
bool nswap_inject_refuse(void);
#else
static inline bool nswap_inject_keep(struct nswap_entry *e,
				     struct nswap_entry *old)
{
	return false;
}

static inline struct page *nswap_inject_page(struct nswap_entry *e)
{
	return NULL;
}

static inline bool nswap_inject_cut_ack(void)
{
	return false;
}

static inline bool nswap_inject_drop_ack(void)
{
	return false;
}

static inline bool nswap_inject_refuse(void)
{
	return false;
}
#endif

#endif
