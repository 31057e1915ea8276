// SPDX-License-Identifier: GPL-2.0
/*
 * Returns, at the owner: a server found no peer with room for its pages and
 * sends them back. They are written to flash, and to home if flash has no room or
 * fails.
 *
 *   RETURN: REMOTE(from, g) -> MOVING(from, g), the page is written
 *   written: MOVING(from, g) -> FLASH(g) or HOME(g), the server may drop its copy
 *   failed: MOVING(from, g) -> REMOTE(from, g), it must be kept
 *   flash has it already: REMOTE(from, g) -> FLASH(g), nothing is written
 *   the slot changed meanwhile: it stays as it is, the server's copy is obsolete
 *
 * Invariants:
 *  - Home has no generations. A slot is marked before it becomes MOVING and until
 *    the write has ended, whatever happens to the slot in between. A page-out of a
 *    marked slot waits: before it claims the slot and, since the word it claims may
 *    have been restored by then, once more before it is written to home. So no page
 *    ever overwrites a newer one.
 *  - A flash slot belongs to this file from its allocation until it is in the slot
 *    map, and is put back if it never gets there. So without a home no mark is
 *    needed: the write cannot hit another page.
 *  - Of a sealed device only what opens is written: the rest stays with its server.
 *  - A mark is held by one RETURN at a time, or by the removal of a flash device.
 *    A RETURN needs REMOTE(from, g): one that is repeated, late or obsolete writes
 *    nothing.
 *  - A page-out path of the server: pages and writes are made with each device
 *    that has a home or flash. A RETURN that finds them all in use waits up to
 *    ROOM_WAIT and then lets the server try again. The writes end by themselves, and
 *    a server that stops in the middle of its pages loses its buffers
 *    (serve_told.c).
 *  - A RETURN is of one device and uses only its buffers, so that a home that does
 *    not answer blocks no other device. When none of them was taken or given back
 *    for HUNG_AFTER, servers are answered that it has no home, and back off.
 *  - A device with marks, writes or buffers in use is not freed (its @returns_left).
 */
#include <linux/slab.h>

#include "client/wrap.h"
#include "core/client_state.h"
#include "core/devices.h"
#include "core/node.h"
#include "core/return_mark.h"
#include "core/slot_update.h"
#include "moved.h"
#include "peers/peer.h"
#include "returned.h"

#define ROOMS		4	/* RETURNs of a device that are carried out at once */
#define ROOM_WAIT	(2 * HZ)
#define HUNG_AFTER	(5 * HZ)	/* longer than one may take to arrive */

/**
 * struct nswap_returns - what a device with a home or flash has for RETURNs
 * @lock: protects @unused and @moved
 * @unused: struct nswap_return that are not in use
 * @moved: jiffies when one was last taken or given back
 * @all: all of them
 */
struct nswap_returns {
	spinlock_t lock;
	struct list_head unused;
	unsigned long moved;
	struct nswap_return all[ROOMS];
};

static void returns_free(struct nswap_returns *rs)
{
	unsigned int i;

	for (i = 0; i < ROOMS; i++)
		nswap_batch_exit(&rs->all[i].b);
	kvfree(rs);
}

/* Process, sleeps; allocates 560 KiB. Returns 0, or -ENOMEM. */
int nswap_return_init(struct nswap_device *dev)
{
	struct nswap_returns *rs = kvzalloc_objs(*rs, 1);
	struct nswap_return *r;

	if (!rs)
		return -ENOMEM;
	spin_lock_init(&rs->lock);
	INIT_LIST_HEAD(&rs->unused);
	for (r = rs->all; r < rs->all + ROOMS; r++) {
		r->b.then = "the page stays at its peer";
		list_add(&r->link, &rs->unused);
		if (!nswap_batch_init(&r->b, dev, NSWAP_REQ_SLOTS)) {
			returns_free(rs);
			return -ENOMEM;
		}
	}
	dev->rooms = rs;
	return 0;
}

