// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that change a node that is up: lend, policy, set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "nl.h"
#include "view.h"

int cmd_lend(int argc, char **argv)
{
	struct nl_msg *msg;
	uint64_t pages;

	if (argc < 2)
		ctl_usage("name the size to lend");
	arg_no_more(argc, argv, 2);
	pages = arg_pages(argv[1]);
	msg = ctl_request(NSWAP_CMD_NODE_SET);
	ctl_put_wide(msg, NSWAP_A_LEND_PAGES, pages);
	ctl_call(msg, NULL, NULL);
	return 0;
}

/* the devices that have chosen it themselves */
static void json_devices(const struct view_policy *p,
			 const struct view_device *devices, size_t nr)
{
	size_t i, j;

	json_list("devices");
	for (i = 0; i < nr; i++)
		for (j = 0; j < devices[i].nr_own; j++)
			if (!strcmp(devices[i].own[j].kind, p->kind) &&
			    !strcmp(devices[i].own[j].name, p->name))
				json_string(NULL, devices[i].name);
	json_end();
}

static int list_policies(const char *device)
{
	struct view_policy *policies, *p;
	size_t nr = view_policies(&policies, device);
	struct view_device *devices = NULL;
	size_t i, nr_devices = device ? 0 : view_devices(&devices);

	if (ctl_json)
		json_list(NULL);
	else
		printf("%-7s %-16s   %s\n", "POLICY", "NAME", "MEANING");
	for (p = policies; p < policies + nr; p++) {
		if (!strncmp(p->kind, "prefetch-", 9))
			continue;
		if (!ctl_json) {
			printf("%-7s %-16s %c %s\n", p->kind, p->name,
			       view_mark(p, device), p->help);
			continue;
		}
		json_object(NULL);
		json_string("kind", p->kind);
		json_string("name", p->name);
		json_bool("current", p->current);
		if (device)
			json_bool("own", p->own);
		else
			json_devices(p, devices, nr_devices);
		json_string("help", p->help);
		json_end();
	}
	if (ctl_json)
		json_end();
	for (i = 0; i < nr_devices && !ctl_json; i++) {
		if (!devices[i].nr_own)
			continue;
		printf("%s has its own: ", devices[i].name);
		view_print_own(&devices[i]);
	}
	free(devices);
	free(policies);
	return 0;
}

int cmd_policy(int argc, char **argv)
{
	const char *device = arg_device(&argc, &argv);
	struct nl_msg *msg;

	if (argc == 1)
		return list_policies(device);
	if (strcmp(argv[1], "place") && strcmp(argv[1], "size") &&
	    strcmp(argv[1], "read"))
		ctl_usage("there is no policy for '%s'", argv[1]);
	if (argc == 2)
		ctl_usage("name the %s policy", argv[1]);
	arg_no_more(argc, argv, 3);
	msg = ctl_request_of(NSWAP_CMD_NODE_SET, device);
	ctl_put_policy(msg, argv[1], argv[2]);
	ctl_call(msg, NULL, NULL);
	return 0;
}

static int list_knobs(void)
{
	struct view_knob *knobs, *k;
	size_t nr = view_knobs(&knobs);

	if (ctl_json)
		json_list(NULL);
	else
		printf("%-18s %8s  %s\n", "KNOB", "VALUE", "MEANING");
	for (k = knobs; k < knobs + nr; k++) {
		if (!ctl_json) {
			printf("%-18s %8u  %s (%u to %u, default %u)\n",
			       k->name, k->value, k->help, k->lowest,
			       k->highest, k->def);
			continue;
		}
		json_object(NULL);
		json_string("knob", k->name);
		json_number("value", k->value);
		json_number("lowest", k->lowest);
		json_number("highest", k->highest);
		json_number("default", k->def);
		json_string("help", k->help);
		json_end();
	}
	if (ctl_json)
		json_end();
	free(knobs);
	return 0;
}

int cmd_set(int argc, char **argv)
{
	uint32_t value;

	if (argc == 1)
		return list_knobs();
	if (argc == 2)
		ctl_usage("name a value for '%s'", argv[1]);
	arg_no_more(argc, argv, 3);
	value = arg_number(argv[2], "number that a knob takes", UINT32_MAX);
	ctl_set_knob(argv[1], value);
	return 0;
}
