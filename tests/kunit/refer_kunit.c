// SPDX-License-Identifier: GPL-2.0
/*
 * Sending pages without copying them: what may be referred to, and that the other end of
 * a connection gets the bytes of headers as they were and those of pages as they are.
 */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "../../nswap/transport/refer.c"

#define HEAD	72
#define PAGES	6

/* something to send: a header in a slab, and pages */
struct parcel {
	u8 *head;
	struct page *page[PAGES];
	struct bio_vec bv[PAGES + 1];
};

static struct parcel *parcel_made(struct kunit *test)
{
	struct parcel *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->head = kunit_kzalloc(test, HEAD, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p->head);
	memset(p->head, 0x77, HEAD);
	bvec_set_page(&p->bv[0], virt_to_page(p->head), HEAD, offset_in_page(p->head));
	for (i = 0; i < PAGES; i++) {
		p->page[i] = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, p->page[i]);
		memset(page_address(p->page[i]), i + 1, PAGE_SIZE);
		bvec_set_page(&p->bv[i + 1], p->page[i], PAGE_SIZE, 0);
	}
	return p;
}

static void parcel_free(struct parcel *p)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		__free_page(p->page[i]);
}

static struct iov_iter parcel_iter(struct parcel *p)
{
	struct iov_iter it;

	iov_iter_bvec(&it, ITER_SOURCE, p->bv, PAGES + 1, HEAD + PAGES * PAGE_SIZE);
	return it;
}

static void may_refer(struct kunit *test)
{
	struct parcel *p = parcel_made(test);
	struct iov_iter it = parcel_iter(p);

	KUNIT_EXPECT_TRUE(test, nswap_refer_may(&it, 0));
	KUNIT_EXPECT_TRUE(test, nswap_refer_may(&it, PAGES * PAGE_SIZE));
	/* its header is of a slab, as is what a kernel's own write may have */
	KUNIT_EXPECT_FALSE(test, nswap_refer_may(&it, PAGES * PAGE_SIZE + HEAD));
	p->bv[3].bv_page = p->bv[0].bv_page;
	KUNIT_EXPECT_FALSE(test, nswap_refer_may(&it, PAGES * PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, nswap_refer_may(&it, 3 * PAGE_SIZE));
	/* the rest of a page, and whole ones */
	iov_iter_advance(&it, HEAD + 3 * PAGE_SIZE + 100);
	KUNIT_EXPECT_TRUE(test, nswap_refer_may(&it, PAGES * PAGE_SIZE));
	parcel_free(p);
}

/* both ends of a connection of this machine with itself */
static void ends_made(struct kunit *test, struct socket *end[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct socket *listener;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &listener), 0);
	KUNIT_ASSERT_EQ(test, kernel_bind(listener, (struct sockaddr_unsized *)&at,
					  sizeof(at)), 0);
	KUNIT_ASSERT_EQ(test, kernel_listen(listener, 1), 0);
	KUNIT_ASSERT_GT(test, kernel_getsockname(listener, (struct sockaddr *)&at), 0);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &end[0]), 0);
	KUNIT_ASSERT_EQ(test, kernel_connect(end[0], (struct sockaddr_unsized *)&at,
					     sizeof(at), 0), 0);
	KUNIT_ASSERT_EQ(test, kernel_accept(listener, &end[1], 0), 0);
	sock_release(listener);
}

static void refers_to_pages_only(struct kunit *test)
{
	size_t done = 0, all = HEAD + PAGES * PAGE_SIZE;
	struct parcel *p = parcel_made(test);
	struct iov_iter it = parcel_iter(p);
	u8 *got = kunit_kzalloc(test, all, GFP_KERNEL);
	struct kvec v = { .iov_base = got, .iov_len = all };
	struct msghdr msg = {};
	struct socket *end[2];
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, got);
	ends_made(test, end);
	while (done < all) {
		ret = nswap_refer_send(end[0], &it, PAGES * PAGE_SIZE, MSG_NOSIGNAL);
		KUNIT_ASSERT_GT(test, ret, 0);
		iov_iter_advance(&it, ret);
		done += ret;
	}
	memset(p->head, 0, HEAD);
	memset(page_address(p->page[PAGES - 1]), 0xee, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, kernel_recvmsg(end[1], &msg, &v, 1, all, MSG_WAITALL), all);
	KUNIT_EXPECT_NULL(test, memchr_inv(got, 0x77, HEAD));
	KUNIT_EXPECT_NULL(test, memchr_inv(got + HEAD, 1, PAGE_SIZE));
	KUNIT_EXPECT_NULL(test, memchr_inv(got + all - PAGE_SIZE, 0xee, PAGE_SIZE));
	sock_release(end[0]);
	sock_release(end[1]);
	parcel_free(p);
}

static struct kunit_case refer_cases[] = {
	KUNIT_CASE(may_refer),
	KUNIT_CASE(refers_to_pages_only),
	{}
};

static struct kunit_suite refer_suite = {
	.name = "nswap_refer",
	.test_cases = refer_cases,
};

kunit_test_suite(refer_suite);
