// SPDX-License-Identifier: GPL-2.0
/* Addresses to and from the socket layer. */
#include <kunit/test.h>

#include "../../nswap/transport/sockaddr.c"

static void round_trip(struct kunit *test)
{
	static const struct nswap_addr addrs[] = {
		{ AF_INET, 9611, 0, { 192, 168, 1, 254 } },
		{ AF_INET, 65535, 0, { 255, 255, 255, 255 } },
		{ AF_INET6, 1, 0, { 0x20, 1, 0xd, 0xb8, [15] = 9 } },
		{ AF_INET6, 9611, 7, { 0xfe, 0x80, [15] = 1 } },
	};
	struct sockaddr_storage ss;
	struct nswap_addr back;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		memset(&back, 0xff, sizeof(back));
		KUNIT_EXPECT_GT(test, nswap_to_sockaddr(&addrs[i], &ss), 0);
		KUNIT_EXPECT_EQ(test, nswap_from_sockaddr(&ss, &back), 0);
		KUNIT_EXPECT_EQ(test, memcmp(&back, &addrs[i], sizeof(back)), 0);
	}
}

static void other_families(struct kunit *test)
{
	struct nswap_addr a = { .family = AF_UNIX };
	struct sockaddr_storage ss;

	KUNIT_EXPECT_EQ(test, nswap_to_sockaddr(&a, &ss), -EAFNOSUPPORT);
	KUNIT_EXPECT_EQ(test, nswap_from_sockaddr(&ss, &a), -EAFNOSUPPORT);
}

static void link_local(struct kunit *test)
{
	struct nswap_addr a = { .family = AF_INET6, .ip = { 0xfe, 0x80 } };

	KUNIT_EXPECT_TRUE(test, nswap_addr_link_local(&a));
	a.ip[1] = 0xbf;
	KUNIT_EXPECT_TRUE(test, nswap_addr_link_local(&a));
	a.ip[1] = 0xc0;
	KUNIT_EXPECT_FALSE(test, nswap_addr_link_local(&a));
	a.ip[1] = 0x80;
	a.family = AF_INET;
	KUNIT_EXPECT_FALSE(test, nswap_addr_link_local(&a));
}

static void unusable(struct kunit *test)
{
	static const struct {
		struct nswap_addr addr;
		bool bad;
	} rows[] = {
		{ { AF_INET, 1, 0, { 10, 0, 0, 1 } }, false },
		{ { AF_INET, 1, 0, { 223, 255, 255, 254 } }, false },
		{ { AF_INET, 1, 0, { 0, 0, 0, 0, [15] = 1 } }, true },
		{ { AF_INET, 1, 0, { 224, 0, 0, 1 } }, true },
		{ { AF_INET, 1, 0, { 255, 255, 255, 255 } }, true },
		{ { AF_INET6, 1, 0, { 0xfe, 0x80, [15] = 1 } }, false },
		{ { AF_INET6, 1, 0, { 0, 0, 0, 0, [15] = 1 } }, false },
		{ { AF_INET6, 1, 0, { 0 } }, true },
		{ { AF_INET6, 1, 0, { 0xff, 0x02, [15] = 1 } }, true },
		{ { AF_UNIX, 1, 0, { 1, 2, 3, 4 } }, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, nswap_addr_unusable(&rows[i].addr),
				    rows[i].bad, "row %u", i);
}

static struct kunit_case sockaddr_cases[] = {
	KUNIT_CASE(round_trip),
	KUNIT_CASE(other_families),
	KUNIT_CASE(link_local),
	KUNIT_CASE(unusable),
	{}
};

static struct kunit_suite sockaddr_suite = {
	.name = "nswap_sockaddr",
	.test_cases = sockaddr_cases,
};

kunit_test_suite(sockaddr_suite);
