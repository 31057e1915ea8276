// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptors of regions: small numbers of this process.
 *
 * A number is that of an entry; the lowest free one is taken, as for files. An entry is
 * copied out under the lock. All regions of a file that were opened in the same way share one
 * descriptor of it, which is closed with the last. The kernel tells one who syncs it that writing
 * back failed; that is noted here and told to each.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib.h"

static pthread_mutex_t desc_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct desc *table;
static int desc_room, desc_low;

struct held {
	int fd, flags;
	unsigned int users;
	dev_t dev;
	ino_t ino;
	uint32_t failures;	/* to write it back, and the last one's errno */
	int error;
};

static struct held *held;
static size_t nr_held;

static struct held *held_find(const struct stat *st, int flags)
{
	size_t i;

	for (i = 0; i < nr_held; i++) {
		if (held[i].users && held[i].dev == st->st_dev && held[i].ino == st->st_ino &&
		    held[i].flags == flags)
			return &held[i];
	}
	return NULL;
}

static struct held *held_new(void)
{
	struct held *more;
	size_t i;

	for (i = 0; i < nr_held; i++) {
		if (!held[i].users)
			return &held[i];
	}
	more = realloc(held, (nr_held + 1) * sizeof(*more));
	if (!more)
		return NULL;
	held = more;
	return &held[nr_held++];
}

/* The library's own descriptor for a file, and what its new user need not hear; or -1 with errno. */
int held_get(int fd, const struct stat *st, uint32_t *told)
{
	int flags = fcntl(fd, F_GETFL), own = -1;
	struct held *h;

	pthread_mutex_lock(&desc_mutex);
	h = held_find(st, flags);
	if (h) {
		h->users++;
		own = h->fd;
	} else {
		own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		h = own < 0 ? NULL : held_new();
		if (h) {
			*h = (struct held){ own, flags, 1, st->st_dev, st->st_ino, 0, 0 };
		} else if (own >= 0) {
			close(own);
			errno = ENOMEM;
			own = -1;
		}
	}
	if (h)
		*told = h->failures;
	pthread_mutex_unlock(&desc_mutex);
	return own;
}

/* Have what was written to a file on its disk; 0, or -1 with what went wrong since @told. */
int held_sync(int fd, uint32_t *told)
{
	int done = fdatasync(fd), error = errno;
	size_t i;

	pthread_mutex_lock(&desc_mutex);
	for (i = 0; i < nr_held; i++) {
		struct held *h = &held[i];

		if (!h->users || h->fd != fd)
			continue;
		if (done) {
			h->failures++;
			h->error = error;
		}
		if (*told != h->failures) {
			*told = h->failures;
			error = h->error;
			done = -1;
		}
	}
	pthread_mutex_unlock(&desc_mutex);
	errno = error;
	return done;
}

/* Would it be closed now? */
bool held_last(int fd)
{
	bool last = false;
	size_t i;

	pthread_mutex_lock(&desc_mutex);
	for (i = 0; i < nr_held; i++)
		last |= held[i].users == 1 && held[i].fd == fd;
	pthread_mutex_unlock(&desc_mutex);
	return last;
}

void held_put(int fd)
{
	size_t i;

	pthread_mutex_lock(&desc_mutex);
	for (i = 0; i < nr_held; i++) {
		if (held[i].users && held[i].fd == fd && !--held[i].users)
			close(fd);
	}
	pthread_mutex_unlock(&desc_mutex);
}

static bool desc_used(int number)
{
	return number >= 0 && number < desc_room && table[number].len;
}

static int desc_grow(void)
{
	int room = desc_room ? 2 * desc_room : 64, i;
	struct desc *more = realloc(table, room * sizeof(*more));

	if (!more)
		return -1;
	for (i = desc_room; i < room; i++)
		more[i].len = 0;
	table = more;
	desc_room = room;
	return 0;
}

/* A number for it, or -1 with ENOMEM. */
int desc_add(const struct desc *d)
{
	int number;

	pthread_mutex_lock(&desc_mutex);
	for (number = desc_low; desc_used(number); number++)
		;
	if (number == desc_room && desc_grow()) {
		errno = ENOMEM;
		number = -1;
	} else {
		table[number] = *d;
		desc_low = number + 1;
	}
	pthread_mutex_unlock(&desc_mutex);
	return number;
}

bool desc_get(int number, struct desc *d)
{
	bool used;

	pthread_mutex_lock(&desc_mutex);
	used = desc_used(number);
	if (used)
		*d = table[number];
	pthread_mutex_unlock(&desc_mutex);
	return used;
}

bool desc_take(int number, struct desc *d)
{
	bool used;

	pthread_mutex_lock(&desc_mutex);
	used = desc_used(number);
	if (used) {
		*d = table[number];
		table[number].len = 0;
		if (number < desc_low)
			desc_low = number;
	}
	pthread_mutex_unlock(&desc_mutex);
	return used;
}

/* The first number in use from this one on, or -1. */
int desc_next(int number)
{
	pthread_mutex_lock(&desc_mutex);
	while (number < desc_room && !desc_used(number))
		number++;
	if (number >= desc_room)
		number = -1;
	pthread_mutex_unlock(&desc_mutex);
	return number;
}

/* As held_sync(), for a region of a file; -1 with EINVAL if it is none. */
int desc_sync(int number)
{
	struct desc d;
	int done, error;

	if (!desc_get(number, &d) || d.fd < 0) {
		errno = EINVAL;
		return -1;
	}
	done = held_sync(d.fd, &d.told);
	error = errno;
	pthread_mutex_lock(&desc_mutex);
	if (desc_used(number) && table[number].fd == d.fd)
		table[number].told = d.told;
	pthread_mutex_unlock(&desc_mutex);
	errno = error;
	return done;
}

/* Before fork(), and after it in both processes: no other thread is half way in the table. */
void desc_fork(void)
{
	pthread_mutex_lock(&desc_mutex);
}

void desc_forked(void)
{
	pthread_mutex_unlock(&desc_mutex);
}
