/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log lines name the node and the peer. None may be printed for every page.
 */
#ifndef NSWAP_LOG_H
#define NSWAP_LOG_H

#include <linux/printk.h>
#include <linux/ratelimit.h>

#define nswap_info(node, fmt, ...) \
	pr_info_ratelimited("node %u: " fmt "\n", (node)->number, \
			    ##__VA_ARGS__)
#define nswap_warn(node, fmt, ...) \
	pr_warn_ratelimited("node %u: " fmt "\n", (node)->number, \
			    ##__VA_ARGS__)

#endif
