// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints: the one place that defines what trace.h declares.
 */

#define CREATE_TRACE_POINTS
#include "trace.h"
