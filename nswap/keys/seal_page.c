// SPDX-License-Identifier: GPL-2.0
/*
 * Sealing of a page: ChaCha20-Poly1305 (RFC 7539 with a nonce of 64 bits) of the kernel's
 * library, in place, the tag apart from the page. Nothing here sleeps or allocates.
 *
 * Invariant: @seal lies in linear memory, never on a stack, for it is part of a
 * scatterlist.
 */
#include <crypto/chacha20poly1305.h>
#include <linux/scatterlist.h>

#include "seal_page.h"

static_assert(NSWAP_SEAL_TAG == CHACHA20POLY1305_AUTHTAG_SIZE);

static void seal_list(struct scatterlist sg[2], struct page *page,
		      struct nswap_seal *seal)
{
	sg_init_table(sg, 2);
	sg_set_page(&sg[0], page, PAGE_SIZE, 0);
	sg_set_buf(&sg[1], seal->tag, sizeof(seal->tag));
}

/*
 * Encrypt a page in place. @seal: its @nonce is set; its @tag is the result. Any context
 * but hard interrupts.
 */
void nswap_seal_page(struct page *page, const u8 key[NSWAP_KEY_BYTES],
		     const struct nswap_seal_name *name, struct nswap_seal *seal)
{
	struct scatterlist sg[2];

	seal_list(sg, page, seal);
	chacha20poly1305_encrypt_sg_inplace(sg, PAGE_SIZE, (const u8 *)name, sizeof(*name),
					    seal->nonce, key);
}

/*
 * Decrypt a page in place. @seal: a copy of what was kept. Any context but hard
 * interrupts. Returns false if it is another page, or was changed: it is spoilt then.
 */
bool nswap_open_page(struct page *page, const u8 key[NSWAP_KEY_BYTES],
		     const struct nswap_seal_name *name, struct nswap_seal *seal)
{
	struct scatterlist sg[2];

	seal_list(sg, page, seal);
	return chacha20poly1305_decrypt_sg_inplace(sg, PAGE_SIZE + NSWAP_SEAL_TAG,
						   (const u8 *)name, sizeof(*name),
						   seal->nonce, key);
}
