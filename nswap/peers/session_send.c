// SPDX-License-Identifier: GPL-2.0
/*
 * Session: messages that requests of one dispatcher give, one after the other, leave
 * together.
 *
 * Invariant: a connection with a message that is not pushed is among the node's @unpushed,
 * or a task is about to push it: so any task that pushes sends them all.
 */
#include "core/client_state.h"
#include "core/node.h"
#include "session.h"

/**
 * nswap_session_send() - give a message to a connection of a peer
 * @c: the connection
 * @m: as for nswap_conn_send()
 * @more: it may be sent with others that the caller is about to give: it calls
 *	nswap_session_push() when it has none, and does not sleep before
 *
 * Context: process, page-out path: never waits for the network or memory.
 * Return: as nswap_conn_send()
 */
int nswap_session_send(struct nswap_conn *c, struct nswap_msg *m, bool more)
{
	struct nswap_peer *peer = c->peer;
	int ret;

	if (!more)
		return nswap_conn_send(c, m);
	/* the message's own reference is gone with it */
	kref_get(&peer->ref);
	ret = nswap_conn_queue(c, m);
	/* after it was queued: pairs with nswap_session_push() */
	if (ret || test_and_set_bit(0, &c->held))
		nswap_peer_put(peer);
	else
		llist_add(&c->unpushed, &peer->node->client->unpushed);
	return ret;
}

/* send what was given with more to come, by any task; context as above */
void nswap_session_push(struct nswap_node *node)
{
	struct nswap_conn *c, *next;
	struct llist_node *all;

	if (llist_empty(&node->client->unpushed))
		return;
	all = llist_del_all(&node->client->unpushed);
	llist_for_each_entry_safe(c, next, all, unpushed) {
		struct nswap_peer *peer = c->peer;

		/* not before @next was read: then it may be added to the list again */
		clear_bit_unlock(0, &c->held);
		/* pairs with nswap_session_send(): it sees this, or its message is seen */
		smp_mb__after_atomic();
		nswap_conn_push(c);
		nswap_peer_put(peer);
	}
}
