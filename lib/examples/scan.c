// SPDX-License-Identifier: GPL-2.0
/*
 * The synthetic programs of the Dodo paper: a file is read in requests, in order, at random, or
 * with four fifths of the requests in a hot fifth of it, and every byte is compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

enum pattern { SEQUENTIAL, HOTCOLD, RANDOM };

static struct parts_options options = { .request = 8 << 10, .policy = 2 };
static const char *path;
static enum pattern pattern;
static uint64_t mb = 16, iterations = 4, seed = 1;
static int make;

static uint64_t word_at(uint64_t index)
{
	return mixed(seed * 0x9e3779b97f4a7c15ull + index);
}

static void make_data(void)
{
	FILE *f = fopen(path, "w");
	uint64_t i, word;

	if (!f)
		fail(path);
	for (i = 0; i < mb << 20 >> 3; i++) {
		word = word_at(i);
		if (fwrite(&word, sizeof(word), 1, f) != 1)
			fail(path);
	}
	if (fclose(f))
		fail(path);
}

/* Which request is the next one, of so many. */
static uint64_t next_place(uint64_t turn, uint64_t places, uint64_t *state)
{
	uint64_t hot = places / 5, a = mixed(++*state), b = mixed(a);

	if (pattern == SEQUENTIAL)
		return turn % places;
	if (pattern == HOTCOLD && hot)
		return a % 5 < 4 ? b % hot : hot + b % (places - hot);
	return b % places;
}

static void usage(void)
{
	puts("usage: scan --file FILE [--make 1] [--mb N] [--pattern WORD] …\n"
	     "Reads FILE in requests and compares it, or makes it.\n"
	     "  --make 1         make the file\n"
	     "  --mb N           its size (default 16)\n"
	     "  --pattern WORD   sequential (default), hotcold or random\n"
	     "  --iterations N   as many requests as it has, so many times (default 4)");
	parts_help();
	exit(0);
}

static int scan_option(const char *name, const char *value)
{
	if (!strcmp(name, "--file"))
		path = value;
	else if (!strcmp(name, "--make"))
		make = atoi(value);
	else if (!strcmp(name, "--mb"))
		mb = strtoull(value, NULL, 10);
	else if (!strcmp(name, "--seed"))
		seed = strtoull(value, NULL, 10);
	else if (!strcmp(name, "--iterations"))
		iterations = strtoull(value, NULL, 10);
	else if (!strcmp(name, "--pattern") && !strcmp(value, "sequential"))
		pattern = SEQUENTIAL;
	else if (!strcmp(name, "--pattern") && !strcmp(value, "hotcold"))
		pattern = HOTCOLD;
	else if (!strcmp(name, "--pattern") && !strcmp(value, "random"))
		pattern = RANDOM;
	else
		return parts_option(&options, name, value);
	return 1;
}

static void arguments(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i += 2) {
		if (!strcmp(argv[i], "--help"))
			usage();
		if (!scan_option(argv[i], i + 1 < argc ? argv[i + 1] : ""))
			path = NULL, i = argc;
	}
	if (!path || !mb) {
		fprintf(stderr, "error: usage: scan --file FILE [--make 1] …, see --help\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	uint64_t places, i, k, at, wrong = 0, state, sum = 0, *buf;
	struct parts data;
	double begin;

	arguments(argc, argv);
	parts_begin(&options);
	if (make) {
		make_data();
		return 0;
	}
	buf = malloc(options.request);
	if (!buf)
		fail("memory");
	begin = seconds();
	parts_open(&data, &options, path, mb << 20);
	places = data.bytes / options.request;
	state = mixed(seed);
	for (i = 0; i < iterations * places; i++) {
		at = next_place(i, places, &state) * options.request;
		parts_read(&data, at, buf, options.request);
		for (k = 0; k < options.request / 8; k++)
			wrong += buf[k] != word_at(at / 8 + k);
		sum = mixed(sum + buf[0]);
	}
	parts_close(&data, 0);
	printf("{\"program\": \"scan\", \"checksum\": \"%016llx\", \"wrong_words\": %llu, "
	       "\"seconds\": %.3f, ",
	       (unsigned long long)sum, (unsigned long long)wrong, seconds() - begin);
	parts_print();
	puts("}");
	free(buf);
	return !!wrong;
}
