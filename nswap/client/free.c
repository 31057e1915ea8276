// SPDX-License-Identifier: GPL-2.0
/*
 * Freed slots and obsolete copies: the peers are told later, in batches.
 *
 * Invariants:
 *  - nswap_free_slot() is called by the swap core under a spinlock, perhaps
 *    with interrupts off: it changes one word, sets two bits, counts, queues
 *    work.
 *  - A slot leaves FREEING when its run is put into a message, not when that is
 *    answered: if the message is lost, so is the session, and the comparison
 *    that opens the next session finds what was not freed. The same goes for a
 *    peer without a session. A batch names generations, so it can never free a
 *    page written since.
 *  - One FREE per peer is under way; if more waited, its answer triggers the next
 *    at once, whatever timer is armed. What needs no message, or one for all of them, is
 *    looked at PASS slots of a device at a time, each BATCH_MS.
 *  - Devices' freed slots and obsolete copies take turns at filling the batches
 *    first, so neither starves while there is much of the other.
 *  - A peer may get a page of the same generation again, if the slot still has it: by a
 *    repair, or by a move. So a copy of a slot's present generation is never freed by a
 *    FREE that may be late, but by comparison, which spares what came after its list.
 *  - Obsolete copies are queued in a ring; if it is full, comparison finds them.
 */
#include "base/workqueues.h"
#include "core/client_state.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "free.h"
#include "peers/ctl.h"
#include "peers/grants.h"
#include "peers/reconcile.h"
#include "tier.h"

#define BATCH_MS	20	/* frees are batched for this long */
#define TIDIED		1024u	/* chunks of slots in one pass, the others stay in use */
#define PASS		(1u << 16)	/* freed slots of a device looked at in one pass */
#define STUCK		(2 * NSWAP_WIRE_RUNS)	/* frees met in one pass that have to wait */

/* bits of a FREE's @busy; the first is nswap_ctl_claim()'s */
#define MORE		1	/* the batch was full or under way: more waits */

static int frees_answered(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);
	const struct nswap_wire_hdr *rx = &m->conn->rx;
	int ret = rx->type == NSWAP_FREE_ACK ? 0 : -EPROTO;

	if (!ret)
		nswap_peer_granted(c->peer, le32_to_cpu(rx->grants),
				   le64_to_cpu(rx->free));
	nswap_ctl_release(c);
	if (test_and_clear_bit(MORE, &c->busy))
		nswap_free_kick(c->peer->node, 0);
	return ret;
}

/* allocate a peer's FREE message. Returns 0, or -ENOMEM */
int nswap_free_init(struct nswap_peer *peer)
{
	return nswap_ctl_init(&peer->frees, peer, true, frees_answered);
}

/* run nswap_free_work() within @ms, 0: now; any context, interrupts off too */
void nswap_free_kick(struct nswap_node *node, unsigned int ms)
{
	struct delayed_work *frees = &node->client->frees;

	/* queueing would leave a timer that is armed already as it is */
	if (ms)
		queue_delayed_work(nswap_io_wq, frees, msecs_to_jiffies(ms));
	else
		mod_delayed_work(nswap_io_wq, frees, 0);
}

/* a slot has become FREEING: tell its peer; any context, interrupts off too */
void nswap_free_told(struct nswap_device *dev, u64 slot)
{
	if (nswap_freed_add(&dev->freed, slot))
		nswap_free_kick(dev->node, BATCH_MS);
}

/* -> FREEING, if its tier has to be told; a page-out under way goes on */
static bool free_slot_freed(struct nswap_slot *s)
{
	const struct nswap_tier_ops *tier;
	bool told;

	if (s->state == NSWAP_SLOT_EMPTY || s->state == NSWAP_SLOT_FREEING)
		return false;
	if (s->state == NSWAP_SLOT_WRITING) {
		s->freed = true;
		return true;
	}
	tier = nswap_tier_of(s);
	told = tier && tier->discard;
	*s = (struct nswap_slot){
		.state = told ? NSWAP_SLOT_FREEING : NSWAP_SLOT_EMPTY,
		.peer = told ? s->peer : 0, .gen = s->gen,
	};
	return true;
}

/* FREEING -> EMPTY, if the slot still is what its peer was told to free */
static bool free_slot_told(struct nswap_slot *s, u16 peer, u32 gen)
{
	if (!nswap_slot_is(s, NSWAP_SLOT_FREEING, peer, gen))
		return false;
	*s = (struct nswap_slot){ .gen = gen };
	return true;
}

/*
 * The page in this slot is no longer needed. For one that was never written this is
 * a cheap no-op. Context: any: swap_slot_free_notify calls it under a spinlock with
 * interrupts off, discard in process context.
 */
