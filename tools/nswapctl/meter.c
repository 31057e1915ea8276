// SPDX-License-Identifier: GPL-2.0
/*
 * What the module measured, as plain structs.
 */
#include "meter.h"
#include "take.h"

static void take_hist(const struct nlattr *a, struct meter_hist *h)
{
	size_t len = a ? nla_len(a) : 0;

	if (len > sizeof(h->bucket))
		len = sizeof(h->bucket);
	if (len)
		memcpy(h->bucket, nla_data(a), len);
	h->nr = len / sizeof(h->bucket[0]);
}

static void more_steps(struct nlattr **attrs, void *arg)
{
	struct nlattr *tb[NSWAP_LATENCY_A_MAX + 1] = {};
	struct meter_step *s = one_more(arg);

	nested(tb, NSWAP_LATENCY_A_MAX, attrs[NSWAP_A_LATENCY]);
	text_of(tb[NSWAP_LATENCY_A_OP], s->op, sizeof(s->op));
	text_of(tb[NSWAP_LATENCY_A_TIER], s->tier, sizeof(s->tier));
	text_of(tb[NSWAP_LATENCY_A_STEP], s->step, sizeof(s->step));
	s->pages = u64_of(tb[NSWAP_LATENCY_A_PAGES]);
	s->sum_ns = u64_of(tb[NSWAP_LATENCY_A_SUM_NS]);
	take_hist(tb[NSWAP_LATENCY_A_BUCKET], &s->hist);
}

static void more_degrees(struct nlattr **attrs, void *arg)
{
	struct nlattr *tb[NSWAP_PROFILE_A_MAX + 1] = {};
	struct meter_degree *d = one_more(arg);

	nested(tb, NSWAP_PROFILE_A_MAX, attrs[NSWAP_A_PROFILE]);
	text_of(tb[NSWAP_PROFILE_A_OP], d->op, sizeof(d->op));
	text_of(tb[NSWAP_PROFILE_A_TIER], d->tier, sizeof(d->tier));
	d->samples = u64_of(tb[NSWAP_PROFILE_A_SAMPLES]);
	d->busy = u64_of(tb[NSWAP_PROFILE_A_BUSY]);
	d->sum = u64_of(tb[NSWAP_PROFILE_A_SUM]);
	d->most = u64_of(tb[NSWAP_PROFILE_A_MOST]);
	take_hist(tb[NSWAP_PROFILE_A_BUCKET], &d->hist);
}

static void more_trace(struct nlattr **attrs, void *arg)
{
	struct nlattr *tb[NSWAP_TRACE_A_MAX + 1] = {};
	struct meter_entry *e = one_more(arg);

	nested(tb, NSWAP_TRACE_A_MAX, attrs[NSWAP_A_TRACE]);
	e->number = u64_of(tb[NSWAP_TRACE_A_NUMBER]);
	e->time_ns = u64_of(tb[NSWAP_TRACE_A_TIME_NS]);
	e->latency_ns = u64_of(tb[NSWAP_TRACE_A_LATENCY_NS]);
	text_of(tb[NSWAP_TRACE_A_DEVICE_NAME], e->device, sizeof(e->device));
	e->slot = u64_of(tb[NSWAP_TRACE_A_SLOT]);
	e->slots = u32_of(tb[NSWAP_TRACE_A_SLOTS]);
	text_of(tb[NSWAP_TRACE_A_OP], e->op, sizeof(e->op));
	text_of(tb[NSWAP_TRACE_A_TIER], e->tier, sizeof(e->tier));
	e->peer = u32_of(tb[NSWAP_TRACE_A_PEER]);
}

static size_t list_of(struct nl_msg *msg, ctl_reply_fn more, void *list,
		      size_t size)
{
	struct growing g = { .size = size };

	ctl_dump(msg, more, &g);
	memcpy(list, &g.entry, sizeof(g.entry));
	return g.nr;
}

size_t meter_steps(struct meter_step **list)
{
	return list_of(ctl_request(NSWAP_CMD_LATENCY_GET), more_steps, list,
		       sizeof(**list));
}

/* of all devices together for NULL */
size_t meter_degrees(struct meter_degree **list, const char *device)
{
	return list_of(ctl_request_of(NSWAP_CMD_PROFILE_GET, device),
		       more_degrees, list, sizeof(**list));
}

size_t meter_trace(struct meter_entry **list, uint64_t after)
{
	struct nl_msg *msg = ctl_request(NSWAP_CMD_TRACE_GET);

	if (after)
		ctl_put_wide(msg, NSWAP_A_TRACE_AFTER, after);
	return list_of(msg, more_trace, list, sizeof(**list));
}

static double low_end(unsigned int bucket)
{
	return bucket ? (double)(1ull << (bucket - 1)) : 0;
}

/*
 * The value that a share of all values is not above, as if those of a bucket
 * were spread evenly over it.
 */
double meter_quantile(const struct meter_hist *h, double share)
{
	double all = 0, below = 0;
	unsigned int b;

	for (b = 0; b < h->nr; b++)
		all += h->bucket[b];
	for (b = 0; b < h->nr; b++) {
		double n = h->bucket[b], low = low_end(b);

		if (n && below + n >= share * all)
			return low + (share * all - below) / n *
				     (b ? low : 0);
		below += n;
	}
	return 0;
}
