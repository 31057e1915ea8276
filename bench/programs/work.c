// SPDX-License-Identifier: GPL-2.0
/*
 * See work.h. The control page is shared by all processes of a program and
 * holds counters and the barrier; all else belongs to the process it is in.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "prog.h"
#include "vmstat.h"
#include "work.h"

#define TOLD_MOST	8
#define COMMON_FLAGS	7
#define FLAGS_MOST	16

enum { FILL, MEASURE, CHECK, PHASES };

struct control {
	pthread_barrier_t barrier;
	atomic_uint_fast64_t accesses, verified, slept_ns;
	atomic_uint_fast64_t wrong_pages, wrong_results;
	struct phase {
		double begin, end;
		struct vmstat counted;
	} phases[PHASES];
	unsigned int phase;	/* the one that runs */
};

uint64_t work_seed = 1, work_damage, work_processes = 1;

static const struct work_about *program;
static uint64_t compute_ns, fault_ns;
/* Sleeps shorter than this are put off: a system call for each unit of work
 * would be measured as well.
 */
static uint64_t compute_step_us = 100;
static const char *out_file;
static struct control *control;
static int64_t debt_ns;
static char members[1024];

static const struct work_flag common[COMMON_FLAGS] = {
	{ .name = "seed", .number = &work_seed, .max = UINT64_MAX,
	  .help = "N           seed of everything random (default 1)" },
	{ .name = "compute-ns", .number = &compute_ns, .max = 1000000000,
	  .help = "N     sleep N nanoseconds a unit of work (default 0); a unit is" },
	{ .name = "compute-step-us", .number = &compute_step_us, .max = 1000000,
	  .help = "N   in sleeps of at least N microseconds (default 100)" },
	{ .name = "fault-ns", .number = &fault_ns, .max = 1000000000,
	  .help = "N       and N nanoseconds a fault that reads, when it computes next" },
	{ .name = "damage", .number = &work_damage, .max = 1 << 10,
	  .help = "N         spoil N places behind the verifier's back (default 0)" },
	{ .name = "out", .text = &out_file,
	  .help = "FILE         put the JSON line into FILE as well" },
	{ .name = "help", .help = "            this" },
};

static void usage(void)
{
	printf("usage: %s [options]\n%s\n", program->name, program->does);
	for (const struct work_flag *f = program->flags; f->name; f++)
		printf("  --%s %s\n", f->name, f->help);
	for (unsigned int i = 0; i < COMMON_FLAGS; i++) {
		printf("  --%s %s\n", common[i].name, common[i].help);
		if (common[i].number == &compute_ns)
			printf("                    %s\n", program->unit);
	}
	puts("One JSON line at the end; exit 0: all right, 1: a wrong page or result,\n"
	     "2: refused, 3: a page could not be read");
}

static void set_word(const struct work_flag *f, const char *text)
{
	char known[256] = "";

	for (uint64_t i = 0; f->words[i]; i++) {
		if (!strcmp(f->words[i], text)) {
			*f->number = i;
			return;
		}
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i ? ", " : "", f->words[i]);
	}
	refuse("--%s is one of %s, not '%s'", f->name, known, text);
}

static void set_flag(const struct work_flag *f, const char *text)
{
	char name[64];

	if (f->text) {
		*f->text = text;
	} else if (f->words) {
		set_word(f, text);
	} else if (f->number) {
		snprintf(name, sizeof(name), "--%s", f->name);
		*f->number = arg_number(name, text, f->min, f->max);
	} else {
		usage();
		exit(0);
	}
}

/* A page that the kernel could not read back: there is nothing to go on with. */
static void on_sigbus(int sig)
{
	static const char text[] = "error: a page could not be read\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_FAILED);
}

/* Only the data is to be swapped, not the program; what is mapped later is
 * data. Not in children, whose parent has mapped what they share.
 */
static void stay_in_memory(void)
{
	if (mlockall(MCL_CURRENT))
		return;		/* not allowed, then the program is swapped too */
}

