// SPDX-License-Identifier: GPL-2.0
/*
 * JSON on standard output, indented by two or in lines.
 *
 * Invariant: closers[0 … depth) are the brackets that are open; empty tells
 * whether the innermost one has no member yet.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"

static char closers[8];
static unsigned int depth;
static bool empty = true;
static bool lines;

static void quoted(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void member(const char *key)
{
	if (depth && lines)
		printf(empty ? "" : ", ");
	else if (depth)
		printf(empty ? "\n%*s" : ",\n%*s", 2 * depth, "");
	if (key) {
		quoted(key);
		printf(": ");
	}
	empty = false;
}

static void open_bracket(const char *key, char opener, char closer)
{
	if (depth == sizeof(closers))
		abort();
	member(key);
	putchar(opener);
	closers[depth++] = closer;
	empty = true;
}

void json_object(const char *key)
{
	open_bracket(key, '{', '}');
}

void json_list(const char *key)
{
	open_bracket(key, '[', ']');
}

void json_end(void)
{
	depth--;
	if (!empty && !lines)
		printf("\n%*s", 2 * depth, "");
	putchar(closers[depth]);
	if (!depth)
		putchar('\n');
	empty = false;
}

void json_string(const char *key, const char *value)
{
	member(key);
	quoted(value);
}

/* from now on each value at the top is one line */
void json_lines(void)
{
	lines = true;
}

void json_real(const char *key, double value)
{
	member(key);
	printf("%.3f", value);
}

void json_number(const char *key, uint64_t value)
{
	member(key);
	printf("%" PRIu64, value);
}

/* an id, too big for a number in some readers of JSON */
void json_id(const char *key, uint64_t value)
{
	member(key);
	printf("\"%016" PRIx64 "\"", value);
}

void json_bool(const char *key, bool value)
{
	member(key);
	fputs(value ? "true" : "false", stdout);
}
