// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over TCP, in the node's network namespace.
 *
 * Invariants:
 *  - Sockets are kernel sockets made by kernel threads: no caller's memory
 *    cgroup is charged, and no reference on the namespace is held (the node
 *    holds one).
 *  - Sending allocates with GFP_NOIO | __GFP_MEMALLOC inside a memalloc scope,
 *    so it never enters reclaim and may use the reserves. What is sent is
 *    bounded: by grants for stores, by the tag set for loads, by the pages of
 *    one reply at a time on a server's connection.
 *  - Every socket has SOCK_MEMALLOC from before its handshake, so that a node
 *    short of memory can still connect, until ->no_reserves(). A link without it
 *    drops packets at the watermark and gets them later by retransmission,
 *    which is what the server wants for stores.
 *  - A link that was accepted has room for a HELLO, and no part of the budget, until
 *    ->known(): an owner must be able to say it when this node is starved, and a stranger
 *    that says anything else, or nothing, holds so much of the reserves and no more.
 *  - A kernel socket has no timers once it is closed, so a closed one must not
 *    have anything left to send: it is reset (no linger).
 *  - What is sent is copied into the socket buffer, and nothing refers to it any more,
 *    but for pages whose sender says that they may be referred to (refer.c).
 *  - What is read ahead is what comes next: the receiver takes it before anything from
 *    the socket. Pages are received straight into their memory, but for their first bytes.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "pure/buffers.h"
#include "refer.h"
#include "sockaddr.h"
#include "tcp_link.h"

/*
 * Fixed for each link (pure/buffers.c), so that autotuning under pressure cannot shrink a
 * window to nothing; small, because both may be filled from memory reserves.
 */
#define REPLY_BUFFER	(264u << 10)	/* two of the largest replies */
#define STRANGER_BUFFER	(16u << 10)	/* a HELLO in packets of any driver */
#define USER_TIMEOUT_MS	40000
#define SEND_TIMEOUT	(10 * HZ)

/* bytes of all links' buffers */
static atomic64_t buffers_taken = ATOMIC64_INIT(0);

/* before the handshake: it fixes the window, and may need the reserves */
static void tcp_prepare(struct nswap_link *l, u32 buffer)
{
	struct sock *sk = l->sock->sk;

	lock_sock(sk);
	sk->sk_userlocks |= SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK;
	WRITE_ONCE(sk->sk_sndbuf, buffer);
	WRITE_ONCE(sk->sk_rcvbuf, buffer);
	sk_set_memalloc(sk);
	/* what counts as there is read: an urgent byte, too, tcp_wake.c */
	sock_set_flag(sk, SOCK_URGINLINE);
	release_sock(sk);
	l->reserves = true;
	sock_no_linger(sk);
}

static void tcp_tune(struct sock *sk)
{
	lock_sock(sk);
	/* if even the reserves are used up, conn.c tries again */
	sk->sk_allocation = GFP_NOIO | __GFP_MEMALLOC | __GFP_NOWARN;
	sk->sk_use_task_frag = false;
	sk->sk_sndtimeo = SEND_TIMEOUT;
	release_sock(sk);
	tcp_sock_set_nodelay(sk);
}

/* so that even a side that never sends notices a dead peer */
static void tcp_keepalive(struct sock *sk)
{
	sock_set_keepalive(sk);
	tcp_sock_set_keepidle(sk, 20);
	tcp_sock_set_keepintvl(sk, 5);
	tcp_sock_set_keepcnt(sk, 4);
	tcp_sock_set_user_timeout(sk, USER_TIMEOUT_MS);
}

static u32 take_buffer(void)
{
	u64 budget = nswap_buffers_budget((u64)totalram_pages() * PAGE_SIZE);
	s64 taken = atomic64_read(&buffers_taken);
	u32 bytes;

	/* all members connect at once when a cluster gets its power back */
	do {
		bytes = nswap_buffers_share(budget, taken);
	} while (!atomic64_try_cmpxchg(&buffers_taken, &taken, taken + 2 * bytes));
	return bytes;
}

static struct nswap_link *new_link(struct socket *sock)
{
	struct nswap_link *l = kzalloc(sizeof(*l), GFP_NOIO);

