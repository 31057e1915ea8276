// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that follow pages on their way: drain, watch.
 *
 * Draining is lending nothing: the module moves what it holds to other peers,
 * and what none of them has room for back to its owner. These commands say how
 * far it is and what could not move.
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
#define STUCK_S		10	/* nothing moved for so long: no more will */
#define HOPELESS_S	2	/* likewise, if all have said so */
#define ROOM_S		60	/* likewise, while a peer has room for some of it */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* may pages of an owner go to a peer? not to the owner itself */
static bool room_for(const struct view_owner *o, const struct view_peer *peers,
		     size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (view_peer_alive(&peers[i]) && peers[i].free &&
		    peers[i].id != o->id)
			return true;
	return false;
}

/* is there a peer with room for every owner? */
static bool room_for_all(void)
{
	struct view_owner *owners;
	struct view_peer *peers;
	size_t k, nr = view_peers(&peers), nr_owners = view_owners(&owners);
	bool all = true;

	for (k = 0; k < nr_owners && all; k++)
		all = !owners[k].held || room_for(&owners[k], peers, nr);
	free(owners);
	free(peers);
	return all;
}

/* can more move: an owner is there to be told, and a peer has room? */
static bool hopeful(void)
{
	struct view_owner *owners;
	struct view_peer *peers;
	size_t k, nr = view_peers(&peers), nr_owners = view_owners(&owners);
	bool any = false;

	for (k = 0; k < nr_owners && !any; k++)
		any = owners[k].held && owners[k].connected &&
		      room_for(&owners[k], peers, nr);
	free(owners);
	free(peers);
	return any;
}

/* no peer has room, and what could be brought back has no home */
static bool hopeless(void)
{
	struct view_owner *owners;
	size_t i, nr = view_owners(&owners);
	bool home = false;

	for (i = 0; i < nr; i++)
		home = home || (owners[i].held && !owners[i].no_home);
	free(owners);
	return !home && !room_for_all();
}

/* how long nothing has to move before no more is waited for */
static int patience(void)
{
	return hopeless() ? HOPELESS_S : hopeful() ? ROOM_S : STUCK_S;
}

static void lend(uint64_t pages)
{
	struct nl_msg *msg = ctl_request(NSWAP_CMD_NODE_SET);

	ctl_put_wide(msg, NSWAP_A_LEND_PAGES, pages);
	ctl_call(msg, NULL, NULL);
}

static uint64_t gone_home(void)
{
	struct view_stat s;

	view_get_stat(&s);
	return view_count(&s, VIEW_SERVER, "pages_returned");
}

static void say_progress(uint64_t total, uint64_t left, double seconds)
{
	uint64_t moved = total - left;

	if (!moved)
		return;
	fprintf(stderr, "%llu of %llu pages moved",
		(unsigned long long)moved, (unsigned long long)total);
	if (left)
		fprintf(stderr, ", about %.0f s left",
			seconds * left / moved + 0.5);
	fputc('\n', stderr);
}

struct drained drain_node(bool to_home)
{
	double begin = now(), last_move = begin, last_word = begin;
	struct drained d = { 0 };
	struct view_node node;
	uint64_t left;

	view_get_node(&node);
	d.lent = node.lent;
	d.held = left = node.held;
	if (left && !to_home && !room_for_all())
		ctl_refuse("%llu pages are held here for others and no peer has room for them: nothing was changed; --to-home brings them back to the homes of their owners",
			   (unsigned long long)left);
	d.home = gone_home();
	lend(0);
	while (left && now() - last_move < patience()) {
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
	/* what the last batches did is counted a moment after they did it */
	usleep(LOOK_US);
	d.left = left;
	d.home = gone_home() - d.home;
	d.seconds = now() - begin;
	if (to_home && left && left >= d.held && !d.home)
		lend(d.lent);
	return d;
}

static const struct option drain_options[] = {
	{ "to-home", no_argument, NULL, 'h' },
	{ }
};

int cmd_drain(int argc, char **argv)
{
	bool to_home = false;
	struct drained d;

	while (arg_option(argc, argv, drain_options) != -1)
		to_home = true;
	arg_no_more(argc, argv, optind);
	d = drain_node(to_home);
	if (ctl_json) {
		json_object(NULL);
		json_number("held_pages", d.held);
		json_number("left_pages", d.left);
		json_number("home_pages", d.home);
		json_number("ms", d.seconds * 1000);
		json_end();
	} else if (d.home) {
		fprintf(stderr, "%llu pages went to the homes of their owners\n",
			(unsigned long long)d.home);
	}
	if (d.left && to_home && d.left >= d.held && !d.home)
		ctl_refuse("%llu pages are held here for others, no peer has room for them and no home of an owner takes them: nothing was changed",
			   (unsigned long long)d.left);
	if (d.left)
		ctl_refuse("%llu pages could not move, no peer and no owner's home takes them; they stay here, and this node lends nothing until: nswapctl lend SIZE",
			   (unsigned long long)d.left);
	return 0;
}

static const struct option watch_options[] = {
	{ "times", required_argument, NULL, 't' },
	{ }
};

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

static uint64_t moved_out(const struct view_stat *s)
{
	return view_count(s, VIEW_SERVER, "pages_moved_out") +
	       view_count(s, VIEW_SERVER, "pages_returned");
}

static void watch_line(const struct view_stat *s, const struct view_stat *was,
		       double seconds)
{
	char ip[ADDR_TEXT], lent[32], held[32];
	double in = view_count(s, VIEW_SERVER, "pages_moved_in") -
		    view_count(was, VIEW_SERVER, "pages_moved_in");
	double out = moved_out(s) - moved_out(was);

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
		times = arg_count(optarg, "number of times", UINT32_MAX);
	arg_no_more(argc, argv, optind);
	json_lines();
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
