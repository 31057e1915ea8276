// SPDX-License-Identifier: GPL-2.0
/*
 * Talking to the module over generic netlink.
 *
 * One socket, one request at a time. A refusal is the sentence of the extended
 * acknowledgement; where the kernel's core refused without one, a sentence for
 * the error number. The callers here end the program with it, except
 * ctl_try_call().
 */
#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/netlink.h>

#include "ctl.h"
#include "nl.h"

/* one request under way */
struct call {
	ctl_reply_fn reply;
	void *arg;
	bool done;
	int error;
	char why[256];
};

static struct nl_sock *sock;
static int family;

static const char *why_error(int error)
{
	switch (error) {
	case EPERM:
		return "this needs CAP_NET_ADMIN in the initial user namespace (run it as root of the host)";
	case ENOMEM:
		return "the kernel has no memory left for this";
	case EOPNOTSUPP:
		return "the loaded nswap module does not know this request, it is older than nswapctl";
	default:
		return strerror(error);
	}
}

/* NULL, or why there is no module to talk to */
const char *ctl_connect(void)
{
	int on = 1, err;

	if (sock)
		return NULL;
	sock = nl_socket_alloc();
	if (!sock)
		return "no memory";
	err = genl_connect(sock);
	if (err) {
		nl_socket_free(sock);
		sock = NULL;
		return "this system has no generic netlink";
	}
	family = genl_ctrl_resolve(sock, NSWAP_FAMILY_NAME);
	if (family < 0) {
		nl_socket_free(sock);
		sock = NULL;
		return "the nswap module is not loaded, 'modprobe nswap' loads it";
	}
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &on,
		   sizeof(on));
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_CAP_ACK, &on,
		   sizeof(on));
	nl_socket_disable_auto_ack(sock);
	return NULL;
}

/* the module may be another one at the next request */
void ctl_disconnect(void)
{
	nl_socket_free(sock);
	sock = NULL;
}

/* an error of the kernel, with the attributes that may explain it */
static void take_error(struct call *call, int error, const struct nlmsghdr *nlh,
		       const char *tlv)
{
	const char *end = (const char *)nlh + nlh->nlmsg_len;
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = {};

	call->done = true;
	call->error = error;
	if (!error)
		return;
	snprintf(call->why, sizeof(call->why), "%s", why_error(error));
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || tlv >= end)
		return;
	if (nla_parse(tb, NLMSGERR_ATTR_MAX, (struct nlattr *)tlv, end - tlv,
		      NULL))
		return;
	if (tb[NLMSGERR_ATTR_MSG])
		snprintf(call->why, sizeof(call->why), "%.*s",
			 nla_len(tb[NLMSGERR_ATTR_MSG]),
			 (const char *)nla_data(tb[NLMSGERR_ATTR_MSG]));
}

/* both an acknowledgement and a refusal */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	const struct nlmsghdr *nlh =
		(const void *)((char *)err - NLMSG_HDRLEN);
	size_t len = sizeof(*err);

	(void)from;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		len += err->msg.nlmsg_len - NLMSG_HDRLEN;
	take_error(arg, -err->error, nlh, (char *)err + NLMSG_ALIGN(len));
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct call *call = arg;

	(void)msg;
	call->done = true;
	return NL_STOP;
}

/* the end of a dump, good or bad */
static int on_finish(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	const int *error = nlmsg_data(nlh);

	if (nlmsg_datalen(nlh) >= (int)sizeof(*error))
		take_error(arg, *error < 0 ? -*error : 0, nlh,
			   (const char *)(error + 1));
	((struct call *)arg)->done = true;
	return NL_STOP;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[NSWAP_A_MAX + 1] = {};
	struct call *call = arg;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, attrs, NSWAP_A_MAX, NULL)) {
		snprintf(call->why, sizeof(call->why),
			 "the module's reply makes no sense");
		call->error = EBADMSG;
		call->done = true;
		return NL_STOP;
	}
	if (call->reply)
		call->reply(attrs, call->arg);
	return NL_OK;
}

static const char *transact(struct nl_msg *msg, int flags, ctl_reply_fn reply,
			    void *arg)
{
	static struct call call;
	struct nl_cb *cb;
	int err;

	call = (struct call){ .reply = reply, .arg = arg };
	nlmsg_hdr(msg)->nlmsg_flags |= flags;
	cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!cb)
		ctl_refuse("no memory");
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, &call);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, &call);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &call);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &call);

	err = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	while (err >= 0 && !call.done)
		err = nl_recvmsgs(sock, cb);
	nl_cb_put(cb);
	if (call.error)
		return call.why;
	return err < 0 ? nl_geterror(err) : NULL;
}

/*
 * A request for @cmd to the node that was named or ours, to be filled in and
 * handed to one of the next three.
 */
