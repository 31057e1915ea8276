/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-in.
 */
#ifndef NSWAP_PAGEIN_H
#define NSWAP_PAGEIN_H

#include "core/request.h"

void nswap_pagein(struct nswap_io *io);
unsigned int nswap_pagein_from_peers(struct nswap_io *io, unsigned int first);

#endif
