/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Model of the exchange of keys, and of the tags of what follows, with an attacker who has
 * the network.
 *
 * docs/protocol.md, "Keys", is what is modelled, nswap/keys/ is the code; messages and their
 * fields have the names of nswap/pure/wire.h, steps those of the functions that do them.
 *
 * Nodes A and B are honest and are client and server at once. A run is one side of one
 * exchange: CLIENTS and SERVERS of them, each of A or B. The attacker
 *  - hears everything, and delivers whatever it can make, in any order, any number of
 *    times, to any run: fields of its choice, or what a run has said with a field changed;
 *  - can make a product of two keys only with the secret half of one of them, a tag only
 *    with all that it is made of, else it needs the very tag that a run has sent;
 *  - has keys of its own, E and X, and with MEMBER that of the member M and the secret of
 *    the cluster. Without MEMBER it is a stranger.
 * So what it knows is not stored: it follows from what the runs have said and from knows[].
 * A message that is refused ends the connection, which changes nothing here.
 *
 * Configurations:
 *  TALK    messages after the exchange, NUMBERS of them in each direction
 *  REVOKE  A is told that M is no member
 *  STOLEN  the attacker has the secret key of A from the start
 *  LATE    it finds the secrets of A, of B and of the cluster later
 *  HALF_FOUND it has the secret of A's half, while that is in use
 *  SHARED  as with --secret: all keys are made from the secret of the cluster
 *  LISTENS agreement is not asked for, secrecy of what two honest runs agree on is
 *  FIRST_IS_A the first client is A's: A and B are alike, so no state is left out
 *
 * Checked:
 *  - agreement: a run that takes another one for A or B, but for A with STOLEN, has exactly
 *    one partner there, of the other role, that has said and heard the same, and no other
 *    run has that partner;
 *  - secrecy: the attacker cannot make a key that two runs have agreed on;
 *  - messages: each is the partner's, of this direction, of this number, with its payload;
 *  - members: no key that is not in the list is believed, and nothing of M by a node that
 *    was told;
 *  - cost: nothing is multiplied for a client that does not know the cluster.
 *
 * Not modelled: see docs/security.md, "The model". Session numbers, epochs, classes and
 * features are only data that must arrive unchanged: two values of each.
 *
 * MUT_* take one rule away; each has to make the check fail. SPARE_* take one away that has
 * another behind it: nothing fails.
 */
#include "keys_terms.pml"

/* scratch of one step */
hidden byte x, y, z, i, j, n, grants, features, ok, sure;

inline wipe(run_)
{
	r[run_].phase = IDLE; r[run_].me = 0;
	r[run_].g.id = 0; r[run_].g.epoch = 0; r[run_].g.ticket = 0;
	r[run_].g.once = 0; r[run_].g.own = 0;
	r[run_].h.id = 0; r[run_].h.epoch = 0; r[run_].h.session = 0;
	r[run_].h.ticket = 0; r[run_].h.features = 0; r[run_].h.class = 0;
	r[run_].h.once = 0; r[run_].h.own = 0;
	r[run_].product[0] = 0; r[run_].product[1] = 0; r[run_].product[2] = 0;
	r[run_].with = 0
}

/* the next run of a role: which one does not matter */
inline next_run(first, end)
{
	x = first;
	do
	:: x < end && r[x].phase != IDLE -> x++
	:: else -> break
	od
}

/* exchange_believe(): in the list, and with its own name? */
inline exchange_believe(me_, own_, id_)
{
#ifdef MUT_NO_LIST
	ok = 1;
#else
	ok = IS_SHARED || own_ == A || own_ == B || (own_ == M && !(me_ == A && told));
#endif
#ifdef MUT_AGAIN_FIRST
	ok = ok || (own_ == M && told == 1);
#endif
#ifndef MUT_ANY_ID
	ok = ok && own_ == id_;
#endif
	ok = ok && own_		/* it has keys */
}

