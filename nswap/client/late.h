/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Late answers: those to messages that were taken back, unanswered.
 */
#ifndef NSWAP_LATE_H
#define NSWAP_LATE_H

#include "transport/conn.h"

int nswap_late_answer(struct nswap_conn *c);

#endif
