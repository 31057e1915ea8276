/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pool: all the memory that pages of others are ever kept in.
 */
#ifndef LEND_POOL_H
#define LEND_POOL_H

#include "kernel/types.h"

/* why it cannot be had, a sentence; NULL if it is there. @lock: all of the program's */
const char *lend_pool_start(u64 pages, bool lock);
void lend_pool_stop(void);

#endif
