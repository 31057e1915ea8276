// SPDX-License-Identifier: GPL-2.0
/*
 * Returns, at the owner: a server found no peer with room for its pages and
 * brings them back. They are placed where pages without a peer belong: on flash,
 * and what flash has no room for, or fails, at home.
 *
 *   RETURN: REMOTE(from, g) -> MOVING(from, g), the page is written
 *   written: MOVING(from, g) -> FLASH(g) or HOME(g), the server may drop its copy
 *   failed: MOVING(from, g) -> REMOTE(from, g), it must be kept
 *   flash has it already: REMOTE(from, g) -> FLASH(g), nothing is written
 *   the slot changed meanwhile: it stays as it is, the server's copy is obsolete
 *
 * Invariants:
 *  - Home has no generations. A slot is marked before it becomes MOVING, until
 *    the write has ended, whatever becomes of the slot in between; a page-out
 *    of a marked slot waits: before it claims the slot, and, since the word it
 *    claims may be back by then, once more before it goes home. So no page is
 *    ever written over a newer one.
 *  - A flash slot is this file's from its taking until the slot map has it, and
 *    put back if that does not come to pass. So without a home no mark is
 *    needed: what is written meets nobody else's page.
 *  - A mark is taken by one RETURN at a time, or by who empties a flash device.
 *    A RETURN needs REMOTE(from, g): what is repeated, late or obsolete writes
 *    nothing.
 *  - A page-out path of the server: pages and writes are made with each device
 *    that has a home or flash. Whoever finds them all in use waits for a moment
 *    and then lets the server try again. The writes end by themselves, and a
 *    server that stops in the middle of its pages loses its room (serve_move.c).
 *  - A RETURN is of one device and uses its rooms alone, so that a home that does
 *    not answer holds up no other device. When none of its rooms has come or gone
 *    for long, servers are told that it has no home now and leave it alone.
 *  - A device with marks, writes or rooms in use does not go (its @returns_left).
 */
#include <linux/slab.h>

#include "backing/flash.h"
#include "backing/home.h"
#include "base/bits.h"
#include "base/stats.h"
#include "base/types.h"
#include "base/views.h"
#include "core/client_state.h"
#include "core/devices.h"
#include "core/node.h"
#include "core/return_mark.h"
#include "moved.h"
#include "peers/peer.h"
#include "pure/slot_map.h"
#include "pure/wire.h"
#include "returned.h"

#define ROOMS		4	/* RETURNs of a device that are carried out at once */
#define ROOM_WAIT	(2 * HZ)
#define HUNG_AFTER	(5 * HZ)	/* longer than one may take to arrive */

/**
 * struct nswap_returns - what a device with a home or flash has for RETURNs
 * @lock: protects @unused and @moved
 * @unused: struct nswap_return that nobody uses
 * @moved: jiffies when one was taken or given back last
 * @all: all there are
 */
struct nswap_returns {
	spinlock_t lock;
	struct list_head unused;
	unsigned long moved;
	struct nswap_return all[ROOMS];
};

static void free_returns(struct nswap_returns *rs)
{
	unsigned int i, k;

	for (i = 0; i < ROOMS; i++)
		for (k = 0; k < NSWAP_REQ_SLOTS; k++)
			if (rs->all[i].page[k])
				__free_page(rs->all[i].page[k]);
	kvfree(rs);
}

static bool init_one(struct nswap_device *dev, struct nswap_returns *rs,
		     struct nswap_return *r)
{
	unsigned int i;

	r->dev = dev;
	init_completion(&r->done);
	list_add(&r->link, &rs->unused);
	for (i = 0; i < NSWAP_REQ_SLOTS; i++) {
		r->part[i].r = r;
		r->page[i] = alloc_page(GFP_KERNEL);
		if (!r->page[i])
			return false;
	}
	return true;
}

/**
 * nswap_return_init() - be ready for RETURNs
 * @dev: device that gets a home or flash and that nobody finds yet
 *
 * Context: process, sleeps; allocates 512 KiB.
 * Return: 0, or -ENOMEM.
 */
int nswap_return_init(struct nswap_device *dev)
{
	struct nswap_returns *rs = kvzalloc_objs(*rs, 1);
	unsigned int i;

	if (!rs)
		return -ENOMEM;
	spin_lock_init(&rs->lock);
	INIT_LIST_HEAD(&rs->unused);
	for (i = 0; i < ROOMS; i++)
		if (!init_one(dev, rs, &rs->all[i])) {
			free_returns(rs);
			return -ENOMEM;
		}
	dev->rooms = rs;
	return 0;
}

