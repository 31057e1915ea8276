// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: fastest. The tier with the lowest recent read time.
 *
 * E. P. Markatos, "Using Remote Memory to Avoid Disk Thrashing", 1996, chooses
 * between two media by measurement. Departure: a tier that is not read from is not
 * measured, and its estimate would never recover. So a tier whose estimate is older
 * than NSWAP_READ_STALE_MS is tried, unless a read is under way there that will
 * measure it.
 */
#include "policy.h"

static enum nswap_read_tier fastest_pick(const struct nswap_read_view *view)
{
	const struct nswap_read_place *ram = &view->at[NSWAP_READ_PEERS];
	const struct nswap_read_place *flash = &view->at[NSWAP_READ_FLASH];

	if (nswap_read_stale(flash))
		return NSWAP_READ_FLASH;
	if (nswap_read_stale(ram))
		return NSWAP_READ_PEERS;
	return ram->us < flash->us ? NSWAP_READ_PEERS : NSWAP_READ_FLASH;
}

const struct nswap_read_ops nswap_read_fastest_ops = {
	.is = { .name = "fastest",
		.help = "from where reads took least time lately" },
	.pick = fastest_pick,
};
