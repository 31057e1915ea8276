/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics as text, for Prometheus and what understands it.
 */
#ifndef NSWAPCTL_METRICS_H
#define NSWAPCTL_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "snap.h"

/**
 * struct metrics - where they go, and how
 * @out: stream
 * @plain: the older text format of Prometheus, which node_exporter's textfile
 *	collector reads; else OpenMetrics 1.0
 * @name: of the family that is being written
 */
struct metrics {
	FILE *out;
	bool plain;
	const char *name;
};

enum metrics_type { METRICS_GAUGE, METRICS_COUNTER, METRICS_HISTOGRAM,
		    METRICS_SUMMARY, METRICS_INFO };

/* labels, each with a comma behind it */
#define METRICS_LABELS	1024

void metrics_family(struct metrics *m, enum metrics_type type,
		    const char *name, const char *unit, const char *help);
void metrics_label(char labels[METRICS_LABELS], const char *key,
		   const char *value);
void metrics_whole(struct metrics *m, const char *suffix, const char *labels,
		   uint64_t value);
void metrics_real(struct metrics *m, const char *suffix, const char *labels,
		  double value);

void metrics_node(struct metrics *m, const struct snap *s);
void metrics_lists(struct metrics *m, const struct snap *s);
void metrics_latency(struct metrics *m, const struct snap *s);

/* a member of a struct as a gauge */
struct metrics_field {
	const char *name;
	const char *unit;	/* that the name ends in, or NULL */
	const char *help;
	size_t at;		/* offset of the member */
	enum { METRICS_PAGES,	/* uint64_t, shown in bytes */
	       METRICS_WIDE,	/* uint64_t */
	       METRICS_MS,	/* uint64_t, shown in seconds */
	       METRICS_NUMBER,	/* uint32_t */
	       METRICS_FLAG	/* bool */
	} kind;
};

void metrics_field(struct metrics *m, const struct metrics_field *f,
		   const char *labels, const void *from);

#endif
