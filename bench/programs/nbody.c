// SPDX-License-Identifier: GPL-2.0
/*
 * NBODY: gravity among particles, as in Markatos and Dramitinos, by the tree
 * method of Barnes and Hut: cells of space that are far enough away count as
 * one body. Bodies lie in memory without regard to where they are in space, so
 * both building the tree and walking it go to pages all over it.
 *
 * Verified: each body's own check word, whenever its turn comes; the number
 * and the mass of bodies in the tree; and for some bodies, after the last step,
 * the sum over all others one by one, from which the tree's may differ by what
 * the method allows.
 *
 * Invariants: a body's check word covers all else in it and is made anew with
 * every change. Cells are made anew in each step.
 */
#include <math.h>

#include "work.h"

#define OPENING		1.0	/* a cell this wide at distance 1 is one body */
#define SOFTENING	1e-4	/* squared distance added, as bodies have size */
#define TIME_STEP	1e-3
#define SAMPLES		16
#define TOLERANCE	0.02
#define CELL		(1LL << 62)	/* in child[]: a cell, not a body */
#define DEEPEST		60

struct body {
	double at[3], speed[3], pull[3], mass;
	uint64_t check;
};

struct cell {
	double at[3], mass;	/* its centre of mass, and the mass */
	uint64_t bodies;
	int64_t child[8];	/* 0: none; body + 1; or CELL + cell */
};

static uint64_t mb = 8, steps = 1, every = 1;
static uint64_t n, cells, cells_most, interactions;
static struct body *bodies;
static struct cell *tree;

static uint64_t check_of(const struct body *b)
{
	const uint64_t *word = (const uint64_t *)b;
	uint64_t sum = work_seed;

	for (unsigned int i = 0; &word[i] != &b->check; i++)
		sum = work_mix(sum ^ word[i]);
	return sum;
}

static bool intact(uint64_t i)
{
	if (bodies[i].check == check_of(&bodies[i]))
		return true;
	work_wrong_result("body %llu is not what was written", (unsigned long long)i);
	return false;
}

static void fill(void)
{
	bodies = work_map(n * sizeof(*bodies), false);
	tree = work_map(cells_most * sizeof(*tree), false);
	for (uint64_t i = 0; i < n; i++) {
		struct body *b = &bodies[i];

		for (unsigned int k = 0; k < 3; k++) {
			b->at[k] = work_real(work_seed, 8 * i + k);
			b->speed[k] = work_real(work_seed, 8 * i + 3 + k);
		}
		b->mass = (work_real(work_seed, 8 * i + 6) + 1) / (double)n;
		b->check = check_of(b);
	}
	for (uint64_t i = 0; i < work_damage; i++)
		bodies[i * (n / work_damage)].at[0] += 0.01;
}

static int64_t new_cell(void)
{
	if (cells == cells_most)
		work_refuse("the bodies lie too close together for the tree");
	tree[cells] = (struct cell){ 0 };
	return CELL + (int64_t)cells++;
}

/* Which eighth of a cell a place is in; the middle moves to that eighth's. */
static unsigned int eighth(const double *at, double *middle, double half)
{
	unsigned int which = 0;

	for (unsigned int k = 0; k < 3; k++) {
		bool upper = at[k] >= middle[k];

		which |= upper << k;
		middle[k] += upper ? half / 2 : -half / 2;
	}
	return which;
}

static void insert(uint64_t i)
{
	double middle[3] = { 0 }, half = 1;
	int64_t *place = &tree[0].child[eighth(bodies[i].at, middle, half)];

	for (unsigned int depth = 0; *place; depth++) {
		half /= 2;
		if (!(*place & CELL)) {
			int64_t other = *place;
			double copy[3] = { middle[0], middle[1], middle[2] };
			int64_t cell = new_cell();

			if (depth > DEEPEST)
				work_refuse("two bodies are at the same place");
			tree[cell - CELL].child[eighth(bodies[other - 1].at, copy, half)] =
				other;
			*place = cell;
		}
		place = &tree[*place - CELL].child[eighth(bodies[i].at, middle, half)];
	}
	*place = (int64_t)i + 1;
}

/* Masses and centres: children were made after their parents. */
static void weigh(void)
{
	for (uint64_t c = cells; c-- > 0;) {
		struct cell *cell = &tree[c];

		for (unsigned int e = 0; e < 8; e++) {
			int64_t child = cell->child[e];
			bool inner = child & CELL;
			const double *at;
			double mass;

			if (!child)
				continue;
			at = inner ? tree[child - CELL].at : bodies[child - 1].at;
			mass = inner ? tree[child - CELL].mass : bodies[child - 1].mass;
			cell->bodies += inner ? tree[child - CELL].bodies : 1;
			cell->mass += mass;
			for (unsigned int k = 0; k < 3; k++)
				cell->at[k] += mass * at[k];
		}
		for (unsigned int k = 0; k < 3; k++)
			cell->at[k] /= cell->mass;
	}
}

