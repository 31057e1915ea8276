/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wire protocol, version 2: all that client and server share.
 *
 * Everything is little-endian, headers are fixed, sizes are asserted, unknown
 * versions, types and flags are rejected, reserved bytes are zero and checked.
 * The steps of a session and who sends what: docs/protocol.md.
 */
#ifndef NSWAP_WIRE_H
#define NSWAP_WIRE_H

#include "base/types.h"

#define NSWAP_WIRE_MAGIC	0x5057534eu	/* "NSWP" on the wire */
#define NSWAP_WIRE_VERSION	2
#define NSWAP_WIRE_AUTH		16		/* a message tag */

/*
 * Features: what a peer may lack and still be a peer. Both sides of a
 * connection send theirs; those that both have are in use on it. Bits that are
 * not known here are ignored.
 */
#define NSWAP_HAS_TIMED		0x1ull	/* NSWAP_F_TIMED is answered */
#define NSWAP_HAS_CLASSES	0x2ull	/* ATTACH, DROPPED, NSWAP_F_RESERVED */
#define NSWAP_HAS_SHARES	0x4ull	/* NSWAP_F_SHARE, NSWAP_ST_SHARE */
#define NSWAP_HAS_STAT		0x8ull	/* STAT is answered */
#define NSWAP_HAS_SHORT		0x10ull	/* NSWAP_F_SHORT */
#define NSWAP_HAS_ALL		(NSWAP_HAS_TIMED | NSWAP_HAS_CLASSES | \
				 NSWAP_HAS_SHARES | NSWAP_HAS_STAT | \
				 NSWAP_HAS_SHORT) /* what this node has */

/**
 * enum nswap_wire_type - messages; direction in brackets
 * @NSWAP_GREET: [server] first message on a connection: its id, a ticket
 * @NSWAP_HELLO: [client] its id, session, class of connection, the ticket,
 *	features
 * @NSWAP_HELLO_ACK: [server] accepted or refused, features, first grants
 * @NSWAP_STORE: [client] generations, then pages, of adjacent slots
 * @NSWAP_STORE_ACK: [server] per slot: generation and result; grants
 * @NSWAP_LOAD: [client] generations of adjacent slots
 * @NSWAP_LOAD_REPLY: [server] per slot: result; then the pages that are there
 * @NSWAP_FREE: [client] runs to drop
 * @NSWAP_FREE_ACK: [server] they are dropped
 * @NSWAP_FREE_DEVICE: [client] drop everything of one device instance
 * @NSWAP_HOLD_ASK: [client] what do you hold for me, starting at this slot?
 * @NSWAP_HOLD_LIST: [server] runs in (instance, slot) order
 * @NSWAP_GRANT_ASK: [client] wants to store @nr pages
 * @NSWAP_GRANT: [server] grants in the header
 * @NSWAP_GRANT_RETURN: [client] gives @nr grants back
 * @NSWAP_PING: [client] are you alive?
 * @NSWAP_PONG: [server] yes; may carry grants
 * @NSWAP_MOVE: [mover] pages of an owner, to be kept for it
 * @NSWAP_MOVE_ACK: [server] per page: generation and result
 * @NSWAP_MOVED: [mover, to the owner] these pages are at another peer now
 * @NSWAP_MOVED_ACK: [owner] per page: drop your copy (OK) or keep it
 * @NSWAP_CLAIM: [client] asks for these pages that were moved to the server
 * @NSWAP_CLAIM_ACK: [server] per page: generation and result
 * @NSWAP_RETURN: [mover, to the owner] your pages, no peer has room for them
 * @NSWAP_RETURN_ACK: [owner] per page: generation and result
 * @NSWAP_ANNOUNCE: [both, UDP] the node's id and what it lends
 * @NSWAP_ATTACH: [client] class of a device instance, and @nr pages to be reserved
 *	for it; replaces what was said before
 * @NSWAP_ATTACHED: [server] as many of them as it can keep, @nr
 * @NSWAP_DROPPED: [mover, to the owner] these droppable pages are gone
 * @NSWAP_DROPPED_ACK: [owner] per page: generation and result
 * @NSWAP_STAT: [any node] what do you lend, hold and swap?
 * @NSWAP_STAT_REPLY: [server] @nr totals, see totals.h
 * @NSWAP_WIRE_NR: number of types
 */
