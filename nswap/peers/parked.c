// SPDX-License-Identifier: GPL-2.0
/*
 * Parked page-ins: those that wait for a peer, without a tag. Their requests have
 * ended and left their bios here: of a peer without a session, of one that is much
 * later than usual, or that has as much under way as it may.
 *
 *   no answer, or no room -> parked at the peer -> a request again (client/park.c)
 *                                \-> ready: the peer is dead, or it took too long
 *
 * A bio is all there is, linked by bi_next: nothing is allocated. When it came stands
 * in bi_cookie, which polling alone uses otherwise, and the disk has none. That it fails,
 * or goes elsewhere, is decided where any page-in is: by a request that looks the
 * slots up again.
 *
 * Invariants, under peer->lock:
 *  - A peer that is DEAD or LOST, or whose session has been stopped, has none:
 *    the change of state takes them off in the same critical section, and none
 *    is added after it.
 *  - A device that is dying adds none. nswap_parked_forget() ends those it has.
 *  - The node's @nr_parked counts the bios here and those that are ready, from before
 *    they are there until they are in a request.
 */
#include "core/client_state.h"
#include "core/device.h"
#include "core/node.h"
#include "parked.h"
#include "pure/peer_state.h"
#include "pure/short_time.h"

#define LATE_MS		250	/* less than this is never late: one lost segment */
#define USUAL_WEIGHT	8	/* of the average, and how many times it is late */

/* note when it came, jiffies; any context */
void nswap_parked_mark(struct bio *bio, unsigned long since)
{
	/* neither BLK_QC_T_NONE, which is odd, nor 0, which bio_reset() leaves */
	bio->bi_cookie = nswap_short_time(since);
}

/**
 * nswap_parked_add() - keep a page-in until its peer can be asked
 * @dev: its device
 * @peer: its peer
 * @bio: a read in no request, with all of its data still to come
 * @since: when it came, jiffies
 *
 * Context: process, page-in path; does not sleep.
 * Return: 0; -EHOSTDOWN if there is no point in waiting: the peer is dead or lost,
 * or the device is being removed.
 */
int nswap_parked_add(struct nswap_device *dev, struct nswap_peer *peer,
		     struct bio *bio, unsigned long since)
{
	int ret = -EHOSTDOWN;

	nswap_parked_mark(bio, since);
	atomic_inc(&peer->node->client->nr_parked);
	spin_lock(&peer->lock);
	if (!nswap_peer_hopeless(peer->state) && !READ_ONCE(peer->stop) &&
	    !READ_ONCE(dev->dying)) {
		bio_list_add(&peer->parked, bio);
		ret = 0;
	}
	spin_unlock(&peer->lock);
	if (ret)
		atomic_dec(&peer->node->client->nr_parked);
	return ret;
}

static unsigned long parked_came(const struct bio *bio)
{
	return nswap_short_time_was(bio->bi_cookie, jiffies);
}

/* The bio is in a request: when did it come? The mark is taken off; any context. */
unsigned long nswap_parked_unmark(struct bio *bio)
{
	unsigned long since = parked_came(bio);

	bio->bi_cookie = BLK_QC_T_NONE;
	return since;
}

/* Move the first @most page-ins to @bios; process, page-in path; does not sleep. */
void nswap_parked_take(struct nswap_peer *peer, unsigned int most,
		       struct bio_list *bios)
{
	struct bio *bio;

	spin_lock(&peer->lock);
	while (most-- && (bio = bio_list_pop(&peer->parked)))
		bio_list_add(bios, bio);
	spin_unlock(&peer->lock);
}

/* those older than @ms need not wait; process, page-in path; does not sleep */
void nswap_parked_overdue(struct nswap_peer *peer, unsigned int ms)
{
	struct bio_list keep = BIO_EMPTY_LIST, overdue = BIO_EMPTY_LIST;
	unsigned long limit = jiffies - msecs_to_jiffies(ms);
	struct bio *bio;

	spin_lock(&peer->lock);
	while ((bio = bio_list_pop(&peer->parked)))
		bio_list_add(time_before(parked_came(bio), limit) ? &overdue :
								    &keep, bio);
	peer->parked = keep;
	spin_unlock(&peer->lock);
	nswap_client_ready(peer->node, &overdue);
}

/* the session has been stopped: none waits any longer; process; does not sleep */
void nswap_parked_stop(struct nswap_peer *peer)
{
	struct bio_list bios = BIO_EMPTY_LIST;

	nswap_parked_take(peer, UINT_MAX, &bios);
	nswap_client_ready(peer->node, &bios);
}

static bool any_mirrored(struct nswap_node *node)
{
	struct nswap_device *dev;
	bool any = false;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &node->devices, link)
		any = any || READ_ONCE(dev->mirror);
	rcu_read_unlock();
	return any;
}

/*
 * A peer is back: pages of mirrored devices that are waited for at another one may be
 * there, too. Process; does not sleep.
 */
