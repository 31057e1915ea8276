// SPDX-License-Identifier: GPL-2.0
/*
 * IS: the integer sort kernel of the NAS Parallel Benchmarks, from its report.
 *
 * Ten times (--iterations), all keys are ranked: a key's rank is how many are smaller. Keys
 * are the report's: sums of four numbers of its generator, so they cluster
 * around the middle. Each process has its share of the keys to itself and puts
 * them by bucket into an area that all share; whole buckets then go to the
 * processes, about as many keys to each, and each ranks those of its own.
 *
 * Verified: the ranks of five keys in each iteration (those of the classes are
 * known, and all are counted anew at the end); the keys put at their ranks are
 * in order, and they are those that were made (sum, and sum of a hash of each).
 *
 * Invariants: between two barriers nobody writes what another process reads.
 * Only --seed 1 has the report's keys.
 */
#include <stdatomic.h>

#include "work.h"

#define ITERATIONS	10
#define TESTS		5
#define BUCKETS_LOG2	10			/* the report's, and the most */
#define BUCKETS		(1U << BUCKETS_LOG2)
#define UNIT		1024
#define SEED		314159265ULL
#define FACTOR		1220703125ULL		/* 5 to the 13th */
#define MOD_46		((1ULL << 46) - 1)

/* Known ranks: rank[t] is that of key index[t], moved by the iteration: up for
 * the tests in the mask, else down.
 */
static const struct class {
	unsigned int keys_log2, most_log2;
	uint64_t index[TESTS];
	int64_t rank[TESTS];
	unsigned int up;
	int up_less, down_less;	/* taken from the iteration's number */
} classes[] = {
	{ 16, 11, { 48427, 17148, 23627, 62548, 4431 },
	  { 0, 18, 346, 64917, 65463 }, 0x07, 0, 0 },
	{ 20, 16, { 357773, 934767, 875723, 898999, 404505 },
	  { 1249, 11698, 1039987, 1043896, 1048018 }, 0x03, 2, 0 },
	{ 23, 19, { 2112377, 662041, 5336171, 3642833, 4250760 },
	  { 104, 17523, 123928, 8288932, 8388264 }, 0x07, 1, 1 },
	{ 25, 21, { 41869, 812306, 5102857, 18232239, 26860214 },
	  { 33422937, 10244, 59149, 33135281, 99 }, 0x16, 0, 0 },
};

static const char *const class_names[] = { "S", "W", "A", "B", NULL };

static uint64_t class = 2, keys_log2, buckets_log2 = BUCKETS_LOG2;
static uint64_t iterations = ITERATIONS;
static unsigned int buckets;
static unsigned int most_log2;
static uint64_t n;
static uint64_t test_index[TESTS];
static bool known;		/* the ranks of the tests are */

/* Of all processes. */
static struct shared {
	uint32_t test_key[TESTS];
	int64_t test_rank[TESTS];
	atomic_uint_fast64_t smaller[TESTS];	/* counted at the end */
	atomic_uint_fast64_t made, sorted;	/* sums over the keys */
	uint32_t count[WORK_PROCESSES][BUCKETS];
} *shared;
static uint32_t *area;		/* the keys by bucket, of one process each part */

/* Of this process. */
static uint32_t *keys, *ranks;
static uint32_t begin[WORK_PROCESSES][BUCKETS];	/* of a bucket, in the area */
static uint32_t size[BUCKETS];		/* of a bucket, all processes together */
static unsigned int first_bucket, end_bucket;
static uint64_t before;			/* keys in buckets of processes before */

static uint64_t first_of(uint64_t process)
{
	return n * process / work_processes;
}

static uint32_t bucket_of(uint32_t key)
{
	return key >> (most_log2 - buckets_log2);
}

static uint64_t power(uint64_t base, uint64_t exponent)
{
	uint64_t result = 1;

	for (; exponent; exponent >>= 1, base = base * base & MOD_46)
		if (exponent & 1)
			result = result * base & MOD_46;
	return result;
}

/* The next number of the generator, below 1. */
static double next_real(uint64_t *x)
{
	*x = *x * FACTOR & MOD_46;
	return (double)*x / (double)(1ULL << 46);
}

/* What the iterations make of key i in the end. */
static uint32_t key_at_end(uint64_t i, uint32_t made)
{
	if (i >= 1 && i <= iterations)
		return (uint32_t)i;
	if (i > ITERATIONS && i <= ITERATIONS + iterations)
		return (1U << most_log2) - (uint32_t)(i - ITERATIONS);
	return made;
}

static uint64_t hash(uint32_t key)
{
	return work_mix(key) + key;
}

