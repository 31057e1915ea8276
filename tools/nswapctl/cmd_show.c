// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that only show: peers, stat.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cluster.h"
#include "ctl.h"
#include "json.h"
#include "meter.h"
#include "nl.h"
#include "view.h"

#define SURVEY_SHORTEST	1	/* s: it makes other machines work */

static void json_features(uint64_t features)
{
	json_list("features");
	if (features & NSWAP_FEATURE_TIMED)
		json_string(NULL, "timed");
	if (features & NSWAP_FEATURE_CLASSES)
		json_string(NULL, "classes");
	if (features & NSWAP_FEATURE_SHARES)
		json_string(NULL, "shares");
	if (features & NSWAP_FEATURE_STAT)
		json_string(NULL, "stat");
	if (features & NSWAP_FEATURE_SHORT)
		json_string(NULL, "short");
	json_end();
}

static void json_peer(const struct view_peer *p)
{
	char ip[ADDR_TEXT];

	json_object(NULL);
	json_number("index", p->index);
	json_id("id", p->id);
	json_id("epoch", p->epoch);
	json_string("addr", text_ip(&p->addr, ip));
	json_number("port", p->addr.port);
	json_string("state", p->state);
	json_bool("fresh", p->fresh);
	json_bool("listed", p->listed);
	json_number("lent_pages", p->lent);
	json_number("free_pages", p->free);
	json_number("used_pages", p->used);
	json_number("grants", p->grants);
	json_number("inflight", p->inflight);
	json_number("slots", p->slots);
	json_number("heard_ms", p->heard_ms);
	json_bool("shrinking", p->shrinking);
	json_number("version", p->version);
	json_features(p->features);
	json_string("refused", p->refused);
	json_string("reason", p->reason);
	json_end();
}

static void print_peer(const struct view_peer *p)
{
	const char *why = *p->refused ? p->refused : p->reason;
	char addr[ADDR_TEXT], lent[32], left[32], heard[32] = "never";

	if (p->id || p->heard_ms)
		snprintf(heard, sizeof(heard), "%.1f s ago",
			 p->heard_ms / 1000.0);
	printf("%4u  %-24s %-10s %9s %9s %8u %9llu  %s%s%s\n", p->index,
	       text_addr(&p->addr, addr),
	       view_peer_state(p),
	       text_size(p->lent * PAGE_BYTES, lent, sizeof(lent)),
	       text_size(p->free * PAGE_BYTES, left, sizeof(left)),
	       p->grants, (unsigned long long)p->slots, heard,
	       *why ? ", " : "", why);
}

int cmd_peers(int argc, char **argv)
{
	struct view_peer *peers, *p;
	size_t nr;

	arg_no_more(argc, argv, 1);
	nr = view_peers(&peers);
	if (ctl_json)
		json_list(NULL);
	else
		printf("%4s  %-24s %-10s %9s %9s %8s %9s  %s\n", "PEER",
		       "ADDRESS", "STATE", "LENDS", "FREE", "GRANTS", "SLOTS",
		       "HEARD");
	for (p = peers; p < peers + nr; p++) {
		if (ctl_json)
			json_peer(p);
		else
			print_peer(p);
	}
	if (ctl_json)
		json_end();
	free(peers);
	return 0;
}

static void json_stat(const struct view_stat *s, const struct view_swapped *swap,
		      const struct view_owner *owners, size_t nr)
{
	enum view_role role;
	size_t i;

	json_object(NULL);
	view_json_node("node", &s->node);
	for (role = 0; role < VIEW_ROLES; role++) {
		json_object(view_roles[role]);
		for (i = 0; i < view_nr_counters; i++)
			if (view_counters[i].role == role)
				json_number(view_counters[i].name,
					    s->counter[i]);
		json_end();
	}
	json_list("owners");
	for (i = 0; i < nr; i++) {
		json_object(NULL);
		json_id("id", owners[i].id);
		json_id("epoch", owners[i].epoch);
		json_bool("connected", owners[i].connected);
		json_number("held_pages", owners[i].held);
		json_number("ram_pages", owners[i].ram);
		json_number("granted_pages", owners[i].granted);
		json_number("reserved_pages", owners[i].reserved);
		json_number("share_pages", owners[i].share);
		json_number("weight", owners[i].weight);
		json_end();
	}
	json_end();
	json_object("swap");
	json_number("size_bytes", swap->size);
	json_number("used_pages", swap->used);
	json_number("backed_pages", swap->backed);
	json_number("lost_pages", swap->lost);
	json_number("exposed_pages", swap->exposed);
	json_number("old_key_pages", swap->old_key);
	json_number("unbacked_pages", swap->unbacked);
	json_end();
	json_end();
}

static void line(const char *what, uint64_t pages, const char *meaning)
{
	char size[32];

	printf("  %-12s %9s %12llu pages  %s\n", what,
	       text_size(pages * PAGE_BYTES, size, sizeof(size)),
	       (unsigned long long)pages, meaning);
}