/* What a mass at a place pulls a body with; how strong that is. */
static double attract(double *pull, const double *from, const double *at, double mass)
{
	double d[3], square = SOFTENING, f;

	for (unsigned int k = 0; k < 3; k++) {
		d[k] = at[k] - from[k];
		square += d[k] * d[k];
	}
	f = mass / (square * sqrt(square));
	for (unsigned int k = 0; k < 3; k++)
		pull[k] += f * d[k];
	return mass / square;
}

static bool far(const double *from, const double *at, double width)
{
	double square = 0;

	for (unsigned int k = 0; k < 3; k++)
		square += (at[k] - from[k]) * (at[k] - from[k]);
	return width * width < OPENING * OPENING * square;
}

/* The pull of all that is in a cell of this width. */
static void walk(double *pull, uint64_t i, uint64_t c, double width)
{
	for (unsigned int e = 0; e < 8; e++) {
		int64_t child = tree[c].child[e];
		const struct cell *cell = &tree[child & ~CELL];

		if (!child || child == (int64_t)i + 1)
			continue;
		interactions++;
		if (!(child & CELL))
			attract(pull, bodies[i].at, bodies[child - 1].at,
				bodies[child - 1].mass);
		else if (far(bodies[i].at, cell->at, width / 2))
			attract(pull, bodies[i].at, cell->at, cell->mass);
		else
			walk(pull, i, (uint64_t)(child & ~CELL), width / 2);
	}
}

static void build(void)
{
	cells = 0;
	new_cell();
	for (uint64_t i = 0; i < n; i++)
		insert(i);
	weigh();
	if (tree[0].bodies != n)
		work_wrong_result("the tree has %llu of %llu bodies",
				  (unsigned long long)tree[0].bodies, (unsigned long long)n);
}

/* All pulls first: within a step nobody moves. */
static void step(bool moving)
{
	build();
	for (uint64_t i = 0; i < n; i += every) {
		struct body *b = &bodies[i];
		double pull[3] = { 0 };

		work_verified(intact(i));
		walk(pull, i, 0, 2);
		for (unsigned int k = 0; k < 3; k++)
			b->pull[k] = pull[k];
		b->check = check_of(b);
		work_compute(1);
	}
	for (uint64_t i = 0; moving && i < n; i++) {
		struct body *b = &bodies[i];

		work_verified(intact(i));
		for (unsigned int k = 0; k < 3; k++) {
			b->speed[k] += TIME_STEP * b->pull[k];
			b->at[k] += TIME_STEP * b->speed[k];
			if (fabs(b->at[k]) > 1)		/* back from the wall */
				b->speed[k] = -copysign(b->speed[k], b->at[k]);
		}
		b->check = check_of(b);
	}
}

/* One body's pull, body by body. */
static void check_pull(uint64_t i)
{
	double pull[3] = { 0 }, strength = 0, off = 0;

	for (uint64_t j = 0; j < n; j++)
		if (j != i)
			strength += attract(pull, bodies[i].at, bodies[j].at, bodies[j].mass);
	for (unsigned int k = 0; k < 3; k++)
		off = fmax(off, fabs(pull[k] - bodies[i].pull[k]));
	if (!(off < TOLERANCE * strength))
		work_wrong_result("the pull of body %llu is off by %g of %g",
				  (unsigned long long)i, off, strength);
}

static void verify(void)
{
	uint64_t sum = 0, right = 0;

	for (uint64_t i = 0; i < n; i++) {
		right += intact(i);
		sum = work_mix(sum ^ bodies[i].check);
	}
	for (uint64_t s = 0; s < SAMPLES; s++)
		check_pull(work_word(~work_seed, s) % n / every * every);
	work_verified(right);
	work_member("\"checksum\": \"%016llx\"", (unsigned long long)sum);
}

static const struct work_flag flags[] = {
	{ .name = "mb", .number = &mb, .min = 1, .max = 1 << 16,
	  .help = "N             bodies and tree, about (default 8)" },
	{ .name = "steps", .number = &steps, .min = 1, .max = 1 << 20,
	  .help = "N          of time (default 1)" },
	{ .name = "every", .number = &every, .min = 1, .max = 1 << 20,
	  .help = "N          only every Nth body's pull is made anew (default 1)" },
	{ 0 }
};

static const struct work_about about = {
	.name = "nbody",
	.does = "Moves bodies that attract each other, with a tree of cells (Barnes and Hut).",
	.unit = "one body's pull",
	.flags = flags,
};

int main(int argc, char **argv)
{
	work_start(argc, argv, &about);
	/* Bodies at random need about half as many cells as there are bodies. */
	n = mb * WORK_MB / (sizeof(struct body) + sizeof(struct cell) / 2);
	cells_most = 4 * n + 64;
	fill();
	work_measure();
	for (uint64_t s = 0; s < steps; s++)
		step(s + 1 < steps);
	work_check();
	verify();
	work_accessed(interactions);
	work_member("\"mb\": %llu, \"bodies\": %llu, \"steps\": %llu, \"used_mb\": %llu",
		    (unsigned long long)mb, (unsigned long long)n,
		    (unsigned long long)steps,
		    (unsigned long long)((n * sizeof(*bodies) + cells * sizeof(*tree)) / WORK_MB));
	return work_end();
}
