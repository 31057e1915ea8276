// SPDX-License-Identifier: GPL-2.0
/*
 * The picture that nswapctl top shows: five lines on the node, then peers and
 * devices, and the keys in the last line.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "parse.h"
#include "swaps.h"
#include "top.h"

#define LINES_HEAD	6	/* on the node, with an empty one */
#define BAR		16

const char *const top_sorts[TOP_SORTS] = { "name", "used", "free" };

struct frame {
	FILE *out;
	bool screen;
	unsigned int rows;
	unsigned int cols;
	unsigned int row;	/* the next one, from 1 on */
};

static void line(struct frame *f, bool heading, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void line(struct frame *f, bool heading, const char *format, ...)
{
	char text[512];
	size_t len;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	len = strlen(text);
	while (len && (len > f->cols || text[len - 1] == ' '))
		len--;
	if (!f->screen) {
		fprintf(f->out, "%.*s\n", (int)len, text);
		return;
	}
	if (f->row > f->rows)
		return;
	fprintf(f->out, "\033[%u;1H", f->row++);
	if (heading)
		fprintf(f->out, "\033[7m%-*.*s\033[m", (int)f->cols, (int)len, text);
	else
		fprintf(f->out, "%.*s\033[K", (int)len, text);
}

struct rates {
	double out, in;		/* pages a second */
	double moved_in, moved_out, moved_own;
	struct meter_hist latency_out, latency_in;
};

static struct rates rates_of(const struct top *t)
{
	struct rates r = { };
	double s;

	if (!t->was)
		return r;
	s = t->now->at - t->was->at;
	r.out = snap_out(t->now, t->was) / s;
	r.in = snap_in(t->now, t->was) / s;
	r.moved_in = snap_counted(t->now, t->was, VIEW_SERVER, "pages_moved_in") / s;
	r.moved_out = (snap_counted(t->now, t->was, VIEW_SERVER, "pages_moved_out") +
		       snap_counted(t->now, t->was, VIEW_SERVER,
				    "pages_returned")) / s;
	r.moved_own = snap_counted(t->now, t->was, VIEW_CLIENT, "moves_recorded") / s;
	r.latency_out = snap_latency(t->now, t->was, "page-out");
	r.latency_in = snap_latency(t->now, t->was, "page-in");
	return r;
}

static const char *mib_s(double pages, char buf[32])
{
	snprintf(buf, 32, "%.1f MiB/s", pages * PAGE_BYTES / (1 << 20));
	return buf;
}

/* "-" if no page was measured */
static const char *took(const struct meter_hist *h, double share, char buf[32])
{
	double ns = meter_quantile(h, share);

	if (!ns)
		snprintf(buf, 32, "-");
	else if (ns < 1e7)
		snprintf(buf, 32, "%.0f us", ns / 1e3);
	else
		snprintf(buf, 32, "%.0f ms", ns / 1e6);
	return buf;
}

static const char *bar(const struct view_node *n, char buf[BAR + 1])
{
	uint64_t most = n->lent > n->target ? n->lent : n->target;
	unsigned int held = most ? n->ram * BAR / most : 0;
	unsigned int lent = most ? n->target * BAR / most : 0;
	unsigned int i;

	for (i = 0; i < BAR; i++)
		buf[i] = i < held ? '#' : i < lent ? '-' : ' ';
	buf[BAR] = '\0';
	return buf;
}

static void draw_node(struct frame *f, const struct top *t)
{
	const struct view_node *n = &t->now->stat.node;
	char addr[ADDR_TEXT], lent[32], most[32], held[32], idle[32], full[BAR + 1];

	line(f, true, "nswap top   node %u at %s   every %g s", n->number,
	     text_addr(&n->addr, addr), t->interval);
	line(f, false, "lend    [%s]  %s of %s, %s used, %s idle%s%s",
	     bar(n, full), text_size(n->target * PAGE_BYTES, lent, 32),
	     text_size(n->lent * PAGE_BYTES, most, 32),
	     text_size(n->ram * PAGE_BYTES, held, 32),
	     text_size((n->target > n->ram ? n->target - n->ram : 0) *
		       PAGE_BYTES, idle, 32), strcmp(n->trend, "steady") ? ", " : "",
	     strcmp(n->trend, "steady") ? n->trend : "");
}

static void draw_traffic(struct frame *f, const struct top *t)
{
	struct rates r = rates_of(t);
	char out[32], in[32], p[4][32];

	if (t->was)
		line(f, false, "paging  out %8.0f pages/s %12s     in %8.0f pages/s %12s",
		     r.out, mib_s(r.out, out), r.in, mib_s(r.in, in));
	else
		line(f, false, "paging  out %8s pages/s %12s     in %8s pages/s", "-",
		     "", "-");
	if (t->latency)
		line(f, false, "took    out p50 %10s  p99 %10s    in p50 %10s  p99 %10s",
		     took(&r.latency_out, 0.5, p[0]), took(&r.latency_out, 0.99, p[1]),
		     took(&r.latency_in, 0.5, p[2]), took(&r.latency_in, 0.99, p[3]));
	else
		line(f, false, "took    not measured, 'nswapctl set latency 1' begins");
	line(f, false, "moves   in %.0f/s, out %.0f/s, own %.0f/s   exposed %llu, lost %llu, errors %llu",
	     r.moved_in, r.moved_out, r.moved_own,
	     (unsigned long long)t->now->swapped.exposed,
	     (unsigned long long)t->now->swapped.lost,
	     (unsigned long long)snap_errors(t->now, NULL));
	line(f, false, "%s", "");
}

static enum top_sort sort_by;

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_peers(const void *left, const void *right)
{
	const struct view_peer *a = left, *b = right;
	int order = sort_by == TOP_BY_USED ? by_number(b->slots, a->slots) :
		    sort_by == TOP_BY_FREE ? by_number(b->free, a->free) : 0;

	return order ? order : by_number(a->index, b->index);
}

static int compare_devices(const void *left, const void *right)
{
	const struct view_device *a = left, *b = right;
	uint64_t a_free = a->size / PAGE_BYTES - a->remote;
	uint64_t b_free = b->size / PAGE_BYTES - b->remote;
	int order = sort_by == TOP_BY_USED ? by_number(b->remote, a->remote) :
		    sort_by == TOP_BY_FREE ? by_number(b_free, a_free) : 0;

	return order ? order : strverscmp(a->name, b->name);
}

/* "PEERS", or "PEERS 3-9 of 20" if not all are shown */
static const char *title(const char *what, size_t first, size_t rows, size_t nr,
			 char buf[64])
{
	if (rows >= nr)
		snprintf(buf, 64, "%s", what);
	else
		snprintf(buf, 64, "%s %zu-%zu of %zu", what, first + 1,
			 first + rows, nr);
	return buf;
}

/* so that the last row is the last one there is */
static size_t scrolled(const struct top *t, size_t rows, size_t nr)
{
	if (rows >= nr)
		return 0;
	return t->first < nr - rows ? t->first : nr - rows;
}

static void draw_peers(struct frame *f, const struct top *t, size_t rows)
{
	const struct snap *s = t->now;
	size_t i, first = scrolled(t, rows, s->nr_peers);
	int wide = f->cols > 80 ? f->cols - 57 : 22;
	char addr[ADDR_TEXT], lent[32], used[32], left[32], name[64];

	if (wide > 46)
		wide = 46;
	line(f, true, "%-*s %-10s %8s %8s %8s %9s %8s", wide,
	     title("PEERS", first, rows, s->nr_peers, name), "STATE", "LENDS",
	     "USED", "FREE", "SLOTS", "INFLIGHT");
	for (i = first; i < s->nr_peers && i < first + rows; i++) {
		const struct view_peer *p = &s->peers[i];

		line(f, false, "%-*.*s %-10s %8s %8s %8s %9llu %8u", wide, wide,
		     text_addr(&p->addr, addr),
		     view_peer_state(p),
		     text_size(p->lent * PAGE_BYTES, lent, 32),
		     text_size(p->used * PAGE_BYTES, used, 32),
		     text_size(p->free * PAGE_BYTES, left, 32),
		     (unsigned long long)p->slots, p->inflight);
	}
	if (!s->nr_peers)
		line(f, false, "no peer is known, 'nswapctl doctor' looks why");
}

static void draw_devices(struct frame *f, const struct top *t, size_t rows)
{
	const struct snap *s = t->now;
	size_t i, first = scrolled(t, rows, s->nr_devices);
	char size[32], remote[32], flash[32], home[32], used[32], name[64];

	line(f, true, "%-9s%8s %8s %8s %8s %8s %7s %6s  %s",
	     title("DEVICES", first, rows, s->nr_devices, name), "SIZE", "SWAP",
	     "PEERS", "FLASH", "HOME", "EXPOSED", "LOST", "PROTECT");
	for (i = first; i < s->nr_devices && i < first + rows; i++) {
		const struct view_device *d = &s->devices[i];
		struct swaps_entry swap;

		strcpy(used, "-");
		if (swaps_find(d->name, &swap))
			text_size(swap.used_pages * PAGE_BYTES, used, 32);
		line(f, false, "%-9s%8s %8s %8s %8s %8s %7llu %6llu  %s", d->name,
		     text_size(d->size, size, 32), used,
		     text_size(d->remote * PAGE_BYTES, remote, 32),
		     text_size(d->at_flash * PAGE_BYTES, flash, 32),
		     text_size(d->at_home * PAGE_BYTES, home, 32),
		     (unsigned long long)d->exposed,
		     (unsigned long long)d->lost, d->protect);
	}
	if (!s->nr_devices)
		line(f, false, "none: this node only lends");
}

static void draw_lists(struct frame *f, const struct top *t)
{
	size_t nr_peers = t->now->nr_peers, nr_devices = t->now->nr_devices;
	size_t room = SIZE_MAX, devices;

	if (f->screen)
		room = f->rows > LINES_HEAD + 2 ? f->rows - LINES_HEAD - 2 : 1;
	if (t->view == TOP_PEERS) {
		draw_peers(f, t, room);
	} else if (t->view == TOP_DEVICES) {
		draw_devices(f, t, room);
	} else {
		room = room > 3 ? room - 2 : 1;
		/* peers may have two thirds, and what devices leave */
		devices = room / 3 > nr_devices ? nr_devices : room / 3;
		if (room - devices > nr_peers)
			devices = room - nr_peers;
		draw_peers(f, t, room - devices);
		line(f, false, "%s", "");
		draw_devices(f, t, devices);
	}
}

void top_draw(FILE *out, struct top *t, unsigned int rows, unsigned int cols)
{
	/* the last row is that of the keys */
	struct frame f = { .out = out, .screen = rows, .rows = rows - 1,
			   .cols = cols, .row = 1 };

	sort_by = t->sort;
	qsort(t->now->peers, t->now->nr_peers, sizeof(*t->now->peers),
	      compare_peers);
	qsort(t->now->devices, t->now->nr_devices, sizeof(*t->now->devices),
	      compare_devices);
	draw_node(&f, t);
	draw_traffic(&f, t);
	draw_lists(&f, t);
	if (!rows)
		return;
	if (f.row <= f.rows)
		fprintf(out, "\033[%u;1H\033[J", f.row);
	f.row = f.rows = rows;
	line(&f, true, "q quit  s sort: %s  a all  p peers  d devices  +/- interval  arrows scroll",
	     top_sorts[t->sort]);
}

static void json_took(const char *key, const struct meter_hist *h)
{
	json_object(key);
	json_real("median_ns", meter_quantile(h, 0.5));
	json_real("p99_ns", meter_quantile(h, 0.99));
	json_end();
}

void top_json(const struct top *t)
{
	struct rates r = rates_of(t);

	json_object(NULL);
	view_json_node("node", &t->now->stat.node);
	json_real("seconds", t->now->at - t->was->at);
	json_real("pages_out_s", r.out);
	json_real("pages_in_s", r.in);
	json_real("moves_in_s", r.moved_in);
	json_real("moves_out_s", r.moved_out);
	json_real("moves_own_s", r.moved_own);
	json_took("page_out", &r.latency_out);
	json_took("page_in", &r.latency_in);
	json_number("exposed_pages", t->now->swapped.exposed);
	json_number("lost_pages", t->now->swapped.lost);
	json_number("errors", snap_errors(t->now, NULL));
	json_end();
}
