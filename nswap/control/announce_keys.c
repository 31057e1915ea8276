// SPDX-License-Identifier: GPL-2.0
/*
 * Announcements between nodes with keys: a member sent them, and they are new. Nothing is
 * done with one before both are known, and what is refused is counted.
 */
#include "announce_keys.h"
#include "base/clock.h"
#include "keys/datagram.h"
#include "pure/ip_counter.h"

/* the tag into a datagram, complete otherwise; any context */
void nswap_announce_sign(const struct nswap_node *node, struct nswap_wire_announce *out)
{
	if (node->identity)
		nswap_datagram_put(node->identity, &out->hdr, sizeof(*out));
}

/* is a datagram not a member's? @in: afterwards without its tag; any context */
bool nswap_announce_forged(struct nswap_node *node, struct nswap_wire_announce *in, int len)
{
	if (!node->identity ||
	    (len == sizeof(*in) && !nswap_datagram_take(node->identity, &in->hdr, len)))
		return false;
	nswap_stat_inc(node, announce_forged);
	return true;
}

/* was it heard before, or is it of a node that is no member? process */
bool nswap_announce_again(struct nswap_node *node, const struct nswap_announcement *a)
{
	bool again;

	if (!node->identity)
		return false;
	spin_lock_irq(&node->ipt_lock);
	again = nswap_ipt_replay(&node->ipt, a, nswap_now_ms());
	spin_unlock_irq(&node->ipt_lock);
	again = again || !nswap_identity_knows(node->identity, a->id);
	if (again)
		nswap_stat_inc(node, announce_forged);
	return again;
}