static void end_phase(void)
{
	struct phase *p = &control->phases[control->phase];

	p->end = work_now();
	p->counted = vmstat_between(p->counted, vmstat_now());
}

static void begin_phase(unsigned int next)
{
	struct phase *p = &control->phases[next];

	control->phase = next;
	p->counted = vmstat_now();
	p->begin = work_now();
}

void work_start(int argc, char **argv, const struct work_about *about)
{
	const struct work_flag *flags[FLAGS_MOST];
	struct option opts[FLAGS_MOST + 1] = { 0 };
	struct sigaction sa = { .sa_handler = on_sigbus };
	unsigned int n = 0;
	int c, at = 0;

	program = about;
	for (const struct work_flag *f = about->flags; f->name; f++)
		flags[n++] = f;
	for (unsigned int i = 0; i < COMMON_FLAGS; i++)
		flags[n++] = &common[i];
	for (unsigned int i = 0; i < n; i++) {
		opts[i].name = flags[i]->name;
		opts[i].has_arg = flags[i]->number || flags[i]->text;
	}
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", opts, &at)) != -1) {
		if (c == ':')
			refuse("%s wants a value, see --help", argv[optind - 1]);
		if (c)
			refuse("there is no option '%s', see --help", argv[optind - 1]);
		set_flag(flags[at], optarg);
	}
	if (optind != argc)
		refuse("there is an argument too many, '%s', see --help", argv[optind]);
	sigaction(SIGBUS, &sa, NULL);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	control = work_map(sizeof(*control), true);
	stay_in_memory();
	begin_phase(FILL);
}

void work_refuse(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "error: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(EXIT_USAGE);
}

void *work_map(uint64_t bytes, bool shared)
{
	int how = MAP_ANONYMOUS | MAP_NORESERVE | (shared ? MAP_SHARED : MAP_PRIVATE);
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, how, -1, 0);

	if (mem == MAP_FAILED)
		refuse("cannot map %llu bytes: %s", (unsigned long long)bytes,
		       strerror(errno));
	madvise(mem, bytes, MADV_NOHUGEPAGE);
	return mem;
}

static void start_child(pid_t *pid, uint64_t me, void (*what)(uint64_t me))
{
	*pid = fork();
	if (*pid < 0)
		refuse("cannot start a process: %s", strerror(errno));
	if (*pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	what(me);
	fflush(NULL);
	_exit(0);
}

/* A child that failed leaves the others at a barrier for ever: end them. */
static void give_up(const pid_t *pids, uint64_t n, int status)
{
	for (uint64_t i = 0; i < n; i++)
		if (pids[i])
			kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "error: a process ended with signal %d\n",
			WTERMSIG(status));
		exit(WTERMSIG(status) == SIGBUS ? EXIT_FAILED : EXIT_USAGE);
	}
	exit(WEXITSTATUS(status));
}

void work_in_parallel(uint64_t n, void (*what)(uint64_t me))
{
	pid_t pids[WORK_PROCESSES] = { 0 }, ended;
	pthread_barrierattr_t attr;
	int status;

	fflush(NULL);
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&control->barrier, &attr, (unsigned int)n);
	for (uint64_t i = 0; i < n; i++)
		start_child(&pids[i], i, what);
	for (uint64_t left = n; left; left--) {
		ended = wait(&status);
		for (uint64_t i = 0; i < n; i++)
			if (pids[i] == ended)
				pids[i] = 0;
		if (status)
			give_up(pids, n, status);
	}
}

void work_barrier(void)
{
	pthread_barrier_wait(&control->barrier);
}

/* What the faults that read since the last time are to take. */
static int64_t faults_ns(void)
{
	static long seen;
	struct rusage own;
	long before = seen;

	if (!fault_ns)
		return 0;
	getrusage(RUSAGE_SELF, &own);
	seen = own.ru_majflt;
	return (int64_t)((uint64_t)(seen - before) * fault_ns);
}

