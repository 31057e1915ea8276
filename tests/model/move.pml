/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Model of one slot: its owner, two servers, and the moves between them.
 *
 * `make test SUITE=model` checks every reachable state of each configuration
 * in tests/scenarios/unit/model.py. docs/protocol.md, "Moves", is what is modelled.
 *
 * Modelled:
 *  - the owner: page-out with refusal, time-out, retry and failure; page-in;
 *    free; orphans; comparison; claims; loss by a new epoch. One page-out and
 *    one page-in at a time, as many page-ins as fit.
 *  - each server: its copy, a pending one, one attempt to move, reboots.
 *  - connections as FIFO channels of their own: stores, control, loads, moves.
 *    They are not ordered among each other. A cut loses what the owner has not
 *    read; the server may still act on a prefix of what was sent to it, until
 *    the next session fences the rest. MOVED is sent again after a cut.
 *    MOVED comes over a connection of its own: it may overtake an answer to a
 *    claim and be overtaken by it (the ?? of "say").
 *  - decisions and the messages that follow from them as separate steps, so
 *    answers to MOVED may be held back as if they waited for a batch.
 *  - an attempt to move may be given up, and a pending page dropped, any time.
 *  - WITH_HOME: a page that finds no room goes home; RETURN brings one home, over
 *    a connection of its own that needs no session. Home may fail it. Questions
 *    and answers there are lost at any time, which is a cut.
 *
 * Not modelled: flash, moves out from home, grants, the owner's reboot, leases,
 * more than one reboot, devices coming and going, generations that wrap around.
 * Timers are choices: whatever may time out may do so at any moment. The list's
 * number of a NO_RECORD free is one bit, "stored or claimed since the last
 * list", which is the same since a session has one comparison under way.
 * Orphans of one peer are told as one free of the newest. The first page-out
 * goes to server 0; the other case is its mirror image.
 *
 * Checked: the copy that the slot names is held, complete and of the version
 * written last, as long as its peer has not restarted; the same for home,
 * which has no generations (Watch); a page-in gets that version, and fails
 * only for a peer that is silent or has restarted; when all is quiet, peers
 * hold after a comparison exactly what the owner records; with DRAIN, everything comes to rest from any state.
 *
 * Bounds: GENS page-outs and time-outs together, MOVES, BREAKS, REBOOTS,
 * FREES, ASKS (periodic comparisons). READS switches page-ins on.
 *
 * MUT_* take one rule away; each has to make the check fail.
 */
#ifndef GENS
#define GENS 1
#endif
#ifndef MOVES
#define MOVES 1
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
#ifndef ASKS
#define ASKS 0
#endif

#ifdef DRAIN
#define DRAINED 1
#else
#define DRAINED 0
#endif

mtype:slot = { EMPTY, WRITING, REMOTE, FREEING, LOST, HOME, MOVING };
mtype:msg = { HOLD_ASK, HOLD_LIST, NO_RECORD, FREE, CLAIM, CLAIM_OK,
	CLAIM_NOT_HELD, MOVED, MOVED_DROP, MOVED_KEEP };

/* the owner's slot */
mtype:slot st = EMPTY;
byte pr, gen;
bit freed;
byte ver;	/* of the newest page-out begun */
byte cver;	/* of the newest page-out that has ended well */
byte old_pr, old_gen;
byte home_ver;	/* what is on home, at the slot's offset */

/* sessions */
bool up[2] = true;
bit ep[2];	/* the server's epoch */
bit kep[2];	/* the one the owner knows */
byte orphan[2];
byte rec[2];	/* 0 idle 1 asked 2 free to be sent */
byte rec_gen[2];

/* the answers owed to MOVED and RETURN, by source */
byte cl[2];	/* 0 none 1 to claim 2 claimed 3 keep 4 drop
		   6 being written to home */
bit cl_home[2];	/* to a RETURN */
byte cl_pr[2], cl_gen[2], cl_att[2], cl_ver[2];
bit cl_stale[2];

/* one page-in */
byte rd;	/* 0 none 1 asked 2 page 3 not held 4 parked */
byte rd_pr, rd_gen, rd_ver, rd_want;
bit rd_claimed;

/* servers */
byte hgen[2], hver[2];
bit since[2];
byte pgen[2], pver[2];
byte att[2], aph[2], agen[2];	/* 1 MOVE sent 2 acknowledged 3 MOVED,
				   4 RETURN sent */
