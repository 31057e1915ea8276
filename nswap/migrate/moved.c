// SPDX-License-Identifier: GPL-2.0
/*
 * Moves, at the owner: a server reports that it moved pages to another peer.
 *
 *   MOVED: REMOTE(from, g) -> MOVING(from, g), CLAIM g at the new place
 *   claimed: MOVING(from, g) -> REMOTE(to, g), the old copy may be dropped
 *   not claimed: MOVING(from, g) -> REMOTE(from, g), it must be kept
 *   the slot changed meanwhile: it stays as it is, both copies are obsolete
 *
 * Invariants:
 *  - The old copy may be dropped only after the slot has left it: recorded
 *    elsewhere, rewritten, freed or lost.
 *  - A page is recorded only at a peer that has confirmed, in the present session,
 *    that it holds it: a peer that restarted cannot have confirmed.
 *  - While a claim is under way the new peer's count of slots includes it, so
 *    that its index cannot be reused for another epoch. The count then belongs to
 *    the slot or to the orphan, or is taken off again.
 *  - Losing the old peer leaves a MOVING slot alone: the claim decides.
 *  - The device is looked up again after every wait; an instance number is never
 *    reused.
 */
#include "client/free.h"
#include "core/client_state.h"
#include "core/devices.h"
#include "core/inject.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/parity.h"
#include "core/slot_hold.h"
#include "core/slot_update.h"
#include "moved.h"
#include "moved_cell.h"
#include "peers/ctl.h"
#include "peers/loss.h"
#include "peers/place.h"
#include "peers/reconcile.h"

#define BUSY_WAIT	(5 * HZ)	/* for another claim at the same peer */
#define APART		(3 * HZ)	/* copies are not moved onto each other for this long */
#define APART_OVER	(2 * HZ)	/* and from then on, until none tried for this long */

static void claim_lost(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);

	nswap_inject_met(NSWAP_MET_CUT, le32_to_cpu(m->hdr.nr));
	c->peer->claimed = 0;
	/* pairs with moved_send_claim(): the result is there */
	smp_store_release(&c->peer->claim_over, true);
	wake_up_all(&c->peer->wait);
}

static int claim_answered(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);
	struct nswap_conn *conn = m->conn;
	struct nswap_wire_result *r = conn->scratch;
	struct nswap_peer *peer = c->peer;
	unsigned long held = 0;
	u32 i;
	int ret;

	ret = conn->rx.type == NSWAP_CLAIM_ACK &&
	      conn->rx.nr == m->hdr.nr ? 0 : -EPROTO;
	if (!ret)
		ret = nswap_conn_plain(conn, r,
				       le32_to_cpu(conn->rx.nr) * sizeof(*r));
	if (ret) {
		m->lost(m);
		return ret;
	}
	for (i = 0; i < le32_to_cpu(conn->rx.nr); i++)
		if (le32_to_cpu(r[i].status) == NSWAP_ST_OK)
			held |= BIT(i);
	peer->claimed = held;
	/* pairs with moved_send_claim(): the result is there */
	smp_store_release(&peer->claim_over, true);
	wake_up_all(&peer->wait);
	return 0;
}

/* make a peer's CLAIM message. Returns 0, or -ENOMEM */
int nswap_moved_init(struct nswap_peer *peer)
{
	int ret = nswap_ctl_init(&peer->claim, peer, true, claim_answered);

	peer->claim.m.lost = claim_lost;
	return ret;
}

/* Returns a referenced peer, or NULL if it is not known with this epoch. */
struct nswap_peer *nswap_moved_peer(struct nswap_node *node, u64 id, u64 epoch)
{
	struct nswap_peer *peer;
	u16 index;

	spin_lock_irq(&node->ipt_lock);
	index = nswap_ipt_find(&node->ipt, id);
	spin_unlock_irq(&node->ipt_lock);
	peer = index ? nswap_peer_get(node, index) : NULL;
	if (peer && (peer->id != id || peer->epoch != epoch)) {
		nswap_peer_put(peer);
		peer = NULL;
	}
	return peer;
}

/* is the slot within the device? slot 0 never leaves its node */
static bool moved_has_slot(const struct nswap_device *dev,
			   const struct nswap_wire_page *p)
{
	u64 slot = le64_to_cpu(p->slot);

	return dev && slot && slot < dev->map.nr;
}

/* set another state and peer, if the slot still has the expected ones */
static bool moved_slot_gone(struct nswap_slot *s, u32 gen, u8 from, u16 from_peer,
			    u8 to, u16 to_peer)
{
	if (!nswap_slot_is(s, from, from_peer, gen))
		return false;
	if (!to_peer)
		s->referenced = nswap_slot_left_reference(s);
	s->state = to;
	s->peer = to_peer;
	return true;
}

