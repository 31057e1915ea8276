// SPDX-License-Identifier: GPL-2.0
/*
 * Weights: owners of which users said how much they get beside others, by node id.
 *
 * What a weight does, where there is not enough for all:
 *  - of the processors: hands that serve its connections are as much nicer or less nice
 *    (hands.c), and their turns longer or shorter (conn_queue.c);
 *  - of the pages that are free: as much is promised to it (cache.c).
 * It is no limit: what others do not want an owner of any weight may have.
 *
 * Invariants:
 *  - Only weights other than NSWAP_WEIGHT are kept, whether the owner is known or not, and
 *    until the node goes down: an owner that comes back has its weight.
 *  - cache->weights is the sum over cache->owners: both change under cache->lock.
 */
#include <linux/slab.h>

#include "core/node.h"
#include "weights.h"

/**
 * struct nswap_weight - a weight that was set
 * @link: among those of the cache, in the order they were set; its hello mutex, as the rest
 * @id: of the owner's node
 * @weight: NSWAP_WEIGHT_LEAST to NSWAP_WEIGHT_MOST
 */
struct nswap_weight {
	struct list_head link;
	u64 id;
	u32 weight;
};

/* the hello mutex held */
static struct nswap_weight *weight_find(const struct nswap_cache *c, u64 id)
{
	struct nswap_weight *w;

	list_for_each_entry(w, &c->weighed, link)
		if (w->id == id)
			return w;
	return NULL;
}

/* the weight of an owner that comes; process, cache->hello held */
u32 nswap_weights_of(const struct nswap_cache *c, u64 id)
{
	const struct nswap_weight *w = weight_find(c, id);

	return w ? w->weight : NSWAP_WEIGHT;
}

/* an owner that is here has another weight from now on; the hello mutex held */
static void weight_apply(struct nswap_cache *c, u64 id, u32 weight)
{
	struct nswap_owner *o;

	spin_lock(&c->lock);
	list_for_each_entry(o, &c->owners, link) {
		if (o->id != id)
			continue;
		c->weights += weight;
		c->weights -= o->weight;
		/* hands read it without the lock */
		WRITE_ONCE(o->weight, weight);
	}
	spin_unlock(&c->lock);
}

/*
 * Keep a weight, or forget that there was one; @spare: room for one, NULL once it is used.
 * Process; the hello mutex held, which HELLO and movers need: no memory is waited for.
 */
static int weight_keep(struct nswap_cache *c, u64 id, u32 weight, struct nswap_weight **spare)
{
	struct nswap_weight *w = weight_find(c, id);

	if (weight == NSWAP_WEIGHT) {
		if (w) {
			list_del(&w->link);
			c->nr_weighed--;
			kfree(w);
		}
		return 0;
	}
	if (!w) {
		if (c->nr_weighed >= NSWAP_MAX_PEERS)
			return -ENOSPC;
		w = *spare;
		*spare = NULL;
		w->id = id;
		list_add_tail(&w->link, &c->weighed);
		c->nr_weighed++;
	}
	w->weight = weight;
	return 0;
}

/**
 * nswap_weight_set() - change what an owner gets beside the others
 * @node: node, which is up
 * @id: node id of the owner, which need not be known yet
 * @weight: NSWAP_WEIGHT_LEAST to NSWAP_WEIGHT_MOST; NSWAP_WEIGHT is that of all others
 *
 * Context: process, sleeps.
 * Return: 0, -ENOMEM, -ENOSPC with NSWAP_MAX_PEERS weights.
 */
int nswap_weight_set(struct nswap_node *node, u64 id, u32 weight)
{
	struct nswap_weight *spare = kzalloc_obj(*spare);
	struct nswap_cache *c = node->cache;
	int ret;

	if (!spare)
		return -ENOMEM;
	mutex_lock(&c->hello);
	ret = weight_keep(c, id, weight, &spare);
	if (!ret)
		weight_apply(c, id, weight);
	mutex_unlock(&c->hello);
	kfree(spare);
	return ret;
}

/**
 * nswap_weight_next() - what weights were set
 * @node: node, which is up
 * @after: so many come before it
 * @v: result
 *
 * Context: process, sleeps.
 * Return: false if there is none.
 */
bool nswap_weight_next(struct nswap_node *node, unsigned int after,
		       struct nswap_weight_view *v)
{
	struct nswap_cache *c = node->cache;
	const struct nswap_weight *w;
	bool found = false;

	mutex_lock(&c->hello);
	list_for_each_entry(w, &c->weighed, link) {
		if (after--)
			continue;
		*v = (struct nswap_weight_view){ .id = w->id, .weight = w->weight };
		found = true;
		break;
	}
	mutex_unlock(&c->hello);
	return found;
}

/* the node goes down: no other uses the cache any more; process */
void nswap_weights_free(struct nswap_cache *c)
{
	struct nswap_weight *w, *next;

	list_for_each_entry_safe(w, next, &c->weighed, link)
		kfree(w);
}
