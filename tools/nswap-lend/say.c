// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of the log, and what is left of the kernel's texts and bytes.
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/node.h"
#include "lend.h"
#include "transport/sockaddr.h"

#define MOST		10	/* lines in */
#define EVERY_MS	5000

/* as the kernel's rate limit; how many were left out before this one, -1: leave it out */
static int say_may(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static unsigned long begun;
	static int said, left_out;
	int ret = -1;

	pthread_mutex_lock(&lock);
	if (!begun || !time_before(jiffies, begun + EVERY_MS)) {
		begun = jiffies;
		said = 0;
	}
	if (said++ < MOST) {
		ret = left_out;
		left_out = 0;
	} else {
		left_out++;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

void lend_say(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "nswap-lend: %s\n", line);
}

void lend_say_seldom(const char *format, ...)
{
	static const char address[] = "%pISpc";
	const char *first = strstr(format, address);
	char line[512], text[64];
	struct nswap_addr a;
	int left_out = say_may();
	size_t used = 0;
	va_list args;

	if (left_out < 0)
		return;
	va_start(args, format);
	if (first) {
		if (nswap_from_sockaddr(va_arg(args, struct sockaddr_storage *), &a))
			a = (struct nswap_addr){ .family = AF_INET };
		used = snprintf(line, sizeof(line), "%.*s%s", (int)(first - format), format,
				lend_addr_text(&a, text, sizeof(text)));
		format = first + sizeof(address) - 1;
	}
	vsnprintf(line + used, sizeof(line) - used, format, args);
	va_end(args);
	if (left_out)
		fprintf(stderr, "nswap-lend: %d lines were left out\n", left_out);
	fprintf(stderr, "nswap-lend: %s\n", line);
}

bool lend_wrong(bool is, const char *what, const char *file, int line)
{
	if (is)
		lend_say("%s:%d: %s; please report this", file, line, what);
	return is;
}

void *memchr_inv(const void *at, int c, size_t bytes)
{
	const u8 *p = at;

	for (; bytes; bytes--, p++)
		if (*p != (u8)c)
			return (void *)p;
	return NULL;
}

ssize_t strscpy(char *to, const char *from, size_t bytes)
{
	size_t n = strnlen(from, bytes);

	if (n == bytes)
		n--;
	memcpy(to, from, n);
	to[n] = 0;
	return n;
}