void nswap_free_slot(struct nswap_device *dev, u64 slot)
{
	const struct nswap_tier_ops *tier;
	struct nswap_slot was;

	if (!nswap_slot_update(dev, slot, &was, free_slot_freed))
		return;
	nswap_stat_inc(dev->node, freed_slots);
	tier = nswap_tier_of(&was);
	if (tier && tier->discard)
		tier->discard(dev, slot);
}

/* add to the ring, whose lock is held; false if it is full */
static bool orphan_ring_add(struct nswap_client *cl, const struct nswap_orphan *o)
{
	if (cl->nr_orphans == NSWAP_ORPHANS)
		return false;
	cl->orphan[(cl->orphan_head + cl->nr_orphans++) % NSWAP_ORPHANS] = *o;
	return true;
}

/* a copy that a peer holds is not recorded: comparison has to find it; any, no sleep */
void nswap_free_by_comparison(struct nswap_node *node, u16 index)
{
	struct nswap_peer *peer;

	rcu_read_lock();
	peer = rcu_dereference(node->peers[index]);
	if (peer)
		nswap_reconcile_soon(peer);
	rcu_read_unlock();
	nswap_peer_slots(node, index, -1);
}

/* may another copy of this generation be recorded, now or later? */
static bool orphan_current(const struct nswap_device *dev, u64 slot, u32 gen)
{
	struct nswap_slot s = nswap_slot_look(dev, slot);

	return dev->mirror && s.gen == gen &&
	       (s.state == NSWAP_SLOT_WRITING || nswap_slot_at_peer(&s));
}

/**
 * nswap_free_orphan() - a copy is obsolete: tell its peer
 * @dev: device
 * @slot: slot
 * @gen: this generation and older ones
 * @peer: index; the caller's count in the peer's number of slots passes to the copy
 *
 * Context: any; does not sleep or allocate, on the page-out path.
 */
void nswap_free_orphan(struct nswap_device *dev, u64 slot, u32 gen, u16 peer)
{
	const struct nswap_orphan o = {
		.instance = dev->instance, .gen = gen, .slot = slot, .peer = peer,
	};
	struct nswap_client *cl = dev->node->client;
	unsigned long flags;
	bool full;

	if (orphan_current(dev, slot, gen)) {
		nswap_free_by_comparison(dev->node, peer);
		return;
	}
	spin_lock_irqsave(&cl->orphan_lock, flags);
	full = !orphan_ring_add(cl, &o);
	spin_unlock_irqrestore(&cl->orphan_lock, flags);
	if (full)
		nswap_free_by_comparison(dev->node, peer);
	nswap_free_kick(dev->node, BATCH_MS);
}

static bool pop_orphan(struct nswap_client *cl, struct nswap_orphan *o)
{
	bool any;

	spin_lock_irq(&cl->orphan_lock);
	any = cl->nr_orphans;
	if (any) {
		*o = cl->orphan[cl->orphan_head];
		cl->orphan_head = (cl->orphan_head + 1) % NSWAP_ORPHANS;
		cl->nr_orphans--;
	}
	spin_unlock_irq(&cl->orphan_lock);
	return any;
}

/* add to the peer's batch; false if it has to wait for the batch under way */
static bool free_tell_peer(struct nswap_node *node, u16 index, u32 instance, u64 slot,
			   u32 gen)
{
	struct nswap_peer *peer = nswap_peer_get(node, index);
	bool told = true;

	if (!peer)
		return true;
	if (READ_ONCE(peer->state) == NSWAP_PEER_UP)
		told = (peer->frees.nr || nswap_ctl_claim(&peer->frees)) &&
		       nswap_ctl_add_run(&peer->frees, instance, slot, gen);
	if (!told)
		set_bit(MORE, &peer->frees.busy);
	nswap_peer_put(peer);
	return told;
}

/* back to the end of the ring; a count in the peer's slots is dropped with it */
static void push_orphan(struct nswap_client *cl, const struct nswap_orphan *o)
{
	bool full;

	spin_lock_irq(&cl->orphan_lock);
	full = !orphan_ring_add(cl, o);
	spin_unlock_irq(&cl->orphan_lock);
	if (full)
		nswap_free_by_comparison(cl->node, o->peer);
}

/* true: some have to wait */
static bool tell_orphans(struct nswap_client *cl)
{
	unsigned int n = READ_ONCE(cl->nr_orphans), stuck = 0;
	struct nswap_orphan o;

	while (n-- && stuck < STUCK && pop_orphan(cl, &o)) {
		if (free_tell_peer(cl->node, o.peer, o.instance, o.slot, o.gen)) {
			nswap_peer_slots(cl->node, o.peer, -1);
			continue;
		}
		push_orphan(cl, &o);
		stuck++;
	}
	return stuck;
}

