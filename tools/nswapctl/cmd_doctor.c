// SPDX-License-Identifier: GPL-2.0
/*
 * doctor: looks for what is wrong with this node and its surroundings, says it
 * in one sentence each, and names the command that mends it.
 *
 * A problem makes the exit code 1, a note does not: it is true of every node
 * of this version and nothing on this machine can change it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "probe.h"
#include "swaps.h"
#include "view.h"

#define HEAR_MS		3000	/* three announcements, unless told otherwise */
#define PROBE_MS	2000
#define LINK_KB		1024	/* buffers of a connection, both ways */

/* what the checks look at, gathered once */
struct patient {
	struct view_node node;
	struct view_peer *peers;
	size_t nr_peers;
	struct view_device *devices;
	size_t nr_devices;
};

static unsigned int problems, notes;

/* one finding; @fix is a command, or NULL when nothing has to be done */
static void finding(bool problem, const char *check, const char *text,
		    const char *fix)
{
	if (problem)
		problems++;
	else
		notes++;
	if (!ctl_json) {
		printf("%s %s: %s\n", problem ? "PROBLEM" : "note   ", check,
		       text);
		if (fix)
			printf("        mend it with: %s\n", fix);
		return;
	}
	json_object(NULL);
	json_string("severity", problem ? "problem" : "note");
	json_string("check", check);
	json_string("text", text);
	if (fix)
		json_string("fix", fix);
	json_end();
}

static void __attribute__((format(printf, 3, 4)))
problem(const char *check, const char *fix, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	finding(true, check, text, fix);
}

static void fine(const char *check, const char *text)
{
	if (!ctl_json)
		printf("ok      %s: %s\n", check, text);
}

static size_t alive(const struct patient *p)
{
	size_t i, nr = 0;

	for (i = 0; i < p->nr_peers; i++)
		nr += view_peer_alive(&p->peers[i]);
	return nr;
}

static void hear_peers(struct patient *p)
{
	const struct timespec step = { .tv_nsec = 100 * 1000 * 1000 };
	int waited;

	for (waited = 0;; waited += 100) {
		p->nr_peers = view_peers(&p->peers);
		if (alive(p) || waited >= HEAR_MS)
			return;
		free(p->peers);
		nanosleep(&step, NULL);
	}
}

/* how a node is brought up that is to be the peer of this one */
static const char *up_with(const struct patient *p)
{
	if (!p->node.public[0])
		return "--open";
	return p->node.members ? "--key FILE --members FILE" : "--secret FILE";
}

static void check_heard(const struct patient *p)
{
	char text[128], fix[160];
	bool listed = false;
	size_t i, nr = alive(p);

	for (i = 0; i < p->nr_peers; i++)
		listed |= p->peers[i].listed;
	if (nr) {
		snprintf(text, sizeof(text), "%zu of %zu known peers are there",
			 nr, p->nr_peers);
		fine("peers", text);
		return;
	}
	if (listed) {
		snprintf(fix, sizeof(fix), "nswapctl up %s --port %u --lend 1G (on the listed nodes)",
			 up_with(p), p->node.addr.port);
		problem("peers", fix, "none of the listed peers was heard within 3 s: nswap is not up there, or UDP port %u is blocked",
			p->node.addr.port);
	} else if (p->node.broadcast) {
		snprintf(fix, sizeof(fix), "nswapctl down && nswapctl up %s --port %u --peers ADDRESS,ADDRESS",
			 up_with(p), p->node.addr.port);
		problem("peers", fix, "no announcement was heard within 3 s: no other node on this subnet runs nswap on port %u, or its UDP broadcasts do not get here, and then peers have to be listed",
			p->node.addr.port);
	} else {
		snprintf(fix, sizeof(fix), "nswapctl down && nswapctl up %s --peers ADDRESS,ADDRESS",
			 up_with(p));
		problem("peers", fix,
			"this node neither broadcasts nor lists peers, so it finds no peer and only waits to be found");
	}
}

static void check_versions(const struct patient *p)
{
	char addr[ADDR_TEXT];
	size_t i;

	for (i = 0; i < p->nr_peers; i++)
		if (*p->peers[i].refused)
			problem("version", "install the same version of nswap on both",
				"%s is refused: it %s",
				text_addr(&p->peers[i].addr, addr),
				p->peers[i].refused);
}

static void port_fix(char *buf, size_t len, const char *protocol,
		     unsigned int port)
{
	snprintf(buf, len, "iptables -I INPUT -p %s --dport %u -j ACCEPT",
		 protocol, port);
}

