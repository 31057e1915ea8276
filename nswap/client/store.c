// SPDX-License-Identifier: GPL-2.0
/*
 * STORE: the message that sends pages to a peer, and its answer; for page-outs
 * and for moves from home to peers.
 *
 *   made -> sent -> acknowledged: each slot is stored, or was refused
 *               \-> overdue, the session broke, or its peer is LOST: each slot is given up
 *
 * Invariants:
 *  - Every message is answered, overdue or lost, exactly once (conn.c), so every
 *    slot of it is stored or given up once, and the message ends once.
 *  - What a peer acknowledged whose epoch is over is given up: its copy is lost, and the page
 *    is still here, or where it was. One that is recorded at it nevertheless, since it was
 *    lost in that moment, is found by loss.c, which runs when its receivers have ended.
 *  - A generation that was given up is never sent again. What the peer may hold
 *    of it: nothing, if it refused or no byte was sent; an orphan, if it has not
 *    answered, freed now and again when its late answer comes (late.c); what
 *    comparison finds, if the session broke.
 *  - The slots of a message are counted at the peer before one of them names it.
 *    The count passes to the slot that is stored, to the orphan, or is undone.
 *  - A slot may be freed at any time, and one of a move rewritten, freed or
 *    claimed elsewhere. Only the user's callbacks look at the slot's entry, never
 *    this file; so an orphan is named by what was sent, not by the entry.
 *  - The pages of a large message are not copied: the link refers to them until they
 *    have come or it is closed, which is after the message ended only if it was given
 *    up, or answered before all of it had come. What such a page holds by then goes to
 *    a generation that is never read. So they are copied if the slot keeps a generation
 *    that was given up (@keeps_gen), and if the device is sealed or compressed: a page of
 *    the pool, or of a batch, holds plain text while it is sealed or opened.
 *  - Nothing here sleeps for the network or allocates; only the receiver waits,
 *    for the results that follow a header. The message holds a reference to the
 *    peer until it ends.
 */
#include "core/client_state.h"
#include "core/device.h"
#include "core/node.h"
#include "core/parity.h"
#include "core/reserve.h"
#include "free.h"
#include "observe/meter.h"
#include "peers/grants.h"
#include "peers/place.h"
#include "peers/session.h"
#include "short.h"
#include "store.h"

/* is it one of the device's reserve, for which no grant is spent? */
static bool store_is_reserved(const struct nswap_op *op)
{
	return op->m.hdr.flags & cpu_to_le16(NSWAP_F_RESERVED);
}

static void store_give_up(struct nswap_op *op, unsigned int i, bool may_be_held)
{
	struct nswap_io *io = op->io;
	u16 index = op->peer->index;

	op->store->given_up(op, i);
	if (may_be_held)
		nswap_free_orphan(io->dev, io->slot[i],
				  le32_to_cpu(io->gen[i]), index);
	else
		nswap_peer_slots(io->dev->node, index, -1);
}

static int store_answered(struct nswap_msg *m)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);
	struct nswap_conn *c = m->conn;
	struct nswap_wire_result *r = c->scratch;
	struct nswap_peer *peer = op->peer;
	unsigned long refused = 0;
	unsigned int i;
	int ret;

	ret = c->rx.type == NSWAP_STORE_ACK &&
	      le32_to_cpu(c->rx.nr) == op->nr ? 0 : -EPROTO;
	if (!ret)
		ret = nswap_conn_plain(c, r, op->nr * sizeof(*r));
	if (ret) {
		m->lost(m);
		return ret;
	}
	m->received_ns = nswap_stamp();
	if (READ_ONCE(peer->state) == NSWAP_PEER_LOST) {
		m->lost(m);
		return 0;
	}
	nswap_place_answered(peer, op->nr, op->began, le32_to_cpu(c->rx.grants),
			     le64_to_cpu(c->rx.free));
	for (i = op->first; i < op->first + op->nr; i++, r++) {
		if (le32_to_cpu(r->status) == NSWAP_ST_OK) {
			op->store->stored(op, i);
			continue;
		}
		store_give_up(op, i, false);
		refused |= BIT(i);
	}
	if (refused && store_is_reserved(op))
		nswap_reserve_refused(op->io->dev, peer->index);
	else if (refused)
		nswap_peer_refused(peer, hweight_long(refused));
	nswap_client_kick(peer->node);
	op->store->end(op, refused);
	return 0;
}

static void store_unanswered(struct nswap_op *op, bool may_be_held)
{
	unsigned int i;

	nswap_place_missed(op->peer, op->nr, op->began);
	for (i = op->first; i < op->first + op->nr; i++)
		store_give_up(op, i, may_be_held);
	op->store->end(op, nswap_op_slots(op));
}

