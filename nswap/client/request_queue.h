/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A request from the block layer to its end; the waiting list.
 */
#ifndef NSWAP_REQUEST_QUEUE_H
#define NSWAP_REQUEST_QUEUE_H

#include "core/request.h"

void nswap_request_submit(struct nswap_io *io);
void nswap_request_wait(struct nswap_io *io);
void nswap_request_put(struct nswap_io *io);
bool nswap_request_own(struct nswap_io *io);
struct nswap_op *nswap_request_op(struct nswap_io *io, unsigned int first,
				  unsigned int nr);
void nswap_op_end(struct nswap_op *op, unsigned long again);
void nswap_request_fail(struct nswap_io *io, unsigned int first,
			unsigned int nr);
void nswap_request_kick_work(struct work_struct *work);

#endif
