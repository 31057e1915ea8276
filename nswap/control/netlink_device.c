// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: adding and deleting devices.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "core/nodes.h"
#include "device/rekey.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "tiering/evacuate.h"

/* the string of a repeated attribute, which the netlink policy does not check */
static const char *text_of(const struct nlattr *nla, struct genl_info *info)
{
	if (memchr(nla_data(nla), '\0', nla_len(nla)))
		return nla_data(nla);
	NL_SET_ERR_MSG_ATTR(info->extack, nla, "a name has no end");
	return NULL;
}

/* flash devices, in the order in which they were named */
static int get_flash(struct genl_info *info, struct nswap_device_config *cfg)
{
	struct nlattr *nla;
	int left;

	nla_for_each_attr(nla, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), left) {
		if (nla_type(nla) != NSWAP_A_FLASH)
			continue;
		if (cfg->nr_flash == NSWAP_FLASH_DEVICES) {
			NL_SET_ERR_MSG(info->extack, "a device has at most 4 flash devices");
			return -EINVAL;
		}
		cfg->flash[cfg->nr_flash] = text_of(nla, info);
		if (!cfg->flash[cfg->nr_flash++])
			return -EINVAL;
	}
	return 0;
}

/* send @reply, or free it, with a device as it is now. Returns 0, or an error. */
static int device_reply(struct genl_info *info, u8 cmd, struct sk_buff *reply,
			const struct nswap_device_view *v)
{
	void *hdr = genlmsg_put_reply(reply, info, &nswap_nl_family, 0, cmd);

	if (WARN_ON_ONCE(!hdr || nswap_nl_put_device(reply, v))) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

/*
 * NSWAP_CMD_DEVICE_ADD. The reply is allocated first: once there is a device the
 * caller is told. Context: process context. Returns 0; -EPERM; -ENODEV if there is no such
 * node; -EINVAL with neither a size nor a home; -ENOMEM; what nswap_device_add()
 * returns.
 */
int nswap_nl_device_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	struct nswap_device_config cfg = {
		.sized = tb[NSWAP_A_SIZE],
		.bytes = tb[NSWAP_A_SIZE] ? nla_get_u64(tb[NSWAP_A_SIZE]) : 0,
		.home = tb[NSWAP_A_HOME] ? nla_data(tb[NSWAP_A_HOME]) : NULL,
		.protect = tb[NSWAP_A_PROTECT] ? nla_data(tb[NSWAP_A_PROTECT]) :
						 NULL,
		.class = tb[NSWAP_A_CLASS] ? nla_data(tb[NSWAP_A_CLASS]) : NULL,
		.reserves = tb[NSWAP_A_RESERVE],
		.reserve = tb[NSWAP_A_RESERVE] ? nla_get_u64(tb[NSWAP_A_RESERVE]) : 0,
		.seal = tb[NSWAP_A_SEAL] && nla_get_u8(tb[NSWAP_A_SEAL]),
		.caches = tb[NSWAP_A_CACHE],
		.cache = tb[NSWAP_A_CACHE] ? nla_get_u64(tb[NSWAP_A_CACHE]) : 0,
		.early_ack = tb[NSWAP_A_EARLY_ACK],
		.compress = tb[NSWAP_A_COMPRESS] ? nla_data(tb[NSWAP_A_COMPRESS]) : NULL,
	};
	struct nswap_device_view v = {};
	int err = nswap_nl_may(skb, info);
	struct nswap_node *node;
	struct sk_buff *reply;

	if (err)
		return err;
	if (!cfg.sized && !cfg.home) {
		NL_SET_ERR_MSG(info->extack, "a device needs a size or a home");
		return -EINVAL;
	}
	err = get_flash(info, &cfg);
	if (err)
		return err;
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	node = nswap_nl_node_of(info);
	if (IS_ERR(node)) {
		err = PTR_ERR(node);
		goto free;
	}
	if (!tb[NSWAP_A_SEAL])
		cfg.seal = node->identity;
	err = nswap_device_add(node, &cfg, &v, info->extack);
	nswap_node_put(node);
	if (err)
		goto free;
	return device_reply(info, NSWAP_CMD_DEVICE_ADD, reply, &v);
free:
	nlmsg_free(reply);
	return err;
}

typedef int device_change_fn(struct nswap_node *node, struct genl_info *info,
			     struct nswap_device_view *v);

