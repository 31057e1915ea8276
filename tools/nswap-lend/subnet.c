// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet of the node, in place of the module's.
 *
 * Invariant: interfaces and addresses come and go; what was looked up is used for LOOK_MS,
 * so that strangers who send much do not cost much.
 */
#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdio.h>

#include "core/subnet.h"
#include "lend.h"
#include "transport/sockaddr.h"

#define LOOK_MS		1000
#define SUBNETS		32

/**
 * struct subnet - a subnet of an interface
 * @index: the interface's
 * @addr: the interface's address in it
 * @mask: which bits of it are the subnet's
 * @all: its broadcast address, family 0 for none
 */
struct subnet {
	unsigned int index;
	struct nswap_addr addr;
	u8 mask[16];
	struct nswap_addr all;
};

static struct {
	pthread_mutex_t lock;
	struct nswap_addr looked;	/* the node's address then */
	unsigned long when;
	struct subnet subnet[SUBNETS];	/* those of the node's interface come first */
	unsigned int nr;
	unsigned int index;	/* of the interface */
	unsigned int self;	/* of the one for what this host sends to itself */
	char iface[IF_NAMESIZE];	/* that had the node's address first; write-once */
} subnets = { .lock = PTHREAD_MUTEX_INITIALIZER };

char *lend_addr_text(const struct nswap_addr *a, char *buf, size_t len)
{
	char ip[INET6_ADDRSTRLEN];

	if (!inet_ntop(a->family, a->ip, ip, sizeof(ip)))
		snprintf(ip, sizeof(ip), "?");
	snprintf(buf, len, a->family == AF_INET6 ? "[%s]:%u" : "%s:%u", ip, a->port);
	return buf;
}

static bool subnet_addr(const struct sockaddr *sa, struct nswap_addr *a)
{
	struct sockaddr_storage ss = {};

	if (!sa || (sa->sa_family != AF_INET && sa->sa_family != AF_INET6))
		return false;
	memcpy(&ss, sa, sa->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
						   sizeof(struct sockaddr_in6));
	return !nswap_from_sockaddr(&ss, a);
}

static bool same_ip(const struct nswap_addr *a, const struct nswap_addr *b)
{
	return a->family == b->family && !memcmp(a->ip, b->ip, sizeof(a->ip));
}

/* the name of the interface that owns an address, NULL if none does */
static const char *subnet_iface(const struct ifaddrs *all, const struct nswap_addr *own)
{
	struct nswap_addr a;

	for (; all; all = all->ifa_next)
		if (subnet_addr(all->ifa_addr, &a) && same_ip(&a, own))
			return all->ifa_name;
	return NULL;
}

static void subnet_add(const struct ifaddrs *i, const struct nswap_addr *own)
{
	struct subnet *s = &subnets.subnet[subnets.nr];
	struct nswap_addr mask;

	if (subnets.nr == SUBNETS)
		return;
	memset(s, 0, sizeof(*s));
	if (!subnet_addr(i->ifa_addr, &s->addr) ||
	    s->addr.family != own->family || !subnet_addr(i->ifa_netmask, &mask))
		return;
	memcpy(s->mask, mask.ip, sizeof(s->mask));
	s->index = if_nametoindex(i->ifa_name);
	if (i->ifa_flags & IFF_BROADCAST && (s->mask[3] & 0xfe) != 0xfe &&
	    subnet_addr(i->ifa_broadaddr, &s->all))
		s->all.port = own->port;
	subnets.nr++;
}

/* @subnets' lock held */
static void subnet_look(const struct nswap_addr *own)
{
	struct ifaddrs *all, *i;
	const char *name;

	if (nswap_addr_equal(&subnets.looked, own) &&
	    time_before(jiffies, subnets.when + LOOK_MS))
		return;
	subnets.looked = *own;
	subnets.when = jiffies;
	/* it takes a file, and there may be none left: then they are as they were */
	if (getifaddrs(&all))
		return;
	subnets.nr = 0;
	name = subnet_iface(all, own);
	subnets.index = name ? if_nametoindex(name) : 0;
	subnets.self = if_nametoindex("lo");
	for (i = all; name && i; i = i->ifa_next)
		if (!strcmp(i->ifa_name, name))
			subnet_add(i, own);
	for (i = all; name && i; i = i->ifa_next)
		if (strcmp(i->ifa_name, name))
			subnet_add(i, own);
	freeifaddrs(all);
}

static bool subnet_is(const struct subnet *s, const struct nswap_addr *a)
{
	unsigned int i;

	for (i = 0; i < sizeof(s->mask); i++)
		if ((s->addr.ip[i] ^ a->ip[i]) & s->mask[i])
			return false;
	return true;
}

