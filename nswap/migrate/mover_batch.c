// SPDX-License-Identifier: GPL-2.0
/*
 * One batch of a mover, see mover.c for when there is one and what may be lost:
 * nothing is.
 *
 *   droppable pages: drop -> DROPPED to the owner
 *   pick pages -> MOVE to a peer with room -> MOVED to the owner -> drop or keep
 *   no peer has room: RETURN to the owner  -> drop or keep
 *
 * Invariant: a page that is not droppable is dropped here only when its owner allows it, or
 * its owner's node is found in another epoch; after any failure it is kept and tried again later.
 */
#include <linux/err.h>

#include "core/inject.h"
#include "core/node.h"
#include "mover_batch.h"
#include "observe/trace.h"
#include "rebalance.h"
#include "server/owner.h"
#include "server/held.h"
#include "target.h"

#define REST		HZ
#define HOMELESS	(10 * HZ)
#define FULL		(5 * HZ)	/* from the first that is full to trying all again */
/* pages: with less room at a peer, what is on its way may take the last of it */
#define SCARCE		(2 * NSWAP_MOVERS * NSWAP_REQ_SLOTS)

/* the peer with the most free lent RAM; @rests: skipped one with room in backoff */
static bool mover_choose(struct mover_thread *w, struct nswap_owner *o,
			 struct nswap_target *to, bool *rests)
{
	const struct nswap_target_rule rule = {
		.owner = o->id, .linked = w->to.l ? w->to.id : 0,
		.rest = w->m->rest, .hand_on = w->hand_on,
		.critical = !w->hand_on && nswap_owner_has(o, NSWAP_DEV_CRITICAL),
		.full = w->full, .unmet = w->unmet,
	};

	w->critical = rule.critical;
	spin_lock(&o->lock);
	if (!time_before(jiffies, o->full_until))
		memset(o->full, 0, sizeof(o->full));
	memcpy(w->full, o->full[rule.critical], sizeof(w->full));
	if (!time_before(jiffies, o->unmet_until))
		memset(o->unmet, 0, sizeof(o->unmet));
	memcpy(w->unmet, o->unmet, sizeof(w->unmet));
	spin_unlock(&o->lock);
	return nswap_target_choose(w->m->node, &rule, to, rests);
}

/* is no peer known to be without room for the owner? its lock held */
static bool mover_none_full(const struct nswap_owner *o)
{
	return bitmap_empty(o->full[0], NSWAP_MAX_PEERS + 1) &&
	       bitmap_empty(o->full[1], NSWAP_MAX_PEERS + 1);
}

/*
 * The peer has no room for this owner, which has its share there: others' pages may go
 * there. Pages that are not critical may have been chosen though the target was one for
 * critical ones.
 */
static void mover_full(struct mover_thread *w, struct nswap_owner *o, u16 peer)
{
	bool critical = w->critical && w->entry[0]->class == NSWAP_DEV_CRITICAL;

	spin_lock(&o->lock);
	if (mover_none_full(o))
		o->full_until = jiffies + FULL;
	__set_bit(peer, o->full[critical]);
	spin_unlock(&o->lock);
}

/* none of the owner's pages may go to the peer, by either's word: others' pages may */
static void mover_unmet(struct nswap_owner *o, u16 peer)
{
	spin_lock(&o->lock);
	__set_bit(peer, o->unmet);
	o->unmet_until = jiffies + REST;
	spin_unlock(&o->lock);
}

static void set_bv(struct bio_vec *bv, void *buf, unsigned int len)
{
	bvec_set_page(bv, virt_to_page(buf), len, offset_in_page(buf));
}

/* header, node and names; returns entries of @bv */
static unsigned int mover_build(struct mover_thread *w, struct nswap_move_link *ml,
				u8 type, u32 nr)
{
	u32 named = offsetof(struct nswap_wire_names, page[nr]);

	nswap_wire_init(&ml->hdr, type, nr, named);
	set_bv(&w->bv[0], &ml->hdr, sizeof(ml->hdr));
	set_bv(&w->bv[1], &w->names, named);
	return 2;
}

