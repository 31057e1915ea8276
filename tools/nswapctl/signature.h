/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is on a block device?
 */
#ifndef NSWAPCTL_SIGNATURE_H
#define NSWAPCTL_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

/* false if nothing known is found, or if the device cannot be read */
bool signature_find(const char *path, char *text, size_t len);

#endif