enum nswap_wire_type {
	NSWAP_GREET = 1,
	NSWAP_HELLO,
	NSWAP_HELLO_ACK,
	NSWAP_STORE,
	NSWAP_STORE_ACK,
	NSWAP_LOAD,
	NSWAP_LOAD_REPLY,
	NSWAP_FREE,
	NSWAP_FREE_ACK,
	NSWAP_FREE_DEVICE,
	NSWAP_HOLD_ASK,
	NSWAP_HOLD_LIST,
	NSWAP_GRANT_ASK,
	NSWAP_GRANT,
	NSWAP_GRANT_RETURN,
	NSWAP_PING,
	NSWAP_PONG,
	NSWAP_MOVE,
	NSWAP_MOVE_ACK,
	NSWAP_MOVED,
	NSWAP_MOVED_ACK,
	NSWAP_CLAIM,
	NSWAP_CLAIM_ACK,
	NSWAP_RETURN,
	NSWAP_RETURN_ACK,
	NSWAP_ANNOUNCE,
	NSWAP_ATTACH,
	NSWAP_ATTACHED,
	NSWAP_DROPPED,
	NSWAP_DROPPED_ACK,
	NSWAP_STAT,
	NSWAP_STAT_REPLY,
	NSWAP_WIRE_NR,
};

/* flags; each belongs to one type */
#define NSWAP_F_LAST		0x0001	/* HOLD_LIST: nothing follows */
#define NSWAP_F_LEAVING		0x0002	/* ANNOUNCE: this node is going down */
#define NSWAP_F_ANSWER		0x0004	/* ANNOUNCE: please announce to me now; with
					 * LEAVING: this node is going to reboot
					 */
#define NSWAP_F_NO_RECORD	0x0008	/* FREE: found by reconcile */
#define NSWAP_F_SHRINKING	0x0010	/* ANNOUNCE: it is reclaiming lent RAM */
#define NSWAP_F_TIMED		0x0020	/* STORE, LOAD: report the time you took;
					 * needs NSWAP_HAS_TIMED
					 */
#define NSWAP_F_CRITICAL	0x0040	/* ATTACH: class critical */
#define NSWAP_F_DROPPABLE	0x0080	/* ATTACH: class droppable */
#define NSWAP_F_RESERVED	0x0100	/* STORE: from the device's reserve, not
					 * against a grant; needs
					 * NSWAP_HAS_CLASSES
					 */
#define NSWAP_F_SHARE		0x0200	/* GRANT, PONG: @nr pages are the owner's
					 * share of what is lent; needs
					 * NSWAP_HAS_SHARES
					 */
#define NSWAP_F_SHORT		0x0400	/* STORE, LOAD_REPLY, MOVE, RETURN: pages
					 * come without zeros at their ends; LOAD:
					 * the answer may be so; needs
					 * NSWAP_HAS_SHORT
					 */

/**
 * enum nswap_conn_class - what a connection of a session carries
 * @NSWAP_CLASS_CONTROL: the first: loads, frees, grants, reconcile, pings
 * @NSWAP_CLASS_LOAD: loads only
 * @NSWAP_CLASS_STORE: stores only, so that payload dropped for lack of memory
 *	delays nothing else
 * @NSWAP_CLASS_MOVE: pages, from a server that gives RAM back to another one,
 *	or to an owner; not part of a session
 * @NSWAP_CLASS_TELL: from such a server to an owner: where its pages went; STAT, from
 *	any node
 * @NSWAP_CLASS_NR: number of classes
 */
enum nswap_conn_class {
	NSWAP_CLASS_CONTROL,
	NSWAP_CLASS_LOAD,
	NSWAP_CLASS_STORE,
	NSWAP_CLASS_MOVE,
	NSWAP_CLASS_TELL,
	NSWAP_CLASS_NR,
};

/**
 * enum nswap_wire_status - result of a message or of one slot in it
 * @NSWAP_ST_OK: done
 * @NSWAP_ST_NO_ROOM: no grant or no memory; place it elsewhere
 * @NSWAP_ST_OLDER: what was sent is older than what is held; MOVE_ACK: or another mover's
 *	page of this generation is pending
 * @NSWAP_ST_NOT_HELD: that generation is not here
 * @NSWAP_ST_STALE: this connection has been fenced by a newer session
 * @NSWAP_ST_LEAVING: the node is going down
 * @NSWAP_ST_BAD: malformed or out of order
 * @NSWAP_ST_KEEP: [owner] the page has not been recorded at its new place
 * @NSWAP_ST_NO_HOME: [owner] the page's device has neither a home nor flash
 *	with room
 * @NSWAP_ST_SHARE: MOVE_ACK: no room for this owner, it has its share; needs
 *	NSWAP_HAS_SHARES
 */
enum nswap_wire_status {
	NSWAP_ST_OK,
	NSWAP_ST_NO_ROOM,
	NSWAP_ST_OLDER,
	NSWAP_ST_NOT_HELD,
	NSWAP_ST_STALE,
	NSWAP_ST_LEAVING,
	NSWAP_ST_BAD,
	NSWAP_ST_KEEP,
	NSWAP_ST_NO_HOME,
	NSWAP_ST_SHARE,
};

