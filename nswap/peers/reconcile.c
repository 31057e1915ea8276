// SPDX-License-Identifier: GPL-2.0
/*
 * Reconcile: the peer lists what it holds for this node, this node answers with
 * what it has no record of, the peer drops that. It runs after every new session
 * and every reconcile_s seconds, so that no lost message leaves an orphan.
 *
 *   HOLD_ASK(place) -> HOLD_LIST(runs) -> FREE(not recorded) -> FREE_ACK
 *        ^                                                         |
 *        +------------- until the list said "last" ----------------+
 *
 * Invariants:
 *  - A copy is recorded if its slot names this peer and this generation, in its word or
 *    in its mirror entry, in
 *    flight (WRITING) or arrived. A page stored after the list was made is
 *    newer than what the list says, and a FREE never drops a newer generation.
 *    A slot that is MOVING may be recorded here at any moment, and so may one on
 *    flash while such are being stored at peers: both count as recorded. What is not in the
 *    end the next comparison finds, so that is soon.
 *  - Only the peer's own two messages are used; one comparison at a time.
 *  - After so many lists it pauses, so that one of a hundred million slots takes minutes and
 *    a few per cent of a processor. While it pauses its message is
 *    claimed and on no connection; a session that begins meanwhile goes on with it, and
 *    compares from the beginning afterwards.
 *  - A comparison ends, whatever the peer lists (pure/hold_list.c): what it holds has names
 *    that this node gave, each once.
 */
#include "core/devices.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/slot_hold.h"
#include "core/slot_update.h"
#include "ctl.h"
#include "grants.h"
#include "reconcile.h"

#define SPARED_S	5	/* until copies that were left are compared again */
#define LISTS		128	/* at once, */
#define PAUSE		(HZ / 5)	/* then this: until the next tick, or one more */

/* a bit of the asking's @busy; the first is nswap_ctl_claim()'s */
#define PAUSED		1	/* a tick goes on */

static bool reconcile_recorded(struct nswap_peer *peer, struct nswap_device *dev,
			       u64 slot, u32 gen)
{
	struct nswap_mirror m;
	struct nswap_slot s;
	bool stores, here;

	if (!dev || slot >= dev->map.nr)
		return false;
	stores = nswap_flash_stores(dev);
	s = nswap_mirror_both(dev, slot, &m);
	if (s.gen != gen)
		return false;
	here = nswap_mirror_counts(&m, &s, peer->index);
	if (s.state == NSWAP_SLOT_MOVING) {
		peer->reconcile.spared |= !here;
		return true;
	}
	if (s.state == NSWAP_SLOT_FLASH) {
		peer->reconcile.spared |= stores;
		return stores;
	}
	return here &&
	       (s.state == NSWAP_SLOT_WRITING ||
		s.state == NSWAP_SLOT_REMOTE || s.state == NSWAP_SLOT_FREEING);
}

/* false: no room for more drops, continue here next time */
static bool compare_run(struct nswap_peer *peer, const struct nswap_wire_run *r)
{
	struct nswap_reconcile *rec = &peer->reconcile;
	u32 instance = le32_to_cpu(r->instance), gen = le32_to_cpu(r->gen);
	u64 slot = le64_to_cpu(r->slot), end = slot + le32_to_cpu(r->count);
	struct nswap_device *dev = nswap_device_find(peer->node, instance);

	rec->at.instance = instance;
	for (; slot < end; slot++, rec->at.seen++) {
		rec->at.slot = slot;
		if (!reconcile_recorded(peer, dev, slot, gen) &&
		    !nswap_ctl_add_run(&rec->drop, instance, slot, gen))
			return false;
	}
	rec->at.slot = end;
	return true;
}

static int reconcile_ask(struct nswap_peer *peer)
{
	struct nswap_reconcile *rec = &peer->reconcile;

	rec->ask.m.hdr.instance = cpu_to_le32(rec->at.instance);
	rec->ask.m.hdr.slot = cpu_to_le64(rec->at.slot);
	return nswap_ctl_send(&rec->ask, NSWAP_HOLD_ASK, 0);
}

static void reconcile_finish(struct nswap_peer *peer)
{
	unsigned long soon = jiffies + SPARED_S * HZ;

	if (peer->reconcile.spared && time_before(soon, READ_ONCE(peer->reconcile.due)))
		WRITE_ONCE(peer->reconcile.due, soon);
	nswap_stat_inc(peer->node, reconciles);
	nswap_ctl_release(&peer->reconcile.ask);
}

