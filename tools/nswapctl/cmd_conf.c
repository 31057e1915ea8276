// SPDX-License-Identifier: GPL-2.0
/*
 * check: is the configuration file right? apply: do what is missing.
 *
 * apply does the first step of its plan and plans again, so it ends alike wherever it
 * was interrupted before. A step is a command that can be typed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "conf_plan.h"
#include "ctl.h"
#include "json.h"
#include "run.h"

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

static const struct option apply_options[] = {
	{ "file", required_argument, NULL, 'f' },
	{ "dry-run", no_argument, NULL, 'n' },
	{ }
};

static char *step_text(const struct conf_step *s)
{
	size_t len = 0, i;
	char *text;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		ctl_refuse("no memory");
	for (i = 0; i < s->nr; i++)
		fprintf(f, "%s%s", i ? " " : "", s->word[i]);
	fclose(f);
	return text;
}

/* what it prints is left out, what it complains about is not */
static void step_run(const struct conf_step *s, const char *text)
{
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int status = out < 0 ? -1 : run_words(s->word, out);

	if (out >= 0)
		close(out);
	if (status == -1)
		ctl_refuse("'%s' could not be started", text);
	if (status)
		ctl_refuse("'%s' failed: when that is mended, apply again", text);
}

static void step_tell(const char *text, bool dry)
{
	if (ctl_json)
		json_string(NULL, text);
	else
		printf("%s%s\n", dry ? "would do: " : "", text);
}

static void apply_tell_taken(const struct conf_plan *p, bool dry)
{
	const struct conf_taken *t;

	for (t = p->taken; t < p->taken + p->nr_taken && !ctl_json; t++)
		printf("%s%s for [device %s]: it is there as the section would make it, and %s\n",
		       dry ? "would take: " : "takes ", t->device, t->section, t->why);
}

/* false if the file asks for what is wrong or cannot be done now */
static bool plan_again(struct conf *c, struct conf_plan *p, const char *file)
{
	conf_read(c, file);
	conf_check(c);
	if (!c->nr_wrong)
		conf_plan(c, p);
	if (!c->nr_wrong)
		return true;
	tell_wrong(c);
	return false;
}

int cmd_apply(int argc, char **argv)
{
	const char *file = CONF_FILE;
	char *text, *last = NULL;
	struct conf_plan p;
	bool dry = false;
	struct conf c;
	size_t i;
	int option;

	while ((option = arg_option(argc, argv, apply_options)) != -1) {
		if (option == 'n')
			dry = true;
		else
			file = optarg;
	}
	arg_no_more(argc, argv, optind);
	if (ctl_node)
		ctl_usage("the file is of the node of this network namespace, not of a number");
	if (!plan_again(&c, &p, file))
		return 1;
	if (ctl_json)
		json_list(NULL);
	else if (!p.nr)
		puts("nothing to do");
	apply_tell_taken(&p, dry);
	for (i = 0; i < p.nr && dry; i++)
		step_tell(step_text(&p.step[i]), true);
	while (p.nr && !dry) {
		text = step_text(&p.step[0]);
		if (last && !strcmp(text, last))
			ctl_refuse("'%s' was done and has not changed anything", text);
		step_run(&p.step[0], text);
		step_tell(text, false);
		last = text;
		if (!plan_again(&c, &p, file))
			return 1;
	}
	if (ctl_json)
		json_end();
	return 0;
}
