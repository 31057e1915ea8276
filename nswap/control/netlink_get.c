// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: the requests that show something.
 *
 * Invariants: replies are snapshots, one entry at a time. A dump continues after the
 * last entry that was sent (its place is in ->args[0] of the callback), so entries
 * may come and go between two reads; if its node goes down, the dump ends with an
 * error.
 *
 * Handlers run in process context and take no lock of the node themselves.
 */
#include <net/net_namespace.h>
#include <net/sock.h>

#include "core/nodes.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "policy_select.h"
#include "survey.h"

/* reply to a request about one node: its attributes, and those that @more adds */
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
	if (!hdr || nswap_nl_put_node(reply, node) || (more && more(reply, node))) {
		nlmsg_free(reply);
		goto put;
	}
	genlmsg_end(reply, hdr);
	err = genlmsg_reply(reply, info);
put:
	nswap_node_put(node);
	return err;
}

/* the replies about one node: 0; -ENODEV if there is no such node; -ENOMEM */
int nswap_nl_node_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply_node(info, NSWAP_CMD_NODE_GET, NULL);
}

int nswap_nl_stat_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply_node(info, NSWAP_CMD_STAT_GET, nswap_nl_put_stats);
}

/*
 * Puts the entry after place *@after and advances *@after to it. Returns 0; -ENOENT
 * when there is none; -EMSGSIZE when it does not fit, with *@after unchanged. @node is
 * NULL in the dump of nodes.
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
	/* a nonzero length sends this part, and user space asks for the rest */
	if (skb->len || err == -ENOENT)
		return skb->len;
	return err;
}

/* the node that a dump is of, with a reference, or an ERR_PTR */
static struct nswap_node *dump_node(struct netlink_callback *cb)
{
	return nswap_nl_find_node(sock_net(cb->skb->sk),
				  nlmsg_find_attr(cb->nlh, GENL_HDRLEN, NSWAP_A_NODE),
				  cb->extack);
}

static int dump_of_node(struct sk_buff *skb, struct netlink_callback *cb,
			u8 cmd, put_next_fn put_next)
{
	struct nswap_node *node = dump_node(cb);
	int len;

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
	err = nswap_nl_put_node(skb, node);
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
	nswap_device_count(node, &v);
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
	err = nswap_nl_put_peer(skb, &v);
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
	err = nswap_nl_put_owner(skb, &v);
	if (!err)
		++*after;
	return err;
}

/*
 * What is set on the device that a dump is about itself: nothing if the request names none.
 * Returns 0; -ENODEV if the node has none of that name.
 */
static int find_own(struct netlink_callback *cb, struct nswap_node *node,
		    const struct nswap_policy *own[NSWAP_POLICY_KINDS])
{
	const struct nlattr *name = nlmsg_find_attr(cb->nlh, GENL_HDRLEN,
						    NSWAP_A_DEVICE_NAME);

	memset(own, 0, NSWAP_POLICY_KINDS * sizeof(*own));
	if (!name || nswap_device_policies(node, nla_data(name), own))
		return 0;
	NL_SET_ERR_MSG(cb->extack, "this node has no such device, see: nswapctl device list");
	return -ENODEV;
}

#define POLICIES	256	/* more than any kind has; encodes the place in a dump */

/* *@after encodes the kind and the index among its policies */
static int put_next_policy(struct sk_buff *skb, struct netlink_callback *cb,
			   struct nswap_node *node, unsigned long *after)
{
	const struct nswap_policy *own[NSWAP_POLICY_KINDS], *p;
	unsigned long at = *after;
	unsigned int kind;
	int err;

	err = find_own(cb, node, own);
	if (err)
		return err;
	for (;; at = (kind + 1) * POLICIES) {
		kind = at / POLICIES;
		if (kind >= NSWAP_POLICY_KINDS)
			return -ENOENT;
		p = nswap_policy_nth(kind, at % POLICIES);
		if (p)
			break;
	}
	err = nswap_nl_put_policy(skb, kind, p,
				  p == (own[kind] ?: READ_ONCE(node->policy[kind])),
				  p == own[kind]);
	if (!err)
		*after = at + 1;
	return err;
}

static int put_next_knob(struct sk_buff *skb, struct netlink_callback *cb,
			 struct nswap_node *node, unsigned long *after)
{
	const struct nswap_knob *k;
	int err;

	if (*after >= nswap_nr_knobs)
		return -ENOENT;
	k = &nswap_knobs[*after];
	err = nswap_nl_put_knob(skb, k,
				READ_ONCE(*nswap_knob_at(&node->knobs, k)));
	if (!err)
		++*after;
	return err;
}

static int put_next_weight(struct sk_buff *skb, struct netlink_callback *cb,
			   struct nswap_node *node, unsigned long *after)
{
	struct nswap_weight_view v;
	int err;