/* is this address in a subnet of an interface? @subnets' lock held */
static bool subnet_on(unsigned int index, const struct nswap_addr *a)
{
	unsigned int i;

	/* each interface has that subnet, with neighbours of its own */
	if (nswap_addr_link_local(a) && a->scope != index)
		return false;
	for (i = 0; i < subnets.nr; i++)
		if (subnets.subnet[i].index == index && subnet_is(&subnets.subnet[i], a))
			return true;
	return false;
}

/* is this address in a subnet of the node's interface? @iface: see core/subnet.c */
static bool subnet_has(struct nswap_node *node, const struct nswap_addr *a, int iface)
{
	struct nswap_addr own = nswap_node_addr(node);
	unsigned int on = iface;
	bool has;

	if (a->family != own.family)
		return false;
	pthread_mutex_lock(&subnets.lock);
	subnet_look(&own);
	has = subnets.index && subnet_on(subnets.index, a) &&
	      (!on || on == subnets.self || subnet_on(on, a));
	pthread_mutex_unlock(&subnets.lock);
	return has;
}

static bool subnet_listed(struct nswap_node *node, const struct nswap_addr *a)
{
	bool found = false;
	unsigned int i;

	spin_lock(&node->ipt_lock);
	for (i = 1; i <= node->ipt.top && !found; i++) {
		const struct nswap_ipt_entry *e = &node->ipt.entry[i];

		found = e->listed && (same_ip(&e->addr, a) || same_ip(&e->listed_at, a));
	}
	spin_unlock(&node->ipt_lock);
	return found;
}

/* may a peer have this address? see core/subnet.c */
bool nswap_subnet_accepts(struct nswap_node *node, const struct nswap_addr *a, int iface)
{
	return subnet_has(node, a, iface) || subnet_listed(node, a);
}

/* the addresses for a datagram to all neighbours, see core/subnet.c */
unsigned int nswap_subnet_all(struct nswap_node *node, struct nswap_addr *to,
			      unsigned int max)
{
	struct nswap_addr own = nswap_node_addr(node);
	unsigned int i, nr = 0;

	pthread_mutex_lock(&subnets.lock);
	subnet_look(&own);
	for (i = 0; i < subnets.nr && nr < max; i++)
		if (subnets.subnet[i].index == subnets.index &&
		    subnets.subnet[i].all.family == AF_INET)
			to[nr++] = subnets.subnet[i].all;
	if (own.family == AF_INET6 && subnets.nr && max)
		to[nr++] = (struct nswap_addr){
			.family = AF_INET6, .port = own.port,
			.scope = subnets.index, .ip = { 0xff, 0x02, [15] = 1 },
		};
	pthread_mutex_unlock(&subnets.lock);
	return nr;
}

/* can other nodes reach it, as they reach the node's own? */
static bool subnet_serves(const struct nswap_addr *a, const struct nswap_addr *own)
{
	if (a->family != own->family || nswap_addr_link_local(a) != nswap_addr_link_local(own))
		return false;
	return a->family != AF_INET || (a->ip[0] != IN_LOOPBACKNET &&
					(a->ip[0] != 169 || a->ip[1] != 254));
}

/*
 * The node's address, or another one that its interface has instead; false if it has none.
 * The main thread.
 */
bool lend_subnet_addr(struct nswap_node *node, struct nswap_addr *addr)
{
	struct nswap_addr a, own = nswap_node_addr(node);
	struct ifaddrs *all, *i;
	bool found;

	*addr = own;
	if (getifaddrs(&all))
		return true;
	found = !*subnets.iface || subnet_iface(all, &own);
	for (i = all; i && !found; i = i->ifa_next) {
		if (strcmp(i->ifa_name, subnets.iface) || !subnet_addr(i->ifa_addr, &a) ||
		    !subnet_serves(&a, &own))
			continue;
		a.port = own.port;
		*addr = a;
		found = true;
	}
	freeifaddrs(all);
	return found;
}

/* its interface, for people; "" if it had none from the start */
const char *lend_subnet_iface(void)
{
	return subnets.iface;
}

/* the last eight bytes of the hardware address of the node's interface, 0 without one */
u64 nswap_subnet_join(struct nswap_node *node)
{
	struct ifaddrs *all, *i;
	const char *name;
	u64 hardware = 0;
	unsigned int k;

	if (getifaddrs(&all))
		return 0;
	name = subnet_iface(all, &node->addr);
	if (name)
		strscpy(subnets.iface, name, sizeof(subnets.iface));
	for (i = all; name && i; i = i->ifa_next) {
		const struct sockaddr_ll *ll = (const void *)i->ifa_addr;

		if (!ll || ll->sll_family != AF_PACKET || strcmp(i->ifa_name, name))
			continue;
		for (k = 0; k < ll->sll_halen && k < sizeof(ll->sll_addr); k++)
			hardware = hardware << 8 | ll->sll_addr[k];
	}
	freeifaddrs(all);
	return hardware;
}
