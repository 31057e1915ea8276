/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leaning: to which tier page-outs of a device go first.
 */
#ifndef NSWAP_LEAN_H
#define NSWAP_LEAN_H

struct nswap_device;

void nswap_lean_look(struct nswap_device *dev);

#endif
