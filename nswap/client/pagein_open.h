/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-in of sealed and compressed devices: opening what has come.
 */
#ifndef NSWAP_PAGEIN_OPEN_H
#define NSWAP_PAGEIN_OPEN_H

#include "core/request.h"

unsigned long nswap_pagein_open(struct nswap_op *op, unsigned long held);
unsigned long nswap_pagein_closed(const struct nswap_io *io);
void nswap_pagein_open_rest(struct nswap_io *io, unsigned long closed);

#endif
