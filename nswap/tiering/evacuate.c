// SPDX-License-Identifier: GPL-2.0
/*
 * Removing a flash device from a device that is in use. User space repeats the
 * request; each one moves some pages off, until none is left.
 *
 *   closed: no new page is written to it
 *   pages that are only there: FLASH(g, f) -> FLASH(g+1, f), read, and then
 *     stored at a peer: -> REMOTE(peer, g+1)
 *     else written to another flash device: -> FLASH(g+1, f')
 *     else written home: FLASH(g+1, f) -> FLASH(g+2, f) -> HOME(g+2)
 *   pages whose peer has no session: REMOTE(peer, g, f) -> FLASH(g+1, f), likewise
 *   then copies of pages that a peer or home has: dropped from their slots
 *   removed: no flash slot of it is used or being read
 *
 * Invariants:
 *  - Flash holds the page, and page-ins read it there, until the new place is
 *    recorded. A slot that has changed meanwhile cancels its move. Only a page-out
 *    of a slot that is being written to home waits for a move.
 *  - A slot is marked, and then takes another generation, before its page is
 *    written to home; see returned.c.
 *  - As long as a page has nowhere to go no copy of another page is dropped, and
 *    the flash device is opened again when the request is refused.
 *  - Not on the page-out path: it allocates, and sleeps for flash, home and
 *    peers, for a quarter of a second plus the time to finish what was begun.
 *  - A round is a work item of the flash device's own and holds no lock while it
 *    waits: if a device below hangs, it hangs alone. Requests wait for the round under
 *    way, a second at most; there is one round at a time.
 *  - The device stays while a round or a request uses it (its @returns_left).
 */
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "client/free.h"
#include "core/client_state.h"
#include "core/devices.h"
#include "core/node.h"
#include "core/return_mark.h"
#include "core/slot_update.h"
#include "evacuate.h"
#include "move_batch.h"

#define ROUND		(HZ / 4)
#define REQUEST		HZ		/* what a request waits for a round */
#define PATIENCE	(5 * HZ)	/* peers may have room soon */

/**
 * struct nswap_emptying - rounds of removing a flash device
 * @dev: device
 * @d: flash device
 * @mo: batch; covers 32 slots of the device at a time
 * @begun: slots of the batch whose pages are to be moved
 * @work: the round
 * @running: a round is under way; under the node's control lock
 * @over: it has ended
 * @ret: its result: 0, -ENOMEM, -ENOSPC, -EIO
 * @left: its result: used flash slots, 0: it is removed
 */
struct nswap_emptying {
	struct nswap_device *dev;
	struct nswap_flash_dev *d;
	struct nswap_move_batch mo;
	unsigned long begun;
	struct work_struct work;
	bool running;
	struct completion over;
	int ret;
	u64 left;
};

static bool is_there(const struct nswap_emptying *e, const struct nswap_slot *s)
{
	return s->flash >= e->d->base &&
	       s->flash < e->d->base + e->d->map.nr;
}

/* has the page no other copy that can be read now? then it must be moved */
static bool only_there(const struct nswap_emptying *e, const struct nswap_slot *s)
{
	return s->state == NSWAP_SLOT_FLASH ||
	       (s->state == NSWAP_SLOT_REMOTE &&
		nswap_peer_state(e->dev->node, s->peer) != NSWAP_PEER_UP);
}

/* -> FLASH(g+1): the page is to be moved */
static bool evacuate_slot_begun(struct nswap_slot *s, const struct nswap_emptying *e)
{
	if (!is_there(e, s) || !only_there(e, s))
		return false;
	s->state = NSWAP_SLOT_FLASH;
	s->peer = 0;
	s->gen = nswap_gen_next(s->gen);
	return true;
}

/* the page is elsewhere too: drop the copy */
static bool evacuate_slot_copy(struct nswap_slot *s, const struct nswap_emptying *e)
{
	/* a slot being moved off a peer may fall back to it */
	if (!is_there(e, s) || only_there(e, s) ||
	    (s->state == NSWAP_SLOT_MOVING && s->peer))
		return false;
	s->flash = NSWAP_FLASH_NONE;
	return true;
}

