/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module measured, as plain structs.
 */
#ifndef NSWAPCTL_METER_H
#define NSWAPCTL_METER_H

#include <stddef.h>
#include <stdint.h>

#define METER_BUCKETS	64

/* values of b significant bits are counted in bucket[b] */
struct meter_hist {
	uint64_t bucket[METER_BUCKETS];
	unsigned int nr;
};

struct meter_step {
	char op[16];
	char tier[16];
	char step[16];
	uint64_t pages;
	uint64_t sum_ns;
	struct meter_hist hist;
};

struct meter_degree {
	char op[16];
	char tier[16];
	uint64_t samples;
	uint64_t busy;
	uint64_t sum;
	uint64_t most;
	struct meter_hist hist;
};

struct meter_entry {
	uint64_t number;
	uint64_t time_ns;
	uint64_t latency_ns;
	char device[32];
	uint64_t slot;
	uint32_t slots;
	char op[16];
	char tier[16];
	uint32_t peer;
};

/* lists, to be freed; each returns how many entries it has */
size_t meter_steps(struct meter_step **list);
size_t meter_degrees(struct meter_degree **list, const char *device);
size_t meter_trace(struct meter_entry **list, uint64_t after);

double meter_quantile(const struct meter_hist *h, double share);

int meter_show_latency(void);

#endif
