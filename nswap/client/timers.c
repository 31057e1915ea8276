// SPDX-License-Identifier: GPL-2.0
/*
 * Tick: everything the client does because time has passed.
 *
 *   every TICK_MS, WAIT_MS while requests wait, REST_MS while no peer holds
 *   anything, nothing is queued and nothing compared, for each peer
 *     UP      page-outs unanswered for store_timeout_ms: placed elsewhere
 *             page-ins unanswered for dead_after_ms: failed; for much longer
 *             than usual: all but the oldest of a connection are parked
 *             every PING_MS, IDLE_PING_MS if it holds nothing: ping, so that
 *             both know of the other's death
 *             a connection owes an answer for too long: break the session; a ping
 *             does after 7 s at most if the peer holds nothing, else after 5
 *             no grant left, room there and page-outs to any peer: ask
 *             no page-out to it for IDLE_MS: give back its grants, except
 *             a few while there are page-outs to others; all if it shrinks
 *             a device it was not told of, or whose reserve is short: attach that
 *             comparison due: compare
 *     SUSPECTED
 *             for dead_after_ms: DEAD, its parked page-ins fail
 *     always  parked page-ins older than dead_after_ms fail
 *   then      requests that wait, parked page-ins, frees that wait, pages at home that may go out,
 *             flash that is nearly full of copies, where page-outs go first
 *
 * Invariants:
 *  - Runs on the module's own work queue and never allocates or waits for the network:
 *    page-outs need it in order to go elsewhere.
 *  - A tick that is late by a second (half of dead_after_ms, if that is less) means that this
 *    node stood still, as a virtual machine whose host paused it: no peer is declared dead and
 *    no page-in fails before it has run for four times as long, at most dead_after_ms; if it
 *    stands still over and over, these times add up. Page-outs that waited meanwhile have as
 *    much time to find a peer, at most as long as they may wait anyway.
 */
#include "base/hooks.h"
#include "base/log.h"
#include "base/workqueues.h"
#include "core/client_state.h"
#include "core/device.h"
#include "core/node.h"
#include "free.h"
#include "lean.h"
#include "pagein_copy.h"
#include "peers/attach.h"
#include "peers/ctl.h"
#include "peers/parked.h"
#include "peers/place.h"
#include "peers/reconcile.h"
#include "peers/session.h"
#include "peers/state_change.h"
#include "peers/suspicion.h"
#include "timers.h"

#define TICK_MS		250
#define WAIT_MS		25	/* while requests wait: they go to flash after 20 ms */
#define REST_MS		1000u	/* an idle node costs next to nothing */
#define PING_MS		1000
#define IDLE_PING_MS	3000u	/* likewise; a server may allow 5 s without one */
#define IDLE_MS		2000
#define ASK_PAGES	256
#define STUCK_AFTER	4	/* store time-outs with a message partly sent */

static bool tick_past(unsigned long since, unsigned int ms)
{
	return time_after(jiffies, since + msecs_to_jiffies(ms));
}

static void overdue_stores(struct nswap_peer *peer)
{
	struct nswap_conn *c = nswap_session_store_conn(peer);
	u32 ms = nswap_knob(peer->node, store_timeout_ms);
	unsigned long since = jiffies - msecs_to_jiffies(ms);
	struct nswap_msg *m;
	bool unsent;

	while ((m = nswap_conn_overdue(c, NSWAP_STORE, since, &unsent)))
		m->overdue(m, unsent);
	if (nswap_conn_stuck(c, jiffies - msecs_to_jiffies(ms * STUCK_AFTER)))
		nswap_session_break(peer);
}

static void overdue_loads(struct nswap_peer *peer, u32 ms)
{
	unsigned long since = jiffies - msecs_to_jiffies(ms);
	struct nswap_msg *m;
	bool unsent;
	u32 i;

	for (i = 0; i < peer->nr_conns - 1; i++) {
		while ((m = nswap_conn_overdue(&peer->conn[i], NSWAP_LOAD, since,
					       &unsent)))
			m->lost(m);
		if (nswap_conn_stuck(&peer->conn[i], since))
			nswap_session_break(peer);
	}
}

static void tick_ping(struct nswap_peer *peer)
{
	/* silent for silent_ms, it would be sent no page-outs */
	u32 every = atomic64_read(&peer->slots) ? PING_MS :
		    min(IDLE_PING_MS, nswap_knob(peer->node, silent_ms) / 2);

	if (nswap_suspicion_of_flow(peer))
		nswap_session_break(peer);
	else if (tick_past(READ_ONCE(peer->pinged), every) &&
		 nswap_ctl_claim(&peer->ping))
		nswap_ctl_ping(peer);
}

static void tick_grants(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	bool active = !tick_past(READ_ONCE(node->client->used), IDLE_MS) ||
		      nswap_client_waits(node->client);
	bool idle = tick_past(READ_ONCE(peer->used), IDLE_MS);
	u32 n;

	/* a peer without grants is never used, so look at page-outs to any */
	if (active && nswap_place_wants(peer)) {
		if (nswap_ctl_claim(&peer->ask))
			nswap_ctl_send(&peer->ask, NSWAP_GRANT_ASK, ASK_PAGES);
		return;
	}
	if (!idle || !nswap_ctl_claim(&peer->back))
		return;
	n = nswap_place_give_back(peer, active ? ASK_PAGES : 0);
	if (n)
		nswap_ctl_send(&peer->back, NSWAP_GRANT_RETURN, n);
	else
		nswap_ctl_release(&peer->back);
}