	if (!l)
		return NULL;
	l->sock = sock;
	mutex_init(&l->own);
	return l;
}

static struct nswap_link *open_link(struct net *net,
				    const struct nswap_addr *at, u16 port)
{
	struct nswap_addr bind_at = *at;
	struct sockaddr_storage ss;
	struct nswap_link *l;
	struct socket *sock;
	int len, ret;

	bind_at.port = port;
	len = nswap_to_sockaddr(&bind_at, &ss);
	if (len < 0)
		return ERR_PTR(len);
	ret = sock_create_kern(net, at->family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (ret)
		return ERR_PTR(ret);
	sock->sk->sk_reuse = port ? SK_CAN_REUSE : SK_NO_REUSE;
	ret = kernel_bind(sock, (struct sockaddr_unsized *)&ss, len);
	if (!ret) {
		l = new_link(sock);
		if (l) {
			l->buffer = take_buffer();
			tcp_prepare(l, l->buffer);
			return l;
		}
		ret = -ENOMEM;
	}
	sock_release(sock);
	return ERR_PTR(ret);
}

static void tcp_close_link(struct nswap_link *l)
{
	struct sock *sk = l->sock->sk;
	unsigned int scope;

	nswap_tcp_quiet(l);
	/* the flag is cleared last: packets that passed the filter may be queued */
	sock_hold(sk);
	/* the reset that is sent is allocated as any task would: no reclaim, no OOM kill */
	scope = memalloc_noreclaim_save();
	sock_release(l->sock);
	memalloc_noreclaim_restore(scope);
	if (l->reserves)
		sk_clear_memalloc(sk);
	sock_put(sk);
	atomic64_sub(2 * l->buffer, &buffers_taken);
	kfree(l);
}

static struct nswap_link *tcp_connect_link(struct net *net,
					   const struct nswap_addr *from,
					   const struct nswap_addr *to,
					   unsigned int ms)
{
	unsigned int scope = memalloc_noreclaim_save();
	struct sockaddr_storage ss;
	struct nswap_link *l;
	int len, ret;

	l = open_link(net, from, 0);
	if (IS_ERR(l))
		goto out;
	len = nswap_to_sockaddr(to, &ss);
	l->sock->sk->sk_sndtimeo = msecs_to_jiffies(ms);
	ret = len < 0 ? len :
			kernel_connect(l->sock, (struct sockaddr_unsized *)&ss,
				       len, 0);
	if (ret) {
		tcp_close_link(l);
		l = ERR_PTR(ret == -EINPROGRESS ? -ETIMEDOUT : ret);
		goto out;
	}
	tcp_tune(l->sock->sk);
	tcp_keepalive(l->sock->sk);
out:
	memalloc_noreclaim_restore(scope);
	return l;
}

static struct nswap_link *tcp_listen_link(struct net *net,
					  const struct nswap_addr *at)
{
	struct nswap_link *l = open_link(net, at, at->port);
	int ret;

	if (IS_ERR(l))
		return l;
	ret = kernel_listen(l->sock, 256);
	if (ret) {
		tcp_close_link(l);
		return ERR_PTR(ret);
	}
	return l;
}

static struct nswap_link *tcp_accept_link(struct nswap_link *listener)
{
	unsigned int scope = memalloc_noreclaim_save();
	struct nswap_link *l = NULL;
	struct socket *sock;
	int ret;

	/* two small objects, so that an owner short of memory can connect */
	ret = kernel_accept(listener->sock, &sock, 0);
	if (!ret)
		l = new_link(sock);
	memalloc_noreclaim_restore(scope);
	if (ret)
		return ERR_PTR(ret);
	if (!l) {
		sock_release(sock);
		return ERR_PTR(-ENOMEM);
	}
	/* the flag is inherited, the state it stands for is not */
	tcp_prepare(l, STRANGER_BUFFER);
	tcp_tune(sock->sk);
	tcp_keepalive(sock->sk);
	return l;
}

/* the window was fixed by the listener's buffer; what may lie in it is fixed here */
static void tcp_known(struct nswap_link *l)
{
	struct sock *sk = l->sock->sk;

	l->buffer = take_buffer();
	lock_sock(sk);
	WRITE_ONCE(sk->sk_sndbuf, min(l->buffer, REPLY_BUFFER));
	WRITE_ONCE(sk->sk_rcvbuf, l->buffer);
	release_sock(sk);
}

static int tcp_peer_addr(struct nswap_link *l, struct nswap_addr *addr)
{
	struct sockaddr_storage ss = {};
	int ret = kernel_getpeername(l->sock, (struct sockaddr *)&ss);

	if (ret < 0)
		return ret;
	return nswap_from_sockaddr(&ss, addr);
}

/*
 * A packet from the reserves that has passed the socket's filter must not be
 * queued behind an owner of the socket that then finds the flag cleared: the
 * network stack has a BUG() for that. So clear the flag first, while no task
 * owns the socket and only shutdown() could; then wait for packets in flight;
 * then do the rest as the socket's owner, because it corrects what the socket
 * may allocate. Expedited, because page-ins wait for this session.
 */
static void tcp_no_reserves(struct nswap_link *l)
{
	struct sock *sk = l->sock->sk;

	mutex_lock(&l->own);
	spin_lock_bh(&sk->sk_lock.slock);
	sock_reset_flag(sk, SOCK_MEMALLOC);
	spin_unlock_bh(&sk->sk_lock.slock);
	synchronize_rcu_expedited();
	lock_sock(sk);
	sk_clear_memalloc(sk);
	release_sock(sk);
	l->reserves = false;
	mutex_unlock(&l->own);
}

/*
 * Without waiting, a message is begun only when all of it should fit: a
 * message cut in the middle cannot be taken back when its time is up.
 */
static bool has_room(struct sock *sk, size_t len)
{
	if (!READ_ONCE(sk->sk_wmem_queued) || sk_stream_wspace(sk) >= 2 * len)
		return true;
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	return sk_stream_wspace(sk) >= 2 * len;
}

static bool tcp_fits(struct nswap_link *l, size_t len)
{
	return sk_stream_wspace(l->sock->sk) >= 2 * (long)len;
}

static ssize_t tcp_send_iter(struct nswap_link *l, struct iov_iter *from, size_t pages,
			     bool wait)
{
	unsigned int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT);
	unsigned long until = jiffies + SEND_TIMEOUT;
	ssize_t ret, done = 0;
	unsigned int scope;

	if (!wait && !has_room(l->sock->sk, iov_iter_count(from)))
		return -EAGAIN;
	if (!nswap_refer_may(from, pages))
		pages = 0;
	scope = memalloc_noreclaim_save();
	while (iov_iter_count(from)) {
		ret = nswap_refer_send(l->sock, from, pages, flags);
		if (ret <= 0) {
			done = done ?: ret ?: -EPIPE;
			break;
		}
		iov_iter_advance(from, ret);
		done += ret;
		/* each call has SEND_TIMEOUT: one that reads byte by byte gets it twice at most */
		if (wait && time_after(jiffies, until))
			break;
	}
	memalloc_noreclaim_restore(scope);
	return done;
}

