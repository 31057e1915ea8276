/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the checks of 'nswapctl doctor' share: what they look at, and how they tell what
 * they found.
 */
#ifndef NSWAPCTL_DOCTOR_H
#define NSWAPCTL_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "view.h"

/* what is read instead of /proc and the like, if it is set: a copy from some machine */
#define DOCTOR_ROOT	"NSWAP_DOCTOR_ROOT"

enum doctor_level {
	DOCTOR_NOTE,		/* true of this machine, and may be meant so */
	DOCTOR_ADVICE,		/* would be better otherwise */
	DOCTOR_PROBLEM,		/* is wrong: the exit code is 1 */
};

/* what the checks look at, gathered once */
struct patient {
	bool loaded;
	bool up;
	bool keys;		/* it has keys, or is configured to */
	struct view_node node;
	struct view_peer *peers;
	size_t nr_peers;
	struct view_device *devices;
	size_t nr_devices;
	uint64_t write_errors;	/* page-outs that failed since it came up */
};

enum doctor_when {
	DOCTOR_ALWAYS,
	DOCTOR_UP,		/* if a node is up */
	DOCTOR_LIVE,		/* if a node is up and this is no copy */
};

/* one check; the name is that of its findings */
struct doctor_check {
	const char *name;
	enum doctor_when when;
	void (*look)(const struct patient *p);
};

/* each ends with an entry without a name */
extern const struct doctor_check doctor_peers[];
extern const struct doctor_check doctor_ways[];
extern const struct doctor_check doctor_swap[];
extern const struct doctor_check doctor_vm[];
extern const struct doctor_check doctor_host[];

/* the check whose findings are told from now on */
void doctor_begin(const char *check);

/*
 * One finding of it. @fix is a command, or NULL when nothing can be done; it is @safe if it
 * can be done here and now, by /bin/sh, and hurts nothing that runs.
 */
void doctor_find(enum doctor_level level, bool safe, const char *fix, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* nothing is wrong */
void doctor_fine(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* has this check found a problem or an advice? */
bool doctor_found(void);

/* how many findings of a level, or worse, there are */
size_t doctor_count(enum doctor_level level);

/* all there are, as JSON; forget them */
void doctor_json(void);
void doctor_forget(void);

/* do the safe ones, each if @yes or if the terminal says so; returns how many were done */
size_t doctor_mend(bool yes);

/*
 * Reading. Paths are as on the machine that is looked at, of which this may be a copy;
 * false or NULL if there is no such file.
 */
bool doctor_is_copy(void);
char *doctor_path(char *buf, size_t len, const char *path);
FILE *doctor_open(const char *path);
bool doctor_line(const char *path, char *buf, size_t len);
bool doctor_number(const char *path, unsigned long long *value);
/* what a command prints; of a copy it is in the file @name of the folder "commands" */
FILE *doctor_command(const char *name, const char *command);
void doctor_command_end(FILE *f);

/* a node, its peers and devices as a copy of /proc/nswap has them */
bool doctor_copied(struct patient *p);

/* the interface by which packets to an address leave; needs room for IF_NAMESIZE */
bool doctor_interface(const struct ctl_addr *addr, char *name);

size_t doctor_alive(const struct patient *p);

#endif
