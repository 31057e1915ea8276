// SPDX-License-Identifier: GPL-2.0
/*
 * dmine of the Dodo paper: association rules in retail data, by Apriori.
 *
 * Each pass reads all of the data, in order, and counts: items; pairs of frequent items; threes
 * whose pairs are all frequent. A rule "who buys these also buys that" is told by its
 * confidence. Items are numbers of two bytes, a transaction ends with END. Regions are left to
 * the next run, which finds them again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

#define END 0xffff
#define MOST 64			/* items of a transaction */
#define PATTERNS 200

static struct parts_options options = { .request = 128 << 10, .policy = 2 };
static const char *path;
static uint64_t transactions = 20000, items = 1000, seed = 1, support_permille = 10;
static int make, keep = 1;
static uint64_t threshold, total;
static uint32_t *single, *pair;
static int *rank;		/* of a frequent item, or -1 */
static uint32_t nr_frequent;

struct three {
	uint16_t item[3];	/* ranks, in order */
	uint32_t count;
};

static struct three *three;
static uint32_t nr_threes, *three_first;	/* first three of a pair */

/* -- the data ------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	return mixed(*state += 0x9e3779b97f4a7c15ull);
}

/* Items that are bought together, out of patterns of two to four; then others. */
static int transaction(uint64_t *state, uint16_t *out)
{
	int most = 4 + next_random(state) % 32, n = 0, i, k;

	while (n < most) {
		uint64_t pattern = next_random(state) % PATTERNS;

		pattern = pattern * pattern / PATTERNS;
		for (k = 0; k < (int)(2 + pattern % 3) && n < most; k++)
			out[n++] = mixed(seed + pattern * 8 + k) % items;
		if (next_random(state) % 2 && n < most)
			out[n++] = next_random(state) % items;
	}
	for (i = k = 0; i < n; i++) {
		int j;

		for (j = 0; j < k && out[j] != out[i]; j++)
			;
		if (j == k)
			out[k++] = out[i];
	}
	out[k++] = END;
	return k;
}

static void make_data(void)
{
	uint64_t state = seed, i;
	uint16_t out[MOST];
	FILE *f = fopen(path, "w");

	if (!f)
		fail(path);
	for (i = 0; i < transactions; i++) {
		size_t n = transaction(&state, out);

		if (fwrite(out, sizeof(*out), n, f) != n)
			fail(path);
	}
	if (fclose(f))
		fail(path);
}

/* -- counting ------------------------------------------------------------------------- */

static void count_single(const uint16_t *item, int n)
{
	for (int i = 0; i < n; i++)
		single[item[i]]++;
	total++;
}

