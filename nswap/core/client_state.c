// SPDX-License-Identifier: GPL-2.0
/*
 * Wake-ups of the client role: try waiting requests again, run a tick early.
 */
#include "base/workqueues.h"
#include "client_state.h"
#include "node.h"

#define CLIENT_IDLE_MS	2000

/* a new message id */
__le64 nswap_client_id(struct nswap_node *node)
{
	return cpu_to_le64(atomic64_inc_return(&node->client->next_id));
}

/**
 * nswap_client_kick() - something changed: try the waiting requests again
 * @node: node
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_client_kick(struct nswap_node *node)
{
	struct nswap_client *cl = node->client;

	atomic_inc(&cl->changes);
	/* pairs with nswap_request_wait() */
	smp_mb__after_atomic();
	if (!list_empty_careful(&cl->waiting))
		queue_work(nswap_io_wq, &cl->kick);
}

/* run the tick now */
void nswap_client_tick_now(struct nswap_node *node)
{
	mod_delayed_work(nswap_io_wq, &node->client->tick, 0);
}

/**
 * nswap_client_used() - peers are being used
 * @node: node
 *
 * Context: any, page-out path; does not sleep.
 */
void nswap_client_used(struct nswap_node *node)
{
	struct nswap_client *cl = node->client;
	bool rested = time_after(jiffies, READ_ONCE(cl->used) +
				 msecs_to_jiffies(CLIENT_IDLE_MS));

	WRITE_ONCE(cl->used, jiffies);
	/* the next tick may be far off: run one now, which sees @used */
	if (rested)
		nswap_client_tick_now(node);
}
