/* SPDX-License-Identifier: GPL-2.0 */
/*
 * STORE: the message that sends pages to a peer, and its answer.
 */
#ifndef NSWAP_STORE_H
#define NSWAP_STORE_H

#include "core/request.h"

/**
 * struct nswap_store_ops - callbacks for the answer to a STORE
 * @stored: the peer has the page of a slot, counted from the request's, under
 *	the generation that was sent (required)
 * @given_up: the peer refused it, did not answer, or its session broke: this
 *	generation is given up, and the slot must not name the peer (required).
 *	The caller then deals with what the peer may hold of it, and with its
 *	count of slots.
 * @end: called after @stored or @given_up of every slot; the argument has those
 *	given up (required). Puts @op->peer and the message's share of
 *	@pending; the message may be used again from then on.
 * @keeps_gen: a slot that was given up still has this generation, and a peer may be
 *	recorded with it: what comes late must be the page
 *
 * Context of all: process, page-out path: they do not sleep or allocate.
 */
struct nswap_store_ops {
	void (*stored)(struct nswap_op *op, unsigned int i);
	void (*given_up)(struct nswap_op *op, unsigned int i);
	void (*end)(struct nswap_op *op, unsigned long given_up);
	bool keeps_gen;
};

struct nswap_op *nswap_store_op(struct nswap_io *io, unsigned int first,
				unsigned int nr, struct nswap_peer *peer,
				const struct nswap_store_ops *ops);
void nswap_store_reserved(struct nswap_op *op);
void nswap_store_send(struct nswap_op *op);

#endif
