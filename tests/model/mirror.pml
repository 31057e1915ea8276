/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Model of one slot of a mirrored device: its owner and three servers.
 *
 * docs/protection.md, "Mirror", is what is modelled; docs/testing.md says how it is
 * searched. What move.pml has about a single copy is coarser here.
 *
 * Modelled:
 *  - the owner: the slot's word (st, pr, gen) and its entry in the side table (p2, mk),
 *    changed together, as under the slot's lock; page-out of two copies with
 *    refusal, time-out and exposed ends; free; orphans; comparison; claims of
 *    moves of either copy; drops of one copy; loss; repair; page-in that asks
 *    both copies; protection switched off.
 *  - each server: its copy, a pending one, one attempt to move, one restart.
 *  - stores, control and answers as FIFO channels of their own. A cut loses what the
 *    owner has not read; the server may still act on what was sent to it, until
 *    the next session fences the rest. MOVED is said again after a cut.
 *  - a peer that is cut off may at any moment be taken for dead, and be back.
 *
 * Not modelled: home and flash, grants, generations that wrap around, more than one
 * page-out, page-in, repair and claim at a time, MOVE between two servers as
 * a message of its own (move.pml has it). Timers are choices. The list's number
 * of a NO_RECORD free is one bit, as in move.pml. The first page-out goes
 * to servers 0 and 1, which only takes symmetry away.
 *
 * Checked (numbers of docs/protection.md): each recorded copy is held, complete and
 * of the newest version (2); no two places of a slot are one node (3);
 * a page is never lost while one recorded copy's server lives (1); a page-in gets
 * the version written last (2); a plain FREE names no generation that the slot
 * still has (4); when all is quiet no page is exposed (5), and servers
 * hold what the owner records (6).
 *
 * Two designs: without ALONE a time-out or a cut gives up both copies of a page-out; with
 * it, as the code does, a second one whose first is acknowledged is given up alone, in the
 * same generation, and comparison has to find what its server has of it.
 *
 * Bounds: GENS page-outs and time-outs together, MOVES, DROPS, BREAKS, REBOOTS, FREES,
 * REFUSALS, with ALONE as many second copies given up. READS switches page-ins on, OFF a switch to no protection.
 *
 * MUT_* take one rule away; each has to make the check fail.
 */
#ifndef GENS
#define GENS 1
#endif
#ifndef MOVES
#define MOVES 0
#endif
#ifndef DROPS
#define DROPS 0
#endif
#ifndef BREAKS
#define BREAKS 0
#endif
#ifndef REBOOTS
#define REBOOTS 0
#endif
#ifndef FREES
#define FREES 0
#endif
#ifndef REFUSALS
#define REFUSALS 0
#endif

#ifndef ALONE
#define ALONE 0
#endif

#define NOWHERE 3	/* the target of a copy to be dropped */

mtype:slot = { EMPTY, WRITING, REMOTE, LOST };
mtype:msg = { HOLD_ASK, HOLD_LIST, NO_RECORD, FREE, CLAIM, CLAIM_OK,
	CLAIM_NOT_HELD, MOVED_DROP, MOVED_KEEP };

/* the owner's slot: names of places, 0 for none */
mtype:slot st = EMPTY;
byte pr, p2;	/* of the two copies */
byte mk;	/* of a copy in the making: a claim's or a repair's */
bit a1, a2;	/* WRITING: acknowledged */
byte gen;
bit freed, refused;
byte ver;	/* of the newest page-out begun */
byte cver;	/* of the newest that has ended well */
byte old[3], old_gen;
bit begun;	/* a page-out has been placed */
bit off;	/* no protection any more */
bit safe;	/* both copies were there: one death must not lose it */

/* the repair under way: 1 begun 2 read 3 sent */
byte rc;
byte rc_pr, rc_gen, rc_ver;
byte rc_for;	/* the place it is to replace, 0 for none */

/* the claim under way; for a drop at the other copy's server, which is sure */
bit cl, cl_stale, cl_drop, sure;
byte cl_from, cl_n, cl_att, cl_t, cl_gen;	/* cl_n: the name of the copy */

/* sessions */
bool up[3] = true;
bit ep[3];	/* the server's epoch */
bit kep[3];	/* the one the owner knows */
byte orphan[3];
byte late[3], late_gen[3];	/* answers to come to second copies given up alone */
byte rec[3];	/* 0 idle 1 asked 2 free to be sent 3 to be asked */
byte rec_gen[3];