/* FLASH(g) -> FLASH(g+1), after the slot was marked */
static bool evacuate_slot_marked(struct nswap_slot *s, u32 gen)
{
	if (!nswap_slot_is(s, NSWAP_SLOT_FLASH, 0, gen))
		return false;
	s->gen = nswap_gen_next(gen);
	return true;
}

/* find the slots of the batch to move, and drop copies once that is allowed */
static void evacuate_look(struct nswap_emptying *e)
{
	struct nswap_io *io = &e->mo.b.io;
	struct nswap_device *dev = e->dev;
	bool dropped = false;
	struct nswap_slot was;
	unsigned int i;

	nswap_batch_at(&e->mo.b, e->d->leave.cursor);
	for (i = 0; i < NSWAP_REQ_SLOTS && io->slot[i] < dev->map.nr; i++) {
		u64 slot = io->slot[i];

		if (!nswap_slot_update(dev, slot, &was, evacuate_slot_begun, e)) {
			if (e->d->leave.copies &&
			    nswap_slot_update(dev, slot, &was,
					      evacuate_slot_copy, e))
				dropped = true;
			continue;
		}
		if (was.peer)
			nswap_free_orphan(dev, slot, was.gen, was.peer);
		io->gen[i] = cpu_to_le32(nswap_gen_next(was.gen));
		e->mo.b.flash[i] = was.flash;
		io->todo |= BIT(i);
	}
	/* a page-in that found its copy gone waits for this to read again */
	if (dropped)
		nswap_client_kick(dev->node);
	e->begun = io->todo;
	e->d->leave.cursor += NSWAP_REQ_SLOTS;
}

/* to the remaining flash devices; pages they do not take stay in @todo */
static void to_flash(struct nswap_emptying *e)
{
	struct nswap_io *io = &e->mo.b.io;
	unsigned long left = nswap_batch_write_flash(&e->mo.b, io->todo);
	unsigned long there = io->todo & ~left;
	unsigned int i;

	for_each_set_bit(i, &there, NSWAP_REQ_SLOTS)
		if (!nswap_move_batch_settle(&e->mo, i, NSWAP_SLOT_FLASH, 0,
					     e->mo.b.flash[i]))
			nswap_flash_put(e->dev->flash, e->mo.b.flash[i]);
	io->todo = left;
}

/* mark slots, give each the next generation; returns those marked */
static unsigned long evacuate_mark(struct nswap_emptying *e)
{
	struct nswap_io *io = &e->mo.b.io;
	unsigned long marked = 0;
	struct nswap_slot was;
	unsigned int i;

	for_each_set_bit(i, &io->todo, NSWAP_REQ_SLOTS) {
		u64 slot = io->slot[i];

		if (!nswap_return_mark(e->dev, slot))
			continue;
		if (!nswap_slot_update(e->dev, slot, &was, evacuate_slot_marked,
				       le32_to_cpu(io->gen[i]))) {
			nswap_return_unmark(e->dev, slot);
			continue;
		}
		io->gen[i] = cpu_to_le32(nswap_gen_next(was.gen));
		marked |= BIT(i);
	}
	return marked;
}

/* to home; pages it does not take stay in @todo */
static void to_home(struct nswap_emptying *e)
{
	unsigned long marked = evacuate_mark(e), failed;
	struct nswap_io *io = &e->mo.b.io;
	unsigned int i;

	failed = nswap_batch_home(&e->mo.b, marked, true);
	for_each_set_bit(i, &marked, NSWAP_REQ_SLOTS) {
		if (!(failed & BIT(i))) {
			nswap_move_batch_settle(&e->mo, i, NSWAP_SLOT_HOME, 0,
						NSWAP_FLASH_NONE);
			io->todo &= ~BIT(i);
		}
		nswap_return_unmark(e->dev, io->slot[i]);
	}
}

/* count the pages of the batch: moved, unreadable, or stuck */
static void take_stock(struct nswap_emptying *e, unsigned long unread)
{
	struct nswap_flash_leave *leave = &e->d->leave;
	struct nswap_slot s;
	unsigned int i;

	for_each_set_bit(i, &e->begun, NSWAP_REQ_SLOTS) {
		if (!nswap_move_batch_valid(&e->mo, i, &s) || !is_there(e, &s)) {
			leave->moved++;
			leave->since = jiffies;
		} else if (unread & BIT(i)) {
			leave->unread++;
		} else {
			leave->stuck++;
		}
	}
}

