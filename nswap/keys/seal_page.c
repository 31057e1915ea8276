// SPDX-License-Identifier: GPL-2.0
/*
 * Sealing of a page, in place, its tag apart from it: AES-256-GCM where the kernel has it
 * fast, with instructions of the processor, else ChaCha20-Poly1305 of the kernel's
 * library (RFC 7539 with a nonce of 64 bits).
 *
 * Instructions a page on 6.1 and 6.12 with AES-NI and AVX2: AES-256-GCM 10 400 and 11 500,
 * ChaCha20-Poly1305 23 500.
 *
 * Invariants:
 *  - Only in task context: the vector registers are free then. So x86's AES, which before
 *    7.x is marked as asynchronous, is computed at once, never left to its daemon, and the
 *    memory of a processor is used by one task at a time, which is not preempted meanwhile.
 *  - No other asynchronous implementation is chosen, whatever its priority: any program
 *    may have the kernel make one (pcrypt, cryptd) that is preferred from then on. None that
 *    may allocate, or is a device.
 *  - Nothing that could not be encrypted stays in the page.
 */
#include <crypto/aead.h>
#include <crypto/chacha20poly1305.h>
#include <linux/highmem.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "seal_page.h"

#define FAST_ENOUGH	300	/* priority of what uses the processor's own instructions */
#define X86_AES		"generic-gcm-"	/* names of x86's begin so */

/**
 * struct nswap_seal_work - memory of one processor to seal a page in, linear as
 *	scatterlists need it
 * @name: where the page belongs
 * @tag: its tag
 * @iv: nonce, and zeros
 * @sg: name, page, tag
 * @req: for AES-256-GCM, with what its implementation needs after it
 */
struct nswap_seal_work {
	struct nswap_seal_name name;
	u8 tag[NSWAP_SEAL_TAG];
	u8 iv[16];
	struct scatterlist sg[3];
	struct aead_request req;
};

static_assert(NSWAP_SEAL_TAG == CHACHA20POLY1305_AUTHTAG_SIZE);

/* constant, so that a kernel without AEADs needs none */
static bool cipher_is_aes(const struct nswap_cipher *c)
{
	return IS_ENABLED(CONFIG_CRYPTO_AEAD) && c->aes;
}

static bool aes_fits(const struct crypto_alg *alg)
{
	return alg->cra_priority >= FAST_ENOUGH &&
	       (!(alg->cra_flags & CRYPTO_ALG_ASYNC) ||
		!strncmp(alg->cra_driver_name, X86_AES, strlen(X86_AES)));
}

static struct crypto_aead *aes_try(const struct nswap_cipher *c, const char *name)
{
	struct crypto_aead *aes = crypto_alloc_aead(name, 0, CRYPTO_ALG_KERN_DRIVER_ONLY |
							     CRYPTO_ALG_ALLOCATES_MEMORY);

	if (IS_ERR(aes))
		return NULL;
	if (aes_fits(crypto_aead_tfm(aes)->__crt_alg) &&
	    !crypto_aead_setkey(aes, c->key, NSWAP_KEY_BYTES) &&
	    !crypto_aead_setauthsize(aes, NSWAP_SEAL_TAG))
		return aes;
	crypto_free_aead(aes);
	return NULL;
}

/* Returns AES-256-GCM with the cipher's key, or NULL if there is none that is fast */
static struct crypto_aead *aes_init(const struct nswap_cipher *c)
{
	return aes_try(c, "gcm(aes)") ?: aes_try(c, X86_AES "aesni");
}

/* so much of a page is sealed */
static unsigned int seal_bytes(const struct nswap_seal_name *name)
{
	return le32_to_cpu(name->len) ?: PAGE_SIZE;
}

static bool aes_run(const struct nswap_cipher *c, struct nswap_seal_work *w,
		    struct page *page, bool open)
{
	unsigned int bytes = seal_bytes(&w->name);
	struct aead_request *req = &w->req;
	int ret;

