// SPDX-License-Identifier: GPL-2.0
/*
 * Written beside, on the disk, renamed; and the folder on the disk, without which the
 * new name is lost for some seconds more.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replace.h"

static bool sync_folder_of(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool done = fd >= 0 && (!fsync(fd) || errno == EINVAL);
	int error = errno;

	if (fd >= 0)
		close(fd);
	free(copy);
	errno = error;
	return done;
}

bool replace_file(FILE *file, const char *temp, const char *path, bool fresh)
{
	return !fflush(file) && !ferror(file) && !fsync(fileno(file)) &&
	       !renameat2(AT_FDCWD, temp, AT_FDCWD, path, fresh ? RENAME_NOREPLACE : 0) &&
	       sync_folder_of(path);
}
