/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-in.
 */
#ifndef NSWAP_PAGEIN_H
#define NSWAP_PAGEIN_H

#include "core/request.h"

void nswap_pagein(struct nswap_io *io);
unsigned int nswap_pagein_from_peers(struct nswap_io *io, unsigned int first);
void nswap_pagein_send(struct nswap_peer *peer, struct nswap_msg *m);
bool nswap_pagein_waited(struct nswap_msg *m, unsigned int ms);
void nswap_pagein_failed(struct nswap_msg *m);

#endif
