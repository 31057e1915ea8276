// SPDX-License-Identifier: GPL-2.0
/*
 * nswap-lend: a node that only lends, as a program.
 *
 * The module's server and mover, built for user space (kernel/), with a thread for each
 * connection; the main thread announces the node, sweeps, and waits for signals.
 *
 *   up -> lends -> SIGTERM: drains -> nothing is held, or the time is up -> down
 *                        \-> SIGTERM once more, or --now: down
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "lend.h"
#include "options.h"
#include "parse.h"

#define SWEEP_MS	5000
#define DRAIN_LOOK_MS	100

/**
 * struct life - of the program
 * @node: the node
 * @o: what was asked for
 * @draining: it was asked to end
 * @ends: it ends now
 * @sweep: ms when to sweep next
 */
struct life {
	struct nswap_node node;
	struct lend_options o;
	bool draining;
	bool ends;
	u64 sweep;
};

/* a connection takes a file: as many as the user may have */
static void take_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static int take_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* pages outlive who reads the log */
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void trust_again(struct life *life)
{
	const char *why;

	if (!options_again(&life->o))
		return;
	why = lend_node_trust(&life->node, &life->o);
	lend_say("%s", why ? why : "has read the list of members again");
	options_forget(&life->o);
}

static void on_signal(struct life *life, int fd)
{
	struct signalfd_siginfo s;

	while (read(fd, &s, sizeof(s)) == sizeof(s)) {
		if (s.ssi_signo == SIGUSR1) {
			lend_status_log(&life->node);
		} else if (s.ssi_signo == SIGHUP) {
			trust_again(life);
		} else if (life->draining || life->o.now) {
			life->ends = true;
		} else {
			life->draining = true;
			lend_drain_begin(&life->node, life->o.drain_s);
		}
	}
}

static void live(struct life *life, int signals, int status)
{
	struct pollfd p[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = lend_announce_socket(), .events = POLLIN },
		{ .fd = lend_announce_wanted(), .events = POLLIN },
		{ .fd = status, .events = POLLIN },
	};

	while (!life->ends) {
		int wait = lend_announce_work();

		if (nswap_now_ms() >= life->sweep) {
			lend_node_sweep(&life->node);
			life->sweep = nswap_now_ms() + SWEEP_MS;
		}
		if (life->draining && lend_drain_over(&life->node))
			return;
		poll(p, ARRAY_SIZE(p), life->draining ? min(wait, DRAIN_LOOK_MS) : wait);
		on_signal(life, signals);
		/* who cannot be answered now is not waited for, once */
		p[3].fd = p[3].revents && !lend_status_answer(&life->node, status) ?
			  -1 : status;
	}
}

/* what is left is lost; the exit code */
static int say_end(struct life *life)
{
	u64 left = lend_drain_left(&life->node);

	if (left)
		lend_say("ends, and %llu pages with it: owners without another copy of them have lost them",
			 left);
	else
		lend_say("ends, nothing is left here");
	return left ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct life life;
	int ret, signals, status;
	char at[64], size[32];
	const char *why;

	options_take(argc, argv, &life.o);
	if (life.o.status || life.o.metrics)
		return lend_status_ask(&life.o);
	prctl(PR_SET_DUMPABLE, 0);
	take_files();
	signals = take_signals();
	why = signals < 0 ? "cannot wait for signals" : lend_node_up(&life.node, &life.o);
	if (why) {
		fprintf(stderr, "nswap-lend: %s\n", why);
		/* there may be threads: no more than that */
		_exit(1);
	}
	options_forget(&life.o);
	status = lend_status_start(life.node.addr.port);
	lend_say("up at %s, lends %s%s", lend_addr_text(&life.node.addr, at, sizeof(at)),
		 text_size(life.o.pages * PAGE_BYTES, size, sizeof(size)),
		 life.node.identity ? "" :
		 "; it is open: anyone on its subnet can store pages here");
	live(&life, signals, status);
	ret = say_end(&life);
	lend_node_down(&life.node);
	return ret;
}