/* one page-in, of both copies */
bit rd;
byte ra, rb, rd_gen, rd_want;

/* servers */
byte hgen[3], hver[3];
bit since[3];
byte pgen[3], pver[3];
byte att[3], at_t[3];
byte sd[3], sd_gen[3], sd_t[3];	/* MOVED, not read yet: the attempt */

chan store[3] = [2] of { byte, byte };
chan stored[3] = [2] of { byte, bit };
chan ask[3] = [3] of { mtype:msg, byte };
chan say[3] = [2] of { mtype:msg, byte };

/* only inside a step */
hidden byte g, v, a, ok, i;

byte moves, drops, breaks, reboots, frees, refusals, alone;
byte fin;

#define SRV(n)		(((n) - 1) % 3)
#define PEER(p)		(1 + (p) + 3 * kep[p])
#define GONE(n)		((n) && (n) != PEER(SRV(n)))
#define LIVE(n)		((n) && !GONE(n) && up[SRV(n)])
#define CURRENT(n)	(!GONE(n) && ep[SRV(n)] == kep[SRV(n)])
#define LINKED(p)	(up[p] && ep[p] == kep[p])
#define AT(n, p)	((n) && SRV(n) == (p))
#define HERE(p)		(AT(pr, p) || AT(p2, p) || AT(mk, p))
#define OTHER(n)	(pr == (n) -> p2 : pr)
#define NAMES(n)	(pr == (n) || p2 == (n) || mk == (n))
#define COUNTS(p, g_)	(gen == (g_) && (st == WRITING || st == REMOTE) && \
			 NAMES(PEER(p)))
#define MINE(n, g_)	(st == REMOTE && gen == (g_) && mk == (n))
#define EXPOSED		(st == REMOTE && !off && \
			 (!p2 || !LIVE(pr) || !LIVE(p2)))

inline set_orphan(n_, g_)
{
	if
	:: (n_) && !GONE(n_) ->
		assert((g_) < gen || st == EMPTY);
		orphan[SRV(n_)] = (orphan[SRV(n_)] < (g_) -> (g_) :
				   orphan[SRV(n_)])
	:: else
	fi
}

/* a copy of the present generation is not recorded: never by a plain FREE */
inline set_unrecorded(p_)
{
#ifdef MUT_ALONE_FREE
	orphan[p_] = (orphan[p_] < gen -> gen : orphan[p_])
#else
	rec[p_] = (rec[p_] || !up[p_] -> rec[p_] : 3)
#endif
}

inline clear(c_)
{
	do
	:: len(c_) > 0 -> c_?_,_
	:: else -> break
	od
}

/* to the server; a message to one that has restarted goes nowhere */
inline tell(p_, m_, x_)
{
	if
	:: ep[p_] == kep[p_] -> ask[p_]!m_,x_
	:: else
	fi
}

inline end_out()
{
	old[0] = 0; old[1] = 0; old[2] = 0; old_gen = 0;
	a1 = 0; a2 = 0; freed = 0; refused = 0
}

/* the copies from before the page-out are obsolete, but where it was replaced */
inline forget_old()
{
	for (i : 0 .. 2) {
		if
		:: old[i] && old[i] != pr && old[i] != p2 ->
			set_orphan(old[i], old_gen)
		:: else
		fi
	}
	i = 0
}

inline out_ends()
{
	cver = ver;
	if
	:: freed ->
		st = EMPTY;
		forget_old();
		set_orphan(pr, gen);
#ifndef MUT_FREE_ONE
		set_orphan(p2, gen);
#endif
		pr = 0; p2 = 0
	:: else ->
		/* it is not known to be lost already */
		assert(!GONE(pr) || (p2 && !GONE(p2)));
		st = REMOTE;
		safe = (p2 && CURRENT(pr) && CURRENT(p2) -> 1 : 0);
		forget_old()
	fi;
	end_out()
}

/* to be placed again: both copies, under the next generation */
inline again()
{
	gen++;
	set_orphan(pr, gen - 1);
	set_orphan(p2, gen - 1);
	pr = 0; p2 = 0;
	a1 = 0; a2 = 0
}

inline end_read()
{
	rd = 0; ra = 0; rb = 0; rd_gen = 0; rd_want = 0
}

inline end_repair()
{
	rc = 0; rc_pr = 0; rc_gen = 0; rc_ver = 0; rc_for = 0
}

