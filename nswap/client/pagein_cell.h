/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-in from cells.
 */
#ifndef NSWAP_PAGEIN_CELL_H
#define NSWAP_PAGEIN_CELL_H

#include "core/parity.h"

/**
 * enum nswap_cell_look - what a page-in is to do with a slot
 * @NSWAP_CELL_READ: go on as with any slot
 * @NSWAP_CELL_DONE: nothing now: it is looked for elsewhere, later
 * @NSWAP_CELL_FAIL: fail it
 */
enum nswap_cell_look {
	NSWAP_CELL_READ,
	NSWAP_CELL_DONE,
	NSWAP_CELL_FAIL,
};

bool nswap_pagein_next(struct nswap_io *io);
bool nswap_pagein_current(const struct nswap_io *io, unsigned int i);
enum nswap_cell_look nswap_pagein_look(struct nswap_io *io, unsigned int i,
				       const struct nswap_slot *s);

/* is it better rebuilt than waiting for a peer that is late? */
static inline bool nswap_pagein_hasty(const struct nswap_io *io)
{
	return nswap_is_cells(io->dev) && !io->patient;
}

#endif
