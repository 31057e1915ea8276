// SPDX-License-Identifier: GPL-2.0
/*
 * What the doctor reads, of this machine or of a copy of files of another one: of /proc,
 * /sys and /etc, and of what commands said, in a folder "commands".
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "doctor.h"
#include "run.h"
#include "take.h"

#define ROUTE_UP	0x0001
#define ROUTE_REJECT	0x0200

static const char *doctor_root(void)
{
	const char *root = getenv(DOCTOR_ROOT);

	return root ? root : "";
}

bool doctor_is_copy(void)
{
	return *doctor_root();
}

char *doctor_path(char *buf, size_t len, const char *path)
{
	snprintf(buf, len, "%s%s", doctor_root(), path);
	return buf;
}

FILE *doctor_open(const char *path)
{
	char full[4096];

	return fopen(doctor_path(full, sizeof(full), path), "r");
}

bool doctor_line(const char *path, char *buf, size_t len)
{
	FILE *f = doctor_open(path);
	bool got;

	if (!f)
		return false;
	got = fgets(buf, len, f);
	fclose(f);
	if (got)
		buf[strcspn(buf, "\n")] = '\0';
	return got;
}

bool doctor_number(const char *path, unsigned long long *value)
{
	char line[64], *end;

	if (!doctor_line(path, line, sizeof(line)))
		return false;
	*value = strtoull(line, &end, 10);
	return end != line;
}

FILE *doctor_command(const char *name, const char *command)
{
	char path[256];

	snprintf(path, sizeof(path), doctor_is_copy() ? "/commands/%s" :
		 "PATH=" RUN_PATH " %s 2>/dev/null", doctor_is_copy() ? name : command);
	return doctor_is_copy() ? doctor_open(path) : popen(path, "r");
}

void doctor_command_end(FILE *f)
{
	if (doctor_is_copy())
		fclose(f);
	else
		pclose(f);
}

/* the field of a line that stands where @name does in its header; "" without one */
static const char *table_field(const char *header, const char *line, const char *name)
{
	static char field[256];
	size_t len = strlen(name);

	*field = '\0';
	/* both end in a newline, which is passed by none */
	while (*header && *header != '\n' && *line && *line != '\n') {
		if (!strncmp(header, name, len) && strchr("\n ", header[len])) {
			snprintf(field, sizeof(field), "%.*s", (int)strcspn(line, "\n "), line);
			return field;
		}
		header += strcspn(header, "\n ");
		header += *header == ' ';
		line += strcspn(line, "\n ");
		line += *line == ' ';
	}
	return field;
}

static uint64_t table_number(const char *header, const char *line, const char *name)
{
	return strtoull(table_field(header, line, name), NULL, 10);
}

static void copied_addr(const char *header, const char *line, struct ctl_addr *addr)
{
	char text[256];

	snprintf(text, sizeof(text), "%s", table_field(header, line, "addr"));
	if (!parse_addr(text, addr))
		memset(addr, 0, sizeof(*addr));
	addr->port = table_number(header, line, "port");
}

static void copied_node(const char *header, const char *line, void *arg)
{
	struct patient *p = arg;

	p->up = true;
	copied_addr(header, line, &p->node.addr);
	p->node.conns = table_number(header, line, "conns");
	p->node.broadcast = table_number(header, line, "broadcast");
}

static void copied_peer(const char *header, const char *line, void *arg)
{
	struct view_peer *peer = one_more(arg);

	copied_addr(header, line, &peer->addr);
	snprintf(peer->state, sizeof(peer->state), "%.20s",
		 table_field(header, line, "state"));
	peer->fresh = table_number(header, line, "fresh");
	peer->listed = table_number(header, line, "listed");
	peer->lent = table_number(header, line, "lent");
}

static void copied_device(const char *header, const char *line, void *arg)
{
	struct view_device *d = one_more(arg);

	snprintf(d->name, sizeof(d->name), "%.60s", table_field(header, line, "device"));
	d->size = table_number(header, line, "slots") * PAGE_BYTES;
	d->lost = table_number(header, line, "lost");
	snprintf(d->home, sizeof(d->home), "%.60s", table_field(header, line, "home"));
	if (!strcmp(d->home, "-"))
		*d->home = '\0';
}

static void copied_stat(const char *header, const char *line, void *arg)
{
	struct patient *p = arg;

	if (!strcmp(table_field(header, line, "counter"), "write_errors"))
		p->write_errors += table_number(header, line, "value");
}

static void copied_table(const char *path,
			 void (*take)(const char *header, const char *line, void *arg),
			 void *arg)
{
	char header[2048], line[2048];
	FILE *f = doctor_open(path);

	if (!f)
		return;
	if (fgets(header, sizeof(header), f))
		while (fgets(line, sizeof(line), f))
			take(header, line, arg);
	fclose(f);
}

bool doctor_copied(struct patient *p)
{
	struct growing peers = { .size = sizeof(struct view_peer) };
	struct growing devices = { .size = sizeof(struct view_device) };

	copied_table("/proc/nswap/node", copied_node, p);
	copied_table("/proc/nswap/peers", copied_peer, &peers);
	copied_table("/proc/nswap/devices", copied_device, &devices);
	copied_table("/proc/nswap/stats", copied_stat, p);
	p->peers = (void *)peers.entry;
	p->nr_peers = peers.nr;
	p->devices = (void *)devices.entry;
	p->nr_devices = devices.nr;
	return p->up;
}

/* a line of /proc/net/route: the length of its prefix, -1 if it is not for @ip */
static int route_matches(const char *line, uint32_t ip, char *name)
{
	unsigned int to, flags, mask;

	if (sscanf(line, "%15s %x %*x %x %*d %*d %*d %x", name, &to, &flags, &mask) != 4 ||
	    !(flags & ROUTE_UP) || flags & ROUTE_REJECT || (ip & mask) != to)
		return -1;
	return __builtin_popcount(mask);
}

/* likewise of /proc/net/ipv6_route */
static int route6_matches(const char *line, const uint8_t *ip, char *name)
{
	unsigned int prefix, flags, byte, i;
	char to[33];

	if (sscanf(line, "%32s %x %*s %*x %*s %*x %*x %*x %x %15s", to, &prefix, &flags,
		   name) != 4 || !(flags & ROUTE_UP) || flags & ROUTE_REJECT || prefix > 128 ||
	    !strcmp(name, "lo"))
		return -1;
	for (i = 0; i < prefix; i++) {
		if (sscanf(to + i / 8 * 2, "%2x", &byte) != 1 ||
		    (byte ^ ip[i / 8]) & 0x80 >> i % 8)
			return -1;
	}
	return prefix;
}

bool doctor_interface(const struct ctl_addr *addr, char *name)
{
	bool v4 = addr->family == AF_INET;
	char line[512], through[IF_NAMESIZE];
	int length, best = -1;
	uint32_t ip;
	FILE *f;

	if (addr->scope && !doctor_is_copy())
		return if_indextoname(addr->scope, name);
	f = doctor_open(v4 ? "/proc/net/route" : "/proc/net/ipv6_route");
	memcpy(&ip, addr->ip, sizeof(ip));
	while (f && fgets(line, sizeof(line), f)) {
		length = v4 ? route_matches(line, ip, through) :
			 route6_matches(line, addr->ip, through);
		if (length <= best)
			continue;
		best = length;
		strcpy(name, through);
	}
	if (f)
		fclose(f);
	return best >= 0;
}
