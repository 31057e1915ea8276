// SPDX-License-Identifier: GPL-2.0
/*
 * device place: bring the pages of a device, or of a part of it, to a tier.
 *
 * Piece after piece, by an ioctl of the device. An interrupt ends it behind a batch of 32
 * pages, and what was moved stays where it is. Root asks without write access: closing a
 * device that was open for writing has udev look at it again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/nswap_place.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "nl.h"
#include "view.h"

#define PIECE	(16ull << 20)	/* at first, and doubled while one takes no time */
#define PIECE_MOST	(1ull << 30)

static const struct option place_options[] = {
	{ "to", required_argument, NULL, 't' },
	{ "offset", required_argument, NULL, 'o' },
	{ "length", required_argument, NULL, 'l' },
	{ }
};

static const char *const place_tiers[] = {
	[NSWAP_AT_RAM] = "ram",
	[NSWAP_AT_FLASH] = "flash",
	[NSWAP_AT_HOME] = "home",
};

#define NR_TIERS	(sizeof(place_tiers) / sizeof(*place_tiers))

/* what is to be placed, and what became of it */
struct placed {
	const char *name;
	uint64_t offset;
	uint64_t length;	/* 0: up to the end */
	unsigned int tier;
	uint64_t there;
	uint64_t moved;
	uint64_t left;
	uint64_t lost;
	uint64_t empty;
};

static void place_parse(int argc, char **argv, struct placed *p)
{
	bool sized = false;
	int option;

	p->tier = NR_TIERS;
	while ((option = arg_option(argc, argv, place_options)) != -1) {
		if (option == 'o') {
			p->offset = arg_size(optarg);
		} else if (option == 'l') {
			p->length = arg_size(optarg);
			sized = true;
		} else {
			for (p->tier = 0; p->tier < NR_TIERS; p->tier++)
				if (!strcmp(optarg, place_tiers[p->tier]))
					break;
			if (p->tier == NR_TIERS)
				ctl_usage("there is ram, flash and home to place pages on, not '%s'",
					  optarg);
		}
	}
	if (optind >= argc)
		ctl_usage("name the device whose pages are to be placed");
	arg_no_more(argc, argv, optind + 1);
	p->name = arg_in_dev(argv[optind]);
	if (p->tier == NR_TIERS)
		ctl_usage("say where its pages are to be with --to ram, flash or home");
	if (p->offset % PAGE_BYTES || p->length % PAGE_BYTES || (sized && !p->length))
		ctl_usage("--offset and --length are multiples of 4 KiB, and a length is not 0");
}

/* the device is this node's, has such a tier, and is large enough */
static void place_check(struct placed *p)
{
	struct view_device d;
	char size[32];

	view_get_device(p->name, &d);
	if ((p->tier == NSWAP_AT_FLASH && !*d.flash) ||
	    (p->tier == NSWAP_AT_HOME && !*d.home))
		ctl_refuse("%s has no %s", p->name, place_tiers[p->tier]);
	if (p->offset >= d.size || p->length > d.size - p->offset)
		ctl_refuse("%s ends at %s", p->name, text_size(d.size, size, sizeof(size)));
	if (!p->length)
		p->length = d.size - p->offset;
}

static void __attribute__((noreturn)) place_refuse(const struct placed *p, int why)
{
	switch (why) {
	case EOPNOTSUPP:
		ctl_refuse("%s is protected by parity: where its pages are is decided by their groups",
			   p->name);
	case ENODEV:
		ctl_refuse("%s has no %s", p->name, place_tiers[p->tier]);
	case EIO:
		ctl_refuse("%s is being deleted, or its write cache cannot be emptied", p->name);
	default:
		ctl_refuse("/dev/%s: %s", p->name, strerror(why));
	}
}

/* one piece from @at on; returns how much of it was gone through */
static uint64_t place_piece(int file, struct placed *p, uint64_t at, uint64_t length)
{
	struct nswap_place n = {
		.offset = at,
		.length = length,
		.tier = p->tier,
	};

	if (ioctl(file, NSWAP_IOC_PLACE, &n))
		place_refuse(p, errno);
	p->there += n.there;
	p->moved += n.moved;
	p->left += n.left;
	p->lost += n.lost;
	p->empty += n.empty;
	return n.length;
}

static void place_run(struct placed *p)
{
	uint64_t at = p->offset, end = p->offset + p->length, piece = PIECE;
	time_t said = time(NULL), began;
	char path[80];
	int file;

	snprintf(path, sizeof(path), "/dev/%s", p->name);
	file = open(path, geteuid() ? O_RDWR : O_RDONLY);
	if (file < 0)
		ctl_refuse("%s: %s", path, strerror(errno));
	while (at < end) {
		began = time(NULL);
		at += place_piece(file, p, at, end - at < piece ? end - at : piece);
		piece = time(NULL) > began ? PIECE : 2 * piece < PIECE_MOST ? 2 * piece : PIECE_MOST;
		if (at < end && time(NULL) > said) {
			said = time(NULL);
			fprintf(stderr, "%llu of %llu MiB, %llu pages moved\n",
				(unsigned long long)(at - p->offset) >> 20,
				(unsigned long long)p->length >> 20,
				(unsigned long long)p->moved);
		}
	}
	close(file);
}

static void place_print(const struct placed *p)
{
	if (!ctl_json) {
		printf("%s: %llu pages moved to %s, %llu were there, %llu are elsewhere, %llu are lost\n",
		       p->name, (unsigned long long)p->moved, place_tiers[p->tier],
		       (unsigned long long)p->there, (unsigned long long)p->left,
		       (unsigned long long)p->lost);
		return;
	}
	json_object(NULL);
	json_string("device", p->name);
	json_string("to", place_tiers[p->tier]);
	json_number("offset_bytes", p->offset);
	json_number("length_bytes", p->length);
	json_number("pages_moved", p->moved);
	json_number("pages_there", p->there);
	json_number("pages_left", p->left);
	json_number("pages_lost", p->lost);
	json_number("pages_empty", p->empty);
	json_end();
}

int cmd_device_place(int argc, char **argv)
{
	struct placed p = { .name = NULL };

	place_parse(argc, argv, &p);
	place_check(&p);
	place_run(&p);
	place_print(&p);
	fflush(stdout);
	if (p.left)
		ctl_refuse("%llu pages of %s are elsewhere: there is no room, they changed meanwhile, or something does not answer",
			   (unsigned long long)p.left, p.name);
	return 0;
}
