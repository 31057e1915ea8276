// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes and addresses, as people write them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

/* decimal digits and nothing else */
bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end && *value <= max;
}

/* a node id: 16 hexadecimal digits, as they are shown */
bool parse_id(const char *text, uint64_t *id)
{
	if (strlen(text) != 16 || strspn(text, "0123456789abcdefABCDEF") != 16)
		return false;
	*id = strtoull(text, NULL, 16);
	return true;
}

/* "NODE-ID N" of a file: what is in it, and where N begins, NULL if the text makes no sense */
const char *parse_weight(const char *text, uint64_t *id, uint64_t *weight)
{
	char first[17] = "";
	const char *second;

	if (!parse_id(strncat(first, text, 16), id) || text[16] != ' ')
		return NULL;
	second = text + 16 + strspn(text + 16, " ");
	return parse_number(second, UINT32_MAX, weight) ? second : NULL;
}

/* 4096, 64K, 64M, 2G, 1T; with "iB" behind the letter, too */
bool parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	uint64_t value;
	char *end;
	int shift;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (!*end) {
		*bytes = value;
		return true;
	}
	unit = strchr(units, *end & ~0x20);
	if (!unit || !*unit || (end[1] && strcmp(end + 1, "iB")))
		return false;
	shift = 10 * (unit - units + 1);
	if (value > UINT64_MAX >> shift)
		return false;
	*bytes = value << shift;
	return true;
}

static bool parse_port(const char *text, uint16_t *port)
{
	uint64_t value;

	if (!parse_number(text, UINT16_MAX, &value) || !value)
		return false;
	*port = value;
	return true;
}

/* @there: the interface has to be */
static bool parse_scope(const char *text, bool there, uint32_t *scope)
{
	uint64_t value;

	*scope = if_nametoindex(text);
	if (!*scope && parse_number(text, UINT32_MAX, &value))
		*scope = value;
	return *scope || (!there && *text && strlen(text) < IF_NAMESIZE);
}

/* 10.0.0.1, 10.0.0.1:9611, fd00::1, fe80::1%eth0, [fe80::1%eth0]:9611 */
static bool parse_addr_of(const char *text, bool there, struct ctl_addr *addr)
{
	char copy[ADDR_TEXT], *ip = copy, *port = NULL, *scope, *end;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return false;
	memset(addr, 0, sizeof(*addr));
	if (*copy == '[') {
		ip = copy + 1;
		end = strchr(ip, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		if (end[1])
			port = end + 2;
		*end = '\0';
		addr->family = AF_INET6;
	} else {
		end = strchr(copy, ':');
		addr->family = end && strchr(end + 1, ':') ? AF_INET6 : AF_INET;
		if (end && addr->family == AF_INET) {
			*end = '\0';
			port = end + 1;
		}
	}
	if (port && !parse_port(port, &addr->port))
		return false;
	scope = strchr(ip, '%');
	if (scope) {
		*scope++ = '\0';
		if (addr->family != AF_INET6 ||
		    !parse_scope(scope, there, &addr->scope))
			return false;
	}
	return inet_pton(addr->family, ip, addr->ip) == 1;
}

bool parse_addr(const char *text, struct ctl_addr *addr)
{
	return parse_addr_of(text, true, addr);
}

bool parse_addr_later(const char *text, struct ctl_addr *addr)
{
	return parse_addr_of(text, false, addr);
}

/* the first global IPv4 address of this network namespace */
bool addr_default(struct ctl_addr *addr)
{
	struct ifaddrs *list, *i;
	bool found = false;

	if (getifaddrs(&list))
		return false;
	for (i = list; i && !found; i = i->ifa_next) {
		const struct sockaddr_in *in = (void *)i->ifa_addr;
		uint32_t ip;

		if (!in || in->sin_family != AF_INET ||
		    !(i->ifa_flags & IFF_UP) || i->ifa_flags & IFF_LOOPBACK)
			continue;
		ip = ntohl(in->sin_addr.s_addr);
		if (ip >> 24 == IN_LOOPBACKNET || ip >> 16 == 0xa9fe)
			continue;
		memset(addr, 0, sizeof(*addr));
		addr->family = AF_INET;
		memcpy(addr->ip, &in->sin_addr, sizeof(in->sin_addr));
		found = true;
	}
	freeifaddrs(list);
	return found;
}

/* the same as a socket address; returns its length */
socklen_t addr_socket(const struct ctl_addr *a, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = a->family;
	if (a->family == AF_INET) {
		in->sin_port = htons(a->port);
		memcpy(&in->sin_addr, a->ip, sizeof(in->sin_addr));
		return sizeof(*in);
	}
	in6->sin6_port = htons(a->port);
	in6->sin6_scope_id = a->scope;
	memcpy(&in6->sin6_addr, a->ip, sizeof(in6->sin6_addr));
	return sizeof(*in6);
}

/* without the port */
char *text_ip(const struct ctl_addr *addr, char buf[ADDR_TEXT])
{
	char name[IF_NAMESIZE];
	size_t len;

	if (!inet_ntop(addr->family, addr->ip, buf, ADDR_TEXT)) {
		snprintf(buf, ADDR_TEXT, "?");
		return buf;
	}
	len = strlen(buf);
	if (addr->scope && if_indextoname(addr->scope, name))
		snprintf(buf + len, ADDR_TEXT - len, "%%%s", name);
	else if (addr->scope)
		snprintf(buf + len, ADDR_TEXT - len, "%%%u", addr->scope);
	return buf;
}

/* with the port */
char *text_addr(const struct ctl_addr *addr, char buf[ADDR_TEXT])
{
	char ip[ADDR_TEXT];

	snprintf(buf, ADDR_TEXT, addr->family == AF_INET6 ? "[%.60s]:%u" :
		 "%.60s:%u", text_ip(addr, ip), addr->port);
	return buf;
}

/* 64 MiB, 1.5 GiB, 12 KiB, 0 */
char *text_size(uint64_t bytes, char *buf, size_t len)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = bytes;
	unsigned int i = 0;

	while (value >= 1024 && i < 4) {
		value /= 1024;
		i++;
	}
	snprintf(buf, len, value < 10 && value != (int)value ? "%.1f %s" :
		 "%.0f %s", value, units[i]);
	return buf;
}

/* the same in four characters at most, as options take it: 0, 812K, 1.5G */
char *text_short(double bytes, char buf[8])
{
	static const char units[] = " KMGTPE";
	unsigned int i = 0;

	while (bytes >= (i ? 999.5 : 1000) && units[i + 1]) {
		bytes /= 1024;
		i++;
	}
	snprintf(buf, 8, i && bytes < 9.95 && bytes != (int)bytes ? "%.1f%.1s" : "%.0f%.1s",
		 bytes, i ? &units[i] : "");
	return buf;
}
