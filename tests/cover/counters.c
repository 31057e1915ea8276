// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of the lines that were run, in a build of the module for that alone (make
 * COVER=1, tests/run cover): what the compiler's own run-time does for a program, since the
 * kernel does it only with CONFIG_GCOV_KERNEL and so in a build of its own.
 *
 *   insmod nswap.ko counters=on	before anything of the module runs
 *   echo FILE > /sys/module/nswap/parameters/counters
 *	all counters go to FILE: for each object two lengths of 4 bytes, the name of its
 *	.gcda, and what is to be in it
 *   echo off > …	they begin at nought again
 *
 * Invariants:
 *  - The layout of struct counted_object is the compiler's, gcc 11 to 15; libgcc's
 *    gcov.h has it, and the kernel's kernel/gcov/gcc_4_7.c.
 *  - The constructors of all objects lie between the two markers, by the order of names
 *    in the kernel's module.lds, and are there until the module is initialized.
 *  - A counter that changes while it is written may be of before or after that.
 */
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "counters.h"

#if __GNUC__ >= 15
#define NR_KINDS	10
#elif __GNUC__ >= 14
#define NR_KINDS	9
#else
#define NR_KINDS	8
#endif

#define DATA_MAGIC	0x67636461u	/* "gcda" */
#define TAG_FUNCTION	0x01000000u
#define TAG_COUNTERS	0x01a10000u	/* of the first kind; 1 << 17 from one to the next */
#define UNIT		(__GNUC__ >= 12 ? 4 : 1)	/* lengths are in bytes since 12 */

struct counted_values {
	u32 nr;
	s64 *value;
};

struct counted_function {
	const struct counted_object *key;
	u32 ident;
	u32 lines_sum;
	u32 graph_sum;
	struct counted_values kind[];
};

struct counted_object {
	u32 version;
	struct counted_object *next;
	u32 stamp;
#if __GNUC__ >= 12
	u32 sum;
#endif
	const char *name;
	void (*merge[NR_KINDS])(s64 *value, u32 nr);
	u32 nr_functions;
	struct counted_function **function;
};

/* what is written: to a file, a page at a time, or, without one, only counted */
struct counted_out {
	struct file *file;
	loff_t at;
	u8 *page;
	u32 used;
	u32 bytes;
	int error;
};

static struct counted_object *counted;

/* called by the constructor of each object */
void __gcov_init(struct counted_object *o)
{
	o->next = counted;
	counted = o;
}

void __gcov_exit(void)
{
}

void __gcov_merge_add(s64 *value, u32 nr)
{
}

static void counted_marker(void)
{
}

static void (*first_marker)(void) __used __section(".init_array.00000") = counted_marker;
static void (*last_marker)(void) __used __section(".init_array.99999") = counted_marker;

static void counted_begin(void)
{
	void (**constructor)(void);

	if (counted)
		return;
	for (constructor = &first_marker; constructor <= &last_marker; constructor++)
		(*constructor)();
}

static void counted_flush(struct counted_out *out)
{
	ssize_t done = kernel_write(out->file, out->page, out->used, &out->at);

	if (done != out->used)
		out->error = done < 0 ? done : -EIO;
	out->used = 0;
}

static void counted_put(struct counted_out *out, const void *data, u32 bytes)
{
	out->bytes += bytes;
	while (out->file && !out->error && bytes) {
		u32 now = min_t(u32, bytes, PAGE_SIZE - out->used);

		memcpy(out->page + out->used, data, now);
		out->used += now;
		data += now;
		bytes -= now;
		if (out->used == PAGE_SIZE)
			counted_flush(out);
	}
}

static void counted_put_u32(struct counted_out *out, u32 value)
{
	counted_put(out, &value, sizeof(value));
}

static void counted_function(struct counted_out *out, const struct counted_object *o,
			     const struct counted_function *f)
{
	const struct counted_values *v = f->kind;
	u32 kind;

	counted_put_u32(out, TAG_FUNCTION);
	counted_put_u32(out, 3 * UNIT);
	counted_put_u32(out, f->ident);
	counted_put_u32(out, f->lines_sum);
	counted_put_u32(out, f->graph_sum);
	for (kind = 0; kind < NR_KINDS; kind++) {
		if (!o->merge[kind])
			continue;
		counted_put_u32(out, TAG_COUNTERS + (kind << 17));
		counted_put_u32(out, v->nr * 2 * UNIT);
		counted_put(out, v->value, v->nr * sizeof(*v->value));
		v++;
	}
}

/* what is in the .gcda file of an object */
static void counted_object(struct counted_out *out, const struct counted_object *o)
{
	u32 i;

	counted_put_u32(out, DATA_MAGIC);
	counted_put_u32(out, o->version);
	counted_put_u32(out, o->stamp);
	if (__GNUC__ >= 12)
		counted_put_u32(out, 0);	/* which matches any */
	for (i = 0; i < o->nr_functions; i++)
		counted_function(out, o, o->function[i]);
}

static int counted_write(const char *path)
{
	struct counted_out out = {
		.file = filp_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600),
	};
	const struct counted_object *o;

	if (IS_ERR(out.file))
		return PTR_ERR(out.file);
	out.page = (u8 *)__get_free_page(GFP_KERNEL);
	if (!out.page)
		out.error = -ENOMEM;
	for (o = counted; o && !out.error; o = o->next) {
		struct counted_out size = {};

		counted_object(&size, o);
		counted_put_u32(&out, strlen(o->name));
		counted_put_u32(&out, size.bytes);
		counted_put(&out, o->name, strlen(o->name));
		counted_object(&out, o);
	}
	if (!out.error)
		counted_flush(&out);
	free_page((unsigned long)out.page);
	filp_close(out.file, NULL);
	return out.error;
}

static void counted_reset(void)
{
	const struct counted_object *o;
	u32 i, kind;

	for (o = counted; o; o = o->next)
		for (i = 0; i < o->nr_functions; i++) {
			const struct counted_values *v = o->function[i]->kind;

			for (kind = 0; kind < NR_KINDS; kind++) {
				if (!o->merge[kind])
					continue;
				memset(v->value, 0, v->nr * sizeof(*v->value));
				v++;
			}
		}
}

static int counters_set(const char *text, const struct kernel_param *p)
{
	char *path = kstrdup(text, GFP_KERNEL);
	int ret = 0;

	if (!path)
		return -ENOMEM;
	strim(path);
	if (!strcmp(path, "on"))
		counted_begin();
	else if (!strcmp(path, "off"))
		counted_reset();
	else
		ret = counted_write(path);
	kfree(path);
	return ret;
}

static const struct kernel_param_ops counters_ops = { .set = counters_set };

module_param_cb(counters, &counters_ops, NULL, 0200);
MODULE_PARM_DESC(counters, "on, off, or the file that counters are written to");
