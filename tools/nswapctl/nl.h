/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Talking to the module over generic netlink.
 */
#ifndef NSWAPCTL_NL_H
#define NSWAPCTL_NL_H

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdbool.h>
#include <stdint.h>

#include <linux/nswap.h>

#include "parse.h"

/* gets the attributes of one reply */
typedef void (*ctl_reply_fn)(struct nlattr **attrs, void *arg);

const char *ctl_connect(void);
void ctl_disconnect(void);
struct nl_msg *ctl_request(uint8_t cmd);
struct nl_msg *ctl_request_of(uint8_t cmd, const char *device);
void ctl_call(struct nl_msg *msg, ctl_reply_fn reply, void *arg);
void ctl_dump(struct nl_msg *msg, ctl_reply_fn reply, void *arg);
const char *ctl_try_call(struct nl_msg *msg, ctl_reply_fn reply, void *arg);

void ctl_put_addr(struct nl_msg *msg, int type, const struct ctl_addr *addr);
void ctl_put_byte(struct nl_msg *msg, int type, uint8_t value);
void ctl_put_number(struct nl_msg *msg, int type, uint32_t value);
void ctl_put_wide(struct nl_msg *msg, int type, uint64_t value);
void ctl_put_text(struct nl_msg *msg, int type, const char *text);
void ctl_put_bytes(struct nl_msg *msg, int type, const void *at, size_t bytes);
void ctl_put_on(struct nl_msg *msg, int type);
void ctl_put_policy(struct nl_msg *msg, const char *kind, const char *name);
void ctl_put_knob(struct nl_msg *msg, const char *name, uint32_t value);
void ctl_put_weight(struct nl_msg *msg, uint64_t id, uint32_t weight);
void ctl_set_knob(const char *name, uint32_t value);

#endif
