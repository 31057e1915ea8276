// SPDX-License-Identifier: GPL-2.0
/*
 * Command owner: tell the node whether the owner of this machine is away, for the size
 * policy of that name.
 *
 * The node is told of each change at once, again and again that the owner is away, and that
 * the owner is here when this ends: a node that is not told lends nothing.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "nl.h"
#include "owner.h"
#include "view.h"

#define LOOK_MS		1000
#define AGAIN_S		5	/* the node is told so again, */
#define AWAY_S		30	/* for it believes that for so long */

static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static void owner_feed(bool away)
{
	ctl_set_knob("owner_away_s", away ? AWAY_S : 0);
}

/* the policy may be chosen later; without it nothing comes of all this */
static void check_policy(void)
{
	struct view_policy *policies;
	size_t i, nr = view_policies(&policies, NULL);

	for (i = 0; i < nr; i++)
		if (!strcmp(policies[i].kind, "size") && policies[i].current &&
		    strcmp(policies[i].name, "owner"))
			ctl_warn("the node's size policy is %s: it lends by the owner once you say nswapctl policy size owner",
				 policies[i].name);
}

static void owner_say(bool away, const char *why)
{
	if (ctl_json) {
		json_object(NULL);
		json_bool("away", away);
		json_string("why", why);
		json_end();
	} else {
		printf("the owner is %s: %s\n", away ? "away" : "here", why);
	}
	fflush(stdout);
}

static void owner_follow(const struct owner_rules *rules, bool dry)
{
	bool away = false, was = false, first = true;
	char why[OWNER_WHY];
	struct owner_seen seen;
	double told = 0;

	for (; !ended; first = false) {
		owner_look(&seen, first ? 0 : LOOK_MS, was);
		away = owner_away(rules, &seen, was, why);
		if (!dry && (away != was || first || (away && seen.now - told >= AGAIN_S))) {
			owner_feed(away);
			told = seen.now;
		}
		if (away != was || first)
			owner_say(away, why);
		was = away;
	}
	if (!dry)
		owner_feed(false);
}

int cmd_owner(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rules", required_argument, NULL, 'r' },
		{ "input", required_argument, NULL, 'i' },
		{ "terminals", required_argument, NULL, 't' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "dry-run", no_argument, NULL, 'n' },
		{ }
	};
	const char *file = access(OWNER_FILE, F_OK) ? NULL : OWNER_FILE;
	const char *inputs = "/dev/input", *terminals = "/dev", *cpu = "/proc/stat";
	struct owner_rules rules;
	bool dry = false;
	int option;

	while ((option = arg_option(argc, argv, options)) != -1) {
		if (option == 'r')
			file = optarg;
		else if (option == 'i')
			inputs = optarg;
		else if (option == 't')
			terminals = optarg;
		else if (option == 'c')
			cpu = optarg;
		else
			dry = true;
	}
	arg_no_more(argc, argv, optind);
	owner_read_rules(&rules, file);
	if (!dry)
		check_policy();
	json_lines();
	signal(SIGINT, end);
	signal(SIGTERM, end);
	signal(SIGHUP, end);
	signal(SIGPIPE, SIG_IGN);
	owner_look_at(rules.input_idle ? inputs : NULL, terminals, cpu);
	owner_follow(&rules, dry);
	return 0;
}
