/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reboot, suspend and hibernation.
 */
#ifndef NSWAP_LEAVE_H
#define NSWAP_LEAVE_H

int nswap_leave_init(void);
void nswap_leave_exit(void);

#endif
