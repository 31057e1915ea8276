/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What keys.pml is about: keys, what the attacker knows of them, messages, runs, and what
 * is in a key or a tag.
 */
#ifndef CLIENTS
#define CLIENTS 1
#endif
#ifndef SERVERS
#define SERVERS 1
#endif
#ifndef NUMBERS
#define NUMBERS 2
#endif
#define RUNS (CLIENTS + SERVERS)

/* keys: what all see is the public half; a node's id is made from its own key */
#define A 1
#define B 2
#define M 3		/* a member that the attacker is, or was */
#define X 4		/* no member's, the attacker's */
#define E 5		/* the attacker's, made for an exchange */
#define HALF(node) (5 + (node))	/* a server's for a while: all its runs have the same */
#define WEAK 8		/* of small order: all products are 0 */
#define ONCE 9		/* a client's, a new one for each run */

#define NOT_MIXED 255

#ifdef SHARED
#define IS_SHARED 1
#else
#define IS_SHARED 0
#endif

/* what has to be possible: else a search without errors shows nothing */
#ifdef SEEN_TALK
#define SEEN (r[0].received == NUMBERS && r[CLIENTS].received == NUMBERS)
#endif
#ifdef SEEN_CROSSED
#define SEEN (r[0].with && r[1].with && r[2].with && r[3].with && r[0].me != r[1].me)
#endif
#ifdef SEEN_REVOKED
#define SEEN (r[0].phase == ENDED && r[0].g.id == M && r[CLIENTS].h.id == M)
#endif

mtype:phase = { IDLE, SAID, OPEN, ENDED };

/* payloads; tag and mac are in the steps */
typedef greet { byte id; byte epoch; byte ticket; byte once; byte own };
typedef hello {
	byte id; byte epoch; byte session; byte ticket; byte features; byte class;
	byte once; byte own
};

/* one side of one exchange: clients first, then servers */
typedef side {
	mtype:phase phase = IDLE;
	byte me;
	greet g;
	hello h;
	byte product[3];
	byte with;		/* the partner, plus 1 */
	byte sent, received
};
side r[RUNS];

bit late;	/* the secrets are found: no run goes on */
byte told;	/* A, that M is no member: 1 it has the list, 2 all connections have begun again */

/* the secret halves, and the cluster's secret, that the attacker has */
#define CLUSTER 0
bit knows[ONCE + CLIENTS];

inline knows_first()
{
	knows[E] = 1;
	knows[X] = 1;
#ifdef MEMBER
	knows[CLUSTER] = 1;
	knows[M] = 1;
#ifdef SHARED
	knows[A] = 1;
	knows[B] = 1;
#endif
#endif
#ifdef STOLEN
	knows[A] = 1;
#endif
#ifdef HALF_FOUND
	knows[HALF(A)] = 1;
#endif
}

inline knows_late()
{
	knows[CLUSTER] = 1;
	knows[A] = 1;
	knows[B] = 1;
#ifdef MUT_KEEP_HALF
	knows[HALF(A)] = 1;
	knows[HALF(B)] = 1;
#endif
#ifdef MUT_KEEP_ONCE
	knows[ONCE] = 1;
#endif
}

/* Curve25519 of a secret and a public half, either way round */
#define PRODUCT(x, y) ((x) == WEAK || (y) == WEAK -> 0 : \
		       ((x) < (y) -> 16 * (x) + (y) : 16 * (y) + (x)))
#define MAKES(p) ((p) == 0 || (p) == NOT_MIXED || knows[(p) / 16] || knows[(p) % 16])

/* what is in the keys, the tags and the mac */
#define SAME(x, y, what) (r[x].what == r[y].what)
#if defined(MUT_NO_TICKET) || defined(SPARE_TICKET_NOT_MIXED)
#define SAME_TICKET(x, y) 1
#else
#define SAME_TICKET(x, y) SAME(x, y, g.ticket)
#endif
#ifdef MUT_NO_GREET
#define SAME_GREET(x, y) 1
#else
#define SAME_GREET(x, y) (SAME(x, y, g.id) && SAME(x, y, g.epoch) && SAME_TICKET(x, y) && \
			  SAME(x, y, g.once) && SAME(x, y, g.own))
#endif
#ifdef MUT_NO_HELLO
#define SAME_HELLO(x, y) 1
#else
#define SAME_HELLO(x, y) WHOLE_HELLO(x, y)
#endif
#define WHOLE_HELLO(x, y) (SAME(x, y, h.id) && SAME(x, y, h.epoch) && \
	SAME(x, y, h.session) && SAME(x, y, h.ticket) && SAME(x, y, h.features) && \
	SAME(x, y, h.class) && SAME(x, y, h.once) && SAME(x, y, h.own))
#define SAME_KEY(x, y) (SAME(x, y, product[0]) && SAME(x, y, product[1]) && \
			SAME(x, y, product[2]) && SAME_GREET(x, y) && SAME_HELLO(x, y))

/* can the attacker make the key of a run, and so its tags? */
#ifdef MUT_NO_CLUSTER
#define KEY_CLUSTER 1
#else
#define KEY_CLUSTER knows[CLUSTER]
#endif
#define KNOWS_KEY(x) (KEY_CLUSTER && MAKES(r[x].product[0]) && \
		      MAKES(r[x].product[1]) && MAKES(r[x].product[2]))

/* the other one, as a run sees it */
#define PEER(x) ((x) < CLIENTS -> r[x].g.id : r[x].h.id)
#define REVOKED(node) ((node) == A && told == 2)
#ifdef STOLEN
#define HONEST(node) ((node) == B)
#else
#define HONEST(node) ((node) == A || (node) == B)
#endif
