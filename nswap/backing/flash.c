// SPDX-License-Identifier: GPL-2.0
/*
 * Flash: slots on one or several block devices, reads and writes of them, and
 * discards.
 *
 * A flash slot is a number above 0: the devices' slots one after the other.
 *
 * Invariants:
 *  - A slot is put back by the task that takes it out of the slot map, or by the
 *    page-out that took it and did not get it in there. It may be taken and
 *    written again at once: a reader checks the slot map again afterwards, and
 *    nswap_flash_links().
 *  - Discards are issued by a work item of their own, a chunk of 1 MiB at a time,
 *    never while the chunk is in use. No page-out waits for one, but a chunk that
 *    is being discarded cannot be taken from.
 *  - A device that has failed FAILED_AT times in a row gets no new page until
 *    RETRY has passed: it may hold no page whose page-in could show that it works
 *    again. Then one page-out tries it, and no other before that has ended, which
 *    may take long. Pages it holds are still read from it.
 *  - A device can be removed once its map is closed and no slot of it is used.
 *    Its entry stays, so that the numbers of the others do. A submitter has
 *    taken the slot, or has seen it in the slot map within rcu_read_lock().
 */
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "flash.h"
#include "pure/charged.h"

#define FAILED_AT	16
#define RETRY		HZ

static struct nswap_flash_dev *dev_of(const struct nswap_flash *f, u32 slot)
{
	unsigned int i;

	for (i = 0; i + 1 < f->nr && slot >= f->dev[i + 1].base; i++)
		;
	return (struct nswap_flash_dev *)&f->dev[i];
}

static bool flash_works(const struct nswap_flash_dev *d)
{
	return atomic_read(&d->failures) < FAILED_AT;
}

/* it has failed so often that it gets no new page for a while */
static bool flash_fails(const struct nswap_flash_dev *d)
{
	return atomic_read(&d->failures) >= FAILED_AT &&
	       (atomic_read(&d->inflight) ||
		time_before(jiffies, READ_ONCE(d->failed_at) + RETRY));
}

static void trim_chunk(struct nswap_flash_dev *d, struct block_device *bdev,
		       u32 chunk)
{
	sector_t at = (sector_t)chunk * NSWAP_FLASH_CHUNK *
		      NSWAP_SECTORS_PER_SLOT;

	if (bdev_max_discard_sectors(bdev))
		blkdev_issue_discard(bdev, at,
				     NSWAP_FLASH_CHUNK * NSWAP_SECTORS_PER_SLOT,
				     GFP_NOIO);
	nswap_flash_map_trimmed(&d->map, chunk);
}

static void trim_work(struct work_struct *work)
{
	struct nswap_flash *f = container_of(work, struct nswap_flash, trim);
	unsigned int noio = memalloc_noio_save();
	unsigned int i;
	u32 chunk;

	for (i = 0; i < f->nr; i++) {
		struct nswap_flash_dev *d = &f->dev[i];
		struct nswap_home *block = READ_ONCE(d->block);

		while (block && nswap_flash_map_trim(&d->map, &chunk))
			trim_chunk(d, block->bdev, chunk);
	}
	memalloc_noio_restore(noio);
}

static int open_one(struct nswap_flash *f, const char *path,
		    struct netlink_ext_ack *ext)
{
	struct nswap_flash_dev *d = &f->dev[f->nr];
	struct nswap_home *block = nswap_home_open(path, "flash", ext);
	u64 slots;

	if (IS_ERR(block))
		return PTR_ERR(block);
	d->block = block;
	strscpy(d->name, block->name, sizeof(d->name));
	d->base = f->nr ? d[-1].base + d[-1].map.nr : 1;
	f->nr++;
	slots = min_t(u64, block->slots, NSWAP_FLASH_SLOTS - d->base);
	if (slots < NSWAP_FLASH_CHUNK) {
		NL_SET_ERR_MSG(ext, "the flash has less than 1 MiB, or the flash tier is at its limit of 1 TiB");
		return -EINVAL;
	}
	return nswap_flash_map_init(&d->map, slots);
}

/**
 * nswap_flash_open() - open a flash tier, exclusively
 * @path: of block devices, as the calling process sees them, by rank
 * @nr: number of @path, at most NSWAP_FLASH_DEVICES
 * @ext: for one clear sentence
 *
 * Context: process, sleeps; allocates 11 bits a slot.
 * Return: the tier, or ERR_PTR: -ENOMEM, -EINVAL, the error of opening them.
 */
struct nswap_flash *nswap_flash_open(const char *const *path, unsigned int nr,
				     struct netlink_ext_ack *ext)
{
	struct nswap_flash *f = kzalloc_obj(*f);
	int ret;

