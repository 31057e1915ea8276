/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports: devices of this node that machines without the module use.
 *
 * What is exported is asked of what exports it, nvmet and qemu-nbd; no file says it again.
 */
#ifndef NSWAPCTL_EXPORT_H
#define NSWAPCTL_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "parse.h"

#define EXPORT_NAME	256	/* room for an NQN, which has 223 at most */
#define EXPORT_NQN	"nqn.2026-11.nswap:"	/* before the name of a device */

/**
 * struct export - a device and how it is exported
 * @device: "nswap0"
 * @nvme: by NVMe/TCP, else by NBD
 * @name: NQN, or name of the NBD export; another one with each export, so that no client
 *	takes a new device for what it had swapped to
 * @to: where clients connect to; no family: nothing listens, it is half made
 * @host: the host NQN that may connect; "": all may
 * @secret: it has to know a secret
 * @pid: of qemu-nbd
 */
struct export {
	char device[64];
	bool nvme;
	char name[EXPORT_NAME];
	struct ctl_addr to;
	char host[EXPORT_NAME];
	bool secret;
	int pid;
};

/* all there are, to be freed; returns how many */
size_t export_all(struct export **list);
/* that of a device; false if it is not exported */
bool export_find(const char *device, struct export *e);
/* addresses that are connected to it, or to what shares its port, with commas; "" for none */
void export_clients(const struct export *e, char *text, size_t len);

/*
 * Where it listens, as its server was told. False if that makes no sense here, as the name of
 * an interface that has another one now: then it is all addresses.
 */
bool export_addr(const char *text, struct ctl_addr *to);

/* does a program listen there, or the kernel, in this network namespace? */
bool export_listens(const struct ctl_addr *to);

/* these add theirs to a list */
void export_nvme_list(struct export **list, size_t *nr);
void export_nbd_list(struct export **list, size_t *nr);
struct export *export_more(struct export **list, size_t *nr);

/*
 * Begin to export, and end. What fails is undone and refused; @secret is what the host has
 * to know, or NULL.
 */
void export_nvme_start(const struct export *e, const char *secret);
void export_nbd_start(const struct export *e);
void export_nvme_end(const struct export *e);
void export_nbd_end(const struct export *e);

#endif