/*
 * The same with the pages, short if the other node knows such and it is worth it. @refer:
 * result; bytes at the end that need not be copied, none unless all pages are whole
 */
static unsigned int mover_build_pages(struct mover_thread *w, struct nswap_move_link *ml,
				      u8 type, u32 nr, size_t *refer)
{
	u32 i, named = offsetof(struct nswap_wire_names, page[nr]), bytes = nr * PAGE_SIZE;
	__le16 *len = (void *)&w->names.page[nr];
	bool whole = true, is_short = false;
	unsigned int n = 2;

	for (i = 0; i < nr; i++) {
		whole = whole && w->entry[i]->len == PAGE_SIZE;
		is_short = is_short || nswap_wire_worth(w->entry[i]->len);
	}
	is_short = is_short && ml->features & NSWAP_HAS_SHORT;
	if (is_short) {
		named += nr * sizeof(*len);
		for (bytes = 0, i = 0; i < nr; i++) {
			len[i] = cpu_to_le16(w->entry[i]->len);
			bytes += w->entry[i]->len;
		}
	}
	nswap_wire_init(&ml->hdr, type, nr, named + bytes);
	ml->hdr.flags = cpu_to_le16(is_short ? NSWAP_F_SHORT : 0);
	set_bv(&w->bv[0], &ml->hdr, sizeof(ml->hdr));
	set_bv(&w->bv[1], &w->names, named);
	for (i = 0; i < nr; i++)
		n += nswap_entry_vecs(&w->bv[n], w->entry[i], !is_short);
	*refer = whole ? nswap_refer_pages(nr) : 0;
	return n;
}

static void name_pages(struct mover_thread *w, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		w->names.page[i] = (struct nswap_wire_page){
			.slot = cpu_to_le64(w->entry[i]->slot),
			.instance = cpu_to_le32(w->entry[i]->instance),
			.gen = cpu_to_le32(w->entry[i]->gen),
		};
}

/*
 * An owner's node has just been found in another epoch than @was, which its pages had before: no
 * node can ask for them any more.
 */
static void mover_over(struct mover_thread *w, struct nswap_owner *o, u64 was)
{
	if (nswap_owner_over(w->m->node->cache, o, was))
		nswap_stat_inc(w->m->node, owners_rebooted);
}

/* send the pages to another node and wait; false if no answer came */
static bool mover_bring(struct mover_thread *w, const struct nswap_target *to,
			u8 type, struct nswap_owner *o, u64 epoch, u32 nr)
{
	unsigned int n;
	size_t refer;

	/* a link to an epoch that is over says nothing about the present one */
	if (w->to.l && w->to.epoch != to->epoch)
		nswap_move_link_close(&w->to);
	if (nswap_move_link_open(&w->to, to->id, &to->addr))
		return false;
	if (w->to.epoch != to->epoch) {
		nswap_move_link_close(&w->to);
		if (type == NSWAP_RETURN)
			mover_over(w, o, epoch);
		return false;
	}
	w->names.who.id = cpu_to_le64(o->id);
	w->names.who.epoch = cpu_to_le64(epoch);
	name_pages(w, nr);
	n = mover_build_pages(w, &w->to, type, nr, &refer);
	return !nswap_move_link_ask(&w->to, w->bv, n, &w->names, refer,
				    type == NSWAP_MOVE ? NSWAP_MOVE_ACK : NSWAP_RETURN_ACK,
				    w->result);
}

/*
 * Move the batch to a peer; returns the pages that the peer has now. @otherwise: changed if
 * it refused some for what it has of their slots: others of the class are tried first
 */
