// SPDX-License-Identifier: GPL-2.0
/*
 * FFT: the fast Fourier transform of one large array of complex numbers, there
 * and back, as the program of that name in Markatos and Dramitinos may have
 * done it: in place, the elements brought into bit-reversed order first, then
 * each half transformed and the two combined.
 *
 * Both go over memory in an order made for pages. Reversal one element after
 * the other touches another page with each, and all pages before any of them
 * for the second time: swapping, that is a page-in and a page-out for every
 * element. Whole tiles of pages are exchanged instead, so that each page comes
 * in once; and a half is done with before the other is begun, so that what fits
 * into memory is transformed there without swapping.
 *
 * Verified: what comes back is what went in, within what rounding can do, and
 * the sum of squares of the transform is that of the array (Parseval).
 *
 * Invariants: the array holds a power of two of elements.
 */
#include <math.h>

#include "work.h"

#define UNIT		1024
#define ROUNDING	1e-9
#define ROOTS_TURNED	64
#define TILE_BITS	8	/* a tile's row is a page: 256 elements of 16 bytes */

struct complex {
	double re, im;
};

static uint64_t mb = 16;
static uint64_t n, done;
static unsigned int log2n;
static struct complex *a;

static double energy(void)
{
	double sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += a[i].re * a[i].re + a[i].im * a[i].im;
	return sum;
}

static void fill(void)
{
	a = work_map(n * sizeof(*a), false);
	for (uint64_t i = 0; i < n; i++) {
		a[i].re = work_real(work_seed, 2 * i);
		a[i].im = work_real(work_seed, 2 * i + 1);
	}
	for (uint64_t i = 0; i < work_damage; i++)
		a[i * (n / work_damage)].re += 1e-6;
}

static uint64_t reversed(uint64_t i, unsigned int bits)
{
	uint64_t r = 0;

	for (unsigned int b = 0; b < bits; b++)
		r |= (i >> b & 1) << (bits - 1 - b);
	return r;
}

/*
 * Exchange two tiles. An index is (row, tile, column); reversed, it is (column
 * reversed, tile reversed, row reversed), so a tile's elements all go to one
 * other, or to itself, and no element of either is anywhere else.
 */
static void reverse_tile(uint64_t tile, uint64_t other, unsigned int side)
{
	const unsigned int row_at = log2n - side;

	for (uint64_t row = 0; row < 1ULL << side; row++) {
		uint64_t to = other << side | reversed(row, side);

		for (uint64_t column = 0; column < 1ULL << side; column++) {
			uint64_t i = row << row_at | tile << side | column;
			uint64_t r = reversed(column, side) << row_at | to;
			struct complex t = a[i];

			if (tile == other && r <= i)
				continue;
			a[i] = a[r];
			a[r] = t;
		}
	}
}

static void reverse(void)
{
	const unsigned int side = log2n / 2 < TILE_BITS ? log2n / 2 : TILE_BITS;
	const unsigned int bits = log2n - 2 * side;

	for (uint64_t tile = 0; tile < 1ULL << bits; tile++) {
		uint64_t other = reversed(tile, bits);

		if (other >= tile)
			reverse_tile(tile, other, side);
	}
}

/* One butterfly: two elements and a root of unity. */
static void combine(struct complex *low, struct complex *high, double re, double im)
{
	struct complex t = { high->re * re - high->im * im, high->re * im + high->im * re };

	high->re = low->re - t.re;
	high->im = low->im - t.im;
	low->re += t.re;
	low->im += t.im;
}

/* The half of a block against its other half; roots are turned, and now and
 * then computed, so that they stay exact.
 */
static void combine_block(struct complex *low, uint64_t half, double step)
{
	struct complex turn = { cos(step), sin(step) }, root = { 1, 0 };

	for (uint64_t k = 0; k < half; k++) {
		double re;

		if (k % ROOTS_TURNED == 0) {
			root.re = cos(step * (double)k);
			root.im = sin(step * (double)k);
		}
		combine(&low[k], &low[half + k], root.re, root.im);
		re = root.re * turn.re - root.im * turn.im;
		root.im = root.re * turn.im + root.im * turn.re;
		root.re = re;
		if (++done % UNIT == 0)
			work_compute(1);
	}
}

/* So many elements, which are in bit-reversed order. */
static void combine_all(struct complex *low, uint64_t size, double direction)
{
	if (size == 1)
		return;
	combine_all(low, size / 2, direction);
	combine_all(low + size / 2, size / 2, direction);
	combine_block(low, size / 2, direction * 2 * M_PI / (double)size);
}

static void transform(double direction)
{
	reverse();
	combine_all(a, n, direction);
	work_accessed((log2n + 1) * n * sizeof(*a) / 4096);
}

/* The transform's sum of squares is n times that of the array. */
static void check_energy(double before, double after)
{
	double off = fabs(after / (double)n / before - 1);

	if (!(off < ROUNDING))
		work_wrong_result("the sum of squares is off by a factor of %g", off);
}

static void verify(void)
{
	double worst = 0;
	uint64_t sum = 0, wrong = 0;

	for (uint64_t i = 0; i < n; i++) {
		double re = a[i].re / (double)n - work_real(work_seed, 2 * i);
		double im = a[i].im / (double)n - work_real(work_seed, 2 * i + 1);
		double off = fmax(fabs(re), fabs(im));

		if (!(off < ROUNDING))
			wrong++;
		worst = fmax(worst, off);
		sum = work_mix(sum ^ work_bits(a[i].re)) ^ work_bits(a[i].im);
	}
	if (wrong)
		work_wrong_result("%llu elements did not come back, the worst is off by %g",
				  (unsigned long long)wrong, worst);
	work_verified(n - wrong);
	work_member("\"worst\": %.3g, \"checksum\": \"%016llx\"",
		    isfinite(worst) ? worst : -1, (unsigned long long)sum);
}

static const struct work_flag flags[] = {
	{ .name = "mb", .number = &mb, .min = 1, .max = 1 << 16,
	  .help = "N             the array, a power of two (default 16)" },
	{ 0 }
};

static const struct work_about about = {
	.name = "fft",
	.does = "Transforms an array of complex numbers and transforms it back, in place.",
	.unit = "1024 butterflies",
	.flags = flags,
};

int main(int argc, char **argv)
{
	double before, between;

	work_start(argc, argv, &about);
	if (mb & (mb - 1))
		work_refuse("--mb must be a power of two, not %llu", (unsigned long long)mb);
	n = mb * WORK_MB / sizeof(*a);
	while (1ULL << log2n < n)
		log2n++;
	fill();
	before = energy();
	work_measure();
	transform(-1);
	between = energy();
	transform(1);
	work_check();
	check_energy(before, between);
	verify();
	work_member("\"mb\": %llu, \"elements\": %llu", (unsigned long long)mb,
		    (unsigned long long)n);
	return work_end();
}