/* likewise, -> FLASH; @at of 0 means the flash slot that it already has */
static bool moved_slot_to_flash(struct nswap_slot *s, u32 gen, u8 from,
				u16 from_peer, struct nswap_flash *f, u32 at)
{
	if (!at && (!s->flash || !nswap_flash_works(f, s->flash)))
		return false;
	if (!moved_slot_gone(s, gen, from, from_peer, NSWAP_SLOT_FLASH, 0))
		return false;
	if (at)
		s->flash = at;
	return true;
}

/*
 * Change a slot from one state and peer to another; @dev: device, kept by the caller,
 * or NULL; process, does not sleep; a page-out path. Returns false, with nothing
 * changed, if the slot no longer is in the old state at the old peer.
 */
bool nswap_moved_go(struct nswap_device *dev, const struct nswap_wire_page *p,
		    u8 from, u16 from_peer, u8 to, u16 to_peer)
{
	struct nswap_slot was;

	return moved_has_slot(dev, p) &&
	       nswap_slot_update(dev, le64_to_cpu(p->slot), &was, moved_slot_gone,
				 le32_to_cpu(p->gen), from, from_peer, to, to_peer);
}

/*
 * The same to FLASH; @dev: device, kept by the caller, or NULL; process, does not
 * sleep; a page-out path. Returns false, with nothing changed, if the slot has changed
 * or flash has no copy of the page.
 */
bool nswap_moved_to_flash(struct nswap_device *dev,
			  const struct nswap_wire_page *p, u8 from,
			  u16 from_peer, u32 flash)
{
	struct nswap_slot was;

	return moved_has_slot(dev, p) &&
	       nswap_slot_update(dev, le64_to_cpu(p->slot), &was,
				 moved_slot_to_flash, le32_to_cpu(p->gen), from,
				 from_peer, dev->flash, flash);
}

/**
 * nswap_moved_counts() - is the mover's copy current, or may it become current?
 * @dev: device, kept by the caller, or NULL
 * @p: name of the page
 * @from: index of the mover
 *
 * It is if the page is on its way there (WRITING: the ack travels on another
 * connection), is recorded there, or is being claimed and may be recorded at any
 * moment, perhaps at the mover itself; also if it was stored there from flash and the ack
 * is still on its way.
 *
 * Context: process, does not sleep.
 * Return: false if the copy is obsolete, which is final.
 */
bool nswap_moved_counts(struct nswap_device *dev,
			const struct nswap_wire_page *p, u16 from)
{
	struct nswap_mirror m;
	struct nswap_slot s;
	bool stores;

	if (!moved_has_slot(dev, p))
		return false;
	stores = nswap_flash_stores(dev);
	s = nswap_mirror_both(dev, le64_to_cpu(p->slot), &m);
	if (s.gen != le32_to_cpu(p->gen))
		return false;
	if (s.state == NSWAP_SLOT_MOVING)
		return true;
	if (s.state == NSWAP_SLOT_FLASH)
		return stores;
	return nswap_mirror_counts(&m, &s, from) &&
	       (s.state == NSWAP_SLOT_WRITING || s.state == NSWAP_SLOT_REMOTE);
}

/* the first place of a page that rests and whose second one is at @from, or 0 */
static u16 moved_first(struct nswap_device *dev, const struct nswap_wire_page *p,
		       u16 from)
{
	struct nswap_slot s;

	if (!moved_has_slot(dev, p))
		return 0;
	s = nswap_slot_look(dev, le64_to_cpu(p->slot));
	return s.state == NSWAP_SLOT_REMOTE && s.gen == le32_to_cpu(p->gen) &&
	       nswap_mirror_of(dev, le64_to_cpu(p->slot), &s) == from ? s.peer : 0;
}

/*
 * If the second place of a page is at @from, it becomes the first: it is about to leave
 * for another tier, and with it the other. @dev: device, kept by the caller. Process,
 * does not sleep; a page-out path.
 */
void nswap_moved_swap(struct nswap_device *dev, const struct nswap_wire_page *p,
		      u16 from)
{
	u16 first = moved_first(dev, p, from);
	u64 slot = le64_to_cpu(p->slot);
	u32 gen = le32_to_cpu(p->gen);
	struct nswap_slot held;

	if (!first || !nswap_slot_hold(dev, slot, &held))
		return;
	if (held.gen != gen || held.peer != first ||
	    !nswap_mirror_replace(dev, slot, gen, from, first))
		nswap_slot_release(dev, slot, &held, held.peer);
	else if (!nswap_slot_release(dev, slot, &held, from))
		nswap_free_orphan(dev, slot, gen, from);
	else
		nswap_loss_passed(dev->node, first);
}

