// SPDX-License-Identifier: GPL-2.0
/*
 * Flash map: what is taken, put, discarded and closed, against a byte a slot.
 */
#include "fuzz.h"
#include "pure/flash_map.h"

#define CHUNK	NSWAP_FLASH_CHUNK
#define CHUNKS	4
#define NR	(CHUNKS * CHUNK)

/**
 * struct walk - a map and what is known of it
 * @m: the map
 * @used: slots
 * @trimming: chunks that are being discarded
 * @closed: it hands out nothing
 */
struct walk {
	struct nswap_flash_map m;
	bool used[NR];
	bool trimming[CHUNKS];
	bool closed;
};

static u32 used_of(const struct walk *w, u32 first, u32 nr)
{
	u32 n = 0;

	while (nr--)
		n += w->used[first++];
	return n;
}

static void take(struct walk *w, struct fuzz_cursor *in)
{
	u32 want = 1 + fuzz_below(in, 300), first = NR, i, n, idle = 0;

	n = nswap_flash_map_take(&w->m, want, &first);
	fuzz_check(n <= want && (!n || (first < NR && first + n <= NR)));
	fuzz_check(!n || first / CHUNK == (first + n - 1) / CHUNK);
	fuzz_check(!n || (!w->closed && !w->trimming[first / CHUNK]));
	for (i = 0; i < n; i++) {
		fuzz_check(!w->used[first + i]);
		w->used[first + i] = true;
	}
	for (i = 0; i < CHUNKS; i++)
		idle += w->trimming[i] ? 0 : CHUNK - used_of(w, i * CHUNK, CHUNK);
	/* what is left behind the cursor of the open chunk counts once it is opened again */
	fuzz_check(n || w->closed || !idle || idle < CHUNK);
}

static void put(struct walk *w, struct fuzz_cursor *in)
{
	u32 first = fuzz_below(in, NR), n = 1 + fuzz_below(in, 300);
	bool due;

	for (; n && first < NR; n--, first++) {
		if (!w->used[first])
			continue;
		due = nswap_flash_map_put(&w->m, first);
		w->used[first] = false;
		fuzz_check(due == !used_of(w, first - first % CHUNK, CHUNK));
	}
}

/* one that is not in use: a warning, and nothing else */
static void put_twice(struct walk *w, struct fuzz_cursor *in)
{
	u32 slot = fuzz_below(in, NR);

	if (w->used[slot])
		return;
	kernel_may_warn = true;
	kernel_warned = 0;
	fuzz_check(!nswap_flash_map_put(&w->m, slot));
	fuzz_check(kernel_warned == 1);
	kernel_may_warn = false;
}

static void trim(struct walk *w)
{
	u32 chunk = CHUNKS;

	if (!nswap_flash_map_trim(&w->m, &chunk))
		return;
	fuzz_check(chunk < CHUNKS && !w->trimming[chunk] && chunk != w->m.open);
	fuzz_check(!used_of(w, chunk * CHUNK, CHUNK));
	w->trimming[chunk] = true;
}

static void trimmed(struct walk *w, struct fuzz_cursor *in)
{
	u32 chunk = fuzz_below(in, CHUNKS);

	if (!w->trimming[chunk])
		return;
	nswap_flash_map_trimmed(&w->m, chunk);
	w->trimming[chunk] = false;
}

static void close_it(struct walk *w, struct fuzz_cursor *in)
{
	u32 before = w->m.given_up;
	bool closed = fuzz_u8(in) & 1;

	fuzz_check(nswap_flash_map_close(&w->m, closed) == used_of(w, 0, NR));
	fuzz_check(w->m.given_up == before + (w->closed && !closed));
	w->closed = closed;
}

static void check_map(const struct walk *w)
{
	u32 i, n;

	fuzz_check(w->m.used == used_of(w, 0, NR) && w->m.open < CHUNKS);
	fuzz_check(w->m.cursor <= NR);
	for (i = 0; i < CHUNKS; i++) {
		n = used_of(w, i * CHUNK, CHUNK);
		fuzz_check(w->m.count[i] == n);
		fuzz_check(test_bit(i, w->m.room) == (n < CHUNK && !w->trimming[i]));
		fuzz_check(test_bit(i, w->m.empty) == (!n && !w->trimming[i]));
		fuzz_check(!test_bit(i, w->m.trim) || (!n && !w->trimming[i]));
	}
}

static void run_flash(struct fuzz_cursor *in)
{
	static struct walk w;

	memset(&w, 0, sizeof(w));
	kernel_no_memory = fuzz_u8(in) == 255;
	if (nswap_flash_map_init(&w.m, NR + fuzz_below(in, CHUNK)))
		fuzz_check(kernel_no_memory);
	else
		fuzz_check(w.m.nr == NR);
	while (!kernel_no_memory && fuzz_more(in)) {
		switch (fuzz_u8(in) % 12) {
		case 0 ... 4:
			take(&w, in);
			break;
		case 5 ... 6:
			put(&w, in);
			break;
		case 7:
			put_twice(&w, in);
			break;
		case 8:
			trim(&w);
			break;
		case 9:
			trimmed(&w, in);
			break;
		case 10:
			close_it(&w, in);
			break;
		case 11:
			nswap_flash_map_give_up(&w.m);
			break;
		}
		check_map(&w);
	}
	nswap_flash_map_exit(&w.m);
}

static void make_flash(struct fuzz_bytes *in)
{
	fuzz_any_bytes(in, 120);
}

const struct fuzz_target fuzz_flash = {
	"flash", "the flash map, sequences of operations", 8, make_flash, run_flash,
};
