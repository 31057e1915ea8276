// SPDX-License-Identifier: GPL-2.0
/*
 * Keys: the exchange, whose messages are changed on their way, and the tags of what
 * follows. Whatever is not exactly what the other side said is refused.
 */
#include "fuzz.h"
#include "keys/exchange.h"

/* -- tags ---------------------------------------------------------------------- */

static const u8 kinds[] = {
	NSWAP_LOAD, NSWAP_FREE, NSWAP_PING, NSWAP_STORE, NSWAP_LOAD_REPLY, NSWAP_MOVE,
	NSWAP_HOLD_LIST, NSWAP_GRANT_ASK,
};
static const u16 fixed[] = { 0, 0, 0, 0, 0, 16, 0, 0 };
static const u16 each[] = { 4, 24, 0, 4, 4, 16, 24, 0 };
static const bool pages[] = { 0, 0, 0, 1, 1, 1, 0, 0 };

/**
 * struct message - a header, and its payload but for pages
 * @h: header
 * @plain: payload
 * @bytes: of it
 */
struct message {
	struct nswap_wire_hdr h;
	u8 plain[16 + 8 * 24];
	u32 bytes;
};

static struct message any_message(struct fuzz_cursor *in)
{
	u8 kind = fuzz_below(in, ARRAY_SIZE(kinds));
	u32 nr = 1 + fuzz_below(in, 8);
	struct message m = { .bytes = fixed[kind] + each[kind] * nr };

	nswap_wire_init(&m.h, kinds[kind], nr, m.bytes + (pages[kind] ? 4096 * nr : 0));
	m.h.id = fuzz_take(in, 2);
	fuzz_take_into(in, m.plain, m.bytes);
	fuzz_check(nswap_wire_plain(&m.h) == m.bytes);
	return m;
}

/* receive a message as a connection does; 0 or -EBADMSG */
static int receive(struct nswap_tags *t, const struct message *m)
{
	struct message copy = *m;
	int ret = nswap_tags_take(t, &copy.h);

	if (ret)
		return ret;
	fuzz_check(!memchr_inv(copy.h.auth, 0, sizeof(copy.h.auth)));
	return nswap_tags_plain(t, copy.plain, copy.bytes);
}

/* what an attacker between the two does; false if nothing after all */
static bool tamper(struct message *m, const struct message *last, struct nswap_tags *from,
		   struct fuzz_cursor *in)
{
	u16 at = fuzz_take(in, 2);
	u8 change = fuzz_u8(in);
	struct message was = *m;

	switch (fuzz_u8(in) % 8) {
	case 0:
		((u8 *)&m->h)[at % sizeof(m->h)] ^= change;
		return memcmp(&was.h, &m->h, sizeof(was.h));
	case 1:
		m->plain[at % sizeof(m->plain)] ^= change;
		return memcmp(was.plain, m->plain, m->bytes);
	case 2:		/* the one before once more */
		if (!last->h.magic)
			return false;
		*m = *last;
		return true;
	case 3:		/* one is left out */
		nswap_tags_sent(from);
		nswap_tags_put(from, &m->h, m->plain);
		return true;
	default:
		return false;
	}
}

static void run_tags(struct fuzz_cursor *in)
{
	struct nswap_tags a = { .on = fuzz_u8(in) != 255 }, b;
	struct message last = {}, m;
	bool changed = false;
	int ret;

	fuzz_take_into(in, &a.out, sizeof(a.out));
	fuzz_take_into(in, &a.in, sizeof(a.in));
	b = (struct nswap_tags){ .on = a.on, .out = a.in, .in = a.out };
	while (fuzz_more(in) && !changed) {
		bool back = fuzz_u8(in) & 1;

		m = any_message(in);
		nswap_tags_put(back ? &b : &a, &m.h, m.plain);
		if (!a.on) {
			fuzz_check(!memchr_inv(m.h.auth, 0, sizeof(m.h.auth)));
			fuzz_check(!receive(back ? &a : &b, &m));
			continue;
		}
		changed = tamper(&m, &last, back ? &b : &a, in);
		/* the first wrong one ends the connection */
		ret = receive(back ? &a : &b, &m);
		fuzz_check(ret == (changed ? -EBADMSG : 0));
		nswap_tags_sent(back ? &b : &a);
		last = m;
	}
}

