// SPDX-License-Identifier: GPL-2.0
/*
 * Sending pages without copying them: the socket's buffers refer to them.
 *
 * Invariants:
 *  - Of a page that is referred to, what it holds when it leaves is sent, each time it is
 *    sent: only what does not change, or what the receiver need not get as it was, may be
 *    sent so. Headers are copied, so that a message stays one.
 *  - The reference keeps the page from being used for anything else, until the other end
 *    has received it or the socket is closed. Socket buffers bound how many there are.
 *  - Memory of a slab has no references of its own: it is copied.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/uio.h>

#include "refer.h"

/**
 * nswap_refer_may() - may what is at the end of an iterator be referred to?
 * @from: to be sent
 * @pages: bytes at its end, whole pages or the rest of one and whole ones; 0 for none
 *
 * Context: any.
 * Return: true if all its pages have references.
 */
bool nswap_refer_may(const struct iov_iter *from, size_t pages)
{
	unsigned long i = from->nr_segs;
	size_t n = min(pages, iov_iter_count(from));

	if (n && !iov_iter_is_bvec(from))
		return false;
	for (; n; n -= min_t(size_t, n, from->bvec[i].bv_len))
		if (!i || !sendpage_ok(from->bvec[--i].bv_page))
			return false;
	return true;
}

/**
 * nswap_refer_send() - send what comes next of an iterator, or a part of that
 * @sock: a TCP socket
 * @from: what is left to send, not empty; it is not advanced
 * @pages: so many bytes at its end are referred to, if they come next; the rest is copied
 * @flags: of sendmsg()
 *
 * Context: process, page-out path, inside a memalloc scope; waits unless @flags say not to.
 * Return: bytes sent, or an error.
 */
int nswap_refer_send(struct socket *sock, const struct iov_iter *from, size_t pages,
		     unsigned int flags)
{
	struct msghdr msg = { .msg_iter = *from, .msg_flags = flags };
	size_t left = iov_iter_count(from);

	if (!pages)
		return sock_sendmsg(sock, &msg);
	if (left <= pages)
		return nswap_compat_splice(sock, &msg);
	iov_iter_truncate(&msg.msg_iter, left - pages);
	msg.msg_flags |= MSG_MORE;
	return sock_sendmsg(sock, &msg);
}
