/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints, in /sys/kernel/tracing/events/nswap/.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nswap

#if !defined(NSWAP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NSWAP_TRACE_H

#include <linux/tracepoint.h>

#include "base/views.h"

int nswap_meter_trace_reg(void);
void nswap_meter_trace_unreg(void);

DECLARE_EVENT_CLASS(nswap_resize,

	TP_PROTO(u32 node, u64 from, u64 to, int why),

	TP_ARGS(node, from, to, why),

	TP_STRUCT__entry(
		__field(u64, from)
		__field(u64, to)
		__field(u32, node)
		__field(int, why)
	),

	TP_fast_assign(
		__entry->node = node;
		__entry->from = from;
		__entry->to = to;
		__entry->why = why;
	),

	/* the numbers are those of enum nswap_resize_why */
	TP_printk("node=%u from=%llu to=%llu why=%s", __entry->node,
		  __entry->from, __entry->to,
		  __print_symbolic(__entry->why, { 0, "policy" }, { 1, "user" },
				   { 2, "shrinker" }, { 3, "oom" }))
);

DEFINE_EVENT(nswap_resize, nswap_grow,
	     TP_PROTO(u32 node, u64 from, u64 to, int why),
	     TP_ARGS(node, from, to, why));

DEFINE_EVENT(nswap_resize, nswap_shrink,
	     TP_PROTO(u32 node, u64 from, u64 to, int why),
	     TP_ARGS(node, from, to, why));

DECLARE_EVENT_CLASS(nswap_batch,

	TP_PROTO(u32 node, u64 owner, u32 pages, u32 gone),

	TP_ARGS(node, owner, pages, gone),

	TP_STRUCT__entry(
		__field(u64, owner)
		__field(u32, node)
		__field(u32, pages)
		__field(u32, gone)
	),

	TP_fast_assign(
		__entry->node = node;
		__entry->owner = owner;
		__entry->pages = pages;
		__entry->gone = gone;
	),

	TP_printk("node=%u owner=%016llx pages=%u gone=%u", __entry->node,
		  __entry->owner, __entry->pages, __entry->gone)
);

DEFINE_EVENT(nswap_batch, nswap_move,
	     TP_PROTO(u32 node, u64 owner, u32 pages, u32 gone),
	     TP_ARGS(node, owner, pages, gone));

DEFINE_EVENT(nswap_batch, nswap_return,
	     TP_PROTO(u32 node, u64 owner, u32 pages, u32 gone),
	     TP_ARGS(node, owner, pages, gone));

/* an event of slot_trace.c, as in the ring; measures while it is on */
TRACE_EVENT_FN(nswap_slot,

	TP_PROTO(u32 node, const struct nswap_trace_view *v),

	TP_ARGS(node, v),

	TP_STRUCT__entry(
		__field(u64, slot)
		__field(u64, ns)
		__field(u32, node)
		__field(u16, device)
		__field(u16, peer)
		__field(u8, slots)
		__field(u8, op)
		__field(u8, tier)
	),

	TP_fast_assign(
		__entry->slot = v->slot;
		__entry->ns = v->ns;
		__entry->node = node;
		__entry->device = v->device;
		__entry->peer = v->peer;
		__entry->slots = v->slots;
		__entry->op = v->op;
		__entry->tier = v->tier;
	),

	/* the numbers are READ and WRITE, and those of enum nswap_tier */
	TP_printk("node=%u device=nswap%u slot=%llu slots=%u op=%s tier=%s peer=%u ns=%llu",
		  __entry->node, __entry->device, __entry->slot,
		  __entry->slots,
		  __print_symbolic(__entry->op, { 0, "page-in" },
				   { 1, "page-out" }),
		  __print_symbolic(__entry->tier, { 0, "remote" },
				   { 1, "flash" }, { 2, "home" }),
		  __entry->peer, __entry->ns),

	nswap_meter_trace_reg, nswap_meter_trace_unreg
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
