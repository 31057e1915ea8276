/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Home follows: each page that a page-out stores at a peer is written home, later.
 */
#ifndef NSWAP_FOLLOW_H
#define NSWAP_FOLLOW_H

#include "base/types.h"

struct nswap_device;
struct nswap_follow_page;

/* pages that home may lag behind: 4 MiB of the owner's RAM */
#define NSWAP_FOLLOW_PAGES	1024

int nswap_follow_init(struct nswap_device *dev);
void nswap_follow_stop(struct nswap_device *dev);
void nswap_follow_exit(struct nswap_device *dev);

bool nswap_follow_reserve(struct nswap_device *dev);
void nswap_follow_release(struct nswap_device *dev);
struct nswap_follow_page *nswap_follow_copy(struct nswap_device *dev, u64 slot,
					    u32 gen, struct page *page);
void nswap_follow_queue(struct nswap_device *dev, struct nswap_follow_page *p);
void nswap_follow_end(struct nswap_device *dev, u64 slot, u32 gen, bool written);
unsigned int nswap_follow_lag(struct nswap_device *dev);

#endif
