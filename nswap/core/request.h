/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A block request and its parts, which go to different places. State only.
 */
#ifndef NSWAP_REQUEST_H
#define NSWAP_REQUEST_H

#include <linux/bits.h>
#include <linux/bvec.h>

#include "keys/seal_page.h"
#include "backing/home.h"
#include "base/bits.h"
#include "pure/compress_page.h"
#include "pure/slot_map.h"
#include "transport/conn.h"

struct nswap_io;
struct nswap_store_ops;

/**
 * struct nswap_op - the part of a request that goes to one place
 * @m: the message that carries it
 * @h: or the read or write of home or flash
 * @io: the request
 * @peer: destination, with a reference held; NULL for home and flash
 * @store: of a STORE: handles its answer
 * @flash: or the first flash slot; NSWAP_FLASH_NONE for home
 * @turn: when the dispatcher began with it, if measuring is on
 * @began: when it was given to the connection, home or flash, by ktime_get_ns()
 * @read_began: page-in of a device with flash: when, for nswap_read_ended()
 * @links: page-in from flash: nswap_flash_links() before its slots were read
 * @again: page-in of a device with pages that are wrapped: what nswap_op_answered() was told
 * @first: first slot, relative to the request's
 * @nr: slots
 */
struct nswap_op {
	union {
		struct nswap_msg m;
		struct nswap_home_io h;
	};
	struct nswap_io *io;
	struct nswap_peer *peer;
	const struct nswap_store_ops *store;
	u64 turn;
	u64 began;
	u32 flash;
	u32 read_began;
	u32 links;
	unsigned long again;
	u8 first;
	u8 nr;
};

/**
 * struct nswap_io_ops - what is different for a request whose slots are cells, or that
 *	no block request stands behind
 * @claim: page-out: have a cell for a slot, WRITING, in the request's @slot; false: it
 *	has to wait; true without setting its bit in @todo: it has none (process)
 * @stored: the peer that is given has the page; the cell is still WRITING (process)
 * @ended: likewise, and now the cell is REMOTE (process)
 * @failed: nothing takes it now; the cell is EMPTY (process)
 * @keeps: what could not be written is still in memory: its slot stays LOST, and the
 *	request's @gen says since which generation
 * @over: the request has ended, its pages and arrays are the user's again; NULL: it is a
 *	block request (any)
 */
struct nswap_io_ops {
	bool (*claim)(struct nswap_io *io, unsigned int i);
	void (*stored)(struct nswap_io *io, unsigned int i);
	void (*ended)(struct nswap_io *io, unsigned int i);
	void (*failed)(struct nswap_io *io, unsigned int i);
	bool keeps;
	void (*over)(struct nswap_io *io);
};

/**
 * struct nswap_io - one block request; allocated with the device, never by vmalloc(): what
 *	its messages begin with is sent from where it is, as pages
 * @dev: its device
 * @link: on the client's waiting list
 * @pending: messages in flight, plus one while it is dispatched or waits
 * @nr: slots
 * @write: page-out
 * @step: brings it as far as possible now; of page-outs or of page-ins
 * @ops: page-out of cells, or a request of this module's own; else NULL
 * @over: page-out of the write cache: no block request stands behind it, but all that is
 *	done for one is done for it, and at its end this is called (any)
 * @written: page-out of a device with a write cache: called when it has ended, before the
 *	block layer is told (any)
 * @limited: page-out that counts for its device's limit, see pageout_limit.c
 * @ahead: page-in by the prefetcher: no reference bit, no log line, no waiting
 * @patient: page-in of cells: rather wait for a peer that is late than fail
 * @more: other requests follow at once, and its messages may leave with theirs; who submits
 *	it says so, and pushes them then (nswap_session_push()), as the client's kick does
 * @waited: it has waited before
 * @resumed: page-in: its bios were parked before
 * @one_by_one: home or flash failed adjacent slots: try each alone
 * @since: jiffies when it came, or the oldest of its bios that were parked
 * @came: the same by ktime_get_ns(), 0 if measuring was off then
 * @turn: when the dispatcher began with its current slots, likewise
 * @seen: @changes of the client when it was dispatched last
 * @served: slots that the write cache has served: nothing else is done for them
 * @filling: page-out: of the others, those that have an entry there
 * @passing: and those that have none
 * @unclaimed: page-out: slots not moved to WRITING yet; the dispatcher's
 * @todo: slots to be placed or loaded; the dispatcher's
 * @missed: page-in: slots a peer has once said it does not hold
 * @missed_at: of these, index of the peer that said it last
 * @no_flash: slots that flash has failed; bits set by the task that finds out, and cleared
 *	by the dispatcher when it reads another flash slot, or another page of it
 * @flash_at: page-in: flash slot that was read last, so the one that has failed
 * @flash_gen: generation of the page that was read there
 * @no_peer: page-in: slots whose peer has failed, but flash has them; likewise
 * @no_home: page-in: slots whose copy at home has failed, but a peer has them
 * @follows: page-out: slots that have a page promised by nswap_follow_reserve();
 *	set by the dispatcher, cleared by the task that ends the slot
 * @pairs: page-out: slots whose page is to be at two peers; the dispatcher's
 * @halves: of these, those that the first peer has acknowledged; bits are set by the
 *	task that handles the answer, cleared by the one that ends the slot or sends
 *	its page again
 * @half_since: jiffies when the last one became one of them
 * @half_asked: jiffies when the peer of one was first asked whether it lives, 0 if none was;
 *	the dispatcher's
 * @parked: page-in: slots that wait for their peer; bits likewise, when the part of
 *	the request that asked it, or would have, is over
 * @rest: slots to be looked for on the other device, the visible one or that of its
 *	cells, when nothing of the request is under way; the dispatcher's
 * @lost: page-in: cells that are to be rebuilt, or waited for; bits as in @parked
 * @retry: slots to be added to @todo; bits set by the task that handles an answer
 * @failed: slots whose bios get an error, or of a batch, those that home or flash
 *	failed; likewise
 * @slot: the slots; those of a block request are adjacent, unless cells keep its pages
 * @outer: of a block request, and of one that writes to cells: the slots of the visible
 *	device
 * @page: memory of each slot
 * @bounce: page-out of a device with pages that are wrapped (client/wrap.c): pages of the
 *	pool, in place of the program's
 * @bounced: how many; the last ones of @nr
 * @turn_of_key: likewise, with pages of the pool: see struct nswap_wrap
 * @kept: page-out of a compressed or sealed device: of each slot, to be kept
 * @seal: likewise of a sealed one
 * @wrapped: page-out: pages that are wrapped
 * @opened: page-in of such a device: pages that are open
 * @from_home: page-in: pages that home was asked for last, and not flash
 * @doubted: likewise: pages that did not open when they came from
 * @doubted_at: index of this peer
 * @open: page-in of such a device: opens its pages where that may be done
 * @old: page-out: the slot's entry before this request
 * @gen: generations as sent
 * @plain: of a STORE whose pages are short: generations and lengths, see client/short.c
 * @bv: vectors of the messages; the one from slot i starts at 3 * i
 * @chain: the pages of a read or write of home or flash, likewise
 * @op: the parts; the one from slot i is op[i]
 */
