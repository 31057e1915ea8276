// SPDX-License-Identifier: GPL-2.0
/*
 * blkverify: random writes, reads and discards on a raw block device, every
 * 4 KiB slot compared whole, so that a bad one can be told from a failed one.
 *
 * Each thread owns one part of the device and walks it in requests of 4 KiB to
 * --max-kb at random places (O_DIRECT). A request that fails is taken apart
 * into slots, so that one lost slot is counted as one. At the end every slot
 * is read once more, one 4 KiB read each.
 *
 * Invariants: count[] holds the last write count of each slot. A slot is
 * UNKNOWN after a failed write or discard until it is rewritten; then its
 * content is not judged. A slot never written is judged (zeros) only with
 * --fresh. A bad slot is counted once, then UNKNOWN.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "prog.h"

#define UNKNOWN		(1U << 31)	/* in count[]: content not to be judged */
#define EMPTY		(1U << 30)	/* in count[]: must read as zeros */
#define COUNT(c)	((c) & PAT_COUNT_MAX)

struct totals {
	uint64_t reads, writes, discards;
	uint64_t written_slots, discarded_slots, verified, zeros_verified;
	uint64_t failed_reads, failed_writes, failed_discards;
	uint64_t failed_slots;
	double slowest;
	struct bad_pages bad;
};

struct worker {
	pthread_t thread;
	unsigned char *buf;
	uint64_t first, slots;
	uint64_t random;
	struct totals t;
};

static struct {
	const char *device;
	const char *out;
	uint64_t slots, seed, max_slots, ops;
	uint64_t pause_ms;
	unsigned int threads, read_share, discard_share;
	enum pat_data data;
	double seconds;
	bool fresh, tolerate_writes, tolerate_reads, no_sweep;
	int fd;
	uint32_t *count;
	struct worker *workers;
	double start;
} g = {
	.seed = 1, .max_slots = 256, .threads = 4, .read_share = 50, .seconds = 10,
};

static atomic_int stop;
static atomic_uint_fast64_t ops_done;

static void on_sigterm(int sig)
{
	(void)sig;
	atomic_store(&stop, 1);
}

/* One transfer, whole or failed; the slowest is remembered. */
static bool transfer(struct worker *w, bool write, void *buf, uint64_t slot, uint64_t n)
{
	double t0 = now_s(), took;
	off_t at = (off_t)(slot * PAT_BYTES);
	size_t len = n * PAT_BYTES;
	ssize_t got = write ? pwrite(g.fd, buf, len, at) : pread(g.fd, buf, len, at);

	took = now_s() - t0;
	if (took > w->t.slowest)
		w->t.slowest = took;
	return got == (ssize_t)len;
}

static void judge(struct worker *w, const void *buf, uint64_t slot)
{
	uint32_t c = g.count[slot];

	if (c & UNKNOWN)
		return;
	if (c & EMPTY) {
		if (pat_zero(buf)) {
			w->t.zeros_verified++;
			return;
		}
	} else if (pat_data_same(g.data, buf, g.seed, slot, c)) {
		w->t.verified++;
		return;
	}
	bad_page(&w->t.bad, buf, g.seed, slot, COUNT(c), g.slots);
	g.count[slot] |= UNKNOWN;
}

static void read_slots(struct worker *w, uint64_t slot, uint64_t n)
{
	w->t.reads++;
	if (transfer(w, false, w->buf, slot, n)) {
		for (uint64_t i = 0; i < n; i++)
			judge(w, w->buf + i * PAT_BYTES, slot + i);
		return;
	}
	w->t.failed_reads++;
	for (uint64_t i = 0; i < n; i++) {
		if (transfer(w, false, w->buf, slot + i, 1)) {
			judge(w, w->buf, slot + i);
		} else if (!(g.count[slot + i] & UNKNOWN)) {
			w->t.failed_slots++;
			g.count[slot + i] |= UNKNOWN;
		}
	}
}

static void write_slots(struct worker *w, uint64_t slot, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint32_t c = (COUNT(g.count[slot + i]) + 1) & PAT_COUNT_MAX;

		g.count[slot + i] = c;
		pat_data_fill(g.data, w->buf + i * PAT_BYTES, g.seed, slot + i, c);
	}
	w->t.writes++;
	if (transfer(w, true, w->buf, slot, n)) {
		w->t.written_slots += n;
		return;
	}
	w->t.failed_writes++;
	for (uint64_t i = 0; i < n; i++)
		g.count[slot + i] |= UNKNOWN;
}

