/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Model of parity logging: one owner, groups of two members and a parity page, four
 * servers, two slots.
 *
 * docs/protection.md, "Parity logging", is what is modelled. A page's content is one bit
 * of a byte, so that a parity page says what went into it.
 *
 * Modelled: page-outs into the cells of the open group, refused or not; the parity in
 * the owner's RAM until it is acknowledged; frees and rewrites that leave dead
 * members; cleaning; moves of members and of parity pages; deaths, noticed at any
 * time later; rebuilding onto another server; page-ins of a lost page, which read
 * the parity and the other member one after the other.
 *
 * Not modelled: cuts, generations of groups (a group is used once; move.pml and
 * mirror.pml have both), N+2, the messages of a move, more than one cleaning,
 * rebuild, move and page-in at a time.
 *
 * Checked (numbers of docs/protection.md): what a slot names is held and is the
 * version written last, or can be rebuilt, while no group lacks more than one of its
 * pages (1, 2); the pages of a group are at different nodes (3); when all
 * is quiet each group with live members is complete (5), and servers hold
 * what the owner records (6).
 *
 * Bounds: OUTS page-outs, FREES, MOVES, REFUSALS, KILLS. READS switches page-ins on.
 *
 * MUT_* take one rule away; each has to make the check fail.
 */
#ifndef OUTS
#define OUTS 2
#endif
#ifndef FREES
#define FREES 0
#endif
#ifndef MOVES
#define MOVES 0
#endif
#ifndef REFUSALS
#define REFUSALS 0
#endif
#ifndef KILLS
#define KILLS 0
#endif

#define NP	4			/* servers */
#define GROUPS	3
#define CELLS	(3 * GROUPS)		/* members 0 and 1, parity 2 of each group */
#define NO	255

mtype:slot = { EMPTY, WRITING, REMOTE, LOST };
mtype:cell = { UNUSED, SENT, LIVE, DEAD, VOID };
mtype:group = { FRESH, OPEN, FULL, CLOSING, CLOSED, FREED };

/* the owner */
mtype:slot st[2] = EMPTY;
byte at[2] = NO;		/* REMOTE: the cell; WRITING: the one it is sent to */
byte ver[2], want[2];		/* begun, and ended well */
bit freed[2];
mtype:cell cs[CELLS] = UNUSED;
byte slot[CELLS] = NO;
byte where[CELLS] = NO;		/* the server of a member or a parity page */
mtype:group gs[GROUPS] = FRESH;
byte buf[GROUPS];		/* the parity, while it is in RAM */
byte mk[GROUPS] = NO;		/* the server of a page in the making */
byte cl_from = NO, cl_to = NO, cl_ver;	/* cleaning: read, being written */
byte rb = NO, rb_to, rb_x, rb_left;	/* rebuild */
byte mv = NO, mv_to;			/* move */
byte rd = NO, rd_cell, rd_x, rd_left, rd_want;	/* a page-in that rebuilds */
bit known[NP];			/* to be dead */

/* servers */
bit dead[NP];
byte hc[NP * CELLS];
chan store[NP] = [3] of { byte, byte };
chan stored[NP] = [3] of { byte, bit };

hidden byte c, v, ok, i;

byte outs, frees, moves, refusals, kills;
byte fin;

#define H(p, n)		hc[(p) * CELLS + (n)]
#define GROUP(n)	((n) / 3)
#define MATE(n)		((n) % 3 == 0 -> (n) + 1 : (n) - 1)
#define PARITY(g)	(3 * (g) + 2)
#define IN(n)		(cs[n] == LIVE || cs[n] == DEAD)	/* in the parity */
#define AT(n, p)	((n) != NO && where[n] == (p))
/* does this group have a page at this server, or one on its way there? */
#define USES(g, p)	(AT(3 * (g), p) || AT(3 * (g) + 1, p) || \
			 AT(3 * (g) + 2, p) || mk[g] == (p))
#ifdef MUT_SAME_NODE
#define MAY(g, p)	(!known[p])
#else
#define MAY(g, p)	(!known[p] && !USES(g, p))
#endif
#define BUFFERED(g)	(gs[g] == OPEN || gs[g] == FULL || gs[g] == CLOSING)
#define LIVES(g)	(cs[3 * (g)] == LIVE || cs[3 * (g) + 1] == LIVE)
#define SENDS(g)	(cs[3 * (g)] == SENT || cs[3 * (g) + 1] == SENT)
#define DOWN(n)		(where[n] != NO && known[where[n]])

