/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Client role: page-outs and page-ins of a node's devices.
 */
#ifndef NSWAP_CLIENT_H
#define NSWAP_CLIENT_H

#include <linux/bits.h>
#include <linux/bvec.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "conn.h"
#include "home.h"
#include "slot_map.h"

struct nswap_io;

/**
 * struct nswap_op - the part of a request that goes one way
 * @m: the message that carries it
 * @h: or the read or write of home or flash
 * @io: the request
 * @peer: where it goes, and a reference is held; NULL for home and flash
 * @flash: or the first flash slot; NSWAP_FLASH_NONE for home
 * @turn: when the dispatcher turned to it, if somebody measures
 * @began: when it was given to the connection, home or flash, by ktime_get_ns()
 * @read_began: page-in of a device with flash: when, for nswap_read_ended()
 * @links: page-in from flash: nswap_flash_links() before its slots were looked at
 * @first: first slot, counted from the request's
 * @nr: slots
 */
struct nswap_op {
	union {
		struct nswap_msg m;
		struct nswap_home_io h;
	};
	struct nswap_io *io;
	struct nswap_peer *peer;
	u64 turn;
	u64 began;
	u32 flash;
	u32 read_began;
	u32 links;
	u8 first;
	u8 nr;
};

/**
 * struct nswap_io - one block request; allocated with the device
 * @dev: whose
 * @link: on the client's waiting list
 * @pending: messages under way, plus one while somebody dispatches or it waits
 * @slot: first slot
 * @nr: slots
 * @write: page-out
 * @ahead: page-in by the prefetcher: no reference, no complaint, no waiting
 * @waited: it has waited before
 * @one_by_one: home or flash failed adjacent slots: try each alone
 * @since: jiffies when it came
 * @came: the same by ktime_get_ns(), 0 if nobody measured then
 * @turn: when the dispatcher turned to the slots it is at, likewise
 * @seen: @changes of the client when it was dispatched last
 * @unclaimed: page-out: slots not moved to WRITING yet; the dispatcher's
 * @todo: slots to be placed or loaded; the dispatcher's
 * @missed: page-in: slots a peer has once said it does not hold
 * @no_flash: slots that flash has failed; bits set by who finds out
 * @no_peer: page-in: slots whose peer has failed, but flash has them; likewise
 * @retry: slots to be added to @todo; bits set by whoever takes an answer
 * @failed: slots whose bios get an error; likewise
 * @page: memory of each slot
 * @old: page-out: the slot's entry before this request
 * @gen: generations as sent
 * @bv: what messages consist of; the one from slot i starts at 3 * i
 * @chain: the pages of a read or write of home or flash, likewise
 * @op: messages; the one from slot i is op[i]
 */
struct nswap_io {
	struct nswap_device *dev;
	struct list_head link;
	atomic_t pending;
	u64 slot;
	u16 nr;
	bool write;
	bool ahead;
	bool waited;
	bool one_by_one;
	unsigned long since;
	u64 came;
	u64 turn;
	int seen;
	unsigned long unclaimed;
	unsigned long todo;
	unsigned long missed;
	unsigned long no_flash;
	unsigned long no_peer;
	unsigned long retry;
	unsigned long failed;
	struct page *page[NSWAP_REQ_SLOTS];
	u64 old[NSWAP_REQ_SLOTS];
	__le32 gen[NSWAP_REQ_SLOTS];
	struct bio_vec bv[3 * NSWAP_REQ_SLOTS];
	struct page_list chain[NSWAP_REQ_SLOTS];
	struct nswap_op op[NSWAP_REQ_SLOTS];
};

/**
 * struct nswap_orphan - an obsolete copy its peer has to be told to drop
 * @instance: device instance
 * @gen: drop this generation and older ones
 * @slot: slot
 * @peer: index; counted in the peer's slots
 */
struct nswap_orphan {
	u32 instance;
	u32 gen;
	u64 slot;
	u16 peer;
};

#define NSWAP_ORPHANS	4096

/**
 * struct nswap_client - the client role of a node
 * @node: node
 * @sessions_wanted: set with the first device, for good
 * @next_id: of the next message
 * @next_session: of the next session with anybody; rises within the epoch
 * @used: jiffies of the last page-out sent to any peer, or to flash instead, or
 *	of the last tick with a page at home to be moved out
 * @wait_lock: protects @waiting
 * @changes: counts kicks, so that none is missed between trying and waiting
 * @waiting: requests that wait for grants, for a slot, or to be placed again
 * @kick: work that dispatches them
 * @tick: time-outs, grants, pings, comparisons
 * @orphan_lock: protects @orphan, @orphan_head, @nr_orphans
 * @orphan: ring of obsolete copies
 * @orphan_head: oldest
 * @nr_orphans: how many
 * @frees: work that tells peers of freed slots and obsolete copies
 * @losses: work that marks the slots of peers whose epoch is over
 * @returns_wait: for a room for a RETURN, or for the last use of a device
 */
