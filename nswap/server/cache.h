/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nswap Cache: the pages a node holds for others, and those set aside for them.
 */
#ifndef NSWAP_CACHE_H
#define NSWAP_CACHE_H

#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "pure/chunks.h"
#include "pure/wire.h"

#define NSWAP_WINDOW_MAX	2048u	/* pages granted to one owner at most */

struct nswap_attached;
struct nswap_pack;
struct nswap_srv_conn;

/**
 * struct nswap_entry - one page of the Nswap Cache, or, of a page that is shared by several
 *	(pack.c), the page itself
 * @rb: in its owner's tree, by instance and slot
 * @link: in the pool, on the list of the connection that fills it, in its
 *	owner's @lru or @pending, or, while it is being moved, on no list; of a shared page:
 *	with those of the device that have as much room
 * @ref: one for the tree, one for each connection or mover that sends it
 * @page: the page
 * @len: bytes of it that were sent; the rest is zeros, and not in @page
 * @in: the shared page that it lies in, behind this struct; NULL: it has @page to itself
 * @slot: @slot, @instance and @gen name the page
 * @instance: of the owner's device
 * @gen: generation
 * @class: enum nswap_device_class: on which of its owner's @lru it is; owner's lock
 * @clear: @page has had something of an owner: clear it before it goes back to the system
 * @moving: number of the attempt to move it, 0 for none; owner's lock
 * @seq: when it was stored or claimed, in the owner's count; while pending: its mover's
 *	node id; owner's lock
 * @map: of a shared page: what is used of it; cache's lock
 * @since: jiffies of its arrival, while pending
 * @pack: of a shared page: those of its device; cache's lock
 * @prev: the generation before, kept for the stale injection only
 */
struct nswap_entry {
	struct rb_node rb;
	struct list_head link;
	refcount_t ref;
	u16 len;
	u8 class;
	bool clear;
	struct page *page;
	struct nswap_entry *in;
	union {
		struct {
			u64 slot;
			u64 seq;
		};
		struct nswap_chunks map;
	};
	u32 instance;
	u32 gen;
	u32 moving;
	union {
		unsigned long since;
		struct nswap_pack *pack;
	};
#ifdef NSWAP_INJECT
	struct nswap_entry *prev;
#endif
};

/**
 * struct nswap_ready - pages for an owner's next stores, ready.h; under the owner's lock
 * @list: the pages
 * @nr: how many
 * @promised: of these, promised to the owner
 * @over: pages no longer being filled that still count so, less those that are ready again
 * @fresh: pages that are held and do not count yet
 * @instance: their device
 * @used: pages stored since the owner was last promised more
 */
struct nswap_ready {
	struct list_head list;
	u32 nr;
	u32 promised;
	s32 over;
	u32 fresh;
	u32 instance;
	u32 used;
};

