// SPDX-License-Identifier: GPL-2.0
/*
 * Device, backing: the home and flash asked for in "device add", and the device size
 * that follows.
 *
 * Invariants:
 *  - They are opened before the device exists, all of them or none: if one cannot
 *    be opened or the size is refused, the others are closed again.
 *  - None is an nswap device, of this node or another.
 *  - A size is whole pages, what the slot map has bits for, and no larger than
 *    the home.
 */
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/random.h>

#include "class.h"
#include "compress.h"
#include "config.h"
#include "disk.h"
#include "protect.h"

#define MAX_SLOTS	(1ull << 28)	/* what the slot map has bits for */
#define CACHE_LEAST	(NSWAP_REQ_SLOTS * PAGE_SIZE)

static int check_size(u64 bytes, struct netlink_ext_ack *ext)
{
	if (!bytes) {
		NL_SET_ERR_MSG(ext, "a device of size 0 holds nothing: give a size such as 4G");
		return -EINVAL;
	}
	if (bytes % PAGE_SIZE) {
		NL_SET_ERR_MSG(ext, "the size must be a multiple of the page size, 4096 bytes");
		return -EINVAL;
	}
	if (bytes / PAGE_SIZE < 10) {
		NL_SET_ERR_MSG(ext, "the size must be at least 40 KiB, less cannot be swapped on");
		return -EINVAL;
	}
	if (bytes / PAGE_SIZE > MAX_SLOTS) {
		NL_SET_ERR_MSG(ext, "the size must be at most 1 TiB, the slot map has no bits for more: add several devices");
		return -EINVAL;
	}
	return 0;
}

/* the write cache that is asked for, of a device whose size is known */
static int check_cache(const struct nswap_device_config *cfg,
		       struct nswap_device_backing *b, struct netlink_ext_ack *ext)
{
	if (!cfg->caches) {
		if (!cfg->early_ack)
			return 0;
		NL_SET_ERR_MSG(ext, "early acknowledgement needs a cache: give its size too");
		return -EINVAL;
	}
	if (cfg->cache % PAGE_SIZE || cfg->cache < CACHE_LEAST) {
		NL_SET_ERR_MSG(ext, "the size of a cache must be a multiple of 4 KiB, and 128 KiB at least");
		return -EINVAL;
	}
	if (cfg->cache > b->bytes) {
		NL_SET_ERR_MSG(ext, "a cache larger than its device is of no use: make it smaller");
		return -EINVAL;
	}
	if (cfg->cache / PAGE_SIZE > totalram_pages() / 2) {
		NL_SET_ERR_MSG(ext, "a cache may have half of this machine's RAM at most");
		return -EINVAL;
	}
	b->cache = cfg->cache;
	b->early_ack = cfg->early_ack;
	return 0;
}

static int check_backing(const char *what, const struct nswap_home *home,
			 struct netlink_ext_ack *ext)
{
	if (!nswap_device_is_one(home->bdev))
		return 0;
	NL_SET_ERR_MSG_FMT(ext, "an nswap device cannot be the %s of another",
			   what);
	return -EINVAL;
}

static int open_flash(const struct nswap_device_config *cfg,
		      struct nswap_flash **flash, struct netlink_ext_ack *ext)
{
	unsigned int i;
	int ret = 0;

	*flash = nswap_flash_open(cfg->flash, cfg->nr_flash, ext);
	if (IS_ERR(*flash)) {
		ret = PTR_ERR(*flash);
		*flash = NULL;
		return ret;
	}
	for (i = 0; i < (*flash)->nr && !ret; i++)
		ret = check_backing("flash", (*flash)->dev[i].block, ext);
	return ret;
}

static int open_home(const char *path, struct nswap_home **home,
		     struct netlink_ext_ack *ext)
{
	*home = nswap_home_open(path, "home", ext);
	if (IS_ERR(*home)) {
		int ret = PTR_ERR(*home);

		*home = NULL;
		return ret;
	}
	return check_backing("home", *home, ext);
}

void nswap_device_close_backing(struct nswap_device_backing *b)
{
	if (b->home)
		nswap_home_close(b->home);
	if (b->flash)
		nswap_flash_close(b->flash);
}

/*
 * Open the home and flash of a device to be. @b: result; belongs to the caller until a
 * device takes it. Context: process, sleeps. Returns 0, -EINVAL, -EINTR, what
 * nswap_home_open() or nswap_flash_open() returns.
 */
int nswap_device_open_backing(const struct nswap_device_config *cfg,
			      struct nswap_device_backing *b,
			      struct netlink_ext_ack *ext)
{
	int ret = 0;

	*b = (struct nswap_device_backing){ .bytes = cfg->bytes, .seal = cfg->seal };
	if (cfg->home)
		ret = open_home(cfg->home, &b->home, ext);
	if (!ret && cfg->nr_flash)
		ret = open_flash(cfg, &b->flash, ext);
	if (!ret && !cfg->sized)
		b->bytes = b->home->slots << NSWAP_SLOT_SHIFT;
	if (!ret)
		ret = check_size(b->bytes, ext);
	if (!ret && b->home && b->bytes >> NSWAP_SLOT_SHIFT > b->home->slots) {
		NL_SET_ERR_MSG(ext, "the size is larger than the home: leave --size out, or make it smaller");
		ret = -EINVAL;
	}
	if (!ret && cfg->protect)
		ret = nswap_protect_parse(cfg->protect, b->home, &b->protect,
					  &b->shape, ext);
	if (!ret)
		ret = nswap_class_parse(cfg, b, ext);
	if (!ret && cfg->compress)
		ret = nswap_compress_parse(cfg->compress, &b->compress, ext);
	if (!ret)
		ret = check_cache(cfg, b, ext);
	/* there is to be a key that cannot be guessed */
	if (!ret && cfg->seal && wait_for_random_bytes())
		ret = -EINTR;
	if (ret)
		nswap_device_close_backing(b);
	return ret;
}
