// SPDX-License-Identifier: GPL-2.0
/*
 * Is the configuration file right? Values by the table of keys, one by one; then what
 * does not go together. Nothing is asked of the module, and nothing is changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "ctl.h"
#include "parse.h"

#include "../../nswap/core/knob_list.h"

#define BOOL	"yes, no"
#define SIZE	"a multiple of 4 KiB: 64M, 1G"
#define PLACE	"burst, latency, least-full, most-free, quietest, round-robin, two-choices"
#define READ	"fastest, least-loaded, prefetched-first, soonest"
#define SIZING	"fixed, watermark, pressure, owner"
#define CLASS	"critical, normal, droppable"
#define COMPRESS	"lz4, zstd, off"

typedef bool (*conf_test_fn)(const char *value);

static bool is_pages(const char *v)
{
	uint64_t bytes;

	return parse_size(v, &bytes) && !(bytes % PAGE_BYTES);
}

/* these three as the module has it, in nswap/device/config.c and class.c */
static bool is_size(const char *v)
{
	uint64_t bytes;

	return is_pages(v) && parse_size(v, &bytes) && bytes >= 40 << 10 && bytes <= 1ull << 40;
}

static bool is_reserve(const char *v)
{
	uint64_t bytes;

	return is_pages(v) && parse_size(v, &bytes) && bytes;
}

static bool is_cache(const char *v)
{
	uint64_t bytes;

	return is_pages(v) && parse_size(v, &bytes) && bytes >= 128 << 10;
}

static bool is_path(const char *v)
{
	return *v == '/' && v[1];
}

static bool is_port(const char *v)
{
	uint64_t n;

	return parse_number(v, UINT16_MAX, &n) && n;
}

static bool is_conns(const char *v)
{
	uint64_t n;

	return parse_number(v, 8, &n) && n >= 2;
}

static bool is_priority(const char *v)
{
	uint64_t n;

	return parse_number(v, INT16_MAX, &n);
}

static bool is_addr(const char *v)
{
	struct ctl_addr addr;

	return parse_addr_later(v, &addr);
}

/* one of some words, which is how they are shown: "yes, no" */
static bool is_one_of(const char *v, const char *words)
{
	size_t len = strlen(v);
	const char *at = len ? strstr(words, v) : NULL;

	while (at && ((at > words && at[-1] != ' ') || (at[len] && at[len] != ',')))
		at = strstr(at + 1, v);
	return at && !strpbrk(v, ", ");
}

static bool is_bool(const char *v)
{
	return is_one_of(v, BOOL);
}

static bool is_place(const char *v)
{
	return is_one_of(v, PLACE);
}

static bool is_read(const char *v)
{
	return is_one_of(v, READ);
}

static bool is_size_policy(const char *v)
{
	return is_one_of(v, SIZING);
}

static bool is_class(const char *v)
{
	return is_one_of(v, CLASS);
}

static bool is_compress(const char *v)
{
	return is_one_of(v, COMPRESS);
}

static bool is_protection(const char *v)
{
	int n, checks, len = 0;

	/* which sscanf() would skip */
	if (strpbrk(v, " \t"))
		return false;
	if (!strcmp(v, "none") || !strcmp(v, "home") || !strcmp(v, "mirror"))
		return true;
	return sscanf(v, "parity:%1d+%1d%n", &n, &checks, &len) == 2 && !v[len] && n >= 2 &&
	       n <= 8 && checks >= 1 && checks <= 2;
}

static bool is_tier(const char *v)
{
	const char *rank = strstr(v, ",rank=");
	uint64_t n;

	return is_path(v) && rank && parse_number(rank + 6, 255, &n);
}

/* each part of a list with commas */
static bool is_list(const char *v, conf_test_fn is)
{
	char *copy = strdup(v), *at = copy, *one;
	bool good = copy;

	while (good && (one = strsep(&at, ",")))
		good = is(one);
	free(copy);
	return good;
}

static bool is_weight(const char *v)
{
	uint64_t id, n;

	return parse_weight(v, &id, &n) && id && n >= 10 && n <= 1000;
}

static bool is_addrs(const char *v)
{
	return is_list(v, is_addr);
}

