// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/nswap: state to read, in fixed columns (docs/abi/proc-nswap).
 *
 * /proc/nswap leads to self/net/nswap, so every reader sees the files of its
 * own network namespace. They exist as long as the module is loaded; in a
 * namespace without a node they have only the header lines. The first column is the
 * node's number: the initial namespace lists every node.
 *
 * Invariants: nothing is changed here, except that writing to profile restarts its
 * samples, as a netlink request does, and through prefetch.c and policies.c. New
 * columns are added at the end.
 * Context: process context; a reference to the node is held while its lines are
 * written, and none of its locks is taken here.
 */
#include <linux/in6.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <net/net_namespace.h>

#include "../nswap/base/views.h"
#include "../nswap/control/knobs.h"
#include "../nswap/core/nodes.h"
#include "proc.h"

#define PROC_DIR	"nswap"

/* "10.0.0.1 9611", or "fe80::1%2 9611" */
static void show_addr(struct seq_file *m, const struct nswap_addr *a)
{
	if (a->family == AF_INET)
		seq_printf(m, " %pI4", a->ip);
	else
		seq_printf(m, " %pI6c", a->ip);
	if (a->scope)
		seq_printf(m, "%%%u", a->scope);
	seq_printf(m, " %u", a->port);
}

static void head_knobs(struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < nswap_nr_knobs; i++)
		seq_printf(m, " %s", nswap_knobs[i].name);
}

static void show_node(struct seq_file *m, struct nswap_node *node)
{
	struct nswap_addr addr = nswap_node_addr(node);
	struct nswap_cache_view c = {};
	unsigned int i;

	nswap_cache_get_view(node, &c);
	seq_printf(m, "%u %016llx %016llx", node->number, node->id,
		   node->epoch);
	show_addr(m, &addr);
	seq_printf(m, " %u %u %u %s %llu %llu %llu %llu %u",
		   nswap_node_netns(node), node->conns, node->broadcast,
		   READ_ONCE(node->policy[NSWAP_PLACE])->name, c.lent, c.held, c.set_aside,
		   c.granted, c.owners);
	for (i = 0; i < nswap_nr_knobs; i++)
		seq_printf(m, " %u",
			   READ_ONCE(*nswap_knob_at(&node->knobs, &nswap_knobs[i])));
	seq_putc(m, '\n');
}

static void show_devices(struct seq_file *m, struct nswap_node *node)
{
	struct nswap_device_view v;
	const struct nswap_tier_view *flash = &v.tier[NSWAP_TIER_FLASH];
	const struct nswap_tier_view *home = &v.tier[NSWAP_TIER_HOME];
	u32 after = 0;

	while (nswap_device_next(node, after, &v)) {
		nswap_device_count(node, &v);
		seq_printf(m, "%u %s %u %llu %llu %llu %llu %u %llu %s %llu %llu %llu %s %llu\n",
			   node->number, v.name, v.instance, v.slots,
			   v.tier[NSWAP_TIER_REMOTE].pages, v.lost, v.map_bytes,
			   v.in_use, home->pages,
			   *home->names ? home->names : "-", flash->pages,
			   flash->slots, flash->used,
			   *flash->names ? flash->names : "-", v.side_bytes);
		after = v.instance;
	}
}

static void show_peers(struct seq_file *m, struct nswap_node *node)
{
	struct nswap_peer_view v;
	u16 after = 0;

	while (nswap_peer_next(node, after, &v)) {
		seq_printf(m, "%u %u %016llx %016llx", node->number, v.index,
			   v.id, v.epoch);
		show_addr(m, &v.addr);
		seq_printf(m, " %s %u %u %u %llu %llu %llu %u %u %llu %llu %u %u %llx\n",
			   nswap_peer_state_name(v.state), v.leaving + v.awaited, v.fresh,
			   v.listed, v.lent, v.free, v.used, v.grants,
			   v.inflight, v.slots, v.heard_ms, v.shrinking,
			   v.version, v.features);
		after = v.index;
	}
}

static void show_size(struct seq_file *m, struct nswap_node *node)
{
	struct nswap_cache_view c = {};

	nswap_cache_get_view(node, &c);
	seq_printf(m, "%u %s %llu %llu %llu %llu %llu %llu %s\n", node->number,
		   READ_ONCE(node->policy[NSWAP_SIZE])->name, c.lent, c.target, c.held,
		   c.surplus, c.set_aside, c.granted,
		   nswap_trend_name(c.trend));
}

static void show_cache(struct seq_file *m, struct nswap_node *node)
{
	struct nswap_owner_view v;
	unsigned int after = 0;

	while (nswap_owner_next(node, after++, &v))
		seq_printf(m, "%u %016llx %016llx %u %llu %llu\n",
			   node->number, v.id, v.epoch, v.connected, v.held,
			   v.granted);
}

#define STAT_NAME(name, ...)	{ #name },
static const char *const stat_names[][1] = { NSWAP_STATS(STAT_NAME) };
static_assert(sizeof(struct nswap_stats) ==
	      ARRAY_SIZE(stat_names) * sizeof(u64));

static void show_stats(struct seq_file *m, struct nswap_node *node)
{
	struct nswap_stats sum;
	const u64 *value = (const u64 *)&sum;
	unsigned int i;

	nswap_stats_sum(node->stats, &sum);
	for (i = 0; i < ARRAY_SIZE(stat_names); i++)
		seq_printf(m, "%u %s %llu\n", node->number, *stat_names[i],
			   value[i]);
}

static void head_degrees(struct seq_file *m)
{
	unsigned int b;

	seq_puts(m, " op tier samples busy sum most mean mean_busy");
	for (b = 0; b < NSWAP_PROFILE_BUCKETS; b++)
		seq_printf(m, " from_%u", b ? 1u << (b - 1) : 0);
}

