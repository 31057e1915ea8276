// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: the requests that show something.
 *
 * Invariants: what is shown are snapshots, one entry at a time. A dump goes on
 * after the last entry that was sent (its place is in ->args[0] of the
 * callback), so it survives entries that come and go between two reads; if its
 * node goes, the dump ends with a refusal.
 *
 * Handlers run in process context and take no lock of the node themselves.
 */
#include <net/net_namespace.h>
#include <net/sock.h>

#include "netlink.h"
#include "netlink_gen.h"

/* one counter: where it is and the attribute that carries it */
struct stat_attr {
	u16 type;
	u16 offset;
};

#define STAT(role, attr, field) \
	{ NSWAP_##role##_A_##attr, offsetof(struct nswap_stats, field) }

static const struct stat_attr client_stats[] = {
	STAT(CLIENT, PAGES_OUT, pages_out),
	STAT(CLIENT, PAGES_IN, pages_in),
	STAT(CLIENT, STORE_MSGS, store_msgs),
	STAT(CLIENT, LOAD_MSGS, load_msgs),
	STAT(CLIENT, ZERO_READS, zero_reads),
	STAT(CLIENT, WRITE_ERRORS, write_errors),
	STAT(CLIENT, READ_ERRORS, read_errors),
	STAT(CLIENT, REFUSED, refused),
	STAT(CLIENT, TIMEOUTS, timeouts),
	STAT(CLIENT, MOVED, moved),
	STAT(CLIENT, FREE_MSGS, free_msgs),
	STAT(CLIENT, FREED_SLOTS, freed_slots),
	STAT(CLIENT, RECONCILES, reconciles),
	STAT(CLIENT, SESSIONS, sessions),
};

static const struct stat_attr server_stats[] = {
	STAT(SERVER, PAGES_STORED, pages_stored),
	STAT(SERVER, PAGES_LOADED, pages_loaded),
	STAT(SERVER, PAGES_FREED, pages_freed),
	STAT(SERVER, REFUSED, stores_refused),
	STAT(SERVER, LOADS_MISSED, loads_missed),
	STAT(SERVER, RECONCILE_DROPPED, reconcile_dropped),
	STAT(SERVER, OWNERS_REBOOTED, owners_rebooted),
	STAT(SERVER, FENCED, fenced),
};

static const struct stat_attr announce_stats[] = {
	STAT(ANNOUNCE, SENT, announced),
	STAT(ANNOUNCE, HEARD, heard),
	STAT(ANNOUNCE, REJECTED, announce_rejected),
};

static_assert((ARRAY_SIZE(client_stats) + ARRAY_SIZE(server_stats) +
	       ARRAY_SIZE(announce_stats)) * sizeof(u64) ==
	      sizeof(struct nswap_stats), "every counter has its attribute");

/* the pad attribute is the first of every set that has one */
#define PAD	1
static_assert(NSWAP_NODE_INFO_A_PAD == PAD && NSWAP_DEVICE_A_PAD == PAD &&
	      NSWAP_PEER_A_PAD == PAD && NSWAP_OWNER_A_PAD == PAD &&
	      NSWAP_CLIENT_A_PAD == PAD && NSWAP_SERVER_A_PAD == PAD &&
	      NSWAP_ANNOUNCE_A_PAD == PAD);

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

static int put_node(struct sk_buff *skb, struct nswap_node *node)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_NODE_INFO);
	struct nswap_cache_view c = {};

	nswap_cache_get_view(node, &c);
	if (!nest ||
	    nla_put_u32(skb, NSWAP_NODE_INFO_A_NUMBER, node->number) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_ID, node->id) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_EPOCH, node->epoch) ||
	    put_addr(skb, NSWAP_NODE_INFO_A_ADDR, &node->addr) ||
	    nla_put_u32(skb, NSWAP_NODE_INFO_A_NETNS, nswap_node_netns(node)) ||
	    nla_put_u32(skb, NSWAP_NODE_INFO_A_CONNS, node->conns) ||
	    put_flag(skb, NSWAP_NODE_INFO_A_BROADCAST, node->broadcast) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_LENT_PAGES, c.lent) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_HELD_PAGES, c.held) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_SET_ASIDE_PAGES, c.set_aside) ||
	    put_u64(skb, NSWAP_NODE_INFO_A_GRANTED_PAGES, c.granted) ||
	    nla_put_u32(skb, NSWAP_NODE_INFO_A_OWNERS, c.owners) ||
	    nla_put_string(skb, NSWAP_NODE_INFO_A_PLACE,
			   READ_ONCE(node->place)->name))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * nswap_nl_put_device() - put a device into a reply
 * @skb: reply
 * @v: the device
 *
 * Context: process context.
 * Return: 0; -EMSGSIZE if it does not fit, the caller cancels the message.
 */