static const struct conf_key {
	enum conf_kind kind;
	const char *name;
	conf_test_fn test;
	const char *allowed;
	bool repeats;
} conf_keys[] = {
	{ CONF_NODE, "address", is_addr, "A, A:PORT, [A]:PORT, A%IFACE", false },
	{ CONF_NODE, "port", is_port, "1 to 65535", false },
	{ CONF_NODE, "peers", is_addrs, "addresses with commas: 10.0.0.7,10.0.0.8:9700", false },
	{ CONF_NODE, "broadcast", is_bool, BOOL, false },
	{ CONF_NODE, "connections", is_conns, "2 to 8", false },
	{ CONF_NODE, "key", is_path, "/PATH", false },
	{ CONF_NODE, "members", is_path, "/PATH", false },
	{ CONF_NODE, "secret", is_path, "/PATH", false },
	{ CONF_NODE, "open", is_bool, BOOL, false },
	{ CONF_NODE, "lend", is_pages, SIZE, false },
	{ CONF_NODE, "size-policy", is_size_policy, SIZING, false },
	{ CONF_NODE, "place-policy", is_place, PLACE, false },
	{ CONF_NODE, "read-policy", is_read, READ, false },
	{ CONF_NODE, "weight", is_weight,
	  "NODE-ID N, N from 10 to 1000: 3f2a9c0011223344 200", true },
	{ CONF_DEVICE, "size", is_size, SIZE ", from 40K to 1T", false },
	{ CONF_DEVICE, "home", is_path, "/PATH", false },
	{ CONF_DEVICE, "flash", is_path, "/PATH, up to four lines", true },
	{ CONF_DEVICE, "tier", is_tier, "/PATH,rank=N, N from 0 to 255", true },
	{ CONF_DEVICE, "protect", is_protection,
	  "none, home, mirror, parity:N+1, parity:N+2, N from 2 to 8", false },
	{ CONF_DEVICE, "class", is_class, CLASS, false },
	{ CONF_DEVICE, "reserve", is_reserve, SIZE ", and not 0", false },
	{ CONF_DEVICE, "seal", is_bool, BOOL, false },
	{ CONF_DEVICE, "compress", is_compress, COMPRESS, false },
	{ CONF_DEVICE, "cache", is_cache, SIZE ", from 128K on", false },
	{ CONF_DEVICE, "early-ack", is_bool, BOOL, false },
	{ CONF_DEVICE, "swap", is_bool, BOOL, false },
	{ CONF_DEVICE, "priority", is_priority, "0 to 32767", false },
	{ CONF_DEVICE, "place-policy", is_place, PLACE, false },
	{ CONF_DEVICE, "read-policy", is_read, READ, false },
};

#ifndef U32_MAX
#define U32_MAX	UINT32_MAX
#endif

#define KNOB(name, lo, hi, d, text)	{ #name, lo, hi, d, text },
static const struct {
	const char *name;
	uint32_t lowest;
	uint32_t highest;
	uint32_t def;
	const char *help;
} conf_knobs[] = { NSWAP_KNOBS(KNOB) };

#define NR_KNOBS	(sizeof(conf_knobs) / sizeof(*conf_knobs))
#define NR_KEYS	(sizeof(conf_keys) / sizeof(*conf_keys))

static const char *const key_lists[] = {
	"address, port, peers, broadcast, connections, key, members, secret, open, lend, size-policy, place-policy, read-policy, weight",
	"KNOB = NUMBER, see: nswapctl set",
	"size, home, flash, tier, protect, class, reserve, seal, compress, cache, early-ack, swap, priority, place-policy, read-policy",
};

static const char *knob_names(void)
{
	size_t len, i;
	char *names;
	FILE *f = open_memstream(&names, &len);

	if (!f)
		ctl_refuse("no memory");
	for (i = 0; i < NR_KNOBS; i++)
		fprintf(f, "%s%s", i ? ", " : "", conf_knobs[i].name);
	fclose(f);
	return names;
}

