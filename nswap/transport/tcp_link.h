/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link over TCP: shared by the files of that transport alone.
 */
#ifndef NSWAP_TCP_LINK_H
#define NSWAP_TCP_LINK_H

#include <linux/bvec.h>
#include <linux/mutex.h>

#include "transport.h"

struct sock;
struct socket;

/**
 * struct nswap_link - a link over TCP
 * @sock: its socket
 * @own: serialises tasks other than the link's thread
 * @reserves: what it receives may use memory reserves
 * @buffer: bytes each way, of the budget; 0 until the other end is known
 * @changed: called when it may be sent to again, or when anything has happened; NULL: not
 * @arg: for @changed
 * @reads: @changed is called when anything has happened
 * @saved_write_space: the socket's own functions, while there is @changed
 * @saved_data_ready: likewise, with @reads
 * @saved_state_change: likewise
 * @most: to read ahead
 * @at: where in @ahead
 * @have: so many bytes of it are still to be taken
 * @bv: pages and @ahead
 * @ahead: what was read ahead
 */
struct nswap_link {
	struct socket *sock;
	struct mutex own;
	bool reserves;
	u32 buffer;
	void (*changed)(void *arg);
	void *arg;
	bool reads;
	void (*saved_write_space)(struct sock *sk);
	void (*saved_data_ready)(struct sock *sk);
	void (*saved_state_change)(struct sock *sk);
	unsigned int most;
	unsigned int at;
	unsigned int have;
	struct bio_vec bv[NSWAP_REQ_SLOTS + 1];
	u8 ahead[NSWAP_AHEAD_SMALL];
};

/* tcp_wake.c */
void nswap_tcp_on_writable(struct nswap_link *l, void (*fn)(void *), void *arg);
void nswap_tcp_on_change(struct nswap_link *l, void (*fn)(void *), void *arg);
void nswap_tcp_quiet(struct nswap_link *l);
bool nswap_tcp_ready(struct nswap_link *l, size_t len);
bool nswap_tcp_pending(struct nswap_link *l, size_t len);
bool nswap_tcp_wait(struct nswap_link *l, size_t len, const bool *stop);

#endif
