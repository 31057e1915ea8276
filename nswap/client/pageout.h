/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-out.
 */
#ifndef NSWAP_PAGEOUT_H
#define NSWAP_PAGEOUT_H

#include "core/request.h"

void nswap_pageout(struct nswap_io *io);
int nswap_pageout_to_peers(struct nswap_io *io, unsigned long slots);
void nswap_pageout_at_peer(struct nswap_io *io, unsigned int i, u16 peer);
void nswap_pageout_again(struct nswap_io *io, unsigned int i);
void nswap_pageout_at_home(struct nswap_io *io, unsigned int i);
void nswap_pageout_at_flash(struct nswap_io *io, unsigned int i, u32 flash);
void nswap_pageout_failed(struct nswap_io *io, unsigned int i);

#endif
