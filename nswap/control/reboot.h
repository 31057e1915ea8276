/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reboot, suspend and hibernation.
 */
#ifndef NSWAP_REBOOT_H
#define NSWAP_REBOOT_H

int nswap_reboot_init(void);
void nswap_reboot_exit(void);

#endif
