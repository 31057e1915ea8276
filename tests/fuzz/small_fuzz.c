// SPDX-License-Identifier: GPL-2.0
/*
 * The small ones: states of a peer, addresses, side tables, buffers of links, suspending.
 */
#include "fuzz.h"
#include "pure/buffers.h"
#include "pure/peer_state.h"
#include "pure/power.h"
#include "pure/side_table.h"
#include "transport/sockaddr.h"

/* -- states of a peer --------------------------------------------------------- */

static void reason(struct fuzz_cursor *in)
{
	s32 error = -(s32)fuzz_below(in, 140);
	u8 is = nswap_peer_reason_of(error);
	/* "another node is at its address, for 4294967.9 s" is the longest */
	size_t room = 1 + fuzz_below(in, 80);
	char *text = malloc(room);

	fuzz_check(is < NSWAP_REASONS && (is == NSWAP_REASON_NONE) == !error);
	nswap_peer_reason_text(fuzz_u8(in) & 1 ? is : fuzz_u8(in), fuzz_take(in, 4), text,
			       room);
	fuzz_check(strlen(text) < room);
	free(text);
}

static void run_state(struct fuzz_cursor *in)
{
	u8 state = NSWAP_PEER_NEW, to;
	bool session = false;

	while (fuzz_more(in)) {
		to = fuzz_below(in, NSWAP_PEER_STATES + 2);
		fuzz_check(strlen(nswap_peer_state_name(to)) > 0);
		if (nswap_peer_legal(state, to)) {
			/* LOST is final, and no way back leads to NEW once it was up */
			fuzz_check(state != NSWAP_PEER_LOST && to < NSWAP_PEER_STATES);
			fuzz_check(!session || to != NSWAP_PEER_NEW);
			fuzz_check(to != NSWAP_PEER_SUSPECTED ||
				   state == NSWAP_PEER_UP);
			session = session || to == NSWAP_PEER_UP;
			state = to;
		} else {
			/* every peer that is not lost can be */
			fuzz_check(to != NSWAP_PEER_LOST || state == NSWAP_PEER_LOST);
		}
		fuzz_check(nswap_peer_hopeless(state) ==
			   (state == NSWAP_PEER_DEAD || state == NSWAP_PEER_LOST));
		reason(in);
	}
}

const struct fuzz_target fuzz_state = {
	"state", "states of a peer, and why it is suspected", 4, NULL, run_state,
};

/* -- addresses ---------------------------------------------------------------- */

static const u16 families[] = { AF_INET, AF_INET6, AF_UNIX, 0, 0xffff };

static void from_sockaddr(struct fuzz_cursor *in)
{
	struct sockaddr_storage ss, back;
	struct nswap_addr a;

	fuzz_take_into(in, &ss, sizeof(ss));
	ss.ss_family = families[fuzz_below(in, ARRAY_SIZE(families))];
	if (nswap_from_sockaddr(&ss, &a)) {
		fuzz_check(ss.ss_family != AF_INET && ss.ss_family != AF_INET6);
		return;
	}
	fuzz_check(nswap_to_sockaddr(&a, &back) ==
		   (a.family == AF_INET ? sizeof(struct sockaddr_in) :
					  sizeof(struct sockaddr_in6)));
	if (a.family == AF_INET) {
		fuzz_check(!memcmp(&ss, &back, 8) && !a.scope);
		fuzz_check(!memchr_inv(a.ip + 4, 0, 12));
	} else {
		struct sockaddr_in6 *x = (void *)&ss, *y = (void *)&back;

		x->sin6_flowinfo = 0;
		fuzz_check(!memcmp(x, y, sizeof(*x)));
	}
}

