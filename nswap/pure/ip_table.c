// SPDX-License-Identifier: GPL-2.0
/*
 * IPTable. What an entry is follows from its fields; the state of this node's
 * client towards the peer is the peer's state (peer_state.c).
 *
 *   listed, no id    an address the user named, not heard of yet
 *   the same, gone   another entry has the node that is there, and is listed
 *   id               a node in its present epoch; leaving: it is going down
 *   id, gone         an epoch that is over
 *   version alone    a node of another version of the protocol was heard there;
 *                    it is evicted when another node needs the entry, and forgotten
 *                    when it has not been heard of for long
 *   none of these    not used
 *
 *   An announcement or a greeting gives a listed entry an id, or takes an unused
 *   one; another epoch of that id makes it gone, whether there is an entry for that
 *   or not; released, it is unused, or listed again
 *
 * Invariants:
 *  - Of all entries of an id at most one is not gone: its present epoch. Slots
 *    that name the others are lost.
 *  - An index stands for one epoch until nswap_ipt_release(), which the caller
 *    calls when no slot names it: pages of an old epoch are never looked for
 *    in a new one.
 *  - Epochs have no order. A late datagram may name one that is over, so an
 *    announcement never revives an epoch that is gone; the greeting on a live
 *    connection does, under a new index.
 *  - A node keeps its entry when its address changes. A listed one is listed at the
 *    address the user named, wherever it is: it may come back there.
 *  - What an entry says of another version was heard after this version was last
 *    heard there. A datagram of another version changes nothing about a peer
 *    that is fresh.
 *  - Nothing here locks, sleeps or allocates after nswap_ipt_init().
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "ip_counter.h"
#include "ip_table.h"

/* part of every node's id, and so as fixed as the wire protocol */
static const siphash_key_t id_key = {
	.key = { 0x6e73776170206964ull, 0x7632303236313131ull },
};

static size_t ip_bytes(const struct nswap_addr *a)
{
	return a->family == AF_INET ? 4 : sizeof(a->ip);
}

/* do two addresses name the same endpoint? */
bool nswap_addr_equal(const struct nswap_addr *a, const struct nswap_addr *b)
{
	return a->family == b->family && a->port == b->port &&
	       a->scope == b->scope && !memcmp(a->ip, b->ip, ip_bytes(a));
}

/*
 * The id of a node that comes up at an address, on an interface with that hardware
 * address (0 without one): the same after a reboot, never 0. With the hardware
 * address, a node that comes up where another one has moved away is another node.
 */
u64 nswap_addr_id(const struct nswap_addr *a, u64 hardware)
{
	__be64 ip[2] = {};
	u64 id;

	memcpy(ip, a->ip, ip_bytes(a));
	id = siphash_4u64(be64_to_cpu(ip[0]), be64_to_cpu(ip[1]),
			  (u64)a->family << 16 | a->port, hardware, &id_key);
	return id ?: 1;
}

/* Returns 0, or -ENOMEM */
int nswap_ipt_init(struct nswap_ipt *t)
{
	t->top = 0;
	t->entry = kvcalloc(NSWAP_MAX_PEERS + 1, sizeof(*t->entry), GFP_KERNEL);
	return t->entry ? 0 : -ENOMEM;
}

void nswap_ipt_exit(struct nswap_ipt *t)
{
	kvfree(t->entry);
	t->entry = NULL;
	t->top = 0;
}

/* The index of a node's present epoch, 0 if there is none; the table's lock is held. */
u16 nswap_ipt_find(const struct nswap_ipt *t, u64 id)
{
	unsigned int i;

	for (i = 1; i <= t->top; i++)
		if (nswap_ipt_alive(&t->entry[i]) && t->entry[i].id == id)
			return i;
	return 0;
}

static bool epoch_is_over(const struct nswap_ipt *t, u64 id, u64 epoch)
{
	unsigned int i;

	for (i = 1; i <= t->top; i++) {
		const struct nswap_ipt_entry *e = &t->entry[i];

		if (e->gone && e->id == id && e->epoch == epoch)
			return true;
	}
	return false;
}

/* nothing above @top is in use, so searches end there */
static void ipt_lower_top(struct nswap_ipt *t)
{
	while (t->top && !nswap_ipt_used(&t->entry[t->top]))
		t->top--;
}

