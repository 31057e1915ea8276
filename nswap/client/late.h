/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Late answers: to messages that were given up before they were answered.
 */
#ifndef NSWAP_LATE_H
#define NSWAP_LATE_H

#include "transport/conn.h"

int nswap_late_answer(struct nswap_conn *c);

#endif