/**
 * struct nswap_wire_hdr - head of every message over TCP
 * @magic: NSWAP_WIRE_MAGIC
 * @version: NSWAP_WIRE_VERSION
 * @type: enum nswap_wire_type
 * @flags: NSWAP_F_*
 * @bytes: payload that follows the header
 * @nr: slots or runs in the payload; a count for grants
 * @id: chosen by the asker, echoed in the answer
 * @slot: first slot; CLAIM: node id of the mover, 0: any
 * @instance: device instance of the owner
 * @grants: [server] pages set aside for this owner from now on, added to what
 *	it has
 * @status: enum nswap_wire_status of the whole message
 * @page_bytes: bytes a page takes in the payload: 4096
 * @took: [server] STORE_ACK, LOAD_REPLY: ns from the last byte of the question
 *	to the answer, if requested; else zero
 * @free: [server] pages lent that are neither filled nor granted; to an owner: those of
 *	them that it may get
 * @auth: tag of the message (keys/tags.c), zero between nodes without keys
 */
struct nswap_wire_hdr {
	__le32 magic;
	u8 version;
	u8 type;
	__le16 flags;
	__le32 bytes;
	__le32 nr;
	__le64 id;
	__le64 slot;
	__le32 instance;
	__le32 grants;
	__le16 status;
	__le16 page_bytes;
	__le32 took;
	__le64 free;
	u8 auth[NSWAP_WIRE_AUTH];
} __packed;
static_assert(sizeof(struct nswap_wire_hdr) == 72);

/**
 * struct nswap_wire_keys - a part of an exchange of keys, see docs/protocol.md
 * @once: Curve25519, for this exchange or a while; HELLO_ACK: zero
 * @own: Curve25519, the sender's own; HELLO_ACK: zero
 * @tag: of the exchange; GREET: zero
 * @mac: HELLO: the sender knows the cluster's secret; else zero
 */
struct nswap_wire_keys {
	u8 once[32];
	u8 own[32];
	u8 tag[16];
	u8 mac[16];
} __packed;
static_assert(sizeof(struct nswap_wire_keys) == 96);

/**
 * struct nswap_wire_greet - payload of GREET
 * @id: the server's node id
 * @epoch: its boot epoch
 * @ticket: increases with every connection; says which session is newer
 * @keys: exchange of keys, zeros between nodes without
 */
struct nswap_wire_greet {
	__le64 id;
	__le64 epoch;
	__le64 ticket;
	struct nswap_wire_keys keys;
} __packed;
static_assert(sizeof(struct nswap_wire_greet) == 120);

/**
 * struct nswap_wire_hello - payload of HELLO
 * @id: the owner's node id
 * @epoch: its boot epoch
 * @session: increases with every session of this epoch
 * @ticket: from GREET on this connection
 * @features: what the owner has, NSWAP_HAS_* and bits not known here
 * @class: enum nswap_conn_class
 * @reserved: zero
 * @keys: exchange of keys, zeros between nodes without
 */
struct nswap_wire_hello {
	__le64 id;
	__le64 epoch;
	__le64 session;
	__le64 ticket;
	__le64 features;
	u8 class;
	u8 reserved[7];
	struct nswap_wire_keys keys;
} __packed;
static_assert(sizeof(struct nswap_wire_hello) == 144);

/**
 * struct nswap_wire_welcome - payload of HELLO_ACK
 * @features: what the server has, as in HELLO
 * @keys: exchange of keys, zeros between nodes without
 */
struct nswap_wire_welcome {
	__le64 features;
	struct nswap_wire_keys keys;
} __packed;
static_assert(sizeof(struct nswap_wire_welcome) == 104);

/**
 * struct nswap_wire_result - one slot of STORE_ACK
 * @gen: generation the result is about
 * @status: enum nswap_wire_status
 */
struct nswap_wire_result {
	__le32 gen;
	__le32 status;
} __packed;
static_assert(sizeof(struct nswap_wire_result) == 8);

/**
 * struct nswap_wire_run - adjacent slots of one generation (FREE, HOLD_LIST)
 * @instance: device instance of the owner
 * @gen: generation
 * @slot: first slot
 * @count: number of slots, at least 1
 * @reserved: zero
 */
struct nswap_wire_run {
	__le32 instance;
	__le32 gen;
	__le64 slot;
	__le32 count;
	__le32 reserved;
} __packed;
static_assert(sizeof(struct nswap_wire_run) == 24);
#define NSWAP_WIRE_RUNS		128	/* in one message */
#define NSWAP_WIRE_RUN_MAX	1024	/* slots of all runs of one HOLD_LIST */

