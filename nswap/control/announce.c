// SPDX-License-Identifier: GPL-2.0
/*
 * Announcements.
 *
 * The thread sends a round every announce_ms, sooner when nswap_announce_now()
 * asks for it, and a last one, "leaving", when it is stopped: to each listed
 * peer, and to the subnet if the node broadcasts. Between rounds it receives. The
 * rounds after a change of address, and the last one, are for every known peer: one
 * that listed this node cannot be found by it otherwise.
 *
 * The ANSWER flag is set for all destinations in the first rounds, so that a new
 * node need not wait a period to know its peers, and afterwards for a listed peer
 * not heard of lately, so that a list on one side is enough. An answer is one
 * datagram to the sender; their number per round is bounded.
 *
 * Invariants:
 *  - The thread creates, uses and releases the socket; no caller's memory cgroup is
 *    charged, and no other task sees the socket.
 *  - Nothing here waits for memory, uses reserves or is waited for by a
 *    page-out: a datagram that finds no room is lost, and the next follows.
 *  - Only neighbours in the interface's subnets and listed addresses are accepted,
 *    both as a sender and as an address to connect to; neighbours only on an interface to
 *    their subnet, since a datagram may have any source.
 */
#include <linux/completion.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kthread.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "announce.h"
#include "announce_keys.h"
#include "announce_known.h"
#include "base/clock.h"
#include "core/node.h"
#include "core/subnet.h"
#include "peers/peer_table.h"
#include "peers/version.h"
#include "readdress.h"
#include "transport/sockaddr.h"

#define FIRST_ROUNDS	3	/* rounds that ask all nodes for an answer */
#define MAX_ANSWERS	64	/* between two rounds */
#define MAX_SUBNETS	8
#define BATCH		64	/* datagrams received before other work */
#define LOOK_AFTER	HZ	/* whether the node still has its address */

/* bits of struct nswap_announcer @wanted */
#define SEND_NOW	0
#define GOT_DATA	1

/**
 * struct nswap_announcer - announcements of a node
 * @node: the node
 * @thread: the thread
 * @wait: where it sleeps
 * @wanted: bits, set anywhere, cleared by the thread
 * @started: the socket is bound, or @error says why not
 * @error: write-once, before @started
 * @sock: the socket; thread only, as all that follows
 * @saved_ready: the socket's own sk_data_ready
 * @asking: rounds left that ask all nodes for an answer
 * @telling: rounds left that go to all known peers
 * @answers: answers left until the next round
 * @sent: number of the last announcement of a node with keys: it began with the time in ns,
 *	so it rises over reboots
 * @me: the announcement to send
 * @out: a datagram to send
 * @in: a datagram received
 * @rcu: nswap_announce_now() may still be looking at it
 */
struct nswap_announcer {
	struct nswap_node *node;
	struct task_struct *thread;
	wait_queue_head_t wait;
	unsigned long wanted;
	struct completion started;
	int error;
	struct socket *sock;
	void (*saved_ready)(struct sock *sk);
	unsigned int asking;
	unsigned int telling;
	unsigned int answers;
	u64 sent;
	struct nswap_announcement me;
	struct nswap_wire_announce out;
	struct nswap_wire_announce in;
	struct rcu_head rcu;
};