/**
 * struct nswap_owner - a node that stores pages here
 * @link: in the cache's list
 * @id: node id; write-once
 * @weight: what it gets beside others; written under the cache's lock
 * @lock: protects @epoch, @session, @tree, @lru, @pending,
 *	@pending_tree, @nr_pending, @attached, @seq, @ready; outside the
 *	cache's lock
 * @epoch: boot epoch
 * @session: newest session; messages of others are refused
 * @began: jiffies when that began; under the cache's hello mutex
 * @ticket: of the connection that opened the session; used at hello only
 * @tree: its pages
 * @lru: those that are not being moved, by class, least recently used first
 * @pending: pages that another server moved here, not yet claimed by the owner, oldest
 *	first
 * @pending_tree: the same by device instance and slot
 * @attached: what it said of its devices, see attached.c
 * @reserves: number of those with a reserve, likewise
 * @seq: counts stores and claims
 * @ready: pages for its next stores
 * @nr_pending: pages in @pending
 * @held: pages in @tree and @pending; under the cache's lock
 * @ram: pages of RAM that these take, shared ones included; likewise
 * @packs: its devices with shared pages, pack.c; likewise
 * @filling: pages taken to be filled for it; likewise
 * @reserved: pages that its devices' reserves lack; likewise
 * @users: references besides those of its connections; under the cache's lock
 * @gone: jiffies when its last connection ended; under the cache's hello mutex
 * @rest: backoff: none of its pages are moved before; movers only, no lock
 * @unreached: it could not be told of drops when that was last tried; likewise
 * @full: peers that had no room for pages of its that are not critical, of its critical
 *	ones: by IPTable index; movers only, owner's lock
 * @full_until: jiffies when @full is forgotten; likewise
 * @unmet: peers where none of its pages were allowed to go, by IPTable index; likewise
 * @unmet_until: jiffies when @unmet is forgotten; likewise
 * @homeless: device instance whose owner reported no backing store, 0 for none;
 *	movers only, no lock
 * @homeless_until: jiffies when that is tried again; likewise
 * @granted: pages it may store; under the cache's lock
 * @revoked: promises taken back that it still counts on; under the cache's lock
 * @window: limit of @granted; under the cache's lock
 * @conns: its connections; under the cache's hello mutex
 * @hands: of these, with a hand; under the lock of the hands
 * @answering: connections that send answers just now
 */
struct nswap_owner {
	struct list_head link;
	u64 id;
	u32 weight;
	spinlock_t lock;
	u64 epoch;
	u64 session;
	unsigned long began;
	u64 ticket;
	struct rb_root tree;
	struct list_head lru[NSWAP_DEV_CLASSES];
	struct list_head pending;
	struct rb_root pending_tree;
	struct list_head attached;
	u32 reserves;
	u64 seq;
	struct nswap_ready ready;
	u32 nr_pending;
	u64 held;
	u64 ram;
	struct list_head packs;
	u32 filling;
	u64 reserved;
	u32 users;
	unsigned long gone;
	unsigned long rest;
	bool unreached;
	unsigned long full[2][BITS_TO_LONGS(NSWAP_MAX_PEERS + 1)];
	unsigned long full_until;
	unsigned long unmet[BITS_TO_LONGS(NSWAP_MAX_PEERS + 1)];
	unsigned long unmet_until;
	u32 homeless;
	unsigned long homeless_until;
	u32 granted;
	u32 revoked;
	u32 window;
	struct list_head conns;
	unsigned int hands;
	atomic_t answering;
};

/**
 * struct nswap_cache - the Nswap Cache of a node
 * @node: node
 * @hello: serialises owners coming, changing session and going
 * @all: in the list of caches that the shrinker and the OOM notifier walk
 * @lock: protects the pool and all counts
 * @pool: entries with a page, not filled
 * @lent: pages to lend at most: set by the user
 * @target: pages to lend now: set by the size policy, at most @lent
 * @adaptive: @target follows memory use; the pool is then kept small
 * @trend: enum nswap_trend of the last change
 * @hold_until: ms; nothing is set aside before, and @target does not rise
 * @allocated: number of entries, filled or not
 * @set_aside: entries in @pool
 * @granted: of these, promised to owners
 * @revoked: promises taken back that owners still count on
 * @reserved: pages that devices' reserves lack and no other device may have
 * @held: entries in owners' trees
 * @ram: pages of RAM that these take, shared ones included
 * @shrinker_calls: number of calls of the shrinker that took pages back
 * @owners: owners; changed under @hello and @lock
 * @nr_owners: how many
 * @movers: connections of movers; under @hello
 * @last_turn: id of the owner whose pages were moved last
 * @moving_critical: attempts to move critical pages to peers that are not over
 * @weighed: weights that were set, weights.c; under @hello
 * @nr_weighed: how many; likewise
 * @weights: sum of the weights of @owners
 * @fill: work that sets pages aside
 * @sent: entries without users that sockets refer to, cache_sent.c; under @lock
 * @nr_sent: how many; likewise
 * @sent_wait: jiffies to the next look whether they still do; likewise
 * @sent_look: work that looks
 */
