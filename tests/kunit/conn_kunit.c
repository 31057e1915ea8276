// SPDX-License-Identifier: GPL-2.0
/* One connection, on a link that can be told how much fits: who sends what, and when. */
#include <kunit/test.h>
#include <linux/kthread.h>

#include "../../nswap/base/workqueues.c"
#include "../../nswap/transport/conn.c"

#define MESSAGES	200
#define SENT_BY_ONE	32	/* far fewer than are queued, and enough for a batch */

DEFINE_STATIC_KEY_FALSE(nswap_meter_key);

/**
 * struct feed - a link whose every send finds that others have queued one more
 * @c: its connection
 * @m: messages
 * @vec: their headers
 * @given: how many were given to the connection
 * @sent: how many were sent, by any task
 * @by_caller: those sent by @caller
 * @caller: the task that gave the first
 */
struct feed {
	struct nswap_conn c;
	struct nswap_msg m[MESSAGES];
	struct bio_vec vec[MESSAGES];
	atomic_t given;
	atomic_t sent;
	unsigned int by_caller;
	struct task_struct *caller;
};

static struct feed *the_feed;

/**
 * struct pipe - without a feed: a link that takes so much
 * @room: bytes that it takes yet
 * @sends: how often it took some
 * @bytes: how many
 */
static struct pipe {
	size_t room;
	unsigned int sends;
	size_t bytes;
} pipe;

static ssize_t pipe_send(struct iov_iter *from)
{
	size_t n = min(iov_iter_count(from), pipe.room);

	if (!n)
		return -EAGAIN;
	iov_iter_advance(from, n);
	pipe.room -= n;
	pipe.sends++;
	pipe.bytes += n;
	return n;
}

static void give(struct feed *f)
{
	int i = atomic_inc_return(&f->given) - 1;
	struct nswap_msg *m = &f->m[i];

	bvec_set_page(&f->vec[i], virt_to_page(&m->hdr), sizeof(m->hdr),
		      offset_in_page(&m->hdr));
	iov_iter_bvec(&m->iter, ITER_SOURCE, &f->vec[i], 1, sizeof(m->hdr));
	nswap_conn_send(&f->c, m);
}

static ssize_t feed_send(struct nswap_link *l, struct iov_iter *from, size_t pages,
			 bool wait)
{
	struct feed *f = the_feed;
	ssize_t len = iov_iter_count(from);

	if (!f)
		return pipe_send(from);
	iov_iter_advance(from, len);
	f->by_caller += current == f->caller;
	atomic_inc(&f->sent);
	if (atomic_read(&f->given) < MESSAGES)
		give(f);
	return len;
}

static bool feed_fits(struct nswap_link *l, size_t len)
{
	return true;
}

const struct nswap_transport_ops nswap_tcp_ops = {
	.name = "fed", .fits = feed_fits, .send = feed_send,
};

int nswap_recv_buf(const struct nswap_transport_ops *t, struct nswap_link *l,
		   void *buf, size_t len)
{
	return -EPIPE;
}

/* a task that sends does not go on for as long as others queue messages */
static void sends_a_share(struct kunit *test)
{
	struct feed *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	unsigned long until = jiffies + 20 * HZ;
	LIST_HEAD(lost);

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_EQ(test, nswap_workqueues_init(), 0);
	KUNIT_ASSERT_EQ(test, nswap_conn_init(&f->c, (void *)f, 0), 0);
	the_feed = f;
	f->caller = current;
	f->c.up = true;
	give(f);
	KUNIT_EXPECT_GE(test, f->by_caller, 1u);
	KUNIT_EXPECT_LE(test, f->by_caller, (unsigned int)SENT_BY_ONE);
	while (atomic_read(&f->sent) < MESSAGES && time_before(jiffies, until))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->sent), MESSAGES);
	nswap_conn_close(&f->c, &lost);
	nswap_conn_exit(&f->c);
	nswap_workqueues_exit();
}

static void queue_some(struct kunit *test, struct nswap_conn *c, struct nswap_msg *m,
		       struct bio_vec *bv, unsigned int n)
{
	for (; n--; m++, bv++) {
		bvec_set_page(bv, virt_to_page(&m->hdr), sizeof(m->hdr),
			      offset_in_page(&m->hdr));
		iov_iter_bvec(&m->iter, ITER_SOURCE, bv, 1, sizeof(m->hdr));
		KUNIT_EXPECT_EQ(test, nswap_conn_queue(c, m), 0);
	}
}

