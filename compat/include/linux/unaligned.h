/* SPDX-License-Identifier: GPL-2.0 */
/*
 * <linux/unaligned.h> for kernels where it is still <asm/unaligned.h>.
 * Changed in 6.12 (5f60d5f6bbc1 "move asm/unaligned.h to linux/unaligned.h");
 * may go with 6.1.
 */
#ifndef NSWAP_COMPAT_LINUX_UNALIGNED_H
#define NSWAP_COMPAT_LINUX_UNALIGNED_H

#include <asm/unaligned.h>

#endif
