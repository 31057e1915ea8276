// SPDX-License-Identifier: GPL-2.0
/*
 * Command psi: memory pressure, read here because a module cannot.
 *
 * A value that is not renewed would count forever, so a feeder that is told to
 * end takes its own back: from before it sets the first it takes the signals
 * that tell it only where it waits. What it left behind if it was killed can
 * only make a node lend less, never more.
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

/* hold back the signals to end; those that are ignored, as by nohup, are left out */
static void hold_ends(sigset_t *ends)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;
	size_t i;

	sigemptyset(ends);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], NULL, &now);
		if (now.sa_handler != SIG_IGN)
			sigaddset(ends, signals[i]);
	}
	sigprocmask(SIG_BLOCK, ends, NULL);
}

int cmd_psi(int argc, char **argv)
{
	static const struct option options[] = {
		{ "every", required_argument, NULL, 'e' },
		{ }
	};
	struct timespec every = { };
	sigset_t ends;
	int option;

	while ((option = arg_option(argc, argv, options)) != -1)
		every.tv_sec = arg_count(optarg, "number of seconds", 3600);
	arg_no_more(argc, argv, optind);
	if (every.tv_sec)
		hold_ends(&ends);
	ctl_set_knob("psi", pressure());
	if (!every.tv_sec)
		return 0;
	while (sigtimedwait(&ends, NULL, &every) < 0)
		ctl_set_knob("psi", pressure());
	ctl_set_knob("psi", 0);
	return 0;
}