static void discard_slots(struct worker *w, uint64_t slot, uint64_t n)
{
	uint64_t range[2] = { slot * PAT_BYTES, n * PAT_BYTES };
	uint32_t mark = g.fresh ? EMPTY : UNKNOWN;

	w->t.discards++;
	if (ioctl(g.fd, BLKDISCARD, range)) {
		w->t.failed_discards++;
		mark = UNKNOWN;
	} else {
		w->t.discarded_slots += n;
	}
	for (uint64_t i = 0; i < n; i++)
		g.count[slot + i] = COUNT(g.count[slot + i]) | mark;
}

/* Sizes are spread over powers of two, so that small ones are not rare. */
static uint64_t random_size(struct worker *w)
{
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(g.max_slots);
	uint64_t top = 1ULL << pat_below(&w->random, bits);
	uint64_t n = top + pat_below(&w->random, top);

	return n < g.max_slots ? n : g.max_slots;
}

static bool more(void)
{
	if (atomic_load(&stop))
		return false;
	if (g.ops)
		return atomic_fetch_add(&ops_done, 1) < g.ops;
	return now_s() - g.start < g.seconds;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (more()) {
		uint64_t n = random_size(w), kind, slot;

		if (n > w->slots)
			n = w->slots;
		slot = w->first + pat_below(&w->random, w->slots - n + 1);
		kind = pat_below(&w->random, 100);
		if (kind < g.read_share)
			read_slots(w, slot, n);
		else if (kind < g.read_share + g.discard_share)
			discard_slots(w, slot, n);
		else
			write_slots(w, slot, n);
		if (g.pause_ms)
			nap_s((double)g.pause_ms / 1000);
	}
	return NULL;
}

static void *sweep(void *arg)
{
	struct worker *w = arg;

	for (uint64_t i = 0; i < w->slots; i++)
		read_slots(w, w->first + i, 1);
	return NULL;
}

static void run_all(void *(*what)(void *))
{
	for (unsigned int i = 0; i < g.threads; i++)
		if (pthread_create(&g.workers[i].thread, NULL, what, &g.workers[i]))
			refuse("cannot start a thread");
	for (unsigned int i = 0; i < g.threads; i++)
		pthread_join(g.workers[i].thread, NULL);
}

/* Write slots whose content is wrong on purpose; the final sweep must object. */
static void spoil(uint64_t n, bool stale)
{
	struct worker *w = &g.workers[0];

	for (uint64_t i = 0; i < n; i++) {
		uint64_t slot = i * (g.slots / n) + stale;

		if (slot >= g.slots)
			return;
		write_slots(w, slot, 1);
		write_slots(w, slot, 1);
		if (stale)
			pat_data_fill(g.data, w->buf, g.seed, slot,
				      COUNT(g.count[slot]) - 1);
		else
			w->buf[slot % PAT_BYTES] ^= 1;
		if (!transfer(w, true, w->buf, slot, 1))
			refuse("cannot spoil slot %llu: %s",
			       (unsigned long long)slot, strerror(errno));
	}
}

