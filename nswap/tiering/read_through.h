/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading pages of a batch through their device, wherever they are.
 */
#ifndef NSWAP_READ_THROUGH_H
#define NSWAP_READ_THROUGH_H

struct bio;
struct nswap_batch;

unsigned long nswap_read_through(struct nswap_batch *b, struct bio *bios,
				 unsigned long pages);
unsigned long nswap_read_patiently(struct nswap_batch *b, struct bio *bios,
				   unsigned long pages);

#endif
