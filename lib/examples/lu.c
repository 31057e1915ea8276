// SPDX-License-Identifier: GPL-2.0
/*
 * lu of the Dodo paper: LU decomposition of a dense matrix that is larger than memory.
 *
 * The matrix stands in eight files, by columns. Slab after slab of columns is read, updated
 * with all slabs before it, of which what is below their diagonal is read (a triangle scan),
 * decomposed in place and written back. The matrix has a heavy diagonal and needs no pivots.
 * At the end L (U x) is compared with A x for one x, and a checksum of all bits is printed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

#define FILES 8

static struct parts_options options = { .request = 32 << 10, .policy = 2 };
static struct parts file[FILES];
static uint64_t n = 512, slab = 64, seed = 1;
static const char *folder;

static double element(uint64_t row, uint64_t column)
{
	uint64_t bits = mixed(seed * 0x9e3779b97f4a7c15ull + row * n + column);

	return (double)(bits >> 11) / (1ull << 53) - 0.5 + (row == column ? n : 0);
}

/* A part of a column, in the file that has it. */
static void column(uint64_t c, uint64_t row, double *data, uint64_t rows, int write)
{
	struct parts *p = &file[c / (n / FILES)];
	uint64_t at = (c % (n / FILES) * n + row) * sizeof(double);

	if (write)
		parts_write(p, at, data, rows * sizeof(double));
	else
		parts_read(p, at, data, rows * sizeof(double));
}

static void fill(double *data)
{
	uint64_t r, c;

	for (c = 0; c < n; c++) {
		for (r = 0; r < n; r++)
			data[r] = element(r, c);
		column(c, 0, data, n, 1);
	}
}

/* One decomposed column k, below its diagonal, into the columns of a slab. */
static void update(double *mine, uint64_t columns, uint64_t k, const double *below)
{
	uint64_t c, r;

	for (c = 0; c < columns; c++) {
		double *to = mine + c * n, factor = to[k];

		for (r = k + 1; r < n; r++)
			to[r] -= below[r] * factor;
	}
}

static void decompose(double *mine, double *below)
{
	uint64_t first, k, c, r;

	for (first = 0; first < n; first += slab) {
		for (c = 0; c < slab; c++)
			column(first + c, 0, mine + c * n, n, 0);
		for (k = 0; k < first; k++) {
			column(k, k, below + k, n - k, 0);
			update(mine, slab, k, below);
		}
		for (k = 0; k < slab; k++) {
			double *own = mine + k * n, pivot = own[first + k];

			for (r = first + k + 1; r < n; r++)
				own[r] /= pivot;
			update(own + n, slab - k - 1, first + k, own);
		}
		for (c = 0; c < slab; c++)
			column(first + c, 0, mine + c * n, n, 1);
	}
}

/* The largest part by which L (U x) is not A x, and a checksum of L and U. */
static double residual(double *data, uint64_t *sum)
{
	double *ux = calloc(n, sizeof(*ux)), *lux = calloc(n, sizeof(*lux)), worst = 0;
	uint64_t r, c, bits;

	for (c = 0; c < n; c++) {
		column(c, 0, data, n, 0);
		for (r = 0; r < n; r++) {
			memcpy(&bits, &data[r], sizeof(bits));
			*sum = mixed(*sum ^ bits) + c;
			if (r <= c)
				ux[r] += data[r] * (1 + c % 7);
		}
	}
	for (c = 0; c < n; c++) {
		column(c, 0, data, n, 0);
		lux[c] += ux[c];
		for (r = c + 1; r < n; r++)
			lux[r] += data[r] * ux[c];
	}
	for (r = 0; r < n; r++) {
		double ax = 0;

		for (c = 0; c < n; c++)
			ax += element(r, c) * (1 + c % 7);
		worst = fmax(worst, fabs(ax - lux[r]) / n);
	}
	free(ux);
	free(lux);
	return worst;
}

static void usage(void)
{
	puts("usage: lu --dir FOLDER [--n N] [--slab N] [--seed N] …\n"
	     "Decomposes a matrix of N x N in files of FOLDER, and checks the result.\n"
	     "  --n N            rows and columns, a multiple of eight slabs (default 512)\n"
	     "  --slab N         columns in memory at once (default 64)");
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
		else if (!strcmp(name, "--dir"))
			folder = value;
		else if (!strcmp(name, "--n"))
			n = strtoull(value, NULL, 10);
		else if (!strcmp(name, "--slab"))
			slab = strtoull(value, NULL, 10);
		else if (!strcmp(name, "--seed"))
			seed = strtoull(value, NULL, 10);
		else if (!parts_option(&options, name, value))
			folder = NULL, i = argc;
	}
	if (!folder || !slab || !n || n % (FILES * slab)) {
		fprintf(stderr, "error: usage: lu --dir FOLDER [--n N] [--slab N] …, see --help\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	double begin, filled, done, *mine, *below, worst;
	uint64_t i, sum = 0;
	char path[512];

	arguments(argc, argv);
	parts_begin(&options);
	mine = malloc(slab * n * sizeof(*mine));
	below = malloc(n * sizeof(*below));
	if (!mine || !below)
		fail("memory");
	begin = seconds();
	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/lu.%d", folder, (int)i);
		parts_open(&file[i], &options, path, n / FILES * n * sizeof(double));
	}
	fill(below);
	filled = seconds();
	decompose(mine, below);
	done = seconds();
	worst = residual(below, &sum);
	for (i = 0; i < FILES; i++)
		parts_close(&file[i], 0);
	printf("{\"program\": \"lu\", \"n\": %llu, \"slab\": %llu, \"checksum\": \"%016llx\", "
	       "\"residual\": %.3g, \"right\": %s, \"fill_seconds\": %.3f, \"seconds\": %.3f, ",
	       (unsigned long long)n, (unsigned long long)slab, (unsigned long long)sum, worst,
	       worst < 1e-9 ? "true" : "false", filled - begin, done - filled);
	parts_print();
	puts("}");
	free(mine);
	free(below);
	return worst < 1e-9 ? 0 : 1;
}
