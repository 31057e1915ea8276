// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/nswap/policies: the policies of each node and each of its devices. Writing
 * "DEVICE KIND NAME" chooses one for a device; "-" as the device stands for the
 * node of the writer's namespace.
 *
 * Invariants: no state is kept here. A write goes through the same function as a
 * netlink request, as do writes to prefetch/.
 * Context: process context; a reference to the node is held while it is used.
 */
#include <linux/seq_file.h>
#include <linux/string.h>

#include "../nswap/base/views.h"
#include "../nswap/control/policy_select.h"
#include "proc.h"

void nswap_proc_show_policies(struct seq_file *m, struct nswap_node *node)
{
	struct nswap_device_view v;
	unsigned int kind;
	u32 after = 0;

	for (kind = 0; kind < NSWAP_POLICY_KINDS; kind++)
		seq_printf(m, "%u - %s %s 1\n", node->number,
			   nswap_policy_kind_name(kind),
			   READ_ONCE(node->policy[kind])->name);
	while (nswap_device_next(node, after, &v)) {
		for (kind = 0; kind < NSWAP_POLICY_KINDS; kind++) {
			const struct nswap_policy *own = v.policy[kind];

			if (kind == NSWAP_SIZE)
				continue;
			seq_printf(m, "%u %s %s %s %u\n", node->number, v.name,
				   nswap_policy_kind_name(kind),
				   (own ?: READ_ONCE(node->policy[kind]))->name,
				   !!own);
		}
		after = v.instance;
	}
}

/*
 * Choose a policy. @text: DEVICE KIND NAME. Context: process context, sleeps. Returns
 * 0; -EINVAL if @text is not three words; -EINVAL, -ENODEV or -ENOENT of
 * nswap_node_set_policy(); -EPERM.
 */
int nswap_proc_write_policy(struct file *file, char *text, size_t len)
{
	struct nswap_node *node = nswap_proc_node_to_change(file);
	struct netlink_ext_ack ext = {};
	const char *device, *kind, *name;
	int ret = -EINVAL;

	if (IS_ERR(node))
		return PTR_ERR(node);
	text = strim(text);
	device = strsep(&text, " ");
	kind = strsep(&text, " ");
	name = text;
	if (kind && name)
		ret = nswap_node_set_policy(node, strcmp(device, "-") ? device :
					    NULL, kind, name, &ext);
	else
		NL_SET_ERR_MSG(&ext, "write a device or -, a kind, and a name");
	return nswap_proc_written(node, "policies", ret, &ext);
}
