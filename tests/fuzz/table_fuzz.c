// SPDX-License-Identifier: GPL-2.0
/*
 * IPTable: sequences of announcements, greetings and what a user lists, a few nodes and
 * addresses, so that they meet. After each the invariants at the head of ip_table.c hold.
 */
#include "fuzz.h"
#include "pure/ip_counter.h"
#include "pure/ip_table.h"

#define NODES		6
#define EPOCHS		3
#define PLACES		5
#define SILENT_MS	5000

/**
 * struct walk - a table and what is known of it
 * @t: the table
 * @now: ms
 * @was: the used entries before the last operation
 * @top: likewise
 * @released: the index that the last operation released, else 0
 * @begun: something was heard: the user lists addresses before that, at `up`
 */
struct walk {
	struct nswap_ipt t;
	u64 now;
	struct nswap_ipt_entry was[NSWAP_MAX_PEERS + 1];
	unsigned int top;
	u16 released;
	bool begun;
};

static struct nswap_addr place(struct fuzz_cursor *in)
{
	u8 which = fuzz_u8(in);
	struct nswap_addr a = {
		.family = which & 128 ? AF_INET6 : AF_INET, .port = 9611,
		.ip = { 10, 0, 0, which % PLACES },
	};

	return a;
}

/* is the epoch over, and another one the present? */
static bool is_over(const struct walk *w, const struct nswap_announcement *a, u16 live)
{
	unsigned int i;

	for (i = 1; live && i <= w->t.top; i++)
		if (w->t.entry[i].gone && w->t.entry[i].id == a->id &&
		    w->t.entry[i].epoch == a->epoch && w->t.entry[live].epoch != a->epoch)
			return true;
	return false;
}

static void hear(struct walk *w, struct fuzz_cursor *in)
{
	u8 how = fuzz_u8(in);
	struct nswap_announcement a = {
		.id = 1 + fuzz_below(in, NODES), .epoch = 1 + fuzz_below(in, EPOCHS),
		.addr = place(in), .lent = fuzz_take(in, 2), .free = fuzz_take(in, 2),
		.leaving = how & 1, .shrinking = how & 2, .counter = fuzz_u8(in),
	};
	bool replay = nswap_ipt_replay(&w->t, &a, w->now);
	u16 live = nswap_ipt_find(&w->t, a.id);
	bool over = is_over(w, &a, live);
	struct nswap_ipt_heard h;

	if (live && w->t.entry[live].counter >= a.counter &&
	    nswap_addr_equal(&w->t.entry[live].addr, &a.addr) &&
	    w->now == w->t.entry[live].heard_ms)
		fuzz_check(replay);
	if (how & 4 && replay)
		return;
	h = nswap_ipt_hear(&w->t, &a, w->now);
	/* heard again it is old, also where the node is found to be then */
	if (h.index && w->t.entry[h.index].epoch == a.epoch) {
		fuzz_check(nswap_ipt_replay(&w->t, &a, w->now));
		if (h.elsewhere && how & 8)
			nswap_ipt_moved(&w->t, h.index, &a.addr);
		fuzz_check(nswap_ipt_replay(&w->t, &a, w->now));
	}
	fuzz_check(!over || nswap_ipt_find(&w->t, a.id) == live);
	fuzz_check(h.news == NSWAP_IPT_REBOOTED ? h.was : !h.was || h.news == NSWAP_IPT_FULL);
	fuzz_check((h.news != NSWAP_IPT_NEW && h.news != NSWAP_IPT_REBOOTED) || h.index);
	if (h.news != NSWAP_IPT_FULL && h.index)
		fuzz_check(w->t.entry[h.index].id == a.id && h.index != h.was);
}

static void greet(struct walk *w, struct fuzz_cursor *in)
{
	u16 index = fuzz_u8(in) % (w->t.top + 2);
	struct nswap_addr at = place(in);
	u64 id = 1 + fuzz_below(in, NODES), epoch = 1 + fuzz_below(in, EPOCHS);
	struct nswap_ipt_heard h = nswap_ipt_greeted(&w->t, index, &at, id, epoch, w->now);

	if (h.news == NSWAP_IPT_FULL) {
		fuzz_check(!h.index);
		return;
	}
	/* a greeting is proof: this is the present epoch now */
	fuzz_check(h.index && nswap_ipt_find(&w->t, id) == h.index);
	fuzz_check(w->t.entry[h.index].epoch == epoch);
	nswap_ipt_moved(&w->t, h.index, &at);
	fuzz_check(!w->t.entry[h.index].counter);
}

static void list(struct walk *w, struct fuzz_cursor *in)
{
	struct nswap_addr at = place(in);
	u16 index = w->begun ? 0 : nswap_ipt_list(&w->t, &at);

	if (index)
		fuzz_check(w->t.entry[index].listed &&
			   nswap_addr_equal(&w->t.entry[index].listed_at, &at));
}