static void tell_probe(const struct patient *p, const struct probe *probe)
{
	char addr[ADDR_TEXT], fix[160], cmd[120];

	text_addr(&probe->addr, addr);
	switch (probe->result) {
	case PROBE_OPEN:
		break;
	case PROBE_REFUSED:
		snprintf(fix, sizeof(fix), "nswapctl up %s --port %u (on that node)",
			 up_with(p), probe->addr.port);
		problem("tcp port", fix, "%s refuses connections: nswap is not up there, or a firewall rejects TCP",
			addr);
		break;
	case PROBE_SILENT:
		port_fix(cmd, sizeof(cmd), "tcp", probe->addr.port);
		snprintf(fix, sizeof(fix), "%s (on that node)", cmd);
		problem("tcp port", fix, "%s does not answer: the node is down, or a firewall drops TCP to this port",
			addr);
		break;
	case PROBE_FAILED:
		problem("tcp port", "ip route get ADDRESS (to see which way it would go)",
			"%s cannot be reached from here: %s", addr,
			strerror(probe->error));
		break;
	}
}

static void check_tcp(const struct patient *p)
{
	struct probe *probes = calloc(p->nr_peers + 1, sizeof(*probes));
	unsigned int before = problems;
	size_t i, nr = 0;

	if (!probes)
		ctl_refuse("no memory");
	for (i = 0; i < p->nr_peers; i++) {
		const struct view_peer *peer = &p->peers[i];

		if (strcmp(peer->state, "up") && strcmp(peer->state, "lost") &&
		    strcmp(peer->state, "leaving"))
			probes[nr++].addr = peer->addr;
	}
	probe_all(probes, nr, PROBE_MS);
	for (i = 0; i < nr; i++)
		tell_probe(p, &probes[i]);
	free(probes);
	if (p->nr_peers && problems == before)
		fine("tcp port", "every known peer takes connections");
}

/* connected, but its announcements do not get here */
static void check_udp(const struct patient *p)
{
	unsigned int before = problems;
	char addr[ADDR_TEXT], fix[120];
	size_t i, up = 0;

	port_fix(fix, sizeof(fix), "udp", p->node.addr.port);
	for (i = 0; i < p->nr_peers; i++) {
		if (strcmp(p->peers[i].state, "up"))
			continue;
		up++;
		if (!p->peers[i].fresh)
			problem("udp port", fix, "%s is connected but its announcements do not arrive, so it is not chosen: UDP to this node is blocked",
				text_addr(&p->peers[i].addr, addr));
	}
	if (up && problems == before)
		fine("udp port", "announcements of every connected peer arrive");
}

static bool is_ours(const struct patient *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->nr_devices; i++)
		if (!strncmp(path, "/dev/", 5) &&
		    !strcmp(path + 5, p->devices[i].name))
			return true;
	return false;
}

static void check_priority(const struct patient *p)
{
	struct swaps_entry *all, *ours, *other;
	unsigned int before = problems;
	size_t nr = swaps_read(&all);
	bool any = false;
	char fix[640];

	for (ours = all; ours < all + nr; ours++) {
		if (!is_ours(p, ours->path))
			continue;
		any = true;
		for (other = all; other < all + nr; other++) {
			if (!strncmp(other->path, "/dev/nswap", 10) ||
			    other->priority < ours->priority)
				continue;
			snprintf(fix, sizeof(fix), "swapoff %s && swapon -p %ld %s",
				 ours->path, other->priority < 100 ? 100 :
				 other->priority + 1, ours->path);
			problem("swap priority", fix, "%s has priority %ld and %s has %ld, so that one fills first",
				ours->path, ours->priority, other->path,
				other->priority);
		}
	}
	if (any && problems == before)
		fine("swap priority", "nothing else is filled before nswap");
	free(all);
}

static unsigned long long read_kb(const char *path, const char *key)
{
	unsigned long long value = 0;
	FILE *f = fopen(path, "r");
	char line[256];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		value = strtoull(line + strlen(key), NULL, 10);
		break;
	}
	fclose(f);
	return value;
}

static unsigned long long clamped(unsigned long long value,
				  unsigned long long least,
				  unsigned long long most)
{
	return value < least ? least : value > most ? most : value;
}

/* KiB of buffers that sessions with @peers peers, both ways, may fill */
static unsigned long long buffers_kb(const struct patient *p, size_t peers,
				     unsigned long long total)
{
	unsigned long long need = peers * 2 * p->node.conns * LINK_KB;

	return clamped(need, 0, clamped(total / 32, 65536, 1048576));
}

