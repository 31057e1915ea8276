// SPDX-License-Identifier: GPL-2.0
/*
 * Commands about devices: add, del.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "export.h"
#include "json.h"
#include "nl.h"
#include "signature.h"
#include "view.h"

#define MAX_FLASH	4
#define MAX_RANK	255
#define NODE_WAIT_MS	5000	/* for the name in /dev to appear */

static const struct option add_options[] = {
	{ "size", required_argument, NULL, 's' },
	{ "home", required_argument, NULL, 'h' },
	{ "flash", required_argument, NULL, 'F' },
	{ "tier", required_argument, NULL, 'T' },
	{ "protect", required_argument, NULL, 'p' },
	{ "class", required_argument, NULL, 'c' },
	{ "reserve", required_argument, NULL, 'r' },
	{ "seal", no_argument, NULL, 'e' },
	{ "no-seal", no_argument, NULL, 'E' },
	{ "compress", required_argument, NULL, 'C' },
	{ "cache", required_argument, NULL, 'w' },
	{ "early-ack", no_argument, NULL, 'a' },
	{ "force", no_argument, NULL, 'f' },
	{ }
};

static const struct option del_options[] = {
	{ "flash", required_argument, NULL, 'F' },
	{ }
};

static void wait_for_name(const char *path)
{
	const struct timespec step = { .tv_nsec = 10 * 1000 * 1000 };
	int waited;

	for (waited = 0; waited < NODE_WAIT_MS; waited += 10) {
		if (!access(path, F_OK))
			return;
		nanosleep(&step, NULL);
	}
	ctl_refuse("the device was added but there is no %s, is devtmpfs mounted on /dev?",
		   path);
}

static void warn_if_bigger(const struct view_device *d, uint64_t bytes)
{
	char size[32], lent[32];

	if (*d->home || bytes + d->flash_size >= d->size)
		return;
	ctl_warn("the peers lend %s together, less than the %s of this device, and it has no home: what does not fit stays in RAM",
		 text_size(bytes, lent, sizeof(lent)),
		 text_size(d->size, size, sizeof(size)));
}

static void warn_if_alone(const struct view_device *d, unsigned int lenders)
{
	unsigned int width, checks;

	if (!strcmp(d->protect, "mirror") && lenders < 2)
		ctl_warn("%u peers lend RAM, a mirror needs two: its pages are exposed until another one does",
			 lenders);
	if (sscanf(d->protect, "parity:%u+%u", &width, &checks) != 2 ||
	    lenders >= width + checks)
		return;
	if (lenders <= checks)
		ctl_warn("%u peers lend RAM, %s needs %u: its pages are exposed until more do",
			 lenders, d->protect, checks + 1);
	else
		ctl_warn("%u peers lend RAM, %s wants %u: until more do, groups are of %u pages, which takes more RAM",
			 lenders, d->protect, width + checks, lenders - checks);
}

static void warn_if_loop(const struct view_device *d)
{
	if (!strncmp(d->home, "loop", 4))
		ctl_warn("its home %s is a loop device, which allocates memory while it is written to: good for tests only",
			 d->home);
}

static void refuse_if_full(const char *path)
{
	char what[160];

	if (signature_find(path, what, sizeof(what)))
		ctl_refuse("there is %s on %s, which would be lost; --force does it nevertheless",
			   what, path);
}

/* "1.1 MiB (freed 256 KiB, …)" */
static void print_sides(const struct view_device *d)
{
	const struct view_side *s;
	char size[32];

	printf(", side tables %s", text_size(d->side_bytes, size, sizeof(size)));
	for (s = d->side; s < d->side + d->nr_sides; s++)
		printf("%s%s %s", s == d->side ? " (" : ", ", s->name,
		       text_size(s->bytes, size, sizeof(size)));
	printf("%s", d->nr_sides ? ")" : "");
}

/* what the device is to be */
struct wanted {
	uint64_t bytes;
	bool sized;
	const char *home;
	const char *flash[MAX_FLASH];	/* by rank */
	unsigned int rank[MAX_FLASH];
	int nr_flash;
	const char *protect;
	const char *class;
	uint64_t reserve;
	bool reserves;
	int seal;		/* -1: as the node has keys or not */
	const char *compress;
	const char *cache;	/* its size */
	bool early_ack;
	bool force;
};

/* behind those of its rank and lower ones */
static void add_flash(struct wanted *w, const char *path, unsigned int rank)
{
	int i;

	if (w->nr_flash == MAX_FLASH)
		ctl_usage("a device has at most 4 flash devices");
	for (i = w->nr_flash++; i && w->rank[i - 1] > rank; i--) {
		w->rank[i] = w->rank[i - 1];
		w->flash[i] = w->flash[i - 1];
	}
	w->rank[i] = rank;
	w->flash[i] = path;
}

