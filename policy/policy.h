/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract between policies and the mechanism that carries them out.
 *
 * A policy decides on a snapshot and has no side effects: no lock of the core, no
 * socket, no bio, no sleep, no allocation. The mechanism asks, acts, and makes
 * a new snapshot. A new policy is one file, and one line in a list at the end
 * of this one.
 */
#ifndef NSWAP_POLICY_H
#define NSWAP_POLICY_H

#include "../nswap/base/types.h"
#include "registry.h"

/**
 * struct nswap_place_peer - a placement policy's view of one peer
 * @index: in the IPTable
 * @eligible: connected, fresh and not leaving; the others must not be chosen
 * @resting: in backoff: must not be chosen now, may be later
 * @shrinking: takes lent RAM back for its own programs: must not be chosen
 * @busy: it does not answer, or has as much under way as it may, or the page is not to
 *	go there: must not be chosen
 * @grants: pages this peer has set aside for us; 0 means it must not be chosen
 * @free: pages it announced as free, less what was stored there since
 * @lent: pages it lends in all
 * @inflight: our page-outs under way to it, in pages
 * @store_ns: recent time of a page-out to it, a moving average in ns, from being
 *	given to the connection to the answer; decays while nothing is sent
 *	there, so that a slow peer is tried again; 0 if not measured yet
 */
struct nswap_place_peer {
	u16 index;
	bool eligible;
	bool resting;
	bool shrinking;
	bool busy;
	u32 grants;
	u64 free;
	u64 lent;
	u32 inflight;
	u64 store_ns;
};

/**
 * struct nswap_place_view - snapshot for one decision
 * @peer: candidates in the order of their index
 * @nr: number of candidates
 * @last: index (not position) chosen last time, 0 at first
 * @random: a new random number for each decision
 * @flash: the device has flash with room: NSWAP_PLACE_FLASH may be returned
 * @flash_inflight: its reads and writes under way
 * @home: it has a home: NSWAP_PLACE_HOME may be returned
 * @lean: what the policy's @lean said last
 */
struct nswap_place_view {
	const struct nswap_place_peer *peer;
	unsigned int nr;
	u16 last;
	u32 random;
	bool flash;
	unsigned int flash_inflight;
	bool home;
	u8 lean;
};

#define NSWAP_PLACE_FLASH	(-2)	/* no peer: use flash */
#define NSWAP_PLACE_HOME	(-3)	/* no peer: use home */

/**
 * enum nswap_lean - a tier that page-outs may be sent to first
 * @NSWAP_LEAN_PEERS: peers
 * @NSWAP_LEAN_FLASH: flash
 * @NSWAP_LEAN_HOME: home
 * @NSWAP_LEANS: number of tiers
 */
enum nswap_lean {
	NSWAP_LEAN_PEERS,
	NSWAP_LEAN_FLASH,
	NSWAP_LEAN_HOME,
	NSWAP_LEANS,
};

/**
 * struct nswap_lean_place - a tier, and what else uses what it is on
 * @there: the device has it, and it takes pages
 * @us: time of a page-out there lately; 0: none has ended
 * @quiet_us: the same while others left it alone; 0 if it was never measured
 * @others: per mille of its load that is not ours: of the disk's time, or of the most
 *	that the interface has carried
 */
struct nswap_lean_place {
	bool there;
	u32 us;
	u32 quiet_us;
	u32 others;
};

/**
 * struct nswap_lean_view - snapshot for one decision on where page-outs of a device go
 * @at: each tier
 * @now: where they go now
 * @held_ms: for how long
 * @changes: how often that was changed lately
 * @left_us: time of a page-out to peers when they were left
 */
struct nswap_lean_view {
	struct nswap_lean_place at[NSWAP_LEANS];
	enum nswap_lean now;
	u32 held_ms;
	u32 changes;
	u32 left_us;
};

/**
 * struct nswap_place_ops - a placement policy: which peer gets this page-out
 * @is: name and help
 * @pick: position in @view->peer of the peer for @pages adjacent pages, or -1
 *	if no peer can take even one; a peer with fewer grants than @pages may
 *	be picked, then it is asked again for the rest; NSWAP_PLACE_FLASH and
 *	NSWAP_PLACE_HOME, if the view allows them, send them there at once (required; may not sleep;
 *	on the reclaim path, called with preemption off)
 * @lean: where page-outs of a device are to go from now on; asked four times a second, so
 *	that @pick has nothing to find out (optional; may not sleep)
 * @as_good: is @old, usable and with older copies of the pages, which would be written
 *	over, as good for them as the one that was picked? (as @pick; not set: always)
 */