/* room for what goes with a datagram: a source address, the interface it came in on */
union announce_control {
	struct cmsghdr head;
	u8 room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

static void announce_want(struct nswap_announcer *a, int bit)
{
	set_bit(bit, &a->wanted);
	wake_up(&a->wait);
}

static void data_ready(struct sock *sk)
{
	struct nswap_announcer *a;

	rcu_read_lock();
	a = rcu_dereference_sk_user_data(sk);
	if (a)
		announce_want(a, GOT_DATA);
	rcu_read_unlock();
}

/* build the datagram from the present state */
static void announce_compose(struct nswap_announcer *a, bool leaving)
{
	struct nswap_cache_view v;

	nswap_cache_get_view(a->node, &v);
	a->me = (struct nswap_announcement){
		.id = a->node->id,
		.epoch = a->node->epoch,
		.addr = a->node->addr,
		.lent = v.target,
		.free = v.free,
		.used = v.ram,
		.shrinking = v.trend == NSWAP_TREND_SHRINKING,
		.leaving = leaving || READ_ONCE(a->node->leaving),
	};
}

/* send from the announced address, so that a peer's list matches the source */
static size_t put_source(struct cmsghdr *c, const struct nswap_addr *from)
{
	struct in6_pktinfo *info6 = CMSG_DATA(c);
	struct in_pktinfo *info = CMSG_DATA(c);

	if (from->family == AF_INET6) {
		c->cmsg_level = SOL_IPV6;
		c->cmsg_type = IPV6_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(*info6));
		memcpy(&info6->ipi6_addr, from->ip, sizeof(info6->ipi6_addr));
		info6->ipi6_ifindex = from->scope;
		return CMSG_SPACE(sizeof(*info6));
	}
	c->cmsg_level = SOL_IP;
	c->cmsg_type = IP_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(*info));
	memcpy(&info->ipi_spec_dst, from->ip, sizeof(info->ipi_spec_dst));
	return CMSG_SPACE(sizeof(*info));
}

static void send_to(struct nswap_announcer *a, const struct nswap_addr *to,
		    bool ask)
{
	union announce_control control = {};
	struct kvec vec = { .iov_base = &a->out, .iov_len = sizeof(a->out) };
	struct sockaddr_storage ss;
	struct msghdr msg = {
		.msg_name = &ss,
		.msg_control = &control,
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL,
	};
	int len = nswap_to_sockaddr(to, &ss);

	if (len < 0 || to->family != a->node->addr.family)
		return;
	msg.msg_namelen = len;
	msg.msg_controllen = put_source(&control.head, &a->node->addr);
	a->me.answer = a->me.leaving ? READ_ONCE(a->node->reboots) : ask;
	if (a->node->identity)
		a->me.counter = ++a->sent;
	nswap_wire_put_announce(&a->out, &a->me);
	nswap_announce_sign(a->node, &a->out);
	if (kernel_sendmsg(a->sock, &msg, &vec, 1, sizeof(a->out)) ==
	    sizeof(a->out))
		nswap_stat_inc(a->node, announced);
}

static void announce_round(struct nswap_announcer *a, bool leaving)
{
	bool ask, ask_all = a->asking, tell_all = a->telling || leaving;
	struct nswap_addr to[MAX_SUBNETS];
	unsigned int nr, index = 0;

	announce_compose(a, leaving);
	while ((nr = nswap_announce_known(a->node, &index, tell_all, to, &ask)))
		while (nr--)
			send_to(a, &to[nr], ask || ask_all);
	if (a->node->broadcast) {
		nr = nswap_subnet_all(a->node, to, ARRAY_SIZE(to));
		while (nr--)
			send_to(a, &to[nr], ask_all);
	}
	if (a->asking)
		a->asking--;
	if (a->telling)
		a->telling--;
	a->answers = MAX_ANSWERS;
}

/* index of the interface on which a datagram came in, negative if it is not said */
static int announce_iface(struct cmsghdr *c)
{
	struct in6_pktinfo *info6 = CMSG_DATA(c);
	struct in_pktinfo *info = CMSG_DATA(c);

	if (c->cmsg_level == SOL_IP && c->cmsg_type == IP_PKTINFO)
		return info->ipi_ifindex ?: -1;
	if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_PKTINFO)
		return info6->ipi6_ifindex ?: -1;
	return -1;
}

