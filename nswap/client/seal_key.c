// SPDX-License-Identifier: GPL-2.0
/*
 * The keys of a sealed device: one, and while it is changed two.
 *
 *   begin: another key is drawn, and pages are sealed with it from now on
 *   drained: every page-out that may have a page of the old key has ended
 *   no slot has a page of the old key (key_change.c sees to that)
 *   end: the old key is wiped
 *
 * Invariants:
 *  - A page-out that has pages of the pool may have sealed one with the key that was the
 *    newest then, and keep the seal of it later. It is counted by the turn in which it took
 *    them. The turn changes after the newest key has: so those of the present turn have
 *    nothing of the old one, and a search that begins once the others have ended misses none.
 *  - The seal of a slot that has no page may name any key. It opens nothing, and what comes
 *    late for such a slot does not count, as its word says.
 *  - The old key is no longer used when it is wiped: who opens a page with it does so in an
 *    RCU read section, and sees in @live that it may.
 */
#include "core/parity.h"
#include "core/slot_update.h"
#include "seal_key.h"
#include "sealer.h"
#include "wrap.h"

/* is there a second key? any context; a snapshot */
bool nswap_seal_key_changing(const struct nswap_device *dev)
{
	/* pairs with nswap_seal_key_destroy(): the key can be drawn again */
	return dev->sealer && smp_load_acquire(&dev->sealer->changing);
}

/*
 * Draw another key. @dev: sealed, its key is not being changed; under the node's control
 * lock. Process, sleeps. Returns 0 or -ENOMEM.
 */
int nswap_seal_key_begin(struct nswap_device *dev)
{
	struct nswap_sealer *s = dev->sealer;
	struct nswap_wrap *w = dev->wrap;
	u64 key = !nswap_seal_newest(s);
	int ret = nswap_cipher_init(&s->cipher[key]);

	if (ret) {
		nswap_cipher_exit(&s->cipher[key]);
		return ret;
	}
	WRITE_ONCE(s->live, s->live | BIT(key));
	/* a full barrier: a task that sees the nonce finds the key */
	atomic64_xchg(&s->nonce, key << NSWAP_SEAL_KEY_BIT);
	spin_lock_irq(&w->lock);
	w->turn = !w->turn;
	spin_unlock_irq(&w->lock);
	WRITE_ONCE(s->changing, true);
	return 0;
}

/* have all page-outs of before the change ended? process; does not sleep */
bool nswap_seal_key_drained(struct nswap_device *dev)
{
	struct nswap_wrap *w = dev->wrap;
	bool drained;

	spin_lock_irq(&w->lock);
	drained = !w->busy[!w->turn];
	spin_unlock_irq(&w->lock);
	return drained;
}

/* has a slot a page, that is not lost? */
static bool key_slot_used(struct nswap_device *dev, u64 slot)
{
	struct nswap_slot s = nswap_slot_look(dev, slot);

	return s.state != NSWAP_SLOT_EMPTY && s.state != NSWAP_SLOT_FREEING &&
	       s.state != NSWAP_SLOT_LOST;
}

/* likewise on a device with rows; a page that is brought to a cell, or back, is in either */
static bool key_cell_used(struct nswap_device *dev, struct nswap_parity *p, u64 slot)
{
	bool used;

	spin_lock(&p->switch_lock);
	used = READ_ONCE(p->cell_of[slot]);
	/* pairs with copy_record(): the word has it before the cell is given up */
	smp_rmb();
	used = used || key_slot_used(dev, slot);
	spin_unlock(&p->switch_lock);
	return used;
}

/* is a slot's page sealed with the old key? @slot: not 0; process; a snapshot */
bool nswap_seal_key_old(struct nswap_device *dev, u64 slot)
{
	struct nswap_parity *p = nswap_parity_of(dev);
	struct nswap_sealer *s = dev->sealer;
	struct nswap_seal seal;

	/* a page-out may be writing it: then it is of the newest key, or has not ended */
	data_race(memcpy(&seal, nswap_side_entry(s->table, slot), sizeof(seal)));
	if (!seal.nonce || nswap_seal_key(&seal) == nswap_seal_newest(s))
		return false;
	return p ? key_cell_used(dev, p, slot) : key_slot_used(dev, slot);
}

/* how many there are; process, sleeps: takes about 5 ms for each GiB in use */
u64 nswap_seal_key_left(struct nswap_device *dev)
{
	u64 slot, n = 0;

	nswap_for_each_slot(&dev->map, slot, 1) {
		if (!(slot % NSWAP_SLOT_CHUNK))
			cond_resched();
		n += nswap_seal_key_old(dev, slot);
	}
	return n;
}

/*
 * Destroy the old key: it is wiped. @dev: its key is being changed, and no slot has a page
 * of the old one; process, sleeps.
 */
void nswap_seal_key_destroy(struct nswap_device *dev)
{
	struct nswap_sealer *s = dev->sealer;
	unsigned int old = !nswap_seal_newest(s);

	WRITE_ONCE(s->live, s->live & ~BIT(old));
	synchronize_rcu();
	nswap_cipher_exit(&s->cipher[old]);
	/* pairs with nswap_seal_key_changing() */
	smp_store_release(&s->changing, false);
}
