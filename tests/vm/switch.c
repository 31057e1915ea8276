// SPDX-License-Identifier: GPL-2.0
/*
 * The link between test guests: an Ethernet switch in user space that can
 * cut and delay pairs of ports and counts what passes.
 *
 * usage: switch FOLDER PORTS
 *
 * Listens on FOLDER/port0 … for QEMU's `-netdev stream` (frames with a
 * 4-byte big-endian length before each), and on FOLDER/control for one
 * client with one command a line, each answered by one line:
 *
 *   cut A B | heal A B     drop every frame between A and B, both ways, or not
 *   delay A B US           hold frames between A and B for that long
 *   stat                   JSON: a list of ports with frames, bytes, dropped,
 *                          each in and out (in = from the guest)
 *
 * Invariants: a frame's target is the last byte of its target MAC (port n has
 * MAC ….n+1), or all ports if it is a group address; frames of a pair keep
 * their order; a port that does not read loses frames once OUT_MAX bytes wait
 * for it, and holds up no other port; a cut also drops what was already delayed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PORTS_MAX	16
#define IN_MAX		(256 * 1024)
#define OUT_MAX		(4 * 1024 * 1024)
#define FRAME_MAX	(64 * 1024 + 64)
#define HEADER		4
#define ETH_HEADER	14
#define SOCKET_BUFFER	(1024 * 1024)

/* A frame held back; the list of a pair is in order of time. */
struct held {
	struct held *next;
	int64_t due_us;
	uint32_t len;
	unsigned char frame[];
};

struct pair {
	int cut;
	int64_t delay_us;
	struct held *first;
	struct held **last;
};

struct port {
	int listener;
	int fd;
	unsigned char *in;
	size_t in_len;
	unsigned char *out;	/* out_start…out_end waits to be written */
	size_t out_start;
	size_t out_end;
	uint64_t frames_in, bytes_in, frames_out, bytes_out, dropped;
};

static struct port ports[PORTS_MAX];
static struct pair pairs[PORTS_MAX][PORTS_MAX];	/* [from][to] */
static int nports;
static int control_listener, control = -1;
static char line[256];
static size_t line_len;

static void die(const char *what)
{
	fprintf(stderr, "switch: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

static int listen_at(const char *folder, const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", folder, name) >=
	    (int)sizeof(a.sun_path)) {
		errno = ENAMETOOLONG;
		die(folder);
	}
	unlink(a.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(fd, 4))
		die(a.sun_path);
	return fd;
}

static void port_close(struct port *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	p->in_len = 0;
	p->out_start = 0;
	p->out_end = 0;
}

static void port_flush(struct port *p)
{
	while (p->fd >= 0 && p->out_start < p->out_end) {
		ssize_t n = send(p->fd, p->out + p->out_start,
				 p->out_end - p->out_start, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			port_close(p);
			return;
		}
		p->out_start += n;
	}
	p->out_start = 0;
	p->out_end = 0;
}

/* @frame has its length before it; @len counts that too. */
static void port_put(struct port *p, const unsigned char *frame, size_t len)
{
	if (p->fd < 0)
		return;
	if (p->out_end + len > OUT_MAX && p->out_start) {
		memmove(p->out, p->out + p->out_start, p->out_end - p->out_start);
		p->out_end -= p->out_start;
		p->out_start = 0;
	}
	if (p->out_end + len > OUT_MAX) {
		p->dropped++;
		return;
	}
	memcpy(p->out + p->out_end, frame, len);
	p->out_end += len;
	p->frames_out++;
	p->bytes_out += len - HEADER;
}

static void pair_hold(struct pair *c, const unsigned char *frame, size_t len)
{
	struct held *h = malloc(sizeof(*h) + len);

	if (!h)
		die("memory");
	h->next = NULL;
	h->due_us = now_us() + c->delay_us;
	h->len = len;
	memcpy(h->frame, frame, len);
	if (!c->first)
		c->last = &c->first;
	*c->last = h;
	c->last = &h->next;
}

static void pair_send(int from, int to, const unsigned char *frame, size_t len)
{
	struct pair *c = &pairs[from][to];

	if (c->cut)
		ports[to].dropped++;
	else if (c->delay_us || c->first)
		pair_hold(c, frame, len);
	else
		port_put(&ports[to], frame, len);
}

/* Pass on what is due; returns the time until more is, or -1. */
static int64_t release_held(void)
{
	int64_t now = now_us(), wait = -1;

	for (int a = 0; a < nports; a++) {
		for (int b = 0; b < nports; b++) {
			struct pair *c = &pairs[a][b];
			struct held *h;

			while ((h = c->first) && (c->cut || h->due_us <= now)) {
				if (c->cut)
					ports[b].dropped++;
				else
					port_put(&ports[b], h->frame, h->len);
				c->first = h->next;
				free(h);
			}
			if (h && (wait < 0 || h->due_us - now < wait))
				wait = h->due_us - now;
		}
	}
	return wait;
}

static void frame_from(int from, const unsigned char *frame, size_t len)
{
	const unsigned char *mac = frame + HEADER;
	int to = mac[5] - 1;

	ports[from].frames_in++;
	ports[from].bytes_in += len - HEADER;
	if (mac[0] & 1) {
		for (to = 0; to < nports; to++)
			if (to != from)
				pair_send(from, to, frame, len);
	} else if (to >= 0 && to < nports && to != from) {
		pair_send(from, to, frame, len);
	}
}

static void port_read(int from)
{
	struct port *p = &ports[from];
	ssize_t n = recv(p->fd, p->in + p->in_len, IN_MAX - p->in_len, 0);
	size_t pos = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		port_close(p);
		return;
	}
	p->in_len += n;
	while (p->in_len - pos >= HEADER) {
		uint32_t len;

		memcpy(&len, p->in + pos, sizeof(len));
		len = ntohl(len);
		if (len < ETH_HEADER || len > FRAME_MAX) {
			fprintf(stderr, "switch: port %d: a frame of %u bytes\n",
				from, len);
			port_close(p);
			return;
		}
		if (p->in_len - pos < HEADER + len)
			break;
		frame_from(from, p->in + pos, HEADER + len);
		pos += HEADER + len;
	}
	p->in_len -= pos;
	memmove(p->in, p->in + pos, p->in_len);
}

