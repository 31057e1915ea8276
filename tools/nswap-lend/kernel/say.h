/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of the log, on standard error, and texts for people.
 */
#ifndef LEND_SAY_H
#define LEND_SAY_H

#include "types.h"

/* a line, for what a user did or should know in any case */
void lend_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A line, for what others can cause: a few in 5 s at most. The first conversion may be that
 * of the kernel for an address with its port, of which there is no other.
 */
void lend_say_seldom(const char *format, ...);

#endif