	if (!nswap_weight_next(node, *after, &v))
		return -ENOENT;
	err = nswap_nl_put_weight(skb, &v);
	if (!err)
		++*after;
	return err;
}

static int put_next_latency(struct sk_buff *skb, struct netlink_callback *cb,
			    struct nswap_node *node, unsigned long *after)
{
	struct nswap_latency_view v;
	unsigned int at = *after;
	int err;

	if (!nswap_latency_next(node, &at, &v))
		return -ENOENT;
	err = nswap_nl_put_latency(skb, &v);
	if (!err)
		*after = at;
	return err;
}

static int put_next_profile(struct sk_buff *skb, struct netlink_callback *cb,
			    struct nswap_node *node, unsigned long *after)
{
	const struct nlattr *name = nlmsg_find_attr(cb->nlh, GENL_HDRLEN,
						    NSWAP_A_DEVICE_NAME);
	struct nswap_profile_view v;
	int err;

	err = nswap_profile_next(node, name ? nla_data(name) : NULL, *after, &v);
	if (err == -ENODEV)
		NL_SET_ERR_MSG(cb->extack, "this node has no such device, see: nswapctl device list");
	if (err)
		return err;
	err = nswap_nl_put_profile(skb, &v);
	if (!err)
		++*after;
	return err;
}

static int put_next_trace(struct sk_buff *skb, struct netlink_callback *cb,
			  struct nswap_node *node, unsigned long *after)
{
	struct nswap_trace_view v;
	int err;

	/* entries newer than the dump's start are left for the next dump */
	if (!nswap_trace_next(node, *after, &v) || v.time > cb->args[2])
		return -ENOENT;
	err = nswap_nl_put_trace(skb, &v);
	if (!err)
		*after = v.number;
	return err;
}

/* the node itself has place 0 of its survey */
static int put_next_member(struct sk_buff *skb, struct netlink_callback *cb,
			   struct nswap_node *node, unsigned long *after)
{
	struct nswap_survey_view s;
	int err = 0;

	if (!nswap_survey_next(node, *after, &s))
		return -ENOENT;
	if (!s.place)
		err = nswap_nl_put_node(skb, node);
	else
		err = nswap_nl_put_peer(skb, &s.peer);
	if (!err)
		err = *s.why ? nswap_nl_put_why(skb, s.why) :
			       nswap_nl_put_totals(skb, &s.totals);
	if (!err)
		*after = s.place + 1;
	return err;
}

/*
 * The dumps, each of the command in its name. They return the bytes put, 0 at the end;
 * -ENODEV if there is no such node; -EMSGSIZE. Of nodes: every one visible to the caller.
 */
int nswap_nl_node_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_entries(skb, cb, NSWAP_CMD_NODE_GET, NULL, put_next_node);
}

int nswap_nl_device_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_DEVICE_GET, put_next_device);
}

int nswap_nl_peer_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_PEER_GET, put_next_peer);
}

/* the first part waits for the peers; -EINTR if a signal ends that */
int nswap_nl_survey_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nswap_node *node;
	int err = 0;

	if (!cb->args[1]) {
		node = dump_node(cb);
		if (IS_ERR(node))
			return PTR_ERR(node);
		err = nswap_survey_make(node);
		nswap_node_put(node);
		cb->args[1] = 1;
	}
	return err ?: dump_of_node(skb, cb, NSWAP_CMD_SURVEY_GET, put_next_member);
}

int nswap_nl_owner_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_OWNER_GET, put_next_owner);
}

int nswap_nl_policy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_POLICY_GET, put_next_policy);
}

int nswap_nl_knob_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_KNOB_GET, put_next_knob);
}

int nswap_nl_weight_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_WEIGHT_GET, put_next_weight);
}

int nswap_nl_latency_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_LATENCY_GET, put_next_latency);
}

int nswap_nl_profile_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return dump_of_node(skb, cb, NSWAP_CMD_PROFILE_GET, put_next_profile);
}

/*
 * NSWAP_CMD_TRACE_GET. @cb: state of the dump; ->args[1]: begun, ->args[2]: time it
 * began. Context: process context. Returns bytes put, 0 at the end; -ENODEV if there
 * is no such node; -EMSGSIZE.
 */
int nswap_nl_trace_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct nlattr *after;

	if (!cb->args[1]) {
		after = nlmsg_find_attr(cb->nlh, GENL_HDRLEN,
					NSWAP_A_TRACE_AFTER);
		cb->args[0] = after ? nla_get_u64(after) : 0;
		cb->args[1] = 1;
		cb->args[2] = ktime_get_ns();
	}
	return dump_of_node(skb, cb, NSWAP_CMD_TRACE_GET, put_next_trace);
}
