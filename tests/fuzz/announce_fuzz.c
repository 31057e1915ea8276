// SPDX-License-Identifier: GPL-2.0
/*
 * Announcements: decoding, encoding, and their tags. What is accepted is encoded again and
 * must be the same datagram; one that was changed on its way has a wrong tag.
 */
#include "fuzz.h"
#include "keys/datagram.h"

static struct nswap_identity *identity(void)
{
	static struct nswap_identity *id;

	if (!id) {
		struct nswap_identity_config cfg = { .cluster = { 1 } };

		id = nswap_identity_make(&cfg, 1);
		fuzz_check(!IS_ERR(id));
	}
	return id;
}

static void round_trip(const struct nswap_wire_announce *w,
		       const struct nswap_announcement *a)
{
	struct nswap_wire_announce back;

	fuzz_check(a->id && a->epoch && a->addr.port && !a->addr.scope);
	fuzz_check(a->addr.family == AF_INET || a->addr.family == AF_INET6);
	nswap_wire_put_announce(&back, a);
	/* a header says more than an announcement does */
	back.hdr.nr = w->hdr.nr;
	back.hdr.slot = w->hdr.slot;
	back.hdr.instance = w->hdr.instance;
	back.hdr.grants = w->hdr.grants;
	back.hdr.status = w->hdr.status;
	back.hdr.free = w->hdr.free;
	fuzz_check(!memcmp(&back, w, sizeof(back)));
}

/* @change: where, and how; 0: not at all */
static void tagged(const struct nswap_wire_announce *w, u16 at, u8 change)
{
	struct nswap_wire_announce copy = *w;
	int ret;

	nswap_datagram_put(identity(), &copy.hdr, sizeof(copy));
	((u8 *)&copy)[at % sizeof(copy)] ^= change;
	ret = nswap_datagram_take(identity(), &copy.hdr, sizeof(copy));
	fuzz_check(ret == (change ? -EBADMSG : 0));
	if (!change)
		fuzz_check(!memcmp(&copy, w, sizeof(copy)));
}

static void run_announce(struct fuzz_cursor *in)
{
	u8 change = fuzz_u8(in);
	u16 at = fuzz_take(in, 2);
	size_t len = in->end - in->at, whole = sizeof(struct nswap_wire_announce);
	/* no more than was received, so that a byte too far is noticed */
	u8 *buffer = malloc(len + 1);
	struct nswap_announcement a;

	fuzz_take_into(in, buffer, len);
	if (!nswap_wire_get_announce((void *)buffer, len, &a)) {
		fuzz_check(len == whole);
		round_trip((void *)buffer, &a);
		tagged((void *)buffer, at, change);
	} else if (len >= sizeof(struct nswap_wire_hdr)) {
		fuzz_check(nswap_datagram_take(identity(), (void *)buffer, len) ==
			   -EBADMSG);
	}
	free(buffer);
}

static void make_announce(struct fuzz_bytes *in)
{
	struct nswap_announcement a = {
		.id = fuzz_random(), .epoch = fuzz_random(), .lent = fuzz_odd_number(),
		.free = fuzz_odd_number(), .used = fuzz_odd_number(),
		.leaving = fuzz_random() & 1, .answer = fuzz_random() & 1,
		.shrinking = fuzz_random() & 1, .counter = fuzz_odd_number(),
		.addr = { fuzz_random() & 1 ? AF_INET : AF_INET6, fuzz_random() | 1 },
	};

	fuzz_put(in, fuzz_random() & 1 ? 0 : fuzz_random(), 1);
	fuzz_put(in, fuzz_random(), 2);
	nswap_wire_put_announce((void *)(in->at + in->bytes), &a);
	in->bytes += sizeof(struct nswap_wire_announce);
}

const struct fuzz_target fuzz_announce = {
	"announce", "announcements: decoded, encoded, tagged", 10, make_announce,
	run_announce,
};
