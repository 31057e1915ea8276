/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-out, claim.
 */
#ifndef NSWAP_PAGEOUT_CLAIM_H
#define NSWAP_PAGEOUT_CLAIM_H

#include "core/request.h"

bool nswap_pageout_claim(struct nswap_io *io);
bool nswap_pageout_claim_slot(struct nswap_io *io, unsigned int i,
			      const struct nswap_slot *had);
bool nswap_pageout_protect(struct nswap_io *io, unsigned int i);
void nswap_pageout_unprotect(struct nswap_io *io, unsigned int i);
void nswap_pageout_unfollow(struct nswap_io *io, unsigned int i);

/* has it been under way for so long? any context */
static inline bool nswap_pageout_waited(const struct nswap_io *io, u32 ms)
{
	return time_after(jiffies, io->since + msecs_to_jiffies(ms));
}

#endif
