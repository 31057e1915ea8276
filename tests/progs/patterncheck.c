// SPDX-License-Identifier: GPL-2.0
/*
 * patterncheck: shows that the page patterns catch what they are there for.
 *
 * Each kind of bad page is made on purpose and must be called by its name;
 * then writing and comparing are timed. One JSON line, exit 1 on any surprise.
 */
#include "prog.h"

#define SEED	7
#define PAGE	1234
#define COUNT	56
#define PAGES	4096

static unsigned int surprises;

static void expect(const char *what, const void *buf, enum pat_class want)
{
	struct pat_verdict v = pat_classify(buf, SEED, PAGE, COUNT, PAGES);

	if (v.class == want && pat_same(buf, SEED, PAGE, COUNT) == (want == PAT_OK))
		return;
	surprises++;
	fprintf(stderr, "%s: called %s instead of %s\n", what,
		pat_class_name[v.class], pat_class_name[want]);
}

static void check_classes(void)
{
	uint64_t buf[PAT_WORDS], other[PAT_WORDS];

	pat_fill(buf, SEED, PAGE, COUNT);
	expect("the page itself", buf, PAT_OK);
	for (unsigned int bit = 0; bit < PAT_BYTES * 8; bit++) {
		buf[bit / 64] ^= 1ULL << bit % 64;
		expect("one bit flipped", buf, PAT_TORN);
		buf[bit / 64] ^= 1ULL << bit % 64;
	}
	pat_fill(other, SEED, PAGE, COUNT - 1);
	expect("the write before", other, PAT_STALE);
	memcpy(buf + 448, other + 448, 512);
	expect("the last sector stale", buf, PAT_TORN);
	pat_fill(other, SEED, PAGE, 1);
	expect("the first write", other, PAT_STALE);
	pat_fill(other, SEED, PAGE, COUNT + 1);
	expect("a later write", other, PAT_NEWER);
	pat_fill(other, SEED, PAGE + 1, COUNT);
	expect("the next page", other, PAT_OTHER);
	pat_fill(other, SEED, 0, COUNT);
	expect("the first page", other, PAT_OTHER);
	pat_fill(other, SEED + 1, PAGE, COUNT);
	expect("another seed", other, PAT_FOREIGN);
	memset(other, 0, sizeof(other));
	expect("zeros", other, PAT_ZEROS);
	other[511] = 1;
	expect("nearly zeros", other, PAT_TORN);
}

static void check_words(void)
{
	uint64_t buf[PAT_WORDS], next[PAT_WORDS];

	for (uint64_t page = 0; page < PAGES; page++) {
		unsigned int same = 0, zeros = 0;

		pat_fill(buf, SEED, page, 1);
		pat_fill(next, SEED, page, 2);
		for (unsigned int i = 0; i < PAT_WORDS; i++) {
			same += buf[i] == next[i];
			zeros += !buf[i];
		}
		if (same || zeros) {
			surprises++;
			fprintf(stderr, "page %llu: %u words kept, %u zero\n",
				(unsigned long long)page, same, zeros);
		}
	}
}

static void check_order(void)
{
	static const uint64_t sizes[] = { 1, 2, 3, 5, 256, 1000, 49152 };

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct pat_order o = pat_order_new(sizes[k], 99);
		unsigned char *seen = calloc(sizes[k], 1);
		uint64_t twice = 0;

		if (!seen)
			refuse("out of memory");
		for (uint64_t i = 0; i < sizes[k]; i++)
			twice += seen[pat_order_at(&o, i)]++;
		if (twice) {
			surprises++;
			fprintf(stderr, "an order of %llu repeats itself\n",
				(unsigned long long)sizes[k]);
		}
		free(seen);
	}
}

int main(void)
{
	static uint64_t pages[1024][PAT_WORDS];
	double t0, t1, t2;
	uint64_t same = 0;

	check_classes();
	check_words();
	check_order();
	pat_fill(pages[0], SEED, 0, 1);
	t0 = now_s();
	for (uint64_t i = 0; i < 65536; i++)
		pat_fill(pages[i % 1024], SEED, i, 1);
	t1 = now_s();
	for (uint64_t i = 0; i < 65536; i++)
		same += pat_same(pages[i % 1024], SEED, 64512 + i % 1024, 1);
	t2 = now_s();
	if (same != 65536)
		surprises++;
	printf("{\"surprises\": %u, \"fill_gb_s\": %.1f, \"compare_gb_s\": %.1f}\n",
	       surprises, 65536 * 4096 / 1e9 / (t1 - t0),
	       65536 * 4096 / 1e9 / (t2 - t1));
	return surprises ? EXIT_WRONG : 0;
}
