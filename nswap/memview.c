// SPDX-License-Identifier: GPL-2.0
/*
 * Memory view of a node.
 *
 * Invariant: nobody else in this module asks the kernel how much memory there
 * is, so a test that feeds a node (knobs fed_*) shows it another machine.
 */
#include <linux/mm.h>

#include "memview.h"
#include "node.h"

#define MIB_PAGES(mib)	((u64)(mib) << (20 - PAGE_SHIFT))

/**
 * nswap_mem_view() - how much memory there is
 * @node: node
 * @v: result
 *
 * Context: any process context; does not sleep.
 */
void nswap_mem_view(const struct nswap_node *node, struct nswap_mem_view *v)
{
	u32 total = nswap_knob(node, fed_total_mib);

	if (total) {
		v->total = MIB_PAGES(total);
		v->available = MIB_PAGES(nswap_knob(node, fed_available_mib));
		return;
	}
	v->total = totalram_pages();
	v->available = max(si_mem_available(), 0l);
}
