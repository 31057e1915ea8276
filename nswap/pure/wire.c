// SPDX-License-Identifier: GPL-2.0
/*
 * Wire protocol: encode, decode and, above all, reject.
 *
 * Invariant: a header that nswap_wire_check() accepts has a payload whose
 * size follows from its type and @nr alone (or is bounded by them, for
 * LOAD_REPLY and what has short pages), so that a receiver never reads more than
 * it has room for.
 */
#include <linux/errno.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "wire.h"

/**
 * struct shape - what a legal message of one type looks like
 * @name: shown to users
 * @max_nr: largest @nr
 * @min_nr: smallest @nr
 * @each: payload bytes per @nr
 * @fixed: payload bytes beside them
 * @flags: flags this type may carry
 * @timed: it may carry the time it took
 */
struct shape {
	const char *name;
	u32 max_nr;
	u32 min_nr;
	u32 each;
	u32 fixed;
	u16 flags;
	bool timed;
};

static const struct shape shapes[NSWAP_WIRE_NR] = {
	[NSWAP_GREET] = { "greet", .fixed = sizeof(struct nswap_wire_greet) },
	[NSWAP_HELLO] = { "hello", .fixed = sizeof(struct nswap_wire_hello) },
	[NSWAP_HELLO_ACK] = { "hello-ack",
			      .fixed = sizeof(struct nswap_wire_welcome) },
	[NSWAP_STORE] = { "store", NSWAP_REQ_SLOTS, 1,
			  PAGE_SIZE + sizeof(__le32),
			  .flags = NSWAP_F_TIMED | NSWAP_F_RESERVED | NSWAP_F_SHORT },
	[NSWAP_STORE_ACK] = { "store-ack", NSWAP_REQ_SLOTS, 1,
			      sizeof(struct nswap_wire_result),
			      .timed = true },
	[NSWAP_LOAD] = { "load", NSWAP_REQ_SLOTS, 1, sizeof(__le32),
			 .flags = NSWAP_F_TIMED | NSWAP_F_SHORT },
	[NSWAP_LOAD_REPLY] = { "load-reply", NSWAP_REQ_SLOTS, 1,
			       .flags = NSWAP_F_SHORT, .timed = true },
	[NSWAP_FREE] = { "free", NSWAP_WIRE_RUNS, 1,
			 sizeof(struct nswap_wire_run),
			 .flags = NSWAP_F_NO_RECORD },
	[NSWAP_FREE_ACK] = { "free-ack" },
	[NSWAP_FREE_DEVICE] = { "free-device" },
	[NSWAP_HOLD_ASK] = { "hold-ask" },
	[NSWAP_HOLD_LIST] = { "hold-list", NSWAP_WIRE_RUNS, 0,
			      sizeof(struct nswap_wire_run),
			      .flags = NSWAP_F_LAST },
	[NSWAP_GRANT_ASK] = { "grant-ask", U32_MAX },
	[NSWAP_GRANT] = { "grant", U32_MAX, .flags = NSWAP_F_SHARE },
	[NSWAP_GRANT_RETURN] = { "grant-return", U32_MAX, 1 },
	[NSWAP_PING] = { "ping" },
	[NSWAP_PONG] = { "pong", U32_MAX, .flags = NSWAP_F_SHARE },
	[NSWAP_MOVE] = { "move", NSWAP_REQ_SLOTS, 1,
			 PAGE_SIZE + sizeof(struct nswap_wire_page),
			 sizeof(struct nswap_wire_node), .flags = NSWAP_F_SHORT },
	[NSWAP_MOVE_ACK] = { "move-ack", NSWAP_REQ_SLOTS, 1,
			     sizeof(struct nswap_wire_result) },
	[NSWAP_MOVED] = { "moved", NSWAP_REQ_SLOTS, 1,
			  sizeof(struct nswap_wire_page),
			  sizeof(struct nswap_wire_node) },
	[NSWAP_MOVED_ACK] = { "moved-ack", NSWAP_REQ_SLOTS, 1,
			      sizeof(struct nswap_wire_result) },
	[NSWAP_CLAIM] = { "claim", NSWAP_REQ_SLOTS, 1,
			  sizeof(struct nswap_wire_page) },
	[NSWAP_CLAIM_ACK] = { "claim-ack", NSWAP_REQ_SLOTS, 1,
			      sizeof(struct nswap_wire_result) },
	[NSWAP_RETURN] = { "return", NSWAP_REQ_SLOTS, 1,
			   PAGE_SIZE + sizeof(struct nswap_wire_page),
			   sizeof(struct nswap_wire_node), .flags = NSWAP_F_SHORT },
	[NSWAP_RETURN_ACK] = { "return-ack", NSWAP_REQ_SLOTS, 1,
			       sizeof(struct nswap_wire_result) },
	[NSWAP_ANNOUNCE] = { "announce",
			     .fixed = sizeof(struct nswap_wire_announce) -
				      sizeof(struct nswap_wire_hdr),
			     .flags = NSWAP_F_LEAVING | NSWAP_F_ANSWER |
				      NSWAP_F_SHRINKING },
	[NSWAP_ATTACH] = { "attach", U32_MAX,
			   .flags = NSWAP_F_CRITICAL | NSWAP_F_DROPPABLE },
	[NSWAP_ATTACHED] = { "attached", U32_MAX },
	[NSWAP_DROPPED] = { "dropped", NSWAP_REQ_SLOTS, 1,
			    sizeof(struct nswap_wire_page),
			    sizeof(struct nswap_wire_node) },
	[NSWAP_DROPPED_ACK] = { "dropped-ack", NSWAP_REQ_SLOTS, 1,
				sizeof(struct nswap_wire_result) },
	[NSWAP_STAT] = { "stat" },
	[NSWAP_STAT_REPLY] = { "stat-reply", NSWAP_WIRE_TOTALS, 1, sizeof(__le64),
			       offsetof(struct nswap_wire_stat, total) },
};