/* handle a datagram of @len bytes in @a->in, from @ss, which came in on @iface */
static void take_in(struct nswap_announcer *a, int len,
		    const struct sockaddr_storage *ss, int iface)
{
	struct nswap_node *node = a->node;
	struct nswap_announcement heard;
	struct nswap_ipt_heard news;
	struct nswap_addr from;
	unsigned long flags;
	u64 now;

	if (nswap_from_sockaddr(ss, &from)) {
		nswap_stat_inc(node, announce_rejected);
		return;
	}
	if (nswap_announce_forged(node, &a->in, len))
		return;
	if (nswap_wire_get_announce(&a->in, len, &heard)) {
		nswap_stat_inc(node, announce_rejected);
		if (nswap_wire_other_version(&a->in.hdr, len) &&
		    nswap_subnet_accepts(node, &from, iface))
			nswap_version_heard(node, &from, a->in.hdr.version);
		return;
	}
	if (!nswap_announce_believed(node, &heard, &from, iface) ||
	    nswap_peer_doubt(node, &heard))
		return;
	spin_lock_irqsave(&node->ipt_lock, flags);
	now = nswap_now_ms();
	/* what comes late because this thread did is no peer's fault */
	nswap_ipt_looks(&node->ipt, now);
	news = nswap_ipt_hear(&node->ipt, &heard, now);
	spin_unlock_irqrestore(&node->ipt_lock, flags);
	nswap_stat_inc(node, heard);
	if (news.index || news.news == NSWAP_IPT_FULL)
		nswap_peer_heard(node, &news, &heard.addr);
	if (heard.answer && !heard.leaving && a->answers) {
		a->answers--;
		announce_compose(a, false);
		send_to(a, &heard.addr, false);
	}
}

/* this thread looks what there is, perhaps nothing */
static void announce_looks(struct nswap_node *node)
{
	unsigned long flags;

	spin_lock_irqsave(&node->ipt_lock, flags);
	nswap_ipt_looks(&node->ipt, nswap_now_ms());
	spin_unlock_irqrestore(&node->ipt_lock, flags);
}

/* receive pending datagrams; true if there may be more */
static bool announce_receive(struct nswap_announcer *a)
{
	struct kvec vec = { .iov_base = &a->in, .iov_len = sizeof(a->in) };
	struct sockaddr_storage ss;
	int i, len;

	announce_looks(a->node);
	for (i = 0; i < BATCH; i++) {
		union announce_control control = {};
		struct msghdr msg = {
			.msg_name = &ss,
			.msg_namelen = sizeof(ss),
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		};

		len = kernel_recvmsg(a->sock, &msg, &vec, 1, sizeof(a->in),
				     MSG_DONTWAIT | MSG_TRUNC);
		if (len < 0)
			return false;
		take_in(a, len, &ss, announce_iface(&control.head));
	}
	return true;
}

static void listen_to(struct nswap_announcer *a, struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	a->saved_ready = sk->sk_data_ready;
	rcu_assign_sk_user_data(sk, a);
	WRITE_ONCE(sk->sk_data_ready, data_ready);
	write_unlock_bh(&sk->sk_callback_lock);
}

static void close_socket(struct nswap_announcer *a)
{
	struct sock *sk = a->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(sk->sk_data_ready, a->saved_ready);
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	sock_release(a->sock);
}

/* bind to any address, else broadcasts would not be received */
static int open_socket(struct nswap_announcer *a)
{
	const struct nswap_addr *own = &a->node->addr;
	struct nswap_addr any = { .family = own->family, .port = own->port };
	struct sockaddr_storage ss;
	struct sock *sk;
	int ret, len = nswap_to_sockaddr(&any, &ss);

	if (len < 0)
		return len;
	ret = sock_create_kern(a->node->net, own->family, SOCK_DGRAM,
			       IPPROTO_UDP, &a->sock);
	if (ret)
		return ret;
	sk = a->sock->sk;
	lock_sock(sk);
	sk->sk_allocation = GFP_NOWAIT | __GFP_NOWARN;
	sock_set_flag(sk, SOCK_BROADCAST);
	release_sock(sk);
	if (own->family == AF_INET6) {
		ip6_sock_set_recvpktinfo(sk);
		ret = ip6_sock_set_v6only(sk);
	} else {
		ip_sock_set_pktinfo(sk);
	}
	if (!ret)
		ret = kernel_bind(a->sock, (struct sockaddr_unsized *)&ss, len);
	if (ret) {
		sock_release(a->sock);
		return ret;
	}
	listen_to(a, sk);
	return 0;
}

/* look whether the node still has its address; @last was when it looked last */
static void look_around(struct nswap_announcer *a, unsigned long *last)
{
	if (time_before(jiffies, *last + LOOK_AFTER))
		return;
	*last = jiffies;
	if (!nswap_readdress(a->node))
		return;
	a->telling = FIRST_ROUNDS;
	set_bit(SEND_NOW, &a->wanted);
}