static void evacuate_batch(struct nswap_emptying *e)
{
	struct nswap_client *cl = e->dev->node->client;
	struct nswap_io *io = &e->mo.b.io;
	unsigned long unread = nswap_batch_read_flash(&e->mo.b, io->todo);

	io->todo &= ~unread;
	/* ask for grants; page-outs have priority */
	nswap_client_used(e->dev->node);
	if (io->todo && !nswap_client_waits(cl))
		nswap_move_batch_store(&e->mo);
	if (io->todo)
		to_flash(e);
	if (io->todo && e->dev->home)
		to_home(e);
	take_stock(e, unread);
}

static void start_pass(struct nswap_flash_leave *leave)
{
	leave->cursor = 1;
	leave->moved = 0;
	leave->stuck = 0;
	leave->unread = 0;
}

/* true: the pass over all slots is complete */
static bool evacuate_pass(struct nswap_emptying *e)
{
	unsigned long until = jiffies + ROUND;

	struct nswap_flash_leave *leave = &e->d->leave;
	const struct nswap_slot_map *map = &e->dev->map;

	for (;;) {
		leave->cursor = nswap_slot_map_next(map, leave->cursor);
		if (leave->cursor >= map->nr)
			return true;
		if (time_after(jiffies, until))
			return false;
		evacuate_look(e);
		if (e->begun)
			evacuate_batch(e);
		cond_resched();
	}
}

/* after a pass without progress for PATIENCE: refuse, and open the device again */
static int give_up(struct nswap_emptying *e)
{
	struct nswap_flash_leave *leave = &e->d->leave;

	if (leave->moved || !(leave->stuck + leave->unread) ||
	    time_before(jiffies, leave->since + PATIENCE))
		return 0;
	leave->cursor = 0;
	nswap_flash_map_close(&e->d->map, false);
	return leave->unread ? -EIO : -ENOSPC;
}

/* no slot of it is used any more: remove it, unless one is being read */
static bool evacuate_remove(struct nswap_emptying *e)
{
	struct nswap_flash *f = e->dev->flash;
	struct mutex *control = &e->dev->node->control;
	struct nswap_home *block;

	mutex_lock(control);
	block = nswap_flash_detach(f, e->d);
	mutex_unlock(control);
	if (block)
		nswap_flash_release(f, e->d, block);
	return block;
}

static int evacuate_go_on(struct nswap_emptying *e)
{
	struct nswap_flash_leave *leave = &e->d->leave;
	int ret;

	if (!leave->cursor) {
		*leave = (struct nswap_flash_leave){ .since = jiffies };
		start_pass(leave);
		nswap_flash_map_close(&e->d->map, true);
	}
	if (evacuate_pass(e)) {
		ret = give_up(e);
		if (ret)
			return ret;
		leave->copies = leave->copies ||
				!(leave->moved + leave->stuck + leave->unread);
		start_pass(leave);
	}
	e->left = READ_ONCE(e->d->map.used);
	if (!e->left && !evacuate_remove(e))
		e->left = 1;
	return 0;
}

static void evacuate_round(struct work_struct *work)
{
	struct nswap_emptying *e = container_of(work, struct nswap_emptying, work);
	struct nswap_device *dev = e->dev;

	memset(&e->mo, 0, sizeof(e->mo));
	e->mo.state = NSWAP_SLOT_FLASH;
	if (nswap_batch_init(&e->mo.b, dev, NSWAP_REQ_SLOTS))
		e->ret = evacuate_go_on(e);
	else
		e->ret = -ENOMEM;
	nswap_batch_exit(&e->mo.b);
	mutex_lock(&dev->node->control);
	e->running = false;
	complete_all(&e->over);
	mutex_unlock(&dev->node->control);
	nswap_return_put_use(dev);
}

/* @t: device number if @flash is a path, 0 if it is a listed name */
static struct nswap_flash_dev *evacuate_find(struct nswap_flash *f, const char *flash,
					     dev_t t)
{
	unsigned int i;

	for (i = 0; f && i < f->nr; i++) {
		struct nswap_flash_dev *d = &f->dev[i];

		if (d->block && (t ? d->block->bdev->bd_dev == t :
				     !strcmp(d->name, flash)))
			return d;
	}
	return NULL;
}

