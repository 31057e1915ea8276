// SPDX-License-Identifier: GPL-2.0
/*
 * Command line of nswap-lend: as that of "nswapctl up", with the same checks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ctl.h"
#include "options.h"

#define DRAIN_S		60
#define PORT		9611

static const struct option options[] = {
	{ "addr", required_argument, NULL, 'a' },
	{ "port", required_argument, NULL, 'p' },
	{ "lend", required_argument, NULL, 'l' },
	{ "peers", required_argument, NULL, 'P' },
	{ "no-broadcast", no_argument, NULL, 'n' },
	{ "announce-ms", required_argument, NULL, 'm' },
	{ "owner-max", required_argument, NULL, 'x' },
	{ "lease", required_argument, NULL, 'L' },
	{ "key", required_argument, NULL, 'k' },
	{ "members", required_argument, NULL, 'M' },
	{ "secret", required_argument, NULL, 'S' },
	{ "open", no_argument, NULL, 'o' },
	{ "lock", no_argument, NULL, 'K' },
	{ "now", no_argument, NULL, 'f' },
	{ "drain-timeout", required_argument, NULL, 'd' },
	{ "status", no_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ "metrics", no_argument, NULL, 'T' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

static const char help[] =
	"usage: nswap-lend --lend SIZE [--addr ADDR] [--port PORT] [--peers ADDR,...]\n"
	"                  [--no-broadcast] [--key FILE --members FILE | --secret FILE | --open]\n"
	"                  [--lock] [--owner-max PCT] [--lease S] [--announce-ms MS]\n"
	"                  [--drain-timeout S] [--now]\n"
	"       nswap-lend --status [--port PORT] [--json]\n"
	"       nswap-lend --metrics [--port PORT]\n\n"
	"Lends RAM to nswap nodes, without the module, until it is told to end.\n\n"
	"  --lend SIZE        RAM to lend, all of it is taken at the start\n"
	"  --addr ADDR        this host's address (default: its first global IPv4 address)\n"
	"  --port PORT        for data and announcements (9611)\n"
	"  --peers ADDR,...   nodes that cannot be reached by broadcast\n"
	"  --no-broadcast     announce to these alone\n"
	"  --key FILE         this node's own key, with\n"
	"  --members FILE     the members' public keys and the cluster's secret\n"
	"  --secret FILE      or: the cluster's secret alone\n"
	"  --open             or: anyone on the subnet may store pages here\n"
	"  --lock             never let it, or this program, be swapped out\n"
	"  --owner-max PCT    percent of it that one owner may have (100)\n"
	"  --lease S          seconds that pages of an owner that is away are kept (3600)\n"
	"  --announce-ms MS   between announcements (1000)\n"
	"  --drain-timeout S  seconds to bring pages elsewhere after SIGTERM (60)\n"
	"  --now              do not: end at once, as a second SIGTERM does\n"
	"  --status           ask the lender that runs here; --json: for programs\n"
	"  --metrics          the same for Prometheus, as nswapctl metrics has it\n\n"
	"SIGTERM ends it, SIGHUP has it read the list of members again, SIGUSR1 log its\n"
	"status. See nswap-lend(8).\n"
	"Exit code: 0 done, 1 refused or failed, or pages were lost, 2 wrong usage.\n";

void (*ctl_before_refusal)(const char *why);
bool ctl_json;
uint32_t ctl_node;

static jmp_buf *again;	/* where to go on after a refusal, else the program ends */
static struct keyfile file;	/* the one that is read; here, so that a refusal leaves nothing */

static void say(const char *format, va_list args)
{
	fflush(stdout);
	fputs("nswap-lend: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void ctl_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	if (again)
		longjmp(*again, 1);
	exit(1);
}

void ctl_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fputs("Try 'nswap-lend --help'.\n", stderr);
	exit(2);
}

static uint32_t between(const char *what, uint32_t least, uint32_t most)
{
	uint64_t n = arg_number(optarg, what, most);

	if (n < least)
		ctl_usage("'%s' is no %s, %u to %u are", optarg, what, least, most);
	return n;
}

/* what is not an option's own value until all are known */
struct asked {
	uint16_t port;
	const char *peers;
	const char *key;
	const char *members;
	const char *secret;
	bool open;
	bool lends;
};

static bool take_file(struct asked *a, int option)
{
	switch (option) {
	case 'k':
		a->key = optarg;
		return true;
	case 'M':
		a->members = optarg;
		return true;
	case 'S':
		a->secret = optarg;
		return true;
	case 'P':
		a->peers = optarg;
		return true;
	case 'o':
		a->open = true;
		return true;
	}
	return false;
}

static bool take_number(struct lend_options *o, struct asked *a, int option)
{
	switch (option) {
	case 'p':
		a->port = between("port", 1, UINT16_MAX);
		return true;
	case 'l':
		o->pages = arg_pages(optarg);
		a->lends = true;
		return true;
	case 'm':
		o->announce_ms = between("time", 100, 60000);
		return true;
	case 'x':
		o->owner_max = between("percentage", 1, 100);
		return true;
	case 'L':
		o->lease_s = between("time", 5, 30 * 86400);
		return true;
	case 'd':
		o->drain_s = between("time", 0, 86400);
		return true;
	}
	return false;
}

