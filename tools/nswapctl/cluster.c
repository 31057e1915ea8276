// SPDX-License-Identifier: GPL-2.0
/*
 * The cluster as one table: what this node and each of its peers say of themselves. The
 * module asks them, see docs/netlink/nswap.yaml: survey-get.
 */
#include "cluster.h"
#include "json.h"
#include "take.h"
#include "view.h"

/**
 * struct total - a total of a node
 * @attr: where netlink has it
 * @key: in JSON
 * @title: of its column, NULL for none
 * @pages: printed as an amount of memory, not as a number
 */
struct total {
	int attr;
	const char *key;
	const char *title;
	bool pages;
};

static const struct total totals[] = {
	{ NSWAP_TOTALS_A_LENT, "lent_pages", "LENDS", true },
	{ NSWAP_TOTALS_A_HELD, "held_pages", "HOLDS", true },
	{ NSWAP_TOTALS_A_FREE, "free_pages", "FREE", true },
	{ NSWAP_TOTALS_A_OWNERS, "owners", NULL, false },
	{ NSWAP_TOTALS_A_DEVICES, "devices", NULL, false },
	{ NSWAP_TOTALS_A_SIZE, "device_pages", NULL, false },
	{ NSWAP_TOTALS_A_REMOTE, "remote_pages", "AT PEERS", true },
	{ NSWAP_TOTALS_A_FLASH, "flash_pages", "FLASH", true },
	{ NSWAP_TOTALS_A_HOME, "home_pages", "HOME", true },
	{ NSWAP_TOTALS_A_EXPOSED, "exposed_pages", "EXPOSED", true },
	{ NSWAP_TOTALS_A_LOST, "lost_pages", "LOST", true },
	{ NSWAP_TOTALS_A_OUT, "pages_out", "OUT", false },
	{ NSWAP_TOTALS_A_IN, "pages_in", "IN", false },
};

#define NR_TOTALS	(sizeof(totals) / sizeof(totals[0]))

struct told {
	bool self;
	struct view_peer peer;	/* of the node itself: id and address */
	char software[32];	/* "" if it has told nothing */
	char why[96];		/* likewise why */
	bool told[NR_TOTALS];
	uint64_t total[NR_TOTALS];
};

static void take_totals(struct nlattr *nest, struct told *m)
{
	struct nlattr *tb[NSWAP_TOTALS_A_MAX + 1] = {};
	size_t i;

	nested(tb, NSWAP_TOTALS_A_MAX, nest);
	text_of(tb[NSWAP_TOTALS_A_SOFTWARE], m->software, sizeof(m->software));
	for (i = 0; i < NR_TOTALS; i++) {
		m->told[i] = tb[totals[i].attr];
		m->total[i] = u64_of(tb[totals[i].attr]);
	}
}

static void more_told(struct nlattr **attrs, void *arg)
{
	struct told *m = one_more(arg);
	struct view_node node = {};

	m->self = attrs[NSWAP_A_NODE_INFO];
	if (m->self) {
		view_take_node(attrs, &node);
		m->peer.id = node.id;
		m->peer.epoch = node.epoch;
		m->peer.addr = node.addr;
		strcpy(m->peer.state, "here");
	} else {
		view_take_peer(attrs, &m->peer);
	}
	take_totals(attrs[NSWAP_A_TOTALS], m);
	text_of(attrs[NSWAP_A_WHY], m->why, sizeof(m->why));
	if (*m->peer.refused)
		snprintf(m->why, sizeof(m->why), "%s", m->peer.refused);
}

static void json_member(const struct told *m)
{
	char ip[ADDR_TEXT];
	size_t i;

	json_object(NULL);
	json_bool("self", m->self);
	json_id("id", m->peer.id);
	json_id("epoch", m->peer.epoch);
	json_string("addr", text_ip(&m->peer.addr, ip));
	json_number("port", m->peer.addr.port);
	json_string("state", m->peer.state);
	json_bool("told", *m->software);
	json_string("why", m->why);
	json_string("software", m->software);
	for (i = 0; i < NR_TOTALS; i++)
		if (m->told[i])
			json_number(totals[i].key, m->total[i]);
	json_end();
}

static void print_totals(const bool *told, const uint64_t *total)
{
	char text[32];
	size_t i;

	for (i = 0; i < NR_TOTALS; i++) {
		if (!totals[i].title)
			continue;
		if (!told[i])
			snprintf(text, sizeof(text), "-");
		else if (totals[i].pages)
			text_size(total[i] * PAGE_BYTES, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "%llu", (unsigned long long)total[i]);
		printf(" %9s", text);
	}
}

static void print_member(const struct told *m)
{
	char addr[ADDR_TEXT];

	printf("%-21s %-10s", text_addr(&m->peer.addr, addr), m->peer.state);
	if (*m->software)
		print_totals(m->told, m->total);
	printf("  %s\n", *m->software ? m->software : m->why);
}

static void print_members(const struct told *members, size_t nr)
{
	uint64_t sum[NR_TOTALS] = {};
	bool all[NR_TOTALS] = {};
	char title[48];
	size_t i, n, told = 0;

	printf("%-21s %-10s", "NODE", "STATE");
	for (i = 0; i < NR_TOTALS; i++)
		if (totals[i].title)
			printf(" %9s", totals[i].title);
	printf("  VERSION\n");
	for (n = 0; n < nr; n++) {
		print_member(&members[n]);
		told += *members[n].software != 0;
		for (i = 0; i < NR_TOTALS; i++) {
			all[i] = all[i] || members[n].told[i];
			sum[i] += members[n].total[i];
		}
	}
	snprintf(title, sizeof(title), "together, %zu of %zu", told, nr);
	printf("%-32s", title);
	print_totals(all, sum);
	printf("\n");
}

int cluster_show(void)
{
	struct growing g = { .size = sizeof(struct told) };
	const struct told *members;
	size_t i;

	ctl_dump(ctl_request(NSWAP_CMD_SURVEY_GET), more_told, &g);
	members = (const void *)g.entry;
	if (ctl_json) {
		json_list(NULL);
		for (i = 0; i < g.nr; i++)
			json_member(&members[i]);
		json_end();
	} else {
		print_members(members, g.nr);
	}
	free(g.entry);
	return 0;
}
