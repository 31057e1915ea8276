// SPDX-License-Identifier: GPL-2.0
/*
 * cost: what a page costs, by the clock, with nothing but the work inside the
 * window that is timed.
 *
 * It runs in a guest whose nanosecond is an executed instruction
 * (tests/vm/counting.py). One JSON line a repetition goes to standard output.
 *
 * Invariants: page contents are made before a window and compared, whole, after
 * it; a read is compared in a buffer of its own, so no page is read twice into
 * one place; a wrong page ends the program with EXIT_WRONG. Buffers are
 * populated before the first window, of 4 KiB pages as swap has them.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "cost.h"
#include "cost_move.h"
#include "cost_two.h"
#include "pattern_text.h"

#define DEPTH_MAX	32
#define CHUNK		32	/* pages that are filled and compared at once */
#define ASK		72	/* bytes: a request, and the head of an answer */
#define EXCHANGES	2000
#define PORT		7777
#define FORGET_BYTES	(34 * PAT_BYTES)
#define FORGET_EVERY	256	/* accesses */

/* -- the works of a device ------------------------------------------------- */

static void one_by_one(struct disk *d, const struct work *w, uint64_t n)
{
	size_t len = (size_t)w->unit * PAT_BYTES;

	for (uint64_t i = 0; i < n; i++)
		transfer(d, w->write, d->buf + i * len, len, d->where[i]);
}

/* Keep w->depth requests under way; what has ended is replaced at once. */
static void several(struct disk *d, const struct work *w, uint64_t n)
{
	size_t len = (size_t)w->unit * PAT_BYTES;
	struct iocb cbs[DEPTH_MAX], *next[DEPTH_MAX];
	struct io_event done[DEPTH_MAX];
	uint64_t begun = 0, ended = 0;
	long got = w->depth;

	for (unsigned int i = 0; i < w->depth; i++)
		next[i] = &cbs[i];
	while (ended < n) {
		long ready = 0;

		for (; ready < got && begun < n; ready++, begun++)
			*next[ready] = (struct iocb){
				.aio_data = (uintptr_t)next[ready],
				.aio_lio_opcode = w->write ? IOCB_CMD_PWRITE :
							     IOCB_CMD_PREAD,
				.aio_fildes = (uint32_t)d->fd,
				.aio_buf = (uintptr_t)(d->buf + begun * len),
				.aio_nbytes = len, .aio_offset = d->where[begun],
			};
		if (ready && syscall(SYS_io_submit, d->aio, ready, next) != ready)
			refuse("io_submit: %s", strerror(errno));
		got = syscall(SYS_io_getevents, d->aio, 1L, (long)w->depth, done, NULL);
		if (got < 1)
			refuse("io_getevents: %s", strerror(errno));
		for (long i = 0; i < got; i++) {
			if (done[i].res != (long long)len)
				refuse("a request ended with %lld", done[i].res);
			next[i] = (struct iocb *)(uintptr_t)done[i].data;
		}
		ended += (uint64_t)got;
	}
}

/* Where each request goes, and for writes what. */
static void prepare(struct disk *d, const struct work *w, uint64_t n, uint64_t turn)
{
	struct pat_order order = pat_order_new(d->pages / w->unit, SEED + turn);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t block = w->in_order ?
			(turn * n + i) % (d->pages / w->unit) :
			pat_order_at(&order, i);

		d->where[i] = (off_t)(block * w->unit * PAT_BYTES);
		for (uint64_t k = 0; w->write && k < w->unit; k++) {
			uint64_t page = block * w->unit + k;

			pat_data_fill(d->data, d->buf + (i * w->unit + k) * PAT_BYTES,
				      SEED, page, ++d->count[page]);
		}
	}
	if (!w->write)
		memset(d->buf, 0, n * w->unit * PAT_BYTES);
}

static void compare(struct disk *d, const void *buf, uint64_t page, uint64_t n)
{
	const unsigned char *p = buf;

	for (uint64_t i = 0; i < n; i++, page++, p += PAT_BYTES)
		if (!pat_data_same(d->data, p, SEED, page, d->count[page]))
			bad_page(&d->bad, p, SEED, page, d->count[page], d->pages);
}

static void compare_all(struct disk *d)
{
	for (uint64_t page = 0; page < d->pages; page += CHUNK) {
		memset(d->buf, 0, CHUNK * PAT_BYTES);
		transfer(d, false, d->buf, CHUNK * PAT_BYTES,
			 (off_t)(page * PAT_BYTES));
		compare(d, d->buf, page, CHUNK);
	}
}

/* One repetition; rep 0 is there to get warm and is not told. */
static void repeat(struct disk *d, const struct work *w, unsigned int rep,
		   uint64_t pages)
{
	uint64_t n = pages / w->unit, idle, start, took;

	prepare(d, w, n, (uint64_t)(w - works) * (REPS + 1) + rep);
	idle = idle_ns();
	start = window_begin();
	if (w->depth == 1 && !w->submitted)
		one_by_one(d, w, n);
	else
		several(d, w, n);
	if (d->flush && w->write && fsync(d->fd))
		refuse("cannot flush: %s", strerror(errno));
	took = window_end(start);
	idle = idle_ns() - idle;
	for (uint64_t i = 0; !w->write && i < n; i++)
		compare(d, d->buf + i * w->unit * PAT_BYTES,
			(uint64_t)d->where[i] / PAT_BYTES, w->unit);
	if (rep)
		tell(w->name, rep, pages, took, idle);
}

