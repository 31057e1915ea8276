// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion of addresses to and from those of the socket layer.
 *
 * Invariant: bytes that are not part of the address are zero in the result, so
 * that addresses can be compared and hashed.
 */
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/string.h>

#include "sockaddr.h"

/* Returns the length to pass to kernel_bind() and the like, or -EAFNOSUPPORT. */
int nswap_to_sockaddr(const struct nswap_addr *a, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *in = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = a->family;
	switch (a->family) {
	case AF_INET:
		in->sin_port = htons(a->port);
		memcpy(&in->sin_addr, a->ip, sizeof(in->sin_addr));
		return sizeof(*in);
	case AF_INET6:
		in6->sin6_port = htons(a->port);
		in6->sin6_scope_id = a->scope;
		memcpy(&in6->sin6_addr, a->ip, sizeof(in6->sin6_addr));
		return sizeof(*in6);
	default:
		return -EAFNOSUPPORT;
	}
}

/* Returns 0, or -EAFNOSUPPORT. */
int nswap_from_sockaddr(const struct sockaddr_storage *ss,
			struct nswap_addr *a)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;
	const struct sockaddr_in *in = (const struct sockaddr_in *)ss;

	memset(a, 0, sizeof(*a));
	a->family = ss->ss_family;
	switch (a->family) {
	case AF_INET:
		a->port = ntohs(in->sin_port);
		memcpy(a->ip, &in->sin_addr, sizeof(in->sin_addr));
		return 0;
	case AF_INET6:
		a->port = ntohs(in6->sin6_port);
		a->scope = in6->sin6_scope_id;
		memcpy(a->ip, &in6->sin6_addr, sizeof(in6->sin6_addr));
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

/* does this address need a scope? */
bool nswap_addr_link_local(const struct nswap_addr *a)
{
	return a->family == AF_INET6 && a->ip[0] == 0xfe &&
	       (a->ip[1] & 0xc0) == 0x80;
}

/* can this address not be that of a node? */
bool nswap_addr_unusable(const struct nswap_addr *a)
{
	static const u8 zeros[sizeof(a->ip)];

	if (a->family == AF_INET)
		return !memcmp(a->ip, zeros, 4) || a->ip[0] >= 224;
	return a->family != AF_INET6 || !memcmp(a->ip, zeros, sizeof(a->ip)) ||
	       a->ip[0] == 0xff;
}
