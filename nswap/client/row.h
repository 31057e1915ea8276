/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows of cells: taking a cell, and giving it up.
 */
#ifndef NSWAP_ROW_H
#define NSWAP_ROW_H

#include "core/parity.h"

int nswap_row_take(struct nswap_parity *p, u32 slot, unsigned int peers, bool spare,
		   u32 *cell);
void nswap_row_add(struct nswap_parity *p, u32 cell, struct page *page);
void nswap_row_ended(struct nswap_parity *p, u32 cell);
void nswap_row_close(struct nswap_parity *p, u32 row);
void nswap_row_stored(struct nswap_parity *p, u32 row);
bool nswap_row_pin(struct nswap_parity *p, u32 row);
void nswap_row_unpin(struct nswap_parity *p, u32 row);
void nswap_cell_dead(struct nswap_parity *p, u32 cell);
void nswap_parity_map(struct nswap_parity *p, u32 slot, u32 cell);
void nswap_parity_free(struct nswap_device *dev, u64 slot);
bool nswap_row_move_begin(struct nswap_device *cells, u64 cell, u16 to);
void nswap_row_move_end(struct nswap_device *cells, u64 cell, u16 to);
void nswap_row_want(struct nswap_device *cells, u64 cell);
bool nswap_cell_bad(const struct nswap_parity *p, u32 cell);
unsigned int nswap_row_bad(const struct nswap_parity *p, const struct nswap_row *r,
			   unsigned int lane);
void nswap_row_shape(const struct nswap_parity *p, unsigned int peers,
		     struct nswap_group_shape *shape);
unsigned int nswap_row_position(const struct nswap_row *r, u32 cell);

#endif
