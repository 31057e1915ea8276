// SPDX-License-Identifier: GPL-2.0
/*
 * Latency steps: from time stamps to the duration of each step.
 *
 *   came  turn   began  sent          answered received  ended
 *    | queue | policy | send | network+peer | receive | complete |    remote
 *    | queue | policy | send |     disk     |     complete       |    flash, home
 *
 * Invariant: the steps add up to the total, whatever the stamps are. The peer's
 * clock is never compared with ours: it reports a duration, which is capped at
 * the time between sending and the answer.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "latency_steps.h"

static const char *const step_names[NSWAP_STEPS] = {
	[NSWAP_STEP_QUEUE] = "queue",
	[NSWAP_STEP_POLICY] = "policy",
	[NSWAP_STEP_SEND] = "send",
	[NSWAP_STEP_NETWORK] = "network",
	[NSWAP_STEP_PEER] = "peer",
	[NSWAP_STEP_DISK] = "disk",
	[NSWAP_STEP_RECEIVE] = "receive",
	[NSWAP_STEP_COMPLETE] = "complete",
	[NSWAP_STEP_TOTAL] = "total",
};

static const char *const tier_names[NSWAP_TIERS] = {
	[NSWAP_TIER_REMOTE] = "remote",
	[NSWAP_TIER_FLASH] = "flash",
	[NSWAP_TIER_HOME] = "home",
};

/* stamps taken while measuring was on throughout are in order */
static bool in_order(u8 tier, const struct nswap_times *t)
{
	if (t->turn < t->came || t->began < t->turn || t->answered < t->began ||
	    t->ended < t->answered)
		return false;
	return tier != NSWAP_TIER_REMOTE ||
	       (t->received >= t->answered && t->ended >= t->received);
}

/**
 * nswap_steps_of() - duration of each step
 * @tier: enum nswap_tier
 * @t: time stamps
 * @ns: result, NSWAP_STEPS of them; 0 for steps the tier does not have
 *
 * The answer can arrive before the sender's stamp @sent is taken. The send step
 * is then what the peer's duration leaves of the time until the answer.
 *
 * Context: any.
 * Return: false if the stamps are not in order: there is no measurement.
 */
bool nswap_steps_of(u8 tier, const struct nswap_times *t, u64 *ns)
{
	u64 there, left;

	if (!in_order(tier, t))
		return false;
	memset(ns, 0, NSWAP_STEPS * sizeof(*ns));
	there = t->answered - t->began;
	ns[NSWAP_STEP_QUEUE] = t->turn - t->came;
	ns[NSWAP_STEP_POLICY] = t->began - t->turn;
	if (tier == NSWAP_TIER_REMOTE)
		ns[NSWAP_STEP_PEER] = min_t(u64, t->took, there);
	left = there - ns[NSWAP_STEP_PEER];
	if (t->sent > t->began)
		ns[NSWAP_STEP_SEND] = min(t->sent - t->began, left);
	left -= ns[NSWAP_STEP_SEND];
	if (tier == NSWAP_TIER_REMOTE) {
		ns[NSWAP_STEP_NETWORK] = left;
		ns[NSWAP_STEP_RECEIVE] = t->received - t->answered;
		ns[NSWAP_STEP_COMPLETE] = t->ended - t->received;
	} else {
		ns[NSWAP_STEP_DISK] = left;
		ns[NSWAP_STEP_COMPLETE] = t->ended - t->answered;
	}
	ns[NSWAP_STEP_TOTAL] = t->ended - t->came;
	return true;
}

/* does this tier have this step? */
bool nswap_step_of_tier(u8 tier, u8 step)
{
	switch (step) {
	case NSWAP_STEP_NETWORK:
	case NSWAP_STEP_PEER:
	case NSWAP_STEP_RECEIVE:
		return tier == NSWAP_TIER_REMOTE;
	case NSWAP_STEP_DISK:
		return tier != NSWAP_TIER_REMOTE;
	default:
		return true;
	}
}

/* the histogram bucket of a value */
unsigned int nswap_bucket(u64 value, unsigned int buckets)
{
	return min_t(unsigned int, fls64(value), buckets - 1);
}

const char *nswap_step_name(u8 step)
{
	return step_names[step];
}

const char *nswap_tier_name(u8 tier)
{
	return tier_names[tier];
}

const char *nswap_op_name(u8 op)
{
	return op ? "page-out" : "page-in";
}
