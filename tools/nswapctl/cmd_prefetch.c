// SPDX-License-Identifier: GPL-2.0
/*
 * Command prefetch: what the prefetchers of a node, or of a device, do.
 *
 * To the module these are policies whose kind begins with "prefetch-" and
 * knobs whose name begins with "prefetch_"; here both are keys.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "nl.h"
#include "view.h"

#define KIND	"prefetch-"
#define KNOB	"prefetch_"

static const char *key_of(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) ? NULL : name + len;
}

static void json_choices(const struct view_policy *p, size_t nr,
			 const char *device)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (key_of(p[i].kind, KIND) && p[i].current)
			json_string(key_of(p[i].kind, KIND), p[i].name);
	if (device)
		json_list("own");
	for (i = 0; i < nr && device; i++)
		if (key_of(p[i].kind, KIND) && p[i].own)
			json_string(NULL, key_of(p[i].kind, KIND));
	if (device)
		json_end();
	json_object("known");
	for (i = 0; i < nr; i++) {
		const char *key = key_of(p[i].kind, KIND);

		if (!key)
			continue;
		if (!i || strcmp(p[i].kind, p[i - 1].kind))
			json_list(key);
		json_string(NULL, p[i].name);
		if (i + 1 == nr || strcmp(p[i].kind, p[i + 1].kind))
			json_end();
	}
	json_end();
}

static void print_choices(const struct view_policy *p, size_t nr,
			  const char *device)
{
	size_t i;

	printf("%-12s %-16s   %s\n", "KEY", "VALUE", "MEANING");
	for (i = 0; i < nr; i++)
		if (key_of(p[i].kind, KIND))
			printf("%-12s %-16s %c %s\n", key_of(p[i].kind, KIND),
			       p[i].name, view_mark(&p[i], device), p[i].help);
}

static int show(const char *device)
{
	struct view_policy *policies;
	struct view_knob *knobs, *k;
	size_t nr = view_policies(&policies, device);
	size_t nr_knobs = view_knobs(&knobs);

	if (ctl_json) {
		json_object(NULL);
		json_choices(policies, nr, device);
	} else {
		print_choices(policies, nr, device);
	}
	for (k = knobs; k < knobs + nr_knobs; k++) {
		const char *key = key_of(k->name, KNOB);

		if (key && ctl_json)
			json_number(key, k->value);
		else if (key)
			printf("%-12s %-16u %c %s\n", key, k->value,
			       device ? '+' : '*', k->help);
	}
	if (ctl_json)
		json_end();
	free(policies);
	free(knobs);
	return 0;
}

static bool is_knob(const char *key)
{
	struct view_knob *knobs, *k;
	size_t nr = view_knobs(&knobs);
	bool found = false;

	for (k = knobs; k < knobs + nr; k++)
		found = found || (key_of(k->name, KNOB) &&
				  !strcmp(key_of(k->name, KNOB), key));
	free(knobs);
	return found;
}

static int set(const char *key, const char *value, const char *device)
{
	struct nl_msg *msg;
	char name[256];

	if (is_knob(key)) {
		uint32_t number = arg_number(value, "number that it takes",
					     UINT32_MAX);

		snprintf(name, sizeof(name), KNOB "%s", key);
		msg = ctl_request_of(NSWAP_CMD_NODE_SET, device);
		ctl_put_knob(msg, name, number);
	} else {
		if (snprintf(name, sizeof(name), KIND "%s", key) >=
		    (int)sizeof(name))
			ctl_usage("there is no such key");
		msg = ctl_request_of(NSWAP_CMD_NODE_SET, device);
		ctl_put_policy(msg, name, value);
	}
	ctl_call(msg, NULL, NULL);
	return 0;
}

int cmd_prefetch(int argc, char **argv)
{
	const char *device = arg_device(&argc, &argv);

	if (argc == 1)
		return show(device);
	if (!strcmp(argv[1], "show")) {
		arg_no_more(argc, argv, 2);
		return show(device);
	}
	if (!strcmp(argv[1], "on") || !strcmp(argv[1], "off")) {
		arg_no_more(argc, argv, 2);
		return set("enable", argv[1], device);
	}
	if (strcmp(argv[1], "set"))
		ctl_usage("prefetch knows show, on, off and set, not '%s'",
			  argv[1]);
	if (argc < 4)
		ctl_usage("name a key and a value");
	arg_no_more(argc, argv, 4);
	return set(argv[2], argv[3], device);
}