/**
 * struct nswap_wire_page - identifies one page (MOVE, MOVED, CLAIM, RETURN, DROPPED)
 * @slot: slot
 * @instance: device instance of the owner
 * @gen: generation
 */
struct nswap_wire_page {
	__le64 slot;
	__le32 instance;
	__le32 gen;
} __packed;
static_assert(sizeof(struct nswap_wire_page) == 16);

/**
 * struct nswap_wire_node - identifies a node (MOVE, RETURN, DROPPED: the owner; MOVED:
 * the peer that has the pages now)
 * @id: node id
 * @epoch: boot epoch
 */
struct nswap_wire_node {
	__le64 id;
	__le64 epoch;
} __packed;
static_assert(sizeof(struct nswap_wire_node) == 16);

/**
 * struct nswap_wire_names - what MOVE, MOVED, RETURN and DROPPED begin with
 * @who: the owner, or the peer, see above
 * @page: @nr of them
 * @room: of a full message with NSWAP_F_SHORT, lengths; they begin behind the last @page
 */
struct nswap_wire_names {
	struct nswap_wire_node who;
	struct nswap_wire_page page[NSWAP_REQ_SLOTS];
	__le16 room[NSWAP_REQ_SLOTS];
} __packed;

/* a page is worth being sent, or kept, short if it is so by this many bytes */
#define NSWAP_WIRE_UNIT		64

/* may a page of @len bytes, zeros after that, be sent short to be worth it? */
static inline bool nswap_wire_worth(u32 len)
{
	return len <= PAGE_SIZE - NSWAP_WIRE_UNIT;
}

/* are the pages of this message short? a LOAD has none, it asks for them */
static inline bool nswap_wire_short(const struct nswap_wire_hdr *h)
{
	return h->flags & cpu_to_le16(NSWAP_F_SHORT) && h->type != NSWAP_LOAD;
}

#define NSWAP_WIRE_TOTALS	32	/* in one message */

/**
 * struct nswap_wire_stat - payload of STAT_REPLY
 * @software: version of the module, padded with zeros
 * @total: as many as the header says: a node has more or fewer than this one knows
 */
struct nswap_wire_stat {
	char software[16];
	__le64 total[NSWAP_WIRE_TOTALS];
} __packed;
static_assert(sizeof(struct nswap_wire_stat) == 272);

/**
 * struct nswap_wire_announce - an announcement, one UDP datagram
 * @hdr: type ANNOUNCE, @hdr.bytes counts what follows
 * @id: node id
 * @epoch: boot epoch
 * @family: AF_INET or AF_INET6 number of Linux: 2 or 10
 * @port: TCP port
 * @reserved: zero
 * @ip: address to connect to, network byte order
 * @lent: pages lent
 * @free: of these, pages that are neither held nor granted
 * @used: pages held for others
 */
struct nswap_wire_announce {
	struct nswap_wire_hdr hdr;
	__le64 id;
	__le64 epoch;
	__le16 family;
	__le16 port;
	__le32 reserved;
	u8 ip[16];
	__le64 lent;
	__le64 free;
	__le64 used;
} __packed;
static_assert(sizeof(struct nswap_wire_announce) == 136);

/**
 * struct nswap_announcement - an announcement, decoded
 * @id: node id
 * @epoch: boot epoch
 * @addr: where to connect to
 * @lent: pages
 * @free: pages
 * @used: pages
 * @leaving: the node is going down
 * @answer: it asks for an announcement in return, or leaves for a reboot
 * @shrinking: it is reclaiming lent RAM: place nothing there
 * @counter: with keys: rises with each of an epoch; else 0
 */
struct nswap_announcement {
	u64 id;
	u64 epoch;
	struct nswap_addr addr;
	u64 lent;
	u64 free;
	u64 used;
	bool leaving;
	bool answer;
	bool shrinking;
	u64 counter;
};

void nswap_wire_init(struct nswap_wire_hdr *h, u8 type, u32 nr, u32 bytes);
int nswap_wire_check(const struct nswap_wire_hdr *h);
size_t nswap_wire_plain(const struct nswap_wire_hdr *h);
int nswap_wire_lens(const struct nswap_wire_hdr *h, const __le16 *len);
bool nswap_wire_other_version(const struct nswap_wire_hdr *h, size_t len);
void nswap_wire_put_announce(struct nswap_wire_announce *w,
			     const struct nswap_announcement *a);
int nswap_wire_get_announce(const struct nswap_wire_announce *w, size_t len,
			    struct nswap_announcement *a);
const char *nswap_wire_name(u8 type);

#endif
