/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is missing for the node to be as the configuration file says.
 */
#ifndef NSWAPCTL_CONF_PLAN_H
#define NSWAPCTL_CONF_PLAN_H

#include "conf.h"

#define STEP_WORDS	64

/* a command: "nswapctl", "mkswap" or "swapon" and its arguments, NULL at the end */
struct conf_step {
	const char *word[STEP_WORDS];
	unsigned int nr;
};

/* a device that is there, and that a section takes for its own to swap to it */
struct conf_taken {
	const char *device;
	const char *section;
	const char *why;
};

struct conf_plan {
	struct conf_step *step;
	size_t nr;
	struct conf_taken *taken;
	size_t nr_taken;
};

/* complaints about what cannot be changed now go to @c; the plan is of no use then */
void conf_plan(struct conf *c, struct conf_plan *p);

#endif
