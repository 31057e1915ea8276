/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Knobs: the table of settings that can be changed while a node is up.
 */
#ifndef NSWAP_KNOBS_H
#define NSWAP_KNOBS_H

#include "core/node.h"

struct netlink_ext_ack;

/**
 * struct nswap_knob - one knob: name, offset in struct nswap_knobs, bounds
 * @name: as users write it
 * @help: one line, with the unit
 * @offset: of the u32 in struct nswap_knobs
 * @min: smallest value
 * @max: largest value
 * @def: default
 */
struct nswap_knob {
	const char *name;
	const char *help;
	size_t offset;
	u32 min;
	u32 max;
	u32 def;
};

extern const struct nswap_knob nswap_knobs[];
extern const unsigned int nswap_nr_knobs;

static inline u32 *nswap_knob_at(struct nswap_knobs *knobs,
				 const struct nswap_knob *k)
{
	return (u32 *)((char *)knobs + k->offset);
}

void nswap_knobs_default(struct nswap_knobs *knobs);
const struct nswap_knob *nswap_knob_find(const char *name, u32 value,
					 struct netlink_ext_ack *ext);
int nswap_node_set_knob(struct nswap_node *node, const char *name, u32 value,
			struct netlink_ext_ack *ext);

#endif