int nswap_nl_put_device(struct sk_buff *skb, const struct nswap_device_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_DEVICE);

	if (!nest ||
	    nla_put_string(skb, NSWAP_DEVICE_A_NAME, v->name) ||
	    nla_put_u32(skb, NSWAP_DEVICE_A_INSTANCE, v->instance) ||
	    put_u64(skb, NSWAP_DEVICE_A_SIZE, v->slots << NSWAP_SLOT_SHIFT) ||
	    put_u64(skb, NSWAP_DEVICE_A_MAP_BYTES, v->map_bytes) ||
	    put_u64(skb, NSWAP_DEVICE_A_SLOTS_REMOTE, v->remote) ||
	    put_u64(skb, NSWAP_DEVICE_A_SLOTS_LOST, v->lost) ||
	    put_flag(skb, NSWAP_DEVICE_A_IN_USE, v->in_use))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_peer(struct sk_buff *skb, const struct nswap_peer_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_PEER);

	if (!nest ||
	    nla_put_u32(skb, NSWAP_PEER_A_INDEX, v->index) ||
	    nla_put_string(skb, NSWAP_PEER_A_STATE,
			   nswap_peer_state_name(v->state)) ||
	    put_flag(skb, NSWAP_PEER_A_LEAVING, v->leaving) ||
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
	    put_u64(skb, NSWAP_PEER_A_HEARD_MS, v->heard_ms))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_owner(struct sk_buff *skb, const struct nswap_owner_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_OWNER);

	if (!nest ||
	    put_u64(skb, NSWAP_OWNER_A_ID, v->id) ||
	    put_u64(skb, NSWAP_OWNER_A_EPOCH, v->epoch) ||
	    put_flag(skb, NSWAP_OWNER_A_CONNECTED, v->connected) ||
	    put_u64(skb, NSWAP_OWNER_A_HELD_PAGES, v->held) ||
	    put_u64(skb, NSWAP_OWNER_A_GRANTED_PAGES, v->granted))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_policy(struct sk_buff *skb, const struct nswap_place_ops *ops,
		      bool current_one)
{
	struct nlattr *nest = nla_nest_start(skb, NSWAP_A_POLICY);

	if (!nest ||
	    nla_put_string(skb, NSWAP_POLICY_A_KIND, "place") ||
	    nla_put_string(skb, NSWAP_POLICY_A_NAME, ops->name) ||
	    nla_put_string(skb, NSWAP_POLICY_A_HELP, ops->help) ||
	    put_flag(skb, NSWAP_POLICY_A_CURRENT, current_one))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_knob(struct sk_buff *skb, const struct nswap_knob *k, u32 value)
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
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const char *at = (const char *)sum + attr[i].offset;

		if (put_u64(skb, attr[i].type, *(const u64 *)at))
			return -EMSGSIZE;
	}
	return 0;
}