const struct fuzz_target fuzz_tags = {
	"tags", "tags of messages, changed, repeated, left out", 6, NULL, run_tags,
};

/* -- exchange ------------------------------------------------------------------ */

#define MEMBERS	3

static struct nswap_identity *members[MEMBERS];	/* the last one is not trusted */

static void make_members(void)
{
	u8 keys[MEMBERS - 1][NSWAP_KEY_BYTES];
	struct nswap_identity_config cfg = { .cluster = { 7 }, .has_secret = true };
	unsigned int i;

	for (i = 0; i < MEMBERS; i++) {
		memset(cfg.secret, i + 1, sizeof(cfg.secret));
		members[i] = nswap_identity_make(&cfg, 0);
		fuzz_check(!IS_ERR(members[i]));
		if (i < MEMBERS - 1)
			memcpy(keys[i], members[i]->public, sizeof(keys[i]));
	}
	for (i = 0; i < MEMBERS - 1; i++)
		fuzz_check(!nswap_identity_trust(members[i], keys[0], MEMBERS - 1));
	fuzz_check(nswap_identity_trust(members[i], keys[0], MEMBERS - 1) == -EKEYREJECTED);
	fuzz_check(nswap_identity_members(members[0]) == MEMBERS - 1);
	fuzz_check(nswap_identity_knows(members[0], nswap_identity_name(keys[1])));
}

/* change a message on its way; true if it is another one now */
static bool change(void *at, size_t bytes, struct fuzz_cursor *in)
{
	u8 n = fuzz_u8(in), *p = at;
	u8 was[256];

	if (n < 128)
		return false;
	memcpy(was, at, bytes);
	if (n >= 240) {
		size_t from = fuzz_below(in, bytes);

		fuzz_take_into(in, p + from, bytes - from);
	} else {
		p[fuzz_below(in, bytes)] ^= fuzz_u8(in);
	}
	return memcmp(was, at, bytes);
}

static bool same(const struct nswap_tag_keys *a, const struct nswap_tag_keys *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void run_exchange(struct fuzz_cursor *in)
{
	u8 from = fuzz_below(in, MEMBERS), to = fuzz_below(in, MEMBERS);
	bool wrong = (from == MEMBERS - 1) != (to == MEMBERS - 1), changed;
	struct nswap_exchange s, c;
	struct nswap_wire_greet greet = {};
	struct nswap_wire_hello hello = {};
	struct nswap_wire_welcome welcome = { .features = fuzz_u8(in) };
	struct nswap_wire_hdr hdr;
	struct nswap_tags server, client;
	int ret;

	if (!members[0])
		make_members();
	jiffies = fuzz_take(in, 3);
	greet.id = nswap_identity_name(members[to]->public);
	greet.ticket = fuzz_u8(in);
	fuzz_check(!nswap_exchange_greet(&s, members[to], &greet));
	changed = change(&greet, sizeof(greet), in);
	hello.id = nswap_identity_name(members[from]->public);
	ret = nswap_exchange_hello(&c, members[from], &greet, &hello);
	if (ret) {
		/* the last member is on no list, but has none itself */
		fuzz_check(changed || (to == MEMBERS - 1 && from != to));
		goto out;
	}
	fuzz_check(to != MEMBERS - 1 || from == to);
	changed |= change(&hello, sizeof(hello), in);
	ret = nswap_exchange_heard(&s, members[to], &hello);
	fuzz_check(!!ret == (changed || wrong));
	if (ret)
		goto out;
	nswap_wire_init(&hdr, NSWAP_HELLO_ACK, 0, sizeof(welcome));
	nswap_exchange_welcome(&s, &hdr, &welcome);
	changed = change(&welcome, sizeof(welcome), in) | change(&hdr, sizeof(hdr), in);
	fuzz_check(!!nswap_exchange_welcomed(&c, &hdr, &welcome) == changed);
	nswap_exchange_tags(&s, &server, true);
	nswap_exchange_tags(&c, &client, false);
	fuzz_check(same(&server.in, &client.out) && same(&server.out, &client.in));
	fuzz_check(!same(&server.in, &server.out));
out:
	nswap_exchange_end(&s);
	nswap_exchange_end(&c);
	nswap_identity_age(members[to]);
}

const struct fuzz_target fuzz_exchange = {
	"exchange", "the exchange of keys, changed on its way", 1, NULL, run_exchange,
};
