/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection in the server: the hooks in its path, in test builds only
 * (make INJECT=1). Without NSWAP_INJECT they are empty. Implementation:
 * inject_store.c.
 */
#ifndef NSWAP_INJECT_ENTRY_H
#define NSWAP_INJECT_ENTRY_H

#include "cache.h"
#include "core/inject.h"

#ifdef NSWAP_INJECT
bool nswap_inject_store(struct nswap_srv_conn *conn, struct list_head *entries);
int nswap_inject_answer(struct nswap_srv_conn *conn);
struct nswap_entry *nswap_inject_entry(struct nswap_entry *e);
bool nswap_inject_keep_entry(struct nswap_entry *e, struct nswap_entry *old);
#else
static inline bool nswap_inject_store(struct nswap_srv_conn *conn,
				      struct list_head *entries)
{
	return true;
}

static inline int nswap_inject_answer(struct nswap_srv_conn *conn)
{
	return 0;
}

static inline struct nswap_entry *nswap_inject_entry(struct nswap_entry *e)
{
	return e;
}

static inline bool nswap_inject_keep_entry(struct nswap_entry *e,
					   struct nswap_entry *old)
{
	return false;
}
#endif

#endif
