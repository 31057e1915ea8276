// SPDX-License-Identifier: GPL-2.0
/*
 * Device, placing: the ioctl by which a program says where pages are to be.
 *
 * Not netlink, as other control: a program that has the device open for writing may change
 * each of its pages, so it may say where they are too, without CAP_NET_ADMIN. With
 * CAP_SYS_ADMIN it need not be open for writing, which a mounted device may refuse.
 *
 * Invariants:
 *  - A device is not removed while its disk is open. A task that opened the disk after it
 *    was claimed for that finds it dying, or by the disk no device any more, and must look
 *    inside of RCU; one that opened it before keeps it until it is closed.
 *  - What makes no sense is refused before anything is changed.
 *  - Early page-outs are sent first: what is only in the write cache is in no place yet.
 */
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/uaccess.h>
#include <uapi/linux/nswap_place.h>

#include "client/write_cache.h"
#include "core/device.h"
#include "placing.h"
#include "tiering/bring.h"

/* stays until the disk is closed; NULL if it is being removed */
static struct nswap_device *placing_get(struct gendisk *disk)
{
	struct nswap_device *dev;

	rcu_read_lock();
	dev = READ_ONCE(disk->private_data);
	if (dev && READ_ONCE(dev->dying))
		dev = NULL;
	rcu_read_unlock();
	return dev;
}

/* Returns the tier, or -EINVAL */
static int placing_tier(const struct nswap_place *p, u64 bytes)
{
	static const u8 tiers[] = {
		[NSWAP_AT_RAM] = NSWAP_TIER_REMOTE,
		[NSWAP_AT_FLASH] = NSWAP_TIER_FLASH,
		[NSWAP_AT_HOME] = NSWAP_TIER_HOME,
	};

	if (p->flags || p->there || p->moved || p->left || p->lost ||
	    p->empty ||
	    p->tier >= ARRAY_SIZE(tiers) || !p->length ||
	    !PAGE_ALIGNED(p->offset) || !PAGE_ALIGNED(p->length) ||
	    p->offset >= bytes || p->length > bytes - p->offset)
		return -EINVAL;
	return tiers[p->tier];
}

static int placing_run(struct nswap_device *dev, struct block_device *bdev,
		       struct nswap_place *p)
{
	int ret, tier = placing_tier(p, dev->map.nr * PAGE_SIZE);
	struct nswap_brought b;

	if (tier < 0)
		return tier;
	if (mutex_lock_interruptible(&dev->placing))
		return -ERESTARTSYS;
	ret = nswap_bring_may(dev, tier);
	if (!ret && nswap_pageouts_early(dev))
		ret = blkdev_issue_flush(bdev);
	if (!ret)
		ret = nswap_bring(dev, tier, p->offset / PAGE_SIZE, p->length / PAGE_SIZE, &b);
	mutex_unlock(&dev->placing);
	if (ret)
		return ret;
	p->length = b.done * PAGE_SIZE;
	p->there = b.there;
	p->moved = b.moved;
	p->left = b.left;
	p->lost = b.lost;
	p->empty = b.empty;
	return 0;
}

/**
 * nswap_device_ioctl() - requests of the disk's own
 * @bdev: open block device
 * @mode: how it is open
 * @cmd: NSWAP_IOC_PLACE
 * @arg: address of a struct nswap_place
 *
 * Context: process, sleeps; no lock is held.
 * Return: 0, -ENOTTY for others, what nswap_place.h says.
 */
int nswap_device_ioctl(struct block_device *bdev, blk_mode_t mode, unsigned int cmd,
		       unsigned long arg)
{
	void __user *at = (void __user *)arg;
	struct nswap_device *dev;
	struct nswap_place p;
	int ret;

	if (cmd != NSWAP_IOC_PLACE)
		return -ENOTTY;
	if (!(mode & BLK_OPEN_WRITE) && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (copy_from_user(&p, at, sizeof(p)))
		return -EFAULT;
	dev = placing_get(bdev->bd_disk);
	if (!dev)
		return -EIO;
	ret = placing_run(dev, bdev, &p);
	if (!ret && copy_to_user(at, &p, sizeof(p)))
		ret = -EFAULT;
	return ret;
}