static void take_option(struct lend_options *o, struct asked *a, int option)
{
	if (take_file(a, option) || take_number(o, a, option))
		return;
	switch (option) {
	case 'a':
		if (!parse_addr(optarg, &o->addr))
			ctl_usage("'%s' is no address", optarg);
		break;
	case 'n':
		o->no_broadcast = true;
		break;
	case 'K':
		o->lock = true;
		break;
	case 'f':
		o->now = true;
		break;
	case 's':
		o->status = true;
		break;
	case 'j':
		o->json = true;
		break;
	case 'T':
		o->metrics = true;
		break;
	case 'V':
		puts("nswap-lend " NSWAP_VERSION);
		exit(0);
	default:
		fputs(help, stdout);
		exit(0);
	}
}

static void settle_addr(struct lend_options *o, const struct asked *a)
{
	if (!o->addr.family && !o->status && !o->metrics && !addr_default(&o->addr))
		ctl_refuse("this network namespace has no global IPv4 address, name one with --addr");
	if (a->port && o->addr.port && a->port != o->addr.port)
		ctl_usage("--addr and --port name different ports");
	if (a->port)
		o->addr.port = a->port;
	if (!o->addr.port)
		o->addr.port = PORT;
}

static void settle_peers(struct lend_options *o, const char *peers)
{
	char *one, *text = peers ? strdup(peers) : NULL;

	for (one = text ? strtok(text, ",") : NULL; one; one = strtok(NULL, ",")) {
		o->peer = realloc(o->peer, (o->nr_peers + 1) * sizeof(*o->peer));
		if (!o->peer)
			ctl_refuse("no memory");
		if (!parse_addr(one, &o->peer[o->nr_peers]))
			ctl_usage("'%s' is no address of a peer", one);
		if (!o->peer[o->nr_peers].port)
			o->peer[o->nr_peers].port = o->addr.port;
		o->nr_peers++;
	}
	free(text);
	if (peers && !o->nr_peers)
		ctl_usage("--peers names no address");
}

static void check_keys(const struct asked *a)
{
	bool keys = a->key || a->members || a->secret;

	if (keys && a->open)
		ctl_usage("--open is for a node without keys");
	if (a->secret && (a->key || a->members))
		ctl_usage("--secret makes all keys: it goes with neither --key nor --members");
	if (!a->key != !a->members)
		ctl_usage("--key and --members go together");
	if (!keys && !a->open)
		ctl_refuse("without keys anyone on the subnet can store pages here: give it --secret FILE, or --key FILE --members FILE (see: nswapctl key generate --help), or say --open");
}

static void take_members(struct lend_options *o, const char *path, bool list)
{
	size_t i;

	keyfile_read(path, &file);
	if (!file.has_cluster)
		ctl_refuse("%s has no secret of a cluster, make another file with: nswapctl key %s",
			   path, list ? "trust FILE NAME PUBLIC" : "generate FILE --secret");
	if (!list && file.nr)
		ctl_refuse("%s lists members: name it with --members, and this node's key with --key",
			   path);
	if (list && !file.nr)
		ctl_refuse("%s lists no members, see: nswapctl key trust --help", path);
	memcpy(o->cluster, file.cluster, KEY_BYTES);
	o->nr_members = file.nr;
	o->member = file.nr ? malloc(file.nr * KEY_BYTES) : NULL;
	if (file.nr && !o->member)
		ctl_refuse("no memory");
	for (i = 0; i < file.nr; i++)
		memcpy(o->member + i * KEY_BYTES, file.member[i].key, KEY_BYTES);
	keyfile_free(&file);
}

static void settle_keys(struct lend_options *o, const struct asked *a)
{
	check_keys(a);
	o->keys = !a->open;
	if (o->keys)
		take_members(o, a->secret ? a->secret : a->members, a->members);
	o->members = a->members;
	if (!a->key)
		return;
	keyfile_read(a->key, &file);
	if (!file.has_key)
		ctl_refuse("%s has no key of a node, make another file with: nswapctl key generate FILE",
			   a->key);
	o->own = true;
	memcpy(o->key, file.key, KEY_BYTES);
	keyfile_free(&file);
}

void options_take(int argc, char **argv, struct lend_options *o)
{
	struct asked a = {};
	int option;

	*o = (struct lend_options){
		.announce_ms = 1000, .owner_max = 100, .lease_s = 3600, .drain_s = DRAIN_S,
	};
	while ((option = arg_option(argc, argv, options)) != -1)
		take_option(o, &a, option);
	arg_no_more(argc, argv, optind);
	if (o->metrics && (o->status || o->json))
		ctl_usage("--metrics goes with neither --status nor --json");
	settle_addr(o, &a);
	if (o->status || o->metrics)
		return;
	if (o->json)
		ctl_usage("--json goes with --status");
	if (!a.lends || !o->pages)
		ctl_usage("say how much to lend, with --lend SIZE");
	settle_keys(o, &a);
	settle_peers(o, a.peers);
}

bool options_again(struct lend_options *o)
{
	jmp_buf here;

	again = &here;
	if (setjmp(here)) {
		again = NULL;
		keyfile_free(&file);
		options_forget(o);
		return false;
	}
	if (!o->members)
		ctl_refuse("there is no list of members to read again, it was started without --members");
	take_members(o, o->members, true);
	again = NULL;
	return true;
}

void options_forget(struct lend_options *o)
{
	explicit_bzero(o->key, sizeof(o->key));
	explicit_bzero(o->cluster, sizeof(o->cluster));
	free(o->member);
	free(o->peer);
	o->member = NULL;
	o->peer = NULL;
}
