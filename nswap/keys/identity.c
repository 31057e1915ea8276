// SPDX-License-Identifier: GPL-2.0
/*
 * Identity: a node's own keys and the list of members.
 *
 * Invariants:
 *  - A node's id is made from its public key, so no other key can take its name.
 *  - Secrets are wiped before their memory is freed.
 *  - Readers of the list of members take no lock; it is replaced as a whole.
 *  - The half of an exchange that is not a node's own key lives for ONCE_FOR: what was
 *    said before cannot be opened with what is found later. It is the same for all
 *    exchanges of that time, so that a stranger costs no multiplication.
 */
#include <crypto/curve25519.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "identity.h"

#define ONCE_FOR	(60 * HZ)

static int member_order(const void *a, const void *b)
{
	return memcmp(a, b, NSWAP_KEY_BYTES);
}

static bool find_member(const struct nswap_members *m, const u8 *public)
{
	u32 first = 0, end = m->nr;

	while (first < end) {
		u32 mid = first + (end - first) / 2;
		int d = memcmp(public, m->of[mid].key, NSWAP_KEY_BYTES);

		if (!d)
			return true;
		if (d < 0)
			end = mid;
		else
			first = mid + 1;
	}
	return false;
}

static struct nswap_members *make_members(const u8 *member, u32 nr)
{
	struct nswap_members *m = kvmalloc(struct_size(m, of, nr), GFP_KERNEL);
	u32 i;

	if (!m)
		return NULL;
	m->nr = nr;
	for (i = 0; i < nr; i++) {
		memcpy(m->of[i].key, member + i * NSWAP_KEY_BYTES, NSWAP_KEY_BYTES);
		m->of[i].name = nswap_identity_name(m->of[i].key);
	}
	sort(m->of, nr, sizeof(m->of[0]), member_order, NULL);
	return m;
}

/*
 * The identity of a node; @at: made from its address, names it if it has no key of its
 * own. Process, sleeps. Returns it, or an ERR_PTR: -EINVAL for keys
 * that are none, -EKEYREJECTED if it is no member, -ENOMEM.
 */
struct nswap_identity *nswap_identity_make(const struct nswap_identity_config *cfg,
					   u64 at)
{
	struct nswap_identity *id = kzalloc(sizeof(*id), GFP_KERNEL);
	const struct nswap_text text = { &at, sizeof(at) };
	int ret = -EINVAL;

	if (!id)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&id->lock);
	id->once_until = jiffies - 1;
	memcpy(id->cluster, cfg->cluster, sizeof(id->cluster));
	memcpy(id->secret, cfg->secret, sizeof(id->secret));
	id->own = cfg->has_secret;
	if (!id->own)
		nswap_derive(id->secret, id->cluster, "nswap node", &text, 1);
	curve25519_clamp_secret(id->secret);
	nswap_derive(id->announce, id->cluster, "nswap announce", NULL, 0);
	if (!memchr_inv(id->cluster, 0, sizeof(id->cluster)) ||
	    !curve25519_generate_public(id->public, id->secret))
		goto fail;
	ret = cfg->member ? nswap_identity_trust(id, cfg->member, cfg->nr) : 0;
	if (!ret)
		return id;
fail:
	nswap_identity_free(id);
	return ERR_PTR(ret);
}

/* without users; NULL is fine */
void nswap_identity_free(struct nswap_identity *id)
{
	if (!id)
		return;
	kvfree(rcu_dereference_protected(id->members, true));
	kfree_sensitive(id);
}

/*
 * These are the members from now on. Process, sleeps; one at a time. Returns 0; -ENOMEM;
 * -EKEYREJECTED if @id is none of them; -EINVAL if it has no key of its own, for a list
 * says nothing then.
 */
int nswap_identity_trust(struct nswap_identity *id, const u8 *member, u32 nr)
{
	struct nswap_members *old, *new;

	if (!id->own)
		return -EINVAL;
	new = make_members(member, nr);
	if (!new)
		return -ENOMEM;
	if (!find_member(new, id->public)) {
		kvfree(new);
		return -EKEYREJECTED;
	}
	old = rcu_dereference_protected(id->members, true);
	rcu_assign_pointer(id->members, new);
	/* pairs with what was proved: under the new list, if it sees the new count */
	smp_store_release(&id->lists, id->lists + 1);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

/* the id of the node that has this key, not 0; any context */
u64 nswap_identity_name(const u8 public[NSWAP_KEY_BYTES])
{
	u8 out[NSWAP_KEY_BYTES];
	__le64 name;

	nswap_derive(out, public, "nswap id", NULL, 0);
	memcpy(&name, out, sizeof(name));
	return le64_to_cpu(name) ?: 1;
}

/* how many members there are, 0: all that know the cluster's key; any context */
u32 nswap_identity_members(const struct nswap_identity *id)
{
	const struct nswap_members *m;
	u32 nr;

	rcu_read_lock();
	m = rcu_dereference(id->members);
	nr = m ? m->nr : 0;
	rcu_read_unlock();
	return nr;
}

/* may it be a member? Whether it has the key, an exchange says. Any context. */
bool nswap_identity_believes(const struct nswap_identity *id,
			     const u8 public[NSWAP_KEY_BYTES])
{
	const struct nswap_members *m;
	bool is;

	rcu_read_lock();
	m = rcu_dereference(id->members);
	is = !m || find_member(m, public);
	rcu_read_unlock();
	return is;
}

/* may a node of this name be a member? Any context. */
bool nswap_identity_knows(const struct nswap_identity *id, u64 name)
{
	const struct nswap_members *m;
	bool is;
	u32 i;

	rcu_read_lock();
	m = rcu_dereference(id->members);
	is = !m;
	for (i = 0; m && !is && i < m->nr; i++)
		is = m->of[i].name == name;
	rcu_read_unlock();
	return is;
}

/* forget the half for exchanges that others begin, when its time is over; any context */
void nswap_identity_age(struct nswap_identity *id)
{
	spin_lock(&id->lock);
	if (!time_before(jiffies, id->once_until)) {
		memzero_explicit(id->once_secret, sizeof(id->once_secret));
		id->once_until = jiffies - 1;
	}
	spin_unlock(&id->lock);
}

/* Both halves of a key for one exchange. Process. Returns 0, or -EAGAIN. */
int nswap_identity_once(u8 secret[NSWAP_KEY_BYTES], u8 public[NSWAP_KEY_BYTES])
{
	get_random_bytes(secret, NSWAP_KEY_BYTES);
	curve25519_clamp_secret(secret);
	return curve25519_generate_public(public, secret) ? 0 : -EAGAIN;
}

/* The halves for exchanges that others begin, see above. Process. Returns 0, or -EAGAIN. */
int nswap_identity_half(struct nswap_identity *id, u8 secret[NSWAP_KEY_BYTES],
			u8 public[NSWAP_KEY_BYTES])
{
	bool old;
	int ret;

	spin_lock(&id->lock);
	old = !time_before(jiffies, id->once_until);
	memcpy(secret, id->once_secret, NSWAP_KEY_BYTES);
	memcpy(public, id->once_public, NSWAP_KEY_BYTES);
	spin_unlock(&id->lock);
	if (!old)
		return 0;
	ret = nswap_identity_once(secret, public);
	if (ret)
		return ret;
	spin_lock(&id->lock);
	memcpy(id->once_secret, secret, NSWAP_KEY_BYTES);
	memcpy(id->once_public, public, NSWAP_KEY_BYTES);
	id->once_until = jiffies + ONCE_FOR;
	spin_unlock(&id->lock);
	return 0;
}
