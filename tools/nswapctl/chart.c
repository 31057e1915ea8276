// SPDX-License-Identifier: GPL-2.0
/*
 * A figure of lines over time, as SVG inside of HTML.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "chart.h"

#define WIDTH	860
#define HEIGHT	204
#define LEFT	70	/* of the axes, from the edges of the figure */
#define RIGHT	32
#define TOP	26
#define BOTTOM	26

/* told apart with any kind of sight */
static const char *const colours[CHART_LINES] = { "#0072b2", "#d55e00",
						  "#009e73", "#555555" };

struct scale {
	double by;		/* shown is the value divided by it */
	const char *name;
};

static const struct scale scales[][5] = {
	[CHART_BYTES] = { { 1, "B" }, { 1024, "KiB" }, { 1 << 20, "MiB" },
			  { 1 << 30, "GiB" }, { 1024.0 * (1 << 30), "TiB" } },
	[CHART_NS] = { { 1, "ns" }, { 1e3, "us" }, { 1e6, "ms" },
		       { 1e9, "s" } },
	[CHART_PAGES] = { { 1, "pages" }, { 1e3, "1000 pages" },
			  { 1e6, "million pages" } },
	[CHART_PAGES_S] = { { 1, "pages/s" }, { 1e3, "1000 pages/s" },
			    { 1e6, "million pages/s" } },
	[CHART_PEERS] = { { 1, "peers" } },
};

/* the largest that leaves a number of at least @least */
static const struct scale *scale_of(enum chart_unit unit, double value, double least)
{
	const struct scale *s = scales[unit];
	unsigned int i;

	for (i = 1; i < 5 && scales[unit][i].name; i++)
		if (value >= least * scales[unit][i].by)
			s = &scales[unit][i];
	return s;
}

const char *chart_text(enum chart_unit unit, double value, char buf[32])
{
	/* counts are written out, they are no measures */
	const struct scale *s = unit == CHART_BYTES || unit == CHART_NS ?
				scale_of(unit, value, 1) : scales[unit];

	value /= s->by;
	snprintf(buf, 32, value >= 10 || value == floor(value) ? "%.0f %s" :
		 "%.1f %s", value, s->name);
	return buf;
}

static double largest(const struct chart *c)
{
	double most = 0;
	unsigned int l;
	size_t i;

	for (l = 0; l < c->nr_lines; l++)
		for (i = 0; i < c->nr; i++)
			if (c->line[l].value[i] > most)
				most = c->line[l].value[i];
	return most;
}

/* 1, 2 or 5 times a power of ten, at most six of which make @most */
static double step_of(double most, bool whole)
{
	double step = pow(10, floor(log10(most / 6)));

	if (most / step > 6)
		step *= most / step > 30 ? 10 : most / step > 12 ? 5 : 2;
	return whole && step < 1 ? 1 : step;
}

/**
 * struct axes - where things are
 * @log: times differ by orders of magnitude: decades, of ns, and no scale
 * @bottom, @top: value at the end, in what the scale shows; or its logarithm
 * @from, @to: times at both ends
 */
struct axes {
	bool log;
	const struct scale *scale;
	double step, bottom, top;
	double from, to;
};

static double x_of(const struct axes *a, double time)
{
	return LEFT + (time - a->from) / (a->to - a->from) * (WIDTH - LEFT - RIGHT);
}

/* of what is at the axis, or of its logarithm */
static double y_of(const struct axes *a, double shown)
{
	return HEIGHT - BOTTOM - (shown - a->bottom) / (a->top - a->bottom) *
				 (HEIGHT - TOP - BOTTOM);
}

static double y_of_value(const struct axes *a, double value)
{
	return y_of(a, a->log ? log10(value) : value / a->scale->by);
}

/* whole decades around all values, a microsecond to ten without any */
static void log_axis(struct axes *a, const struct chart *c)
{
	double most = largest(c), least = most;
	unsigned int l;
	size_t i;

	a->log = true;
	a->step = 1;
	for (l = 0; l < c->nr_lines; l++)
		for (i = 0; i < c->nr; i++)
			if (c->line[l].value[i] < least)
				least = c->line[l].value[i];
	a->bottom = most > 0 ? floor(log10(least)) : 3;
	a->top = most > 0 ? ceil(log10(most)) : 4;
	if (a->top <= a->bottom)
		a->top = a->bottom + 1;
}

