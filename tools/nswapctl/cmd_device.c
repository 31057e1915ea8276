// SPDX-License-Identifier: GPL-2.0
/*
 * Commands about devices: add, del, list.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "nl.h"
#include "view.h"

#define NODE_WAIT_MS	5000	/* for the name in /dev to appear */

static const struct option add_options[] = {
	{ "size", required_argument, NULL, 's' },
	{ }
};

static void take_device(struct nlattr **attrs, void *arg)
{
	view_take_device(attrs, arg);
}

static void wait_for_name(const char *path)
{
	const struct timespec step = { .tv_nsec = 10 * 1000 * 1000 };
	int waited;

	for (waited = 0; waited < NODE_WAIT_MS; waited += 10) {
		if (!access(path, F_OK))
			return;
		nanosleep(&step, NULL);
	}
	ctl_refuse("the device was added but there is no %s, is devtmpfs mounted on /dev?",
		   path);
}

static void warn_if_bigger(const struct view_device *d)
{
	char size[32], lent[32];
	uint64_t bytes = view_lent_to_us();

	if (bytes >= d->size)
		return;
	ctl_warn("the peers lend %s together, less than the %s of this device, and it has no home: what does not fit stays in RAM",
		 text_size(bytes, lent, sizeof(lent)),
		 text_size(d->size, size, sizeof(size)));
}

static void print_device(const struct view_device *d)
{
	json_object(NULL);
	json_string("device", d->name);
	json_number("size_bytes", d->size);
	json_number("map_bytes", d->map_bytes);
	json_number("instance", d->instance);
	json_number("slots_remote", d->remote);
	json_number("slots_lost", d->lost);
	json_bool("in_use", d->in_use);
	json_end();
}

int cmd_device_add(int argc, char **argv)
{
	struct view_device d = { .name = "" };
	char path[80], size[32], map[32];
	bool sized = false;
	uint64_t bytes = 0;
	struct nl_msg *msg;

	while (arg_option(argc, argv, add_options) != -1) {
		bytes = arg_size(optarg);
		sized = true;
	}
	arg_no_more(argc, argv, optind);
	if (!sized)
		ctl_usage("name the size of the device with --size");
	msg = ctl_request(NSWAP_CMD_DEVICE_ADD);
	ctl_put_wide(msg, NSWAP_A_SIZE, bytes);
	ctl_call(msg, take_device, &d);
	snprintf(path, sizeof(path), "/dev/%s", d.name);
	wait_for_name(path);
	if (ctl_json)
		print_device(&d);
	else
		printf("%s, %s, slot map %s of RAM\n", path,
		       text_size(d.size, size, sizeof(size)),
		       text_size(d.map_bytes, map, sizeof(map)));
	fflush(stdout);
	warn_if_bigger(&d);
	return 0;
}

int cmd_device_del(int argc, char **argv)
{
	const char *name, *why;
	struct nl_msg *msg;

	if (argc < 2)
		ctl_usage("name the device to delete");
	arg_no_more(argc, argv, 2);
	name = argv[1];
	if (!strncmp(name, "/dev/", 5))
		name += 5;
	msg = ctl_request(NSWAP_CMD_DEVICE_DEL);
	ctl_put_text(msg, NSWAP_A_DEVICE_NAME, name);
	why = ctl_try_call(msg, NULL, NULL);
	if (why)
		ctl_refuse("%s: %s", name, why);
	return 0;
}

int cmd_device_list(int argc, char **argv)
{
	struct view_device *devices, *d;
	char size[32], map[32];
	size_t nr;

	arg_no_more(argc, argv, 1);
	nr = view_devices(&devices);
	if (ctl_json)
		json_list(NULL);
	else
		printf("%-10s %9s %9s %8s %12s %10s  %s\n", "DEVICE", "SIZE",
		       "MAP", "INSTANCE", "ON-PEERS", "LOST", "IN-USE");
	for (d = devices; d < devices + nr; d++) {
		if (ctl_json) {
			print_device(d);
			continue;
		}
		printf("%-10s %9s %9s %8u %12llu %10llu  %s\n", d->name,
		       text_size(d->size, size, sizeof(size)),
		       text_size(d->map_bytes, map, sizeof(map)), d->instance,
		       (unsigned long long)d->remote,
		       (unsigned long long)d->lost, d->in_use ? "yes" : "no");
	}
	if (ctl_json)
		json_end();
	free(devices);
	return 0;
}