/* many nodes that are never heard of again, so that there is no room; seldom, it is slow */
static void fill(struct walk *w, struct fuzz_cursor *in)
{
	u8 n = fuzz_u8(in);

	if (n < 250)
		return;
	while (w->t.top < NSWAP_MAX_PEERS - 4 + (n & 3))
		w->t.entry[++w->t.top] = (struct nswap_ipt_entry){
			.id = 1000 + w->t.top, .epoch = 1,
			.addr = { AF_INET, 9, .ip = { 11, w->t.top >> 8, w->t.top } },
		};
}

static void other_version(struct walk *w, struct fuzz_cursor *in)
{
	struct nswap_addr at = place(in);
	u8 version = fuzz_u8(in);

	nswap_ipt_speaks(&w->t, &at, version, w->now, version & 1 ? SILENT_MS : 0);
}

static void operate(struct walk *w, struct fuzz_cursor *in)
{
	u8 what = fuzz_u8(in) % 16;
	u16 index;
	struct nswap_addr at;

	w->begun = w->begun || (what != 7 && what != 8);
	switch (what) {
	case 0 ... 4:
		hear(w, in);
		break;
	case 5 ... 6:
		greet(w, in);
		break;
	case 7:
		list(w, in);
		break;
	case 8:
		other_version(w, in);
		break;
	case 9:
		at = place(in);
		nswap_ipt_moved(&w->t, fuzz_u8(in) % 16, &at);
		break;
	case 10:
		nswap_ipt_forget(&w->t, fuzz_u8(in) % 16);
		break;
	case 11 ... 12:
		index = 1 + fuzz_u8(in) % 16;
		w->released = w->t.entry[index].gone ? index : 0;
		nswap_ipt_release(&w->t, index);
		break;
	case 13:
		nswap_ipt_refused(&w->t, fuzz_u8(in) % 16);
		break;
	case 14:
		w->now += fuzz_take(in, 2) << fuzz_u8(in) % 16;
		nswap_ipt_expire(&w->t, w->now, SILENT_MS);
		break;
	case 15:
		fill(w, in);
		break;
	}
}

/* an index stands for one epoch until it is released */
static void check_kept(const struct walk *w, unsigned int i)
{
	const struct nswap_ipt_entry *e = &w->t.entry[i], *was = &w->was[i];

	if (i > w->top || !was->id || i == w->released)
		return;
	fuzz_check(e->id == was->id && e->epoch == was->epoch);
	fuzz_check(e->gone || !was->gone);
	fuzz_check(e->listed || !was->listed);
}

/* what a user listed stays listed, by whichever entry */
static void check_listed(const struct walk *w, unsigned int i)
{
	unsigned int j;

	if (i > w->top || !w->was[i].listed)
		return;
	for (j = 1; j <= w->t.top; j++)
		if (w->t.entry[j].listed &&
		    nswap_addr_equal(&w->t.entry[j].listed_at, &w->was[i].listed_at))
			return;
	fuzz_broken("what the user listed is in no entry any more");
}

static void check_table(const struct walk *w)
{
	static const struct nswap_ipt_entry none;
	unsigned int i, j;

	fuzz_check(w->t.top <= NSWAP_MAX_PEERS);
	fuzz_check(!memcmp(&w->t.entry[0], &none, sizeof(none)));
	for (i = 1; i <= max(w->t.top, w->top); i++) {
		const struct nswap_ipt_entry *e = &w->t.entry[i];

		fuzz_check(i <= w->t.top || !nswap_ipt_used(e));
		fuzz_check(e->free <= e->lent);
		fuzz_check(!e->gone || e->id || e->listed);
		fuzz_check(!nswap_ipt_foreign(e) || !nswap_ipt_alive(e));
		check_kept(w, i);
		check_listed(w, i);
		if (!nswap_ipt_alive(e) || e->id > NODES)
			continue;
		fuzz_check(nswap_ipt_find(&w->t, e->id) == i);
		for (j = i + 1; j <= w->t.top; j++)
			fuzz_check(!nswap_ipt_alive(&w->t.entry[j]) ||
				   w->t.entry[j].id != e->id);
	}
}

static void run_table(struct fuzz_cursor *in)
{
	static struct walk w;
	unsigned int i;

	w.now = 0;
	w.begun = false;
	kernel_no_memory = fuzz_u8(in) == 255;
	if (nswap_ipt_init(&w.t)) {
		fuzz_check(kernel_no_memory);
		return;
	}
	while (fuzz_more(in)) {
		memcpy(w.was, w.t.entry, (w.t.top + 1) * sizeof(w.was[0]));
		w.top = w.t.top;
		w.released = 0;
		operate(&w, in);
		check_table(&w);
	}
	for (i = w.t.top + 1; i <= NSWAP_MAX_PEERS; i++)
		fuzz_check(!nswap_ipt_used(&w.t.entry[i]));
	nswap_ipt_exit(&w.t);
}

static void make_table(struct fuzz_bytes *in)
{
	unsigned int n = fuzz_random() % 4;

	fuzz_put(in, 0, 1);
	while (n--)
		fuzz_put(in, 7 | fuzz_random() % PLACES << 8, 2);
	fuzz_any_bytes(in, 200);
}

const struct fuzz_target fuzz_table = {
	"table", "the IPTable, sequences of operations", 5, make_table, run_table,
};
