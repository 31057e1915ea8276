// SPDX-License-Identifier: GPL-2.0
/*
 * Return marks: one bit a slot of a device with a home. It is set while a page
 * that is not written by a page-out (a server has sent it back, or the flash that
 * holds it is evacuated) may be written to the slot's place at home.
 *
 * Invariant: home has no generations, so a page-out of a marked slot waits until
 * the mark is cleared; the task that sets it changes the slot's entry before it
 * writes.
 */
#include "client_state.h"
#include "node.h"
#include "return_mark.h"

/* A use of a device ends; if it was the last one the device may be gone afterwards. */
void nswap_return_put_use(struct nswap_device *dev)
{
	struct nswap_client *cl = dev->node->client;

	if (atomic_dec_and_test(&dev->returns_left))
		wake_up_all(&cl->returns_wait);
}

/*
 * Call before a write to a slot's place at home that is not part of a page-out. The
 * caller keeps @dev; the slot's entry must change after this, before that write
 * begins. Returns false if another task has marked the slot.
 */
bool nswap_return_mark(struct nswap_device *dev, u64 slot)
{
	if (dev->returning && test_and_set_bit(slot, dev->returning))
		return false;
	atomic_inc(&dev->returns_left);
	return true;
}

/*
 * The write has ended, or will not begin. A caller that does not keep @dev must not
 * touch it afterwards.
 */
void nswap_return_unmark(struct nswap_device *dev, u64 slot)
{
	struct nswap_node *node = dev->node;

	/* fully ordered: after the update of the slot, before the kick */
	if (dev->returning)
		test_and_clear_bit(slot, dev->returning);
	nswap_return_put_use(dev);
	nswap_client_kick(node);
}
