/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transport: framed messages travel over links; the roles use only this table.
 *
 * A link is a reliable byte stream between two nodes. It knows nothing of
 * swap. TCP is the only transport today; another one is another table.
 */
#ifndef NSWAP_TRANSPORT_H
#define NSWAP_TRANSPORT_H

#include <linux/uio.h>

#include "base/types.h"

struct net;
struct nswap_link;

/**
 * struct nswap_transport_ops - what a transport offers (all required)
 * @name: shown to users
 * @connect: open a link from one address to another; waits at most the given
 *	ms. Process context of a kernel thread (its memory cgroup is charged).
 *	Returns an ERR_PTR: -ECONNREFUSED if no node listens there or a firewall
 *	says so, -ETIMEDOUT if there was no answer, or another error.
 * @listen: listen at an address. As @connect; -EADDRINUSE, -EADDRNOTAVAIL.
 * @accept: wait for a connection at a listening link. -EINVAL after @shutdown.
 * @peer_addr: the address at the other end.
 * @known: the other end of an accepted link is believed; until then it has buffers for
 *	a HELLO. Once; the receiver.
 * @no_reserves: from now on what this link receives may not use memory
 *	reserves; sending always may. Call it while nothing is in flight.
 * @on_writable: call @fn(@arg), in a context that may not sleep, when @send may
 *	go on after -EAGAIN; spurious calls are possible.
 * @on_change: likewise when anything has come, or the link has ended; @fn NULL: not any
 *	more, and no call is under way then. Process; not with @on_writable.
 * @fits: would @send surely take so many bytes at once, without waiting? Any context.
 * @send: send from @from, advance it. @pages: so many bytes at its end are pages that
 *	need not be copied: the link may refer to them until they have come, or the link
 *	is closed. @wait: sleep until all is sent or the link breaks; else -EAGAIN when
 *	not even a part fits. Returns bytes sent. Page-out path; one caller at a time.
 * @send_most: from now on @send sleeps while about so many bytes have not come to the other
 *	end, or more, if that is less than the link has room for. The sender.
 * @ready: have so many bytes come, so that @recv of them would not sleep? The receiver.
 * @pending: have so many bytes come, or has the link ended? Any context. The receiver, or
 *	while there is none.
 * @wait: sleep until @pending, or its task is woken and @stop is set. Returns @pending. The
 *	receiver.
 * @recv: fill @to completely or fail. One caller at a time.
 * @read_ahead: from now on @recv of fewer bytes than this takes up to as many at once, if
 *	they are there, and keeps what is not asked for yet. The receiver.
 * @cpu: where the last packet of the link was received, negative if unknown.
 * @recv_timeout: let @recv fail with -EAGAIN if not all has come after that many ms,
 *	or twice as many if part of it has; 0 for never.
 * @shutdown: both directions; wakes every waiter with an error. Any process
 *	context, as long as the link is not closed.
 * @close: free the link; no other user may be left.
 */
struct nswap_transport_ops {
	const char *name;
	struct nswap_link *(*connect)(struct net *net,
				      const struct nswap_addr *from,
				      const struct nswap_addr *to,
				      unsigned int ms);
	struct nswap_link *(*listen)(struct net *net,
				     const struct nswap_addr *at);
	struct nswap_link *(*accept)(struct nswap_link *listener);
	int (*peer_addr)(struct nswap_link *l, struct nswap_addr *addr);
	void (*known)(struct nswap_link *l);
	void (*no_reserves)(struct nswap_link *l);
	void (*on_writable)(struct nswap_link *l, void (*fn)(void *), void *arg);
	void (*on_change)(struct nswap_link *l, void (*fn)(void *), void *arg);
	bool (*fits)(struct nswap_link *l, size_t len);
	ssize_t (*send)(struct nswap_link *l, struct iov_iter *from, size_t pages,
			bool wait);
	void (*send_most)(struct nswap_link *l, unsigned int bytes);
	bool (*ready)(struct nswap_link *l, size_t len);
	bool (*pending)(struct nswap_link *l, size_t len);
	bool (*wait)(struct nswap_link *l, size_t len, const bool *stop);
	int (*recv)(struct nswap_link *l, struct iov_iter *to);
	void (*read_ahead)(struct nswap_link *l, unsigned int bytes);
	int (*cpu)(struct nswap_link *l);
	void (*recv_timeout)(struct nswap_link *l, unsigned int ms);
	void (*shutdown)(struct nswap_link *l);
	void (*close)(struct nswap_link *l);
};

/* for @read_ahead: of a link that carries pages, of one that does not */
#define NSWAP_AHEAD_PAGES	200u
#define NSWAP_AHEAD_SMALL	1536u

extern const struct nswap_transport_ops nswap_tcp_ops;

/* @pages of ->send() for so many: to refer to a few costs more than to copy them */
static inline size_t nswap_refer_pages(unsigned int nr)
{
	return nr < 4 ? 0 : nr * PAGE_SIZE;
}

int nswap_recv_buf(const struct nswap_transport_ops *t, struct nswap_link *l,
		   void *buf, size_t len);
int nswap_send_all(const struct nswap_transport_ops *t, struct nswap_link *l,
		   struct iov_iter *from, size_t pages);
int nswap_send_buf(const struct nswap_transport_ops *t, struct nswap_link *l,
		   const void *buf, size_t len);
int nswap_drain(const struct nswap_transport_ops *t, struct nswap_link *l,
		void *scratch, size_t len);

#endif
