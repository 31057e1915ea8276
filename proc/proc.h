/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/nswap: state to read, and the settings of prefetch and policies.
 */
#ifndef NSWAP_PROC_H
#define NSWAP_PROC_H

#include <linux/types.h>

struct file;
struct net;
struct netlink_ext_ack;
struct nswap_node;
struct proc_dir_entry;
struct seq_file;

/* prefetch.c */
struct nswap_node *nswap_proc_node_to_change(struct file *file);
int nswap_proc_written(struct nswap_node *node, const char *name, int ret,
		       const struct netlink_ext_ack *ext);
int nswap_proc_prefetch(struct net *net, struct proc_dir_entry *dir);

/* policies.c */
void nswap_proc_show_policies(struct seq_file *m, struct nswap_node *node);
int nswap_proc_write_policy(struct file *file, char *text, size_t len);

/* proc.c */
int nswap_proc_init(void);
void nswap_proc_exit(void);

#endif
