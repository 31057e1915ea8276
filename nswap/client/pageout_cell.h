/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-out to cells.
 */
#ifndef NSWAP_PAGEOUT_CELL_H
#define NSWAP_PAGEOUT_CELL_H

#include "core/parity.h"

extern const struct nswap_io_ops nswap_pageout_cell_ops;

void nswap_pageout_to_cells(struct nswap_io *io);
void nswap_pageout_spilled(struct nswap_io *io);
bool nswap_cell_impatient(const struct nswap_io *io);
int nswap_cell_take(struct nswap_io *io, unsigned int i);
void nswap_cell_stored(struct nswap_io *io, unsigned int i);
void nswap_cell_ended(struct nswap_io *io, unsigned int i);
bool nswap_cell_claim(struct nswap_io *io, unsigned int i, u32 cell);
int nswap_cell_place(struct nswap_io *io, unsigned int first, unsigned int nr,
		     u16 *index);

#endif
