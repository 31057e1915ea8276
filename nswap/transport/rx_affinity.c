// SPDX-License-Identifier: GPL-2.0
/*
 * Receive affinity.
 *
 * Invariant: a thread migrates only after TIMES messages in a row from the same
 * other CPU, so a connection shared by CPUs does not make it bounce.
 */
#include <linux/cpumask.h>
#include <linux/sched.h>

#include "rx_affinity.h"

#define TIMES	16

/**
 * nswap_rx_affinity_start() - the calling thread serves a connection
 * @f: its state
 *
 * Context: process, a kernel thread.
 */
void nswap_rx_affinity_start(struct nswap_rx_affinity *f)
{
	f->cpu = -1;
	f->other = -1;
	f->times = 0;
}

/**
 * nswap_rx_affinity() - a message has arrived
 * @f: state of the calling thread
 * @cpu: where its packets were received, negative if that is not known
 *
 * Context: process, a kernel thread; may move to that CPU.
 */
void nswap_rx_affinity(struct nswap_rx_affinity *f, int cpu)
{
	if (cpu < 0 || cpu == f->cpu) {
		f->times = 0;
		return;
	}
	if (cpu != f->other) {
		f->other = cpu;
		f->times = 0;
	}
	if (++f->times < TIMES || !cpu_online(cpu))
		return;
	if (!set_cpus_allowed_ptr(current, cpumask_of(cpu)))
		f->cpu = cpu;
	f->times = 0;
}
