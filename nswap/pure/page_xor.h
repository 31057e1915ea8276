/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sum of two pages, modulo 2: a check, or what is missing from it.
 */
#ifndef NSWAP_PAGE_XOR_H
#define NSWAP_PAGE_XOR_H

#include <linux/highmem.h>

/* any context but hard interrupts */
static inline void nswap_page_xor(struct page *to, struct page *from)
{
	u64 *a = kmap_local_page(to), *b = kmap_local_page(from);
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / sizeof(*a); i++)
		a[i] ^= b[i];
	kunmap_local(b);
	kunmap_local(a);
}

#endif
