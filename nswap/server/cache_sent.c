// SPDX-License-Identifier: GPL-2.0
/*
 * Nswap Cache: entries without users whose pages sockets still refer to.
 *
 *   dropped -> referred to by a socket: kept here -> no longer: set aside, or freed
 *
 * An answer refers to its pages until the owner has received them (transport/refer.c).
 * Meanwhile the owner may drop one of them, or find it moved elsewhere.
 *
 * Invariants:
 *  - A page that a socket refers to is neither filled with another nor cleared: what is
 *    sent again is what was sent. An entry never changes, so this is only about its end.
 *  - No task refers to a page again once its entry has no users: a count of one stays one.
 *  - They count as allocated, not as held, set aside, or above the target. How long they
 *    stay is not bounded: the network stack may keep what was received until a processor
 *    has more to do with it, and a receiver on this kernel until it reads it. How many there
 *    are is: beyond a part of what is lent answers are copied, and moves are few at a time.
 *
 * Lock order: as cache.c.
 */
#include <linux/delay.h>
#include <linux/mm.h>

#include "base/log.h"
#include "base/workqueues.h"
#include "cache.h"
#include "core/node.h"

#define SENT_AGAIN	(HZ / 50)	/* between two looks, */
#define SENT_SELDOM	HZ		/* at last, while nothing changes */
#define SENT_MOST	256		/* entries looked at in one go, the oldest first */
#define SENT_PART	16		/* of what is lent, above which answers are copied */
#define SENT_STOP	50		/* looks at the end, 20 ms each */

/* does a socket refer to the page of an entry? any context; a snapshot */
bool nswap_cache_referred(const struct nswap_entry *e)
{
	return page_ref_count(e->page) > 1;
}

/**
 * nswap_cache_sent() - keep an entry without users if a socket refers to its page
 * @c: cache
 * @e: entry, on no list
 *
 * Context: process, on the reclaim path; does not sleep or allocate.
 * Return: true if it is kept here.
 */
bool nswap_cache_sent(struct nswap_cache *c, struct nswap_entry *e)
{
	bool seldom;

	if (!nswap_cache_referred(e))
		return false;
	spin_lock(&c->lock);
	list_add_tail(&e->link, &c->sent);
	c->nr_sent++;
	seldom = c->sent_wait > SENT_AGAIN;
	c->sent_wait = SENT_AGAIN;
	spin_unlock(&c->lock);
	if (seldom)
		mod_delayed_work(nswap_io_wq, &c->sent_look, SENT_AGAIN);
	else
		queue_delayed_work(nswap_io_wq, &c->sent_look, SENT_AGAIN);
	return true;
}

/**
 * nswap_cache_may_refer() - may an answer refer to the pages of an owner?
 * @c: cache
 * @o: owner
 *
 * Not if a device of it has a reserve: a page that it frees is to be there for its next
 * one. And not if much of what is lent is being sent already: a receiver on this kernel
 * may keep what it was sent for as long as it likes.
 *
 * Context: any; does not sleep.
 * Return: true if it may.
 */
bool nswap_cache_may_refer(struct nswap_cache *c, const struct nswap_owner *o)
{
	return !READ_ONCE(o->reserves) &&
	       READ_ONCE(c->nr_sent) <= READ_ONCE(c->target) / SENT_PART;
}

/*
 * Set some of those aside that no socket refers to any more. Returns jiffies until there may
 * be more of them, MAX_SCHEDULE_TIMEOUT if none are left.
 */
static unsigned long sent_give(struct nswap_cache *c)
{
	struct nswap_entry *e, *next;
	LIST_HEAD(unused);
	unsigned int n = 0, looked = 0;
	unsigned long wait;
	LIST_HEAD(later);

	spin_lock(&c->lock);
	list_for_each_entry_safe(e, next, &c->sent, link) {
		if (looked++ == SENT_MOST)
			break;
		if (nswap_cache_referred(e)) {
			list_move_tail(&e->link, &later);
			continue;
		}
		list_move_tail(&e->link, &unused);
		n++;
	}
	list_splice_tail(&later, &c->sent);
	c->sent_wait = n ? SENT_AGAIN : min_t(unsigned long, 2 * c->sent_wait, SENT_SELDOM);
	wait = c->nr_sent == n ? MAX_SCHEDULE_TIMEOUT : n == SENT_MOST ? 0 : c->sent_wait;
	spin_unlock(&c->lock);
	if (n)
		nswap_cache_sent_back(c, &unused, n);
	return wait;
}

/* Context: process, the module's work queue; does not sleep. */
void nswap_cache_sent_work(struct work_struct *work)
{
	struct nswap_cache *c = container_of(to_delayed_work(work),
					     struct nswap_cache, sent_look);
	unsigned long wait = sent_give(c);

	if (wait != MAX_SCHEDULE_TIMEOUT)
		queue_delayed_work(nswap_io_wq, &c->sent_look, wait);
}

/*
 * Look at once; returns how many of them will then be given back to the system, for the
 * others are set aside. Any context, on the reclaim path.
 */
u64 nswap_cache_sent_now(struct nswap_cache *c)
{
	u64 n;

	spin_lock(&c->lock);
	n = c->allocated > c->target ? min(c->nr_sent, c->allocated - c->target) : 0;
	spin_unlock(&c->lock);
	if (n)
		mod_delayed_work(nswap_io_wq, &c->sent_look, 0);
	return n;
}

/*
 * Free them; @c has no connections any more. A network card that does not give up what
 * it was to send is not waited for: the page is freed when it does, as it is. Process,
 * sleeps, at most a second.
 */
void nswap_cache_sent_stop(struct nswap_cache *c)
{
	struct nswap_entry *e;
	unsigned int n, left = 0;

	cancel_delayed_work_sync(&c->sent_look);
	for (n = 0; n < SENT_STOP && sent_give(c) != MAX_SCHEDULE_TIMEOUT; n++)
		msleep(20);
	list_for_each_entry(e, &c->sent, link) {
		if (!e->clear || !nswap_cache_referred(e))
			continue;
		e->clear = false;
		left++;
	}
	if (left)
		nswap_warn(c->node, "%u pages go back uncleared: the network stack has not let go of them; where that matters, set the interface down before the node",
			   left);
	nswap_cache_give(c, &c->sent);
	c->nr_sent = 0;
}
