// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that show what was measured: stat --latency, profile, trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "meter.h"
#include "nl.h"
#include "view.h"

#define LOOK_US		200000

static double mean(double sum, uint64_t n)
{
	return n ? sum / n : 0;
}

/* up to the last one that is not 0 */
static void json_hist(const struct meter_hist *h)
{
	unsigned int b, nr = h->nr;

	while (nr && !h->bucket[nr - 1])
		nr--;
	json_list("buckets");
	for (b = 0; b < nr; b++)
		json_number(NULL, h->bucket[b]);
	json_end();
}

static void json_step(const struct meter_step *s)
{
	json_object(NULL);
	json_string("op", s->op);
	json_string("tier", s->tier);
	json_string("step", s->step);
	json_number("pages", s->pages);
	json_real("mean_ns", mean(s->sum_ns, s->pages));
	json_real("median_ns", meter_quantile(&s->hist, 0.5));
	json_real("p99_ns", meter_quantile(&s->hist, 0.99));
	json_hist(&s->hist);
	json_end();
}

static void print_step(const struct meter_step *s)
{
	if (s->pages)
		printf("%-8s  %-6s  %-8s  %10llu %10.1f %10.1f %10.1f\n", s->op,
		       s->tier, s->step, (unsigned long long)s->pages,
		       mean(s->sum_ns, s->pages) / 1000,
		       meter_quantile(&s->hist, 0.5) / 1000,
		       meter_quantile(&s->hist, 0.99) / 1000);
}

/* stat --latency */
int meter_show_latency(void)
{
	struct meter_step *steps, *s;
	size_t nr = meter_steps(&steps);
	uint64_t pages = 0;

	for (s = steps; s < steps + nr; s++)
		pages += s->pages;
	if (!pages && !view_knob("latency"))
		ctl_refuse("latency is not measured, 'nswapctl set latency 1' begins");
	if (ctl_json)
		json_list(NULL);
	else
		printf("%-8s  %-6s  %-8s  %10s %10s %10s %10s\n", "OP", "TIER",
		       "STEP", "PAGES", "MEAN us", "MEDIAN us", "P99 us");
	for (s = steps; s < steps + nr; s++) {
		if (ctl_json)
			json_step(s);
		else
			print_step(s);
	}
	if (ctl_json)
		json_end();
	free(steps);
	return 0;
}

static void json_degree(const struct meter_degree *d)
{
	json_object(NULL);
	json_string("op", d->op);
	json_string("tier", d->tier);
	json_number("samples", d->samples);
	json_number("busy", d->busy);
	json_real("mean", mean(d->sum, d->samples));
	json_real("mean_busy", mean(d->sum, d->busy));
	json_number("most", d->most);
	json_hist(&d->hist);
	json_end();
}

static void print_degree(const struct meter_degree *d)
{
	printf("%-8s  %-6s  %9llu %9llu %9.2f %9.2f %9llu\n", d->op, d->tier,
	       (unsigned long long)d->samples, (unsigned long long)d->busy,
	       mean(d->sum, d->samples), mean(d->sum, d->busy),
	       (unsigned long long)d->most);
}

static void reset_profile(const char *device)
{
	struct nl_msg *msg = ctl_request_of(NSWAP_CMD_NODE_SET, device);

	ctl_put_on(msg, NSWAP_A_PROFILE_RESET);
	ctl_call(msg, NULL, NULL);
}

static void show_profile(const char *device)
{
	struct meter_degree *degrees, *d;
	size_t nr = meter_degrees(&degrees, device);

	if (ctl_json)
		json_list(NULL);
	else
		printf("%-8s  %-6s  %9s %9s %9s %9s %9s\n", "OP", "TIER",
		       "SAMPLES", "BUSY", "MEAN", "OF BUSY", "MOST");
	for (d = degrees; d < degrees + nr; d++) {
		if (ctl_json)
			json_degree(d);
		else
			print_degree(d);
	}
	if (ctl_json)
		json_end();
	free(degrees);
}

int cmd_profile(int argc, char **argv)
{
	static const struct option options[] = {
		{ "reset", no_argument, NULL, 'r' },
		{ "device", required_argument, NULL, 'd' },
		{ NULL, 0, NULL, 0 },
	};
	const char *device = NULL;
	bool reset = false;
	int option;

	while ((option = arg_option(argc, argv, options)) != -1) {
		if (option == 'r')
			reset = true;
		else
			device = arg_device_name(optarg, device);
	}
	arg_no_more(argc, argv, optind);
	if (reset)
		reset_profile(device);
	else
		show_profile(device);
	return 0;
}

static void json_entry(const struct meter_entry *e)
{
	json_object(NULL);
	json_number("number", e->number);
	json_number("time_ns", e->time_ns);
	json_string("device", e->device);
	json_number("slot", e->slot);
	json_number("slots", e->slots);
	json_string("op", e->op);
	json_string("tier", e->tier);
	json_number("peer", e->peer);
	json_number("latency_ns", e->latency_ns);
	json_end();
}

static void print_entry(const struct meter_entry *e)
{
	printf("%14.6f  %-8s %10llu %5u  %-8s  %-6s  %4u %10.1f\n",
	       e->time_ns / 1e9, e->device, (unsigned long long)e->slot,
	       e->slots, e->op, e->tier, e->peer, e->latency_ns / 1e3);
}

/* prints what came after entry @after; returns the number of the last one */
static uint64_t show_trace(uint64_t after)
{
	struct meter_entry *entries, *e;
	size_t nr = meter_trace(&entries, after);

	for (e = entries; e < entries + nr; e++) {
		if (after && e->number > after + 1)
			ctl_warn("%llu entries were overwritten before they were read",
				 (unsigned long long)(e->number - after - 1));
		after = e->number;
		if (ctl_json)
			json_entry(e);
		else
			print_entry(e);
	}
	free(entries);
	return after;
}

int cmd_trace(int argc, char **argv)
{
	static const struct option options[] = {
		{ "follow", no_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	struct meter_entry *entries;
	bool follow = false;
	uint64_t last;

	while (arg_option(argc, argv, options) != -1)
		follow = true;
	arg_no_more(argc, argv, optind);
	if (!view_knob("trace") && !meter_trace(&entries, 0))
		ctl_refuse("slots are not traced, 'nswapctl set trace 1' begins");
	if (ctl_json && follow)
		json_lines();
	else if (ctl_json)
		json_list(NULL);
	else
		printf("%14s  %-8s %10s %5s  %-8s  %-6s  %4s %10s\n", "TIME s",
		       "DEVICE", "SLOT", "SLOTS", "OP", "TIER", "PEER",
		       "LATENCY us");
	last = show_trace(0);
	if (ctl_json && !follow)
		json_end();
	while (follow && !fflush(stdout) && !ferror(stdout)) {
		usleep(LOOK_US);
		last = show_trace(last);
	}
	return 0;
}
