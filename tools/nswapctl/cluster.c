// SPDX-License-Identifier: GPL-2.0
/*
 * The cluster as one table: asking for it, again and again, and JSON. The module asks the
 * peers, all at once, see docs/netlink/nswap.yaml: survey-get.
 */
#include <time.h>

#include "cluster.h"
#include "json.h"
#include "take.h"

const struct cluster_total cluster_totals[CLUSTER_TOTALS] = {
	[CLUSTER_LENT] = { NSWAP_TOTALS_A_LENT, "lent_pages" },
	[CLUSTER_HELD] = { NSWAP_TOTALS_A_HELD, "held_pages" },
	[CLUSTER_FREE] = { NSWAP_TOTALS_A_FREE, "free_pages" },
	[CLUSTER_OWNERS] = { NSWAP_TOTALS_A_OWNERS, "owners" },
	[CLUSTER_DEVICES] = { NSWAP_TOTALS_A_DEVICES, "devices" },
	[CLUSTER_SIZE] = { NSWAP_TOTALS_A_SIZE, "device_pages" },
	[CLUSTER_REMOTE] = { NSWAP_TOTALS_A_REMOTE, "remote_pages" },
	[CLUSTER_FLASH] = { NSWAP_TOTALS_A_FLASH, "flash_pages" },
	[CLUSTER_HOME] = { NSWAP_TOTALS_A_HOME, "home_pages" },
	[CLUSTER_EXPOSED] = { NSWAP_TOTALS_A_EXPOSED, "exposed_pages" },
	[CLUSTER_LOST] = { NSWAP_TOTALS_A_LOST, "lost_pages" },
	[CLUSTER_OUT] = { NSWAP_TOTALS_A_OUT, "pages_out" },
	[CLUSTER_IN] = { NSWAP_TOTALS_A_IN, "pages_in" },
};

static void take_totals(struct nlattr *nest, struct cluster_member *m)
{
	struct nlattr *tb[NSWAP_TOTALS_A_MAX + 1] = {};
	size_t i;

	nested(tb, NSWAP_TOTALS_A_MAX, nest);
	text_of(tb[NSWAP_TOTALS_A_SOFTWARE], m->software, sizeof(m->software));
	for (i = 0; i < CLUSTER_TOTALS; i++) {
		m->told[i] = tb[cluster_totals[i].attr];
		m->total[i] = u64_of(tb[cluster_totals[i].attr]);
	}
}

static void more_members(struct nlattr **attrs, void *arg)
{
	struct cluster_member *m = one_more(arg);
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

static int compare_members(const void *left, const void *right)
{
	const struct cluster_member *a = left, *b = right;
	const struct ctl_addr *x = &a->peer.addr, *y = &b->peer.addr;
	int order = b->self - a->self;

	if (!order)
		order = x->family - y->family;
	if (!order)
		order = memcmp(x->ip, y->ip, sizeof(x->ip));
	return order ? order : x->port - y->port;
}

static void cluster_ask(struct cluster *c)
{
	struct growing g = { .size = sizeof(struct cluster_member) };
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	c->at = t.tv_sec + t.tv_nsec / 1e9;
	ctl_dump(ctl_request(NSWAP_CMD_SURVEY_GET), more_members, &g);
	c->member = (void *)g.entry;
	c->nr = g.nr;
	if (c->nr)
		qsort(c->member, c->nr, sizeof(*c->member), compare_members);
}

/* a node that came up in between counts from 0 again, and has no rate */
static void cluster_rate(struct cluster *c, const struct cluster *was)
{
	const struct cluster_member *old;
	struct cluster_member *m;

	for (m = c->member; m < c->member + c->nr; m++)
		for (old = was->member; old < was->member + was->nr; old++) {
			if (old->peer.id != m->peer.id || old->peer.epoch != m->peer.epoch ||
			    !old->told[CLUSTER_IN] || !m->told[CLUSTER_IN])
				continue;
			m->rated = true;
			m->out = (m->total[CLUSTER_OUT] - old->total[CLUSTER_OUT]) /
				 (c->at - was->at);
			m->in = (m->total[CLUSTER_IN] - old->total[CLUSTER_IN]) /
				(c->at - was->at);
		}
}

static void json_member(const struct cluster_member *m)
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
	for (i = 0; i < CLUSTER_TOTALS; i++)
		if (m->told[i])
			json_number(cluster_totals[i].key, m->total[i]);
	if (m->rated) {
		json_real("pages_out_s", m->out);
		json_real("pages_in_s", m->in);
	}
	json_end();
}

static void cluster_tell(const struct cluster *c, double seconds)
{
	size_t i;

	if (!ctl_json) {
		cluster_print(c, seconds);
		return;
	}
	json_list(NULL);
	for (i = 0; i < c->nr; i++)
		json_member(&c->member[i]);
	json_end();
}

/* until @seconds after they were asked last; they may have taken longer to answer */
static void cluster_rest(const struct cluster *c, double seconds)
{
	struct timespec until = { .tv_sec = c->at + seconds };

	until.tv_nsec = (c->at + seconds - until.tv_sec) * 1e9;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

int cluster_show(double interval, uint64_t times)
{
	struct cluster c, was;

	cluster_ask(&c);
	if (!interval)
		cluster_tell(&c, 0);
	else if (ctl_json)
		json_lines();
	while (interval) {
		was = c;
		cluster_rest(&was, interval);
		cluster_ask(&c);
		cluster_rate(&c, &was);
		cluster_tell(&c, c.at - was.at);
		free(was.member);
		if (fflush(stdout) || ferror(stdout) || (times && !--times))
			break;
	}
	free(c.member);
	return 0;
}
