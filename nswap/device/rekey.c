// SPDX-License-Identifier: GPL-2.0
/*
 * Device, change of its key, as a user asks for it.
 *
 * Invariant: one change at a time, and none begins while pages are brought under another
 * protection: the two would read and write the same pages.
 */
#include <linux/netlink.h>

#include "base/views.h"
#include "client/seal_key.h"
#include "core/device.h"
#include "core/devices.h"
#include "core/node.h"
#include "protect.h"
#include "rekey.h"
#include "tiering/key_change.h"

static int rekey_may(struct nswap_device *dev, struct netlink_ext_ack *ext)
{
	if (!dev->sealer) {
		NL_SET_ERR_MSG(ext, "its pages are not sealed, so it has no key; see: nswapctl device add --seal");
		return -EINVAL;
	}
	if (nswap_seal_key_changing(dev)) {
		NL_SET_ERR_MSG(ext, "its key is being changed already, see: nswapctl device list");
		return -EBUSY;
	}
	if (nswap_protect_changing(dev)) {
		NL_SET_ERR_MSG(ext, "its protection is being changed: try again when no page is exposed or lost, see: nswapctl device list");
		return -EBUSY;
	}
	return 0;
}

/**
 * nswap_device_rekey() - change the key of a sealed device that may be in use
 * @node: node
 * @name: of the device, as in /dev
 * @v: result; its pages of the old key become fewer until there are none
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, -ENODEV; -EINVAL if it is not sealed; -EBUSY, -ENOMEM.
 */
int nswap_device_rekey(struct nswap_node *node, const char *name,
		       struct nswap_device_view *v, struct netlink_ext_ack *ext)
{
	struct nswap_device *dev;
	int ret = -ENODEV;

	mutex_lock(&node->control);
	dev = nswap_device_named(node, name);
	if (!dev) {
		NL_SET_ERR_MSG(ext, "this node has no such device, see: nswapctl device list");
		goto unlock;
	}
	ret = rekey_may(dev, ext);
	if (ret)
		goto unlock;
	ret = nswap_key_change_start(dev);
	if (ret)
		NL_SET_ERR_MSG(ext, "no memory for a second key");
	else
		nswap_device_view(dev, v);
unlock:
	mutex_unlock(&node->control);
	if (!ret)
		nswap_device_count(node, v);
	return ret;
}
