// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/swaps: a header line, then path, type, size and used in KiB, priority.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "swaps.h"

size_t swaps_take(FILE *f, struct swaps_entry **list)
{
	struct swaps_entry *all = NULL, e;
	unsigned long long used_kb;
	char line[512];
	size_t nr = 0;

	*list = NULL;
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%255s %*s %*u %llu %ld", e.path, &used_kb,
			   &e.priority) != 3)
			continue;
		e.used_pages = used_kb / 4;
		all = realloc(all, (nr + 1) * sizeof(*all));
		if (!all)
			ctl_refuse("no memory");
		all[nr++] = e;
	}
	*list = all;
	return nr;
}

size_t swaps_read(struct swaps_entry **list)
{
	FILE *f = fopen("/proc/swaps", "r");
	size_t nr = swaps_take(f, list);

	if (f)
		fclose(f);
	return nr;
}

bool swaps_find(const char *device, struct swaps_entry *entry)
{
	struct swaps_entry *all;
	size_t i, nr = swaps_read(&all);
	bool found = false;

	for (i = 0; i < nr && !found; i++) {
		found = !strncmp(all[i].path, "/dev/", 5) &&
			!strcmp(all[i].path + 5, device);
		if (found)
			*entry = all[i];
	}
	free(all);
	return found;
}
