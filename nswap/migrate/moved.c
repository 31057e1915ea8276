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
#include "core/node.h"
#include "core/slot_update.h"
#include "moved.h"
#include "peers/ctl.h"
#include "peers/reconcile.h"

#define BUSY_WAIT	(5 * HZ)	/* for another claim at the same peer */

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
		ret = nswap_recv_buf(conn->t, conn->l, r,
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
	s->state = to;
	s->peer = to_peer;
	return true;
}

/* likewise, -> FLASH; @at of 0 means the flash slot that it already has */
static bool moved_slot_to_flash(struct nswap_slot *s, u32 gen, u8 from,
				u16 from_peer, struct nswap_flash *f, u32 at)
{
	if (at)
		s->flash = at;
	else if (!s->flash || !nswap_flash_works(f, s->flash))
		return false;
	return moved_slot_gone(s, gen, from, from_peer, NSWAP_SLOT_FLASH, 0);
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
 * moment, perhaps at the mover itself; also if it was stored there from a flash
 * device that is being removed and the ack is still on its way.
 *
 * Context: process, does not sleep.
 * Return: false if the copy is obsolete, which is final.
 */
bool nswap_moved_counts(struct nswap_device *dev,
			const struct nswap_wire_page *p, u16 from)
{
	struct nswap_slot s;

	if (!moved_has_slot(dev, p))
		return false;
	s = nswap_slot_look(dev, le64_to_cpu(p->slot));
	if (s.gen != le32_to_cpu(p->gen))
		return false;
	if (s.state == NSWAP_SLOT_MOVING)
		return true;
	if (s.state == NSWAP_SLOT_FLASH)
		return nswap_flash_leaving(dev->flash, s.flash);
	return s.peer == from && (s.state == NSWAP_SLOT_WRITING ||
				  s.state == NSWAP_SLOT_REMOTE);
}

/* REMOTE -> MOVING; returns the pages that are MOVING now, adds obsolete ones to @drop */
static unsigned long moved_begin_claim(struct nswap_node *node, u16 from,
				       const struct nswap_wire_page *page, u32 nr,
				       unsigned long *drop)
{
	unsigned long moving = 0;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < nr; i++) {
		struct nswap_device *dev = nswap_device_find(node,
						le32_to_cpu(page[i].instance));

		if (nswap_moved_go(dev, &page[i], NSWAP_SLOT_REMOTE, from,
				   NSWAP_SLOT_MOVING, from))
			moving |= BIT(i);
		else if (!nswap_moved_counts(dev, &page[i], from))
			*drop |= BIT(i);
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

/* send CLAIM to the new peer and wait; returns those of @moving that it holds */
static unsigned long moved_send_claim(struct nswap_peer *to,
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

/* record the result of the claim; true: the mover may drop its copy */
static bool moved_end_claim(struct nswap_node *node, const struct nswap_wire_page *p,
			    u16 from, struct nswap_peer *to, bool claimed)
{
	struct nswap_device *dev;
	bool moved, drop = true;

	rcu_read_lock();
	dev = nswap_device_find(node, le32_to_cpu(p->instance));
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
	unsigned long moving, claimed, drop = 0;
	unsigned int i;

	from = nswap_moved_peer(node, mover, mover_epoch);
	if (from)
		new = nswap_moved_peer(node, le64_to_cpu(to->id),
				       le64_to_cpu(to->epoch));
	if (!new || new == from || READ_ONCE(new->state) != NSWAP_PEER_UP)
		goto out;
	moving = moved_begin_claim(node, from->index, page, nr, &drop);
	if (!moving)
		goto out;
	nswap_peer_slots(node, new->index, hweight_long(moving));
	claimed = moved_send_claim(new, page, moving);
	if (READ_ONCE(new->state) == NSWAP_PEER_LOST)
		claimed = 0;
	for_each_set_bit(i, &moving, NSWAP_REQ_SLOTS)
		if (moved_end_claim(node, &page[i], from->index, new, claimed & BIT(i)))
			drop |= BIT(i);
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
