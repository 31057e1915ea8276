// SPDX-License-Identifier: GPL-2.0
/*
 * Block devices with the timing of flash or of a disk, for tests and benchmarks.
 *
 *   echo "mf0 flash mb=64 read_ns=50000 write_ns=80000" > .../parameters/add
 *   echo 70000 > /sys/block/mf0/model/read_ns
 *   echo mf0 > .../parameters/remove
 *
 * Content is in memory that is allocated when a device is added. model_time.c
 * says when a request is over; a timer of the request's own ends it.
 *
 * Invariants:
 *  - Nothing is allocated for a request: such a device may be swapped to.
 *  - Data is copied when a request is handed in: two requests for one page that
 *    are under way together are unordered on any device.
 *  - The list of devices is under @models_lock; a device that is open is not
 *    removed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/blk-mq.h>
#include <linux/device.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "model.h"

#define MAX_MB		(1 << 20)
#define MAX_NS		(10ULL * NSEC_PER_SEC)
#define MAX_DEPTH	1024
#define WORDS		24	/* words of one line to "add" */

struct model {
	struct model_time time;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
	struct list_head link;		/* under models_lock */
	u64 mb, depth;
	u8 *data;
};

/* behind each request */
struct model_cmd {
	struct hrtimer timer;
};

/* a number of the line to "add", and of a file in sysfs if it is a knob */
struct model_number {
	struct device_attribute attr;
	size_t offset;
	u64 least, most;
};

static LIST_HEAD(models);
static DEFINE_MUTEX(models_lock);
static bool ready;		/* under models_lock */

static ssize_t number_show(struct device *dev, struct device_attribute *attr,
			   char *buf);
static ssize_t number_store(struct device *dev, struct device_attribute *attr,
			    const char *buf, size_t count);

#define NUMBER(_name, _where, _least, _most) {					\
	.attr = __ATTR(_name, 0644, number_show, number_store),			\
	.offset = offsetof(struct model, _where),				\
	.least = _least, .most = _most }
#define KNOB(_name, _least, _most) NUMBER(_name, time.knobs._name, _least, _most)

#define FIRST_KNOB	2
static struct model_number numbers[] = {
	NUMBER(mb, mb, 1, MAX_MB),
	NUMBER(depth, depth, 1, MAX_DEPTH),
	KNOB(read_ns, 0, MAX_NS),
	KNOB(write_ns, 0, MAX_NS),
	KNOB(bus_read_ns, 0, MAX_NS),
	KNOB(bus_write_ns, 0, MAX_NS),
	KNOB(channels, 1, MODEL_CHANNELS),
	KNOB(seek_min_ns, 0, MAX_NS),
	KNOB(seek_max_ns, 0, MAX_NS),
	KNOB(span_mb, 0, MAX_MB),
	KNOB(rotation_ns, 1, MAX_NS),
	KNOB(track_sectors, 8, 1 << 16),
};

static u64 *number_of(struct model *m, const struct model_number *n)
{
	return (u64 *)((char *)m + n->offset);
}

static int set_number(struct model *m, const struct model_number *n,
		      const char *text)
{
	u64 value;

	if (kstrtou64(text, 0, &value) || value < n->least || value > n->most) {
		pr_err("%s must be a number from %llu to %llu\n",
		       n->attr.attr.name, n->least, n->most);
		return -EINVAL;
	}
	WRITE_ONCE(*number_of(m, n), value);
	return 0;
}

static ssize_t number_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	struct model_number *n = container_of(attr, struct model_number, attr);
	struct model *m = dev_to_disk(dev)->private_data;

	return sysfs_emit(buf, "%llu\n", READ_ONCE(*number_of(m, n)));
}

static ssize_t number_store(struct device *dev, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	struct model_number *n = container_of(attr, struct model_number, attr);
	struct model *m = dev_to_disk(dev)->private_data;

	return set_number(m, n, buf) ?: count;
}

static struct attribute *knob_attrs[ARRAY_SIZE(numbers) - FIRST_KNOB + 1];
static const struct attribute_group knob_group = {
	.name = "model",
	.attrs = knob_attrs,
};

static const struct attribute_group *knob_groups[] = { &knob_group, NULL };