/* an unused entry, all zeros; 0 if there is none */
static u16 take_unused(struct nswap_ipt *t)
{
	unsigned int i;

	for (i = 1; i <= NSWAP_MAX_PEERS; i++) {
		if (nswap_ipt_used(&t->entry[i]))
			continue;
		memset(&t->entry[i], 0, sizeof(t->entry[i]));
		t->top = max(t->top, i);
		return i;
	}
	return 0;
}

/* likewise for a node of this version, which may evict one of another version */
static u16 take_for_peer(struct nswap_ipt *t)
{
	u16 index = take_unused(t);
	unsigned int i;

	for (i = 1; !index && i <= t->top; i++) {
		if (!nswap_ipt_foreign(&t->entry[i]))
			continue;
		memset(&t->entry[i], 0, sizeof(t->entry[i]));
		index = i;
	}
	return index;
}

/*
 * The entry for an epoch not in the table: the listed one, or an unused one; @was: the
 * epoch before, 0 if there is none.
 */
static u16 take_for(struct nswap_ipt *t, const struct nswap_addr *addr, u16 was)
{
	const struct nswap_addr *listed_at = NULL;
	unsigned int i;
	u16 index = 0;

	for (i = 1; i <= t->top; i++) {
		const struct nswap_ipt_entry *e = &t->entry[i];

		if (e->listed && (i == was || nswap_addr_equal(&e->listed_at, addr)))
			listed_at = &e->listed_at;
		if (!nswap_ipt_used(e) || !nswap_addr_equal(&e->addr, addr))
			continue;
		if (!e->id && e->listed && !e->gone)
			return i;
		if (nswap_ipt_foreign(e))
			index = i;
	}
	if (!index)
		index = take_for_peer(t);
	if (index && listed_at) {
		t->entry[index].listed = true;
		t->entry[index].listed_at = *listed_at;
	}
	return index;
}

/* record that node @id at @addr is in @epoch; its page counts are not touched */
static struct nswap_ipt_heard ipt_learn(struct nswap_ipt *t, u64 id, u64 epoch,
					const struct nswap_addr *addr, u64 now_ms)
{
	struct nswap_ipt_heard h = { .news = NSWAP_IPT_SAME };
	struct nswap_ipt_entry *e;
	u16 live = nswap_ipt_find(t, id);
	u64 after_ms;

	if (live && t->entry[live].epoch == epoch) {
		e = &t->entry[live];
		after_ms = now_ms > e->heard_ms ? now_ms - e->heard_ms : 0;
		/* else this node may have heard it late, or lost it */
		if (after_ms <= now_ms - t->late_ms)
			h.after_ms = nswap_habit_gap(&e->habit, after_ms);
		e->heard_ms = now_ms;
		e->version = 0;
		h.index = live;
		return h;
	}
	h.index = take_for(t, addr, live);
	h.news = !h.index ? NSWAP_IPT_FULL : live ? NSWAP_IPT_REBOOTED : NSWAP_IPT_NEW;
	h.was = live;
	if (live) {
		t->entry[live].gone = true;
		t->entry[live].version = 0;
	}
	/* of a known node: it gets the entry that is gone, once that is released */
	if (!h.index)
		return h;
	e = &t->entry[h.index];
	e->id = id;
	e->epoch = epoch;
	e->addr = *addr;
	e->heard_ms = now_ms;
	e->version = 0;
	return h;
}

/**
 * nswap_ipt_hear() - process an announcement
 * @t: the table
 * @a: the announcement, its sender already found acceptable
 * @now_ms: the time
 *
 * A leaving node that was never known is not recorded, nor is an announcement
 * of an epoch that is over while the present one has an entry: news is SAME, and in
 * the first case the index is 0. One that comes from elsewhere changes no address:
 * that is for nswap_ipt_moved().
 *
 * Context: any; does not sleep; the caller holds the table's lock.
 * Return: what is new, and its index.
 */