byte mv[2];	/* 0 none 1 MOVE 2 ok 3 older */
byte mv_gen[2], mv_ver[2], mv_att[2];
#ifdef MUT_ACK_BEFORE_STORE
bit acked[2];
#endif

/* connections */
chan store[2] = [2] of { byte, byte };
chan stored[2] = [2] of { byte, bit };
chan ask[2] = [3] of { mtype:msg, byte };
chan say[2] = [3] of { mtype:msg, byte, byte };
/* RETURN, with the page and the server's epoch, and its answer: drop? */
chan back[2] = [1] of { byte, byte, byte, bit };
chan backed[2] = [1] of { bit, byte };

/* only inside a step */
hidden byte g, a, v, ok;

/* budgets */
byte moves, breaks, reboots, frees, asks;
byte fin;

#define PEER(p)		(1 + (p) + 2 * kep[p])
#define SRV(i)		(((i) - 1) & 1)
#define GONE(i)		((i) && (i) != PEER(SRV(i)))
#define AT_PEER		(pr && (st == REMOTE || st == MOVING))
#define LINKED(p)	(up[p] && ep[p] == kep[p])

inline set_orphan(i_, g_)
{
	if
	:: (i_) && !GONE(i_) && orphan[SRV(i_)] < (g_) -> orphan[SRV(i_)] = g_
	:: else
	fi
}

inline clear2(c_)
{
	do
	:: len(c_) > 0 -> c_?_,_
	:: else -> break
	od
}

inline clear3(c_)
{
	do
	:: len(c_) > 0 -> c_?_,_,_
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

inline again()
{
	gen++;
	pr = 0;
}

inline end_read()
{
	rd = 0;
	rd_pr = 0;
	rd_gen = 0;
	rd_ver = 0;
	rd_want = 0;
	rd_claimed = 0;
}

inline end_answer(p_)
{
	cl[p_] = 0;
	cl_pr[p_] = 0;
	cl_gen[p_] = 0;
	cl_att[p_] = 0;
	cl_ver[p_] = 0;
	cl_stale[p_] = 0;
	cl_home[p_] = 0;
}

inline end_attempt(p_)
{
	att[p_] = 0;
	aph[p_] = 0;
	agen[p_] = 0;
}

inline end_move(p_)
{
	mv[p_] = 0;
	mv_gen[p_] = 0;
	mv_ver[p_] = 0;
	mv_att[p_] = 0;
}

inline drop(p_)
{
	hgen[p_] = 0;
	hver[p_] = 0;
	since[p_] = 0;
	end_attempt(p_);
}

inline keep(p_, g_, v_)
{
	hgen[p_] = g_;
	hver[p_] = v_;
	since[p_] = 1;
	end_attempt(p_);
}

inline drop_pending(p_)
{
	pgen[p_] = 0;
	pver[p_] = 0;
}

#define MINE(p)		(st == MOVING && pr == cl_pr[p] && gen == cl_gen[p])

/*
 * MOVED or RETURN arrived: what shall be done; the context is free. A RETURN
 * brings the page, of version v_.
 */
inline judge(p_, g_, a_, home_, v_)
{
	cl_att[p_] = a_;
	cl_home[p_] = home_;
	if
#ifdef MUT_MOVING_DROP
	:: st == MOVING && pr == PEER(p_) -> cl[p_] = 3
#else
	:: st == MOVING -> cl[p_] = 3
#endif
#ifndef MUT_WRITING_DROP
	:: st == WRITING && pr == PEER(p_) && gen == g_ -> cl[p_] = 3
#endif
	:: st == REMOTE && pr == PEER(p_) && gen == g_ ->
		if
		:: home_ ->
			st = MOVING;
			cl[p_] = 6;
			cl_pr[p_] = pr;
			cl_gen[p_] = g_;
			cl_ver[p_] = v_
		:: !home_ && up[1 - p_] ->
			st = MOVING;
			cl[p_] = 1;
			cl_pr[p_] = pr;
			cl_gen[p_] = g_
		:: else -> cl[p_] = 3
		fi
	:: else -> cl[p_] = 4
	fi
}

/* a page-out waits while a returned page is being written to home */
#ifdef MUT_HOME_RACE
#define HOME_BUSY	false
#else
#define HOME_BUSY	(cl[0] == 6 || cl[1] == 6)
#endif

#define QUIET	(len(store[0]) + len(store[1]) + len(stored[0]) + \
		 len(stored[1]) + len(ask[0]) + len(ask[1]) + len(say[0]) + \
		 len(say[1]) + len(back[0]) + len(back[1]) + len(backed[0]) + \
		 len(backed[1]) == 0 && cl[0] + cl[1] + mv[0] + mv[1] + att[0] + \
		 att[1] + orphan[0] + orphan[1] + rd + rec[0] + rec[1] + \
		 pgen[0] + pgen[1] == 0 && LINKED(0) && LINKED(1) && \
		 st != WRITING && st != FREEING && st != MOVING && \
		 !(AT_PEER && GONE(pr)))

