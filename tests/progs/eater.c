// SPDX-License-Identifier: GPL-2.0
/*
 * eater: a program bigger than its RAM that knows what every page must hold.
 *
 * It maps --mb of anonymous memory, fills it, then makes passes in which every
 * page is compared whole, rewritten with the next write count and compared
 * again. A read that the kernel could not serve arrives as SIGBUS: it is
 * counted, the page is dropped and written again, and the run goes on.
 *
 * Invariants: count[] holds each page's last write count; it and the code are
 * locked in memory, so only the pages under test are ever swapped. A wrong or
 * unreadable page is counted once and then rewritten.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "pattern_text.h"
#include "prog.h"

enum order { ORDER_SEQ, ORDER_RANDOM, ORDER_RW };

static const char *const order_name[] = { "seq", "random", "rw" };

struct eater {
	unsigned char *mem;
	uint32_t *count;
	uint64_t pages;
	uint64_t seed;
	uint64_t passes_wanted;
	double seconds_wanted;
	uint64_t rate;
	enum order order;
	enum pat_data data;
	bool progress;
	bool hold;
	bool timed;
	const char *release;
	const char *out;

	uint64_t passes, fills, writes, verified, accesses, failed_reads;
	uint64_t pswpin, pswpout;
	struct bad_pages bad;
	double start, filled, told, paced, end, slowest;
	uint64_t paced_accesses;
};

static sigjmp_buf unreadable;
static volatile sig_atomic_t accessing;
static volatile sig_atomic_t stop;

static void on_sigbus(int sig)
{
	if (accessing)
		siglongjmp(unreadable, 1);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_sigterm(int sig)
{
	(void)sig;
	stop = 1;
}

static uint64_t vmstat(const char *name)
{
	unsigned long long v = 0;
	char key[64];
	FILE *f = fopen("/proc/vmstat", "r");

	if (!f)
		return 0;
	while (fscanf(f, "%63s %llu", key, &v) == 2)
		if (!strcmp(key, name))
			break;
	fclose(f);
	return v;
}

static void report(struct eater *e, const char *state, char *buf, size_t size)
{
	double end = e->end ? e->end : now_s();
	double run = e->filled ? end - e->filled : 0;
	char bad[512];

	bad_pages_json(&e->bad, bad, sizeof(bad));
	snprintf(buf, size,
		 "{\"state\": \"%s\", \"order\": \"%s\", \"touched_mb\": %llu, "
		 "\"pages\": %llu, \"passes\": %llu, \"writes\": %llu, "
		 "\"verified\": %llu, \"accesses\": %llu, %s, "
		 "\"failed_reads\": %llu, \"fill_seconds\": %.3f, "
		 "\"seconds\": %.3f, \"us_per_access\": %.2f, "
		 "\"slowest_ms\": %.1f, "
		 "\"pswpin\": %llu, \"pswpout\": %llu}\n",
		 state, order_name[e->order],
		 (unsigned long long)(e->fills * PAT_BYTES >> 20),
		 (unsigned long long)e->pages, (unsigned long long)e->passes,
		 (unsigned long long)e->writes, (unsigned long long)e->verified,
		 (unsigned long long)e->accesses, bad,
		 (unsigned long long)e->failed_reads,
		 (e->filled ? e->filled : end) - e->start, run,
		 e->accesses ? run * 1e6 / (double)e->accesses : 0,
		 e->slowest * 1e3,
		 (unsigned long long)(vmstat("pswpin") - e->pswpin),
		 (unsigned long long)(vmstat("pswpout") - e->pswpout));
}

static void say_state(struct eater *e, const char *state)
{
	char text[2048];

	report(e, state, text, sizeof(text));
	result_file(e->out, text, strlen(text));
}

/* Once a second: a line for people, a file for programs, and the pace. */
static void tick(struct eater *e, const char *state, uint64_t at)
{
	double now;

	if (e->rate && e->accesses >= e->paced_accesses) {
		uint64_t step = e->rate / 50 + 1;

		nap_s(e->paced - now_s());
		e->paced += (double)step / (double)e->rate;
		e->paced_accesses = e->accesses + step;
	}
	if (at & 63)
		return;
	now = now_s();
	if (now - e->told < 1)
		return;
	e->told = now;
	if (e->progress)
		fprintf(stderr, "%s: pass %llu, page %llu of %llu, %llu verified, "
			"%llu wrong, %llu unreadable, %.0f s\n", state,
			(unsigned long long)e->passes, (unsigned long long)at,
			(unsigned long long)e->pages,
			(unsigned long long)e->verified,
			(unsigned long long)e->bad.wrong,
			(unsigned long long)e->failed_reads, now - e->start);
	say_state(e, state);
}

