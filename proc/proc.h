/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/nswap: state to read.
 */
#ifndef NSWAP_PROC_H
#define NSWAP_PROC_H

int nswap_proc_init(void);
void nswap_proc_exit(void);

#endif
