// SPDX-License-Identifier: GPL-2.0
/*
 * Commands about nodes: up, down, nodes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ctl.h"
#include "drain.h"
#include "json.h"
#include "keys.h"
#include "nl.h"
#include "view.h"

/* options of "up" that are a knob: what is written, times @times */
static const struct up_knob {
	int option;
	const char *name;
	uint32_t times;
} up_knobs[] = {
	{ 'd', "dead_after_ms", 1000 },
	{ 'm', "announce_ms", 1 },
	{ 'r', "reconcile_s", 1 },
};

#define NR_UP_KNOBS	(sizeof(up_knobs) / sizeof(*up_knobs))

static const struct option up_options[] = {
	{ "addr", required_argument, NULL, 'a' },
	{ "port", required_argument, NULL, 'p' },
	{ "lend", required_argument, NULL, 'l' },
	{ "peers", required_argument, NULL, 'P' },
	{ "no-broadcast", no_argument, NULL, 'n' },
	{ "conns", required_argument, NULL, 'c' },
	{ "dead-after", required_argument, NULL, 'd' },
	{ "announce-ms", required_argument, NULL, 'm' },
	{ "reconcile", required_argument, NULL, 'r' },
	{ "size-policy", required_argument, NULL, 's' },
	{ "key", required_argument, NULL, 'k' },
	{ "members", required_argument, NULL, 'M' },
	{ "secret", required_argument, NULL, 'S' },
	{ "open", no_argument, NULL, 'o' },
	{ }
};

/* what "up" was asked for */
struct up_request {
	struct ctl_addr addr;
	uint16_t port;
	uint64_t lend_pages;
	uint32_t conns;
	bool no_broadcast;
	bool open;
	char *size_policy;
	char *peers;
	const char *key;
	const char *members;
	const char *secret;
	bool has_knob[NR_UP_KNOBS];
	uint32_t knob[NR_UP_KNOBS];
};

static void take_knob(struct up_request *up, int option)
{
	unsigned int i = 0;

	while (up_knobs[i].option != option)
		i++;
	up->has_knob[i] = true;
	up->knob[i] = up_knobs[i].times *
		arg_number(optarg, "time", UINT32_MAX / up_knobs[i].times);
}

/* @of: what it is to be of */
static void take_addr(const char *text, const char *of, struct ctl_addr *addr)
{
	if (parse_addr(text, addr))
		return;
	if (parse_addr_later(text, addr))
		ctl_usage("the interface of '%s' is not there", text);
	ctl_usage("'%s' is no address%s", text, of);
}

static void take_up_option(struct up_request *up, int option)
{
	switch (option) {
	case 'a':
		take_addr(optarg, "", &up->addr);
		break;
	case 'p':
		up->port = arg_number(optarg, "port", UINT16_MAX);
		if (!up->port)
			ctl_usage("a port is between 1 and 65535");
		break;
	case 'l':
		up->lend_pages = arg_pages(optarg);
		break;
	case 'P':
		up->peers = optarg;
		break;
	case 'n':
		up->no_broadcast = true;
		break;
	case 's':
		up->size_policy = optarg;
		break;
	case 'k':
		up->key = optarg;
		break;
	case 'M':
		up->members = optarg;
		break;
	case 'S':
		up->secret = optarg;
		break;
	case 'o':
		up->open = true;
		break;
	case 'c':
		up->conns = arg_number(optarg, "number of connections",
				       UINT32_MAX);
		if (!up->conns)
			ctl_usage("0 connections are too few");
		break;
	default:
		take_knob(up, option);
	}
}

static void settle_addr(struct up_request *up)
{
	if (!up->addr.family && !addr_default(&up->addr))
		ctl_refuse("this network namespace has no global IPv4 address, name one with --addr");
	if (up->port && up->addr.port && up->port != up->addr.port)
		ctl_usage("--addr and --port name different ports");
	if (up->port)
		up->addr.port = up->port;
	if (!up->addr.port)
		up->addr.port = NSWAP_DEFAULT_PORT;
}

