// SPDX-License-Identifier: GPL-2.0
/*
 * Return marks: one bit a slot of a device with a home: a page from outside of
 * a page-out, which a server has brought back or flash that is emptied holds,
 * may be written to the slot's place at home.
 *
 * Invariant: home has no generations, so a page-out of a marked slot waits until
 * the mark is gone; who marks changes the slot's entry before it writes.
 */
#include "client_state.h"
#include "device.h"
#include "node.h"
#include "return_mark.h"

/*
 * A use of a device is over, perhaps the last; @dev: device; it may be gone
 * afterwards.
 */
void nswap_return_put_use(struct nswap_device *dev)
{
	struct nswap_client *cl = dev->node->client;

	if (atomic_dec_and_test(&dev->returns_left))
		wake_up_all(&cl->returns_wait);
}

/*
 * A page may be written to a slot's place at home, from outside of a page-out; @dev:
 * device, kept by the caller; @slot: slot; its entry must change afterwards, before
 * that write begins. Returns false if somebody else has the slot.
 */
bool nswap_return_mark(struct nswap_device *dev, u64 slot)
{
	if (dev->returning && test_and_set_bit(slot, dev->returning))
		return false;
	atomic_inc(&dev->returns_left);
	return true;
}

/*
 * The write has ended, or will not begin; @dev: device; a caller that does not keep it
 * must not touch it afterwards.
 */
void nswap_return_unmark(struct nswap_device *dev, u64 slot)
{
	struct nswap_node *node = dev->node;

	/* in full order: before the kick, after what became of the slot */
	if (dev->returning)
		test_and_clear_bit(slot, dev->returning);
	nswap_return_put_use(dev);
	nswap_client_kick(node);
}
