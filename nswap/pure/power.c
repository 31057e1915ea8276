// SPDX-License-Identifier: GPL-2.0
/*
 * May a machine be suspended or hibernated?
 *
 * Not while it has pages at peers: they keep them for its lease only, and a sleep may
 * last longer. Not while it holds pages of others, whose programs would wait for it and
 * then fail; a hibernation would write these pages to its disk besides, where their
 * owners never put them. Not to a disk while a device is in use: pages go out while the
 * image is made, and no peer can be reached when it is read.
 */
#include "power.h"

/**
 * nswap_power_refuses() - is there a reason against it?
 * @hibernation: to disk; else to memory
 * @open: a device is swapped on, or open
 * @out: pages of the node that its peers hold
 * @held: pages of others that the node holds
 *
 * Context: any.
 * Return: enum nswap_power_why.
 */
u8 nswap_power_refuses(bool hibernation, bool open, u64 out, u64 held)
{
	if (out)
		return NSWAP_POWER_OUT;
	if (held)
		return NSWAP_POWER_HELD;
	return hibernation && open ? NSWAP_POWER_OPEN : NSWAP_POWER_MAY;
}
