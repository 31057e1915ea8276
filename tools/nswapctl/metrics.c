// SPDX-License-Identifier: GPL-2.0
/*
 * How metrics are written. OpenMetrics names the family of a counter without
 * _total and its samples with it, and has units; the older format of
 * Prometheus names both alike, and has neither units nor infos.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "metrics.h"
#include "parse.h"

static const char *const types[] = { "gauge", "counter", "histogram", "summary",
				     "info" };

static const char *family_suffix(const struct metrics *m, enum metrics_type type)
{
	if (!m->plain)
		return "";
	return type == METRICS_COUNTER ? "_total" :
	       type == METRICS_INFO ? "_info" : "";
}

void metrics_family(struct metrics *m, enum metrics_type type,
		    const char *name, const char *unit, const char *help)
{
	const char *suffix = family_suffix(m, type);

	m->name = name;
	fprintf(m->out, "# HELP %s%s %c%s.\n", name, suffix,
		toupper((unsigned char)*help), help + 1);
	fprintf(m->out, "# TYPE %s%s %s\n", name, suffix,
		m->plain && type == METRICS_INFO ? "gauge" : types[type]);
	if (unit && !m->plain)
		fprintf(m->out, "# UNIT %s %s\n", name, unit);
}

/* appends a label; one that does not fit is cut short */
void metrics_label(char labels[METRICS_LABELS], const char *key,
		   const char *value)
{
	char *to = labels + strlen(labels), *end = labels + METRICS_LABELS - 4;

	to += snprintf(to, end - to, "%s=\"", key);
	for (; *value && to < end; value++) {
		if (*value == '"' || *value == '\\')
			*to++ = '\\';
		*to++ = (unsigned char)*value < ' ' ? ' ' : *value;
	}
	strcpy(to, "\",");
}

static void head(const struct metrics *m, const char *suffix, const char *labels)
{
	int len = labels ? strlen(labels) : 0;

	fprintf(m->out, "%s%s", m->name, suffix);
	if (len)
		fprintf(m->out, "{%.*s}", len - 1, labels);
}

void metrics_whole(struct metrics *m, const char *suffix, const char *labels,
		   uint64_t value)
{
	head(m, suffix, labels);
	fprintf(m->out, " %" PRIu64 "\n", value);
}

void metrics_real(struct metrics *m, const char *suffix, const char *labels,
		  double value)
{
	head(m, suffix, labels);
	fprintf(m->out, " %.9g\n", value);
}

void metrics_field(struct metrics *m, const struct metrics_field *f,
		   const char *labels, const void *from)
{
	const char *at = (const char *)from + f->at;
	uint64_t wide = 0;
	uint32_t number;

	if (f->kind == METRICS_FLAG) {
		wide = *(const bool *)at;
	} else if (f->kind == METRICS_NUMBER) {
		memcpy(&number, at, sizeof(number));
		wide = number;
	} else {
		memcpy(&wide, at, sizeof(wide));
	}
	if (f->kind == METRICS_MS)
		metrics_real(m, "", labels, wide / 1000.0);
	else
		metrics_whole(m, "", labels,
			      f->kind == METRICS_PAGES ? wide * PAGE_BYTES : wide);
}
