// SPDX-License-Identifier: GPL-2.0
/*
 * A batch of pages to move: adjacent ones are read from flash or home, or written
 * there, in one request, and the caller waits for all of them.
 *
 *   begin -> started, each with a share of @pending -> ended -> wait
 *
 * Invariants:
 *  - All memory is allocated by nswap_batch_init(): nothing allocates until exit,
 *    and what was begun ends without memory. A batch has one user at a time, which
 *    waits without holding a lock that page-outs need: it waits for the devices
 *    below, and for the work queue where their reads and writes end, which has a
 *    rescuer.
 *  - When nswap_batch_wait() returns, nothing is under way: pages, parts and
 *    arrays are the user's between two waits.
 *  - Neither slots nor the slot map are looked at here: the user has to check what
 *    changed meanwhile before it uses what was read or written. A user that writes
 *    home has marked the slots (return_mark.h) until the wait is over, so no newer
 *    page is written there meanwhile.
 *  - A flash slot that is taken here is the user's after the wait, to be linked
 *    or put back; one whose write failed has been put back.
 *  - A run that fails is retried page by page: a bad sector costs one page, not
 *    its neighbours. Writes to flash are not retried: flash has more than one
 *    device, and its pages may go home.
 */
#include "base/bits.h"
#include "batch.h"
#include "core/devices.h"
#include "request_queue.h"

/* @b is zeroed; @dev may be set later. False if out of memory; all is freed then */
bool nswap_batch_init(struct nswap_batch *b, struct nswap_device *dev,
		      unsigned int nr)
{
	unsigned int i;

	b->io.dev = dev;
	init_completion(&b->over);
	for (i = 0; i < nr; i++) {
		b->io.page[i] = alloc_page(GFP_KERNEL);
		if (!b->io.page[i]) {
			nswap_batch_exit(b);
			return false;
		}
	}
	return true;
}

/* free what nswap_batch_init() allocated, if anything */
void nswap_batch_exit(struct nswap_batch *b)
{
	unsigned int i;

	for (i = 0; i < NSWAP_REQ_SLOTS; i++) {
		if (b->io.page[i])
			__free_page(b->io.page[i]);
		b->io.page[i] = NULL;
	}
}

/* the batch now is this slot and those after it, none of them to be done yet */
void nswap_batch_at(struct nswap_batch *b, u64 slot)
{
	unsigned int i;

	b->io.todo = 0;
	for (i = 0; i < NSWAP_REQ_SLOTS; i++)
		b->io.slot[i] = slot + i;
}

/* call before reads, writes or messages are started; ends with nswap_batch_wait() */
void nswap_batch_begin(struct nswap_batch *b)
{
	b->io.failed = 0;
	reinit_completion(&b->over);
	atomic_set(&b->io.pending, 1);
}

/*
 * One read, write or message has ended; @b must not be touched afterwards. Any context,
 * hard interrupts too.
 */
void nswap_batch_put(struct nswap_batch *b)
{
	if (atomic_dec_and_test(&b->io.pending))
		complete(&b->over);
}

/* sleep until all of them have ended; a bit is set for each page that failed */
unsigned long nswap_batch_wait(struct nswap_batch *b)
{
	nswap_batch_put(b);
	wait_for_completion(&b->over);
	return b->io.failed;
}

/* for the ops of a batch that is a request: see nswap_batch_request() */
void nswap_batch_over(struct nswap_io *io)
{
	complete(&container_of(io, struct nswap_batch, io)->over);
}

/*
 * Carry the batch out as a request of this module's own, whose @ops name
 * nswap_batch_over(): its @dev, @nr, @slot, @write, @step and @ahead are set. Process,
 * sleeps until it has ended. Returns the slots that failed.
 */
unsigned long nswap_batch_request(struct nswap_batch *b)
{
	b->io.resumed = false;
	b->io.more = false;
	reinit_completion(&b->over);
	nswap_request_submit(&b->io);
	wait_for_completion(&b->over);
	return b->io.failed;
}

