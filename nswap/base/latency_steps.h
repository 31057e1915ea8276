/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Steps of a page-out and a page-in, and histograms of their durations.
 */
#ifndef NSWAP_LATENCY_STEPS_H
#define NSWAP_LATENCY_STEPS_H

#include "types.h"

/**
 * enum nswap_tier - where a page goes to or comes from
 * @NSWAP_TIER_REMOTE: RAM of a peer
 * @NSWAP_TIER_FLASH: flash of the device
 * @NSWAP_TIER_HOME: its own partition or disk
 * @NSWAP_TIERS: number of tiers
 */
enum nswap_tier {
	NSWAP_TIER_REMOTE,
	NSWAP_TIER_FLASH,
	NSWAP_TIER_HOME,
	NSWAP_TIERS,
};

#define NSWAP_OPS	2	/* READ is a page-in, WRITE a page-out */

/**
 * enum nswap_step - what a page-out or page-in spends its time on, in order
 * @NSWAP_STEP_QUEUE: waiting for its slots, for grants, for the dispatcher
 * @NSWAP_STEP_POLICY: slot lookup, choice of a peer, building the message
 * @NSWAP_STEP_SEND: until the socket has the last byte; flash and home: until
 *	the block device is called
 * @NSWAP_STEP_NETWORK: the network, both directions
 * @NSWAP_STEP_PEER: what the peer reports it took, without its receive time
 * @NSWAP_STEP_DISK: flash and home: until the block device is done
 * @NSWAP_STEP_RECEIVE: the rest of the answer after its header
 * @NSWAP_STEP_COMPLETE: until the slots are changed
 * @NSWAP_STEP_TOTAL: all of them together
 * @NSWAP_STEPS: number of steps
 */
enum nswap_step {
	NSWAP_STEP_QUEUE,
	NSWAP_STEP_POLICY,
	NSWAP_STEP_SEND,
	NSWAP_STEP_NETWORK,
	NSWAP_STEP_PEER,
	NSWAP_STEP_DISK,
	NSWAP_STEP_RECEIVE,
	NSWAP_STEP_COMPLETE,
	NSWAP_STEP_TOTAL,
	NSWAP_STEPS,
};

/**
 * struct nswap_times - time stamps, in ns
 * @came: the request came from the block layer
 * @turn: the dispatcher began with these slots
 * @began: given to the connection, to flash or to home
 * @sent: the socket has the last byte, or the block device was called
 * @answered: the header of the answer has come, or the block device is done
 * @received: the rest of the answer has come; at a peer only
 * @ended: the slots are changed
 * @took: duration the peer reports, in ns
 */
struct nswap_times {
	u64 came;
	u64 turn;
	u64 began;
	u64 sent;
	u64 answered;
	u64 received;
	u64 ended;
	u32 took;
};

#define NSWAP_HIST_BUCKETS	40

/**
 * struct nswap_hist - a histogram
 * @sum: of all values
 * @bucket: @bucket[b] counts values of b significant bits, that is below 2^b
 *	and at least 2^(b-1); the last one also counts all that are larger
 */
struct nswap_hist {
	u64 sum;
	u64 bucket[NSWAP_HIST_BUCKETS];
};

bool nswap_steps_of(u8 tier, const struct nswap_times *t, u64 *ns);
bool nswap_step_of_tier(u8 tier, u8 step);
unsigned int nswap_bucket(u64 value, unsigned int buckets);
const char *nswap_step_name(u8 step);
const char *nswap_tier_name(u8 tier);
const char *nswap_op_name(u8 op);

#endif
