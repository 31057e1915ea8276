// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: attributes of measurements.
 *
 * Invariant: attributes are snapshots; each kind is one nest. When it does not fit, the
 * caller cancels the message.
 */
#include "netlink.h"
#include "netlink_gen.h"

/* the pad attribute is the first of each of these attribute sets */
#define PAD	1
static_assert(NSWAP_LATENCY_A_PAD == PAD && NSWAP_PROFILE_A_PAD == PAD &&
	      NSWAP_TRACE_A_PAD == PAD);

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, PAD);
}

/*
 * Put the histogram of a step. Returns 0; -EMSGSIZE if it does not fit, then the
 * caller cancels the message.
 */
int nswap_nl_put_latency(struct sk_buff *skb,
			 const struct nswap_latency_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_LATENCY);

	if (!nest ||
	    nla_put_string(skb, NSWAP_LATENCY_A_OP, v->op) ||
	    nla_put_string(skb, NSWAP_LATENCY_A_TIER, v->tier) ||
	    nla_put_string(skb, NSWAP_LATENCY_A_STEP, v->step) ||
	    put_u64(skb, NSWAP_LATENCY_A_PAGES, v->pages) ||
	    put_u64(skb, NSWAP_LATENCY_A_SUM_NS, v->sum_ns) ||
	    nla_put(skb, NSWAP_LATENCY_A_BUCKET, sizeof(v->bucket), v->bucket))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * Put samples of the profiler. Returns 0; -EMSGSIZE if it does not fit, then the
 * caller cancels the message.
 */
int nswap_nl_put_profile(struct sk_buff *skb,
			 const struct nswap_profile_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_PROFILE);

	if (!nest ||
	    nla_put_string(skb, NSWAP_PROFILE_A_OP, v->op) ||
	    nla_put_string(skb, NSWAP_PROFILE_A_TIER, v->tier) ||
	    put_u64(skb, NSWAP_PROFILE_A_SAMPLES, v->samples) ||
	    put_u64(skb, NSWAP_PROFILE_A_BUSY, v->busy) ||
	    put_u64(skb, NSWAP_PROFILE_A_SUM, v->sum) ||
	    put_u64(skb, NSWAP_PROFILE_A_MOST, v->most) ||
	    nla_put(skb, NSWAP_PROFILE_A_BUCKET, sizeof(v->bucket), v->bucket))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * Put an entry of the slot trace. Returns 0; -EMSGSIZE if it does not fit, then the
 * caller cancels the message.
 */
int nswap_nl_put_trace(struct sk_buff *skb, const struct nswap_trace_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_TRACE);
	char device[16];

	snprintf(device, sizeof(device), "nswap%u", v->device);
	if (!nest ||
	    put_u64(skb, NSWAP_TRACE_A_NUMBER, v->number) ||
	    put_u64(skb, NSWAP_TRACE_A_TIME_NS, v->time) ||
	    put_u64(skb, NSWAP_TRACE_A_LATENCY_NS, v->ns) ||
	    nla_put_string(skb, NSWAP_TRACE_A_DEVICE_NAME, device) ||
	    put_u64(skb, NSWAP_TRACE_A_SLOT, v->slot) ||
	    nla_put_u32(skb, NSWAP_TRACE_A_SLOTS, v->slots) ||
	    nla_put_string(skb, NSWAP_TRACE_A_OP, nswap_op_name(v->op)) ||
	    nla_put_string(skb, NSWAP_TRACE_A_TIER, nswap_tier_name(v->tier)) ||
	    nla_put_u32(skb, NSWAP_TRACE_A_PEER, v->peer))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
