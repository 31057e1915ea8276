// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor on devices and swap.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "export.h"
#include "swaps.h"

#define MAX_PRIORITY	32767	/* that swapon takes */

/* bytes that the pages of a full device take at peers */
static uint64_t bytes_at_peers(const struct view_device *d)
{
	unsigned int pages, checks;

	if (!strcmp(d->protect, "mirror"))
		return 2 * d->size;
	if (sscanf(d->protect, "parity:%u+%u", &pages, &checks) == 2 && pages)
		return d->size / pages * (pages + checks);
	return d->size;
}

static void check_size(const struct patient *p)
{
	char size[32], lent[32], fix[160];
	uint64_t bytes = 0, pages = 0;
	size_t i;

	for (i = 0; i < p->nr_devices; i++)
		if (!*p->devices[i].home)
			bytes += bytes_at_peers(&p->devices[i]);
	if (!bytes)
		return;
	for (i = 0; i < p->nr_peers; i++)
		if (view_peer_alive(&p->peers[i]))
			pages += p->peers[i].lent;
	text_size(bytes, size, sizeof(size));
	text_size(pages * PAGE_BYTES, lent, sizeof(lent));
	if (pages * PAGE_BYTES >= bytes) {
		doctor_fine("the peers lend as much as the devices can hold");
		return;
	}
	snprintf(fix, sizeof(fix), "nswapctl lend SIZE (on the peers, more than now), or a smaller device here");
	doctor_find(DOCTOR_PROBLEM, false, fix, "the devices without a home take %s of RAM at peers when they are full, the peers lend %s together: what does not fit stays in RAM",
		size, lent);
}

/*
 * A slot whose page-out failed is LOST too, until it is freed or written again. How many of
 * them are so is not counted, but no more are than page-outs have failed.
 */
static void check_lost(const struct patient *p)
{
	unsigned long long lost = 0, failed = p->write_errors;
	size_t i;

	for (i = 0; i < p->nr_devices; i++)
		lost += p->devices[i].lost;
	if (!lost)
		return;
	if (!failed)
		doctor_find(DOCTOR_PROBLEM, false, "restart the programs whose page-ins failed, see 'dmesg | grep nswap'",
			"%llu pages were on peers that are gone, reading them fails", lost);
	else if (failed < lost)
		doctor_find(DOCTOR_PROBLEM, false, "restart the programs whose page-ins failed, see 'dmesg | grep nswap', and nswapctl lend SIZE (on the peers, more than now)",
			"of %llu pages that no peer holds at least %llu were on peers that are gone, reading them fails; the others may be page-outs that failed, their pages are still in RAM",
			lost, lost - failed);
	else
		doctor_find(DOCTOR_PROBLEM, false, "nswapctl lend SIZE (on the peers, more than now), or a home; if peers are gone, see 'dmesg | grep nswap'",
			"%llu pages are held by no peer: %llu page-outs failed since the node came up, and where it was one of these the page is still in RAM; reading the others, of peers that are gone, fails",
			lost, failed);
}

static bool is_ours(const struct patient *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->nr_devices; i++)
		if (!strncmp(path, "/dev/", 5) &&
		    !strcmp(path + 5, p->devices[i].name))
			return true;
	return false;
}

/* the one of the others that fills first; NULL without others */
static const struct swaps_entry *highest_other(const struct swaps_entry *all, size_t nr)
{
	const struct swaps_entry *other, *highest = NULL;

	for (other = all; other < all + nr; other++)
		if (strncmp(other->path, "/dev/nswap", 10) &&
		    (!highest || other->priority > highest->priority))
			highest = other;
	return highest;
}

/* above what has the highest priority there is there is no room: that one has to come down */
static void find_priority(const struct swaps_entry *ours, const struct swaps_entry *other)
{
	long above = other->priority < 100 ? 100 : other->priority + 1;
	bool room = above <= MAX_PRIORITY;
	char fix[1280], lower[640] = "";

	if (!room)
		snprintf(lower, sizeof(lower), "swapoff %s && swapon -p %d %s && ", other->path,
			 MAX_PRIORITY - 1, other->path);
	snprintf(fix, sizeof(fix), "%sswapoff %s && swapon -p %ld %s", lower, ours->path,
		 room ? above : MAX_PRIORITY, ours->path);
	doctor_find(DOCTOR_PROBLEM, room && !ours->used_pages, fix, "%s has priority %ld and %s has %ld, so that one fills first",
		    ours->path, ours->priority, other->path, other->priority);
}