/* PATH,rank=N; the path ends where the rank begins */
static void add_tier(struct wanted *w, char *text)
{
	char *comma = strrchr(text, ',');

	if (!comma || comma == text || strncmp(comma, ",rank=", 6))
		ctl_usage("write --tier DEVICE,rank=N");
	*comma = '\0';
	add_flash(w, text, arg_number(comma + 6, "rank, 0 to 255", MAX_RANK));
}

static void parse_add(int argc, char **argv, struct wanted *w)
{
	int option;

	while ((option = arg_option(argc, argv, add_options)) != -1) {
		switch (option) {
		case 's':
			w->bytes = arg_size(optarg);
			w->sized = true;
			break;
		case 'h':
			w->home = optarg;
			break;
		case 'F':
			if (!*optarg)
				ctl_usage("name a partition or disk with --flash");
			add_flash(w, optarg, 0);
			break;
		case 'T':
			add_tier(w, optarg);
			break;
		case 'p':
			w->protect = optarg;
			break;
		case 'c':
			w->class = optarg;
			break;
		case 'r':
			w->reserve = arg_size(optarg);
			w->reserves = true;
			break;
		case 'e':
			w->seal = 1;
			break;
		case 'E':
			w->seal = 0;
			break;
		case 'C':
			w->compress = optarg;
			break;
		case 'w':
			w->cache = optarg;
			break;
		case 'a':
			w->early_ack = true;
			break;
		case 'f':
			w->force = true;
			break;
		}
	}
	arg_no_more(argc, argv, optind);
	if (w->home && !*w->home)
		ctl_usage("name a partition or disk with --home");
	if (!w->sized && !w->home)
		ctl_usage("name the size of the device with --size, or its home with --home");
	if (w->early_ack && !w->cache)
		ctl_usage("--early-ack goes with --cache");
	if (w->force && !w->home && !w->nr_flash)
		ctl_usage("--force goes with --home, --flash or --tier");
}

/* "10.0.0.2 lends 64 MiB with 20 MiB free, ..."; of peers that are up */
static void lenders_text(char *text, size_t len)
{
	char ip[ADDR_TEXT], lent[32], spare[32];
	struct view_peer *peers, *p;
	size_t nr = view_peers(&peers), at = 0;

	*text = '\0';
	for (p = peers; p < peers + nr && at < len; p++)
		if (view_peer_alive(p))
			at += snprintf(text + at, len - at,
				       "%s%s lends %s with %s free%s", at ? ", " : "",
				       text_ip(&p->addr, ip),
				       text_size(p->lent * PAGE_BYTES, lent, sizeof(lent)),
				       text_size(p->free * PAGE_BYTES, spare, sizeof(spare)),
				       strcmp(p->state, "up") ||
				       p->features & NSWAP_FEATURE_CLASSES ? "" :
				       " and knows no reserves");
	free(peers);
}

/* ask for it; a reserve that is refused is refused with who lends how much */
static void add(const struct wanted *w, struct view_device *d)
{
	struct nl_msg *msg = ctl_request(NSWAP_CMD_DEVICE_ADD);
	char lenders[512];
	const char *why;
	int i;

	if (w->sized)
		ctl_put_wide(msg, NSWAP_A_SIZE, w->bytes);
	if (w->home)
		ctl_put_text(msg, NSWAP_A_HOME, w->home);
	for (i = 0; i < w->nr_flash; i++)
		ctl_put_text(msg, NSWAP_A_FLASH, w->flash[i]);
	if (w->protect)
		ctl_put_text(msg, NSWAP_A_PROTECT, w->protect);
	if (w->class)
		ctl_put_text(msg, NSWAP_A_CLASS, w->class);
	if (w->seal >= 0)
		ctl_put_byte(msg, NSWAP_A_SEAL, w->seal);
	if (w->compress)
		ctl_put_text(msg, NSWAP_A_COMPRESS, w->compress);
	if (w->cache)
		ctl_put_wide(msg, NSWAP_A_CACHE, arg_size(w->cache));
	if (w->early_ack)
		ctl_put_on(msg, NSWAP_A_EARLY_ACK);
	if (w->reserves)
		ctl_put_wide(msg, NSWAP_A_RESERVE, w->reserve);
	why = ctl_try_call(msg, view_take_device, d);
	if (why && strstr(why, "can set aside")) {
		char said[256];

		/* it is gone with the next request */
		snprintf(said, sizeof(said), "%s", why);
		lenders_text(lenders, sizeof(lenders));
		ctl_refuse("%s: %s", said, *lenders ? lenders : "no peer lends RAM");
	}
	if (why)
		ctl_refuse("%s", why);
}

