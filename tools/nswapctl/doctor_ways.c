// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor on the ways to peers: sizes of packets, bonds, and what all of them share.
 */
#include <glob.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl.h"
#include "doctor.h"
#include "mtu.h"

#define WAYS_MAX	16
#define USUAL_MTU	1500
#define PAGE_MTU	4300	/* a page with its header, sealed, over IPv6 */

/* the interfaces by which this node and its live peers are reached, each once */
static size_t ways_take(const struct patient *p, char names[WAYS_MAX][IF_NAMESIZE])
{
	char name[IF_NAMESIZE];
	size_t i, k, nr = 0;

	for (i = 0; i <= p->nr_peers; i++) {
		const struct ctl_addr *addr = i ? &p->peers[i - 1].addr : &p->node.addr;

		if ((i && !view_peer_alive(&p->peers[i - 1])) || !doctor_interface(addr, name))
			continue;
		for (k = 0; k < nr && strcmp(names[k], name); k++)
			;
		if (k == nr && nr < WAYS_MAX)
			strcpy(names[nr++], name);
	}
	return nr;
}

/* /sys may be that of another network namespace */
static unsigned int way_mtu(const char *name)
{
	int fd = doctor_is_copy() ? -1 : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned long long mtu = 0;
	struct ifreq ask = {};
	char path[64];

	if (fd >= 0) {
		snprintf(ask.ifr_name, sizeof(ask.ifr_name), "%s", name);
		mtu = ioctl(fd, SIOCGIFMTU, &ask) ? 0 : ask.ifr_mtu;
		close(fd);
		return mtu;
	}
	snprintf(path, sizeof(path), "/sys/class/net/%s/mtu", name);
	return doctor_number(path, &mtu) ? mtu : 0;
}

static void check_mtu(const struct patient *p)
{
	char names[WAYS_MAX][IF_NAMESIZE], fix[80];
	size_t i, nr = ways_take(p, names);
	unsigned int mtu;

	for (i = 0; i < nr; i++) {
		mtu = way_mtu(names[i]);
		if (!mtu || mtu >= USUAL_MTU)
			continue;
		snprintf(fix, sizeof(fix), "ip link set dev %s mtu %u", names[i], USUAL_MTU);
		doctor_find(DOCTOR_ADVICE, false, fix, "%s has an MTU of %u: a page takes more packets than it has to, if all machines and the network between them can do %u",
			    names[i], mtu, USUAL_MTU);
	}
	if (!nr || doctor_found())
		return;
	mtu = way_mtu(names[0]);
	if (mtu >= PAGE_MTU)
		doctor_fine("%s has one of %u bytes", names[0], mtu);
	else
		doctor_fine("%s has one of %u bytes; from %u on a page is one packet and costs less, if all machines and the network between them can",
			    names[0], mtu, PAGE_MTU);
}

static void tell_way(const struct mtu_probe *m, const char *name)
{
	char addr[ADDR_TEXT], fix[80];

	snprintf(fix, sizeof(fix), "ip link set dev %s mtu %u", name, m->fits);
	text_ip(&m->addr, addr);
	if (m->result == MTU_HOLE && m->fits)
		doctor_find(DOCTOR_PROBLEM, false, fix, "%s has an MTU of %u, packets of that size to %s vanish, and those of %u arrive: connections stall, so give all machines the MTU that the network between them has",
			    name, m->mtu, addr, m->fits);
	else if (m->result == MTU_HOLE)
		doctor_find(DOCTOR_PROBLEM, false, "ip link set dev INTERFACE mtu SIZE (here and there)",
			    "%s has an MTU of %u, packets of that size to %s vanish, and small ones arrive: connections stall, so give all machines the MTU that the network between them has",
			    name, m->mtu, addr);
	else if (m->result == MTU_NARROW)
		doctor_find(DOCTOR_NOTE, false, fix, "packets to %s may have %u bytes, those of %s %u: a router on the way says so",
			    addr, m->fits, name, m->mtu);
}

