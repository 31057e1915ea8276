// SPDX-License-Identifier: GPL-2.0
/*
 * Leaning: a placement policy with @lean is told four times a second what page-outs take
 * at each tier and what else uses the network and the disks; it says to which tier
 * they go first.
 *
 *   interface: bytes both ways, less those of this node's pages    -> others
 *   disk:      time in which it was busy, sectors, less our own    -> others
 *   peers:     the fastest candidate's page-out, while there are any -> us
 *   disk:      what its writes took, anybody's                      -> us
 *
 * Invariants:
 *  - Everything is collected here, by the tick: a page-out reads one byte, @now. For a
 *    device whose policy has no @lean nothing is collected.
 *  - All figures are differences of counters between two looks. After a pause, or at
 *    first, there is nothing to compare, and no decision.
 *  - What others do on the network counts against the most that the interface has
 *    carried lately, since what it could carry is not known. Our own bytes are those of
 *    pages; what they are acknowledged by counts as others'.
 *  - How long a page-out takes while others are quiet is an average over such looks.
 *  - Only page-outs to come are concerned. Pages at home stay there meanwhile (promote.c).
 */
#include <linux/math64.h>
#include <linux/netdevice.h>

#include "base/log.h"
#include "base/stats.h"
#include "core/device_policy.h"
#include "core/node.h"
#include "lean.h"
#include "peers/place.h"

#define LOOK_MS		200
#define PAUSE_MS	5000	/* counters this old say nothing of now */
#define FORGOTTEN_MS	120000	/* changes before that do not count */
#define PAGE_BYTES	(PAGE_SIZE + PAGE_SIZE / 16)	/* with headers, on the wire */
#define QUIET		300	/* per mille by others: less than this is quiet */
#define WEIGHT		8	/* of the old average, to 1 of the new time */
#define FORGET		256	/* this part of the most is forgotten at each look */
#define PER_MILLE	1000

static const char *const lean_names[NSWAP_LEANS] = { "peers", "flash", "home" };

/* bytes of pages that this node has sent or received, and pages stored on peers */
static u64 lean_own(struct nswap_node *node, u64 *out)
{
	struct nswap_stats s;

	nswap_stats_sum(node->stats, &s);
	*out = s.pages_out;
	return PAGE_BYTES * (s.pages_out + s.pages_in + s.pages_mirrored +
			     s.pages_home_to_remote + s.pages_prefetched +
			     s.prefetched_flash_ram + s.prefetched_ram_disk +
			     s.brought_net +
			     s.pages_returned + s.pages_stored + s.pages_loaded +
			     s.pages_moved_in + s.pages_moved_out + s.pages_sent_home);
}

/* what the interface through which peers are reached has carried; RCU read section */
static u64 lean_bytes(const struct nswap_node *node)
{
	struct net_device *dev = dev_get_by_name_rcu(node->net, node->iface);
	struct rtnl_link_stats64 s;

	if (!dev)
		return 0;
	dev_get_stats(dev, &s);
	return s.rx_bytes + s.tx_bytes;
}

static u32 lean_part(u64 part, u64 whole)
{
	return whole ? min_t(u64, div64_u64(part * PER_MILLE, whole), PER_MILLE) : 0;
}

static void lean_peers(struct nswap_device *dev, u32 ms, struct nswap_lean_place *p)
{
	struct nswap_leaning *l = &dev->leaning;
	struct nswap_node *node = dev->node;
	u64 lent, used, out, bytes = lean_bytes(node), own = lean_own(node, &out);
	u64 all = bytes - min(l->bytes, bytes), ours = own - l->own;

	nswap_place_room(node, &lent, &used);
	p->there = lent > used;
	if (out != l->out)
		p->us = div_u64(nswap_place_fastest(node), NSEC_PER_USEC);
	l->most = max(l->most - l->most / FORGET, div_u64(all * MSEC_PER_SEC, ms));
	p->others = lean_part(div_u64((all - min(all, ours)) * MSEC_PER_SEC, ms), l->most);
	l->bytes = bytes;
	l->own = own;
	l->out = out;
}

