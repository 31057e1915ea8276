// SPDX-License-Identifier: GPL-2.0
/*
 * device rekey: another key for the pages of a sealed device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "nl.h"
#include "view.h"

#define STEP_MS		100
#define PATIENCE_S	15	/* without a page more that has the new key */

static const struct option rekey_options[] = {
	{ "no-wait", no_argument, NULL, 'n' },
	{ }
};

static void rekey_ask(const char *name, struct view_device *d)
{
	struct nl_msg *msg = ctl_request(NSWAP_CMD_DEVICE_REKEY);
	const char *why;

	ctl_put_text(msg, NSWAP_A_DEVICE_NAME, name);
	memset(d, 0, sizeof(*d));
	why = ctl_try_call(msg, view_take_device, d);
	if (why)
		ctl_refuse("%s: %s", name, why);
}

/* the device as it is now */
static void rekey_look(const char *name, uint32_t instance, struct view_device *d)
{
	struct view_device *devices;
	size_t i, nr = view_devices(&devices);
	bool found = false;

	for (i = 0; i < nr && !found; i++) {
		found = !strcmp(devices[i].name, name) &&
			devices[i].instance == instance;
		if (found)
			*d = devices[i];
	}
	free(devices);
	if (!found)
		ctl_refuse("%s: it was deleted meanwhile", name);
}

static void rekey_give_up(const char *name, const struct view_device *d)
{
	if (d->altered)
		ctl_refuse("%s: %llu pages are left under the old key, of which %llu were changed at a peer, home or flash, or on the way: the change ends when these are written again, freed or lost",
			   name, (unsigned long long)d->old_key,
			   (unsigned long long)d->altered);
	ctl_refuse("%s: %llu pages stay under the old key, is protect_mib_s 0, does a peer, home or flash not answer, or has no peer room? The change goes on by itself; see: nswapctl peers",
		   name, (unsigned long long)d->old_key);
}

static void rekey_wait(const char *name, struct view_device *d)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000 * 1000 };
	time_t said = time(NULL), since = said;
	uint64_t least = d->old_key;

	while (d->rekeying) {
		nanosleep(&step, NULL);
		rekey_look(name, d->instance, d);
		/* the last page is followed by a search for others */
		if (d->old_key < least || !d->old_key) {
			least = d->old_key;
			since = time(NULL);
		}
		if (d->rekeying && time(NULL) > said) {
			said = time(NULL);
			fprintf(stderr, "%llu pages left under the old key\n",
				(unsigned long long)d->old_key);
		}
		if (time(NULL) - since > PATIENCE_S)
			rekey_give_up(name, d);
	}
}

int cmd_device_rekey(int argc, char **argv)
{
	struct view_device d;
	const char *name;
	bool wait = true;

	while (arg_option(argc, argv, rekey_options) != -1)
		wait = false;
	if (optind >= argc)
		ctl_usage("name the device whose key is to be changed");
	arg_no_more(argc, argv, optind + 1);
	name = arg_in_dev(argv[optind]);
	rekey_ask(name, &d);
	if (wait)
		rekey_wait(name, &d);
	if (!ctl_json)
		return 0;
	json_object(NULL);
	json_string("device", d.name);
	json_bool("rekeying", d.rekeying);
	json_number("old_key_pages", d.old_key);
	json_number("old_key_unread", d.unread);
	json_number("old_key_altered", d.altered);
	json_end();
	return 0;
}
