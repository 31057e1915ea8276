/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link over TCP: shared by link.c and link_wake.c alone.
 */
#ifndef LEND_LINK_H
#define LEND_LINK_H

#include "transport/transport.h"

#define LINK_AHEAD	(32 << 10)	/* bytes */

/**
 * struct nswap_link - a connection, or where connections are accepted
 * @fd: socket
 * @ms: for all of what is received at once, 0 for no limit
 * @at: where in @ahead
 * @have: so many bytes of it are still to be taken
 * @drained: what came last was all there was then, in this turn of its hand
 * @needs: so much is to come before @changed is called
 * @over: nothing more will come: 0 or why, as an error
 * @changed: called when @needs bytes have come, or it has ended; NULL: not; link_wake.c
 * @arg: for @changed
 * @watched: the socket is one of those that are waited for
 * @ahead: what came ahead
 */
struct nswap_link {
	int fd;
	u32 ms;
	u32 at;
	u32 have;
	bool drained;
	u32 needs;
	int over;
	void (*changed)(void *arg);
	void *arg;
	bool watched;
	u8 ahead[LINK_AHEAD];
};

/* link_wake.c */
void lend_link_needs(struct nswap_link *l, size_t bytes);
void lend_link_on_change(struct nswap_link *l, void (*fn)(void *), void *arg);
void lend_link_forget(struct nswap_link *l);

#endif
