// SPDX-License-Identifier: GPL-2.0
/*
 * Device, compression, as users see it. It is decided when the device is added.
 */
#include <linux/netlink.h>
#include <linux/string.h>

#include "base/views.h"
#include "client/wrap.h"
#include "compress.h"

static const char *const compress_names[NSWAP_COMPRESS_KINDS] = {
	[NSWAP_COMPRESS_OFF] = "off",
	[NSWAP_COMPRESS_LZ4] = "lz4",
	[NSWAP_COMPRESS_ZSTD] = "zstd",
};

/**
 * nswap_compress_parse() - read how pages of a device to be are compressed
 * @text: as users write it
 * @kind: result
 * @ext: for one clear sentence
 *
 * Context: any.
 * Return: 0, -EINVAL; -EOPNOTSUPP if this kernel lacks it.
 */
int nswap_compress_parse(const char *text, enum nswap_compress *kind,
			 struct netlink_ext_ack *ext)
{
	int found = match_string(compress_names, NSWAP_COMPRESS_KINDS, text);

	if (found < 0) {
		NL_SET_ERR_MSG(ext, "no such compression, only: lz4 zstd off");
		return -EINVAL;
	}
	if (!nswap_compress_has(found)) {
		NL_SET_ERR_MSG_FMT(ext, "this kernel was built without %s, so pages cannot be compressed with it",
				   text);
		return -EOPNOTSUPP;
	}
	*kind = found;
	return 0;
}

/* fill in how its pages are compressed; any context */
void nswap_compress_look(struct nswap_device *dev, struct nswap_device_view *v)
{
	struct nswap_compressed sum;

	v->compress = compress_names[NSWAP_COMPRESS_OFF];
	if (!nswap_compresses(dev))
		return;
	v->compress = compress_names[dev->wrap->compressor.kind];
	sum = nswap_compress_sum(&dev->wrap->compressor);
	v->compressed = sum.pages;
	v->compressed_bytes = sum.bytes;
	v->incompressible = sum.whole;
}
