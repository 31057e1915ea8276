// SPDX-License-Identifier: GPL-2.0
/*
 * Totals of a node: encode, decode, and check what another node says.
 *
 * Invariants: what is accepted can be printed and added up: the version has visible
 * characters only and ends in the array, and the bytes of no total exceed a u64, nor does
 * the sum over as many nodes as there can be.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "totals.h"

#define TOTAL_BITS	50	/* as pages that is 4 EiB */

/* returns the bytes of the payload */
u32 nswap_totals_put(struct nswap_wire_stat *w, const struct nswap_totals *t)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	strscpy(w->software, t->software, sizeof(w->software));
	for (i = 0; i < t->nr; i++)
		w->total[i] = cpu_to_le64(t->value[i]);
	return offsetof(struct nswap_wire_stat, total[t->nr]);
}

static bool totals_software_ok(const char *s, size_t size)
{
	size_t i, len = strnlen(s, size);

	for (i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] > '~')
			return false;
	return len && len < size && !memchr_inv(s + len, 0, size - len);
}

/*
 * Decode and check an answer with @nr totals: those not known here are not looked at, those
 * that are missing are 0. Returns 0, or -EPROTO.
 */
int nswap_totals_get(const struct nswap_wire_stat *w, u32 nr, struct nswap_totals *t)
{
	u32 i;

	memset(t, 0, sizeof(*t));
	if (!totals_software_ok(w->software, sizeof(w->software)))
		return -EPROTO;
	strscpy(t->software, w->software, sizeof(t->software));
	t->nr = min_t(u32, nr, NSWAP_TOTAL_NR);
	for (i = 0; i < t->nr; i++) {
		t->value[i] = le64_to_cpu(w->total[i]);
		if (t->value[i] >> TOTAL_BITS)
			return -EPROTO;
	}
	return 0;
}