/* has the page two places, and are they these? a snapshot */
static bool moved_has_other(struct nswap_device *dev, const struct nswap_wire_page *p,
			    u16 a, u16 b)
{
	struct nswap_slot s;
	u16 second;

	if (!moved_has_slot(dev, p))
		return false;
	s = nswap_slot_look(dev, le64_to_cpu(p->slot));
	second = nswap_mirror_of(dev, le64_to_cpu(p->slot), &s);
	return (s.peer == a && second == b) || (s.peer == b && second == a);
}

/*
 * Is a move onto the node of the other copy to be refused, because the mover may find
 * room at a third one? For a while only: the owner may know wrong. @from, @to: peers
 */
static bool moved_kept_apart(struct nswap_peer *from, const struct nswap_peer *to)
{
	unsigned long now = jiffies ?: 1, last = READ_ONCE(from->apart_last);

	if (!nswap_place_third(from->node, from->index, to->index))
		return false;
	if (!last || time_after(now, last + APART_OVER))
		WRITE_ONCE(from->apart, now);
	WRITE_ONCE(from->apart_last, now);
	return time_before(now, READ_ONCE(from->apart) + APART);
}

/*
 * REMOTE -> MOVING; returns the pages that are MOVING now, with the peer that the word of
 * each names in @at; adds obsolete ones to @drop
 */
static unsigned long moved_begin_claim(struct nswap_peer *mover,
				       const struct nswap_peer *to,
				       const struct nswap_wire_page *page, u32 nr,
				       u16 *at, unsigned long *drop)
{
	struct nswap_node *node = mover->node;
	u16 from = mover->index;
	unsigned long moving = 0;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < nr; i++) {
		struct nswap_device *dev = nswap_device_find(node,
						le32_to_cpu(page[i].instance));

		if (moved_has_other(dev, &page[i], from, to->index) &&
		    moved_kept_apart(mover, to))
			continue;
		if (dev && nswap_is_cells(dev) &&
		    !nswap_moved_begin_cell(dev, &page[i], from, to->index, drop, i))
			continue;
		at[i] = moved_first(dev, &page[i], from) ?: from;
		if (nswap_moved_go(dev, &page[i], NSWAP_SLOT_REMOTE, at[i],
				   NSWAP_SLOT_MOVING, at[i]))
			moving |= BIT(i);
		else if (!nswap_moved_counts(dev, &page[i], from))
			*drop |= BIT(i);
		if (!(moving & BIT(i)))
			nswap_moved_end_cell(node, &page[i], to->index);
	}
	rcu_read_unlock();
	return moving;
}

/* one claim at a time per peer; false if the peer is not UP or stays busy */
static bool take_turn(struct nswap_peer *to)
{
	bool mine = false;

	wait_event_timeout(to->wait,
			   READ_ONCE(to->state) != NSWAP_PEER_UP ||
			   (mine = nswap_ctl_claim(&to->claim)), BUSY_WAIT);
	return mine;
}

/* send CLAIM to the new peer and wait; returns those of @moving that it holds, from @mover */
static unsigned long moved_send_claim(struct nswap_peer *to, u64 mover,
				      const struct nswap_wire_page *page,
				      unsigned long moving)
{
	struct nswap_wire_page *wire = (void *)to->claim.run;
	unsigned long claimed = 0;
	unsigned int i, n = 0;

	if (!take_turn(to))
		return 0;
	for_each_set_bit(i, &moving, NSWAP_REQ_SLOTS)
		wire[n++] = page[i];
	to->claim.m.hdr.slot = cpu_to_le64(mover);
	to->claimed = 0;
	to->claim_over = false;
	if (nswap_ctl_send(&to->claim, NSWAP_CLAIM, n)) {
		wake_up_all(&to->wait);
		return 0;
	}
	/* a session that does not answer is broken, and claim_lost() ends the wait */
	wait_event(to->wait, smp_load_acquire(&to->claim_over));
	n = 0;
	for_each_set_bit(i, &moving, NSWAP_REQ_SLOTS)
		if (to->claimed & BIT(n++))
			claimed |= BIT(i);
	nswap_ctl_release(&to->claim);
	wake_up_all(&to->wait);
	return claimed;
}

/* the page moves where its other copy is: one will be left; @to: index */
static void moved_onto_second(struct nswap_device *dev,
			      const struct nswap_wire_page *p, u16 to)
{
	/* before the word names it: then no task takes it for the word's own */
	if (moved_has_slot(dev, p) &&
	    nswap_mirror_replace(dev, le64_to_cpu(p->slot), le32_to_cpu(p->gen),
				 to, 0))
		nswap_peer_slots(dev->node, to, -1);
}

