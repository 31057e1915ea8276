/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leaning: to which tier page-outs of a device go first. State only, see client/lean.c.
 */
#ifndef NSWAP_LEANING_H
#define NSWAP_LEANING_H

#include "backing/home.h"
#include "policy/policy.h"

/**
 * struct nswap_leaning - where page-outs of one device go first; but for @now only the
 *	tick touches it
 * @now: enum nswap_lean, read with READ_ONCE
 * @looked: jiffies of the last look; what follows is of then
 * @began: there was one
 * @changed: jiffies of the last change
 * @changes: how many there were without a long pause
 * @left_us: time of a page-out to peers when they were left
 * @bytes: that the interface has carried
 * @own: of these, for the node, as far as is known
 * @out: pages stored on peers
 * @most: bytes a second that it has carried at most, forgotten slowly
 * @load: of the disks below flash and home, by enum nswap_lean
 * @quiet_us: of each tier, see struct nswap_lean_place
 */
struct nswap_leaning {
	u8 now;
	bool began;
	unsigned long looked;
	unsigned long changed;
	u32 changes;
	u32 left_us;
	u64 bytes;
	u64 own;
	u64 out;
	u64 most;
	struct nswap_home_load load[NSWAP_LEANS];
	u32 quiet_us[NSWAP_LEANS];
};

#endif