static void run_sockaddr(struct fuzz_cursor *in)
{
	struct nswap_addr a = { .family = families[fuzz_below(in, ARRAY_SIZE(families))] };
	struct sockaddr_storage ss;
	struct nswap_addr back;
	int len;

	a.port = fuzz_take(in, 2);
	fuzz_take_into(in, a.ip, sizeof(a.ip));
	a.scope = fuzz_take(in, 4);
	len = nswap_to_sockaddr(&a, &ss);
	fuzz_check((len > 0) == (a.family == AF_INET || a.family == AF_INET6));
	fuzz_check(nswap_addr_link_local(&a) ==
		   (a.family == AF_INET6 && a.ip[0] == 0xfe && a.ip[1] / 64 == 2));
	fuzz_check(nswap_addr_unusable(&a) || len > 0);
	if (len > 0) {
		fuzz_check(!nswap_from_sockaddr(&ss, &back));
		fuzz_check(!memchr_inv((u8 *)&ss + (a.family == AF_INET ? 8 : len), 0,
				       sizeof(ss) - (a.family == AF_INET ? 8 : len)));
		fuzz_check(back.family == a.family && back.port == a.port);
		fuzz_check(!memcmp(back.ip, a.ip, a.family == AF_INET ? 4 : 16));
		if (a.family == AF_INET && (a.ip[0] >= 224 || !memchr_inv(a.ip, 0, 4)))
			fuzz_check(nswap_addr_unusable(&a));
		if (a.family == AF_INET6 && (a.ip[0] == 255 || !memchr_inv(a.ip, 0, 16)))
			fuzz_check(nswap_addr_unusable(&a));
	}
	from_sockaddr(in);
}

const struct fuzz_target fuzz_sockaddr = {
	"sockaddr", "addresses to and from the socket layer", 4, NULL, run_sockaddr,
};

/* -- side tables --------------------------------------------------------------- */

static void run_side(struct fuzz_cursor *in)
{
	static const unsigned int widths[] = { 1, 8, 16, 24, 64, 192, 0, 2, 12 };
	struct nswap_side_tables ts;
	u64 slots = 1 + fuzz_below(in, 300), last = slots - 1;
	unsigned int nr = 0;

	nswap_side_init(&ts, slots);
	kernel_may_warn = true;
	while (fuzz_more(in)) {
		unsigned int bits = widths[fuzz_below(in, ARRAY_SIZE(widths))];
		bool wrong = nr == NSWAP_SIDE_TABLES || (bits != 1 && (!bits || bits % 8));
		struct nswap_side_table *t;

		kernel_no_memory = fuzz_u8(in) % 8 == 7;
		kernel_warned = 0;
		t = nswap_side_add(&ts, "fuzz", bits);
		fuzz_check(!!t == (!wrong && !kernel_no_memory));
		fuzz_check(kernel_warned == wrong);
		nr += !!t;
		fuzz_check(ts.nr == nr);
		if (!t)
			continue;
		/* the last entry is there, and no more than is told is allocated */
		if (bits == 1)
			set_bit(last, nswap_side_bitmap(t));
		else
			memset(nswap_side_entry(t, last), 1, bits / 8);
		fuzz_check(nswap_side_bytes(&ts, nr - 1) >= (slots * bits + 7) / 8);
		fuzz_check(nswap_side_bytes(&ts, nr - 1) < (slots * bits + 7) / 8 + 8);
	}
	nswap_side_exit(&ts);
	fuzz_check(!ts.nr);
}

const struct fuzz_target fuzz_side = {
	"side", "side tables of a device", 4, NULL, run_side,
};

/* -- buffers of links, suspending ------------------------------------------------ */

static void run_buffers(struct fuzz_cursor *in)
{
	u64 ram = fuzz_take(in, 8), budget = nswap_buffers_budget(ram), taken = 0, beyond = 0;
	bool to_disk = fuzz_u8(in) & 1;
	u8 has = fuzz_u8(in);
	bool open = has & 1, keys = has & 2;
	u64 out = fuzz_u8(in) % 3, held = fuzz_u8(in) % 3;
	unsigned int links = fuzz_take(in, 2) % 4096;
	u32 share, before = NSWAP_BUFFER;

	fuzz_check(budget >= 64ull << 20 && budget <= 1ull << 30);
	while (links--) {
		share = nswap_buffers_share(budget, taken);
		fuzz_check(share >= NSWAP_BUFFER_LEAST && share <= before);
		if (share == NSWAP_BUFFER_LEAST)
			beyond++;
		else
			fuzz_check(16 * 2 * share <= budget - taken);
		before = share;
		taken += 2 * share;
		fuzz_check(taken <= budget + 2 * beyond * NSWAP_BUFFER_LEAST);
	}
	fuzz_check(nswap_buffers_share(budget, fuzz_take(in, 8)) >= NSWAP_BUFFER_LEAST);
	fuzz_check((nswap_power_refuses(to_disk, open, keys, out, held) == NSWAP_POWER_MAY) ==
		   (!out && !held && !(to_disk && (open || keys))));
}

const struct fuzz_target fuzz_buffers = {
	"buffers", "the budget of links' buffers, and suspending", 2, NULL, run_buffers,
};
