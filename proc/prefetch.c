// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/nswap/prefetch: the prefetch policies of the reader's node, one file
 * for each question. Reading one shows the known names, the current one in
 * brackets; writing a name chooses it.
 *
 * Invariants: no state is kept here. A write goes through the same function as a
 * netlink request, needs the same capabilities, and is refused for the same reasons;
 * the reason goes to the kernel log, since write() cannot return a message.
 * Context: process context; a reference to the node is held while it is used.
 */
#include <linux/capability.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "../nswap/control/knobs.h"
#include "../nswap/control/policy_select.h"
#include "../nswap/core/nodes.h"
#include "proc.h"

#define PERIOD	"prefetch_period_ms"

static struct nswap_node *node_of(struct seq_file *m)
{
	return nswap_node_get(seq_file_single_net(m));
}

static int show_choice(struct seq_file *m, void *unused)
{
	unsigned long kind = (unsigned long)pde_data(file_inode(m->file));
	struct nswap_node *node = node_of(m);
	char names[NSWAP_POLICY_LIST];

	if (!node)
		return -ENODEV;
	seq_printf(m, "%s\n",
		   nswap_policy_names(kind, READ_ONCE(node->policy[kind]),
				      names, sizeof(names)));
	nswap_node_put(node);
	return 0;
}

static int show_period(struct seq_file *m, void *unused)
{
	struct nswap_node *node = node_of(m);

	if (!node)
		return -ENODEV;
	seq_printf(m, "%u\n", nswap_knob(node, prefetch_period_ms));
	nswap_node_put(node);
	return 0;
}

/*
 * The node of a file's namespace. Returns the node, which nswap_proc_written() puts;
 * ERR_PTR(-EPERM) for a writer without the capabilities, ERR_PTR(-ENODEV) without a node.
 */
struct nswap_node *nswap_proc_node_to_change(struct file *file)
{
	struct nswap_node *node;

	if (!capable(CAP_NET_ADMIN) || !capable(CAP_SYS_ADMIN))
		return ERR_PTR(-EPERM);
	node = node_of(file->private_data);
	return node ?: ERR_PTR(-ENODEV);
}

/* end a write: log the reason if it was refused, put the node */
int nswap_proc_written(struct nswap_node *node, const char *name, int ret,
		       const struct netlink_ext_ack *ext)
{
	if (ret)
		pr_info_ratelimited("node %u: %s: %s\n", node->number, name,
				    ext->_msg ?: "refused");
	nswap_node_put(node);
	return ret == -ERANGE ? -EINVAL : ret;
}

static int write_choice(struct file *file, char *text, size_t len)
{
	unsigned long kind = (unsigned long)pde_data(file_inode(file));
	const char *name = nswap_policy_kind_name(kind);
	struct nswap_node *node = nswap_proc_node_to_change(file);
	struct netlink_ext_ack ext = {};
	int ret;

	if (IS_ERR(node))
		return PTR_ERR(node);
	ret = nswap_node_set_policy(node, NULL, name, strim(text), &ext);
	return nswap_proc_written(node, name, ret, &ext);
}

static int write_period(struct file *file, char *text, size_t len)
{
	struct nswap_node *node = nswap_proc_node_to_change(file);
	struct netlink_ext_ack ext = {};
	u32 value;
	int ret;

	if (IS_ERR(node))
		return PTR_ERR(node);
	ret = kstrtou32(strim(text), 10, &value);
	if (ret)
		NL_SET_ERR_MSG(&ext, "a number of milliseconds is wanted");
	else
		ret = nswap_node_set_knob(node, PERIOD, value, &ext);
	return nswap_proc_written(node, "period_ms", ret, &ext);
}

/* create the folder of a namespace. Returns 0, or -ENOMEM; the caller removes @dir */
int nswap_proc_prefetch(struct net *net, struct proc_dir_entry *dir)
{
	unsigned long kind;

	dir = proc_net_mkdir(net, "prefetch", dir);
	if (!dir)
		return -ENOMEM;
	for (kind = 0; kind < NSWAP_POLICY_KINDS; kind++) {
		const char *name = nswap_policy_kind_name(kind);

		if (!str_has_prefix(name, NSWAP_POLICY_PREFETCH))
			continue;
		name += strlen(NSWAP_POLICY_PREFETCH);
		if (!proc_create_net_single_write(name, 0644, dir, show_choice,
						  write_choice, (void *)kind))
			return -ENOMEM;
	}
	if (!proc_create_net_single_write("period_ms", 0644, dir, show_period,
					  write_period, NULL))
		return -ENOMEM;
	return 0;
}
