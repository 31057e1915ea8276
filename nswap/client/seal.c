// SPDX-License-Identifier: GPL-2.0
/*
 * Sealed devices: what wrap.c sends out is encrypted, and is opened when it is back.
 *
 * Invariants:
 *  - No key leaves the node. A nonce is used once: it is counted from 1 in the life of a key,
 *    which is the device's and ends with it, or when it is changed (seal_key.c): a bit of the
 *    nonce says which of two keys has sealed a page.
 *  - Of a page that was made short only so much is encrypted: its end stays zeros. How long
 *    it is has a part in its tag.
 */
#include <linux/highmem.h>
#include <linux/slab.h>

#include "core/parity.h"
#include "seal.h"
#include "sealer.h"

/* Returns 0, or -ENOMEM; nswap_sealer_exit() either way. Process, sleeps. */
int nswap_sealer_init(struct nswap_device *dev)
{
	struct nswap_sealer *s = kzalloc_obj(*s);

	if (!s)
		return -ENOMEM;
	dev->sealer = s;
	if (nswap_cipher_init(&s->cipher[0]))
		return -ENOMEM;
	s->live = BIT(0);
	s->table = nswap_side_add(&dev->side, "seals", 8 * sizeof(struct nswap_seal));
	return s->table ? 0 : -ENOMEM;
}

/* its keys are forgotten; process, when no request is left */
void nswap_sealer_exit(struct nswap_device *dev)
{
	struct nswap_sealer *s = dev->sealer;

	if (!s)
		return;
	nswap_cipher_exit(&s->cipher[0]);
	nswap_cipher_exit(&s->cipher[1]);
	dev->sealer = NULL;
	kfree(s);
}

static struct nswap_seal_name seal_name(const struct nswap_device *dev, u64 slot,
					unsigned int len)
{
	return (struct nswap_seal_name){
		.owner = cpu_to_le64(dev->node->id),
		.epoch = cpu_to_le64(dev->node->epoch),
		.slot = cpu_to_le64(slot),
		.instance = cpu_to_le32(dev->instance),
		.len = cpu_to_le32(len),
	};
}

/*
 * Seal the page @i of a request, as much of it as its @kept says, with the newest key; its
 * seal is to be kept once the slot is claimed. Context: task; does not sleep or allocate. The
 * newest key stays: a change of it begins only after the last one has ended. Returns false as
 * nswap_seal_page().
 */
bool nswap_seal_fresh(struct nswap_io *io, unsigned int i)
{
	struct nswap_device *dev = nswap_visible_device(io->dev);
	struct nswap_seal_name name = seal_name(dev, io->outer[i], io->kept[i].len);
	struct nswap_sealer *s = dev->sealer;

	io->seal[i].nonce = atomic64_inc_return(&s->nonce);
	return nswap_seal_page(&s->cipher[nswap_seal_key(&io->seal[i])], io->page[i], &name,
			       &io->seal[i]);
}

/**
 * nswap_seal_open() - open a page, and seal it again if @keep
 * @dev: sealed device
 * @slot: of the page, not 0
 * @page: as it came; what is behind @len is zeros afterwards, if @keep
 * @len: of it, if it was made short; else 0
 * @seal: a copy of what is kept. Its key may be gone, if it is of a slot that has been freed;
 *	it stays until this has ended
 * @keep: it stays sealed
 *
 * Context: task, interrupts on; does not sleep.
 * Return: false if it is another page, or was changed: it is spoilt then.
 */
bool nswap_seal_open(struct nswap_device *dev, u64 slot, struct page *page, unsigned int len,
		     struct nswap_seal *seal, bool keep)
{
	struct nswap_seal_name name = seal_name(dev, slot, len);
	struct nswap_sealer *s = dev->sealer;
	const struct nswap_cipher *c = &s->cipher[nswap_seal_key(seal)];
	bool ok;

	/* it was written meanwhile */
	if (len > PAGE_SIZE)
		return false;
	rcu_read_lock();
	ok = READ_ONCE(s->live) & BIT(nswap_seal_key(seal)) &&
	     nswap_open_page(c, page, &name, seal) &&
	     (!keep || nswap_seal_page(c, page, &name, seal));
	rcu_read_unlock();
	if (ok && keep && len)
		memzero_page(page, len, PAGE_SIZE - len);
	return ok;
}

/* a page of a slot has come, and did not open; any context */
void nswap_seal_broken(struct nswap_device *dev, u64 slot)
{
	u64 at = slot - READ_ONCE(dev->sealer->watched);

	if (at < NSWAP_REQ_SLOTS)
		set_bit(at, &dev->sealer->broken);
}