static unsigned char *page_at(struct eater *e, uint64_t page)
{
	return e->mem + page * PAT_BYTES;
}

static void write_page(struct eater *e, uint64_t page)
{
	e->count[page]++;
	pat_data_fill(e->data, page_at(e, page), e->seed, page, e->count[page]);
	e->writes++;
}

/* A page that could not be read: give its slot back and start it again. */
static void replace_page(struct eater *e, uint64_t page)
{
	e->failed_reads++;
	if (madvise(page_at(e, page), PAT_BYTES, MADV_DONTNEED))
		refuse("cannot drop an unreadable page: %s", strerror(errno));
	write_page(e, page);
}

/* Compare one page and, if asked or if it was bad, write it. */
static void access_page(struct eater *e, uint64_t page, bool rewrite)
{
	e->accesses++;
	if (sigsetjmp(unreadable, 0)) {
		accessing = 0;
		replace_page(e, page);
		return;
	}
	accessing = 1;
	if (!pat_data_same(e->data, page_at(e, page), e->seed, page, e->count[page])) {
		bad_page(&e->bad, page_at(e, page), e->seed, page,
			 e->count[page], e->pages);
		rewrite = true;
	} else {
		e->verified++;
	}
	if (rewrite)
		write_page(e, page);
	accessing = 0;
}

/* The same, and how long it took, a page written again included. */
static void access_timed(struct eater *e, uint64_t page, bool rewrite)
{
	double took, start = now_s();

	access_page(e, page, rewrite);
	took = now_s() - start;
	if (took > e->slowest)
		e->slowest = took;
}

static void sweep(struct eater *e, const char *state, bool shuffled, bool rewrite)
{
	struct pat_order order = pat_order_new(e->pages, e->seed + e->accesses);

	for (uint64_t i = 0; i < e->pages && !stop; i++) {
		uint64_t page = shuffled ? pat_order_at(&order, i) : i;

		if (e->timed)
			access_timed(e, page, rewrite);
		else
			access_page(e, page, rewrite);
		tick(e, state, i);
	}
}

static void fill(struct eater *e)
{
	for (uint64_t i = 0; i < e->pages && !stop; i++) {
		write_page(e, i);
		e->fills++;
		tick(e, "filling", i);
	}
	e->filled = now_s();
}

/* Spoil pages behind the verifier's back, spread evenly. */
static void spoil(struct eater *e, uint64_t n, bool stale)
{
	for (uint64_t i = 0; i < n && i < e->pages; i++) {
		uint64_t page = i * (e->pages / n ? e->pages / n : 1);

		if (stale)
			pat_data_fill(e->data, page_at(e, page), e->seed, page,
				      e->count[page] - 1);
		else
			page_at(e, page)[page % PAT_BYTES] ^= 1 << page % 8;
	}
}

static void run(struct eater *e)
{
	while (!stop && (e->passes < e->passes_wanted ||
			 now_s() - e->start < e->seconds_wanted)) {
		switch (e->order) {
		case ORDER_SEQ:
			sweep(e, "running", false, true);
			sweep(e, "running", false, false);
			break;
		case ORDER_RANDOM:
			sweep(e, "running", true, true);
			sweep(e, "running", true, false);
			break;
		case ORDER_RW:
			sweep(e, "running", true, true);
			break;
		}
		if (!stop)
			e->passes++;
	}
}

/* Keep the memory until told, then look at every page once more. */
static void hold(struct eater *e)
{
	struct stat st;

	stop = 0;
	say_state(e, "holding");
	if (e->progress)
		fprintf(stderr, "holding\n");
	while (!stop && !(e->release && !stat(e->release, &st)))
		nap_s(0.05);
	stop = 0;
	sweep(e, "checking", false, false);
}

