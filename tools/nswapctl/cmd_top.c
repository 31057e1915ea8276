// SPDX-License-Identifier: GPL-2.0
/*
 * Command top: the node, its peers and devices, live.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "screen.h"
#include "top.h"

#define SHORTEST	0.1	/* s */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* what is refused without a node, with the reason */
static void look(struct snap *s)
{
	if (!snap_take(s)) {
		view_get_node(&s->stat.node);
		ctl_refuse("the node came up just now, ask again");
	}
}

static void once(struct top *t)
{
	struct snap was, s;
	struct timespec rest = { .tv_sec = t->interval };

	rest.tv_nsec = (t->interval - rest.tv_sec) * 1e9;
	look(&was);
	nanosleep(&rest, NULL);
	look(&s);
	t->was = &was;
	t->now = &s;
	t->latency = view_knob("latency");
	if (ctl_json)
		top_json(t);
	else
		top_draw(stdout, t, 0, 80);
	snap_drop(&was);
	snap_drop(&s);
}

static void draw(struct top *t)
{
	unsigned int rows, cols;
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		ctl_refuse("no memory");
	screen_size(&rows, &cols);
	top_draw(out, t, rows, cols);
	if (fclose(out))
		ctl_refuse("no memory");
	screen_show(text, len);
	free(text);
}

static void change_interval(struct top *t, bool longer)
{
	static const double steps[] = { SHORTEST, 0.2, 0.5, 1, 2, 5, 10, 30, 60,
					300, ARG_LONGEST };
	const int nr = sizeof(steps) / sizeof(*steps);
	int i;

	for (i = 0; longer && i < nr; i++) {
		if (steps[i] > t->interval) {
			t->interval = steps[i];
			return;
		}
	}
	for (i = nr - 1; !longer && i >= 0; i--) {
		if (steps[i] < t->interval) {
			t->interval = steps[i];
			return;
		}
	}
}

static void show(struct top *t, enum top_view view)
{
	t->view = view;
	t->first = 0;
}

/* false to end */
static bool obey(struct top *t, int key)
{
	switch (key) {
	case SCREEN_END:
	case 'q':
		return false;
	case 's':
		t->sort = (t->sort + 1) % TOP_SORTS;
		break;
	case 'a':
		show(t, TOP_ALL);
		break;
	case 'p':
		show(t, TOP_PEERS);
		break;
	case 'd':
		show(t, TOP_DEVICES);
		break;
	case SCREEN_LEFT:
		show(t, (t->view + TOP_VIEWS - 1) % TOP_VIEWS);
		break;
	case SCREEN_RIGHT:
		show(t, (t->view + 1) % TOP_VIEWS);
		break;
	case SCREEN_UP:
		t->first -= t->first > 0;
		break;
	case SCREEN_DOWN:
		/* no further than there may be rows */
		t->first += t->first < t->now->nr_peers + t->now->nr_devices;
		break;
	case '+':
	case '-':
		change_interval(t, key == '+');
		break;
	}
	return true;
}

static void live(struct top *t)
{
	struct snap was = { }, s;
	double next, left;
	int key;

	look(&s);
	t->now = &s;
	t->latency = view_knob("latency");
	screen_enter();
	for (;;) {
		draw(t);
		next = s.at + t->interval;
		left = next - now();
		key = screen_wait(left > 0 ? ceil(left * 1000) : 0);
		if (key && !obey(t, key))
			break;
		if (key && now() < next)
			continue;
		snap_drop(&was);
		was = s;
		look(&s);
		t->was = &was;
		t->latency = view_knob("latency");
	}
	screen_leave();
	snap_drop(&was);
	snap_drop(&s);
}

int cmd_top(int argc, char **argv)
{
	static const struct option options[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "once", no_argument, NULL, 'o' },
		{ }
	};
	struct top t = { .interval = 2 };
	bool one = false;
	int option;

	while ((option = arg_option(argc, argv, options)) != -1) {
		if (option == 'i')
			t.interval = arg_interval(optarg, SHORTEST);
		else
			one = true;
	}
	arg_no_more(argc, argv, optind);
	if (one) {
		once(&t);
		return 0;
	}
	if (ctl_json)
		ctl_refuse("top prints JSON only with --once");
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		ctl_refuse("top needs a terminal, --once does not");
	live(&t);
	return 0;
}
