// SPDX-License-Identifier: GPL-2.0
/*
 * Nswap Cache: giving memory back when the machine needs it.
 *
 * The shrinker counts what can be freed at once and without the network:
 * pages that were set aside and not filled, promised or not, but for those that
 * are ready for owners' next stores (ready.h): to have these back takes the owners'
 * locks, and the mover and the next decision on the size do it. It frees them,
 * lowers what the node lends for hold_off_ms and starts migration of pages that
 * are then held above it. Granted pages go before reserved ones. Held pages are
 * the mover's.
 *
 * The OOM notifier runs when reclaim has given up. It frees what the shrinker may
 * and lowers what is lent to the minimum; while surplus pages are moved away it reports
 * progress, so that the allocation waits instead of killing a program; it stops
 * doing so after oom_wait_ms without a page given back.
 *
 * Nodes under a size policy that is not adaptive keep what the user lends: only
 * for their surplus does the notifier wait.
 *
 * Invariants:
 *  - A cache is in the list from watch to unwatch; the list's lock is held while
 *    a cache is used, so the cache cannot go away.
 *  - Reclaim may run in any thread that allocates. Nothing here sleeps (except
 *    the OOM notifier, which may) or allocates, and both locks are spinlocks
 *    that are never held over an allocation.
 *
 * Lock order: caches_lock -> cache->lock.
 */
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/sched.h>
#include <linux/shrinker.h>

#include "base/clock.h"
#include "base/hooks.h"
#include "base/oom.h"
#include "base/views.h"
#include "cache.h"
#include "core/node.h"
#include "sizing.h"

#define CUT		16	/* one call lowers the target by a 16th at least */

static DEFINE_SPINLOCK(caches_lock);
static LIST_HEAD(caches);
static struct shrinker *shrinker;

/* what the user wants lent in any case; the cache's lock held */
static u64 shrink_least(const struct nswap_cache *c)
{
	u64 mib = nswap_knob(c->node, lend_min_mib);

	return min(mib << (20 - PAGE_SHIFT), c->lent);
}

/* unfilled pages that may be freed; the cache's lock held */
static u64 shrink_freeable(const struct nswap_cache *c)
{
	u64 keep = shrink_least(c);

	if (!c->adaptive || c->allocated <= keep)
		return 0;
	return min(c->set_aside, c->allocated - keep);
}

/* move up to @n unfilled entries to @out, set the target; the cache's lock held */
static u64 take_back(struct nswap_cache *c, u64 n, u64 target,
		     struct list_head *out)
{
	u64 idle = nswap_cache_idle(c), i;

	n = min(n, shrink_freeable(c));
	if (n > idle)
		nswap_cache_revoke(c, n - idle);
	for (i = 0; i < n; i++)
		list_move(c->pool.next, out);
	c->set_aside -= n;
	c->allocated -= n;
	c->target = target;
	c->trend = NSWAP_TREND_SHRINKING;
	c->hold_until = nswap_now_ms() + nswap_knob(c->node, hold_off_ms);
	return n;
}

/* take up to @n pages from one cache, for the shrinker or the OOM notifier */
static u64 give_back(struct nswap_cache *c, u64 n, enum nswap_resize_why why,
		     struct list_head *out)
{
	u64 old, new, cut, surplus;
	bool held_off;

	spin_lock(&c->lock);
	if (!c->adaptive) {
		spin_unlock(&c->lock);
		return 0;
	}
	held_off = nswap_cache_holding(c);
	old = c->target;
	cut = why == NSWAP_WHY_OOM ? old : min(old, max(n, old / CUT));
	new = min(old, max(old - cut, shrink_least(c)));
	n = take_back(c, n, new, out);
	if (why == NSWAP_WHY_SHRINKER)
		c->shrinker_calls++;
	surplus = nswap_cache_above(c);
	spin_unlock(&c->lock);
	nswap_cache_changed(c, old, new, why);
	nswap_sizing_soon(c->node);
	if (!held_off)
		nswap_hooks.announce_now(c->node);
	if (surplus)
		nswap_hooks.mover_kick(c->node);
	return n;
}

/*
 * Called on every pass of reclaim. Even with nothing to free the policy has to know
 * soon that memory is short: held pages may have to move.
 */