/* the mean with two decimal places */
static void show_mean(struct seq_file *m, u64 sum, u64 n)
{
	u64 mean = n ? div64_u64(sum * 100, n) : 0;

	seq_printf(m, " %llu.%02u", div_u64(mean, 100), (u32)(mean % 100));
}

/* of one device, or with NULL of all together */
static void show_degrees(struct seq_file *m, struct nswap_node *node,
			 const char *device)
{
	struct nswap_profile_view v;
	unsigned int b, n;

	for (n = 0; !nswap_profile_next(node, device, n, &v); n++) {
		seq_printf(m, "%u%s%s %s %s %llu %llu %llu %llu", node->number,
			   device ? " " : "", device ?: "", v.op, v.tier,
			   v.samples, v.busy, v.sum, v.most);
		show_mean(m, v.sum, v.samples);
		show_mean(m, v.sum, v.busy);
		for (b = 0; b < NSWAP_PROFILE_BUCKETS; b++)
			seq_printf(m, " %llu", v.bucket[b]);
		seq_putc(m, '\n');
	}
}

static void show_profile(struct seq_file *m, struct nswap_node *node)
{
	show_degrees(m, node, NULL);
}

static void show_device_profile(struct seq_file *m, struct nswap_node *node)
{
	struct nswap_device_view v;
	u32 after = 0;

	while (nswap_device_next(node, after, &v)) {
		show_degrees(m, node, v.name);
		after = v.instance;
	}
}

static int reset_profile(struct file *file, char *buf, size_t size)
{
	struct net *net = seq_file_single_net(file->private_data);
	struct nswap_node *node;
	u32 after = 0;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	while ((node = nswap_node_next(net, after))) {
		after = node->number;
		nswap_profile_reset(node, NULL);
		nswap_node_put(node);
	}
	return 0;
}

/**
 * struct proc_view - one file
 * @name: its name
 * @columns: the header line
 * @head: prints what comes behind @columns in the header line; NULL for nothing
 * @show: prints the lines of one node
 * @write: handles a write; NULL if it is read-only
 */
struct proc_view {
	const char *name;
	const char *columns;
	void (*head)(struct seq_file *m);
	void (*show)(struct seq_file *m, struct nswap_node *node);
	int (*write)(struct file *file, char *buf, size_t size);
};

static const struct proc_view views[] = {
	{ "node",
	  "node id epoch addr port netns conns broadcast place lent held set_aside granted owners",
	  head_knobs, show_node },
	{ "devices",
	  "node device instance slots remote lost map_bytes in_use at_home home at_flash flash_slots flash_used flash side_bytes",
	  NULL, show_devices },
	{ "peers",
	  "node peer id epoch addr port state leaving fresh listed lent free used grants inflight slots heard_ms shrinking version features",
	  NULL, show_peers },
	{ "size", "node policy lent target held surplus set_aside granted trend",
	  NULL, show_size },
	{ "cache", "node owner epoch connected held granted", NULL, show_cache },
	{ "stats", "node counter value", NULL, show_stats },
	{ "profile", "node", head_degrees, show_profile, reset_profile },
	{ "device_profile", "node device", head_degrees, show_device_profile },
	{ "policies", "node device kind policy own", NULL, nswap_proc_show_policies,
	  nswap_proc_write_policy },
};

static int show_view(struct seq_file *m, void *unused)
{
	const struct proc_view *view = pde_data(file_inode(m->file));
	struct net *net = seq_file_single_net(m);
	struct nswap_node *node;
	u32 after = 0;

	seq_puts(m, view->columns);
	if (view->head)
		view->head(m);
	seq_putc(m, '\n');
	while ((node = nswap_node_next(net, after))) {
		after = node->number;
		view->show(m, node);
		nswap_node_put(node);
	}
	return 0;
}

static bool make_file(struct proc_dir_entry *dir, const struct proc_view *view)
{
	if (view->write)
		return proc_create_net_single_write(view->name, 0644, dir,
						    show_view, view->write,
						    (void *)view);
	return proc_create_net_single(view->name, 0444, dir, show_view,
				      (void *)view);
}

static int __net_init proc_net_init(struct net *net)
{
	struct proc_dir_entry *dir;
	unsigned int i;

	dir = proc_net_mkdir(net, PROC_DIR, net->proc_net);
	if (!dir)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(views); i++)
		if (!make_file(dir, &views[i]))
			goto fail;
	if (!nswap_proc_prefetch(net, dir))
		return 0;
fail:
	remove_proc_subtree(PROC_DIR, net->proc_net);
	return -ENOMEM;
}

static void __net_exit proc_net_exit(struct net *net)
{
	remove_proc_subtree(PROC_DIR, net->proc_net);
}

static struct pernet_operations proc_net_ops = {
	.init	= proc_net_init,
	.exit	= proc_net_exit,
};

/*
 * Create /proc/nswap and the files it leads to. Returns 0; -ENOMEM, also when another
 * module has a file of that name.
 */
int __init nswap_proc_init(void)
{
	int err;

	err = register_pernet_subsys(&proc_net_ops);
	if (err)
		return err;
	if (!proc_symlink(PROC_DIR, NULL, "self/net/" PROC_DIR)) {
		unregister_pernet_subsys(&proc_net_ops);
		return -ENOMEM;
	}
	return 0;
}

/* remove them; waits for readers; process context, before the nodes are freed */
void nswap_proc_exit(void)
{
	remove_proc_entry(PROC_DIR, NULL);
	unregister_pernet_subsys(&proc_net_ops);
}
