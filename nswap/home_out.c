// SPDX-License-Identifier: GPL-2.0
/*
 * Moves out: pages at home go to peers that have RAM to spare, while their
 * owner swaps.
 *
 *   HOME(g) -> MOVING(nobody, g+1) -> read from home -> STORE g+1 at a peer
 *   acknowledged: MOVING(nobody, g+1) -> REMOTE(peer, g+1)
 *   no room, refused, unanswered, session broken, home failed:
 *                 MOVING(nobody, g+1) -> HOME(g+1)
 *   the slot changed meanwhile: it stays as it is, the new copy is obsolete
 *
 * Invariants:
 *  - Home holds the page, and page-ins read it there, until the new place is
 *    recorded; from then on what is at the slot's place at home counts no more.
 *  - Home knows no generations, so the slot takes the new one when the move
 *    begins: a page-out meanwhile gets one that is newer still, and no attempt
 *    has the generation of another. A copy of a generation that was given up is
 *    an orphan like any other.
 *  - Nobody waits for a move: a page-out, a free and a page-in find a word they
 *    can change or read at once, and the move finds out.
 *  - Page-outs come first: nothing moves while one waits, and a peer is chosen
 *    only if it has more than they need. Page-ins come first: one batch of a
 *    device is under way, and it rests for as long as a batch took.
 *  - Pages and messages are made with the device. The work sleeps for home and
 *    for peers, who have store_timeout_ms, on a queue of the system's.
 *  - Pages that were paged in since they went home go first: every other round
 *    through the device takes only those.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "client.h"
#include "device.h"
#include "home_out.h"
#include "node.h"
#include "peer.h"
#include "place.h"

#define ACTIVE		(2 * HZ)	/* since the last page-out or page-in */
#define LOOK_AT		262144u	/* slots, in one search */
#define BREATHE		16384u	/* slots, then others may run */
#define REST_MAX_US	1000000u

/**
 * struct nswap_home_out - moves out of one device; all but @stop the work's own
 * @dev: device
 * @work: a batch, and another, while there is something to do
 * @stop: end soon
 * @over: all reads or messages of a batch are over
 * @cursor: slot where the search goes on
 * @any: this round takes any page; else only those that were paged in
 * @moved: slots of the batch recorded at their new place; bits set by whoever
 *	takes an answer
 * @io: the batch: slots, generations, messages; no block request around it
 */
struct nswap_home_out {
	struct nswap_device *dev;
	struct work_struct work;
	bool stop;
	struct completion over;
	u64 cursor;
	bool any;
	unsigned long moved;
	struct nswap_io io;
};

static struct nswap_home_out *of_op(struct nswap_op *op)
{
	return container_of(op->io, struct nswap_home_out, io);
}

static void put_io(struct nswap_home_out *ho)
{
	if (atomic_dec_and_test(&ho->io.pending))
		complete(&ho->over);
}

static void op_ended(struct nswap_op *op)
{
	struct nswap_home_out *ho = of_op(op);

	if (op->peer)
		nswap_peer_put(op->peer);
	put_io(ho);
}

static bool wanted(struct nswap_home_out *ho)
{
	struct nswap_device *dev = ho->dev;

	return !READ_ONCE(ho->stop) && nswap_knob(dev->node, home_out_mib_s) &&
	       atomic64_read(&dev->count[NSWAP_SLOT_HOME]) > 0 &&
	       time_before(jiffies, READ_ONCE(dev->used) + ACTIVE);
}

static bool page_outs_wait(struct nswap_home_out *ho)
{
	return !list_empty_careful(&ho->dev->node->client->waiting);
}

static bool may_go(struct nswap_home_out *ho, u64 slot)
{
	u64 word = nswap_slot_read(&ho->dev->map, slot);
	struct nswap_slot s = nswap_slot_unpack(word);

	return s.state == NSWAP_SLOT_HOME && (ho->any || s.referenced);
}