inline end_pending(p_)
{
	pgen[p_] = 0; pver[p_] = 0
}

inline end_attempt(p_)
{
	att[p_] = 0; at_t[p_] = 0
}

inline end_said(p_)
{
	sd[p_] = 0; sd_gen[p_] = 0; sd_t[p_] = 0
}

inline drop(p_)
{
	hgen[p_] = 0; hver[p_] = 0; since[p_] = 0;
	end_attempt(p_)
}

inline keep(p_, g_, v_)
{
	hgen[p_] = g_; hver[p_] = v_; since[p_] = 1;
	end_attempt(p_)
}

/* the end of a claim; its slot has been dealt with */
inline end_claim(drop_)
{
	if
	:: !cl_stale && up[cl_from] && (drop_) ->
		tell(cl_from, MOVED_DROP, cl_att)
	:: !cl_stale && up[cl_from] && !(drop_) ->
		tell(cl_from, MOVED_KEEP, cl_att)
	:: else
	fi;
	cl = 0; cl_stale = 0; cl_drop = 0; sure = 0;
	cl_from = 0; cl_n = 0; cl_att = 0; cl_t = 0; cl_gen = 0
}

inline claim_failed(n_)
{
	if
	:: !cl_drop && MINE(n_, cl_gen) -> mk = 0; end_claim(0)
	:: else -> end_claim(!COUNTS(cl_from, cl_gen))
	fi
}

inline repair_failed()
{
	if
	:: MINE(rc_pr, rc_gen) -> mk = 0
	:: else
	fi;
	end_repair()
}

/* MOVED(g, to t) from p arrived; control has room for an answer */
inline judge(p_, g_, a_, t_)
{
	if
	:: st == REMOTE && gen == g_ && (pr == PEER(p_) || p2 == PEER(p_)) &&
	   !mk && !cl ->
		if
		:: t_ == NOWHERE && OTHER(PEER(p_)) && LIVE(OTHER(PEER(p_))) && !off &&
		   len(ask[SRV(OTHER(PEER(p_)))]) < 3 ->
#ifdef MUT_DROP_UNASKED
			pr = OTHER(PEER(p_));
			p2 = 0;
			tell(p_, MOVED_DROP, a_)
#else
			cl = 1; cl_from = p_; cl_att = a_; cl_gen = g_; cl_drop = 1;
			cl_n = PEER(p_);
			cl_t = SRV(OTHER(PEER(p_)));
			tell(cl_t, CLAIM, g_)
#endif
#ifdef MUT_ANY_TARGET
		:: t_ != NOWHERE && up[t_] && len(ask[t_]) < 3 ->
#else
		:: t_ != NOWHERE && up[t_] && len(ask[t_]) < 3 && !HERE(t_) ->
#endif
			cl = 1; cl_from = p_; cl_att = a_; cl_t = t_; cl_gen = g_;
			cl_n = PEER(p_);
			mk = PEER(t_);
			tell(t_, CLAIM, g_)
		:: else -> tell(p_, MOVED_KEEP, a_)
		fi
	:: else ->
		if
		:: COUNTS(p_, g_) -> tell(p_, MOVED_KEEP, a_)
		:: else -> tell(p_, MOVED_DROP, a_)
		fi
	fi
}

#ifdef MUT_ENDS_ON_DEAD
#define DEAD(n)		false
#else
#define DEAD(n)		GONE(n)
#endif
#ifdef MUT_REPAIR_ANY_PLACE
#define REPLACES(n)	true
#else
#define REPLACES(n)	(rc_for == (n))
#endif
#define NONE_ELSE	(refused || !((up[0] && !HERE(0)) || \
			 (up[1] && !HERE(1)) || (up[2] && !HERE(2))))

#define EXACT(p)	(hgen[p] == (st == REMOTE && NAMES(PEER(p)) -> gen : 0))