static size_t parse_peers(const struct up_request *up, struct ctl_addr **list)
{
	char *one, *text = strdup(up->peers);
	struct ctl_addr *addr = NULL;
	size_t nr = 0;

	for (one = strtok(text, ","); one; one = strtok(NULL, ",")) {
		addr = realloc(addr, (nr + 1) * sizeof(*addr));
		if (!addr)
			ctl_refuse("no memory");
		take_addr(one, " of a peer", &addr[nr]);
		if (!addr[nr].port)
			addr[nr].port = up->addr.port;
		nr++;
	}
	free(text);
	if (!nr)
		ctl_usage("--peers names no address");
	*list = addr;
	return nr;
}

/* anyone on the subnet is let in only if that is meant */
static void up_check_open(const struct up_request *up)
{
	bool keys = up->key || up->members || up->secret;

	if (keys && up->open)
		ctl_usage("--open is for a node without keys");
	if (!keys && !up->open)
		ctl_refuse("without keys anyone on the subnet can take part: give it --secret FILE (made by: nswapctl key generate FILE --secret), or --key FILE --members FILE, or say --open");
}

static struct nl_msg *up_message(const struct up_request *up)
{
	struct ctl_addr *peers = NULL;
	size_t i, nr_peers = 0;
	struct nl_msg *msg;

	if (up->peers)
		nr_peers = parse_peers(up, &peers);
	msg = ctl_request(NSWAP_CMD_NODE_UP);
	ctl_put_addr(msg, NSWAP_A_ADDR, &up->addr);
	if (up->open)
		ctl_put_on(msg, NSWAP_A_OPEN);
	ctl_put_wide(msg, NSWAP_A_LEND_PAGES, up->lend_pages);
	if (up->conns)
		ctl_put_number(msg, NSWAP_A_CONNS, up->conns);
	if (up->no_broadcast)
		ctl_put_on(msg, NSWAP_A_NO_BROADCAST);
	if (up->size_policy)
		ctl_put_text(msg, NSWAP_A_SIZE_POLICY, up->size_policy);
	for (i = 0; i < nr_peers; i++)
		ctl_put_addr(msg, NSWAP_A_LISTED, &peers[i]);
	for (i = 0; i < NR_UP_KNOBS; i++)
		if (up->has_knob[i])
			ctl_put_knob(msg, up_knobs[i].name, up->knob[i]);
	keys_put_up(msg, up->key, up->members, up->secret);
	free(peers);
	return msg;
}

int cmd_up(int argc, char **argv)
{
	struct up_request up = { .port = 0 };
	char addr[ADDR_TEXT], lent[32];
	struct view_node n;
	int option;

	while ((option = arg_option(argc, argv, up_options)) != -1)
		take_up_option(&up, option);
	arg_no_more(argc, argv, optind);
	if (ctl_node)
		ctl_usage("a node comes up in the network namespace this is run in, not by number");
	up_check_open(&up);
	settle_addr(&up);
	ctl_call(up_message(&up), NULL, NULL);
	view_get_node(&n);
	if (ctl_json)
		view_json_node(NULL, &n);
	else
		printf("node %u is up at %s and lends %s%s\n", n.number,
		       text_addr(&n.addr, addr),
		       text_size(n.lent * PAGE_BYTES, lent, sizeof(lent)),
		       up.open ? "; it is open: anyone on its subnet can take part" : "");
	return 0;
}

#define DRAINS	3	/* before a refusal to go down is final */

static const struct option down_options[] = {
	{ "netns-id", required_argument, NULL, 'i' },
	{ "now", no_argument, NULL, 'f' },
	{ "reboot", no_argument, NULL, 'r' },
	{ }
};

static uint32_t node_of_netns(uint32_t netns)
{
	struct view_node *nodes;
	size_t i, nr = view_nodes(&nodes);
	uint32_t number = 0;

	for (i = 0; i < nr; i++)
		if (nodes[i].netns == netns)
			number = nodes[i].number;
	free(nodes);
	if (!number)
		ctl_refuse("no node of that network namespace can be seen from here");
	return number;
}

/* who loses how many pages when this node goes; of nodes as known before */
static void say_lost(const struct view_owner *o, const struct view_peer *peers,
		     size_t nr_peers)
{
	const char *name = "a node not heard of any more";
	char ip[ADDR_TEXT];
	size_t i;

	for (i = 0; i < nr_peers; i++)
		if (peers[i].id == o->id)
			name = text_addr(&peers[i].addr, ip);
	if (o->held)
		ctl_warn("%s has lost %llu pages that this node held: its programs fail when they need them",
			 name, (unsigned long long)o->held);
}

