// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a device: adding and removing one. The disk is in disk.c, the backing
 * devices in config.c.
 *
 * Invariants:
 *  - A device is removed only when no task has it open; until its disk is gone, a
 *    task that opens it nevertheless gets errors, not pages.
 *  - A home is opened before its device exists, and closed after its last request
 *    has ended and the last page returned by a server is written.
 *  - A home or flash that does not answer blocks the removal of its device and
 *    nothing else: a device leaves the node's list under the node's control lock,
 *    and is waited for without it. The node stays until then (its @leaving_devices).
 *
 * Lock order: node->control -> devices_lock -> disk->open_mutex.
 */
#include <linux/blkdev.h>
#include <linux/idr.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/clock.h"
#include "base/log.h"
#include "class.h"
#include "client/tier.h"
#include "client/wrap.h"
#include "client/write_cache.h"
#include "compress.h"
#include "config.h"
#include "core/client_state.h"
#include "core/devices.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/reserve.h"
#include "core/slot_update.h"
#include "disk.h"
#include "parity.h"
#include "migrate/returned.h"
#include "observe/meter.h"
#include "peers/ctl.h"
#include "peers/peer_table.h"
#include "peers/reconcile.h"
#include "protect.h"
#include "tiering/evacuate.h"
#include "tiering/home_fill.h"
#include "tiering/key_change.h"
#include "tiering/prefetcher.h"
#include "tiering/promote.h"

#define CLAIM_WAIT	(10 * HZ)	/* longer than a peer may owe an answer, suspicion.c */
#define TELL_AGAIN	(HZ / 50)
#define FORGET_WAIT	(2 * HZ)
#define CONNECT_WAIT	(2 * HZ)

static DEFINE_IDA(numbers);
static DEFINE_MUTEX(devices_lock);
static unsigned int nr_devices;
static struct nswap_device *devices[NSWAP_MAX_DEVICES];

static void free_device(struct nswap_device *dev)
{
	nswap_promote_end(dev);
	nswap_key_change_exit(dev);
	nswap_protect_exit(dev);
	if (dev->home)
		nswap_home_close(dev->home);
	nswap_prefetcher_free(dev);
	nswap_empty_flash_exit(dev);
	if (dev->flash)
		nswap_flash_close(dev->flash);
	nswap_slot_map_exit(&dev->map);
	nswap_wrap_exit(dev);
	nswap_write_cache_exit(dev);
	nswap_reserve_exit(dev);
	nswap_return_exit(dev);
	nswap_freed_exit(&dev->freed);
	nswap_side_exit(&dev->side);
	free_percpu(dev->flow);
	free_percpu(dev->counts);
	free_percpu(dev->placed_last);
	if (dev->header)
		__free_page(dev->header);
	if (dev->number >= 0)
		ida_free(&numbers, dev->number);
	kfree(dev);
}

/* a side table of one bit per slot, changed atomically by any task; NULL: no memory */
static unsigned long *add_bits(struct nswap_device *dev, const char *name)
{
	struct nswap_side_table *t = nswap_side_add(&dev->side, name, 1);

	return t ? nswap_side_bitmap(t) : NULL;
}

/* moves out, marks of returned pages, and copies of what peers hold */
static int init_for_home(struct nswap_device *dev)
{
	dev->returning = add_bits(dev, "returning");
	dev->page_tags = nswap_side_add(&dev->side, "prefetched", BITS_PER_BYTE);
	dev->home_has = add_bits(dev, "copied");
	dev->home_due = add_bits(dev, "copying");
	dev->promote = nswap_promote_make(dev);
	return dev->returning && dev->page_tags && dev->home_has &&
	       dev->home_due && dev->promote ? nswap_home_fill_init(dev) :
					       -ENOMEM;
}

