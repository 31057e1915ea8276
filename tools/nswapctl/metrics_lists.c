// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics of peers, owners and devices.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "metrics.h"
#include "parse.h"
#include "swaps.h"

#define BYTES "bytes"
#define FIELDS(table)	(sizeof(table) / sizeof(*(table)))

#define PEER(name, unit, member, kind, help) \
	{ "nswap_peer_" name, unit, help, offsetof(struct view_peer, member), kind }

static const struct metrics_field peer_fields[] = {
	PEER("fresh", NULL, fresh, METRICS_FLAG, "1 if it was heard of lately"),
	PEER("shrinking", NULL, shrinking, METRICS_FLAG, "1 if it gives lent RAM back"),
	PEER("lent_bytes", BYTES, lent, METRICS_PAGES, "RAM it lends"),
	PEER("free_bytes", BYTES, free, METRICS_PAGES, "of these, RAM it announced as free"),
	PEER("used_bytes", BYTES, used, METRICS_PAGES, "RAM it holds for others"),
	PEER("grants", NULL, grants, METRICS_NUMBER, "pages it has set aside for this node"),
	PEER("inflight", NULL, inflight, METRICS_NUMBER,
	     "pages of this node under way to it"),
	PEER("slots", NULL, slots, METRICS_WIDE, "slots of this node that name it"),
	PEER("heard_seconds", "seconds", heard_ms, METRICS_MS,
	     "time since it was heard of last"),
};

#define OWNER(name, unit, member, kind, help) \
	{ "nswap_owner_" name, unit, help, offsetof(struct view_owner, member), kind }

static const struct metrics_field owner_fields[] = {
	OWNER("connected", NULL, connected, METRICS_FLAG, "1 while it has a session here"),
	OWNER("held_bytes", BYTES, ram, METRICS_PAGES, "RAM held for it"),
	OWNER("held_pages", NULL, held, METRICS_WIDE, "pages held for it"),
	OWNER("granted_bytes", BYTES, granted, METRICS_PAGES, "RAM promised to it"),
	OWNER("reserved_bytes", BYTES, reserved, METRICS_PAGES,
	      "RAM set aside for its devices' reserves and not filled"),
	OWNER("share_bytes", BYTES, share, METRICS_PAGES, "RAM it may have"),
	OWNER("weight", NULL, weight, METRICS_NUMBER, "what it gets beside others"),
};

#define DEVICE(name, unit, member, kind, help) \
	{ "nswap_device_" name, unit, help, offsetof(struct view_device, member), kind }

