// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor on peers: are they heard, do they answer, does a firewall name the port?
 */
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "doctor.h"
#include "probe.h"

#define PROBE_MS	2000
#define FIREWALL_LINE	1024

/* how a node is brought up that is to be the peer of this one */
static const char *up_with(const struct patient *p)
{
	if (!p->node.public[0])
		return "--open";
	return p->node.members ? "--key FILE --members FILE" : "--secret FILE";
}

static void check_heard(const struct patient *p)
{
	char fix[160];
	bool listed = false;
	size_t i, nr = doctor_alive(p);

	for (i = 0; i < p->nr_peers; i++)
		listed |= p->peers[i].listed;
	if (nr) {
		doctor_fine("%zu of %zu known peers are there", nr, p->nr_peers);
		return;
	}
	if (listed) {
		snprintf(fix, sizeof(fix), "nswapctl up %s --port %u --lend 1G (on the listed nodes)",
			 up_with(p), p->node.addr.port);
		doctor_find(DOCTOR_PROBLEM, false, fix, "none of the listed peers was heard within 3 s: nswap is not up there, or UDP port %u is blocked",
			p->node.addr.port);
	} else if (p->node.broadcast) {
		snprintf(fix, sizeof(fix), "nswapctl down && nswapctl up %s --port %u --peers ADDRESS,ADDRESS",
			 up_with(p), p->node.addr.port);
		doctor_find(DOCTOR_PROBLEM, false, fix, "no announcement was heard within 3 s: no other node on this subnet runs nswap on port %u, or its UDP broadcasts do not get here, and then peers have to be listed",
			p->node.addr.port);
	} else {
		snprintf(fix, sizeof(fix), "nswapctl down && nswapctl up %s --peers ADDRESS,ADDRESS",
			 up_with(p));
		doctor_find(DOCTOR_PROBLEM, false, fix,
			"this node neither broadcasts nor lists peers, so it finds no peer and only waits to be found");
	}
}

static void check_versions(const struct patient *p)
{
	char addr[ADDR_TEXT];
	size_t i;

	for (i = 0; i < p->nr_peers; i++)
		if (*p->peers[i].refused)
			doctor_find(DOCTOR_PROBLEM, false, "install the same version of nswap on both",
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
		doctor_find(DOCTOR_PROBLEM, false, fix, "%s refuses connections: nswap is not up there, or a firewall rejects TCP",
			addr);
		break;
	case PROBE_SILENT:
		port_fix(cmd, sizeof(cmd), "tcp", probe->addr.port);
		snprintf(fix, sizeof(fix), "%s (on that node)", cmd);
		doctor_find(DOCTOR_PROBLEM, false, fix, "%s does not answer: the node is down, or a firewall drops TCP to this port",
			addr);
		break;
	case PROBE_FAILED:
		doctor_find(DOCTOR_PROBLEM, false, "ip route get ADDRESS (to see which way it would go)",
			"%s cannot be reached from here: %s", addr,
			strerror(probe->error));
		break;
	}
}

static void check_tcp(const struct patient *p)
{
	struct probe *probes = calloc(p->nr_peers + 1, sizeof(*probes));
	size_t i, nr = 0;

	if (!probes)
		ctl_refuse("no memory");
	for (i = 0; i < p->nr_peers; i++) {
		const struct view_peer *peer = &p->peers[i];

		if (strcmp(peer->state, "up") && strcmp(peer->state, "lost") &&
		    strcmp(peer->state, "leaving") && strcmp(peer->state, "rebooting"))
			probes[nr++].addr = peer->addr;
	}
	probe_all(probes, nr, PROBE_MS);
	for (i = 0; i < nr; i++)
		tell_probe(p, &probes[i]);
	free(probes);
	if (p->nr_peers && !doctor_found())
		doctor_fine("every known peer takes connections");
}

/* connected, but its announcements do not get here */
static void check_udp(const struct patient *p)
{
	char addr[ADDR_TEXT], fix[120];
	size_t i, up = 0;

	port_fix(fix, sizeof(fix), "udp", p->node.addr.port);
	for (i = 0; i < p->nr_peers; i++) {
		if (strcmp(p->peers[i].state, "up"))
			continue;
		up++;
		if (!p->peers[i].fresh)
			doctor_find(DOCTOR_PROBLEM, false, fix, "%s is connected but its announcements do not arrive, so it is not chosen: UDP to this node is blocked",
				text_addr(&p->peers[i].addr, addr));
	}
	if (up && !doctor_found())
		doctor_fine("announcements of every connected peer arrive");
}

/* a line without what is in quotes, comments above all: blanks in its place */
static void rule_unquote(const char *line, char *bare)
{
	bool quoted = false;

	for (; *line; line++) {
		if (*line == '"')
			quoted = !quoted;
		*bare++ = quoted && *line != '"' ? ' ' : *line;
		if (quoted && *line == '\\' && line[1]) {
			*bare++ = ' ';
			line++;
		}
	}
	*bare = '\0';
}