static void conf_check_knob(struct conf *c, const struct conf_entry *e)
{
	char *allowed;
	uint64_t n;
	size_t i;

	for (i = 0; i < NR_KNOBS && strcmp(conf_knobs[i].name, e->key); i++)
		;
	if (i == NR_KNOBS) {
		conf_complain(c, e->line, knob_names(), "there is no knob '%s'", e->key);
		return;
	}
	if (parse_number(e->value, UINT32_MAX, &n) && n >= conf_knobs[i].lowest &&
	    n <= conf_knobs[i].highest)
		return;
	if (asprintf(&allowed, "%u to %u, default %u (%s)", conf_knobs[i].lowest,
		     conf_knobs[i].highest, conf_knobs[i].def, conf_knobs[i].help) < 0)
		ctl_refuse("no memory");
	conf_complain(c, e->line, allowed, "'%s' is no value of the knob %s", e->value, e->key);
}

/* one line for each node; the line is known to be right */
static void conf_check_weight(struct conf *c, const struct conf_section *s,
			      const struct conf_entry *e)
{
	const struct conf_entry *other;

	for (other = s->entry; other < e; other++)
		if (!strcmp(other->key, e->key) && !strncasecmp(other->value, e->value, 16))
			conf_complain(c, e->line, "one line for each node",
				      "this node's weight is there already, in line %u",
				      other->line);
}

static void conf_check_entry(struct conf *c, const struct conf_section *s,
			     const struct conf_entry *e)
{
	const struct conf_key *k = conf_keys;

	while (k < conf_keys + NR_KEYS && (k->kind != s->kind || strcmp(k->name, e->key)))
		k++;
	if (s->kind == CONF_KNOBS) {
		conf_check_knob(c, e);
	} else if (k == conf_keys + NR_KEYS) {
		conf_complain(c, e->line, key_lists[s->kind], "there is no key '%s' here", e->key);
		return;
	} else if (!k->test(e->value)) {
		conf_complain(c, e->line, k->allowed, "'%s' is no value of %s", e->value, e->key);
	} else if (k->test == is_weight) {
		conf_check_weight(c, s, e);
	}
	if (conf_find(s, e->key) != e && (s->kind == CONF_KNOBS || !k->repeats))
		conf_complain(c, e->line, "one line for each key", "%s is there already, in line %u",
			      e->key, conf_find(s, e->key)->line);
}

static unsigned int line_of(const struct conf_section *s, const char *key)
{
	const struct conf_entry *e = conf_find(s, key);

	return e ? e->line : s->line;
}

static void conf_check_node(struct conf *c, const struct conf_section *s)
{
	bool key = conf_value(s, "key"), members = conf_value(s, "members");
	bool secret = conf_value(s, "secret");
	struct ctl_addr addr;
	uint64_t port;

	if (secret && (key || members))
		conf_complain(c, line_of(s, "secret"), "secret, or key and members, or open = yes",
			      "secret goes with neither key nor members");
	else if (key != members)
		conf_complain(c, line_of(s, key ? "key" : "members"), "both or neither",
			      "key and members go together");
	if (!key && !members && !secret && !conf_on(s, "open", false))
		conf_complain(c, line_of(s, "open"), "secret = /PATH, or key and members, or open = yes",
			      "without keys anyone on the subnet can take part");
	if (conf_on(s, "open", false) && (key || members || secret))
		conf_complain(c, line_of(s, "open"), "secret, or key and members, or open = yes",
			      "a node with keys is not open");
	if (!conf_on(s, "broadcast", true) && !conf_value(s, "peers"))
		conf_complain(c, line_of(s, "broadcast"), "peers = A,B, or broadcast = yes",
			      "a node without broadcast has to list its peers");
	if (conf_value(s, "address") && conf_value(s, "port") &&
	    parse_addr_later(conf_value(s, "address"), &addr) && addr.port &&
	    parse_number(conf_value(s, "port"), UINT16_MAX, &port) && port != addr.port)
		conf_complain(c, line_of(s, "port"), "one port", "address and port name different ports");
}

/* as the module has it, in nswap/device/parity.c: strips of 32 cells, of 2^28 in all */
static bool fits_parity(const char *protect, uint64_t bytes)
{
	uint64_t strips = (bytes / PAGE_BYTES + 31) / 32;
	unsigned int checks;

	return sscanf(protect, "parity:%*u+%u", &checks) != 1 ||
	       (1 + checks) * strips + 64 <= 1 << 23;
}