/* the next slot that may go; false if there is none nearby */
static bool search(struct nswap_home_out *ho)
{
	u64 nr = ho->dev->map.nr;
	unsigned int n;

	for (n = 0; n < min_t(u64, LOOK_AT, 2 * nr); n++, ho->cursor++) {
		if (ho->cursor >= nr) {
			ho->cursor = 1;
			ho->any = !ho->any;
		}
		if (may_go(ho, ho->cursor))
			return true;
		if (!(n % BREATHE))
			cond_resched();
	}
	return false;
}

/* adjacent slots from the cursor on; how many */
static unsigned int run(struct nswap_home_out *ho)
{
	u64 slot = ho->cursor;
	unsigned int n = 0;

	while (n < NSWAP_REQ_SLOTS && slot + n < ho->dev->map.nr &&
	       may_go(ho, slot + n))
		n++;
	return n;
}

static void begin(struct nswap_home_out *ho, unsigned int nr)
{
	struct nswap_io *io = &ho->io;
	unsigned int i;

	io->slot = ho->cursor;
	io->todo = 0;
	ho->moved = 0;
	for (i = 0; i < nr; i++) {
		u64 old = nswap_slot_read(&ho->dev->map, io->slot + i);
		struct nswap_slot s = nswap_slot_unpack(old);

		if (s.state != NSWAP_SLOT_HOME)
			continue;
		s.state = NSWAP_SLOT_MOVING;
		s.gen = nswap_gen_next(s.gen);
		if (!nswap_device_slot_move(ho->dev, io->slot + i, old, &s))
			continue;
		io->gen[i] = cpu_to_le32(s.gen);
		io->todo |= BIT(i);
	}
}

/* still on its way from home under the generation of this batch? */
static bool moving(struct nswap_io *io, unsigned int i, u64 *old,
		   struct nswap_slot *s)
{
	*old = nswap_slot_read(&io->dev->map, io->slot + i);
	*s = nswap_slot_unpack(*old);
	return s->state == NSWAP_SLOT_MOVING && !s->peer &&
	       s->gen == le32_to_cpu(io->gen[i]);
}

/* from MOVING to a place; false if the slot has changed meanwhile */
static bool settle(struct nswap_io *io, unsigned int i, u8 state, u16 peer)
{
	struct nswap_slot s;
	u64 old;

	do {
		if (!moving(io, i, &old, &s))
			return false;
		s.state = state;
		s.peer = peer;
	} while (!nswap_device_slot_move(io->dev, io->slot + i, old, &s));
	return true;
}

/* the page stays at home, unless the slot has changed */
static void stay(struct nswap_io *io, unsigned int i)
{
	settle(io, i, NSWAP_SLOT_HOME, 0);
	nswap_stat_inc(io->dev->node, moves_refused);
}

static void read_ended(struct nswap_home_io *h)
{
	op_ended(container_of(h, struct nswap_op, h));
}

/* false if home failed: the page-ins that need it will say so */
static bool read_home(struct nswap_home_out *ho)
{
	struct nswap_io *io = &ho->io;
	unsigned int first = __ffs(io->todo);
	struct nswap_op *op = nswap_client_op(io, first,
					      __fls(io->todo) - first + 1);

	op->h.slot = io->slot + first;
	op->h.end = read_ended;
	reinit_completion(&ho->over);
	atomic_set(&io->pending, 1);
	nswap_home_submit(ho->dev->home, &op->h);
	wait_for_completion(&ho->over);
	return !op->h.failed;
}

/* the peer has it: record that, or it is obsolete already */
static void arrived(struct nswap_op *op, unsigned int i)
{
	struct nswap_io *io = op->io;
	struct nswap_node *node = io->dev->node;

	if (settle(io, i, NSWAP_SLOT_REMOTE, op->peer->index)) {
		set_bit(i, &of_op(op)->moved);
		nswap_stat_inc(node, pages_home_to_remote);
		return;
	}
	nswap_free_orphan(io->dev, io->slot + i, le32_to_cpu(io->gen[i]),
			  op->peer->index);
	nswap_stat_inc(node, moves_met);
}