/* if this fails @b still belongs to the caller */
static struct nswap_device *alloc_device(struct nswap_node *node,
					 const struct nswap_device_backing *b)
{
	u64 slots = b->bytes / PAGE_SIZE;
	struct nswap_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	unsigned long *freed;

	if (!dev)
		return NULL;
	dev->node = node;
	spin_lock_init(&dev->header_lock);
	mutex_init(&dev->placing);
	dev->place_full = jiffies - HZ * 60;
	dev->number = ida_alloc_max(&numbers, NSWAP_MAX_DEVICES - 1, GFP_KERNEL);
	dev->header = alloc_page(GFP_KERNEL | __GFP_ZERO);
	nswap_side_init(&dev->side, slots);
	freed = add_bits(dev, "freed");
	dev->flow = alloc_percpu(struct nswap_flow);
	dev->counts = alloc_percpu(struct nswap_slot_counts);
	dev->placed_last = alloc_percpu(u16);
	if (dev->number < 0 || !dev->header || !freed || !dev->flow || !dev->counts ||
	    !dev->placed_last || nswap_freed_init(&dev->freed, freed, slots) ||
	    nswap_slot_map_init(&dev->map, slots) ||
	    ((b->seal || b->compress) && nswap_wrap_init(dev, b->seal, b->compress)) ||
	    (b->cache && nswap_write_cache_init(dev, b->cache, b->early_ack)) ||
	    nswap_reserve_init(dev, b->reserve) ||
	    (b->home && init_for_home(dev)) ||
	    ((b->home || b->flash) && nswap_return_init(dev)) ||
	    nswap_protect_set(dev, b->protect, b->shape)) {
		free_device(dev);
		return NULL;
	}
	dev->home = b->home;
	dev->flash = b->flash;
	dev->class = b->class;
	dev->used = jiffies;
	return dev;
}

/* a snapshot of a device, but for nswap_device_count(); process, under the control lock */
void nswap_device_view(struct nswap_device *dev, struct nswap_device_view *v)
{
	unsigned int i, tier;

	memset(v, 0, sizeof(*v));
	strscpy(v->name, dev->disk->disk_name, sizeof(v->name));
	v->instance = dev->instance;
	v->slots = dev->map.nr;
	v->map_bytes = nswap_slot_map_bytes(dev->map.nr);
	v->nr_side = dev->side.nr;
	for (i = 0; i < v->nr_side; i++) {
		v->side[i].name = dev->side.table[i].name;
		v->side[i].bits = dev->side.table[i].bits;
		v->side[i].bytes = nswap_side_bytes(&dev->side, i);
		v->side_bytes += v->side[i].bytes;
	}
	v->lost = nswap_slot_count(dev, NSWAP_SLOT_LOST);
	nswap_protect_look(dev, v);
	nswap_class_look(dev, v);
	for (tier = 0; tier < NSWAP_TIERS; tier++)
		nswap_tier_look(dev, tier, &v->tier[tier]);
	v->in_use = disk_openers(dev->disk);
	v->sealed = dev->sealer;
	nswap_compress_look(dev, v);
	nswap_write_cache_look(dev, v);
	nswap_key_change_look(dev, v);
	memcpy(v->policy, dev->policy, sizeof(v->policy));
}

/* whether a node was heard there lately: one that is listed, or known, may be switched off */
static bool device_heard(struct nswap_node *node, const struct nswap_peer *peer)
{
	bool heard;

	spin_lock_irq(&node->ipt_lock);
	heard = nswap_ipt_fresh(&node->ipt.entry[peer->index], nswap_now_ms(),
				nswap_knob(node, silent_ms));
	spin_unlock_irq(&node->ipt_lock);
	return heard;
}

static bool device_connecting(struct nswap_node *node)
{
	struct nswap_peer *peer;
	bool any = false;
	unsigned int i;

	nswap_for_each_peer(node, i, peer) {
		u8 state = READ_ONCE(peer->state);

		any = any || (state == NSWAP_PEER_CONNECTING && device_heard(node, peer));
		nswap_peer_put(peer);
	}
	return any;
}

/* so that a device that is used for swap at once finds its peers */
static void wait_for_sessions(struct nswap_node *node)
{
	unsigned long until = jiffies + CONNECT_WAIT;

	while (device_connecting(node) && time_before(jiffies, until) &&
	       !fatal_signal_pending(current))
		schedule_timeout_killable(HZ / 50);
}

/* is an ATTACH of a device that has left the list under way? there will be no other one */
static bool attach_under_way(struct nswap_peer *peer, const struct nswap_device *dev)
{
	return nswap_ctl_claimed(&peer->attach) &&
	       peer->attach.m.hdr.instance == cpu_to_le32(dev->instance);
}

/*
 * Tell a peer that a device has left the list. False: not yet, it has not answered that of another
 * device, or an ATTACH of this one is under way. Without a session, or if it is too @late, it finds
 * out by comparison, and that it is not told of the device again.
 */
static bool tell_peer(struct nswap_peer *peer, const struct nswap_device *dev, bool late)
{
	struct nswap_ctl *c = &peer->forget;

	if (late || READ_ONCE(peer->state) != NSWAP_PEER_UP) {
		nswap_reconcile_soon(peer);
		return true;
	}
	if (attach_under_way(peer, dev) || !nswap_ctl_claim(c))
		return false;
	c->m.hdr.instance = cpu_to_le32(dev->instance);
	nswap_ctl_send(c, NSWAP_FREE_DEVICE, 0);
	return true;
}

