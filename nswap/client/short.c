// SPDX-License-Identifier: GPL-2.0
/*
 * STORE and LOAD_REPLY of compressed devices: only so much of a page travels as is no zeros
 * at its end (NSWAP_F_SHORT).
 *
 * Invariants:
 *  - What is left out is zeros: of a page that was just compressed that is known, of any
 *    other, which was read for a move or is a check, the page itself is looked at. So
 *    nothing here depends on what is kept of slots.
 *  - Generations and lengths of a message are one piece of the request's @plain, that of
 *    slot i at the i-th share of it.
 *  - A reply is short only if that was asked for; its lengths and results have to agree. What
 *    it leaves out of a page becomes zeros before anybody looks at it.
 */
#include <linux/highmem.h>
#include <linux/string.h>

#include "short.h"

#define EACH	(sizeof(__le32) + sizeof(__le16))	/* of a slot in @plain */

static_assert(sizeof_field(struct nswap_io, plain) == EACH * NSWAP_REQ_SLOTS);

/* so much of a page is no zeros at its end, in whole words; one at least */
static unsigned int short_look(struct page *page)
{
	unsigned int n = PAGE_SIZE / sizeof(u64);
	const u64 *at = kmap_local_page(page);

	while (n > 1 && !at[n - 1])
		n--;
	kunmap_local(at);
	return n * sizeof(u64);
}

static unsigned int short_len(const struct nswap_io *io, unsigned int i)
{
	if (io->bounced && io->wrapped & BIT(i))
		return io->kept[i].len ?: PAGE_SIZE;
	return short_look(io->page[i]);
}

static u8 *short_plain(struct nswap_op *op)
{
	return &op->io->plain[EACH * op->first];
}

/**
 * nswap_short_store() - leave zeros out of a STORE
 * @op: it has everything but its generations, which nswap_short_gens() adds
 *
 * Context: process, page-out path: does not sleep or allocate.
 * Return: false if it would not be worth it: then it is as it was.
 */
bool nswap_short_store(struct nswap_op *op)
{
	struct bio_vec *bv = &op->io->bv[3 * op->first];
	u32 i, plain = op->nr * EACH, bytes = plain;
	struct nswap_wire_hdr *h = &op->m.hdr;
	u8 *at = short_plain(op);
	__le16 *lens = (__le16 *)(at + op->nr * sizeof(__le32));
	bool worth = false;

	for (i = 0; i < op->nr; i++) {
		u32 len = short_len(op->io, op->first + i);

		worth = worth || nswap_wire_worth(len);
		lens[i] = cpu_to_le16(len);
		bytes += len;
	}
	if (!worth)
		return false;
	for (i = 0; i < op->nr; i++)
		bv[2 + i].bv_len = le16_to_cpu(lens[i]);
	bvec_set_page(&bv[1], virt_to_page(at), plain, offset_in_page(at));
	h->bytes = cpu_to_le32(bytes);
	h->flags |= cpu_to_le16(NSWAP_F_SHORT);
	op->m.plain = at;
	op->m.pages = 0;
	iov_iter_bvec(&op->m.iter, ITER_SOURCE, bv, 2 + op->nr, sizeof(*h) + bytes);
	return true;
}

/* the generations of a STORE whose pages are short are known now; as above */
void nswap_short_gens(struct nswap_op *op)
{
	memcpy(short_plain(op), &op->io->gen[op->first], op->nr * sizeof(__le32));
}

/* the pages of a reply; @len: of each slot, NULL if they are whole */
static int short_pages(struct nswap_op *op, struct nswap_conn *c, unsigned long held,
		       const __le16 *len)
{
	struct nswap_io *io = op->io;
	struct bio_vec *bv = &io->bv[3 * op->first];
	unsigned int i, n = 0;
	struct iov_iter it;
	size_t bytes = 0;
	int ret;

	for_each_set_bit(i, &held, op->nr) {
		unsigned int of = len ? le16_to_cpu(len[i]) : PAGE_SIZE;

		bvec_set_page(&bv[n++], io->page[op->first + i], of, 0);
		bytes += of;
	}
	iov_iter_bvec(&it, ITER_DEST, bv, n, bytes);
	ret = c->t->recv(c->l, &it);
	if (ret || !len)
		return ret;
	for_each_set_bit(i, &held, op->nr)
		memzero_page(io->page[op->first + i], le16_to_cpu(len[i]),
			     PAGE_SIZE - le16_to_cpu(len[i]));
	return 0;
}

/* is a page sent for each slot that has one, and for no other, and is that all? */
static int short_agrees(const struct nswap_op *op, const struct nswap_conn *c,
			unsigned long held, const __le16 *len)
{
	unsigned int i;

	if (!len)
		return le32_to_cpu(c->rx.bytes) == op->nr * sizeof(__le32) +
		       hweight_long(held) * PAGE_SIZE ? 0 : -EPROTO;
	for (i = 0; i < op->nr; i++)
		if (!len[i] != !(held & BIT(i)))
			return -EPROTO;
	return nswap_wire_lens(&c->rx, len);
}

/**
 * nswap_short_recv() - receive what a LOAD_REPLY has
 * @op: that was answered
 * @c: the connection, which has the header of the reply
 * @held: result; slots of the part whose page has come
 *
 * Context: process, the connection's receiver; waits for the rest.
 * Return: 0, or an error to break the session.
 */
int nswap_short_recv(struct nswap_op *op, struct nswap_conn *c, unsigned long *held)
{
	__le32 *result = c->scratch;
	__le16 *len = nswap_wire_short(&c->rx) ? (__le16 *)&result[op->nr] : NULL;
	unsigned int i;
	int ret;

	/* a flag that was not asked for */
	if (c->rx.type != NSWAP_LOAD_REPLY || le32_to_cpu(c->rx.nr) != op->nr ||
	    c->rx.flags & ~op->m.hdr.flags)
		return -EPROTO;
	ret = nswap_conn_plain(c, result, op->nr * (len ? EACH : sizeof(*result)));
	if (ret)
		return ret;
	*held = 0;
	for (i = 0; i < op->nr; i++)
		if (le32_to_cpu(result[i]) == NSWAP_ST_OK)
			*held |= BIT(i);
	ret = short_agrees(op, c, *held, len);
	return ret || !*held ? ret : short_pages(op, c, *held, len);
}
