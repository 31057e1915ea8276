// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics of the node: what it lends, its counters, latencies.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "metrics.h"
#include "parse.h"

#define BYTES "bytes"
#define NODE(name, unit, member, kind, help) \
	{ "nswap_node_" name, unit, help, offsetof(struct view_node, member), kind }

static const struct metrics_field node_fields[] = {
	NODE("lent_max_bytes", BYTES, lent, METRICS_PAGES, "RAM lent to other nodes at most"),
	NODE("lent_bytes", BYTES, target, METRICS_PAGES, "RAM lent to other nodes now"),
	NODE("held_bytes", BYTES, ram, METRICS_PAGES,
	     "RAM full of pages of other nodes"),
	NODE("held_pages", NULL, held, METRICS_WIDE,
	     "pages of other nodes held: short ones share a page of RAM"),
	NODE("set_aside_bytes", BYTES, set_aside, METRICS_PAGES,
	     "RAM set aside for other nodes and not filled"),
	NODE("granted_bytes", BYTES, granted, METRICS_PAGES,
	     "RAM promised to other nodes, out of what is set aside"),
	NODE("surplus_bytes", BYTES, surplus, METRICS_PAGES,
	     "RAM held above what is lent, to be moved away"),
	NODE("owners", NULL, owners, METRICS_NUMBER,
	     "other nodes with a page or a session here"),
	NODE("members", NULL, members, METRICS_NUMBER,
	     "nodes whose keys it believes, 0 if all that know the secret"),
};

#define SWAPPED(name, unit, member, kind, help) \
	{ "nswap_swapped_" name, unit, help, offsetof(struct view_swapped, member), kind }

static const struct metrics_field swapped_fields[] = {
	SWAPPED("size_bytes", BYTES, size, METRICS_WIDE, "size of all devices"),
	SWAPPED("used_bytes", BYTES, used, METRICS_PAGES,
		"swap in use on all devices, by /proc/swaps"),
	SWAPPED("unbacked_bytes", BYTES, unbacked, METRICS_PAGES,
		"swap in use that no peer holds: zeros, on flash or at home, or still in RAM"),
};

#define FIELDS(table)	(sizeof(table) / sizeof(*(table)))

static void node_info(struct metrics *m, const struct view_node *n)
{
	char labels[METRICS_LABELS] = "", text[ADDR_TEXT];

	snprintf(text, sizeof(text), "%u", n->number);
	metrics_label(labels, "number", text);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)n->id);
	metrics_label(labels, "id", text);
	metrics_label(labels, "addr", text_addr(&n->addr, text));
	metrics_label(labels, "place", n->place);
	metrics_label(labels, "size", n->size);
	metrics_label(labels, "public", n->public);
	metrics_family(m, METRICS_INFO, "nswap_node", NULL,
		       "the node and its policies");
	metrics_whole(m, "_info", labels, 1);
}

static void counters(struct metrics *m, const struct view_stat *s)
{
	unsigned int i;

	for (i = 0; i < view_nr_counters; i++) {
		const struct view_counter *c = &view_counters[i];
		char name[64];

		if (c->now)	/* a field of the node */
			continue;
		snprintf(name, sizeof(name), "nswap_%s_%s", view_roles[c->role],
			 c->name);
		metrics_family(m, METRICS_COUNTER, name, NULL, c->help);
		metrics_whole(m, "_total", NULL, s->counter[i]);
	}
}

void metrics_node(struct metrics *m, const struct snap *s)
{
	size_t i;

	node_info(m, &s->stat.node);
	for (i = 0; i < FIELDS(node_fields); i++) {
		const struct metrics_field *f = &node_fields[i];

		metrics_family(m, METRICS_GAUGE, f->name, f->unit, f->help);
		metrics_field(m, f, NULL, &s->stat.node);
	}
	for (i = 0; i < FIELDS(swapped_fields); i++) {
		const struct metrics_field *f = &swapped_fields[i];

		metrics_family(m, METRICS_GAUGE, f->name, f->unit, f->help);
		metrics_field(m, f, NULL, &s->swapped);
	}
	counters(m, &s->stat);
}

/* in ns, as powers of two: 1 us to 17 s; what is below counts in the first */
#define FIRST_BUCKET	10
#define LAST_BUCKET	34

static void buckets(struct metrics *m, const struct meter_step *s,
		    const char *labels)
{
	char with[METRICS_LABELS], le[32];
	uint64_t below = 0;
	unsigned int b;

	for (b = 0; b <= LAST_BUCKET; b++) {
		below += b < s->hist.nr ? s->hist.bucket[b] : 0;
		if (b < FIRST_BUCKET)
			continue;
		snprintf(le, sizeof(le), "%.9g", (1ull << b) / 1e9);
		strcpy(with, labels);
		metrics_label(with, "le", le);
		metrics_whole(m, "_bucket", with, below);
	}
	strcpy(with, labels);
	metrics_label(with, "le", "+Inf");
	metrics_whole(m, "_bucket", with, s->pages);
}

static void step_labels(char labels[METRICS_LABELS], const struct meter_step *s)
{
	*labels = '\0';
	metrics_label(labels, "op", s->op);
	metrics_label(labels, "tier", s->tier);
}

/* with the knob latency on, or pages measured before it was switched off */
void metrics_latency(struct metrics *m, const struct snap *s)
{
	char labels[METRICS_LABELS];
	const struct meter_step *step;
	uint64_t pages = 0;

	for (step = s->steps; step < s->steps + s->nr_steps; step++)
		pages += step->pages;
	if (!pages)
		return;
	metrics_family(m, METRICS_HISTOGRAM, "nswap_latency_seconds", "seconds",
		       "time that page-outs and page-ins took");
	for (step = s->steps; step < s->steps + s->nr_steps; step++) {
		if (strcmp(step->step, "total") || !step->pages)
			continue;
		step_labels(labels, step);
		buckets(m, step, labels);
		metrics_whole(m, "_count", labels, step->pages);
		metrics_real(m, "_sum", labels, step->sum_ns / 1e9);
	}
	metrics_family(m, METRICS_SUMMARY, "nswap_step_latency_seconds",
		       "seconds", "time that each step of them took");
	for (step = s->steps; step < s->steps + s->nr_steps; step++) {
		if (!strcmp(step->step, "total") || !step->pages)
			continue;
		step_labels(labels, step);
		metrics_label(labels, "step", step->step);
		metrics_whole(m, "_count", labels, step->pages);
		metrics_real(m, "_sum", labels, step->sum_ns / 1e9);
	}
}
