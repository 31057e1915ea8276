/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes, ids and forward declarations shared by all units. Nothing else belongs
 * here: the declarations of a unit are in its own header.
 */
#ifndef NSWAP_TYPES_H
#define NSWAP_TYPES_H

#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/types.h>

static_assert(PAGE_SIZE == 4096, "a slot is one 4 KiB page");

#define NSWAP_PORT		9611	/* default, TCP data and UDP announcements */
#define NSWAP_MAX_PEERS		1023	/* index 0 means no peer */
#define NSWAP_TAGS		128	/* of a device: page-outs at once, and page-ins */
#define NSWAP_REQ_SLOTS		32	/* slots in one block request and message */
#define NSWAP_MAX_CONNS		8	/* connections of one session */
#define NSWAP_MAX_DEVICES	256
#define NSWAP_FLASH_DEVICES	4	/* in the flash tier of one device */
#define NSWAP_SIDE_TABLES	9	/* beside the slot map of one device */

#define NSWAP_SLOT_SHIFT	PAGE_SHIFT
#define NSWAP_SECTORS_PER_SLOT	(PAGE_SIZE >> 9)

/**
 * struct nswap_addr - an address as the wire, the IPTable and netlink carry it
 * @family: AF_INET (first 4 bytes of @ip used) or AF_INET6
 * @port: host byte order
 * @scope: interface index of a link-local IPv6 address, else 0; local only
 * @ip: network byte order
 */
struct nswap_addr {
	u16 family;
	u16 port;
	u32 scope;
	u8 ip[16];
};

/**
 * struct nswap_group_shape - what a group of parity is to have
 * @pages: pages
 * @checks: checks over them: as many of its pages may be lost
 */
struct nswap_group_shape {
	u8 pages;
	u8 checks;
};

/**
 * enum nswap_protect - what of a device survives the death of a peer
 * @NSWAP_PROTECT_NONE: nothing
 * @NSWAP_PROTECT_HOME: all its pages: home has them too, a bounded time later, and this
 *	node's RAM until then
 * @NSWAP_PROTECT_MIRROR: all its pages at peers: two of them hold each
 * @NSWAP_PROTECT_PARITY: all its pages at peers: rebuilt from the others of their group
 * @NSWAP_PROTECT_KINDS: number of kinds
 */
enum nswap_protect {
	NSWAP_PROTECT_NONE,
	NSWAP_PROTECT_HOME,
	NSWAP_PROTECT_MIRROR,
	NSWAP_PROTECT_PARITY,
	NSWAP_PROTECT_KINDS,
};

/**
 * enum nswap_device_class - what lenders that shrink do with the pages of a device
 * @NSWAP_DEV_NORMAL: they move them to other peers, or back to their owner
 * @NSWAP_DEV_CRITICAL: likewise, before any other page, and a peer with anything less
 *	important gives that up for them
 * @NSWAP_DEV_DROPPABLE: they drop them first, without asking
 * @NSWAP_DEV_CLASSES: number of classes
 */
enum nswap_device_class {
	NSWAP_DEV_NORMAL,
	NSWAP_DEV_CRITICAL,
	NSWAP_DEV_DROPPABLE,
	NSWAP_DEV_CLASSES,
};

/**
 * enum nswap_compress - how pages of a device are made shorter before they leave
 * @NSWAP_COMPRESS_OFF: not at all
 * @NSWAP_COMPRESS_LZ4: with LZ4
 * @NSWAP_COMPRESS_ZSTD: with zstd, which takes longer, and makes them shorter
 * @NSWAP_COMPRESS_KINDS: number of kinds
 */
enum nswap_compress {
	NSWAP_COMPRESS_OFF,
	NSWAP_COMPRESS_LZ4,
	NSWAP_COMPRESS_ZSTD,
	NSWAP_COMPRESS_KINDS,
};

struct nswap_node;
struct nswap_peer;
struct nswap_conn;
struct nswap_device;
struct nswap_owner;

#endif