static enum hrtimer_restart timer_over(struct hrtimer *timer)
{
	struct model_cmd *cmd = container_of(timer, struct model_cmd, timer);

	blk_mq_end_request(blk_mq_rq_from_pdu(cmd), BLK_STS_OK);
	return HRTIMER_NORESTART;
}

static int init_request(struct blk_mq_tag_set *set, struct request *rq,
			unsigned int hctx, int node)
{
	struct model_cmd *cmd = blk_mq_rq_to_pdu(rq);

	hrtimer_setup(&cmd->timer, timer_over, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_HARD);
	return 0;
}

static void move_data(struct model *m, struct request *rq)
{
	u8 *at = m->data + (blk_rq_pos(rq) << SECTOR_SHIFT);
	struct req_iterator iter;
	struct bio_vec part;

	rq_for_each_segment(part, rq, iter) {
		if (rq_data_dir(rq) == WRITE)
			memcpy_from_bvec(at, &part);
		else
			memcpy_to_bvec(&part, at);
		at += part.bv_len;
	}
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx,
			     const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct model *m = rq->q->queuedata;
	struct model_cmd *cmd = blk_mq_rq_to_pdu(rq);
	u64 now = ktime_get_ns();
	u64 end = now;

	blk_mq_start_request(rq);
	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		move_data(m, rq);
		end = model_end(&m->time, now, rq_data_dir(rq) == WRITE,
				blk_rq_pos(rq), blk_rq_sectors(rq));
		break;
	case REQ_OP_DISCARD:
		memset(m->data + (blk_rq_pos(rq) << SECTOR_SHIFT), 0,
		       blk_rq_bytes(rq));
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	if (end == now)
		blk_mq_end_request(rq, BLK_STS_OK);
	else
		hrtimer_start(&cmd->timer, ns_to_ktime(end), HRTIMER_MODE_ABS_HARD);
	return BLK_STS_OK;
}

static const struct blk_mq_ops model_mq_ops = {
	.queue_rq = queue_rq,
	.init_request = init_request,
};

static const struct block_device_operations model_fops = {
	.owner = THIS_MODULE,
};

static void free_model(struct model *m)
{
	if (m->disk)
		put_disk(m->disk);
	if (m->tags.ops)
		blk_mq_free_tag_set(&m->tags);
	vfree(m->data);
	kfree(m);
}

static int make_tags(struct model *m)
{
	int ret;

	m->tags.ops = &model_mq_ops;
	m->tags.nr_hw_queues = 1;
	m->tags.queue_depth = m->depth;
	m->tags.numa_node = NUMA_NO_NODE;
	m->tags.cmd_size = sizeof(struct model_cmd);
	/* what is modelled takes requests as they come, unless asked otherwise */
	m->tags.flags = BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	ret = blk_mq_alloc_tag_set(&m->tags);
	if (ret)
		m->tags.ops = NULL;
	return ret;
}

static int make_disk(struct model *m, const char *name)
{
	struct queue_limits lim = {
		.logical_block_size = 512,
		.physical_block_size = 4096,
		.max_hw_sectors = 1024,
	};
	struct gendisk *disk;

	if (m->time.kind == MODEL_DISK) {
		lim.features |= BLK_FEAT_ROTATIONAL;
	} else {
		lim.max_hw_discard_sectors = UINT_MAX >> SECTOR_SHIFT;
		lim.discard_granularity = 4096;
	}
	disk = blk_mq_alloc_disk(&m->tags, &lim, m);
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	m->disk = disk;
	disk->fops = &model_fops;
	disk->private_data = m;
	strscpy(disk->disk_name, name);
	set_capacity(disk, m->mb << (20 - SECTOR_SHIFT));
	return device_add_disk(NULL, disk, knob_groups);
}

static struct model *find(const char *name)
{
	struct model *m;

	list_for_each_entry(m, &models, link)
		if (!strcmp(m->disk->disk_name, name))
			return m;
	return NULL;
}

static int parse_number(struct model *m, char *word)
{
	const char *name = strsep(&word, "=");

	for (size_t i = 0; word && i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(numbers[i].attr.attr.name, name))
			return set_number(m, &numbers[i], word);
	pr_err("no number '%s': they are given as mb=64\n", name);
	return -EINVAL;
}

