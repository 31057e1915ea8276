/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs of blocks that are alike: io.c.
 */
#ifndef NSWAP_RUN_H
#define NSWAP_RUN_H

#include "lib.h"

struct run {
	uint32_t block, blocks;
	bool valid;			/* the device has them */
	uint32_t page[RUN_PAGES];
	uint64_t sum[RUN_PAGES];
};

int run_plan(struct run *run, const struct desc *d, uint32_t block, uint32_t most, bool locked);
int run_store(struct run *run, const struct desc *d, const char *buf);
size_t run_bytes(const struct desc *d, uint32_t block, uint32_t blocks);
int run_from_file(const struct desc *d, uint32_t block, uint32_t blocks, char *buf);
int run_get(const struct desc *d, uint32_t block, uint32_t most, char *buf, bool fill);
uint32_t run_most(uint64_t at, size_t len);

#endif
