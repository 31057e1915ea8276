// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's NVMe target, nvmet: its part of configfs.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "ctl.h"
#include "export_nvmet.h"
#include "run.h"

#define CONFIGFS	"/sys/kernel/config"
#define PATH_LEN	1024

static char root[PATH_LEN];	/* nvmet's folder, "" until it is found */

const char *nvmet_at(const char *format, ...)
{
	static char buf[4][PATH_LEN];
	static unsigned int turn;
	char *path = buf[turn++ % 4];
	int used = snprintf(path, PATH_LEN, "%s/", root);
	va_list args;

	va_start(args, format);
	vsnprintf(path + used, PATH_LEN - used, format, args);
	va_end(args);
	return path;
}

bool nvmet_put(const char *path, const char *value)
{
	int file = open(path, O_WRONLY | O_CLOEXEC), why;
	bool done;

	if (file < 0)
		return false;
	done = write(file, value, strlen(value)) == (ssize_t)strlen(value);
	why = errno;
	close(file);
	errno = why;
	return done;
}

const char *nvmet_got(const char *path, char *line, int len)
{
	FILE *f = fopen(path, "re");

	*line = '\0';
	if (!f)
		return line;
	if (!fgets(line, len, f))
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(f);
	return line;
}

const char *nvmet_next(DIR *dir)
{
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (*e->d_name != '.')
			return e->d_name;
	return NULL;
}

bool nvmet_find(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	const struct mntent *e;

	*root = '\0';
	while (mounts && !*root && (e = getmntent(mounts)))
		if (!strcmp(e->mnt_type, "configfs"))
			snprintf(root, sizeof(root), "%s/nvmet", e->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return *root && !access(root, F_OK);
}

void nvmet_begin(void)
{
	const char *const modprobe[] = { "modprobe", "-q", "nvmet-tcp", NULL };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (access("/sys/module/nvmet_tcp", F_OK) && null >= 0)
		run_words(modprobe, null, null);
	if (null >= 0)
		close(null);
	if (!nvmet_find() && !*root && !mount("none", CONFIGFS, "configfs", 0, NULL))
		nvmet_find();
	if (!*root || access(root, F_OK))
		ctl_refuse("this kernel has no NVMe target: 'modprobe nvmet-tcp' has to load it, which the packages linux-image-* of Debian have");
}