struct nswap_ipt_heard nswap_ipt_hear(struct nswap_ipt *t,
				      const struct nswap_announcement *a,
				      u64 now_ms)
{
	struct nswap_ipt_heard h = { .news = NSWAP_IPT_SAME };
	u16 live = nswap_ipt_find(t, a->id);
	struct nswap_ipt_entry *e;

	if (!live && a->leaving)
		return h;
	if (live && t->entry[live].epoch != a->epoch &&
	    epoch_is_over(t, a->id, a->epoch)) {
		h.index = live;
		return h;
	}
	h = ipt_learn(t, a->id, a->epoch, &a->addr, now_ms);
	if (!h.index)
		return h;
	e = &t->entry[h.index];
	h.elsewhere = !nswap_addr_equal(&e->addr, &a->addr);
	nswap_ipt_counted(e, a);
	e->lent = a->lent;
	e->free = min(a->free, a->lent);
	e->used = a->used;
	e->shrinking = a->shrinking;
	/* one that is still at its address has not left another */
	e->leaving = a->leaving && !h.elsewhere;
	e->reboots = e->leaving && a->answer;
	return h;
}

/* a known node is at a listed address of which nothing was heard: it is the listed one */
static void ipt_found(struct nswap_ipt_entry *e, struct nswap_ipt_entry *known)
{
	if (!e->listed || e->id || e->gone || known->listed)
		return;
	known->listed = true;
	known->listed_at = e->listed_at;
	e->gone = true;
}

/**
 * nswap_ipt_greeted() - record which node a connection led to
 * @t: the table
 * @index: the used entry whose node was looked for
 * @at: the address that was connected to
 * @id: node id in the server's GREET
 * @epoch: its boot epoch
 * @now_ms: the time
 *
 * If the result names another index than @index, the node is known under that
 * one, and the connection belongs there or is not needed. It is listed from then
 * on, if @index only was, and @index is gone. A greeting says nothing about
 * leaving: that flag is kept.
 *
 * Context: any; does not sleep; the caller holds the table's lock.
 * Return: what is new, and its index; FULL also if @index is not in use.
 */
struct nswap_ipt_heard nswap_ipt_greeted(struct nswap_ipt *t, u16 index,
					 const struct nswap_addr *at, u64 id,
					 u64 epoch, u64 now_ms)
{
	struct nswap_ipt_heard h;

	if (!index || index > t->top || !nswap_ipt_used(&t->entry[index]))
		return (struct nswap_ipt_heard){ .news = NSWAP_IPT_FULL };
	h = ipt_learn(t, id, epoch, at, now_ms);
	if (!h.index)
		return h;
	if (h.index != index)
		ipt_found(&t->entry[index], &t->entry[h.index]);
	nswap_ipt_counter_proved(&t->entry[h.index], at);
	/* of the epoch before, and what came from elsewhere: it is over */
	t->entry[h.was].counter = 0;
	t->entry[h.was].other = 0;
	return h;
}

/* A node is at another address; any context; the table's lock is held. */
void nswap_ipt_moved(struct nswap_ipt *t, u16 index,
		     const struct nswap_addr *addr)
{
	if (!index || index > t->top || !nswap_ipt_alive(&t->entry[index]))
		return;
	nswap_ipt_counter_move(&t->entry[index], addr);
	t->entry[index].addr = *addr;
}

/*
 * Another node is at the address of one that is not heard of any more, and no slot
 * names it: it counts as gone. Any context; the table's lock is held.
 */
void nswap_ipt_forget(struct nswap_ipt *t, u16 index)
{
	if (index && index <= t->top && nswap_ipt_alive(&t->entry[index]))
		t->entry[index].gone = true;
}

/* the entry of the node that is at an address now; 0 if there is none */
static u16 find_at(const struct nswap_ipt *t, const struct nswap_addr *addr)
{
	unsigned int i;

	for (i = 1; i <= t->top; i++) {
		const struct nswap_ipt_entry *e = &t->entry[i];

		if (nswap_ipt_used(e) && !e->gone && nswap_addr_equal(&e->addr, addr))
			return i;
	}
	return 0;
}

/*
 * Add an address named by the user. Context: any; does not sleep; the caller holds the
 * table's lock. Returns its index, the existing one if the address is known already; 0
 * if the table is full.
 */
u16 nswap_ipt_list(struct nswap_ipt *t, const struct nswap_addr *addr)
{
	u16 index = find_at(t, addr);
	struct nswap_ipt_entry *e;

	if (!index) {
		index = take_for_peer(t);
		if (!index)
			return 0;
		t->entry[index].addr = *addr;
	}
	e = &t->entry[index];
	e->listed = true;
	e->listed_at = *addr;
	return index;
}

