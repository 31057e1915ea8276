/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What only one nswapctl does at a time.
 */
#ifndef NSWAPCTL_LOCK_H
#define NSWAPCTL_LOCK_H

/* Lock this file, which is made if it is not there; waits for it. Refused if it cannot be. */
void lock_until_end(const char *path);

#endif