struct nl_msg *ctl_request(uint8_t cmd)
{
	const char *why = ctl_connect();
	struct nl_msg *msg;

	if (why)
		ctl_refuse("%s", why);
	msg = nlmsg_alloc_size(64 * 1024);
	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0,
				 cmd, NSWAP_FAMILY_VERSION))
		ctl_refuse("no memory");
	if (ctl_node)
		ctl_put_number(msg, NSWAP_A_NODE, ctl_node);
	return msg;
}

/* the same about a device; NULL for the node */
struct nl_msg *ctl_request_of(uint8_t cmd, const char *device)
{
	struct nl_msg *msg = ctl_request(cmd);

	if (device)
		ctl_put_text(msg, NSWAP_A_DEVICE_NAME, device);
	return msg;
}

/* NULL, or why it was refused; good until the next request */
const char *ctl_try_call(struct nl_msg *msg, ctl_reply_fn reply, void *arg)
{
	return transact(msg, NLM_F_REQUEST | NLM_F_ACK, reply, arg);
}

void ctl_call(struct nl_msg *msg, ctl_reply_fn reply, void *arg)
{
	const char *why = ctl_try_call(msg, reply, arg);

	if (why)
		ctl_refuse("%s", why);
}

void ctl_dump(struct nl_msg *msg, ctl_reply_fn reply, void *arg)
{
	const char *why = transact(msg, NLM_F_REQUEST | NLM_F_DUMP, reply, arg);

	if (why)
		ctl_refuse("%s", why);
}

static void must_fit(int err)
{
	if (err)
		ctl_refuse("this request is too long");
}

static struct nlattr *must_nest(struct nl_msg *msg, int type)
{
	struct nlattr *nest = nla_nest_start(msg, type);

	must_fit(!nest);
	return nest;
}

void ctl_put_addr(struct nl_msg *msg, int type, const struct ctl_addr *addr)
{
	struct nlattr *nest = must_nest(msg, type);

	must_fit(nla_put_u16(msg, NSWAP_ADDR_A_FAMILY, addr->family) ||
		 nla_put(msg, NSWAP_ADDR_A_IP, sizeof(addr->ip), addr->ip) ||
		 nla_put_u16(msg, NSWAP_ADDR_A_PORT, addr->port) ||
		 nla_put_u32(msg, NSWAP_ADDR_A_SCOPE, addr->scope));
	nla_nest_end(msg, nest);
}

void ctl_put_byte(struct nl_msg *msg, int type, uint8_t value)
{
	must_fit(nla_put_u8(msg, type, value));
}

void ctl_put_number(struct nl_msg *msg, int type, uint32_t value)
{
	must_fit(nla_put_u32(msg, type, value));
}

void ctl_put_wide(struct nl_msg *msg, int type, uint64_t value)
{
	must_fit(nla_put_u64(msg, type, value));
}

void ctl_put_text(struct nl_msg *msg, int type, const char *text)
{
	must_fit(nla_put_string(msg, type, text));
}

void ctl_put_bytes(struct nl_msg *msg, int type, const void *at, size_t bytes)
{
	must_fit(nla_put(msg, type, bytes, at));
}

void ctl_put_on(struct nl_msg *msg, int type)
{
	must_fit(nla_put_flag(msg, type));
}

void ctl_put_knob(struct nl_msg *msg, const char *name, uint32_t value)
{
	struct nlattr *nest = must_nest(msg, NSWAP_A_KNOB);

	ctl_put_text(msg, NSWAP_KNOB_A_NAME, name);
	ctl_put_number(msg, NSWAP_KNOB_A_VALUE, value);
	nla_nest_end(msg, nest);
}

void ctl_put_weight(struct nl_msg *msg, uint64_t id, uint32_t weight)
{
	struct nlattr *nest = must_nest(msg, NSWAP_A_WEIGHT);

	ctl_put_wide(msg, NSWAP_WEIGHT_A_ID, id);
	ctl_put_number(msg, NSWAP_WEIGHT_A_VALUE, weight);
	nla_nest_end(msg, nest);
}

/* set a knob of the node */
void ctl_set_knob(const char *name, uint32_t value)
{
	struct nl_msg *msg = ctl_request(NSWAP_CMD_NODE_SET);

	ctl_put_knob(msg, name, value);
	ctl_call(msg, NULL, NULL);
}

void ctl_put_policy(struct nl_msg *msg, const char *kind, const char *name)
{
	struct nlattr *nest = must_nest(msg, NSWAP_A_POLICY);

	ctl_put_text(msg, NSWAP_POLICY_A_KIND, kind);
	ctl_put_text(msg, NSWAP_POLICY_A_NAME, name);
	nla_nest_end(msg, nest);
}