struct nswap_io {
	struct nswap_device *dev;
	struct list_head link;
	atomic_t pending;
	u16 nr;
	bool write;
	void (*step)(struct nswap_io *io);
	const struct nswap_io_ops *ops;
	void (*over)(struct nswap_io *io);
	void (*written)(struct nswap_io *io);
	bool ahead;
	bool limited;
	bool patient;
	bool more;
	bool waited;
	bool resumed;
	bool one_by_one;
	unsigned long since;
	u64 came;
	u64 turn;
	int seen;
	unsigned long served;
	unsigned long filling;
	unsigned long passing;
	unsigned long unclaimed;
	unsigned long todo;
	unsigned long missed;
	u16 missed_at[NSWAP_REQ_SLOTS];
	unsigned long no_flash;
	u32 flash_at[NSWAP_REQ_SLOTS];
	u32 flash_gen[NSWAP_REQ_SLOTS];
	unsigned long no_peer;
	unsigned long no_home;
	unsigned long follows;
	unsigned long pairs;
	unsigned long halves;
	unsigned long half_since;
	unsigned long half_asked;
	unsigned long parked;
	unsigned long rest;
	unsigned long lost;
	unsigned long retry;
	unsigned long failed;
	u32 slot[NSWAP_REQ_SLOTS];
	u32 outer[NSWAP_REQ_SLOTS];
	struct page *page[NSWAP_REQ_SLOTS];
	struct page *bounce[NSWAP_REQ_SLOTS];
	u16 bounced;
	u8 turn_of_key;
	struct nswap_short kept[NSWAP_REQ_SLOTS];
	struct nswap_seal seal[NSWAP_REQ_SLOTS];
	unsigned long wrapped;
	unsigned long opened;
	unsigned long from_home;
	unsigned long doubted;
	u16 doubted_at[NSWAP_REQ_SLOTS];
	struct work_struct open;
	struct nswap_slot old[NSWAP_REQ_SLOTS];
	__le32 gen[NSWAP_REQ_SLOTS];
	u8 plain[(sizeof(__le32) + sizeof(__le16)) * NSWAP_REQ_SLOTS] __aligned(sizeof(__le32));
	struct bio_vec bv[3 * NSWAP_REQ_SLOTS];
	struct page_list chain[NSWAP_REQ_SLOTS];
	struct nswap_op op[NSWAP_REQ_SLOTS];
};

/* is it of this module's own, with no block request behind it? */
static inline bool nswap_io_own(const struct nswap_io *io)
{
	return io->ops && io->ops->over;
}

/* the slots of a request that are in this part */
static inline unsigned long nswap_op_slots(const struct nswap_op *op)
{
	return GENMASK(op->first + op->nr - 1, op->first);
}

/* how many adjacent bits of @bits from @first on have adjacent slots? */
static inline unsigned int nswap_io_run(const struct nswap_io *io, unsigned long bits,
					unsigned int first)
{
	unsigned int n = 1, nr = nswap_run_of(bits, first);

	while (n < nr && io->slot[first + n] == io->slot[first] + n)
		n++;
	return n;
}

#endif
