/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the commands of nswapctl share: how to end, and the table of them (commands.c).
 *
 * Exit codes: 0 done, 1 refused or failed (one sentence on standard error),
 * 2 the command line makes no sense.
 */
#ifndef NSWAPCTL_CTL_H
#define NSWAPCTL_CTL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct ctl_command - a command
 * @name: one word, or two for a command of a group ("device add")
 * @args: its arguments, for the usage line
 * @summary: one line
 * @help: the rest of its help text
 * @run: gets the words after the name, with argv[0] in front; returns the
 *	exit code
 */
struct ctl_command {
	const char *name;
	const char *args;
	const char *summary;
	const char *help;
	int (*run)(int argc, char **argv);
};

extern const struct ctl_command ctl_commands[];
extern const unsigned int ctl_nr_commands;

extern bool ctl_json;		/* --json was given */
extern uint32_t ctl_node;	/* --node was given: act on that one, else 0 */

/* what is done before the sentence is said, as giving the terminal back */
extern void (*ctl_before_refusal)(const char *why);

void ctl_refuse(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void ctl_usage(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void ctl_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

int cmd_up(int argc, char **argv);
int cmd_down(int argc, char **argv);
int cmd_nodes(int argc, char **argv);
int cmd_drain(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_lend(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_weight(int argc, char **argv);
int cmd_psi(int argc, char **argv);
int cmd_owner(int argc, char **argv);
int cmd_device_add(int argc, char **argv);
int cmd_device_del(int argc, char **argv);
int cmd_device_list(int argc, char **argv);
int cmd_device_protect(int argc, char **argv);
int cmd_device_rekey(int argc, char **argv);
int cmd_device_place(int argc, char **argv);
int cmd_tmpfs_create(int argc, char **argv);
int cmd_tmpfs_list(int argc, char **argv);
int cmd_tmpfs_remove(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_unexport(int argc, char **argv);
int cmd_peers(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_prefetch(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_key_generate(int argc, char **argv);
int cmd_key_show(int argc, char **argv);
int cmd_key_trust(int argc, char **argv);
int cmd_key_revoke(int argc, char **argv);
int cmd_key_list(int argc, char **argv);
int cmd_key_apply(int argc, char **argv);

#endif
