// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over TCP, in place of the module's.
 *
 * Invariants:
 *  - A link is used by one thread, but for ->shutdown().
 *  - What is read ahead is what comes next. A message of one page comes with one system
 *    call so, and of a larger one only its first pages are copied.
 *  - Every wait ends: what is sent has SEND_S, and a peer that answers nothing at all
 *    USER_TIMEOUT_MS; the receiver's time is its user's, see ->recv_timeout().
 *  - The kernel's memory for a link is bounded: its buffers do not grow.
 */
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "link.h"
#include "transport/sockaddr.h"

#define BUFFER		(256 << 10)	/* bytes, each way */
#define USER_TIMEOUT_MS	40000
#define SEND_S		10
#define WAIT_MS		20
#define LOOK_MS		20	/* receiving looks at the time as often */
#define BACKLOG		256
#define SAY_MS		60000

struct page lend_zeros __attribute__((aligned(PAGE_SIZE)));

static void link_set(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

static void link_tune(int fd)
{
	struct timeval send = { .tv_sec = SEND_S }, look = { .tv_usec = LOOK_MS * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &send, sizeof(send));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look));
	link_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	link_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	link_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 20);
	link_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
	link_set(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
	link_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
}

static struct nswap_link *link_of(int fd)
{
	struct nswap_link *l = malloc(sizeof(*l));

	if (!l) {
		close(fd);
		return ERR_PTR(-ENOMEM);
	}
	memset(l, 0, offsetof(struct nswap_link, ahead));
	l->fd = fd;
	return l;
}

static int link_bound(const struct nswap_addr *at, u16 port)
{
	struct nswap_addr here = *at;
	struct sockaddr_storage ss;
	int len, fd;

	here.port = port;
	len = nswap_to_sockaddr(&here, &ss);
	if (len < 0)
		return len;
	fd = socket(at->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (port)
		link_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	link_set(fd, SOL_SOCKET, SO_SNDBUF, BUFFER);
	link_set(fd, SOL_SOCKET, SO_RCVBUF, BUFFER);
	if (!bind(fd, (struct sockaddr *)&ss, len))
		return fd;
	len = -errno;
	close(fd);
	return len;
}

static struct nswap_link *link_connect(struct net *net, const struct nswap_addr *from,
				       const struct nswap_addr *to, unsigned int ms)
{
	struct timeval wait = { ms / 1000, ms % 1000 * 1000 };
	struct sockaddr_storage ss;
	int fd = link_bound(from, 0), len = nswap_to_sockaddr(to, &ss), ret = 0;

	(void)net;
	if (fd < 0)
		return ERR_PTR(fd);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	if (len < 0)
		ret = len;
	else if (connect(fd, (struct sockaddr *)&ss, len))
		ret = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
	if (ret) {
		close(fd);
		return ERR_PTR(ret);
	}
	link_tune(fd);
	return link_of(fd);
}

static struct nswap_link *link_listen(struct net *net, const struct nswap_addr *at)
{
	int ret, fd = link_bound(at, at->port);

	(void)net;
	if (fd < 0)
		return ERR_PTR(fd);
	if (!listen(fd, BACKLOG))
		return link_of(fd);
	ret = -errno;
	close(fd);
	return ERR_PTR(ret);
}

/* out of files: connections wait, so say it, once in SAY_MS; the accepting thread */
static void link_no_file(int error)
{
	static unsigned long next;
	struct rlimit files = {};

	if ((error != EMFILE && error != ENFILE) || (next && time_before(jiffies, next)))
		return;
	next = jiffies + SAY_MS;
	getrlimit(RLIMIT_NOFILE, &files);
	if (error == EMFILE)
		lend_say("cannot take another connection: this program may have %llu files, raise that (ulimit -n, or LimitNOFILE= in a unit)",
			 (unsigned long long)files.rlim_cur);
	else
		lend_say("cannot take another connection: this machine has no file left, raise the sysctl fs.file-max");
}

static struct nswap_link *link_accept(struct nswap_link *listener)
{
	int error, fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		error = errno;
		link_no_file(error);
		return ERR_PTR(-error);
	}
	link_tune(fd);
	return link_of(fd);
}

