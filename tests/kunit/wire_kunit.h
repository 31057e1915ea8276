/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the wire protocol know of messages with short pages.
 */
#ifndef NSWAP_WIRE_KUNIT_H
#define NSWAP_WIRE_KUNIT_H

#include "../../nswap/pure/wire.h"

/* bytes before the pages of a message with short ones; 0: it has none */
static inline u32 short_before(u8 type, u32 nr, u16 flags)
{
	if (!(flags & NSWAP_F_SHORT))
		return 0;
	if (type == NSWAP_STORE || type == NSWAP_LOAD_REPLY)
		return nr * 6;
	return type == NSWAP_MOVE || type == NSWAP_RETURN ? 16 + nr * 18 : 0;
}

/* is it of a legal size? the least, the most, and all between */
static inline bool short_legal(u8 type, u32 nr, u32 bytes)
{
	u32 before = short_before(type, nr, NSWAP_F_SHORT);

	return nr && nr <= 32 && before && bytes <= before + nr * 4096 &&
	       bytes >= before + (type == NSWAP_LOAD_REPLY ? 1 : nr);
}

#endif