int cmd_device_add(int argc, char **argv)
{
	struct view_device d = { .name = "" };
	char path[80], size[32], map[32];
	struct wanted w = { .seal = -1 };
	unsigned int lenders;
	uint64_t lent;
	int i;

	parse_add(argc, argv, &w);
	if (w.home && !w.force)
		refuse_if_full(w.home);
	for (i = 0; i < w.nr_flash && !w.force; i++)
		refuse_if_full(w.flash[i]);
	/* asked before: once the device is there, nothing is refused any more */
	lenders = view_lenders();
	lent = view_lent_to_us();
	add(&w, &d);
	snprintf(path, sizeof(path), "/dev/%s", d.name);
	wait_for_name(path);
	if (ctl_json) {
		view_json_device(&d);
	} else {
		printf("%s, %s, slot map %s of RAM", path,
		       text_size(d.size, size, sizeof(size)),
		       text_size(d.map_bytes, map, sizeof(map)));
		print_sides(&d);
		printf("%s%s%s%s", *d.flash ? ", flash " : "", d.flash,
		       *d.home ? ", home " : "", d.home);
		printf("%s%s", strcmp(d.protect, "none") ? ", protected by " : "",
		       strcmp(d.protect, "none") ? d.protect : "");
		if (strcmp(d.class, "normal"))
			printf(", class %s", d.class);
		if (strcmp(d.compress, "off"))
			printf(", compressed with %s", d.compress);
		if (d.reserve)
			printf(", %s reserved", text_size(d.reserve, size, sizeof(size)));
		if (d.cache)
			printf(", %s cache%s", text_size(d.cache, size, sizeof(size)),
			       d.early ? " with early acknowledgement" : "");
		printf("\n");
	}
	fflush(stdout);
	warn_if_loop(&d);
	warn_if_bigger(&d, lent);
	warn_if_alone(&d, lenders);
	return 0;
}

static void take_left(struct nlattr **attrs, void *arg)
{
	*(uint64_t *)arg = nla_get_u64(attrs[NSWAP_A_LEFT]);
}

/* what is refused is said of the device, and of its flash if it is that */
static uint64_t del(const char *name, const char *flash)
{
	struct nl_msg *msg = ctl_request(NSWAP_CMD_DEVICE_DEL);
	struct export e;
	uint64_t left = 0;
	const char *why;

	ctl_put_text(msg, NSWAP_A_DEVICE_NAME, name);
	if (flash)
		ctl_put_text(msg, NSWAP_A_FLASH, flash);
	why = ctl_try_call(msg, take_left, &left);
	if (why && flash)
		ctl_refuse("%s: flash %s: %s", name, flash, why);
	if (why && export_find(name, &e))
		ctl_refuse("%s is exported: nswapctl unexport %s first", name, name);
	if (why)
		ctl_refuse("%s: %s", name, why);
	return left;
}

#define QUIET_S		3	/* this is said when no page has moved for so long */

/* each request goes on for a moment; the last one removes it */
static void del_flash(const char *name, const char *flash)
{
	const struct timespec step = { .tv_nsec = 50 * 1000 * 1000 };
	time_t said = time(NULL), moved = said;
	uint64_t left, most = 0, was = 0;

	while ((left = del(name, flash))) {
		if (left > most)
			most = left;
		if (left != was)
			moved = time(NULL);
		was = left;
		if (time(NULL) >= moved + QUIET_S && time(NULL) > said) {
			said = time(NULL);
			fprintf(stderr, "%llu pages left, none has moved for %lld s: something does not answer\n",
				(unsigned long long)left,
				(long long)(said - moved));
		} else if (most > left && time(NULL) > said) {
			said = time(NULL);
			fprintf(stderr, "%llu of %llu pages moved off\n",
				(unsigned long long)(most - left),
				(unsigned long long)most);
		}
		nanosleep(&step, NULL);
	}
}

int cmd_device_del(int argc, char **argv)
{
	const char *name, *flash = NULL;

	while (arg_option(argc, argv, del_options) != -1) {
		if (flash)
			ctl_usage("one flash device at a time");
		flash = optarg;
	}
	if (optind >= argc)
		ctl_usage("name the device to delete");
	if (flash && !*flash)
		ctl_usage("name a flash device with --flash");
	arg_no_more(argc, argv, optind + 1);
	name = arg_in_dev(argv[optind]);
	if (flash)
		del_flash(name, flash);
	else
		del(name, NULL);
	return 0;
}
