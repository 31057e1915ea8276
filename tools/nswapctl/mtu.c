// SPDX-License-Identifier: GPL-2.0
/*
 * How big a packet gets through to these addresses?
 *
 * A datagram that may not be cut goes to a port where, as with traceroute, nothing
 * listens: the answer, that nothing does, shows that it arrived. One that says nothing to a
 * small datagram either cannot be judged. A machine answers some such in a row, then one a
 * second: where the first big one is not answered the others go with a second between,
 * and only one that is not answered, between small ones that are, has vanished.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "mtu.h"

#define MTU_BATCH	256
#define MTU_PORT	33434
#define MTU_WAIT_MS	400
#define MTU_SMALL	128	/* every link carries that */
#define MTU_MOST	65535
#define MTU_PAUSE_MS	1200

/* sizes that links have, tried when the interface's does not get through */
static const unsigned int mtu_usual[] = { 1500, 1400, 1280 };

static long mtu_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int mtu_open(struct ctl_addr addr)
{
	int probe = IP_PMTUDISC_PROBE;
	struct sockaddr_storage ss;
	socklen_t len;
	int fd;

	addr.port = MTU_PORT;
	len = addr_socket(&addr, &ss);
	fd = socket(ss.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (addr.family == AF_INET)
		setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof(probe));
	else
		setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &probe, sizeof(probe));
	if (!connect(fd, (struct sockaddr *)&ss, len))
		return fd;
	close(fd);
	return -1;
}

static void mtu_send(struct mtu_probe *p)
{
	static const char zeros[MTU_MOST];
	unsigned int heads = p->addr.family == AF_INET ? 28 : 48;

	p->error = 0;
	if (p->fd < 0 || !p->size)
		return;
	if (send(p->fd, zeros, p->size - heads, 0) < 0)
		p->error = errno;
}

/* sends to all that have a size, and waits for what comes back, as ->error */
static void mtu_round(struct mtu_probe *p, size_t nr)
{
	long end = mtu_now_ms() + MTU_WAIT_MS, left;
	struct pollfd fds[MTU_BATCH];
	size_t i, open = 0;

	for (i = 0; i < nr; i++) {
		mtu_send(&p[i]);
		fds[i] = (struct pollfd){ .fd = p[i].size && !p[i].error ? p[i].fd : -1 };
		open += fds[i].fd >= 0;
	}
	while (open) {
		left = end - mtu_now_ms();
		if (left <= 0 || poll(fds, nr, left) <= 0)
			return;
		for (i = 0; i < nr; i++) {
			socklen_t len = sizeof(p[i].error);

			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			getsockopt(p[i].fd, SOL_SOCKET, SO_ERROR, &p[i].error, &len);
			fds[i].fd = -1;
			open--;
		}
	}
}

/* what a router said of the way */
static unsigned int mtu_told(const struct mtu_probe *p)
{
	socklen_t len = sizeof(int);
	int mtu = 0;

	if (p->addr.family == AF_INET)
		getsockopt(p->fd, IPPROTO_IP, IP_MTU, &mtu, &len);
	else
		getsockopt(p->fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &len);
	return mtu;
}

static void mtu_pause(const struct mtu_probe *p, size_t nr)
{
	const struct timespec pause = {
		.tv_sec = MTU_PAUSE_MS / 1000, .tv_nsec = MTU_PAUSE_MS % 1000 * 1000000,
	};

	while (nr && !p->size) {
		p++;
		nr--;
	}
	if (nr)
		nanosleep(&pause, NULL);
}

/* try packets of @size bytes, or of the interface's for 0, where it is not known yet */
static void mtu_try(struct mtu_probe *probes, size_t nr, unsigned int size, bool pause)
{
	struct mtu_probe *p;

	for (p = probes; p < probes + nr; p++) {
		p->size = p->result != MTU_HOLE ? 0 : size ? size : p->mtu;
		if (p->size > p->mtu || p->size <= p->fits)
			p->size = 0;
	}
	if (pause)
		mtu_pause(probes, nr);
	mtu_round(probes, nr);
	for (p = probes; p < probes + nr; p++) {
		if (!p->size)
			continue;
		if (p->error == ECONNREFUSED)
			p->fits = p->size;
		if (p->fits == p->mtu)
			p->result = MTU_FITS;
		if (p->error != EMSGSIZE)
			continue;
		p->fits = mtu_told(p);
		p->result = MTU_NARROW;
	}
}

/* do small ones get through where big ones do not? if not now either, nothing is known */
static void mtu_confirm(struct mtu_probe *probes, size_t nr)
{
	struct mtu_probe *p;

	for (p = probes; p < probes + nr; p++)
		p->size = p->result != MTU_HOLE ? 0 : p->fits ? p->fits : MTU_SMALL;
	mtu_pause(probes, nr);
	mtu_round(probes, nr);
	for (p = probes; p < probes + nr; p++)
		if (p->size && p->error != ECONNREFUSED)
			p->result = MTU_UNKNOWN;
}

static void mtu_batch(struct mtu_probe *probes, size_t nr)
{
	struct mtu_probe *p;
	size_t i;

	for (p = probes; p < probes + nr; p++) {
		p->fd = mtu_open(p->addr);
		p->size = MTU_SMALL;
		p->fits = 0;
		if (p->mtu > MTU_MOST)
			p->mtu = MTU_MOST;
	}
	mtu_round(probes, nr);
	for (p = probes; p < probes + nr; p++)
		p->result = p->error == ECONNREFUSED ? MTU_HOLE : MTU_UNKNOWN;
	mtu_try(probes, nr, 0, false);
	mtu_try(probes, nr, 0, true);
	for (i = 0; i < sizeof(mtu_usual) / sizeof(*mtu_usual); i++)
		mtu_try(probes, nr, mtu_usual[i], true);
	mtu_confirm(probes, nr);
	mtu_try(probes, nr, 0, true);
	mtu_confirm(probes, nr);
	for (p = probes; p < probes + nr; p++)
		if (p->fd >= 0)
			close(p->fd);
}

void mtu_probe_all(struct mtu_probe *probes, size_t nr)
{
	size_t done, batch;

	for (done = 0; done < nr; done += batch) {
		batch = nr - done < MTU_BATCH ? nr - done : MTU_BATCH;
		mtu_batch(probes + done, batch);
	}
}
