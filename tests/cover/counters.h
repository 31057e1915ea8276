/* SPDX-License-Identifier: GPL-2.0 */
/* What code that counts calls, by names that are the compiler's. */
#ifndef TESTS_COVER_COUNTERS_H
#define TESTS_COVER_COUNTERS_H

#include <linux/types.h>

struct counted_object;

void __gcov_init(struct counted_object *o);
void __gcov_exit(void);
void __gcov_merge_add(s64 *value, u32 nr);

#endif