static const struct metrics_field device_fields[] = {
	DEVICE("size_bytes", BYTES, size, METRICS_WIDE, "its size"),
	DEVICE("map_bytes", BYTES, map_bytes, METRICS_WIDE, "memory of its slot map"),
	DEVICE("side_bytes", BYTES, side_bytes, METRICS_WIDE, "memory of its side tables"),
	DEVICE("in_use", NULL, in_use, METRICS_FLAG, "1 if it is opened or swapped on"),
	DEVICE("remote_bytes", BYTES, remote, METRICS_PAGES, "pages that peers hold"),
	DEVICE("home_bytes", BYTES, at_home, METRICS_PAGES, "pages at home"),
	DEVICE("flash_bytes", BYTES, at_flash, METRICS_PAGES, "pages on flash only"),
	DEVICE("flash_size_bytes", BYTES, flash_size, METRICS_WIDE, "size of its flash"),
	DEVICE("flash_used_bytes", BYTES, flash_used, METRICS_PAGES,
	       "flash in use, copies included"),
	DEVICE("reserve_bytes", BYTES, reserve, METRICS_WIDE,
	       "RAM that peers are to set aside for it alone"),
	DEVICE("reserved_bytes", BYTES, reserved, METRICS_WIDE, "RAM they have set aside"),
	DEVICE("lost_slots", NULL, lost, METRICS_WIDE,
	       "slots whose page was lost, reads of them fail, or could not be paged out, it is in RAM"),
	DEVICE("exposed_pages", NULL, exposed, METRICS_WIDE,
	       "pages with fewer copies or checks than promised, or with none"),
	DEVICE("lag_pages", NULL, lag, METRICS_NUMBER,
	       "pages that home lags behind"),
	DEVICE("sealed", NULL, sealed, METRICS_FLAG, "1 if its pages leave encrypted"),
	DEVICE("compressed_pages", NULL, compressed, METRICS_WIDE,
	       "pages that left shorter than they were, since it was added"),
	DEVICE("compressed_bytes", BYTES, compressed_bytes, METRICS_WIDE,
	       "what these had then"),
	DEVICE("incompressible_pages", NULL, incompressible, METRICS_WIDE,
	       "pages that did not become shorter, likewise"),
	DEVICE("cache_bytes", BYTES, cache, METRICS_WIDE, "its write cache"),
	DEVICE("cache_early", NULL, early, METRICS_FLAG,
	       "1 if page-outs end when their pages are in the cache"),
	DEVICE("cache_used_pages", NULL, cache_used, METRICS_WIDE, "pages of it in use"),
	DEVICE("cache_dirty_pages", NULL, cache_dirty, METRICS_WIDE,
	       "of these, pages that have yet to be taken below"),
	DEVICE("cache_hit_pages", NULL, cache_hits, METRICS_WIDE,
	       "pages read that were there, since the device was added"),
	DEVICE("cache_missed_pages", NULL, cache_misses, METRICS_WIDE,
	       "pages read that were not"),
	DEVICE("cache_rewritten_pages", NULL, cache_rewrites, METRICS_WIDE,
	       "pages rewritten before they were sent"),
	DEVICE("cache_freed_pages", NULL, cache_frees, METRICS_WIDE,
	       "pages freed before they were sent"),
	DEVICE("cache_full_pages", NULL, cache_full, METRICS_WIDE,
	       "pages written that found no room there"),
	DEVICE("cache_failed_pages", NULL, cache_failed, METRICS_WIDE,
	       "pages that nothing took when they were sent, each time"),
	DEVICE("cache_kept_pages", NULL, cache_kept, METRICS_WIDE,
	       "pages of it that have fewer copies than are promised"),
	DEVICE("rekeying", NULL, rekeying, METRICS_FLAG, "1 while its key is being changed"),
	DEVICE("old_key_pages", NULL, old_key, METRICS_WIDE,
	       "pages left under the old key"),
	DEVICE("old_key_unread_pages", NULL, unread, METRICS_WIDE,
	       "of these, pages that could not be read or written"),
	DEVICE("old_key_altered_pages", NULL, altered, METRICS_WIDE,
	       "of these, pages that came and did not open"),
};

static const char *const states[] = { "new", "connecting", "up", "suspected",
				      "dead", "lost", "leaving", "rebooting",
				      "refused" };

/* an address may be that of a peer that is lost and of one that came after it */
static void peer_labels(char labels[METRICS_LABELS], const struct view_peer *p)
{
	char text[ADDR_TEXT];

	*labels = '\0';
	metrics_label(labels, "peer", text_addr(&p->addr, text));
	snprintf(text, sizeof(text), "%u", p->index);
	metrics_label(labels, "index", text);
}

static void peers(struct metrics *m, const struct snap *s)
{
	char labels[METRICS_LABELS];
	size_t i, f, state;

	for (f = 0; f < FIELDS(peer_fields); f++) {
		metrics_family(m, METRICS_GAUGE, peer_fields[f].name,
			       peer_fields[f].unit, peer_fields[f].help);
		for (i = 0; i < s->nr_peers; i++) {
			peer_labels(labels, &s->peers[i]);
			metrics_field(m, &peer_fields[f], labels, &s->peers[i]);
		}
	}
	metrics_family(m, METRICS_GAUGE, "nswap_peer_state", NULL,
		       "1 for the state it is in, 0 for the others");
	for (i = 0; i < s->nr_peers; i++)
		for (state = 0; state < FIELDS(states); state++) {
			peer_labels(labels, &s->peers[i]);
			metrics_label(labels, "state", states[state]);
			metrics_whole(m, "", labels, !strcmp(states[state],
							     s->peers[i].state));
		}
}

