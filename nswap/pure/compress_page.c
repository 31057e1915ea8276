// SPDX-License-Identifier: GPL-2.0
/*
 * Compression of one page with LZ4 or zstd, the kernel's own, each page by itself.
 *
 * Invariants:
 *  - A processor's memory is used by one task at a time, which is not preempted meanwhile,
 *    and all of it is allocated by nswap_compressor_init().
 *  - A short page is @len bytes, and zeros up to its end.
 *  - What is expanded is copied first, so that the result may take its place; nothing but
 *    that page is read or written, whatever comes in it. It has PAGE_SIZE bytes again, or
 *    it counts for nothing. Its sum is looked at first: neither algorithm notices each
 *    change.
 */
#include <linux/highmem.h>
#include <linux/lz4.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/zstd.h>
#include <asm/checksum.h>

#include "compress_page.h"

#define ZSTD_LEVEL	1	/* the fastest that is not negative */

/**
 * struct nswap_compress_work - memory of one processor
 * @copy: of what is to be expanded
 * @out: what compression needs
 * @in: likewise expansion, NULL if that needs nothing
 * @cctx: zstd's, in @out
 * @dctx: zstd's, in @in
 * @done: what it has compressed
 */
struct nswap_compress_work {
	void *copy;
	void *out;
	void *in;
	zstd_cctx *cctx;
	zstd_dctx *dctx;
	struct nswap_compressed done;
};

/* constant if the kernel has it not, so that nothing of it is linked then */
static bool compress_is_lz4(enum nswap_compress kind)
{
	return IS_ENABLED(CONFIG_LZ4_COMPRESS) && IS_ENABLED(CONFIG_LZ4_DECOMPRESS) &&
	       kind == NSWAP_COMPRESS_LZ4;
}

static bool compress_is_zstd(enum nswap_compress kind)
{
	return IS_ENABLED(CONFIG_ZSTD_COMPRESS) && IS_ENABLED(CONFIG_ZSTD_DECOMPRESS) &&
	       kind == NSWAP_COMPRESS_ZSTD;
}

/* has this kernel the algorithm? any context */
bool nswap_compress_has(enum nswap_compress kind)
{
	return kind == NSWAP_COMPRESS_OFF || compress_is_lz4(kind) || compress_is_zstd(kind);
}

static zstd_parameters compress_zstd_params(void)
{
	return zstd_get_params(ZSTD_LEVEL, PAGE_SIZE);
}

static bool compress_init_zstd(struct nswap_compress_work *w)
{
	zstd_parameters p = compress_zstd_params();
	size_t out = zstd_cctx_workspace_bound(&p.cParams), in = zstd_dctx_workspace_bound();

	w->out = kvzalloc(out, GFP_KERNEL);
	w->in = kvzalloc(in, GFP_KERNEL);
	if (!w->out || !w->in)
		return false;
	w->cctx = zstd_init_cctx(w->out, out);
	w->dctx = zstd_init_dctx(w->in, in);
	return !WARN_ON_ONCE(!w->cctx || !w->dctx);
}

static bool compress_init_work(struct nswap_compress_work *w, enum nswap_compress kind)
{
	w->copy = kmalloc(PAGE_SIZE, GFP_KERNEL);
	if (!w->copy)
		return false;
	if (compress_is_zstd(kind))
		return compress_init_zstd(w);
	w->out = kvmalloc(LZ4_MEM_COMPRESS, GFP_KERNEL);
	return w->out;
}

/*
 * @c: zeroed; @kind: this kernel has it. Process, sleeps; allocates 20 KiB a processor with
 * LZ4, about 180 with zstd. Returns 0 or -ENOMEM; nswap_compressor_exit() either way.
 */
int nswap_compressor_init(struct nswap_compressor *c, enum nswap_compress kind)
{
	unsigned int cpu;

	c->kind = kind;
	c->work = alloc_percpu(struct nswap_compress_work);
	if (!c->work)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		if (!compress_init_work(per_cpu_ptr(c->work, cpu), kind))
			return -ENOMEM;
	return 0;
}

