/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files with keys: a line each, "#" begins a comment.
 *
 *   key SECRET             of this node (a file of its own)
 *   cluster SECRET         known to all members
 *   member NAME PUBLIC     one for each; without any, all that know the secret are
 */
#ifndef NSWAPCTL_KEYFILE_H
#define NSWAPCTL_KEYFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_BYTES	32
#define KEY_TEXT	45	/* in base64, with its end */
#define MEMBER_NAME	64

struct member {
	char name[MEMBER_NAME];
	uint8_t key[KEY_BYTES];
};

struct keyfile {
	bool has_key;
	bool has_cluster;
	uint8_t key[KEY_BYTES];
	uint8_t cluster[KEY_BYTES];
	struct member *member;
	size_t nr;
};

struct stat;
/* why a file is not taken for one with keys, by its owner and mode; NULL if it may be */
const char *keyfile_wrong(const struct stat *st);
/*
 * Until this program ends no other one that asks for this changes the file, if it is there:
 * what is read from it is what will be replaced.
 */
void keyfile_lock(const char *path);
void keyfile_read(const char *path, struct keyfile *f);
void keyfile_write(const char *path, const struct keyfile *f, bool fresh);
void keyfile_free(struct keyfile *f);
void keyfile_random(uint8_t key[KEY_BYTES]);
void keyfile_public(uint8_t public[KEY_BYTES], const uint8_t secret[KEY_BYTES]);
const char *keyfile_text(const uint8_t key[KEY_BYTES], char text[KEY_TEXT]);
bool keyfile_parse(const char *text, uint8_t key[KEY_BYTES]);
struct member *keyfile_find(struct keyfile *f, const char *name_or_key);
void keyfile_add(struct keyfile *f, const char *name, const uint8_t key[KEY_BYTES]);

#endif
