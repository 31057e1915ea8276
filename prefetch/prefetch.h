/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract between prefetch policies and the mechanism that carries them
 * out: nswap/tiering/prefetcher.c, which brings pages from one tier of a device, peers'
 * RAM, flash or home, to another.
 *
 * A policy decides on a snapshot and has no side effects: no lock of the core, no
 * bio, no slot map, no sleep, no allocation. Four questions, those of T. Newhall
 * and D. Woos, "Incorporating Network RAM and Flash into Fast Backing Store for
 * Clusters", IEEE Cluster 2011, section V:
 *
 *   when    is this a moment to prefetch?
 *   count   how many pages?
 *   which   should this slot's page be prefetched?
 *   from, to, after: names only; the mechanism knows what they mean
 *
 * A new policy is a function, its table, and a line in the list of its kind.
 */
#ifndef NSWAP_PREFETCH_H
#define NSWAP_PREFETCH_H

#include "../nswap/base/types.h"
#include "../policy/registry.h"

#define NSWAP_PREFETCH_ARMS	8	/* "which" policies that are counted separately */

/**
 * enum nswap_prefetch_way - from which tier to which
 * @NSWAP_RAM_FLASH: what peers hold, to flash: a copy, or a move
 * @NSWAP_RAM_DISK: what peers hold, to home: a move that makes room at peers
 * @NSWAP_DISK_RAM: what is at home, to peers: a move
 * @NSWAP_DISK_FLASH: what is at home, to flash: a move
 * @NSWAP_FLASH_RAM: what only flash has, to peers: a copy, or a move
 * @NSWAP_FLASH_DISK: what only flash has, to home: a move that makes room on flash
 * @NSWAP_PREFETCH_WAYS: number of ways
 */
enum nswap_prefetch_way {
	NSWAP_RAM_FLASH,
	NSWAP_RAM_DISK,
	NSWAP_DISK_RAM,
	NSWAP_DISK_FLASH,
	NSWAP_FLASH_RAM,
	NSWAP_FLASH_DISK,
	NSWAP_PREFETCH_WAYS,
};

/* does it make room, so that pages had better not be read where they go? */
static inline bool nswap_prefetch_down(enum nswap_prefetch_way way)
{
	return way == NSWAP_RAM_DISK || way == NSWAP_FLASH_DISK;
}

/* is home one of its tiers? */
static inline bool nswap_prefetch_at_disk(enum nswap_prefetch_way way)
{
	return way != NSWAP_RAM_FLASH && way != NSWAP_FLASH_RAM;
}

/**
 * struct nswap_prefetch_learned - results of prefetching, older ones counting
 *	less; kept by the mechanism, see nswap_prefetch_note()
 * @put: pages prefetched by each "which" policy, by its @arm
 * @hits: reads of them where they were brought to
 * @ins: pages that came in meanwhile, from any tier
 * @wakeups: how often the prefetcher has run
 * @barren: a bit for each @arm that found no page at its last wake-up that wanted some
 */
struct nswap_prefetch_learned {
	u64 put[NSWAP_PREFETCH_ARMS];
	u64 hits[NSWAP_PREFETCH_ARMS];
	u64 ins;
	u32 wakeups;
	u32 barren;
};

static_assert(NSWAP_PREFETCH_ARMS <= 32);

/**
 * struct nswap_prefetch_view - snapshot for one wake-up of one device
 * @used: slots with a page
 * @swap_outs: pages the kernel wrote since the last wake-up
 * @swap_ins: pages it read since then
 * @pct: percent, set by the user
 * @from_us: time of a read where pages are, 0 if unknown, as it is of home
 * @to_us: time of a read where they go, likewise
 * @free_pct: percent of where pages are that is free; 100 for home
 * @down: they go to make room, see nswap_prefetch_down()
 * @learned: results so far, of this way
 */
struct nswap_prefetch_view {
	u64 used;
	u64 swap_outs;
	u64 swap_ins;
	u32 pct;
	u32 from_us;
	u32 to_us;
	u32 free_pct;
	bool down;
	struct nswap_prefetch_learned learned;
};

