// SPDX-License-Identifier: GPL-2.0
/*
 * The record that nswapctl report draws. It has one to two hours: the file is
 * written again, beside itself, when it has twice the lines of one. It is on the
 * disk then, and when a signal ends it; lines of in between when the kernel writes them.
 * What a power failure left of it, lines that are cut off and zeros, is passed over; a file
 * that is something else stays as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "record.h"
#include "replace.h"

#define LONGEST_LINE	2048
#define LARGEST		1e15	/* of any value in it */
#define MOST_ZEROS	(1 << 20)	/* in a row, that a power failure leaves */
#define RECORD_HEAD	"{\"node\": \""	/* what a line begins with */
#define RECORD_NEXT	"\", \"time\": "	/* behind the node's address */

static const char *const names[RECORD_FIELDS] = {
	[RECORD_TIME] = "time",
	[RECORD_EVERY] = "every",
	[RECORD_LENT_MAX] = "lent_max_pages",
	[RECORD_LENT] = "lent_pages",
	[RECORD_HELD] = "held_pages",
	[RECORD_REMOTE] = "remote_pages",
	[RECORD_FLASH] = "flash_pages",
	[RECORD_HOME] = "home_pages",
	[RECORD_EXPOSED] = "exposed_pages",
	[RECORD_LOST] = "lost_pages",
	[RECORD_PEERS_UP] = "peers_up",
	[RECORD_PEERS_LENT] = "peers_lent_pages",
	[RECORD_PEERS_FREE] = "peers_free_pages",
	[RECORD_OUT] = "pages_out",
	[RECORD_IN] = "pages_in",
	[RECORD_MOVED_IN] = "pages_moved_in",
	[RECORD_MOVED_OUT] = "pages_moved_out",
	[RECORD_MOVED_OWN] = "moves_recorded",
	[RECORD_READ_ERRORS] = "read_errors",
	[RECORD_WRITE_ERRORS] = "write_errors",
	[RECORD_HEDGED] = "pages_hedged",
	[RECORD_OUT_P50] = "out_p50_ns",
	[RECORD_OUT_P99] = "out_p99_ns",
	[RECORD_IN_P50] = "in_p50_ns",
	[RECORD_IN_P99] = "in_p99_ns",
};

static volatile sig_atomic_t ended;

static void end_record(int sig)
{
	(void)sig;
	ended = 1;
}

static void add_lists(struct record *r, const struct snap *s)
{
	size_t i;

	for (i = 0; i < s->nr_devices; i++) {
		const struct view_device *d = &s->devices[i];

		r->v[RECORD_REMOTE] += d->remote;
		r->v[RECORD_FLASH] += d->at_flash;
		r->v[RECORD_HOME] += d->at_home;
		r->v[RECORD_LOST] += d->lost;
		if (strcmp(d->protect, "none"))
			r->v[RECORD_EXPOSED] += d->exposed;
	}
	for (i = 0; i < s->nr_peers; i++) {
		if (!view_peer_alive(&s->peers[i]))
			continue;
		r->v[RECORD_PEERS_UP]++;
		r->v[RECORD_PEERS_LENT] += s->peers[i].lent;
		r->v[RECORD_PEERS_FREE] += s->peers[i].free;
	}
}

static void add_counters(struct record *r, const struct snap *s)
{
	r->v[RECORD_OUT] = snap_out(s, NULL);
	r->v[RECORD_IN] = snap_in(s, NULL);
	r->v[RECORD_MOVED_IN] = view_count(&s->stat, VIEW_SERVER, "pages_moved_in");
	r->v[RECORD_MOVED_OUT] =
		view_count(&s->stat, VIEW_SERVER, "pages_moved_out") +
		view_count(&s->stat, VIEW_SERVER, "pages_returned");
	r->v[RECORD_MOVED_OWN] = view_count(&s->stat, VIEW_CLIENT, "moves_recorded");
	r->v[RECORD_READ_ERRORS] = view_count(&s->stat, VIEW_CLIENT, "read_errors");
	r->v[RECORD_WRITE_ERRORS] = view_count(&s->stat, VIEW_CLIENT, "write_errors");
	r->v[RECORD_HEDGED] = view_count(&s->stat, VIEW_CLIENT, "pages_hedged");
}

