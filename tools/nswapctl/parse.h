/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes and addresses, as people write them.
 */
#ifndef NSWAPCTL_PARSE_H
#define NSWAPCTL_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PAGE_BYTES	4096
#define ADDR_TEXT	80	/* room for an address with scope and port */

/**
 * struct ctl_addr - an address as netlink carries it
 * @family: AF_INET or AF_INET6
 * @port: 0 if none was named
 * @scope: interface index, 0 if none was named
 * @ip: network byte order, IPv4 in the first 4 bytes
 */
struct ctl_addr {
	uint16_t family;
	uint16_t port;
	uint32_t scope;
	uint8_t ip[16];
};

/* these return false if the text makes no sense */
bool parse_number(const char *text, uint64_t max, uint64_t *value);
bool parse_size(const char *text, uint64_t *bytes);
bool parse_addr(const char *text, struct ctl_addr *addr);
/* the same of one whose interface may not be there yet: the scope is 0 then */
bool parse_addr_later(const char *text, struct ctl_addr *addr);
bool parse_id(const char *text, uint64_t *id);
const char *parse_weight(const char *text, uint64_t *id, uint64_t *weight);

bool addr_default(struct ctl_addr *addr);
socklen_t addr_socket(const struct ctl_addr *a, struct sockaddr_storage *ss);

/* these write into the buffer and return it */
char *text_ip(const struct ctl_addr *addr, char buf[ADDR_TEXT]);
char *text_addr(const struct ctl_addr *addr, char buf[ADDR_TEXT]);
char *text_size(uint64_t bytes, char *buf, size_t len);
char *text_short(double bytes, char buf[8]);

#endif
