/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do these addresses take TCP connections?
 */
#ifndef NSWAPCTL_PROBE_H
#define NSWAPCTL_PROBE_H

#include <stddef.h>

#include "parse.h"

enum probe_result {
	PROBE_OPEN,
	PROBE_REFUSED,		/* the connection was refused */
	PROBE_SILENT,		/* no answer came */
	PROBE_FAILED,		/* no way to try; errno in @error */
};

struct probe {
	struct ctl_addr addr;
	enum probe_result result;
	int error;
};

void probe_all(struct probe *probes, size_t nr, int timeout_ms);

#endif