/**
 * nswap_return_exit() - undo nswap_return_init(), if it was done
 * @dev: device that nobody finds any more, after nswap_return_wait()
 *
 * Context: process, sleeps.
 */
void nswap_return_exit(struct nswap_device *dev)
{
	if (dev->rooms)
		free_returns(dev->rooms);
	dev->rooms = NULL;
}

static struct nswap_return *return_take(struct nswap_returns *rs)
{
	struct nswap_return *r;

	spin_lock(&rs->lock);
	r = list_first_entry_or_null(&rs->unused, struct nswap_return, link);
	if (r) {
		list_del_init(&r->link);
		rs->moved = jiffies;
	}
	spin_unlock(&rs->lock);
	return r;
}

/* all its rooms have been in use for long: its home or flash does not answer */
static bool return_hung(struct nswap_returns *rs)
{
	bool yes;

	spin_lock(&rs->lock);
	yes = list_empty(&rs->unused) &&
	      time_after(jiffies, rs->moved + HUNG_AFTER);
	spin_unlock(&rs->lock);
	return yes;
}

/* the device of an instance, in use from now on */
static struct nswap_device *get_use(struct nswap_node *node, u32 instance)
{
	struct nswap_device *dev;

	rcu_read_lock();
	dev = nswap_device_find(node, instance);
	if (dev)
		atomic_inc(&dev->returns_left);
	rcu_read_unlock();
	return dev;
}

/**
 * nswap_return_take() - room to receive the pages of a RETURN
 * @node: the owner
 * @instance: of the device whose pages they are
 * @r: result, NULL without room
 *
 * Context: process, sleeps for a moment while all is in use; does not allocate.
 * Return: NSWAP_ST_OK, without room if the pages are of a device that is gone;
 * NSWAP_ST_NO_HOME; NSWAP_ST_KEEP: try again later.
 */
u16 nswap_return_take(struct nswap_node *node, u32 instance,
		      struct nswap_return **r)
{
	struct nswap_device *dev = get_use(node, instance);
	u16 status = NSWAP_ST_KEEP;

	*r = NULL;
	if (!dev)
		return NSWAP_ST_OK;
	if (!dev->rooms || return_hung(dev->rooms))
		status = NSWAP_ST_NO_HOME;
	else
		wait_event_timeout(node->client->returns_wait,
				   (*r = return_take(dev->rooms)), ROOM_WAIT);
	if (*r)
		return NSWAP_ST_OK;
	nswap_return_put_use(dev);
	return status;
}

/**
 * nswap_return_give() - the room is not needed any more
 * @r: from nswap_return_take(); its device may be gone afterwards
 *
 * Context: process; does not sleep.
 */
void nswap_return_give(struct nswap_return *r)
{
	struct nswap_device *dev = r->dev;
	struct nswap_client *cl = dev->node->client;
	struct nswap_returns *rs = dev->rooms;

	spin_lock(&rs->lock);
	list_add(&r->link, &rs->unused);
	rs->moved = jiffies;
	spin_unlock(&rs->lock);
	nswap_return_put_use(dev);
	wake_up_all(&cl->returns_wait);
}

/**
 * nswap_return_wait() - let the RETURNs of a device end
 * @dev: device nobody finds any more
 *
 * Context: process, sleeps until home and flash have ended what was begun.
 */
void nswap_return_wait(struct nswap_device *dev)
{
	wait_event(dev->node->client->returns_wait,
		   !atomic_read(&dev->returns_left));
}

/* a page is not at the server any more */
static void count_returned(struct nswap_node *node, u16 from)
{
	nswap_peer_slots(node, from, -1);
	nswap_stat_inc(node, pages_returned);
}

/* is there a place for pages without a peer? */
static bool has_place(const struct nswap_device *dev)
{
	return dev->home || (dev->flash && nswap_flash_room(dev->flash));
}

