/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-in, copies: which copy of a page to read, if there are several.
 */
#ifndef NSWAP_PAGEIN_COPY_H
#define NSWAP_PAGEIN_COPY_H

#include "core/request.h"

bool nswap_copy_on_flash(const struct nswap_io *io, unsigned int i,
			 const struct nswap_slot *s);
bool nswap_copy_slow(struct nswap_node *node, u16 index);
bool nswap_copy_besides(struct nswap_io *io, unsigned int i);
u16 nswap_copy_place(struct nswap_io *io, unsigned int i,
		     const struct nswap_slot *s);
bool nswap_copy_usable(struct nswap_io *io, unsigned int i, const struct nswap_slot *s);
bool nswap_copy_rests(const struct nswap_slot *s, u16 second, u16 peer, u32 gen);
bool nswap_copy_alike(struct nswap_io *io, unsigned int i, unsigned int k);
unsigned long nswap_copy_elsewhere(struct nswap_op *op);
bool nswap_copy_dispensable(struct nswap_op *op);
bool nswap_copy_overdue(struct nswap_op *op);
bool nswap_copy_from_flash(struct nswap_io *io, unsigned int i,
			   const struct nswap_slot *s);
bool nswap_copy_from_home(struct nswap_io *io, unsigned int i,
			  const struct nswap_slot *s);

#endif
