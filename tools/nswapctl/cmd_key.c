// SPDX-License-Identifier: GPL-2.0
/*
 * Commands about keys: key generate, show, trust, revoke, list, apply.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "keyfile.h"
#include "keys.h"
#include "nl.h"

static const struct option generate_options[] = {
	{ "secret", no_argument, NULL, 's' },
	{ }
};

static void tell_key(const char *what, const uint8_t key[KEY_BYTES])
{
	char text[KEY_TEXT];

	keyfile_text(key, text);
	if (ctl_json) {
		json_object(NULL);
		json_string(what, text);
		json_end();
	} else {
		puts(text);
	}
}

int cmd_key_generate(int argc, char **argv)
{
	struct keyfile f = { .has_key = true };
	uint8_t public[KEY_BYTES];

	while (arg_option(argc, argv, generate_options) != -1) {
		f.has_key = false;
		f.has_cluster = true;
	}
	if (optind == argc)
		ctl_usage("name the file");
	arg_no_more(argc, argv, optind + 1);
	keyfile_random(f.has_key ? f.key : f.cluster);
	if (f.has_key)
		keyfile_public(public, f.key);
	keyfile_write(argv[optind], &f, true);
	if (f.has_key)
		tell_key("public", public);
	keyfile_free(&f);
	return 0;
}

int cmd_key_show(int argc, char **argv)
{
	uint8_t public[KEY_BYTES];
	struct keyfile f;

	if (argc < 2)
		ctl_usage("name the file");
	arg_no_more(argc, argv, 2);
	keyfile_read(argv[1], &f);
	if (!f.has_key)
		ctl_refuse("%s has no key of a node", argv[1]);
	keyfile_public(public, f.key);
	tell_key("public", public);
	keyfile_free(&f);
	return 0;
}

int cmd_key_trust(int argc, char **argv)
{
	uint8_t key[KEY_BYTES];
	struct keyfile f = { 0 };
	bool fresh;
	const char *c;

	if (argc < 4)
		ctl_usage("name the file, the member and its public key");
	arg_no_more(argc, argv, 4);
	keyfile_lock(argv[1]);
	fresh = access(argv[1], F_OK) && errno == ENOENT;
	if (!fresh) {
		keyfile_read(argv[1], &f);
	} else {
		f.has_cluster = true;
		keyfile_random(f.cluster);
	}
	for (c = argv[2]; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == '#')
			ctl_usage("a name has neither spaces nor '#'");
	if (!*argv[2] || strlen(argv[2]) >= MEMBER_NAME)
		ctl_usage("a name has 1 to %d characters", MEMBER_NAME - 1);
	if (!keyfile_parse(argv[3], key))
		ctl_usage("'%s' is no public key", argv[3]);
	if (keyfile_find(&f, argv[2]) || keyfile_find(&f, argv[3]))
		ctl_refuse("%s has this name or key already", argv[1]);
	keyfile_add(&f, argv[2], key);
	keyfile_write(argv[1], &f, fresh);
	keyfile_free(&f);
	return 0;
}

int cmd_key_revoke(int argc, char **argv)
{
	struct keyfile f;
	struct member *m;

	if (argc < 3)
		ctl_usage("name the file and the member");
	arg_no_more(argc, argv, 3);
	keyfile_lock(argv[1]);
	keyfile_read(argv[1], &f);
	m = keyfile_find(&f, argv[2]);
	if (!m)
		ctl_refuse("%s has no member '%s'", argv[1], argv[2]);
	memmove(m, m + 1, (f.member + --f.nr - m) * sizeof(*m));
	keyfile_write(argv[1], &f, false);
	keyfile_free(&f);
	if (!ctl_json)
		printf("every node has to be told: nswapctl key apply %s\n"
		       "it still knows the cluster's secret: to hide announcements from it, change that\n",
		       argv[1]);
	return 0;
}

int cmd_key_list(int argc, char **argv)
{
	char text[KEY_TEXT];
	struct keyfile f;
	size_t i;

	if (argc < 2)
		ctl_usage("name the file");
	arg_no_more(argc, argv, 2);
	keyfile_read(argv[1], &f);
	if (ctl_json)
		json_list(NULL);
	for (i = 0; i < f.nr; i++) {
		keyfile_text(f.member[i].key, text);
		if (!ctl_json) {
			printf("%s  %s\n", text, f.member[i].name);
			continue;
		}
		json_object(NULL);
		json_string("name", f.member[i].name);
		json_string("public", text);
		json_end();
	}
	if (ctl_json)
		json_end();
	keyfile_free(&f);
	return 0;
}

int cmd_key_apply(int argc, char **argv)
{
	struct nl_msg *msg;
	struct keyfile f;

	if (argc < 2)
		ctl_usage("name the file");
	arg_no_more(argc, argv, 2);
	keyfile_read(argv[1], &f);
	if (!f.nr)
		ctl_refuse("%s has no members", argv[1]);
	msg = ctl_request(NSWAP_CMD_NODE_SET);
	keys_put_members(msg, &f);
	ctl_call(msg, NULL, NULL);
	keyfile_free(&f);
	return 0;
}