/* NULL, or why it was refused */
static const char *go_down(bool now, bool reboot)
{
	struct nl_msg *msg;
	struct view_owner *owners;
	struct view_peer *peers;
	size_t i, nr = view_owners(&owners), nr_peers = view_peers(&peers);
	const char *why;

	msg = ctl_request(NSWAP_CMD_NODE_DOWN);
	if (now)
		ctl_put_on(msg, NSWAP_A_NOW);
	if (reboot)
		ctl_put_on(msg, NSWAP_A_REBOOT);
	why = ctl_try_call(msg, NULL, NULL);
	for (i = 0; i < nr && !why; i++)
		say_lost(&owners[i], peers, nr_peers);
	free(owners);
	free(peers);
	return why;
}

/* @lent: pages it lent before the first drain */
static void drain_first(uint64_t lent)
{
	struct drained d = drain_node(true);

	if (d.left)
		ctl_refuse("%llu pages held for others could not move, neither to a peer nor to the homes of their owners: the node stays up%s; --now takes it down and loses them",
			   (unsigned long long)d.left,
			   d.left < d.held || d.home || d.lent != lent ?
				" and lends nothing" : "");
}

/* it does not go down with any: what it holds for others stays where it is, then */
static bool node_has_devices(void)
{
	struct view_device *devices;
	size_t nr = view_devices(&devices);

	free(devices);
	return nr;
}

/* it stays up, though drained; @lent: as above */
static void refuse_drained(const char *why, uint64_t lent)
{
	bool whole = lent % (1024 * 1024 / PAGE_BYTES) == 0;

	ctl_refuse("%s; the node lends nothing until: nswapctl lend %llu%c", why,
		   (unsigned long long)(lent * PAGE_BYTES >> (whole ? 20 : 10)),
		   whole ? 'M' : 'K');
}

int cmd_down(int argc, char **argv)
{
	bool now = false, reboot = false, may_drain, drained = false;
	unsigned int drains = 0;
	struct view_node node;
	uint64_t lent = 0;
	const char *why;
	int option;

	while ((option = arg_option(argc, argv, down_options)) != -1) {
		if (option == 'f')
			now = true;
		else if (option == 'r')
			reboot = true;
		else if (ctl_node)
			ctl_usage("name one node");
		else
			ctl_node = node_of_netns(arg_number(optarg, "network namespace",
							    UINT32_MAX));
	}
	arg_no_more(argc, argv, optind);
	may_drain = !now && !ctl_node;
	/* a store or a move that was on its way may bring pages after the drain */
	do {
		view_get_node(&node);
		if (!drained)
			lent = node.lent;
		if (node.held && may_drain && !node_has_devices()) {
			drained = true;
			drain_first(lent);
		}
		why = go_down(now, reboot);
	} while (why && may_drain && ++drains < DRAINS);
	if (why && drained && lent)
		refuse_drained(why, lent);
	if (why)
		ctl_refuse("%s", why);
	return 0;
}

int cmd_nodes(int argc, char **argv)
{
	char ip[ADDR_TEXT], lent[32], held[32];
	struct view_node *nodes, *n;
	size_t nr;

	arg_no_more(argc, argv, 1);
	nr = view_nodes(&nodes);
	if (ctl_json)
		json_list(NULL);
	else
		printf("%4s %10s  %-24s %9s %9s %6s\n", "NODE", "NETNS-ID",
		       "ADDRESS", "LENT", "HELD", "OWNERS");
	for (n = nodes; n < nodes + nr; n++) {
		if (ctl_json) {
			view_json_node(NULL, n);
			continue;
		}
		printf("%4u %10u  %-24s %9s %9s %6u\n", n->number, n->netns,
		       text_addr(&n->addr, ip),
		       text_size(n->lent * PAGE_BYTES, lent, sizeof(lent)),
		       text_size(n->held * PAGE_BYTES, held, sizeof(held)),
		       n->owners);
	}
	if (ctl_json)
		json_end();
	free(nodes);
	return 0;
}