/* tell those that are not in @told. True: all are now; @late: as above */
static bool tell_round(struct nswap_device *dev, unsigned long *told, bool late)
{
	struct nswap_peer *peer;
	bool all = true;
	unsigned int i;

	nswap_for_each_peer(dev->node, i, peer) {
		if (!test_bit(i, told) && tell_peer(peer, dev, late))
			__set_bit(i, told);
		all = all && test_bit(i, told);
		nswap_peer_put(peer);
	}
	return all;
}

/* a device has left the list; a peer that does not answer holds up no other */
static void tell_peers(struct nswap_device *dev)
{
	DECLARE_BITMAP(told, NSWAP_MAX_PEERS + 1) = {};
	unsigned long until = jiffies + CLAIM_WAIT;
	struct nswap_peer *peer;
	unsigned int i;

	while (!tell_round(dev, told, time_after(jiffies, until)))
		schedule_timeout_uninterruptible(TELL_AGAIN);
	until = jiffies + FORGET_WAIT;
	nswap_for_each_peer(dev->node, i, peer) {
		long left = until - jiffies;

		if (left > 0)
			wait_event_timeout(peer->wait,
					   !test_bit(0, &peer->forget.busy),
					   left);
		nswap_peer_put(peer);
	}
}

/* class and reserve, if it has any: peers that know them before its first page */
static int add_at_peers(struct nswap_device *dev, struct netlink_ext_ack *ext)
{
	if (dev->class == NSWAP_DEV_NORMAL && !dev->reserve)
		return 0;
	wait_for_sessions(dev->node);
	return nswap_class_attach(dev, ext);
}

/* it could not be added after all: peers that were told of it forget it */
static void add_failed(struct nswap_device *dev)
{
	list_del_rcu(&dev->link);
	nswap_parity_hide(dev);
	synchronize_rcu();
	nswap_return_wait(dev);
	if (dev->attached)
		tell_peers(dev);
	free_device(dev);
}

/*
 * Add a device to a node. Waits briefly for the sessions with known peers. Context:
 * process, sleeps; allocates 8 bytes a slot and the side tables: a bit, with a home
 * four and a byte; with protection by home 4 MiB; sealed 24 bytes, compressed 4, and for
 * either a pool of up to 16 MiB and memory of each processor. Returns 0, -EINVAL, -EINTR,
 * -ENOMEM, -ENOSPC, -ESHUTDOWN, -EPERM, what nswap_home_open() returns.
 */
int nswap_device_add(struct nswap_node *node,
		     const struct nswap_device_config *cfg,
		     struct nswap_device_view *v, struct netlink_ext_ack *ext)
{
	struct nswap_device *dev;
	struct nswap_device_backing b;
	int ret = nswap_device_open_backing(cfg, &b, ext);

	if (ret)
		return ret;
	mutex_lock(&node->control);
	if (node->going) {
		NL_SET_ERR_MSG(ext, "the node is going down");
		ret = -ESHUTDOWN;
		goto close;
	}
	dev = alloc_device(node, &b);
	if (!dev) {
		NL_SET_ERR_MSG(ext, "not enough memory for the slot map and side tables, up to 2.5 MiB per GiB of device, 6 more if it is sealed, 1 if compressed, a pool of up to 16 MiB for either, and its cache, or 256 devices are there already");
		ret = -ENOMEM;
		goto close;
	}
	if (!dev->instance)
		nswap_device_name(dev);
	list_add_tail_rcu(&dev->link, &node->devices);
	nswap_client_begin(node);
	nswap_peers_start(node);
	nswap_client_tick_now(node);
	ret = add_at_peers(dev, ext);
	if (!ret) {
		ret = nswap_prefetcher_alloc(dev) ?: nswap_device_make_disk(dev);
		if (ret)
			NL_SET_ERR_MSG(ext, "no memory, or the block layer refused the device");
	}
	if (ret) {
		add_failed(dev);
		goto out;
	}
	mutex_lock(&devices_lock);
	devices[dev->number] = dev;
	nr_devices++;
	mutex_unlock(&devices_lock);
	nswap_profile_start(node);
	if (dev->home && dev->home->loop)
		nswap_warn(node, "%s: its home %s is a loop device, which allocates memory while it is written to: good for tests only; take a partition",
			   dev->disk->disk_name, dev->home->name);
	nswap_prefetcher_start(dev);
	nswap_protect_start(dev);
	wait_for_sessions(node);
	nswap_device_view(dev, v);
out:
	mutex_unlock(&node->control);
	return ret;
close:
	mutex_unlock(&node->control);
	nswap_device_close_backing(&b);
	return ret;
}

