// SPDX-License-Identifier: GPL-2.0
/*
 * Device, protection: turning it on and off, and what is exposed.
 *
 *   none: pages at a peer die with it
 *   home: each page that a peer holds goes home as well, behind it (follow.c), and
 *	so do those that were there before (home_fill.c)
 *   mirror: each page that goes to a peer goes to another one as well before its
 *	page-out ends (pageout_second.c), and so do those that were there before, or
 *	whose other peer has died (mirror_fill.c)
 *   parity:N+1: pages that go to N peers have a check at another, from which any one of
 *	them is rebuilt (pageout_cell.c, rebuild.c, row_clean.c); N+2: any two
 *
 * Invariants:
 *  - What a kind needs is allocated before it is turned on, and kept until the device
 *    is removed: a page-out that saw it on may still be using it.
 *  - Turned off, copies that home has stay valid and are of use; no new ones are made.
 */
#include <linux/netlink.h>
#include <linux/string.h>

#include "base/raid6.h"
#include "base/types.h"
#include "base/views.h"
#include "class.h"
#include "client/follow.h"
#include "client/seal_key.h"
#include "core/device.h"
#include "core/devices.h"
#include "core/home_copy.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "parity.h"
#include "protect.h"
#include "tiering/home_fill.h"
#include "tiering/mirror_fill.h"

#define PARITY_PAGES	4	/* in a group, unless told otherwise */

static const char *const protect_names[NSWAP_PROTECT_KINDS] = {
	[NSWAP_PROTECT_NONE] = "none",
	[NSWAP_PROTECT_HOME] = "home",
	[NSWAP_PROTECT_MIRROR] = "mirror",
	[NSWAP_PROTECT_PARITY] = "parity",
};

/* "parity" is 4+1 */
static bool protect_parse_parity(const char *name, struct nswap_group_shape *shape)
{
	unsigned int nr, checks;
	char end;

	*shape = (struct nswap_group_shape){ .pages = PARITY_PAGES, .checks = 1 };
	if (!strcmp(name, protect_names[NSWAP_PROTECT_PARITY]))
		return true;
	if (sscanf(name, "parity:%u+%u%c", &nr, &checks, &end) != 2 || nr < 2 ||
	    nr > NSWAP_ROW_DATA || !checks || checks > NSWAP_ROW_CHECKS)
		return false;
	*shape = (struct nswap_group_shape){ .pages = nr, .checks = checks };
	return true;
}

/**
 * nswap_protect_parse() - find a kind of protection by name
 * @name: as users write it
 * @home: the device has a home
 * @mode: result
 * @shape: result, with parity
 * @ext: for one clear sentence
 *
 * Context: process, sleeps for user space if a library has to be loaded.
 * Return: 0; -EINVAL if there is no such kind, or the device cannot have it; -EOPNOTSUPP if
 * this kernel cannot.
 */
int nswap_protect_parse(const char *name, bool home, enum nswap_protect *mode,
			struct nswap_group_shape *shape, struct netlink_ext_ack *ext)
{
	int found = protect_parse_parity(name, shape) ? NSWAP_PROTECT_PARITY :
		    match_string(protect_names, NSWAP_PROTECT_PARITY, name);

	if (found < 0) {
		NL_SET_ERR_MSG(ext, "no such protection, only: none home mirror parity:N+1 parity:N+2, with N from 2 to 8");
		return -EINVAL;
	}
	if (found == NSWAP_PROTECT_HOME && !home) {
		NL_SET_ERR_MSG(ext, "protection by home needs a device with a home");
		return -EINVAL;
	}
	if (found == NSWAP_PROTECT_PARITY && shape->checks > 1 && !nswap_raid6_there()) {
		NL_SET_ERR_MSG(ext, "two checks need the kernel's RAID-6 library: modprobe raid6_pq");
		return -EOPNOTSUPP;
	}
	*mode = found;
	return 0;
}

/*
 * Turn a kind of protection on or off; @dev: new, or under the node's control lock;
 * process, sleeps. @shape: with parity. Returns 0, or -ENOMEM, -EFBIG, -EOPNOTSUPP with
 * nothing changed.
 */
int nswap_protect_set(struct nswap_device *dev, enum nswap_protect mode,
		      struct nswap_group_shape shape)
{
	int ret = 0;

	if (mode == NSWAP_PROTECT_HOME)
		ret = nswap_follow_init(dev);
	else if (mode == NSWAP_PROTECT_MIRROR)
		ret = nswap_mirror_fill_init(dev);
	else if (mode == NSWAP_PROTECT_PARITY)
		ret = nswap_parity_init(dev, shape);
	if (!ret)
		/* pairs with page-outs: they find what was allocated */
		smp_store_release(&dev->protect, mode);
	return ret;
}

