// SPDX-License-Identifier: GPL-2.0
/*
 * Shadow slot map and the mirror's entries: packing, and walks through the states of a few
 * slots against a copy that is no bit field.
 */
#include "fuzz.h"
#include "pure/mirror_entry.h"
#include "pure/slot_map.h"

#define SLOTS	4

static struct nswap_slot any_slot(struct fuzz_cursor *in)
{
	return (struct nswap_slot){
		.state = fuzz_below(in, NSWAP_SLOT_NR), .referenced = fuzz_u8(in) & 1,
		.freed = fuzz_u8(in) & 1, .peer = fuzz_take(in, 2) & 1023,
		.gen = fuzz_take(in, 3) & NSWAP_GEN_MASK,
		.flash = fuzz_take(in, 4) & 0xfffffff,
	};
}

static bool equal(const struct nswap_slot *a, const struct nswap_slot *b)
{
	return a->state == b->state && a->referenced == b->referenced &&
	       a->freed == b->freed && a->peer == b->peer && a->gen == b->gen &&
	       a->flash == b->flash;
}

static void pack(struct fuzz_cursor *in)
{
	struct nswap_slot s = any_slot(in), back = nswap_slot_unpack(nswap_slot_pack(&s)),
		lost;
	u64 word = fuzz_take(in, 8);

	fuzz_check(equal(&s, &back));
	back = nswap_slot_unpack(word);
	fuzz_check(nswap_slot_pack(&back) == word);
	back = s;
	back.referenced = !s.referenced;
	fuzz_check(nswap_slot_same(&s, &back));
	back.gen ^= 1;
	fuzz_check(!nswap_slot_same(&s, &back));
	fuzz_check(!nswap_slot_at_peer(&s) || !nswap_slot_at_home(&s));
	lost = nswap_slot_lost(&s, word & 1);
	fuzz_check(!lost.peer && lost.gen == s.gen && !nswap_slot_at_peer(&lost));
	fuzz_check((lost.state == NSWAP_SLOT_LOST) == (!(word & 1) && !s.flash));
	fuzz_check(lost.referenced == (s.flash && s.referenced));
}

static void generations(struct fuzz_cursor *in)
{
	u32 a = fuzz_take(in, 3) & NSWAP_GEN_MASK, b = fuzz_take(in, 3) & NSWAP_GEN_MASK;

	fuzz_check(nswap_gen_newer(nswap_gen_next(a), a));
	fuzz_check(!nswap_gen_newer(a, a));
	fuzz_check(!nswap_gen_newer(a, b) || !nswap_gen_newer(b, a));
	/* all but those that are exactly half of the circle apart have an order */
	fuzz_check(a == b || nswap_gen_newer(a, b) || nswap_gen_newer(b, a) ||
		   ((a - b) & NSWAP_GEN_MASK) == 1u << (NSWAP_GEN_BITS - 1));
}

static void mirror(struct fuzz_cursor *in)
{
	struct nswap_mirror m = {
		fuzz_take(in, 3) & NSWAP_GEN_MASK, fuzz_take(in, 2) & 1023,
		fuzz_take(in, 2) & 1023,
	}, back = nswap_mirror_unpack(nswap_mirror_pack(&m));
	struct nswap_slot s = any_slot(in);
	u16 second;

	if (m.held || m.making)
		fuzz_check(back.gen == m.gen && back.held == m.held &&
			   back.making == m.making);
	if (fuzz_u8(in) & 1)
		s.gen = m.gen;
	second = nswap_mirror_second(&m, &s);
	fuzz_check(!second || (second != s.peer && s.gen == m.gen));
	fuzz_check(!second || nswap_mirror_counts(&m, &s, second));
}