#define EXACT(p)	(hgen[p] == (AT_PEER && pr == PEER(p) -> gen : 0))

active proctype Owner()
{
	do
	/* page-out */
	:: d_step { !fin && st != WRITING && gen < GENS &&
		    !HOME_BUSY ->
		old_pr = (AT_PEER || st == FREEING -> pr : 0);
		old_gen = (old_pr -> gen : 0);
		st = WRITING;
		freed = 0;
		again();
		ver++ }
	:: d_step { st == WRITING && !pr ->
#ifdef WITH_HOME
		st = (freed -> EMPTY : HOME);
		home_ver = ver;
		cver = ver;
#else
		st = (freed -> EMPTY : LOST);
#endif
		freed = 0;
		set_orphan(old_pr, old_gen);
		old_pr = 0;
		old_gen = 0 }
	:: d_step { st == WRITING && pr && gen < GENS ->
		set_orphan(pr, gen);
		again() }
	/* free */
	:: d_step { !fin && frees < FREES && !(st == WRITING && freed) &&
		    st != EMPTY && st != FREEING ->
		frees++;
		if
		:: st == WRITING -> freed = 1
		:: AT_PEER -> st = FREEING
		:: else -> st = EMPTY; pr = 0
		fi }
	:: d_step { st == FREEING && (GONE(pr) || !up[SRV(pr)] ||
				      nfull(ask[SRV(pr)])) ->
		if
		:: !GONE(pr) && up[SRV(pr)] -> tell(SRV(pr), FREE, gen)
		:: else
		fi;
		st = EMPTY;
		pr = 0 }
	/* loss */
	:: d_step { st == REMOTE && GONE(pr) -> st = LOST; pr = 0 }
	/* page-in */
#ifdef READS
	:: d_step { !fin && !rd && AT_PEER && !GONE(pr) ->
		rd = (up[SRV(pr)] -> 1 : 4);
		rd_pr = pr;
		rd_gen = gen;
		rd_want = cver }
	:: d_step { rd == 2 -> assert(rd_ver == rd_want); end_read() }
	:: d_step { rd == 3 ->
#ifdef MUT_NO_RECHECK
		assert(!(AT_PEER && pr == rd_pr && gen == rd_gen));
#else
		assert(rd_claimed || !(AT_PEER && pr == rd_pr && gen == rd_gen));
#endif
		end_read() }
	:: d_step { rd == 4 ->
#ifdef MUT_PARKED_FAILS
		assert(!AT_PEER || gen != rd_gen || pr == rd_pr);
#endif
		end_read() }
	:: d_step { rd == 4 && !GONE(rd_pr) && up[SRV(rd_pr)] -> rd = 1 }
#endif
	/* the end */
#ifdef DRAIN
	:: d_step { !fin -> fin = 1 }
#endif
	:: d_step { fin == DRAINED && QUIET ->
		ask[0]!HOLD_ASK,0;
		ask[1]!HOLD_ASK,0;
		rec[0] = 1;
		rec[1] = 1;
		fin = 2 }
	:: d_step { fin == 2 && QUIET ->
		assert(EXACT(0) && EXACT(1));
		fin = 3 }
	:: fin == 3 -> break
	od
}

