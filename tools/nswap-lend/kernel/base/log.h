/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log lines of the module's units. There is one node.
 */
#ifndef NSWAP_LOG_H
#define NSWAP_LOG_H

#define nswap_info(node, ...)	((void)(node), lend_say_seldom(__VA_ARGS__))
#define nswap_warn(node, ...)	((void)(node), lend_say_seldom(__VA_ARGS__))

#endif
