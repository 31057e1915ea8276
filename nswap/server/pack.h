/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packing: short pages of a device share pages of RAM.
 */
#ifndef NSWAP_PACK_H
#define NSWAP_PACK_H

#include "cache.h"

#define NSWAP_PACK_MOST	3072	/* bytes of a page that is packed */

/**
 * struct nswap_pack - the shared pages of a device; all under the cache's lock
 * @link: in its owner's @packs; in no list once its pages were taken from the owner
 * @owner: its owner, NULL likewise
 * @attached: what the owner said of it, or NULL
 * @instance: device instance
 * @pages: how many there are
 * @any: a bit for each list of @room that is not empty
 * @room: they are here, by the most units that are unused side by side
 */
struct nswap_pack {
	struct list_head link;
	struct nswap_owner *owner;
	struct nswap_attached *attached;
	u32 instance;
	u64 pages;
	u64 any;
	struct list_head room[NSWAP_CHUNK_UNITS];
};

/* the entry that begins at a unit of a shared page */
static inline struct nswap_entry *nswap_pack_at(const struct nswap_entry *shared,
						unsigned int unit)
{
	return page_address(shared->page) + unit * NSWAP_CHUNK_UNIT;
}

struct nswap_entry *nswap_pack(struct nswap_cache *c, struct nswap_owner *o,
			       struct nswap_entry *e, struct list_head *unused);
struct nswap_entry *nswap_pack_drop(struct nswap_cache *c, struct nswap_entry *e);
/* is an entry in the owner's tree, not being moved, and has no user but that? */
typedef bool (*nswap_pack_may)(struct nswap_owner *o, struct nswap_entry *e);

struct nswap_entry *nswap_pack_tidy(struct nswap_cache *c, struct nswap_owner *o,
				    nswap_pack_may may);
void nswap_pack_attach(struct nswap_cache *c, struct nswap_owner *o,
		       struct nswap_attached *a);
void nswap_pack_detach(struct nswap_cache *c, struct nswap_owner *o, u32 instance);
u64 nswap_pack_leave(struct nswap_owner *o);

#endif
