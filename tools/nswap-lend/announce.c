// SPDX-License-Identifier: GPL-2.0
/*
 * Announcements, in place of the module's: a round every announce_ms, sooner when something
 * has changed, and a last one, "leaving".
 *
 * Invariants: as control/announce.c. All is done by the main thread, which waits for the
 * socket and for the time of the next round.
 */
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hooks.h"
#include "base/log.h"
#include "base/views.h"
#include "control/announce.h"
#include "control/announce_keys.h"
#include "control/announce_known.h"
#include "core/subnet.h"
#include "lend.h"
#include "peers/version.h"
#include "transport/sockaddr.h"

#define FIRST_ROUNDS	3	/* rounds that ask all nodes for an answer */
#define LOOK_MS		1000
#define MAX_ANSWERS	64	/* between two rounds */
#define MAX_SUBNETS	8
#define BATCH		64	/* datagrams received before other work */

static struct {
	struct nswap_node *node;
	int fd;
	int wanted;		/* eventfd: a round is wanted now */
	u64 next;		/* ms: the next round */
	u64 look;		/* ms: whether the node still has its address */
	unsigned int asking;
	unsigned int telling;	/* rounds left that go to all known peers */
	unsigned int answers;
	u64 sent;
	struct nswap_announcement me;
	struct nswap_wire_announce out;
	struct nswap_wire_announce in;
} ann = { .fd = -1, .wanted = -1 };

union announce_control {
	struct cmsghdr head;
	u8 room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

/* a round is wanted; any thread */
void nswap_announce_now(struct nswap_node *node)
{
	u64 one = 1;

	(void)node;
	if (ann.wanted >= 0 && write(ann.wanted, &one, sizeof(one)) < 0)
		lend_say_seldom("cannot announce a change at once");
}

static void compose(bool leaving)
{
	struct nswap_cache_view v;

	nswap_cache_get_view(ann.node, &v);
	ann.me = (struct nswap_announcement){
		.id = ann.node->id, .epoch = ann.node->epoch, .addr = ann.node->addr,
		.lent = v.target, .free = v.free, .used = v.ram,
		.shrinking = v.trend == NSWAP_TREND_SHRINKING, .leaving = leaving,
	};
}

/* send from the announced address, so that a peer's list matches the source */
static size_t put_source(struct cmsghdr *c, const struct nswap_addr *from)
{
	struct in6_pktinfo *info6 = (void *)CMSG_DATA(c);
	struct in_pktinfo *info = (void *)CMSG_DATA(c);

	if (from->family == AF_INET6) {
		c->cmsg_level = IPPROTO_IPV6;
		c->cmsg_type = IPV6_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(*info6));
		memcpy(&info6->ipi6_addr, from->ip, sizeof(info6->ipi6_addr));
		info6->ipi6_ifindex = from->scope;
		return CMSG_SPACE(sizeof(*info6));
	}
	c->cmsg_level = IPPROTO_IP;
	c->cmsg_type = IP_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(*info));
	memcpy(&info->ipi_spec_dst, from->ip, sizeof(info->ipi_spec_dst));
	return CMSG_SPACE(sizeof(*info));
}

