// SPDX-License-Identifier: GPL-2.0
/*
 * Locks between threads and between processes.
 *
 * Between processes they are record locks on the directory file: byte 0 is the directory's
 * own, byte 1 + N that of file N, behind these the bytes of regions without a file. They belong
 * to the open file, so they end with the process; a child of fork() opens it again. (Those of a
 * process would find deadlocks where two processes have several threads each.) Between threads
 * there is a mutex before each; objects share some, files and regions without one have their
 * own. A thread holds one object's lock at a time, and takes the directory's inside it. One that
 * has the directory's may try an object's, and does without what it is of if that is busy.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "lib.h"

#define OBJECT_MUTEXES 64	/* even numbers: of files */

static pthread_mutex_t dir_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t object_mutex[OBJECT_MUTEXES] = {
	[0 ... OBJECT_MUTEXES - 1] = PTHREAD_MUTEX_INITIALIZER
};

static int lock_set(off_t at, short type, int how)
{
	struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };
	int done;

	do {
		done = fcntl(lib.dir, how, &range);
	} while (done && errno == EINTR);
	return done;
}

static int lock_range(off_t at, short type)
{
	return lock_set(at, type, F_OFD_SETLKW);
}

/* A holder that died left the lists half changed: they are made again from the entries. */
int dir_lock(void)
{
	pthread_mutex_lock(&dir_mutex);
	if (lock_range(0, F_WRLCK)) {
		pthread_mutex_unlock(&dir_mutex);
		return -1;
	}
	if (lib.head && lib.head->dirty)
		dir_rebuild();
	if (lib.head)
		__atomic_store_n(&lib.head->dirty, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void dir_unlock(void)
{
	if (lib.head)
		__atomic_store_n(&lib.head->dirty, 0, __ATOMIC_SEQ_CST);
	lock_range(0, F_UNLCK);
	pthread_mutex_unlock(&dir_mutex);
}

static pthread_mutex_t *mutex_of(uint32_t object)
{
	return &object_mutex[(2 * object + (object >= FILES)) % OBJECT_MUTEXES];
}

int object_lock(uint32_t object)
{
	pthread_mutex_t *mutex = mutex_of(object);

	pthread_mutex_lock(mutex);
	if (!lock_range(1 + (off_t)object, F_WRLCK))
		return 0;
	pthread_mutex_unlock(mutex);
	return -1;
}

/* 0, or -1 if another has it. */
int object_try_lock(uint32_t object)
{
	pthread_mutex_t *mutex = mutex_of(object);

	if (pthread_mutex_trylock(mutex))
		return -1;
	if (!lock_set(1 + (off_t)object, F_WRLCK, F_OFD_SETLK))
		return 0;
	pthread_mutex_unlock(mutex);
	return -1;
}

void object_unlock(uint32_t object)
{
	lock_range(1 + (off_t)object, F_UNLCK);
	pthread_mutex_unlock(mutex_of(object));
}

/*
 * In a new process, in which no other thread runs: the locks stayed with the old one. If the
 * directory cannot be opened again, no lock is ever got and no region is active.
 */
void lock_forked(void)
{
	char path[32];
	int i, own;

	if (lib.dir >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", lib.dir);
		own = open(path, O_RDWR | O_CLOEXEC);
		close(lib.dir);
		lib.dir = own < 0 ? -1 : fcntl(own, F_DUPFD_CLOEXEC, lib.dir);
		if (own >= 0)
			close(own);
	}
	pthread_mutex_init(&dir_mutex, NULL);
	for (i = 0; i < OBJECT_MUTEXES; i++)
		pthread_mutex_init(&object_mutex[i], NULL);
}