/* what has been sent and is more stays */
static void tcp_send_most(struct nswap_link *l, unsigned int bytes)
{
	WRITE_ONCE(l->sock->sk->sk_sndbuf, min3(bytes, l->buffer, REPLY_BUFFER));
}

/* @bytes: at most NSWAP_AHEAD_SMALL */
static void tcp_read_ahead(struct nswap_link *l, unsigned int bytes)
{
	l->most = bytes;
}

static void take_ahead(struct nswap_link *l, struct iov_iter *to)
{
	size_t n = min_t(size_t, l->have, iov_iter_count(to));

	if (!n)
		return;
	n = _copy_to_iter(l->ahead + l->at, n, to);
	l->at += n;
	l->have -= n;
}

/* so much of what came is ahead of what was asked for */
static void put_ahead(struct nswap_link *l, int bytes)
{
	l->at = 0;
	l->have = max(bytes, 0);
}

/* @to, whose segments are as long as it, has come: receive it, and ahead what came behind it */
static int recv_both(struct nswap_link *l, struct iov_iter *to)
{
	size_t len = iov_iter_count(to), n = to->nr_segs;
	struct msghdr msg = {};
	int ret;

	memcpy(l->bv, to->bvec, n * sizeof(l->bv[0]));
	l->bv[0].bv_offset += to->iov_offset;
	l->bv[0].bv_len -= to->iov_offset;
	bvec_set_page(&l->bv[n], virt_to_page(l->ahead), l->most,
		      offset_in_page(l->ahead));
	iov_iter_bvec(&msg.msg_iter, ITER_DEST, l->bv, n + 1, len + l->most);
	ret = sock_recvmsg(l->sock, &msg, MSG_NOSIGNAL);
	put_ahead(l, ret - (int)len);
	if (ret > 0)
		iov_iter_advance(to, min_t(size_t, ret, len));
	return ret;
}

