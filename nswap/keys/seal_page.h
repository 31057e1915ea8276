/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sealing of a page: encrypted, and bound to its slot.
 */
#ifndef NSWAP_SEAL_PAGE_H
#define NSWAP_SEAL_PAGE_H

#include "derive.h"

struct crypto_aead;
struct nswap_seal_work;
struct page;

#define NSWAP_SEAL_TAG		16
#define NSWAP_SEAL_KEYS		2
#define NSWAP_SEAL_KEY_BIT	63

/**
 * struct nswap_seal - what its owner keeps of a sealed page, 24 bytes a slot
 * @nonce: never used twice with a key; 0: nothing is sealed there. NSWAP_SEAL_KEY_BIT says
 *	which of a device's keys it is, and is a part of the nonce
 * @tag: of the page, and of where it belongs
 */
struct nswap_seal {
	u64 nonce;
	u8 tag[NSWAP_SEAL_TAG];
};

static_assert(sizeof(struct nswap_seal) == 24);

/* which key has sealed it? */
static inline unsigned int nswap_seal_key(const struct nswap_seal *seal)
{
	return seal->nonce >> NSWAP_SEAL_KEY_BIT;
}

/**
 * struct nswap_seal_name - where a page belongs
 * @owner: node id
 * @epoch: its boot epoch
 * @slot: slot
 * @instance: of the device
 * @len: bytes of it that are sealed, all others are zeros; 0: all of it
 */
struct nswap_seal_name {
	__le64 owner;
	__le64 epoch;
	__le64 slot;
	__le32 instance;
	__le32 len;
};

/**
 * struct nswap_cipher - how pages are sealed, and the key; write-once
 * @aes: AES-256-GCM, NULL: ChaCha20-Poly1305
 * @work: of each processor
 * @key: of either
 */
struct nswap_cipher {
	struct crypto_aead *aes;
	struct nswap_seal_work *__percpu *work;
	u8 key[NSWAP_KEY_BYTES];
};

int nswap_cipher_init(struct nswap_cipher *c);
void nswap_cipher_exit(struct nswap_cipher *c);
bool nswap_seal_page(const struct nswap_cipher *c, struct page *page,
		     const struct nswap_seal_name *name, struct nswap_seal *seal);
bool nswap_open_page(const struct nswap_cipher *c, struct page *page,
		     const struct nswap_seal_name *name, struct nswap_seal *seal);

#endif
