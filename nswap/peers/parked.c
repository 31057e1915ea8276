// SPDX-License-Identifier: GPL-2.0
/*
 * Parked page-ins: those that could not be sent to a peer, or were in flight when
 * the session broke, wait here for the next session.
 *
 * Invariants, under peer->lock:
 *  - A peer that is DEAD or LOST, or whose session has been stopped, has none:
 *    the change of state takes them off in the same critical section, and none
 *    is added after it. The tick resends what is added while the peer is UP.
 *  - The task that takes a message off the list calls its resend or lost, once,
 *    without the lock. Its lost may add it again, if the peer is back by then.
 */
#include "base/hooks.h"
#include "parked.h"
#include "pure/peer_state.h"

/*
 * Keep a page-in until the session is back. @m: an IDLE message. Context: process,
 * page-in path; does not sleep. Returns 0; -EHOSTDOWN if the peer is dead or lost:
 * there is no point in waiting.
 */
int nswap_parked_add(struct nswap_peer *peer, struct nswap_msg *m)
{
	int ret = -EHOSTDOWN;

	spin_lock(&peer->lock);
	if (!nswap_peer_hopeless(peer->state) && !READ_ONCE(peer->stop)) {
		list_add_tail(&m->link, &peer->parked);
		ret = 0;
	}
	spin_unlock(&peer->lock);
	return ret;
}

static void parked_take(struct nswap_peer *peer, struct list_head *parked)
{
	spin_lock(&peer->lock);
	list_splice_init(&peer->parked, parked);
	spin_unlock(&peer->lock);
}

/**
 * nswap_parked_resend() - send the parked page-ins again
 * @peer: a peer that is UP
 *
 * Context: process, page-in path; does not sleep.
 */
void nswap_parked_resend(struct nswap_peer *peer)
{
	struct nswap_msg *m, *next;
	LIST_HEAD(parked);

	parked_take(peer, &parked);
	list_for_each_entry_safe(m, next, &parked, link) {
		list_del_init(&m->link);
		nswap_hooks.resend(peer, m);
	}
}

/*
 * Call lost of messages taken from their peer; @parked is empty afterwards; process,
 * page-in path; does not sleep; without the peer's lock.
 */
void nswap_parked_lose(struct list_head *parked)
{
	struct nswap_msg *m, *next;

	list_for_each_entry_safe(m, next, parked, link) {
		list_del_init(&m->link);
		m->lost(m);
	}
}

/* fail all parked page-ins; process, page-in path; does not sleep */
void nswap_parked_stop(struct nswap_peer *peer)
{
	LIST_HEAD(parked);

	parked_take(peer, &parked);
	nswap_parked_lose(&parked);
}