void nswap_parked_review(struct nswap_node *node)
{
	struct nswap_peer *peer;
	unsigned int i;

	if (!any_mirrored(node))
		return;
	nswap_for_each_peer(node, i, peer) {
		if (READ_ONCE(peer->state) != NSWAP_PEER_UP)
			nswap_parked_stop(peer);
		nswap_peer_put(peer);
	}
}

static void forget_in(struct nswap_device *dev, struct bio_list *list,
		      struct bio_list *bios)
{
	struct bio_list keep = BIO_EMPTY_LIST;
	struct bio *bio;

	while ((bio = bio_list_pop(list)))
		bio_list_add(bio->bi_bdev->bd_disk == dev->disk ? bios : &keep,
			     bio);
	*list = keep;
}

/**
 * nswap_parked_forget() - fail the parked page-ins of a device
 * @dev: device, dying
 *
 * No task has it open, so there are none but those of one that tried nevertheless.
 *
 * Context: process; does not sleep.
 */
void nswap_parked_forget(struct nswap_device *dev)
{
	struct nswap_client *cl = dev->node->client;
	struct bio_list bios = BIO_EMPTY_LIST;
	struct nswap_peer *peer;
	struct bio *bio;
	unsigned int i;

	nswap_for_each_peer(dev->node, i, peer) {
		spin_lock(&peer->lock);
		forget_in(dev, &peer->parked, &bios);
		spin_unlock(&peer->lock);
		nswap_peer_put(peer);
	}
	spin_lock_irq(&cl->wait_lock);
	forget_in(dev, &cl->ready, &bios);
	spin_unlock_irq(&cl->wait_lock);
	while ((bio = bio_list_pop(&bios))) {
		atomic_dec(&cl->nr_parked);
		bio_io_error(bio);
	}
}

/*
 * Call lost of messages taken from their peer; @lost is empty afterwards; process,
 * page-in path; does not sleep; without the peer's lock.
 */
void nswap_parked_lose(struct list_head *lost)
{
	struct nswap_msg *m, *next;

	list_for_each_entry_safe(m, next, lost, link) {
		list_del_init(&m->link);
		m->lost(m);
	}
}

/* A page-in unanswered for longer than this is late, in jiffies; any context. */
unsigned long nswap_peer_patience(const struct nswap_peer *peer)
{
	return max_t(unsigned long, msecs_to_jiffies(LATE_MS),
		     READ_ONCE(peer->usual));
}

static void peer_learn(struct nswap_peer *peer, u32 took)
{
	u32 usual = READ_ONCE(peer->usual);

	/* the average times its weight: what is late, too */
	if (usual || took)
		WRITE_ONCE(peer->usual, usual - usual / USUAL_WEIGHT + took);
}

/* a LOAD is taken back, sent @since; under its connection's lock, page-in path */
void nswap_peer_unanswered(struct nswap_peer *peer, u8 conn, unsigned long since)
{
	if (!READ_ONCE(peer->taken[conn]))
		WRITE_ONCE(peer->taken[conn], since);
}

/* the answer to one has come all the same: how long that peer takes; likewise */
void nswap_peer_answered_late(struct nswap_peer *peer, u8 conn)
{
	unsigned long most = msecs_to_jiffies(nswap_knob(peer->node, dead_after_ms));
	unsigned long since = READ_ONCE(peer->taken[conn]);

	clear_bit(conn, &peer->slow);
	WRITE_ONCE(peer->taken[conn], 0);
	if (since)
		peer_learn(peer, min(jiffies - since, most));
}

/**
 * nswap_peer_answered() - a page-in was answered
 * @peer: its peer
 * @conn: number of the connection
 * @since: when it was sent, jiffies
 *
 * Context: process, page-in path; does not sleep.
 */
void nswap_peer_answered(struct nswap_peer *peer, u8 conn, unsigned long since)
{
	unsigned long taken = READ_ONCE(peer->taken[conn]);

	peer_learn(peer, jiffies - since);
	/* one that was sent after this and taken back is still to be answered */
	if (taken && !time_after(taken, since))
		WRITE_ONCE(peer->taken[conn], 0);
	if (test_bit(conn, &peer->late))
		clear_bit(conn, &peer->late);
	if (test_bit(conn, &peer->slow))
		clear_bit(conn, &peer->slow);
	atomic_dec(&peer->loads);
	if (!bio_list_empty(&peer->parked))
		nswap_client_unpark(peer->node);
}

/* How many parked page-ins may be sent to it now? Any context; a snapshot. */
unsigned int nswap_peer_room(const struct nswap_peer *peer)
{
	unsigned int n = atomic_read(&peer->loads);

	if (READ_ONCE(peer->state) != NSWAP_PEER_UP)
		return 0;
	if (nswap_peer_late(peer))
		return !n;
	return n < NSWAP_LOADS_FEW ? NSWAP_LOADS_FEW - n : 0;
}