/* jiffies until the next round, 0 if it is due */
static long until_round(struct nswap_announcer *a, unsigned long last)
{
	long left = last + msecs_to_jiffies(nswap_knob(a->node, announce_ms)) -
		    jiffies;

	return max(left, 0L);
}

static int announce_announcer(void *data)
{
	struct nswap_announcer *a = data;
	unsigned long last = jiffies, looked = jiffies;
	long left;

	a->error = open_socket(a);
	complete(&a->started);
	if (a->error) {
		wait_event_idle(a->wait, kthread_should_stop());
		return 0;
	}
	while (!kthread_should_stop()) {
		look_around(a, &looked);
		if (test_and_clear_bit(SEND_NOW, &a->wanted) ||
		    !until_round(a, last)) {
			last = jiffies;
			announce_round(a, false);
		}
		clear_bit(GOT_DATA, &a->wanted);
		if (announce_receive(a))
			set_bit(GOT_DATA, &a->wanted);
		left = until_round(a, last);
		if (left)
			wait_event_idle_timeout(a->wait,
						READ_ONCE(a->wanted) ||
						kthread_should_stop(),
						min_t(long, left, LOOK_AFTER));
		cond_resched();
	}
	announce_round(a, true);
	close_socket(a);
	return 0;
}

static void announce_explain(const struct nswap_node *node, int error,
			     struct netlink_ext_ack *ext)
{
	u16 port = node->addr.port;

	if (error == -EADDRINUSE)
		NL_SET_ERR_MSG_FMT(ext,
				   "port %u is taken in this network namespace: pick another",
				   port);
	else if (error == -EAFNOSUPPORT)
		NL_SET_ERR_MSG(ext, "this kernel does not have that address family");
	else
		NL_SET_ERR_MSG_FMT(ext, "UDP port %u cannot be opened (error %d)",
				   port, -error);
}

/*
 * Start announcing a node and receiving announcements. @node: a node with its address,
 * IPTable, cache and peers in place. Peers may be heard, and nswap_peer_heard()
 * called, before this returns. Context: process context, sleeps. Returns 0;
 * -EADDRINUSE if the port is taken; another error of the socket layer; -ENOMEM.
 */
int nswap_announce_start(struct nswap_node *node, struct netlink_ext_ack *ext)
{
	struct nswap_announcer *a = kzalloc_obj(*a);
	int ret;

	if (!a)
		return -ENOMEM;
	a->node = node;
	a->asking = FIRST_ROUNDS;
	a->wanted = BIT(SEND_NOW);
	a->sent = ktime_get_real_ns();
	init_waitqueue_head(&a->wait);
	init_completion(&a->started);
	a->thread = kthread_run(announce_announcer, a, "nswap-ann/%u", node->number);
	if (IS_ERR(a->thread)) {
		ret = PTR_ERR(a->thread);
		kfree(a);
		return ret;
	}
	wait_for_completion(&a->started);
	ret = a->error;
	if (ret) {
		announce_explain(node, ret, ext);
		kthread_stop(a->thread);
		kfree(a);
		return ret;
	}
	/* complete before nswap_announce_now() finds it by READ_ONCE() */
	smp_store_release(&node->announcer, a);
	return 0;
}

/*
 * Announce that the node leaves, and stop. No nswap_peer_heard() is under way when
 * this returns. Process, sleeps; not concurrent with itself or the start.
 */
void nswap_announce_stop(struct nswap_node *node)
{
	struct nswap_announcer *a = node->announcer;

	if (!a)
		return;
	WRITE_ONCE(node->announcer, NULL);
	kthread_stop(a->thread);
	kfree_rcu(a, rcu);
}

/**
 * nswap_announce_now() - send a round of announcements at once
 * @node: the node; nothing happens if it does not announce
 *
 * For changes that peers should know before the next period, such as another amount
 * lent. Calls made before the thread runs are merged into one round.
 *
 * Context: any; does not sleep.
 */
void nswap_announce_now(struct nswap_node *node)
{
	struct nswap_announcer *a;

	rcu_read_lock();
	a = READ_ONCE(node->announcer);
	if (a)
		announce_want(a, SEND_NOW);
	rcu_read_unlock();
}
