/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * Placing pages: an ioctl of /dev/nswapN that brings the pages of a range to a tier. Who
 * has the device open for writing may do so, and who has CAP_SYS_ADMIN.
 */
#ifndef _UAPI_LINUX_NSWAP_PLACE_H
#define _UAPI_LINUX_NSWAP_PLACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define NSWAP_AT_RAM		0	/* peers' RAM */
#define NSWAP_AT_FLASH		1
#define NSWAP_AT_HOME		2	/* the device's own partition or disk */

/**
 * struct nswap_place - pages of a range, and where they are to be
 * @offset: of the range, in bytes, a multiple of 4096
 * @length: in: of the range, likewise; out: how much of it was gone through, which is less
 *	if a signal came
 * @tier: NSWAP_AT_RAM and so on
 * @flags: 0
 * @there: out: pages that were there already
 * @moved: out: pages that are there now, and were not
 * @left: out: pages that are elsewhere: they changed meanwhile, or there is no room, or they
 *	could not be read or written just now
 * @lost: out: pages that are lost with their peers
 * @empty: out: pages that were never written, or were freed
 */
struct nswap_place {
	__u64 offset;
	__u64 length;
	__u32 tier;
	__u32 flags;
	__u64 there;
	__u64 moved;
	__u64 left;
	__u64 lost;
	__u64 empty;
};

/*
 * 0, or -1 with EINVAL (no whole pages of the device, no tier, flags), EPERM, ENODEV (the
 * device has no such tier), EOPNOTSUPP (its pages are protected by parity), EINTR (nothing was
 * gone through yet), ENOMEM, EIO (it is being deleted, or its write cache cannot be emptied).
 */
#define NSWAP_IOC_PLACE		_IOWR(0xf7, 1, struct nswap_place)

#endif
