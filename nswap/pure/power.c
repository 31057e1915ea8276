// SPDX-License-Identifier: GPL-2.0
/*
 * May a machine be suspended or hibernated?
 *
 * Not while it has pages at peers: they keep them for its lease only, and a sleep may
 * last longer. Not while it holds pages of others, whose programs would wait for it and
 * then fail; a hibernation would write these pages to its disk besides, where their
 * owners never put them. Not to a disk while a device is in use: pages go out while the
 * image is made, and no peer can be reached when it is read. Nor to a disk while there are
 * keys, which would be in the image: they are refused and not wiped, since what has lost
 * them could neither go on nor get them back when it wakes up, while "nswapctl down" wipes
 * them and ends in order.
 */
#include "power.h"

/**
 * nswap_power_refuses() - is there a reason against it?
 * @hibernation: to disk; else to memory
 * @open: a device is swapped on, or open
 * @keys: the node has keys, or a device of its that is sealed
 * @out: pages of the node that its peers hold
 * @held: pages of others that the node holds
 *
 * Context: any.
 * Return: enum nswap_power_why.
 */
u8 nswap_power_refuses(bool hibernation, bool open, bool keys, u64 out, u64 held)
{
	if (out)
		return NSWAP_POWER_OUT;
	if (held)
		return NSWAP_POWER_HELD;
	if (!hibernation)
		return NSWAP_POWER_MAY;
	if (open)
		return NSWAP_POWER_OPEN;
	return keys ? NSWAP_POWER_KEYS : NSWAP_POWER_MAY;
}
