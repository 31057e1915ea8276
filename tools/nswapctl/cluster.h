/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cluster as one table.
 */
#ifndef NSWAPCTL_CLUSTER_H
#define NSWAPCTL_CLUSTER_H

/* of this node and all its peers; returns the exit code */
int cluster_show(void);

#endif