struct nswap_cache {
	struct nswap_node *node;
	struct mutex hello;
	struct list_head all;
	spinlock_t lock;
	struct list_head pool;
	u64 lent;
	u64 target;
	bool adaptive;
	u8 trend;
	u64 hold_until;
	u64 allocated;
	u64 set_aside;
	u64 granted;
	u64 revoked;
	u64 reserved;
	u64 held;
	u64 ram;
	u64 shrinker_calls;
	struct list_head owners;
	u32 nr_owners;
	struct list_head movers;
	u64 last_turn;
	u32 moving_critical;
	struct list_head weighed;
	unsigned int nr_weighed;
	u32 weights;
	struct delayed_work fill;
	struct list_head sent;
	u64 nr_sent;
	unsigned long sent_wait;
	struct delayed_work sent_look;
};

/**
 * enum nswap_resize_why - what changed how much is lent
 * @NSWAP_WHY_POLICY: the size policy
 * @NSWAP_WHY_USER: nswapctl lend, or another policy
 * @NSWAP_WHY_SHRINKER: reclaim
 * @NSWAP_WHY_OOM: the OOM notifier, before a program is killed
 */
enum nswap_resize_why {
	NSWAP_WHY_POLICY,
	NSWAP_WHY_USER,
	NSWAP_WHY_SHRINKER,
	NSWAP_WHY_OOM,
};

/**
 * enum nswap_moved_how - result of an attempt to move a page
 * @NSWAP_KEPT: the page stays; it may be tried again at once
 * @NSWAP_REFUSED: the page stays; other pages have to be tried first
 * @NSWAP_GONE: the owner has it elsewhere, or does not need it
 */
enum nswap_moved_how {
	NSWAP_KEPT,
	NSWAP_REFUSED,
	NSWAP_GONE,
};

/* pages of RAM that go when an entry does, but for a shared page that is empty then */
static inline unsigned int nswap_entry_ram(const struct nswap_entry *e)
{
	return !e->in;
}

/* segments that send an entry's page; @fill: with the zeros at its end. Returns 1 or 2 */
static inline unsigned int nswap_entry_vecs(struct bio_vec *bv, const struct nswap_entry *e,
					    bool fill)
{
	bvec_set_page(bv, e->page, e->len, e->in ? offset_in_page(e + 1) : 0);
	if (!fill || e->len == PAGE_SIZE)
		return 1;
	bvec_set_page(bv + 1, ZERO_PAGE(0), PAGE_SIZE - e->len, 0);
	return 2;
}

/* take @n entries of a list, to fill them; @clear: before they go back to the system */
static inline void nswap_entries_take(struct list_head *from, u32 n, bool clear,
				      struct list_head *taken)
{
	struct nswap_entry *e;

	while (n--) {
		e = list_first_entry(from, struct nswap_entry, link);
		e->clear |= clear;
		list_move_tail(&e->link, taken);
	}
}

/**
 * struct nswap_cache_stored - a store that is over
 * @taken: pages that were taken for it
 * @used: of these, pages that are held
 * @grants: pages promised to its owner beside those it has spent
 * @free: pages it may be told to be free
 * @above: pages held above the target
 */
struct nswap_cache_stored {
	u32 taken;
	u32 used;
	u32 grants;
	u64 free;
	u64 above;
};

u64 nswap_cache_left(const struct nswap_cache *c, const struct nswap_owner *o);
bool nswap_cache_take(struct nswap_cache *c, struct nswap_owner *o, u32 n,
		      struct list_head *taken);
bool nswap_cache_take_reserved(struct nswap_cache *c, struct nswap_owner *o, u32 n,
			       u64 left, struct list_head *taken);
