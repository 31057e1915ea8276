/* SPDX-License-Identifier: GPL-2.0 */
/*
 * May a machine be suspended or hibernated?
 */
#ifndef NSWAP_POWER_H
#define NSWAP_POWER_H

#include <linux/types.h>

/**
 * enum nswap_power_why - why it may not
 * @NSWAP_POWER_MAY: it may
 * @NSWAP_POWER_OPEN: hibernation, and a device is in use
 * @NSWAP_POWER_KEYS: hibernation, and there are keys
 * @NSWAP_POWER_OUT: pages of a node's devices are at its peers
 * @NSWAP_POWER_HELD: a node holds pages of others
 */
enum nswap_power_why {
	NSWAP_POWER_MAY,
	NSWAP_POWER_OPEN,
	NSWAP_POWER_KEYS,
	NSWAP_POWER_OUT,
	NSWAP_POWER_HELD,
};

u8 nswap_power_refuses(bool hibernation, bool open, bool keys, u64 out, u64 held);

#endif
