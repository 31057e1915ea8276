// SPDX-License-Identifier: GPL-2.0
/*
 * Reserve: how many pages each peer has promised to keep for a device, and how many of
 * its slots name that peer.
 *
 * Invariants:
 *  - What a peer has promised is what its last ATTACHED said; 0 for one that has said
 *    nothing in this session.
 *  - A slot counts at the peer that its entry names, from the moment it is sent there. The
 *    peer also counts copies that are obsolete and not yet freed, and second copies: it
 *    may refuse what looks as if there were room for it, never the other way round for
 *    long.
 *  - A count is a snapshot: stores that are placed at one moment may exceed it together.
 *    The peer refuses what is too much.
 *
 * Context: any; nothing here sleeps or allocates but nswap_reserve_init() and its
 * counterpart.
 */
#include <linux/atomic.h>
#include <linux/slab.h>

#include "device.h"
#include "reserve.h"

/**
 * struct nswap_reserve_at - one peer, by its index
 * @asked: pages it was asked for last, or has promised since
 * @promised: pages it has promised in this session
 * @there: slots that name it
 */
struct nswap_reserve_at {
	u32 asked;
	u32 promised;
	atomic_t there;
};

/**
 * struct nswap_reserve - the reserve of a device
 * @wanted: pages, at all peers together
 * @at: by index of the peer
 */
struct nswap_reserve {
	u32 wanted;
	struct nswap_reserve_at at[NSWAP_MAX_PEERS + 1];
};

/* @pages: 0 for none; process, sleeps. Returns 0, or -ENOMEM */
int nswap_reserve_init(struct nswap_device *dev, u32 pages)
{
	if (!pages)
		return 0;
	dev->reserve = kvzalloc_objs(*dev->reserve, 1);
	if (!dev->reserve)
		return -ENOMEM;
	dev->reserve->wanted = pages;
	return 0;
}

/* @dev: no slot of it changes any more; process, sleeps */
void nswap_reserve_exit(struct nswap_device *dev)
{
	kvfree(dev->reserve);
	dev->reserve = NULL;
}

/* pages of its reserve, 0 without one */
u32 nswap_reserve_wanted(const struct nswap_device *dev)
{
	return dev->reserve ? dev->reserve->wanted : 0;
}

/* pages that a peer was asked for */
u32 nswap_reserve_asked(const struct nswap_device *dev, u16 peer)
{
	return dev->reserve ? READ_ONCE(dev->reserve->at[peer].asked) : 0;
}

/* pages that a peer has promised */
u32 nswap_reserve_promised(const struct nswap_device *dev, u16 peer)
{
	return dev->reserve ? READ_ONCE(dev->reserve->at[peer].promised) : 0;
}

/* a peer is about to be asked */
void nswap_reserve_ask(struct nswap_device *dev, u16 peer, u32 pages)
{
	if (dev->reserve)
		WRITE_ONCE(dev->reserve->at[peer].asked, pages);
}

/* a peer said what it keeps */
void nswap_reserve_told(struct nswap_device *dev, u16 peer, u32 pages)
{
	if (!dev->reserve)
		return;
	WRITE_ONCE(dev->reserve->at[peer].asked, pages);
	WRITE_ONCE(dev->reserve->at[peer].promised, pages);
}

/* a peer refused pages of the reserve: no more go there before it has been asked again */
void nswap_reserve_refused(struct nswap_device *dev, u16 peer)
{
	if (dev->reserve)
		WRITE_ONCE(dev->reserve->at[peer].promised, 0);
}

/* pages that a peer has promised and that are not there yet */
u32 nswap_reserve_left(const struct nswap_device *dev, u16 peer)
{
	u32 promised = nswap_reserve_promised(dev, peer);
	int there = dev->reserve ? atomic_read(&dev->reserve->at[peer].there) : 0;

	return there < 0 || promised <= there ? 0 : promised - there;
}

/* an entry of a device with a reserve names another peer now; 0 for none */
void nswap_reserve_named(struct nswap_device *dev, u16 was, u16 now)
{
	if (was)
		atomic_dec(&dev->reserve->at[was].there);
	if (now)
		atomic_inc(&dev->reserve->at[now].there);
}