static void make_keys(uint64_t me)
{
	uint64_t x = SEED + 2 * (work_seed - 1), first = first_of(me), sum = 0;
	double scale = (double)(1ULL << most_log2) / 4;

	x = x * power(FACTOR, 4 * first) & MOD_46;
	for (uint64_t i = 0; i < first_of(me + 1) - first; i++) {
		double s = next_real(&x);

		for (int k = 0; k < 3; k++)
			s += next_real(&x);
		keys[i] = (uint32_t)(s * scale);
		sum += hash(key_at_end(first + i, keys[i]));
	}
	atomic_fetch_add(&shared->made, sum);
	for (uint64_t i = 0; !me && i < work_damage; i++)
		keys[2 * ITERATIONS + 1 + i * (n / work_processes / 2 / work_damage)] ^= 1;
}

/* Two keys change each time, and somebody owns the keys that are tested. */
static void prepare(uint64_t me, unsigned int iteration)
{
	uint64_t first = first_of(me), end = first_of(me + 1);
	uint64_t other = iteration + ITERATIONS;

	if (iteration >= first && iteration < end)
		keys[iteration - first] = key_at_end(iteration, 0);
	if (other >= first && other < end)
		keys[other - first] = key_at_end(other, 0);
	for (unsigned int t = 0; t < TESTS; t++)
		if (test_index[t] >= first && test_index[t] < end)
			shared->test_key[t] = keys[test_index[t] - first];
}

/* My keys by bucket into my part of the area. */
static void spread(uint64_t me)
{
	uint32_t *count = shared->count[me], next[BUCKETS];
	uint64_t had = first_of(me + 1) - first_of(me);

	for (unsigned int b = 0; b < buckets; b++)
		count[b] = 0;
	for (uint64_t i = 0; i < had; i++)
		count[bucket_of(keys[i])]++;
	next[0] = (uint32_t)first_of(me);
	for (unsigned int b = 1; b < buckets; b++)
		next[b] = next[b - 1] + count[b - 1];
	for (uint64_t i = 0; i < had; i++) {
		area[next[bucket_of(keys[i])]++] = keys[i];
		if (i % UNIT == 0)
			work_compute(1);
	}
}

/* Which buckets are mine: every process comes to the same answer. */
static void share_out(uint64_t me)
{
	uint64_t sum = 0, p = 0;

	for (unsigned int b = 0; b < buckets; b++) {
		size[b] = 0;
		for (uint64_t q = 0; q < work_processes; q++) {
			begin[q][b] = b ? begin[q][b - 1] + shared->count[q][b - 1] :
					  (uint32_t)first_of(q);
			size[b] += shared->count[q][b];
		}
	}
	first_bucket = 0;
	end_bucket = buckets;
	before = 0;
	for (unsigned int b = 0; b < buckets; b++) {
		while (p + 1 < work_processes && sum >= first_of(p + 1)) {
			if (p == me)
				end_bucket = b;
			if (++p == me) {
				first_bucket = b;
				before = sum;
			}
		}
		sum += size[b];
	}
	if (p < me)
		first_bucket = end_bucket = buckets;
}

static bool mine(uint32_t key)
{
	return bucket_of(key) >= first_bucket && bucket_of(key) < end_bucket;
}

/* Call what() with every key that is mine. */
static void each_key(void (*what)(uint32_t key))
{
	for (uint64_t p = 0; p < work_processes; p++) {
		uint32_t i, end;

		if (first_bucket == end_bucket)
			return;
		end = begin[p][end_bucket - 1] + shared->count[p][end_bucket - 1];
		for (i = begin[p][first_bucket]; i < end; i++) {
			if (mine(area[i]))
				what(area[i]);
			else
				work_wrong_result("key %u is in another's bucket", i);
			if (i % UNIT == 0)
				work_compute(1);
		}
	}
}

static uint32_t least_key(void)
{
	return first_bucket << (most_log2 - buckets_log2);
}

static void count_key(uint32_t key)
{
	ranks[key - least_key() + 1]++;
}

/* ranks[key] is how many keys are smaller, among mine. */
static void rank(void)
{
	uint64_t range = (uint64_t)(end_bucket - first_bucket) <<
			 (most_log2 - buckets_log2);

	for (uint64_t k = 0; k <= range; k++)
		ranks[k] = 0;
	each_key(count_key);
	for (uint64_t k = 1; k <= range; k++)
		ranks[k] += ranks[k - 1];
}

static void check_known(unsigned int t, unsigned int iteration)
{
	const struct class *c = &classes[class];
	int64_t want = c->rank[t], i = iteration;

	want += c->up >> t & 1 ? i - c->up_less : c->down_less - i;
	if (want != shared->test_rank[t])
		work_wrong_result("iteration %u: key %llu has rank %lld, not %lld", iteration,
				  (unsigned long long)test_index[t],
				  (long long)shared->test_rank[t], (long long)want);
	else
		work_verified(1);
}

static void check_ranks(unsigned int iteration)
{
	for (unsigned int t = 0; t < TESTS; t++) {
		uint32_t key = shared->test_key[t];

		if (!mine(key))
			continue;
		shared->test_rank[t] = (int64_t)(before + ranks[key - least_key()]);
		if (known)
			check_known(t, iteration);
	}
}