static unsigned long mover_move(struct mover_thread *w, const struct nswap_target *to,
				struct nswap_owner *o, u64 epoch, u32 nr,
				enum nswap_moved_how *otherwise)
{
	unsigned long there = 0;
	u32 i, full = 0, older = 0, stale = 0;

	if (!mover_bring(w, to, NSWAP_MOVE, o, epoch, nr))
		goto rest;
	for (i = 0; i < nr; i++) {
		u32 status = le32_to_cpu(w->result[i].status);

		if (status == NSWAP_ST_OK)
			there |= BIT(i);
		full += status == NSWAP_ST_SHARE;
		older += status == NSWAP_ST_OLDER;
		stale += status == NSWAP_ST_STALE;
	}
	if (older)
		*otherwise = NSWAP_REFUSED;
	nswap_target_took(w->m->node, to, le64_to_cpu(w->to.hdr.free),
			  hweight_long(there));
	if (there) {
		WRITE_ONCE(w->m->took, jiffies);
		return there;
	}
	if (full == nr) {
		mover_full(w, o, to->index);
		return 0;
	}
	if (older + stale == nr) {
		mover_unmet(o, to->index);
		return 0;
	}
rest:
	WRITE_ONCE(w->m->rest[to->index], jiffies + REST);
	return 0;
}

/* connect to the owner for MOVED; on failure it is in backoff */
static bool reach_owner(struct mover_thread *w, struct nswap_owner *o)
{
	u64 epoch = READ_ONCE(o->epoch);
	struct nswap_target owner;

	/* a link to another epoch of the owner would only find that out later */
	if (w->tell.l && w->tell.epoch != epoch)
		nswap_move_link_close(&w->tell);
	if (nswap_move_link_leads(&w->tell, o->id))
		return true;
	/* if connecting takes long, it delays only this thread: others skip the owner */
	WRITE_ONCE(o->rest, jiffies + REST);
	if (!nswap_target_owner(w->m->node, o->id, &owner) ||
	    nswap_move_link_open(&w->tell, owner.id, &owner.addr))
		return false;
	/* or the owner has said HELLO since: then that counts */
	if (w->tell.epoch != epoch) {
		mover_over(w, o, epoch);
		return false;
	}
	WRITE_ONCE(o->rest, jiffies);
	return true;
}

/* send MOVED to the owner; returns the pages that may be dropped here */
static unsigned long mover_tell(struct mover_thread *w, const struct nswap_target *to,
				u64 epoch, unsigned long there)
{
	unsigned long drop = 0;
	unsigned int i, n = 0;
	u32 nr = hweight_long(there);

	if (w->tell.epoch != epoch) {
		/* an older or newer epoch of the owner: reconnect */
		nswap_move_link_close(&w->tell);
		return 0;
	}
	w->names.who.id = cpu_to_le64(to->id);
	w->names.who.epoch = cpu_to_le64(to->epoch);
	for_each_set_bit(i, &there, NSWAP_REQ_SLOTS)
		w->names.page[n++] = w->names.page[i];
	n = mover_build(w, &w->tell, NSWAP_MOVED, nr);
	if (nswap_move_link_ask(&w->tell, w->bv, n, &w->names, 0, NSWAP_MOVED_ACK,
				w->result)) {
		nswap_inject_met(NSWAP_MET_CUT, nr);
		return 0;
	}
	n = 0;
	for_each_set_bit(i, &there, NSWAP_REQ_SLOTS)
		if (le32_to_cpu(w->result[n++].status) == NSWAP_ST_OK)
			drop |= BIT(i);
	return drop;
}

/* drop or keep each page of the batch; returns how many were dropped */
static u32 mover_finish(struct mover_thread *w, struct nswap_owner *o,
			const struct nswap_pick *p, u32 nr, unsigned long drop,
			enum nswap_moved_how otherwise)
{
	struct nswap_cache *c = w->m->node->cache;
	u32 i, gone = 0;

