// SPDX-License-Identifier: GPL-2.0
/*
 * GAUSS: Gaussian elimination of a dense matrix with partial pivoting, and the
 * solution of a linear system with it, as in Markatos and Dramitinos.
 *
 * For each column the row with the largest element in it is found, and a
 * multiple of that row is taken from each row below. That is done for a panel of
 * columns at a time, in a copy of the panel, and for the rest of the rows
 * afterwards: one pass over what is left of the matrix, row by row, for each panel.
 * With a pass for each column a matrix a little larger than memory is swapped in
 * and out as many times as it has columns. No sum is made in another order.
 *
 * Verified: what is left over of A x = b, with A made anew, in units of the
 * processor's precision, must be as small as HPL asks for (below 16).
 *
 * Invariants: rows are exchanged in the table of rows, never in memory; below
 * the diagonal of finished columns are the multiples that were taken.
 */
#include <float.h>
#include <math.h>

#include "work.h"

#define UNIT		1024
#define LARGEST		16.0
#define PANEL		64	/* columns */

static uint64_t mb = 8;
static uint64_t n;
static double **row;
static double (*panel)[PANEL];	/* columns of row[i] that are worked on */
static double *x;		/* the right side, then the solution */

static double element(uint64_t i, uint64_t j)
{
	return work_real(work_seed, i * n + j);
}

static double right_side(uint64_t i)
{
	return work_real(~work_seed, i);
}

static void fill(void)
{
	double *matrix = work_map(n * n * sizeof(double), false);

	row = work_map(n * sizeof(*row), false);
	x = work_map(n * sizeof(*x), false);
	panel = work_map(n * sizeof(*panel), false);
	for (uint64_t i = 0; i < n; i++) {
		row[i] = matrix + i * n;
		for (uint64_t j = 0; j < n; j++)
			row[i][j] = element(i, j);
		x[i] = right_side(i);
	}
	for (uint64_t i = 0; i < work_damage; i++)
		row[i * n / work_damage][i] += 1;
}

/* Column @k of the panel that begins at @first. */
static void choose_pivot(uint64_t first, uint64_t k)
{
	uint64_t best = k, c = k - first;
	double *r, b;

	for (uint64_t i = k + 1; i < n; i++)
		if (fabs(panel[i][c]) > fabs(panel[best][c]))
			best = i;
	r = row[k];
	row[k] = row[best];
	row[best] = r;
	b = x[k];
	x[k] = x[best];
	x[best] = b;
	for (c = 0; c < PANEL; c++) {
		b = panel[k][c];
		panel[k][c] = panel[best][c];
		panel[best][c] = b;
	}
}

/* Columns @first to @end of all rows below @first, in the panel. */
static void eliminate_panel(uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < n; i++)
		memcpy(panel[i], row[i] + first, (end - first) * sizeof(double));
	for (uint64_t k = first; k < end; k++) {
		choose_pivot(first, k);
		for (uint64_t i = k + 1; i < n; i++) {
			double factor = panel[i][k - first] / panel[k][k - first];

			panel[i][k - first] = factor;
			for (uint64_t j = k + 1 - first; j < end - first; j++)
				panel[i][j] -= factor * panel[k][j];
			x[i] -= factor * x[k];
		}
	}
}

/* The same multiples of the panel's rows from the rest of row @i; how many
 * elements that were.
 */
static uint64_t eliminate_row(uint64_t first, uint64_t end, uint64_t i)
{
	uint64_t above = i < end ? i : end;

	for (uint64_t k = first; k < above; k++) {
		double factor = panel[i][k - first];

		for (uint64_t j = end; j < n; j++)
			row[i][j] -= factor * row[k][j];
	}
	memcpy(row[i] + first, panel[i], (end - first) * sizeof(double));
	return (above - first) * (n - first);
}

static void eliminate(void)
{
	uint64_t done = 0;

	for (uint64_t first = 0; first < n; first += PANEL) {
		uint64_t end = first + PANEL < n ? first + PANEL : n;

		eliminate_panel(first, end);
		for (uint64_t i = first; i < n; i++) {
			done += eliminate_row(first, end, i);
			work_compute(done / UNIT);
			done %= UNIT;
		}
		work_accessed(2 * (n - first) * (n - first) * sizeof(double) / 4096);
	}
}

static void substitute(void)
{
	for (uint64_t i = n; i-- > 0;) {
		for (uint64_t j = i + 1; j < n; j++)
			x[i] -= row[i][j] * x[j];
		x[i] /= row[i][i];
	}
}

/* The largest leftover against the largest row sum, solution and right side. */
static void verify(void)
{
	double left = 0, largest = 0, solution = 0, right = 0, scaled;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		double r = right_side(i), s = 0;

		for (uint64_t j = 0; j < n; j++) {
			double a = element(i, j);

			r -= a * x[j];
			s += fabs(a);
		}
		left = fmax(left, isnan(r) ? INFINITY : fabs(r));
		largest = fmax(largest, s);
		solution = fmax(solution, fabs(x[i]));
		right = fmax(right, fabs(right_side(i)));
		sum = work_mix(sum ^ work_bits(x[i]));
	}
	scaled = left / (DBL_EPSILON * (largest * solution + right) * (double)n);
	if (scaled < LARGEST)
		work_verified(n);
	else
		work_wrong_result("the scaled residual is %g, not below %g", scaled, LARGEST);
	work_member("\"residual\": %.6g, \"checksum\": \"%016llx\"",
		    isfinite(scaled) ? scaled : -1, (unsigned long long)sum);
}

static const struct work_flag flags[] = {
	{ .name = "mb", .number = &mb, .min = 1, .max = 1 << 16,
	  .help = "N             the matrix (default 8)" },
	{ 0 }
};

static const struct work_about about = {
	.name = "gauss",
	.does = "Solves a dense linear system by Gaussian elimination. The matrix is passed\n"
		"over once for each 64 of its columns.",
	.unit = "1024 elements from which a multiple of others was taken",
	.flags = flags,
};

int main(int argc, char **argv)
{
	work_start(argc, argv, &about);
	n = (uint64_t)sqrt((double)(mb * WORK_MB / sizeof(double)));
	fill();
	work_measure();
	eliminate();
	substitute();
	work_check();
	verify();
	work_member("\"mb\": %llu, \"n\": %llu", (unsigned long long)mb,
		    (unsigned long long)n);
	return work_end();
}
