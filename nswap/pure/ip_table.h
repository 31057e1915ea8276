/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IPTable: a node's incomplete, approximate table of its peers.
 *
 * Bookkeeping only: the caller holds the lock (struct nswap_node ->ipt_lock)
 * and passes the time in.
 */
#ifndef NSWAP_IP_TABLE_H
#define NSWAP_IP_TABLE_H

#include "habit.h"
#include "wire.h"

#define NSWAP_IPT_LATE_MS	1500	/* a node looks every second at least, see @late_ms */

/**
 * struct nswap_ipt_entry - one peer; all zeros: not used
 * @listed: named by the user; survives the peer's reboots
 * @gone: its epoch is over: kept until no slot names it; or it is an address whose node has
 *	another entry
 * @leaving: it announced that it is going down
 * @reboots: for a reboot only
 * @shrinking: it announced that it is reclaiming lent RAM
 * @version: protocol version, if it was last heard to speak another one than
 *	this node; only shown to users: no decision depends on it
 * @id: node id, 0 if not heard of yet, or of another version
 * @epoch: boot epoch, likewise
 * @addr: where it accepts connections
 * @listed_at: the address that the user named, if @listed; it may have moved away
 *	from there
 * @lent: pages it lends
 * @free: pages of these that it announced as free
 * @used: pages it holds for others
 * @counter: of its last announcement from @addr, with keys
 * @other: of that from another address, @other_at, since any member may have sent it
 * @other_at: likewise; family 0 if there was none
 * @heard_ms: when it was last heard of, ms of a monotonic clock
 * @habit: how often it is
 */
struct nswap_ipt_entry {
	bool listed;
	u8 version;
	bool gone;
	bool leaving;
	bool reboots;
	bool shrinking;
	u64 id;
	u64 epoch;
	struct nswap_addr addr;
	struct nswap_addr listed_at;
	u64 lent;
	u64 free;
	u64 used;
	u64 counter;
	u64 other;
	struct nswap_addr other_at;
	u64 heard_ms;
	struct nswap_habit habit;
};

/**
 * struct nswap_ipt - the table; entry 0 is never used
 * @entry: NSWAP_MAX_PEERS + 1 entries, allocated by nswap_ipt_init()
 * @top: no used entry has an index above it
 * @looked_ms: when this node looked last whether it was told of peers
 * @late_ms: when it did so late
 */
struct nswap_ipt {
	struct nswap_ipt_entry *entry;
	unsigned int top;
	u64 looked_ms;
	u64 late_ms;
};

/**
 * enum nswap_ipt_news - what is new in an announcement
 * @NSWAP_IPT_SAME: only the page counts
 * @NSWAP_IPT_NEW: a peer not known before
 * @NSWAP_IPT_REBOOTED: a known peer with a new epoch, under a new index
 * @NSWAP_IPT_FULL: no entry left; the announcement was not recorded, but that an epoch is over
 */
enum nswap_ipt_news {
	NSWAP_IPT_SAME,
	NSWAP_IPT_NEW,
	NSWAP_IPT_REBOOTED,
	NSWAP_IPT_FULL,
};

/**
 * struct nswap_ipt_heard - result of nswap_ipt_hear() and nswap_ipt_greeted()
 * @news: enum nswap_ipt_news
 * @index: the peer's entry, 0 if FULL
 * @was: REBOOTED, FULL: the entry of the epoch that is over; 0 for none
 * @elsewhere: it came from another address than the entry has
 * @after_ms: SAME: how long it had not been heard of, if that was much longer than usual, and
 *	this node looked all the time
 */
struct nswap_ipt_heard {
	enum nswap_ipt_news news;
	u16 index;
	u16 was;
	bool elsewhere;
	u64 after_ms;
};

/* The helpers below: any context; the table's lock is held, or @e is a copy. */

/* Does the entry stand for a node or an address? */
static inline bool nswap_ipt_used(const struct nswap_ipt_entry *e)
{
	return e->id || e->listed || e->version;
}

/*
 * Does the entry stand only for a node of another version? It has no peer and is
 * evicted when another node needs the entry.
 */
static inline bool nswap_ipt_foreign(const struct nswap_ipt_entry *e)
{
	return !e->id && !e->listed && e->version;
}

/* Does the entry stand for a node's present epoch? */
static inline bool nswap_ipt_alive(const struct nswap_ipt_entry *e)
{
	return e->id && !e->gone;
}

/* May pages be stored on this node? */
static inline bool nswap_ipt_stays(const struct nswap_ipt_entry *e)
{
	return nswap_ipt_alive(e) && !e->leaving;
}

/* This node looks whether it is told of peers; the table's lock is held */
static inline void nswap_ipt_looks(struct nswap_ipt *t, u64 now_ms)
{
	if (now_ms > t->looked_ms + NSWAP_IPT_LATE_MS)
		t->late_ms = now_ms;
	t->looked_ms = now_ms;
}

int nswap_ipt_init(struct nswap_ipt *t);
void nswap_ipt_exit(struct nswap_ipt *t);
struct nswap_ipt_heard nswap_ipt_hear(struct nswap_ipt *t,
				      const struct nswap_announcement *a,
				      u64 now_ms);
struct nswap_ipt_heard nswap_ipt_greeted(struct nswap_ipt *t, u16 index,
					 const struct nswap_addr *at, u64 id,
					 u64 epoch, u64 now_ms);
void nswap_ipt_moved(struct nswap_ipt *t, u16 index,
		     const struct nswap_addr *addr);
void nswap_ipt_forget(struct nswap_ipt *t, u16 index);
bool nswap_ipt_speaks(struct nswap_ipt *t, const struct nswap_addr *addr,
		      u8 version, u64 now_ms, u64 silent_ms);
u16 nswap_ipt_list(struct nswap_ipt *t, const struct nswap_addr *addr);
u16 nswap_ipt_find(const struct nswap_ipt *t, u64 id);
bool nswap_ipt_fresh(const struct nswap_ipt_entry *e, u64 now_ms,
		     u64 silent_ms);
void nswap_ipt_refused(struct nswap_ipt *t, u16 index);
void nswap_ipt_expire(struct nswap_ipt *t, u64 now_ms, u64 age_ms);
void nswap_ipt_release(struct nswap_ipt *t, u16 index);
bool nswap_addr_equal(const struct nswap_addr *a, const struct nswap_addr *b);
u64 nswap_addr_id(const struct nswap_addr *a, u64 hardware);

#endif