active proctype Owner()
{
end:	do
	/* page-out */
	:: d_step { fin == 0 && st != WRITING && gen < GENS ->
		old[0] = pr; old[1] = p2; old[2] = mk;
		old_gen = gen;
		pr = 0; p2 = 0; mk = 0;
		st = WRITING;
		safe = 0;
		gen++;
		ver++ }
	:: d_step { st == WRITING && a1 && (a2 || (!p2 && (off || NONE_ELSE))) &&
		    !DEAD(pr) && !DEAD(p2) -> out_ends() }
	/* a copy that was acknowledged, and has died since */
	:: d_step { st == WRITING && GONE(pr) -> pr = 0; a1 = 0 }
	:: d_step { st == WRITING && GONE(p2) -> p2 = 0; a2 = 0 }
#ifdef MUT_FIRST_ACK
	:: d_step { st == WRITING && a1 && p2 -> out_ends() }
#endif
	:: d_step { st == WRITING && !pr && NONE_ELSE ->
		forget_old();
		if
		:: p2 -> pr = p2; a1 = a2; p2 = 0; a2 = 0
		:: else ->
			st = (freed -> EMPTY : LOST);
			end_out()
		fi }
	/* the second copy is not answered in time */
	:: d_step { st == WRITING && a1 && p2 && !a2 && alone < ALONE ->
		alone++;
		g = SRV(p2);
		set_unrecorded(g);
		late[g] = (late_gen[g] == gen -> late[g] + 1 : 1);
		late_gen[g] = gen;
		p2 = 0;
		g = 0 }
	/* a time-out */
	:: d_step { st == WRITING && gen < GENS &&
		    ((pr && !a1) || (p2 && !a2)) -> again() }
	/* free */
	:: d_step { fin == 0 && frees < FREES && st == WRITING && !freed ->
		frees++;
		freed = 1 }
	:: d_step { fin == 0 && frees < FREES && (st == REMOTE || st == LOST) ->
		frees++;
		st = EMPTY;
		set_orphan(pr, gen);
#ifndef MUT_FREE_ONE
		set_orphan(p2, gen);
#endif
		set_orphan(mk, gen);
		pr = 0; p2 = 0; mk = 0 }
	/* loss; a copy in the making is waited for */
	:: d_step { st == REMOTE && !mk && GONE(p2) -> p2 = 0 }
	:: d_step { st == REMOTE && !mk && GONE(pr) && !GONE(p2) ->
		assert(p2 || !safe);
		pr = p2;
		p2 = 0;
		st = (pr -> REMOTE : LOST) }
#ifdef READS
	:: d_step { fin == 0 && !rd && st == REMOTE ->
		rd = 1; ra = pr; rb = p2; rd_gen = gen; rd_want = cver }
	:: d_step { rd && !LIVE(ra) && !LIVE(rb) -> end_read() }
#endif
	/* the read of a repair finds no copy */
	:: d_step { rc == 1 && !(st == REMOTE && gen == rc_gen &&
				 (LIVE(pr) || LIVE(p2))) -> repair_failed() }
#ifdef OFF
	:: d_step { fin == 0 && !off && st == REMOTE && !mk && p2 &&
		    !GONE(p2) && LIVE(pr) ->
		off = 1;
		safe = 0;
#ifdef MUT_PLAIN_FREE
		orphan[SRV(p2)] = (orphan[SRV(p2)] < gen -> gen :
				   orphan[SRV(p2)]);
#else
		rec[SRV(p2)] = (rec[SRV(p2)] || !up[SRV(p2)] ->
				rec[SRV(p2)] : 3);
#endif
		p2 = 0 }
#endif
	/* all is quiet: compare, then look */
	:: atomic { timeout && fin == 0 ->
		assert(!EXPOSED && !rd && !rc && !cl && !mk &&
		       st != WRITING);
		/* without cuts and moves comparison has nothing to find */
		assert(breaks || reboots || moves || drops || alone || (EXACT(0) && EXACT(1) && EXACT(2)));
		fin = 1;
		for (i : 0 .. 2) {
			ask[i]!HOLD_ASK,0;
			rec[i] = 1
		}
		i = 0 }
	:: atomic { timeout && fin == 1 ->
		assert(EXACT(0) && EXACT(1) && EXACT(2));
		fin = 2 }
	od
}