static int put_all_stats(struct sk_buff *skb, struct nswap_node *node)
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
	    put_u64(skb, NSWAP_SERVER_A_OWNERS, c.owners))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);

	nest = nla_nest_start(skb, NSWAP_A_ANNOUNCE);
	if (!nest ||
	    put_stats(skb, &sum, announce_stats, ARRAY_SIZE(announce_stats)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* answer a request about one node: the node, and what @more puts */
static int reply_node(struct genl_info *info, u8 cmd,
		      int (*more)(struct sk_buff *, struct nswap_node *))
{
	struct nswap_node *node;
	struct sk_buff *reply;
	void *hdr;
	int err;

	node = nswap_nl_find_node(genl_info_net(info),
				  info->attrs[NSWAP_A_NODE], info->extack);
	if (IS_ERR(node))
		return PTR_ERR(node);
	err = -ENOMEM;
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		goto put;
	err = -EMSGSIZE;
	hdr = genlmsg_put_reply(reply, info, &nswap_nl_family, 0, cmd);
	if (!hdr || put_node(reply, node) || (more && more(reply, node))) {
		nlmsg_free(reply);
		goto put;
	}
	genlmsg_end(reply, hdr);
	err = genlmsg_reply(reply, info);
put:
	nswap_node_put(node);
	return err;
}

/**
 * nswap_nl_node_get_doit() - NSWAP_CMD_NODE_GET, one node
 * @skb: request
 * @info: request, parsed
 *
 * Context: process context.
 * Return: 0; -ENODEV if there is no such node; -ENOMEM.
 */
int nswap_nl_node_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply_node(info, NSWAP_CMD_NODE_GET, NULL);
}

/**
 * nswap_nl_stat_get_doit() - NSWAP_CMD_STAT_GET
 * @skb: request
 * @info: request, parsed
 *
 * Context: process context.
 * Return: 0; -ENODEV if there is no such node; -ENOMEM.
 */
int nswap_nl_stat_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply_node(info, NSWAP_CMD_STAT_GET, put_all_stats);
}

/*
 * Puts the entry after *@after, whose place it leaves there. 0; -ENOENT when
 * there is none; -EMSGSIZE when it does not fit, *@after is as before then.
 * @node is NULL in the dump of nodes itself.
 */
typedef int (*put_next_fn)(struct sk_buff *skb, struct netlink_callback *cb,
			   struct nswap_node *node, unsigned long *after);

static int dump_entries(struct sk_buff *skb, struct netlink_callback *cb,
			u8 cmd, struct nswap_node *node, put_next_fn put_next)
{
	int err = 0;

	while (!err) {
		void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
					cb->nlh->nlmsg_seq, &nswap_nl_family,
					NLM_F_MULTI, cmd);

		err = hdr ? put_next(skb, cb, node, &cb->args[0]) : -EMSGSIZE;
		if (err)
			genlmsg_cancel(skb, hdr);
		else
			genlmsg_end(skb, hdr);
	}
	/* a part of the dump is sent, and the rest asked for, when it has data */
	if (skb->len || err == -ENOENT)
		return skb->len;
	return err;
}

static int dump_of_node(struct sk_buff *skb, struct netlink_callback *cb,
			u8 cmd, put_next_fn put_next)
{
	const struct nlattr *number;
	struct nswap_node *node;
	int len;

	number = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, NSWAP_A_NODE);
	node = nswap_nl_find_node(sock_net(cb->skb->sk), number, cb->extack);
	if (IS_ERR(node))
		return PTR_ERR(node);
	len = dump_entries(skb, cb, cmd, node, put_next);
	nswap_node_put(node);
	return len;
}

static int put_next_node(struct sk_buff *skb, struct netlink_callback *cb,
			 struct nswap_node *none, unsigned long *after)
{
	struct nswap_node *node;
	int err;

	node = nswap_node_next(sock_net(cb->skb->sk), *after);
	if (!node)
		return -ENOENT;
	err = put_node(skb, node);
	if (!err)
		*after = node->number;
	nswap_node_put(node);
	return err;
}

static int put_next_device(struct sk_buff *skb, struct netlink_callback *cb,
			   struct nswap_node *node, unsigned long *after)
{
	struct nswap_device_view v;
	int err;

	if (!nswap_device_next(node, *after, &v))
		return -ENOENT;
	err = nswap_nl_put_device(skb, &v);
	if (!err)
		*after = v.instance;
	return err;
}

