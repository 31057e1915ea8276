// SPDX-License-Identifier: GPL-2.0
/*
 * Knobs of a node: their names, bounds and defaults, and changing one.
 *
 * Invariants:
 *  - A knob is one u32; a user reads it once (nswap_knob()) and may see an old
 *    value for a moment.
 *  - Changes are serialised by the node's control lock.
 */
#include "knobs.h"
#include "migrate/rebalance.h"
#include "observe/meter.h"
#include "server/sizing.h"
#include "tiering/prefetcher.h"

#define KNOB(field, lo, hi, d, text) \
	{ .name = #field, .help = text, .min = lo, .max = hi, .def = d, \
	  .offset = offsetof(struct nswap_knobs, field) },

const struct nswap_knob nswap_knobs[] = { NSWAP_KNOBS(KNOB) };

const unsigned int nswap_nr_knobs = ARRAY_SIZE(nswap_knobs);

/* the values that knobs have until they are changed */
void nswap_knobs_default(struct nswap_knobs *knobs)
{
	unsigned int i;

	for (i = 0; i < nswap_nr_knobs; i++)
		*nswap_knob_at(knobs, &nswap_knobs[i]) = nswap_knobs[i].def;
}

/* the knob of this name, which may have this value; ERR_PTR(-ENOENT), (-ERANGE) */
const struct nswap_knob *nswap_knob_find(const char *name, u32 value,
					 struct netlink_ext_ack *ext)
{
	const struct nswap_knob *k;

	for (k = nswap_knobs; k < nswap_knobs + nswap_nr_knobs; k++) {
		if (strcmp(k->name, name))
			continue;
		if (value >= k->min && value <= k->max)
			return k;
		NL_SET_ERR_MSG_FMT(ext, "%s must be between %u and %u", k->name,
				   k->min, k->max);
		return ERR_PTR(-ERANGE);
	}
	NL_SET_ERR_MSG(ext, "there is no knob of that name, see: nswapctl set");
	return ERR_PTR(-ENOENT);
}

/**
 * nswap_node_set_knob() - change a knob
 * @node: node
 * @name: its name
 * @value: its value
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, -ENOENT, -ERANGE, -ENOMEM.
 */
int nswap_node_set_knob(struct nswap_node *node, const char *name, u32 value,
			struct netlink_ext_ack *ext)
{
	const struct nswap_knob *k;
	u32 before;
	int ret;

	k = nswap_knob_find(name, value, ext);
	if (IS_ERR(k))
		return PTR_ERR(k);
	mutex_lock(&node->control);
	before = *nswap_knob_at(&node->knobs, k);
	WRITE_ONCE(*nswap_knob_at(&node->knobs, k), value);
	ret = nswap_meter_apply(node);
	if (ret)
		WRITE_ONCE(*nswap_knob_at(&node->knobs, k), before);
	if (!ret && k->offset == offsetof(struct nswap_knobs, owner_away_s))
		nswap_sizing_owner_away(node, value);
	nswap_sizing_now(node);
	nswap_rebalance_now(node);
	if (k->offset == offsetof(struct nswap_knobs, prefetch_period_ms))
		nswap_prefetchers_kick(node);
	mutex_unlock(&node->control);
	return ret;
}
