// SPDX-License-Identifier: GPL-2.0
/*
 * Reading pages of a batch through their device: silent peers, moved pages and lost
 * messages are handled by the page-in code. Such a read fails early and quietly, and
 * leaves no reference bit, unless it is patient.
 *
 * Invariant: the disk of the device exists until the batch has ended.
 */
#include <linux/blkdev.h>

#include "base/bits.h"
#include "client/batch.h"
#include "client/request_queue.h"
#include "core/device.h"
#include "read_through.h"

static void read_through_ended(struct bio *bio)
{
	struct nswap_op *op = bio->bi_private;
	struct nswap_batch *b = container_of(op->io, struct nswap_batch, io);

	if (bio->bi_status)
		nswap_request_fail(op->io, op->first, op->nr);
	bio_uninit(bio);
	nswap_batch_put(b);
}

static void read_through_run(struct nswap_batch *b, struct bio *bio,
			     unsigned int first, unsigned int nr, blk_opf_t how)
{
	struct nswap_io *io = &b->io;
	struct nswap_op *op = &io->op[first];
	unsigned int i;

	op->io = io;
	op->first = first;
	op->nr = nr;
	bio_init(bio, io->dev->disk->part0, &io->bv[first], nr,
		 REQ_OP_READ | how);
	bio->bi_iter.bi_sector = b->io.slot[first] * NSWAP_SECTORS_PER_SLOT;
	bio->bi_end_io = read_through_ended;
	bio->bi_private = op;
	for (i = first; i < first + nr; i++)
		__bio_add_page(bio, io->page[i], PAGE_SIZE, 0);
	atomic_inc(&io->pending);
	submit_bio(bio);
}

static unsigned long read_through(struct nswap_batch *b, struct bio *bios,
				  unsigned long pages, blk_opf_t how)
{
	unsigned long todo = pages;
	unsigned int first, nr;

	nswap_batch_begin(b);
	while (todo) {
		first = __ffs(todo);
		nr = nswap_batch_run(b, todo, first, false);
		todo &= ~GENMASK(first + nr - 1, first);
		read_through_run(b, &bios[first], first, nr, how);
	}
	return pages & ~nswap_batch_wait(b);
}

/**
 * nswap_read_through() - read pages of a batch
 * @b: batch, with its @slot and memory
 * @bios: one a page; that of a run is at its first page; allocated, not on the
 *	stack: a page-in may end in an array of them
 * @pages: which pages
 *
 * Context: process, sleeps until all have ended.
 * Return: the pages that were read.
 */
unsigned long nswap_read_through(struct nswap_batch *b, struct bio *bios,
				 unsigned long pages)
{
	return read_through(b, bios, pages, NSWAP_REQ_AHEAD);
}

/*
 * Likewise, as a program would: from any copy, however long that takes, and what is sealed
 * comes open
 */
unsigned long nswap_read_patiently(struct nswap_batch *b, struct bio *bios,
				   unsigned long pages)
{
	return read_through(b, bios, pages, NSWAP_REQ_BELOW);
}