static int store_answered(struct nswap_msg *m)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);
	struct nswap_conn *c = m->conn;
	struct nswap_wire_result *r = c->scratch;
	struct nswap_peer *peer = op->peer;
	unsigned int i, refused = 0;
	int ret;

	ret = c->rx.type == NSWAP_STORE_ACK &&
	      le32_to_cpu(c->rx.nr) == op->nr ? 0 : -EPROTO;
	if (!ret)
		ret = nswap_recv_buf(c->t, c->l, r, op->nr * sizeof(*r));
	if (ret) {
		m->lost(m);
		return ret;
	}
	nswap_place_ended(peer->node, peer->index, op->nr, op->began);
	for (i = 0; i < op->nr; i++) {
		if (le32_to_cpu(r[i].status) == NSWAP_ST_OK) {
			arrived(op, op->first + i);
			continue;
		}
		stay(op->io, op->first + i);
		nswap_peer_slots(peer->node, peer->index, -1);
		refused++;
	}
	if (refused)
		nswap_client_refused(peer, refused);
	nswap_client_granted(peer, le32_to_cpu(c->rx.grants),
			     le64_to_cpu(c->rx.free));
	op_ended(op);
	return 0;
}

static void store_unanswered(struct nswap_op *op, bool may_be_held)
{
	struct nswap_peer *peer = op->peer;
	struct nswap_io *io = op->io;
	unsigned int i;

	nswap_place_ended(peer->node, peer->index, op->nr, op->began);
	for (i = op->first; i < op->first + op->nr; i++) {
		stay(io, i);
		if (may_be_held)
			nswap_free_orphan(io->dev, io->slot + i,
					  le32_to_cpu(io->gen[i]), peer->index);
		else
			nswap_peer_slots(peer->node, peer->index, -1);
	}
	op_ended(op);
}

/* the session broke: comparison will find what the peer holds of it */
static void store_lost(struct nswap_msg *m)
{
	store_unanswered(container_of(m, struct nswap_op, m), false);
}

static void store_overdue(struct nswap_msg *m, bool unsent)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);
	struct nswap_peer *peer = op->peer;

	nswap_stat_add(peer->node, timeouts, op->nr);
	nswap_client_leave_alone(peer);
	if (unsent)
		nswap_place_unspent(peer->node, peer->index, op->nr);
	store_unanswered(op, !unsent);
}

static void store(struct nswap_io *io, unsigned int first, unsigned int nr,
		  struct nswap_peer *peer)
{
	struct nswap_node *node = io->dev->node;
	struct nswap_op *op = &io->op[first];

	op->io = io;
	op->peer = peer;
	op->first = first;
	op->nr = nr;
	op->m.answer = store_answered;
	op->m.lost = store_lost;
	op->m.overdue = store_overdue;
	nswap_peer_slots(node, peer->index, nr);
	nswap_client_build_store(op);
	WRITE_ONCE(peer->used, jiffies);
	nswap_stat_inc(node, store_msgs);
	op->began = ktime_get_ns();
	atomic_inc(&io->pending);
	if (nswap_conn_send(nswap_session_store_conn(peer), &op->m)) {
		nswap_place_rest(node, peer->index, true);
		store_lost(&op->m);
	}
}

/* a peer for some slots, a reference to it is the caller's; NULL: nobody */
static struct nswap_peer *choose(struct nswap_node *node, unsigned int nr)
{
	struct nswap_peer *peer;
	u16 index;

	if (!nswap_place_take_spare(node, nr, &index))
		return NULL;
	peer = nswap_peer_get(node, index);
	if (!peer)
		nswap_place_remove(node, index);
	return peer;
}

/* send what has not changed while it was read, and wait for the answers */
static void store_all(struct nswap_home_out *ho)
{
	struct nswap_io *io = &ho->io;
	unsigned int i, first, nr;
	struct nswap_peer *peer;
	struct nswap_slot s;
	u64 old;

	for_each_set_bit(i, &io->todo, NSWAP_REQ_SLOTS)
		if (!moving(io, i, &old, &s)) {
			io->todo &= ~BIT(i);
			nswap_stat_inc(io->dev->node, moves_met);
		}
	reinit_completion(&ho->over);
	atomic_set(&io->pending, 1);
	while (io->todo) {
		first = __ffs(io->todo);
		nr = nswap_run_of(io->todo, first);
		peer = choose(io->dev->node, nr);
		if (!peer)
			break;
		io->todo &= ~GENMASK(first + nr - 1, first);
		store(io, first, nr, peer);
	}
	put_io(ho);
	wait_for_completion(&ho->over);
}