static void print_lent(const struct view_node *n)
{
	uint64_t taken = n->ram + n->set_aside;

	printf("\nRAM lent to other nodes by the size policy %s, %s\n", n->size,
	       n->trend);
	line("at most", n->lent, "by nswapctl lend");
	line("lent", n->target, "now");
	line("held", n->ram, "full of pages of other nodes");
	if (n->held != n->ram)
		line("", n->held, "are these: short ones share a page of RAM");
	line("granted", n->granted, "set aside and promised to them");
	line("set aside", n->set_aside > n->granted ?
	     n->set_aside - n->granted : 0, "set aside and not promised");
	line("not taken", n->target > taken ? n->target - taken : 0,
	     "still with this node's own programs");
	line("surplus", n->surplus, "held above what is lent, to be moved away");
}

/* who has what of this node; by address where a peer of that id is known */
static void print_owners(const struct view_owner *owners, size_t nr)
{
	char name[ADDR_TEXT], size[32], share[32];
	struct view_peer *peers;
	size_t i, p, nr_peers;

	if (!nr)
		return;
	nr_peers = view_peers(&peers);
	printf("\nOwners\n");
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%016llx",
			 (unsigned long long)owners[i].id);
		for (p = 0; p < nr_peers; p++)
			if (peers[p].id == owners[i].id)
				text_addr(&peers[p].addr, name);
		printf("  %-24s %9s held of %s, %llu pages, %llu granted, weight %u, %s\n", name,
		       text_size(owners[i].ram * PAGE_BYTES, size,
				 sizeof(size)),
		       text_size(owners[i].share * PAGE_BYTES, share, sizeof(share)),
		       (unsigned long long)owners[i].held,
		       (unsigned long long)owners[i].granted, owners[i].weight,
		       owners[i].connected ? "connected" : "not connected");
	}
	free(peers);
}

static void print_swapped(const struct view_swapped *swap, uint64_t failed)
{
	char size[32];

	printf("\nPages of this node swapped out to devices of %s\n",
	       text_size(swap->size, size, sizeof(size)));
	line("backed", swap->backed, "on peers");
	line("unbacked", swap->unbacked,
	     "at no peer: zeros, on flash or at home, or still in RAM for want of room");
	line("lost", swap->lost, failed ?
	     "on peers that are gone, reads of them fail; or their page-out failed, in RAM" :
	     "on peers that are gone, reads of them fail");
	line("exposed", swap->exposed,
	     "with fewer copies or checks than promised, or with none");
	if (swap->old_key)
		line("old key", swap->old_key, "to be sealed again, with another key");
}

static void print_counters(const struct view_stat *s)
{
	enum view_role role;
	unsigned int i;

	for (role = 0; role < VIEW_ROLES; role++) {
		printf("\nCounters, %s\n", view_roles[role]);
		for (i = 0; i < view_nr_counters; i++)
			if (view_counters[i].role == role)
				printf("  %-18s %12llu\n",
				       view_counters[i].name,
				       (unsigned long long)s->counter[i]);
	}
}

struct stat_options {
	bool latency;
	bool cluster;
	double interval;	/* 0 for one look */
	uint64_t times;		/* 0: until interrupted */
};

static void stat_take_options(int argc, char **argv, struct stat_options *o)
{
	static const struct option options[] = {
		{ "latency", no_argument, NULL, 'l' },
		{ "cluster", no_argument, NULL, 'c' },
		{ "interval", required_argument, NULL, 'i' },
		{ "times", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = arg_option(argc, argv, options)) != -1) {
		o->latency |= option == 'l';
		o->cluster |= option == 'c';
		if (option == 'i')
			o->interval = arg_interval(optarg, SURVEY_SHORTEST);
		else if (option == 't')
			o->times = arg_count(optarg, "number of times", UINT32_MAX);
	}
	arg_no_more(argc, argv, optind);
	if (o->latency && o->cluster)
		ctl_usage("--latency and --cluster do not go together");
	if (o->interval && !o->cluster)
		ctl_usage("--interval goes with --cluster only, 'nswapctl top' shows this node");
	if (o->times && !o->interval)
		ctl_usage("--times needs an --interval");
}

int cmd_stat(int argc, char **argv)
{
	struct stat_options o = { .latency = false };
	struct view_swapped swap;
	struct view_owner *owners;
	char addr[ADDR_TEXT];
	struct view_device *devices;
	struct view_stat s;
	size_t nr, nr_devices;

	stat_take_options(argc, argv, &o);
	if (o.latency)
		return meter_show_latency();
	if (o.cluster)
		return cluster_show(o.interval, o.times);
	view_get_stat(&s);
	nr = view_owners(&owners);
	nr_devices = view_devices(&devices);
	view_add_up(&swap, devices, nr_devices);
	free(devices);
	if (ctl_json) {
		json_stat(&s, &swap, owners, nr);
		free(owners);
		return 0;
	}
	printf("node %u at %s, id %016llx, epoch %016llx, places by %s\n",
	       s.node.number, text_addr(&s.node.addr, addr),
	       (unsigned long long)s.node.id, (unsigned long long)s.node.epoch,
	       s.node.place);
	print_lent(&s.node);
	print_owners(owners, nr);
	free(owners);
	print_swapped(&swap, view_count(&s, VIEW_CLIENT, "write_errors"));
	print_counters(&s);
	return 0;
}
