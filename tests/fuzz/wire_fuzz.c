// SPDX-License-Identifier: GPL-2.0
/*
 * Wire format: what a receiver believes of a header. The shape of every message is
 * written down here a second time, as a receiver's buffers know it.
 */
#include "fuzz.h"
#include "pure/wire.h"

#define MOST	(16 + 32 * (4096 + 18))	/* bytes of the largest payload */

/**
 * struct layout - a message of one type
 * @fixed: bytes of payload
 * @each: bytes of payload for each page, run or name
 * @least: fewest of them
 * @most: most of them; 0: the message has none, ANY_NUMBER: they are counted only
 * @flags: that it may have
 * @timed: it may carry a time
 * @share: the flag that it has if its number is not 0
 */
struct layout {
	u32 fixed, each, least, most;
	u16 flags;
	bool timed;
	u16 share;
};

#define ANY_NUMBER	0xffffffffu

static const struct layout layouts[] = {
	[1] = { 120 }, [2] = { 144 }, [3] = { 104 },
	[4] = { 0, 4100, 1, 32, 0x520 }, [5] = { 0, 8, 1, 32, .timed = true },
	[6] = { 0, 4, 1, 32, 0x420 }, [7] = { 0, 0, 1, 32, 0x400, .timed = true },
	[8] = { 0, 24, 1, 128, 8 }, [9] = { 0 }, [10] = { 0 }, [11] = { 0 },
	[12] = { 0, 24, 0, 128, 1 }, [13] = { 0, 0, 0, ANY_NUMBER },
	[14] = { 0, 0, 0, ANY_NUMBER, 0x200, .share = 0x200 },
	[15] = { 0, 0, 1, ANY_NUMBER }, [16] = { 0 },
	[17] = { 0, 0, 0, ANY_NUMBER, 0x200, .share = 0x200 },
	[18] = { 16, 4112, 1, 32, 0x400 }, [19] = { 0, 8, 1, 32 }, [20] = { 16, 16, 1, 32 },
	[21] = { 0, 8, 1, 32 }, [22] = { 0, 16, 1, 32 }, [23] = { 0, 8, 1, 32 },
	[24] = { 16, 4112, 1, 32, 0x400 }, [25] = { 0, 8, 1, 32 }, [26] = { 64, .flags = 0x16 },
	[27] = { 0, 0, 0, ANY_NUMBER, 0xc0 }, [28] = { 0, 0, 0, ANY_NUMBER },
	[29] = { 16, 16, 1, 32 }, [30] = { 0, 8, 1, 32 }, [31] = { 0 }, [32] = { 16, 8, 1, 32 },
};

/* bytes before the pages of a message whose pages are short; 0: it is none */
static u32 before_short(const struct nswap_wire_hdr *h)
{
	if (!(h->flags & 0x400))
		return 0;
	return h->type == 4 || h->type == 7 ? 6 * h->nr :
	       h->type == 18 || h->type == 24 ? 16 + 18 * h->nr : 0;
}

static bool fits(const struct layout *l, const struct nswap_wire_hdr *h)
{
	u8 type = h->type;
	u32 nr = h->nr, before;
	u64 bytes = h->bytes;

	if (nr < l->least || nr > l->most)
		return false;
	before = before_short(h);
	if (before)
		return bytes > before && bytes <= before + 4096ull * nr &&
		       (type == 7 || bytes >= (u64)before + nr);
	if (type != NSWAP_LOAD_REPLY)
		return bytes == l->fixed + (u64)l->each * nr;
	return bytes >= 4ull * nr && bytes <= 4100ull * nr && (bytes - 4 * nr) % 4096 == 0;
}

