// SPDX-License-Identifier: GPL-2.0
/*
 * Links of a mover: one request at a time, each answered before the next, all by
 * the mover's own thread. A question about totals goes over such a link as well.
 *
 * Invariants:
 *  - A link leads to one epoch of one node; every answer on it is of that epoch.
 *  - Any error closes the link, so a late answer cannot be taken for the next one.
 *  - Every wait is bounded: connecting, sending and each answer have a timeout.
 */
#include <linux/err.h>

#include "core/node.h"
#include "move_link.h"
#include "peers/handshake.h"
#include "pure/totals.h"

#define MOVE_MS		2000
#define TELL_MS		8000	/* an owner asks a third node, or its home */

/* receive an answer of @least to @most bytes of payload into @result */
static int move_link_recv(struct nswap_move_link *ml, u8 type, void *result, u32 least,
			  u32 most)
{
	u32 bytes;
	int ret = nswap_recv_buf(ml->t, ml->l, &ml->hdr, sizeof(ml->hdr));

	if (!ret)
		ret = nswap_tags_take(&ml->tags, &ml->hdr);
	if (!ret)
		ret = nswap_wire_check(&ml->hdr);
	if (ret)
		return ret;
	bytes = le32_to_cpu(ml->hdr.bytes);
	if (ml->hdr.type != type || bytes < least || bytes > most)
		return -EPROTO;
	return nswap_recv_buf(ml->t, ml->l, result, bytes) ?:
	       nswap_tags_plain(&ml->tags, result, bytes);
}

static int shake_hands(struct nswap_move_link *ml, struct nswap_handshake *hs)
{
	int ret = nswap_handshake_greet(hs, ml->l);

	if (!ret && hs->id != ml->id)
		ret = -ESTALE;
	if (ret)
		return ret;
	ml->epoch = hs->epoch;
	ret = nswap_handshake_hello(hs, ml->l);
	ml->features = hs->features;
	ml->tags = hs->tags;
	return ret;
}

static u32 move_link_lists(const struct nswap_move_link *ml)
{
	const struct nswap_identity *me = ml->node->identity;

	/* read before anything is proved; pairs with nswap_identity_trust() */
	return me ? smp_load_acquire(&me->lists) : 0;
}

/* is it open to this node, and was that proved under the present list of members? */
bool nswap_move_link_leads(const struct nswap_move_link *ml, u64 id)
{
	return ml->l && ml->id == id && ml->lists == move_link_lists(ml);
}

/*
 * Connect to a node, unless already connected to it. Context: process, the mover's
 * thread; sleeps, at most some seconds. Returns 0, or the transport's error.
 */
int nswap_move_link_open(struct nswap_move_link *ml, u64 id,
			 const struct nswap_addr *addr)
{
	struct nswap_handshake hs = {
		.node = ml->node, .t = ml->t, .addr = addr, .class = ml->class,
	};
	struct nswap_link *l;
	int ret;

	if (nswap_move_link_leads(ml, id))
		return 0;
	nswap_move_link_close(ml);
	ml->lists = move_link_lists(ml);
	l = nswap_handshake_connect(&hs);
	if (IS_ERR(l))
		return PTR_ERR(l);
	ml->l = l;
	ml->id = id;
	ret = shake_hands(ml, &hs);
	memzero_explicit(&hs.tags, sizeof(hs.tags));
	if (ret)
		nswap_move_link_close(ml);
	return ret;
}

/* Context: process, the mover's thread; sleeps. */
void nswap_move_link_close(struct nswap_move_link *ml)
{
	if (ml->l)
		ml->t->close(ml->l);
	memzero_explicit(&ml->tags, sizeof(ml->tags));
	ml->l = NULL;
}

/**
 * nswap_move_link_ask() - send a message and wait for its answer
 * @ml: open link; closed if this fails
 * @bv: the message; the header is @ml->hdr
 * @nr_bv: entries of @bv
 * @plain: its payload but for pages
 * @pages: bytes of pages at its end, that need not be copied
 * @answer: expected type of the answer
 * @result: payload of the answer, one entry for each page of the message
 *
 * Context: process, the mover's thread; sleeps, at most TELL_MS after sending.
 * Return: 0, or an error.
 */
int nswap_move_link_ask(struct nswap_move_link *ml, struct bio_vec *bv,
			unsigned int nr_bv, const void *plain, size_t pages, u8 answer,
			struct nswap_wire_result *result)
{
	u32 len = sizeof(ml->hdr) + le32_to_cpu(ml->hdr.bytes);
	u32 back = le32_to_cpu(ml->hdr.nr) * sizeof(*result);
	struct iov_iter it;
	int ret;

	ml->t->recv_timeout(ml->l, answer == NSWAP_MOVE_ACK ? MOVE_MS : TELL_MS);
	nswap_tags_put(&ml->tags, &ml->hdr, plain);
	nswap_tags_sent(&ml->tags);
	iov_iter_bvec(&it, ITER_SOURCE, bv, nr_bv, len);
	ret = nswap_send_all(ml->t, ml->l, &it, pages) ?:
	      move_link_recv(ml, answer, result, back, back);
	if (ret)
		nswap_move_link_close(ml);
	return ret;
}

static int move_link_ask_stat(struct nswap_move_link *ml, struct nswap_totals *t)
{
	struct nswap_wire_stat answer;

	ml->t->recv_timeout(ml->l, MOVE_MS);
	nswap_wire_init(&ml->hdr, NSWAP_STAT, 0, 0);
	nswap_tags_put(&ml->tags, &ml->hdr, NULL);
	nswap_tags_sent(&ml->tags);
	return nswap_send_buf(ml->t, ml->l, &ml->hdr, sizeof(ml->hdr)) ?:
	       move_link_recv(ml, NSWAP_STAT_REPLY, &answer, 0, sizeof(answer)) ?:
	       nswap_totals_get(&answer, le32_to_cpu(ml->hdr.nr), t);
}

/**
 * nswap_move_link_stat() - ask a node for its totals
 * @ml: open link of class TELL, closed afterwards in any case
 * @t: result
 *
 * Context: process, a kernel thread; sleeps, at most twice MOVE_MS after sending.
 * Return: 0; -EOPNOTSUPP if the node knows no STAT; -EPROTO if its answer makes no sense;
 * the transport's error.
 */
int nswap_move_link_stat(struct nswap_move_link *ml, struct nswap_totals *t)
{
	int ret = ml->features & NSWAP_HAS_STAT ? move_link_ask_stat(ml, t) : -EOPNOTSUPP;

	nswap_move_link_close(ml);
	return ret;
}