/* the size of a device that has only a home is not known here */
static void conf_check_room(struct conf *c, const struct conf_section *s)
{
	static const char *const parts[] = { "reserve", "cache" };
	const char *protect = conf_value(s, "protect"), *size = conf_value(s, "size"), *part;
	uint64_t bytes, whole;
	size_t i;

	for (i = 0; i < 2; i++) {
		part = conf_value(s, parts[i]);
		if (part && size && parse_size(part, &bytes) && parse_size(size, &whole) &&
		    bytes > whole)
			conf_complain(c, line_of(s, parts[i]), "the size of the device at most",
				      "a %s larger than the device is of no use", parts[i]);
	}
	if (protect && is_protection(protect) && size && is_size(size) &&
	    parse_size(size, &whole) && !fits_parity(protect, whole))
		conf_complain(c, line_of(s, "protect"),
			      "parity for less than 512 GiB, with two checks for 341 GiB at most",
			      "the device %s is too large for protection by parity", s->name);
	if (protect && !strncmp(protect, "parity", 6) && conf_value(s, "reserve"))
		conf_complain(c, line_of(s, "protect"), "none, home, mirror, or no reserve",
			      "a device with a reserve cannot be protected by parity");
}

static void conf_check_device(struct conf *c, const struct conf_section *s)
{
	const char *protect = conf_value(s, "protect"), *class = conf_value(s, "class");
	unsigned int flash = 0;
	size_t i;

	if (!conf_value(s, "size") && !conf_value(s, "home"))
		conf_complain(c, s->line, "size = SIZE, home = /PATH, or both",
			      "the device %s has neither size nor home", s->name);
	if (protect && !strcmp(protect, "home") && !conf_value(s, "home"))
		conf_complain(c, line_of(s, "protect"), "none, mirror, parity:N+1, parity:N+2",
			      "the device %s has no home that could protect it", s->name);
	if (class && !strcmp(class, "droppable") && protect && strcmp(protect, "none"))
		conf_complain(c, line_of(s, "protect"), "none", "a droppable device cannot be protected");
	if (class && !strcmp(class, "droppable") && conf_on(s, "swap", true))
		conf_complain(c, line_of(s, "class"), "critical, normal, or swap = no",
			      "a droppable device is not for swap");
	if (!conf_on(s, "swap", true) && conf_value(s, "priority"))
		conf_complain(c, line_of(s, "priority"), "swap = yes",
			      "a device without swap has no priority");
	if (conf_on(s, "early-ack", false) && !conf_value(s, "cache"))
		conf_complain(c, line_of(s, "early-ack"), "cache = SIZE with it",
			      "early acknowledgement needs a cache");
	conf_check_room(c, s);
	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->entry[i].key, "flash") || !strcmp(s->entry[i].key, "tier"))
			if (++flash == 5)
				conf_complain(c, s->entry[i].line, "four of flash and tier together",
					      "the device %s has too much flash", s->name);
}

/* is there one like it before? */
static void conf_check_twice(struct conf *c, size_t at)
{
	const struct conf_section *s = &c->section[at], *o;
	const char *home = conf_value(s, "home");

	for (o = c->section; o < s; o++) {
		if (o->kind != s->kind)
			continue;
		if (s->kind != CONF_DEVICE || !strcmp(s->name, o->name))
			conf_complain(c, s->line, "each section once",
				      "this section is there already, in line %u", o->line);
		else if (home && conf_value(o, "home") && !strcmp(home, conf_value(o, "home")))
			conf_complain(c, line_of(s, "home"), "a partition or disk of its own",
				      "the device %s has this home already", o->name);
	}
}

static int conf_compare(const void *a, const void *b)
{
	const struct conf_wrong *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

void conf_check(struct conf *c)
{
	const struct conf_section *s;
	bool node = false;
	size_t i, j;

	for (i = 0; i < c->nr; i++) {
		s = &c->section[i];
		if (s->kind == CONF_KINDS)
			continue;
		for (j = 0; j < s->nr; j++)
			conf_check_entry(c, s, &s->entry[j]);
		if (s->kind == CONF_NODE)
			conf_check_node(c, s);
		if (s->kind == CONF_DEVICE)
			conf_check_device(c, s);
		node = node || s->kind == CONF_NODE;
		conf_check_twice(c, i);
	}
	if (!node)
		conf_complain(c, 1, "[node], [knobs], [device NAME]", "there is no section [node]");
	if (c->nr_wrong)
		qsort(c->wrong, c->nr_wrong, sizeof(*c->wrong), conf_compare);
}
