/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who a node is, and whom it believes.
 */
#ifndef NSWAP_IDENTITY_H
#define NSWAP_IDENTITY_H

#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "derive.h"

/**
 * struct nswap_identity_config - the keys that a user gave
 * @cluster: known to all members
 * @has_secret: @secret is given; else it is made from @cluster and the node's address
 * @secret: of this node
 * @member: public keys of the members, @nr of them, in any order; NULL: all that know
 *	@cluster are
 * @nr: how many
 */
struct nswap_identity_config {
	u8 cluster[NSWAP_KEY_BYTES];
	bool has_secret;
	u8 secret[NSWAP_KEY_BYTES];
	const u8 *member;
	u32 nr;
};

/**
 * struct nswap_member - a member
 * @key: its public key
 * @name: the id made from it
 */
struct nswap_member {
	u8 key[NSWAP_KEY_BYTES];
	u64 name;
};

/**
 * struct nswap_members - members, in order of their keys
 * @rcu: to free it
 * @nr: how many
 * @of: the members
 */
struct nswap_members {
	struct rcu_head rcu;
	u32 nr;
	struct nswap_member of[];
};

/**
 * struct nswap_identity - keys of a node; all but @lists, @members, @once_* are write-once
 * @secret: Curve25519
 * @public: the half of it that others know
 * @cluster: known to all members
 * @announce: authenticates announcements
 * @own: @secret was given; else all that know @cluster can make it
 * @lists: how often the members have changed; what was proved before is to be proved again
 * @members: RCU; NULL: all that know @cluster
 * @lock: protects @once_secret, @once_public, @once_until
 * @once_secret: this node's half of exchanges that it is asked for, for a while
 * @once_public: likewise, what others are told
 * @once_until: jiffies when there should be others
 */
struct nswap_identity {
	u8 secret[NSWAP_KEY_BYTES];
	u8 public[NSWAP_KEY_BYTES];
	u8 cluster[NSWAP_KEY_BYTES];
	u8 announce[NSWAP_KEY_BYTES];
	bool own;
	u32 lists;
	struct nswap_members __rcu *members;
	spinlock_t lock;
	u8 once_secret[NSWAP_KEY_BYTES];
	u8 once_public[NSWAP_KEY_BYTES];
	unsigned long once_until;
};

struct nswap_identity *nswap_identity_make(const struct nswap_identity_config *cfg,
					   u64 at);
void nswap_identity_free(struct nswap_identity *id);
int nswap_identity_trust(struct nswap_identity *id, const u8 *member, u32 nr);
u32 nswap_identity_members(const struct nswap_identity *id);
u64 nswap_identity_name(const u8 public[NSWAP_KEY_BYTES]);
bool nswap_identity_believes(const struct nswap_identity *id,
			     const u8 public[NSWAP_KEY_BYTES]);
bool nswap_identity_knows(const struct nswap_identity *id, u64 name);
void nswap_identity_age(struct nswap_identity *id);
int nswap_identity_once(u8 secret[NSWAP_KEY_BYTES], u8 public[NSWAP_KEY_BYTES]);
int nswap_identity_half(struct nswap_identity *id, u8 secret[NSWAP_KEY_BYTES],
			u8 public[NSWAP_KEY_BYTES]);

#endif