/* packets as big as the interface sends them: do they arrive? */
static void check_way_mtu(const struct patient *p)
{
	struct mtu_probe *probes = calloc(p->nr_peers + 1, sizeof(*probes));
	char (*names)[IF_NAMESIZE] = calloc(p->nr_peers + 1, sizeof(*names));
	size_t i, nr = 0, fit = 0;

	if (!probes || !names)
		ctl_refuse("no memory");
	for (i = 0; i < p->nr_peers; i++) {
		if (!view_peer_alive(&p->peers[i]) ||
		    !doctor_interface(&p->peers[i].addr, names[nr]))
			continue;
		probes[nr].addr = p->peers[i].addr;
		probes[nr].mtu = way_mtu(names[nr]);
		nr += probes[nr].mtu > 0;
	}
	mtu_probe_all(probes, nr);
	for (i = 0; i < nr; i++) {
		tell_way(&probes[i], names[i]);
		fit += probes[i].result == MTU_FITS;
	}
	if (nr && fit == nr)
		doctor_fine("packets of full size reach every peer");
	free(probes);
	free(names);
}

/* a bond that sends all there is between two machines over one of its links */
static void bond_look(const char *name)
{
	char path[128], mode[64], policy[64], fix[160];

	snprintf(path, sizeof(path), "/sys/class/net/%s/bonding/mode", name);
	if (!doctor_line(path, mode, sizeof(mode)) ||
	    (strncmp(mode, "802.3ad", 7) && strncmp(mode, "balance-xor", 11)))
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s/bonding/xmit_hash_policy", name);
	if (!doctor_line(path, policy, sizeof(policy)) || strstr(policy, "3+4"))
		return;
	policy[strcspn(policy, " ")] = '\0';
	snprintf(fix, sizeof(fix), "echo layer3+4 > %s", path);
	doctor_find(DOCTOR_ADVICE, true, fix, "%s picks a link by %s, so all connections with a peer share one link; by layer3+4 they are spread (the switch has its own setting for the other way)",
		    name, policy);
}

static void check_bonds(const struct patient *p)
{
	char names[WAYS_MAX][IF_NAMESIZE], path[128], full[4096];
	size_t i, k, nr = ways_take(p, names);
	glob_t below;

	for (i = 0; i < nr; i++) {
		bond_look(names[i]);
		/* a VLAN or a bridge has it below */
		snprintf(path, sizeof(path), "/sys/class/net/%s/lower_*", names[i]);
		if (glob(doctor_path(full, sizeof(full), path), 0, NULL, &below))
			continue;
		for (k = 0; k < below.gl_pathc; k++)
			bond_look(strrchr(below.gl_pathv[k], '/') + strlen("/lower_"));
		globfree(&below);
	}
}

/* copies on several peers, and one cable to all of them */
static void check_one_way(const struct patient *p)
{
	char names[WAYS_MAX][IF_NAMESIZE], path[64], line[8], fix[160];
	const struct view_device *d = p->devices;

	while (d < p->devices + p->nr_devices && strcmp(d->protect, "mirror") &&
	       strncmp(d->protect, "parity", 6))
		d++;
	if (d == p->devices + p->nr_devices || doctor_alive(p) < 2 || ways_take(p, names) != 1)
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s/bonding/mode", names[0]);
	if (doctor_line(path, line, sizeof(line)))
		return;
	snprintf(fix, sizeof(fix), "ip link add bond0 type bond mode active-backup (of %s and an interface to another switch)",
		 names[0]);
	doctor_find(DOCTOR_NOTE, false, fix, "all copies of %s are reached through %s: if it fails, or a switch that all peers share, page-ins wait for all of them at once",
		    d->name, names[0]);
}

const struct doctor_check doctor_ways[] = {
	{ "mtu", DOCTOR_UP, check_mtu },
	{ "way mtu", DOCTOR_LIVE, check_way_mtu },
	{ "bond", DOCTOR_UP, check_bonds },
	{ "one way", DOCTOR_LIVE, check_one_way },
	{ }
};
