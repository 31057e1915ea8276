// SPDX-License-Identifier: GPL-2.0
/*
 * Files with keys. Curve25519, random bytes and base64 are libsodium's. A file is
 * replaced as a whole, so that no reader sees half of it, and only its owner may read it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "keyfile.h"
#include "replace.h"

#define BASE64	sodium_base64_VARIANT_ORIGINAL

static void keyfile_begin(void)
{
	if (sodium_init() < 0)
		ctl_refuse("libsodium cannot be used here");
}

void keyfile_random(uint8_t key[KEY_BYTES])
{
	keyfile_begin();
	randombytes_buf(key, KEY_BYTES);
}

void keyfile_public(uint8_t public[KEY_BYTES], const uint8_t secret[KEY_BYTES])
{
	keyfile_begin();
	if (crypto_scalarmult_base(public, secret))
		ctl_refuse("this is no key");
}

const char *keyfile_text(const uint8_t key[KEY_BYTES], char text[KEY_TEXT])
{
	return sodium_bin2base64(text, KEY_TEXT, key, KEY_BYTES, BASE64);
}

bool keyfile_parse(const char *text, uint8_t key[KEY_BYTES])
{
	size_t bytes;

	return !sodium_base642bin(key, KEY_BYTES, text, strlen(text), NULL, &bytes, NULL,
				  BASE64) &&
	       bytes == KEY_BYTES && !sodium_is_zero(key, KEY_BYTES);
}

struct member *keyfile_find(struct keyfile *f, const char *name_or_key)
{
	uint8_t key[KEY_BYTES];
	bool is_key = keyfile_parse(name_or_key, key);
	size_t i;

	for (i = 0; i < f->nr; i++)
		if (!strcmp(f->member[i].name, name_or_key) ||
		    (is_key && !memcmp(f->member[i].key, key, KEY_BYTES)))
			return &f->member[i];
	return NULL;
}

/* a sentence about what is wrong, or NULL */
static const char *member_add(struct keyfile *f, const char *name,
			      const uint8_t key[KEY_BYTES])
{
	struct member *m = realloc(f->member, (f->nr + 1) * sizeof(*m));

	if (!m)
		return "no memory";
	f->member = m;
	m += f->nr++;
	snprintf(m->name, sizeof(m->name), "%s", name);
	memcpy(m->key, key, KEY_BYTES);
	return NULL;
}

void keyfile_add(struct keyfile *f, const char *name, const uint8_t key[KEY_BYTES])
{
	const char *wrong = member_add(f, name, key);

	if (wrong)
		ctl_refuse("%s", wrong);
}

/* one line; likewise. @key: room for one, which is left there */
static const char *keyfile_line(struct keyfile *f, char *line, uint8_t key[KEY_BYTES])
{
	char *save, *word = strtok_r(line, " \t\n", &save);
	char *one = word ? strtok_r(NULL, " \t\n", &save) : NULL;
	char *two = one ? strtok_r(NULL, " \t\n", &save) : NULL;

	if (!word || *word == '#')
		return NULL;
	if (!strcmp(word, "member")) {
		if (!two || strlen(one) >= MEMBER_NAME || !keyfile_parse(two, key))
			return "'member NAME PUBLIC-KEY' is expected";
		if (keyfile_find(f, one) || keyfile_find(f, two))
			return "this name or key is there already";
		return member_add(f, one, key);
	}
	if (!one || (two && *two != '#') || !keyfile_parse(one, key))
		return "'key SECRET', 'cluster SECRET' or 'member NAME PUBLIC-KEY' is expected";
	if (!strcmp(word, "key") && !f->has_key) {
		f->has_key = true;
		memcpy(f->key, key, KEY_BYTES);
	} else if (!strcmp(word, "cluster") && !f->has_cluster) {
		f->has_cluster = true;
		memcpy(f->cluster, key, KEY_BYTES);
	} else {
		return "only one 'key' and one 'cluster' is expected";
	}
	return NULL;
}

const char *keyfile_wrong(const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || (st->st_uid && st->st_uid != geteuid()))
		return "this has to be a file of root's, or your own";
	if (st->st_mode & 077)
		return "others may read or change it, 'chmod 600' mends that";
	return NULL;
}

void keyfile_read(const char *path, struct keyfile *f)
{
	FILE *file = fopen(path, "r");
	unsigned int number = 0;
	const char *wrong = NULL;
	uint8_t key[KEY_BYTES];
	char line[512];
	struct stat st;

	keyfile_begin();
	memset(f, 0, sizeof(*f));
	if (!file || fstat(fileno(file), &st))
		ctl_refuse("%s: %s", path, strerror(errno));
	wrong = keyfile_wrong(&st);
	if (wrong) {
		fclose(file);
		ctl_refuse("%s: %s", path, wrong);
	}
	while (!wrong && fgets(line, sizeof(line), file)) {
		number++;
		wrong = strlen(line) < sizeof(line) - 1 ? keyfile_line(f, line, key) :
			"this line is too long";
	}
	/* of a list that was read in part others would be no members */
	if (!wrong && ferror(file))
		wrong = strerror(errno);
	sodium_memzero(line, sizeof(line));
	sodium_memzero(key, sizeof(key));
	fclose(file);
	/* who goes on after a refusal has no keys of the file */
	if (wrong) {
		keyfile_free(f);
		ctl_refuse("%s:%u: %s", path, number, wrong);
	}
}

void keyfile_lock(const char *path)
{
	struct stat mine, there;
	bool same;
	int file;

	do {
		file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (file < 0)
			return;
		/* a file system without locks does without */
		flock(file, LOCK_EX);
		same = fstat(file, &mine) || stat(path, &there) ||
		       (mine.st_dev == there.st_dev && mine.st_ino == there.st_ino);
		if (!same)
			close(file);
	} while (!same);
}

void keyfile_write(const char *path, const struct keyfile *f, bool fresh)
{
	char text[KEY_TEXT], temp[4096], *real = fresh ? NULL : realpath(path, NULL);
	FILE *file;
	size_t i;
	int fd;

	if (fresh && !access(path, F_OK))
		ctl_refuse("%s is there already, and is not written over", path);
	/* what a link leads to is what was read */
	path = real ? real : path;
	if (snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= (int)sizeof(temp))
		ctl_refuse("%s is too long", path);
	fd = mkostemp(temp, O_CLOEXEC);	/* 0600 */
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		int error = errno;

		if (fd >= 0)
			unlink(temp);
		ctl_refuse("%s: %s", path, strerror(error));
	}
	fprintf(file, "# nswap, see nswapctl(8): keep this secret\n");
	if (f->has_key)
		fprintf(file, "key %s\n", keyfile_text(f->key, text));
	if (f->has_cluster)
		fprintf(file, "cluster %s\n", keyfile_text(f->cluster, text));
	for (i = 0; i < f->nr; i++)
		fprintf(file, "member %s %s\n", f->member[i].name,
			keyfile_text(f->member[i].key, text));
	sodium_memzero(text, sizeof(text));
	if (!replace_file(file, temp, path, fresh)) {
		int error = errno;

		unlink(temp);
		ctl_refuse("%s: %s", path, strerror(error));
	}
	fclose(file);
	free(real);
}

void keyfile_free(struct keyfile *f)
{
	free(f->member);
	sodium_memzero(f, sizeof(*f));
}
