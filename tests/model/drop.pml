/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Model of a drop: one slot of a droppable device, at a server that shrinks.
 *
 * docs/protection.md, "Classes", is what is modelled: page-outs with refusal and
 * time-out, frees, page-ins; the server drops the page without asking and says so
 * (DROPPED), later or never. With NORMAL the device is not droppable: it is kept.
 *
 * Checked (numbers of docs/protection.md): a page-in gets the version written last or
 * fails, never an older page (2) nor zeros (7); only a page of a droppable device
 * is ever missing, and DROPPED makes no page lost but the one it names (7).
 *
 * Bounds: GENS page-outs, DROPS, FREES, CUTS.
 *
 * MUT_* take one rule away; each has to make the check fail.
 */
#ifndef GENS
#define GENS 3
#endif
#ifndef DROPS
#define DROPS 2
#endif
#ifndef FREES
#define FREES 1
#endif
#ifndef CUTS
#define CUTS 1
#endif

mtype:slot = { EMPTY, WRITING, REMOTE, LOST };

/* the owner */
mtype:slot st = EMPTY;
byte gen, orphan;
bit zeros = 1;	/* freed by its user, or never written: zeros are right */
bit freed;
bit rd;
byte rd_gen;

/* the server; a generation's page is its version */
byte held;

chan store = [2] of { byte };
chan stored = [2] of { byte, bit };
chan ask = [2] of { byte };		/* FREE */
chan say = [2] of { byte };		/* DROPPED */

hidden byte g, ok;
byte drops, frees, cuts;

inline is_freed()
{
	st = EMPTY;
	zeros = 1;
	orphan = gen
}

active proctype Owner()
{
end:	do
	:: d_step { st != WRITING && gen < GENS && nfull(store) ->
		gen++;
		st = WRITING;
		zeros = 0;
		freed = 0;
		store!gen }
	:: d_step { len(stored) ->
		stored?g,ok;
		if
		:: st == WRITING && gen == g && ok && !freed -> st = REMOTE
		:: st == WRITING && gen == g && !ok && !freed -> st = LOST
		:: st == WRITING && gen == g && freed -> is_freed()
		:: else -> orphan = (st == EMPTY || gen > g -> g : orphan)
		fi;
		g = 0; ok = 0 }
	/* no answer: the write fails, the kernel keeps the page */
	:: d_step { st == WRITING ->
		st = LOST;
		if
		:: freed -> is_freed()
		:: else
		fi }
	:: d_step { frees < FREES && st != EMPTY ->
		frees++;
		if
		:: st == WRITING -> freed = 1
		:: else -> is_freed()
		fi }
	:: d_step { orphan && nfull(ask) ->
		ask!orphan;
		orphan = 0 }
	:: d_step { len(say) ->
		say?g;
		if
#ifdef MUT_DROPPED_ANY_GEN
		:: st == REMOTE ->
			assert(held != gen);
#else
		:: st == REMOTE && gen == g ->
			assert(held != gen);
#endif
#ifdef MUT_DROPPED_IS_EMPTY
			st = EMPTY
#else
			st = LOST
#endif
		:: else
		fi;
		g = 0 }
	:: d_step { st == REMOTE && !rd -> rd = 1; rd_gen = gen }
	/* a page-in without the network */
	:: d_step { st == EMPTY -> assert(zeros) }
	od
}

active proctype Server()
{
end:	do
	:: d_step { len(store) && nfull(stored) ->
		store?g;
		held = (held < g -> g : held);
		stored!g,(held == g) }
	:: d_step { len(store) && nfull(stored) ->
		store?g;
		stored!g,0;
		g = 0 }
	:: d_step { len(ask) ->
		ask?g;
#ifdef MUT_FREE_ANY_GEN
		held = 0;
#else
		held = (held <= g -> 0 : held);
#endif
		g = 0 }
	:: d_step { rd ->
		if
#ifdef MUT_LOAD_ANY_GEN
		:: held -> assert(held == rd_gen)
#else
		:: held == rd_gen -> skip
#endif
		/* not held: lost, unless the slot has changed meanwhile */
		:: else -> st = (st == REMOTE && gen == rd_gen -> LOST : st)
		fi;
		rd = 0;
		rd_gen = 0 }
	/* shrinking; what is said about it may be lost */
#if !defined(NORMAL) || defined(MUT_DROPS_NORMAL)
	:: d_step { drops < DROPS && held && nfull(say) ->
		drops++;
		say!held;
		held = 0 }
	:: d_step { drops < DROPS && held && cuts < CUTS ->
		drops++;
		cuts++;
		held = 0 }
#endif
	od
}

active proctype Watch()
{
end:	do
#ifdef NORMAL
	:: d_step { st == REMOTE && held != gen -> assert(false) }
#else
	:: d_step { st == REMOTE && held > gen -> assert(false) }
#endif
	od
}