static int link_peer_addr(struct nswap_link *l, struct nswap_addr *addr)
{
	struct sockaddr_storage ss = {};
	socklen_t len = sizeof(ss);

	if (getpeername(l->fd, (struct sockaddr *)&ss, &len))
		return -errno;
	return nswap_from_sockaddr(&ss, addr);
}

/* the system sizes its buffers, from little on */
static void link_known(struct nswap_link *l)
{
	(void)l;
}

/* there are no reserves here */
static void link_no_reserves(struct nswap_link *l)
{
	(void)l;
}

/* segments of an iterator, at most @max bytes of it and one call's worth; how many */
static int link_segments(const struct iov_iter *it, struct iovec *v)
{
	size_t i, left = it->count;
	int n = 0;

	for (i = 0; i < it->nr_segs && left && n < NSWAP_REQ_SLOTS * 2 + 2; i++) {
		void *at = it->bvec ? it->bvec[i].bv_page->byte + it->bvec[i].bv_offset :
				      it->kvec[i].iov_base;
		size_t len = it->bvec ? it->bvec[i].bv_len : it->kvec[i].iov_len;
		size_t skip = i ? 0 : it->offset;

		len = min(len - skip, left);
		v[n++] = (struct iovec){ (u8 *)at + skip, len };
		left -= len;
	}
	return n;
}

static void link_advance(struct iov_iter *it, size_t bytes)
{
	it->count -= bytes;
	while (bytes) {
		size_t len = it->bvec ? it->bvec->bv_len : it->kvec->iov_len;
		size_t n = min(len - it->offset, bytes);

		bytes -= n;
		it->offset += n;
		if (it->offset < len)
			break;
		it->offset = 0;
		it->nr_segs--;
		if (it->bvec)
			it->bvec++;
		else
			it->kvec++;
	}
}

