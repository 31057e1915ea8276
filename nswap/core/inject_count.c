// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of what happened since the module was loaded, for tests that have to show
 * full coverage, or that something is not done too often: read-only module parameters.
 *
 *   inject_transitions   "FROM TO count" a line, every legal transition of the
 *                        slot state table and no other
 *   inject_moves_met     "what count" a line: what happened to slots while they
 *                        were MOVING
 *   inject_looks         how often the exposed pages of a device were counted, which
 *                        takes as long as the device is large
 *
 * Invariant: counting has no other effect and does not sleep: it is part of
 * every transition, with interrupts off too. All devices are counted together.
 */
#include <linux/moduleparam.h>
#include <linux/sysfs.h>

#include "inject.h"
#include "pure/slot_map.h"

static atomic64_t taken[NSWAP_SLOT_NR][NSWAP_SLOT_NR];
static atomic64_t met[NSWAP_MET_NR];

static atomic_t looks;

static const char *const states[] = {
	[NSWAP_SLOT_EMPTY] = "EMPTY",
	[NSWAP_SLOT_WRITING] = "WRITING",
	[NSWAP_SLOT_REMOTE] = "REMOTE",
	[NSWAP_SLOT_FREEING] = "FREEING",
	[NSWAP_SLOT_LOST] = "LOST",
	[NSWAP_SLOT_HOME] = "HOME",
	[NSWAP_SLOT_MOVING] = "MOVING",
	[NSWAP_SLOT_FLASH] = "FLASH",
};

static_assert(ARRAY_SIZE(states) == NSWAP_SLOT_NR);

static const char *const meetings[] = {
	[NSWAP_MET_PAGE_IN] = "page_in",
	[NSWAP_MET_PAGE_OUT] = "page_out",
	[NSWAP_MET_FREE] = "free",
	[NSWAP_MET_CUT] = "cut",
};

static_assert(ARRAY_SIZE(meetings) == NSWAP_MET_NR);

static int show_transitions(char *buf, const struct kernel_param *kp)
{
	int from, to, n = 0;

	for (from = 0; from < NSWAP_SLOT_NR; from++)
		for (to = 0; to < NSWAP_SLOT_NR; to++)
			if (nswap_slot_legal(from, to))
				n += sysfs_emit_at(buf, n, "%s %s %lld\n",
						   states[from], states[to],
						   atomic64_read(&taken[from][to]));
	return n;
}

static int show_moves_met(char *buf, const struct kernel_param *kp)
{
	int i, n = 0;

	for (i = 0; i < NSWAP_MET_NR; i++)
		n += sysfs_emit_at(buf, n, "%s %lld\n", meetings[i],
				   atomic64_read(&met[i]));
	return n;
}

static const struct kernel_param_ops transitions_ops = {
	.get = show_transitions,
};
module_param_cb(inject_transitions, &transitions_ops, NULL, 0444);
MODULE_PARM_DESC(inject_transitions, "legal transitions of slots and how often each was taken");

static const struct kernel_param_ops moves_met_ops = {
	.get = show_moves_met,
};
module_param_cb(inject_moves_met, &moves_met_ops, NULL, 0444);
MODULE_PARM_DESC(inject_moves_met, "what happened to slots while they were being moved");

/* A slot has gone from one state to another. Context: any; interrupts off too. */
void nswap_inject_count(u8 from, u8 to)
{
	atomic64_inc(&taken[from][to]);
	if (from != NSWAP_SLOT_MOVING)
		return;
	if (to == NSWAP_SLOT_WRITING)
		nswap_inject_met(NSWAP_MET_PAGE_OUT, 1);
	else if (to == NSWAP_SLOT_FREEING || to == NSWAP_SLOT_EMPTY)
		nswap_inject_met(NSWAP_MET_FREE, 1);
}

/* count an event on slots that are MOVING; any; interrupts off too */
void nswap_inject_met(enum nswap_met what, u32 n)
{
	atomic64_add(n, &met[what]);
}

static int show_looks(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&looks));
}

static const struct kernel_param_ops looks_ops = {
	.get = show_looks,
};
module_param_cb(inject_looks, &looks_ops, NULL, 0444);
MODULE_PARM_DESC(inject_looks, "how often the exposed pages of a device were counted");

/* the exposed pages of a device are counted; any */
void nswap_inject_look(void)
{
	atomic_inc(&looks);
}
