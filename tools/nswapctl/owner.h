/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is the owner of this machine away? The rules, and what they look at.
 */
#ifndef NSWAPCTL_OWNER_H
#define NSWAPCTL_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define OWNER_FILE	"/etc/nswap/owner.conf"
#define OWNER_HOURS	8	/* spans of a day */
#define OWNER_WHY	120

/* minutes of the day, from included, to not; from > to: over midnight */
struct owner_span {
	int from;
	int to;
};

/**
 * struct owner_rules - when the owner counts as away; 0 and no spans: not looked at
 * @input_idle: seconds without a key, the mouse or a touch
 * @terminal_idle: seconds without anything typed in a terminal, remote ones too
 * @cpu_below: percent of one processor that programs use, the mean of a minute
 * @present: in these hours the owner is not away
 */
struct owner_rules {
	unsigned int input_idle;
	unsigned int terminal_idle;
	unsigned int cpu_below;
	struct owner_span present[OWNER_HOURS];
	size_t nr_present;
};

/**
 * struct owner_seen - what is seen of the owner
 * @input_idle: seconds since the last key, or since looking began; negative: no devices
 * @terminal_idle: likewise
 * @cpu_minute: percent of one processor, mean of about a minute; infinite: not known yet
 * @cpu_now: the same of some seconds
 * @minute: of the day
 * @now: seconds that this machine has been up
 */
struct owner_seen {
	double now;
	double input_idle;
	double terminal_idle;
	double cpu_minute;
	double cpu_now;
	int minute;
};

/* the defaults, then what a file says; NULL: only the defaults; refuses a wrong file */
void owner_read_rules(struct owner_rules *rules, const char *file);

/* is the owner away? @away: was the last answer; @why: a phrase for the log */
bool owner_away(const struct owner_rules *rules, const struct owner_seen *seen, bool away,
		char why[OWNER_WHY]);

/*
 * Begin to look, at the devices and terminals in these folders, and a file as /proc/stat.
 * @inputs: NULL: not looked at. Refuses devices that this user may not read.
 */
void owner_look_at(const char *inputs, const char *terminals, const char *cpu);

/* wait so long, or until a key comes, if that is to end it, and say what is seen then */
void owner_look(struct owner_seen *seen, int ms, bool key_ends);

#endif