/* undo nswap_return_init(), if it ran; no task finds @dev, after nswap_return_wait() */
void nswap_return_exit(struct nswap_device *dev)
{
	if (dev->rooms)
		returns_free(dev->rooms);
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

/* all buffers in use for HUNG_AFTER: home or flash does not answer */
static bool return_hung(struct nswap_returns *rs)
{
	bool yes;

	spin_lock(&rs->lock);
	yes = list_empty(&rs->unused) &&
	      time_after(jiffies, rs->moved + HUNG_AFTER);
	spin_unlock(&rs->lock);
	return yes;
}

/* find a device by instance and keep it (@returns_left) */
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

/*
 * Take buffers for the pages of a RETURN; @r: result, or NULL; process, sleeps up to
 * ROOM_WAIT while all are in use; does not allocate. Returns NSWAP_ST_OK, with @r
 * NULL if the device is gone; NSWAP_ST_NO_HOME; NSWAP_ST_KEEP: try again later.
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

/*
 * Give the buffers back; @r: from nswap_return_take(). The device may be gone
 * afterwards.
 */
void nswap_return_give(struct nswap_return *r)
{
	struct nswap_device *dev = r->b.io.dev;
	struct nswap_client *cl = dev->node->client;
	struct nswap_returns *rs = dev->rooms;

	spin_lock(&rs->lock);
	list_add(&r->link, &rs->unused);
	rs->moved = jiffies;
	spin_unlock(&rs->lock);
	nswap_return_put_use(dev);
	wake_up_all(&cl->returns_wait);
}

/*
 * Wait for the RETURNs of a device; process, sleeps until home and flash have ended
 * all writes begun.
 */
void nswap_return_wait(struct nswap_device *dev)
{
	wait_event(dev->node->client->returns_wait,
		   !atomic_read(&dev->returns_left));
}

/* the slot no longer names the server */
static void count_returned(struct nswap_node *node, u16 from)
{
	nswap_peer_slots(node, from, -1);
	nswap_stat_inc(node, pages_returned);
}

/* has it a home, or flash with room? */
static bool has_place(const struct nswap_device *dev)
{
	return dev->home || (dev->flash && nswap_flash_room(dev->flash));
}

/* the status of one page of a RETURN; @write: mark taken and MOVING, write it first */
static u16 return_judge(struct nswap_device *dev, const struct nswap_wire_page *p,
			u16 from, bool *write)
{
	u64 slot = le64_to_cpu(p->slot);

	*write = false;
	if (le32_to_cpu(p->instance) != dev->instance)
		return NSWAP_ST_KEEP;
	if (!nswap_moved_counts(dev, p, from))
		return NSWAP_ST_OK;
	nswap_moved_swap(dev, p, from);
	/* what was not checked takes the place of a sealed page only if nothing else can */
	if (!(dev->sealer && has_place(dev)) &&
	    nswap_moved_to_flash(dev, p, NSWAP_SLOT_REMOTE, from, NSWAP_FLASH_NONE)) {
		count_returned(dev->node, from);
		return NSWAP_ST_OK;
	}
	/* it is perhaps recorded there soon */
	if (nswap_slot_look(dev, slot).state != NSWAP_SLOT_REMOTE)
		return NSWAP_ST_KEEP;
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
		r->b.io.slot[i] = le64_to_cpu(page[i].slot);
		r->b.flash[i] = NSWAP_FLASH_NONE;
		result[i].status = cpu_to_le32(return_judge(r->b.io.dev, &page[i],
							    from, &write));
		if (write)
			writing |= BIT(i);
	}
	return writing;
}

/*
 * Which of the pages are what their slots' programs wrote? All, of a device that is not
 * sealed. What a server made up must not take the place of other copies.
 */
