/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rebuilding pages of lost cells.
 */
#ifndef NSWAP_REBUILD_H
#define NSWAP_REBUILD_H

#include "batch.h"
#include "core/parity.h"

#define NSWAP_CELL_ALL	UINT_MAX	/* leave none out */

int nswap_rebuild_init(struct nswap_parity *p);
void nswap_rebuild_stop(struct nswap_parity *p);
void nswap_rebuild_exit(struct nswap_parity *p);
void nswap_rebuild_add(struct nswap_parity *p, struct bio *bio, unsigned long since);

unsigned long nswap_cells_read(struct nswap_batch *b);
bool nswap_cell_rebuildable(const struct nswap_parity *p, u32 cell);
int nswap_cell_rebuild(struct nswap_parity *p, struct nswap_batch *b, u32 cell,
		       unsigned int without);
int nswap_cell_recover(struct nswap_parity *p, struct nswap_batch *b, u32 cell, bool keep);

#endif
