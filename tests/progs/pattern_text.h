/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page contents that can be compressed, as text can: f(seed, page, write count), too.
 *
 * A page begins with the words of pattern.h, so that no two are the same; each of the others
 * is replaced by one of 64 words of 8 letters, which it chooses.
 */
#ifndef NSWAP_TEST_PATTERN_TEXT_H
#define NSWAP_TEST_PATTERN_TEXT_H

#include <string.h>

#include "pattern.h"

#define PAT_OWN_WORDS	4

enum pat_data {
	PAT_RANDOM,	/* as pattern.h has them */
	PAT_TEXT,
	PAT_MIXED,	/* every other page or so is text */
};

static const char *const pat_data_names[] = {
	[PAT_RANDOM] = "random", [PAT_TEXT] = "text", [PAT_MIXED] = "mixed", NULL
};

/* Is this page text? */
static inline bool pat_is_text(enum pat_data data, uint64_t key)
{
	return data == PAT_TEXT || (data == PAT_MIXED && key & 1);
}

static inline uint64_t pat_text_word(uint64_t word)
{
	static const char letters[] = "etaoinshrdlucmfw";
	char text[8];
	uint64_t out;

	word &= 63;
	for (unsigned int i = 0; i < 8; i++)
		text[i] = letters[pat_mix(word * 8 + i + PAT_STEP) % 16];
	text[7] = ' ';
	memcpy(&out, text, sizeof(out));
	return out;
}

static inline void pat_data_fill(enum pat_data data, void *buf, uint64_t seed,
				 uint64_t page, uint32_t count)
{
	uint64_t *w = buf;

	pat_fill(buf, seed, page, count);
	if (!pat_is_text(data, pat_key(seed, page, count)))
		return;
	for (unsigned int i = PAT_OWN_WORDS; i < PAT_WORDS; i++)
		w[i] = pat_text_word(w[i]);
}

static inline bool pat_data_same(enum pat_data data, const void *buf, uint64_t seed,
				 uint64_t page, uint32_t count)
{
	uint64_t want[PAT_WORDS];

	if (data == PAT_RANDOM)
		return pat_same(buf, seed, page, count);
	pat_data_fill(data, want, seed, page, count);
	return !memcmp(buf, want, sizeof(want));
}

#endif
