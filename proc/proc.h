/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/nswap: state to read, and the prefetch knobs.
 */
#ifndef NSWAP_PROC_H
#define NSWAP_PROC_H

struct net;
struct proc_dir_entry;

int nswap_proc_prefetch(struct net *net, struct proc_dir_entry *dir);
int nswap_proc_init(void);
void nswap_proc_exit(void);

#endif
