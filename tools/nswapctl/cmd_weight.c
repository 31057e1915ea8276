// SPDX-License-Identifier: GPL-2.0
/*
 * Command weight: what another node gets of this one beside the others.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "nl.h"
#include "parse.h"
#include "view.h"

/* has a peer this address? this port and interface, too, if they are named */
static bool peer_is(const struct view_peer *p, const struct ctl_addr *addr)
{
	return p->id && p->addr.family == addr->family &&
	       !memcmp(p->addr.ip, addr->ip, sizeof(addr->ip)) &&
	       (!addr->port || p->addr.port == addr->port) &&
	       (!addr->scope || p->addr.scope == addr->scope);
}

/* node id of the one that is meant, by address or by id */
static uint64_t node_id(const char *text)
{
	struct view_peer *peers;
	struct ctl_addr addr;
	uint64_t id = 0;
	size_t i, nr;

	if (parse_id(text, &id))
		return id;
	if (!parse_addr(text, &addr))
		ctl_usage("'%s' is neither an address nor a node id of 16 hexadecimal digits", text);
	nr = view_peers(&peers);
	for (i = 0; i < nr; i++) {
		if (!peer_is(&peers[i], &addr))
			continue;
		if (id && id != peers[i].id)
			ctl_refuse("more than one peer has the address %s: name its port, or its node id as 'nswapctl --json peers' says",
				   text);
		id = peers[i].id;
	}
	free(peers);
	if (!id)
		ctl_refuse("no peer has the address %s, see: nswapctl peers", text);
	return id;
}

static int list_weights(void)
{
	struct view_weight *weights;
	struct view_peer *peers;
	size_t i, p, nr = view_weights(&weights), nr_peers = view_peers(&peers);
	char addr[ADDR_TEXT];

	if (ctl_json)
		json_list(NULL);
	else
		printf("%-16s  %-24s %6s\n", "NODE ID", "ADDRESS", "WEIGHT");
	for (i = 0; i < nr; i++) {
		*addr = '\0';
		for (p = 0; p < nr_peers; p++)
			if (peers[p].id == weights[i].id)
				text_addr(&peers[p].addr, addr);
		if (!ctl_json) {
			printf("%016" PRIx64 "  %-24s %6" PRIu32 "\n", weights[i].id,
			       *addr ? addr : "-", weights[i].value);
			continue;
		}
		json_object(NULL);
		json_id("id", weights[i].id);
		if (*addr)
			json_string("address", addr);
		json_number("weight", weights[i].value);
		json_end();
	}
	if (ctl_json)
		json_end();
	free(weights);
	free(peers);
	return 0;
}

int cmd_weight(int argc, char **argv)
{
	struct nl_msg *msg;
	uint32_t weight;
	uint64_t id;

	if (argc == 1)
		return list_weights();
	if (argc == 2)
		ctl_usage("name the weight of '%s'", argv[1]);
	arg_no_more(argc, argv, 3);
	weight = arg_number(argv[2], "number from 10 to 1000", UINT32_MAX);
	id = node_id(argv[1]);
	msg = ctl_request(NSWAP_CMD_NODE_SET);
	ctl_put_weight(msg, id, weight);
	ctl_call(msg, NULL, NULL);
	return 0;
}