/*
 * What comes in while the machine is out of memory is received into the reserve: 1/64
 * of RAM, at least 4 MiB and at most 128 MiB, for a few peers; for more of them what
 * their connections may fill, which the module bounds (pure/buffers.c). No more
 * than an eighth of RAM: a machine that small does better with fewer peers.
 */
static void check_reserve(const struct patient *p)
{
	unsigned long long total = read_kb("/proc/meminfo", "MemTotal:");
	unsigned long long have = read_kb("/proc/sys/vm/min_free_kbytes", "");
	unsigned long long want = clamped(total / 64, 4096, 131072);
	size_t peers = alive(p);
	unsigned long long fill = buffers_kb(p, peers, total);
	char fix[80];

	if (!total || !have)
		return;
	want = clamped(want, clamped(fill, 0, total / 8), ~0ull);
	if (have >= want) {
		fine("memory reserve", "vm.min_free_kbytes is high enough");
		return;
	}
	snprintf(fix, sizeof(fix), "sysctl -w vm.min_free_kbytes=%llu", want);
	problem("memory reserve", fix, "vm.min_free_kbytes is %llu, %llu is recommended on this machine: connections with %zu peers may fill %llu KiB while memory is out",
		have, want, peers, fill);
}

static void check_size(const struct patient *p)
{
	char size[32], lent[32], fix[160];
	uint64_t bytes = 0, pages = 0;
	size_t i;

	for (i = 0; i < p->nr_devices; i++)
		if (!*p->devices[i].home)
			bytes += p->devices[i].size;
	if (!bytes)
		return;
	for (i = 0; i < p->nr_peers; i++)
		if (view_peer_alive(&p->peers[i]))
			pages += p->peers[i].lent;
	text_size(bytes, size, sizeof(size));
	text_size(pages * PAGE_BYTES, lent, sizeof(lent));
	if (pages * PAGE_BYTES >= bytes) {
		fine("room", "the peers lend as much as the devices can hold");
		return;
	}
	snprintf(fix, sizeof(fix), "nswapctl lend SIZE (on the peers, more than now), or a smaller device here");
	problem("room", fix, "the devices without a home hold %s, the peers lend %s together: what does not fit stays in RAM",
		size, lent);
}

static void check_lost(const struct patient *p)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < p->nr_devices; i++)
		lost += p->devices[i].lost;
	if (lost)
		problem("lost pages", "restart the programs whose page-ins failed, see 'dmesg | grep nswap'",
			"%llu pages were on peers that are gone, reading them fails",
			(unsigned long long)lost);
}

static void check_exposed(const struct patient *p)
{
	const struct view_device *d = p->devices;

	while (d < p->devices + p->nr_devices && strcmp(d->protect, "none"))
		d++;
	if (p->nr_devices && d == p->devices + p->nr_devices)
		fine("single copy", "the pages of all devices outlive a peer");
	else
		finding(false, "single copy",
			"every page is on one peer: if that dies, reboots, or is cut off for longer than dead_after_ms, programs that need its pages fail; see: nswapctl device protect --help",
			NULL);
}

/* on a node with keys: are all devices sealed? */
static void check_sealed(const struct patient *p)
{
	size_t i;

	for (i = 0; i < p->nr_devices; i++)
		if (!p->devices[i].sealed)
			finding(false, "privacy",
				"only members take part, but a device is not sealed: members, and machines on the way between them, can read its pages",
				NULL);
}

static void examine(void)
{
	struct patient p = {};

	if (!view_find_node(&p.node)) {
		problem("node", "nswapctl up --secret FILE --lend 1G",
			"no node is up in this network namespace");
		check_reserve(&p);
		return;
	}
	fine("node", "up");
	p.nr_devices = view_devices(&p.devices);
	hear_peers(&p);
	check_heard(&p);
	check_versions(&p);
	check_tcp(&p);
	check_udp(&p);
	check_size(&p);
	check_lost(&p);
	check_priority(&p);
	check_reserve(&p);
	check_exposed(&p);
	if (p.node.public[0])
		check_sealed(&p);
	else
		finding(false, "privacy",
			"this node is open: anyone on this subnet can read and replace pages that travel or are held there, so use a network you trust, or keys",
			"nswapctl key generate --help");
	free(p.peers);
	free(p.devices);
}

int cmd_doctor(int argc, char **argv)
{
	arg_no_more(argc, argv, 1);
	if (ctl_node)
		ctl_usage("doctor looks from inside: run it in the node's network namespace");
	if (ctl_json)
		json_list(NULL);
	examine();
	if (ctl_json)
		json_end();
	return problems ? 1 : 0;
}