static ssize_t link_send(struct nswap_link *l, struct iov_iter *from, size_t pages,
			 bool wait)
{
	unsigned long until = jiffies + SEND_S * MSEC_PER_SEC;
	struct iovec v[NSWAP_REQ_SLOTS * 2 + 2];
	struct msghdr msg = { .msg_iov = v };
	ssize_t ret, done = 0;

	(void)pages;
	while (from->count) {
		msg.msg_iovlen = link_segments(from, v);
		ret = sendmsg(l->fd, &msg, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			return done ? done : ret ? -errno : -EPIPE;
		link_advance(from, ret);
		done += ret;
		if (!time_before(jiffies, until))
			break;
	}
	return done;
}

/* take what came ahead */
static void link_take(struct nswap_link *l, struct iov_iter *to)
{
	while (l->have && to->count) {
		struct iovec v[NSWAP_REQ_SLOTS * 2 + 2];
		size_t n;

		link_segments(to, v);
		n = min(v[0].iov_len, (size_t)l->have);
		memcpy(v[0].iov_base, l->ahead + l->at, n);
		l->at += n;
		l->have -= n;
		link_advance(to, n);
	}
}

/* what a call that received so much, or failed, says of the link */
static void link_heard(struct nswap_link *l, ssize_t ret)
{
	if (!ret)
		l->over = -ECONNRESET;
	else if (ret < 0 && errno != EAGAIN && errno != EINTR)
		l->over = -errno;
}

/* receive ahead, behind what is there; waits for LOOK_MS at most */
static void link_fetch(struct nswap_link *l, int flags)
{
	size_t room = LINK_AHEAD - l->have;
	ssize_t ret;

	memmove(l->ahead, l->ahead + l->at, l->have);
	l->at = 0;
	ret = recv(l->fd, l->ahead + l->have, room, flags);
	l->have += max(ret, (ssize_t)0);
	l->drained = ret < (ssize_t)room;
	link_heard(l, ret);
}

/* receive some, into @to, or ahead where nothing is left; likewise */
static void link_some(struct nswap_link *l, struct iov_iter *to)
{
	struct iovec v[NSWAP_REQ_SLOTS * 2 + 2];
	struct msghdr msg = { .msg_iov = v };
	ssize_t ret;

	if (to->count < LINK_AHEAD) {
		link_fetch(l, 0);
		link_take(l, to);
		return;
	}
	msg.msg_iovlen = link_segments(to, v);
	l->drained = false;
	ret = recvmsg(l->fd, &msg, MSG_WAITALL);
	if (ret > 0)
		link_advance(to, ret);
	link_heard(l, ret);
}

/* the time is for all of it: a sender that dribbles has no more than a silent one */
static int link_recv(struct nswap_link *l, struct iov_iter *to)
{
	unsigned long until = l->ms ? jiffies + l->ms : 0;

	link_take(l, to);
	while (to->count) {
		if (l->over)
			return l->over;
		link_some(l, to);
		if (to->count && l->ms && !time_before(jiffies, until))
			return -EAGAIN;
	}
	return 0;
}

/*
 * Has so much come ahead? What has come since is not asked for, which would be a system call
 * for each message: answers leave somewhat sooner, and what waits then is read at once.
 */
static bool link_ready(struct nswap_link *l, size_t len)
{
	return l->have >= len;
}

static bool link_there(const struct nswap_link *l, size_t len)
{
	return l->have >= len || l->over;
}

/*
 * What has come is received ahead, unless that was done a moment ago. A link that rests
 * calls when the rest is there.
 */
static bool link_pending(struct nswap_link *l, size_t len)
{
	if (!link_there(l, len) && (l->changed || !l->drained))
		link_fetch(l, MSG_DONTWAIT);
	if (!link_there(l, len) && l->changed)
		lend_link_needs(l, len - l->have);
	return link_there(l, len);
}

/* What comes is received ahead. It waits for a moment: no task could be woken from recv() */
static bool link_wait(struct nswap_link *l, size_t len, const bool *stop)
{
	unsigned long until = jiffies + WAIT_MS;

	while (!link_there(l, len) && !READ_ONCE(*stop) && time_before(jiffies, until))
		link_fetch(l, 0);
	return link_there(l, len);
}

/* the system sizes them */
static void link_send_most(struct nswap_link *l, unsigned int bytes)
{
	(void)l;
	(void)bytes;
}

/* it always does */
static void link_read_ahead(struct nswap_link *l, unsigned int bytes)
{
	(void)l;
	(void)bytes;
}

static int link_cpu(struct nswap_link *l)
{
	(void)l;
	return -1;
}

static void link_recv_timeout(struct nswap_link *l, unsigned int ms)
{
	l->ms = ms;
}

static void link_shutdown(struct nswap_link *l)
{
	shutdown(l->fd, SHUT_RDWR);
}

static void link_close(struct nswap_link *l)
{
	lend_link_forget(l);
	close(l->fd);
	explicit_bzero(l->ahead, sizeof(l->ahead));
	free(l);
}

/* what only the client role asks for is not there */
const struct nswap_transport_ops nswap_tcp_ops = {
	.name = "tcp",
	.connect = link_connect,
	.listen = link_listen,
	.accept = link_accept,
	.peer_addr = link_peer_addr,
	.known = link_known,
	.no_reserves = link_no_reserves,
	.on_change = lend_link_on_change,
	.send = link_send,
	.send_most = link_send_most,
	.ready = link_ready,
	.pending = link_pending,
	.wait = link_wait,
	.recv = link_recv,
	.read_ahead = link_read_ahead,
	.cpu = link_cpu,
	.recv_timeout = link_recv_timeout,
	.shutdown = link_shutdown,
	.close = link_close,
};