/* after a list, or after the freeing of what was wrong in it */
static void go_on(struct nswap_peer *peer)
{
	struct nswap_reconcile *rec = &peer->reconcile;

	if (rec->last) {
		reconcile_finish(peer);
	} else if (--rec->lists) {
		reconcile_ask(peer);
	} else {
		WRITE_ONCE(rec->go_on, jiffies + PAUSE);
		/* pairs with nswap_reconcile_tick(), which reads what was written of @rec */
		smp_mb__before_atomic();
		set_bit(PAUSED, &rec->ask.busy);
	}
}

static int list_answered(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);
	struct nswap_conn *conn = m->conn;
	struct nswap_peer *peer = c->peer;
	struct nswap_reconcile *rec = &peer->reconcile;
	u32 i, nr = le32_to_cpu(conn->rx.nr);
	bool all = true, last;
	int ret;

	ret = conn->rx.type == NSWAP_HOLD_LIST ? 0 : -EPROTO;
	if (!ret)
		ret = nswap_conn_plain(conn, c->run, nr * sizeof(*c->run));
	last = le16_to_cpu(conn->rx.flags) & NSWAP_F_LAST;
	if (!ret && !nswap_hold_list_sane(&rec->at, READ_ONCE(peer->node->slots_named),
					  c->run, nr, last))
		ret = -EPROTO;
	if (ret) {
		m->lost(m);
		return ret;
	}
	rec->drop.nr = 0;
	rcu_read_lock();
	for (i = 0; i < nr && all; i++)
		all = compare_run(peer, &c->run[i]);
	rcu_read_unlock();
	rec->last = all && last;
	rec->drop.m.hdr.slot = conn->rx.slot;
	if (!rec->drop.nr) {
		go_on(peer);
		return 0;
	}
	if (!nswap_ctl_claim(&rec->drop) ||
	    nswap_ctl_send(&rec->drop, NSWAP_FREE, rec->drop.nr))
		nswap_ctl_release(c);
	return 0;
}

static int drop_answered(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);
	const struct nswap_wire_hdr *rx = &m->conn->rx;
	struct nswap_peer *peer = c->peer;

	if (rx->type != NSWAP_FREE_ACK) {
		m->lost(m);
		return -EPROTO;
	}
	nswap_ctl_release(c);
	nswap_peer_granted(peer, le32_to_cpu(rx->grants),
			   le64_to_cpu(rx->free));
	go_on(peer);
	return 0;
}

/* the session broke while the drops were in flight: give up the asking as well */
static void drop_lost(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);

	nswap_ctl_release(&c->peer->reconcile.ask);
	nswap_ctl_release(c);
}

/* Returns 0, or -ENOMEM */
int nswap_reconcile_init(struct nswap_peer *peer)
{
	struct nswap_reconcile *rec = &peer->reconcile;
	int ret;

	ret = nswap_ctl_init(&rec->ask, peer, true, list_answered) ?:
	      nswap_ctl_init(&rec->drop, peer, true, drop_answered);
	rec->drop.m.lost = drop_lost;
	rec->drop.m.hdr.flags = cpu_to_le16(NSWAP_F_NO_RECORD);
	return ret;
}

/* compare at the next tick: something may be held that is not recorded */
void nswap_reconcile_soon(struct nswap_peer *peer)
{
	WRITE_ONCE(peer->reconcile.due, jiffies);
}

/* compare, unless a comparison is under way; then one that is due stays so */
static void reconcile_start(struct nswap_peer *peer)
{
	u32 every = nswap_knob(peer->node, reconcile_s);
	struct nswap_reconcile *rec = &peer->reconcile;

	if (!nswap_ctl_claim(&rec->ask))
		return;
	/* set now: what asks for another from here on may be too late for this one */
	WRITE_ONCE(rec->due, jiffies + every * HZ);
	rec->at = (struct nswap_hold_at){};
	rec->spared = false;
	rec->lists = LISTS;
	/* UP, and its connections not yet: at the next tick */
	if (reconcile_ask(peer))
		nswap_reconcile_soon(peer);
}

/* is a comparison with an UP peer under way, or does it pause? any context; a snapshot */
bool nswap_reconcile_lasts(const struct nswap_peer *peer)
{
	return READ_ONCE(peer->state) == NSWAP_PEER_UP &&
	       nswap_ctl_claimed(&peer->reconcile.ask);
}

/* begin a comparison that is due, or go on with one; process, the tick; does not sleep */
void nswap_reconcile_tick(struct nswap_peer *peer)
{
	struct nswap_reconcile *rec = &peer->reconcile;

	if (test_bit(PAUSED, &rec->ask.busy)) {
		/* pairs with go_on() */
		smp_rmb();
		if (time_before(jiffies, READ_ONCE(rec->go_on)))
			return;
		clear_bit(PAUSED, &rec->ask.busy);
		rec->lists = LISTS;
		reconcile_ask(peer);
	} else if (!time_before(jiffies, READ_ONCE(rec->due))) {
		reconcile_start(peer);
	}
}