inline free_at(p_, n_)
{
	H(p_, n_) = 0
}

/* a member whose page is not wanted any more stays where it is */
inline now_dead(n_)
{
	cs[n_] = DEAD;
	slot[n_] = NO;
#ifdef MUT_FREE_DEAD
	free_at(where[n_], n_)
#endif
}

inline send(n_, p_, v_)
{
	where[n_] = p_;
	store[p_]!n_,v_
}

#define ROOM(g)		((gs[g] == OPEN || (gs[g] == FRESH && \
			  ((g) == 0 || (gs[(g) - 1] != OPEN && \
					gs[(g) - 1] != FRESH)))) && \
			 (cs[3 * (g)] == UNUSED || cs[3 * (g) + 1] == UNUSED))

#define THE_OPEN	(ROOM(0) -> 0 : (ROOM(1) -> 1 : 2))
/* the first group's members go to servers 0 and 1, and its parity not to 3 */
#define FIRST(p)	((p) == (cs[0] == UNUSED -> 0 : 1) || \
			 known[(cs[0] == UNUSED -> 0 : 1)])
#define MAY_JOIN(p)	((ROOM(0) && FIRST(p) && MAY(0, p)) || \
			 (!ROOM(0) && ROOM(1) && MAY(1, p)) || \
			 (!ROOM(0) && !ROOM(1) && ROOM(2) && MAY(2, p)))

/* the next cell of the open group, at server p_ */
inline place(s_, p_, v_)
{
	i = THE_OPEN;
	c = (cs[3 * i] == UNUSED -> 3 * i : 3 * i + 1);
	cs[c] = SENT;
	slot[c] = s_;
	gs[i] = OPEN;
#ifdef MUT_XOR_AT_SEND
	buf[i] = buf[i] ^ v_;
#endif
	i = 0;
	send(c, p_, v_)
}

/* a member that was sent is not held */
inline refuse(n_)
{
	where[n_] = NO;
	if
	:: n_ % 3 == 2 -> gs[GROUP(n_)] = FULL
	:: else ->
		cs[n_] = VOID;
		if
		:: cl_to == n_ -> cl_to = NO; cl_from = NO; cl_ver = 0
		:: else -> at[slot[n_]] = NO
		fi;
		slot[n_] = NO
	fi
}

inline end_rebuild()
{
	mk[GROUP(rb)] = NO;
	rb = NO; rb_to = 0; rb_x = 0; rb_left = 0
}

inline end_read()
{
	rd = NO; rd_cell = 0; rd_x = 0; rd_left = 0; rd_want = 0
}

inline member_stored(n_, v_)
{
#ifndef MUT_XOR_AT_SEND
	buf[GROUP(n_)] = buf[GROUP(n_)] ^ v_;
#endif
	i = slot[n_];
	if
	:: cl_to == n_ ->
		if
#ifdef MUT_CLEAN_UNFENCED
		:: st[i] == REMOTE ->
#else
		:: st[i] == REMOTE && at[i] == cl_from ->
#endif
			if
			:: cs[at[i]] == LIVE -> now_dead(at[i])
			:: else
			fi;
			cs[n_] = LIVE;
			at[i] = n_
		:: else -> now_dead(n_)
		fi;
		cl_to = NO; cl_from = NO; cl_ver = 0
	:: else ->
		if
		:: freed[i] -> st[i] = EMPTY; at[i] = NO; now_dead(n_)
		:: else -> st[i] = REMOTE; cs[n_] = LIVE; want[i] = v_
		fi;
		freed[i] = 0
	fi;
	i = 0
}

proctype Slot(byte s)
{
end:	do
	:: d_step { fin == 0 && outs < OUTS && st[s] != WRITING &&
		    (outs || s == 0) ->
		if
		:: st[s] == REMOTE -> now_dead(at[s])
		:: else
		fi;
		at[s] = NO;
		st[s] = WRITING;
		ver[s] = 1 << outs;
		outs++ }
	/* nowhere to go */
	:: d_step { st[s] == WRITING && at[s] == NO && !ROOM(0) && !ROOM(1) &&
		    !ROOM(2) ->
		st[s] = (freed[s] -> EMPTY : LOST);
		freed[s] = 0 }
	:: d_step { fin == 0 && frees < FREES && st[s] == WRITING && !freed[s] ->
		frees++;
		freed[s] = 1 }
	:: d_step { fin == 0 && frees < FREES && st[s] == REMOTE ->
		frees++;
		now_dead(at[s]);
		st[s] = EMPTY;
		at[s] = NO }
	od
}