static void send_to(const struct nswap_addr *to, bool ask)
{
	union announce_control control = {};
	struct iovec v = { &ann.out, sizeof(ann.out) };
	struct sockaddr_storage ss;
	struct msghdr msg = {
		.msg_name = &ss, .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
	};
	int len = nswap_to_sockaddr(to, &ss);

	if (len < 0 || to->family != ann.node->addr.family)
		return;
	msg.msg_namelen = len;
	msg.msg_controllen = put_source(&control.head, &ann.node->addr);
	ann.me.answer = ask && !ann.me.leaving;
	if (ann.node->identity)
		ann.me.counter = ++ann.sent;
	nswap_wire_put_announce(&ann.out, &ann.me);
	nswap_announce_sign(ann.node, &ann.out);
	if (sendmsg(ann.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(ann.out))
		nswap_stat_inc(ann.node, announced);
}

static void announce_round(bool leaving)
{
	struct nswap_addr to[MAX_SUBNETS];
	unsigned int nr, index = 0;
	bool ask;

	compose(leaving);
	while ((nr = nswap_announce_known(ann.node, &index, leaving || ann.telling, to,
					  &ask)))
		while (nr--)
			send_to(&to[nr], ask || ann.asking);
	if (ann.node->broadcast) {
		nr = nswap_subnet_all(ann.node, to, ARRAY_SIZE(to));
		while (nr--)
			send_to(&to[nr], ann.asking);
	}
	ann.asking -= !!ann.asking;
	ann.telling -= !!ann.telling;
	ann.answers = MAX_ANSWERS;
	ann.next = nswap_now_ms() + nswap_knob(ann.node, announce_ms);
}

/* index of the interface on which a datagram came in, negative if it is not said */
static int iface_of(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	const struct in6_pktinfo *info6 = c ? (void *)CMSG_DATA(c) : NULL;
	const struct in_pktinfo *info = (void *)info6;

	if (c && c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO)
		return info->ipi_ifindex ?: -1;
	if (c && c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO)
		return info6->ipi6_ifindex ?: -1;
	return -1;
}

static void take_in(int len, const struct sockaddr_storage *ss, int iface)
{
	struct nswap_node *node = ann.node;
	struct nswap_announcement heard;
	struct nswap_ipt_heard news;
	struct nswap_addr from;

	if (nswap_from_sockaddr(ss, &from) || nswap_announce_forged(node, &ann.in, len))
		return;
	if (nswap_wire_get_announce(&ann.in, len, &heard)) {
		nswap_stat_inc(node, announce_rejected);
		if (nswap_wire_other_version(&ann.in.hdr, len) &&
		    nswap_subnet_accepts(node, &from, iface))
			nswap_version_heard(node, &from, ann.in.hdr.version);
		return;
	}
	if (!nswap_announce_believed(node, &heard, &from, iface))
		return;
	spin_lock(&node->ipt_lock);
	news = nswap_ipt_hear(&node->ipt, &heard, nswap_now_ms());
	/* there is no session that could tell first */
	if (news.elsewhere)
		nswap_ipt_moved(&node->ipt, news.index, &heard.addr);
	/* no slot names an epoch that is over */
	if (news.was)
		nswap_ipt_release(&node->ipt, news.was);
	spin_unlock(&node->ipt_lock);
	nswap_stat_inc(node, heard);
	if (heard.answer && !heard.leaving && ann.answers) {
		ann.answers--;
		compose(false);
		send_to(&heard.addr, false);
	}
}

static void announce_receive(void)
{
	struct iovec v = { &ann.in, sizeof(ann.in) };
	struct sockaddr_storage ss;
	int i, len;

	for (i = 0; i < BATCH; i++) {
		union announce_control control = {};
		struct msghdr msg = {
			.msg_name = &ss, .msg_namelen = sizeof(ss), .msg_iov = &v,
			.msg_iovlen = 1, .msg_control = &control,
			.msg_controllen = sizeof(control),
		};

		len = recvmsg(ann.fd, &msg, MSG_DONTWAIT | MSG_TRUNC);
		if (len < 0)
			return;
		take_in(len, &ss, iface_of(&msg));
	}
}

int lend_announce_socket(void)
{
	return ann.fd;
}

int lend_announce_wanted(void)
{
	return ann.wanted;
}

/* has the node still its address? else all are told of the new one */
static void look_around(u64 now)
{
	if (now < ann.look)
		return;
	ann.look = now + LOOK_MS;
	if (!lend_node_follow(ann.node))
		return;
	ann.telling = FIRST_ROUNDS;
	ann.next = now;
}

/* receive what there is, send a round if it is time; ms to what is next */
int lend_announce_work(void)
{
	u64 now, wanted = 0;

	announce_receive();
	now = nswap_now_ms();
	look_around(now);
	if (read(ann.wanted, &wanted, sizeof(wanted)) == sizeof(wanted) || now >= ann.next)
		announce_round(false);
	return max(min(ann.next, ann.look), now) - now;
}

/* bound to any address, else broadcasts would not be received */
const char *lend_announce_start(struct nswap_node *node)
{
	struct nswap_addr any = { .family = node->addr.family, .port = node->addr.port };
	struct sockaddr_storage ss;
	int one = 1, len = nswap_to_sockaddr(&any, &ss);

	ann.node = node;
	ann.asking = FIRST_ROUNDS;
	/* rises over restarts, and with the module on the same host, as that one's */
	ann.sent = ktime_get_real_ns();
	ann.wanted = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	ann.fd = socket(node->addr.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (ann.fd < 0 || ann.wanted < 0)
		return "cannot make a socket for announcements";
	setsockopt(ann.fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one));
	if (node->addr.family == AF_INET6) {
		setsockopt(ann.fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
		setsockopt(ann.fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof(one));
	} else {
		setsockopt(ann.fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof(one));
	}
	if (bind(ann.fd, (struct sockaddr *)&ss, len))
		return errno == EADDRINUSE ?
			"the UDP port is taken in this network namespace: choose another with --port" :
			"cannot open the UDP port for announcements";
	return NULL;
}

void lend_announce_stop(void)
{
	if (ann.fd >= 0 && ann.node) {
		announce_round(true);
		close(ann.fd);
	}
	if (ann.wanted >= 0)
		close(ann.wanted);
	ann.fd = -1;
	ann.wanted = -1;
}
