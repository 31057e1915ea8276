// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: attributes of nodes, devices, peers, measurements, …
 *
 * Invariants: attributes are snapshots; no lock of the node is held here. Each kind
 * is one nest. The functions return 0, or -EMSGSIZE when it does not fit: then the
 * caller cancels the message.
 */
#include "core/nodes.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "netlink_keys.h"
#include "pure/totals.h"

/* a counter: its attribute and its offset in struct nswap_stats */
struct stat_attr {
	u16 type;
	u16 offset;
};

#define ATTR(type, name)	{ type, offsetof(struct nswap_stats, name) },
#define CLIENT_ATTR(name, attr)		ATTR(NSWAP_CLIENT_A_##attr, name)
#define SERVER_ATTR(name, attr)		ATTR(NSWAP_SERVER_A_##attr, name)
#define ANNOUNCE_ATTR(name, attr)	ATTR(NSWAP_ANNOUNCE_A_##attr, name)

static const struct stat_attr client_stats[] = { NSWAP_CLIENT_STATS(CLIENT_ATTR) };
static const struct stat_attr server_stats[] = { NSWAP_SERVER_STATS(SERVER_ATTR) };
static const u16 total_attrs[NSWAP_TOTAL_NR] = {
	[NSWAP_TOTAL_LENT] = NSWAP_TOTALS_A_LENT,
	[NSWAP_TOTAL_HELD] = NSWAP_TOTALS_A_HELD,
	[NSWAP_TOTAL_FREE] = NSWAP_TOTALS_A_FREE,
	[NSWAP_TOTAL_OWNERS] = NSWAP_TOTALS_A_OWNERS,
	[NSWAP_TOTAL_DEVICES] = NSWAP_TOTALS_A_DEVICES,
	[NSWAP_TOTAL_SIZE] = NSWAP_TOTALS_A_SIZE,
	[NSWAP_TOTAL_REMOTE] = NSWAP_TOTALS_A_REMOTE,
	[NSWAP_TOTAL_FLASH] = NSWAP_TOTALS_A_FLASH,
	[NSWAP_TOTAL_HOME] = NSWAP_TOTALS_A_HOME,
	[NSWAP_TOTAL_EXPOSED] = NSWAP_TOTALS_A_EXPOSED,
	[NSWAP_TOTAL_LOST] = NSWAP_TOTALS_A_LOST,
	[NSWAP_TOTAL_OUT] = NSWAP_TOTALS_A_OUT,
	[NSWAP_TOTAL_IN] = NSWAP_TOTALS_A_IN,
};

static const struct stat_attr announce_stats[] = { NSWAP_ANNOUNCE_STATS(ANNOUNCE_ATTR) };

/* the pad attribute is the first of every attribute set that has one */
#define PAD	1
static_assert(NSWAP_NODE_INFO_A_PAD == PAD && NSWAP_DEVICE_A_PAD == PAD &&
	      NSWAP_PEER_A_PAD == PAD && NSWAP_OWNER_A_PAD == PAD &&
	      NSWAP_CLIENT_A_PAD == PAD && NSWAP_SERVER_A_PAD == PAD &&
	      NSWAP_ANNOUNCE_A_PAD == PAD && NSWAP_SIDE_A_PAD == PAD &&
	      NSWAP_TIER_A_PAD == PAD && NSWAP_LATENCY_A_PAD == PAD &&
	      NSWAP_PROFILE_A_PAD == PAD && NSWAP_TRACE_A_PAD == PAD &&
	      NSWAP_TOTALS_A_PAD == PAD);

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, PAD);
}

static int put_flag(struct sk_buff *skb, int type, bool on)
{
	return on ? nla_put_flag(skb, type) : 0;
}