void nswap_wire_init(struct nswap_wire_hdr *h, u8 type, u32 nr, u32 bytes)
{
	memset(h, 0, sizeof(*h));
	h->magic = cpu_to_le32(NSWAP_WIRE_MAGIC);
	h->version = NSWAP_WIRE_VERSION;
	h->type = type;
	h->nr = cpu_to_le32(nr);
	h->bytes = cpu_to_le32(bytes);
	h->page_bytes = cpu_to_le16(PAGE_SIZE);
}

static bool load_reply_fits(u32 nr, u32 bytes)
{
	u32 results = nr * sizeof(__le32);

	return bytes >= results && bytes <= results + nr * PAGE_SIZE &&
	       !((bytes - results) % PAGE_SIZE);
}

/* what comes before the pages of a message whose pages are short */
static u32 short_plain(const struct nswap_wire_hdr *h)
{
	const struct shape *s = &shapes[h->type];
	u32 each = h->type == NSWAP_LOAD_REPLY ? sizeof(__le32) : s->each - PAGE_SIZE;

	return s->fixed + le32_to_cpu(h->nr) * (each + sizeof(__le16));
}

/* a byte of each page at least, of a LOAD_REPLY of one of them */
static bool short_fits(const struct nswap_wire_hdr *h)
{
	u32 nr = le32_to_cpu(h->nr), bytes = le32_to_cpu(h->bytes), plain = short_plain(h);

	return bytes >= plain + (h->type == NSWAP_LOAD_REPLY ? 1 : nr) &&
	       bytes <= plain + nr * PAGE_SIZE;
}

/**
 * nswap_wire_check() - is this a valid header?
 * @h: a header as received
 *
 * Context: any.
 * Return: 0; -EPROTO for anything malformed; -EPROTONOSUPPORT for another
 * version of the protocol.
 */