	if (!f)
		return ERR_PTR(-ENOMEM);
	INIT_WORK(&f->trim, trim_work);
	for (ret = 0; nr-- && !ret; path++)
		ret = open_one(f, *path, ext);
	if (!ret) {
		f->tag = nswap_charged_zalloc(nswap_flash_total(f) + 1);
		ret = f->tag ? 0 : -ENOMEM;
	}
	if (!ret)
		return f;
	nswap_flash_close(f);
	return ERR_PTR(ret);
}

/* release a flash tier; process, sleeps until discards in flight have ended */
void nswap_flash_close(struct nswap_flash *f)
{
	cancel_work_sync(&f->trim);
	while (f->nr--) {
		if (!f->dev[f->nr].block)
			continue;
		nswap_flash_map_exit(&f->dev[f->nr].map);
		nswap_home_close(f->dev[f->nr].block);
	}
	vfree(f->tag);
	kfree(f);
}

/**
 * nswap_flash_detach() - take one device out of a tier
 * @f: tier
 * @d: device of it; its map is closed
 *
 * Context: process, sleeps, not for I/O; the node's control lock is held.
 * Return: what nswap_flash_release() has to close; NULL if a slot of it is in use, or
 * being read: try again later.
 */
struct nswap_home *nswap_flash_detach(struct nswap_flash *f, struct nswap_flash_dev *d)
{
	struct nswap_home *block = d->block;

	if (nswap_flash_map_close(&d->map, true))
		return NULL;
	/* after this, page-ins that saw one of its slots have been counted */
	synchronize_rcu();
	if (atomic_read(&d->inflight))
		return NULL;
	WRITE_ONCE(d->block, NULL);
	/* nor does the tick look at it (nswap_flash_look()) */
	synchronize_rcu();
	return block;
}

/**
 * nswap_flash_release() - close a device that was taken out of its tier
 * @f: tier
 * @d: device of it
 * @block: from nswap_flash_detach()
 *
 * Context: process, sleeps; for a discard that is under way, so without locks.
 */
void nswap_flash_release(struct nswap_flash *f, struct nswap_flash_dev *d,
			 struct nswap_home *block)
{
	/* once trim_work() has ended, nothing uses the device */
	cancel_work_sync(&f->trim);
	nswap_flash_map_exit(&d->map);
	nswap_home_close(block);
	/* for the other devices */
	queue_work(system_dfl_wq, &f->trim);
}

/* false if its device keeps failing, or is being evacuated */
bool nswap_flash_works(const struct nswap_flash *f, u32 slot)
{
	const struct nswap_flash_dev *d = dev_of(f, slot);

	return flash_works(d) && !READ_ONCE(d->map.closed);
}

/*
 * What has the disk of its first device with room done so far? Context: RCU read section,
 * which keeps it; does not sleep. Zeros if there is none.
 */
void nswap_flash_look(struct nswap_flash *f, struct nswap_home_load *l)
{
	unsigned int i;

	*l = (struct nswap_home_load){};
	for (i = 0; i < f->nr; i++) {
		struct nswap_home *block = READ_ONCE(f->dev[i].block);

		if (!block || READ_ONCE(f->dev[i].map.used) == f->dev[i].map.nr)
			continue;
		nswap_home_look(block, l);
		return;
	}
}

/* would nswap_flash_take() find a slot? a snapshot */
bool nswap_flash_room(const struct nswap_flash *f)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++)
		if (!flash_fails(&f->dev[i]) && !READ_ONCE(f->dev[i].map.closed) &&
		    READ_ONCE(f->dev[i].map.used) < f->dev[i].map.nr)
			return true;
	return false;
}

/**
 * nswap_flash_take() - take adjacent flash slots on one device
 * @f: tier
 * @want: at most this many, at least 1
 * @first: result: the first of them
 *
 * Context: any; does not sleep or allocate, on the page-out path.
 * Return: how many, 0 if the tier is full or failing.
 */
u32 nswap_flash_take(struct nswap_flash *f, u32 want, u32 *first)
{
	unsigned int i;
	u32 n, at;

	for (i = 0; i < f->nr; i++) {
		struct nswap_flash_dev *d = &f->dev[i];

		if (flash_fails(d))
			continue;
		n = nswap_flash_map_take(&d->map, want, &at);
		if (n) {
			*first = d->base + at;
			return n;
		}
	}
	return 0;
}

/* Free a flash slot; any, interrupts off too; does not sleep, on the page-out path. */
void nswap_flash_put(struct nswap_flash *f, u32 slot)
{
	struct nswap_flash_dev *d = dev_of(f, slot);

	WRITE_ONCE(f->tag[slot], 0);
	if (nswap_flash_map_put(&d->map, slot - d->base))
		queue_work(system_dfl_wq, &f->trim);
}

