// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch: the choices that are names only, and the pairs of from and to, each a way.
 * What they mean is up to the mechanism.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "prefetch.h"

const struct nswap_policy nswap_prefetch_off = {
	.name = "off", .help = "no page is prefetched",
};

const struct nswap_policy nswap_prefetch_on = {
	.name = "on", .help = "pages are brought nearer ahead of their use",
};

const struct nswap_policy nswap_prefetch_ram = {
	.name = "ram", .help = "pages that peers hold",
};

const struct nswap_policy nswap_prefetch_disk = {
	.name = "disk", .help = "pages at home",
};

const struct nswap_policy nswap_prefetch_from_flash = {
	.name = "flash", .help = "pages that only flash has",
};

const struct nswap_policy nswap_prefetch_flash = {
	.name = "flash", .help = "to the flash of the device, see after",
};

const struct nswap_policy nswap_prefetch_to_ram = {
	.name = "ram", .help = "to peers; from flash see after, from disk always a move",
};

const struct nswap_policy nswap_prefetch_to_disk = {
	.name = "disk", .help = "to home, to make room: always a move",
};

const struct nswap_policy nswap_prefetch_copy = {
	.name = "copy", .help = "between ram and flash: both have it then",
};

const struct nswap_policy nswap_prefetch_move = {
	.name = "move", .help = "it leaves where it was",
};

/* each pair of two tiers, by enum nswap_prefetch_way; the first of a from is its default */
static const struct {
	const struct nswap_policy *from;
	const struct nswap_policy *to;
	const char *names;
} ways[] = {
	[NSWAP_RAM_FLASH] = { &nswap_prefetch_ram, &nswap_prefetch_flash, "flash or disk" },
	[NSWAP_RAM_DISK] = { &nswap_prefetch_ram, &nswap_prefetch_to_disk },
	[NSWAP_DISK_RAM] = { &nswap_prefetch_disk, &nswap_prefetch_to_ram, "ram or flash" },
	[NSWAP_DISK_FLASH] = { &nswap_prefetch_disk, &nswap_prefetch_flash },
	[NSWAP_FLASH_RAM] = { &nswap_prefetch_from_flash, &nswap_prefetch_to_ram,
			      "ram or disk" },
	[NSWAP_FLASH_DISK] = { &nswap_prefetch_from_flash, &nswap_prefetch_to_disk },
};

static_assert(ARRAY_SIZE(ways) == NSWAP_PREFETCH_WAYS);

/* the first way from a tier; @from: one of NSWAP_PREFETCH_FROM */
static unsigned int way_of(const struct nswap_policy *from)
{
	unsigned int i = 0;

	while (ways[i].from != from)
		i++;
	return i;
}

/* where pages of @from are brought unless the user says */
const struct nswap_policy *
nswap_prefetch_to_of(const struct nswap_policy *from)
{
	return ways[way_of(from)].to;
}

/* the destinations there are for @from, for messages */
const char *nswap_prefetch_to_names(const struct nswap_policy *from)
{
	return ways[way_of(from)].names;
}

/* enum nswap_prefetch_way of a pair, or -ENOENT: it is one tier twice */
int nswap_prefetch_way(const struct nswap_policy *from, const struct nswap_policy *to)
{
	unsigned int i;

	for (i = way_of(from); i < ARRAY_SIZE(ways) && ways[i].from == from; i++)
		if (ways[i].to == to)
			return i;
	return -ENOENT;
}
