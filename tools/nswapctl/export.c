// SPDX-License-Identifier: GPL-2.0
/*
 * Exports: the list of them, and who is connected.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "export.h"

#define ESTABLISHED	1
#define LISTEN		10

struct export *export_more(struct export **list, size_t *nr)
{
	*list = realloc(*list, (*nr + 1) * sizeof(**list));
	if (!*list)
		ctl_refuse("no memory");
	return memset(*list + (*nr)++, 0, sizeof(**list));
}

size_t export_all(struct export **list)
{
	size_t nr = 0;

	*list = NULL;
	export_nvme_list(list, &nr);
	export_nbd_list(list, &nr);
	return nr;
}

bool export_find(const char *device, struct export *e)
{
	struct export *all;
	size_t i, nr = export_all(&all);
	bool found = false;

	for (i = 0; i < nr && !found; i++) {
		found = !strcmp(all[i].device, device);
		if (found)
			*e = all[i];
	}
	free(all);
	return found;
}

bool export_addr(const char *text, struct ctl_addr *to)
{
	if (parse_addr(text, to))
		return true;
	memset(to, 0, sizeof(*to));
	to->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	return false;
}

/* one end of a connection, "0100007F:115C"; an IPv4 address in IPv6 as what it is */
static bool take_end(const char *text, struct ctl_addr *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const char *colon = strchr(text, ':');
	size_t i, words = colon ? (size_t)(colon - text) / 8 : 0;
	unsigned int word, port;

	if ((words != 1 && words != 4) || sscanf(colon + 1, "%x", &port) != 1)
		return false;
	memset(addr, 0, sizeof(*addr));
	for (i = 0; i < words; i++) {
		if (sscanf(text + 8 * i, "%8x", &word) != 1)
			return false;
		memcpy(addr->ip + 4 * i, &word, 4);
	}
	addr->family = words == 1 ? AF_INET : AF_INET6;
	addr->port = port;
	if (words == 4 && !memcmp(addr->ip, mapped, sizeof(mapped))) {
		addr->family = AF_INET;
		memcpy(addr->ip, addr->ip + 12, 4);
		memset(addr->ip + 4, 0, 12);
	}
	return true;
}

/* is it that address, or any if it listens at all? */
static bool is_at(const struct ctl_addr *local, const struct ctl_addr *to)
{
	static const uint8_t any[16];

	return local->port == to->port &&
	       (!memcmp(to->ip, any, sizeof(any)) ||
		(local->family == to->family &&
		 !memcmp(local->ip, to->ip, sizeof(to->ip))));
}

static void add_client(const struct ctl_addr *client, char *text, size_t len)
{
	size_t used = strlen(text), ip_len;
	char ip[ADDR_TEXT], *seen;

	ip_len = strlen(text_ip(client, ip));
	for (seen = strstr(text, ip); seen; seen = strstr(seen + 1, ip))
		if ((seen == text || seen[-1] == ',') &&
		    (!seen[ip_len] || seen[ip_len] == ','))
			return;
	snprintf(text + used, len - used, "%s%s", used ? "," : "", ip);
}

/* the next socket that is in a state at an address; its other end. False at the end of the list */
static bool next_socket(FILE *f, unsigned int state, const struct ctl_addr *to,
			struct ctl_addr *there)
{
	char line[512], local[64], remote[64];
	struct ctl_addr here;
	unsigned int now;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %63s %63s %x", local, remote, &now) == 3 &&
		    now == state && take_end(local, &here) && take_end(remote, there) &&
		    is_at(&here, to))
			return true;
	return false;
}

static void clients_in(const char *path, const struct ctl_addr *to, char *text, size_t len)
{
	FILE *f = fopen(path, "re");
	struct ctl_addr client;

	while (next_socket(f, ESTABLISHED, to, &client))
		add_client(&client, text, len);
	if (f)
		fclose(f);
}

static bool listens_in(const char *path, const struct ctl_addr *to)
{
	FILE *f = fopen(path, "re");
	struct ctl_addr none;
	bool listens = next_socket(f, LISTEN, to, &none);

	if (f)
		fclose(f);
	return listens;
}

bool export_listens(const struct ctl_addr *to)
{
	return listens_in("/proc/net/tcp", to) || listens_in("/proc/net/tcp6", to);
}

void export_clients(const struct export *e, char *text, size_t len)
{
	*text = '\0';
	if (!e->to.family)
		return;
	clients_in("/proc/net/tcp", &e->to, text, len);
	clients_in("/proc/net/tcp6", &e->to, text, len);
}
