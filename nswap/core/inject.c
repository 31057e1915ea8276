// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection: module parameters that make the server misbehave, to show
 * that the verifiers notice and that the client survives.
 *
 * inject_cut_ack takes its chances from a generator seeded by inject_seed. inject_lose
 * is about messages of one type, inject_type.
 */
#include <linux/atomic.h>
#include <linux/highmem.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "inject.h"

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

static bool use_chance(int n)
{
	bool hit;

	if (n <= 0)
		return false;
	spin_lock(&seed_lock);
	hit = !(prandom_u32_state(&rnd) % n);
	spin_unlock(&seed_lock);
	return hit;
}

#define INJECT_FAULT(name, type, text, asked) \
	static type inject_##name; \
	module_param(inject_##name, type, 0644); \
	MODULE_PARM_DESC(inject_##name, text); \
	bool nswap_inject_##name(void) { return asked; }
#define INJECT_NEXT(name, text) \
	INJECT_FAULT(name, int, text, use_one(&inject_##name))
#define INJECT_CHANCE(name, text) \
	INJECT_FAULT(name, int, text, use_chance(READ_ONCE(inject_##name)))
#define INJECT_WHILE(name, text) \
	INJECT_FAULT(name, bool, text, READ_ONCE(inject_##name))
#define INJECT(kind, name, text) INJECT_##kind(name, text)
NSWAP_INJECT_FAULTS(INJECT)

static int inject_type;
module_param(inject_type, int, 0644);
MODULE_PARM_DESC(inject_type, "type of the messages that inject_lose is about");

static int inject_lose;
module_param(inject_lose, int, 0644);
MODULE_PARM_DESC(inject_lose, "lose the next N messages of inject_type, each with its connection");

static ulong inject_uncleared;
module_param(inject_uncleared, ulong, 0644);
MODULE_PARM_DESC(inject_uncleared, "lent pages that went back to the system with something in them");

/* a lent page goes back to the system; process, does not sleep */
void nswap_inject_freed(struct page *page)
{
	const void *at = kmap_local_page(page);

	if (memchr_inv(at, 0, PAGE_SIZE))
		WRITE_ONCE(inject_uncleared, READ_ONCE(inject_uncleared) + 1);
	kunmap_local(at);
}

/*
 * Is a message to be lost? A connection loses nothing but by ending. A question has had
 * no effect then; that of an answer has, and comes again where the protocol repeats it.
 * @type: enum nswap_wire_type; any context
 */
bool nswap_inject_lost(u8 type)
{
	return READ_ONCE(inject_type) == type && use_one(&inject_lose);
}
