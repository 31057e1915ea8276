// SPDX-License-Identifier: GPL-2.0
/*
 * MVEC: a matrix times a vector, as in Markatos and Dramitinos, where it is
 * the program that only pages out: each row of the matrix is made and used at
 * once, and what is not used again goes.
 *
 * Verified, and not measured: the whole matrix is read back and every element
 * is what it was made as; the product is that of a matrix that never was in
 * memory, bit for bit, for both are summed up in the same order.
 *
 * Invariants: what is measured reads each row only just after it was made.
 */
#include <math.h>

#include "work.h"

#define UNIT	1024

static uint64_t mb = 64;
static uint64_t n;

static double element(uint64_t i, uint64_t j)
{
	return work_real(work_seed, i * n + j);
}

static void make_row(double *row, uint64_t i)
{
	for (uint64_t j = 0; j < n; j++)
		row[j] = element(i, j);
}

static double product(const double *row, const double *x)
{
	double sum = 0;

	for (uint64_t j = 0; j < n; j++)
		sum += row[j] * x[j];
	return sum;
}

static void verify(const double *matrix, const double *x, const double *y)
{
	double *row = work_map(n * sizeof(*row), false);
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t wrong = 0;

		make_row(row, i);
		for (uint64_t j = 0; j < n; j++)
			wrong += matrix[i * n + j] != row[j];
		if (wrong)
			work_wrong_result("%llu elements of row %llu",
					  (unsigned long long)wrong, (unsigned long long)i);
		if (y[i] != product(row, x))
			work_wrong_result("element %llu of the product", (unsigned long long)i);
		work_verified(n - wrong);
		sum = work_mix(sum ^ work_bits(y[i]));
	}
	work_member("\"checksum\": \"%016llx\"", (unsigned long long)sum);
}

static const struct work_flag flags[] = {
	{ .name = "mb", .number = &mb, .min = 1, .max = 1 << 20,
	  .help = "N             the matrix (default 64)" },
	{ 0 }
};

static const struct work_about about = {
	.name = "mvec",
	.does = "Makes a matrix row by row and multiplies it with a vector meanwhile.",
	.unit = "1024 elements multiplied",
	.flags = flags,
};

int main(int argc, char **argv)
{
	double *matrix, *x, *y;
	uint64_t done = 0;

	work_start(argc, argv, &about);
	n = (uint64_t)sqrt((double)(mb * WORK_MB / sizeof(double)));
	matrix = work_map(n * n * sizeof(*matrix), false);
	x = work_map(n * sizeof(*x), false);
	y = work_map(n * sizeof(*y), false);
	for (uint64_t i = 0; i < n; i++)
		x[i] = work_real(~work_seed, i);
	work_measure();
	for (uint64_t i = 0; i < n; i++) {
		make_row(matrix + i * n, i);
		y[i] = product(matrix + i * n, x);
		done += n;
		work_compute(done / UNIT);
		done %= UNIT;
	}
	work_accessed(n * n * sizeof(*matrix) / 4096);
	for (uint64_t i = 0; i < work_damage; i++)
		matrix[i * (n * n / work_damage)] += 1;
	work_check();
	verify(matrix, x, y);
	work_member("\"mb\": %llu, \"n\": %llu", (unsigned long long)mb,
		    (unsigned long long)n);
	return work_end();
}