struct nswap_client {
	struct nswap_node *node;
	bool sessions_wanted;
	atomic64_t next_id;
	atomic64_t next_session;
	unsigned long used;
	spinlock_t wait_lock;
	atomic_t changes;
	struct list_head waiting;
	struct work_struct kick;
	struct delayed_work tick;
	spinlock_t orphan_lock;
	struct nswap_orphan *orphan;
	unsigned int orphan_head;
	unsigned int nr_orphans;
	struct delayed_work frees;
	struct work_struct losses;
	wait_queue_head_t returns_wait;
};

/**
 * nswap_op_slots() - which slots of a request one part of it is for
 * @op: the part
 *
 * Context: any.
 * Return: a bit for each, counted from the request's first.
 */
static inline unsigned long nswap_op_slots(const struct nswap_op *op)
{
	return GENMASK(op->first + op->nr - 1, op->first);
}

/* client.c */
int nswap_client_start(struct nswap_node *node);
void nswap_client_stop(struct nswap_node *node);
__le64 nswap_client_id(struct nswap_node *node);
void nswap_client_submit(struct nswap_io *io);
void nswap_client_wait(struct nswap_io *io);
void nswap_client_kick(struct nswap_node *node);
void nswap_client_io_put(struct nswap_io *io);
bool nswap_client_own(struct nswap_io *io);
struct nswap_op *nswap_client_op(struct nswap_io *io, unsigned int first,
				 unsigned int nr);
void nswap_client_op_end(struct nswap_op *op, unsigned long again);
void nswap_client_fail(struct nswap_io *io, unsigned int first,
		       unsigned int nr);
void nswap_client_granted(struct nswap_peer *peer, u32 grants, u64 free);
void nswap_client_leave_alone(struct nswap_peer *peer);
void nswap_client_refused(struct nswap_peer *peer, unsigned int pages);
int nswap_client_late(struct nswap_conn *c);
unsigned int nswap_run_of(unsigned long bits, unsigned int first);

/* client_tick.c */
void nswap_client_tick(struct work_struct *work);
void nswap_client_tick_now(struct nswap_node *node);
void nswap_client_used(struct nswap_node *node);

/* client_write.c */
void nswap_client_write(struct nswap_io *io);
int nswap_client_to_peers(struct nswap_io *io, unsigned long slots);
void nswap_client_at_home(struct nswap_io *io, unsigned int i);
void nswap_client_at_flash(struct nswap_io *io, unsigned int i, u32 flash);
void nswap_client_write_failed(struct nswap_io *io, unsigned int i);
void nswap_client_build_store(struct nswap_op *op);

/* client_read.c */
void nswap_client_read(struct nswap_io *io);
unsigned int nswap_client_from_peers(struct nswap_io *io, unsigned int first);
void nswap_client_reload(struct nswap_peer *peer, struct nswap_msg *m);
bool nswap_client_load_waited(struct nswap_msg *m, unsigned int ms);
void nswap_client_load_failed(struct nswap_msg *m);

/* client_home.c */
int nswap_client_to_home(struct nswap_io *io, unsigned long slots);
unsigned int nswap_client_from_home(struct nswap_io *io, unsigned int first);

/* client_flash.c */
int nswap_client_to_flash(struct nswap_io *io, unsigned long slots);
unsigned int nswap_client_from_flash(struct nswap_io *io, unsigned int first);

/* client_free.c */
int nswap_free_init(struct nswap_peer *peer);
void nswap_free_slot(struct nswap_device *dev, u64 slot);
void nswap_free_told(struct nswap_device *dev, u64 slot);
void nswap_free_orphan(struct nswap_device *dev, u64 slot, u32 gen, u16 peer);
void nswap_free_work(struct work_struct *work);
void nswap_free_kick(struct nswap_node *node, unsigned int ms);

/* client_loss.c */
void nswap_loss_work(struct work_struct *work);
void nswap_loss_forgotten(struct nswap_peer *peer);

/* reconcile.c */
int nswap_reconcile_init(struct nswap_peer *peer);
void nswap_reconcile_start(struct nswap_peer *peer);
void nswap_reconcile_soon(struct nswap_peer *peer);

#endif