/**
 * nswap_flash_unlinked() - a page that lives on lost its copy on flash
 * @f: tier
 * @slot: flash slot of the copy
 *
 * Call after the page's entry has changed, before its flash slot is put back: the
 * page may get the same flash slot again, under the same generation, after that
 * slot has held another page. A reader of that slot has to notice. The compare
 * and exchange before this and the lock of the flash slots keep the order,
 * which pairs with nswap_flash_links().
 *
 * Context: any; does not sleep.
 */
void nswap_flash_unlinked(struct nswap_flash *f, u32 slot)
{
	nswap_flash_map_give_up(&dev_of(f, slot)->map);
}

/**
 * nswap_flash_links() - a count by which a reader notices a dropped copy
 * @f: tier
 *
 * Read it before the entry that names a flash slot, and again after the entry was
 * found to name it still: what was read there counts only if both are equal.
 *
 * Context: any; does not sleep, on the page-in path.
 * Return: a number that changes with nswap_flash_unlinked().
 */
u32 nswap_flash_links(const struct nswap_flash *f)
{
	unsigned int i;
	u32 links = 0;

	/* an entry read before: if it names the slot again, the count is new too */
	smp_rmb();
	for (i = 0; i < f->nr; i++)
		links += READ_ONCE(f->dev[i].map.given_up);
	/* an entry read next: if the count is new, the entry is new too */
	smp_rmb();
	return links;
}

/* slots from @slot to the end of its device, where a read or write must end */
u32 nswap_flash_run(const struct nswap_flash *f, u32 slot)
{
	const struct nswap_flash_dev *d = dev_of(f, slot);

	return d->base + d->map.nr - slot;
}

/*
 * A read or write is about to be submitted; any; does not sleep, on the page-out path.
 * @slot is taken by the caller, or was seen in the slot map since rcu_read_lock(). Its
 * device stays until nswap_flash_ended().
 */
void nswap_flash_hold(struct nswap_flash *f, u32 slot)
{
	atomic_inc(&dev_of(f, slot)->inflight);
}

/* Process, not in rcu_read_lock(); does not wait, on the page-out path. */
void nswap_flash_submit(struct nswap_flash *f, u32 slot,
			struct nswap_home_io *h)
{
	struct nswap_flash_dev *d = dev_of(f, slot);

	h->slot = slot - d->base;
	nswap_home_submit(d->block, h);
}

void nswap_flash_ended(struct nswap_flash *f, u32 slot, bool failed)
{
	struct nswap_flash_dev *d = dev_of(f, slot);

	atomic_dec(&d->inflight);
	if (!failed) {
		atomic_set(&d->failures, 0);
		return;
	}
	WRITE_ONCE(d->failed_at, jiffies);
	atomic_inc(&d->failures);
}

/* record which policy prefetched the page of a slot the caller has taken; 0: none */
void nswap_flash_tag(struct nswap_flash *f, u32 slot, u8 tag)
{
	WRITE_ONCE(f->tag[slot], tag);
}

/* a page was read: count a hit for its tag; false if it has none */
bool nswap_flash_hit(struct nswap_flash *f, u32 slot)
{
	u8 tag = READ_ONCE(f->tag[slot]);

	if (tag)
		atomic_inc(&f->hits[tag]);
	return tag;
}

/* reads and writes in flight */
unsigned int nswap_flash_inflight(const struct nswap_flash *f)
{
	unsigned int i, n = 0;

	for (i = 0; i < f->nr; i++)
		n += atomic_read(&f->dev[i].inflight);
	return n;
}

/* slots of the devices that accept pages now, and how many of these are used */
void nswap_flash_usable(const struct nswap_flash *f, u64 *total, u64 *used)
{
	unsigned int i;

	*total = 0;
	*used = 0;
	for (i = 0; i < f->nr; i++) {
		const struct nswap_flash_dev *d = &f->dev[i];

		if (flash_fails(d) || READ_ONCE(d->map.closed))
			continue;
		*total += d->map.nr;
		*used += READ_ONCE(d->map.used);
	}
}

/* slots of all devices */
u64 nswap_flash_total(const struct nswap_flash *f)
{
	u64 n = 0;
	unsigned int i;

	for (i = 0; i < f->nr; i++)
		if (READ_ONCE(f->dev[i].block))
			n += f->dev[i].map.nr;
	return n;
}

/* slots of all devices that are used */
u64 nswap_flash_used(struct nswap_flash *f)
{
	u64 n = 0;
	unsigned int i;

	for (i = 0; i < f->nr; i++)
		n += READ_ONCE(f->dev[i].map.used);
	return n;
}

/* names as in /dev, with commas between */
void nswap_flash_names(const struct nswap_flash *f, char *buf, size_t size)
{
	unsigned int i;
	int at = 0;

	buf[0] = '\0';
	for (i = 0; i < f->nr; i++)
		if (READ_ONCE(f->dev[i].block))
			at += scnprintf(buf + at, size - at, "%s%s",
					at ? "," : "", f->dev[i].name);
}
