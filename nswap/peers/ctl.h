/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control messages of a peer, one of each kind.
 */
#ifndef NSWAP_CTL_H
#define NSWAP_CTL_H

#include "peer.h"

int nswap_ctl_init(struct nswap_ctl *c, struct nswap_peer *peer, bool runs,
		   int (*answer)(struct nswap_msg *m));
void nswap_ctl_exit(struct nswap_ctl *c);
bool nswap_ctl_claim(struct nswap_ctl *c);
bool nswap_ctl_claimed(const struct nswap_ctl *c);
void nswap_ctl_release(struct nswap_ctl *c);
bool nswap_ctl_add_run(struct nswap_ctl *c, u32 instance, u64 slot, u32 gen);
int nswap_ctl_send(struct nswap_ctl *c, u8 type, u32 nr);
void nswap_ctl_ping(struct nswap_peer *peer);
int nswap_ctl_init_all(struct nswap_peer *peer);
void nswap_ctl_exit_all(struct nswap_peer *peer);

#endif
