// SPDX-License-Identifier: GPL-2.0
/*
 * The node: up and down, in the order of the module's (control/lifecycle.c).
 */
#include <stdio.h>

#include "base/clock.h"
#include "core/subnet.h"
#include "keys/identity.h"
#include "lend.h"
#include "migrate/mover.h"
#include "options.h"
#include "pool.h"
#include "server/held.h"
#include "server/owner.h"
#include "server/server.h"
#include "transport/sockaddr.h"

#define FOREIGN_MS	600000	/* a node of another version is remembered for so long */

static struct nswap_addr node_addr(const struct ctl_addr *from)
{
	struct nswap_addr to = {
		.family = from->family, .port = from->port, .scope = from->scope,
	};

	memcpy(to.ip, from->ip, sizeof(to.ip));
	return to;
}

#define KNOB(name, lo, hi, d, text)	{ #name, text, lo, hi, d },

static const struct {
	const char *name;
	const char *help;
	u32 least;
	u32 most;
	u32 value;
} knobs[] = { NSWAP_KNOBS(KNOB) };

static_assert(sizeof(struct nswap_knobs) == ARRAY_SIZE(knobs) * sizeof(u32));

static void node_knobs(struct nswap_node *node, const struct lend_options *o)
{
	u32 *value = (u32 *)&node->knobs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		value[i] = knobs[i].value;
	node->knobs.announce_ms = o->announce_ms;
	node->knobs.owner_max_pct = o->owner_max;
	node->knobs.lease_s = o->lease_s;
}

static const char *node_keys(struct nswap_node *node, const struct lend_options *o)
{
	struct nswap_identity_config keys = {
		.has_secret = o->own, .member = o->member, .nr = o->nr_members,
	};
	struct nswap_identity *id;

	if (!o->keys)
		return NULL;
	memcpy(keys.cluster, o->cluster, sizeof(keys.cluster));
	memcpy(keys.secret, o->key, sizeof(keys.secret));
	id = nswap_identity_make(&keys, node->id);
	memzero_explicit(&keys, sizeof(keys));
	if (IS_ERR(id))
		return PTR_ERR(id) == -EKEYREJECTED ?
			"this node's own key is not among those of the members" :
			"these keys cannot be used, make others with: nswapctl key generate";
	node->identity = id;
	node->id = nswap_identity_name(id->public);
	return NULL;
}

static const char *node_peers(struct nswap_node *node, const struct lend_options *o)
{
	size_t i;

	for (i = 0; i < o->nr_peers; i++) {
		struct nswap_addr addr = node_addr(&o->peer[i]);

		if (!nswap_addr_equal(&addr, &node->addr) &&
		    !nswap_ipt_list(&node->ipt, &addr))
			return "a node knows 1023 peers at most";
	}
	return NULL;
}

/* NULL, or why not; what was begun is ended by lend_node_down() */
const char *lend_node_up(struct nswap_node *node, const struct lend_options *o)
{
	struct netlink_ext_ack ext = {};
	const char *why;

	if (sodium_init() < 0)
		return "libsodium cannot be used here";
	node->addr = node_addr(&o->addr);
	if (nswap_addr_unusable(&node->addr))
		return "give one address of this host, not the unspecified or a multicast one";
	node->broadcast = !o->no_broadcast;
	node->stats = &node->counts;
	spin_lock_init(&node->ipt_lock);
	spin_lock_init(&node->addr_lock);
	node->id = nswap_addr_id(&node->addr, nswap_subnet_join(node));
	while (!node->epoch)
		get_random_bytes(&node->epoch, sizeof(node->epoch));
	node_knobs(node, o);
	why = node_keys(node, o);
	if (why)
		return why;
	if (nswap_ipt_init(&node->ipt))
		return "no memory";
	why = node_peers(node, o);
	if (!why)
		why = lend_pool_start(o->pages, o->lock);
	if (why)
		return why;
	if (nswap_cache_start(node, o->pages))
		return "no memory";
	if (nswap_server_start(node, &ext))
		return ext.why ? ext.why : "no memory";
	why = lend_announce_start(node);
	if (!why && nswap_mover_start(node))
		why = "cannot start threads";
	return why;
}

/*
 * From now on these are the members. All connections begin again, since each was let in
 * under the old list. NULL, or why not.
 */
const char *lend_node_trust(struct nswap_node *node, const struct lend_options *o)
{
	int ret = nswap_identity_trust(node->identity, o->member, o->nr_members);

	if (ret)
		return ret == -EKEYREJECTED ?
			"this node's own key is not among those of the members: they stay as they were" :
			"no memory for the list of members";
	nswap_server_again(node);
	return NULL;
}

/* what the module does every five seconds */
void lend_node_sweep(struct nswap_node *node)
{
	if (node->identity)
		nswap_identity_age(node->identity);
	nswap_server_sweep(node);
	nswap_pending_sweep(node->cache);
	nswap_owner_sweep(node->cache);
	spin_lock(&node->ipt_lock);
	nswap_ipt_expire(&node->ipt, nswap_now_ms(), FOREIGN_MS);
	spin_unlock(&node->ipt_lock);
}

/*
 * Follow the interface if it has another address now, as control/readdress.c; what is said
 * is said once. True if there is a new one to be announced. The main thread.
 */
bool lend_node_follow(struct nswap_node *node)
{
	struct nswap_addr now, was = node->addr;
	bool there = lend_subnet_addr(node, &now), moved = !nswap_addr_equal(&now, &was);
	const char *iface = lend_subnet_iface();
	char text[64], old[64];
	static bool gone;

	lend_addr_text(&was, old, sizeof(old));
	if (!there && !gone)
		lend_say("%s is gone from %s: no node reaches this lender until %s has an address again; to lend at that of another interface end it, and start it with --addr",
			 old, iface, iface);
	else if (moved)
		lend_say("%s has another address: %s was %s, pages stay where they are",
			 iface, lend_addr_text(&now, text, sizeof(text)), old);
	else if (there && gone)
		lend_say("%s is back at %s", old, iface);
	gone = !there;
	if (!moved)
		return false;
	spin_lock(&node->addr_lock);
	node->addr = now;
	spin_unlock(&node->addr_lock);
	nswap_server_rebind(node);
	return true;
}

void lend_node_down(struct nswap_node *node)
{
	WRITE_ONCE(node->going, true);
	lend_announce_stop();
	nswap_mover_stop(node);
	nswap_server_stop(node);
	nswap_cache_stop(node);
	nswap_mover_free(node);
	nswap_ipt_exit(&node->ipt);
	nswap_identity_free(node->identity);
	lend_pool_stop();
}
