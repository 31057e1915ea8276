/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's NVMe target, nvmet: its part of configfs.
 */
#ifndef NSWAPCTL_EXPORT_NVMET_H
#define NSWAPCTL_EXPORT_NVMET_H

#include <dirent.h>
#include <stdbool.h>

/* where configfs is mounted, and nvmet in it; false if it is not there */
bool nvmet_find(void);
/* the same, loading and mounting what is missing; refused if there is none */
void nvmet_begin(void);

/* a path below it, in one of a few buffers that are used in turn */
const char *nvmet_at(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* write to a file that is there; false if that failed, with errno */
bool nvmet_put(const char *path, const char *value);
/* the first line of a file; "" if there is none */
const char *nvmet_got(const char *path, char *line, int len);
/* the next name in a folder, which may be NULL; NULL if there is no other */
const char *nvmet_next(DIR *dir);

#endif
