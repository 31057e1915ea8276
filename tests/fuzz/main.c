// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzing of the pure units as a program: seeded, guided by what inputs reach.
 *
 *   corpus -> pool -> an input: a new one, or one of the pool that is changed
 *                        |
 *                        v
 *                      a harness, its unit with ASan and UBSan
 *                        |
 *            it reached something new, or is smaller -> pool -> --keep
 *
 * A child does this; what it is at lies in memory that it shares with its parent, who
 * writes the bytes to a file if the child dies, complains or takes longer than a moment.
 * The same seed, count and corpus are the same inputs.
 */
#include <getopt.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

#define PATIENCE	30	/* seconds for FEW inputs */
#define FEW		256

static const struct fuzz_target *const targets[] = {
	&fuzz_wire, &fuzz_announce, &fuzz_table, &fuzz_state, &fuzz_sockaddr,
	&fuzz_flash, &fuzz_slot, &fuzz_side, &fuzz_buffers, &fuzz_tags, &fuzz_exchange,
	&fuzz_place, &fuzz_parse, &fuzz_chunks,
};

/**
 * struct at_work - what the child is at
 * @number: of the input, from 1
 * @in: the input
 */
struct at_work {
	u64 number;
	struct fuzz_bytes in;
};

static struct at_work *work;
static const struct fuzz_target *target;
static u64 seed = 1, count = 10000;
static const char *corpus, *keep, *save = ".", *replay;

void fuzz_broken(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	abort();
}

u64 fuzz_take(struct fuzz_cursor *in, unsigned int bytes)
{
	u64 value = 0;

	fuzz_take_into(in, &value, bytes);
	return value;
}

void fuzz_take_into(struct fuzz_cursor *in, void *to, size_t bytes)
{
	size_t there = min(bytes, (size_t)(in->end - in->at));

	memset(to, 0, bytes);
	memcpy(to, in->at, there);
	in->at += there;
}

bool fuzz_more(const struct fuzz_cursor *in)
{
	return in->at < in->end;
}

/* run the input in @work */
static void try_it(void)
{
	struct fuzz_cursor in = { work->in.at, work->in.at + work->in.bytes };

	if (work->number++ % FEW == 0)
		alarm(PATIENCE);
	fuzz_cover_begin();
	kernel_may_warn = false;
	kernel_no_memory = false;
	kernel_warned = 0;
	jiffies = 0;
	target->run(&in);
}

static void try_again(const struct fuzz_bytes *in)
{
	memcpy(&work->in, in, offsetof(struct fuzz_bytes, at) + in->bytes);
	try_it();
}

static void try_all_of(const char *path, bool must)
{
	FILE *file = fopen(path, "r");

	if (!file) {
		if (!must)
			return;
		perror(path);
		exit(2);
	}
	while (fuzz_hex_read(file, &work->in)) {
		try_it();
		fuzz_pool_learn(&work->in);
	}
	fclose(file);
}

/* an input: a new one, or one of the pool that is changed */
static void next_input(void)
{
	const struct fuzz_bytes *from = fuzz_random() % 4 ? fuzz_pool_any() : NULL;

	work->in.bytes = 0;
	if (from) {
		memcpy(&work->in, from, offsetof(struct fuzz_bytes, at) + from->bytes);
		fuzz_mutate(&work->in, fuzz_pool_any());
	} else if (target->make) {
		target->make(&work->in);
		if (fuzz_random() % 2)
			fuzz_mutate(&work->in, &work->in);
	} else {
		fuzz_any_bytes(&work->in, 256);
	}
}

static int child(void)
{
	char path[4096];
	u64 i;

	fuzz_seed(seed, target->name);
	if (replay) {
		try_all_of(replay, true);
		return 0;
	}
	if (corpus) {
		snprintf(path, sizeof(path), "%s/%s", corpus, target->name);
		try_all_of(path, false);
	}
	for (i = 0; i < count; i++) {
		next_input();
		try_it();
		fuzz_pool_learn(&work->in);
	}
	printf("%s: %llu inputs, %u points, reached by %u of them\n", target->name,
	       (unsigned long long)count, fuzz_pool_points(), fuzz_pool_inputs());
	if (keep) {
		snprintf(path, sizeof(path), "%s/%s", keep, target->name);
		if (fuzz_pool_keep(path, try_again)) {
			perror(path);
			return 2;
		}
	}
	return 0;
}

/* the child is dead: which input was it, and what is in it? */
static int told(int status)
{
	char path[4096];
	FILE *file;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		return 2;
	snprintf(path, sizeof(path), "%s/%s-%llu-%llu", save, target->name,
		 (unsigned long long)seed, (unsigned long long)work->number);
	file = fopen(path, "w");
	if (file) {
		fuzz_hex_write(file, &work->in);
		fclose(file);
	}
	printf("%s: seed %llu, input %llu %s; again: fuzz --replay %s %s\n", target->name,
	       (unsigned long long)seed, (unsigned long long)work->number,
	       WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ?
	       "takes too long" : "finds a fault", path, target->name);
	return 1;
}

static int fuzz(void)
{
	int status;
	pid_t pid;

	work->number = 0;
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("fork");
		return 2;
	}
	if (!pid)
		exit(child());
	if (waitpid(pid, &status, 0) != pid)
		return 2;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : told(status);
}

static int usage(void)
{
	unsigned int i;

	fprintf(stderr,
		"usage: fuzz [--seed N] [--inputs N] [--corpus DIR] [--keep DIR]\n"
		"            [--save DIR] [--replay FILE] TARGET\n"
		"       fuzz --list\n\n");
	for (i = 0; i < ARRAY_SIZE(targets); i++)
		fprintf(stderr, "  %-10s %s\n", targets[i]->name, targets[i]->help);
	return 2;
}

static int list(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(targets); i++)
		printf("%s %u\n", targets[i]->name, targets[i]->weight);
	return 0;
}

/* -1: go on; else the exit code */
static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "inputs", required_argument, NULL, 'n' },
		{ "corpus", required_argument, NULL, 'c' },
		{ "keep", required_argument, NULL, 'k' },
		{ "save", required_argument, NULL, 'd' },
		{ "replay", required_argument, NULL, 'r' },
		{ "list", no_argument, NULL, 'l' },
		{ }
	};
	unsigned int i;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			count = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			corpus = optarg;
			break;
		case 'k':
			keep = optarg;
			break;
		case 'd':
			save = optarg;
			break;
		case 'r':
			replay = optarg;
			break;
		case 'l':
			return list();
		default:
			return usage();
		}
	}
	for (i = 0; optind < argc && i < ARRAY_SIZE(targets); i++)
		if (!strcmp(targets[i]->name, argv[optind]))
			target = targets[i];
	return target && argc == optind + 1 ? -1 : usage();
}

int main(int argc, char **argv)
{
	int code = parse(argc, argv);

	if (code >= 0)
		return code;
	work = mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (work == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	return fuzz();
}