static int run_work(struct disk *d, const char *name)
{
	const struct work *w = NULL;

	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		if (!strcmp(works[i].name, name))
			w = &works[i];
	if (!w)
		refuse("there is no work '%s'", name);
	repeat(d, w, 0, w->pages / 4);
	for (unsigned int rep = 1; rep <= REPS; rep++)
		repeat(d, w, rep, w->pages);
	if (w->write)
		compare_all(d);
	return verdict(&d->bad, name);
}

/* Every page once, as the pattern says. */
static void fill(struct disk *d)
{
	for (uint64_t page = 0; page < d->pages; page += CHUNK) {
		for (uint64_t k = 0; k < CHUNK; k++)
			pat_data_fill(d->data, d->buf + k * PAT_BYTES, SEED, page + k,
				      ++d->count[page + k]);
		transfer(d, true, d->buf, CHUNK * PAT_BYTES,
			 (off_t)(page * PAT_BYTES));
	}
}

static int device(const char *how, const char *path, uint64_t mb, char **names)
{
	struct disk d = {
		.pages = mb << 8,
		.data = strcmp(how, "text") ? PAT_RANDOM : PAT_TEXT,
		.flush = !strcmp(how, "flushed"),
	};
	int code = 0;

	d.fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (d.fd < 0)
		refuse("cannot open %s: %s", path, strerror(errno));
	d.buf = populated((size_t)PAGES_MAX * PAT_BYTES);
	d.where = populated(PAGES_MAX * sizeof(*d.where));
	d.count = populated(d.pages * sizeof(*d.count));
	memset(d.count, 0, d.pages * sizeof(*d.count));
	if (syscall(SYS_io_setup, 4 * DEPTH_MAX, &d.aio))
		refuse("io_setup: %s", strerror(errno));
	fill(&d);
	for (; !code && *names; names++) {
		if (!moved(*names, mb)) {
			code = run_work(&d, *names);
			continue;
		}
		compare_all(&d);
		code = verdict(&d.bad, *names);
	}
	return code;
}

/* -- a program that swaps -------------------------------------------------- */

/* An access compares the first word of a page and puts the next one there. */
static uint64_t access_page(unsigned char *mem, uint64_t page, uint32_t count)
{
	uint64_t *word = (uint64_t *)(mem + page * PAT_BYTES);
	uint64_t bad = *word ^ pat_word(pat_key(SEED, page, count), 0);

	*word = pat_word(pat_key(SEED, page, count + 1), 0);
	return bad;
}

/*
 * Have the processor forget every translation: the protection of more pages
 * than are invalidated one by one is changed. What the emulator remembers
 * depends on the time of day, and a page whose translation is remembered is not
 * marked as accessed again, so reclaim would choose others in each run.
 */
static void forget_translations(void *region)
{
	if (mprotect(region, FORGET_BYTES, PROT_READ) ||
	    mprotect(region, FORGET_BYTES, PROT_READ | PROT_WRITE))
		refuse("mprotect: %s", strerror(errno));
}

static int check_swapped(enum pat_data data, unsigned char *mem, uint64_t pages,
			 uint32_t count)
{
	struct bad_pages bad = { .wrong = 0 };

	for (uint64_t page = 0; page < pages; page++) {
		unsigned char *p = mem + page * PAT_BYTES;
		uint64_t *word = (uint64_t *)p;

		if (*word == pat_word(pat_key(SEED, page, count), 0))
			*word = pat_word(pat_key(SEED, page, 1), 0);
		if (!pat_data_same(data, p, SEED, page, 1))
			bad_page(&bad, p, SEED, page, 1, pages);
	}
	return verdict(&bad, "after swapping");
}

static int swap(const char *name, uint64_t mb, enum pat_data data)
{
	uint64_t pages = mb << 8, bad = 0;
	bool random = !strcmp(name, "swap-random");
	uint32_t *at = populated(pages * sizeof(*at));
	void *region = populated(FORGET_BYTES);
	unsigned char *mem;

	if (!random && strcmp(name, "swap-seq"))
		refuse("there is no work '%s'", name);
	if (mlockall(MCL_CURRENT))
		refuse("mlockall: %s", strerror(errno));
	mem = mmap(NULL, pages * PAT_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED || madvise(mem, pages * PAT_BYTES, MADV_NOHUGEPAGE))
		refuse("cannot map %llu MB", (unsigned long long)mb);
	for (uint64_t page = 0; page < pages; page++) {
		if (page % FORGET_EVERY == 0)
			forget_translations(region);
		pat_data_fill(data, mem + page * PAT_BYTES, SEED, page, 1);
	}
	for (uint32_t rep = 0; rep <= REPS; rep++) {
		struct pat_order order = pat_order_new(pages, SEED + rep);
		uint64_t idle, start, took;

		for (uint64_t i = 0; i < pages; i++)
			at[i] = (uint32_t)(random ? pat_order_at(&order, i) : i);
		idle = idle_ns();
		start = window_begin();
		for (uint64_t i = 0; i < pages; i++) {
			if (i % FORGET_EVERY == 0)
				forget_translations(region);
			bad |= access_page(mem, at[i], rep + 1);
		}
		took = window_end(start);
		idle = idle_ns() - idle;
		if (rep)
			tell(name, rep, pages, took, idle);
	}
	if (bad)
		refuse("a page was not as it was last written");
	return check_swapped(data, mem, pages, REPS + 2);
}

