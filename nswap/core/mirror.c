// SPDX-License-Identifier: GPL-2.0
/*
 * Mirror: changing the entry that says where the second copy of a page is.
 *
 * A page that a peer holds has its first place in the slot's word. An entry with the
 * word's generation names a second one (held) and one to which a copy is on its way
 * (making).
 *
 *   page-out, first copy acknowledged: WRITING(a, g), { g, -, b } -> { g, b, - }
 *   repair, or a move of one of the copies: MOVING(a, g), { g, b, c } -> { g, c, - }
 *   rewritten, or moved to another tier: the entry is taken away
 *
 * Invariants:
 *  - Two words cannot change at once, so an entry counts only beside a word with its
 *    own generation, and if it names another peer. In any other case it is empty.
 *  - A place gets into an entry by the task that has the slot in WRITING or MOVING: one
 *    at a time. Anybody may take one out whose copy is no more. A slot may be claimed
 *    or freed while it is MOVING: so each change is a compare and exchange, and a
 *    task that finds its place gone knows that the slot has left its generation, or the
 *    peer the page.
 *  - The task that takes a held place out of an entry sees to that copy, and to its count in
 *    the peer's slots. A place in the making belongs to its maker until it is held.
 *  - Both copies have the generation of the word: a name never has two contents. So a
 *    copy of the slot's present generation is never freed by a plain FREE, which might
 *    arrive after that peer has got the page again; comparison has it dropped
 *    (nswap_hooks.copy_forgotten). docs/protection.md, invariant 4.
 *  - The table is made when protection is turned on first, and kept until the device
 *    is removed.
 */
#include "base/hooks.h"
#include "mirror.h"
#include "slot_update.h"

/**
 * nswap_mirror_init() - make the table of a device
 * @dev: new, or under the node's control lock; nothing happens if it has one
 *
 * Context: process, sleeps. Allocates 8 bytes a slot, freed with the device.
 * Return: 0 or -ENOMEM.
 */
int nswap_mirror_init(struct nswap_device *dev)
{
	struct nswap_side_table *t;

	if (dev->mirror)
		return 0;
	t = nswap_side_add(&dev->side, "mirror", 64);
	if (!t)
		return -ENOMEM;
	/* pairs with readers, which find zeros */
	smp_store_release(&dev->mirror, (atomic64_t *)t->at);
	return 0;
}

/* a snapshot of an entry; zeros without a table; any context */
struct nswap_mirror nswap_mirror_look(const struct nswap_device *dev, u64 slot)
{
	/* pairs with nswap_mirror_init() */
	atomic64_t *entry = smp_load_acquire(&dev->mirror);

	return nswap_mirror_unpack(entry ? atomic64_read(&entry[slot]) : 0);
}

/*
 * A slot's word and the entry that was beside it: neither changed in between. For those
 * that conclude from both that a copy is of no use. Any context. Returns the word.
 */
struct nswap_slot nswap_mirror_both(const struct nswap_device *dev, u64 slot,
				    struct nswap_mirror *m)
{
	struct nswap_slot s, again = nswap_slot_look(dev, slot);

	do {
		s = again;
		/* pairs with the exchanges of both: the entry is read after the word */
		smp_rmb();
		*m = nswap_mirror_look(dev, slot);
		/* likewise: before the word is read again */
		smp_rmb();
		again = nswap_slot_look(dev, slot);
	} while (!nswap_slot_same(&s, &again));
	return s;
}

/*
 * The second place of the page that a slot's word names; any context. A snapshot: its
 * peer may no longer hold the page, but never has another under that generation.
 * Returns 0 if there is none.
 */
u16 nswap_mirror_of(const struct nswap_device *dev, u64 slot,
		    const struct nswap_slot *s)
{
	struct nswap_mirror m = nswap_mirror_look(dev, slot);

	return nswap_mirror_second(&m, s);
}

/**
 * nswap_mirror_set() - exchange an entry
 * @dev: device with a table
 * @slot: slot
 * @was: the entry as it was seen
 * @to: the new one
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: false, with nothing changed, if it is not *@was any more.
 */
bool nswap_mirror_set(struct nswap_device *dev, u64 slot,
		      const struct nswap_mirror *was,
		      const struct nswap_mirror *to)
{
	u64 old = nswap_mirror_pack(was);

	if (atomic64_cmpxchg(&dev->mirror[slot], old, nswap_mirror_pack(to)) != old)
		return false;
	atomic64_add(!!to->held - !!was->held, &dev->nr_mirrored);
	return true;
}