static int put_next_peer(struct sk_buff *skb, struct netlink_callback *cb,
			 struct nswap_node *node, unsigned long *after)
{
	struct nswap_peer_view v;
	int err;

	if (!nswap_peer_next(node, *after, &v))
		return -ENOENT;
	err = put_peer(skb, &v);
	if (!err)
		*after = v.index;
	return err;
}

static int put_next_owner(struct sk_buff *skb, struct netlink_callback *cb,
			  struct nswap_node *node, unsigned long *after)
{
	struct nswap_owner_view v;
	int err;

	if (!nswap_owner_next(node, *after, &v))
		return -ENOENT;
	err = put_owner(skb, &v);
	if (!err)
		++*after;
	return err;
}

static int put_next_policy(struct sk_buff *skb, struct netlink_callback *cb,
			   struct nswap_node *node, unsigned long *after)
{
	const struct nswap_place_ops *ops = nswap_place_nth(*after);
	int err;

	if (!ops)
		return -ENOENT;
	err = put_policy(skb, ops, ops == READ_ONCE(node->place));
	if (!err)
		++*after;
	return err;
}

static int put_next_knob(struct sk_buff *skb, struct netlink_callback *cb,
			 struct nswap_node *node, unsigned long *after)
{
	const struct nswap_knob *k;
	const char *at;
	int err;

	if (*after >= nswap_nr_knobs)
		return -ENOENT;
	k = &nswap_knobs[*after];
	at = (const char *)&node->knobs + k->offset;
	err = put_knob(skb, k, READ_ONCE(*(const u32 *)at));
	if (!err)
		++*after;
	return err;
}

/**
 * nswap_nl_node_get_dumpit() - NSWAP_CMD_NODE_GET, every node to be seen
 * @skb: reply
 * @cb: state of the dump
 *
 * Context: process context.
 * Return: bytes put, 0 at the end; -EMSGSIZE.
 */
int nswap_nl_node_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_entries(skb, cb, NSWAP_CMD_NODE_GET, NULL, put_next_node);
}

/**
 * nswap_nl_device_get_dumpit() - NSWAP_CMD_DEVICE_GET
 * @skb: reply
 * @cb: state of the dump
 *
 * Context: process context.
 * Return: bytes put, 0 at the end; -ENODEV if there is no such node;
 * -EMSGSIZE.
 */
int nswap_nl_device_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_DEVICE_GET, put_next_device);
}

/**
 * nswap_nl_peer_get_dumpit() - NSWAP_CMD_PEER_GET
 * @skb: reply
 * @cb: state of the dump
 *
 * Context: process context.
 * Return: bytes put, 0 at the end; -ENODEV if there is no such node;
 * -EMSGSIZE.
 */
int nswap_nl_peer_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_PEER_GET, put_next_peer);
}

/**
 * nswap_nl_owner_get_dumpit() - NSWAP_CMD_OWNER_GET
 * @skb: reply
 * @cb: state of the dump
 *
 * Context: process context.
 * Return: bytes put, 0 at the end; -ENODEV if there is no such node;
 * -EMSGSIZE.
 */
int nswap_nl_owner_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_OWNER_GET, put_next_owner);
}

/**
 * nswap_nl_policy_get_dumpit() - NSWAP_CMD_POLICY_GET
 * @skb: reply
 * @cb: state of the dump
 *
 * Context: process context.
 * Return: bytes put, 0 at the end; -ENODEV if there is no such node;
 * -EMSGSIZE.
 */
int nswap_nl_policy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_POLICY_GET, put_next_policy);
}

/**
 * nswap_nl_knob_get_dumpit() - NSWAP_CMD_KNOB_GET
 * @skb: reply
 * @cb: state of the dump
 *
 * Context: process context.
 * Return: bytes put, 0 at the end; -ENODEV if there is no such node;
 * -EMSGSIZE.
 */
int nswap_nl_knob_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_KNOB_GET, put_next_knob);
}