/* no page is being compressed or expanded; process */
void nswap_compressor_exit(struct nswap_compressor *c)
{
	unsigned int cpu;

	if (!c->work)
		return;
	for_each_possible_cpu(cpu) {
		struct nswap_compress_work *w = per_cpu_ptr(c->work, cpu);

		kvfree(w->in);
		kvfree(w->out);
		kfree(w->copy);
	}
	free_percpu(c->work);
	c->work = NULL;
}

/* its length, 0 if it is too long */
static unsigned int compress_run(const struct nswap_compressor *c,
				 struct nswap_compress_work *w, void *to, const void *from)
{
	zstd_parameters p;
	size_t len;

	if (compress_is_lz4(c->kind))
		return LZ4_compress_default(from, to, PAGE_SIZE, NSWAP_SHORT_MOST, w->out);
	if (!compress_is_zstd(c->kind))
		return 0;
	p = compress_zstd_params();
	len = zstd_compress_cctx(w->cctx, to, NSWAP_SHORT_MOST, from, PAGE_SIZE, &p);
	return zstd_is_error(len) ? 0 : len;
}

static u16 compress_check(const void *at, unsigned int len)
{
	return (__force u16)csum_fold(csum_partial(at, len, 0));
}

/**
 * nswap_compress_page() - compress a page into another one
 * @c: how
 * @to: result
 * @from: as a program wrote it
 *
 * Context: task; does not sleep or allocate.
 * Return: what is to be kept of it; with @len 0 it stays as it is, and @to is spoilt.
 */
struct nswap_short nswap_compress_page(const struct nswap_compressor *c, struct page *to,
				       struct page *from)
{
	struct nswap_compress_work *w = get_cpu_ptr(c->work);
	void *src = kmap_local_page(from), *dst = kmap_local_page(to);
	struct nswap_short kept = { .len = compress_run(c, w, dst, src) };

	if (kept.len) {
		memset(dst + kept.len, 0, PAGE_SIZE - kept.len);
		kept.sum = compress_check(dst, kept.len);
		w->done.pages++;
		w->done.bytes += kept.len;
	} else {
		w->done.whole++;
	}
	kunmap_local(dst);
	kunmap_local(src);
	put_cpu_ptr(c->work);
	return kept;
}

static bool expand_run(const struct nswap_compressor *c, struct nswap_compress_work *w,
		       void *to, unsigned int len)
{
	if (compress_is_lz4(c->kind))
		return LZ4_decompress_safe(w->copy, to, len, PAGE_SIZE) == PAGE_SIZE;
	return compress_is_zstd(c->kind) &&
	       zstd_decompress_dctx(w->dctx, to, PAGE_SIZE, w->copy, len) == PAGE_SIZE;
}

/**
 * nswap_expand_page() - make of a short page what it was, in place
 * @c: how it was compressed
 * @page: as it came
 * @kept: of it; anything, if it was written meanwhile
 *
 * Context: task; does not sleep or allocate.
 * Return: false if it is another page, or was changed: it is spoilt then.
 */
bool nswap_expand_page(const struct nswap_compressor *c, struct page *page,
		       struct nswap_short kept)
{
	struct nswap_compress_work *w;
	bool ok = false;
	void *at;

	if (!kept.len || kept.len > NSWAP_SHORT_MOST)
		return false;
	w = get_cpu_ptr(c->work);
	at = kmap_local_page(page);
	memcpy(w->copy, at, kept.len);
	if (compress_check(w->copy, kept.len) == kept.sum)
		ok = expand_run(c, w, at, kept.len);
	kunmap_local(at);
	put_cpu_ptr(c->work);
	return ok;
}

/* what all processors have compressed; any context; a snapshot */
struct nswap_compressed nswap_compress_sum(const struct nswap_compressor *c)
{
	struct nswap_compressed sum = { };
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct nswap_compressed *done = &per_cpu_ptr(c->work, cpu)->done;

		sum.pages += READ_ONCE(done->pages);
		sum.bytes += READ_ONCE(done->bytes);
		sum.whole += READ_ONCE(done->whole);
	}
	return sum;
}
