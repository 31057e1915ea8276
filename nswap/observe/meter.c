// SPDX-License-Identifier: GPL-2.0
/*
 * Measuring page-outs and page-ins.
 *
 *   came -> turn -> begin -> (sent, answered, received) -> end
 *
 * Invariants:
 *  - Time stamps are kept in the request and its messages. Nothing here sleeps
 *    or allocates but nswap_meter_init() and nswap_meter_apply(), which are
 *    called for users and never by page-outs.
 *  - While nothing is measured, a static key disables all reads of the clock
 *    except the one of a page-out that placement depends on.
 *  - A page counts once, when it has moved: in every step of its tier. Pages
 *    to be tried again, and those that failed, do not count; the time they waited
 *    is in the queue step of the attempt that succeeds. A request that came
 *    before measuring was switched on is not measured.
 *  - Histograms of a node are never freed before the node, so that the end of
 *    a page-out needs no lock to find them.
 */
#include <linux/slab.h>

#include "base/bits.h"
#include "core/device.h"
#include "core/node.h"
#include "meter.h"
#include "peers/peer.h"
#include "trace.h"

DEFINE_STATIC_KEY_FALSE(nswap_meter_key);

/* the tracepoint nswap_slot was enabled */
int nswap_meter_trace_reg(void)
{
	static_branch_inc(&nswap_meter_key);
	return 0;
}

/* and disabled */
void nswap_meter_trace_unreg(void)
{
	static_branch_dec(&nswap_meter_key);
}

/* Returns 0, or -ENOMEM */
int nswap_meter_init(struct nswap_node *node)
{
	struct nswap_meter *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	m->node = node;
	nswap_profile_init(m);
	node->meter = m;
	return 0;
}

static void meter_turn(bool *is_on, bool on)
{
	if (*is_on == on)
		return;
	/* pairs with nswap_meter_end(), nswap_slot_trace(): the memory is allocated */
	smp_store_release(is_on, on);
	if (on)
		static_branch_inc(&nswap_meter_key);
	else
		static_branch_dec(&nswap_meter_key);
}

/* @node: without devices */
void nswap_meter_exit(struct nswap_node *node)
{
	struct nswap_meter *m = node->meter;

	if (!m)
		return;
	meter_turn(&m->latency_on, false);
	meter_turn(&m->trace_on, false);
	free_percpu(m->latency);
	kvfree(m->base);
	kvfree(m->trace);
	kfree(m);
	node->meter = NULL;
}

static void add_hist(struct nswap_hist *sum, const struct nswap_hist *h)
{
	unsigned int b;

	sum->sum += READ_ONCE(h->sum);
	for (b = 0; b < NSWAP_HIST_BUCKETS; b++)
		sum->bucket[b] += READ_ONCE(h->bucket[b]);
}

static void sum_hist(struct nswap_meter *m, u8 tier, u8 op, u8 step,
		     struct nswap_hist *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu)
		add_hist(sum, &per_cpu_ptr(m->latency, cpu)->hist[tier][op][step]);
}

/* new base: values measured before no longer count */
static void start_anew(struct nswap_meter *m)
{
	u8 tier, op, step;

	for (tier = 0; tier < NSWAP_TIERS; tier++)
		for (op = 0; op < NSWAP_OPS; op++)
			for (step = 0; step < NSWAP_STEPS; step++)
				sum_hist(m, tier, op, step,
					 &m->base->hist[tier][op][step]);
}

static int meter_measure(struct nswap_meter *m)
{
	if (m->latency_on)
		return 0;
	if (!m->base)
		m->base = kvzalloc(sizeof(*m->base), GFP_KERNEL);
	if (!m->base)
		return -ENOMEM;
	if (!m->latency)
		m->latency = alloc_percpu(struct nswap_latency);
	if (!m->latency)
		return -ENOMEM;
	start_anew(m);
	return 0;
}

/**
 * nswap_meter_apply() - the knobs latency, trace or profile_ms have changed
 * @node: node; its @control is held
 *
 * Context: process, sleeps; never on the page-out path.
 * Return: 0; -ENOMEM: as if they had not changed.
 */
int nswap_meter_apply(struct nswap_node *node)
{
	struct nswap_meter *m = node->meter;
	bool latency = nswap_knob(node, latency);
	bool trace = nswap_knob(node, trace);
	int ret = latency ? meter_measure(m) : 0;

	if (!ret && trace && !m->trace) {
		/* pairs with nswap_trace_next() */
		smp_store_release(&m->trace, nswap_slot_trace_alloc());
		ret = m->trace ? 0 : -ENOMEM;
	}
	if (ret)
		return ret;
	meter_turn(&m->latency_on, latency);
	meter_turn(&m->trace_on, trace);
	nswap_profile_start(node);
	return 0;
}

