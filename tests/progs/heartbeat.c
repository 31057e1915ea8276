// SPDX-License-Identifier: GPL-2.0
/*
 * heartbeat: shows whether a machine under memory pressure still lives.
 *
 * A beat is due every --period ms. Each beat touches one page of the program's
 * own memory and records the largest gap between two beats seen so far. With
 * --mlock everything is locked, so a gap means that the processor was not to
 * be had; without, a gap also means that its own pages did not come back.
 *
 * Invariant: the result file is one page, mapped and rewritten in place at a
 * fixed length, so that recording a beat never asks for memory. Before the
 * first beat it says {}.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <signal.h>
#include <sys/mman.h>

#include "prog.h"

#define RECORD 256

static volatile sig_atomic_t stop;

static void on_sigterm(int sig)
{
	(void)sig;
	stop = 1;
}

struct beat {
	uint64_t beats;
	uint64_t period_ms;
	double start, last, max_gap, max_gap_at;
	bool locked;
};

/* Exactly RECORD bytes, spaces and a newline at the end. */
static void record(char *to, const struct beat *b, const char *state)
{
	char line[RECORD + 1];
	int n;

	n = snprintf(line, sizeof(line),
		     "{\"state\": \"%s\", \"mlock\": %s, \"period_ms\": %llu, "
		     "\"beats\": %llu, \"max_gap_ms\": %.1f, \"max_gap_at_s\": %.1f, "
		     "\"last_beat_monotonic_s\": %.3f}", state,
		     b->locked ? "true" : "false",
		     (unsigned long long)b->period_ms,
		     (unsigned long long)b->beats, b->max_gap * 1e3,
		     b->max_gap_at, b->last);
	memset(line + n, ' ', RECORD - (size_t)n);
	line[RECORD - 1] = '\n';
	memcpy(to, line, RECORD);
}

/* The file appears with its first record in it. */
static char *map_result(const char *path)
{
	char blank[RECORD];
	char *p;
	int fd;

	memset(blank, ' ', sizeof(blank));
	blank[0] = '{';
	blank[1] = '}';
	blank[RECORD - 1] = '\n';
	result_file(path, blank, RECORD);
	fd = open(path, O_RDWR);
	if (fd < 0)
		refuse("cannot open %s: %s", path, strerror(errno));
	p = mmap(NULL, RECORD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		refuse("cannot map %s: %s", path, strerror(errno));
	close(fd);
	return p;
}

static const char usage[] =
	"usage: heartbeat --out FILE [--period MS] [--mb N] [--mlock] [--seconds S]\n"
	"  --out FILE     the record, rewritten at each beat\n"
	"  --period MS    time between beats (default 100)\n"
	"  --mb N         own memory, one page touched a beat in turn (default 1)\n"
	"  --mlock        lock everything in memory\n"
	"  --seconds S    end by itself (default: at SIGTERM)\n";

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "out", 1, NULL, 'o' }, { "period", 1, NULL, 'p' },
		{ "mb", 1, NULL, 'm' }, { "mlock", 0, NULL, 'l' },
		{ "seconds", 1, NULL, 's' }, { "help", 0, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct sigaction term = { .sa_handler = on_sigterm };
	struct beat b = { .period_ms = 100 };
	uint64_t pages = 256, seconds = 0;
	const char *out = NULL;
	unsigned char *mem;
	char *shown;
	int c;

	while ((c = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		switch (c) {
		case 'o':
			out = optarg;
			break;
		case 'p':
			b.period_ms = arg_number("--period", optarg, 1, 60000);
			break;
		case 'm':
			pages = arg_number("--mb", optarg, 1, 1 << 20) << 8;
			break;
		case 'l':
			b.locked = true;
			break;
		case 's':
			seconds = arg_number("--seconds", optarg, 1, 1 << 24);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (!out || optind != argc)
		refuse("--out is missing or there is an argument too many, see --help");
	shown = map_result(out);
	mem = mmap(NULL, pages * PAT_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		refuse("cannot map own memory: %s", strerror(errno));
	memset(mem, 1, pages * PAT_BYTES);
	if (b.locked && mlockall(MCL_CURRENT | MCL_FUTURE))
		refuse("cannot lock memory: %s", strerror(errno));
	sigaction(SIGTERM, &term, NULL);
	sigaction(SIGINT, &term, NULL);
	b.start = now_s();
	b.last = b.start;
	record(shown, &b, "beating");
	while (!stop && !(seconds && b.last - b.start >= (double)seconds)) {
		double now;

		nap_s((double)b.period_ms / 1e3);
		mem[b.beats % pages * PAT_BYTES]++;
		now = now_s();
		if (now - b.last > b.max_gap) {
			b.max_gap = now - b.last;
			b.max_gap_at = now - b.start;
		}
		b.last = now;
		b.beats++;
		record(shown, &b, "beating");
	}
	record(shown, &b, "done");
	fwrite(shown, 1, RECORD, stdout);
	return 0;
}