static void open_device(uint64_t mb)
{
	uint64_t size = 0;
	struct stat st;

	g.fd = open(g.device, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (g.fd < 0 || fstat(g.fd, &st))
		refuse("cannot open %s: %s", g.device, strerror(errno));
	if (S_ISBLK(st.st_mode) && ioctl(g.fd, BLKGETSIZE64, &size))
		refuse("cannot ask the size of %s: %s", g.device, strerror(errno));
	if (S_ISREG(st.st_mode))
		size = (uint64_t)st.st_size;
	g.slots = mb ? mb << 8 : size / PAT_BYTES;
	if (g.slots * PAT_BYTES > size)
		refuse("%s has only %llu MiB", g.device,
		       (unsigned long long)(size >> 20));
	if (g.slots < g.threads)
		refuse("%s has fewer slots than there are threads", g.device);
}

static void prepare(void)
{
	uint64_t each = g.slots / g.threads;

	g.count = malloc(g.slots * sizeof(*g.count));
	g.workers = calloc(g.threads, sizeof(*g.workers));
	if (!g.count || !g.workers)
		refuse("out of memory");
	for (uint64_t i = 0; i < g.slots; i++)
		g.count[i] = g.fresh ? EMPTY : UNKNOWN;
	for (unsigned int i = 0; i < g.threads; i++) {
		struct worker *w = &g.workers[i];

		w->first = i * each;
		w->slots = i + 1 == g.threads ? g.slots - w->first : each;
		w->random = pat_mix(g.seed * 1000 + i);
		w->buf = mmap(NULL, g.max_slots * PAT_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (w->buf == MAP_FAILED)
			refuse("out of memory");
	}
	if (mlockall(MCL_CURRENT))
		fprintf(stderr, "note: own memory is not locked: %s\n",
			strerror(errno));
}

static struct totals sum(void)
{
	struct totals s = { 0 };

	for (unsigned int i = 0; i < g.threads; i++) {
		const struct totals *t = &g.workers[i].t;

		s.reads += t->reads;
		s.writes += t->writes;
		s.discards += t->discards;
		s.written_slots += t->written_slots;
		s.discarded_slots += t->discarded_slots;
		s.verified += t->verified;
		s.zeros_verified += t->zeros_verified;
		s.failed_reads += t->failed_reads;
		s.failed_writes += t->failed_writes;
		s.failed_discards += t->failed_discards;
		s.failed_slots += t->failed_slots;
		if (t->slowest > s.slowest)
			s.slowest = t->slowest;
		s.bad.wrong += t->bad.wrong;
		for (unsigned int k = 0; k < PAT_CLASSES; k++)
			s.bad.by_class[k] += t->bad.by_class[k];
	}
	return s;
}

static int report(double worked)
{
	struct totals s = sum();
	uint64_t unknown = 0;
	char bad[512], text[2048];

	for (uint64_t i = 0; i < g.slots; i++)
		unknown += !!(g.count[i] & UNKNOWN);
	bad_pages_json(&s.bad, bad, sizeof(bad));
	snprintf(text, sizeof(text),
		 "{\"state\": \"done\", \"device\": \"%s\", \"mb\": %llu, "
		 "\"slots\": %llu, \"seed\": %llu, \"seconds\": %.3f, "
		 "\"reads\": %llu, \"writes\": %llu, \"discards\": %llu, "
		 "\"written_slots\": %llu, \"discarded_slots\": %llu, "
		 "\"verified\": %llu, \"zeros_verified\": %llu, %s, "
		 "\"failed_reads\": %llu, \"failed_writes\": %llu, "
		 "\"failed_discards\": %llu, \"failed_slots\": %llu, "
		 "\"unknown_slots\": %llu, \"slowest_ms\": %.1f}\n",
		 g.device, (unsigned long long)(g.slots >> 8),
		 (unsigned long long)g.slots, (unsigned long long)g.seed, worked,
		 (unsigned long long)s.reads, (unsigned long long)s.writes,
		 (unsigned long long)s.discards,
		 (unsigned long long)s.written_slots,
		 (unsigned long long)s.discarded_slots,
		 (unsigned long long)s.verified,
		 (unsigned long long)s.zeros_verified, bad,
		 (unsigned long long)s.failed_reads,
		 (unsigned long long)s.failed_writes,
		 (unsigned long long)s.failed_discards,
		 (unsigned long long)s.failed_slots, (unsigned long long)unknown,
		 s.slowest * 1e3);
	result_file(g.out, text, strlen(text));
	fputs(text, stdout);
	if (s.bad.wrong)
		return EXIT_WRONG;
	if ((s.failed_slots && !g.tolerate_reads) ||
	    ((s.failed_writes || s.failed_discards) && !g.tolerate_writes))
		return EXIT_FAILED;
	return 0;
}

static const char usage[] =
	"usage: blkverify --device DEV [options]      (destroys what is on DEV)\n"
	"  --mb N            use the first N MiB (default: all)\n"
	"  --seconds S       work for S seconds (default 10), or until SIGTERM\n"
	"  --ops N           work for N requests instead\n"
	"  --seed N          seed of contents, places and sizes (default 1)\n"
	"  --threads N       requests at once (default 4)\n"
	"  --pause-ms N      rest after each request\n"
	"  --max-kb N        largest request, 4 to 1024 (default 1024)\n"
	"  --reads PERCENT   share of reads (default 50)\n"
	"  --discards PERCENT  share of discards (default 0)\n"
	"  --data KIND       random (default), text, mixed: what can be compressed\n"
	"  --fresh           DEV is new: unwritten and discarded slots are zeros\n"
	"  --no-sweep        do not read everything at the end\n"
	"  --tolerate-write-errors   failed writes and discards are only counted\n"
	"  --tolerate-read-errors    failed reads are only counted\n"
	"  --out FILE        put the JSON result into FILE as well; before the work\n"
	"                    begins FILE says {\"state\": \"working\"}\n"
	"  --corrupt-self N  spoil N slots before the final reading\n"
	"  --stale-self N    put N slots back by one write before it\n"
	"exit 0: all right, 1: wrong pages, 3: requests failed\n";

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "device", 1, NULL, 'd' }, { "mb", 1, NULL, 'm' },
		{ "seconds", 1, NULL, 's' }, { "ops", 1, NULL, 'n' },
		{ "seed", 1, NULL, 'S' }, { "threads", 1, NULL, 'T' },
		{ "max-kb", 1, NULL, 'k' }, { "reads", 1, NULL, 'r' },
		{ "discards", 1, NULL, 'D' }, { "fresh", 0, NULL, 'f' },
		{ "data", 1, NULL, 'C' },
		{ "no-sweep", 0, NULL, 'N' },
		{ "tolerate-write-errors", 0, NULL, 'w' },
		{ "tolerate-read-errors", 0, NULL, 'R' },
		{ "out", 1, NULL, 'O' }, { "corrupt-self", 1, NULL, 'c' },
		{ "stale-self", 1, NULL, 't' }, { "pause-ms", 1, NULL, 'p' },
		{ "help", 0, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static const char working[] = "{\"state\": \"working\"}\n";
	struct sigaction term = { .sa_handler = on_sigterm };
	uint64_t mb = 0, corrupt = 0, stale = 0;
	double worked;
	int c;

	while ((c = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		switch (c) {
		case 'd':
			g.device = optarg;
			break;
		case 'm':
			mb = arg_number("--mb", optarg, 1, 1 << 24);
			break;
		case 's':
			g.seconds = (double)arg_number("--seconds", optarg, 0, 1 << 24);
			break;
		case 'n':
			g.ops = arg_number("--ops", optarg, 1, UINT32_MAX);
			break;
		case 'S':
			g.seed = arg_number("--seed", optarg, 0, UINT64_MAX);
			break;
		case 'T':
			g.threads = (unsigned int)arg_number("--threads", optarg, 1, 256);
			break;
		case 'k':
			g.max_slots = arg_number("--max-kb", optarg, 4, 1024) / 4;
			break;
		case 'r':
			g.read_share = (unsigned int)arg_number("--reads", optarg, 0, 100);
			break;
		case 'D':
			g.discard_share = (unsigned int)arg_number("--discards", optarg,
								   0, 100);
			break;
		case 'C':
			g.data = arg_data("--data", optarg);
			break;
		case 'f':
			g.fresh = true;
			break;
		case 'N':
			g.no_sweep = true;
			break;
		case 'w':
			g.tolerate_writes = true;
			break;
		case 'R':
			g.tolerate_reads = true;
			break;
		case 'O':
			g.out = optarg;
			break;
		case 'c':
			corrupt = arg_number("--corrupt-self", optarg, 1, 1 << 24);
			break;
		case 't':
			stale = arg_number("--stale-self", optarg, 1, 1 << 24);
			break;
		case 'p':
			g.pause_ms = arg_number("--pause-ms", optarg, 1, 1000);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (!g.device || optind != argc)
		refuse("--device is missing or there is an argument too many, see --help");
	if (g.read_share + g.discard_share > 100)
		refuse("--reads and --discards together exceed 100 percent");
	open_device(mb);
	prepare();
	sigaction(SIGTERM, &term, NULL);
	sigaction(SIGINT, &term, NULL);
	result_file(g.out, working, sizeof(working) - 1);
	g.start = now_s();
	run_all(work);
	worked = now_s() - g.start;
	if (corrupt)
		spoil(corrupt, false);
	if (stale)
		spoil(stale, true);
	if (!g.no_sweep)
		run_all(sweep);
	return report(worked);
}
