// SPDX-License-Identifier: GPL-2.0
/*
 * Command psi: memory pressure, read here because a module cannot.
 *
 * A value that is not renewed would count forever, so a feeder that is told to
 * end takes its own back. What it left behind if it was killed can only make a
 * node lend less, never more.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "ctl.h"
#include "nl.h"

#define PRESSURE "/proc/pressure/memory"

static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

/* "some avg10=1.23 …" in hundredths of a percent */
static uint32_t pressure(void)
{
	FILE *f = fopen(PRESSURE, "r");
	double avg10;
	int got;

	if (!f)
		ctl_refuse("no " PRESSURE ": this kernel keeps no pressure information, or was booted with psi=0");
	got = fscanf(f, "some avg10=%lf", &avg10);
	fclose(f);
	if (got != 1 || avg10 < 0 || avg10 > 100)
		ctl_refuse(PRESSURE " makes no sense");
	return avg10 * 100 + 0.5;
}

int cmd_psi(int argc, char **argv)
{
	static const struct option options[] = {
		{ "every", required_argument, NULL, 'e' },
		{ }
	};
	struct timespec every = { };
	int option;

	while ((option = arg_option(argc, argv, options)) != -1)
		every.tv_sec = arg_count(optarg, "number of seconds", 3600);
	arg_no_more(argc, argv, optind);
	ctl_set_knob("psi", pressure());
	if (!every.tv_sec)
		return 0;
	signal(SIGINT, end);
	signal(SIGTERM, end);
	while (!ended && !nanosleep(&every, NULL))
		ctl_set_knob("psi", pressure());
	ctl_set_knob("psi", 0);
	return 0;
}