	for (i = 0; i < nr; i++)
		gone += nswap_held_moved(c, o, w->entry[i], p->attempt,
					 drop & BIT(i) ? NSWAP_GONE : otherwise);
	nswap_held_picked_over(c, p);
	if (w->hand_on)
		nswap_stat_add(w->m->node, pages_rebalanced, gone);
	nswap_stat_add(w->m->node, moves_failed, nr - hweight_long(drop));
	return gone;
}

static u32 next_attempt(struct nswap_mover *m)
{
	u32 n = atomic_inc_return(&m->attempt);

	return n ?: atomic_inc_return(&m->attempt);
}

static bool bring_back(struct mover_thread *w, struct nswap_owner *o, u64 epoch,
		       u32 nr)
{
	struct nswap_target to;

	if (!nswap_target_owner(w->m->node, o->id, &to))
		return false;
	/* if connecting takes long, it delays only this thread: others skip the owner */
	if (!w->to.l || w->to.id != o->id)
		WRITE_ONCE(o->rest, jiffies + REST);
	/* the epoch that the pages belong to, whatever was announced since */
	to.epoch = epoch;
	return mover_bring(w, &to, NSWAP_RETURN, o, epoch, nr);
}

/* pages that are obsolete, or on the owner's flash or home; notes a missing home */
static unsigned long mover_pages_returned(struct mover_thread *w, struct nswap_owner *o,
					  u32 nr)
{
	unsigned long drop = 0;
	u32 i;

	for (i = 0; i < nr; i++) {
		u32 status = le32_to_cpu(w->result[i].status);

		if (status == NSWAP_ST_OK)
			drop |= BIT(i);
		if (status != NSWAP_ST_NO_HOME)
			continue;
		WRITE_ONCE(o->homeless_until, jiffies + HOMELESS);
		WRITE_ONCE(o->homeless, w->entry[i]->instance);
	}
	return drop;
}

/* no other peer has room for an owner's pages: return one batch to it */
static u32 return_batch(struct mover_thread *w, struct nswap_owner *o, u32 room)
{
	enum nswap_moved_how otherwise = NSWAP_KEPT;
	struct nswap_pick p = {
		.attempt = next_attempt(w->m), .n = NSWAP_REQ_SLOTS, .ram = room,
		.one_device = true,
		.not_of = nswap_owner_homeless(o) ? READ_ONCE(o->homeless) : 0,
	};
	struct nswap_node *node = w->m->node;
	unsigned long drop = 0;
	u32 gone, nr;
	u64 epoch;

	nr = nswap_held_pick(w->m->node->cache, o, &p, w->entry, &epoch);
	if (!nr) {
		WRITE_ONCE(o->rest, jiffies + MOVER_LOOK_EVERY);
		return 0;
	}
	if (bring_back(w, o, epoch, nr)) {
		drop = mover_pages_returned(w, o, nr);
		otherwise = NSWAP_REFUSED;
	}
	WRITE_ONCE(o->rest, drop ? jiffies : jiffies + REST);
	gone = mover_finish(w, o, &p, nr, drop, otherwise);
	nswap_stat_add(node, pages_sent_home, gone);
	trace_nswap_return(node->number, o->id, nr, gone);
	return gone;
}

/*
 * No peer takes pages of this owner now. A peer in backoff may take some soon, and
 * home is the last resort: return pages only when none has taken a page for MOVER_HOME_AFTER.
 */
static u32 mover_no_target(struct mover_thread *w, struct nswap_owner *o, u32 room,
			   bool rests)
{
	unsigned long took = READ_ONCE(w->m->took);

	if (!w->hand_on &&
	    !(rests && time_before(jiffies, took + MOVER_HOME_AFTER)))
		return return_batch(w, o, room);
	WRITE_ONCE(o->rest, jiffies + MOVER_LOOK_EVERY);
	/* peers that are full for this owner alone may take others' pages */
	if (w->hand_on && bitmap_empty(w->full, NSWAP_MAX_PEERS + 1))
		nswap_rebalance_nowhere(w->m->node);
	return 0;
}

