/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test builds only (make INJECT=1), included before everything else: what may come from
 * vmalloc() does, as on a machine whose free memory is in pieces, and a buffer of that kind
 * that is sent or read into as pages says so in the kernel's log: most kernels compute the
 * right address from such a page by accident.
 */
#ifndef NSWAP_INJECT_VMALLOC_H
#define NSWAP_INJECT_VMALLOC_H

#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static inline void *nswap_inject_kvmalloc(size_t size, gfp_t flags)
{
	return size > PAGE_SIZE ? __vmalloc(size, flags) : kmalloc(size, flags);
}

#undef kvmalloc
#define kvmalloc(size, flags)	nswap_inject_kvmalloc(size, flags)
#undef kvzalloc
#define kvzalloc(size, flags)	kvmalloc(size, (flags) | __GFP_ZERO)
#undef kvcalloc
#define kvcalloc(n, size, flags) kvzalloc(array_size(n, size), flags)
#undef kvzalloc_node
#define kvzalloc_node(size, flags, node) ((void)(node), kvzalloc(size, flags))

static inline struct page *nswap_inject_page(const void *addr)
{
	WARN_ON_ONCE(!virt_addr_valid(addr));
	return virt_to_page(addr);
}

#undef virt_to_page
#define virt_to_page(addr)	nswap_inject_page(addr)

#endif