static void make_record(struct record *r, const struct snap *s,
			const struct snap *was, unsigned int every)
{
	struct meter_hist out = snap_latency(s, was, "page-out");
	struct meter_hist in = snap_latency(s, was, "page-in");
	struct timespec now;

	memset(r, 0, sizeof(*r));
	clock_gettime(CLOCK_REALTIME, &now);
	text_addr(&s->stat.node.addr, r->node);
	r->v[RECORD_TIME] = now.tv_sec + now.tv_nsec / 1e9;
	r->v[RECORD_EVERY] = every;
	r->v[RECORD_LENT_MAX] = s->stat.node.lent;
	r->v[RECORD_LENT] = s->stat.node.target;
	r->v[RECORD_HELD] = s->stat.node.ram;
	add_lists(r, s);
	add_counters(r, s);
	r->v[RECORD_OUT_P50] = meter_quantile(&out, 0.5);
	r->v[RECORD_OUT_P99] = meter_quantile(&out, 0.99);
	r->v[RECORD_IN_P50] = meter_quantile(&in, 0.5);
	r->v[RECORD_IN_P99] = meter_quantile(&in, 0.99);
}

static void write_record(FILE *f, const struct record *r)
{
	unsigned int i;

	fprintf(f, RECORD_HEAD "%s\"", r->node);
	for (i = 0; i < RECORD_FIELDS; i++)
		fprintf(f, ", \"%s\": %.*f", names[i], i == RECORD_TIME ? 3 : 0,
			r->v[i]);
	fputs("}\n", f);
}

/* false for a line that is no whole record */
static bool read_record(const char *line, struct record *r)
{
	char key[64];
	const char *at;
	unsigned int i;

	memset(r, 0, sizeof(*r));
	if (*line != '{' || !strstr(line, "}\n"))
		return false;
	for (i = 0; i < RECORD_FIELDS; i++) {
		snprintf(key, sizeof(key), "\"%s\": ", names[i]);
		at = strstr(line, key);
		if (at)
			r->v[i] = strtod(at + strlen(key), NULL);
		if (!(r->v[i] >= 0 && r->v[i] <= LARGEST))
			return false;
	}
	sscanf(line, RECORD_HEAD "%79[^\"]", r->node);
	return r->v[RECORD_TIME] < UINT32_MAX && r->v[RECORD_EVERY] >= 1;
}

/* false if there are more than MOST_ZEROS */
static bool skip_zeros(FILE *f)
{
	unsigned int left = MOST_ZEROS;
	int c;

	while (!(c = getc(f)) && left)
		left--;
	ungetc(c, f);
	return c;
}

/* all that are in it */
static size_t read_all(FILE *f, struct record **list)
{
	char line[LONGEST_LINE];
	struct record r;
	size_t nr = 0, room = 0;

	*list = NULL;
	while (skip_zeros(f), fgets(line, sizeof(line), f)) {
		if (!read_record(line, &r))
			continue;
		if (nr == room) {
			room = room ? 2 * room : 64;
			*list = realloc(*list, room * sizeof(**list));
			if (!*list)
				ctl_refuse("no memory");
		}
		(*list)[nr++] = r;
	}
	return nr;
}

size_t record_read(const char *path, struct record **list)
{
	FILE *f = fopen(path, "r");
	size_t i, nr, taken = 0;
	double last;

	if (!f)
		ctl_refuse("%s: %s", path, strerror(errno));
	nr = read_all(f, list);
	fclose(f);
	if (!nr)
		return 0;
	/* none from before the clock was set back */
	last = (*list)[nr - 1].v[RECORD_TIME];
	for (i = 0; i < nr; i++)
		if ((*list)[i].v[RECORD_TIME] <= last &&
		    (*list)[i].v[RECORD_TIME] >= last - RECORD_SPAN)
			(*list)[taken++] = (*list)[i];
	return taken;
}

double record_rate(const struct record *r, const struct record *was,
		   enum record_field field)
{
	double s = r->v[RECORD_TIME] - was->v[RECORD_TIME];
	double grown = r->v[field] - was->v[field];

	if (s <= 0 || s > 2.5 * r->v[RECORD_EVERY] || grown < 0)
		return NAN;
	return grown / s;
}

static void refuse_other(const char *path)
{
	ctl_refuse("%s is no record, and is not written over", path);
}

/* a file that was opened, for us alone, at its end */
static FILE *own_record(const char *path, int fd)
{
	FILE *f = fd < 0 ? NULL : fdopen(fd, "a+");

	if (!f)
		ctl_refuse("%s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB))
		ctl_refuse("%s is being written by another nswapctl report --record",
			   path);
	return f;
}

/* Is it a record, or nothing yet? Its first line may be cut off, and others be no records. */
static bool is_record(FILE *f)
{
	char head[sizeof(RECORD_HEAD) - 1];
	struct stat st;
	size_t len;

	if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode))
		return false;
	rewind(f);
	if (!skip_zeros(f))
		return false;
	len = fread(head, 1, sizeof(head), f);
	return !ferror(f) && !memcmp(head, RECORD_HEAD, len);
}

