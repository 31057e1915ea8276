/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A request from the block layer to its end; the waiting list.
 */
#ifndef NSWAP_REQUEST_QUEUE_H
#define NSWAP_REQUEST_QUEUE_H

#include "core/request.h"

void nswap_request_submit(struct nswap_io *io);
void nswap_request_wait(struct nswap_io *io);
void nswap_request_wait_room(struct nswap_io *io);
void nswap_request_put(struct nswap_io *io);
void nswap_request_end(struct nswap_io *io);
unsigned int nswap_request_free_tags(struct nswap_io *io);
void nswap_request_block(struct nswap_io *io, unsigned int first,
			 unsigned int nr, u32 flash,
			 void (*end)(struct nswap_home_io *h));
void nswap_request_store(struct nswap_io *io, unsigned long slots, bool to_flash,
			 void (*end)(struct nswap_home_io *h));
struct nswap_op *nswap_op_block(struct nswap_io *io, unsigned int first,
				unsigned int nr, u32 flash,
				void (*end)(struct nswap_home_io *h));
void nswap_op_start(struct nswap_op *op);
void nswap_op_end(struct nswap_op *op, unsigned long again);
void nswap_op_answered(struct nswap_op *op, unsigned long again);
void nswap_op_park(struct nswap_op *op);
void nswap_op_lose(struct nswap_op *op);
void nswap_request_fail(struct nswap_io *io, unsigned int first,
			unsigned int nr);
void nswap_request_kick_work(struct work_struct *work);

#endif