	sg_init_table(w->sg, 3);
	sg_set_buf(&w->sg[0], &w->name, sizeof(w->name));
	sg_set_page(&w->sg[1], page, bytes, 0);
	sg_set_buf(&w->sg[2], w->tag, sizeof(w->tag));
	aead_request_set_tfm(req, c->aes);
	aead_request_set_callback(req, 0, NULL, NULL);
	aead_request_set_ad(req, sizeof(w->name));
	aead_request_set_crypt(req, w->sg, w->sg, bytes + (open ? NSWAP_SEAL_TAG : 0), w->iv);
	ret = open ? crypto_aead_decrypt(req) : crypto_aead_encrypt(req);
	WARN_ON_ONCE(ret && ret != -EBADMSG);
	return !ret;
}

/*
 * Choose a cipher and draw a key. @c: zeroed. Context: process, sleeps. Returns 0, -ENOMEM;
 * nswap_cipher_exit() either way.
 */
int nswap_cipher_init(struct nswap_cipher *c)
{
	size_t size = sizeof(struct nswap_seal_work);
	struct nswap_seal_work *w;
	unsigned int cpu;

	get_random_bytes(c->key, sizeof(c->key));
	c->work = alloc_percpu(struct nswap_seal_work *);
	if (!c->work)
		return -ENOMEM;
	if (IS_ENABLED(CONFIG_CRYPTO_AEAD))
		c->aes = aes_init(c);
	if (cipher_is_aes(c))
		size += crypto_aead_reqsize(c->aes);
	for_each_possible_cpu(cpu) {
		w = kzalloc(size, GFP_KERNEL);
		if (!w)
			return -ENOMEM;
		*per_cpu_ptr(c->work, cpu) = w;
	}
	return 0;
}

/* the key is forgotten; process */
void nswap_cipher_exit(struct nswap_cipher *c)
{
	unsigned int cpu;

	if (cipher_is_aes(c))
		crypto_free_aead(c->aes);
	if (c->work)
		for_each_possible_cpu(cpu)
			kfree(*per_cpu_ptr(c->work, cpu));
	free_percpu(c->work);
	memzero_explicit(c, sizeof(*c));
}

static bool chacha_run(const struct nswap_cipher *c, struct nswap_seal_work *w,
		       struct page *page, u64 nonce, bool open)
{
	const u8 *name = (const u8 *)&w->name;
	unsigned int bytes = seal_bytes(&w->name);

	sg_init_table(w->sg, 2);
	sg_set_page(&w->sg[0], page, bytes, 0);
	sg_set_buf(&w->sg[1], w->tag, sizeof(w->tag));
	if (open)
		return chacha20poly1305_decrypt_sg_inplace(w->sg, bytes + NSWAP_SEAL_TAG,
							   name, sizeof(w->name), nonce,
							   c->key);
	return chacha20poly1305_encrypt_sg_inplace(w->sg, bytes, name, sizeof(w->name),
						   nonce, c->key);
}

/* @seal: its @tag is what is to be found, or the result */
static bool seal_run(const struct nswap_cipher *c, struct page *page,
		     const struct nswap_seal_name *name, struct nswap_seal *seal, bool open)
{
	struct nswap_seal_work *w = *get_cpu_ptr(c->work);
	bool ok;

	w->name = *name;
	memset(w->iv, 0, sizeof(w->iv));
	memcpy(w->iv, &seal->nonce, sizeof(seal->nonce));
	memcpy(w->tag, seal->tag, sizeof(w->tag));
	ok = cipher_is_aes(c) ? aes_run(c, w, page, open) :
				chacha_run(c, w, page, seal->nonce, open);
	memcpy(seal->tag, w->tag, sizeof(w->tag));
	put_cpu_ptr(c->work);
	return ok;
}

/*
 * Encrypt a page in place, as much of it as @name says. @seal: its @nonce is set; its @tag
 * is the result. Context: task; does not sleep or allocate. Returns false if the
 * implementation is broken: the page is cleared then, and what was in it is lost.
 */
bool nswap_seal_page(const struct nswap_cipher *c, struct page *page,
		     const struct nswap_seal_name *name, struct nswap_seal *seal)
{
	bool ok = seal_run(c, page, name, seal, false);

	if (!ok)
		clear_highpage(page);
	return ok;
}

/*
 * Decrypt a page in place. @seal: a copy of what was kept. Context: task; does not sleep or
 * allocate. Returns false if it is another page, or was changed: it is spoilt then.
 */
bool nswap_open_page(const struct nswap_cipher *c, struct page *page,
		     const struct nswap_seal_name *name, struct nswap_seal *seal)
{
	return seal_run(c, page, name, seal, true);
}
