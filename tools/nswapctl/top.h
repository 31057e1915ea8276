/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The picture that nswapctl top shows.
 */
#ifndef NSWAPCTL_TOP_H
#define NSWAPCTL_TOP_H

#include <stdbool.h>
#include <stdio.h>

#include "snap.h"

enum top_view { TOP_ALL, TOP_PEERS, TOP_DEVICES, TOP_VIEWS };
enum top_sort { TOP_BY_NAME, TOP_BY_USED, TOP_BY_FREE, TOP_SORTS };

extern const char *const top_sorts[TOP_SORTS];

/**
 * struct top - what is to be shown, and how
 * @now: the node now; its lists are sorted in place
 * @was: before, what happened since is shown; NULL the first time
 * @first: rows of the lists that are scrolled over
 * @latency: are latencies measured?
 */
struct top {
	struct snap *now;
	const struct snap *was;
	double interval;
	enum top_view view;
	enum top_sort sort;
	unsigned int first;
	bool latency;
};

/* @rows 0: as many lines as there are, without control sequences */
void top_draw(FILE *out, struct top *t, unsigned int rows, unsigned int cols);
void top_json(const struct top *t);

#endif
