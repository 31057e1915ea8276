// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: the snapshot of the candidates that one decision is made on.
 *
 * Invariants:
 *  - It has those that may be chosen, no others: what must not be is decided here, for all
 *    policies alike.
 *  - Each processor has one, for all nodes; it is a task's while that does not leave the
 *    processor. So a decision writes nothing that another processor reads but the tally of
 *    the peer that it spends grants of.
 *  - A candidate that was seen stays in memory as long as the snapshot: peers are freed
 *    under RCU. Whether it still has a session and grants says its tally, when they are
 *    spent.
 *
 * Nothing here sleeps or allocates but nswap_place_snapshot_init().
 */
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "core/node.h"
#include "place.h"
#include "place_snapshot.h"

#define SLOW_MS		30
#define LATE_MS		250	/* less than this is never late: one lost segment */
#define LATE_MOST_MS	1000
#define LATE_TIMES	8	/* the usual time */

static struct nswap_place_snapshot * __percpu *snapshots;

/* at module exit, or when nswap_place_snapshot_init() fails */
void nswap_place_snapshot_exit(void)
{
	int cpu;

	if (!snapshots)
		return;
	for_each_possible_cpu(cpu)
		kvfree(*per_cpu_ptr(snapshots, cpu));
	free_percpu(snapshots);
	snapshots = NULL;
}

/* for all nodes; process, sleeps. Returns 0, or -ENOMEM */
int nswap_place_snapshot_init(void)
{
	int cpu;

	snapshots = alloc_percpu(struct nswap_place_snapshot *);
	if (!snapshots)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct nswap_place_snapshot *s = kvzalloc_node(sizeof(*s), GFP_KERNEL,
							       cpu_to_node(cpu));

		if (!s) {
			nswap_place_snapshot_exit();
			return -ENOMEM;
		}
		prandom_seed_state(&s->random, get_random_u64());
		*per_cpu_ptr(snapshots, cpu) = s;
	}
	return 0;
}

/**
 * nswap_cand_busy() - would one more page-out to it, perhaps, only wait there with its tag?
 * @node: node
 * @c: candidate
 * @t: its tally
 *
 * Then it goes to another peer, and home last.
 *
 *   it missed one		nothing until it is heard of, then one at a time until
 *				it answers
 *   no answer for long		nothing, while some are under way
 *   no answer for a moment	a quarter of the tags
 *   else			half of them, if there is another peer
 *
 * Context: any; does not sleep.
 * Return: true if it is not to be chosen for that.
 */
bool nswap_cand_busy(const struct nswap_node *node, const struct nswap_cand *c,
		     const struct nswap_tally *t)
{
	u32 most = READ_ONCE(node->nr_cand) > 1 ? NSWAP_TAGS / 2 : U32_MAX;
	bool missed = READ_ONCE(c->missed);
	unsigned long age;

	if (!t->messages)
		return missed && !time_after(READ_ONCE(c->heard), READ_ONCE(c->missed_at));
	age = jiffies - READ_ONCE(c->asked);
	if (missed || age > msecs_to_jiffies(LATE_MOST_MS) ||
	    (age > msecs_to_jiffies(LATE_MS) &&
	     age > nsecs_to_jiffies(READ_ONCE(c->store_ns) * LATE_TIMES)))
		return true;
	if (age > msecs_to_jiffies(SLOW_MS))
		most = NSWAP_TAGS / 4;
	return t->messages >= most;
}

/**
 * nswap_cand_look() - what policies see of a candidate
 * @node: node
 * @c: candidate; under RCU
 * @v: filled in
 *
 * Context: any; does not sleep.
 * Return: may it be chosen?
 */
bool nswap_cand_look(const struct nswap_node *node, const struct nswap_cand *c,
		     struct nswap_place_peer *v)
{
	struct nswap_tally t = nswap_tally_look(&c->tally);

	*v = (struct nswap_place_peer){
		.index = c->index,
		.eligible = t.open && READ_ONCE(c->eligible),
		.resting = READ_ONCE(c->resting),
		.shrinking = READ_ONCE(c->shrinking),
		/* one that is full could be chosen again and again, and nothing be spent */
		.busy = nswap_cand_busy(node, c, &t) ||
			!nswap_tally_fits(&t, NSWAP_REQ_SLOTS),
		.grants = t.grants,
		.inflight = t.pages,
		.free = READ_ONCE(c->free),
		.lent = READ_ONCE(c->lent),
		.store_ns = READ_ONCE(c->store_ns),
	};
	return nswap_place_usable(v);
}

/**
 * nswap_place_snapshot() - take the snapshot of this processor
 * @node: node
 * @avoid: peers that are not to be chosen
 *
 * Context: process, page-out path; does not sleep, nor may the caller until
 * nswap_place_snapshot_end().
 * Return: the candidates that may be chosen.
 */
struct nswap_place_snapshot *nswap_place_snapshot(struct nswap_node *node,
						  const struct nswap_place_avoid *avoid)
{
	struct nswap_place_snapshot *s = *get_cpu_ptr(snapshots);
	struct nswap_cand *c;

	rcu_read_lock();
	s->nr = 0;
	list_for_each_entry_rcu(c, &node->cands, link) {
		if (nswap_place_avoided(avoid, c->index) || s->nr == NSWAP_MAX_PEERS ||
		    !nswap_cand_look(node, c, &s->peer[s->nr]))
			continue;
		s->cand[s->nr++] = c;
	}
	return s;
}

/* it is not looked at any more; from here on the task may leave the processor */
void nswap_place_snapshot_end(void)
{
	rcu_read_unlock();
	put_cpu_ptr(snapshots);
}
