// SPDX-License-Identifier: GPL-2.0
/*
 * Rules for when the owner of a machine is away, after those by which Condor and Dodo
 * recruit workstations: nothing typed for some minutes, and little that programs do.
 *
 * Not the load average: it counts the threads by which this node serves others, so lending
 * would end itself.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "ctl.h"
#include "owner.h"
#include "parse.h"

#define IDLE_S		(15 * 60)
#define IDLE_MOST	(7 * 24 * 3600)
#define CPU_PCT		30
#define CPU_MOST	100000
#define CPU_BACK	2	/* times as much, but at once, and the owner is back */

#define DURATIONS	"0, or 1s to 7d, as 90s, 15m or 2h"
#define PERCENT		"0 to 100000, percent of one processor"
#define SPANS		"up to 8 spans, as 09:00-12:30, 22:00-02:00"
#define KEYS		"input-idle, terminal-idle, cpu-below, present"

/* a file that is being read */
struct rules_at {
	const char *file;
	unsigned int line;
};

static void rules_refuse(const struct rules_at *at, const char *what, const char *text,
			 const char *allowed)
{
	ctl_refuse("%s:%u: %s '%s'; allowed: %s", at->file, at->line, what, text, allowed);
}

static unsigned int rules_duration(const struct rules_at *at, char *text)
{
	static const char units[] = "smhd";
	static const unsigned int seconds[] = { 1, 60, 3600, 86400 };
	char *end = text + strspn(text, "0123456789"), unit = *end;
	const char *known = unit ? strchr(units, unit) : NULL;
	bool right = !unit || (known && !end[1]);
	uint64_t value = 0, each = known ? seconds[known - units] : 1;

	*end = '\0';
	right = right && parse_number(text, IDLE_MOST, &value) && (known || !value) &&
		value * each <= IDLE_MOST;
	*end = unit;
	if (!right)
		rules_refuse(at, "no duration", text, DURATIONS);
	return value * each;
}

/* "HH:MM"; negative if it is none */
static int rules_minute(const char *text)
{
	int hour, minute, used = 0;

	if (!isdigit((unsigned char)*text) || !strchr(text, ':') ||
	    !isdigit((unsigned char)strchr(text, ':')[1]) ||
	    sscanf(text, "%2d:%2d%n", &hour, &minute, &used) != 2 || text[used] ||
	    hour < 0 || hour > 24 || minute < 0 || minute > 59 || (hour == 24 && minute))
		return -1;
	return hour * 60 + minute;
}

static void rules_present(const struct rules_at *at, struct owner_rules *rules, char *text)
{
	char *span, *save, *dash;

	for (span = strtok_r(text, " \t,", &save); span; span = strtok_r(NULL, " \t,", &save)) {
		struct owner_span *s = &rules->present[rules->nr_present];

		dash = strchr(span, '-');
		if (!dash || rules->nr_present == OWNER_HOURS)
			rules_refuse(at, "no hours", span, SPANS);
		*dash = '\0';
		s->from = rules_minute(span);
		s->to = rules_minute(dash + 1);
		*dash = '-';
		if (s->from < 0 || s->to < 0 || s->from == s->to)
			rules_refuse(at, "no hours", span, SPANS);
		rules->nr_present++;
	}
}

static void rules_set(const struct rules_at *at, struct owner_rules *rules, const char *key,
		      char *value)
{
	uint64_t pct;

	if (!strcmp(key, "input-idle")) {
		rules->input_idle = rules_duration(at, value);
	} else if (!strcmp(key, "terminal-idle")) {
		rules->terminal_idle = rules_duration(at, value);
	} else if (!strcmp(key, "present")) {
		rules_present(at, rules, value);
	} else if (!strcmp(key, "cpu-below")) {
		if (!parse_number(value, CPU_MOST, &pct))
			rules_refuse(at, "no percentage", value, PERCENT);
		rules->cpu_below = pct;
	} else {
		rules_refuse(at, "no rule", key, KEYS);
	}
}

void owner_read_rules(struct owner_rules *rules, const char *file)
{
	struct rules_at at = { .file = file };
	char *text = NULL, *line, *equals;
	size_t room = 0;
	FILE *f;

	*rules = (struct owner_rules){
		.input_idle = IDLE_S, .terminal_idle = IDLE_S, .cpu_below = CPU_PCT,
	};
	if (!file)
		return;
	f = fopen(file, "r");
	if (!f)
		ctl_refuse("%s: %s", file, strerror(errno));
	while (getline(&text, &room, f) >= 0) {
		at.line++;
		line = conf_trim(text);
		if (!*line || *line == '#')
			continue;
		equals = strchr(line, '=');
		if (!equals)
			rules_refuse(&at, "no RULE = VALUE in", line, KEYS);
		*equals = '\0';
		rules_set(&at, rules, conf_trim(line), conf_trim(equals + 1));
	}
	if (ferror(f))
		ctl_refuse("%s: %s", file, strerror(errno));
	free(text);
	fclose(f);
}

static bool span_has(const struct owner_span *s, int minute)
{
	if (s->from < s->to)
		return minute >= s->from && minute < s->to;
	return minute >= s->from || minute < s->to;
}

/* seen so lately that the owner is there; a device that is not there says nothing */
static bool seen_lately(unsigned int limit, double idle)
{
	return limit && idle >= 0 && idle < limit;
}

bool owner_away(const struct owner_rules *rules, const struct owner_seen *seen, bool away,
		char why[OWNER_WHY])
{
	size_t i;

	for (i = 0; i < rules->nr_present; i++) {
		if (span_has(&rules->present[i], seen->minute)) {
			snprintf(why, OWNER_WHY, "these are hours of the rule present");
			return false;
		}
	}
	if (seen_lately(rules->input_idle, seen->input_idle)) {
		snprintf(why, OWNER_WHY, "a key or the mouse, %.0f s ago", seen->input_idle);
		return false;
	}
	if (seen_lately(rules->terminal_idle, seen->terminal_idle)) {
		snprintf(why, OWNER_WHY, "something typed in a terminal, %.0f s ago",
			 seen->terminal_idle);
		return false;
	}
	if (rules->cpu_below && isinf(seen->cpu_minute)) {
		snprintf(why, OWNER_WHY, "what programs use is not known yet");
		return false;
	}
	if (rules->cpu_below && away && seen->cpu_now >= CPU_BACK * rules->cpu_below) {
		snprintf(why, OWNER_WHY, "programs use %.0f %% of a processor", seen->cpu_now);
		return false;
	}
	if (rules->cpu_below && !away && seen->cpu_minute >= rules->cpu_below) {
		snprintf(why, OWNER_WHY, "programs use %.0f %% of a processor, in a minute's mean",
			 seen->cpu_minute);
		return false;
	}
	snprintf(why, OWNER_WHY, "no rule says that the owner is here");
	return true;
}
