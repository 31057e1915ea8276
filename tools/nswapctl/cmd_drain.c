// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that follow pages on their way: drain, watch.
 *
 * Draining is lending nothing: the module moves what it holds to other peers.
 * These commands say how far it is and what could not move.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "drain.h"
#include "json.h"
#include "nl.h"
#include "view.h"

#define LOOK_US		250000
#define STUCK_S		10

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* is there a peer with room for every owner: one that is not the owner? */
static bool room_for_all(void)
{
	struct view_owner *owners;
	struct view_peer *peers;
	size_t i, k, nr = view_peers(&peers), nr_owners = view_owners(&owners);
	bool all = true;

	for (k = 0; k < nr_owners && all; k++) {
		bool any = !owners[k].held;

		for (i = 0; i < nr; i++)
			any = any || (view_peer_alive(&peers[i]) &&
				      peers[i].free &&
				      peers[i].id != owners[k].id);
		all = any;
	}
	free(owners);
	free(peers);
	return all;
}

static void lend_nothing(void)
{
	struct nl_msg *msg = ctl_request(NSWAP_CMD_NODE_SET);

	ctl_put_wide(msg, NSWAP_A_LEND_PAGES, 0);
	ctl_call(msg, NULL, NULL);
}

static void say_progress(uint64_t total, uint64_t left, double seconds)
{
	uint64_t moved = total - left;

	fprintf(stderr, "%llu of %llu pages moved",
		(unsigned long long)moved, (unsigned long long)total);
	if (moved && left)
		fprintf(stderr, ", about %.0f s left",
			seconds * left / moved + 0.5);
	fputc('\n', stderr);
}

struct drained drain_node(void)
{
	struct drained d = { 0 };
	double begin = now(), last_move = begin, last_word = begin;
	struct view_node node;
	uint64_t left;

	view_get_node(&node);
	d.held = left = node.held;
	if (left && !room_for_all())
		ctl_refuse("%llu pages are held here for others and no peer has room for them: nothing was changed",
			   (unsigned long long)left);
	lend_nothing();
	while (left && now() - last_move < STUCK_S) {
		usleep(LOOK_US);
		view_get_node(&node);
		if (node.held < left)
			last_move = now();
		left = node.held;
		if (now() - last_word < 1 && left)
			continue;
		last_word = now();
		say_progress(d.held > left ? d.held : left, left,
			     now() - begin);
	}
	d.left = left;
	d.seconds = now() - begin;
	return d;
}

int cmd_drain(int argc, char **argv)
{
	struct drained d;

	arg_no_more(argc, argv, 1);
	d = drain_node();
	if (ctl_json) {
		json_object(NULL);
		json_number("held_pages", d.held);
		json_number("left_pages", d.left);
		json_number("ms", d.seconds * 1000);
		json_end();
	}
	if (d.left)
		ctl_refuse("%llu pages could not move, no peer has taken one for %d s; they stay here, and this node lends nothing until: nswapctl lend SIZE",
			   (unsigned long long)d.left, STUCK_S);
	return 0;
}

static const struct option watch_options[] = {
	{ "times", required_argument, NULL, 't' },
	{ }
};

static uint64_t counter(const struct view_stat *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < view_nr_counters; i++)
		if (!strcmp(view_counters[i].name, name))
			return s->counter[i];
	return 0;
}

static void watch_peers(void)
{
	struct view_peer *peers;
	size_t i, nr = view_peers(&peers);
	char ip[ADDR_TEXT], lent[32], used[32];

	for (i = 0; i < nr; i++)
		printf("  %-24s %-10s lends %9s, used %9s\n",
		       text_addr(&peers[i].addr, ip), peers[i].state,
		       text_size(peers[i].lent * PAGE_BYTES, lent,
				 sizeof(lent)),
		       text_size(peers[i].used * PAGE_BYTES, used,
				 sizeof(used)));
	free(peers);
}

static void watch_line(const struct view_stat *s, const struct view_stat *was,
		       double seconds)
{
	char ip[ADDR_TEXT], lent[32], held[32];
	double in = counter(s, "pages_moved_in") -
		    counter(was, "pages_moved_in");
	double out = counter(s, "pages_moved_out") -
		     counter(was, "pages_moved_out");

	if (ctl_json) {
		json_object(NULL);
		json_number("lent_pages", s->node.target);
		json_number("held_pages", s->node.held);
		json_number("moves_in_s", in / seconds);
		json_number("moves_out_s", out / seconds);
		json_end();
		fflush(stdout);
		return;
	}
	printf("%-26s this node  lends %9s, used %9s, moves in %.0f/s, out %.0f/s\n",
	       text_addr(&s->node.addr, ip),
	       text_size(s->node.target * PAGE_BYTES, lent, sizeof(lent)),
	       text_size(s->node.held * PAGE_BYTES, held, sizeof(held)),
	       in / seconds, out / seconds);
	watch_peers();
	fflush(stdout);
}

int cmd_watch(int argc, char **argv)
{
	struct view_stat was, s;
	double then, t;
	uint64_t times = 0;
	int option;

	while ((option = arg_option(argc, argv, watch_options)) != -1)
		times = arg_number(optarg, "number of times", UINT32_MAX);
	arg_no_more(argc, argv, optind);
	view_get_stat(&was);
	then = now();
	do {
		sleep(1);
		view_get_stat(&s);
		t = now();
		watch_line(&s, &was, t - then);
		was = s;
		then = t;
	} while (!times || --times);
	return 0;
}