proctype Group(byte g)
{
end:	do
	/* it takes no more: full, or a member of it has died */
	:: d_step { gs[g] == OPEN && !SENDS(g) &&
		    ((cs[3 * g] != UNUSED && cs[3 * g + 1] != UNUSED) ||
		     DOWN(3 * g) || DOWN(3 * g + 1) || fin) ->
		gs[g] = FULL }
	/* no page of it is wanted any more */
	:: d_step { (gs[g] == FULL || gs[g] == CLOSED) && mk[g] == NO &&
		    !LIVES(g) && (rd == NO || GROUP(rd_cell) != g) &&
		    (cl_from == NO || GROUP(cl_from) != g) ->
		for (i : 0 .. 2) {
			if
			:: where[3 * g + i] != NO ->
				free_at(where[3 * g + i], 3 * g + i);
				where[3 * g + i] = NO
			:: else
			fi
		}
		i = 0;
		buf[g] = 0;
		gs[g] = FREED }
#ifdef MUT_EARLY_FREE
	/* its last live member is on its way to another group */
	:: d_step { gs[g] == CLOSED && cl_to != NO && GROUP(cl_from) == g &&
		    mk[g] == NO && cs[MATE(cl_from)] != LIVE ->
		free_at(where[3 * g], 3 * g);
		free_at(where[3 * g + 1], 3 * g + 1);
		free_at(where[3 * g + 2], 3 * g + 2) }
#endif
	/* clean: a live member next to a dead one is written again */
	:: d_step { gs[g] == CLOSED && cl_from == NO && cs[3 * g] == LIVE &&
		    cs[3 * g + 1] != LIVE && !DOWN(3 * g) &&
		    !dead[where[3 * g]] && (ROOM(1) || ROOM(2)) ->
		cl_from = 3 * g;
		cl_ver = H(where[3 * g], 3 * g) }
	:: d_step { gs[g] == CLOSED && cl_from == NO && cs[3 * g + 1] == LIVE &&
		    cs[3 * g] != LIVE && !DOWN(3 * g + 1) &&
		    !dead[where[3 * g + 1]] && (ROOM(1) || ROOM(2)) ->
		cl_from = 3 * g + 1;
		cl_ver = H(where[3 * g + 1], 3 * g + 1) }
	/* it changed meanwhile, or no group is open */
	:: d_step { cl_from != NO && GROUP(cl_from) == g && cl_to == NO &&
		    (cs[cl_from] != LIVE || (!ROOM(1) && !ROOM(2))) ->
		cl_from = NO;
		cl_ver = 0 }
	od
}

/* the owner's end of the session with one server */
proctype Session(byte p)
{
end:	do
	:: d_step { stored[p]?[_,_] ->
		stored[p]?c,ok;
		if
		:: rb == c && rb_to == p ->
			where[c] = (ok -> p : where[c]);
			end_rebuild()
		:: else ->
			if
			:: !ok -> refuse(c)
			:: ok && c % 3 == 2 ->
				gs[GROUP(c)] = CLOSED;
				buf[GROUP(c)] = 0
			:: else ->
				v = (cl_to == c -> cl_ver : ver[slot[c]]);
				member_stored(c, v)
			fi
		fi;
		c = 0; v = 0; ok = 0 }
	/* members go to the open group */
	:: d_step { st[0] == WRITING && at[0] == NO && MAY_JOIN(p) &&
		    nfull(store[p]) ->
		place(0, p, ver[0]);
		at[0] = c;
		c = 0 }
	:: d_step { st[1] == WRITING && at[1] == NO && MAY_JOIN(p) &&
		    nfull(store[p]) ->
		place(1, p, ver[1]);
		at[1] = c;
		c = 0 }
	:: d_step { cl_from != NO && cl_to == NO && cs[cl_from] == LIVE &&
		    MAY_JOIN(p) && nfull(store[p]) ->
		place(slot[cl_from], p, cl_ver);
		cl_to = c;
		c = 0 }
	/* it is known to be dead: what is under way there fails */
	:: d_step { dead[p] && !known[p] && !len(stored[p]) ->
		known[p] = 1;
		for (i : 0 .. CELLS - 1) {
			if
			:: where[i] == p && cs[i] == SENT -> refuse(i)
			:: where[i] == p && i % 3 == 2 &&
			   gs[GROUP(i)] == CLOSING -> refuse(i)
			:: else
			fi
		}
		i = 0;
		if
		:: rb != NO && rb_to == p -> end_rebuild()
		:: else
		fi;
		if
		:: mv != NO && mv_to == p -> mk[GROUP(mv)] = NO; mv = NO; mv_to = 0
		:: else
		fi }
	od
}

