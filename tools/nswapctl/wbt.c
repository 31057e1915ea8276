// SPDX-License-Identifier: GPL-2.0
/*
 * Write-back throttling: the block layer lets fewer writes go while reads take
 * longer than a target. Here one page-in that waits for a silent peer would bring
 * page-outs down to one at a time. The module turns it off where the kernel lets it;
 * on older kernels this does.
 */
#include <stdio.h>

#include "ctl.h"
#include "wbt.h"

static FILE *wbt_open(const char *device, const char *mode)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/block/%s/queue/wbt_lat_usec", device);
	return fopen(path, mode);
}

/* its target in us; 0 if it is off, or the kernel has none */
unsigned long long wbt_target(const char *device)
{
	FILE *f = wbt_open(device, "r");
	unsigned long long us = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &us) != 1)
		us = 0;
	fclose(f);
	return us;
}

/* turn it off if it is on; a failure is a warning: the device works without this */
void wbt_off(const char *device)
{
	FILE *f;

	if (!wbt_target(device))
		return;
	f = wbt_open(device, "w");
	if (f) {
		fputs("0\n", f);
		fclose(f);
	}
	if (wbt_target(device))
		ctl_warn("write-back throttling of %s is on and could not be turned off: page-outs get slow while a peer is silent",
			 device);
}
