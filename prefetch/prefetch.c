// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch: the choices that are names only, and the pairs of from and to. What
 * they mean is up to the mechanism.
 */
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

const struct nswap_policy nswap_prefetch_flash = {
	.name = "flash", .help = "to the flash of the device, see after",
};

const struct nswap_policy nswap_prefetch_to_ram = {
	.name = "ram", .help = "to peers, which then have the only copy",
};

const struct nswap_policy nswap_prefetch_copy = {
	.name = "copy", .help = "the peer keeps its copy",
};

const struct nswap_policy nswap_prefetch_move = {
	.name = "move", .help = "the peer drops its copy",
};

/* the pairs there are; each from has one entry */
static const struct {
	const struct nswap_policy *from;
	const struct nswap_policy *to;
} ways[] = {
	{ &nswap_prefetch_ram, &nswap_prefetch_flash },
	{ &nswap_prefetch_disk, &nswap_prefetch_to_ram },
};

/* where pages of @from are brought: the only choice of NSWAP_PREFETCH_TO for them */
const struct nswap_policy *
nswap_prefetch_to_of(const struct nswap_policy *from)
{
	unsigned int i = 0;

	while (ways[i].from != from)
		i++;
	return ways[i].to;
}

/* all pairs of from and to, in one line */
const char *nswap_prefetch_ways(char *buf, size_t len)
{
	unsigned int i;
	size_t at = 0;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		at += scnprintf(buf + at, len - at, "%s%s to %s",
				at ? " or " : "", ways[i].from->name,
				ways[i].to->name);
	return buf;
}
