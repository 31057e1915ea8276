// SPDX-License-Identifier: GPL-2.0
/*
 * nswapctl: control of nswap. Which command is meant, and how commands end.
 *
 * --json, --node, --help and --version are taken out of the command line
 * wherever they stand before "--"; a command sees only what is its own.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "parse.h"

bool ctl_json;
uint32_t ctl_node;
void (*ctl_before_refusal)(const char *why);
static const struct ctl_command *current;

void ctl_refuse(const char *format, ...)
{
	void (*before)(const char *why) = ctl_before_refusal;
	va_list args;
	char *why;

	va_start(args, format);
	if (vasprintf(&why, format, args) < 0)
		why = "no memory";
	va_end(args);
	/* it may refuse itself */
	ctl_before_refusal = NULL;
	if (before)
		before(why);
	fflush(stdout);
	fprintf(stderr, "nswapctl: %s\n", why);
	exit(1);
}

void ctl_usage(const char *format, ...)
{
	va_list args;

	fputs("nswapctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry 'nswapctl %s%s--help'.\n",
		current ? current->name : "", current ? " " : "");
	exit(2);
}

void ctl_warn(const char *format, ...)
{
	va_list args;

	fputs("nswapctl: warning: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int help_all(void)
{
	unsigned int i;

	printf("usage: nswapctl [--json] [--node N] COMMAND [ARGUMENTS]\n\n"
	       "Swap over the idle RAM of other nodes: control of the node of this network\n"
	       "namespace.\n\n");
	for (i = 0; i < ctl_nr_commands; i++)
		printf("  %-15s %s\n", ctl_commands[i].name, ctl_commands[i].summary);
	printf("\n  --json       print JSON\n"
	       "  --node N     act on the node of that number, as 'nodes' lists it; only the\n"
	       "               initial network namespace sees other nodes than its own\n"
	       "  --help       after a command: its arguments\n"
	       "  --version    print the version\n\n"
	       "SIZE is in bytes, or with K, M, G or T behind it in units of 1024.\n"
	       "Exit code: 0 done, 1 refused or failed, 2 wrong usage.\n");
	return 0;
}

static int help_one(const struct ctl_command *c)
{
	printf("usage: nswapctl [--json] %s%s%s\n\n%c%s.\n", c->name,
	       *c->args ? " " : "", c->args, *c->summary & ~0x20,
	       c->summary + 1);
	if (*c->help)
		printf("\n%s", c->help);
	return 0;
}

/* the words of @argv that are the command's name; 0 if they are not */
static int matches(const struct ctl_command *c, int argc, char **argv)
{
	const char *space = strchr(c->name, ' ');
	size_t len = space ? (size_t)(space - c->name) : strlen(c->name);

	if (strncmp(argv[0], c->name, len) || argv[0][len])
		return 0;
	if (!space)
		return 1;
	return argc > 1 && !strcmp(argv[1], space + 1) ? 2 : 0;
}

static int help_group(const char *group)
{
	size_t len = strlen(group);
	unsigned int i;

	printf("usage: nswapctl [--json] %s COMMAND [ARGUMENTS]\n\n", group);
	for (i = 0; i < ctl_nr_commands; i++)
		if (!strncmp(ctl_commands[i].name, group, len))
			printf("  %-15s %s\n", ctl_commands[i].name,
			       ctl_commands[i].summary);
	return 0;
}

static bool is_group(const char *word)
{
	size_t len = strlen(word);
	unsigned int i;

	for (i = 0; i < ctl_nr_commands; i++)
		if (!strncmp(ctl_commands[i].name, word, len) &&
		    ctl_commands[i].name[len] == ' ')
			return true;
	return false;
}

static void take_node(const char *text)
{
	uint64_t value;

	if (!text || !parse_number(text, UINT32_MAX, &value) || !value)
		ctl_usage("--node needs the number of a node");
	ctl_node = value;
}

/* what stands in front of or between the words of a command */
struct global_options {
	bool help;
	bool version;
};

/* takes them out of @argv; returns how many words are left */
static int take_globals(int argc, char **argv, struct global_options *g)
{
	int i, n = 0;

	for (i = 0; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--json"))
			ctl_json = true;
		else if (!strcmp(argv[i], "--node"))
			take_node(argv[++i]);
		else if (!strncmp(argv[i], "--node=", 7))
			take_node(argv[i] + 7);
		else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			g->help = true;
		else if (!strcmp(argv[i], "--version"))
			g->version = true;
		else
			argv[n++] = argv[i];
	}
	while (i < argc)
		argv[n++] = argv[i++];
	argv[n] = NULL;
	return n;
}

/* the others see what is none of theirs in arg_option() */
static void refuse_options(int argc, char **argv)
{
	int i;

	if (strstr(current->args, "--"))
		return;
	for (i = 0; i < argc && strcmp(argv[i], "--"); i++)
		if (!strncmp(argv[i], "--", 2))
			ctl_usage("'%s' is no option of this command", argv[i]);
}

static int run_command(int words, int argc, char **argv)
{
	int code;

	refuse_options(argc, argv);
	/* the last word of the name stands where getopt wants the program's */
	code = current->run(argc - words + 1, argv + words - 1);
	if (fflush(stdout) || ferror(stdout))
		ctl_refuse("cannot write to standard output");
	return code;
}

int main(int argc, char **argv)
{
	struct global_options g = { .help = false };
	unsigned int c;
	int words;

	argc = take_globals(argc - 1, ++argv, &g);
	if (g.version) {
		puts("nswapctl " NSWAP_VERSION);
		return 0;
	}
	if (!argc && g.help)
		return help_all();
	if (!argc)
		ctl_usage("name a command");

	for (c = 0; c < ctl_nr_commands; c++) {
		words = matches(&ctl_commands[c], argc, argv);
		if (!words)
			continue;
		current = &ctl_commands[c];
		return g.help ? help_one(current) :
				run_command(words, argc, argv);
	}
	if (!is_group(argv[0]))
		ctl_usage("'%s' is no command", argv[0]);
	if (g.help)
		return help_group(argv[0]);
	if (argc > 1)
		ctl_usage("'%s %s' is no command", argv[0], argv[1]);
	ctl_usage("'%s' needs a command behind it", argv[0]);
}