/* -- a bare exchange ------------------------------------------------------- */

static int tcp_socket(const char *address, struct sockaddr_in *to)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*to = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(PORT) };
	if (fd < 0 || inet_pton(AF_INET, address, &to->sin_addr) != 1 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		refuse("no socket for %s: %s", address, strerror(errno));
	return fd;
}

static bool receive(int fd, void *buf, size_t len)
{
	return recv(fd, buf, len, MSG_WAITALL) == (ssize_t)len;
}

/* Answer every request of one connection with a head and a page. */
static int tcp_serve(const char *address)
{
	unsigned char ask[ASK], answer[ASK + PAT_BYTES] = { 0 };
	struct sockaddr_in here;
	int fd, listener = tcp_socket(address, &here);

	pat_fill(answer + ASK, SEED, 0, 1);
	if (bind(listener, (struct sockaddr *)&here, sizeof(here)) ||
	    listen(listener, 1))
		refuse("cannot listen on %s: %s", address, strerror(errno));
	fd = accept(listener, NULL, NULL);
	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)))
		refuse("no connection: %s", strerror(errno));
	while (receive(fd, ask, sizeof(ask)))
		if (send(fd, answer, sizeof(answer), 0) != sizeof(answer))
			refuse("send: %s", strerror(errno));
	return 0;
}

static int tcp_ask(const char *address)
{
	unsigned char ask[ASK] = { 0 }, answer[ASK + PAT_BYTES];
	struct sockaddr_in there;
	int fd = tcp_socket(address, &there);

	for (int i = 0; connect(fd, (struct sockaddr *)&there, sizeof(there)); i++) {
		if (errno != ECONNREFUSED || i == 100)
			refuse("cannot connect to %s: %s", address, strerror(errno));
		nap_s(0.05);
	}
	for (unsigned int rep = 0; rep <= REPS; rep++) {
		uint64_t start, took, idle = idle_ns();

		memset(answer, 0, sizeof(answer));
		start = window_begin();
		for (unsigned int i = 0; i < EXCHANGES; i++)
			if (send(fd, ask, sizeof(ask), 0) != sizeof(ask) ||
			    !receive(fd, answer, sizeof(answer)))
				refuse("the exchange broke off: %s", strerror(errno));
		took = window_end(start);
		idle = idle_ns() - idle;
		if (!pat_same(answer + ASK, SEED, 0, 1))
			refuse("what came over TCP is not what was sent");
		if (rep)
			tell("tcp-72-4168", rep, EXCHANGES, took, idle);
	}
	return 0;
}

static const char usage[] =
	"usage: cost device PATH MB WORK...    read and write a device of MB MiB\n"
	"       cost text PATH MB WORK...      with pages that can be compressed\n"
	"       cost flushed PATH MB WORK...   and what is written is flushed as well\n"
	"       cost two-read|two-write PATH MB        two tasks, on a processor each\n"
	"       cost swap swap-seq|swap-random MB [text]    write MB MiB of memory\n"
	"                                      again and again, where it has less\n"
	"       cost serve ADDRESS             the other end of\n"
	"       cost tcp-72-4168 ADDRESS       a request of 72 bytes, an answer of 4168\n"
	"One JSON line a repetition: work, rep, pages, ns, and of these idle_ns.\n"
	"exit 0: all pages right, 1: wrong pages, 2: refused\n";

int main(int argc, char **argv)
{
	if (argc >= 5 && (!strcmp(argv[1], "device") || !strcmp(argv[1], "text") ||
			  !strcmp(argv[1], "flushed")))
		return device(argv[1], argv[2],
			      arg_number("MB", argv[3], PAGES_MAX >> 8, 4096), argv + 4);
	if (argc == 4 && (!strcmp(argv[1], "two-read") || !strcmp(argv[1], "two-write")))
		return two(argv[1], argv[2], arg_number("MB", argv[3], 2 * TWO_PAGES >> 8, 4096));
	if ((argc == 4 || (argc == 5 && !strcmp(argv[4], "text"))) &&
	    !strcmp(argv[1], "swap"))
		return swap(argv[2], arg_number("MB", argv[3], 1, 4096),
			    argc == 5 ? PAT_TEXT : PAT_RANDOM);
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return tcp_serve(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "tcp-72-4168"))
		return tcp_ask(argv[2]);
	fputs(usage, argc == 2 && !strcmp(argv[1], "--help") ? stdout : stderr);
	return argc == 2 && !strcmp(argv[1], "--help") ? 0 : EXIT_USAGE;
}
