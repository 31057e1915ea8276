// SPDX-License-Identifier: GPL-2.0
/*
 * Wake-ups of the client role: try waiting requests again, run a tick early.
 */
#include "base/workqueues.h"
#include "client_state.h"
#include "node.h"

#define ID_CPUS		65536	/* between two ids of one CPU */
#define CLIENT_IDLE_MS	2000
#define TICK_LEAST_MS	10	/* a tick looks at every peer: not more often */
#define LONGER		4	/* times as long as this node stood still */
#define LONGEST_MS	60000u	/* or dead_after, if that is more */

/* Ids of messages: each CPU has its own. Returns 0, or -ENOMEM */
int nswap_client_ids_init(struct nswap_client *cl)
{
	int cpu;

	BUILD_BUG_ON(NR_CPUS > ID_CPUS);
	cl->ids = alloc_percpu(u64);
	if (!cl->ids)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		per_cpu(*cl->ids, cpu) = cpu;
	return 0;
}

void nswap_client_ids_exit(struct nswap_client *cl)
{
	free_percpu(cl->ids);
}

/* a new message id, not 0; any context */
__le64 nswap_client_id(struct nswap_node *node)
{
	return cpu_to_le64(this_cpu_add_return(*node->client->ids, ID_CPUS));
}

/*
 * A request waits, for the first time: from now on, until it has ended and left @minding,
 * kicks count. The first such request counts as a kick itself, for those before did not.
 * Any context, page-out path.
 */
void nswap_client_mind(struct nswap_node *node)
{
	struct nswap_client *cl = node->client;

	/* pairs with nswap_client_kick() */
	if (atomic_inc_return(&cl->minding) == 1)
		atomic_inc(&cl->changes);
}

/**
 * nswap_client_kick() - something changed: try the waiting requests again
 * @node: node
 *
 * While none waits, or has waited and not ended, nothing is written.
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_client_kick(struct nswap_node *node)
{
	struct nswap_client *cl = node->client;

	/* pairs with nswap_client_mind(): it counts, or what has changed is seen there */
	smp_mb();
	if (!atomic_read(&cl->minding))
		return;
	atomic_inc(&cl->changes);
	/* pairs with request_wait() */
	smp_mb__after_atomic();
	if (nswap_client_waits(cl))
		queue_work(nswap_io_wq, &cl->kick);
}

/* time has passed: as nswap_client_kick(), whether there is room or not */
void nswap_client_kick_all(struct nswap_node *node)
{
	set_bit(0, &node->client->kick_all);
	nswap_client_kick(node);
}

/**
 * nswap_client_unpark() - a tag or a peer has become free: resume parked page-ins
 * @node: node
 *
 * Context: any; does not sleep, on the page-in path.
 */
void nswap_client_unpark(struct nswap_node *node)
{
	struct nswap_client *cl = node->client;

	if (atomic_read(&cl->nr_parked))
		queue_work(nswap_io_wq, &cl->unpark);
}

/**
 * nswap_client_ready() - parked page-ins need not wait for their peer any longer
 * @node: node
 * @bios: counted in @nr_parked; empty afterwards
 *
 * Context: any; does not sleep, on the page-in path.
 */
void nswap_client_ready(struct nswap_node *node, struct bio_list *bios)
{
	struct nswap_client *cl = node->client;
	unsigned long flags;

	if (bio_list_empty(bios))
		return;
	spin_lock_irqsave(&cl->wait_lock, flags);
	bio_list_merge(&cl->ready, bios);
	spin_unlock_irqrestore(&cl->wait_lock, flags);
	bio_list_init(bios);
	nswap_client_unpark(node);
}

/* run the tick now */
void nswap_client_tick_now(struct nswap_node *node)
{
	mod_delayed_work(nswap_io_wq, &node->client->tick, 0);
}

/* run it now, unless one ran a moment ago: then a moment later */
void nswap_client_tick_soon(struct nswap_node *node)
{
	struct nswap_client *cl = node->client;
	unsigned long at = READ_ONCE(cl->ticked) +
			   msecs_to_jiffies(TICK_LEAST_MS);
	unsigned long now = jiffies;

	mod_delayed_work(nswap_io_wq, &cl->tick,
			 time_after(at, now) ? at - now : 0);
}

