// SPDX-License-Identifier: GPL-2.0
/*
 * Control messages of a peer: one of each kind, allocated with the peer, so
 * that asking, freeing and comparing never need memory.
 *
 * Invariant: a control message is claimed (bit 0 of busy) from before it is
 * filled in until its answer has been handled or it was lost.
 */
#include <linux/bitops.h>
#include <linux/slab.h>

#include "base/hooks.h"
#include "core/client_state.h"
#include "core/node.h"
#include "ctl.h"
#include "grants.h"
#include "place.h"
#include "reconcile.h"

static void ctl_lost(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);

	nswap_ctl_release(c);
	wake_up_all(&c->peer->wait);
}

/* Returns 0, or -ENOMEM */
int nswap_ctl_init(struct nswap_ctl *c, struct nswap_peer *peer, bool runs,
		   int (*answer)(struct nswap_msg *m))
{
	c->peer = peer;
	c->m.answer = answer;
	c->m.lost = ctl_lost;
	INIT_LIST_HEAD(&c->m.link);
	if (!runs)
		return 0;
	c->run = kcalloc(NSWAP_WIRE_RUNS, sizeof(*c->run), GFP_KERNEL);
	return c->run ? 0 : -ENOMEM;
}

void nswap_ctl_exit(struct nswap_ctl *c)
{
	kfree(c->run);
	c->run = NULL;
}

/* reserve the message for filling in and sending; false if it is in use */
bool nswap_ctl_claim(struct nswap_ctl *c)
{
	return !test_and_set_bit_lock(0, &c->busy);
}

/* is the message in use? a snapshot */
bool nswap_ctl_claimed(const struct nswap_ctl *c)
{
	return test_bit(0, &c->busy);
}

/* a claimed message may be used again */
void nswap_ctl_release(struct nswap_ctl *c)
{
	clear_bit_unlock(0, &c->busy);
}

/**
 * nswap_ctl_send() - send a claimed message on the control connection
 * @c: the message; slot, instance and flags in @c->m.hdr are sent as they are
 * @type: enum nswap_wire_type
 * @nr: runs in @c->run, or a count for grants
 *
 * Context: process, page-out path; does not sleep.
 * Return: 0; -ENOTCONN without a session, which releases the message.
 */
int nswap_ctl_send(struct nswap_ctl *c, u8 type, u32 nr)
{
	u32 bytes = type == NSWAP_FREE ? nr * sizeof(*c->run) :
		    type == NSWAP_CLAIM ? nr * sizeof(struct nswap_wire_page) : 0;
	__le32 instance = c->m.hdr.instance;
	__le64 slot = c->m.hdr.slot;
	__le16 flags = c->m.hdr.flags;
	int ret;

	nswap_wire_init(&c->m.hdr, type, nr, bytes);
	c->m.hdr.id = nswap_client_id(c->peer->node);
	c->m.hdr.instance = instance;
	c->m.hdr.slot = slot;
	c->m.hdr.flags = flags;
	bvec_set_page(&c->vec[0], virt_to_page(&c->m.hdr), sizeof(c->m.hdr),
		      offset_in_page(&c->m.hdr));
	if (bytes)
		bvec_set_page(&c->vec[1], virt_to_page(c->run), bytes, offset_in_page(c->run));
	c->m.plain = c->run;
	iov_iter_bvec(&c->m.iter, ITER_SOURCE, c->vec, bytes ? 2 : 1,
		      sizeof(c->m.hdr) + bytes);
	ret = nswap_conn_send(&c->peer->conn[0], &c->m);
	if (ret)
		nswap_ctl_release(c);
	return ret;
}

/* ask whether a peer is alive; its ping is claimed */
void nswap_ctl_ping(struct nswap_peer *peer)
{
	WRITE_ONCE(peer->pinged, jiffies);
	nswap_ctl_send(&peer->ping, NSWAP_PING, 0);
}

/* Add one slot to the runs of a claimed message; false if the message is full. */
bool nswap_ctl_add_run(struct nswap_ctl *c, u32 instance, u64 slot, u32 gen)
{
	struct nswap_wire_run *r = c->nr ? &c->run[c->nr - 1] : NULL;

	if (r && le32_to_cpu(r->instance) == instance &&
	    le32_to_cpu(r->gen) == gen &&
	    le64_to_cpu(r->slot) + le32_to_cpu(r->count) == slot) {
		le32_add_cpu(&r->count, 1);
		return true;
	}
	if (c->nr == NSWAP_WIRE_RUNS)
		return false;
	c->run[c->nr++] = (struct nswap_wire_run){
		.instance = cpu_to_le32(instance), .gen = cpu_to_le32(gen),
		.slot = cpu_to_le64(slot), .count = cpu_to_le32(1),
	};
	return true;
}

static int check_answer(struct nswap_ctl *c, u8 type)
{
	const struct nswap_wire_hdr *rx = &c->m.conn->rx;

	return rx->type == type ? 0 : -EPROTO;
}

/* what the peer has for this node, and perhaps grants */
static int ctl_granted(struct nswap_ctl *c, u8 type)
{
	const struct nswap_wire_hdr *rx = &c->m.conn->rx;
	bool shares = rx->flags & cpu_to_le16(NSWAP_F_SHARE);
	int ret = check_answer(c, type);

	if (!ret && shares && !(c->peer->features & NSWAP_HAS_SHARES))
		ret = -EPROTO;
	if (ret)
		return ret;
	nswap_place_share(c->peer, shares ? le32_to_cpu(rx->nr) : U32_MAX);
	nswap_peer_granted(c->peer, le32_to_cpu(rx->grants), le64_to_cpu(rx->free));
	return 0;
}

static int ping_answered(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);
	int ret = ctl_granted(c, NSWAP_PONG);

	nswap_ctl_release(c);
	return ret;
}

static int grant_answered(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);
	int ret = ctl_granted(c, NSWAP_GRANT);

	nswap_ctl_release(c);
	return ret;
}

static int forget_answered(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);
	int ret = check_answer(c, NSWAP_FREE_ACK);

	nswap_ctl_release(c);
	wake_up_all(&c->peer->wait);
	return ret;
}

/* Returns 0, or -ENOMEM */
int nswap_ctl_init_all(struct nswap_peer *peer)
{
	return nswap_ctl_init(&peer->ping, peer, false, ping_answered) ?:
	       nswap_ctl_init(&peer->ask, peer, false, grant_answered) ?:
	       nswap_ctl_init(&peer->back, peer, false, grant_answered) ?:
	       nswap_ctl_init(&peer->forget, peer, false, forget_answered) ?:
	       nswap_reconcile_init(peer) ?:
	       nswap_hooks.peer_made(peer);
}

/* @peer: without a session */
void nswap_ctl_exit_all(struct nswap_peer *peer)
{
	nswap_ctl_exit(&peer->frees);
	nswap_ctl_exit(&peer->claim);
	nswap_ctl_exit(&peer->reconcile.ask);
	nswap_ctl_exit(&peer->reconcile.drop);
}