struct nswap_place_ops {
	struct nswap_policy is;
	int (*pick)(const struct nswap_place_view *view, unsigned int pages);
	enum nswap_lean (*lean)(const struct nswap_lean_view *view);
	bool (*as_good)(const struct nswap_place_peer *old,
			const struct nswap_place_peer *picked, unsigned int pages);
};

/* does it go on lending, whether or not it can be chosen just now? */
static inline bool nswap_place_lends(const struct nswap_place_peer *p)
{
	return p->eligible && !p->shrinking;
}

/* may this candidate be chosen? */
static inline bool nswap_place_usable(const struct nswap_place_peer *p)
{
	return nswap_place_lends(p) && !p->resting && !p->busy && p->grants;
}

#define NSWAP_PLACE_KEEP	64	/* grants reserved for page-outs */
#define NSWAP_PLACE_KEEP_PART	8	/* and 1/8 of the lent pages */

/* does this candidate have more than page-outs need? */
static inline bool nswap_place_ample(const struct nswap_place_peer *p,
				     unsigned int pages)
{
	return nswap_place_usable(p) && p->grants >= pages + NSWAP_PLACE_KEEP &&
	       p->free >= pages + p->lent / NSWAP_PLACE_KEEP_PART;
}

/*
 * First position for round-robin: the first candidate whose index is above @view->last,
 * 0 if there is none. Starting there and wrapping around gives each peer its turn.
 */
static inline unsigned int nswap_place_after(const struct nswap_place_view *view)
{
	unsigned int i;

	for (i = 0; i < view->nr; i++)
		if (view->peer[i].index > view->last)
			return i;
	return 0;
}

/**
 * struct nswap_size_view - snapshot for one decision on how much to lend
 * @total: RAM; this and all amounts here are in pages
 * @free: free RAM
 * @available: what could be used without swapping, by the kernel's estimate;
 *	what this node has allocated to lend is not part of it
 * @held: holding pages of other nodes
 * @set_aside: allocated and not filled, promised or not
 * @allocated: both, and pages changing from one to the other
 * @swap_outs: pages this machine swapped out since the last decision
 * @refaults: pages it dropped and had to read again, likewise
 * @shrinker_calls: how often reclaim asked this node for pages, likewise
 * @psi: share of time in which programs waited for memory, in hundredths of a
 *	percent, as fed in from user space; 0 without that
 * @owner_away: 1 if the owner of this machine does not use it, 0 else; fed in likewise
 * @headroom_pct: percent of RAM that stays with this node's own programs
 * @grow_pct: percent of RAM by which lending may grow in a second
 * @least: lower bound of what is lent
 * @most: upper bound: what the user lends
 * @target: what is lent now
 * @elapsed_ms: since the last decision, at least 1 and bounded
 */
struct nswap_size_view {
	u64 total;
	u64 free;
	u64 available;
	u64 held;
	u64 set_aside;
	u64 allocated;
	u64 swap_outs;
	u64 refaults;
	u64 shrinker_calls;
	u32 psi;
	u32 owner_away;
	u32 headroom_pct;
	u32 grow_pct;
	u64 least;
	u64 most;
	u64 target;
	u32 elapsed_ms;
};

/**
 * struct nswap_size_ops - a size policy: how much to lend now
 * @is: name and help
 * @adaptive: what is lent follows memory use: the policy is asked periodically,
 *	and pages are set aside as they are needed instead of all at once
 * @lend: pages to lend from now on, see nswap_size_bound() (required; may not
 *	sleep; process context)
 */
struct nswap_size_ops {
	struct nswap_policy is;
	bool adaptive;
	u64 (*lend)(const struct nswap_size_view *view);
};

/* clamp an answer to what the user allows */
static inline u64 nswap_size_bound(const struct nswap_size_view *view,
				   u64 pages)
{
	return min(max(pages, view->least), view->most);
}

/* a percentage of this machine's RAM */
static inline u64 nswap_size_percent(const struct nswap_size_view *view,
				     u32 pct)
{
	return view->total * pct / 100;
}

/**
 * nswap_size_follow() - follow the room there is
 * @view: snapshot
 * @room: pages that could be lent
 *
 * Down at once; up by @view->grow_pct a second, and only when it pays: the
 * last 64th of RAM below @room is left alone, or the normal fluctuation of a
 * running machine would make it lend and take back all the time.
 *
 * Context: any.
 * Return: pages to lend, to be passed to nswap_size_bound().
 */
