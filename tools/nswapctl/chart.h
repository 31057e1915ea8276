/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A figure of lines over time, as SVG inside of HTML.
 */
#ifndef NSWAPCTL_CHART_H
#define NSWAPCTL_CHART_H

#include <stddef.h>
#include <stdio.h>

#define CHART_LINES	4

enum chart_unit { CHART_BYTES, CHART_NS, CHART_PAGES, CHART_PAGES_S, CHART_PEERS };

/**
 * struct chart - lines over time
 * @title: what it shows
 * @about: a sentence below it, or NULL
 * @unit: of all lines
 * @nr: points of each line
 * @time: s since 1970 of each point, ascending
 * @gap: s between two points from which on they are not joined
 * @line: names and values; one that is no number is not drawn
 */
struct chart {
	const char *title;
	const char *about;
	enum chart_unit unit;
	size_t nr;
	const double *time;
	double gap;
	struct {
		const char *name;
		double *value;
	} line[CHART_LINES];
	unsigned int nr_lines;
};

void chart_draw(FILE *out, const struct chart *c);

/* "12.5 MiB", "340 us"; returns @buf */
const char *chart_text(enum chart_unit unit, double value, char buf[32]);

#endif
