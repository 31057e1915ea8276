// SPDX-License-Identifier: GPL-2.0
/* States of a peer: the transition table row by row, and the names. */
#include <kunit/test.h>

#include "../../nswap/pure/peer_state.c"

struct step {
	const char *desc;
	u8 from;
	u8 to;
	bool legal;
};

#define ROW(from, to, legal) \
	{ #from " to " #to, NSWAP_PEER_##from, NSWAP_PEER_##to, legal }

static const struct step steps[] = {
	ROW(NEW, NEW, false),
	ROW(NEW, CONNECTING, true),
	ROW(NEW, UP, false),
	ROW(NEW, SUSPECTED, false),
	ROW(NEW, DEAD, false),
	ROW(NEW, LOST, true),
	ROW(CONNECTING, NEW, true),
	ROW(CONNECTING, CONNECTING, false),
	ROW(CONNECTING, UP, true),
	ROW(CONNECTING, SUSPECTED, false),
	ROW(CONNECTING, DEAD, true),
	ROW(CONNECTING, LOST, true),
	ROW(UP, NEW, false),
	ROW(UP, CONNECTING, false),
	ROW(UP, UP, false),
	ROW(UP, SUSPECTED, true),
	ROW(UP, DEAD, false),
	ROW(UP, LOST, true),
	ROW(SUSPECTED, NEW, false),
	ROW(SUSPECTED, CONNECTING, false),
	ROW(SUSPECTED, UP, true),
	ROW(SUSPECTED, SUSPECTED, false),
	ROW(SUSPECTED, DEAD, true),
	ROW(SUSPECTED, LOST, true),
	ROW(DEAD, NEW, false),
	ROW(DEAD, CONNECTING, false),
	ROW(DEAD, UP, true),
	ROW(DEAD, SUSPECTED, false),
	ROW(DEAD, DEAD, false),
	ROW(DEAD, LOST, true),
	ROW(LOST, NEW, false),
	ROW(LOST, CONNECTING, false),
	ROW(LOST, UP, false),
	ROW(LOST, SUSPECTED, false),
	ROW(LOST, DEAD, false),
	ROW(LOST, LOST, false),
	{ "no state to NEW", NSWAP_PEER_STATES, NSWAP_PEER_NEW, false },
	{ "NEW to no state", NSWAP_PEER_NEW, NSWAP_PEER_STATES, false },
};

static_assert(ARRAY_SIZE(steps) == NSWAP_PEER_STATES * NSWAP_PEER_STATES + 2);

static void step_desc(const struct step *s, char *desc)
{
	strscpy(desc, s->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(step, steps, step_desc);

static void transition(struct kunit *test)
{
	const struct step *s = test->param_value;

	KUNIT_EXPECT_EQ(test, nswap_peer_legal(s->from, s->to), s->legal);
}

/* page-ins wait for a peer as long as it can come back with their pages */
static void hopeless(struct kunit *test)
{
	u8 state;

	for (state = 0; state < NSWAP_PEER_STATES; state++)
		KUNIT_EXPECT_EQ(test, nswap_peer_hopeless(state),
				state == NSWAP_PEER_DEAD ||
				state == NSWAP_PEER_LOST);
	KUNIT_EXPECT_FALSE(test, nswap_peer_legal(NSWAP_PEER_LOST,
						  NSWAP_PEER_UP));
}

/* scripts read them: numbers and names are ABI */
static void names_are_fixed(struct kunit *test)
{
	static const char *const expected[] = {
		"new", "connecting", "up", "suspected", "dead", "lost", "unknown",
	};
	u8 state;

	KUNIT_EXPECT_EQ(test, (int)NSWAP_PEER_STATES, 6);
	for (state = 0; state < ARRAY_SIZE(expected); state++)
		KUNIT_EXPECT_STREQ(test, nswap_peer_state_name(state),
				   expected[state]);
}

/* a refusal is told from silence, and what is told is for people */
static void reasons_are_told(struct kunit *test)
{
	static const struct {
		int error;
		const char *text;
	} told[] = {
		{ 0, "" },
		{ -ETIMEDOUT, "no answer for 2.1 s" },
		{ -EAGAIN, "no answer for 2.1 s" },
		{ -ECONNREFUSED, "connection refused, for 2.1 s" },
		{ -EHOSTUNREACH, "unreachable, for 2.1 s" },
		{ -ECONNRESET, "connection closed, for 2.1 s" },
		{ -ESTALE, "another node is at its address, for 2.1 s" },
		{ -EPROTONOSUPPORT, "another version, for 2.1 s" },
		{ -EACCES, "turned away, for 2.1 s" },
		{ -ENOMEM, "cannot connect, for 2.1 s" },
	};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(told); i++) {
		nswap_peer_reason_text(nswap_peer_reason_of(told[i].error), 2199,
				       text, sizeof(text));
		KUNIT_EXPECT_STREQ(test, text, told[i].text);
	}
	nswap_peer_reason_text(NSWAP_REASONS, 0, text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text, "unknown, for 0.0 s");
}

static struct kunit_case peer_state_cases[] = {
	KUNIT_CASE_PARAM(transition, step_gen_params),
	KUNIT_CASE(hopeless),
	KUNIT_CASE(names_are_fixed),
	KUNIT_CASE(reasons_are_told),
	{}
};

static struct kunit_suite peer_state_suite = {
	.name = "nswap_peer_state",
	.test_cases = peer_state_cases,
};

kunit_test_suite(peer_state_suite);
