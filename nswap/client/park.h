/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parking of page-ins: the bios of a request wait for their peer without it.
 */
#ifndef NSWAP_PARK_H
#define NSWAP_PARK_H

#include "core/request.h"

struct bio;
struct work_struct;

void nswap_park(struct nswap_io *io);
bool nswap_park_resumed(struct nswap_io *io, struct bio *bio);
void nswap_park_work(struct work_struct *work);

#endif