static void batch_op_ended(struct nswap_home_io *h)
{
	struct nswap_op *op = container_of(h, struct nswap_op, h);
	struct nswap_batch *b = container_of(op->io, struct nswap_batch, io);
	struct nswap_device *dev = b->io.dev;

	if (op->flash)
		nswap_flash_ended(dev->flash, op->flash, h->failed);
	if (h->failed) {
		nswap_request_fail(&b->io, op->first, op->nr);
		if (b->then && (op->flash || op->nr == 1))
			nswap_device_complain(dev, h, op->flash ?
					      "its page goes elsewhere" : b->then);
	}
	nswap_batch_put(b);
}

static void batch_start(struct nswap_batch *b, unsigned int first,
			unsigned int nr, u32 flash, bool write)
{
	struct nswap_op *op = nswap_op_block(&b->io, first, nr, flash,
					     batch_op_ended);

	op->h.slot = b->io.slot[first];
	op->h.write = write;
	if (flash)
		nswap_flash_hold(b->io.dev->flash, flash);
	nswap_op_start(op);
}

/* how many pages from @first on have adjacent flash slots, or else adjacent slots */
unsigned int nswap_batch_run(const struct nswap_batch *b, unsigned long pages,
			     unsigned int first, bool flash)
{
	unsigned int n = 1, nr = nswap_run_of(pages, first);

	while (n < nr && (flash ? b->flash[first + n] == b->flash[first] + n :
				  b->io.slot[first + n] == b->io.slot[first] + n))
		n++;
	return n;
}

/* one pass over @pages at home or on flash, in runs or singly; returns those failed */
static unsigned long batch_pass(struct nswap_batch *b, unsigned long pages,
				bool flash, bool write, bool one_by_one)
{
	unsigned int first, nr;

	nswap_batch_begin(b);
	for (; pages; pages &= ~GENMASK(first + nr - 1, first)) {
		first = __ffs(pages);
		nr = one_by_one ? 1 : nswap_batch_run(b, pages, first, flash);
		batch_start(b, first, nr, flash ? b->flash[first] :
			    NSWAP_FLASH_NONE, write);
	}
	return nswap_batch_wait(b);
}

static unsigned long batch_passes(struct nswap_batch *b, unsigned long pages,
				  bool flash, bool write)
{
	unsigned long failed = batch_pass(b, pages, flash, write, false);

	return failed ? batch_pass(b, failed, flash, write, true) : 0;
}

/* read pages from home or write them there; process context, sleeps until done */
unsigned long nswap_batch_home(struct nswap_batch *b, unsigned long pages,
			       bool write)
{
	return batch_passes(b, pages, false, write);
}

/* read pages from flash; process context, sleeps until done */
unsigned long nswap_batch_read_flash(struct nswap_batch *b, unsigned long pages)
{
	return batch_passes(b, pages, true, false);
}

/*
 * Write pages to flash slots that are taken for them; process context, sleeps until
 * done. Returns those that flash has no room for or failed to write: all of them if
 * the device has no flash.
 */
unsigned long nswap_batch_write_flash(struct nswap_batch *b, unsigned long pages)
{
	struct nswap_flash *f = b->io.dev->flash;
	unsigned long left = f ? pages : 0, failed;
	unsigned int i, n, first;

	nswap_batch_begin(b);
	while (left) {
		first = __ffs(left);
		n = nswap_flash_take(f, nswap_run_of(left, first),
				     &b->flash[first]);
		if (!n)
			break;
		for (i = 1; i < n; i++)
			b->flash[first + i] = b->flash[first] + i;
		left &= ~GENMASK(first + n - 1, first);
		batch_start(b, first, n, b->flash[first], true);
	}
	failed = nswap_batch_wait(b);
	for_each_set_bit(i, &failed, NSWAP_REQ_SLOTS)
		nswap_flash_put(f, b->flash[i]);
	failed |= f ? left : pages;
	for_each_set_bit(i, &failed, NSWAP_REQ_SLOTS)
		b->flash[i] = NSWAP_FLASH_NONE;
	return failed;
}
