// SPDX-License-Identifier: GPL-2.0
/*
 * profile: a plugin for QEMU's emulator that counts how often each block of code was
 * executed between two marks (cost.h), and writes that to one file a window.
 *
 *	-plugin profile.so,dir=FOLDER	FOLDER/0, FOLDER/1 …: "address instructions times"
 *
 * A block is some instructions in a row; the emulator translates it once, and again when
 * it forgets it, so blocks are known by address and length. A page that is copied by one
 * repeated instruction is that instruction as often.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

#define EXPORTED	__attribute__((visibility("default")))
#define BUCKETS		(1u << 18)

EXPORTED int qemu_plugin_version = 1;

/* cost.h's */
static const unsigned char mark[] = { 0x0f, 0x1f, 0x80, 0xde, 0xc0, 0xed, 0x5e };

struct block {
	uint64_t at;
	uint64_t insns;
	uint64_t times;
	uint64_t before;	/* the window */
	struct block *next;
};

static struct block *blocks[BUCKETS];
static const char *folder;
static unsigned int marks;

static struct block *block_of(uint64_t at, uint64_t insns)
{
	struct block **head = &blocks[((at * 0x9e3779b97f4a7c15ull) ^ insns) >> 46], *b;

	for (b = *head; b; b = b->next)
		if (b->at == at && b->insns == insns)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->at = at;
	b->insns = insns;
	b->next = *head;
	*head = b;
	return b;
}

static void window_end(void)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u", folder, marks / 2);
	f = fopen(path, "w");
	if (!f)
		abort();
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct block *b = blocks[i]; b; b = b->next)
			if (b->times > b->before)
				fprintf(f, "%llx %llu %llu\n", (unsigned long long)b->at,
					(unsigned long long)b->insns,
					(unsigned long long)(b->times - b->before));
	fclose(f);
}

static void on_mark(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (marks % 2)
		window_end();
	else
		for (unsigned int i = 0; i < BUCKETS; i++)
			for (struct block *b = blocks[i]; b; b = b->next)
				b->before = b->times;
	marks++;
}

static void on_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct block *b = block_of(qemu_plugin_tb_vaddr(tb), n);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_INLINE_ADD, &b->times, 1);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(insn) == sizeof(mark) &&
		    !memcmp(qemu_plugin_insn_data(insn), mark, sizeof(mark)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
							       QEMU_NO_REGISTERS, NULL);
	}
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
