// SPDX-License-Identifier: GPL-2.0
/*
 * Command report: one HTML page with figures of the last hour, which needs
 * nothing from elsewhere; and the recorder that it takes them from.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "chart.h"
#include "ctl.h"
#include "json.h"
#include "record.h"

#define LONGEST	600	/* s between two records */

static const char page_head[] =
"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
"<title>nswap on %s</title>\n<style>\n"
"body { font: 15px/1.4 sans-serif; color: #222; background: #fff;"
" max-width: 900px; margin: 24px auto; padding: 0 16px }\n"
"h1 { font-size: 24px; margin: 0 } p { margin: 2px 0; color: #555 }\n"
"table { border-collapse: collapse; margin: 14px 0 } td, th { padding: 3px 28px 3px 0;"
" text-align: left; font-weight: normal } th { color: #555 }\n"
"figure { margin: 26px 0 0 } figcaption { font-weight: bold; font-size: 17px }\n"
".legend { list-style: none; margin: 4px 0; padding: 0 } .legend li {"
" display: inline-block; margin-right: 24px }\n"
".legend i { display: inline-block; width: 18px; height: 4px; margin: 0 6px 4px 0 }\n"
"svg { width: 100%%; height: auto } svg text { font: 12px sans-serif; fill: #444 }\n"
".grid { stroke: #ddd } .value { text-anchor: end } .time { text-anchor: middle }\n"
"path { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round }\n"
".bad { color: #b00020; font-weight: bold }\n"
"@media print { figure { break-inside: avoid } }\n"
"</style>\n</head>\n<body>\n<h1>nswap on %s</h1>\n";

/* a line of a figure: a field, shown as it is times @by, or what it grows by */
struct drawn {
	const char *name;
	enum record_field field;
	double by;
	bool rate;
	bool not_zero;		/* 0 is that nothing was measured */
};

struct figure {
	const char *title;
	const char *about;
	enum chart_unit unit;
	struct drawn line[CHART_LINES];
};

#define BYTES(name, field)	{ name, field, PAGE_BYTES, false, false }
#define RATE(name, field)	{ name, field, 1, true, false }
#define COUNT(name, field)	{ name, field, 1, false, false }
#define NS(name, field)		{ name, field, 1, false, true }

static const struct figure figures[] = {
	{ "Pages swapped out and in", "To and from peers, flash and home together.",
	  CHART_PAGES_S,
	  { RATE("out", RECORD_OUT), RATE("in", RECORD_IN) } },
	{ "What page-ins took", "While the knob latency is on; half of all take no longer "
	  "than the median, 99 of 100 no longer than p99.", CHART_NS,
	  { NS("median", RECORD_IN_P50), NS("p99", RECORD_IN_P99) } },
	{ "What page-outs took", NULL, CHART_NS,
	  { NS("median", RECORD_OUT_P50), NS("p99", RECORD_OUT_P99) } },
	{ "Where this node's swapped pages are", NULL, CHART_BYTES,
	  { BYTES("at peers", RECORD_REMOTE), BYTES("on flash", RECORD_FLASH),
	    BYTES("at home", RECORD_HOME) } },
	{ "RAM that peers lend", NULL, CHART_BYTES,
	  { BYTES("lent", RECORD_PEERS_LENT), BYTES("free", RECORD_PEERS_FREE) } },
	{ "Peers that are up", NULL, CHART_PEERS, { COUNT("peers", RECORD_PEERS_UP) } },
	{ "RAM that this node lends", NULL, CHART_BYTES,
	  { BYTES("held for others", RECORD_HELD), BYTES("lent", RECORD_LENT),
	    BYTES("lent at most", RECORD_LENT_MAX) } },
	{ "Pages moved between nodes", "Here from other servers; away to other servers, or to "
	  "the disks of their owners; own pages from one server to another.", CHART_PAGES_S,
	  { RATE("here", RECORD_MOVED_IN), RATE("away", RECORD_MOVED_OUT),
	    RATE("own", RECORD_MOVED_OWN) } },
	{ "Pages at risk", "Exposed: of protected devices, with fewer copies or checks than "
	  "promised. Lost: reads of them fail.", CHART_PAGES,
	  { COUNT("exposed", RECORD_EXPOSED), COUNT("lost", RECORD_LOST) } },
	{ "Page-ins and page-outs that failed, or were read elsewhere for a peer was slow",
	  NULL, CHART_PAGES_S,
	  { RATE("page-ins failed", RECORD_READ_ERRORS),
	    RATE("page-outs failed", RECORD_WRITE_ERRORS),
	    RATE("read elsewhere", RECORD_HEDGED) } },
};

static double drawn_value(const struct drawn *d, const struct record *list, size_t i)
{
	double v = list[i].v[d->field];

	if (d->rate)
		return i ? record_rate(&list[i], &list[i - 1], d->field) : NAN;
	return d->not_zero && !v ? NAN : v * d->by;
}

