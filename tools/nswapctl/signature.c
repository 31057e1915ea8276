// SPDX-License-Identifier: GPL-2.0
/*
 * What is on a block device, as libblkid sees it: a file system, swap, a part
 * of a RAID or of a volume group, a table of partitions.
 *
 * A device that cannot be opened is left to the module, which says why.
 */
#include <blkid/blkid.h>
#include <stdio.h>

#include "signature.h"

#define AMBIVALENT	-2	/* several signatures that exclude each other */

static void describe(blkid_probe probe, char *text, size_t len)
{
	const char *what, *label = NULL;

	if (!blkid_probe_lookup_value(probe, "TYPE", &what, NULL)) {
		blkid_probe_lookup_value(probe, "LABEL", &label, NULL);
		snprintf(text, len, "\"%s\"%s%s", what,
			 label ? " labelled " : "", label ? label : "");
	} else if (!blkid_probe_lookup_value(probe, "PTTYPE", &what, NULL)) {
		snprintf(text, len, "a table of partitions (%s)", what);
	} else {
		snprintf(text, len, "something");
	}
}

bool signature_find(const char *path, char *text, size_t len)
{
	blkid_probe probe = blkid_new_probe_from_filename(path);
	int found;

	if (!probe)
		return false;
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE |
						 BLKID_SUBLKS_LABEL);
	blkid_probe_enable_partitions(probe, 1);
	found = blkid_do_safeprobe(probe);
	if (!found)
		describe(probe, text, len);
	else if (found == AMBIVALENT)
		snprintf(text, len, "several things at once");
	blkid_free_probe(probe);
	return !found || found == AMBIVALENT;
}
