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

	for (i = 0; i < PAGE_SIZE / sizeof(*a); i += 8) {
		a[i] ^= b[i];
		a[i + 1] ^= b[i + 1];
		a[i + 2] ^= b[i + 2];
		a[i + 3] ^= b[i + 3];
		a[i + 4] ^= b[i + 4];
		a[i + 5] ^= b[i + 5];
		a[i + 6] ^= b[i + 6];
		a[i + 7] ^= b[i + 7];
	}
	kunmap_local(b);
	kunmap_local(a);
}

#endif
