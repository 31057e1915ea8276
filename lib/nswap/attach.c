// SPDX-License-Identifier: GPL-2.0
/*
 * The device that this process uses, from the first call to the end.
 *
 * A child of fork() goes on with the device and the parent's descriptors; what is in the
 * parent's local cache, and blocks without a file, stay the parent's.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

#define REFRACTION_MS 1000

struct lib lib = { .dev = -1, .dir = -1 };

static pthread_mutex_t attach_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t attach_once = PTHREAD_ONCE_INIT;

int64_t lib_now(int clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* The paper's refraction period: nothing new is put on the device for a while. */
void lib_refuse(void)
{
	const char *said = secure_getenv("NSWAP_REFRACTION_MS");
	long ms = said ? atol(said) : REFRACTION_MS;

	__atomic_store_n(&lib.refuse_until, lib_now(CLOCK_MONOTONIC) + ms * 1000000ll,
			 __ATOMIC_RELAXED);
}

bool lib_refusing(void)
{
	int64_t until = __atomic_load_n(&lib.refuse_until, __ATOMIC_RELAXED);

	return until && lib_now(CLOCK_MONOTONIC) < until;
}

/* What other threads have in hand is whole before a child takes it over. */
static void attach_fork(void)
{
	cache_fork();
	pthread_mutex_lock(&attach_mutex);
	desc_fork();
}

static void attach_forked_parent(void)
{
	desc_forked();
	pthread_mutex_unlock(&attach_mutex);
	cache_forked(false);
}

static void attach_forked_child(void)
{
	process_self(&lib.self);
	lock_forked();
	desc_forked();
	pthread_mutex_unlock(&attach_mutex);
	cache_forked(true);
}

static void attach_begin(void)
{
	process_self(&lib.self);
	pthread_atfork(attach_fork, attach_forked_parent, attach_forked_child);
}

static int attach_to(const char *device, const char *directory)
{
	char name[PATH_BYTES], path[PATH_BYTES + 32];
	struct ident ident;
	struct stat st;
	int error;

	lib.dev = store_open(device, &ident, &st, name);
	if (lib.dev < 0)
		return -1;
	snprintf(path, sizeof(path), "/run/nswap/%s.regions", name);
	lib.is_file = S_ISREG(st.st_mode);
	if (dir_open(directory ? directory : path, &ident, &st)) {
		error = errno;
		close(lib.dev);
		lib.dev = -1;
		errno = error;
		return -1;
	}
	snprintf(lib.device, sizeof(lib.device), "%s", device);
	__atomic_store_n(&lib.ready, true, __ATOMIC_RELEASE);
	return 0;
}

NSWAP_API int nswap_attach(const char *device, const char *directory)
{
	int done = -1;

	pthread_once(&attach_once, attach_begin);
	if (!device)
		device = secure_getenv("NSWAP_DEVICE");
	if (!directory)
		directory = secure_getenv("NSWAP_DIRECTORY");
	pthread_mutex_lock(&attach_mutex);
	if (lib.ready && (!device || !strcmp(device, lib.device))) {
		done = 0;
	} else if (lib.ready) {
		errno = EBUSY;
	} else if (!device || !*device || strlen(device) >= PATH_BYTES) {
		errno = ENODEV;
	} else {
		done = attach_to(device, directory);
	}
	pthread_mutex_unlock(&attach_mutex);
	return done;
}

int lib_ready(void)
{
	return __atomic_load_n(&lib.ready, __ATOMIC_ACQUIRE) ? 0 : nswap_attach(NULL, NULL);
}

/*
 * A last look at each file, late enough that other programs can trust it; regions of files
 * without a name go, since none finds them.
 */
static void exit_files(void)
{
	bool seen[FILES] = { false };
	struct stat st;
	struct desc d;
	int i;

	for (i = desc_next(0); i >= 0; i = desc_next(i + 1)) {
		if (!desc_get(i, &d) || d.file == NO_FILE || seen[d.file] || fstat(d.fd, &st))
			continue;
		file_settle(d.file);
		if (region_lock(&d))
			continue;
		seen[d.file] = true;
		if (!st.st_nlink && !dir_lock()) {
			file_drop(d.file);
			dir_unlock();
		}
		region_unlock(&d);
	}
}

static bool blocks_own(const struct dir_region *r)
{
	return process_same(&r->owner, &lib.self);
}

/* Those that are just written are freed by a program that finds no room. */
static void exit_blocks(void)
{
	if (dir_lock())
		return;
	region_free_blocks(blocks_own);
	dir_unlock();
}

static __attribute__((destructor)) void attach_exit(void)
{
	if (lib.self.pid != getpid())
		return;
	cache_exit();
	if (!lib.ready)
		return;
	exit_blocks();
	exit_files();
}
