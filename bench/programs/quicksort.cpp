// SPDX-License-Identifier: GPL-2.0
/*
 * The sorting program of the Anemone thesis: so many processes at once, each
 * sorts an array of random integers of its own with std::sort, and together
 * they fill the memory that was asked for. What counts is when the last of
 * them is done.
 *
 *   together   all fill, then all sort, then all are checked
 *   filled     the same, but one after the other fills
 *   apart      each fills, sorts, is checked and frees its array for itself
 *   turns      likewise, and the next begins when one is done
 *
 * Verified: each array is in order and holds the numbers it held before
 * (their sum, and the sum of a hash of each).
 *
 * Invariants: of those together and filled no process begins to sort before all
 * have filled their arrays. Of the others the whole run is measured.
 */
#include <algorithm>

#include <sys/mman.h>

#include "work.h"

static const uint64_t UNIT = 1024;

static uint64_t mb = 64;

static const char *const ways[] = { "together", "filled", "apart", "turns", nullptr };
enum { TOGETHER, FILLED, APART, TURNS };
static uint64_t way = TOGETHER;

struct array {
	uint32_t *numbers;
	uint64_t n, sum, hashes;
};

/* What process 0 says for all of them, so that filling is not measured. */
static void phase(uint64_t me, void (*next)())
{
	if (way == APART || way == TURNS)
		return;
	work_barrier();
	if (me == 0)
		next();
	work_barrier();
}

/* One process after the other does it. */
static void in_turn(uint64_t me, struct array *array,
		    void (*what)(uint64_t me, struct array *array))
{
	for (uint64_t turn = 0; turn < work_processes; turn++) {
		if (turn == me)
			what(me, array);
		work_barrier();
	}
}

static void fill(uint64_t me, struct array *array)
{
	array->numbers = static_cast<uint32_t *>(work_map(array->n * sizeof(uint32_t), false));
	for (uint64_t i = 0; i < array->n; i++) {
		uint32_t number = static_cast<uint32_t>(work_word(work_seed + me, i)) | 1;

		array->numbers[i] = number;
		array->sum += number;
		array->hashes += work_mix(number);
	}
	for (uint64_t i = 0; i < work_damage && i < array->n; i++)
		array->numbers[i * (array->n / work_damage)] ^= 2;
}

static void sort(struct array *array)
{
	uint64_t compared = 0;

	std::sort(array->numbers, array->numbers + array->n,
		  [&compared](uint32_t a, uint32_t b) {
			  if (++compared % UNIT == 0)
				  work_compute(1);
			  return a < b;
		  });
}

static void check(uint64_t me, const struct array *array)
{
	uint64_t sum = 0, hashes = 0, disorders = 0;

	for (uint64_t i = 0; i < array->n; i++) {
		sum += array->numbers[i];
		hashes += work_mix(array->numbers[i]);
		disorders += i && array->numbers[i] < array->numbers[i - 1];
	}
	if (disorders)
		work_wrong_result("numbers of process %llu are out of order",
				  static_cast<unsigned long long>(me));
	if (sum != array->sum || hashes != array->hashes)
		work_wrong_result("the numbers of process %llu are not those of the "
				  "beginning", static_cast<unsigned long long>(me));
	work_verified(array->n);
	work_accessed(array->n * sizeof(uint32_t) / 4096);
	munmap(array->numbers, array->n * sizeof(uint32_t));
}

static void whole(uint64_t me, struct array *array)
{
	fill(me, array);
	sort(array);
	check(me, array);
}

static void process(uint64_t me)
{
	struct array array = {};

	array.n = mb * WORK_MB / sizeof(uint32_t) / work_processes;
	if (way == TURNS)
		return in_turn(me, &array, whole);
	if (way == FILLED)
		in_turn(me, &array, fill);
	else
		fill(me, &array);
	phase(me, work_measure);
	sort(&array);
	phase(me, work_check);
	check(me, &array);
}

static const struct work_flag flags[] = {
	{ "mb", "N             memory of all arrays together (default 64)", &mb, 1, 1 << 24,
	  nullptr, nullptr },
	{ "processes", "N      that sort at once (default 1)", &work_processes, 1,
	  WORK_PROCESSES, nullptr, nullptr },
	{ "way", "HOW              together, filled, apart or turns (default together)", &way,
	  0, 0, ways, nullptr },
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
	if (way == APART || way == TURNS)
		work_measure();
	work_in_parallel(work_processes, process);
	work_member("\"mb\": %llu, \"processes\": %llu",
		    static_cast<unsigned long long>(mb),
		    static_cast<unsigned long long>(work_processes));
	return work_end();
}