/* the owner's end of the session with one server */
proctype Session(byte p)
{
end:	do
	:: d_step { up[p] && st == WRITING && !pr && nfull(store[p]) &&
		    (gen > 1 || p == 0) ->
		pr = PEER(p);
		if
		:: ep[p] == kep[p] -> store[p]!gen,ver
		:: else
		fi }
	:: d_step { up[p] && len(stored[p]) ->
		stored[p]?g,ok;
		if
		:: st == WRITING && pr == PEER(p) && gen == g && ok ->
			cver = ver;
			st = (freed -> FREEING : REMOTE);
			freed = 0;
			if
			:: old_pr != pr -> set_orphan(old_pr, old_gen)
			:: else
			fi;
			old_pr = 0;
			old_gen = 0
		:: st == WRITING && pr == PEER(p) && gen == g && !ok -> again()
		:: else ->
			if
			:: ok -> set_orphan(PEER(p), g)
			:: else
			fi
		fi;
		g = 0; ok = 0 }
	:: d_step { orphan[p] && (!up[p] || nfull(ask[p])) ->
		if
		:: up[p] -> tell(p, FREE, orphan[p])
		:: else
		fi;
		orphan[p] = 0 }
	/* comparison */
	:: d_step { !fin && asks < ASKS && up[p] && !rec[p] && nfull(ask[p]) ->
		asks++;
		rec[p] = 1;
		tell(p, HOLD_ASK, 0) }
	:: d_step { up[p] && say[p]??[HOLD_LIST,_,_] ->
		say[p]??HOLD_LIST,g,_;
		if
		:: !g || (gen == g && (st == MOVING || (pr == PEER(p) &&
		   (st == WRITING || st == REMOTE || st == FREEING)))) ->
			rec[p] = 0
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
	:: d_step { up[p] && say[p]??[MOVED,_,_] && (!cl[p] || nfull(ask[p])) ->
		say[p]??MOVED,g,a;
		if
		:: !cl[p] -> judge(p, g, a, 0, 0)
		:: else ->
			if
			:: st == MOVING || (pr == PEER(p) && gen == g &&
			   (st == WRITING || st == REMOTE)) ->
				tell(p, MOVED_KEEP, a)
			:: else -> tell(p, MOVED_DROP, a)
			fi
		fi;
		g = 0; a = 0 }
#ifdef WITH_HOME
	:: d_step { len(back[p]) && (!cl[p] || nfull(backed[p])) ->
		back[p]?g,v,a,ok;
		if
		:: ok != kep[p] -> backed[p]!0,a
		:: ok == kep[p] && !cl[p] ->
			judge(p, g, a, 1, v)
		:: ok == kep[p] && cl[p] ->
			if
			:: st == MOVING || (pr == PEER(p) && gen == g &&
			   (st == WRITING || st == REMOTE)) ->
				backed[p]!0,a
			:: else -> backed[p]!1,a
			fi
		fi;
		g = 0; v = 0; a = 0; ok = 0 }
#ifdef MUT_EARLY_RETURN
	:: d_step { cl[p] == 6 && nfull(backed[p]) -> backed[p]!1,cl_att[p] }
#endif
	/* the write has ended */
	:: d_step { cl[p] == 6 ->
		home_ver = cl_ver[p];
		if
		:: MINE(p) -> st = HOME; pr = 0
		:: else
		fi;
		cl[p] = 4 }
	/* or failed: what is there now is unknown */
	:: d_step { cl[p] == 6 ->
		home_ver = 0;
		if
		:: MINE(p) -> st = REMOTE; cl[p] = 3
		:: else -> cl[p] = 4
		fi }
	:: d_step { (cl[p] == 3 || cl[p] == 4) && cl_home[p] &&
		    nfull(backed[p]) ->
		backed[p]!(cl[p] - 3),cl_att[p];
		end_answer(p) }
#endif
	:: d_step { cl[p] == 1 && (!up[1 - p] || nfull(ask[1 - p])) ->
		if
		:: up[1 - p] ->
			tell(1 - p, CLAIM, cl_gen[p]);
			if
			:: rd && rd_pr == PEER(1 - p) -> rd_claimed = 1
			:: else
			fi;
			cl[p] = 2
		:: !up[1 - p] && MINE(p) -> st = REMOTE; cl[p] = 3
		:: else -> cl[p] = 4
		fi }
	:: d_step { up[p] && say[p]??[CLAIM_OK,_,_] ->
		say[p]??CLAIM_OK,_,_;
		assert(cl[1 - p] == 2);
		if
		:: MINE(1 - p) -> st = REMOTE; pr = PEER(p)
		:: else -> set_orphan(PEER(p), cl_gen[1 - p])
		fi;
		cl[1 - p] = 4 }
	:: d_step { up[p] && say[p]??[CLAIM_NOT_HELD,_,_] ->
		say[p]??CLAIM_NOT_HELD,_,_;
		assert(cl[1 - p] == 2);
		if
		:: MINE(1 - p) -> st = REMOTE; cl[1 - p] = 3
		:: else -> cl[1 - p] = 4
		fi }
	:: d_step { (cl[p] == 3 || cl[p] == 4) && !cl_home[p] && (cl_stale[p] || !up[p] || nfull(ask[p])) ->
		if
		:: !cl_stale[p] && up[p] && cl[p] == 3 ->
			tell(p, MOVED_KEEP, cl_att[p])
		:: !cl_stale[p] && up[p] && cl[p] == 4 ->
			tell(p, MOVED_DROP, cl_att[p])
		:: else
		fi;
		end_answer(p) }
	/* cuts */
	:: d_step { up[p] && (ep[p] != kep[p] || (!fin && breaks < BREAKS)) ->
		breaks = breaks + (ep[p] == kep[p] -> 1 : 0);
		up[p] = false;
		clear2(stored[p]);
		clear3(say[p]);
		rec[p] = 0;
		rec_gen[p] = 0;
		if
		:: st == WRITING && pr == PEER(p) -> again()
		:: else
		fi;
		if
		:: cl[1 - p] == 2 && MINE(1 - p) -> st = REMOTE; cl[1 - p] = 3
		:: cl[1 - p] == 2 && !MINE(1 - p) -> cl[1 - p] = 4
		:: else
		fi;
#ifdef MUT_LIVE_ORPHAN
		if
		:: cl[1 - p] == 3 && ep[p] == kep[p] ->
			set_orphan(PEER(p), cl_gen[1 - p])
		:: else
		fi;
#endif
		cl_stale[p] = (cl[p] && !cl_home[p] -> 1 : 0);
		if
		:: rd && rd_pr == PEER(p) -> rd = 4; rd_ver = 0
		:: else
		fi }
	:: d_step { !up[p] ->
		clear2(store[p]);
		clear2(ask[p]);
#ifdef MUT_ACK_BEFORE_STORE
		acked[p] = 0;
#endif
		if
		:: ep[p] != kep[p] -> kep[p] = ep[p]; orphan[p] = 0
		:: else
		fi;
		aph[p] = (aph[p] == 3 -> 2 : aph[p]);
		up[p] = true;
		ask[p]!HOLD_ASK,0;
		rec[p] = 1 }
	od
}

proctype Server(byte p)
{
end:	do
#ifdef MUT_ACK_BEFORE_STORE
	:: d_step { len(store[p]) && !acked[p] && nfull(stored[p]) ->
		store[p]?<g,v>;
		acked[p] = 1;
		if
		:: LINKED(p) -> stored[p]!g,1
		:: else
		fi;
		g = 0; v = 0 }
	:: d_step { len(store[p]) && acked[p] ->
		store[p]?g,v;
		acked[p] = 0;
		if
		:: hgen[p] <= g -> keep(p, g, v)
		:: else
		fi;
		g = 0; v = 0 }
#else
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
#endif
	/* no room */
	:: d_step { len(store[p]) && nfull(stored[p]) && gen < GENS ->
		store[p]?g,v;
		if
		:: LINKED(p) -> stored[p]!g,0
		:: else
		fi;
		g = 0; v = 0 }
	/* page-in */
	:: d_step { rd == 1 && LINKED(p) && rd_pr == PEER(p) ->
		if
#ifdef MUT_NO_GEN_CHECK
		:: hgen[p] ->
#else
		:: hgen[p] == rd_gen ->
#endif
			rd = 2;
			rd_ver = hver[p]
		:: else -> rd = 3
		fi }
	/* control */
	:: d_step { ask[p]?[HOLD_ASK,_] && nfull(say[p]) ->
		ask[p]?HOLD_ASK,_;
		since[p] = 0;
		if
		:: LINKED(p) -> say[p]!HOLD_LIST,hgen[p],0
		:: else
		fi }
	:: d_step { ask[p]?[FREE,_] ->
		ask[p]?FREE,g;
		if
#ifdef MUT_NO_GEN_CHECK
		:: true -> drop(p)
#else
		:: hgen[p] && hgen[p] <= g -> drop(p)
		:: else
#endif
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
#ifdef MUT_NO_GEN_CHECK
		:: pgen[p] -> keep(p, pgen[p], pver[p]); drop_pending(p)
		:: !pgen[p] && hgen[p] -> keep(p, hgen[p], hver[p])
#else
		:: hgen[p] == g -> keep(p, hgen[p], hver[p])
		:: hgen[p] < g && pgen[p] == g ->
			keep(p, pgen[p], pver[p]);
			drop_pending(p)
#endif
		:: else -> v = 0
		fi;
		if
		:: LINKED(p) && v -> say[p]!CLAIM_OK,0,0
		:: LINKED(p) && !v -> say[p]!CLAIM_NOT_HELD,0,0
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
#ifdef MUT_ANY_ATTEMPT
		:: hgen[p] -> drop(p)
#else
		:: att[p] == g -> drop(p)
#endif
		:: else
		fi;
		g = 0 }
	/* moving away */
	:: d_step { !fin && !att[p] && hgen[p] && !mv[p] && moves < MOVES ->
		moves++;
		att[p] = moves;
		aph[p] = 1;
		agen[p] = hgen[p];
		mv[p] = 1;
		mv_gen[p] = hgen[p];
		mv_ver[p] = hver[p];
		mv_att[p] = moves }
	:: d_step { mv[p] >= 2 ->
		if
		:: att[p] == mv_att[p] && mv[p] == 2 ->
			aph[p] = 2;
#ifdef MUT_EARLY_FREE
			hgen[p] = 0;
			hver[p] = 0;
			since[p] = 0
#endif
		/* OLDER, of its own pages: the code keeps the page, which is less to get wrong */
		:: att[p] == mv_att[p] && mv[p] == 3 -> drop(p)
		:: else
		fi;
		end_move(p) }
	:: d_step { aph[p] == 2 && LINKED(p) && nfull(say[p]) ->
		say[p]!MOVED,agen[p],att[p];
		aph[p] = 3 }
#ifdef WITH_HOME
	:: d_step { !fin && !att[p] && hgen[p] && moves < MOVES &&
		    nfull(back[p]) ->
		moves++;
		att[p] = moves;
		aph[p] = 4;
		agen[p] = hgen[p];
		back[p]!hgen[p],hver[p],moves,ep[p] }
	:: d_step { len(backed[p]) ->
		backed[p]?ok,g;
		if
		:: att[p] == g && ok -> drop(p)
		:: att[p] == g && !ok -> end_attempt(p)
		:: else
		fi;
		g = 0; ok = 0 }
	/* cut */
	:: d_step { len(back[p]) -> back[p]?_,_,_,_ }
	:: d_step { len(backed[p]) -> backed[p]?_,_ }
#endif
	:: d_step { att[p] -> end_attempt(p) }
	/* being moved to */
	:: d_step { mv[1 - p] == 1 ->
		if
		:: hgen[p] == mv_gen[1 - p] -> mv[1 - p] = 2
#ifndef MUT_NO_GEN_CHECK
		:: hgen[p] > mv_gen[1 - p] -> mv[1 - p] = 3
#endif
		:: else ->
			pgen[p] = mv_gen[1 - p];
			pver[p] = mv_ver[1 - p];
			mv[1 - p] = 2
		fi }
	:: d_step { mv[p] -> end_move(p) }
	:: d_step { pgen[p] -> drop_pending(p) }
	:: d_step { !fin && reboots < REBOOTS ->
		reboots++;
		ep[p] = 1 - ep[p];
		drop(p);
		drop_pending(p);
		clear2(store[p]);
		clear2(ask[p]);
		clear2(backed[p]);
#ifdef MUT_ACK_BEFORE_STORE
		acked[p] = 0;
#endif
		if
		:: mv[1 - p] == 1 -> end_move(1 - p)
		:: else
		fi;
		end_move(p) }
	od
}

/* the recorded copy is there, and the one at home is the newest */
active proctype Watch()
{
end:	do
	:: d_step { AT_PEER && !GONE(pr) && ep[SRV(pr)] == kep[SRV(pr)] &&
		    !(hgen[SRV(pr)] == gen && hver[SRV(pr)] == cver) ->
		assert(false) }
	:: d_step { st == HOME && home_ver != cver -> assert(false) }
	od
}

init {
	atomic {
		run Session(0);
		run Session(1);
		run Server(0);
		run Server(1)
	}
}
