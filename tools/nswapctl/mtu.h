/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How big a packet gets through to an address?
 */
#ifndef NSWAPCTL_MTU_H
#define NSWAPCTL_MTU_H

#include <stddef.h>

#include "parse.h"

enum mtu_result {
	MTU_UNKNOWN,		/* it does not answer, whatever the size */
	MTU_FITS,		/* packets of @mtu bytes arrive */
	MTU_NARROW,		/* a router says that only @fits bytes do */
	MTU_HOLE,		/* they vanish; those of @fits bytes arrive */
};

struct mtu_probe {
	struct ctl_addr addr;
	enum mtu_result result;
	unsigned int mtu;	/* of the interface */
	unsigned int fits;
	int fd;
	unsigned int size;	/* of the packet that is tried now, 0 for none */
	int error;
};

/* @probes: addr and mtu are given */
void mtu_probe_all(struct mtu_probe *probes, size_t nr);

#endif
