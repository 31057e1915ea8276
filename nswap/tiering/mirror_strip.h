/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Second copies of a device that was mirrored go.
 */
#ifndef NSWAP_MIRROR_STRIP_H
#define NSWAP_MIRROR_STRIP_H

#include "base/types.h"

unsigned int nswap_mirror_strip(struct nswap_device *dev, u64 *cursor);

#endif
