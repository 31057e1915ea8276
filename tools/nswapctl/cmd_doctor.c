// SPDX-License-Identifier: GPL-2.0
/*
 * doctor: looks for what is wrong with this node and its surroundings, says it in one
 * sentence each, and names the command that mends it. The checks are in doctor_*.c, in
 * tables; this runs them.
 *
 * Only a problem makes the exit code 1.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "conf.h"
#include "ctl.h"
#include "doctor.h"

#define HEAR_MS		3000	/* three announcements, unless told otherwise */

static const struct option doctor_options[] = {
	{ "fix", no_argument, NULL, 'f' },
	{ "yes", no_argument, NULL, 'y' },
	{ }
};

size_t doctor_alive(const struct patient *p)
{
	size_t i, nr = 0;

	for (i = 0; i < p->nr_peers; i++)
		nr += view_peer_alive(&p->peers[i]);
	return nr;
}

static void hear_peers(struct patient *p)
{
	const struct timespec step = { .tv_nsec = 100 * 1000 * 1000 };
	int waited;

	for (waited = 0;; waited += 100) {
		p->nr_peers = view_peers(&p->peers);
		if (doctor_alive(p) || waited >= HEAR_MS)
			return;
		free(p->peers);
		nanosleep(&step, NULL);
	}
}

/* does the configuration file name keys? */
static bool keys_configured(void)
{
	char full[4096];
	struct conf c;
	size_t i;

	if (access(doctor_path(full, sizeof(full), CONF_FILE), R_OK))
		return false;
	conf_read(&c, full);
	for (i = 0; i < c.nr; i++)
		if (c.section[i].kind == CONF_NODE &&
		    (conf_value(&c.section[i], "key") || conf_value(&c.section[i], "secret")))
			return true;
	return false;
}

static uint64_t write_errors(void)
{
	struct view_stat stat;

	view_get_stat(&stat);
	return view_count(&stat, VIEW_CLIENT, "write_errors");
}

static void meet(struct patient *p)
{
	char full[4096];

	p->loaded = !access(doctor_path(full, sizeof(full), "/proc/nswap"), F_OK);
	if (doctor_is_copy()) {
		doctor_copied(p);
	} else if (p->loaded && view_find_node(&p->node)) {
		p->up = true;
		p->nr_devices = view_devices(&p->devices);
		p->write_errors = write_errors();
		hear_peers(p);
	}
	p->keys = *p->node.public || keys_configured();
	doctor_begin("node");
	if (p->up)
		doctor_fine("up");
	else if (p->loaded)
		doctor_find(DOCTOR_PROBLEM, false, "nswapctl up --secret FILE --lend 1G",
			    "no node is up in this network namespace");
	else
		doctor_find(DOCTOR_PROBLEM, true, "modprobe nswap",
			    "the nswap module is not loaded");
}

static void examine(void)
{
	const struct doctor_check *const tables[] = {
		doctor_peers, doctor_ways, doctor_swap, doctor_vm, doctor_host,
	};
	const struct doctor_check *c;
	struct patient p = {};
	size_t i;

	meet(&p);
	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (c = tables[i]; c->name; c++) {
			if ((c->when != DOCTOR_ALWAYS && !p.up) ||
			    (c->when == DOCTOR_LIVE && doctor_is_copy()))
				continue;
			doctor_begin(c->name);
			c->look(&p);
		}
	free(p.peers);
	free(p.devices);
}

/* who may say that something is to be done? */
static void may_mend(bool yes)
{
	if (doctor_is_copy())
		ctl_refuse("--fix would mend this machine, and " DOCTOR_ROOT " names a copy of another");
	if (!yes && (ctl_json || !isatty(STDIN_FILENO)))
		ctl_refuse("--fix asks before each command, and there is no terminal to answer at: give --yes as well, or leave --fix out");
}

int cmd_doctor(int argc, char **argv)
{
	bool fix = false, yes = false;
	int option;

	while ((option = arg_option(argc, argv, doctor_options)) != -1) {
		fix |= option == 'f';
		yes |= option == 'y';
	}
	arg_no_more(argc, argv, optind);
	if (ctl_node)
		ctl_usage("doctor looks from inside: run it in the node's network namespace");
	if (yes && !fix)
		ctl_usage("--yes answers what --fix asks");
	if (fix)
		may_mend(yes);
	examine();
	if (fix && doctor_mend(yes)) {
		doctor_forget();
		if (!ctl_json)
			puts("\nLooking again:");
		examine();
	}
	if (ctl_json)
		doctor_json();
	return doctor_count(DOCTOR_PROBLEM) ? 1 : 0;
}
