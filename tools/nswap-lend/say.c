// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of the log, and what is left of the kernel's texts and bytes.
 *
 * Invariant: no thread waits for the one that reads the log, as none does in the kernel: a line
 * for which there is no room is left out.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

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

/* one line; false if there is no room for it now */
static bool say_line(const char *line)
{
	struct pollfd err = { .fd = STDERR_FILENO, .events = POLLOUT };
	char text[600];
	int n = snprintf(text, sizeof(text), "nswap-lend: %s\n", line);

	/* room for PIPE_BUF, which is more than a line */
	return poll(&err, 1, 0) == 1 && (err.revents & POLLOUT) &&
	       write(STDERR_FILENO, text, n) == n;
}

void lend_say(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	say_line(line);
}

void lend_say_seldom(const char *format, ...)
{
	static const char address[] = "%pISpc";
	const char *first = strstr(format, address);
	char line[512], text[64], more[48];
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
	snprintf(more, sizeof(more), "%d lines were left out", left_out);
	if (left_out)
		say_line(more);
	say_line(line);
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
