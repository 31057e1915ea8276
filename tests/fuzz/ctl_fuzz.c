// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes, addresses and weights as people write them, for nswapctl: what is accepted is
 * written and read again, and is the same.
 */
#include <inttypes.h>

#include "fuzz.h"
#include "tools/nswapctl/parse.h"

static void size(const char *text)
{
	char buf[32];
	u64 max = strlen(text) % 2 ? UINT16_MAX : U64_MAX;
	uint64_t value, bytes;
	size_t len;

	if (parse_number(text, max, &value))
		fuzz_check(value <= max && strspn(text, "0123456789") == strlen(text));
	if (!parse_size(text, &bytes))
		return;
	fuzz_check(*text >= '0' && *text <= '9');
	if (parse_number(text, U64_MAX, &value))
		fuzz_check(value == bytes);
	fuzz_check(strlen(text_size(bytes, buf, sizeof(buf))) > 0);
	len = strlen(text_short(bytes, buf));
	fuzz_check(len >= 1 && len <= 4);
}

static void address(const char *text)
{
	struct ctl_addr a, again;
	struct sockaddr_storage ss;
	char buf[ADDR_TEXT];

	if (!parse_addr(text, &a))
		return;
	fuzz_check(a.family == AF_INET || a.family == AF_INET6);
	fuzz_check(a.family == AF_INET6 || !a.scope);
	fuzz_check(addr_socket(&a, &ss) > 0 && ss.ss_family == a.family);
	if (!a.port)
		a.port = 1;
	text_addr(&a, buf);
	fuzz_check(parse_addr(buf, &again));
	fuzz_check(!memcmp(&a, &again, sizeof(a)));
}

static void weight(const char *text)
{
	uint64_t id, number, again, same;
	const char *second;
	char buf[40];

	second = parse_weight(text, &id, &number);
	if (!second)
		return;
	fuzz_check(parse_number(second, UINT32_MAX, &same) && same == number);
	snprintf(buf, sizeof(buf), "%016" PRIx64 " %" PRIu64, id, number);
	fuzz_check(parse_weight(buf, &again, &same) && again == id && same == number);
}

static void run_parse(struct fuzz_cursor *in)
{
	size_t bytes = in->end - in->at;
	/* no longer than the text, so that a byte too far is noticed */
	char *text = malloc(bytes + 1);

	fuzz_take_into(in, text, bytes);
	text[bytes] = 0;
	size(text);
	address(text);
	weight(text);
	free(text);
}

static void put_text(struct fuzz_bytes *in, const char *text)
{
	while (*text)
		fuzz_put(in, *text++, 1);
}

static void put_number(struct fuzz_bytes *in)
{
	char text[24];

	snprintf(text, sizeof(text), fuzz_random() % 2 ? "%llu" : "%llx",
		 fuzz_random() % 2 ? fuzz_odd_number() : fuzz_random() % 300);
	put_text(in, text);
}

static void put_id(struct fuzz_bytes *in)
{
	char text[24];

	snprintf(text, sizeof(text), "%016llx ", fuzz_odd_number());
	put_text(in, text);
}

static void make_parse(struct fuzz_bytes *in)
{
	static const char *const parts[] = {
		".", ".", ".", ":", ":", "::", "[", "]", "]:", "%lo", "%1", "K", "M", "G",
		"T", "iB", "fe80::1", "10.0.0.1", "fd00::1", " ", "-",
	};
	unsigned int n = 1 + fuzz_random() % 8;

	if (fuzz_random() % 8 == 0)
		put_id(in);
	while (n--) {
		if (fuzz_random() % 2)
			put_number(in);
		else
			put_text(in, parts[fuzz_random() % ARRAY_SIZE(parts)]);
	}
}

const struct fuzz_target fuzz_parse = {
	"parse", "sizes, addresses and weights as nswapctl reads them", 6, make_parse, run_parse,
};
