// SPDX-License-Identifier: GPL-2.0
/*
 * Profiler: every profile_ms, how many pages are in flight to and from each
 * tier, of each device and of all together, as in section VI of the Nswap2L
 * paper.
 *
 * Invariants:
 *  - It reads counters that page-outs and page-ins keep per CPU, and takes no
 *    lock they take: a sample costs them nothing.
 *  - The work runs only while the node has a device and profile_ms is not 0,
 *    and stops rearming itself otherwise.
 *  - What has ended is read before what has started: a sample may count a page
 *    that ends in between, and is never negative.
 */
#include "core/devices.h"
#include "core/node.h"
#include "meter.h"

static u64 under_way(const struct nswap_device *dev, u8 tier, u8 op)
{
	u64 started = 0, ended = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		ended += READ_ONCE(per_cpu_ptr(dev->flow, cpu)->ended[tier][op]);
	/* writers have no barrier, so this makes a sample plausible, not exact */
	smp_rmb();
	for_each_possible_cpu(cpu)
		started += READ_ONCE(per_cpu_ptr(dev->flow, cpu)->started[tier][op]);
	return started - min(started, ended);
}

static void profile_sample(struct nswap_degree *d, u64 pages)
{
	d->samples++;
	d->busy += !!pages;
	d->sum += pages;
	d->most = max(d->most, pages);
	d->bucket[nswap_bucket(pages, NSWAP_PROFILE_BUCKETS)]++;
}

/* each device, and all of them together */
static void sample_tier(struct nswap_meter *m, u8 tier, u8 op)
{
	struct nswap_device *dev;
	u64 pages, sum = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &m->node->devices, link) {
		pages = under_way(dev, tier, op);
		sum += pages;
		spin_lock(&m->degree_lock);
		profile_sample(&dev->degree.of[tier][op], pages);
		spin_unlock(&m->degree_lock);
	}
	rcu_read_unlock();
	spin_lock(&m->degree_lock);
	profile_sample(&m->degree.of[tier][op], sum);
	spin_unlock(&m->degree_lock);
}

static bool profile_wanted(struct nswap_node *node)
{
	return nswap_knob(node, profile_ms) && !READ_ONCE(node->going) &&
	       !list_empty_careful(&node->devices);
}

static void profile_work(struct work_struct *work)
{
	struct nswap_meter *m = container_of(to_delayed_work(work),
					     struct nswap_meter, profile);
	u8 tier, op;

	if (!profile_wanted(m->node))
		return;
	for (tier = 0; tier < NSWAP_TIERS; tier++)
		for (op = 0; op < NSWAP_OPS; op++)
			sample_tier(m, tier, op);
	queue_delayed_work(system_dfl_wq, &m->profile,
			   msecs_to_jiffies(nswap_knob(m->node, profile_ms)));
}

void nswap_profile_init(struct nswap_meter *m)
{
	spin_lock_init(&m->degree_lock);
	INIT_DELAYED_WORK(&m->profile, profile_work);
}

/* there is a device, or the period has changed */
void nswap_profile_start(struct nswap_node *node)
{
	u32 ms = nswap_knob(node, profile_ms);

	if (profile_wanted(node))
		mod_delayed_work(system_dfl_wq, &node->meter->profile,
				 msecs_to_jiffies(ms));
}

void nswap_profile_stop(struct nswap_node *node)
{
	cancel_delayed_work_sync(&node->meter->profile);
}

/*
 * Samples of a device, which stays until degrees_put(), or of the node if NULL;
 * NULL if there is no such device.
 */
static struct nswap_degrees *degrees_get(struct nswap_node *node,
					 const char *device)
{
	struct nswap_device *dev;

	if (!device)
		return &node->meter->degree;
	mutex_lock(&node->control);
	dev = nswap_device_named(node, device);
	if (!dev)
		mutex_unlock(&node->control);
	return dev ? &dev->degree : NULL;
}

static void degrees_put(struct nswap_node *node, const char *device)
{
	if (device)
		mutex_unlock(&node->control);
}

/*
 * Reset the samples of @device, or with NULL of the node and all its devices.
 * Returns 0; -ENODEV if there is no such device.
 */
int nswap_profile_reset(struct nswap_node *node, const char *device)
{
	struct nswap_degrees *d = degrees_get(node, device);
	struct nswap_meter *m = node->meter;
	struct nswap_device *dev;

	if (!d)
		return -ENODEV;
	rcu_read_lock();
	spin_lock(&m->degree_lock);
	memset(d, 0, sizeof(*d));
	if (!device)
		list_for_each_entry_rcu(dev, &node->devices, link)
			memset(&dev->degree, 0, sizeof(dev->degree));
	spin_unlock(&m->degree_lock);
	rcu_read_unlock();
	degrees_put(node, device);
	return 0;
}

/**
 * nswap_profile_next() - samples of one op and tier
 * @node: node
 * @device: name of a device; NULL for all of them together
 * @at: position, 0 for the first
 * @v: result
 *
 * Context: process, sleeps.
 * Return: 0; -ENOENT past the last; -ENODEV if there is no such device.
 */
int nswap_profile_next(struct nswap_node *node, const char *device,
		       unsigned int at, struct nswap_profile_view *v)
{
	struct nswap_meter *m = node->meter;
	u8 tier = at % NSWAP_TIERS, op = at / NSWAP_TIERS;
	const struct nswap_degree *d;
	struct nswap_degrees *all;

	if (op >= NSWAP_OPS)
		return -ENOENT;
	all = degrees_get(node, device);
	if (!all)
		return -ENODEV;
	v->op = nswap_op_name(op);
	v->tier = nswap_tier_name(tier);
	d = &all->of[tier][op];
	spin_lock(&m->degree_lock);
	v->samples = d->samples;
	v->busy = d->busy;
	v->sum = d->sum;
	v->most = d->most;
	memcpy(v->bucket, d->bucket, sizeof(v->bucket));
	spin_unlock(&m->degree_lock);
	degrees_put(node, device);
	return 0;
}
