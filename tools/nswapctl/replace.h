/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that a power failure leaves as they were or as they are to be.
 */
#ifndef NSWAPCTL_REPLACE_H
#define NSWAPCTL_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * What was written to @file, whose name is @temp, is at @path and on the disk when this
 * returns true; false: errno says why. @fresh: only if there is nothing at @path.
 */
bool replace_file(FILE *file, const char *temp, const char *path, bool fresh);

#endif
