// SPDX-License-Identifier: GPL-2.0
/*
 * lines: a plugin for QEMU's emulator that notes which cache lines the instructions of
 * modules use between two marks (cost.h), on which of two processors, and writes that to
 * one file a window.
 *
 *	-plugin lines.so,dir=FOLDER	FOLDER/0, FOLDER/1 …: "line instruction reads0 writes0
 *					reads1 writes1", of lines that both processors use and
 *					one of them writes
 *
 * A word that is changed atomically is read and written. What the kernel's own functions
 * use for a module is not seen.
 */
#include "windows.h"

#define BUCKETS		(1u << 16)
#define LINE_BITS	6
#define MODULES		0xffffffffc0000000ull	/* where the kernel puts their text */
#define MODULES_END	0xffffffffff000000ull
#define CPUS		2

/* what an instruction does with a line */
struct use {
	uint64_t at;
	uint64_t times[CPUS][2];	/* reads, writes */
	struct use *next;
};

struct line {
	uint64_t nr;
	struct use *uses;
	bool used[CPUS];
	bool written;
	struct line *next;
};

static struct line *lines[BUCKETS];

static void *fresh(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		abort();
	return p;
}

static struct line *line_of(uint64_t nr)
{
	struct line **head = &lines[(nr * 0x9e3779b97f4a7c15ull) >> 48], *l;

	for (l = *head; l; l = l->next)
		if (l->nr == nr)
			return l;
	l = fresh(sizeof(*l));
	l->nr = nr;
	l->next = *head;
	*head = l;
	return l;
}

static struct use *use_of(struct line *l, uint64_t at)
{
	struct use *u;

	for (u = l->uses; u; u = u->next)
		if (u->at == at)
			return u;
	u = fresh(sizeof(*u));
	u->at = at;
	u->next = l->uses;
	l->uses = u;
	return u;
}

static void on_access(unsigned int cpu, uint32_t info, uint64_t address, void *at)
{
	bool store = qemu_plugin_mem_is_store(info);
	struct line *l;

	if (!window_open() || cpu >= CPUS)
		return;
	l = line_of(address >> LINE_BITS);
	l->used[cpu] = true;
	l->written |= store;
	use_of(l, (uintptr_t)at)->times[cpu][store]++;
}

static void line_end(struct line *l, FILE *f)
{
	bool shared = l->used[0] && l->used[1] && l->written;
	struct use *u, *next;

	for (u = l->uses; u; u = next) {
		next = u->next;
		if (shared)
			fprintf(f, "%llx %llx %llu %llu %llu %llu\n",
				(unsigned long long)l->nr << LINE_BITS, (unsigned long long)u->at,
				(unsigned long long)u->times[0][0],
				(unsigned long long)u->times[0][1],
				(unsigned long long)u->times[1][0],
				(unsigned long long)u->times[1][1]);
		free(u);
	}
	free(l);
}

static void window_begin(void)
{
}

static void window_end(FILE *f)
{
	for (unsigned int i = 0; i < BUCKETS; i++) {
		struct line *l = lines[i], *next;

		for (lines[i] = NULL; l; l = next) {
			next = l->next;
			line_end(l, f);
		}
	}
}

static void on_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t at = qemu_plugin_insn_vaddr(insn);

		if (at >= MODULES && at < MODULES_END)
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_NO_REGISTERS,
							 QEMU_READS_AND_WRITES,
							 (void *)(uintptr_t)at);
		look_for_mark(insn);
	}
}