int nswap_wire_check(const struct nswap_wire_hdr *h)
{
	/* compared as two words; memchr_inv() goes by bytes */
	static const u8 none[NSWAP_WIRE_AUTH];
	u32 nr = le32_to_cpu(h->nr), bytes = le32_to_cpu(h->bytes);
	const struct shape *s;

	if (le32_to_cpu(h->magic) != NSWAP_WIRE_MAGIC)
		return -EPROTO;
	if (h->version != NSWAP_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	if (h->type >= NSWAP_WIRE_NR || !shapes[h->type].name)
		return -EPROTO;
	s = &shapes[h->type];
	if (le16_to_cpu(h->flags) & ~s->flags)
		return -EPROTO;
	if (nr > s->max_nr || nr < s->min_nr ||
	    (nr && s->flags & NSWAP_F_SHARE && !(h->flags & cpu_to_le16(NSWAP_F_SHARE))))
		return -EPROTO;
	if (nswap_wire_short(h) ? !short_fits(h) :
	    h->type == NSWAP_LOAD_REPLY ? !load_reply_fits(nr, bytes) :
					  bytes != s->fixed + nr * s->each)
		return -EPROTO;
	if ((h->took && !s->timed) || memcmp(h->auth, none, sizeof(none)))
		return -EPROTO;
	if (le16_to_cpu(h->page_bytes) != PAGE_SIZE)
		return -EPROTO;
	return 0;
}

/* bytes of a message's payload that come before its pages, if it has any; @h: valid */
size_t nswap_wire_plain(const struct nswap_wire_hdr *h)
{
	u32 nr = le32_to_cpu(h->nr), bytes = le32_to_cpu(h->bytes);
	u32 each = shapes[h->type].each;

	if (nswap_wire_short(h))
		return short_plain(h);
	if (h->type == NSWAP_LOAD_REPLY)
		return nr * sizeof(__le32);
	return each > PAGE_SIZE ? bytes - nr * PAGE_SIZE : bytes;
}

/**
 * nswap_wire_lens() - do the lengths of short pages make up the message?
 * @h: a valid header, of a message whose pages are short
 * @len: @nr of them, the last part of what comes before the pages
 *
 * In a LOAD_REPLY the length of a page that is not sent is 0; whether these are the right
 * ones is for the receiver, who knows the results.
 *
 * Context: any.
 * Return: 0, or -EPROTO.
 */
int nswap_wire_lens(const struct nswap_wire_hdr *h, const __le16 *len)
{
	u32 i, nr = le32_to_cpu(h->nr), sum = short_plain(h);
	u32 least = h->type == NSWAP_LOAD_REPLY ? 0 : 1;

	for (i = 0; i < nr; i++) {
		u32 n = le16_to_cpu(len[i]);

		if (n < least || n > PAGE_SIZE)
			return -EPROTO;
		sum += n;
	}
	return sum == le32_to_cpu(h->bytes) ? 0 : -EPROTO;
}

/*
 * Is this message ours but for its version? Every version begins with magic and
 * version; nothing else in @h is trusted. Returns true if it is of another version of
 * this protocol.
 */
bool nswap_wire_other_version(const struct nswap_wire_hdr *h, size_t len)
{
	return len >= offsetofend(struct nswap_wire_hdr, version) &&
	       le32_to_cpu(h->magic) == NSWAP_WIRE_MAGIC && h->version &&
	       h->version != NSWAP_WIRE_VERSION;
}

void nswap_wire_put_announce(struct nswap_wire_announce *w,
			     const struct nswap_announcement *a)
{
	memset(w, 0, sizeof(*w));
	nswap_wire_init(&w->hdr, NSWAP_ANNOUNCE, 0,
			sizeof(*w) - sizeof(w->hdr));
	w->hdr.flags = cpu_to_le16((a->leaving ? NSWAP_F_LEAVING : 0) |
				   (a->answer ? NSWAP_F_ANSWER : 0) |
				   (a->shrinking ? NSWAP_F_SHRINKING : 0));
	w->hdr.id = cpu_to_le64(a->counter);
	w->id = cpu_to_le64(a->id);
	w->epoch = cpu_to_le64(a->epoch);
	w->family = cpu_to_le16(a->addr.family);
	w->port = cpu_to_le16(a->addr.port);
	memcpy(w->ip, a->addr.ip, sizeof(w->ip));
	w->lent = cpu_to_le64(a->lent);
	w->free = cpu_to_le64(a->free);
	w->used = cpu_to_le64(a->used);
}

/*
 * Decode and check a datagram. @a: result; its scope is left 0. Returns 0; -EPROTO or
 * -EPROTONOSUPPORT as nswap_wire_check().
 */
int nswap_wire_get_announce(const struct nswap_wire_announce *w, size_t len,
			    struct nswap_announcement *a)
{
	u16 flags, family;
	int ret;

	if (len != sizeof(*w))
		return -EPROTO;
	ret = nswap_wire_check(&w->hdr);
	if (ret)
		return ret;
	family = le16_to_cpu(w->family);
	if (w->hdr.type != NSWAP_ANNOUNCE || w->reserved || !w->id ||
	    !w->epoch || !w->port || (family != AF_INET && family != AF_INET6))
		return -EPROTO;
	flags = le16_to_cpu(w->hdr.flags);
	memset(a, 0, sizeof(*a));
	a->id = le64_to_cpu(w->id);
	a->epoch = le64_to_cpu(w->epoch);
	a->addr.family = family;
	a->addr.port = le16_to_cpu(w->port);
	memcpy(a->addr.ip, w->ip, sizeof(w->ip));
	a->lent = le64_to_cpu(w->lent);
	a->free = le64_to_cpu(w->free);
	a->used = le64_to_cpu(w->used);
	a->leaving = flags & NSWAP_F_LEAVING;
	a->answer = flags & NSWAP_F_ANSWER;
	a->shrinking = flags & NSWAP_F_SHRINKING;
	a->counter = le64_to_cpu(w->hdr.id);
	return 0;
}

const char *nswap_wire_name(u8 type)
{
	return type < NSWAP_WIRE_NR && shapes[type].name ? shapes[type].name :
							   "unknown";
}
