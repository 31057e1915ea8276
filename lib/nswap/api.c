// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and writing regions by descriptor, and looking at what there is.
 */
#include <errno.h>
#include <string.h>

#include "lib.h"

/* A request's descriptor and length; -1 with ENOMEM or EINVAL as the paper has it. */
static ssize_t request_begin(int region, off_t offset, const void *buffer, size_t len, bool into,
			     struct desc *d)
{
	ssize_t n;
	uint32_t version;

	if (!desc_get(region, d)) {
		errno = ENOMEM;
		return -1;
	}
	n = region_clip(d->len, offset, buffer, len, into);
	if (!n && region_version(d, &version))
		return -1;
	return n;
}

NSWAP_API ssize_t nswap_mread(int region, off_t offset, void *buffer, size_t len)
{
	struct desc d;
	ssize_t n = request_begin(region, offset, buffer, len, true, &d);

	return n > 0 ? region_read(&d, offset, buffer, n, true) : n;
}

NSWAP_API ssize_t nswap_mwrite(int region, off_t offset, const void *buffer, size_t len)
{
	struct desc d;
	ssize_t n = request_begin(region, offset, buffer, len, false, &d);

	return n > 0 ? region_write(&d, offset, buffer, n, NULL) : n;
}

NSWAP_API void nswap_counts(struct nswap_counts *counts)
{
	*counts = lib.counts;
}

static void info_of(const struct dir_region *r, struct nswap_region_info *info)
{
	const struct dir_file *f = &lib.file[r->file];
	uint32_t i;

	memset(info, 0, sizeof(*info));
	info->offset = r->offset;
	info->len = r->len;
	info->pid = r->owner.pid;
	if (r->file != NO_FILE) {
		info->dev = f->dev;
		info->ino = f->ino;
		memcpy(info->path, f->path, sizeof(info->path));
	}
	for (i = 0; i < region_blocks(r); i++)
		info->valid_bytes += lib.sum[region_page(r, i)] ? PAGE : 0;
}

/* Free a region that has this generation, under its locks. */
static void region_free_listed(uint32_t i, uint32_t gen, uint32_t object)
{
	if (object_lock(object))
		return;
	if (!dir_lock()) {
		if (lib.region[i].used && lib.region[i].gen == gen)
			region_free(i);
		dir_unlock();
	}
	object_unlock(object);
}

NSWAP_API int nswap_regions(int (*each)(const struct nswap_region_info *info, void *arg),
			    void *arg)
{
	struct nswap_region_info info;
	uint32_t i, gen = 0, object = 0;
	int seen = 0, said = 0;
	bool used;

	if (lib_ready())
		return -1;
	for (i = 1; i < lib.head->ready && said >= 0; i++) {
		if (!lib.region[i].used)
			continue;
		if (dir_lock())
			return -1;
		used = lib.region[i].used;
		if (used) {
			info_of(&lib.region[i], &info);
			gen = lib.region[i].gen;
			object = lib.region[i].file ? lib.region[i].file : FILES + i;
		}
		dir_unlock();
		if (!used)
			continue;
		seen++;
		said = each(&info, arg);
		if (said > 0)
			region_free_listed(i, gen, object);
	}
	return seen;
}