static int put_addr(struct sk_buff *skb, int type, const struct nswap_addr *a)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    nla_put_u16(skb, NSWAP_ADDR_A_FAMILY, a->family) ||
	    nla_put(skb, NSWAP_ADDR_A_IP, sizeof(a->ip), a->ip) ||
	    nla_put_u16(skb, NSWAP_ADDR_A_PORT, a->port) ||
	    nla_put_u32(skb, NSWAP_ADDR_A_SCOPE, a->scope))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int nswap_nl_put_node(struct sk_buff *skb, struct nswap_node *node)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_NODE_INFO);
	struct nswap_addr addr = nswap_node_addr(node);
	struct nswap_cache_view c = {};

	nswap_cache_get_view(node, &c);
	if (!nest ||
	    nla_put_u32(skb, NSWAP_NODE_INFO_A_NUMBER, node->number) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_ID, node->id) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_EPOCH, node->epoch) ||
	    put_addr(skb, NSWAP_NODE_INFO_A_ADDR, &addr) ||
	    nla_put_u32(skb, NSWAP_NODE_INFO_A_NETNS, nswap_node_netns(node)) ||
	    nla_put_u32(skb, NSWAP_NODE_INFO_A_CONNS, node->conns) ||
	    put_flag(skb, NSWAP_NODE_INFO_A_BROADCAST, node->broadcast) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_LENT_PAGES, c.lent) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_HELD_PAGES, c.held) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_SET_ASIDE_PAGES, c.set_aside) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_GRANTED_PAGES, c.granted) ||
	    nla_put_u32(skb, NSWAP_NODE_INFO_A_OWNERS, c.owners) ||
	    nla_put_string(skb, NSWAP_NODE_INFO_A_PLACE,
			   READ_ONCE(node->policy[NSWAP_PLACE])->name) ||
	    nla_put_string(skb, NSWAP_NODE_INFO_A_SIZE_POLICY,
			   READ_ONCE(node->policy[NSWAP_SIZE])->name) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_TARGET_PAGES, c.target) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_SURPLUS_PAGES, c.surplus) ||
	    nla_put_string(skb, NSWAP_NODE_INFO_A_TREND,
			   nswap_trend_name(c.trend)) ||
	    nswap_nl_keys_put(skb, node) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_RAM_PAGES, c.ram))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_tier(struct sk_buff *skb, const struct nswap_tier_view *t)
{
	struct nlattr *nest;

	if (!t->there)
		return 0;
	nest = nla_nest_start(skb, NSWAP_DEVICE_A_TIER);
	if (!nest || nla_put_string(skb, NSWAP_TIER_A_CLASS, t->class) ||
	    nla_put_u32(skb, NSWAP_TIER_A_RANK, t->rank) ||
	    put_u64(skb, NSWAP_TIER_A_PAGES, t->pages) ||
	    put_u64(skb, NSWAP_TIER_A_USED, t->used) ||
	    (*t->names &&
	     (put_u64(skb, NSWAP_TIER_A_SIZE, t->slots << NSWAP_SLOT_SHIFT) ||
	      nla_put_string(skb, NSWAP_TIER_A_DEVICES, t->names))))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_own_policies(struct sk_buff *skb,
			    const struct nswap_device_view *v)
{
	struct nlattr *nest;
	unsigned int kind;

	for (kind = 0; kind < NSWAP_POLICY_KINDS; kind++) {
		if (!v->policy[kind])
			continue;
		nest = nla_nest_start(skb, NSWAP_DEVICE_A_POLICY);
		if (!nest ||
		    nla_put_string(skb, NSWAP_POLICY_A_KIND,
				   nswap_policy_kind_name(kind)) ||
		    nla_put_string(skb, NSWAP_POLICY_A_NAME,
				   v->policy[kind]->name))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_side_tables(struct sk_buff *skb,
			   const struct nswap_device_view *v)
{
	struct nlattr *nest;
	unsigned int i;

	if (put_u64(skb, NSWAP_DEVICE_A_SIDE_BYTES, v->side_bytes))
		return -EMSGSIZE;
	for (i = 0; i < v->nr_side; i++) {
		nest = nla_nest_start(skb, NSWAP_DEVICE_A_SIDE);
		if (!nest ||
		    nla_put_string(skb, NSWAP_SIDE_A_NAME, v->side[i].name) ||
		    nla_put_u32(skb, NSWAP_SIDE_A_BITS, v->side[i].bits) ||
		    put_u64(skb, NSWAP_SIDE_A_BYTES, v->side[i].bytes))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* how far the change of its key is */
static int put_rekey(struct sk_buff *skb, const struct nswap_device_view *v)
{
	if (!v->rekeying)
		return 0;
	return nla_put_flag(skb, NSWAP_DEVICE_A_REKEYING) ?:
	       put_u64(skb, NSWAP_DEVICE_A_OLD_KEY, v->old_key) ?:
	       put_u64(skb, NSWAP_DEVICE_A_OLD_KEY_UNREAD, v->unread) ?:
	       put_u64(skb, NSWAP_DEVICE_A_OLD_KEY_ALTERED, v->altered);
}

/* how its pages are compressed, and what that has made of them */
static int put_compress(struct sk_buff *skb, const struct nswap_device_view *v)
{
	return nla_put_string(skb, NSWAP_DEVICE_A_COMPRESS, v->compress) ?:
	       put_u64(skb, NSWAP_DEVICE_A_COMPRESSED, v->compressed) ?:
	       put_u64(skb, NSWAP_DEVICE_A_COMPRESSED_BYTES, v->compressed_bytes) ?:
	       put_u64(skb, NSWAP_DEVICE_A_INCOMPRESSIBLE, v->incompressible);
}

/* its write cache, if it has one */
static int put_cache(struct sk_buff *skb, const struct nswap_device_view *v)
{
	if (!v->cache_pages)
		return 0;
	return (v->cache_early ? nla_put_flag(skb, NSWAP_DEVICE_A_EARLY_ACK) : 0) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE, v->cache_pages << PAGE_SHIFT) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE_USED, v->cache_used) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE_DIRTY, v->cache_dirty) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE_HITS, v->cache_hits) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE_MISSES, v->cache_misses) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE_REWRITES, v->cache_rewrites) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE_FREES, v->cache_frees) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE_FULL, v->cache_full) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE_FAILED, v->cache_failed) ?:
	       put_u64(skb, NSWAP_DEVICE_A_CACHE_KEPT, v->cache_kept);
}

