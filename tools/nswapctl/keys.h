/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys, from files to the module.
 */
#ifndef NSWAPCTL_KEYS_H
#define NSWAPCTL_KEYS_H

#include "keyfile.h"

struct nl_msg;

void keys_put_members(struct nl_msg *msg, const struct keyfile *f);
void keys_put_up(struct nl_msg *msg, const char *key, const char *members,
		 const char *secret);

#endif