static struct nswap_emptying *emptying_make(void)
{
	struct nswap_emptying *e = kzalloc(sizeof(*e), GFP_KERNEL);

	if (!e)
		return NULL;
	INIT_WORK(&e->work, evacuate_round);
	init_completion(&e->over);
	return e;
}

/*
 * The rounds of a flash device, one of them under way; the node's control lock is held.
 * Keeps the device for the round and for the caller. @spare: for the first.
 */
static struct nswap_emptying *emptying_begin(struct nswap_device *dev,
					     struct nswap_flash_dev *d,
					     struct nswap_emptying **spare)
{
	struct nswap_emptying *e = d->emptying;

	if (!e) {
		e = *spare;
		*spare = NULL;
		e->dev = dev;
		e->d = d;
		d->emptying = e;
	}
	atomic_inc(&dev->returns_left);
	if (e->running)
		return e;
	atomic_inc(&dev->returns_left);
	e->running = true;
	reinit_completion(&e->over);
	queue_work(system_dfl_wq, &e->work);
	return e;
}

static struct nswap_emptying *emptying_find(struct nswap_node *node, const char *name,
					    const char *flash, dev_t t,
					    struct nswap_emptying **spare,
					    struct netlink_ext_ack *ext)
{
	struct nswap_device *dev = nswap_device_named(node, name);
	struct nswap_flash_dev *d;

	if (!dev) {
		NL_SET_ERR_MSG(ext, "this node has no such device, see: nswapctl device list");
		return NULL;
	}
	d = evacuate_find(dev->flash, flash, t);
	if (!d) {
		NL_SET_ERR_MSG(ext, "the device has no such flash, see: nswapctl device list");
		return NULL;
	}
	return emptying_begin(dev, d, spare);
}

/* wait for the round, but not for a device that hangs */
static int emptying_wait(struct nswap_emptying *e, u64 *left, struct netlink_ext_ack *ext)
{
	long over = wait_for_completion_interruptible_timeout(&e->over, REQUEST);

	*left = over > 0 ? e->left : max(READ_ONCE(e->d->map.used), 1u);
	if (over < 0)
		return -EINTR;
	if (!over)
		return 0;
	if (e->ret == -EIO)
		NL_SET_ERR_MSG_FMT(ext, "%llu pages are only there and cannot be read from it",
				   e->d->leave.unread);
	else if (e->ret == -ENOSPC)
		NL_SET_ERR_MSG_FMT(ext, "%llu pages are only there, and no peer, flash or home has room",
				   e->d->leave.stuck);
	return e->ret;
}

/**
 * nswap_empty_flash() - continue removing a flash device
 * @node: node
 * @name: of the device, as in /dev
 * @flash: name of the flash device, or a path of it
 * @left: result: its used flash slots; 0: it is removed
 * @ext: for one clear sentence
 *
 * Context: process, sleeps; about a quarter of a second, at most one if flash, home
 * or a peer does not answer.
 * Return: 0, -ENOMEM, -ENODEV; -EINTR; -ENOSPC or -EIO: it stays in use.
 */
int nswap_empty_flash(struct nswap_node *node, const char *name,
		      const char *flash, u64 *left, struct netlink_ext_ack *ext)
{
	struct nswap_emptying *spare = emptying_make(), *e;
	int ret = -ENODEV;
	dev_t t = 0;

	if (!spare)
		return -ENOMEM;
	/* a path that does not resolve is no listed name either */
	if (strchr(flash, '/') && lookup_bdev(flash, &t))
		t = 0;
	mutex_lock(&node->control);
	e = emptying_find(node, name, flash, t, &spare, ext);
	mutex_unlock(&node->control);
	kfree(spare);
	if (!e)
		return ret;
	ret = emptying_wait(e, left, ext);
	nswap_return_put_use(e->dev);
	return ret;
}

/* @dev: device without users, being freed; process, sleeps */
void nswap_empty_flash_exit(struct nswap_device *dev)
{
	unsigned int i;

	for (i = 0; dev->flash && i < dev->flash->nr; i++) {
		struct nswap_emptying *e = dev->flash->dev[i].emptying;

		if (e)
			cancel_work_sync(&e->work);
		kfree(e);
	}
}
