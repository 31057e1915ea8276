/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending pages without copying them.
 */
#ifndef NSWAP_REFER_H
#define NSWAP_REFER_H

#include <linux/types.h>

struct iov_iter;
struct socket;

bool nswap_refer_may(const struct iov_iter *from, size_t pages);
int nswap_refer_send(struct socket *sock, const struct iov_iter *from, size_t pages,
		     unsigned int flags);

#endif
