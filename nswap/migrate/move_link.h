/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Links of a mover: to the peers that take pages, and to the owners.
 */
#ifndef NSWAP_MOVE_LINK_H
#define NSWAP_MOVE_LINK_H

#include <linux/bvec.h>

#include "keys/tags.h"
#include "pure/wire.h"
#include "transport/transport.h"

struct nswap_totals;

/**
 * struct nswap_move_link - one link, to one peer at a time
 * @node: node
 * @t: transport
 * @class: enum nswap_conn_class
 * @l: open link, or NULL
 * @id: node it leads to
 * @epoch: its epoch, from GREET
 * @features: NSWAP_HAS_* that both sides have
 * @lists: nswap_identity @lists when it was opened
 * @tags: of its messages
 * @hdr: header being sent or received
 */
struct nswap_move_link {
	struct nswap_node *node;
	const struct nswap_transport_ops *t;
	u8 class;
	struct nswap_link *l;
	u64 id;
	u64 epoch;
	u64 features;
	u32 lists;
	struct nswap_tags tags;
	struct nswap_wire_hdr hdr;
};

bool nswap_move_link_leads(const struct nswap_move_link *ml, u64 id);
int nswap_move_link_open(struct nswap_move_link *ml, u64 id,
			 const struct nswap_addr *addr);
void nswap_move_link_close(struct nswap_move_link *ml);
int nswap_move_link_ask(struct nswap_move_link *ml, struct bio_vec *bv,
			unsigned int nr_bv, const void *plain, size_t pages, u8 answer,
			struct nswap_wire_result *result);
int nswap_move_link_stat(struct nswap_move_link *ml, struct nswap_totals *t);

#endif
