/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of the Dodo paper (Koussih, Acharya, Setia, 1999) by their names: Figures 3 and 4.
 *
 * Types are wider: offsets are off_t, counts ssize_t, so files may be larger than 2 GiB.
 * The C library has a msync() of three arguments; msync() of one argument is the paper's.
 */
#ifndef NSWAP_DODO_H
#define NSWAP_DODO_H

#include <nswap/nswap.h>
#include <sys/mman.h>

static inline int mopen(size_t len, int file_descriptor, off_t offset)
{
	return nswap_mopen(len, file_descriptor, offset);
}

static inline ssize_t mread(int region, off_t offset, void *buffer, size_t len)
{
	return nswap_mread(region, offset, buffer, len);
}

static inline ssize_t mwrite(int region, off_t offset, const void *buffer, size_t len)
{
	return nswap_mwrite(region, offset, buffer, len);
}

static inline int mclose(int region)
{
	return nswap_mclose(region);
}

static inline int copen(size_t len, int file_descriptor, off_t offset)
{
	return nswap_copen(len, file_descriptor, offset);
}

static inline ssize_t cread(int region, off_t offset, void *buffer, size_t len)
{
	return nswap_cread(region, offset, buffer, len);
}

static inline ssize_t cwrite(int region, off_t offset, const void *buffer, size_t len)
{
	return nswap_cwrite(region, offset, buffer, len);
}

static inline int cclose(int region)
{
	return nswap_cclose(region);
}

static inline int csync(int region)
{
	return nswap_csync(region);
}

static inline int csetPolicy(int policy)
{
	return nswap_cset_policy(policy);
}

#define NSWAP_MSYNC_PICK(a, b, c, name, ...) name
#define msync(...) \
	NSWAP_MSYNC_PICK(__VA_ARGS__, msync, msync, nswap_msync, 0)(__VA_ARGS__)

#endif
