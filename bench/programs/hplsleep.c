// SPDX-License-Identifier: GPL-2.0
/*
 * A library to put under HPL as Debian's hpcc has it (LD_PRELOAD): it calls the
 * real BLAS, and then sleeps for the operations that this would have taken, so
 * that HPL computes right and takes its time under virtual time too.
 *
 * hpcc runs HPL last, after fifteen other benchmarks, and cannot be told not
 * to. It skips one whose memory it does not get, so with HPL_ONLY=1 its own
 * larger requests are refused until HPL begins. The one before HPL, of messages between
 * ranks, does not look whether it got memory, but is left out where there is one rank: it is
 * told so. Every rank asks for the time of day when a benchmark has ended, and only then.
 *
 * A rank that waits asks Open MPI's progress function again and again, which yields the
 * processor where nothing has come (mpi_yield_when_idle). Here it sleeps then, since under
 * virtual time no time passes while anything turns.
 *
 *   HPL_NS_PER_KFLOP=N   nanoseconds for 1000 floating point operations (0)
 *   HPL_ONLY=1           no other benchmark than HPL
 *   HPL_REPORT=FILE      one JSON line there at the end; of several ranks FILE.RANK
 *   HPL_DAMAGE=N         spoil one result of the Nth dgemm: HPL must notice
 *
 * Invariants: requests of other libraries (MPI's) are never refused. One
 * thread of a process only calls BLAS.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SMALL		16384		/* bytes that any benchmark may have */
#define BENCHMARKS	15		/* before HPL, the last of them of messages */
#define COMPUTE_STEP_NS	1000000
#define YIELD_NS	100000
/* CBLAS's numbers: where a factor stands, how a matrix lies, what is done to it */
#define LEFT		141
#define BY_COLUMNS	102
#define NOT		111

static uintptr_t program_begin, program_end;
static bool refusing;
static unsigned int benchmarks_over;
static double ns_per_flop, debt_ns, flops_done, slept_ns;
static uint64_t multiplied, damage_at;

/* The C library's own, since dlsym() itself asks for memory. */
void *__libc_malloc(size_t size);

static double number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtod(text, NULL) : 0;
}

static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	program_begin = info->dlpi_addr;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		__auto_type part = &info->dlpi_phdr[i];
		uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;

		if (part->p_type == PT_LOAD && end > program_end)
			program_end = end;
	}
	return 1;	/* the first one is the program */
}

/*
 * In the first second after the kernel's start MPI_Wtime() says 0 again and again: it
 * takes its beginning for none as long as its seconds are 0.
 */
static void wait_for_time(void)
{
	const struct timespec second = { .tv_sec = 1 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &second, NULL);
}

__attribute__((constructor))
static void begin(void)
{
	wait_for_time();
	ns_per_flop = number("HPL_NS_PER_KFLOP") / 1000;
	damage_at = (uint64_t)number("HPL_DAMAGE");
	refusing = number("HPL_ONLY") > 0;
	dl_iterate_phdr(find_program, NULL);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

__attribute__((destructor))
static void end(void)
{
	const char *path = getenv("HPL_REPORT"), *rank = getenv("OMPI_COMM_WORLD_RANK");
	char name[PATH_MAX];
	FILE *f;

	if (!path || flops_done <= 0)
		return;
	snprintf(name, sizeof(name), "%s%s%s", path, rank ? "." : "", rank ? rank : "");
	f = fopen(name, "w");
	if (!f)
		return;
	fprintf(f, "{\"flops\": %.0f, \"slept_seconds\": %.6f}\n", flops_done,
		slept_ns / 1e9);
	fclose(f);
}

static bool of_program(const void *caller)
{
	return (uintptr_t)caller >= program_begin && (uintptr_t)caller < program_end;
}

void *malloc(size_t size)
{
	if (refusing && size >= SMALL && of_program(__builtin_return_address(0)))
		return NULL;
	return __libc_malloc(size);
}

/* a benchmark is over, if the program asks */
time_t time(time_t *t)
{
	struct timespec ts;

	if (of_program(__builtin_return_address(0)) && ++benchmarks_over >= BENCHMARKS)
		refusing = false;
	clock_gettime(CLOCK_REALTIME, &ts);
	if (t)
		*t = ts.tv_sec;
	return ts.tv_sec;
}

int MPI_Comm_size(void *comm, int *size);
int MPI_Comm_size(void *comm, int *size)
{
	static typeof(MPI_Comm_size) *real;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "MPI_Comm_size");
	if (!refusing || benchmarks_over != BENCHMARKS - 1)
		return real(comm, size);
	*size = 1;
	return 0;
}