/* false: there is nothing to do, or nothing could be done, just now */
static bool batch(struct nswap_home_out *ho)
{
	struct nswap_io *io = &ho->io;
	unsigned int i, nr;

	if (page_outs_wait(ho) || !nswap_place_spare(ho->dev->node, NSWAP_REQ_SLOTS) ||
	    !search(ho))
		return false;
	nr = run(ho);
	begin(ho, nr);
	ho->cursor += nr;
	if (!io->todo)
		return true;
	if (read_home(ho))
		store_all(ho);
	for_each_set_bit(i, &io->todo, NSWAP_REQ_SLOTS)
		stay(io, i);
	return ho->moved;
}

/* no faster than the knob says, and no more than half of the time */
static void rest(struct nswap_home_out *ho, u64 took_us)
{
	u32 limit = nswap_knob(ho->dev->node, home_out_mib_s);
	u64 us = hweight_long(ho->moved) * 3906ul / max(limit, 1u);

	us = us > 2 * took_us ? us - took_us : took_us;
	us = clamp_t(u64, us, 1, REST_MAX_US);
	usleep_range(us, us + us / 8);
}

static void work(struct work_struct *work)
{
	struct nswap_home_out *ho = container_of(work, struct nswap_home_out,
						 work);
	ktime_t began = ktime_get();

	while (wanted(ho) && batch(ho)) {
		rest(ho, ktime_us_delta(ktime_get(), began));
		began = ktime_get();
	}
}

static void free_pages_of(struct nswap_io *io)
{
	unsigned int i;

	for (i = 0; i < NSWAP_REQ_SLOTS; i++)
		if (io->page[i])
			__free_page(io->page[i]);
}

/**
 * nswap_home_out_make() - what moves out need
 * @dev: a new device, its map is there
 *
 * Context: process, sleeps.
 * Return: it, or NULL without memory.
 */
struct nswap_home_out *nswap_home_out_make(struct nswap_device *dev)
{
	struct nswap_home_out *ho = kzalloc(sizeof(*ho), GFP_KERNEL);
	unsigned int i;

	if (!ho)
		return NULL;
	ho->dev = dev;
	ho->io.dev = dev;
	ho->cursor = 1;
	INIT_WORK(&ho->work, work);
	init_completion(&ho->over);
	for (i = 0; i < NSWAP_REQ_SLOTS; i++) {
		ho->io.page[i] = alloc_page(GFP_KERNEL);
		if (!ho->io.page[i]) {
			free_pages_of(&ho->io);
			kfree(ho);
			return NULL;
		}
	}
	return ho;
}

/**
 * nswap_home_out_end() - end the moves out of a device
 * @dev: device that no tick finds any more; one without is fine
 *
 * Context: process, sleeps until the batch under way is over: a peer that does
 * not answer has store_timeout_ms, and a few of them with half of it sent.
 */
void nswap_home_out_end(struct nswap_device *dev)
{
	struct nswap_home_out *ho = dev->home_out;

	if (!ho)
		return;
	WRITE_ONCE(ho->stop, true);
	cancel_work_sync(&ho->work);
	free_pages_of(&ho->io);
	kfree(ho);
	dev->home_out = NULL;
}

/**
 * nswap_home_out_kick() - time has passed: is there something to move?
 * @dev: device, with or without a home
 *
 * Context: any, inside rcu_read_lock(), which keeps the device; does not sleep.
 * Return: true if grants are of use now.
 */
bool nswap_home_out_kick(struct nswap_device *dev)
{
	struct nswap_home_out *ho = dev->home_out;

	if (!ho || !wanted(ho))
		return false;
	queue_work(system_dfl_wq, &ho->work);
	return true;
}
