/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices whose pages do not leave as programs wrote them: compressed, sealed, or both.
 */
#ifndef NSWAP_CLIENT_WRAP_H
#define NSWAP_CLIENT_WRAP_H

#include <linux/spinlock.h>

#include "core/device.h"
#include "core/request.h"
#include "pure/compress_page.h"

/**
 * struct nswap_wrap - what such a device has
 * @compressor: compresses its pages; its kind is NSWAP_COMPRESS_OFF if they are not
 * @shorts: side table of struct nswap_short, NULL likewise
 * @lock: protects all below
 * @turn: changes once a change of the key has begun (seal_key.c)
 * @busy: page-outs that have taken pages of the pool, by what @turn was then
 * @page: pages of the pool that are not used, POOL_PAGES at most
 * @nr: how many
 * @waiting: the request that is to get the next ones
 * @wanted: how many it needs
 */
struct nswap_wrap {
	struct nswap_compressor compressor;
	struct nswap_side_table *shorts;
	spinlock_t lock;
	u8 turn;
	u32 busy[2];
	struct page **page;
	u32 nr;
	const struct nswap_io *waiting;
	u32 wanted;
};

/* are pages of a device compressed? any context */
static inline bool nswap_compresses(const struct nswap_device *dev)
{
	return dev->wrap && dev->wrap->shorts;
}

/*
 * Does a page that opened say nothing unless its slot has not changed since? Without a seal
 * it may have been expanded as another one. Any context.
 */
static inline bool nswap_wrap_doubted(const struct nswap_device *dev)
{
	return dev->wrap && !dev->sealer;
}

int nswap_wrap_init(struct nswap_device *dev, bool seal, enum nswap_compress compress);
void nswap_wrap_exit(struct nswap_device *dev);
bool nswap_wrap_ready(struct nswap_io *io);
void nswap_wrap_slot(struct nswap_io *io, unsigned int i);
void nswap_wrap_keep(struct nswap_io *io, unsigned int i);
void nswap_wrap_sent(struct nswap_device *dev, struct nswap_io *io);
bool nswap_wrap_open(struct nswap_device *dev, u64 slot, struct page *page, bool keep);
bool nswap_wrap_again(struct nswap_io *io, unsigned int i);
bool nswap_wrap_plain(struct nswap_io *io, unsigned int i);
void nswap_wrap_broken(struct nswap_device *dev, u64 slot, const char *where);
void nswap_wrap_broken_at(struct nswap_device *dev, u64 slot, const struct nswap_slot *at);

#endif