/**
 * nswap_client_begin() - there is a device: from now on there are sessions and ticks
 * @node: node
 *
 * Context: process; does not sleep.
 */
void nswap_client_begin(struct nswap_node *node)
{
	struct nswap_client *cl = node->client;

	/* the first tick is not late by all the time since "up" */
	if (!cl->sessions_wanted)
		WRITE_ONCE(cl->due, jiffies);
	WRITE_ONCE(cl->sessions_wanted, true);
}

/**
 * nswap_client_used() - peers are being used
 * @node: node
 *
 * Context: any, page-out path; does not sleep.
 */
void nswap_client_used(struct nswap_node *node)
{
	unsigned long now = jiffies, used = READ_ONCE(node->client->used);

	/* once a jiffy: other CPUs read and write it, too */
	if (used == now)
		return;
	WRITE_ONCE(node->client->used, now);
	/* the next tick may be far off: run one now, which sees @used */
	if (time_after(now, used + msecs_to_jiffies(CLIENT_IDLE_MS)))
		nswap_client_tick_now(node);
}

/**
 * nswap_client_stood_still() - has this node not run for long, until just now?
 * @node: node
 *
 * A machine whose host paused it, or that was starved, finds when it goes on that all that
 * waited has waited for long: answers have come meanwhile, or would have.
 *
 * Context: any; does not sleep, on the page-in path.
 * Return: true if the tick is late by a second, or half of dead_after_ms if that is less.
 */
bool nswap_client_stood_still(const struct nswap_node *node)
{
	unsigned int ms = min(nswap_knob(node, dead_after_ms) / 2, 1000u);

	/* pairs with tick_due() */
	return time_after(jiffies, smp_load_acquire(&node->client->due) +
				   msecs_to_jiffies(ms));
}

/**
 * nswap_client_awake() - a tick runs: if it is late, all that waits may wait longer
 * @node: node
 *
 * By LONGER times as much as it is late, since that time is the last that some of them have
 * had; if it was not over when this node stood still again, by the rest of it, too. No more
 * than LONGEST_MS: later pauses would add up to it, and nothing would ever be given up.
 *
 * Context: the tick, before it sets the time of the next; does not sleep.
 */
void nswap_client_awake(struct nswap_node *node)
{
	struct nswap_client *cl = node->client;
	unsigned long most = msecs_to_jiffies(max(nswap_knob(node, dead_after_ms), LONGEST_MS));
	unsigned long now = jiffies, rest = 0;

	if (!nswap_client_stood_still(node))
		return;
	if (time_after(cl->awake + cl->allowed, cl->due))
		rest = cl->awake + cl->allowed - cl->due;
	WRITE_ONCE(cl->allowed, min(rest + LONGER * (now - cl->due), most));
	WRITE_ONCE(cl->awake, now);
}

/**
 * nswap_client_may_expire() - may what has waited for so long be given up?
 * @node: node
 * @ms: for how long it has waited
 *
 * Context: any; does not sleep, on the page-in and the page-out path.
 * Return: false if this node has stood still, and not run for LONGER times as long since; @ms
 * is enough.
 */
bool nswap_client_may_expire(const struct nswap_node *node, unsigned int ms)
{
	const struct nswap_client *cl = node->client;
	unsigned long longer;

	/* in this order: a tick that is late changes @awake and @allowed first */
	if (nswap_client_stood_still(node))
		return false;
	longer = min(READ_ONCE(cl->allowed), msecs_to_jiffies(ms));
	return !time_before(jiffies, READ_ONCE(cl->awake) + longer);
}

/**
 * nswap_client_expired() - has it waited for so long, and did this node run meanwhile?
 * @node: node
 * @since: jiffies when it began to wait
 * @ms: for how long it may
 *
 * For what cannot be undone: peers may be well though they were not heard.
 *
 * Context: any; does not sleep, on the page-in and the page-out path.
 * Return: true if it is over, and nswap_client_may_expire().
 */
bool nswap_client_expired(const struct nswap_node *node, unsigned long since, unsigned int ms)
{
	return time_after(jiffies, since + msecs_to_jiffies(ms)) &&
	       nswap_client_may_expire(node, ms);
}
