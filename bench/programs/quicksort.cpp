// SPDX-License-Identifier: GPL-2.0
/*
 * The sorting program of the Anemone thesis: so many processes at once, each
 * sorts an array of random integers of its own with std::sort, and together
 * they fill the memory that was asked for. What counts is when the last of
 * them is done.
 *
 * Verified: each array is in order and holds the numbers it held before
 * (their sum, and the sum of a hash of each).
 *
 * Invariants: no process begins to sort before all have filled their arrays.
 */
#include <algorithm>

#include "work.h"

static const uint64_t UNIT = 1024;

static uint64_t mb = 64;

/* What process 0 says for all of them, so that filling is not measured. */
static void phase(uint64_t me, void (*next)())
{
	work_barrier();
	if (me == 0)
		next();
	work_barrier();
}

static uint64_t hash_of(const uint32_t *numbers, uint64_t n)
{
	uint64_t sum = 0, hashes = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum += numbers[i];
		hashes += work_mix(numbers[i]);
	}
	return hashes ^ work_mix(sum);
}

static void sort(uint64_t me)
{
	uint64_t n = mb * WORK_MB / sizeof(uint32_t) / work_processes;
	auto *numbers = static_cast<uint32_t *>(work_map(n * sizeof(uint32_t), false));
	uint64_t before, compared = 0;

	for (uint64_t i = 0; i < n; i++)
		numbers[i] = static_cast<uint32_t>(work_word(work_seed + me, i)) | 1;
	before = hash_of(numbers, n);
	for (uint64_t i = 0; i < work_damage && i < n; i++)
		numbers[i * (n / work_damage)] ^= 2;
	phase(me, work_measure);
	std::sort(numbers, numbers + n, [&compared](uint32_t a, uint32_t b) {
		if (++compared % UNIT == 0)
			work_compute(1);
		return a < b;
	});
	phase(me, work_check);
	if (!std::is_sorted(numbers, numbers + n))
		work_wrong_result("numbers of process %llu are out of order",
				  static_cast<unsigned long long>(me));
	if (hash_of(numbers, n) != before)
		work_wrong_result("the numbers of process %llu are not those of the "
				  "beginning", static_cast<unsigned long long>(me));
	work_verified(n);
	work_accessed(n * sizeof(uint32_t) / 4096);
}

static const struct work_flag flags[] = {
	{ "mb", "N             memory of all arrays together (default 64)", &mb, 1, 1 << 24,
	  nullptr, nullptr },
	{ "processes", "N      that sort at once (default 1)", &work_processes, 1,
	  WORK_PROCESSES, nullptr, nullptr },
	{ nullptr, nullptr, nullptr, 0, 0, nullptr, nullptr }
};

static const struct work_about about = {
	"quicksort",
	"Sorts random 32-bit integers with std::sort, in separate processes.",
	"1024 comparisons, by each process",
	flags,
};

int main(int argc, char **argv)
{
	work_start(argc, argv, &about);
	work_in_parallel(work_processes, sort);
	work_member("\"mb\": %llu, \"processes\": %llu",
		    static_cast<unsigned long long>(mb),
		    static_cast<unsigned long long>(work_processes));
	return work_end();
}
