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
#include "windows.h"

#define BUCKETS		(1u << 18)

struct block {
	uint64_t at;
	uint64_t insns;
	uint64_t times;
	uint64_t before;	/* the window */
	struct block *next;
};

static struct block *blocks[BUCKETS];

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

static void window_begin(void)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct block *b = blocks[i]; b; b = b->next)
			b->before = b->times;
}

static void window_end(FILE *f)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct block *b = blocks[i]; b; b = b->next)
			if (b->times > b->before)
				fprintf(f, "%llx %llu %llu\n", (unsigned long long)b->at,
					(unsigned long long)b->insns,
					(unsigned long long)(b->times - b->before));
}

static void on_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct block *b = block_of(qemu_plugin_tb_vaddr(tb), n);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_INLINE_ADD, &b->times, 1);
	for (i = 0; i < n; i++)
		look_for_mark(qemu_plugin_tb_get_insn(tb, i));
}