/* make an entry empty; any context. Returns what it was, the caller's now. */
static struct nswap_mirror mirror_take(struct nswap_device *dev, u64 slot)
{
	struct nswap_mirror m;

	m = nswap_mirror_unpack(atomic64_xchg(&dev->mirror[slot], 0));
	if (m.held)
		atomic64_dec(&dev->nr_mirrored);
	return m;
}

/*
 * A copy is about to be sent; the caller has the slot in WRITING or MOVING, in
 * generation @gen, and looks at its word once more afterwards, since it may have been
 * claimed before the entry was changed. Returns false if another copy is in the making,
 * or the entry is of a newer page already.
 */
bool nswap_mirror_begin(struct nswap_device *dev, u64 slot, u32 gen, u16 peer)
{
	struct nswap_mirror m, to;

	do {
		m = nswap_mirror_look(dev, slot);
		if ((m.held || m.making) && nswap_gen_newer(m.gen, gen))
			return false;
		if (m.gen == gen && m.making)
			return false;
		to = (struct nswap_mirror){
			.gen = gen, .held = m.gen == gen ? m.held : 0,
			.making = peer,
		};
	} while (!nswap_mirror_set(dev, slot, &m, &to));
	return true;
}

/*
 * No copy is in the making any more: it will not come, or becomes the first place. Returns
 * false if the entry is gone: the slot has left @gen.
 */
bool nswap_mirror_off(struct nswap_device *dev, u64 slot, u32 gen, u16 peer)
{
	struct nswap_mirror m, to;

	do {
		m = nswap_mirror_look(dev, slot);
		if (m.gen != gen || m.making != peer)
			return false;
		to = (struct nswap_mirror){ .gen = gen, .held = m.held };
	} while (!nswap_mirror_set(dev, slot, &m, &to));
	return true;
}

/**
 * nswap_mirror_end() - the copy in the making has become the second place
 * @dev: device with a table
 * @slot: slot
 * @gen: its generation
 * @peer: index of the peer in the making
 * @replaced: result: the second place before that, the caller's; or 0
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: false if the entry is gone: the slot has left @gen, the copy is obsolete.
 */
bool nswap_mirror_end(struct nswap_device *dev, u64 slot, u32 gen, u16 peer,
		      u16 *replaced)
{
	struct nswap_mirror m, to;

	do {
		m = nswap_mirror_look(dev, slot);
		if (m.gen != gen || m.making != peer)
			return false;
		to = (struct nswap_mirror){ .gen = gen, .held = peer };
	} while (!nswap_mirror_set(dev, slot, &m, &to));
	*replaced = m.held;
	return true;
}

/**
 * nswap_mirror_replace() - the second place is another one from now on, or none
 * @dev: device
 * @slot: slot
 * @gen: generation of its page
 * @from: index of the second place, the caller's afterwards
 * @to: index of the new one, whose peer has confirmed that it holds the page; or 0
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: false, with nothing changed, if @from is not the second place.
 */
bool nswap_mirror_replace(struct nswap_device *dev, u64 slot, u32 gen, u16 from,
			  u16 to)
{
	struct nswap_mirror m, new;

	do {
		m = nswap_mirror_look(dev, slot);
		if (m.gen != gen || !m.held || m.held != from)
			return false;
		new = (struct nswap_mirror){
			.gen = gen, .held = to, .making = m.making,
		};
	} while (!nswap_mirror_set(dev, slot, &m, &new));
	return true;
}

/**
 * nswap_mirror_drop() - the page of a slot is no longer at its peers
 * @dev: device with a table
 * @slot: slot
 * @was: its word before that
 * @rewritten: it has a new generation; else the page is elsewhere, or nowhere
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_mirror_drop(struct nswap_device *dev, u64 slot,
		       const struct nswap_slot *was, bool rewritten)
{
	struct nswap_mirror m;

	if (!atomic64_read(&dev->mirror[slot]))
		return;
	m = mirror_take(dev, slot);
	if (!m.held)
		return;
	/* the word's own copy is seen to by the one who changed it */
	if (m.gen == was->gen && m.held == was->peer)
		return;
	if (rewritten)
		nswap_hooks.copy_obsolete(dev, slot, m.gen, m.held);
	else
		nswap_hooks.copy_forgotten(dev->node, m.held);
}
