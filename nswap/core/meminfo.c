// SPDX-License-Identifier: GPL-2.0
/*
 * Memory view of a node.
 *
 * Invariant: nothing else in this module asks the kernel how much memory there
 * is, so a test that feeds a node (knobs fed_*) shows it another machine.
 */
#include <linux/mm.h>
#include <linux/vmstat.h>

#include "meminfo.h"
#include "node.h"

/* its stack, or what it is described by, which takes as much */
#define THREAD_ORDER	get_order(THREAD_SIZE)
#define FED_LOW		64	/* low watermark of a fed machine: RAM / FED_LOW */

#define MIB_PAGES(mib)	((u64)(mib) << (20 - PAGE_SHIFT))

/* sum of the words that are exported to modules, without a lock */
static u64 swap_outs(void)
{
	u64 n = 0;
#ifdef CONFIG_VM_EVENT_COUNTERS
	int cpu;

	for_each_possible_cpu(cpu)
		n += per_cpu(vm_event_states, cpu).event[PSWPOUT];
#endif
	return n;
}

static u64 meminfo_refaults(void)
{
	return global_node_page_state(WORKINGSET_REFAULT_ANON) +
	       global_node_page_state(WORKINGSET_REFAULT_FILE);
}

static u64 low_watermark(void)
{
	u64 n = 0;
	int nid, i;

	for_each_online_node(nid) {
		for (i = 0; i < MAX_NR_ZONES; i++) {
			struct zone *zone = &NODE_DATA(nid)->node_zones[i];

			n += low_wmark_pages(zone);
		}
	}
	return n;
}

/*
 * Order of the largest block that GFP_KERNEL finds in zones above their low watermark, -1
 * without any; a moment's view.
 */
static int largest_block(void)
{
	const int kind = gfp_zone(GFP_KERNEL);
	int nid, i, order, largest = -1;

	for_each_online_node(nid) {
		for (i = 0; i <= kind; i++) {
			struct zone *zone = &NODE_DATA(nid)->node_zones[i];

			if (zone_page_state(zone, NR_FREE_PAGES) <=
			    low_wmark_pages(zone) + zone->lowmem_reserve[kind])
				continue;
			order = ARRAY_SIZE(zone->free_area) - 1;
			while (order > largest && !READ_ONCE(zone->free_area[order].nr_free))
				order--;
			largest = order;
		}
	}
	return largest;
}

void nswap_mem_view(const struct nswap_node *node, struct nswap_mem_view *v)
{
	u32 total = nswap_knob(node, fed_total_mib);

	if (total) {
		v->total = MIB_PAGES(total);
		v->available = MIB_PAGES(nswap_knob(node, fed_available_mib));
		v->free = v->available;
		v->low = v->total / FED_LOW;
		v->in_pieces = THREAD_ORDER > (int)nswap_knob(node, fed_largest);
		v->swap_outs = nswap_knob(node, fed_swap_outs);
		v->refaults = nswap_knob(node, fed_refaults);
		return;
	}
	v->total = totalram_pages();
	v->free = global_zone_page_state(NR_FREE_PAGES);
	v->low = low_watermark();
	v->in_pieces = largest_block() < THREAD_ORDER;
	v->available = max(si_mem_available(), 0l);
	v->swap_outs = swap_outs();
	v->refaults = meminfo_refaults();
}