static void draw_figure(const struct figure *f, const struct record *list, size_t nr,
			const double *time)
{
	struct chart c = { .title = f->title, .about = f->about, .unit = f->unit,
			   .nr = nr, .time = time,
			   .gap = 2.5 * list[nr - 1].v[RECORD_EVERY] };
	size_t i;

	while (c.nr_lines < CHART_LINES && f->line[c.nr_lines].name) {
		const struct drawn *d = &f->line[c.nr_lines];
		double *value = malloc(nr * sizeof(*value));

		if (!value)
			ctl_refuse("no memory");
		for (i = 0; i < nr; i++)
			value[i] = drawn_value(d, list, i);
		c.line[c.nr_lines].name = d->name;
		c.line[c.nr_lines++].value = value;
	}
	chart_draw(stdout, &c);
	while (c.nr_lines)
		free(c.line[--c.nr_lines].value);
}

/* how much a counter grew altogether, over gaps too but not over a new start */
static double grown(const struct record *list, size_t nr, enum record_field field)
{
	double sum = 0;
	size_t i;

	for (i = 1; i < nr; i++)
		sum += fmax(list[i].v[field] - list[i - 1].v[field], 0);
	return sum;
}

static void print_row(const char *what, enum chart_unit unit, double value, bool bad)
{
	char text[32];

	printf("<tr><th>%s</th><td%s>%s</td></tr>\n", what,
	       bad && value > 0 ? " class=\"bad\"" : "",
	       chart_text(unit, value, text));
}

static const char *clock_text(double time, char buf[64])
{
	time_t t = time;
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(buf, 64, "%Y-%m-%d %H:%M:%S %Z", &tm);
	return buf;
}

static void print_page(const struct record *list, size_t nr)
{
	const struct record *last = &list[nr - 1];
	char node[ADDR_TEXT], from[64], to[64];
	double *time = malloc(nr * sizeof(*time));
	size_t i;

	if (!time)
		ctl_refuse("no memory");
	for (i = 0; i < nr; i++)
		time[i] = list[i].v[RECORD_TIME];
	strcpy(node, last->node);
	for (i = 0; node[i]; i++)
		if (strchr("<>&\"'", node[i]))
			node[i] = '?';	/* no address has these */
	printf(page_head, node, node);
	printf("<p>%s to %s, %zu records, one every %.0f s</p>\n<table>\n",
	       clock_text(time[0], from), clock_text(time[nr - 1], to), nr,
	       last->v[RECORD_EVERY]);
	print_row("swapped pages at peers now", CHART_BYTES,
		  last->v[RECORD_REMOTE] * PAGE_BYTES, false);
	print_row("held for others now", CHART_BYTES,
		  last->v[RECORD_HELD] * PAGE_BYTES, false);
	print_row("swapped out", CHART_PAGES,
		  grown(list, nr, RECORD_OUT), false);
	print_row("swapped in", CHART_PAGES,
		  grown(list, nr, RECORD_IN), false);
	print_row("page-ins that failed", CHART_PAGES,
		  grown(list, nr, RECORD_READ_ERRORS), true);
	print_row("page-outs that failed", CHART_PAGES,
		  grown(list, nr, RECORD_WRITE_ERRORS), true);
	print_row("lost now", CHART_PAGES, last->v[RECORD_LOST], true);
	print_row("exposed now, of protected devices", CHART_PAGES,
		  last->v[RECORD_EXPOSED], true);
	puts("</table>");
	for (i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		draw_figure(&figures[i], list, nr, time);
	puts("</body>\n</html>");
	free(time);
}

static void json_report(const struct record *list, size_t nr)
{
	const struct record *last = &list[nr - 1];

	json_object(NULL);
	json_string("node", last->node);
	json_real("from", list[0].v[RECORD_TIME]);
	json_real("to", last->v[RECORD_TIME]);
	json_number("records", nr);
	json_number("pages_out", grown(list, nr, RECORD_OUT));
	json_number("pages_in", grown(list, nr, RECORD_IN));
	json_number("read_errors", grown(list, nr, RECORD_READ_ERRORS));
	json_number("write_errors", grown(list, nr, RECORD_WRITE_ERRORS));
	json_number("remote_pages", last->v[RECORD_REMOTE]);
	json_number("held_pages", last->v[RECORD_HELD]);
	json_number("exposed_pages", last->v[RECORD_EXPOSED]);
	json_number("lost_pages", last->v[RECORD_LOST]);
	json_end();
}

static void report(const char *path)
{
	struct record *list;
	size_t nr = record_read(path, &list);

	if (!nr)
		ctl_refuse("%s has no record, 'nswapctl report --record %s' makes some",
			   path, path);
	if (ctl_json)
		json_report(list, nr);
	else
		print_page(list, nr);
	free(list);
}

int cmd_report(int argc, char **argv)
{
	static const struct option options[] = {
		{ "record", required_argument, NULL, 'r' },
		{ "every", required_argument, NULL, 'e' },
		{ }
	};
	const char *record = NULL;
	unsigned int every = 0;
	int option;

	while ((option = arg_option(argc, argv, options)) != -1) {
		if (option == 'r')
			record = optarg;
		else
			every = arg_count(optarg, "number of seconds", LONGEST);
	}
	if (record) {
		arg_no_more(argc, argv, optind);
		record_keep(record, every ? every : 5);
		return 0;
	}
	if (every)
		ctl_usage("--every goes with --record");
	if (optind == argc)
		ctl_usage("name a file that 'nswapctl report --record FILE' writes");
	arg_no_more(argc, argv, optind + 1);
	report(argv[optind]);
	return 0;
}