static int by_value(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* The ranks of a transaction's frequent items, in order; how many. */
static int frequent_of(const uint16_t *item, int n, uint16_t *out)
{
	int i, k = 0;

	for (i = 0; i < n; i++) {
		if (rank[item[i]] >= 0)
			out[k++] = rank[item[i]];
	}
	qsort(out, k, sizeof(*out), by_value);
	return k;
}

static void count_pairs(const uint16_t *item, int n)
{
	uint16_t own[MOST];
	int i, j, k = frequent_of(item, n, own);

	for (i = 0; i < k; i++) {
		for (j = i + 1; j < k; j++)
			pair[own[i] * nr_frequent + own[j]]++;
	}
}

static void count_threes(const uint16_t *item, int n)
{
	uint16_t own[MOST];
	int i, j, l, k = frequent_of(item, n, own);

	for (i = 0; i < k; i++) {
		for (j = i + 1; j < k; j++) {
			uint32_t at = three_first[own[i] * nr_frequent + own[j]];

			for (l = j + 1; l < k && at < nr_threes; l++) {
				while (at < nr_threes && three[at].item[0] == own[i] &&
				       three[at].item[1] == own[j] && three[at].item[2] < own[l])
					at++;
				if (at < nr_threes && three[at].item[0] == own[i] &&
				    three[at].item[1] == own[j] && three[at].item[2] == own[l])
					three[at].count++;
			}
		}
	}
}

/* One pass over the data: each transaction is handed to count. */
static void scan(struct parts *p, char *buf, void (*count)(const uint16_t *, int))
{
	uint16_t own[MOST], *at;
	uint64_t done = 0;
	int n = 0;

	while (done < p->bytes) {
		size_t len = p->bytes - done < options.request ? p->bytes - done : options.request;

		parts_read(p, done, buf, len);
		for (at = (uint16_t *)buf; at < (uint16_t *)(buf + len); at++) {
			if (*at == END) {
				count(own, n);
				n = 0;
			} else if (n < MOST && *at < items) {
				own[n++] = *at;
			}
		}
		done += len;
	}
}

/* -- candidates ----------------------------------------------------------------------- */

static void rank_items(void)
{
	uint64_t i;

	threshold = total * support_permille / 1000 + 1;
	for (i = 0; i < items; i++)
		rank[i] = single[i] >= threshold ? (int)nr_frequent++ : -1;
	pair = calloc((size_t)nr_frequent * nr_frequent + 1, sizeof(*pair));
	three_first = malloc(((size_t)nr_frequent * nr_frequent + 1) * sizeof(*three_first));
	if (!pair || !three_first)
		fail("memory");
}

static int is_pair(uint32_t a, uint32_t b)
{
	return pair[a * nr_frequent + b] >= threshold;
}

static void find_threes(void)
{
	uint32_t a, b, c;

	for (a = 0; a < nr_frequent; a++) {
		for (b = a + 1; b < nr_frequent; b++) {
			three_first[a * nr_frequent + b] = is_pair(a, b) ? nr_threes : UINT32_MAX;
			for (c = b + 1; is_pair(a, b) && c < nr_frequent; c++) {
				if (!is_pair(a, c) || !is_pair(b, c))
					continue;
				three = realloc(three, (nr_threes + 1) * sizeof(*three));
				if (!three)
					fail("memory");
				three[nr_threes++] = (struct three){ { a, b, c }, 0 };
			}
		}
	}
}

/* -- results -------------------------------------------------------------------------- */

static void print_results(double took)
{
	uint64_t sum = 0, pairs = 0, threes = 0, rules = 0;
	uint32_t a, b, i;

	for (a = 0; a < items; a++)
		sum = mixed(sum + single[a]);
	for (a = 0; a < nr_frequent; a++) {
		for (b = a + 1; b < nr_frequent; b++) {
			sum = mixed(sum + pair[a * nr_frequent + b]);
			pairs += is_pair(a, b);
		}
	}
	for (i = 0; i < nr_threes; i++) {
		const uint16_t *t = three[i].item;

		sum = mixed(sum + three[i].count);
		threes += three[i].count >= threshold;
		rules += three[i].count >= threshold &&
			 2 * three[i].count >= pair[t[0] * nr_frequent + t[1]];
	}
	printf("{\"program\": \"dmine\", \"transactions\": %llu, \"frequent\": [%u, %llu, %llu], "
	       "\"rules\": %llu, \"checksum\": \"%016llx\", \"seconds\": %.3f, ",
	       (unsigned long long)total, nr_frequent, (unsigned long long)pairs,
	       (unsigned long long)threes, (unsigned long long)rules, (unsigned long long)sum,
	       took);
	parts_print();
	puts("}");
}

static void usage(void)
{
	puts("usage: dmine --file FILE [--make 1] …\n"
	     "Finds association rules in FILE, or makes it.\n"
	     "  --make 1         make the file\n"
	     "  --transactions N of a file that is made (default 20000)\n"
	     "  --items N        different ones (default 1000)\n"
	     "  --support N      in thousandths of all transactions (default 10)\n"
	     "  --keep 0         free the regions at the end");
	parts_help();
	exit(0);
}

static void arguments(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i += 2) {
		const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(name, "--help"))
			usage();
		else if (!strcmp(name, "--file"))
			path = value;
		else if (!strcmp(name, "--make"))
			make = atoi(value);
		else if (!strcmp(name, "--transactions"))
			transactions = strtoull(value, NULL, 10);
		else if (!strcmp(name, "--items"))
			items = strtoull(value, NULL, 10);
		else if (!strcmp(name, "--seed"))
			seed = strtoull(value, NULL, 10);
		else if (!strcmp(name, "--support"))
			support_permille = strtoull(value, NULL, 10);
		else if (!strcmp(name, "--keep"))
			keep = atoi(value);
		else if (!parts_option(&options, name, value))
			path = NULL, i = argc;
	}
	if (!path || !items || items >= END) {
		fprintf(stderr, "error: usage: dmine --file FILE [--make 1] …, see --help\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct parts data;
	double begin;
	char *buf;

	arguments(argc, argv);
	parts_begin(&options);
	if (make) {
		make_data();
		return 0;
	}
	buf = malloc(options.request);
	single = calloc(items, sizeof(*single));
	rank = malloc(items * sizeof(*rank));
	if (!buf || !single || !rank)
		fail("memory");
	begin = seconds();
	parts_open(&data, &options, path, 0);
	scan(&data, buf, count_single);
	rank_items();
	scan(&data, buf, count_pairs);
	find_threes();
	scan(&data, buf, count_threes);
	parts_close(&data, keep);
	print_results(seconds() - begin);
	free(buf);
	return 0;
}
