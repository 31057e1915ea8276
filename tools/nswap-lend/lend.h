/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of nswap-lend, beside the module's units.
 */
#ifndef LEND_H
#define LEND_H

#include "core/node.h"

struct lend_options;

/* node.c */
const char *lend_node_up(struct nswap_node *node, const struct lend_options *o);
const char *lend_node_trust(struct nswap_node *node, const struct lend_options *o);
void lend_node_sweep(struct nswap_node *node);
bool lend_node_follow(struct nswap_node *node);
void lend_node_down(struct nswap_node *node);

/* subnet.c: what core/subnet.h declares, and */
char *lend_addr_text(const struct nswap_addr *a, char *buf, size_t len);
bool lend_subnet_addr(struct nswap_node *node, struct nswap_addr *addr);
const char *lend_subnet_iface(void);

/* announce.c: all in the main thread, but for nswap_announce_now() */
const char *lend_announce_start(struct nswap_node *node);
int lend_announce_socket(void);
int lend_announce_wanted(void);
int lend_announce_work(void);
void lend_announce_stop(void);

/* status.c */
int lend_status_start(u16 port);
bool lend_status_answer(struct nswap_node *node, int fd);
void lend_status_log(struct nswap_node *node);
int lend_status_ask(const struct lend_options *asked);

/* drain.c */
void lend_drain_begin(struct nswap_node *node, unsigned int seconds);
bool lend_drain_over(struct nswap_node *node);
u64 lend_drain_left(struct nswap_node *node);

#endif
