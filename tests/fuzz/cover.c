// SPDX-License-Identifier: GPL-2.0
/*
 * What an input has reached: gcc calls __sanitizer_cov_trace_pc() in every basic block of
 * the units (-fsanitize-coverage=trace-pc). A point is a step from one block to the next
 * that was entered, in whatever function, so that the order of operations counts.
 */
#include "fuzz.h"

struct fuzz_reached fuzz_reached;

static u32 seen[FUZZ_POINTS];	/* by which input last */
static u32 number, before;

void __sanitizer_cov_trace_pc(void)
{
	u32 here = (char *)__builtin_return_address(0) - &__executable_start;
	u16 point;

	here = here * 2654435761u >> 8;
	point = here ^ before >> 1;
	before = here;
	if (seen[point] == number)
		return;
	seen[point] = number;
	fuzz_reached.point[fuzz_reached.nr++] = point;
}

void fuzz_cover_begin(void)
{
	number++;
	before = 0;
	fuzz_reached.nr = 0;
}
