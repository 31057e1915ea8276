// SPDX-License-Identifier: GPL-2.0
/*
 * Compile probes, one section each. Nothing here is ever linked: compat.h says
 * what is done where a section does not compile, and when that can go.
 */
#if defined(NSWAP_PROBE_BLK_MQ_LIMITS)
#include <linux/blk-mq.h>
struct gendisk *probe(struct blk_mq_tag_set *set, struct queue_limits *lim);
struct gendisk *probe(struct blk_mq_tag_set *set, struct queue_limits *lim)
{
	lim->features = 0;
	return blk_mq_alloc_disk(set, lim, set);
}

#elif defined(NSWAP_PROBE_BLAKE2S_CTX)
#include <crypto/blake2s.h>
struct blake2s_ctx probe;

#elif defined(NSWAP_PROBE_SHOULD_MERGE)
#include <linux/blk-mq.h>
unsigned int probe = BLK_MQ_F_SHOULD_MERGE;

#elif defined(NSWAP_PROBE_SOCKADDR_UNSIZED)
#include <linux/net.h>
int probe(struct socket *sock, struct sockaddr_unsized *addr);
int probe(struct socket *sock, struct sockaddr_unsized *addr)
{
	return kernel_bind(sock, addr, 0);
}

#elif defined(NSWAP_PROBE_EXTACK_FMT)
#include <linux/netlink.h>
#ifndef NL_SET_ERR_MSG_FMT
#error no
#endif
void probe(struct netlink_ext_ack *ext);
void probe(struct netlink_ext_ack *ext)
{
	ext->_msg_buf[0] = 0;
}

#elif defined(NSWAP_PROBE_KMALLOC_OBJ)
#include <linux/slab.h>
#ifndef kmalloc_obj
#error no
#endif

#elif defined(NSWAP_PROBE_WQ_PERCPU)
#include <linux/workqueue.h>
unsigned int probe = WQ_PERCPU;

#elif defined(NSWAP_PROBE_SYSTEM_DFL_WQ)
#include <linux/workqueue.h>
struct workqueue_struct **probe = &system_dfl_wq;

#elif defined(NSWAP_PROBE_SLOT_FREE_NOTIFY)
#include <linux/blkdev.h>
static void notify(struct block_device *bdev, unsigned long slot) { }
const struct block_device_operations probe = {
	.swap_slot_free_notify = notify,
};

#elif defined(NSWAP_PROBE_BDEV_FILE)
#include <linux/blkdev.h>
struct block_device *probe(const char *path, void *holder);
struct block_device *probe(const char *path, void *holder)
{
	struct file *file;

	file = bdev_file_open_by_path(path, BLK_OPEN_WRITE, holder, NULL);
	bdev_fput(file);
	return file_bdev(file);
}

#elif defined(NSWAP_PROBE_BLK_MODE)
#include <linux/blkdev.h>
blk_mode_t probe = BLK_OPEN_WRITE;

#elif defined(NSWAP_PROBE_DM_IO_PRIORITY)
#include <linux/dm-io.h>
int probe(struct dm_io_request *rq, struct dm_io_region *where);
int probe(struct dm_io_request *rq, struct dm_io_region *where)
{
	return dm_io(rq, 1, where, NULL, 0);
}

#elif defined(NSWAP_PROBE_DM_IO_UNSUPPORTED)
#include <linux/dm-io.h>
int probe(struct dm_io_request *rq, struct dm_io_region *where);
int probe(struct dm_io_request *rq, struct dm_io_region *where)
{
	return dm_io(rq, 1, where, NULL, NULL, 0);
}

#elif defined(NSWAP_PROBE_SHRINKER_ALLOC)
#include <linux/shrinker.h>
struct shrinker *probe(void);
struct shrinker *probe(void)
{
	return shrinker_alloc(0, "name");
}

#elif defined(NSWAP_PROBE_HRTIMER_SETUP)
#include <linux/hrtimer.h>
void (*probe)(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *),
	      clockid_t clock, enum hrtimer_mode mode) = hrtimer_setup;

#elif defined(NSWAP_PROBE_RAID6_ROUTINES)
#include <linux/raid/pq.h>
bool (*probe)(void) = raid6_can_xor_syndrome;

#elif defined(NSWAP_PROBE_DISABLE_WBT)
#include <linux/blkdev.h>
unsigned int probe = QUEUE_FLAG_DISABLE_WBT_DEF;

#elif defined(NSWAP_PROBE_RQ_LIST)
#include <linux/blkdev.h>
struct rq_list probe;

#elif defined(NSWAP_PROBE_SENDPAGE)
#include <linux/net.h>
int (*probe)(struct sock *sk, struct page *page, int offset, size_t size,
	     int flags) = kernel_sendpage_locked;

#elif defined(NSWAP_PROBE_TASK_FRAG)
#include <net/sock.h>
void probe(struct sock *sk);
void probe(struct sock *sk)
{
	sk->sk_use_task_frag = false;
}

#endif