/* what shall be done with a page; OK with @write set: write it */
static u16 return_judge(struct nswap_device *dev, const struct nswap_wire_page *p,
			u16 from, bool *write)
{
	u64 slot = le64_to_cpu(p->slot);

	*write = false;
	if (le32_to_cpu(p->instance) != dev->instance)
		return NSWAP_ST_KEEP;
	if (!nswap_moved_counts(dev, p, from))
		return NSWAP_ST_OK;
	if (nswap_moved_to_flash(dev, p, NSWAP_SLOT_REMOTE, from,
				 NSWAP_FLASH_NONE)) {
		count_returned(dev->node, from);
		return NSWAP_ST_OK;
	}
	if (!has_place(dev))
		return NSWAP_ST_NO_HOME;
	if (!nswap_return_mark(dev, slot))
		return NSWAP_ST_KEEP;
	*write = nswap_moved_go(dev, p, NSWAP_SLOT_REMOTE, from,
				NSWAP_SLOT_MOVING, from);
	if (*write)
		return NSWAP_ST_OK;
	nswap_return_unmark(dev, slot);
	return NSWAP_ST_KEEP;
}

static unsigned long return_begin(u16 from, struct nswap_return *r,
				  const struct nswap_wire_page *page, u32 nr,
				  struct nswap_wire_result *result)
{
	unsigned long writing = 0;
	bool write;
	u32 i;

	for (i = 0; i < nr; i++) {
		r->flash[i] = NSWAP_FLASH_NONE;
		result[i].status = cpu_to_le32(return_judge(r->dev, &page[i], from,
							    &write));
		if (write)
			writing |= BIT(i);
	}
	return writing;
}

static void begin_wait(struct nswap_return *r)
{
	atomic_set(&r->pending, 1);
	reinit_completion(&r->done);
}

static void one_less(struct nswap_return *r)
{
	if (atomic_dec_and_test(&r->pending))
		complete(&r->done);
}

static void end_wait(struct nswap_return *r)
{
	one_less(r);
	wait_for_completion(&r->done);
}

static void part_ended(struct nswap_home_io *h)
{
	struct nswap_return_part *part = container_of(h,
					struct nswap_return_part, h);
	struct nswap_return *r = part->r;
	struct nswap_device *dev = r->dev;
	unsigned int i;

	if (part->flash)
		nswap_flash_ended(dev->flash, part->flash, h->failed);
	for (i = 0; h->failed && i < h->nr; i++)
		set_bit(part->first + i, &r->failed);
	if (h->failed && part->flash)
		nswap_device_complain(dev, h, "its page goes elsewhere");
	else if (h->failed && h->nr == 1)
		nswap_device_complain(dev, h, "the page stays at its peer");
	one_less(r);
}

/* how many pages from @first on go home in one write */
static unsigned int run_of_slots(const struct nswap_wire_page *page,
				 unsigned long bits, unsigned int first)
{
	unsigned int n = 1, nr = nswap_run_of(bits, first);
	u64 slot = le64_to_cpu(page[first].slot);

	while (n < nr && le64_to_cpu(page[first + n].slot) == slot + n)
		n++;
	return n;
}

static struct nswap_home_io *make_part(struct nswap_return *r,
				       unsigned int first, unsigned int nr,
				       u32 flash)
{
	struct nswap_return_part *part = &r->part[first];

	part->first = first;
	part->flash = flash;
	nswap_home_set_pages(&part->h, &r->chain[first], &r->page[first], nr);
	part->h.write = true;
	part->h.end = part_ended;
	atomic_inc(&r->pending);
	return &part->h;
}

/* how many of @nr pages are on their way to flash */
static unsigned int start_at_flash(struct nswap_return *r, unsigned int first,
				   unsigned int nr)
{
	struct nswap_flash *f = r->dev->flash;
	unsigned int i;
	u32 flash;

	nr = f ? nswap_flash_take(f, nr, &flash) : 0;
	if (!nr)
		return 0;
	for (i = 0; i < nr; i++)
		r->flash[first + i] = flash + i;
	nswap_flash_hold(f, flash);
	nswap_flash_submit(f, flash, make_part(r, first, nr, flash));
	return nr;
}