static int parse(struct model *m, char **word, int nr)
{
	static const char * const kinds[] = { "flash", "disk" };
	int kind = nr > 1 ? match_string(kinds, ARRAY_SIZE(kinds), word[1]) : -1;
	int ret = 0;

	if (kind < 0) {
		pr_err("say NAME flash|disk [NUMBER=VALUE]...\n");
		return -EINVAL;
	}
	m->time.kind = kind;
	for (int i = 2; i < nr && !ret; i++)
		ret = parse_number(m, word[i]);
	return ret;
}

static struct model *new_model(void)
{
	struct model *m = kzalloc_obj(*m);

	if (!m)
		return NULL;
	spin_lock_init(&m->time.lock);
	m->mb = 64;
	m->depth = 128;
	m->time.knobs = (struct model_knobs) {
		.channels = 1,
		.seek_min_ns = 1 * NSEC_PER_MSEC,
		.seek_max_ns = 16 * NSEC_PER_MSEC,
		.rotation_ns = NSEC_PER_SEC / 120,
		.track_sectors = 1000,
	};
	return m;
}

static int add(char **word, int nr)
{
	struct model *m;
	int ret;

	if (nr && (find(word[0]) || strlen(word[0]) >= DISK_NAME_LEN)) {
		pr_err("the name '%s' is taken or too long\n", word[0]);
		return -EEXIST;
	}
	m = new_model();
	if (!m)
		return -ENOMEM;
	ret = parse(m, word, nr);
	if (!ret && !m->time.knobs.span_mb)
		m->time.knobs.span_mb = m->mb;
	if (!ret) {
		m->data = vzalloc(m->mb << 20);
		ret = m->data ? make_tags(m) : -ENOMEM;
	}
	if (!ret)
		ret = make_disk(m, word[0]);
	if (ret) {
		free_model(m);
		return ret;
	}
	list_add_tail(&m->link, &models);
	return 0;
}

static int remove(struct model *m)
{
	if (disk_openers(m->disk)) {
		pr_err("%s is in use\n", m->disk->disk_name);
		return -EBUSY;
	}
	list_del(&m->link);
	del_gendisk(m->disk);
	free_model(m);
	return 0;
}

static int add_set(const char *val, const struct kernel_param *kp)
{
	char *text = kstrdup(val, GFP_KERNEL);
	char *rest = text, *one;
	char *word[WORDS];
	int ret = -EAGAIN;
	int nr = 0;

	if (!text)
		return -ENOMEM;
	while ((one = strsep(&rest, " \t\n")) && nr < WORDS)
		if (*one)
			word[nr++] = one;
	mutex_lock(&models_lock);
	if (ready)
		ret = add(word, nr);
	mutex_unlock(&models_lock);
	kfree(text);
	return ret;
}

static int remove_set(const char *val, const struct kernel_param *kp)
{
	char name[DISK_NAME_LEN];
	int ret = -ENODEV;
	struct model *m;

	strscpy(name, val);
	mutex_lock(&models_lock);
	m = find(strim(name));
	if (m)
		ret = remove(m);
	mutex_unlock(&models_lock);
	return ret;
}

static const struct kernel_param_ops add_ops = { .set = add_set };
static const struct kernel_param_ops remove_ops = { .set = remove_set };
module_param_cb(add, &add_ops, NULL, 0200);
MODULE_PARM_DESC(add, "add a device: NAME flash|disk [NUMBER=VALUE]...");
module_param_cb(remove, &remove_ops, NULL, 0200);
MODULE_PARM_DESC(remove, "remove a device: NAME");

static int __init model_init(void)
{
	for (size_t i = FIRST_KNOB; i < ARRAY_SIZE(numbers); i++) {
		sysfs_attr_init(&numbers[i].attr.attr);
		knob_attrs[i - FIRST_KNOB] = &numbers[i].attr.attr;
	}
	mutex_lock(&models_lock);
	ready = true;
	mutex_unlock(&models_lock);
	return 0;
}

/* none is open: the module would be in use */
static void __exit model_exit(void)
{
	struct model *m, *next;

	list_for_each_entry_safe(m, next, &models, link)
		remove(m);
}

module_init(model_init);
module_exit(model_exit);
MODULE_DESCRIPTION("block devices with the timing of flash and of a disk");
MODULE_LICENSE("GPL");