/* exchange_key(): of the own half and key, and of the other's; c_: client's, s_: server's */
inline exchange_key(c_once, c_own, s_once, s_own)
{
	r[x].product[0] = PRODUCT(c_once, s_once);
	r[x].product[1] = PRODUCT(c_own, s_once);
	r[x].product[2] = PRODUCT(c_once, s_own);
#ifndef SPARE_WEAK
	ok = ok && r[x].product[0] && r[x].product[1] && r[x].product[2];
#endif
#ifdef MUT_NO_ONCE
	r[x].product[0] = NOT_MIXED;
#endif
#ifdef MUT_NO_CLIENT_KEY
	r[x].product[1] = NOT_MIXED;
#endif
#ifdef MUT_NO_SERVER_KEY
	r[x].product[2] = NOT_MIXED;
#endif
}

/* the partners that x has: they have said and heard the same; j: one of them */
inline find_partners(first, end)
{
	j = RUNS;
	n = 0;
	y = first;
	do
	:: y == end -> break
	:: y < end ->
		if
		:: r[y].phase != IDLE && r[y].me == PEER(x) && PEER(y) == r[x].me &&
		   SAME(x, y, g.id) && SAME(x, y, g.epoch) && SAME(x, y, g.ticket) &&
		   SAME(x, y, g.once) && SAME(x, y, g.own) && WHOLE_HELLO(x, y) ->
			j = y;
			n++
		:: else
		fi;
		y++
	od
}

/* x believes its peer: it may; first, end: runs of the other role, then of its own */
inline believed(first, end, first_own, end_own)
{
	find_partners(first, end);
	assert(n <= 1);
#ifndef LISTENS
	assert(!HONEST(PEER(x)) || n == 1);
	assert(PEER(x) != X || (IS_SHARED && knows[CLUSTER]));
	assert(PEER(x) != M || !REVOKED(r[x].me));
#endif
	assert(!n || !KNOWS_KEY(x));
	r[x].with = (n -> j + 1 : 0);
	/* no other run of this role has the same partner */
	y = first_own;
	do
	:: y == end_own -> break
	:: y < end_own ->
		assert(y == x || !n || r[y].with != r[x].with);
		y++
	od
}

/* nswap_exchange_hello(): a client gets a GREET, which proves nothing, and says HELLO */
inline take_greet()
{
	next_run(0, CLIENTS);
	if
	:: r[x].me = A
#ifndef FIRST_IS_A
	:: r[x].me = B
#else
	:: x -> r[x].me = B
#endif
	fi;
	if
	:: r[x].g.own = A
	:: r[x].g.own = B
	:: r[x].g.own = M
	:: r[x].g.own = X
	fi;
	if
	:: r[x].g.id = r[x].g.own
	:: r[x].g.id = A
	:: r[x].g.id = B
	:: r[x].g.id = M
	fi;
	exchange_believe(r[x].me, r[x].g.own, r[x].g.id);
	if
	:: ok ->
		if
		:: r[x].g.once = E
		:: r[x].g.once = HALF(A)
		:: r[x].g.once = HALF(B)
		:: r[x].g.once = A
		:: r[x].g.once = B
		:: r[x].g.once = WEAK
		:: x -> r[x].g.once = ONCE
		fi;
		if
		:: r[x].g.epoch = 1
		:: r[x].g.epoch = 2
		fi;
		if
		:: r[x].g.ticket = 1
		:: SERVERS > 1 -> r[x].g.ticket = 2
		fi;
		r[x].h.id = r[x].me;
		r[x].h.epoch = 1;
		r[x].h.session = 1;
		r[x].h.ticket = r[x].g.ticket;
		r[x].h.features = 1;
		r[x].h.class = 1;
#ifdef MUT_SAME_ONCE
		r[x].h.once = ONCE;
#else
		r[x].h.once = ONCE + x;
#endif
		r[x].h.own = r[x].me;
		exchange_key(r[x].h.once, r[x].h.own, r[x].g.once, r[x].g.own);
	:: else
	fi;
	if
	:: ok ->
		r[x].phase = SAID;
#ifdef MUT_GREET_BELIEVED
		believed(CLIENTS, RUNS, 0, CLIENTS);
#endif
	:: else -> wipe(x)
	fi
}

