/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes the supported kernels (6.1, 6.12, 7.2) look like the newest of them.
 *
 * Force-included into every unit and named by none. What is missing was found
 * by compiling (probes.c), not by version, except for the fence. Each entry:
 * where it changed, the commit if known, when it may go.
 *
 * Where nothing can be made to look right, NSWAP_COMPAT_CANNOT_<x> is defined
 * and the core asks for that; at most five of these may exist.
 */
#ifndef NSWAP_COMPAT_H
#define NSWAP_COMPAT_H

#include <linux/version.h>

#include "probed.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "nswap needs Linux 6.1 or later"
#endif

/*
 * sock->sk_use_task_frag: new in 6.2 (fb87bd47516d "net: Introduce
 * sk_use_task_frag in struct sock"), carried back to 6.1.y. Sockets on the
 * page-out path must clear it, so without it nothing is safe. Goes with 6.1.
 */
#ifndef NSWAP_HAS_TASK_FRAG
#error "this kernel has no sk_use_task_frag: update it within its own series"
#endif

/*
 * swap_slot_free_notify(): still there in 7.2, proposed for removal. Without
 * it freed slots are known by discard only.
 */
#ifndef NSWAP_HAS_SLOT_FREE_NOTIFY
#define NSWAP_COMPAT_CANNOT_HEAR_SLOT_FREE
#endif

/*
 * struct sockaddr_unsized in kernel_bind() and kernel_connect(): new in 6.19;
 * may go when 6.12 goes.
 */
#ifndef NSWAP_HAS_SOCKADDR_UNSIZED
#define sockaddr_unsized sockaddr
#endif

/*
 * WQ_PERCPU: new in 6.17 (930c2ea566af "workqueue: Add new WQ_PERCPU flag"),
 * carried back to 6.12.y; before, not WQ_UNBOUND means the same. Goes with 6.1.
 */
#ifndef NSWAP_HAS_WQ_PERCPU
#define WQ_PERCPU 0
#endif

/*
 * system_dfl_wq and system_percpu_wq: new names of 6.17 (128ea9f6ccfb
 * "workqueue: Add system_percpu_wq and system_dfl_wq"). Goes with 6.1.
 */
#ifndef NSWAP_HAS_SYSTEM_DFL_WQ
#define system_dfl_wq system_unbound_wq
#define system_percpu_wq system_wq
#endif

/*
 * struct blake2s_ctx: struct blake2s_state before 6.19. May go when 6.12 goes.
 */
#ifndef NSWAP_HAS_BLAKE2S_CTX
#define blake2s_ctx blake2s_state
#endif

/*
 * hrtimer_setup(): new in 6.13 (908a1d775422 "hrtimers: Introduce hrtimer_setup() to
 * replace hrtimer_init()"). May go when 6.12 goes.
 */
#ifndef NSWAP_HAS_HRTIMER_SETUP
#include <linux/hrtimer.h>

#define hrtimer_setup(timer, fn, clock, mode) do {			\
	struct hrtimer *__timer = (timer);				\
									\
	hrtimer_init(__timer, clock, mode);				\
	__timer->function = (fn);					\
} while (0)
#endif

/*
 * kmalloc_obj() and its family: new in 7.0, carried back to 6.12.y; the ones
 * in use here. Goes with 6.1.
 */
#ifndef NSWAP_HAS_KMALLOC_OBJ
#include <linux/mm.h>
#include <linux/slab.h>

