// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection: module parameters that make the server misbehave, to show
 * that the verifiers notice and that the client survives.
 *
 * Each counter is used up one by one, by the connection that comes first;
 * inject_cut_ack is a chance of 1 in N from a generator seeded by inject_seed.
 *
 * Mutations remove one rule as long as they are set, as the MUT_* of the same
 * names in tests/model/move.pml do: a test that does not notice proves nothing.
 */
#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/spinlock.h>

#include "inject.h"

static int inject_corrupt;
module_param(inject_corrupt, int, 0644);
MODULE_PARM_DESC(inject_corrupt, "corrupt the next N pages served");

static int inject_stale;
module_param(inject_stale, int, 0644);
MODULE_PARM_DESC(inject_stale, "serve the previous generation of the next N pages that have one");

static int inject_drop_ack;
module_param(inject_drop_ack, int, 0644);
MODULE_PARM_DESC(inject_drop_ack, "do not send the next N store acks");

static int inject_refuse;
module_param(inject_refuse, int, 0644);
MODULE_PARM_DESC(inject_refuse, "refuse the next N stores");

static int inject_cut_ack;
module_param(inject_cut_ack, int, 0644);
MODULE_PARM_DESC(inject_cut_ack, "close the connection before 1 in N acks of stores, frees and returns");

static int inject_keep;
module_param(inject_keep, int, 0644);
MODULE_PARM_DESC(inject_keep, "keep previous generations for inject_stale");

static bool inject_no_gen_check;
module_param(inject_no_gen_check, bool, 0644);
MODULE_PARM_DESC(inject_no_gen_check, "mutation: servers ignore generations");

static bool inject_early_free;
module_param(inject_early_free, bool, 0644);
MODULE_PARM_DESC(inject_early_free, "mutation: a mover drops its pages before their owner has recorded the new place");

static bool inject_ack_before_store;
module_param(inject_ack_before_store, bool, 0644);
MODULE_PARM_DESC(inject_ack_before_store, "mutation: stores are acknowledged before their pages are here");

static int inject_no_threads;
module_param(inject_no_threads, int, 0644);
MODULE_PARM_DESC(inject_no_threads, "the next N sessions get no threads");

static DEFINE_SPINLOCK(seed_lock);
static struct rnd_state rnd = { 1021, 2039, 4093, 8191 };

static int set_seed(const char *val, const struct kernel_param *kp)
{
	int ret = param_set_ulong(val, kp);

	spin_lock(&seed_lock);
	prandom_seed_state(&rnd, *(unsigned long *)kp->arg);
	spin_unlock(&seed_lock);
	return ret;
}

static const struct kernel_param_ops seed_ops = {
	.set = set_seed,
	.get = param_get_ulong,
};

static unsigned long inject_seed;
module_param_cb(inject_seed, &seed_ops, &inject_seed, 0644);
MODULE_PARM_DESC(inject_seed, "start the generator behind inject_cut_ack");

static bool use_one(int *left)
{
	int n = READ_ONCE(*left);

	while (n > 0) {
		int was = cmpxchg(left, n, n - 1);

		if (was == n)
			return true;
		n = was;
	}
	return false;
}

/* do servers keep the generation that was replaced? */
bool nswap_inject_keep(void)
{
	return READ_ONCE(inject_keep);
}

/* serve the previous generation of this page? */
bool nswap_inject_stale(void)
{
	return use_one(&inject_stale);
}

/* corrupt this page before it is served? */
bool nswap_inject_corrupt(void)
{
	return use_one(&inject_corrupt);
}

/* close the connection instead of acknowledging? */
bool nswap_inject_cut_ack(void)
{
	int n = READ_ONCE(inject_cut_ack);
	bool cut;

	if (n <= 0)
		return false;
	spin_lock(&seed_lock);
	cut = !(prandom_u32_state(&rnd) % n);
	spin_unlock(&seed_lock);
	return cut;
}

/* do not acknowledge this store? */
bool nswap_inject_drop_ack(void)
{
	return use_one(&inject_drop_ack);
}

/* refuse this store? */
bool nswap_inject_refuse(void)
{
	return use_one(&inject_refuse);
}

/* do servers ignore generations? */
bool nswap_inject_no_gen_check(void)
{
	return READ_ONCE(inject_no_gen_check);
}

/* do movers drop pages before they tell the owner? */
bool nswap_inject_early_free(void)
{
	return READ_ONCE(inject_early_free);
}

/* acknowledge stores without storing them first? */
bool nswap_inject_ack_before_store(void)
{
	return READ_ONCE(inject_ack_before_store);
}

/* fail to create the threads of this session? */
bool nswap_inject_no_threads(void)
{
	return use_one(&inject_no_threads);
}
