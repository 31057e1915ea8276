// SPDX-License-Identifier: GPL-2.0
/*
 * A lender's status for Prometheus: all that "nswapctl metrics --textfile" prints of a node
 * without devices, by the same code, so that the same dashboard and alerts serve. What only
 * a client counts is 0, and peers are not told of.
 */
#include "include/uapi/linux/nswap.h"
#include "metrics.h"
#include "status.h"

#define SERVER(name, attr) { VIEW_SERVER, NSWAP_SERVER_A_##attr, offsetof(struct nswap_stats, name) },
#define ANNOUNCE(name, attr) \
	{ VIEW_ANNOUNCE, NSWAP_ANNOUNCE_A_##attr, offsetof(struct nswap_stats, name) },

static const struct {
	enum view_role role;
	int attr;
	size_t at;
} counts[] = { NSWAP_SERVER_STATS(SERVER) NSWAP_ANNOUNCE_STATS(ANNOUNCE) };

static void metrics_count(const struct lend_status *s, struct view_stat *stat)
{
	unsigned int i, c;

	for (i = 0; i < view_nr_counters; i++)
		for (c = 0; c < ARRAY_SIZE(counts); c++)
			if (view_counters[i].role == counts[c].role &&
			    view_counters[i].attr == counts[c].attr)
				stat->counter[i] = *(const u64 *)((const char *)&s->counts +
								  counts[c].at);
}

static void metrics_fill_node(const struct lend_status *s, struct view_node *n)
{
	n->id = s->id;
	n->epoch = s->epoch;
	n->addr.family = s->addr.family;
	n->addr.port = s->addr.port;
	n->addr.scope = s->addr.scope;
	memcpy(n->addr.ip, s->addr.ip, sizeof(n->addr.ip));
	n->lent = s->view.lent;
	n->target = s->view.target;
	n->held = s->view.held;
	n->ram = s->view.ram;
	n->set_aside = s->view.set_aside;
	n->granted = s->view.granted;
	n->surplus = s->view.surplus;
	n->owners = s->view.owners;
	n->members = s->members;
	strcpy(n->size, "fixed");
}

static struct view_owner metrics_owner(const struct nswap_owner_view *v)
{
	return (struct view_owner){
		.id = v->id, .epoch = v->epoch, .connected = v->connected, .held = v->held,
		.ram = v->ram, .granted = v->granted, .no_home = v->no_home,
		.reserved = v->reserved, .share = v->share, .weight = v->weight,
	};
}

void lend_metrics(const struct lend_status *s, const struct nswap_owner_view *o, u32 nr)
{
	struct metrics m = { .out = stdout, .plain = true };
	struct view_owner *owners = calloc(nr + 1, sizeof(*owners));
	struct snap snap = { .owners = owners, .nr_owners = owners ? nr : 0 };
	u32 i;

	metrics_family(&m, METRICS_GAUGE, "nswap_up", NULL, "1 if nswap-lend runs here");
	metrics_whole(&m, "", NULL, !!s);
	metrics_family(&m, METRICS_INFO, "nswap_lend", NULL, "version of nswap-lend");
	metrics_whole(&m, "_info", "version=\"" NSWAP_VERSION "\",", 1);
	if (s) {
		for (i = 0; i < snap.nr_owners; i++)
			owners[i] = metrics_owner(&o[i]);
		metrics_fill_node(s, &snap.stat.node);
		metrics_count(s, &snap.stat);
		metrics_node(&m, &snap);
		metrics_lists(&m, &snap);
	}
	free(owners);
}
