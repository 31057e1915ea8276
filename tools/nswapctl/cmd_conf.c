// SPDX-License-Identifier: GPL-2.0
/*
 * check: is the configuration file right?
 */
#include <stdio.h>

#include "args.h"
#include "conf.h"
#include "ctl.h"
#include "json.h"

static const struct option check_options[] = {
	{ "file", required_argument, NULL, 'f' },
	{ }
};

static void tell_wrong(const struct conf *c)
{
	const struct conf_wrong *w;

	if (ctl_json)
		json_list(NULL);
	for (w = c->wrong; w < c->wrong + c->nr_wrong; w++) {
		if (!ctl_json) {
			fprintf(stderr, "%s:%u: %s; allowed: %s\n", c->file, w->line, w->what,
				w->allowed);
			continue;
		}
		json_object(NULL);
		json_string("file", c->file);
		json_number("line", w->line);
		json_string("wrong", w->what);
		json_string("allowed", w->allowed);
		json_end();
	}
	if (ctl_json)
		json_end();
}

int cmd_check(int argc, char **argv)
{
	const char *file = CONF_FILE;
	struct conf c;

	while (arg_option(argc, argv, check_options) != -1)
		file = optarg;
	arg_no_more(argc, argv, optind);
	conf_read(&c, file);
	conf_check(&c);
	if (c.nr_wrong || ctl_json)
		tell_wrong(&c);
	else
		printf("%s: nothing is wrong\n", file);
	return c.nr_wrong ? 1 : 0;
}