/* is this the beginning of a line? */
static bool is_cut_off(const char *line)
{
	const size_t head = sizeof(RECORD_HEAD) - 1, next = sizeof(RECORD_NEXT) - 1;
	size_t len = strlen(line);

	if (len <= head)
		return !memcmp(line, RECORD_HEAD, len);
	len = strlen(line += head + strcspn(line + head, "\""));
	return !memcmp(line, RECORD_NEXT, len < next ? len : next) && !strpbrk(line, "}\n");
}

/* nothing but zeros and such a beginning, of a file in which there is no record */
static bool is_begun(FILE *f)
{
	char line[LONGEST_LINE];
	size_t len = 0;
	int c = 0;

	rewind(f);
	skip_zeros(f);
	while (len < sizeof(line) - 1 && (c = getc(f)) > 0)
		line[len++] = c;
	line[len] = '\0';
	return is_cut_off(line) && skip_zeros(f) && getc(f) == EOF && !ferror(f);
}

/* a file beside it, to take its place: of its mode, and of its owner if this is root */
static FILE *open_beside(const char *path, FILE *f, char *beside)
{
	int fd = mkostemp(beside, O_APPEND | O_CLOEXEC);
	FILE *next = own_record(beside, fd);
	struct stat st;

	if (fstat(fileno(f), &st) ||
	    (fchown(fd, st.st_uid, st.st_gid) && errno != EPERM) ||
	    fchmod(fd, st.st_mode & 07777)) {
		int error = errno;

		unlink(beside);
		ctl_refuse("%s: %s", path, strerror(error));
	}
	return next;
}

/* writes the last @keep records beside it, and has these from then on */
static FILE *shorten_record(const char *path, FILE *f, size_t *lines, size_t keep)
{
	struct record *list;
	char beside[4096];
	size_t i, nr;
	FILE *next;

	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", path) >= (int)sizeof(beside))
		ctl_refuse("the name %s is too long", path);
	rewind(f);
	nr = read_all(f, &list);
	if (ferror(f))
		ctl_refuse("%s: it cannot be read", path);
	if (!nr && !is_begun(f))
		refuse_other(path);
	next = open_beside(path, f, beside);
	for (i = nr > keep ? nr - keep : 0; i < nr; i++)
		write_record(next, &list[i]);
	free(list);
	*lines = nr > keep ? keep : nr;
	if (!replace_file(next, beside, path, false)) {
		int error = errno;

		unlink(beside);
		ctl_refuse("%s: %s", path, strerror(error));
	}
	fclose(f);
	return next;
}

/*
 * Signals end it from now on, but only while it rests: one that comes before waits for that. With
 * nohup a closed terminal does not end it. @rests: the mask to rest with
 */
static void record_take_ends(sigset_t *rests)
{
	const struct sigaction end = { .sa_handler = end_record };
	struct sigaction was;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, rests);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (!sigaction(SIGHUP, NULL, &was) && was.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &end, NULL);
}

void record_keep(const char *path, unsigned int every)
{
	const struct timespec rest = { .tv_sec = every };
	const size_t keep = RECORD_SPAN / every + 1;
	struct snap was = { }, s;
	bool before = false;
	FILE *f = own_record(path, open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
	char *real = realpath(path, NULL);	/* what a link leads to */
	size_t lines = SIZE_MAX;
	struct record r;
	sigset_t rests;

	if (!real)
		ctl_refuse("%s: %s", path, strerror(errno));
	if (!is_record(f))
		refuse_other(path);
	record_take_ends(&rests);
	while (!ended) {
		if (lines >= 2 * keep)	/* also the first time */
			f = shorten_record(real, f, &lines, keep);
		/* while there is no node the record has a gap */
		if (snap_take(&s)) {
			make_record(&r, &s, before ? &was : NULL, every);
			write_record(f, &r);
			lines++;
			snap_drop(&was);
			was = s;
			before = true;
		}
		if (fflush(f) || ferror(f))
			ctl_refuse("%s: %s", path, strerror(errno));
		ppoll(NULL, 0, &rest, &rests);
	}
	snap_drop(&was);
	if (fsync(fileno(f)))
		ctl_refuse("%s: %s", path, strerror(errno));
	free(real);
	fclose(f);
}
