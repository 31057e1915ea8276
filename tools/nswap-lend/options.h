/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the user asks for.
 */
#ifndef LEND_OPTIONS_H
#define LEND_OPTIONS_H

#include "keyfile.h"
#include "parse.h"

/**
 * struct lend_options - the command line, checked, with the files it names
 * @addr: address, with its port
 * @pages: to lend
 * @peer: listed peers, @nr_peers of them
 * @no_broadcast: announce to these alone
 * @announce_ms: between announcements
 * @owner_max: percent of @pages that one owner may have
 * @lease_s: seconds that pages of an owner that is away are kept
 * @lock: no memory of the program may be swapped out
 * @now: end without waiting until pages are elsewhere
 * @drain_s: how long to wait for that
 * @status: ask the lender that runs for its status
 * @json: and print that as JSON
 * @metrics: ask it, and print that for Prometheus
 * @members: file that @member is from, NULL without
 * @keys: there are
 * @own: @key is one of this node
 * @key: its key
 * @cluster: secret of the cluster
 * @member: public keys of @nr_members members, NULL: all that know @cluster
 */
struct lend_options {
	struct ctl_addr addr;
	uint64_t pages;
	struct ctl_addr *peer;
	size_t nr_peers;
	bool no_broadcast;
	uint32_t announce_ms;
	uint32_t owner_max;
	uint32_t lease_s;
	bool lock;
	bool now;
	uint32_t drain_s;
	bool status;
	bool json;
	bool metrics;
	const char *members;
	bool keys;
	bool own;
	uint8_t key[KEY_BYTES];
	uint8_t cluster[KEY_BYTES];
	uint8_t *member;
	size_t nr_members;
};

/* ends the program if they make no sense, or were about help */
void options_take(int argc, char **argv, struct lend_options *o);
/* read the list of members again; false if it makes no sense, which was said then */
bool options_again(struct lend_options *o);
/* wipe keys */
void options_forget(struct lend_options *o);

#endif
