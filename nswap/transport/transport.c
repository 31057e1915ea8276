// SPDX-License-Identifier: GPL-2.0
/*
 * Transport: what is the same for each of them.
 */
#include <linux/mm.h>

#include "transport.h"

/* receive exactly @len bytes into kernel memory */
int nswap_recv_buf(const struct nswap_transport_ops *t, struct nswap_link *l,
		   void *buf, size_t len)
{
	struct kvec v = { .iov_base = buf, .iov_len = len };
	struct iov_iter it;

	iov_iter_kvec(&it, ITER_DEST, &v, 1, len);
	return t->recv(l, &it);
}

/*
 * Send all of an iterator. @pages: as ->send(). Context: process, sleeps until sent; never
 * in a page-out's own context. Returns 0, or the transport's error.
 */
int nswap_send_all(const struct nswap_transport_ops *t, struct nswap_link *l,
		   struct iov_iter *from, size_t pages)
{
	size_t len = iov_iter_count(from);
	ssize_t ret = t->send(l, from, pages, true);

	if (ret < 0)
		return ret;
	return ret == len ? 0 : -EPIPE;
}

/**
 * nswap_send_buf() - send exactly @len bytes of kernel memory
 * @t: transport
 * @l: link
 * @buf: linear kernel memory
 * @len: bytes
 *
 * Context: process, sleeps until sent; never in a page-out's own context.
 * Return: 0, or the transport's error.
 */
int nswap_send_buf(const struct nswap_transport_ops *t, struct nswap_link *l,
		   const void *buf, size_t len)
{
	struct kvec v = { .iov_base = (void *)buf, .iov_len = len };
	struct iov_iter it;

	iov_iter_kvec(&it, ITER_SOURCE, &v, 1, len);
	return nswap_send_all(t, l, &it, 0);
}

/* receive and discard @len bytes */
int nswap_drain(const struct nswap_transport_ops *t, struct nswap_link *l,
		void *scratch, size_t len)
{
	int ret = 0;

	while (len && !ret) {
		size_t n = min_t(size_t, len, PAGE_SIZE);

		ret = nswap_recv_buf(t, l, scratch, n);
		len -= n;
	}
	return ret;
}
