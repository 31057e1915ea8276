// SPDX-License-Identifier: GPL-2.0
/*
 * The inputs that are worth another look: for every point that any input has reached, the
 * smallest of them. A corpus in a file is the same, an input a line in hexadecimal.
 */
#include "fuzz.h"

/**
 * struct entry - an input
 * @in: a copy; NULL: not used
 * @points: for so many points there is none smaller; at 0 it goes
 */
struct entry {
	struct fuzz_bytes *in;
	unsigned int points;
};

static struct entry pool[FUZZ_POINTS];
static unsigned int top, inputs;
static u32 best[FUZZ_POINTS];	/* index + 1 */
static unsigned int points;

static void drop(u32 index)
{
	if (--pool[index].points)
		return;
	free(pool[index].in);
	pool[index].in = NULL;
	inputs--;
}

static u32 add(const struct fuzz_bytes *in)
{
	size_t bytes = offsetof(struct fuzz_bytes, at) + in->bytes;
	u32 i;

	for (i = 0; i < top && pool[i].in; i++)
		;
	if (i == FUZZ_POINTS)
		abort();
	top = max(top, i + 1);
	pool[i].in = malloc(bytes);
	memcpy(pool[i].in, in, bytes);
	inputs++;
	return i;
}

/* the input that has just run: is it the smallest that has reached something? */
void fuzz_pool_learn(const struct fuzz_bytes *in)
{
	u32 i, mine = 0;

	for (i = 0; i < fuzz_reached.nr; i++) {
		u32 *b = &best[fuzz_reached.point[i]];

		if (*b && pool[*b - 1].in->bytes <= in->bytes)
			continue;
		if (!mine)
			mine = add(in) + 1;
		pool[mine - 1].points++;
		if (*b)
			drop(*b - 1);
		else
			points++;
		*b = mine;
	}
}

/* one of them, NULL if there is none */
const struct fuzz_bytes *fuzz_pool_any(void)
{
	u32 i;

	if (!inputs)
		return NULL;
	for (i = fuzz_random() % top; !pool[i].in; i = (i + 1) % top)
		;
	return pool[i].in;
}

unsigned int fuzz_pool_points(void)
{
	return points;
}

unsigned int fuzz_pool_inputs(void)
{
	return inputs;
}

static int by_bytes(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (!x->in || !y->in)
		return !x->in - !y->in;
	if (x->in->bytes != y->in->bytes)
		return x->in->bytes < y->in->bytes ? -1 : 1;
	return memcmp(x->in->at, y->in->at, x->in->bytes);
}

/*
 * Write a corpus, from the smallest: each input that reaches what none before it does.
 * @again: runs an input. The pool is of no use afterwards. Returns 0, or -1.
 */
int fuzz_pool_keep(const char *path, void (*again)(const struct fuzz_bytes *in))
{
	static bool have[FUZZ_POINTS];
	FILE *file = fopen(path, "w");
	u32 i, j, news;

	if (!file)
		return -1;
	qsort(pool, top, sizeof(pool[0]), by_bytes);
	for (i = 0; i < top && pool[i].in; i++) {
		again(pool[i].in);
		for (j = 0, news = 0; j < fuzz_reached.nr; j++) {
			news += !have[fuzz_reached.point[j]];
			have[fuzz_reached.point[j]] = true;
		}
		if (news)
			fuzz_hex_write(file, pool[i].in);
	}
	return fclose(file);
}

/* the next input of a corpus; false at its end */
bool fuzz_hex_read(FILE *file, struct fuzz_bytes *in)
{
	char line[2 * FUZZ_MOST + 2], *at = line;
	unsigned int byte;

	in->bytes = 0;
	if (!fgets(line, sizeof(line), file))
		return false;
	for (; in->bytes < FUZZ_MOST && sscanf(at, "%2x", &byte) == 1; at += 2)
		in->at[in->bytes++] = byte;
	return true;
}

void fuzz_hex_write(FILE *file, const struct fuzz_bytes *in)
{
	u32 i;

	for (i = 0; i < in->bytes; i++)
		fprintf(file, "%02x", in->at[i]);
	fputc('\n', file);
}