/* the attacker changes something of a HELLO that it has heard, or nothing */
inline change_hello()
{
	if
	:: skip
	:: r[x].h.id = M
	:: r[x].h.epoch = 2
	:: r[x].h.session = 2
	:: r[x].h.ticket = r[x].g.ticket
	:: r[x].h.features = 2
	:: r[x].h.class = 2
	:: r[x].h.once = E
	:: r[x].h.own = M
	:: r[x].h.own = M; r[x].h.id = M
	:: r[x].h.own = A; r[x].h.id = A
	:: r[x].h.own = B; r[x].h.id = B
	fi
}

/* a HELLO of the attacker's own; what it says of itself does not matter */
inline make_hello()
{
	if
	:: r[x].h.own = A
	:: r[x].h.own = B
	:: r[x].h.own = M
	:: r[x].h.own = X
	fi;
	if
	:: r[x].h.id = r[x].h.own
	:: r[x].h.id = A
	:: r[x].h.id = B
	fi;
	if
	:: r[x].h.once = E
	:: r[x].h.once = WEAK
	:: r[x].h.once = HALF(A)
	:: r[x].h.once = HALF(B)
	:: r[x].h.once = A
	:: r[x].h.once = B
	:: r[x].h.once = ONCE
	fi;
	r[x].h.ticket = r[x].g.ticket;
	r[x].h.epoch = 1;
	r[x].h.session = 1;
	r[x].h.features = 1;
	r[x].h.class = 1
}

inline heard_hello()
{
	r[x].h.id = r[i].h.id;
	r[x].h.epoch = r[i].h.epoch;
	r[x].h.session = r[i].h.session;
	r[x].h.ticket = r[i].h.ticket;
	r[x].h.features = r[i].h.features;
	r[x].h.class = r[i].h.class;
	r[x].h.once = r[i].h.once;
	r[x].h.own = r[i].h.own;
	change_hello()
}

/* nswap_exchange_heard(), nswap_owner_hello(): a server greets, and gets a HELLO */
inline take_hello()
{
	next_run(CLIENTS, RUNS);
	if
	:: r[x].me = A
	:: r[x].me = B
	fi;
	r[x].g.id = r[x].me;
	r[x].g.epoch = 1;
	r[x].g.ticket = 1 + x - CLIENTS;
	r[x].g.once = HALF(r[x].me);
	r[x].g.own = r[x].me;
	/* i: whose tag and mac these are, RUNS: the attacker's */
	if
	:: i = RUNS;
		make_hello()
	:: select(i : 0 .. CLIENTS - 1);
		if
		:: r[i].phase != IDLE -> heard_hello()
		:: else
		fi
	fi;
	exchange_believe(r[x].me, r[x].h.own, r[x].h.id);
	/* the mac: cluster, GREET, HELLO */
	sure = knows[CLUSTER] || (i < RUNS && SAME_GREET(x, i) && SAME_HELLO(x, i));
#ifndef MUT_NO_MAC
	ok = ok && sure;
#endif
	if
	:: ok ->
		assert(sure);
		exchange_key(r[x].h.once, r[x].h.own, r[x].g.once, r[x].g.own)
	:: else
	fi;
#ifndef MUT_NO_HELLO_TAG
	ok = ok && (KNOWS_KEY(x) || (i < RUNS && SAME_KEY(x, i)));
#endif
#if !defined(MUT_NO_TICKET) && !defined(SPARE_TICKET_NOT_COMPARED)
	ok = ok && r[x].h.ticket == r[x].g.ticket;
#endif
	if
	:: ok ->
		r[x].phase = OPEN;
		believed(0, CLIENTS, CLIENTS, RUNS)
	:: else -> wipe(x)
	fi
}

/* nswap_exchange_welcomed(): the client i gets a HELLO_ACK with a tag of any run */
inline take_welcome()
{
	x = i;
	if
	:: y = CLIENTS
#if SERVERS > 1
	:: y = CLIENTS + 1
#endif
	fi;
	/* header and payload: 1 is what a server says */
	if
	:: grants = 1; features = 1
	:: grants = 2; features = 1
	:: grants = 1; features = 2
	fi;
	ok = KNOWS_KEY(x) || (r[y].phase != IDLE && SAME_KEY(x, y)
#ifndef MUT_BARE_WELCOME
			      && grants == 1 && features == 1
#endif
			      );
#if defined(MUT_NO_WELCOME_TAG) || defined(MUT_ONE_LABEL)
	ok = 1;		/* with one label its own HELLO has a tag that fits */
#endif
	if
	:: ok ->
#ifndef LISTENS
		assert(!HONEST(r[x].g.id) || (grants == 1 && features == 1));
#endif
		r[x].phase = OPEN;
		believed(CLIENTS, RUNS, 0, CLIENTS)
	:: else
	fi
}

