// SPDX-License-Identifier: GPL-2.0
/*
 * device protect: what of a device survives the death of a peer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "ctl.h"
#include "nl.h"
#include "view.h"

#define STEP_MS		100
#define PATIENCE_S	15	/* without a page more that is protected */

static const struct option protect_options[] = {
	{ "no-wait", no_argument, NULL, 'n' },
	{ }
};

static void ask(const char *name, const char *mode, struct view_device *d)
{
	struct nl_msg *msg = ctl_request(NSWAP_CMD_DEVICE_SET);
	const char *why;

	ctl_put_text(msg, NSWAP_A_DEVICE_NAME, name);
	ctl_put_text(msg, NSWAP_A_PROTECT, mode);
	memset(d, 0, sizeof(*d));
	why = ctl_try_call(msg, view_take_device, d);
	if (why)
		ctl_refuse("%s: %s", name, why);
}

/* the device as it is now; false if it is gone, or protected otherwise */
static bool look(const char *name, const char *mode, struct view_device *d)
{
	struct view_device *devices;
	size_t i, nr = view_devices(&devices);
	bool found = false;

	for (i = 0; i < nr && !found; i++) {
		found = !strcmp(devices[i].name, name) &&
			!strcmp(devices[i].protect, mode);
		if (found)
			*d = devices[i];
	}
	free(devices);
	return found;
}

static void wait_for_copies(const char *name, struct view_device *d)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000 * 1000 };
	time_t said = time(NULL), since = said;
	uint64_t least = d->exposed;
	char mode[sizeof(d->protect)];

	/* as it is shown, which may say more than what was typed */
	memcpy(mode, d->protect, sizeof(mode));
	while (d->exposed) {
		nanosleep(&step, NULL);
		if (!look(name, mode, d))
			ctl_refuse("%s: its protection was changed meanwhile", name);
		if (d->exposed < least) {
			least = d->exposed;
			since = time(NULL);
		}
		if (time(NULL) > said) {
			said = time(NULL);
			fprintf(stderr, "%llu pages are exposed\n",
				(unsigned long long)d->exposed);
		}
		if (time(NULL) - since > PATIENCE_S)
			ctl_refuse("%s: %llu pages stay exposed, is protect_mib_s 0, does the home or a peer not answer, or have fewer than two peers room? see: nswapctl peers",
				   name, (unsigned long long)d->exposed);
	}
}

int cmd_device_protect(int argc, char **argv)
{
	struct view_device d;
	const char *name, *mode;
	bool wait = true;

	while (arg_option(argc, argv, protect_options) != -1)
		wait = false;
	if (optind + 1 >= argc)
		ctl_usage("name the device and its protection: none, home, mirror, parity:N+1 or parity:N+2");
	arg_no_more(argc, argv, optind + 2);
	name = arg_in_dev(argv[optind]);
	mode = argv[optind + 1];
	ask(name, mode, &d);
	if (wait && strcmp(mode, "none"))
		wait_for_copies(name, &d);
	return 0;
}
