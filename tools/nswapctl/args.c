// SPDX-License-Identifier: GPL-2.0
/*
 * Options and values on the command line.
 */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ctl.h"
#include "parse.h"

/* getopt_long() whose complaints are sentences of ours */
int arg_option(int argc, char **argv, const struct option *options)
{
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, ":", options, NULL);
	if (option == ':')
		ctl_usage("'%s' needs a value", argv[optind - 1]);
	if (option == '?')
		ctl_usage("'%s' is no option of this command",
			  argv[optind - 1]);
	return option;
}

uint64_t arg_number(const char *text, const char *what, uint64_t max)
{
	uint64_t value;

	if (!parse_number(text, max, &value))
		ctl_usage("'%s' is no %s", text, what);
	return value;
}

/* a number that is not 0 */
uint64_t arg_count(const char *text, const char *what, uint64_t max)
{
	uint64_t value = arg_number(text, what, max);

	if (!value)
		ctl_usage("'%s' is no %s, 1 to %llu are", text, what,
			  (unsigned long long)max);
	return value;
}

/* seconds between two looks, at most ARG_LONGEST */
double arg_interval(const char *text, double shortest)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end || !(s >= shortest && s <= ARG_LONGEST))
		ctl_usage("'%s' is no interval, %g to %d seconds are", text, shortest,
			  ARG_LONGEST);
	return s;
}

uint64_t arg_size(const char *text)
{
	uint64_t bytes;

	if (!parse_size(text, &bytes))
		ctl_usage("'%s' is no size, write 64M or 1G", text);
	return bytes;
}

/* a size that is whole pages; anything else is refused */
uint64_t arg_pages(const char *text)
{
	uint64_t bytes = arg_size(text);

	if (bytes % PAGE_BYTES)
		ctl_refuse("what is lent must be a multiple of 4 KiB");
	return bytes / PAGE_BYTES;
}

/* a device's name as in /dev, with the folder or without */
const char *arg_in_dev(const char *text)
{
	return strncmp(text, "/dev/", 5) ? text : text + 5;
}

/* what --device names; @before: what it named before, NULL for nothing */
const char *arg_device_name(const char *text, const char *before)
{
	if (before)
		ctl_usage("one device at a time");
	text = arg_in_dev(text);
	if (!*text)
		ctl_usage("name a device with --device");
	return text;
}

/* takes --device out of the command line; NULL if it is not there */
const char *arg_device(int *argc, char ***argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ }
	};
	const char *device = NULL;

	while (arg_option(*argc, *argv, options) != -1)
		device = arg_device_name(optarg, device);
	*argc -= optind - 1;
	*argv += optind - 1;
	return device;
}

void arg_no_more(int argc, char **argv, int used)
{
	if (argc > used)
		ctl_usage("'%s' is one argument too many", argv[used]);
}
