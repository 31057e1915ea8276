// SPDX-License-Identifier: GPL-2.0
/*
 * nswap_kunit.ko: KUnit tests of the pure units.
 *
 * Each <unit>_kunit.c includes the one unit it tests, statics and all, so the
 * module that users load stays as it is. Loading this one runs every suite.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit tests of nswap");
MODULE_LICENSE("GPL");