u64 nswap_cache_filled(struct nswap_cache *c, struct nswap_owner *o, u32 n);
void nswap_cache_give(struct nswap_cache *c, struct list_head *unused);
void nswap_cache_sent_back(struct nswap_cache *c, struct list_head *unused, u64 n);
void nswap_cache_put_all(struct nswap_cache *c, struct nswap_entry **entry, u32 nr);
void nswap_cache_put(struct nswap_cache *c, struct nswap_entry *e);
u32 nswap_cache_grant(struct nswap_cache *c, struct nswap_owner *o, u32 used,
		      u32 wanted);
void nswap_cache_take_back(struct nswap_cache *c, struct nswap_owner *o, u32 n,
			   struct list_head *surplus);
void nswap_cache_ungrant(struct nswap_cache *c, struct nswap_owner *o);
u64 nswap_cache_promisable(const struct nswap_cache *c);
u64 nswap_cache_free_pages(struct nswap_cache *c, const struct nswap_owner *o);
void nswap_cache_stored(struct nswap_cache *c, struct nswap_owner *o, bool fenced,
			struct nswap_cache_stored *so);
u64 nswap_cache_share(struct nswap_cache *c);
u64 nswap_cache_surplus(struct nswap_cache *c);
int nswap_cache_take_free(struct nswap_cache *c, struct nswap_owner *o, u32 n,
			  bool critical, struct list_head *taken);

/* cache_count.c */
u32 nswap_cache_reserve(struct nswap_cache *c, struct nswap_owner *o,
			struct nswap_attached *a, u32 wanted);
void nswap_cache_unready(struct nswap_cache *c, struct nswap_owner *o);
void nswap_cache_count(struct nswap_cache *c, struct nswap_owner *o, u32 instance,
		       s64 held, s64 ram);
void nswap_cache_shared(struct nswap_cache *c, struct nswap_owner *o,
			struct nswap_attached *a, s64 ram);
void nswap_cache_forget(struct nswap_cache *c, struct nswap_owner *o);

/* cache_life.c */
int nswap_cache_start(struct nswap_node *node, u64 pages);
void nswap_cache_stop(struct nswap_node *node);

/* cache_fill.c */
int nswap_cache_init(void);
void nswap_cache_exit(void);
void nswap_cache_free(struct list_head *entries);
u64 nswap_cache_given_back(void);
void nswap_cache_fill_work(struct work_struct *work);
void nswap_cache_fill_kick(struct nswap_cache *c);

/* cache_sent.c */
bool nswap_cache_referred(const struct nswap_entry *e);
bool nswap_cache_sent(struct nswap_cache *c, struct nswap_entry *e);
void nswap_cache_sent_work(struct work_struct *work);
u64 nswap_cache_sent_now(struct nswap_cache *c);
bool nswap_cache_may_refer(struct nswap_cache *c, const struct nswap_owner *o);
void nswap_cache_sent_stop(struct nswap_cache *c);

/* cache_shrink.c */
int nswap_cache_shrink_init(void);
void nswap_cache_shrink_exit(void);
void nswap_cache_watch(struct nswap_cache *c);
void nswap_cache_unwatch(struct nswap_cache *c);

/* cache_size.c; the first group needs the cache's lock held */
bool nswap_cache_holding(const struct nswap_cache *c);
bool nswap_cache_shrinks(const struct nswap_cache *c);
u64 nswap_cache_above(const struct nswap_cache *c);
u64 nswap_cache_room(const struct nswap_cache *c);
u64 nswap_cache_idle(const struct nswap_cache *c);
bool nswap_cache_lacks(const struct nswap_cache *c);
void nswap_cache_revoke(struct nswap_cache *c, u64 n);
bool nswap_cache_trim(struct nswap_cache *c, struct list_head *out);
void nswap_cache_gather(struct nswap_cache *c);
void nswap_cache_changed(struct nswap_cache *c, u64 old, u64 new,
			 enum nswap_resize_why why);
void nswap_cache_lend(struct nswap_cache *c, u64 pages);
void nswap_cache_adapt(struct nswap_cache *c, bool adaptive);
void nswap_cache_resize(struct nswap_cache *c, u64 pages);
void nswap_cache_close(struct nswap_cache *c);

#endif