int nswap_nl_put_device(struct sk_buff *skb, const struct nswap_device_view *v)
{
	const struct nswap_tier_view *flash = &v->tier[NSWAP_TIER_FLASH];
	const struct nswap_tier_view *home = &v->tier[NSWAP_TIER_HOME];
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_DEVICE);

	if (!nest ||
	    nla_put_string(skb, NSWAP_DEVICE_A_NAME, v->name) ||
	    nla_put_u32(skb, NSWAP_DEVICE_A_INSTANCE, v->instance) ||
	    put_u64(skb, NSWAP_DEVICE_A_SIZE, v->slots << NSWAP_SLOT_SHIFT) ||
	    put_u64(skb, NSWAP_DEVICE_A_MAP_BYTES, v->map_bytes) ||
	    put_u64(skb, NSWAP_DEVICE_A_SLOTS_REMOTE,
		    v->tier[NSWAP_TIER_REMOTE].pages) ||
	    put_u64(skb, NSWAP_DEVICE_A_SLOTS_LOST, v->lost) ||
	    nla_put_string(skb, NSWAP_DEVICE_A_PROTECT, v->protect) ||
	    put_u64(skb, NSWAP_DEVICE_A_EXPOSED, v->exposed) ||
	    nla_put_u32(skb, NSWAP_DEVICE_A_LAG, v->lag) ||
	    nla_put_string(skb, NSWAP_DEVICE_A_CLASS, v->class) ||
	    put_u64(skb, NSWAP_DEVICE_A_RESERVE, (u64)v->reserve << NSWAP_SLOT_SHIFT) ||
	    put_u64(skb, NSWAP_DEVICE_A_RESERVED, v->reserved << NSWAP_SLOT_SHIFT) ||
	    put_flag(skb, NSWAP_DEVICE_A_IN_USE, v->in_use) ||
	    put_flag(skb, NSWAP_DEVICE_A_SEALED, v->sealed) ||
	    put_u64(skb, NSWAP_DEVICE_A_SLOTS_HOME, home->pages) ||
	    (*home->names &&
	     nla_put_string(skb, NSWAP_DEVICE_A_HOME, home->names)) ||
	    put_u64(skb, NSWAP_DEVICE_A_SLOTS_FLASH, flash->pages) ||
	    (*flash->names &&
	     (nla_put_string(skb, NSWAP_DEVICE_A_FLASH, flash->names) ||
	      put_u64(skb, NSWAP_DEVICE_A_FLASH_SIZE,
		      flash->slots << NSWAP_SLOT_SHIFT) ||
	      put_u64(skb, NSWAP_DEVICE_A_FLASH_USED, flash->used))) ||
	    put_tier(skb, &v->tier[NSWAP_TIER_REMOTE]) ||
	    put_tier(skb, flash) || put_tier(skb, home) ||
	    put_own_policies(skb, v) || put_side_tables(skb, v) || put_rekey(skb, v) ||
	    put_compress(skb, v) || put_cache(skb, v))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static_assert(NSWAP_HAS_ALL == (NSWAP_FEATURE_TIMED | NSWAP_FEATURE_CLASSES |
				NSWAP_FEATURE_SHARES | NSWAP_FEATURE_STAT |
				NSWAP_FEATURE_SHORT),
	      "every feature of the protocol has its name");

