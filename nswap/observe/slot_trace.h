/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slot trace: which slots were paged out and in.
 */
#ifndef NSWAP_SLOT_TRACE_H
#define NSWAP_SLOT_TRACE_H

#include "meter.h"

struct nswap_slot_trace *nswap_slot_trace_alloc(void);
void nswap_slot_trace(struct nswap_meter *m, struct nswap_trace_view *v);

#endif
