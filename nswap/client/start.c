// SPDX-License-Identifier: GPL-2.0
/*
 * Client role: starts with its node, before the first peer and the first device.
 */
#include <linux/slab.h>

#include "core/client_state.h"
#include "core/node.h"
#include "free.h"
#include "hedge.h"
#include "park.h"
#include "peers/loss.h"
#include "request_queue.h"
#include "start.h"
#include "timers.h"

/* allocate the client role and its work. Returns 0, or -ENOMEM */
int nswap_client_start(struct nswap_node *node)
{
	struct nswap_client *cl = kzalloc(sizeof(*cl), GFP_KERNEL);

	if (!cl)
		return -ENOMEM;
	cl->orphan = kvcalloc(NSWAP_ORPHANS, sizeof(*cl->orphan), GFP_KERNEL);
	if (!cl->orphan || nswap_client_ids_init(cl)) {
		kvfree(cl->orphan);
		kfree(cl);
		return -ENOMEM;
	}
	cl->node = node;
	cl->used = jiffies;
	cl->ticked = jiffies;
	cl->due = jiffies;
	cl->awake = jiffies;
	spin_lock_init(&cl->wait_lock);
	spin_lock_init(&cl->orphan_lock);
	spin_lock_init(&cl->loss_lock);
	INIT_LIST_HEAD(&cl->waiting);
	INIT_LIST_HEAD(&cl->for_room);
	bio_list_init(&cl->ready);
	init_waitqueue_head(&cl->returns_wait);
	INIT_WORK(&cl->kick, nswap_request_kick_work);
	INIT_WORK(&cl->unpark, nswap_park_work);
	INIT_DELAYED_WORK(&cl->tick, nswap_timers_tick);
	INIT_DELAYED_WORK(&cl->frees, nswap_free_work);
	INIT_WORK(&cl->losses, nswap_loss_work);
	nswap_hedge_init(cl);
	node->client = cl;
	return 0;
}

/* undo nswap_client_start(); @node has no devices and no peers any more */
void nswap_client_stop(struct nswap_node *node)
{
	struct nswap_client *cl = node->client;

	if (!cl)
		return;
	cancel_delayed_work_sync(&cl->tick);
	nswap_hedge_exit(cl);
	cancel_delayed_work_sync(&cl->frees);
	cancel_work_sync(&cl->losses);
	cancel_work_sync(&cl->kick);
	cancel_work_sync(&cl->unpark);
	nswap_client_ids_exit(cl);
	kvfree(cl->orphan);
	kfree(cl);
	node->client = NULL;
}
