// SPDX-License-Identifier: GPL-2.0
/*
 * Command device list, in 80 columns: what few devices have stands in a second line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "view.h"

static void json_tiers(const struct view_device *d)
{
	const struct view_tier *t;

	json_list("tiers");
	for (t = d->tier; t < d->tier + d->nr_tiers; t++) {
		json_object(NULL);
		json_string("class", t->class);
		json_number("rank", t->rank);
		json_number("pages", t->pages);
		json_number("used_slots", t->used);
		json_number("size_bytes", t->size);
		json_string("devices", t->devices);
		json_end();
	}
	json_end();
}

static void json_sides(const struct view_device *d)
{
	const struct view_side *s;

	json_list("side_tables");
	for (s = d->side; s < d->side + d->nr_sides; s++) {
		json_object(NULL);
		json_string("name", s->name);
		json_number("bits_per_slot", s->bits);
		json_number("bytes", s->bytes);
		json_end();
	}
	json_end();
}

static void json_cache(const struct view_device *d)
{
	json_number("cache_bytes", d->cache);
	json_bool("early_ack", d->early);
	json_number("cache_used_pages", d->cache_used);
	json_number("cache_dirty_pages", d->cache_dirty);
	json_number("cache_hits", d->cache_hits);
	json_number("cache_misses", d->cache_misses);
	json_number("cache_rewrites", d->cache_rewrites);
	json_number("cache_frees", d->cache_frees);
	json_number("cache_full", d->cache_full);
	json_number("cache_failed", d->cache_failed);
	json_number("cache_kept_pages", d->cache_kept);
}

void view_json_device(const struct view_device *d)
{
	json_object(NULL);
	json_string("device", d->name);
	json_number("size_bytes", d->size);
	json_number("map_bytes", d->map_bytes);
	json_number("instance", d->instance);
	json_number("slots_remote", d->remote);
	json_number("slots_lost", d->lost);
	json_string("protect", d->protect);
	json_bool("sealed", d->sealed);
	json_string("compress", d->compress);
	json_number("compressed_pages", d->compressed);
	json_number("compressed_bytes", d->compressed_bytes);
	json_number("incompressible_pages", d->incompressible);
	json_cache(d);
	json_bool("rekeying", d->rekeying);
	json_number("old_key_pages", d->old_key);
	json_number("old_key_unread", d->unread);
	json_number("old_key_altered", d->altered);
	json_number("exposed_pages", d->exposed);
	json_number("lag_pages", d->lag);
	json_string("class", d->class);
	json_number("reserve_bytes", d->reserve);
	json_number("reserved_bytes", d->reserved);
	json_number("slots_home", d->at_home);
	json_string("home", d->home);
	json_number("slots_flash", d->at_flash);
	json_string("flash", d->flash);
	json_number("flash_bytes", d->flash_size);
	json_number("flash_used_slots", d->flash_used);
	json_tiers(d);
	json_number("side_bytes", d->side_bytes);
	json_sides(d);
	json_bool("in_use", d->in_use);
	view_json_own(d);
	json_end();
}

static const char *of_pages(uint64_t pages, char buf[8])
{
	return text_short(pages * PAGE_BYTES, buf);
}

/* begins the second line, or goes on with it */
static void more(bool *any)
{
	printf("%s", *any ? ", " : "         ");
	*any = true;
}

/* "lz4 (8.0M to 3.1M, 12K stayed)": since the device was added */
static void print_compress(const struct view_device *d)
{
	char from[8], to[8], whole[8];

	printf("%s (%s to %s, %s stayed)", d->compress, of_pages(d->compressed, from),
	       text_short(d->compressed_bytes, to), of_pages(d->incompressible, whole));
}

/* "cache 8.0M (4.0M dirty, 1.0M kept, 87% of reads)": since the device was added */
static void print_cache(const struct view_device *d)
{
	uint64_t reads = d->cache_hits + d->cache_misses;
	char size[8], dirty[8], kept[8];

	printf("%scache %s (", d->early ? "early " : "", text_short(d->cache, size));
	if (d->early)
		printf("%s dirty, ", of_pages(d->cache_dirty, dirty));
	if (d->cache_kept)
		printf("%s kept, ", of_pages(d->cache_kept, kept));
	printf("%u%% of reads)", reads ? (unsigned int)(100 * d->cache_hits / reads) : 0);
}

static void print_more(const struct view_device *d)
{
	bool any = false;
	char text[8];
	size_t i;

	if (*d->home) {
		more(&any);
		printf("home %s", d->home);
	}
	if (*d->flash) {
		more(&any);
		printf("flash %s", d->flash);
	}
	if (strcmp(d->class, "normal")) {
		more(&any);
		printf("class %s", d->class);
	}
	if (d->reserve) {
		more(&any);
		printf("%s reserved at peers", text_short(d->reserved, text));
	}
	if (d->sealed) {
		more(&any);
		printf("sealed");
	}
	if (strcmp(d->compress, "off")) {
		more(&any);
		print_compress(d);
	}
	if (d->cache) {
		more(&any);
		print_cache(d);
	}
	if (d->old_key) {
		more(&any);
		printf("%s under the old key", of_pages(d->old_key, text));
	}
	for (i = 0; i < d->nr_own; i++) {
		more(&any);
		printf("%s=%s", d->own[i].kind, d->own[i].name);
	}
	if (any)
		printf("\n");
}

static void print_device(const struct view_device *d)
{
	char size[8], map[8], tables[8], peers[8], flash[8], home[8], exposed[8], lost[8];

	printf("%-8s %5s %5s %6s %5s %5s %5s %7s %5s %-6s %s\n", d->name,
	       text_short(d->size, size), text_short(d->map_bytes, map),
	       text_short(d->side_bytes, tables), of_pages(d->remote, peers),
	       of_pages(d->at_flash, flash), of_pages(d->at_home, home),
	       of_pages(d->exposed, exposed), of_pages(d->lost, lost),
	       d->in_use ? "yes" : "no", d->protect);
	print_more(d);
}

int cmd_device_list(int argc, char **argv)
{
	struct view_device *devices, *d;
	size_t nr;

	arg_no_more(argc, argv, 1);
	nr = view_devices(&devices);
	if (ctl_json)
		json_list(NULL);
	else
		printf("%-8s %5s %5s %6s %5s %5s %5s %7s %5s %-6s %s\n", "DEVICE", "SIZE",
		       "MAP", "TABLES", "PEERS", "FLASH", "HOME", "EXPOSED", "LOST",
		       "IN-USE", "PROTECT");
	for (d = devices; d < devices + nr; d++) {
		if (ctl_json)
			view_json_device(d);
		else
			print_device(d);
	}
	if (ctl_json)
		json_end();
	free(devices);
	return 0;
}
