// SPDX-License-Identifier: GPL-2.0
/*
 * The local cache: regions whole, in buffers of this process, after the paper's
 * region-management library.
 *
 * Before a region gets a buffer the policy names others that leave theirs, until there is
 * room: what was changed in one is written, and the device holds it from then on. If the
 * policy names none the newcomer does without a buffer. One lock for all.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"

#define DEFAULT_BYTES (80ull << 20)

static pthread_mutex_t cache_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct nswap_cache_dir cache;
static const struct nswap_policy *cache_policy;
static int cache_mode = NSWAP_WRITE_BACK;
static struct cached **cached;
static int nr_cached;

/* Bytes as "64M"; 0 if that is none. */
static size_t cache_bytes(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	switch (*end) {
	case 'G':
		n <<= 10;
		/* fall through */
	case 'M':
		n <<= 10;
		/* fall through */
	case 'K':
		n <<= 10;
		end++;
	}
	return *end ? 0 : n;
}

static void cache_lock(void)
{
	const char *said = secure_getenv("NSWAP_CACHE");

	pthread_mutex_lock(&cache_mutex);
	if (cache_policy)
		return;
	cache_policy = policy_get(NSWAP_LRU);
	if (!cache.size)
		cache.size = said && cache_bytes(said) ? cache_bytes(said) : DEFAULT_BYTES;
}

static void cache_unlock(void)
{
	pthread_mutex_unlock(&cache_mutex);
}

static struct cached *cache_get(int region)
{
	return region >= 0 && region < nr_cached ? cached[region] : NULL;
}

/* A region loses its buffer, and with it what was not written. */
static void cache_drop(struct cached *c)
{
	if (!c->buf)
		return;
	if (cache_policy->gone)
		cache_policy->gone(&c->view);
	cache_dir_remove(&cache, &c->view);
	free(c->buf);
	c->buf = NULL;
	c->dirty_from = c->dirty_to = 0;
	c->view.dirty = 0;
	c->view.reads = c->view.writes = 0;
	c->view.priv = NULL;
}

/* A region leaves the cache; 0, or -1 if its data cannot be written: then it stays. */
static int cache_put_out(struct cached *c)
{
	if (cached_flush(c))
		return -1;
	cached_keep(c);
	cache_drop(c);
	return 0;
}

static bool cache_room(size_t len)
{
	struct nswap_cached *out;

	while (len <= cache.size && cache.used + len > cache.size) {
		out = cache_policy->reclaim(&cache);
		if (!out || cache_put_out((struct cached *)out))
			return false;
	}
	return len <= cache.size;
}

/* Give a region a buffer if there is room; 0: it has one or does without, -1: errno. */
static int cache_admit(struct cached *c, bool read)
{
	if (c->buf && !cached_fresh(c))
		cache_drop(c);
	if (c->buf) {
		COUNT(local_hits, 1);
		return 0;
	}
	COUNT(local_misses, 1);
	if (!cache_room(c->view.len))
		return 0;
	if (cached_load(c, read))
		return errno == ENOMEM ? 0 : -1;
	cache_dir_add(&cache, &c->view);
	return 0;
}

NSWAP_API int nswap_copen(size_t len, int fd, off_t offset)
{
	struct cached *c = NULL, **more;
	struct stat st;
	int number = -1, own = -1;
	uint32_t told;

	if (region_args(len, fd, offset, &st))
		return -1;
	cache_lock();
	for (number = 0; number < nr_cached && cached[number]; number++)
		;
	more = number < nr_cached ? cached : realloc(cached, (nr_cached + 1) * sizeof(*more));
	if (more) {
		cached = more;
		c = calloc(1, sizeof(*c));
		own = c ? held_get(fd, &st, &told) : -1;
	}
	if (own >= 0) {
		*c = (struct cached){ .fd = own, .offset = offset, .m = -1, .told = told };
		c->view.len = len;
		c->view.region = number;
		cached[number] = c;
		nr_cached = number < nr_cached ? nr_cached : number + 1;
		cached_open(c);
	} else {
		free(c);
		errno = ENOMEM;
		number = -1;
	}
	cache_unlock();
	return number;
}

/* The region and length of a request under the lock; NULL with *n as the call returns. */
static struct cached *cache_begin(int region, off_t offset, const void *buffer, size_t len,
				  bool into, ssize_t *n)
{
	struct cached *c;

	cache_lock();
	c = cache_get(region);
	*n = -1;
	if (!c)
		errno = ENOMEM;
	else
		*n = region_clip(c->view.len, offset, buffer, len, into);
	if (*n > 0)
		return c;
	cache_unlock();
	return NULL;
}

