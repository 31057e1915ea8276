// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch: the choices that are names only, and from where to where pages go.
 * What they mean is the mechanism's.
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

/* the ways there are; each from stands here once */
static const struct {
	const struct nswap_policy *from;
	const struct nswap_policy *to;
} ways[] = {
	{ &nswap_prefetch_ram, &nswap_prefetch_flash },
	{ &nswap_prefetch_disk, &nswap_prefetch_to_ram },
};

/*
 * Where pages of a place are brought. Returns the choice of NSWAP_PREFETCH_TO that
 * goes with it, the only one.
 */
const struct nswap_policy *
nswap_prefetch_to_of(const struct nswap_policy *from)
{
	unsigned int i = 0;

	while (ways[i].from != from)
		i++;
	return ways[i].to;
}

/* from where to where pages are brought, in one line */
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