/*
 * Can an owner be told of drops? -EAGAIN while another thread finds out whether it can be
 * reached; that is waited for once, not again until it is reached.
 */
static int mover_may_tell(struct mover_thread *w, struct nswap_owner *o)
{
	bool linked = nswap_move_link_leads(&w->tell, o->id);

	if (!linked && time_before(jiffies, READ_ONCE(o->rest)))
		return READ_ONCE(o->unreached) ? 0 : -EAGAIN;
	WRITE_ONCE(o->unreached, !reach_owner(w, o));
	return !READ_ONCE(o->unreached);
}

/**
 * nswap_mover_drop() - drop droppable pages of an owner, and tell it
 * @w: thread
 * @o: owner, kept by the caller
 * @room: pages of RAM to be given back
 *
 * What an owner that cannot be reached is not told it finds out by page-ins.
 *
 * Context: process, the mover's thread; sleeps.
 * Return: how many were; -EAGAIN: none yet, look again in a moment.
 */
int nswap_mover_drop(struct mover_thread *w, struct nswap_owner *o, u32 room)
{
	int told = mover_may_tell(w, o);
	u64 epoch;
	u32 n, nr;

	if (told < 0)
		return told;
	nr = nswap_held_drop_some(w->m->node->cache, o, &room, w->names.page, &epoch);
	if (!nr || !told || w->tell.epoch != epoch ||
	    !(w->tell.features & NSWAP_HAS_CLASSES))
		return nr;
	w->names.who.id = cpu_to_le64(o->id);
	w->names.who.epoch = cpu_to_le64(epoch);
	n = mover_build(w, &w->tell, NSWAP_DROPPED, nr);
	nswap_move_link_ask(&w->tell, w->bv, n, &w->names, 0, NSWAP_DROPPED_ACK,
			    w->result);
	return nr;
}

/* one batch of one owner; any failure starts a backoff of the owner or the peer */
u32 nswap_mover_batch(struct mover_thread *w, struct nswap_owner *o, u32 room)
{
	struct nswap_pick p = { .attempt = next_attempt(w->m), .to_peer = true };
	struct nswap_node *node = w->m->node;
	enum nswap_moved_how otherwise = NSWAP_KEPT;
	unsigned long there, drop = 0;
	struct nswap_target to;
	u32 gone, nr;
	bool rests;
	u64 epoch;

	if (!mover_choose(w, o, &to, &rests))
		return mover_no_target(w, o, room, rests);
	if (!reach_owner(w, o))
		return 0;
	p.n = min_t(u64, NSWAP_REQ_SLOTS, to.free);
	p.ram = room;
	p.scarce = to.free < SCARCE;
	nr = nswap_held_pick(w->m->node->cache, o, &p, w->entry, &epoch);
	if (!nr) {
		WRITE_ONCE(o->rest, jiffies + MOVER_LOOK_EVERY);
		return 0;
	}
	there = mover_move(w, &to, o, epoch, nr, &otherwise);
	if (there && nswap_inject_early_free()) {
		nr = mover_finish(w, o, &p, nr, there, otherwise);
		mover_tell(w, &to, epoch, there);
		return nr;
	}
	if (there)
		drop = mover_tell(w, &to, epoch, there);
	/* perhaps the owner has no session with that peer yet, but has with others */
	if (there && !drop) {
		WRITE_ONCE(o->rest, jiffies + MOVER_LOOK_EVERY);
		mover_unmet(o, to.index);
		otherwise = NSWAP_REFUSED;
	}
	gone = mover_finish(w, o, &p, nr, drop, otherwise);
	nswap_stat_add(node, pages_moved_out, gone);
	trace_nswap_move(node->number, o->id, nr, gone);
	return gone;
}
