// SPDX-License-Identifier: GPL-2.0
/*
 * Parking of page-ins, at the block layer's side: bios leave a request whose slots
 * have to wait for a peer, and become requests again.
 *
 *   request: some slots wait -> their bios to the peer, the request ends
 *   bios that may go on      -> a request each run of adjacent ones
 *
 * A tag is for what is under way. So what waits for a peer, perhaps for dead_after_ms,
 * keeps none; nor does it keep the queue from being frozen.
 *
 * Invariants:
 *  - A bio leaves its request whole: with all of its slots, those that have been
 *    read already included. One with a slot that failed stays, and fails.
 *  - It goes on as a prepared request and is not submitted again: what throttles a
 *    bio has counted it, and counts its end once.
 *  - Nothing is allocated and no tag is waited for: bios without one stay ready until
 *    a page-in ends, or the next tick.
 */
#include <linux/blk-mq.h>

#include "core/client_state.h"
#include "core/device.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "pagein_copy.h"
#include "park.h"
#include "peers/parked.h"
#include "peers/peer.h"
#include "rebuild.h"
#include "request_queue.h"

/* to the peer to be asked for this slot; one that cannot be waited for: look again now */
static void park_bio(struct nswap_io *io, struct bio *bio, unsigned int i)
{
	struct nswap_node *node = io->dev->node;
	struct nswap_slot s = nswap_slot_look(io->dev, io->slot[i]);
	struct bio_list ready = BIO_EMPTY_LIST;
	struct nswap_peer *peer;
	int ret = -EHOSTDOWN;

	peer = nswap_slot_at_peer(&s) ?
	       nswap_peer_get(node, nswap_copy_place(io, i, &s)) : NULL;
	if (peer) {
		ret = nswap_parked_add(io->dev, peer, bio, io->since);
		/* it may be late: look */
		if (!ret && READ_ONCE(peer->state) == NSWAP_PEER_UP)
			nswap_client_tick_soon(node);
		nswap_peer_put(peer);
	}
	if (!ret)
		return;
	nswap_parked_mark(bio, io->since);
	atomic_inc(&node->client->nr_parked);
	bio_list_add(&ready, bio);
	nswap_client_ready(node, &ready);
}

/**
 * nswap_park() - end a page-in, but for the bios whose slots wait for a peer
 * @io: request the caller dispatches, nothing of it under way; not to be touched
 *	afterwards
 *
 * Context: process, page-in path; does not sleep.
 */
void nswap_park(struct nswap_io *io)
{
	struct request *rq = blk_mq_rq_from_pdu(io);
	struct bio_list kept = BIO_EMPTY_LIST;
	unsigned int at = 0, nr = 0, n;
	unsigned long failed = 0, opened = 0, mine;
	struct bio *bio, *next;

	/* what is left of it was read from the visible device (pagein_cell.c) */
	if (nswap_is_cells(io->dev))
		io->dev = io->dev->outer;
	for (bio = rq->bio; bio; bio = next, at += n) {
		next = bio->bi_next;
		bio->bi_next = NULL;
		n = bio->bi_iter.bi_size / PAGE_SIZE;
		mine = GENMASK(at + n - 1, at);
		if (io->lost & mine && !(io->failed & mine)) {
			nswap_rebuild_add(io->dev->parity, bio, io->since);
			continue;
		}
		if (io->parked & mine && !(io->failed & mine)) {
			park_bio(io, bio, __ffs(io->parked & mine));
			continue;
		}
		failed |= (io->failed & mine) >> at << nr;
		opened |= (io->opened & mine) >> at << nr;
		nr += n;
		bio_list_add(&kept, bio);
	}
	rq->bio = kept.head;
	rq->biotail = kept.tail;
	rq->__data_len = nr * PAGE_SIZE;
	io->failed = failed;
	io->opened = opened;
	io->parked = 0;
	io->lost = 0;
	io->nr = nr;
	nswap_request_end(io);
}

/* were these bios parked? then the page-in came when the oldest of them did */
bool nswap_park_resumed(struct nswap_io *io, struct bio *bio)
{
	unsigned long since;

	if (!nswap_parked_marked(bio))
		return false;
	io->since = nswap_parked_unmark(bio);
	while ((bio = bio->bi_next)) {
		if (!nswap_parked_marked(bio))
			continue;
		since = nswap_parked_unmark(bio);
		if (time_before(since, io->since))
			io->since = since;
	}
	return true;
}

