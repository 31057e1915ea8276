/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write cache of a device: pages that were written, kept in front of the client role.
 */
#ifndef NSWAP_CLIENT_WRITE_CACHE_H
#define NSWAP_CLIENT_WRITE_CACHE_H

#include "core/device.h"
#include "core/request.h"
#include "core/write_cache.h"

struct nswap_device_view;

/**
 * struct nswap_wc_batch - dirty pages of adjacent slots on their way out
 * @io: the page-out
 * @cache: whose they are
 * @link: on its list of those that are idle
 * @entry: they
 */
struct nswap_wc_batch {
	struct nswap_io io;
	struct nswap_write_cache *cache;
	struct list_head link;
	struct nswap_wc_entry *entry[NSWAP_REQ_SLOTS];
};

/* do its page-outs end when their pages are in its cache? any context */
static inline bool nswap_pageouts_early(const struct nswap_device *dev)
{
	return dev->write_cache && dev->write_cache->early;
}

int nswap_write_cache_init(struct nswap_device *dev, u64 bytes, bool early);
void nswap_write_cache_stop(struct nswap_device *dev);
void nswap_write_cache_exit(struct nswap_device *dev);
void nswap_write_cache_look(struct nswap_device *dev, struct nswap_device_view *v);

bool nswap_cached_write(struct nswap_io *io, bool early);
void nswap_cached_free(struct nswap_device *dev, u64 slot);
void nswap_cached_discard(struct nswap_device *dev, u64 first, u64 end);
bool nswap_cached_flush(struct nswap_io *io);

u32 nswap_cached_dirty(const struct nswap_write_cache *w);
void nswap_cached_left(struct nswap_write_cache *w, const struct nswap_wc_entry *e);
u8 nswap_cached_next_state(struct nswap_device *dev, u32 slot);
void nswap_cached_kept_soon(struct nswap_write_cache *w);
void nswap_cached_kept_work(struct work_struct *work);
void nswap_cached_send_work(struct work_struct *work);
void nswap_cached_send_soon(struct nswap_write_cache *w);
void nswap_cached_flush_end(struct nswap_write_cache *w);

#endif
