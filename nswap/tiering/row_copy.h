/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bringing pages to other cells, from the visible device to cells, and back.
 */
#ifndef NSWAP_ROW_COPY_H
#define NSWAP_ROW_COPY_H

#include "client/batch.h"
#include "core/parity.h"

/**
 * struct nswap_row_copy - a batch of pages that are brought elsewhere
 * @parity: their rows
 * @b: the batch: io.slot are their cells, io.outer their slots
 * @one: for rebuilding a page
 * @old: of each page, its cell; 0: it was with the visible device
 * @held: then: its word when it became MOVING
 * @resealed: pages that have got the newest key
 * @switched: of these, those that their slots name; bits are set by the receivers of answers
 * @slot: where the search for pages of the visible device continues
 */
struct nswap_row_copy {
	struct nswap_parity *parity;
	struct nswap_batch b;
	struct nswap_batch one;
	u32 old[NSWAP_REQ_SLOTS];
	struct nswap_slot held[NSWAP_REQ_SLOTS];
	unsigned long resealed;
	unsigned long switched;
	u32 slot;
};

bool nswap_row_copy_init(struct nswap_row_copy *c, struct nswap_parity *p);
void nswap_row_copy_exit(struct nswap_row_copy *c);
int nswap_row_copy_cells(struct nswap_row_copy *c, unsigned int nr);
int nswap_row_copy_outer(struct nswap_row_copy *c, unsigned int nr);
unsigned int nswap_row_copy_in(struct nswap_row_copy *c);

#endif
