/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options and values on the command line; what makes no sense ends the
 * program with exit code 2.
 */
#ifndef NSWAPCTL_ARGS_H
#define NSWAPCTL_ARGS_H

#include <getopt.h>
#include <stdint.h>

#define ARG_LONGEST	3600	/* s, of an interval */

int arg_option(int argc, char **argv, const struct option *options);
uint64_t arg_number(const char *text, const char *what, uint64_t max);
uint64_t arg_count(const char *text, const char *what, uint64_t max);
double arg_interval(const char *text, double shortest);
uint64_t arg_size(const char *text);
uint64_t arg_pages(const char *text);
const char *arg_in_dev(const char *text);
const char *arg_device_name(const char *text, const char *before);
const char *arg_device(int *argc, char ***argv);
void arg_no_more(int argc, char **argv, int used);

#endif