static inline u64 nswap_size_follow(const struct nswap_size_view *view,
				    u64 room)
{
	u64 slack = view->total / 64, step;

	if (room <= view->target + slack)
		return min(room, view->target);
	step = nswap_size_percent(view, view->grow_pct) * view->elapsed_ms /
	       1000;
	return min(room - slack, view->target + max(step, 1ull));
}

/**
 * struct nswap_balance_view - snapshot for one decision on handing pages on
 * @lent: pages this node lends
 * @used: of these, pages it holds
 * @others_lent: pages lent by the others together: those heard of lately that
 *	neither shrink nor leave
 * @others_used: of these, pages they hold
 * @pct: percentage points by which a node may be fuller; 0: it never hands on
 * @under_way: it is already handing pages on
 */
struct nswap_balance_view {
	u64 lent;
	u64 used;
	u64 others_lent;
	u64 others_used;
	u32 pct;
	bool under_way;
};

u64 nswap_balance(const struct nswap_balance_view *v);
bool nswap_balance_takes(const struct nswap_balance_view *v, u64 lent,
			 u64 used);

/**
 * enum nswap_read_tier - where a page with two copies can be read
 * @NSWAP_READ_PEERS: at the peer that holds it
 * @NSWAP_READ_FLASH: on flash
 * @NSWAP_READ_TIERS: number of tiers
 */
enum nswap_read_tier {
	NSWAP_READ_PEERS,
	NSWAP_READ_FLASH,
	NSWAP_READ_TIERS,
};

/**
 * struct nswap_read_place - a reading policy's view of one tier
 * @us: recent time of a read in microseconds, for the average number of pages that
 *	reads of both tiers have; 0 if none has ended yet
 * @next_us: time for each further page of a read
 * @age_ms: since a read was last measured there, U32_MAX if none was
 * @inflight: pages being read there
 */
struct nswap_read_place {
	u32 us;
	u32 next_us;
	u32 age_ms;
	u32 inflight;
};

#define NSWAP_READ_STALE_MS	100

/**
 * nswap_read_stale() - should this tier be tried to renew its measurement?
 * @p: tier
 *
 * A tier that is not read from is not measured, and its estimate would never recover.
 *
 * Context: any.
 * Return: true if its estimate is old, and no read is under way that will renew it.
 */
static inline bool nswap_read_stale(const struct nswap_read_place *p)
{
	return p->age_ms > NSWAP_READ_STALE_MS && !p->inflight;
}

/**
 * struct nswap_read_view - snapshot for one decision
 * @at: each tier of the device
 */
struct nswap_read_view {
	struct nswap_read_place at[NSWAP_READ_TIERS];
};

/**
 * struct nswap_read_ops - a reading policy: which copy of a page is read
 * @is: name and help
 * @pick: the tier to read from; both hold the page (required; may not sleep;
 *	on the page-in path)
 */
struct nswap_read_ops {
	struct nswap_policy is;
	enum nswap_read_tier (*pick)(const struct nswap_read_view *view);
};

/*
 * The policies: X(most_free) stands for nswap_place_most_free_ops, which
 * place_most_free.c defines. The first is what a node starts with.
 */
#define NSWAP_PLACE_POLICIES(X) \
	X(most_free) \
	X(rr) \
	X(least_full) \
	X(two_choices) \
	X(latency) \
	X(burst) \
	X(quietest)

#define NSWAP_SIZE_POLICIES(X) \
	X(fixed) \
	X(watermark) \
	X(pressure) \
	X(owner)

#define NSWAP_READ_POLICIES(X) \
	X(prefetched) \
	X(fastest) \
	X(least) \
	X(soonest)

#define NSWAP_PLACE_DECLARE(name) \
	extern const struct nswap_place_ops nswap_place_##name##_ops;
#define NSWAP_SIZE_DECLARE(name) \
	extern const struct nswap_size_ops nswap_size_##name##_ops;

#define NSWAP_READ_DECLARE(name) \
	extern const struct nswap_read_ops nswap_read_##name##_ops;

NSWAP_PLACE_POLICIES(NSWAP_PLACE_DECLARE)
NSWAP_SIZE_POLICIES(NSWAP_SIZE_DECLARE)
NSWAP_READ_POLICIES(NSWAP_READ_DECLARE)

#endif