/* what is queued leaves in one send; what then has no room is as if it was not tried */
static void leave_together(struct kunit *test)
{
	struct nswap_msg *m = kunit_kcalloc(test, 8, sizeof(*m), GFP_KERNEL);
	struct nswap_conn *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct bio_vec *bv = kunit_kcalloc(test, 8, sizeof(*bv), GFP_KERNEL);
	size_t one = sizeof(m->hdr);
	LIST_HEAD(lost);

	KUNIT_ASSERT_TRUE(test, m && c && bv);
	KUNIT_ASSERT_EQ(test, nswap_workqueues_init(), 0);
	KUNIT_ASSERT_EQ(test, nswap_conn_init(c, (void *)c, 0), 0);
	the_feed = NULL;
	c->up = true;
	pipe = (struct pipe){ .room = 6 * one + one / 2 };
	queue_some(test, c, m, bv, 5);
	KUNIT_EXPECT_EQ(test, pipe.sends, 0u);
	nswap_conn_push(c);
	KUNIT_EXPECT_EQ(test, pipe.sends, 1u);
	KUNIT_EXPECT_EQ(test, pipe.bytes, 5 * one);
	KUNIT_EXPECT_EQ(test, m[4].at, NSWAP_MSG_SENT);

	queue_some(test, c, m + 5, bv + 5, 3);
	nswap_conn_push(c);
	cancel_delayed_work_sync(&c->tx_work);
	KUNIT_EXPECT_EQ(test, m[5].at, NSWAP_MSG_SENT);
	KUNIT_EXPECT_EQ(test, m[6].at, NSWAP_MSG_SENDING);
	KUNIT_EXPECT_PTR_EQ(test, c->cur, &m[6]);
	KUNIT_EXPECT_EQ(test, m[7].at, NSWAP_MSG_QUEUED);
	KUNIT_EXPECT_EQ(test, c->tags.sent, 7ull);

	pipe.room = SIZE_MAX;
	nswap_conn_push(c);
	KUNIT_EXPECT_EQ(test, m[7].at, NSWAP_MSG_SENT);
	KUNIT_EXPECT_EQ(test, pipe.bytes, 8 * one);
	KUNIT_EXPECT_EQ(test, c->tags.sent, 8ull);
	nswap_conn_close(c, &lost);
	nswap_conn_exit(c);
	nswap_workqueues_exit();
}

/* a receiver: the message that waits for its answer is still being sent */
static int receives(void *arg)
{
	struct nswap_conn *c = arg;
	struct nswap_msg *m = list_first_entry(&c->sent, struct nswap_msg, link);

	WARN_ON(take_answered(c, m->hdr.id) != m);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* what finds the sender's mutex held by a receiver is sent by that */
static void receiver_sends(struct kunit *test)
{
	struct nswap_msg *m = kunit_kcalloc(test, 2, sizeof(*m), GFP_KERNEL);
	struct nswap_conn *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct bio_vec *bv = kunit_kcalloc(test, 2, sizeof(*bv), GFP_KERNEL);
	unsigned long until = jiffies + 20 * HZ;
	struct nswap_msg *batch[2];
	struct task_struct *t;
	LIST_HEAD(lost);

	KUNIT_ASSERT_TRUE(test, m && c && bv);
	KUNIT_ASSERT_EQ(test, nswap_workqueues_init(), 0);
	KUNIT_ASSERT_EQ(test, nswap_conn_init(c, (void *)c, 0), 0);
	the_feed = NULL;
	c->up = true;
	pipe = (struct pipe){ .room = SIZE_MAX };
	m[0].hdr.id = cpu_to_le64(1);
	m[1].hdr.id = cpu_to_le64(2);
	mutex_lock(&c->tx);
	queue_some(test, c, m, bv, 1);
	KUNIT_EXPECT_EQ(test, next_to_send(c, batch, 2), 1u);
	t = kthread_run(receives, c, "receives");
	KUNIT_ASSERT_FALSE(test, IS_ERR(t));
	while (READ_ONCE(t->__state) != TASK_UNINTERRUPTIBLE && time_before(jiffies, until))
		schedule_timeout_uninterruptible(1);
	batch_sent(c, batch, 1, send_batch(c, batch, 1));
	queue_some(test, c, m + 1, bv + 1, 1);
	nswap_conn_push(c);
	KUNIT_EXPECT_EQ(test, m[1].at, NSWAP_MSG_QUEUED);
	mutex_unlock(&c->tx);
	while (READ_ONCE(m[1].at) != NSWAP_MSG_SENT && time_before(jiffies, until))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, m[1].at, NSWAP_MSG_SENT);
	kthread_stop(t);
	nswap_conn_close(c, &lost);
	nswap_conn_exit(c);
	nswap_workqueues_exit();
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(sends_a_share),
	KUNIT_CASE(leave_together),
	KUNIT_CASE(receiver_sends),
	{ }
};

static struct kunit_suite conn_suite = {
	.name = "nswap_conn",
	.test_cases = conn_cases,
};

kunit_test_suite(conn_suite);