static struct axes axes_of(const struct chart *c)
{
	double most = largest(c);
	bool whole = c->unit != CHART_BYTES && c->unit != CHART_NS;
	struct axes a = { .scale = scale_of(c->unit, most, whole ? 10 : 1) };

	most /= a.scale->by;
	a.step = most > 0 ? step_of(most, whole && a.scale->by == 1) : 1;
	a.top = most > 0 ? a.step * ceil(most / a.step - 1e-9) : 1;
	if (c->unit == CHART_NS)
		log_axis(&a, c);
	a.from = c->time[0];
	a.to = c->time[c->nr - 1];
	if (a.to - a.from < 10)
		a.to = a.from + 10;
	return a;
}

static void draw_values(FILE *out, const struct axes *a)
{
	char text[32];
	double v;

	fprintf(out, "<text x=\"4\" y=\"12\">%s</text>\n",
		a->log ? "each line ten times that below" : a->scale->name);
	for (v = a->bottom; v <= a->top + a->step / 100; v += a->step) {
		if (a->log)
			chart_text(CHART_NS, pow(10, v), text);
		else
			snprintf(text, sizeof(text), "%.6g", v);
		fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>"
			"<text x=\"%d\" y=\"%.1f\" class=\"value\">%s</text>\n",
			LEFT, WIDTH - RIGHT, y_of(a, v), y_of(a, v), LEFT - 8,
			y_of(a, v) + 4, text);
	}
}

static void draw_times(FILE *out, const struct axes *a)
{
	static const int steps[] = { 1, 2, 5, 10, 30, 60, 120, 300, 600, 1200 };
	unsigned int i = 0;
	char text[16];
	struct tm tm;
	time_t t;

	while ((a->to - a->from) / steps[i] > 8 && i < 9)
		i++;
	for (t = ceil(a->from / steps[i]) * steps[i]; t <= a->to; t += steps[i]) {
		localtime_r(&t, &tm);
		strftime(text, sizeof(text), steps[i] < 60 ? "%H:%M:%S" : "%H:%M", &tm);
		fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" class=\"grid\"/>"
			"<text x=\"%.1f\" y=\"%d\" class=\"time\">%s</text>\n",
			x_of(a, t), x_of(a, t), TOP, HEIGHT - BOTTOM, x_of(a, t),
			HEIGHT - 8, text);
	}
}

/* parted where there is no value, or nothing was recorded for a while */
static void draw_line(FILE *out, const struct chart *c, const struct axes *a,
		      unsigned int l)
{
	const double *value = c->line[l].value;
	double last = -INFINITY;
	size_t i;

	fprintf(out, "<path stroke=\"%s\" d=\"", colours[l]);
	for (i = 0; i < c->nr; i++) {
		if (isnan(value[i])) {
			last = -INFINITY;
			continue;
		}
		/* of no length: a point that has no neighbour is a dot */
		fprintf(out, c->time[i] - last > c->gap ? "M%.1f,%.1fh0" : "L%.1f,%.1f",
			x_of(a, c->time[i]), y_of_value(a, value[i]));
		last = c->time[i];
	}
	fputs("\"/>\n", out);
}

static void draw_legend(FILE *out, const struct chart *c)
{
	char most[32], last[32];
	unsigned int l;
	size_t i;

	fputs("<ul class=\"legend\">\n", out);
	for (l = 0; l < c->nr_lines; l++) {
		double top = 0, end = NAN;

		for (i = 0; i < c->nr; i++) {
			if (isnan(c->line[l].value[i]))
				continue;
			end = c->line[l].value[i];
			top = fmax(top, end);
		}
		fprintf(out, "<li><i style=\"background:%s\"></i>%s: ", colours[l],
			c->line[l].name);
		if (isnan(end))
			fputs("nothing recorded</li>\n", out);
		else
			fprintf(out, "last %s, at most %s</li>\n",
				chart_text(c->unit, end, last),
				chart_text(c->unit, top, most));
	}
	fputs("</ul>\n", out);
}

void chart_draw(FILE *out, const struct chart *c)
{
	struct axes a = axes_of(c);
	unsigned int l;

	fprintf(out, "<figure>\n<figcaption>%s</figcaption>\n", c->title);
	if (c->about)
		fprintf(out, "<p>%s</p>\n", c->about);
	draw_legend(out, c);
	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
		WIDTH, HEIGHT, c->title);
	draw_values(out, &a);
	draw_times(out, &a);
	for (l = 0; l < c->nr_lines; l++)
		draw_line(out, c, &a, l);
	fputs("</svg>\n</figure>\n", out);
}
