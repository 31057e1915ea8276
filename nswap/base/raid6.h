/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two checks over a group of pages, with the kernel's RAID-6 library.
 */
#ifndef NSWAP_RAID6_H
#define NSWAP_RAID6_H

#include <linux/types.h>

struct page;

#define NSWAP_RAID6_DATA	8	/* pages of a group, at most */
#define NSWAP_RAID6_P		NSWAP_RAID6_DATA
#define NSWAP_RAID6_Q		(NSWAP_RAID6_DATA + 1)
#define NSWAP_RAID6_PAGES	(NSWAP_RAID6_DATA + 2)

/**
 * struct nswap_raid6 - the library's routines; all NULL while it is not held
 * @add: updates both checks for some of the pages
 * @two: computes two pages from the rest
 * @one: computes a page and the first check from the rest
 */
struct nswap_raid6 {
	void (*add)(int pages, int first, int last, size_t bytes, void **at);
	void (*two)(int pages, size_t bytes, int a, int b, void **at);
	void (*one)(int pages, size_t bytes, int a, void **at);
};

bool nswap_raid6_there(void);
bool nswap_raid6_get(struct nswap_raid6 *r);
void nswap_raid6_put(struct nswap_raid6 *r);
void nswap_raid6_add(const struct nswap_raid6 *r, unsigned int at, struct page *page,
		     struct page *p, struct page *q);
void nswap_raid6_solve(const struct nswap_raid6 *r, struct page **page, unsigned int a,
		       unsigned int b);

#endif