/* exposed pages may be protected from now on: the disk exists */
void nswap_protect_start(struct nswap_device *dev)
{
	if (READ_ONCE(dev->protect) == NSWAP_PROTECT_HOME)
		nswap_home_fill_start(dev);
	/* turned off, it takes the second copies back */
	nswap_mirror_fill_start(dev);
	nswap_parity_start(dev);
}

/* the device is dying, its disk still exists; process, sleeps for home and peers */
void nswap_protect_stop(struct nswap_device *dev)
{
	nswap_home_fill_stop(dev);
	nswap_mirror_fill_stop(dev);
	nswap_parity_stop(dev);
}

/* undo nswap_protect_set(); no request is left; process, sleeps for home */
void nswap_protect_exit(struct nswap_device *dev)
{
	nswap_follow_stop(dev);
	nswap_follow_exit(dev);
	nswap_home_fill_exit(dev);
	nswap_mirror_fill_exit(dev);
	nswap_parity_exit(dev);
}

/*
 * Pages outside of cells that the death of a peer would take: of a mirrored device those of a
 * chunk of slots from *@from on, which is moved on; of others all at once, from counters. Any
 * context; the device is kept. *@from is the device's size after the last ones.
 */
u64 nswap_protect_exposed(struct nswap_device *dev, u64 *from)
{
	enum nswap_protect mode = READ_ONCE(dev->protect);

	if (mode == NSWAP_PROTECT_MIRROR)
		return nswap_mirror_exposed(dev, from);
	*from = dev->map.nr;
	return mode == NSWAP_PROTECT_HOME ? nswap_home_copy_exposed(dev) :
					    nswap_slot_count(dev, NSWAP_SLOT_REMOTE);
}

/* fill in what a device is protected by */
void nswap_protect_look(struct nswap_device *dev, struct nswap_device_view *v)
{
	enum nswap_protect mode = READ_ONCE(dev->protect);

	strscpy(v->protect, mode == NSWAP_PROTECT_PARITY ? dev->parity->name : protect_names[mode],
		sizeof(v->protect));
	v->lag = nswap_follow_lag(dev);
	nswap_parity_look(dev, v);
}

/*
 * Has its protection been changed, and are pages still brought under it? Process, sleeps;
 * under the node's control lock.
 */
bool nswap_protect_changing(struct nswap_device *dev)
{
	struct nswap_device_view v = { .instance = dev->instance };

	if (!dev->protecting)
		return false;
	nswap_device_count(dev->node, &v);
	if (dev->protect == NSWAP_PROTECT_NONE)
		v.exposed = 0;
	/* what still is in groups leaves them, protected all the time */
	if (dev->protect != NSWAP_PROTECT_PARITY && dev->parity)
		v.exposed += atomic64_read(&dev->parity->live);
	dev->protecting = v.exposed;
	return dev->protecting;
}

/**
 * nswap_device_protect() - change the protection of a device that may be in use
 * @node: node
 * @name: of the device, as in /dev
 * @mode: kind of protection, as users write it
 * @v: result; its exposed pages become fewer until all are protected
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, -ENODEV, -EINVAL, -ENOMEM; -EBUSY while its key is being changed.
 */
int nswap_device_protect(struct nswap_node *node, const char *name,
			 const char *mode, struct nswap_device_view *v,
			 struct netlink_ext_ack *ext)
{
	enum nswap_protect wanted;
	struct nswap_device *dev;
	bool changed;
	struct nswap_group_shape shape;
	int ret = -ENODEV;

	mutex_lock(&node->control);
	dev = nswap_device_named(node, name);
	if (!dev) {
		NL_SET_ERR_MSG(ext, "this node has no such device, see: nswapctl device list");
		goto unlock;
	}
	if (nswap_seal_key_changing(dev)) {
		NL_SET_ERR_MSG(ext, "its key is being changed: try again when that is over, see: nswapctl device list");
		ret = -EBUSY;
		goto unlock;
	}
	ret = nswap_protect_parse(mode, dev->home, &wanted, &shape, ext) ?:
	      nswap_class_may_protect(dev->class, dev->reserve, wanted, ext);
	changed = !ret && (wanted != dev->protect ||
			   wanted == NSWAP_PROTECT_PARITY);
	if (changed)
		ret = nswap_protect_set(dev, wanted, shape);
	dev->protecting = dev->protecting || (!ret && changed);
	if (!ret && changed)
		nswap_protect_start(dev);
	if (ret == -ENOMEM)
		NL_SET_ERR_MSG(ext, "no memory for this protection: home takes 4 MiB, mirror 2 MiB and parity 8 MiB per GiB of device");
	if (ret == -EFBIG)
		NL_SET_ERR_MSG(ext, "the device is too large for protection by parity, from 512 GiB on, with two checks from 341 GiB on: add several");
	if (!ret)
		nswap_device_view(dev, v);
unlock:
	mutex_unlock(&node->control);
	if (!ret)
		nswap_device_count(node, v);
	return ret;
}