static void prepare(struct eater *e)
{
	struct sigaction sa = { .sa_handler = on_sigbus, .sa_flags = SA_NODEFER };
	struct sigaction term = { .sa_handler = on_sigterm };
	size_t table = e->pages * sizeof(*e->count);

	sigaction(SIGBUS, &sa, NULL);
	sigaction(SIGTERM, &term, NULL);
	sigaction(SIGINT, &term, NULL);
	e->count = mmap(NULL, table, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (e->count == MAP_FAILED)
		refuse("cannot map the table: %s", strerror(errno));
	if (mlockall(MCL_CURRENT))
		fprintf(stderr, "note: own code is not locked in memory: %s\n",
			strerror(errno));
	e->mem = mmap(NULL, e->pages * PAT_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (e->mem == MAP_FAILED)
		refuse("cannot map %llu pages: %s",
		       (unsigned long long)e->pages, strerror(errno));
	madvise(e->mem, e->pages * PAT_BYTES, MADV_NOHUGEPAGE);
	e->pswpin = vmstat("pswpin");
	e->pswpout = vmstat("pswpout");
	e->start = now_s();
	e->paced = e->start;
}

static const char usage[] =
	"usage: eater --mb N [options]\n"
	"  --mb N            memory to fill\n"
	"  --passes N        passes after the fill (default 2)\n"
	"  --order ORDER     seq: all written, then all compared (default)\n"
	"                    random: the same in two random orders\n"
	"                    rw: compared and rewritten page by page, random\n"
	"  --seconds S       go on with passes until S seconds after the start\n"
	"  --seed N          seed of patterns and orders (default 1)\n"
	"  --data KIND       random (default), text, mixed: what can be compressed\n"
	"  --rate N          at most N page accesses a second\n"
	"  --hold            then keep the memory until SIGTERM, compare again\n"
	"  --release FILE    with --hold: until FILE exists, too\n"
	"  --timed           note how long the slowest access took\n"
	"  --progress        a line each second on standard error\n"
	"  --out FILE        keep FILE up to date with the JSON result\n"
	"  --corrupt-self N  flip one bit in N own pages after the fill\n"
	"  --stale-self N    put N own pages back by one write after the fill\n"
	"Every access compares the whole page first. One JSON line at the end;\n"
	"exit 0: all pages right, 1: wrong pages, 3: unreadable pages (SIGBUS)\n";

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "mb", 1, NULL, 'm' }, { "passes", 1, NULL, 'p' },
		{ "order", 1, NULL, 'o' }, { "seconds", 1, NULL, 's' },
		{ "seed", 1, NULL, 'S' }, { "rate", 1, NULL, 'r' }, { "data", 1, NULL, 'd' },
		{ "hold", 0, NULL, 'H' }, { "release", 1, NULL, 'R' },
		{ "progress", 0, NULL, 'P' },
		{ "timed", 0, NULL, 'T' }, { "out", 1, NULL, 'O' },
		{ "corrupt-self", 1, NULL, 'c' }, { "stale-self", 1, NULL, 't' },
		{ "help", 0, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	struct eater e = { .seed = 1, .passes_wanted = 2 };
	uint64_t corrupt = 0, stale = 0;
	char text[2048];
	int c;

	while ((c = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		switch (c) {
		case 'm':
			e.pages = arg_number("--mb", optarg, 1, 1 << 24) << 8;
			break;
		case 'p':
			e.passes_wanted = arg_number("--passes", optarg, 0, 1 << 20);
			break;
		case 'o':
			if (!strcmp(optarg, "seq"))
				e.order = ORDER_SEQ;
			else if (!strcmp(optarg, "random"))
				e.order = ORDER_RANDOM;
			else if (!strcmp(optarg, "rw"))
				e.order = ORDER_RW;
			else
				refuse("--order is seq, random or rw, not '%s'", optarg);
			break;
		case 's':
			e.seconds_wanted = (double)arg_number("--seconds", optarg, 0,
							      1 << 24);
			break;
		case 'S':
			e.seed = arg_number("--seed", optarg, 0, UINT64_MAX);
			break;
		case 'r':
			e.rate = arg_number("--rate", optarg, 1, 1 << 30);
			break;
		case 'd':
			e.data = arg_data("--data", optarg);
			break;
		case 'H':
			e.hold = true;
			break;
		case 'R':
			e.release = optarg;
			break;
		case 'P':
			e.progress = true;
			break;
		case 'T':
			e.timed = true;
			break;
		case 'O':
			e.out = optarg;
			break;
		case 'c':
			corrupt = arg_number("--corrupt-self", optarg, 1, 1 << 24);
			break;
		case 't':
			stale = arg_number("--stale-self", optarg, 1, 1 << 24);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (!e.pages || optind != argc)
		refuse("--mb is missing or there is an argument too many, see --help");
	prepare(&e);
	fill(&e);
	spoil(&e, corrupt, false);
	spoil(&e, stale, true);
	run(&e);
	if (e.hold)
		hold(&e);
	e.end = now_s();
	say_state(&e, "done");
	report(&e, "done", text, sizeof(text));
	fputs(text, stdout);
	if (e.bad.wrong)
		return EXIT_WRONG;
	return e.failed_reads ? EXIT_FAILED : 0;
}