static unsigned long return_sound(struct nswap_return *r, const struct nswap_peer *from,
				  const struct nswap_wire_page *page,
				  unsigned long writing)
{
	struct nswap_device *dev = r->b.io.dev;
	unsigned long sound = writing;
	unsigned int i;

	for_each_set_bit(i, &writing, dev->sealer ? NSWAP_REQ_SLOTS : 0) {
		u32 slot = r->b.io.slot[i];
		struct nswap_slot s;

		if (nswap_wrap_open(dev, slot, r->b.io.page[i], true))
			continue;
		s = nswap_slot_look(dev, slot);
		if (nswap_slot_is(&s, NSWAP_SLOT_MOVING, from->index,
				  le32_to_cpu(page[i].gen)))
			nswap_wrap_broken(dev, slot, from->name);
		sound &= ~BIT(i);
	}
	return sound;
}

/* write to flash, else home; returns the pages that neither took */
static unsigned long return_write(struct nswap_batch *b, unsigned long pages)
{
	unsigned long left = nswap_batch_write_flash(b, pages);

	return left && b->io.dev->home ? nswap_batch_home(b, left, true) : left;
}

/* record where the page is after the write; returns its status for the server */
static u16 return_end(struct nswap_return *r, unsigned int i,
		      const struct nswap_wire_page *p, u16 from, bool failed)
{
	struct nswap_device *dev = r->b.io.dev;
	struct nswap_node *node = dev->node;
	u32 flash = r->b.flash[i];
	u16 status = NSWAP_ST_OK;
	bool mine;

	if (flash)
		mine = nswap_moved_to_flash(dev, p, NSWAP_SLOT_MOVING, from,
					    flash);
	else
		mine = nswap_moved_go(dev, p, NSWAP_SLOT_MOVING, from,
				      failed ? NSWAP_SLOT_REMOTE :
					       NSWAP_SLOT_HOME,
				      failed ? from : 0);
	if (failed)
		nswap_stat_inc(node, returns_failed);
	if (!mine) {
		nswap_stat_inc(node, moves_met);
		if (flash)
			nswap_flash_put(dev->flash, flash);
	} else if (failed) {
		status = NSWAP_ST_KEEP;
	} else {
		count_returned(node, from);
	}
	nswap_return_unmark(dev, r->b.io.slot[i]);
	return status;
}

/**
 * nswap_returned() - handle RETURN: a server sends pages of this node back
 * @mover: id of the server
 * @mover_epoch: its epoch
 * @r: the pages, of one device; those of others are answered with KEEP
 * @page: their names
 * @nr: number of pages, at most NSWAP_REQ_SLOTS
 * @result: result; the status of each page
 *
 * Context: process, sleeps until flash or home has written them; on the
 * page-out path of the mover. Does not allocate.
 */
void nswap_returned(u64 mover, u64 mover_epoch, struct nswap_return *r,
		    const struct nswap_wire_page *page, u32 nr,
		    struct nswap_wire_result *result)
{
	struct nswap_node *node = r->b.io.dev->node;
	struct nswap_peer *from = nswap_moved_peer(node, mover, mover_epoch);
	unsigned long writing, sound, failed;
	unsigned int i;

	for (i = 0; !from && i < nr; i++)
		result[i].status = cpu_to_le32(NSWAP_ST_KEEP);
	if (!from)
		return;
	writing = return_begin(from->index, r, page, nr, result);
	sound = return_sound(r, from, page, writing);
	failed = writing & ~sound;
	if (sound)
		failed |= return_write(&r->b, sound);
	for_each_set_bit(i, &writing, NSWAP_REQ_SLOTS)
		result[i].status = cpu_to_le32(return_end(r, i, &page[i], from->index,
							  failed & BIT(i)));
	/* the loss passed over slots that were MOVING then */
	if (READ_ONCE(from->state) == NSWAP_PEER_LOST)
		queue_work(system_dfl_wq, &node->client->losses);
	nswap_peer_put(from);
}