/**
 * struct nswap_when_ops - is this a moment to prefetch?
 * @is: name and help
 * @due: true if it is (required; may not sleep)
 */
struct nswap_when_ops {
	struct nswap_policy is;
	bool (*due)(const struct nswap_prefetch_view *view);
};

/**
 * struct nswap_count_ops - how many pages at this wake-up?
 * @is: name and help
 * @pages: the number; the mechanism has a limit of its own (required; may not
 *	sleep)
 */
struct nswap_count_ops {
	struct nswap_policy is;
	u64 (*pages)(const struct nswap_prefetch_view *view);
};

/**
 * enum nswap_which_look - what to do with a slot the clock hand has reached
 * @NSWAP_WHICH_PASS: skip it
 * @NSWAP_WHICH_CLEAR: its reference bit is cleared
 * @NSWAP_WHICH_TAKE: its page is prefetched
 */
enum nswap_which_look {
	NSWAP_WHICH_PASS,
	NSWAP_WHICH_CLEAR,
	NSWAP_WHICH_TAKE,
};

/**
 * struct nswap_which_ops - which pages? The clock hand goes over all slots, round
 *	and round, and stops at those whose page could be prefetched.
 * @is: name and help
 * @arm: 1 to NSWAP_PREFETCH_ARMS - 1, unique to this policy; 0 with @choose
 * @scattered: the next slot is chosen at random each time
 * @look: what to do with the slot (required without @choose; may not sleep)
 * @choose: the policy to use at this wake-up instead, one with @look
 *	(required without @look; may not sleep)
 */
struct nswap_which_ops {
	struct nswap_policy is;
	u8 arm;
	bool scattered;
	enum nswap_which_look (*look)(bool referenced);
	const struct nswap_which_ops *(*choose)(const struct nswap_prefetch_view *view);
};

const struct nswap_policy *
nswap_prefetch_to_of(const struct nswap_policy *from);
const char *nswap_prefetch_to_names(const struct nswap_policy *from);
int nswap_prefetch_way(const struct nswap_policy *from,
		       const struct nswap_policy *to);

/* learned.c */
void nswap_prefetch_note(struct nswap_prefetch_learned *l, u8 arm, u64 put,
			 u64 ins, const u64 hits[NSWAP_PREFETCH_ARMS]);
void nswap_prefetch_tried(struct nswap_prefetch_learned *l, u8 arm, u64 put);
bool nswap_prefetch_known(const struct nswap_prefetch_view *view, u64 *put,
			  u64 *hits);
bool nswap_prefetch_pays(const struct nswap_prefetch_view *view);

/* a percentage of some pages, rounded up */
static inline u64 nswap_prefetch_percent(u64 pages, u64 pct)
{
	return (pages * pct + 99) / 100;
}

/* when.c, count.c, which.c: the policies of a kind, the default first, then NULL */
extern const struct nswap_policy *const nswap_when_policies[];
extern const struct nswap_policy *const nswap_count_policies[];
extern const struct nswap_policy *const nswap_which_policies[];

/* names only: X(on) stands for nswap_prefetch_on in prefetch.c; the first is the default */
#define NSWAP_ENABLE_CHOICES(X)	X(off) X(on)
#define NSWAP_FROM_CHOICES(X)	X(ram) X(disk) X(from_flash)
#define NSWAP_TO_CHOICES(X)	X(flash) X(to_ram) X(to_disk)
#define NSWAP_AFTER_CHOICES(X)	X(copy) X(move)

#define NSWAP_CHOICE_DECLARE(name) \
	extern const struct nswap_policy nswap_prefetch_##name;

NSWAP_ENABLE_CHOICES(NSWAP_CHOICE_DECLARE)
NSWAP_FROM_CHOICES(NSWAP_CHOICE_DECLARE)
NSWAP_TO_CHOICES(NSWAP_CHOICE_DECLARE)
NSWAP_AFTER_CHOICES(NSWAP_CHOICE_DECLARE)

#endif
