/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return marks: slots whose places at home may still get an older page.
 */
#ifndef NSWAP_RETURN_MARK_H
#define NSWAP_RETURN_MARK_H

#include "device.h"

bool nswap_return_mark(struct nswap_device *dev, u64 slot);
void nswap_return_unmark(struct nswap_device *dev, u64 slot);
void nswap_return_put_use(struct nswap_device *dev);

/*
 * Is a page being written to a slot's place at home? any; does not sleep, on the
 * page-out path.
 */
static inline bool nswap_return_under_way(struct nswap_device *dev, u64 slot)
{
	/* pairs with nswap_return_mark(): an entry that came after the mark shows it */
	smp_rmb();
	return dev->returning && test_bit(slot, dev->returning);
}

#endif
