// SPDX-License-Identifier: GPL-2.0
/*
 * Do these addresses take TCP connections? All are tried at once, in batches
 * that fit into the usual limit of open files.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define BATCH	256

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void judge(struct probe *p, int error)
{
	p->error = error;
	switch (error) {
	case 0:
		p->result = PROBE_OPEN;
		break;
	case ECONNREFUSED:
		p->result = PROBE_REFUSED;
		break;
	case ETIMEDOUT:
	case EHOSTUNREACH:
		p->result = PROBE_SILENT;
		break;
	default:
		p->result = PROBE_FAILED;
	}
}

/* a socket that is connecting, or -1 and a result */
static int start(struct probe *p)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_socket(&p->addr, &ss);
	int fd;

	fd = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	if (fd < 0) {
		judge(p, errno);
		return -1;
	}
	if (!connect(fd, (struct sockaddr *)&ss, len))
		judge(p, 0);
	else if (errno != EINPROGRESS)
		judge(p, errno);
	else
		return fd;
	close(fd);
	return -1;
}

static void finish(struct probe *p, struct pollfd *fd)
{
	socklen_t len = sizeof(int);
	int error = 0;

	getsockopt(fd->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	judge(p, error);
	close(fd->fd);
	fd->fd = -1;
}

static void probe_batch(struct probe *p, size_t nr, int timeout_ms)
{
	long end = now_ms() + timeout_ms, left;
	struct pollfd fds[BATCH];
	size_t i, open = 0;

	for (i = 0; i < nr; i++) {
		p[i].result = PROBE_SILENT;
		fds[i] = (struct pollfd){ .fd = start(&p[i]),
					  .events = POLLOUT };
		open += fds[i].fd >= 0;
	}
	while (open) {
		left = end - now_ms();
		if (left <= 0 || poll(fds, nr, left) <= 0)
			break;
		for (i = 0; i < nr; i++) {
			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			finish(&p[i], &fds[i]);
			open--;
		}
	}
	for (i = 0; i < nr; i++)
		if (fds[i].fd >= 0)
			close(fds[i].fd);
}

void probe_all(struct probe *probes, size_t nr, int timeout_ms)
{
	size_t done, batch;

	for (done = 0; done < nr; done += batch) {
		batch = nr - done < BATCH ? nr - done : BATCH;
		probe_batch(probes + done, batch, timeout_ms);
	}
}