/* as slot_map.h tells it; MOVING, FLASH and the like have rows in slot_map.c alone */
static bool may(u8 from, u8 to)
{
	switch (to) {
	case NSWAP_SLOT_EMPTY:
		return from != NSWAP_SLOT_EMPTY && from != NSWAP_SLOT_REMOTE;
	case NSWAP_SLOT_WRITING:
		return true;
	case NSWAP_SLOT_MOVING:
		return from == NSWAP_SLOT_REMOTE || from == NSWAP_SLOT_HOME;
	case NSWAP_SLOT_LOST:
		return from == NSWAP_SLOT_WRITING || from == NSWAP_SLOT_REMOTE;
	case NSWAP_SLOT_FREEING:
		return from == NSWAP_SLOT_WRITING || from == NSWAP_SLOT_REMOTE ||
		       from == NSWAP_SLOT_MOVING;
	case NSWAP_SLOT_REMOTE:
		return from == NSWAP_SLOT_WRITING || from == NSWAP_SLOT_MOVING ||
		       from == NSWAP_SLOT_FLASH;
	case NSWAP_SLOT_HOME:
		return from == NSWAP_SLOT_WRITING || from == NSWAP_SLOT_MOVING ||
		       from == NSWAP_SLOT_REMOTE || from == NSWAP_SLOT_FLASH;
	case NSWAP_SLOT_FLASH:
		return from == NSWAP_SLOT_WRITING || from == NSWAP_SLOT_MOVING ||
		       from == NSWAP_SLOT_REMOTE || from == NSWAP_SLOT_HOME;
	}
	return false;
}

static void move(struct nswap_slot_map *map, struct nswap_slot *model,
		 struct fuzz_cursor *in)
{
	u8 slot = fuzz_below(in, SLOTS), late = fuzz_u8(in);
	struct nswap_slot *s = &model[slot], to = any_slot(in);
	u64 old = nswap_slot_read(map, slot) ^ (late % 4 ? 0 : 1ull << late % 64);
	bool was = old == nswap_slot_read(map, slot);
	u8 from = nswap_slot_unpack(old).state;
	bool is = from == to.state || nswap_slot_legal(from, to.state);

	if (from < NSWAP_SLOT_NR && from != to.state)
		fuzz_check(is == may(from, to.state));
	kernel_may_warn = true;
	kernel_warned = 0;
	fuzz_check(nswap_slot_move(map, slot, old, &to) == (is && was));
	fuzz_check(kernel_warned == !is);
	kernel_may_warn = false;
	if (is && was)
		*s = to;
}

static void reference(struct nswap_slot_map *map, struct nswap_slot *model,
		      struct fuzz_cursor *in)
{
	u8 slot = fuzz_below(in, SLOTS);
	struct nswap_slot *s = &model[slot];
	u32 gen = fuzz_u8(in) & 1 ? s->gen : fuzz_take(in, 3);

	nswap_slot_reference(map, slot, gen);
	if (gen == s->gen && (s->flash || nswap_slot_at_peer(s) || nswap_slot_at_home(s)))
		s->referenced = true;
	if (fuzz_u8(in) & 1) {
		nswap_slot_unreference(map, slot, s);
		s->referenced = false;
	}
}

/* each slot is as the model has it, and the one chunk is in use if one of them is */
static void check_map(struct nswap_slot_map *map, const struct nswap_slot *model)
{
	bool used = false;
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		struct nswap_slot s = nswap_slot_unpack(nswap_slot_read(map, i));

		fuzz_check(equal(&s, &model[i]));
		used |= s.state != NSWAP_SLOT_EMPTY;
	}
	fuzz_check(!used || nswap_slot_map_next(map, 1) == 1);
	nswap_slot_map_tidy(map, 0);
	fuzz_check(nswap_slot_map_next(map, 1) == (used ? 1 : SLOTS));
}

static void run_slot(struct fuzz_cursor *in)
{
	struct nswap_slot model[SLOTS] = {};
	struct nswap_slot_map map;

	kernel_no_memory = fuzz_u8(in) == 255;
	if (nswap_slot_map_init(&map, SLOTS)) {
		fuzz_check(kernel_no_memory);
		return;
	}
	while (fuzz_more(in)) {
		switch (fuzz_u8(in) % 8) {
		case 0:
			pack(in);
			break;
		case 1:
			generations(in);
			break;
		case 2:
			mirror(in);
			break;
		case 3:
			reference(&map, model, in);
			break;
		default:
			move(&map, model, in);
			break;
		}
		check_map(&map, model);
	}
	nswap_slot_map_exit(&map);
	fuzz_check(!map.word && !map.nr);
}

const struct fuzz_target fuzz_slot = {
	"slot", "the shadow slot map and the mirror's entries", 8, NULL, run_slot,
};