static unsigned long shrink_count(struct shrinker *s, struct shrink_control *sc)
{
	struct nswap_cache *c;
	u64 n = 0;

	spin_lock(&caches_lock);
	list_for_each_entry(c, &caches, all) {
		bool adaptive;

		spin_lock(&c->lock);
		n += shrink_freeable(c);
		adaptive = c->adaptive;
		spin_unlock(&c->lock);
		if (adaptive)
			nswap_sizing_soon(c->node);
	}
	spin_unlock(&caches_lock);
	return n ?: SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *s, struct shrink_control *sc)
{
	u64 n, left = sc->nr_to_scan;
	struct nswap_cache *c;
	LIST_HEAD(out);

	spin_lock(&caches_lock);
	list_for_each_entry(c, &caches, all) {
		n = left ? give_back(c, left, NSWAP_WHY_SHRINKER, &out) : 0;
		left -= n;
		if (n)
			nswap_stat_inc(c->node, shrinker_calls);
	}
	spin_unlock(&caches_lock);
	nswap_cache_free(&out);
	return left < sc->nr_to_scan ? sc->nr_to_scan - left : SHRINK_STOP;
}

/**
 * struct shortage - consecutive calls of the OOM notifier; under oom_lock
 * @called: jiffies of the last call
 * @progress: jiffies when pages were last seen given back
 * @seen: nswap_cache_given_back() at that time
 */
static struct shortage {
	unsigned long called;
	unsigned long progress;
	u64 seen;
} shortage;

/* free all that can be; true if more may become free by itself, with how long to wait */
static bool last_moment(struct list_head *out, u32 *wait_ms)
{
	struct nswap_cache *c;
	u64 coming = 0;

	*wait_ms = 0;
	spin_lock(&caches_lock);
	list_for_each_entry(c, &caches, all) {
		u64 above;

		give_back(c, U64_MAX, NSWAP_WHY_OOM, out);
		above = nswap_cache_surplus(c);
		if (above)
			nswap_hooks.mover_kick(c->node);
		above += nswap_cache_sent_now(c);
		if (above && *wait_ms < nswap_knob(c->node, oom_wait_ms))
			*wait_ms = nswap_knob(c->node, oom_wait_ms);
		coming += above;
	}
	spin_unlock(&caches_lock);
	return coming;
}

/* pages given back since the last call */
static unsigned long shrink_progress(void)
{
	u64 now = nswap_cache_given_back(), n = now - shortage.seen;

	if (n)
		shortage.progress = jiffies;
	shortage.seen = now;
	return n;
}

static int on_oom(struct notifier_block *nb, unsigned long unused, void *freed)
{
	unsigned long n, polls = NSWAP_OOM_POLLS;
	LIST_HEAD(out);
	u32 wait_ms;
	bool more;

	if (time_after(jiffies, shortage.called + NSWAP_OOM_QUIET)) {
		shortage.progress = jiffies;
		shortage.seen = nswap_cache_given_back();
	}
	more = last_moment(&out, &wait_ms);
	nswap_cache_free(&out);
	n = shrink_progress();
	while (!n && more && polls--) {
		schedule_timeout_uninterruptible(NSWAP_OOM_POLL);
		n = shrink_progress();
	}
	shortage.called = jiffies;
	if (!n && more)
		n = time_before(jiffies, shortage.progress +
				msecs_to_jiffies(wait_ms));
	*(unsigned long *)freed += n;
	return NOTIFY_OK;
}

static struct notifier_block oom_block = { .notifier_call = on_oom };

/* add a cache to those that the shrinker takes pages from */
void nswap_cache_watch(struct nswap_cache *c)
{
	spin_lock(&caches_lock);
	list_add_tail(&c->all, &caches);
	spin_unlock(&caches_lock);
}

/* the shrinker no longer uses this cache */
void nswap_cache_unwatch(struct nswap_cache *c)
{
	spin_lock(&caches_lock);
	list_del_init(&c->all);
	spin_unlock(&caches_lock);
}

/* register shrinker and notifier. Returns 0, -ENOMEM, or the notifier chain's error */
int nswap_cache_shrink_init(void)
{
	int ret;

	shrinker = shrinker_alloc(0, "nswap");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = shrink_count;
	shrinker->scan_objects = shrink_scan;
	ret = register_oom_notifier(&oom_block);
	if (ret)
		shrinker_free(shrinker);
	else
		shrinker_register(shrinker);
	return ret;
}

/* undo nswap_cache_shrink_init(); process, module exit; waits for running calls */
void nswap_cache_shrink_exit(void)
{
	unregister_oom_notifier(&oom_block);
	shrinker_free(shrinker);
}