static u8 tier_of(const struct nswap_op *op)
{
	if (op->peer)
		return NSWAP_TIER_REMOTE;
	return op->flash ? NSWAP_TIER_FLASH : NSWAP_TIER_HOME;
}

/* Slots go to a connection, flash or home; process, page-out path; does not sleep. */
void nswap_meter_begin(struct nswap_op *op)
{
	struct nswap_io *io = op->io;

	op->turn = io->turn;
	op->began = op->peer && io->write ? ktime_get_ns() : nswap_stamp();
	this_cpu_add(io->dev->flow->started[tier_of(op)][io->write], op->nr);
}

static void times_of(const struct nswap_op *op, u64 now, struct nswap_times *t)
{
	t->came = op->io->came;
	t->turn = op->turn;
	t->began = op->began;
	t->ended = now;
	if (op->peer) {
		t->sent = op->m.sent_ns;
		t->answered = op->m.answered_ns;
		t->received = op->m.received_ns;
		t->took = op->m.took;
	} else {
		t->sent = op->h.started_ns;
		t->answered = op->h.done_ns;
	}
}

static void meter_count(struct nswap_meter *m, const struct nswap_op *op, u64 now,
			unsigned int pages)
{
	struct nswap_times t = {};
	u8 step, tier = tier_of(op);
	u64 ns[NSWAP_STEPS];

	times_of(op, now, &t);
	if (!nswap_steps_of(tier, &t, ns))
		return;
	for (step = 0; step < NSWAP_STEPS; step++) {
		unsigned int b = nswap_bucket(ns[step], NSWAP_HIST_BUCKETS);
		struct nswap_hist __percpu *h =
			&m->latency->hist[tier][op->io->write][step];

		if (!nswap_step_of_tier(tier, step))
			continue;
		this_cpu_add(h->sum, ns[step] * pages);
		this_cpu_add(h->bucket[b], pages);
	}
}

static void meter_trace(struct nswap_meter *m, const struct nswap_op *op, u64 now,
			unsigned long moved)
{
	const struct nswap_io *io = op->io;
	struct nswap_trace_view v = {
		.time = now, .ns = now - io->came, .device = io->dev->number,
		.op = io->write, .tier = tier_of(op),
		.peer = op->peer ? op->peer->index : 0,
	};
	unsigned long i;

	for (i = find_first_bit(&moved, BITS_PER_LONG); i < BITS_PER_LONG;
	     i = find_next_bit(&moved, BITS_PER_LONG, i + v.slots)) {
		v.slot = io->slot[i];
		v.slots = nswap_run_of(moved, i);
		nswap_slot_trace(m, &v);
	}
}

/**
 * nswap_meter_end() - a message, or a read or write of flash or home, has ended
 * @op: the part of the request
 * @again: slots of the request that are to be tried again
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_meter_end(struct nswap_op *op, unsigned long again)
{
	struct nswap_io *io = op->io;
	struct nswap_meter *m = io->dev->node->meter;
	unsigned long moved;
	u64 now;

	this_cpu_add(io->dev->flow->ended[tier_of(op)][io->write], op->nr);
	now = nswap_stamp();
	if (!now || !io->came)
		return;
	moved = nswap_op_slots(op) & ~again & ~READ_ONCE(io->failed);
	if (!moved)
		return;
	/* pairs with meter_turn() */
	if (smp_load_acquire(&m->latency_on))
		meter_count(m, op, now, hweight_long(moved));
	meter_trace(m, op, now, moved);
}

/* latency of a step of an op */
bool nswap_latency_next(struct nswap_node *node, unsigned int *at,
			struct nswap_latency_view *v)
{
	struct nswap_meter *m = node->meter;
	struct nswap_hist sum;
	u8 tier, op, step;
	unsigned int b;

	do {
		step = *at % NSWAP_STEPS;
		tier = *at / NSWAP_STEPS % NSWAP_TIERS;
		op = *at / NSWAP_STEPS / NSWAP_TIERS;
		if (op >= NSWAP_OPS)
			return false;
		++*at;
	} while (!nswap_step_of_tier(tier, step));
	memset(v, 0, sizeof(*v));
	v->op = nswap_op_name(op);
	v->tier = nswap_tier_name(tier);
	v->step = nswap_step_name(step);
	mutex_lock(&node->control);
	if (m->latency) {
		const struct nswap_hist *base = &m->base->hist[tier][op][step];

		sum_hist(m, tier, op, step, &sum);
		v->sum_ns = sum.sum - base->sum;
		for (b = 0; b < NSWAP_HIST_BUCKETS; b++) {
			v->bucket[b] = sum.bucket[b] - base->bucket[b];
			v->pages += v->bucket[b];
		}
	}
	mutex_unlock(&node->control);
	return true;
}
