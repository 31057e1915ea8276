// SPDX-License-Identifier: GPL-2.0
/*
 * STAT: another node asks for the totals of this one. It comes on a link of its own, with
 * a thread of its own: whatever it takes delays no page.
 */
#include "base/hooks.h"
#include "pure/totals.h"
#include "server.h"

/* answer a STAT; the connection's hand, sleeps only to send; allocates nothing */
int nswap_serve_stat(struct nswap_srv_conn *conn)
{
	struct nswap_wire_stat *answer = (void *)conn->run;
	struct nswap_totals t;
	u32 bytes;

	nswap_hooks.totals(conn->node, &t);
	bytes = nswap_totals_put(answer, &t);
	nswap_serve_head(conn, NSWAP_STAT_REPLY, t.nr, bytes);
	return nswap_serve_answer(conn, answer, bytes);
}
