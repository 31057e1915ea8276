/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IPTable: counters of announcements, by which none is believed twice.
 */
#ifndef NSWAP_IP_COUNTER_H
#define NSWAP_IP_COUNTER_H

#include "ip_table.h"

bool nswap_ipt_replay(const struct nswap_ipt *t, const struct nswap_announcement *a,
		      u64 now_ms);
void nswap_ipt_counted(struct nswap_ipt_entry *e, const struct nswap_announcement *a);
void nswap_ipt_counter_proved(struct nswap_ipt_entry *e, const struct nswap_addr *at);
void nswap_ipt_counter_move(struct nswap_ipt_entry *e, const struct nswap_addr *to);

#endif