#define nswap_compat_gfp(dummy, gfp, ...) gfp
#define nswap_compat_objs(fn, type, n, ...) \
	((typeof(type) *)fn(array_size(n, sizeof(type)), \
			    nswap_compat_gfp(0, ##__VA_ARGS__, GFP_KERNEL)))
#define kmalloc_obj(p, ...)	nswap_compat_objs(kmalloc, p, 1, ##__VA_ARGS__)
#define kmalloc_objs(p, n, ...)	nswap_compat_objs(kmalloc, p, n, ##__VA_ARGS__)
#define kzalloc_obj(p, ...)	nswap_compat_objs(kzalloc, p, 1, ##__VA_ARGS__)
#define kzalloc_objs(p, n, ...)	nswap_compat_objs(kzalloc, p, n, ##__VA_ARGS__)
#define kvmalloc_objs(p, n, ...) \
	nswap_compat_objs(kvmalloc, p, n, ##__VA_ARGS__)
#define kvzalloc_objs(p, n, ...) \
	nswap_compat_objs(kvzalloc, p, n, ##__VA_ARGS__)
#endif

/*
 * NL_SET_ERR_MSG_FMT(): new in 6.2 (51c352bdbcd2 "netlink: add support for
 * formatted extack messages"). Before, an extack holds a pointer only, and the
 * text must outlive the request until it has been answered: each place that
 * refuses keeps its last sentences. Goes with 6.1.
 */
#ifndef NSWAP_HAS_EXTACK_FMT
#include <linux/netlink.h>

#ifndef NETLINK_MAX_FMTMSG_LEN
#define NETLINK_MAX_FMTMSG_LEN 80
#endif
#define NL_SET_ERR_MSG_FMT(extack, fmt, args...) do {			\
	static char __text[8][NETLINK_MAX_FMTMSG_LEN];			\
	static atomic_t __turn;						\
	struct netlink_ext_ack *__extack = (extack);			\
	char *__msg = __text[(unsigned int)atomic_inc_return(&__turn) % 8]; \
									\
	if (!__extack)							\
		break;							\
	snprintf(__msg, NETLINK_MAX_FMTMSG_LEN, fmt, ##args);		\
	__extack->_msg = __msg;						\
} while (0)
#define NL_SET_ERR_MSG_FMT_MOD(extack, fmt, args...) \
	NL_SET_ERR_MSG_FMT(extack, KBUILD_MODNAME ": " fmt, ##args)
#define GENL_SET_ERR_MSG_FMT(info, fmt, args...) \
	NL_SET_ERR_MSG_FMT((info)->extack, fmt, ##args)
#endif

/*
 * blk_mode_t, in the operations of a block device and for opening one: new in 6.5
 * (05bdb9965305 "block: replace fmode_t with a block-specific type for block open flags").
 * Before, the flags of files. Goes with 6.1.
 */
#ifndef NSWAP_HAS_BLK_MODE
#include <linux/fs.h>

#define BLK_OPEN_READ	FMODE_READ
#define BLK_OPEN_WRITE	FMODE_WRITE
typedef fmode_t blk_mode_t;
#endif

/*
 * bdev_file_open_by_path(), bdev_fput(), file_bdev(): new in 6.9 (f3a608827d1f
 * "bdev: open block device as files"; bdev_fput() 22650a99821d). Before, an
 * open block device is no file: what stands for one here is the device itself,
 * always opened to read and write, and known by bdev_fput() and file_bdev()
 * only. Goes with 6.1.
 */
#ifndef NSWAP_HAS_BDEV_FILE
#include <linux/blkdev.h>

static inline struct file *
nswap_compat_open_bdev(const char *path, fmode_t mode, void *holder)
{
	return (struct file *)blkdev_get_by_path(path, mode | FMODE_EXCL,
						 holder);
}

static inline struct block_device *nswap_compat_bdev(struct file *file)
{
	return (struct block_device *)file;
}

#define bdev_file_open_by_path(path, mode, holder, hops) \
	nswap_compat_open_bdev(path, mode, holder)
#define file_bdev(file) nswap_compat_bdev(file)
#define bdev_fput(file) \
	blkdev_put(nswap_compat_bdev(file), \
		   FMODE_READ | FMODE_WRITE | FMODE_EXCL)
#endif

/*
 * dm_io(): a priority since 6.9 (6e5f0f6383b4 "dm io: Support IO priority"),
 * carried back to 6.1.y and 6.12.y, a set of unsupported regions before it
 * since 7.x. The callback got that set as well, which no wrapper can hide: the
 * core asks. Goes with 6.12.
 */
#ifndef NSWAP_HAS_DM_IO_UNSUPPORTED
#define NSWAP_COMPAT_CANNOT_TELL_UNSUPPORTED
#include <linux/dm-io.h>

#ifdef NSWAP_HAS_DM_IO_PRIORITY
#define dm_io(rq, nr, where, errors, unsupported, priority) \
	dm_io(rq, nr, where, errors, priority)
#else
#define dm_io(rq, nr, where, errors, unsupported, priority) \
	dm_io(rq, nr, where, errors)
#endif
#endif

/*
 * raid6_xor_syndrome(), raid6_recov_2data(), raid6_recov_datap(): functions of these names
 * since 7.x. Before, the library had pointers to what was best on the machine, by
 * other names; who asks for a symbol has to ask for those. Goes with 6.12.
 */
#ifndef NSWAP_HAS_RAID6_ROUTINES
#define NSWAP_COMPAT_CANNOT_CALL_RAID6
#endif

/*
 * shrinker_alloc() and its companions: new in 6.7 (c42d50aefd17 "mm: shrinker:
 * add infrastructure for dynamically allocating shrinker"). Before, a shrinker
 * is the caller's memory, and registering it may fail; freeing one that was
 * not registered is allowed, so such a one is just never called. Goes with 6.1.
 */
#ifndef NSWAP_HAS_SHRINKER_ALLOC
#include <linux/shrinker.h>
#include <linux/slab.h>

static inline struct shrinker *nswap_compat_shrinker_alloc(void)
{
	struct shrinker *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (s)
		s->seeks = DEFAULT_SEEKS;
	return s;
}

static inline void nswap_compat_shrinker_free(struct shrinker *s)
{
	unregister_shrinker(s);
	kfree(s);
}

#define shrinker_alloc(flags, fmt, ...) nswap_compat_shrinker_alloc()
#define shrinker_register(s) do {					\
	if (register_shrinker(s, KBUILD_MODNAME))			\
		pr_warn("no memory to be told when memory is short\n");	\
} while (0)
#define shrinker_free(s) nswap_compat_shrinker_free(s)
#endif

/*
 * BLK_MQ_F_SHOULD_MERGE: gone in 6.14 (cc76ace465d6 "block: remove
 * BLK_MQ_F_SHOULD_MERGE"), where every queue merges. Before, a driver had to
 * ask for it. Goes with 6.12.
 */
#ifdef NSWAP_HAS_SHOULD_MERGE
#include <linux/blk-mq.h>

static inline int nswap_compat_alloc_tag_set(struct blk_mq_tag_set *set)
{
	set->flags |= BLK_MQ_F_SHOULD_MERGE;
	return blk_mq_alloc_tag_set(set);
}

#define blk_mq_alloc_tag_set nswap_compat_alloc_tag_set
#endif

/*
 * struct rq_list of a plug's requests: new in 6.13 (a3396b99990d "block: add a rq_list
 * type"); before, a pointer to the first. Goes with 6.12.
 */
#ifdef NSWAP_HAS_RQ_LIST
#define nswap_compat_plug_empty(plug) rq_list_empty(&(plug)->mq_list)
#else
#define nswap_compat_plug_empty(plug) (!(plug)->mq_list)
#endif

/*
 * MSG_SPLICE_PAGES works since 6.5, where it took the place of a call that takes one
 * page at a time; 6.1.y has the flag alone. @msg: of bvecs. Goes with 6.1.
 */
#include <linux/net.h>
#ifndef NSWAP_HAS_SENDPAGE
static inline int nswap_compat_splice(struct socket *sock, struct msghdr *msg)
{
	msg->msg_flags |= MSG_SPLICE_PAGES;
	return sock_sendmsg(sock, msg);
}
#else
#include <net/sock.h>

static inline int nswap_compat_splice(struct socket *sock, struct msghdr *msg)
{
	struct iov_iter *from = &msg->msg_iter;
	int ret = 0, done = 0;

	lock_sock(sock->sk);
	while (iov_iter_count(from)) {
		const struct bio_vec *bv = from->bvec;
		size_t n = min_t(size_t, bv->bv_len - from->iov_offset,
				 iov_iter_count(from));
		int more = n < iov_iter_count(from) ? MSG_MORE | MSG_SENDPAGE_NOTLAST : 0;

		ret = kernel_sendpage_locked(sock->sk, bv->bv_page,
					     bv->bv_offset + from->iov_offset, n,
					     msg->msg_flags | more);
		if (ret <= 0)
			break;
		iov_iter_advance(from, ret);
		done += ret;
	}
	release_sock(sock->sk);
	return done ?: ret;
}
#endif

/*
 * QUEUE_FLAG_DISABLE_WBT_DEF: a flag of the queue since 7.x, before that the I/O
 * scheduler's alone. What stands for it is set on every blk-mq queue anyway, so
 * throttling stays on there (docs/failures.md). Goes with 6.12.
 */
#ifndef NSWAP_HAS_DISABLE_WBT
#define QUEUE_FLAG_DISABLE_WBT_DEF QUEUE_FLAG_SAME_COMP
#endif

/*
 * blk_mq_alloc_disk() takes the queue's limits since 6.9 (27e32cd23fed "block:
 * pass a queue_limits argument to blk_mq_alloc_disk"), and features are part
 * of them since 6.11 (1122c0c1cc71 "block: move cache control settings out of
 * queue->flags" and those after it). Before, setters do it on the finished
 * queue. Only what is listed here can be asked for; a limit of 0 keeps the
 * kernel's default, as it does today. Goes with 6.1.
 */
#ifndef NSWAP_HAS_BLK_MQ_LIMITS
#include <linux/blk-mq.h>

struct nswap_compat_limits {
	unsigned int logical_block_size;
	unsigned int physical_block_size;
	unsigned int io_min;
	unsigned int io_opt;
	unsigned int max_hw_sectors;
	unsigned int max_segment_size;
	unsigned int max_hw_discard_sectors;
	unsigned int discard_granularity;
	unsigned short max_segments;
	unsigned short max_discard_segments;
	unsigned long seg_boundary_mask;
	unsigned int dma_alignment;
	unsigned int features;
};

#define BLK_FEAT_STABLE_WRITES	1
#define BLK_FEAT_WRITE_CACHE	2
#define BLK_FEAT_FUA		4

static inline void
nswap_compat_set_limits(struct request_queue *q,
			const struct nswap_compat_limits *lim)
{
	if (lim->logical_block_size)
		blk_queue_logical_block_size(q, lim->logical_block_size);
	if (lim->physical_block_size)
		blk_queue_physical_block_size(q, lim->physical_block_size);
	if (lim->io_min)
		blk_queue_io_min(q, lim->io_min);
	if (lim->io_opt)
		blk_queue_io_opt(q, lim->io_opt);
	if (lim->max_hw_sectors)
		blk_queue_max_hw_sectors(q, lim->max_hw_sectors);
	if (lim->max_segments)
		blk_queue_max_segments(q, lim->max_segments);
	if (lim->max_segment_size)
		blk_queue_max_segment_size(q, lim->max_segment_size);
	if (lim->seg_boundary_mask)
		blk_queue_segment_boundary(q, lim->seg_boundary_mask);
	if (lim->dma_alignment)
		blk_queue_dma_alignment(q, lim->dma_alignment);
	if (lim->max_discard_segments)
		blk_queue_max_discard_segments(q, lim->max_discard_segments);
	if (lim->discard_granularity)
		q->limits.discard_granularity = lim->discard_granularity;
	if (lim->max_hw_discard_sectors)
		blk_queue_max_discard_sectors(q, lim->max_hw_discard_sectors);
	if (lim->features & BLK_FEAT_STABLE_WRITES)
		blk_queue_flag_set(QUEUE_FLAG_STABLE_WRITES, q);
	blk_queue_write_cache(q, lim->features & BLK_FEAT_WRITE_CACHE,
			      lim->features & BLK_FEAT_FUA);
	/* no BLK_FEAT_ROTATIONAL, no BLK_FEAT_ADD_RANDOM */
	blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, q);
}

/* Today's answer to failure is an ERR_PTR, and so was that of 6.1. */
#undef blk_mq_alloc_disk
#define blk_mq_alloc_disk(set, lim, queuedata)				\
({									\
	static struct lock_class_key __key;				\
	struct gendisk *__disk;						\
									\
	__disk = __blk_mq_alloc_disk(set, queuedata, &__key);		\
	if (!IS_ERR(__disk))						\
		nswap_compat_set_limits(__disk->queue, lim);		\
	__disk;								\
})
#define queue_limits nswap_compat_limits
#endif

#endif
