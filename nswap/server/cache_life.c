// SPDX-License-Identifier: GPL-2.0
/*
 * Nswap Cache: start and stop with its node, and views for users.
 */
#include <linux/slab.h>

#include "base/views.h"
#include "core/node.h"
#include "owner.h"
#include "held.h"
#include "weights.h"

/**
 * nswap_cache_start() - create the Nswap Cache of a node
 * @node: node being brought up
 * @pages: how many to lend at most
 *
 * Under an adaptive size policy nothing is lent until the policy says so.
 *
 * Context: process, sleeps.
 * Return: 0, or -ENOMEM.
 */
int nswap_cache_start(struct nswap_node *node, u64 pages)
{
	struct nswap_cache *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	c->node = node;
	mutex_init(&c->hello);
	INIT_LIST_HEAD(&c->movers);
	spin_lock_init(&c->lock);
	INIT_LIST_HEAD(&c->all);
	INIT_LIST_HEAD(&c->pool);
	INIT_LIST_HEAD(&c->owners);
	INIT_LIST_HEAD(&c->weighed);
	INIT_LIST_HEAD(&c->sent);
	INIT_DELAYED_WORK(&c->fill, nswap_cache_fill_work);
	INIT_DELAYED_WORK(&c->sent_look, nswap_cache_sent_work);
	c->adaptive = nswap_node_size(node)->adaptive;
	node->cache = c;
	nswap_cache_lend(c, pages);
	return 0;
}

/* drop all pages; @node has no connections of owners any more */
void nswap_cache_stop(struct nswap_node *node)
{
	struct nswap_cache *c = node->cache;
	struct nswap_owner *o, *next;

	if (!c)
		return;
	nswap_cache_close(c);
	cancel_delayed_work_sync(&c->fill);
	list_for_each_entry_safe(o, next, &c->owners, link) {
		nswap_owner_over(c, o, o->epoch);
		nswap_cache_ungrant(c, o);
		list_del(&o->link);
		kfree(o);
	}
	nswap_cache_sent_stop(c);
	nswap_cache_close(c);
	WARN_ON_ONCE(c->allocated);
	nswap_weights_free(c);
	kfree(c);
	node->cache = NULL;
}

/* a trend's name for users */
const char *nswap_trend_name(u8 trend)
{
	static const char *const names[NSWAP_TRENDS] = {
		[NSWAP_TREND_STEADY] = "steady",
		[NSWAP_TREND_GROWING] = "growing",
		[NSWAP_TREND_SHRINKING] = "shrinking",
	};

	return trend < NSWAP_TRENDS ? names[trend] : "unknown";
}

/* cache->lock held */
static u8 cache_trend(const struct nswap_cache *c)
{
	if (nswap_cache_shrinks(c))
		return NSWAP_TREND_SHRINKING;
	return c->trend == NSWAP_TREND_GROWING ? NSWAP_TREND_GROWING :
						 NSWAP_TREND_STEADY;
}

/* a snapshot of the Nswap Cache */
void nswap_cache_get_view(struct nswap_node *node, struct nswap_cache_view *v)
{
	struct nswap_cache *c = node->cache;
	const struct nswap_owner *o;

	spin_lock(&c->lock);
	*v = (struct nswap_cache_view){
		.lent = c->lent, .target = c->target,
		.surplus = nswap_cache_above(c), .free = nswap_cache_promisable(c),
		.trend = cache_trend(c), .allocated = c->allocated,
		.shrinker_calls = c->shrinker_calls, .set_aside = c->set_aside,
		.granted = c->granted, .held = c->held, .ram = c->ram,
		.owners = c->nr_owners,
	};
	list_for_each_entry(o, &c->owners, link) {
		u32 fresh = READ_ONCE(o->ready.fresh);

		v->held += fresh;
		v->ram += fresh;
		v->set_aside += READ_ONCE(o->ready.nr);
		v->granted += READ_ONCE(o->ready.promised);
	}
	spin_unlock(&c->lock);
}

/* a snapshot of one owner */
bool nswap_owner_next(struct nswap_node *node, unsigned int after,
		      struct nswap_owner_view *v)
{
	struct nswap_cache *c = node->cache;
	struct nswap_owner *o;
	bool found = false;
	u64 share;

	mutex_lock(&c->hello);
	list_for_each_entry(o, &c->owners, link) {
		if (after--)
			continue;
		share = min(nswap_cache_share(c), READ_ONCE(c->target));
		spin_lock(&o->lock);
		spin_lock(&c->lock);
		*v = (struct nswap_owner_view){
			.id = o->id, .epoch = o->epoch,
			.held = o->held + o->ready.fresh,
			.ram = o->ram + o->ready.fresh,
			.granted = o->granted + o->ready.promised,
			.connected = !list_empty(&o->conns),
			.no_home = nswap_owner_homeless(o),
			.reserved = o->reserved,
			.weight = o->weight,
			.share = share,
		};
		spin_unlock(&c->lock);
		spin_unlock(&o->lock);
		found = true;
		break;
	}
	mutex_unlock(&c->hello);
	return found;
}