/*
 * Change a device of the request's node, and answer with what it is then. The reply is
 * allocated first, as above; process. Returns 0; -ENODEV if there is no such node; -ENOMEM;
 * what @change returns.
 */
static int device_change(struct genl_info *info, u8 cmd, device_change_fn *change)
{
	struct sk_buff *reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nswap_device_view v = {};
	struct nswap_node *node;
	int err;

	if (!reply)
		return -ENOMEM;
	node = nswap_nl_node_of(info);
	if (IS_ERR(node)) {
		err = PTR_ERR(node);
		goto free;
	}
	err = change(node, info, &v);
	nswap_node_put(node);
	if (err)
		goto free;
	return device_reply(info, cmd, reply, &v);
free:
	nlmsg_free(reply);
	return err;
}

static int device_set(struct nswap_node *node, struct genl_info *info,
		      struct nswap_device_view *v)
{
	return nswap_device_protect(node, nla_data(info->attrs[NSWAP_A_DEVICE_NAME]),
				    nla_data(info->attrs[NSWAP_A_PROTECT]), v, info->extack);
}

/**
 * nswap_nl_device_set_doit() - NSWAP_CMD_DEVICE_SET
 * @skb: request
 * @info: request, parsed
 *
 * Context: process context.
 * Return: 0; -EPERM; -ENODEV if there is no such node; -EINVAL without a name or something to
 * set; -ENOMEM; what nswap_device_protect() returns.
 */
int nswap_nl_device_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = nswap_nl_may(skb, info);

	if (err)
		return err;
	if (!info->attrs[NSWAP_A_DEVICE_NAME] || !info->attrs[NSWAP_A_PROTECT]) {
		NL_SET_ERR_MSG(info->extack, "name the device and its protection");
		return -EINVAL;
	}
	return device_change(info, NSWAP_CMD_DEVICE_SET, device_set);
}

static int device_rekey(struct nswap_node *node, struct genl_info *info,
			struct nswap_device_view *v)
{
	return nswap_device_rekey(node, nla_data(info->attrs[NSWAP_A_DEVICE_NAME]), v,
				  info->extack);
}

/*
 * NSWAP_CMD_DEVICE_REKEY. Context: process context. Returns 0; -EPERM; -ENODEV if there is
 * no such node; -EINVAL without a name; -ENOMEM; what nswap_device_rekey() returns.
 */
int nswap_nl_device_rekey_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = nswap_nl_may(skb, info);

	if (err)
		return err;
	if (!info->attrs[NSWAP_A_DEVICE_NAME]) {
		NL_SET_ERR_MSG(info->extack, "name the device whose key is to be changed");
		return -EINVAL;
	}
	return device_change(info, NSWAP_CMD_DEVICE_REKEY, device_rekey);
}

static int flash_del(struct nswap_node *node, const char *name,
		     struct genl_info *info)
{
	const char *flash = text_of(info->attrs[NSWAP_A_FLASH], info);
	struct sk_buff *reply;
	u64 left = 0;
	void *hdr;
	int err;

	if (!flash)
		return -EINVAL;
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	err = nswap_empty_flash(node, name, flash, &left, info->extack);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	hdr = genlmsg_put_reply(reply, info, &nswap_nl_family, 0,
				NSWAP_CMD_DEVICE_DEL);
	if (WARN_ON_ONCE(!hdr || nla_put_u64_64bit(reply, NSWAP_A_LEFT, left,
						   NSWAP_A_PAD))) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

/*
 * NSWAP_CMD_DEVICE_DEL. Context: process context. Returns 0; -ENODEV if there is no
 * such node; -EINVAL without a name; what nswap_device_del() or nswap_empty_flash()
 * returns.
 */
int nswap_nl_device_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nswap_node *node;
	const char *name;
	int err;

	if (!info->attrs[NSWAP_A_DEVICE_NAME]) {
		NL_SET_ERR_MSG(info->extack, "name the device to delete");
		return -EINVAL;
	}
	node = nswap_nl_node_of(info);
	if (IS_ERR(node))
		return PTR_ERR(node);
	name = nla_data(info->attrs[NSWAP_A_DEVICE_NAME]);
	if (info->attrs[NSWAP_A_FLASH])
		err = flash_del(node, name, info);
	else
		err = nswap_device_del(node, name, info->extack);
	nswap_node_put(node);
	return err;
}
