// SPDX-License-Identifier: GPL-2.0
/*
 * Hedge: a page-in of a mirrored device that its peer has not answered for long is taken
 * back and asked of the peer that has the other copy; one of a cell is taken back and
 * rebuilt from the others of its group.
 *
 *   LOAD sent -> timer, if it does not run -> work -> timer, while LOADs are out
 *   work: LOAD older than 4 times the peer's usual time, and 2 ms:
 *	its connection is slow: other page-ins go to the other copy, if that is not slow
 *	the other copy is not slow, and no more than hedge_pct of page-ins were hedged:
 *	taken back -> placed again (pagein_copy.c), or rebuilt (rebuild.c)
 *   any answer to a LOAD, late or not: its connection is not slow
 *
 * Invariants:
 *  - A LOAD is taken back under the lock of its connection, while it waits for its answer;
 *    then no answer finds it any more, and a late one is received into a page of the
 *    connection's. A LOAD that is being answered is on no list, so it cannot be taken
 *    back. So never are two answers written to the pages of one request.
 *  - A connection becomes slow under its lock, while a LOAD waits there for its answer:
 *    that answer, or the end of the session, comes later and undoes it.
 *  - While the timer does not run no LOAD is out, or the task that sends one starts it:
 *    @loads of its peer is raised before it looks at @armed, the work looks at @loads
 *    after it has cleared @armed.
 *  - Credit is used by the work alone. It begins at 0 and a page read earns hedge_pct
 *    hundredths of one: so at no moment more than that of the pages read were hedged.
 *  - Nothing here allocates, sleeps, or is waited for by a page-out.
 */
#include "base/workqueues.h"
#include "core/client_state.h"
#include "core/node.h"
#include "hedge.h"
#include "pagein_copy.h"
#include "peers/peer.h"

#define LEAST_NS	(2 * NSEC_PER_MSEC)	/* less than this is never late */
#define AGAIN_NS	(100 * NSEC_PER_USEC)	/* the work rests for as long */
#define USUAL_TIMES	4
#define USUAL_WEIGHT	8	/* the last time to the average before it: 1 to 7 */
#define PAGE_COST	100	/* credit for a page; one that is read earns hedge_pct */
#define CREDIT_MOST	1024	/* pages: a burst after a long time without any */

static u64 hedge_patience(const struct nswap_peer *peer)
{
	return max_t(u64, LEAST_NS, READ_ONCE(peer->load_ns) * USUAL_TIMES);
}

/* what was late counts as if it had come in time: a stall does not become usual */
static void hedge_charge(struct nswap_peer *peer, u64 ns)
{
	u64 usual = READ_ONCE(peer->load_ns);

	ns = min(ns, hedge_patience(peer));
	WRITE_ONCE(peer->load_ns, usual - usual / USUAL_WEIGHT +
				  (usual ? ns / USUAL_WEIGHT : ns));
}

static void hedge_arm(struct nswap_hedge *h, u64 ns)
{
	if (!test_bit(0, &h->armed) && !test_and_set_bit(0, &h->armed))
		hrtimer_start(&h->timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
}

static enum hrtimer_restart hedge_due(struct hrtimer *timer)
{
	struct nswap_hedge *h = container_of(timer, struct nswap_hedge, timer);

	queue_work(nswap_io_wq, &h->work);
	return HRTIMER_NORESTART;
}

/* false if there is not credit for so many pages */
static bool hedge_spend(struct nswap_node *node, struct nswap_hedge *h,
			unsigned int pages)
{
	u64 seen = nswap_stat_read(node, pages_in), most = CREDIT_MOST * PAGE_COST;
	u32 pct = nswap_knob(node, hedge_pct);

	h->credit = min(h->credit + (seen - h->seen) * pct, most);
	h->seen = seen;
	if (!pct || h->credit < pages * PAGE_COST)
		return false;
	h->credit -= pages * PAGE_COST;
	return true;
}

/* is it to be taken back? with the lock of its connection */
static bool hedge_may(struct nswap_msg *m)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);
	struct nswap_node *node = op->peer->node;
	struct nswap_hedge *h = &node->client->hedge;
	u64 due;

	if (!nswap_hedge_can(op->io) || op->io->ahead)
		return false;
	due = op->began + hedge_patience(op->peer);
	if (due > h->now) {
		h->next = min(h->next, due);
		return false;
	}
	if (!test_and_set_bit(m->conn->number, &op->peer->slow))
		hedge_charge(op->peer, h->now - op->began);
	/* of a request for cells all that is still to come is rebuilt */
	return nswap_copy_dispensable(op) &&
	       hedge_spend(node, h, nswap_is_cells(op->io->dev) ? op->io->nr : op->nr);
}

static void hedge_peer(struct nswap_peer *peer)
{
	struct nswap_msg *m;
	u32 i;

	for (i = 0; i < peer->nr_conns - 1; i++) {
		while ((m = nswap_conn_take(&peer->conn[i], NSWAP_LOAD, hedge_may))) {
			nswap_stat_add(peer->node, pages_hedged,
				       container_of(m, struct nswap_op, m)->nr);
			m->lost(m);
		}
	}
}

/* look at all LOADs that are out */
static void hedge_work(struct work_struct *work)
{
	struct nswap_hedge *h = container_of(work, struct nswap_hedge, work);
	struct nswap_client *cl = container_of(h, struct nswap_client, hedge);
	u64 least = U64_MAX, wait;
	struct nswap_peer *peer;
	unsigned int i;

	clear_bit(0, &h->armed);
	/* pairs with nswap_hedge_watch() */
	smp_mb__after_atomic();
	h->now = ktime_get_ns();
	h->next = U64_MAX;
	nswap_for_each_peer(cl->node, i, peer) {
		if (atomic_read(&peer->loads)) {
			hedge_peer(peer);
			least = min(least, hedge_patience(peer));
		}
		nswap_peer_put(peer);
	}
	if (least == U64_MAX)
		return;
	wait = h->next - h->now;
	hedge_arm(h, clamp_t(u64, wait, AGAIN_NS, least));
}

/**
 * nswap_hedge_watch() - a LOAD that may be hedged is about to be sent
 * @op: it; its peer's @loads count it
 *
 * Context: process, page-in path; does not sleep.
 */
void nswap_hedge_watch(struct nswap_op *op)
{
	struct nswap_hedge *h = &op->peer->node->client->hedge;

	op->began = ktime_get_ns();
	/* pairs with hedge_work(): it sees the LOAD, or this sees that it ends */
	smp_mb__after_atomic();
	hedge_arm(h, hedge_patience(op->peer));
}

/**
 * nswap_hedge_learn() - a LOAD that may be hedged was answered
 * @op: it
 *
 * Context: process, page-in path; does not sleep.
 */
void nswap_hedge_learn(struct nswap_op *op)
{
	hedge_charge(op->peer, ktime_get_ns() - op->began);
}

/* prepare a client's timer and work; process */
void nswap_hedge_init(struct nswap_client *cl)
{
	hrtimer_setup(&cl->hedge.timer, hedge_due, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	INIT_WORK(&cl->hedge.work, hedge_work);
}

/* stop both; process, sleeps; the node has no peers any more */
void nswap_hedge_exit(struct nswap_client *cl)
{
	hrtimer_cancel(&cl->hedge.timer);
	cancel_work_sync(&cl->hedge.work);
}
