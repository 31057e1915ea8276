// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet of a node.
 *
 * Invariant: nothing is cached. Interfaces and addresses come and go while a
 * node is up, so every call looks at the current ones; when the node's own
 * address is gone, it has no neighbours until it has another one.
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
static struct net_device *own_dev(const struct nswap_node *node,
				  const struct nswap_addr *a)
{
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

/**
 * nswap_subnet_join() - note which interface a node is on
 * @node: a node that is not up yet
 *
 * Context: process; does not sleep.
 * Return: the last eight bytes of the interface's hardware address, 0 without one.
 */
u64 nswap_subnet_join(struct nswap_node *node)
{
	struct net_device *dev;
	u64 hardware = 0;
	unsigned int i;

	rcu_read_lock();
	dev = own_dev(node, &node->addr);
	if (dev) {
		strscpy(node->iface, dev->name, sizeof(node->iface));
		for (i = 0; i < dev->addr_len; i++)
			hardware = hardware << 8 | dev->dev_addr[i];
	}
	rcu_read_unlock();
	return hardware;
}

static bool pick_ip4(struct net_device *dev, struct nswap_addr *a)
{
	struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (ifa->ifa_scope != RT_SCOPE_UNIVERSE)
			continue;
		memcpy(a->ip, &ifa->ifa_local, sizeof(ifa->ifa_local));
		return true;
	}
	return false;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool pick_ip6(struct net_device *dev, struct nswap_addr *a)
{
	struct inet6_dev *idev = __in6_dev_get(dev);
	bool local = nswap_addr_link_local(a), found = false;
	const struct inet6_ifaddr *ifa;

	if (!idev)
		return false;
	read_lock_bh(&idev->lock);
	list_for_each_entry(ifa, &idev->addr_list, if_list) {
		if (ifa->flags & (IFA_F_TENTATIVE | IFA_F_DEPRECATED) ||
		    !!(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL) != local)
			continue;
		memcpy(a->ip, &ifa->addr, sizeof(ifa->addr));
		if (local)
			a->scope = dev->ifindex;
		found = true;
		break;
	}
	read_unlock_bh(&idev->lock);
	return found;
}
#else
static bool pick_ip6(struct net_device *dev, struct nswap_addr *a)
{
	return false;
}
#endif

/* does an interface still have the node's address? RCU read section */
static bool still_own(const struct nswap_node *node, const struct nswap_addr *own)
{
	struct in6_addr ip = subnet_ip6(own);

	if (own->family == AF_INET || !own->scope)
		return own_dev(node, own);
	return IS_ENABLED(CONFIG_IPV6) &&
	       ipv6_chk_addr(node->net, &ip,
			     dev_get_by_index_rcu(node->net, own->scope), 0);
}

/**
 * nswap_subnet_moved() - has the node's interface another address now?
 * @node: node
 * @addr: result: the first one of the same kind on it, and the node's port
 *
 * Context: process; does not sleep.
 * Return: true if the node's address is gone and its interface has another one.
 */
bool nswap_subnet_moved(struct nswap_node *node, struct nswap_addr *addr)
{
	struct net_device *dev = NULL;
	bool moved = false;

	*addr = nswap_node_addr(node);
	rcu_read_lock();
	if (*node->iface && !still_own(node, addr))
		dev = dev_get_by_name_rcu(node->net, node->iface);
	if (dev)
		moved = addr->family == AF_INET ? pick_ip4(dev, addr) :
						  pick_ip6(dev, addr);
	rcu_read_unlock();
	return moved;
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

static bool subnet_of(struct net_device *dev, const struct nswap_addr *a)
{
	return a->family == AF_INET ? has_ip4(dev, a) : has_ip6(dev, a);
}

/*
 * May what is from @a, a neighbour on @own, come in on the interface @iface? On that one, on
 * its VRF, from this machine, or on another one to the same subnet. RCU read section.
 */
static bool comes_in(struct net_device *own, int iface, const struct nswap_addr *a)
{
	struct net_device *dev = netdev_master_upper_dev_get_rcu(own);

	if (iface == own->ifindex || iface == LOOPBACK_IFINDEX ||
	    (dev && iface == dev->ifindex))
		return true;
	dev = dev_get_by_index_rcu(dev_net(own), iface);
	return dev && subnet_of(dev, a);
}

/* is this address in a subnet of the node's interface? @iface: as nswap_subnet_accepts() */
static bool subnet_has(struct nswap_node *node, const struct nswap_addr *a, int iface)
{
	struct nswap_addr own = nswap_node_addr(node);
	struct net_device *dev;
	bool has = false;

	if (a->family != own.family)
		return false;
	rcu_read_lock();
	dev = own_dev(node, &own);
	if (dev)
		has = subnet_of(dev, a) && (!iface || comes_in(dev, iface, a));
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
unsigned int nswap_subnet_all(struct nswap_node *node,
			      struct nswap_addr *to, unsigned int max)
{
	struct nswap_addr own = nswap_node_addr(node);
	struct net_device *dev;
	unsigned int nr = 0;

	rcu_read_lock();
	dev = own_dev(node, &own);
	if (dev && own.family == AF_INET) {
		nr = all_ip4(dev, own.port, to, max);
	} else if (dev && max) {
		to[0] = (struct nswap_addr){
			.family = AF_INET6,
			.port = own.port,
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
		a.port = e->listed_at.port;
		found = found || (e->listed &&
				  nswap_addr_equal(&e->listed_at, &a));
	}
	spin_unlock_irqrestore(&node->ipt_lock, flags);
	return found;
}

/**
 * nswap_subnet_accepts() - may a peer have this address?
 * @node: the node
 * @addr: address
 * @iface: of a datagram, which may say that it is from anywhere: index of the interface on
 *	which it came in. 0: it is the other end of a connection. A listed peer's may come
 *	in anywhere, for it may be behind a router.
 *
 * Context: process; does not sleep.
 * Return: true if it may.
 */
bool nswap_subnet_accepts(struct nswap_node *node, const struct nswap_addr *addr, int iface)
{
	return subnet_has(node, addr, iface) || subnet_is_listed(node, addr);
}
