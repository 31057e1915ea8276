/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recovery and cleaning of rows.
 */
#ifndef NSWAP_ROW_CLEAN_H
#define NSWAP_ROW_CLEAN_H

#include "core/parity.h"

int nswap_row_clean_init(struct nswap_parity *p);
void nswap_row_clean_start(struct nswap_parity *p);
void nswap_row_clean_stop(struct nswap_parity *p);
void nswap_row_clean_exit(struct nswap_parity *p);

#endif