/* write to flash what it has room for, and wait; what it did not take */
static unsigned long write_flash(struct nswap_return *r, unsigned long todo)
{
	unsigned long left = todo, rest = 0;
	unsigned int i, first, run, nr;

	r->failed = 0;
	begin_wait(r);
	while (left) {
		first = __ffs(left);
		run = nswap_run_of(left, first);
		nr = start_at_flash(r, first, run);
		if (!nr) {
			nr = run;
			rest |= GENMASK(first + nr - 1, first);
		}
		left &= ~GENMASK(first + nr - 1, first);
	}
	end_wait(r);
	for_each_set_bit(i, &r->failed, NSWAP_REQ_SLOTS) {
		nswap_flash_put(r->dev->flash, r->flash[i]);
		r->flash[i] = NSWAP_FLASH_NONE;
	}
	return rest | r->failed;
}

/* write them home and wait; which of them it did not take */
static unsigned long write_home(struct nswap_return *r,
				const struct nswap_wire_page *page,
				unsigned long todo, bool one_by_one)
{
	unsigned int first, nr;

	r->failed = 0;
	begin_wait(r);
	while (todo) {
		struct nswap_home_io *h;

		first = __ffs(todo);
		nr = one_by_one ? 1 : run_of_slots(page, todo, first);
		todo &= ~GENMASK(first + nr - 1, first);
		h = make_part(r, first, nr, NSWAP_FLASH_NONE);
		h->slot = le64_to_cpu(page[first].slot);
		nswap_home_submit(r->dev->home, h);
	}
	end_wait(r);
	return r->failed;
}

/* to flash, else home; which of them neither took */
static unsigned long write_all(struct nswap_return *r,
			       const struct nswap_wire_page *page,
			       unsigned long todo)
{
	unsigned long left = write_flash(r, todo);

	if (left && r->dev->home)
		left = write_home(r, page, left, false);
	if (left && r->dev->home)
		/* a bad sector takes one page with it, not its neighbours */
		left = write_home(r, page, left, true);
	return left;
}

/* the write is over; what the server shall do */
static u16 return_end(struct nswap_return *r, unsigned int i,
		      const struct nswap_wire_page *p, u16 from, bool failed)
{
	struct nswap_device *dev = r->dev;
	struct nswap_node *node = dev->node;
	u16 status = NSWAP_ST_OK;
	bool mine;

	if (r->flash[i])
		mine = nswap_moved_to_flash(dev, p, NSWAP_SLOT_MOVING, from,
					    r->flash[i]);
	else
		mine = nswap_moved_go(dev, p, NSWAP_SLOT_MOVING, from,
				      failed ? NSWAP_SLOT_REMOTE :
					       NSWAP_SLOT_HOME,
				      failed ? from : 0);
	if (failed)
		nswap_stat_inc(node, returns_failed);
	if (!mine) {
		nswap_stat_inc(node, moves_met);
		if (r->flash[i])
			nswap_flash_put(dev->flash, r->flash[i]);
	} else if (failed) {
		status = NSWAP_ST_KEEP;
	} else {
		count_returned(node, from);
	}
	nswap_return_unmark(dev, le64_to_cpu(p->slot));
	return status;
}

/**
 * nswap_returned() - a server brings pages of this node back
 * @mover: id of the server
 * @mover_epoch: its epoch
 * @r: the pages, of one device; others are answered with KEEP
 * @page: their names
 * @nr: at most NSWAP_REQ_SLOTS
 * @result: result; the status of each page
 *
 * Context: process, sleeps until flash or home has written them; on the
 * page-out path of the mover. Does not allocate.
 */
void nswap_returned(u64 mover, u64 mover_epoch, struct nswap_return *r,
		    const struct nswap_wire_page *page, u32 nr,
		    struct nswap_wire_result *result)
{
	struct nswap_node *node = r->dev->node;
	struct nswap_peer *from = nswap_moved_peer(node, mover, mover_epoch);
	unsigned long writing, failed;
	unsigned int i;

	for (i = 0; !from && i < nr; i++)
		result[i].status = cpu_to_le32(NSWAP_ST_KEEP);
	if (!from)
		return;
	writing = return_begin(from->index, r, page, nr, result);
	failed = writing ? write_all(r, page, writing) : 0;
	for_each_set_bit(i, &writing, NSWAP_REQ_SLOTS)
		result[i].status = cpu_to_le32(return_end(r, i, &page[i], from->index,
							  failed & BIT(i)));
	/* slots that were MOVING when the server was lost, and are not now */
	if (READ_ONCE(from->state) == NSWAP_PEER_LOST)
		queue_work(system_dfl_wq, &node->client->losses);
	nswap_peer_put(from);
}