/* take its pages off the slot counts of peers; the caller tells the peers */
static void forget_slots(struct nswap_device *dev)
{
	struct nswap_slot s;
	u16 second;
	u64 slot;

	nswap_for_each_slot(&dev->map, slot, 0) {
		s = nswap_slot_look(dev, slot);
		second = nswap_mirror_of(dev, slot, &s);
		if (second)
			nswap_peer_slots(dev->node, second, -1);
		if (s.peer)
			nswap_peer_slots(dev->node, s.peer, -1);
		if (!(slot % NSWAP_SLOT_CHUNK))
			cond_resched();
	}
}

/* no peer holds a page of it any more, or will when its session is back */
static void forget_device(struct nswap_device *dev)
{
	forget_slots(dev);
	tell_peers(dev);
}

/* false if a task has it open; else all I/O fails from now on */
static bool claim_unused(struct nswap_device *dev)
{
	bool unused;

	mutex_lock(&dev->disk->open_mutex);
	unused = !disk_openers(dev->disk);
	if (unused)
		WRITE_ONCE(dev->dying, true);
	mutex_unlock(&dev->disk->open_mutex);
	return unused;
}

/* remove it from the lists, so that no lookup finds it; the node stays for it */
static struct nswap_device *take_out(struct nswap_node *node, const char *name,
				     struct netlink_ext_ack *ext)
{
	struct nswap_device *dev;

	mutex_lock(&node->control);
	dev = nswap_device_named(node, name);
	if (!dev) {
		NL_SET_ERR_MSG(ext, "this node has no such device, see: nswapctl device list");
		dev = ERR_PTR(-ENODEV);
		goto out;
	}
	if (!claim_unused(dev)) {
		NL_SET_ERR_MSG(ext, "the device is in use: swapoff or unmount it first");
		dev = ERR_PTR(-EBUSY);
		goto out;
	}
	mutex_lock(&devices_lock);
	devices[dev->number] = NULL;
	nr_devices--;
	mutex_unlock(&devices_lock);
	list_del_rcu(&dev->link);
	nswap_parity_hide(dev);
	node->leaving_devices++;
out:
	mutex_unlock(&node->control);
	return dev;
}

/*
 * Remove a device, its pages at peers, and those of its write cache. Context: process,
 * sleeps; waits until home and flash have ended all I/O begun, and for the peers at most
 * 2 s, 12 s if other devices are being removed. Returns 0, -ENODEV, -EBUSY.
 */
int nswap_device_del(struct nswap_node *node, const char *name,
		     struct netlink_ext_ack *ext)
{
	struct nswap_device *dev = take_out(node, name, ext);

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	/* first: what it has on its way may need, or have work for, what is stopped below */
	nswap_write_cache_stop(dev);
	nswap_prefetcher_stop(dev);
	nswap_key_change_stop(dev);
	nswap_protect_stop(dev);
	nswap_device_end_disk(dev);
	synchronize_rcu();
	nswap_return_wait(dev);
	if (dev->parity)
		nswap_return_wait(dev->parity->cells);
	nswap_promote_end(dev);
	forget_device(dev);
	if (dev->parity)
		forget_device(dev->parity->cells);
	free_device(dev);
	mutex_lock(&node->control);
	node->leaving_devices--;
	mutex_unlock(&node->control);
	return 0;
}

/* a snapshot of the next device, as nswap_device_view() */
bool nswap_device_next(struct nswap_node *node, u32 after_instance,
		       struct nswap_device_view *v)
{
	struct nswap_device *dev;
	bool found = false;

	mutex_lock(&node->control);
	list_for_each_entry(dev, &node->devices, link) {
		if (dev->instance <= after_instance || nswap_is_cells(dev))
			continue;
		nswap_device_view(dev, v);
		found = true;
		break;
	}
	mutex_unlock(&node->control);
	return found;
}

/* is any device of any node in use? */
bool nswap_device_any_open(void)
{
	bool open = false;
	int i;

	mutex_lock(&devices_lock);
	for (i = 0; nr_devices && i < NSWAP_MAX_DEVICES; i++)
		open = open || (devices[i] && disk_openers(devices[i]->disk));
	mutex_unlock(&devices_lock);
	return open;
}