static void check_priority(const struct patient *p)
{
	const struct swaps_entry *ours, *other;
	FILE *f = doctor_open("/proc/swaps");
	struct swaps_entry *all;
	size_t nr = swaps_take(f, &all);
	bool any = false;

	if (f)
		fclose(f);
	other = highest_other(all, nr);
	for (ours = all; ours < all + nr; ours++) {
		if (!is_ours(p, ours->path))
			continue;
		any = true;
		if (other && other->priority >= ours->priority)
			find_priority(ours, other);
	}
	if (any && !doctor_found())
		doctor_fine("nothing else is filled before nswap");
	free(all);
}

static void check_exposed(const struct patient *p)
{
	const struct view_device *d = p->devices;
	char fix[128];

	while (d < p->devices + p->nr_devices && strcmp(d->protect, "none"))
		d++;
	if (!p->nr_devices)
		return;
	if (d == p->devices + p->nr_devices) {
		doctor_fine("the pages of all devices outlive a peer");
		return;
	}
	snprintf(fix, sizeof(fix), "nswapctl device protect %s mirror", d->name);
	doctor_find(DOCTOR_NOTE, false, fix, "every page of %s is on one peer: if that dies, reboots, or is cut off for longer than dead_after_ms, programs that need its pages fail; mirror takes twice the RAM at two peers or more, parity and a home take less",
		    d->name);
}

/* on a node with keys: are all devices sealed? */
static void check_sealed(const struct patient *p)
{
	char fix[256];
	size_t i;

	if (!*p->node.public) {
		doctor_find(DOCTOR_NOTE, false, "nswapctl key generate --secret /etc/nswap/secret (then down, and up with --secret; the file to all nodes)",
			    "this node is open: anyone on this subnet can read and replace pages that travel or are held there, so use a network you trust, or keys");
		return;
	}
	for (i = 0; i < p->nr_devices; i++)
		if (!p->devices[i].sealed) {
			snprintf(fix, sizeof(fix), "swapoff /dev/%s && nswapctl device del %s && nswapctl device add --seal --size SIZE",
				 p->devices[i].name, p->devices[i].name);
			doctor_find(DOCTOR_NOTE, false, fix, "only members take part, but %s is not sealed: members, and machines on the way between them, can read its pages",
				    p->devices[i].name);
		}
}

/* who may use the devices that are exported */
static void check_exports(const struct patient *p)
{
	char fix[160], to[ADDR_TEXT];
	struct export *all, *e;
	size_t nr = export_all(&all), proven = 0;

	(void)p;
	for (e = all; e < all + nr; e++) {
		proven += e->to.family && e->secret;
		if (!e->to.family) {
			snprintf(fix, sizeof(fix), "nswapctl unexport %s", e->device);
			doctor_find(DOCTOR_PROBLEM, true, fix, "the export of %s is half made, and nothing listens for it",
				    e->device);
		} else if (!e->secret) {
			doctor_find(DOCTOR_NOTE, false, e->nvme ?
				    "nswapctl unexport, and export with --host NQN --secret FILE" :
				    "a firewall rule that lets only the client connect",
				    "%s who reaches %s can read and write all pages of %s",
				    *e->host ? "anyone that knows its client's name and" : "anyone",
				    text_addr(&e->to, to), e->device);
		}
	}
	if (nr && proven == nr)
		doctor_fine("a client of an export has to prove who it is");
	free(all);
}

const struct doctor_check doctor_swap[] = {
	{ "room", DOCTOR_UP, check_size },
	{ "lost pages", DOCTOR_UP, check_lost },
	{ "swap priority", DOCTOR_UP, check_priority },
	{ "single copy", DOCTOR_LIVE, check_exposed },
	{ "privacy", DOCTOR_LIVE, check_sealed },
	{ "exports", DOCTOR_LIVE, check_exports },
	{ }
};