NSWAP_API ssize_t nswap_cread(int region, off_t offset, void *buffer, size_t len)
{
	ssize_t n;
	struct cached *c = cache_begin(region, offset, buffer, len, true, &n);

	if (!c)
		return n;
	if (cache_admit(c, true)) {
		n = -1;
	} else if (!c->buf) {
		n = cached_read_around(c, offset, buffer, n);
	} else {
		memcpy(buffer, c->buf + offset, n);
		c->view.reads++;
		if (cache_policy->on_read)
			cache_policy->on_read(&cache, &c->view);
	}
	cache_unlock();
	return n;
}

/*
 * Change a buffer; 0, or -1 with what writing the file gave. The file gets just what was changed:
 * what does not touch the range that is to be written has that written before.
 */
static int cache_change(struct cached *c, size_t from, const void *data, size_t len)
{
	if (c->view.dirty && (from > c->dirty_to || from + len < c->dirty_from) &&
	    cached_flush(c))
		return -1;
	memcpy(c->buf + from, data, len);
	if (!c->view.dirty || from < c->dirty_from)
		c->dirty_from = from;
	if (!c->view.dirty || from + len > c->dirty_to)
		c->dirty_to = from + len;
	c->view.dirty = 1;
	c->view.writes++;
	if (cache_policy->on_write)
		cache_policy->on_write(&cache, &c->view);
	return 0;
}

NSWAP_API ssize_t nswap_cwrite(int region, off_t offset, const void *buffer, size_t len)
{
	ssize_t n;
	struct cached *c = cache_begin(region, offset, buffer, len, false, &n);

	if (!c)
		return n;
	if (cache_admit(c, (size_t)n < c->view.len)) {
		n = -1;
	} else if (!c->buf) {
		n = cached_write_around(c, offset, buffer, n);
	} else {
		if (cache_change(c, offset, buffer, n) ||
		    (cache_mode == NSWAP_WRITE_THROUGH && cached_flush(c)))
			n = -1;
	}
	cache_unlock();
	return n;
}

NSWAP_API int nswap_csync(int region)
{
	struct cached *c;
	int done = -1;

	cache_lock();
	c = cache_get(region);
	if (!c) {
		errno = EINVAL;
	} else if (!cached_flush(c)) {
		cached_keep(c);
		done = held_sync(c->fd, &c->told);
	}
	cache_unlock();
	return done;
}

static int cache_close(int region, bool leave)
{
	struct cached *c;
	int done = -1;

	cache_lock();
	c = cache_get(region);
	if (!c) {
		errno = EINVAL;
	} else if (!cached_flush(c)) {
		if (leave)
			cached_keep(c);
		held_put(c->fd);
		if (c->m >= 0)
			leave ? nswap_mleave(c->m) : nswap_mclose(c->m);
		cache_drop(c);
		free(c);
		cached[region] = NULL;
		done = 0;
	}
	cache_unlock();
	return done;
}

NSWAP_API int nswap_cclose(int region)
{
	return cache_close(region, false);
}

NSWAP_API int nswap_cleave(int region)
{
	return cache_close(region, true);
}

NSWAP_API int nswap_cset_policy(int policy)
{
	const struct nswap_policy *p = policy_get(policy);
	struct nswap_cached *r;

	if (!p) {
		errno = EINVAL;
		return -1;
	}
	cache_lock();
	for (r = cache.first; r; r = r->next) {
		if (cache_policy->gone)
			cache_policy->gone(r);
		r->priv = NULL;
	}
	cache_policy = p;
	cache_unlock();
	return 0;
}

NSWAP_API int nswap_cset_write(int mode)
{
	int i, done = 0;

	if (mode != NSWAP_WRITE_BACK && mode != NSWAP_WRITE_THROUGH) {
		errno = EINVAL;
		return -1;
	}
	cache_lock();
	cache_mode = mode;
	for (i = 0; i < nr_cached && mode == NSWAP_WRITE_THROUGH; i++) {
		if (cached[i] && cached_flush(cached[i]))
			done = -1;
	}
	cache_unlock();
	return done;
}

NSWAP_API int nswap_cset_size(size_t bytes)
{
	int done = 0;

	cache_lock();
	cache.size = bytes;
	while (cache.used > bytes && !done) {
		struct nswap_cached *out = cache_policy->reclaim(&cache);

		done = cache_put_out((struct cached *)(out ? out : cache.last));
	}
	cache_unlock();
	return done;
}

/* Before fork(): no other thread is half way in the cache. */
void cache_fork(void)
{
	cache_lock();
}

/* After it. What a child has not written is the parent's to write. */
void cache_forked(bool child)
{
	int i;

	for (i = 0; child && i < nr_cached; i++) {
		if (cached[i])
			cache_drop(cached[i]);
	}
	cache_unlock();
}

void cache_exit(void)
{
	int i;

	cache_lock();
	for (i = 0; i < nr_cached; i++) {
		if (cached[i] && !cached_flush(cached[i]))
			cached_keep(cached[i]);
	}
	cache_unlock();
}