static void declare_dead(struct nswap_peer *peer, u32 ms)
{
	if (!nswap_peer_expire(peer, ms))
		return;
	nswap_warn(peer->node, "peer %s is dead, it has not answered for %u s: page-ins of the %lld pages it holds fail until it is back, unless they are elsewhere too; is it up, and the way there? nswapctl doctor",
		   peer->name, ms / 1000, atomic64_read(&peer->slots));
}

/* can its pages be had elsewhere, sooner? with the lock of its connection */
static bool load_dispensable(struct nswap_msg *m)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);

	if (!nswap_copy_dispensable(op))
		return false;
	/* before its answer can come: that takes the lock, too */
	nswap_peer_unanswered(op->peer, m->conn->number, m->since);
	return true;
}

/*
 * A connection is late while its oldest LOAD is: that one stays, as a probe, unless its
 * pages can be had elsewhere; the others are taken back and wait without a tag. Without
 * a probe it is late until anything comes.
 */
static void late_loads(struct nswap_peer *peer)
{
	unsigned long patience = nswap_peer_patience(peer);
	unsigned long since = jiffies - patience;
	struct nswap_msg *m;
	u32 i;

	for (i = 0; i < peer->nr_conns - 1; i++) {
		struct nswap_conn *c = &peer->conn[i];

		if (!nswap_conn_late(c, NSWAP_LOAD, since) &&
		    !(test_bit(i, &peer->late) && nswap_conn_unanswered(c) >
						  jiffies_to_msecs(patience))) {
			clear_bit(i, &peer->late);
			continue;
		}
		set_bit(i, &peer->late);
		while ((m = nswap_conn_take(c, NSWAP_LOAD, load_dispensable)))
			m->lost(m);
		while ((m = nswap_conn_take_newest(c, NSWAP_LOAD)))
			m->lost(m);
	}
}

/* do page-ins wait although the peer is UP? then look soon whether it is late */
static bool tick_presses(struct nswap_peer *peer)
{
	return READ_ONCE(peer->state) == NSWAP_PEER_UP &&
	       !bio_list_empty(&peer->parked);
}

static void tick_peer(struct nswap_peer *peer)
{
	u32 ms = nswap_knob(peer->node, dead_after_ms);
	bool expire = nswap_client_may_expire(peer->node, ms);

	if (expire)
		nswap_parked_overdue(peer, ms);
	if (READ_ONCE(peer->state) != NSWAP_PEER_UP) {
		if (expire)
			declare_dead(peer, ms);
		return;
	}
	overdue_stores(peer);
	if (expire)
		overdue_loads(peer, ms);
	late_loads(peer);
	tick_ping(peer);
	nswap_place_look(peer, NSWAP_PLACE_TICK);
	nswap_attach_tick(peer);
	tick_grants(peer);
	nswap_reconcile_tick(peer);
}

static bool frees_wait(struct nswap_client *cl)
{
	struct nswap_device *dev;
	bool wait = READ_ONCE(cl->nr_orphans);

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &cl->node->devices, link)
		wait = wait || nswap_freed_count(&dev->freed);
	rcu_read_unlock();
	return wait;
}

/* no remote pages and nothing queued */
static bool tick_may_rest(struct nswap_client *cl)
{
	return tick_past(READ_ONCE(cl->used), IDLE_MS) && !frees_wait(cl) &&
	       !work_busy(&cl->kick);
}

static void tick_devices(struct nswap_client *cl)
{
	struct nswap_device *dev;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &cl->node->devices, link) {
		nswap_lean_look(dev);
		if (nswap_hooks.tick_device(dev))
			nswap_client_used(cl->node);
	}
	rcu_read_unlock();
}

/* the next tick is due in @ms; whether this node has stood still was for the last one */
static void tick_due(struct nswap_client *cl, unsigned int ms)
{
	nswap_client_awake(cl->node);
	/* pairs with nswap_client_stood_still() */
	smp_store_release(&cl->due, jiffies + msecs_to_jiffies(ms));
}

/* One tick. Context: the module's work queue; does not allocate or wait. */
void nswap_timers_tick(struct work_struct *work)
{
	struct nswap_client *cl = container_of(to_delayed_work(work),
					       struct nswap_client, tick);
	struct nswap_node *node = cl->node;
	unsigned int i, ms = TICK_MS;
	struct nswap_peer *peer;
	bool pressed = false, compares = false;
	u64 slots = 0;

	WRITE_ONCE(cl->ticked, jiffies);
	tick_due(cl, 0);
	nswap_for_each_peer(node, i, peer) {
		tick_peer(peer);
		pressed = pressed || tick_presses(peer);
		compares = compares || nswap_reconcile_lasts(peer);
		slots += atomic64_read(&peer->slots);
		nswap_peer_put(peer);
	}
	if (nswap_client_waits(cl) || pressed)
		ms = WAIT_MS;
	else if (!slots && !compares && tick_may_rest(cl))
		ms = min(REST_MS, nswap_knob(node, silent_ms) / 2);
	nswap_client_kick_all(node);
	nswap_client_unpark(node);
	if (frees_wait(cl))
		nswap_free_kick(node, 0);
	tick_devices(cl);
	tick_due(cl, ms);
	if (!READ_ONCE(node->going))
		queue_delayed_work(nswap_io_wq, &cl->tick, msecs_to_jiffies(ms));
}