/*
 * Does this rule, without what is in quotes, drop all packets to @port, whatever host and
 * interface it is of? What drops some of them, as those above a rate, is meant so.
 */
static bool rule_blocks(const char *line, unsigned int port)
{
	static const char *const some[] = {
		"saddr", "ifname", "if \"", " -s ", " -i ", "!=", "! -", "ct state", "ct count",
		"ctstate", "--state", "limit", "sport", "flags",
	};
	char number[8];
	const char *at, *verdict;
	size_t i;

	for (i = 0; i < sizeof(some) / sizeof(*some); i++)
		if (strstr(line, some[i]))
			return false;
	snprintf(number, sizeof(number), "%u", port);
	at = strstr(line, "dport");
	at = at ? strstr(at, number) : NULL;
	if (!at || strchr("0123456789", at[strlen(number)]) || strchr("0123456789", at[-1]))
		return false;
	/* iptables: a comment of one word has no quotes */
	verdict = strncmp(line, "-A ", 3) ? at : strstr(at, " -j ");
	return verdict && (strcasestr(verdict, "drop") || strcasestr(verdict, "reject"));
}

/* "table inet filter {" and "chain input {", of nft -a */
struct firewall {
	char table[128];
	char chain[64];
	bool drops;		/* one for what comes in drops what no rule accepts: */
	char input_table[128];
	char input_chain[64];
	bool named;		/* a rule names the port */
};

static void firewall_line(struct firewall *fw, char *line, unsigned int port)
{
	unsigned int handle = 0;
	char number[8], fix[256], bare[FIREWALL_LINE];
	const char *at;

	line += strspn(line, " \t");
	line[strcspn(line, "\n")] = '\0';
	rule_unquote(line, bare);
	snprintf(number, sizeof(number), "%u", port);
	sscanf(line, "table %127[^{]", fw->table);
	sscanf(line, "chain %63s", fw->chain);
	if (strstr(line, "hook input") && strstr(line, "policy drop")) {
		fw->drops = true;
		strcpy(fw->input_table, fw->table);
		strcpy(fw->input_chain, fw->chain);
	}
	if (strstr(bare, "dport") && strstr(bare, number))
		fw->named = true;
	if (!rule_blocks(bare, port))
		return;
	at = strstr(bare, "# handle ");
	if (at && sscanf(at, "# handle %u", &handle) == 1)
		snprintf(fix, sizeof(fix), "nft delete rule %s%s handle %u", fw->table,
			 fw->chain, handle);
	else if (!strncmp(line, "-A ", 3))
		snprintf(fix, sizeof(fix), "iptables -D %.200s", line + 3);
	else
		snprintf(fix, sizeof(fix), "nft -a list ruleset (to find it)");
	doctor_find(DOCTOR_PROBLEM, false, fix, "a rule of the firewall of this node drops packets to port %u: %.*s",
		    port, (int)strcspn(bare, "#"), line);
}

/* what the rules of this node say, if they can be read */
static void check_firewall(const struct patient *p)
{
	unsigned int port = p->node.addr.port;
	struct firewall fw = { .drops = false };
	char line[FIREWALL_LINE], fix[160];
	bool any = false;
	FILE *f;

	f = doctor_command("nft", "nft -a list ruleset");
	while (f && fgets(line, sizeof(line), f)) {
		any = true;
		firewall_line(&fw, line, port);
	}
	if (f)
		doctor_command_end(f);
	f = any ? NULL : doctor_command("iptables-save", "iptables-save -t filter");
	while (f && fgets(line, sizeof(line), f)) {
		fw.drops |= !strncmp(line, ":INPUT DROP", 11);
		firewall_line(&fw, line, port);
	}
	if (f)
		doctor_command_end(f);
	if (!fw.drops || fw.named)
		return;
	snprintf(fix, sizeof(fix), any ? "nft insert rule %s%s meta l4proto '{ tcp, udp }' th dport %u accept" :
		 "%s%siptables -I INPUT -p tcp --dport %u -j ACCEPT (and -p udp)",
		 fw.input_table, fw.input_chain, port);
	doctor_find(DOCTOR_ADVICE, false, fix, "the firewall of this node drops what no rule accepts, and no rule names port %u: peers can only connect if another one lets them in",
		    port);
}

const struct doctor_check doctor_peers[] = {
	{ "peers", DOCTOR_UP, check_heard },
	{ "version", DOCTOR_UP, check_versions },
	{ "tcp port", DOCTOR_LIVE, check_tcp },
	{ "udp port", DOCTOR_UP, check_udp },
	{ "firewall", DOCTOR_UP, check_firewall },
	{ }
};