/* is a message with that number in y's direction one that x would take as its next? */
#ifdef MUT_NO_DIRECTION
#define TO(x, y) 1
#else
#define TO(x, y) ((x) < CLIENTS) != ((y) < CLIENTS)
#endif
#ifdef MUT_NO_NUMBER
#define IN_ORDER(x, number) 1
#else
#define IN_ORDER(x, number) (r[x].received == (number))
#endif
#ifdef MUT_NO_DIGEST
#define DIGEST_FITS(x, z, number) 1
#else
#define DIGEST_FITS(x, z, number) (SAME_KEY(x, z) && (TO(x, z)) && IN_ORDER(x, number))
#endif

/*
 * nswap_tags_take(), nswap_tags_plain(): run i gets the header that y sent as its message
 * number n, with the payload of z's number j. M's own messages are not counted.
 */
inline take_message()
{
	x = i;
	if
	:: KNOWS_KEY(x) ->
		assert(PEER(x) != M || !REVOKED(r[x].me))
	:: else ->
		select(y : 0 .. RUNS - 1);
		select(z : 0 .. RUNS - 1);
		select(n : 0 .. NUMBERS - 1);
		select(j : 0 .. NUMBERS - 1);
		if
		:: n < r[y].sent && j < r[z].sent && SAME_KEY(x, y) && (TO(x, y)) &&
		   IN_ORDER(x, n) && DIGEST_FITS(x, z, j) ->
			assert(r[x].with == y + 1 && n == r[x].received);
			assert(z == y && j == n);
			r[x].received++
		:: else
		fi
	fi
}

/* nswap_server_again(), nswap_peers_rebind(): all connections of a node begin again */
inline again(node)
{
	y = 0;
	do
	:: y == RUNS -> break
	:: y < RUNS ->
		if
#ifdef MUT_HALF_STAYS
		:: r[y].phase == OPEN && r[y].me == node -> r[y].phase = ENDED
#else
		:: r[y].phase != IDLE && r[y].me == node -> r[y].phase = ENDED
#endif
		:: else
		fi;
		y++
	od
}

active proctype Net()
{
	atomic { knows_first() }
end:	do
	:: atomic { !late && r[CLIENTS - 1].phase == IDLE -> take_greet() }
	:: atomic { !late && r[RUNS - 1].phase == IDLE -> take_hello() }
	:: atomic { !late ->
		select(i : 0 .. CLIENTS - 1);
		if
		:: r[i].phase == SAID -> take_welcome()
		:: else
		fi }
#ifdef TALK
	:: atomic { !late ->
		select(i : 0 .. RUNS - 1);
		if
		:: r[i].phase == OPEN && r[i].with && r[i].sent < NUMBERS -> r[i].sent++
		:: r[i].phase == OPEN && r[i].received < NUMBERS -> take_message()
		:: else
		fi }
#endif
#ifdef REVOKE
	/* nswap_nl_keys_trust(): the list, then the connections */
	:: atomic { told < 2 ->
#ifdef MUT_AGAIN_FIRST
		if
		:: !told -> again(A)
		:: else
		fi;
#elif !defined(MUT_NO_AGAIN)
		if
		:: told -> again(A)
		:: else
		fi;
#endif
		told++ }
#endif
#ifdef SEEN
	:: atomic { SEEN -> assert(false) }
#endif
#ifdef LATE
	:: atomic { !late ->
		late = 1;
		knows_late();
		x = 0;
		do
		:: x == RUNS -> break
		:: x < RUNS ->
			assert(!r[x].with || !KNOWS_KEY(x));
			x++
		od }
#endif
	od
}