/* what is brought to one server for one group */
proctype Bring(byte g; byte p)
{
end:	do
	/* the parity page of a group that takes no more */
	:: d_step { gs[g] == FULL && LIVES(g) && MAY(g, p) && mk[g] == NO &&
		    nfull(store[p]) && (g || p != 3 || known[0] || known[1] ||
		    known[2]) ->
		gs[g] = CLOSING;
		send(PARITY(g), p, buf[g]);
#ifdef MUT_DROP_BUFFER
		buf[g] = 0
#endif
		}
	/* rebuild a page of a dead server here; the group takes no new members */
	:: d_step { rb == NO && mk[g] == NO && MAY(g, p) && LIVES(g) &&
#ifdef MUT_REBUILD_OPEN
		    gs[g] != FREED && gs[g] != FRESH &&
#else
		    gs[g] == CLOSED &&
#endif
		    (DOWN(3 * g) || DOWN(3 * g + 1) || DOWN(3 * g + 2)) ->
		mk[g] = p;
		rb_to = p;
		rb = (DOWN(3 * g) -> 3 * g : (DOWN(3 * g + 1) -> 3 * g + 1 :
					      3 * g + 2));
		rb_left = 7 ^ (1 << (rb % 3)) }
	/* move here */
	:: d_step { fin == 0 && moves < MOVES && mv == NO && mk[g] == NO &&
		    gs[g] == CLOSED && LIVES(g) && MAY(g, p) ->
		moves++;
		if
		:: mv = 3 * g
		:: mv = 3 * g + 2
		fi;
		if
		:: where[mv] == NO || where[mv] == p -> mv = NO
		:: else ->
			mv_to = p;
			mk[g] = p
		fi }
	od
}

/* one page of what a rebuild or a page-in needs; what is not in it is nothing */
#define GETS(n)		(BUFFERED(GROUP(n)) && (n) % 3 == 2 -> buf[GROUP(n)] : \
			 ((n) % 3 != 2 && !IN(n) -> 0 : \
			  (where[n] == NO -> 0 : H(where[n], n))))
#define CAN(n)		((BUFFERED(GROUP(n)) && (n) % 3 == 2) || where[n] == NO || \
			 !dead[where[n]])

