/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-out on a mirrored device: the second copy.
 */
#ifndef NSWAP_PAGEOUT_SECOND_H
#define NSWAP_PAGEOUT_SECOND_H

#include "core/request.h"

void nswap_pageout_seconds(struct nswap_io *io);

#endif