/* the owner's end of the session with one server */
proctype Session(byte p)
{
end:	do
	/* two places, never one node */
	:: d_step { up[p] && st == WRITING && !pr && !HERE(p) &&
		    nfull(store[p]) && (begun || p == 0) ->
		pr = PEER(p);
		if
		:: ep[p] == kep[p] -> store[p]!gen,ver
		:: else
		fi }
	:: d_step { up[p] && st == WRITING && pr && !p2 && !off && !HERE(p) &&
		    nfull(store[p]) && (begun || p == 1) ->
		begun = 1;
		p2 = PEER(p);
		if
		:: ep[p] == kep[p] -> store[p]!gen,ver
		:: else
		fi }
	:: d_step { up[p] && len(stored[p]) ->
		stored[p]?g,ok;
		v = (late[p] && late_gen[p] == g);
		late[p] = late[p] - v;
		if
		:: !v && st == WRITING && gen == g && pr == PEER(p) ->
			a1 = ok;
			pr = (ok -> pr : 0);
			refused = (ok -> refused : 1)
		:: !v && st == WRITING && gen == g && p2 == PEER(p) ->
			a2 = ok;
			p2 = (ok -> p2 : 0);
			refused = (ok -> refused : 1)
		:: !v && rc == 3 && rc_gen == g && rc_pr == PEER(p) &&
		   !(st == WRITING && gen == g) ->
			if
#ifdef MUT_REPAIR_ANY_GEN
			:: ok && st == REMOTE && !NAMES(rc_pr) && !p2 ->
				p2 = rc_pr;
				end_repair()
#endif
			:: ok && MINE(rc_pr, rc_gen) ->
				mk = 0;
				if
				:: !LIVE(p2) && REPLACES(p2) -> p2 = rc_pr
				:: !LIVE(pr) && REPLACES(pr) -> pr = rc_pr
				/* it is back */
				:: else -> rec[p] = (rec[p] -> rec[p] : 3)
				fi;
				safe = (CURRENT(pr) && CURRENT(p2) -> 1 : safe);
				end_repair()
			:: ok && !MINE(rc_pr, rc_gen) ->
				set_orphan(rc_pr, rc_gen);
				end_repair()
			:: else -> repair_failed()
			fi
		:: else ->
			if
			:: ok && ALONE && g == gen &&
			   (st == WRITING || st == REMOTE) ->
				set_unrecorded(p)
			:: ok && !(ALONE && g == gen &&
				   (st == WRITING || st == REMOTE)) ->
				set_orphan(PEER(p), g)
			:: else
			fi
		fi;
		g = 0; ok = 0; v = 0 }
	/* repair: this server gets a copy */
	:: d_step { up[p] && EXPOSED && !rc && !mk && !HERE(p) &&
		    (LIVE(pr) || LIVE(p2)) ->
		mk = PEER(p);
		rc = 1;
		rc_for = (LIVE(p2) -> pr : p2);
		rc_pr = mk;
		rc_gen = gen }
	:: d_step { rc == 2 && rc_pr == PEER(p) && up[p] && nfull(store[p]) ->
		if
#ifdef MUT_REPAIR_RESTAMPS
		:: ep[p] == kep[p] -> store[p]!gen,rc_ver; rc_gen = gen
#else
		:: ep[p] == kep[p] -> store[p]!rc_gen,rc_ver
#endif
		:: else
		fi;
		rc = 3 }
	:: d_step { orphan[p] && (!up[p] || nfull(ask[p])) ->
		if
		:: up[p] -> tell(p, FREE, orphan[p])
		:: else
		fi;
		orphan[p] = 0 }
	/* comparison */
	:: d_step { up[p] && rec[p] == 3 && nfull(ask[p]) ->
		rec[p] = 1;
		tell(p, HOLD_ASK, 0) }
	:: d_step { up[p] && say[p]??[HOLD_LIST,_] ->
		say[p]??HOLD_LIST,g;
		if
		:: !g || COUNTS(p, g) -> rec[p] = 0
		:: else ->
			rec[p] = 2;
			rec_gen[p] = g
		fi;
		g = 0 }
	:: d_step { rec[p] == 2 && nfull(ask[p]) ->
		tell(p, NO_RECORD, rec_gen[p]);
		rec[p] = 0;
		rec_gen[p] = 0 }
	/* moves */
	:: d_step { up[p] && sd[p] && nfull(ask[p]) ->
		judge(p, sd_gen[p], sd[p], sd_t[p]);
		end_said(p) }
	:: d_step { up[p] && say[p]??[CLAIM_OK,_] && nfull(ask[cl_from]) ->
		say[p]??CLAIM_OK,_;
		assert(cl && cl_t == p);
		if
		:: cl_drop ->
			v = (COUNTS(cl_from, cl_gen) -> 0 : 1);
			if
			:: st == REMOTE && gen == cl_gen && !mk &&
			   NAMES(cl_n) && OTHER(cl_n) == PEER(p) ->
				pr = PEER(p);
				p2 = 0;
				safe = 0;
				v = 1
			:: else
			fi
		:: !cl_drop && MINE(PEER(p), cl_gen) ->
			v = 1;
			if
			:: pr == cl_n -> pr = mk
			:: else -> p2 = mk
			fi;
			mk = 0
		:: else ->
			v = 1;
			set_orphan(PEER(p), cl_gen)
		fi;
		end_claim(v);
		v = 0 }
	:: d_step { up[p] && say[p]??[CLAIM_NOT_HELD,_] && nfull(ask[cl_from]) ->
		say[p]??CLAIM_NOT_HELD,_;
		claim_failed(PEER(p)) }
	/* cuts */
	:: d_step { up[p] && nfull(ask[cl_from]) &&
		    (ep[p] != kep[p] || (fin == 0 && breaks < BREAKS)) ->
		breaks = breaks + (ep[p] == kep[p] -> 1 : 0);
		up[p] = false;
		clear(stored[p]);
		late[p] = 0; late_gen[p] = 0;
		clear(say[p]);
		end_said(p);
		rec[p] = 0;
		rec_gen[p] = 0;
		if
		:: cl && cl_from == p -> cl_stale = 1
		:: else
		fi;
		if
		:: cl && cl_t == p -> claim_failed(PEER(p))
		:: else
		fi;
		if
		:: rc && rc_pr == PEER(p) -> repair_failed()
		:: else
		fi;
		if
		:: st == WRITING && ((pr == PEER(p) && !a1) ||
				     (p2 == PEER(p) && !a2)) ->
			/* a choice may bring it below GENS no more: it fails */
			refused = (gen < GENS -> refused : 1);
			if
			:: ALONE && a1 && p2 == PEER(p) -> p2 = 0
			:: gen < GENS && !(ALONE && a1 && p2 == PEER(p)) -> again()
			:: gen >= GENS && pr == PEER(p) -> pr = 0
			:: gen >= GENS && pr != PEER(p) && !(ALONE && a1) -> p2 = 0
			fi
		:: else
		fi }
	:: d_step { !up[p] ->
		clear(store[p]);
		clear(ask[p]);
		if
		:: ep[p] != kep[p] -> kep[p] = ep[p]; orphan[p] = 0
		:: else
		fi;
		up[p] = true;
		ask[p]!HOLD_ASK,0;
		rec[p] = 1 }
	od
}

