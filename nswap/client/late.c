// SPDX-License-Identifier: GPL-2.0
/*
 * Late answers: to messages that were given up before they were answered.
 */
#include "core/devices.h"
#include "core/node.h"
#include "free.h"
#include "late.h"
#include "peers/grants.h"
#include "peers/parked.h"
#include "peers/reconcile.h"

/* a page-out was given up but stored all the same: the copy is obsolete */
static int late_store(struct nswap_conn *c)
{
	struct nswap_node *node = c->peer->node;
	struct nswap_wire_result *r = c->scratch;
	u32 i, nr = le32_to_cpu(c->rx.nr);
	u64 slot = le64_to_cpu(c->rx.slot);
	struct nswap_device *dev;
	int ret;

	ret = nswap_conn_plain(c, r, nr * sizeof(*r));
	if (ret)
		return ret;
	nswap_peer_granted(c->peer, le32_to_cpu(c->rx.grants),
			   le64_to_cpu(c->rx.free));
	rcu_read_lock();
	dev = nswap_device_find(node, le32_to_cpu(c->rx.instance));
	/* no message waits for it that would say which slots it may name */
	if (dev && (slot >= dev->map.nr || nr > dev->map.nr - slot)) {
		rcu_read_unlock();
		return -EPROTO;
	}
	if (!dev)
		nswap_reconcile_soon(c->peer);
	for (i = 0; dev && i < nr; i++) {
		if (le32_to_cpu(r[i].status) != NSWAP_ST_OK)
			continue;
		nswap_peer_slots(node, c->peer->index, 1);
		nswap_free_orphan(dev, slot + i, le32_to_cpu(r[i].gen),
				  c->peer->index);
	}
	rcu_read_unlock();
	return 0;
}

/*
 * Receive an answer that no request waits for any more. @c: connection; its header is
 * in @c->rx, its payload not received. Context: process, the connection's receiver;
 * sleeps. Returns 0 to go on, an error to break the session.
 */
int nswap_late_answer(struct nswap_conn *c)
{
	switch (c->rx.type) {
	case NSWAP_STORE_ACK:
		return late_store(c);
	case NSWAP_LOAD_REPLY:
		nswap_peer_answered_late(c->peer, c->number);
		return nswap_drain(c->t, c->l, c->scratch,
				   le32_to_cpu(c->rx.bytes));
	default:
		return -EPROTO;
	}
}
