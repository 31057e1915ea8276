// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks against an array that says of each unit what lies there: nothing overlaps, the
 * tightest room is taken, unused units side by side are room for one thing, and with all put
 * back the page is empty.
 */
#include "fuzz.h"
#include "pure/chunks.h"

/**
 * struct drawn - a page, drawn unit by unit
 * @of: number of what lies there, 0 for nothing
 * @last: number of what was taken last
 */
struct drawn {
	u8 of[NSWAP_CHUNK_UNITS];
	u8 last;
};

/* the shortest run of at least @n unused units: where it begins, -1 for none; @most: the longest */
static int drawn_room(const struct drawn *d, unsigned int n, unsigned int *most)
{
	unsigned int i, len, least = NSWAP_CHUNK_UNITS + 1;
	int at = -1;

	*most = 0;
	for (i = 0; i < NSWAP_CHUNK_UNITS; i += len ? len : 1) {
		for (len = 0; i + len < NSWAP_CHUNK_UNITS && !d->of[i + len]; len++)
			;
		*most = max(*most, len);
		if (len < n || len >= least || !len)
			continue;
		least = len;
		at = i;
	}
	return at;
}

static void drawn_same(const struct drawn *d, const struct nswap_chunks *m)
{
	unsigned int i, most;

	for (i = 0; i < NSWAP_CHUNK_UNITS; i++) {
		fuzz_check((m->used >> i & 1) == !!d->of[i]);
		fuzz_check((m->first >> i & 1) == (d->of[i] && (!i || d->of[i - 1] != d->of[i])));
	}
	drawn_room(d, 1, &most);
	fuzz_check(nswap_chunks_room(m) == most);
}

static void drawn_take(struct drawn *d, struct nswap_chunks *m, unsigned int n)
{
	unsigned int most;
	int at = nswap_chunks_take(m, n);

	fuzz_check(at == drawn_room(d, n, &most));
	fuzz_check((at < 0) == (n > most));
	if (at < 0)
		return;
	/* 64 things at most, and 255 names: the next one that nothing has */
	do {
		d->last = d->last % 255 + 1;
	} while (memchr(d->of, d->last, sizeof(d->of)));
	memset(d->of + at, d->last, n);
}

static void drawn_put(struct drawn *d, struct nswap_chunks *m, unsigned int at)
{
	unsigned int n = nswap_chunks_put(m, at), i, had = 0;
	u8 of = at < NSWAP_CHUNK_UNITS ? d->of[at] : 0;

	if (!of || (at && d->of[at - 1] == of)) {
		fuzz_check(!n);
		return;
	}
	for (i = 0; i < NSWAP_CHUNK_UNITS; i++) {
		if (d->of[i] != of)
			continue;
		d->of[i] = 0;
		had++;
	}
	fuzz_check(n == had);
}

static void run_chunks(struct fuzz_cursor *in)
{
	struct nswap_chunks m = {};
	struct drawn d = {};
	unsigned int i;

	while (in->at < in->end) {
		u8 todo = fuzz_take(in, 1);

		if (todo & 0x80)
			drawn_put(&d, &m, todo & 0x7f);
		else
			drawn_take(&d, &m, todo % NSWAP_CHUNK_UNITS + 1);
		drawn_same(&d, &m);
	}
	for (i = 0; i < NSWAP_CHUNK_UNITS; i++)
		drawn_put(&d, &m, i);
	fuzz_check(!m.used && !m.first);
	fuzz_check(nswap_chunks_room(&m) == NSWAP_CHUNK_UNITS);
}

/* a page that fills up, with something put back now and then */
static void make_chunks(struct fuzz_bytes *in)
{
	unsigned int i, most = 1 + fuzz_random() % 64;

	in->bytes = 1 + fuzz_random() % 200;
	for (i = 0; i < in->bytes; i++)
		in->at[i] = fuzz_random() % 3 ? fuzz_random() % most : 0x80 | fuzz_random() % 68;
}

const struct fuzz_target fuzz_chunks = {
	"chunks", "units of a page, against a page drawn unit by unit", 5, make_chunks, run_chunks,
};