/*
 * Deaths are within what the scheme survives while a recorded copy is left. Once a
 * claim is confirmed the copy that is moved or dropped counts no more, and the one
 * that is claimed does.
 */
#define STAYS(n, p)	((n) && SRV(n) != (p) && !GONE(n) && LINKED(SRV(n)))
#define SURE		(sure && cl_gen == gen)
#define SURVIVES(p)	(st != REMOTE || \
	(!SURE && (STAYS(pr, p) || STAYS(p2, p))) || \
	(SURE && (STAYS(OTHER(cl_n), p) || \
		  (!cl_drop && cl_t != (p) && LINKED(cl_t)))))

proctype Server(byte p)
{
end:	do
	:: d_step { len(store[p]) && nfull(stored[p]) ->
		store[p]?g,v;
		if
#ifdef MUT_NO_GEN_CHECK
		:: true -> keep(p, g, v)
#else
		:: hgen[p] <= g -> keep(p, g, v)
		:: else -> v = 0
#endif
		fi;
		if
		:: LINKED(p) -> stored[p]!g,(v -> 1 : 0)
		:: else
		fi;
		g = 0; v = 0 }
	/* no room */
	:: d_step { len(store[p]) && nfull(stored[p]) && refusals < REFUSALS ->
		refusals++;
		store[p]?g,v;
		if
		:: LINKED(p) -> stored[p]!g,0
		:: else
		fi;
		g = 0; v = 0 }
	/* page-in: the first answer wins */
	:: d_step { rd && LINKED(p) && (ra == PEER(p) || rb == PEER(p)) ->
		if
#ifdef MUT_LOAD_ANY_GEN
		:: hgen[p] ->
#else
		:: hgen[p] == rd_gen ->
#endif
			assert(hver[p] == rd_want);
			end_read()
		:: else ->
			ra = (ra == PEER(p) -> 0 : ra);
			rb = (rb == PEER(p) -> 0 : rb)
		fi }
	/* the read of a repair */
	:: d_step { rc == 1 && LINKED(p) && hgen[p] == rc_gen ->
		rc_ver = hver[p];
		rc = 2 }
	/* control */
	:: d_step { ask[p]?[HOLD_ASK,_] && nfull(say[p]) ->
		ask[p]?HOLD_ASK,_;
		since[p] = 0;
		if
		:: LINKED(p) -> say[p]!HOLD_LIST,hgen[p]
		:: else
		fi }
	:: d_step { ask[p]?[FREE,_] ->
		ask[p]?FREE,g;
		if
		:: hgen[p] && hgen[p] <= g -> drop(p)
		:: else
		fi;
		g = 0 }
	:: d_step { ask[p]?[NO_RECORD,_] ->
		ask[p]?NO_RECORD,g;
		if
#ifdef MUT_NO_LIST_NUMBER
		:: hgen[p] && hgen[p] <= g -> drop(p)
#else
		:: hgen[p] && hgen[p] <= g && !since[p] -> drop(p)
#endif
		:: else
		fi;
		g = 0 }
	:: d_step { ask[p]?[CLAIM,_] && nfull(say[p]) ->
		ask[p]?CLAIM,g;
		v = 1;
		if
		:: hgen[p] == g -> keep(p, hgen[p], hver[p])
		:: hgen[p] < g && pgen[p] == g ->
			keep(p, pgen[p], pver[p]);
			end_pending(p)
		:: else -> v = 0
		fi;
		sure = (cl && cl_t == p && v -> 1 : sure);
		if
		:: LINKED(p) && v -> say[p]!CLAIM_OK,0
		:: LINKED(p) && !v -> say[p]!CLAIM_NOT_HELD,0
		:: else
		fi;
		g = 0; v = 0 }
	:: d_step { ask[p]?[MOVED_KEEP,_] ->
		ask[p]?MOVED_KEEP,g;
		if
		:: att[p] == g -> end_attempt(p)
		:: else
		fi;
		g = 0 }
	:: d_step { ask[p]?[MOVED_DROP,_] ->
		ask[p]?MOVED_DROP,g;
		if
		:: att[p] == g -> drop(p)
		:: else
		fi;
		g = 0 }
	/* moving away: to the next server, or the one after it */
	:: d_step { fin == 0 && !att[p] && hgen[p] && moves < MOVES ->
		moves++;
		att[p] = moves;
		at_t[p] = (p + 1) % 3 }
	:: d_step { fin == 0 && !att[p] && hgen[p] && moves < MOVES ->
		moves++;
		att[p] = moves;
		at_t[p] = (p + 2) % 3 }
	:: d_step { fin == 0 && !att[p] && hgen[p] && drops < DROPS ->
		drops++;
		att[p] = MOVES + drops;
		at_t[p] = NOWHERE }
	:: d_step { att[p] && !sd[p] && LINKED(p) ->
		sd[p] = att[p];
		sd_gen[p] = hgen[p];
		sd_t[p] = at_t[p];
		a = at_t[p];
		if
		:: a == NOWHERE
		:: a != NOWHERE && hgen[a] > hgen[p] -> drop(p); end_said(p)
		:: a != NOWHERE && hgen[a] < hgen[p] ->
			pgen[a] = hgen[p];
			pver[a] = hver[p]
		:: else
		fi;
		a = 0 }
	:: d_step { pgen[p] -> end_pending(p) }
	/* the death of a server, within what the scheme survives */
	:: d_step { fin == 0 && reboots < REBOOTS && ep[p] == 0 && kep[p] == 0 &&
		    SURVIVES(p) ->
		reboots++;
		ep[p] = 1;
		clear(store[p]);
		clear(ask[p]);
		drop(p);
		end_pending(p) }
	od
}

#define HELD(n)		(hgen[SRV(n)] == gen && hver[SRV(n)] == cver)

/* what is recorded is there */
active proctype Watch()
{
end:	do
	:: d_step { st == REMOTE && CURRENT(pr) && !HELD(pr) -> assert(false) }
	:: d_step { st == REMOTE && p2 && CURRENT(p2) && !HELD(p2) -> assert(false) }
	:: d_step { (AT(p2, SRV(pr)) && pr) || (mk && AT(pr, SRV(mk))) ||
		    (mk && AT(p2, SRV(mk))) -> assert(false) }
	od
}

init {
	atomic {
		run Session(0);
		run Session(1);
		run Session(2);
		run Server(0);
		run Server(1);
		run Server(2)
	}
}