static void put_key(uint32_t key)
{
	keys[ranks[key - least_key()]++] = key;
}

/* Count the tested ranks anew; put all keys where they belong and look. */
static void verify(uint64_t me)
{
	uint64_t had = first_of(me + 1) - first_of(me), sum = 0, wrong = 0, got = 0;

	for (unsigned int t = 0; t < TESTS; t++) {
		uint64_t smaller = 0;

		for (uint64_t i = 0; i < had; i++)
			smaller += keys[i] < shared->test_key[t];
		atomic_fetch_add(&shared->smaller[t], smaller);
	}
	for (unsigned int b = first_bucket; b < end_bucket; b++)
		got += size[b];
	each_key(put_key);
	for (uint64_t i = 0; i < got; i++) {
		wrong += (i && keys[i - 1] > keys[i]) || !mine(keys[i]);
		sum += hash(keys[i]);
	}
	if (wrong)
		work_wrong_result("%llu keys of process %llu are out of order",
				  (unsigned long long)wrong, (unsigned long long)me);
	atomic_fetch_add(&shared->sorted, sum);
	work_verified(got - wrong);
}

static void phase(uint64_t me, void (*next)(void))
{
	work_barrier();
	if (!me)
		next();
	work_barrier();
}

static void sort(uint64_t me)
{
	keys = work_map(n * sizeof(*keys), false);
	ranks = work_map(((1ULL << most_log2) + 1) * sizeof(*ranks), false);
	make_keys(me);
	phase(me, work_measure);
	for (unsigned int i = 1; i <= iterations; i++) {
		prepare(me, i);
		spread(me);
		work_barrier();
		share_out(me);
		rank();
		check_ranks(i);
		work_barrier();
	}
	phase(me, work_check);
	verify(me);
}

static void choose(void)
{
	const struct class *c = &classes[class];

	buckets = 1U << buckets_log2;
	known = !keys_log2 && work_seed == 1;
	most_log2 = keys_log2 ? (unsigned int)keys_log2 - 4 : c->most_log2;
	n = 1ULL << (keys_log2 ? keys_log2 : c->keys_log2);
	for (unsigned int t = 0; t < TESTS; t++)
		test_index[t] = keys_log2 ? work_word(work_seed, t) % n : c->index[t];
}

static const struct work_flag flags[] = {
	{ .name = "class", .number = &class, .words = class_names,
	  .help = "NAME       S, W, A (default) or B: 2^16, 2^20, 2^23, 2^25 keys" },
	{ .name = "keys-log2", .number = &keys_log2, .min = 16, .max = 28,
	  .help = "N      another number of keys, its ranks not known beforehand" },
	{ .name = "buckets-log2", .number = &buckets_log2, .min = 1, .max = BUCKETS_LOG2,
	  .help = "N   2^N buckets (default 10); fewer for few keys in little RAM" },
	{ .name = "iterations", .number = &iterations, .min = 1, .max = ITERATIONS,
	  .help = "N     how often the keys are ranked (default 10)" },
	{ .name = "processes", .number = &work_processes, .min = 1, .max = WORK_PROCESSES,
	  .help = "N      (default 4)" },
	{ 0 }
};

static const struct work_about about = {
	.name = "is",
	.does = "Ranks integer keys, ten times if not told otherwise, as the NAS Parallel Benchmarks' IS.\n"
		"It takes 8 bytes a key, and 4 for each value a key may have.",
	.unit = "1024 keys spread or ranked, by each process",
	.flags = flags,
};

int main(int argc, char **argv)
{
	work_processes = 4;
	work_start(argc, argv, &about);
	choose();
	shared = work_map(sizeof(*shared), true);
	area = work_map(n * sizeof(*area), true);
	work_in_parallel(work_processes, sort);
	for (unsigned int t = 0; t < TESTS; t++)
		if ((uint64_t)shared->test_rank[t] != shared->smaller[t])
			work_wrong_result("key %llu has rank %lld, but %llu are smaller",
					  (unsigned long long)test_index[t],
					  (long long)shared->test_rank[t],
					  (unsigned long long)shared->smaller[t]);
	if (shared->made != shared->sorted)
		work_wrong_result("the keys are not those of the beginning");
	work_member("\"class\": \"%s\", \"processes\": %llu, \"keys\": %llu, \"mb\": %llu",
		    keys_log2 ? "none" : class_names[class],
		    (unsigned long long)work_processes, (unsigned long long)n,
		    (unsigned long long)((8 * n + (4ULL << most_log2)) / WORK_MB));
	work_member("\"checksum\": \"%016llx\"", (unsigned long long)shared->sorted);
	work_accessed(iterations * 3 * n * sizeof(uint32_t) / 4096);
	return work_end();
}
