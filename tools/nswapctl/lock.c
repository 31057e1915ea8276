// SPDX-License-Identifier: GPL-2.0
/*
 * What only one nswapctl does at a time: a lock (flock) that ends with this program, however
 * it ends. Programs that it runs do not have it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "ctl.h"
#include "lock.h"

void lock_until_end(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (file < 0 && (errno == EACCES || errno == EPERM))
		ctl_refuse("this needs root, which alone may lock %s (%s)", path, strerror(errno));
	if (file < 0 || flock(file, LOCK_EX))
		ctl_refuse("%s: %s", path, strerror(errno));
}
