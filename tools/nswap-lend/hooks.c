// SPDX-License-Identifier: GPL-2.0
/*
 * What the module's units ask of the rest of it, as far as a node that only lends has it.
 * It has no devices, so no page anywhere is its own.
 */
#include "base/hooks.h"
#include "base/log.h"
#include "base/views.h"
#include "control/announce.h"
#include "core/meminfo.h"
#include "lend.h"
#include "migrate/mover.h"
#include "migrate/rebalance.h"
#include "migrate/serve_move.h"
#include "migrate/serve_told.h"
#include "peers/version.h"
#include "pure/totals.h"
#include "transport/rx_affinity.h"

static void hook_totals(struct nswap_node *node, struct nswap_totals *t)
{
	struct nswap_cache_view c;

	memset(t, 0, sizeof(*t));
	strscpy(t->software, NSWAP_VERSION, sizeof(t->software));
	t->nr = NSWAP_TOTAL_NR;
	nswap_cache_get_view(node, &c);
	t->value[NSWAP_TOTAL_LENT] = c.target;
	t->value[NSWAP_TOTAL_HELD] = c.ram;
	t->value[NSWAP_TOTAL_FREE] = c.free;
	t->value[NSWAP_TOTAL_OWNERS] = c.owners;
}

const struct nswap_hooks nswap_hooks = {
	.mover_kick = nswap_mover_kick,
	.announce_now = nswap_announce_now,
	.serve_moves = nswap_serve_moves,
	.totals = hook_totals,
};

/* messages for owners: no server has reason to send one */
int nswap_serve_told(struct nswap_srv_conn *conn)
{
	(void)conn;
	return -EPROTO;
}

/* all memory there is to be was taken at the start: it is never short of any */
void nswap_mem_view(const struct nswap_node *node, struct nswap_mem_view *v)
{
	(void)node;
	*v = (struct nswap_mem_view){ .free = 1 };
}

/* rebalancing is the module's */
u64 nswap_rebalance_excess(struct nswap_node *node)
{
	(void)node;
	return 0;
}

void nswap_rebalance_nowhere(struct nswap_node *node)
{
	(void)node;
}

void nswap_rebalance_look(struct nswap_node *node, struct nswap_balance_view *v)
{
	(void)node;
	memset(v, 0, sizeof(*v));
}

/* threads stay where the scheduler puts them */
void nswap_rx_affinity_start(struct nswap_rx_affinity *f)
{
	f->cpu = -1;
}

void nswap_rx_affinity(struct nswap_rx_affinity *f, int cpu)
{
	(void)f;
	(void)cpu;
}

static void version_note(struct nswap_node *node, const struct nswap_addr *at, u8 version,
			 u64 silent_ms)
{
	char text[64];
	bool news;

	spin_lock(&node->ipt_lock);
	news = nswap_ipt_speaks(&node->ipt, at, version, jiffies, silent_ms);
	spin_unlock(&node->ipt_lock);
	if (news)
		lend_say_seldom("%s is refused: it speaks version %u of the protocol, this program version %u; install the same version of nswap on both",
			 lend_addr_text(at, text, sizeof(text)), version, NSWAP_WIRE_VERSION);
}

void nswap_version_heard(struct nswap_node *node, const struct nswap_addr *from, u8 version)
{
	version_note(node, from, version, nswap_knob(node, silent_ms));
}

void nswap_version_client(struct nswap_node *node, const struct nswap_addr *from, u8 version)
{
	struct nswap_addr at = *from;

	at.port = node->addr.port;
	version_note(node, &at, version, nswap_knob(node, silent_ms));
}

void nswap_version_met(struct nswap_node *node, const struct nswap_addr *at, u8 version)
{
	version_note(node, at, version, 0);
}
