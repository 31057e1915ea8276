/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive affinity: keep a connection's thread on the CPU its packets arrive
 * on, so that a page-in needs no wake-up on another CPU.
 */
#ifndef NSWAP_RX_AFFINITY_H
#define NSWAP_RX_AFFINITY_H

/**
 * struct nswap_rx_affinity - where a thread runs; private to the thread
 * @cpu: the CPU it is bound to, -1 for none
 * @other: where recent packets came from, if not @cpu
 * @times: how often in a row
 */
struct nswap_rx_affinity {
	int cpu;
	int other;
	unsigned int times;
};

void nswap_rx_affinity_start(struct nswap_rx_affinity *f);
void nswap_rx_affinity(struct nswap_rx_affinity *f, int cpu);

#endif