/* moved_end_claim() for a second copy, whose first one is at @first */
static bool moved_end_second(struct nswap_device *dev,
			     const struct nswap_wire_page *p, u16 first, u16 from,
			     struct nswap_peer *to, bool claimed)
{
	struct nswap_node *node = dev->node;
	u64 slot = le64_to_cpu(p->slot);
	u32 gen = le32_to_cpu(p->gen);
	/* the first copy's place has confirmed it: that one is enough */
	bool merge = to->index == first;
	bool moved = claimed && nswap_mirror_replace(dev, slot, gen, from,
						     merge ? 0 : to->index);

	if (moved) {
		nswap_peer_slots(node, from, -1);
		nswap_stat_inc(node, moves_recorded);
	} else {
		nswap_stat_inc(node, moves_refused);
	}
	if (!moved || merge)
		nswap_peer_slots(node, to->index, -1);
	if (claimed && !moved)
		nswap_reconcile_soon(to);
	if (nswap_moved_go(dev, p, NSWAP_SLOT_MOVING, first, NSWAP_SLOT_REMOTE, first))
		nswap_loss_passed(node, first);
	return moved;
}

/*
 * Record the result of the claim; @at: peer that the word names. True: the mover may drop
 * its copy.
 */
static bool moved_end_claim(struct nswap_node *node, const struct nswap_wire_page *p,
			    u16 from, u16 at, struct nswap_peer *to,
			    bool claimed)
{
	struct nswap_device *dev;
	bool moved, drop = true;

	rcu_read_lock();
	dev = nswap_device_find(node, le32_to_cpu(p->instance));
	if (dev && at != from) {
		drop = moved_end_second(dev, p, at, from, to, claimed);
		rcu_read_unlock();
		return drop;
	}
	if (claimed)
		moved_onto_second(dev, p, to->index);
	moved = nswap_moved_go(dev, p, NSWAP_SLOT_MOVING, from,
			       NSWAP_SLOT_REMOTE, claimed ? to->index : from);
	if (moved && claimed) {
		nswap_peer_slots(node, from, -1);
		nswap_stat_inc(node, moves_recorded);
	} else if (claimed && dev) {
		nswap_free_orphan(dev, le64_to_cpu(p->slot),
				  le32_to_cpu(p->gen), to->index);
		nswap_stat_inc(node, moves_met);
	} else {
		nswap_peer_slots(node, to->index, -1);
		nswap_stat_inc(node, moves_refused);
		drop = !moved;
		if (claimed)
			nswap_reconcile_soon(to);
	}
	rcu_read_unlock();
	return drop;
}

/**
 * nswap_moved() - handle MOVED: a server has moved pages to another peer
 * @node: the owner
 * @mover: id of the server
 * @mover_epoch: its epoch
 * @to: the peer that has the pages now
 * @page: names of the pages
 * @nr: number of pages, at most NSWAP_REQ_SLOTS
 *
 * Context: process, sleeps until the new peer has answered; on the page-out
 * path of the mover.
 * Return: bitmap of the pages whose old copy the mover may drop.
 */
unsigned long nswap_moved(struct nswap_node *node, u64 mover, u64 mover_epoch,
			  const struct nswap_wire_node *to,
			  const struct nswap_wire_page *page, u32 nr)
{
	struct nswap_peer *from, *new = NULL;
	u16 at[NSWAP_REQ_SLOTS];
	unsigned long moving, claimed, drop = 0;
	unsigned int i;

	from = nswap_moved_peer(node, mover, mover_epoch);
	if (from)
		new = nswap_moved_peer(node, le64_to_cpu(to->id),
				       le64_to_cpu(to->epoch));
	if (!new || new == from || READ_ONCE(new->state) != NSWAP_PEER_UP)
		goto out;
	moving = moved_begin_claim(from, new, page, nr, at, &drop);
	if (!moving)
		goto out;
	nswap_peer_slots(node, new->index, hweight_long(moving));
	claimed = moved_send_claim(new, mover, page, moving);
	if (READ_ONCE(new->state) == NSWAP_PEER_LOST)
		claimed = 0;
	for_each_set_bit(i, &moving, NSWAP_REQ_SLOTS) {
		if (moved_end_claim(node, &page[i], from->index, at[i], new,
				    claimed & BIT(i)))
			drop |= BIT(i);
		nswap_moved_end_cell(node, &page[i], new->index);
	}
	/* the loss may have passed over slots that were MOVING or not yet recorded */
	if (READ_ONCE(from->state) == NSWAP_PEER_LOST ||
	    READ_ONCE(new->state) == NSWAP_PEER_LOST)
		queue_work(system_dfl_wq, &node->client->losses);
	nswap_client_kick(node);
out:
	if (new)
		nswap_peer_put(new);
	if (from)
		nswap_peer_put(from);
	return drop;
}