/* the session broke, or is about to: comparison will find what the peer holds of the message */
static void store_lost(struct nswap_msg *m)
{
	store_unanswered(container_of(m, struct nswap_op, m), false);
}

static void store_overdue(struct nswap_msg *m, bool unsent)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);
	struct nswap_peer *peer = op->peer;

	nswap_stat_add(peer->node, timeouts, op->nr);
	nswap_peer_back_off(peer);
	if (unsent && !store_is_reserved(op))
		nswap_place_unspent(peer, op->nr);
	store_unanswered(op, !unsent);
}

/* may what its pages hold later be sent, too? see above */
static bool store_refers(const struct nswap_op *op)
{
	return !op->store->keeps_gen &&
	       !nswap_visible_device(op->io->dev)->wrap;
}

/* the message points to its generations, whose values may be set later */
static void store_build(struct nswap_op *op)
{
	struct nswap_io *io = op->io;
	struct bio_vec *bv = &io->bv[3 * op->first];
	struct nswap_wire_hdr *h = &op->m.hdr;
	u32 bytes = op->nr * (sizeof(__le32) + PAGE_SIZE);
	unsigned int i;

	nswap_wire_init(h, NSWAP_STORE, op->nr, bytes);
	h->id = nswap_client_id(io->dev->node);
	h->flags = nswap_meter_flags(io, READ_ONCE(op->peer->features));
	h->slot = cpu_to_le64(io->slot[op->first]);
	h->instance = cpu_to_le32(io->dev->instance);
	bvec_set_page(&bv[0], virt_to_page(h), sizeof(*h), offset_in_page(h));
	bvec_set_page(&bv[1], virt_to_page(&io->gen[op->first]),
		      op->nr * sizeof(__le32),
		      offset_in_page(&io->gen[op->first]));
	for (i = 0; i < op->nr; i++)
		bvec_set_page(&bv[2 + i], io->page[op->first + i], PAGE_SIZE, 0);
	op->m.plain = &io->gen[op->first];
	op->m.pages = store_refers(op) ? nswap_refer_pages(op->nr) : 0;
	iov_iter_bvec(&op->m.iter, ITER_SOURCE, bv, 2 + op->nr,
		      sizeof(*h) + bytes);
	if (nswap_short_may(io, READ_ONCE(op->peer->features)))
		nswap_short_store(op);
}

/**
 * nswap_store_op() - prepare the STORE of adjacent slots
 * @io: request or batch; its pages are set
 * @first: first slot, counted from the request's
 * @nr: slots; as many grants of the peer are spent
 * @peer: where to; the message takes over the caller's reference
 * @ops: callbacks for its answer
 *
 * From now on the slots may name the peer.
 *
 * Context: process, page-out path: does not sleep or allocate.
 * Return: the op, for nswap_store_send().
 */
struct nswap_op *nswap_store_op(struct nswap_io *io, unsigned int first,
				unsigned int nr, struct nswap_peer *peer,
				const struct nswap_store_ops *ops)
{
	struct nswap_op *op = &io->op[first];

	op->io = io;
	op->peer = peer;
	op->store = ops;
	op->first = first;
	op->nr = nr;
	op->m.answer = store_answered;
	op->m.lost = store_lost;
	op->m.overdue = store_overdue;
	nswap_peer_slots(io->dev->node, peer->index, nr);
	store_build(op);
	return op;
}

/* the peer is to take the pages from the device's reserve; @op: not sent yet */
void nswap_store_reserved(struct nswap_op *op)
{
	op->m.hdr.flags |= cpu_to_le16(NSWAP_F_RESERVED);
}

/**
 * nswap_store_send() - send a STORE
 * @op: from nswap_store_op(); its generations in the request and @began are set.
 *	Not to be touched afterwards: the answer may have come.
 *
 * Context: process, page-out path: does not sleep for the network or allocate.
 */
void nswap_store_send(struct nswap_op *op)
{
	struct nswap_node *node = op->io->dev->node;
	struct nswap_peer *peer = op->peer;
	unsigned long now = jiffies;

	if (nswap_wire_short(&op->m.hdr))
		nswap_short_gens(op);
	if (READ_ONCE(peer->used) != now)
		WRITE_ONCE(peer->used, now);
	nswap_stat_inc(node, store_msgs);
	atomic_inc(&op->io->pending);
	if (nswap_session_send(nswap_session_store_conn(peer), &op->m, op->io->more)) {
		nswap_place_rest(peer);
		store_lost(&op->m);
	}
}
