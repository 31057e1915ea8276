// SPDX-License-Identifier: GPL-2.0
/*
 * Links that rest: one thread waits for all of them, and calls when something has come, or
 * a link has ended.
 *
 * Invariants:
 *  - A call is made, and a link taken out, under the lock: after ->on_change(NULL), or when
 *    it is closed, no call for a link is under way.
 *  - A socket is waited for once at a time (EPOLLONESHOT). What it has when that begins is
 *    told as well, so nothing that came before is missed. Nothing is told until as much has
 *    come as its user needs (SO_RCVLOWAT): half a header wakes none.
 *  - Links are found by their sockets' numbers: an event of a link that is closed finds
 *    none, or another one, which is called for nothing.
 */
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "link.h"

#define EVENTS	32

static struct {
	pthread_mutex_t lock;
	int fd;
	struct nswap_link **link;	/* by number of the socket */
	unsigned int nr;
} wake = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static void wake_call(unsigned int number)
{
	struct nswap_link *l;

	pthread_mutex_lock(&wake.lock);
	l = number < wake.nr ? wake.link[number] : NULL;
	if (l && l->changed)
		l->changed(l->arg);
	pthread_mutex_unlock(&wake.lock);
}

static int wake_loop(void *data)
{
	struct epoll_event event[EVENTS];
	int i, n;

	(void)data;
	for (;;) {
		n = epoll_wait(wake.fd, event, EVENTS, -1);
		for (i = 0; i < n; i++)
			wake_call(event[i].data.u32);
	}
	return 0;
}

/* the thread, and room for as many links as there can be sockets; the lock held */
static bool wake_started(void)
{
	struct rlimit files;

	if (wake.link)
		return true;
	if (getrlimit(RLIMIT_NOFILE, &files))
		return false;
	wake.nr = min_t(u64, files.rlim_cur, 1 << 20);
	wake.fd = epoll_create1(EPOLL_CLOEXEC);
	wake.link = wake.fd < 0 ? NULL : calloc(wake.nr, sizeof(*wake.link));
	if (wake.link && !IS_ERR(lend_thread(wake_loop, NULL, "nswap/wake")))
		return true;
	free(wake.link);
	wake.link = NULL;
	if (wake.fd >= 0)
		close(wake.fd);
	wake.fd = -1;
	return false;
}

static void wake_lowat(struct nswap_link *l, u32 bytes)
{
	int value = max(bytes, 1u);

	if (l->needs == bytes)
		return;
	l->needs = bytes;
	setsockopt(l->fd, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof(value));
}

/* wait for the socket; false if that cannot be */
static bool wake_arm(struct nswap_link *l)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, .data.u32 = l->fd,
	};

	if ((u32)l->fd >= wake.nr ||
	    epoll_ctl(wake.fd, l->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, l->fd, &event))
		return false;
	l->watched = true;
	return true;
}

/* @fn is called when something comes; NULL: not, and no call is under way */
void lend_link_on_change(struct nswap_link *l, void (*fn)(void *), void *arg)
{
	pthread_mutex_lock(&wake.lock);
	l->changed = fn;
	l->arg = arg;
	l->drained = false;
	wake_lowat(l, 0);
	/* what cannot be waited for ends */
	if (fn && wake_started() && wake_arm(l))
		wake.link[l->fd] = l;
	else if (fn)
		l->over = -ENOMEM;
	pthread_mutex_unlock(&wake.lock);
}

/*
 * As ->on_change() once more, for when so much has come: the link has calls, and no receiver
 * who could change that.
 */
void lend_link_needs(struct nswap_link *l, size_t bytes)
{
	wake_lowat(l, bytes);
	if (!wake_arm(l))
		l->over = -ENOMEM;
}

/* it is about to be closed */
void lend_link_forget(struct nswap_link *l)
{
	pthread_mutex_lock(&wake.lock);
	if (l->watched)
		wake.link[l->fd] = NULL;
	l->changed = NULL;
	pthread_mutex_unlock(&wake.lock);
}
