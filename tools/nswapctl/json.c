// SPDX-License-Identifier: GPL-2.0
/*
 * JSON on standard output, indented by two or in lines. Names of files, labels and lines of
 * configuration are any bytes: what is no UTF-8 is shown by the character for that.
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

/* bytes of the character that begins here, by RFC 3629; 0 if none does */
static size_t utf8_bytes(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char least = *s == 0xe0 ? 0xa0 : *s == 0xf0 ? 0x90 : 0x80;
	unsigned char most = *s == 0xed ? 0x9f : *s == 0xf4 ? 0x8f : 0xbf;
	size_t i, n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 :
		      *s < 0xf5 ? 4 : 0;

	if (n > 1 && (s[1] < least || s[1] > most))
		return 0;
	for (i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static void quoted(const char *s)
{
	size_t n;

	putchar('"');
	for (; *s; s += n ? n : 1) {
		n = utf8_bytes(s);
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (n == 1 && *s < 0x20)
			printf("\\u%04x", *s);
		else if (n)
			fwrite(s, 1, n, stdout);
		else
			printf("\\ufffd");
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
