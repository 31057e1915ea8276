// SPDX-License-Identifier: GPL-2.0
/*
 * Two checks over a group of pages, with the kernel's RAID-6 library: the first is their
 * sum, the second their sum weighted by powers of a generator of GF(2^8) (H. P. Anvin, The
 * mathematics of RAID-6, 2004).
 *
 * Invariant: the library is held from nswap_raid6_get() to nswap_raid6_put(), and loaded
 * by the first: a node without second checks does without it.
 */
#include <linux/highmem.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/raid/pq.h>

#include "raid6.h"

#ifdef NSWAP_COMPAT_CANNOT_CALL_RAID6

static void raid6_look(struct nswap_raid6 *r)
{
	struct raid6_calls *calls = symbol_request(raid6_call);
	typeof(raid6_2data_recov) *two = symbol_get(raid6_2data_recov);
	typeof(raid6_datap_recov) *one = symbol_get(raid6_datap_recov);

	r->add = calls ? calls->xor_syndrome : NULL;
	r->two = two ? *two : NULL;
	r->one = one ? *one : NULL;
	if (calls && !r->add)
		symbol_put(raid6_call);
}

static void raid6_forget(struct nswap_raid6 *r)
{
	if (r->add)
		symbol_put(raid6_call);
	if (r->two)
		symbol_put(raid6_2data_recov);
	if (r->one)
		symbol_put(raid6_datap_recov);
}

#else

static void raid6_look(struct nswap_raid6 *r)
{
	typeof(raid6_can_xor_syndrome) *can = symbol_request(raid6_can_xor_syndrome);

	r->add = can && can() ? symbol_get(raid6_xor_syndrome) : NULL;
	r->two = symbol_get(raid6_recov_2data);
	r->one = symbol_get(raid6_recov_datap);
	if (can)
		symbol_put(raid6_can_xor_syndrome);
}

static void raid6_forget(struct nswap_raid6 *r)
{
	if (r->add)
		symbol_put(raid6_xor_syndrome);
	if (r->two)
		symbol_put(raid6_recov_2data);
	if (r->one)
		symbol_put(raid6_recov_datap);
}

#endif

/**
 * nswap_raid6_get() - hold the library, and load it if it has to be
 * @r: all NULL; holds it from now on, unless this fails
 *
 * Context: process, sleeps for user space.
 * Return: false: this kernel has none, or none that can update checks (some PowerPC).
 */
bool nswap_raid6_get(struct nswap_raid6 *r)
{
	raid6_look(r);
	if (r->add && r->two && r->one)
		return true;
	nswap_raid6_put(r);
	return false;
}

/* undo nswap_raid6_get(), if it was held; process */
void nswap_raid6_put(struct nswap_raid6 *r)
{
	raid6_forget(r);
	*r = (struct nswap_raid6){ };
}

/* has this kernel the library? process, sleeps for user space */
bool nswap_raid6_there(void)
{
	struct nswap_raid6 r = { };
	bool ret = nswap_raid6_get(&r);

	nswap_raid6_put(&r);
	return ret;
}

/**
 * nswap_raid6_add() - add a page to both checks of its group
 * @r: held
 * @at: position of the page in the group
 * @page: page
 * @p: first check, not in high memory; zeros to begin with
 * @q: second check, likewise
 *
 * Context: process, interrupts on, page-out path; does not sleep.
 */
void nswap_raid6_add(const struct nswap_raid6 *r, unsigned int at, struct page *page,
		     struct page *p, struct page *q)
{
	void *ptr[NSWAP_RAID6_PAGES] = {
		[NSWAP_RAID6_P] = page_address(p), [NSWAP_RAID6_Q] = page_address(q),
	};

	ptr[at] = kmap_local_page(page);
	r->add(NSWAP_RAID6_PAGES, at, at, PAGE_SIZE, ptr);
	kunmap_local(ptr[at]);
}

/**
 * nswap_raid6_solve() - compute two pages of a group from the rest
 * @r: held
 * @page: the group by position, none in high memory; NULL for one of zeros
 * @a: the position of a page that is not known; its memory is written
 * @b: another one, or %NSWAP_RAID6_P; likewise
 *
 * Context: process, interrupts on; does not sleep.
 */
void nswap_raid6_solve(const struct nswap_raid6 *r, struct page **page, unsigned int a,
		       unsigned int b)
{
	void *ptr[NSWAP_RAID6_PAGES];
	unsigned int i;

	for (i = 0; i < NSWAP_RAID6_PAGES; i++)
		ptr[i] = page_address(page[i] ?: ZERO_PAGE(0));
	if (b == NSWAP_RAID6_P)
		r->one(NSWAP_RAID6_PAGES, PAGE_SIZE, a, ptr);
	else
		r->two(NSWAP_RAID6_PAGES, PAGE_SIZE, min(a, b), max(a, b), ptr);
}