/**
 * nswap_ipt_fresh() - was this peer heard of recently?
 * @e: its entry
 * @now_ms: the time
 * @silent_ms: longest time without hearing of it
 *
 * If the clock jumps, either way, peers are silent until they announce
 * themselves again; a jump never keeps a dead one fresh.
 *
 * Context: any; the caller holds the table's lock.
 * Return: true if it is alive and was heard of within @silent_ms.
 */
bool nswap_ipt_fresh(const struct nswap_ipt_entry *e, u64 now_ms,
		     u64 silent_ms)
{
	u64 age = now_ms >= e->heard_ms ? now_ms - e->heard_ms :
					  e->heard_ms - now_ms;

	return nswap_ipt_alive(e) && age <= silent_ms;
}

/**
 * nswap_ipt_speaks() - record that another version of the protocol was heard
 * @t: the table
 * @addr: sender
 * @version: which; 0, which no node speaks, is ignored
 * @now_ms: the time
 * @silent_ms: a peer heard of within this many ms is not changed, since what was
 *	heard may be forged; 0 for none, if it answered a connection to @addr
 *
 * Context: any; does not sleep; the caller holds the table's lock.
 * Return: true if the version was not known before.
 */
bool nswap_ipt_speaks(struct nswap_ipt *t, const struct nswap_addr *addr,
		      u8 version, u64 now_ms, u64 silent_ms)
{
	u16 index = version ? find_at(t, addr) : 0;
	struct nswap_ipt_entry *e;
	bool news;

	if (!version || (index && silent_ms &&
			 nswap_ipt_fresh(&t->entry[index], now_ms, silent_ms)))
		return false;
	if (!index) {
		index = take_unused(t);
		if (!index)
			return false;
		t->entry[index].addr = *addr;
	}
	e = &t->entry[index];
	news = e->version != version;
	e->version = version;
	/* for a live entry this does not count as being heard of */
	if (!nswap_ipt_alive(e))
		e->heard_ms = now_ms;
	return news;
}

/*
 * A peer had no room for a page. What it announced as free is not there; its next
 * announcement corrects this. Context: any; does not sleep; the caller holds the
 * table's lock.
 */
void nswap_ipt_refused(struct nswap_ipt *t, u16 index)
{
	if (index && index <= t->top && nswap_ipt_alive(&t->entry[index]))
		t->entry[index].free = 0;
}

/**
 * nswap_ipt_expire() - forget nodes of another version not heard of for long
 * @t: the table
 * @now_ms: the time
 * @age_ms: how long
 *
 * Context: any; does not sleep; the caller holds the table's lock.
 */
void nswap_ipt_expire(struct nswap_ipt *t, u64 now_ms, u64 age_ms)
{
	unsigned int i;

	for (i = 1; i <= t->top; i++) {
		struct nswap_ipt_entry *e = &t->entry[i];

		if (nswap_ipt_foreign(e) && now_ms > e->heard_ms + age_ms)
			memset(e, 0, sizeof(*e));
	}
	ipt_lower_top(t);
}

/* does any entry other than @but keep this address because the user listed it? */
static bool kept_elsewhere(const struct nswap_ipt *t,
			   const struct nswap_addr *addr, u16 but)
{
	unsigned int i;

	for (i = 1; i <= t->top; i++) {
		const struct nswap_ipt_entry *e = &t->entry[i];

		if (i != but && e->listed && nswap_addr_equal(&e->listed_at, addr))
			return true;
	}
	return false;
}

/*
 * No slot names this entry any more. @index: an entry; one that is not gone is left
 * alone. Context: any; does not sleep; the caller holds the table's lock.
 */
void nswap_ipt_release(struct nswap_ipt *t, u16 index)
{
	struct nswap_ipt_entry *e = &t->entry[index], old = *e;
	u16 other;

	if (!old.gone)
		return;
	memset(e, 0, sizeof(*e));
	other = find_at(t, &old.listed_at);
	if (old.listed && other && !t->entry[other].listed) {
		nswap_ipt_list(t, &old.listed_at);
	} else if (old.listed && !kept_elsewhere(t, &old.listed_at, index)) {
		e->listed = true;
		e->addr = old.listed_at;
		e->listed_at = old.listed_at;
		return;
	}
	ipt_lower_top(t);
}