static int put_refused(struct sk_buff *skb, const struct nswap_peer_view *v)
{
	char why[64];

	snprintf(why, sizeof(why), "speaks version %u, this node version %u",
		 v->version, NSWAP_WIRE_VERSION);
	return nla_put_string(skb, NSWAP_PEER_A_REFUSED, why);
}

static int put_reason(struct sk_buff *skb, const struct nswap_peer_view *v)
{
	char why[64];

	nswap_peer_reason_text(v->reason, v->since_ms, why, sizeof(why));
	return *why ? nla_put_string(skb, NSWAP_PEER_A_REASON, why) : 0;
}

int nswap_nl_put_peer(struct sk_buff *skb, const struct nswap_peer_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_PEER);

	if (!nest ||
	    nla_put_u32(skb, NSWAP_PEER_A_INDEX, v->index) ||
	    nla_put_string(skb, NSWAP_PEER_A_STATE,
			   nswap_peer_state_name(v->state)) ||
	    put_flag(skb, NSWAP_PEER_A_LEAVING, v->leaving) ||
	    put_flag(skb, NSWAP_PEER_A_AWAITED, v->awaited) ||
	    put_flag(skb, NSWAP_PEER_A_FRESH, v->fresh) ||
	    put_flag(skb, NSWAP_PEER_A_LISTED, v->listed) ||
	    put_u64(skb, NSWAP_PEER_A_ID, v->id) ||
	    put_u64(skb, NSWAP_PEER_A_EPOCH, v->epoch) ||
	    put_addr(skb, NSWAP_PEER_A_ADDR, &v->addr) ||
	    put_u64(skb, NSWAP_PEER_A_LENT_PAGES, v->lent) ||
	    put_u64(skb, NSWAP_PEER_A_FREE_PAGES, v->free) ||
	    put_u64(skb, NSWAP_PEER_A_USED_PAGES, v->used) ||
	    nla_put_u32(skb, NSWAP_PEER_A_GRANTS, v->grants) ||
	    nla_put_u32(skb, NSWAP_PEER_A_INFLIGHT, v->inflight) ||
	    put_u64(skb, NSWAP_PEER_A_SLOTS, v->slots) ||
	    put_u64(skb, NSWAP_PEER_A_HEARD_MS, v->heard_ms) ||
	    put_flag(skb, NSWAP_PEER_A_SHRINKING, v->shrinking) ||
	    nla_put_u32(skb, NSWAP_PEER_A_VERSION, v->version) ||
	    (v->state == NSWAP_PEER_UP &&
	     put_u64(skb, NSWAP_PEER_A_FEATURES, v->features)) ||
	    (v->refused && put_refused(skb, v)) || put_reason(skb, v))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int nswap_nl_put_why(struct sk_buff *skb, const char *why)
{
	return nla_put_string(skb, NSWAP_A_WHY, why);
}