static bool legal(const struct nswap_wire_hdr *h)
{
	const struct layout *l = &layouts[h->type % ARRAY_SIZE(layouts)];
	static const u8 none[NSWAP_WIRE_AUTH];

	return h->magic == NSWAP_WIRE_MAGIC && h->version == 2 && h->type &&
	       h->type < ARRAY_SIZE(layouts) && !(h->flags & ~l->flags) &&
	       fits(l, h) &&
	       (!h->nr || (h->flags & l->share) == l->share) && (!h->took || l->timed) &&
	       h->page_bytes == 4096 && !memcmp(h->auth, none, sizeof(none));
}

/* are lengths made of what is left of the input believed if and only if they add up? */
static bool lens_fit(struct fuzz_cursor *in, const struct nswap_wire_hdr *h)
{
	__le16 *len = malloc(32 * sizeof(*len));
	u64 sum = before_short(h);
	bool good = true, ok;
	u32 i;

	fuzz_take_into(in, len, 32 * sizeof(*len));
	for (i = 0; i < h->nr; i++) {
		good = good && len[i] <= 4096 && (len[i] || h->type == 7);
		sum += len[i];
	}
	ok = (nswap_wire_lens(h, len) == 0) == (good && sum == h->bytes);
	free(len);
	return ok;
}

static void run_wire(struct fuzz_cursor *in)
{
	struct nswap_wire_hdr *h = malloc(sizeof(*h));
	size_t len = in->end - in->at;
	int ret;

	fuzz_take_into(in, h, sizeof(*h));
	ret = nswap_wire_check(h);
	fuzz_check((ret == 0) == legal(h));
	fuzz_check(ret == 0 || ret == -EPROTO || ret == -EPROTONOSUPPORT);
	fuzz_check(strlen(nswap_wire_name(h->type)) > 0);
	if (nswap_wire_other_version(h, min(len, sizeof(*h))))
		fuzz_check(len >= 5 && ret == -EPROTONOSUPPORT);
	if (!ret) {
		u32 pages = h->type == NSWAP_STORE || h->type == NSWAP_MOVE ||
			    h->type == NSWAP_RETURN ? h->nr : 0;

		fuzz_check(h->bytes <= MOST);
		if (before_short(h))
			fuzz_check(nswap_wire_plain(h) == before_short(h) && lens_fit(in, h));
		else if (h->type == NSWAP_LOAD_REPLY)
			fuzz_check(nswap_wire_plain(h) == 4 * h->nr);
		else
			fuzz_check(nswap_wire_plain(h) == h->bytes - 4096 * pages);
	}
	free(h);
}

static void make_wire(struct fuzz_bytes *in)
{
	/* now and then one that there is not: the first, and the next two */
	u8 type = fuzz_random() % (ARRAY_SIZE(layouts) + 2);
	const struct layout *l = &layouts[type % ARRAY_SIZE(layouts)];
	u32 nr = fuzz_random() % 4 ? fuzz_random() % 130 : fuzz_odd_number();
	struct nswap_wire_hdr h;
	u16 len;
	u32 i;

	nr = clamp(nr, l->least, l->most);
	nswap_wire_init(&h, type, nr, l->fixed + l->each * nr);
	h.flags = l->flags & fuzz_random();
	if (type == NSWAP_LOAD_REPLY)
		h.bytes = 4 * nr + 4096 * (fuzz_random() % (nr + 1));
	if (l->timed)
		h.took = fuzz_random() % 2;
	in->bytes = sizeof(h);
	if (before_short(&h)) {
		h.bytes = before_short(&h);
		for (i = 0; i < nr && i < 32; i++) {
			len = fuzz_random() % 8 ? fuzz_random() % 4098 : fuzz_odd_number();
			h.bytes += len;
			memcpy(in->at + in->bytes, &len, sizeof(len));
			in->bytes += sizeof(len);
		}
		h.bytes += fuzz_random() % 8 == 0;
	}
	memcpy(in->at, &h, sizeof(h));
}

const struct fuzz_target fuzz_wire = {
	"wire", "headers against a second list of what is legal", 10, make_wire, run_wire,
};