/* The lab's kernel has no name but "(none)", which mpirun refuses. */
int gethostname(char *name, size_t size)
{
	snprintf(name, size, "localhost");
	return 0;
}

/* Open MPI's, of a rank that waits */
int sched_yield(void)
{
	const struct timespec ts = { .tv_nsec = YIELD_NS };

	return nanosleep(&ts, NULL);
}

/*
 * User-mode Linux loses what a system call writes to a page that was swapped in to be
 * read, HPL's time for one: write there first.
 */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*real)(clockid_t id, struct timespec *ts);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	*(volatile time_t *)&ts->tv_sec = 0;
	return real(id, ts);
}

int gettimeofday(struct timeval *tv, void *zone)
{
	static int (*real)(struct timeval *tv, void *zone);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "gettimeofday");
	*(volatile time_t *)&tv->tv_sec = 0;
	return real(tv, zone);
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* So many operations were done: sleep for them, now or with the next. */
static void took(double flops)
{
	struct timespec ts;
	double before;

	flops_done += flops;
	debt_ns += flops * ns_per_flop;
	if (debt_ns < COMPUTE_STEP_NS)
		return;
	ts.tv_sec = (time_t)(debt_ns / 1e9);
	ts.tv_nsec = (long)(debt_ns - (double)ts.tv_sec * 1e9);
	before = now_ns();
	nanosleep(&ts, NULL);
	before = now_ns() - before;
	debt_ns -= before;
	slept_ns += before;
}

/* A function of BLAS: the same arguments to the real one, then the sleep. */
#define INTERPOSE(name, parameters, arguments, flops)				\
	void name parameters;							\
	void name parameters							\
	{									\
		static void (*real)parameters;					\
										\
		if (!real)							\
			*(void **)&real = dlsym(RTLD_NEXT, #name);		\
		real arguments;							\
		took(flops);							\
	}

/* Twice the product of two or three numbers. */
#define TWICE(a, b, c)	(2.0 * (double)(a) * (double)(b) * (double)(c))

/* How many of n columns take a step's time with so many operations each. */
static int columns_of_step(int n, double flops_each)
{
	double columns = COMPUTE_STEP_NS / (flops_each * ns_per_flop);

	return columns < 1 ? 1 : columns < n ? (int)columns : n;
}

/* Where column j is in a matrix. */
static size_t column(int order, int transposed, int j, int ld)
{
	return (order == BY_COLUMNS) == (transposed == NOT) ? (size_t)j * ld : (size_t)j;
}

/*
 * HPL multiplies all that is left of its matrix at once. A processor would go through
 * it in that time, so it is done column after column, with a sleep now and then:
 * otherwise all of it were used at one moment and none until the next.
 */
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha,
		 const double *a, int lda, const double *b, int ldb, double beta,
		 double *c, int ldc)
{
	static typeof(cblas_dgemm) *real;
	int width = columns_of_step(n, TWICE(m, 1, k));

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "cblas_dgemm");
	for (int j = 0; j < n; j += width) {
		int w = n - j < width ? n - j : width;

		real(order, ta, tb, m, w, k, alpha, a, lda, b + column(order, tb, j, ldb),
		     ldb, beta, c + column(order, NOT, j, ldc), ldc);
		took(TWICE(m, w, k));
	}
	if (m > 0 && n > 0 && ++multiplied == damage_at)
		c[0] += 1;
}

INTERPOSE(cblas_dtrsm, (int order, int side, int uplo, int ta, int diag, int m, int n,
			double alpha, const double *a, int lda, double *b, int ldb),
	  (order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb),
	  TWICE(m, n, side == LEFT ? m : n) / 2)

INTERPOSE(cblas_dgemv, (int order, int ta, int m, int n, double alpha, const double *a,
			int lda, const double *x, int ix, double beta, double *y, int iy),
	  (order, ta, m, n, alpha, a, lda, x, ix, beta, y, iy), TWICE(m, n, 1))

INTERPOSE(cblas_dger, (int order, int m, int n, double alpha, const double *x, int ix,
		       const double *y, int iy, double *a, int lda),
	  (order, m, n, alpha, x, ix, y, iy, a, lda), TWICE(m, n, 1))

INTERPOSE(cblas_dtrsv, (int order, int uplo, int ta, int diag, int n, const double *a,
			int lda, double *x, int ix),
	  (order, uplo, ta, diag, n, a, lda, x, ix), TWICE(n, n, 1) / 2)

INTERPOSE(cblas_daxpy, (int n, double alpha, const double *x, int ix, double *y, int iy),
	  (n, alpha, x, ix, y, iy), TWICE(n, 1, 1))

INTERPOSE(cblas_dscal, (int n, double alpha, double *x, int ix), (n, alpha, x, ix),
	  TWICE(n, 1, 1) / 2)
