/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record that nswapctl report draws: one JSON object a line, each what was
 * to be seen of the node at one moment.
 */
#ifndef NSWAPCTL_RECORD_H
#define NSWAPCTL_RECORD_H

#include <stddef.h>

#include "parse.h"
#include "snap.h"

#define RECORD_SPAN	3600	/* s that a report is of */

enum record_field {
	RECORD_TIME,		/* s since 1970 */
	RECORD_EVERY,		/* s between two records */
	RECORD_LENT_MAX,	/* pages, as all but what says otherwise */
	RECORD_LENT,
	RECORD_HELD,
	RECORD_REMOTE,
	RECORD_FLASH,
	RECORD_HOME,
	RECORD_EXPOSED,		/* of protected devices */
	RECORD_LOST,
	RECORD_PEERS_UP,	/* peers */
	RECORD_PEERS_LENT,
	RECORD_PEERS_FREE,
	RECORD_OUT,		/* counters from here on */
	RECORD_IN,
	RECORD_MOVED_IN,
	RECORD_MOVED_OUT,
	RECORD_MOVED_OWN,
	RECORD_READ_ERRORS,
	RECORD_WRITE_ERRORS,
	RECORD_HEDGED,
	RECORD_OUT_P50,		/* ns since the record before, 0 if not measured */
	RECORD_OUT_P99,
	RECORD_IN_P50,
	RECORD_IN_P99,
	RECORD_FIELDS
};

struct record {
	double v[RECORD_FIELDS];
	char node[ADDR_TEXT];
};

/* until a signal says so; refused if @path cannot be written */
void record_keep(const char *path, unsigned int every);

/* the last RECORD_SPAN of it, to be freed; returns how many */
size_t record_read(const char *path, struct record **list);

/*
 * What @field grew by a second from @was to @r; not a number if a record is
 * missing in between, or the node began to count again.
 */
double record_rate(const struct record *r, const struct record *was,
		   enum record_field field);

#endif
