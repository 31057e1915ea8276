// SPDX-License-Identifier: GPL-2.0
/*
 * check: is the configuration file right? apply: do what is missing.
 *
 * apply does the first step of its plan and plans again, so it ends alike wherever it
 * was interrupted before. A step is a command that can be typed. Two at once would each add
 * a device that is missing, so one waits for the other.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "args.h"
#include "conf_plan.h"
#include "ctl.h"
#include "json.h"
#include "lock.h"
#include "run.h"

#define LOCK_FILE	"/run/nswap-apply.lock"

static const struct option check_options[] = {
	{ "file", required_argument, NULL, 'f' },
	{ }
};

static void tell_wrong(const struct conf *c, const char *key)
{
	const struct conf_wrong *w;

	if (ctl_json)
		json_list(key);
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
		tell_wrong(&c, NULL);
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
	char *text, *word;
	size_t len = 0, i;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		ctl_refuse("no memory");
	for (i = 0; i < s->nr; i++) {
		word = run_quoted(s->word[i]);
		fprintf(f, "%s%s", i ? " " : "", word);
		free(word);
	}
	fclose(f);
	return text;
}

/* how far apply is */
static struct apply {
	struct conf conf;
	struct conf_plan plan;
	const struct conf_taken *taken;	/* at the beginning */
	size_t nr_taken;
	char **done;
	size_t nr_done;
	size_t before;		/* steps that the plan had when the last of these was begun */
	char *now;		/* the step that is under way, the first of the plan */
	size_t left;		/* where in the plan what was not begun is */
} apply;

/* all of it as one document; @why: NULL if nothing failed */
static void apply_tell_json(const char *why)
{
	const struct conf_taken *t;
	size_t i;

	json_object(NULL);
	json_list("taken");
	for (t = apply.taken; t < apply.taken + apply.nr_taken; t++) {
		json_object(NULL);
		json_string("device", t->device);
		json_string("section", t->section);
		json_string("why", t->why);
		json_end();
	}
	json_end();
	json_list("done");
	for (i = 0; i < apply.nr_done; i++)
		json_string(NULL, apply.done[i]);
	json_end();
	if (why) {
		json_object("failed");
		if (apply.now)
			json_string("command", apply.now);
		json_string("why", why);
		json_end();
	}
	json_list("left");
	for (i = apply.left; i < apply.plan.nr; i++)
		json_string(NULL, step_text(&apply.plan.step[i]));
	json_end();
	tell_wrong(&apply.conf, "wrong");
	json_end();
}

/* what a program has complained about, which is also said now; "" if that is not known */
static char *apply_complaints(int file)
{
	off_t len = file < 0 ? 0 : lseek(file, 0, SEEK_END);
	char *text = calloc(1, len > 0 ? len + 1 : 1);

	if (!text)
		ctl_refuse("no memory");
	if (len > 0 && pread(file, text, len, 0) == len)
		fputs(text, stderr);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/*
 * What it prints is left out, what it complains about is not: its first line is why it
 * failed.
 */
static void apply_step(const struct conf_step *s, const char *text)
{
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int err = ctl_json ? memfd_create("complaints", MFD_CLOEXEC) : -1;
	int status = out < 0 ? -1 : run_words(s->word, out, err < 0 ? STDERR_FILENO : err);
	char *why = apply_complaints(err);

	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
	if (status == -1)
		ctl_refuse("'%s' could not be started", text);
	if (status)
		ctl_refuse("'%s' failed%s%s%s: when that is mended, apply again", text,
			   *why ? " (" : "", why, *why ? ")" : "");
	free(why);
}

/* false if the file asks for what is wrong or cannot be done now */
static bool apply_plan(const char *file)
{
	struct conf_plan p = { };
	struct conf c;

	conf_read(&c, file);
	conf_check(&c);
	if (!c.nr_wrong)
		conf_plan(&c, &p);
	apply.conf = c;
	if (c.nr_wrong) {
		if (ctl_json)
			apply_tell_json(NULL);
		else
			tell_wrong(&c, NULL);
		return false;
	}
	apply.plan = p;
	apply.left = 0;
	return true;
}

static void apply_begin(bool dry)
{
	const struct conf_taken *t;
	size_t i;

	apply.taken = apply.plan.taken;
	apply.nr_taken = apply.plan.nr_taken;
	if (ctl_json)
		return;
	if (!apply.plan.nr)
		puts("nothing to do");
	for (t = apply.taken; t < apply.taken + apply.nr_taken; t++)
		printf("%s%s for [device %s]: it is there as the section would make it, and %s\n",
		       dry ? "would take: " : "takes ", t->device, t->section, t->why);
	for (i = 0; i < apply.plan.nr && dry; i++)
		printf("would do: %s\n", step_text(&apply.plan.step[i]));
}

/* false as that of apply_plan() */
static bool apply_next(const char *file)
{
	apply.now = step_text(&apply.plan.step[0]);
	apply.left = 1;
	/* two devices that are alike take the same command, and one of them is there then */
	if (apply.nr_done && apply.plan.nr >= apply.before &&
	    !strcmp(apply.now, apply.done[apply.nr_done - 1]))
		ctl_refuse("'%s' was done and has not changed anything", apply.now);
	apply.before = apply.plan.nr;
	apply_step(&apply.plan.step[0], apply.now);
	if (!ctl_json)
		puts(apply.now);
	apply.done = realloc(apply.done, (apply.nr_done + 1) * sizeof(*apply.done));
	if (!apply.done)
		ctl_refuse("no memory");
	apply.done[apply.nr_done++] = apply.now;
	apply.now = NULL;
	return apply_plan(file);
}

/* until no other one is half way; a file that is wrong is told at once */
static void apply_wait(const char *file)
{
	struct conf c;

	conf_read(&c, file);
	conf_check(&c);
	if (!c.nr_wrong)
		lock_until_end(LOCK_FILE);
}

int cmd_apply(int argc, char **argv)
{
	const char *file = CONF_FILE;
	bool dry = false;
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
	if (ctl_json)
		ctl_before_refusal = apply_tell_json;
	if (!dry)
		apply_wait(file);
	if (!apply_plan(file))
		return 1;
	apply_begin(dry);
	while (apply.plan.nr && !dry)
		if (!apply_next(file))
			return 1;
	if (ctl_json)
		apply_tell_json(NULL);
	return 0;
}