active proctype Works()
{
end:	do
	:: d_step { rb != NO && (rb_left & 4) && CAN(PARITY(GROUP(rb))) ->
		rb_x = rb_x ^ GETS(PARITY(GROUP(rb)));
		rb_left = rb_left & 3 }
	:: d_step { rb != NO && rb_left && !(rb_left & 4) && rb % 3 != 2 &&
		    CAN(MATE(rb)) ->
		rb_x = rb_x ^ GETS(MATE(rb));
		rb_left = 0;
		store[rb_to]!rb,rb_x }
	:: d_step { rb != NO && rb % 3 == 2 && rb_left && CAN(rb - 1) && CAN(rb - 2) ->
		rb_x = GETS(rb - 1) ^ GETS(rb - 2);
		rb_left = 0;
		store[rb_to]!rb,rb_x }
	/* another server of the group has died: beyond what is survived, or freed */
	:: d_step { rb != NO && rb_left && ((rb % 3 != 2 && (DOWN(MATE(rb)) ||
		    DOWN(PARITY(GROUP(rb))))) || (rb % 3 == 2 && (DOWN(rb - 1) ||
		    DOWN(rb - 2)))) -> end_rebuild() }
	/* the end of a move, or nothing of it */
	:: d_step { mv != NO && !dead[where[mv]] && !dead[mv_to] &&
		    where[mv] != mv_to ->
		H(mv_to, mv) = H(where[mv], mv);
		free_at(where[mv], mv);
		where[mv] = mv_to;
		mk[GROUP(mv)] = NO;
		mv = NO; mv_to = 0 }
	:: d_step { mv != NO ->
		mk[GROUP(mv)] = NO;
		mv = NO; mv_to = 0 }
#ifdef READS
	/* of a page whose server has died: the parity as it is, and who is in it */
	:: d_step { fin == 0 && rd == NO && st[0] == REMOTE && DOWN(at[0]) &&
		    CAN(PARITY(GROUP(at[0]))) && mk[GROUP(at[0])] == NO ->
		rd = 0;
		rd_cell = at[0];
		rd_want = want[0];
		rd_x = GETS(PARITY(GROUP(rd_cell)));
		rd_left = (IN(MATE(rd_cell)) -> 1 : 0) }
#ifdef MUT_READ_NO_LIST
	:: d_step { rd != NO && CAN(MATE(rd_cell)) ->
#else
	:: d_step { rd != NO && !rd_left -> assert(rd_x == rd_want); end_read() }
	:: d_step { rd != NO && rd_left && CAN(MATE(rd_cell)) ->
#endif
		rd_x = rd_x ^ GETS(MATE(rd_cell));
		assert(rd_x == rd_want);
		end_read() }
	:: d_step { rd != NO -> end_read() }
#endif
	:: atomic { timeout && fin == 0 ->
		fin = 1 }
	:: atomic { timeout && fin == 1 ->
		assert(st[0] != WRITING && st[1] != WRITING && rb == NO &&
		       mv == NO && cl_from == NO && rd == NO);
		for (i : 0 .. GROUPS - 1) {
			assert(kills > NP - 3 || !LIVES(i) || (gs[i] == CLOSED && !DOWN(3 * i) &&
			       !DOWN(3 * i + 1) && !DOWN(3 * i + 2)))
		}
		for (i : 0 .. CELLS - 1) {
			assert((dead[0] || !H(0, i) || where[i] == 0) &&
			       (dead[1] || !H(1, i) || where[i] == 1) &&
			       (dead[2] || !H(2, i) || where[i] == 2) &&
			       (dead[3] || !H(3, i) || where[i] == 3))
		}
		i = 0;
		fin = 2 }
	od
}

#define BAD(n, p)	(IN(n) && (where[n] == (p) || dead[where[n]]))
#define PBAD(g, p)	(gs[g] == CLOSED && (where[PARITY(g)] == (p) || \
			 dead[where[PARITY(g)]]))
#define SURVIVES(g, p)	(!LIVES(g) || BAD(3 * (g), p) + BAD(3 * (g) + 1, p) + \
			 PBAD(g, p) <= 1)

proctype Server(byte p)
{
end:	do
	:: d_step { len(store[p]) && nfull(stored[p]) && !dead[p] ->
		store[p]?c,v;
		H(p, c) = v;
		stored[p]!c,1;
		c = 0; v = 0 }
	:: d_step { len(store[p]) && nfull(stored[p]) && !dead[p] &&
		    refusals < REFUSALS ->
		refusals++;
		store[p]?c,v;
		stored[p]!c,0;
		c = 0; v = 0 }
	:: d_step { fin == 0 && !dead[p] && kills < KILLS && !len(stored[p]) &&
		    SURVIVES(0, p) && SURVIVES(1, p) && SURVIVES(2, p) ->
		kills++;
		dead[p] = 1;
		for (i : 0 .. CELLS - 1) {
			H(p, i) = 0
		}
		i = 0 }
	:: d_step { dead[p] && len(store[p]) -> store[p]?_,_ }
	od
}

#define REBUILT(n)	(GETS(PARITY(GROUP(n))) ^ GETS(MATE(n)))
#define RIGHT(s)	(st[s] != REMOTE || \
			 (dead[where[at[s]]] -> REBUILT(at[s]) == want[s] : \
			  H(where[at[s]], at[s]) == want[s]))
#define APART(g)	((where[3 * (g)] == NO || \
			  (where[3 * (g)] != where[3 * (g) + 1] && \
			   where[3 * (g)] != where[3 * (g) + 2])) && \
			 (where[3 * (g) + 1] == NO || \
			  where[3 * (g) + 1] != where[3 * (g) + 2]))

active proctype Watch()
{
end:	do
	:: d_step { !RIGHT(0) || !RIGHT(1) -> assert(false) }
	:: d_step { !APART(0) || !APART(1) || !APART(2) -> assert(false) }
	od
}

init {
	byte g;
	atomic {
		for (g : 0 .. 2) {
			run Bring(g, 0);
			run Bring(g, 1);
			run Bring(g, 2);
			run Bring(g, 3)
		}
		g = 0;
		run Slot(0);
		run Slot(1);
		run Group(0);
		run Group(1);
		run Group(2);
		run Session(0);
		run Session(1);
		run Session(2);
		run Session(3);
		run Server(0);
		run Server(1);
		run Server(2);
		run Server(3)
	}
}