/* the same for the second place of its page, if it has one */
static bool tell_second(struct nswap_device *dev, u64 slot, const struct nswap_slot *s)
{
	const struct nswap_mirror none = { };
	struct nswap_mirror m;
	bool other;

	do {
		m = nswap_mirror_look(dev, slot);
		/* or it was claimed, which sees to it */
		if (m.gen != s->gen || (!m.held && !m.making))
			return true;
		other = m.held && m.held != s->peer;
		if (other && !free_tell_peer(dev->node, m.held, dev->instance,
					     slot, s->gen))
			return false;
		/* what is in the making is its maker's, who finds it gone */
	} while (!nswap_mirror_set(dev, slot, &m, &none));
	if (other)
		nswap_peer_slots(dev->node, m.held, -1);
	return true;
}

/* false if a peer's batch is full or under way */
static bool tell_slot(struct nswap_device *dev, u64 slot)
{
	struct nswap_slot was, s = nswap_slot_look(dev, slot);

	if (s.state != NSWAP_SLOT_FREEING)
		return true;
	if (!tell_second(dev, slot, &s) ||
	    !free_tell_peer(dev->node, s.peer, dev->instance, slot, s.gen))
		return false;
	if (nswap_slot_update(dev, slot, &was, free_slot_told, s.peer, s.gen))
		nswap_peer_slots(dev->node, s.peer, -1);
	return true;
}

/* true: some have to wait */
static bool tell_device(struct nswap_device *dev)
{
	u64 nr = dev->map.nr, left = nswap_freed_count(&dev->freed);
	u64 slot = dev->free_cursor, seen = 0, stuck = 0, told = 0, tidied = 0, looked = 0;

	while (left && seen < nr && stuck < STUCK && looked < PASS) {
		u64 next = nswap_freed_next(&dev->freed, slot);

		seen += min(next, nr) - slot + 1;
		if (next >= nr) {
			slot = 0;
			continue;
		}
		slot = next + 1 < nr ? next + 1 : 0;
		nswap_freed_take(&dev->freed, next);
		looked++;
		if (told / NSWAP_SLOT_CHUNK != next / NSWAP_SLOT_CHUNK && tidied++ < TIDIED)
			nswap_slot_tidy(dev, told);
		told = next;
		if (tell_slot(dev, next)) {
			nswap_freed_done(&dev->freed);
			left--;
		} else {
			nswap_freed_back(&dev->freed, next);
			stuck++;
		}
	}
	dev->free_cursor = slot;
	if (told)
		nswap_slot_tidy(dev, told);
	return stuck || looked == PASS;
}

/* sources @first to before @end: the devices, then the obsolete copies */
static bool tell_sources(struct nswap_client *cl, unsigned int first,
			 unsigned int end)
{
	struct nswap_device *dev;
	unsigned int i = 0;
	bool wait = false;

	list_for_each_entry_rcu(dev, &cl->node->devices, link) {
		if (i >= first && i < end)
			wait |= tell_device(dev);
		i++;
	}
	if (end > i && first <= i)
		wait |= tell_orphans(cl);
	return wait;
}

static void send_batches(struct nswap_node *node)
{
	struct nswap_peer *peer;
	unsigned int i;

	nswap_for_each_peer(node, i, peer) {
		u32 nr = peer->frees.nr;

		if (nr) {
			peer->frees.nr = 0;
			nswap_stat_inc(node, free_msgs);
			nswap_ctl_send(&peer->frees, NSWAP_FREE, nr);
		}
		nswap_peer_put(peer);
	}
}

/*
 * Send the peers what was freed. The source that comes first may fill the batches, so
 * each does in turn. Context: the module's work queue; does not allocate or wait.
 */
void nswap_free_work(struct work_struct *work)
{
	struct nswap_client *cl = container_of(to_delayed_work(work),
					       struct nswap_client, frees);
	unsigned int turn, nr = 1;
	struct nswap_device *dev;
	bool wait;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &cl->node->devices, link)
		nr++;
	turn = cl->free_turn++ % nr;
	wait = tell_sources(cl, turn, UINT_MAX);
	wait |= tell_sources(cl, 0, turn);
	rcu_read_unlock();
	send_batches(cl->node);
	/* answers come sooner, unless a peer is silent or the pass met too many of it */
	if (wait)
		nswap_free_kick(cl->node, BATCH_MS);
}