void work_compute(uint64_t units)
{
	struct timespec ts, before, after;
	int64_t took;

	debt_ns += (int64_t)(units * compute_ns) + faults_ns();
	if (debt_ns < (int64_t)(compute_step_us * 1000))
		return;
	ts.tv_sec = debt_ns / 1000000000;
	ts.tv_nsec = debt_ns % 1000000000;
	clock_gettime(CLOCK_MONOTONIC, &before);
	nanosleep(&ts, NULL);
	clock_gettime(CLOCK_MONOTONIC, &after);
	took = (after.tv_sec - before.tv_sec) * 1000000000LL +
	       after.tv_nsec - before.tv_nsec;
	/* Sleeping too long now is sleeping less the next time. */
	debt_ns -= took;
	atomic_fetch_add(&control->slept_ns, (uint64_t)took);
}

double work_now(void)
{
	return now_s();
}

void work_measure(void)
{
	end_phase();
	begin_phase(MEASURE);
}

void work_check(void)
{
	end_phase();
	begin_phase(CHECK);
}

void work_accessed(uint64_t pages)
{
	atomic_fetch_add(&control->accesses, pages);
}

void work_verified(uint64_t things)
{
	atomic_fetch_add(&control->verified, things);
}

void work_wrong_page(void)
{
	atomic_fetch_add(&control->wrong_pages, 1);
}

void work_wrong_result(const char *fmt, ...)
{
	va_list ap;

	if (atomic_fetch_add(&control->wrong_results, 1) >= TOLD_MOST)
		return;
	fprintf(stderr, "wrong result: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void work_member(const char *fmt, ...)
{
	size_t used = strlen(members);
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(members + used, sizeof(members) - used, fmt, ap) >=
	    (int)(sizeof(members) - used - 2))
		refuse("the result line is too long");
	va_end(ap);
	strcat(members, ", ");
}

static double seconds(unsigned int which)
{
	return control->phases[which].end - control->phases[which].begin;
}

int work_end(void)
{
	const struct vmstat *fill = &control->phases[FILL].counted;
	const struct vmstat *measure = &control->phases[MEASURE].counted;
	uint64_t accesses = control->accesses;
	double measured;
	char text[2048];

	end_phase();
	measured = seconds(MEASURE);
	snprintf(text, sizeof(text),
		 "{\"program\": \"%s\", %s\"seed\": %llu, \"compute_ns\": %llu, "
		 "\"fill_seconds\": %.6f, \"seconds\": %.6f, \"check_seconds\": %.6f, "
		 "\"slept_seconds\": %.6f, \"accesses\": %llu, "
		 "\"us_per_access\": %.3f, \"verified\": %llu, "
		 "\"wrong_pages\": %llu, \"wrong_results\": %llu, "
		 "\"fill_pswpin\": %llu, \"fill_pswpout\": %llu, "
		 "\"fill_faults\": %llu, \"fill_major\": %llu, "
		 "\"pswpin\": %llu, \"pswpout\": %llu, "
		 "\"faults\": %llu, \"major\": %llu}\n",
		 program->name, members, (unsigned long long)work_seed,
		 (unsigned long long)compute_ns, seconds(FILL), measured,
		 seconds(CHECK), (double)control->slept_ns / 1e9,
		 (unsigned long long)accesses,
		 accesses ? measured * 1e6 / (double)accesses : 0,
		 (unsigned long long)control->verified,
		 (unsigned long long)control->wrong_pages,
		 (unsigned long long)control->wrong_results,
		 (unsigned long long)fill->in, (unsigned long long)fill->out,
		 (unsigned long long)fill->faults, (unsigned long long)fill->major,
		 (unsigned long long)measure->in, (unsigned long long)measure->out,
		 (unsigned long long)measure->faults, (unsigned long long)measure->major);
	result_file(out_file, text, strlen(text));
	fputs(text, stdout);
	return control->wrong_pages || control->wrong_results ? EXIT_WRONG : 0;
}
