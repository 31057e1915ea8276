// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet of a node.
 *
 * Invariant: nothing is cached. Interfaces and addresses come and go while a
 * node is up, so every call looks at the current ones; when the node's own
 * address is gone, it has no neighbours.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <net/addrconf.h>

#include "node.h"
#include "subnet.h"
#include "transport/sockaddr.h"

static __be32 subnet_ip4(const struct nswap_addr *a)
{
	__be32 ip;

	memcpy(&ip, a->ip, sizeof(ip));
	return ip;
}

static struct in6_addr subnet_ip6(const struct nswap_addr *a)
{
	struct in6_addr ip;

	memcpy(&ip, a->ip, sizeof(ip));
	return ip;
}

/* the interface that owns the node's address; valid until rcu_read_unlock() */
static struct net_device *own_dev(const struct nswap_node *node)
{
	const struct nswap_addr *a = &node->addr;
	struct in6_addr ip;

	if (a->family == AF_INET)
		return __ip_dev_find(node->net, subnet_ip4(a), false);
	if (!IS_ENABLED(CONFIG_IPV6))
		return NULL;
	if (a->scope)
		return dev_get_by_index_rcu(node->net, a->scope);
	ip = subnet_ip6(a);
	return ipv6_dev_find(node->net, &ip, NULL);
}

static bool has_ip4(struct net_device *dev, const struct nswap_addr *a)
{
	struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (inet_ifa_match(subnet_ip4(a), ifa))
			return true;
	return false;
}

static bool has_ip6(struct net_device *dev, const struct nswap_addr *a)
{
	struct in6_addr ip = subnet_ip6(a);

	if (nswap_addr_link_local(a))
		return a->scope == dev->ifindex;
	return IS_ENABLED(CONFIG_IPV6) && ipv6_chk_prefix(&ip, dev);
}

/* is this address in a subnet of the node's interface? */
bool nswap_subnet_has(const struct nswap_node *node,
		      const struct nswap_addr *a)
{
	struct net_device *dev;
	bool has = false;

	if (a->family != node->addr.family)
		return false;
	rcu_read_lock();
	dev = own_dev(node);
	if (dev)
		has = a->family == AF_INET ? has_ip4(dev, a) : has_ip6(dev, a);
	rcu_read_unlock();
	return has;
}

static bool subnet_in_list(const struct nswap_addr *to, unsigned int nr,
			   const struct nswap_addr *a)
{
	while (nr--)
		if (nswap_addr_equal(&to[nr], a))
			return true;
	return false;
}

/* each subnet's broadcast address, the default one if none is set */
static unsigned int all_ip4(struct net_device *dev, u16 port,
			    struct nswap_addr *to, unsigned int max)
{
	struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;
	unsigned int nr = 0;

	if (!in_dev)
		return 0;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		__be32 all = ifa->ifa_broadcast ?:
			     ifa->ifa_address | ~ifa->ifa_mask;
		struct nswap_addr a = { .family = AF_INET, .port = port };

		memcpy(a.ip, &all, sizeof(all));
		if (ifa->ifa_prefixlen < 31 && nr < max && !subnet_in_list(to, nr, &a))
			to[nr++] = a;
	}
	return nr;
}

/**
 * nswap_subnet_all() - the addresses for a datagram to all neighbours
 * @node: the node
 * @to: result, with the node's own port
 * @max: room in it
 *
 * IPv4: the broadcast address of each subnet of the node's interface. IPv6:
 * all nodes on that interface, ff02::1.
 *
 * Context: any; does not sleep.
 * Return: number of addresses, 0 if there are none.
 */
unsigned int nswap_subnet_all(const struct nswap_node *node,
			      struct nswap_addr *to, unsigned int max)
{
	u16 port = node->addr.port;
	struct net_device *dev;
	unsigned int nr = 0;

	rcu_read_lock();
	dev = own_dev(node);
	if (dev && node->addr.family == AF_INET) {
		nr = all_ip4(dev, port, to, max);
	} else if (dev && max) {
		to[0] = (struct nswap_addr){
			.family = AF_INET6,
			.port = port,
			.scope = dev->ifindex,
			.ip = { 0xff, 0x02, [15] = 1 },
		};
		nr = 1;
	}
	rcu_read_unlock();
	return nr;
}

static bool subnet_is_listed(struct nswap_node *node, const struct nswap_addr *addr)
{
	struct nswap_addr a = *addr;
	unsigned long flags;
	unsigned int i;
	bool found = false;

	spin_lock_irqsave(&node->ipt_lock, flags);
	for (i = 1; i <= node->ipt.top && !found; i++) {
		const struct nswap_ipt_entry *e = &node->ipt.entry[i];

		a.port = e->addr.port;
		found = e->listed && nswap_addr_equal(&e->addr, &a);
	}
	spin_unlock_irqrestore(&node->ipt_lock, flags);
	return found;
}

/* may a peer have this address? process context; does not sleep */
bool nswap_subnet_accepts(struct nswap_node *node,
			  const struct nswap_addr *addr)
{
	return nswap_subnet_has(node, addr) || subnet_is_listed(node, addr);
}
