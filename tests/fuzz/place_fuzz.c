// SPDX-License-Identifier: GPL-2.0
/*
 * Placement policies: whatever a snapshot says, a peer that must not be chosen is not, one
 * that may be is found if there is one, and nothing of the snapshot is changed.
 */
#include "fuzz.h"
#include "policy/policy.h"

#define PEERS	12

static const struct nswap_place_ops *const policies[] = {
	&nswap_place_most_free_ops, &nswap_place_rr_ops, &nswap_place_least_full_ops,
	&nswap_place_two_choices_ops, &nswap_place_latency_ops, &nswap_place_burst_ops,
};

static u32 number(struct fuzz_cursor *in, u8 how)
{
	return how & 1 ? fuzz_take(in, 4) : fuzz_u8(in);
}

static void any_peer(struct nswap_place_peer *p, u16 index, struct fuzz_cursor *in)
{
	u8 is = fuzz_u8(in), how = fuzz_u8(in);

	*p = (struct nswap_place_peer){
		.index = index, .eligible = is & 7, .resting = (is & 24) == 24,
		.shrinking = (is & 96) == 96, .busy = (is & 192) == 192,
		.grants = number(in, how), .free = number(in, how >> 1),
		.lent = number(in, how >> 2), .inflight = number(in, how >> 3),
		.store_ns = number(in, how >> 4),
	};
}

static void try_policy(const struct nswap_place_ops *ops, const struct nswap_place_view *v,
		       unsigned int pages)
{
	bool some = false, room = false;
	unsigned int i;
	int at;

	for (i = 0; i < v->nr; i++) {
		some |= nswap_place_usable(&v->peer[i]);
		room |= nswap_place_usable(&v->peer[i]) && v->peer[i].grants >= pages;
	}
	at = ops->pick(v, pages);
	fuzz_check(at >= NSWAP_PLACE_FLASH && at < (int)v->nr);
	fuzz_check(at != NSWAP_PLACE_FLASH || v->flash);
	if (at >= 0)
		fuzz_check(nswap_place_usable(&v->peer[at]));
	else
		fuzz_check(!some || at == NSWAP_PLACE_FLASH);
	if (at >= 0 && ops->as_good)
		ops->as_good(&v->peer[v->random % v->nr], &v->peer[at], pages);
}

static void run_place(struct fuzz_cursor *in)
{
	unsigned int nr = fuzz_below(in, PEERS + 1), i;
	/* no more than there are, so that a peer too far is noticed */
	struct nswap_place_peer *peer = calloc(nr + !nr, sizeof(*peer));
	struct nswap_place_view v = { .peer = peer, .nr = nr };
	unsigned int pages = 1 + fuzz_below(in, 32);
	u16 index = 0;

	v.last = fuzz_take(in, 2) % (PEERS * 4);
	v.random = fuzz_take(in, 4);
	v.flash = fuzz_u8(in) & 1;
	v.flash_inflight = fuzz_take(in, 2);
	for (i = 0; i < nr; i++) {
		index += 1 + fuzz_below(in, 4);
		any_peer(&peer[i], index, in);
	}
	for (i = 0; i < ARRAY_SIZE(policies); i++)
		try_policy(policies[i], &v, pages);
	free(peer);
}

const struct fuzz_target fuzz_place = {
	"place", "placement policies on any snapshot", 6, NULL, run_place,
};
