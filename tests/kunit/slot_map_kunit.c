// SPDX-License-Identifier: GPL-2.0
/* Shadow slot map: packing, the transition table row by row, generations. */
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/prandom.h>

#include "../../nswap/pure/slot_map.c"

#define PEER_MAX	((1u << NSWAP_PEER_BITS) - 1)
#define FLASH_MAX	((1u << NSWAP_FLASH_BITS) - 1)

static void expect_same(struct kunit *test, struct nswap_slot a,
			struct nswap_slot b)
{
	KUNIT_EXPECT_EQ(test, a.state, b.state);
	KUNIT_EXPECT_EQ(test, a.referenced, b.referenced);
	KUNIT_EXPECT_EQ(test, a.freed, b.freed);
	KUNIT_EXPECT_EQ(test, a.peer, b.peer);
	KUNIT_EXPECT_EQ(test, a.gen, b.gen);
	KUNIT_EXPECT_EQ(test, a.flash, b.flash);
}

struct field {
	const char *desc;
	struct nswap_slot full;
	unsigned int bits;
};

static const struct field fields[] = {
	{ "state", { .state = 15 }, 4 },
	{ "reference", { .referenced = true }, 1 },
	{ "freed", { .freed = true }, 1 },
	{ "peer", { .peer = PEER_MAX }, 10 },
	{ "generation", { .gen = NSWAP_GEN_MASK }, 20 },
	{ "flash slot", { .flash = FLASH_MAX }, 28 },
};

static void field_desc(const struct field *f, char *desc)
{
	strscpy(desc, f->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(field, fields, field_desc);

/* a field of all ones uses its own bits and unpacks without changing others */
static void one_field(struct kunit *test)
{
	const struct field *f = test->param_value;
	u64 word = nswap_slot_pack(&f->full);

	KUNIT_EXPECT_EQ(test, hweight64(word), (unsigned long)f->bits);
	expect_same(test, nswap_slot_unpack(word), f->full);
}

static void fields_fill_the_word(struct kunit *test)
{
	u64 all = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		u64 word = nswap_slot_pack(&fields[i].full);

		KUNIT_EXPECT_EQ(test, all & word, 0ull);
		all |= word;
	}
	KUNIT_EXPECT_EQ(test, all, ~0ull);
}

static void round_trip(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 10000; i++) {
		struct nswap_slot s = {
			.state = prandom_u32_state(&rnd) & 15,
			.referenced = prandom_u32_state(&rnd) & 1,
			.freed = prandom_u32_state(&rnd) & 1,
			.peer = prandom_u32_state(&rnd) & PEER_MAX,
			.gen = prandom_u32_state(&rnd) & NSWAP_GEN_MASK,
			.flash = prandom_u32_state(&rnd) & FLASH_MAX,
		};

		expect_same(test, nswap_slot_unpack(nswap_slot_pack(&s)), s);
	}
}

struct step {
	const char *desc;
	u8 from;
	u8 to;
	bool legal;
};