/* the next one, if it can be part of the request */
static bool park_append(struct request *rq, struct bio_list *bios)
{
	struct bio *bio = bio_list_pop(bios);
	bool fits;

	if (!bio)
		return false;
	fits = !rq->bio ||
	       (bio->bi_bdev == rq->bio->bi_bdev &&
		bio_end_sector(rq->biotail) == bio->bi_iter.bi_sector);
	if (fits && !blk_rq_append_bio(rq, bio))
		return true;
	bio_list_add_head(bios, bio);
	return false;
}

/* the request is not to be: its bios are the first of @bios again */
static void park_undo(struct request *rq, struct bio_list *bios)
{
	struct bio_list back = { .head = rq->bio, .tail = rq->biotail };

	bio_list_merge_head(bios, &back);
	rq->bio = NULL;
	rq->biotail = NULL;
	rq->__data_len = 0;
	blk_mq_free_request(rq);
}

/* make one request; false if the device has no tag, or is frozen: @bios stays */
static bool park_resume(struct nswap_client *cl, struct bio_list *bios)
{
	struct bio *bio = bio_list_peek(bios);
	struct request *rq;
	blk_status_t ret;
	int n = 0;

	rq = blk_mq_alloc_request(bdev_get_queue(bio->bi_bdev), REQ_OP_READ,
				  BLK_MQ_REQ_NOWAIT);
	if (IS_ERR(rq) && PTR_ERR(rq) != -ENODEV)
		return false;
	if (!IS_ERR(rq)) {
		rq->__sector = bio->bi_iter.bi_sector;
		while (park_append(rq, bios))
			n++;
		if (!n)
			blk_mq_free_request(rq);
	}
	if (!n) {
		/* the disk is gone, or can not take it any more */
		atomic_dec(&cl->nr_parked);
		bio_io_error(bio_list_pop(bios));
		return true;
	}
	atomic_sub(n, &cl->nr_parked);
	ret = blk_insert_cloned_request(rq);
	if (ret == BLK_STS_RESOURCE || ret == BLK_STS_DEV_RESOURCE) {
		atomic_add(n, &cl->nr_parked);
		park_undo(rq, bios);
		return false;
	}
	if (ret)
		blk_mq_end_request(rq, ret);
	return true;
}

/* make requests of all; those of devices without tags stay ready. False if any did. */
static bool park_resume_all(struct nswap_client *cl, struct bio_list *bios)
{
	struct bio_list later = BIO_EMPTY_LIST;
	struct block_device *full = NULL;
	struct bio *bio;
	bool any;

	while ((bio = bio_list_peek(bios))) {
		if (bio->bi_bdev != full && park_resume(cl, bios))
			continue;
		full = bio->bi_bdev;
		bio_list_add(&later, bio_list_pop(bios));
	}
	any = !bio_list_empty(&later);
	spin_lock_irq(&cl->wait_lock);
	bio_list_merge_head(&cl->ready, &later);
	spin_unlock_irq(&cl->wait_lock);
	return !any;
}

/**
 * nswap_park_work() - resume parked page-ins, as many as there are tags and room for
 * @work: the client's
 *
 * Context: the module's work queue; does not allocate or wait.
 */
void nswap_park_work(struct work_struct *work)
{
	struct nswap_client *cl = container_of(work, struct nswap_client, unpark);
	struct bio_list bios;
	struct nswap_peer *peer;
	bool tags = true;
	unsigned int i;

	spin_lock_irq(&cl->wait_lock);
	bios = cl->ready;
	bio_list_init(&cl->ready);
	spin_unlock_irq(&cl->wait_lock);
	tags = park_resume_all(cl, &bios);
	nswap_for_each_peer(cl->node, i, peer) {
		bio_list_init(&bios);
		if (tags && !bio_list_empty(&peer->parked))
			nswap_parked_take(peer, nswap_peer_room(peer), &bios);
		tags = park_resume_all(cl, &bios) && tags;
		nswap_peer_put(peer);
	}
}