/* receive some, into @to or ahead, where nothing is left; as sock_recvmsg() */
static int recv_some(struct nswap_link *l, struct iov_iter *to)
{
	struct kvec v = { .iov_base = l->ahead, .iov_len = l->most };
	struct msghdr msg = {};
	int ret;

	if (iov_iter_count(to) < l->most) {
		ret = kernel_recvmsg(l->sock, &msg, &v, 1, l->most, MSG_NOSIGNAL);
		put_ahead(l, ret);
		take_ahead(l, to);
		return ret;
	}
	if (l->most && iov_iter_is_bvec(to) && to->nr_segs <= NSWAP_REQ_SLOTS &&
	    nswap_tcp_ready(l, iov_iter_count(to)))
		return recv_both(l, to);
	msg.msg_iter = *to;
	ret = sock_recvmsg(l->sock, &msg, MSG_WAITALL | MSG_NOSIGNAL);
	if (ret > 0)
		iov_iter_advance(to, ret);
	return ret;
}

/* the timeout is for all of it: a sender that dribbles has no more time than a silent one */
static int tcp_recv_iter(struct nswap_link *l, struct iov_iter *to)
{
	long timeout = READ_ONCE(l->sock->sk->sk_rcvtimeo);
	unsigned long until = jiffies + timeout;
	unsigned int scope;
	int ret = 0;

	take_ahead(l, to);
	if (!iov_iter_count(to))
		return 0;
	scope = memalloc_noreclaim_save();
	while (iov_iter_count(to)) {
		if (ret && timeout != MAX_SCHEDULE_TIMEOUT &&
		    time_after_eq(jiffies, until)) {
			ret = -EAGAIN;
			break;
		}
		ret = recv_some(l, to);
		if (ret <= 0) {
			ret = ret ?: -ECONNRESET;
			break;
		}
	}
	memalloc_noreclaim_restore(scope);
	return min(ret, 0);
}

static int tcp_cpu(struct nswap_link *l)
{
	return READ_ONCE(l->sock->sk->sk_incoming_cpu);
}

static void tcp_recv_timeout(struct nswap_link *l, unsigned int ms)
{
	WRITE_ONCE(l->sock->sk->sk_rcvtimeo,
		   ms ? msecs_to_jiffies(ms) : MAX_SCHEDULE_TIMEOUT);
}

static void tcp_shutdown_link(struct nswap_link *l)
{
	mutex_lock(&l->own);
	kernel_sock_shutdown(l->sock, SHUT_RDWR);
	mutex_unlock(&l->own);
}

const struct nswap_transport_ops nswap_tcp_ops = {
	.name = "tcp",
	.connect = tcp_connect_link,
	.listen = tcp_listen_link,
	.accept = tcp_accept_link,
	.peer_addr = tcp_peer_addr,
	.known = tcp_known,
	.no_reserves = tcp_no_reserves,
	.on_writable = nswap_tcp_on_writable,
	.on_change = nswap_tcp_on_change,
	.pending = nswap_tcp_pending,
	.wait = nswap_tcp_wait,
	.fits = tcp_fits,
	.send = tcp_send_iter,
	.send_most = tcp_send_most,
	.ready = nswap_tcp_ready,
	.recv = tcp_recv_iter,
	.read_ahead = tcp_read_ahead,
	.cpu = tcp_cpu,
	.recv_timeout = tcp_recv_timeout,
	.shutdown = tcp_shutdown_link,
	.close = tcp_close_link,
};
