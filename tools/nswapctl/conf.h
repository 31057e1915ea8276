/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration file: what its lines say, and what is wrong with them.
 */
#ifndef NSWAPCTL_CONF_H
#define NSWAPCTL_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONF_FILE	"/etc/nswap/nswap.conf"

enum conf_kind { CONF_NODE, CONF_KNOBS, CONF_DEVICE, CONF_KINDS };

/* KEY = VALUE */
struct conf_entry {
	unsigned int line;
	char *key;
	char *value;
};

/* [node], [knobs] or [device NAME] */
struct conf_section {
	enum conf_kind kind;
	unsigned int line;
	char *name;		/* of a device */
	struct conf_entry *entry;
	size_t nr;
};

struct conf_wrong {
	unsigned int line;
	char *what;
	const char *allowed;
};

struct conf {
	const char *file;
	struct conf_section *section;
	size_t nr;
	struct conf_wrong *wrong;
	size_t nr_wrong;
};

/* note what is wrong in a line; 0 is the file as a whole */
void conf_complain(struct conf *c, unsigned int line, const char *allowed,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* a text without blanks at both ends, and the end of the line, also as CR LF */
char *conf_trim(char *text);

/* the file, with complaints about lines that are none; refuses one that cannot be read */
void conf_read(struct conf *c, const char *file);

/* complaints about keys, values, and what does not go together */
void conf_check(struct conf *c);

/* the value of a key, NULL without one; of a boolean */
const struct conf_entry *conf_find(const struct conf_section *s, const char *key);
const char *conf_value(const struct conf_section *s, const char *key);
bool conf_on(const struct conf_section *s, const char *key, bool without);

#endif
