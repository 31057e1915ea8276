/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fuzzing of the pure units as a program, see main.c. A harness reads bytes and makes of
 * them whatever it calls its unit with; any bytes are an input.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "kernel.h"

#define FUZZ_MOST	4096		/* bytes of an input */

/**
 * struct fuzz_bytes - an input
 * @bytes: how many
 * @at: the bytes
 */
struct fuzz_bytes {
	u32 bytes;
	u8 at[FUZZ_MOST];
};

/**
 * struct fuzz_cursor - where a harness is in its input; at the end it reads zeros
 * @at: the next byte
 * @end: behind the last one
 */
struct fuzz_cursor {
	const u8 *at;
	const u8 *end;
};

/**
 * struct fuzz_target - one harness
 * @name: for users, and of its corpus
 * @help: what it looks at
 * @weight: how many inputs it gets, in proportion to others
 * @make: a new input, as far as possible one that the unit accepts; NULL: any bytes
 * @run: try an input
 */
struct fuzz_target {
	const char *name;
	const char *help;
	unsigned int weight;
	void (*make)(struct fuzz_bytes *in);
	void (*run)(struct fuzz_cursor *in);
};

extern const struct fuzz_target fuzz_wire, fuzz_announce, fuzz_table, fuzz_state,
	fuzz_sockaddr, fuzz_flash, fuzz_slot, fuzz_side, fuzz_buffers, fuzz_tags,
	fuzz_exchange, fuzz_place, fuzz_parse, fuzz_chunks;

/* harnesses: what an input says */
u64 fuzz_take(struct fuzz_cursor *in, unsigned int bytes);
void fuzz_take_into(struct fuzz_cursor *in, void *to, size_t bytes);
bool fuzz_more(const struct fuzz_cursor *in);

static inline u8 fuzz_u8(struct fuzz_cursor *in)
{
	return fuzz_take(in, 1);
}

static inline u32 fuzz_below(struct fuzz_cursor *in, u32 limit)
{
	return fuzz_take(in, limit > 256 ? 4 : 1) % limit;
}

/* makers: the generator */
u64 fuzz_random(void);
u64 fuzz_odd_number(void);
void fuzz_put(struct fuzz_bytes *in, u64 value, unsigned int bytes);
void fuzz_any_bytes(struct fuzz_bytes *in, unsigned int most);

/* a fault has been found */
void fuzz_broken(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#define fuzz_check(c) do {						\
	if (!(c))							\
		fuzz_broken("%s:%d: not so: %s", __FILE__, __LINE__, #c);	\
} while (0)

/* random.c */
void fuzz_seed(u64 seed, const char *name);
void fuzz_mutate(struct fuzz_bytes *in, const struct fuzz_bytes *other);

/* cover.c: what of the units the present input has reached */
#define FUZZ_POINTS	(1u << 16)

/**
 * struct fuzz_reached - points that an input reached, each once
 * @nr: how many
 * @point: which
 */
struct fuzz_reached {
	u32 nr;
	u16 point[FUZZ_POINTS];
};

extern struct fuzz_reached fuzz_reached;
extern char __executable_start;		/* the linker's */

void __sanitizer_cov_trace_pc(void);	/* gcc calls it */

void fuzz_cover_begin(void);

/* pool.c: the inputs that are worth another look */
void fuzz_pool_learn(const struct fuzz_bytes *in);
const struct fuzz_bytes *fuzz_pool_any(void);
unsigned int fuzz_pool_points(void);
unsigned int fuzz_pool_inputs(void);
int fuzz_pool_keep(const char *path, void (*again)(const struct fuzz_bytes *in));
bool fuzz_hex_read(FILE *file, struct fuzz_bytes *in);
void fuzz_hex_write(FILE *file, const struct fuzz_bytes *in);

#endif