static void port_accept(struct port *p)
{
	int size = SOCKET_BUFFER;
	int fd = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	port_close(p);
	p->fd = fd;
}

__attribute__((format(printf, 1, 2)))
static void answer(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vdprintf(control, fmt, ap) < 0)
		die("control");
	va_end(ap);
}

static void say_stat(void)
{
	for (int i = 0; i < nports; i++) {
		struct port *p = &ports[i];

		answer("%s{\"frames_in\": %llu, \"bytes_in\": %llu, "
		       "\"frames_out\": %llu, \"bytes_out\": %llu, "
		       "\"dropped\": %llu}", i ? ", " : "[",
		       (unsigned long long)p->frames_in,
		       (unsigned long long)p->bytes_in,
		       (unsigned long long)p->frames_out,
		       (unsigned long long)p->bytes_out,
		       (unsigned long long)p->dropped);
	}
	answer("]\n");
}

static void do_command(const char *text)
{
	int a = -1, b = -1, both;
	long us;

	both = sscanf(text, "%*s %d %d %ld", &a, &b, &us);
	if (!strcmp(text, "stat")) {
		say_stat();
		return;
	}
	if (both < 2 || a < 0 || b < 0 || a >= nports || b >= nports || a == b) {
		answer("error: two ports are needed: %s\n", text);
		return;
	}
	if (!strncmp(text, "cut ", 4)) {
		pairs[a][b].cut = 1;
		pairs[b][a].cut = 1;
		release_held();
	} else if (!strncmp(text, "heal ", 5)) {
		pairs[a][b].cut = 0;
		pairs[b][a].cut = 0;
	} else if (!strncmp(text, "delay ", 6) && both == 3 && us >= 0) {
		pairs[a][b].delay_us = us;
		pairs[b][a].delay_us = us;
	} else {
		answer("error: no such command: %s\n", text);
		return;
	}
	answer("ok\n");
}

static void control_read(void)
{
	ssize_t n = read(control, line + line_len, sizeof(line) - 1 - line_len);
	char *end;

	if (n <= 0)	/* the program that started the switch is gone */
		exit(0);
	line_len += n;
	line[line_len] = 0;
	while ((end = strchr(line, '\n'))) {
		*end = 0;
		do_command(line);
		line_len -= end + 1 - line;
		memmove(line, end + 1, line_len + 1);
	}
	if (line_len == sizeof(line) - 1) {
		errno = EMSGSIZE;
		die("control");
	}
}

static void serve(void)
{
	struct pollfd p[2 * PORTS_MAX + 2];
	int64_t wait = release_held();
	struct timespec until = { .tv_sec = wait / 1000000,
				  .tv_nsec = wait % 1000000 * 1000 };
	int n = 2 * nports;

	for (int i = 0; i < nports; i++) {
		port_flush(&ports[i]);
		p[2 * i] = (struct pollfd){ .fd = ports[i].listener,
					    .events = POLLIN };
		p[2 * i + 1] = (struct pollfd){
			.fd = ports[i].fd,
			.events = POLLIN | (ports[i].out_end ? POLLOUT : 0) };
	}
	p[n] = (struct pollfd){ .fd = control_listener, .events = POLLIN };
	p[n + 1] = (struct pollfd){ .fd = control, .events = POLLIN };
	if (ppoll(p, n + 2, wait < 0 ? NULL : &until, NULL) < 0)
		return;
	for (int i = 0; i < nports; i++) {
		if (p[2 * i + 1].revents & ~POLLOUT)
			port_read(i);
		if (p[2 * i].revents)
			port_accept(&ports[i]);
	}
	if (p[n + 1].revents)
		control_read();
	if (p[n].revents && control < 0)
		control = accept4(control_listener, NULL, NULL, SOCK_CLOEXEC);
}

int main(int argc, char **argv)
{
	char name[32];

	nports = argc == 3 ? atoi(argv[2]) : 0;
	if (nports < 1 || nports > PORTS_MAX) {
		fprintf(stderr, "usage: switch FOLDER PORTS (1 to %d)\n", PORTS_MAX);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < nports; i++) {
		struct port *p = &ports[i];

		snprintf(name, sizeof(name), "port%d", i);
		p->listener = listen_at(argv[1], name);
		p->fd = -1;
		p->in = malloc(IN_MAX);
		p->out = malloc(OUT_MAX);
		if (!p->in || !p->out)
			die("memory");
	}
	control_listener = listen_at(argv[1], "control");
	printf("ready\n");
	fflush(stdout);
	for (;;)
		serve();
}
