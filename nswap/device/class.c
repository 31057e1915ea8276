// SPDX-License-Identifier: GPL-2.0
/*
 * Device, class and reserve: what lenders that shrink do with its pages, and how many
 * pages they keep for it whatever others want.
 *
 * Invariants:
 *  - Both are decided when the device is added. It is added only if the peers that are up
 *    keep the whole reserve then.
 *  - A droppable device is never protected: one promises what the other breaks.
 */
#include <linux/netlink.h>
#include <linux/string.h>

#include "base/views.h"
#include "class.h"
#include "config.h"
#include "core/device.h"
#include "core/reserve.h"
#include "peers/attach.h"

#define PAGES_PER_MIB	(1u << (20 - PAGE_SHIFT))

static const char *const class_names[NSWAP_DEV_CLASSES] = {
	[NSWAP_DEV_NORMAL] = "normal",
	[NSWAP_DEV_CRITICAL] = "critical",
	[NSWAP_DEV_DROPPABLE] = "droppable",
};

static int check_reserve(u64 bytes, u64 size, struct netlink_ext_ack *ext)
{
	if (!bytes || bytes % PAGE_SIZE) {
		NL_SET_ERR_MSG(ext, "a reserve is a multiple of the page size, 4096 bytes, and not 0");
		return -EINVAL;
	}
	if (bytes > size) {
		NL_SET_ERR_MSG(ext, "a reserve larger than the device is of no use");
		return -EINVAL;
	}
	return 0;
}

/**
 * nswap_class_may_protect() - can a device of this class be protected in this way?
 * @class: class
 * @reserve: it has a reserve
 * @mode: kind of protection
 * @ext: for one clear sentence
 *
 * Context: any.
 * Return: 0, or -EINVAL.
 */
int nswap_class_may_protect(enum nswap_device_class class, bool reserve,
			    enum nswap_protect mode, struct netlink_ext_ack *ext)
{
	if (reserve && mode == NSWAP_PROTECT_PARITY) {
		NL_SET_ERR_MSG(ext, "a device with a reserve cannot be protected by parity: peers keep the reserve for its pages, not for groups of them");
		return -EINVAL;
	}
	if (class != NSWAP_DEV_DROPPABLE || mode == NSWAP_PROTECT_NONE)
		return 0;
	NL_SET_ERR_MSG(ext, "a droppable device cannot be protected: lenders may drop its pages");
	return -EINVAL;
}

/**
 * nswap_class_parse() - read class and reserve of a device to be
 * @cfg: what was asked for
 * @b: its @bytes and @protect are set; result
 * @ext: for one clear sentence
 *
 * Context: any.
 * Return: 0, or -EINVAL.
 */
int nswap_class_parse(const struct nswap_device_config *cfg,
		      struct nswap_device_backing *b, struct netlink_ext_ack *ext)
{
	int found = cfg->class ? match_string(class_names, NSWAP_DEV_CLASSES,
					      cfg->class) : NSWAP_DEV_NORMAL;
	int ret = 0;

	if (found < 0) {
		NL_SET_ERR_MSG(ext, "no such class, only: critical normal droppable");
		return -EINVAL;
	}
	b->class = found;
	if (cfg->reserves) {
		ret = check_reserve(cfg->reserve, b->bytes, ext);
		b->reserve = cfg->reserve / PAGE_SIZE;
	}
	return ret ?: nswap_class_may_protect(b->class, b->reserve, b->protect, ext);
}

/**
 * nswap_class_attach() - tell the peers, and have them set the reserve aside
 * @dev: device in its node's list, without a disk yet
 * @ext: for one clear sentence
 *
 * Context: process, sleeps for the peers' answers; under the node's control lock.
 * Return: 0; -ENOSPC if they cannot keep all of the reserve: what they do keep is freed
 * with the device.
 */
int nswap_class_attach(struct nswap_device *dev, struct netlink_ext_ack *ext)
{
	u32 wanted = nswap_reserve_wanted(dev), kept = nswap_attach_device(dev);

	if (kept >= wanted)
		return 0;
	NL_SET_ERR_MSG_FMT(ext, "the peers can set aside %u of the %u MiB to be reserved",
			   kept / PAGES_PER_MIB, DIV_ROUND_UP(wanted, PAGES_PER_MIB));
	return -ENOSPC;
}

/* fill in what a device has of both */
void nswap_class_look(struct nswap_device *dev, struct nswap_device_view *v)
{
	v->class = class_names[dev->class];
	v->reserve = nswap_reserve_wanted(dev);
	v->reserved = nswap_attach_reserved(dev);
}
