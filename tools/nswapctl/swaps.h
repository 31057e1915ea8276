/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/swaps.
 */
#ifndef NSWAPCTL_SWAPS_H
#define NSWAPCTL_SWAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct swaps_entry {
	char path[256];
	uint64_t used_pages;
	long priority;
};

/* every swap there is, to be freed; returns how many */
size_t swaps_read(struct swaps_entry **list);
/* what an open file of that form, or NULL, says */
size_t swaps_take(FILE *f, struct swaps_entry **list);

/* that of a device in /dev */
bool swaps_find(const char *device, struct swaps_entry *entry);

#endif