int nswap_nl_put_totals(struct sk_buff *skb, const struct nswap_totals *t)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_TOTALS);
	u32 i;

	if (!nest || nla_put_string(skb, NSWAP_TOTALS_A_SOFTWARE, t->software))
		return -EMSGSIZE;
	for (i = 0; i < t->nr; i++)
		if (put_u64(skb, total_attrs[i], t->value[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int nswap_nl_put_owner(struct sk_buff *skb, const struct nswap_owner_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_OWNER);

	if (!nest ||
	    put_u64(skb, NSWAP_OWNER_A_ID, v->id) ||
	    put_u64(skb, NSWAP_OWNER_A_EPOCH, v->epoch) ||
	    put_flag(skb, NSWAP_OWNER_A_CONNECTED, v->connected) ||
	    put_u64(skb, NSWAP_OWNER_A_HELD_PAGES, v->held) ||
	    put_u64(skb, NSWAP_OWNER_A_GRANTED_PAGES, v->granted) ||
	    put_flag(skb, NSWAP_OWNER_A_NO_HOME, v->no_home) ||
	    put_u64(skb, NSWAP_OWNER_A_RESERVED_PAGES, v->reserved) ||
	    put_u64(skb, NSWAP_OWNER_A_SHARE_PAGES, v->share) ||
	    nla_put_u32(skb, NSWAP_OWNER_A_WEIGHT, v->weight) ||
	    put_u64(skb, NSWAP_OWNER_A_RAM_PAGES, v->ram))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int nswap_nl_put_weight(struct sk_buff *skb, const struct nswap_weight_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_WEIGHT);

	if (!nest || put_u64(skb, NSWAP_WEIGHT_A_ID, v->id) ||
	    nla_put_u32(skb, NSWAP_WEIGHT_A_VALUE, v->weight))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int nswap_nl_put_policy(struct sk_buff *skb, enum nswap_policy_kind kind,
			const struct nswap_policy *p, bool current_one, bool own)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_POLICY);

	if (!nest ||
	    nla_put_string(skb, NSWAP_POLICY_A_KIND,
			   nswap_policy_kind_name(kind)) ||
	    nla_put_string(skb, NSWAP_POLICY_A_NAME, p->name) ||
	    nla_put_string(skb, NSWAP_POLICY_A_HELP, p->help) ||
	    put_flag(skb, NSWAP_POLICY_A_CURRENT, current_one) ||
	    put_flag(skb, NSWAP_POLICY_A_OWN, own))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int nswap_nl_put_knob(struct sk_buff *skb, const struct nswap_knob *k, u32 value)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_KNOB);

	if (!nest ||
	    nla_put_string(skb, NSWAP_KNOB_A_NAME, k->name) ||
	    nla_put_u32(skb, NSWAP_KNOB_A_VALUE, value) ||
	    nla_put_u32(skb, NSWAP_KNOB_A_LOWEST, k->min) ||
	    nla_put_u32(skb, NSWAP_KNOB_A_HIGHEST, k->max) ||
	    nla_put_u32(skb, NSWAP_KNOB_A_DEFAULT, k->def) ||
	    nla_put_string(skb, NSWAP_KNOB_A_HELP, k->help))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stats(struct sk_buff *skb, const struct nswap_stats *sum,
		     const struct stat_attr *attr, unsigned int nr)
{
	for (; nr--; attr++)
		if (put_u64(skb, attr->type,
			    *(const u64 *)((const char *)sum + attr->offset)))
			return -EMSGSIZE;
	return 0;
}

int nswap_nl_put_stats(struct sk_buff *skb, struct nswap_node *node)
{
	struct nswap_cache_view c = {};
	struct nswap_stats sum;
	struct nlattr *nest;

	nswap_stats_sum(node->stats, &sum);
	nswap_cache_get_view(node, &c);

	nest = nla_nest_start(skb, NSWAP_A_CLIENT);
	if (!nest ||
	    put_stats(skb, &sum, client_stats, ARRAY_SIZE(client_stats)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);

	nest = nla_nest_start(skb, NSWAP_A_SERVER);
	if (!nest ||
	    put_stats(skb, &sum, server_stats, ARRAY_SIZE(server_stats)) ||
	    put_u64(skb, NSWAP_SERVER_A_HELD_PAGES, c.held) ||
	    put_u64(skb, NSWAP_SERVER_A_SET_ASIDE_PAGES, c.set_aside) ||
	    put_u64(skb, NSWAP_SERVER_A_GRANTED_PAGES, c.granted) ||
	    put_u64(skb, NSWAP_SERVER_A_OWNERS, c.owners) ||
	    put_u64(skb, NSWAP_SERVER_A_RAM_PAGES, c.ram))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);

	nest = nla_nest_start(skb, NSWAP_A_ANNOUNCE);
	if (!nest ||
	    put_stats(skb, &sum, announce_stats, ARRAY_SIZE(announce_stats)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

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