#define ROW(from, to, legal) \
	{ #from " to " #to, NSWAP_SLOT_##from, NSWAP_SLOT_##to, legal }

static const struct step steps[] = {
	ROW(EMPTY, EMPTY, false),
	ROW(EMPTY, WRITING, true),
	ROW(EMPTY, REMOTE, false),
	ROW(EMPTY, FREEING, false),
	ROW(EMPTY, LOST, false),
	ROW(EMPTY, HOME, false),
	ROW(EMPTY, MOVING, false),
	ROW(EMPTY, FLASH, false),
	ROW(WRITING, EMPTY, true),
	ROW(WRITING, WRITING, true),
	ROW(WRITING, REMOTE, true),
	ROW(WRITING, FREEING, true),
	ROW(WRITING, LOST, true),
	ROW(WRITING, HOME, true),
	ROW(WRITING, MOVING, false),
	ROW(WRITING, FLASH, true),
	ROW(REMOTE, EMPTY, false),
	ROW(REMOTE, WRITING, true),
	ROW(REMOTE, REMOTE, false),
	ROW(REMOTE, FREEING, true),
	ROW(REMOTE, LOST, true),
	ROW(REMOTE, HOME, true),
	ROW(REMOTE, MOVING, true),
	ROW(REMOTE, FLASH, true),
	ROW(FREEING, EMPTY, true),
	ROW(FREEING, WRITING, true),
	ROW(FREEING, REMOTE, false),
	ROW(FREEING, FREEING, false),
	ROW(FREEING, LOST, false),
	ROW(FREEING, HOME, false),
	ROW(FREEING, MOVING, false),
	ROW(FREEING, FLASH, false),
	ROW(LOST, EMPTY, true),
	ROW(LOST, WRITING, true),
	ROW(LOST, REMOTE, false),
	ROW(LOST, FREEING, false),
	ROW(LOST, LOST, false),
	ROW(LOST, HOME, false),
	ROW(LOST, MOVING, false),
	ROW(LOST, FLASH, false),
	ROW(HOME, EMPTY, true),
	ROW(HOME, WRITING, true),
	ROW(HOME, REMOTE, false),
	ROW(HOME, FREEING, false),
	ROW(HOME, LOST, false),
	ROW(HOME, HOME, false),
	ROW(HOME, MOVING, true),
	ROW(HOME, FLASH, true),
	ROW(MOVING, EMPTY, true),
	ROW(MOVING, WRITING, true),
	ROW(MOVING, REMOTE, true),
	ROW(MOVING, FREEING, true),
	ROW(MOVING, LOST, false),
	ROW(MOVING, HOME, true),
	ROW(MOVING, MOVING, false),
	ROW(MOVING, FLASH, true),
	ROW(FLASH, EMPTY, true),
	ROW(FLASH, WRITING, true),
	ROW(FLASH, REMOTE, true),
	ROW(FLASH, FREEING, false),
	ROW(FLASH, LOST, false),
	ROW(FLASH, HOME, true),
	ROW(FLASH, MOVING, false),
	ROW(FLASH, FLASH, false),
	{ "no such state to EMPTY", NSWAP_SLOT_NR, NSWAP_SLOT_EMPTY, false },
	{ "EMPTY to no such state", NSWAP_SLOT_EMPTY, NSWAP_SLOT_NR, false },
	{ "WRITING to 255", NSWAP_SLOT_WRITING, 255, false },
};

static_assert(ARRAY_SIZE(steps) == NSWAP_SLOT_NR * NSWAP_SLOT_NR + 3);

static void step_desc(const struct step *s, char *desc)
{
	strscpy(desc, s->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(step, steps, step_desc);

/* illegal transitions warn, and a warning fails any run: only query the table */
static void transition(struct kunit *test)
{
	const struct step *s = test->param_value;
	struct nswap_slot from = { .state = s->from, .peer = 3, .gen = 7 };
	struct nswap_slot to = { .state = s->to, .peer = 4, .gen = 8 };
	struct nswap_slot_map map;

	KUNIT_EXPECT_EQ(test, nswap_slot_legal(s->from, s->to), s->legal);
	if (!s->legal)
		return;

	KUNIT_ASSERT_EQ(test, nswap_slot_map_init(&map, 2), 0);
	atomic64_set(&map.word[1], nswap_slot_pack(&from));
	KUNIT_EXPECT_TRUE(test, nswap_slot_move(&map, 1, nswap_slot_pack(&from),
						&to));
	KUNIT_EXPECT_EQ(test, nswap_slot_read(&map, 1), nswap_slot_pack(&to));
	KUNIT_EXPECT_EQ(test, nswap_slot_read(&map, 0), 0ull);
	nswap_slot_map_exit(&map);
}

static void new_map_is_empty(struct kunit *test)
{
	struct nswap_slot_map map;
	u64 i;

	KUNIT_ASSERT_EQ(test, nswap_slot_map_init(&map, 1000), 0);
	KUNIT_EXPECT_EQ(test, map.nr, 1000ull);
	for (i = 0; i < map.nr; i++)
		KUNIT_EXPECT_EQ(test, nswap_slot_read(&map, i), 0ull);
	KUNIT_EXPECT_EQ(test, nswap_slot_unpack(0).state,
			(u8)NSWAP_SLOT_EMPTY);
	nswap_slot_map_exit(&map);
	KUNIT_EXPECT_NULL(test, map.word);
	KUNIT_EXPECT_EQ(test, map.nr, 0ull);
}

static void two_mib_a_gib(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_slot_map_bytes((1ull << 30) / PAGE_SIZE),
			2ull << 20);
}

static void late_move_changes_nothing(struct kunit *test)
{
	struct nswap_slot s = { .state = NSWAP_SLOT_WRITING, .peer = 1, .gen = 1 };
	struct nswap_slot_map map;
	u64 seen, now;

	KUNIT_ASSERT_EQ(test, nswap_slot_map_init(&map, 1), 0);
	seen = nswap_slot_read(&map, 0);
	KUNIT_ASSERT_TRUE(test, nswap_slot_move(&map, 0, seen, &s));
	now = nswap_slot_read(&map, 0);
	s.peer = 2;
	KUNIT_EXPECT_FALSE(test, nswap_slot_move(&map, 0, seen, &s));
	KUNIT_EXPECT_EQ(test, nswap_slot_read(&map, 0), now);
	nswap_slot_map_exit(&map);
}

/* a change within a state, such as a flag, is no transition */
static void flags_change_in_place(struct kunit *test)
{
	struct nswap_slot s = { .state = NSWAP_SLOT_REMOTE, .peer = 1, .gen = 1 };
	struct nswap_slot_map map;
	u64 old = nswap_slot_pack(&s);

	KUNIT_ASSERT_EQ(test, nswap_slot_map_init(&map, 1), 0);
	atomic64_set(&map.word[0], old);
	s.referenced = true;
	KUNIT_EXPECT_TRUE(test, nswap_slot_move(&map, 0, old, &s));
	expect_same(test, nswap_slot_unpack(nswap_slot_read(&map, 0)), s);
	nswap_slot_map_exit(&map);
}

static void reference_follows_generation(struct kunit *test)
{
	struct nswap_slot s = { .peer = 5, .gen = 9 };
	struct nswap_slot_map map;
	u8 state;

	KUNIT_ASSERT_EQ(test, nswap_slot_map_init(&map, 1), 0);
	for (state = 0; state < NSWAP_SLOT_NR; state++) {
		s.state = state;
		s.referenced = false;
		atomic64_set(&map.word[0], nswap_slot_pack(&s));
		nswap_slot_reference(&map, 0, 8);
		KUNIT_EXPECT_EQ(test, nswap_slot_read(&map, 0),
				nswap_slot_pack(&s));
		nswap_slot_reference(&map, 0, 9);
		s.referenced = state == NSWAP_SLOT_REMOTE ||
			       state == NSWAP_SLOT_HOME ||
			       state == NSWAP_SLOT_MOVING;
		KUNIT_EXPECT_EQ(test, nswap_slot_read(&map, 0),
				nswap_slot_pack(&s));
		nswap_slot_reference(&map, 0, 9);
		KUNIT_EXPECT_EQ(test, nswap_slot_read(&map, 0),
				nswap_slot_pack(&s));
	}
	nswap_slot_map_exit(&map);
}

/* a second copy on flash or at home: the state after the first copy is lost */
static void lost_with_and_without_copies(struct kunit *test)
{
	struct nswap_slot s = {
		.state = NSWAP_SLOT_REMOTE, .peer = 5, .gen = 9,
		.referenced = true, .flash = 77,
	};

	expect_same(test, nswap_slot_lost(&s, true), (struct nswap_slot){
		.state = NSWAP_SLOT_HOME, .gen = 9, .referenced = true,
		.flash = 77 });
	expect_same(test, nswap_slot_lost(&s, false), (struct nswap_slot){
		.state = NSWAP_SLOT_FLASH, .gen = 9, .referenced = true,
		.flash = 77 });
	s.flash = 0;
	/* at home it has yet to be paged in */
	expect_same(test, nswap_slot_lost(&s, true), (struct nswap_slot){
		.state = NSWAP_SLOT_HOME, .gen = 9 });
	expect_same(test, nswap_slot_lost(&s, false), (struct nswap_slot){
		.state = NSWAP_SLOT_LOST, .gen = 9 });
}

/* a page-out that has ended is referenced at a peer alone, a copy under other keys as before */
static void referenced_by_page_out(struct kunit *test)
{
	struct nswap_slot s = {
		.state = NSWAP_SLOT_WRITING, .gen = 9, .referenced = true,
	};

	expect_same(test, nswap_slot_out(&s, NSWAP_SLOT_REMOTE, 5, 0), (struct nswap_slot){
		.state = NSWAP_SLOT_REMOTE, .peer = 5, .gen = 9, .referenced = true });
	expect_same(test, nswap_slot_out(&s, NSWAP_SLOT_FLASH, 0, 77), (struct nswap_slot){
		.state = NSWAP_SLOT_FLASH, .gen = 9, .flash = 77 });
	expect_same(test, nswap_slot_out(&s, NSWAP_SLOT_HOME, 0, 0), (struct nswap_slot){
		.state = NSWAP_SLOT_HOME, .gen = 9 });
	expect_same(test, nswap_slot_out(&s, NSWAP_SLOT_FREEING, 5, 0), (struct nswap_slot){
		.state = NSWAP_SLOT_FREEING, .peer = 5, .gen = 9 });
	s.referenced = false;
	expect_same(test, nswap_slot_out(&s, NSWAP_SLOT_REMOTE, 5, 0), (struct nswap_slot){
		.state = NSWAP_SLOT_REMOTE, .peer = 5, .gen = 9 });
}

static void generation_wraps(struct kunit *test)
{
	u32 gen = 0, i;

	for (i = 0; i < 1u << NSWAP_GEN_BITS; i++) {
		u32 next = nswap_gen_next(gen);

		if (!nswap_gen_newer(next, gen) || nswap_gen_newer(gen, next) ||
		    next > NSWAP_GEN_MASK)
			KUNIT_FAIL(test, "%u after %u", next, gen);
		gen = next;
	}
	KUNIT_EXPECT_EQ(test, gen, 0u);
	KUNIT_EXPECT_EQ(test, nswap_gen_next(NSWAP_GEN_MASK), 0u);
}

struct order {
	const char *desc;
	u32 a;
	u32 b;
	bool newer;
};

static const struct order orders[] = {
	{ "same", 5, 5, false },
	{ "one later", 6, 5, true },
	{ "one earlier", 5, 6, false },
	{ "across the wrap", 0, NSWAP_GEN_MASK, true },
	{ "across the wrap, earlier", NSWAP_GEN_MASK, 0, false },
	{ "the furthest later", (1 << 19) - 1, 0, true },
	{ "half way round", 1 << 19, 0, false },
	{ "half way round, other side", 0, 1 << 19, false },
	{ "past half way", (1 << 19) + 1, 0, false },
};

static void order_desc(const struct order *o, char *desc)
{
	strscpy(desc, o->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(order, orders, order_desc);

static void generation_order(struct kunit *test)
{
	const struct order *o = test->param_value;

	KUNIT_EXPECT_EQ(test, nswap_gen_newer(o->a, o->b), o->newer);
}

/* clock hand: clears only the reference bit, and only if nothing has changed */
static void unreferenced(struct kunit *test)
{
	struct nswap_slot s = {
		.state = NSWAP_SLOT_REMOTE, .referenced = true,
		.peer = PEER_MAX, .gen = NSWAP_GEN_MASK, .flash = FLASH_MAX,
	}, was = s, now;
	atomic64_t word[1];
	struct nswap_slot_map map = { .word = word, .nr = 1 };
	u64 old = nswap_slot_pack(&s);

	atomic64_set(&word[0], old);
	s.gen--;
	nswap_slot_unreference(&map, 0, &s);
	KUNIT_EXPECT_EQ(test, nswap_slot_read(&map, 0), old);
	s.gen++;
	nswap_slot_unreference(&map, 0, &s);
	now = nswap_slot_unpack(nswap_slot_read(&map, 0));
	KUNIT_EXPECT_TRUE(test, nswap_slot_same(&now, &was));
	s.referenced = false;
	expect_same(test, now, s);
	s.gen--;
	KUNIT_EXPECT_FALSE(test, nswap_slot_same(&s, &was));
}

static struct kunit_case slot_map_cases[] = {
	KUNIT_CASE(unreferenced),
	KUNIT_CASE_PARAM(one_field, field_gen_params),
	KUNIT_CASE(fields_fill_the_word),
	KUNIT_CASE(round_trip),
	KUNIT_CASE_PARAM(transition, step_gen_params),
	KUNIT_CASE(new_map_is_empty),
	KUNIT_CASE(two_mib_a_gib),
	KUNIT_CASE(late_move_changes_nothing),
	KUNIT_CASE(flags_change_in_place),
	KUNIT_CASE(reference_follows_generation),
	KUNIT_CASE(referenced_by_page_out),
	KUNIT_CASE(lost_with_and_without_copies),
	KUNIT_CASE(generation_wraps),
	KUNIT_CASE_PARAM(generation_order, order_gen_params),
	{}
};

static struct kunit_suite slot_map_suite = {
	.name = "nswap_slot_map",
	.test_cases = slot_map_cases,
};

kunit_test_suite(slot_map_suite);
