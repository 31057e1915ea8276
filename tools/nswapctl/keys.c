// SPDX-License-Identifier: GPL-2.0
/*
 * Keys, from files to the module, which is the only one to see them.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "keys.h"
#include "nl.h"

void keys_put_members(struct nl_msg *msg, const struct keyfile *f)
{
	uint8_t *all = malloc(f->nr * KEY_BYTES);
	size_t i;

	if (!all)
		ctl_refuse("no memory");
	for (i = 0; i < f->nr; i++)
		memcpy(all + i * KEY_BYTES, f->member[i].key, KEY_BYTES);
	ctl_put_bytes(msg, NSWAP_A_MEMBERS, all, f->nr * KEY_BYTES);
	free(all);
}

/* --key and --members, or --secret; the others are NULL */
void keys_put_up(struct nl_msg *msg, const char *key, const char *members,
		 const char *secret)
{
	const char *path = secret ? secret : members;
	struct keyfile f;

	if (secret && (key || members))
		ctl_usage("--secret makes all keys: it goes with neither --key nor --members");
	if (!key != !members)
		ctl_usage("--key and --members go together");
	if (!path)
		return;
	keyfile_read(path, &f);
	if (!f.has_cluster)
		ctl_refuse("%s has no secret of a cluster, make another file with: nswapctl key %s",
			   path, members ? "trust FILE NAME PUBLIC" : "generate FILE --secret");
	if (secret && f.nr)
		ctl_refuse("%s lists members: name it with --members, and this node's key with --key",
			   path);
	if (members && !f.nr)
		ctl_refuse("%s lists no members, see: nswapctl key trust --help", path);
	ctl_put_bytes(msg, NSWAP_A_CLUSTER_KEY, f.cluster, KEY_BYTES);
	if (members)
		keys_put_members(msg, &f);
	keyfile_free(&f);
	if (!key)
		return;
	keyfile_read(key, &f);
	if (!f.has_key)
		ctl_refuse("%s has no key of a node, make another file with: nswapctl key generate FILE",
			   key);
	ctl_put_bytes(msg, NSWAP_A_NODE_KEY, f.key, KEY_BYTES);
	keyfile_free(&f);
}
