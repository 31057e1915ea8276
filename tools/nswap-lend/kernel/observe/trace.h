/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: there are none.
 */
#ifndef NSWAP_TRACE_H
#define NSWAP_TRACE_H

#define trace_nswap_grow(...)	((void)0)
#define trace_nswap_shrink(...)	((void)0)
#define trace_nswap_move(...)	((void)0)
#define trace_nswap_return(...)	((void)0)

#endif
