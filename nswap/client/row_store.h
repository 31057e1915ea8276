/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Storing the checks of rows.
 */
#ifndef NSWAP_ROW_STORE_H
#define NSWAP_ROW_STORE_H

#include "core/parity.h"

int nswap_row_store_init(struct nswap_parity *p);
int nswap_row_store_init_second(struct nswap_parity *p);
void nswap_row_store_stop(struct nswap_parity *p);
void nswap_row_store_exit(struct nswap_parity *p);

#endif