static void owners(struct metrics *m, const struct snap *s)
{
	char labels[METRICS_LABELS], id[32];
	size_t i, f;

	for (f = 0; f < FIELDS(owner_fields); f++) {
		metrics_family(m, METRICS_GAUGE, owner_fields[f].name,
			       owner_fields[f].unit, owner_fields[f].help);
		for (i = 0; i < s->nr_owners; i++) {
			*labels = '\0';
			snprintf(id, sizeof(id), "%016llx",
				 (unsigned long long)s->owners[i].id);
			metrics_label(labels, "owner", id);
			snprintf(id, sizeof(id), "%016llx",
				 (unsigned long long)s->owners[i].epoch);
			metrics_label(labels, "epoch", id);
			metrics_field(m, &owner_fields[f], labels, &s->owners[i]);
		}
	}
}

static void device_label(char labels[METRICS_LABELS], const struct view_device *d)
{
	*labels = '\0';
	metrics_label(labels, "device", d->name);
}

static void tiers(struct metrics *m, const struct snap *s)
{
	char labels[METRICS_LABELS], rank[16];
	size_t i, t;

	metrics_family(m, METRICS_GAUGE, "nswap_tier_used_bytes", BYTES,
		       "what is used of a tier of a device, copies included");
	for (i = 0; i < s->nr_devices; i++)
		for (t = 0; t < s->devices[i].nr_tiers; t++) {
			const struct view_tier *tier = &s->devices[i].tier[t];

			device_label(labels, &s->devices[i]);
			metrics_label(labels, "tier", tier->class);
			snprintf(rank, sizeof(rank), "%u", tier->rank);
			metrics_label(labels, "rank", rank);
			metrics_whole(m, "", labels, tier->used * PAGE_BYTES);
		}
}

static void swapped_on(struct metrics *m, const struct snap *s)
{
	char labels[METRICS_LABELS];
	struct swaps_entry swap;
	size_t i;

	metrics_family(m, METRICS_GAUGE, "nswap_device_swap_used_bytes", BYTES,
		       "swap in use on it, by /proc/swaps; absent if it is not swapped on");
	for (i = 0; i < s->nr_devices; i++) {
		if (!swaps_find(s->devices[i].name, &swap))
			continue;
		device_label(labels, &s->devices[i]);
		metrics_whole(m, "", labels, swap.used_pages * PAGE_BYTES);
	}
}

static void device_info(struct metrics *m, const struct snap *s)
{
	char labels[METRICS_LABELS];
	size_t i;

	metrics_family(m, METRICS_INFO, "nswap_device", NULL,
		       "a device, what protects it, where its pages may go");
	for (i = 0; i < s->nr_devices; i++) {
		const struct view_device *d = &s->devices[i];

		device_label(labels, d);
		metrics_label(labels, "protect", d->protect);
		metrics_label(labels, "class", d->class);
		metrics_label(labels, "home", d->home);
		metrics_label(labels, "flash", d->flash);
		metrics_whole(m, "_info", labels, 1);
	}
}

static void devices(struct metrics *m, const struct snap *s)
{
	char labels[METRICS_LABELS];
	size_t i, f;

	device_info(m, s);
	for (f = 0; f < FIELDS(device_fields); f++) {
		metrics_family(m, METRICS_GAUGE, device_fields[f].name,
			       device_fields[f].unit, device_fields[f].help);
		for (i = 0; i < s->nr_devices; i++) {
			device_label(labels, &s->devices[i]);
			metrics_field(m, &device_fields[f], labels, &s->devices[i]);
		}
	}
	swapped_on(m, s);
	tiers(m, s);
}

void metrics_lists(struct metrics *m, const struct snap *s)
{
	peers(m, s);
	owners(m, s);
	devices(m, s);
}