static void lean_disk(struct nswap_leaning *l, enum nswap_lean tier,
		      const struct nswap_home_load *now, u32 ms, struct nswap_lean_place *p)
{
	struct nswap_home_load *was = &l->load[tier];
	u64 sectors = now->sectors - was->sectors, own = now->own - was->own;
	u64 busy = min_t(u64, now->busy_ms - was->busy_ms, ms);
	u64 writes = now->writes - was->writes;

	if (writes)
		p->us = div64_u64(now->write_ns - was->write_ns, writes * NSEC_PER_USEC);
	if (sectors)
		p->others = div64_u64(lean_part(busy, ms) * (sectors - min(own, sectors)),
				      sectors);
	*was = *now;
}

/* an average of the times while others were quiet */
static void lean_quiet(u32 *quiet_us, struct nswap_lean_place *p)
{
	if (p->us && p->others < QUIET)
		*quiet_us = *quiet_us ? (*quiet_us * (WEIGHT - 1ull) + p->us) / WEIGHT :
					p->us;
	p->quiet_us = *quiet_us;
}

static void lean_collect(struct nswap_device *dev, u32 ms, struct nswap_lean_view *v)
{
	struct nswap_leaning *l = &dev->leaning;
	struct nswap_home_load load;
	unsigned int i;

	*v = (struct nswap_lean_view){
		.now = l->now, .changes = l->changes, .left_us = l->left_us,
		.held_ms = jiffies_to_msecs(jiffies - l->changed),
	};
	lean_peers(dev, ms, &v->at[NSWAP_LEAN_PEERS]);
	if (dev->flash) {
		nswap_flash_look(dev->flash, &load);
		v->at[NSWAP_LEAN_FLASH].there = nswap_flash_room(dev->flash);
		lean_disk(l, NSWAP_LEAN_FLASH, &load, ms, &v->at[NSWAP_LEAN_FLASH]);
	}
	if (dev->home) {
		nswap_home_look(dev->home, &load);
		v->at[NSWAP_LEAN_HOME].there = nswap_home_well(dev->home);
		lean_disk(l, NSWAP_LEAN_HOME, &load, ms, &v->at[NSWAP_LEAN_HOME]);
	}
	for (i = 0; i < NSWAP_LEANS; i++)
		lean_quiet(&l->quiet_us[i], &v->at[i]);
}

static void lean_change(struct nswap_device *dev, const struct nswap_lean_view *v,
			enum nswap_lean to)
{
	struct nswap_leaning *l = &dev->leaning;
	const struct nswap_lean_place *was = &v->at[v->now], *is = &v->at[to];

	if (v->now == NSWAP_LEAN_PEERS)
		l->left_us = was->us;
	l->changes = v->held_ms > FORGOTTEN_MS ? 1 : l->changes + 1;
	l->changed = jiffies;
	WRITE_ONCE(l->now, to);
	nswap_stat_inc(dev->node, leans);
	nswap_info(dev->node, "%s: page-outs go to %s: %u us there, %u per mille of its load is not ours; to %s %u us and %u",
		   dev->disk->disk_name, lean_names[to], is->us ?: is->quiet_us, is->others,
		   lean_names[v->now], was->us, was->others);
}

/*
 * Tick: ask the policy where page-outs go. @dev: device, with a disk or without. Context:
 * the module's work queue, RCU read section; does not sleep or allocate.
 */
void nswap_lean_look(struct nswap_device *dev)
{
	const struct nswap_place_ops *place = nswap_device_place(dev);
	struct nswap_leaning *l = &dev->leaning;
	u32 ms = jiffies_to_msecs(jiffies - l->looked);
	struct nswap_lean_view v;
	enum nswap_lean to;
	bool compare;

	if (!place->lean || dev->outer || !dev->disk) {
		if (l->began)
			*l = (struct nswap_leaning){};
		return;
	}
	if (l->began && ms < LOOK_MS)
		return;
	compare = l->began && ms < PAUSE_MS;
	if (!l->began)
		l->changed = jiffies;
	l->began = true;
	l->looked = jiffies;
	if (!compare)
		ms = PAUSE_MS;
	lean_collect(dev, ms, &v);
	if (!compare) {
		/* sums since the boot are no time and no load */
		l->most = 0;
		memset(l->quiet_us, 0, sizeof(l->quiet_us));
		return;
	}
	to = place->lean(&v);
	if (to != v.now && to < NSWAP_LEANS)
		lean_change(dev, &v, to);
}
