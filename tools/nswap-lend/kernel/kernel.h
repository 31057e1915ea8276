/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel as the module's server needs, for building it as a program. It is
 * included before every unit; the headers that a unit asks for are empty files which the
 * Makefile makes.
 */
#ifndef LEND_KERNEL_H
#define LEND_KERNEL_H

#include "types.h"
#include "list.h"
#include "rbtree.h"
#include "sync.h"
#include "task.h"
#include "iov.h"
#include "crypto.h"
#include "say.h"

#endif
