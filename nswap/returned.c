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
 *  - A page-out path of the server: pages and writes are made with the first
 *    device that has a home or flash. Whoever finds them all in use waits for a
 *    moment and then lets the server try again. The writes end by themselves, and
 *    a server that stops in the middle of its pages loses its room
 *    (serve_move.c).
 *  - A device with marks or writes does not go (its @returns_left).
 */
#include <linux/slab.h>

#include "client.h"
#include "flash.h"
#include "moved.h"
#include "node.h"
#include "peer.h"
#include "returned.h"

#define ROOMS		4	/* RETURNs that are carried out side by side */
#define ROOM_WAIT	(2 * HZ)

/**
 * struct nswap_returns - what a node with a home or flash has for RETURNs
 * @lock: protects @unused
 * @unused: struct nswap_return that nobody uses
 * @wait: for one of them, or for the last of a device
 * @all: all there are
 */
struct nswap_returns {
	spinlock_t lock;
	struct list_head unused;
	wait_queue_head_t wait;
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

static bool init_one(struct nswap_returns *rs, struct nswap_return *r)
{
	unsigned int i;

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
 * @node: node that gets a device with a home or flash; its control lock is held
 *
 * Context: process, sleeps; allocates, for the first such device only.
 * Return: 0, or -ENOMEM.
 */
int nswap_return_init(struct nswap_node *node)
{
	struct nswap_returns *rs;
	unsigned int i;

	if (node->client->return_pool)
		return 0;
	rs = kvzalloc_objs(*rs, 1);
	if (!rs)
		return -ENOMEM;
	spin_lock_init(&rs->lock);
	INIT_LIST_HEAD(&rs->unused);
	init_waitqueue_head(&rs->wait);
	for (i = 0; i < ROOMS; i++)
		if (!init_one(rs, &rs->all[i])) {
			free_returns(rs);
			return -ENOMEM;
		}
	/* pairs with nswap_return_take() */
	smp_store_release(&node->client->return_pool, rs);
	return 0;
}

/**
 * nswap_return_exit() - undo nswap_return_init()
 * @node: node without devices and connections
 *
 * Context: process, sleeps.
 */
void nswap_return_exit(struct nswap_node *node)
{
	if (node->client->return_pool)
		free_returns(node->client->return_pool);
	node->client->return_pool = NULL;
}

static struct nswap_return *take(struct nswap_returns *rs)
{
	struct nswap_return *r;

	spin_lock(&rs->lock);
	r = list_first_entry_or_null(&rs->unused, struct nswap_return, link);
	if (r)
		list_del_init(&r->link);
	spin_unlock(&rs->lock);
	return r;
}

/**
 * nswap_return_take() - room to receive the pages of a RETURN
 * @node: the owner
 * @r: result
 *
 * Context: process, sleeps for a moment while all is in use; does not allocate.
 * Return: NSWAP_ST_OK; NSWAP_ST_NO_HOME; NSWAP_ST_KEEP: try again later.
 */
u16 nswap_return_take(struct nswap_node *node, struct nswap_return **r)
{
	/* pairs with nswap_return_init() */
	struct nswap_returns *rs = smp_load_acquire(&node->client->return_pool);

	if (!rs)
		return NSWAP_ST_NO_HOME;
	wait_event_timeout(rs->wait, (*r = take(rs)), ROOM_WAIT);
	return *r ? NSWAP_ST_OK : NSWAP_ST_KEEP;
}

/**
 * nswap_return_give() - the room is not needed any more
 * @node: the owner
 * @r: from nswap_return_take()
 *
 * Context: process; does not sleep.
 */
void nswap_return_give(struct nswap_node *node, struct nswap_return *r)
{
	struct nswap_returns *rs = node->client->return_pool;

	spin_lock(&rs->lock);
	list_add(&r->link, &rs->unused);
	spin_unlock(&rs->lock);
	wake_up_all(&rs->wait);
}

/**
 * nswap_return_wait() - let the RETURNs of a device end
 * @dev: device nobody finds any more
 *
 * Context: process, sleeps until home and flash have ended what was begun.
 */
void nswap_return_wait(struct nswap_device *dev)
{
	struct nswap_returns *rs = dev->node->client->return_pool;

	if (rs)
		wait_event(rs->wait, !atomic_read(&dev->returns_left));
}

/**
 * nswap_return_mark() - a page may be written to a slot's place at home, from
 *	outside of a page-out
 * @dev: device, kept by the caller
 * @slot: slot; its entry must change afterwards, before that write begins
 *
 * Context: process, does not sleep.
 * Return: false if somebody else has the slot.
 */
bool nswap_return_mark(struct nswap_device *dev, u64 slot)
{
	if (dev->returning && test_and_set_bit(slot, dev->returning))
		return false;
	atomic_inc(&dev->returns_left);
	return true;
}

/**
 * nswap_return_unmark() - the write has ended, or will not begin
 * @dev: device; a caller that does not keep it must not touch it afterwards
 * @slot: slot
 *
 * Context: process, does not sleep.
 */
void nswap_return_unmark(struct nswap_device *dev, u64 slot)
{
	struct nswap_node *node = dev->node;

	/* in full order: before the kick, after what became of the slot */
	if (dev->returning)
		test_and_clear_bit(slot, dev->returning);
	if (atomic_dec_and_test(&dev->returns_left))
		wake_up_all(&node->client->return_pool->wait);
	nswap_client_kick(node);
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

/* what shall be done with a page; OK with a device in @dev: write it */
static u16 judge(struct nswap_node *node, const struct nswap_wire_page *p,
		 u16 from, struct nswap_device **dev)
{
	struct nswap_device *d = nswap_device_find(node,
						   le32_to_cpu(p->instance));
	u64 slot = le64_to_cpu(p->slot);

	if (!nswap_moved_counts(d, p, from))
		return NSWAP_ST_OK;
	if (nswap_moved_to_flash(d, p, NSWAP_SLOT_REMOTE, from,
				 NSWAP_FLASH_NONE)) {
		count_returned(node, from);
		return NSWAP_ST_OK;
	}
	if (!has_place(d))
		return NSWAP_ST_NO_HOME;
	if (!nswap_return_mark(d, slot))
		return NSWAP_ST_KEEP;
	if (nswap_moved_go(d, p, NSWAP_SLOT_REMOTE, from, NSWAP_SLOT_MOVING,
			   from)) {
		*dev = d;
		return NSWAP_ST_OK;
	}
	nswap_return_unmark(d, slot);
	return NSWAP_ST_KEEP;
}

static unsigned long begin(struct nswap_node *node, u16 from,
			   struct nswap_return *r,
			   const struct nswap_wire_page *page, u32 nr,
			   struct nswap_wire_result *result)
{
	unsigned long writing = 0;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < nr; i++) {
		r->dev[i] = NULL;
		r->flash[i] = NSWAP_FLASH_NONE;
		result[i].status = cpu_to_le32(judge(node, &page[i], from,
						     &r->dev[i]));
		if (r->dev[i])
			writing |= BIT(i);
	}
	rcu_read_unlock();
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
	struct nswap_device *dev = r->dev[part->first];
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

/* how many pages from @first on are of one device */
static unsigned int run_of_device(const struct nswap_return *r,
				  unsigned long bits, unsigned int first)
{
	unsigned int n = 1, nr = nswap_run_of(bits, first);

	while (n < nr && r->dev[first + n] == r->dev[first])
		n++;
	return n;
}

/* how many of them go home in one write */
static unsigned int run_of_slots(const struct nswap_return *r,
				 const struct nswap_wire_page *page,
				 unsigned long bits, unsigned int first)
{
	unsigned int n = 1, nr = run_of_device(r, bits, first);
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
	struct nswap_flash *f = r->dev[first]->flash;
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
		run = run_of_device(r, left, first);
		nr = start_at_flash(r, first, run);
		if (!nr) {
			nr = run;
			rest |= GENMASK(first + nr - 1, first);
		}
		left &= ~GENMASK(first + nr - 1, first);
	}
	end_wait(r);
	for_each_set_bit(i, &r->failed, NSWAP_REQ_SLOTS) {
		nswap_flash_put(r->dev[i]->flash, r->flash[i]);
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
		nr = one_by_one ? 1 : run_of_slots(r, page, todo, first);
		todo &= ~GENMASK(first + nr - 1, first);
		h = make_part(r, first, nr, NSWAP_FLASH_NONE);
		h->slot = le64_to_cpu(page[first].slot);
		nswap_home_submit(r->dev[first]->home, h);
	}
	end_wait(r);
	return r->failed;
}

/* those of a device without a home */
static unsigned long homeless(const struct nswap_return *r, unsigned long todo)
{
	unsigned long found = 0;
	unsigned int i;

	for_each_set_bit(i, &todo, NSWAP_REQ_SLOTS)
		if (!r->dev[i]->home)
			found |= BIT(i);
	return found;
}

/* to flash, else home; which of them neither took */
static unsigned long write_all(struct nswap_return *r,
			       const struct nswap_wire_page *page,
			       unsigned long todo)
{
	unsigned long left = write_flash(r, todo);
	unsigned long nowhere = homeless(r, left);
	unsigned long failed = 0;

	if (left & ~nowhere)
		failed = write_home(r, page, left & ~nowhere, false);
	if (failed)
		/* a bad sector takes one page with it, not its neighbours */
		failed = write_home(r, page, failed, true);
	return failed | nowhere;
}

/* the write is over; what the server shall do */
static u16 end(struct nswap_return *r, unsigned int i,
	       const struct nswap_wire_page *p, u16 from, bool failed)
{
	struct nswap_device *dev = r->dev[i];
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
 * @node: the owner
 * @mover: id of the server
 * @mover_epoch: its epoch
 * @r: the pages
 * @page: their names
 * @nr: at most NSWAP_REQ_SLOTS
 * @result: result; the status of each page
 *
 * Context: process, sleeps until flash or home has written them; on the
 * page-out path of the mover. Does not allocate.
 */
void nswap_returned(struct nswap_node *node, u64 mover, u64 mover_epoch,
		    struct nswap_return *r, const struct nswap_wire_page *page,
		    u32 nr, struct nswap_wire_result *result)
{
	struct nswap_peer *from = nswap_moved_peer(node, mover, mover_epoch);
	unsigned long writing, failed;
	unsigned int i;

	for (i = 0; !from && i < nr; i++)
		result[i].status = cpu_to_le32(NSWAP_ST_KEEP);
	if (!from)
		return;
	writing = begin(node, from->index, r, page, nr, result);
	failed = writing ? write_all(r, page, writing) : 0;
	for_each_set_bit(i, &writing, NSWAP_REQ_SLOTS)
		result[i].status = cpu_to_le32(end(r, i, &page[i], from->index,
						   failed & BIT(i)));
	/* slots that were MOVING when the server was lost, and are not now */
	if (READ_ONCE(from->state) == NSWAP_PEER_LOST)
		queue_work(system_dfl_wq, &node->client->losses);
	nswap_peer_put(from);
}
