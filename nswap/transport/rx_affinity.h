/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follow: keep a connection's thread on the CPU its packets arrive on, so that
 * a page-in wakes nobody on another CPU.
 */
#ifndef NSWAP_FOLLOW_H
#define NSWAP_FOLLOW_H

/**
 * struct nswap_follow - where a thread runs; its own
 * @cpu: where it is bound to, -1 for nowhere
 * @other: where packets have come from lately, if not @cpu
 * @times: how often in a row
 */
struct nswap_follow {
	int cpu;
	int other;
	unsigned int times;
};

void nswap_follow_start(struct nswap_follow *f);
void nswap_follow(struct nswap_follow *f, int cpu);

#endif
