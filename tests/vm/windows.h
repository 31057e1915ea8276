/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the plugins profile.c and lines.c share: the marks of cost.h, the windows between two of
 * them, and a file for each, FOLDER/0, FOLDER/1 …, of the folder that QEMU's command line names.
 *
 * A plugin defines window_begin(), window_end() and on_translated(), which calls
 * look_for_mark() for each instruction.
 */
#ifndef NSWAP_TEST_WINDOWS_H
#define NSWAP_TEST_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

#define EXPORTED	__attribute__((visibility("default")))

EXPORTED int qemu_plugin_version = 1;

/* cost.h's */
static const unsigned char mark[] = { 0x0f, 0x1f, 0x80, 0xde, 0xc0, 0xed, 0x5e };

static const char *folder;
static unsigned int marks;

static void window_begin(void);
static void window_end(FILE *f);
static void on_translated(uint64_t id, struct qemu_plugin_tb *tb);

/* is a window open? */
static inline bool window_open(void)
{
	return marks % 2;
}

static void on_mark(unsigned int cpu, void *data)
{
	char path[4096];
	FILE *f;

	(void)cpu;
	(void)data;
	if (!window_open()) {
		window_begin();
	} else {
		snprintf(path, sizeof(path), "%s/%u", folder, marks / 2);
		f = fopen(path, "w");
		if (!f)
			abort();
		window_end(f);
		fclose(f);
	}
	marks++;
}

static void look_for_mark(struct qemu_plugin_insn *insn)
{
	if (qemu_plugin_insn_size(insn) == sizeof(mark) &&
	    !memcmp(qemu_plugin_insn_data(insn), mark, sizeof(mark)))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_NO_REGISTERS, NULL);
}

EXPORTED int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "dir=", 4))
			folder = strdup(argv[i] + 4);
	if (!folder)
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	return 0;
}

#endif
