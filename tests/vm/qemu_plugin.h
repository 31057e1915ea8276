/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a plugin calls in QEMU, of version 1 of that interface (QEMU 4.2 to 8.2): Debian's
 * packages have no header for it.
 */
#ifndef NSWAP_TEST_QEMU_PLUGIN_H
#define NSWAP_TEST_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_INLINE_ADD		0
#define QEMU_NO_REGISTERS	0
#define QEMU_READS_AND_WRITES	3

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef void (*qemu_translated_fn)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_executed_fn)(unsigned int cpu, void *data);
typedef void (*qemu_accessed_fn)(unsigned int cpu, uint32_t info, uint64_t address, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_translated_fn fn);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op,
					      void *counter, uint64_t add);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_executed_fn fn,
					    int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_accessed_fn fn,
				      int flags, int what, void *data);
bool qemu_plugin_mem_is_store(uint32_t info);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

#endif
