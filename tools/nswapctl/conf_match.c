// SPDX-License-Identifier: GPL-2.0
/*
 * Which device of the node a section of the configuration file means.
 *
 * The module knows no names but nswapN, and nothing is kept about who added a device. So
 * it is the one with the section's home; without a home, the one that 'device add' would
 * make of the section, then one that the file does not contradict, then any, which is a
 * complaint. A device that is not swapped to is made swap only if nothing can be lost:
 * it is such as the section would make it, and empty or swap already.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf_match.h"
#include "ctl.h"
#include "swaps.h"

#define DELETE	"as it is, or swapoff and 'nswapctl device del' first, or a section of its own for a device that this one does not mean"

/* what of a device is chosen when it is added */
static const char *const match_keys[] = { "size", "class", "reserve", "seal", "compress",
					  "cache", "early-ack", "flash" };

#define NR_KEYS	(sizeof(match_keys) / sizeof(*match_keys))

/* how well a device fits; the best is looked for first, among all sections */
enum match_rank { SAME_AND_SWAP, SAME, NOT_CONTRADICTED, OTHER, RANKS };

/* the last part of a path, of what a link leads to */
static const char *match_base(const char *path)
{
	const char *slash;

	path = realpath(path, NULL) ?: path;
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* has it the home of the section, or none as that? */
static bool match_home(const struct conf_section *s, const struct view_device *d)
{
	const char *home = conf_value(s, "home");

	return home ? !strcmp(match_base(home), d->home) : !*d->home;
}

static bool match_is_flash(const struct conf_entry *e)
{
	return !strcmp(e->key, "flash") || !strcmp(e->key, "tier");
}

/* has the device this flash? @path: of the file, with ",rank=N" behind that of a tier */
static bool match_has_flash(const struct view_device *d, const char *path)
{
	char *name = strndup(path, strcspn(path, ",")), *list = strdup(d->flash);
	char *at = list, *one;
	bool found = false;

	if (!name || !list)
		ctl_refuse("no memory");
	while ((one = strsep(&at, ",")))
		found = found || !strcmp(one, match_base(name));
	free(name);
	free(list);
	return found;
}

/* entries of the file for flash, less those of the device */
static int match_more_flash(const struct conf_section *s, const struct view_device *d)
{
	int more = -!!*d->flash;
	const char *at;
	size_t i;

	for (i = 0; i < s->nr; i++)
		more += match_is_flash(&s->entry[i]);
	for (at = d->flash; *at; at++)
		more -= *at == ',';
	return more;
}

/* the entry of the file that speaks of it and is not so, NULL without one */
static const struct conf_entry *match_contradicts(const struct conf_section *s,
						  const struct view_device *d,
						  const char *key)
{
	const struct conf_entry *e = conf_find(s, key);
	uint64_t bytes;
	size_t i;

	if (!strcmp(key, "flash")) {
		for (i = 0; i < s->nr; i++)
			if (match_is_flash(&s->entry[i]) && !match_has_flash(d, s->entry[i].value))
				return &s->entry[i];
		return NULL;
	}
	if (!e)
		return NULL;
	if (!strcmp(key, "class"))
		return strcmp(e->value, d->class) ? e : NULL;
	if (!strcmp(key, "compress"))
		return strcmp(e->value, d->compress) ? e : NULL;
	if (!strcmp(key, "seal"))
		return conf_on(s, key, false) != d->sealed ? e : NULL;
	if (!strcmp(key, "early-ack"))
		return conf_on(s, key, false) != d->early ? e : NULL;
	if (!parse_size(e->value, &bytes))
		return e;
	return bytes != (*key == 's' ? d->size : *key == 'c' ? d->cache : d->reserve) ? e : NULL;
}

/* the file says nothing of it, and then it would not be so; @keys: has the node keys? */
static bool match_unasked(const struct conf_section *s, const struct view_device *d,
			  const char *key, bool keys)
{
	if (!strcmp(key, "flash"))
		return match_more_flash(s, d) < 0;
	if (conf_value(s, key))
		return false;
	if (!strcmp(key, "class"))
		return strcmp(d->class, "normal");
	if (!strcmp(key, "compress"))
		return strcmp(d->compress, "off");
	if (!strcmp(key, "seal"))
		return d->sealed != keys;
	if (!strcmp(key, "cache"))
		return d->cache;
	if (!strcmp(key, "early-ack"))
		return d->early;
	return !strcmp(key, "reserve") && d->reserve;
}

static enum match_rank match_rank(const struct conf_section *s, const struct view_device *d,
				  bool keys)
{
	enum match_rank rank = SAME_AND_SWAP;
	struct swaps_entry swap;
	size_t i;

	if (swaps_find(d->name, &swap) != conf_on(s, "swap", true))
		rank = SAME;
	for (i = 0; i < NR_KEYS; i++) {
		if (match_contradicts(s, d, match_keys[i]))
			return OTHER;
		if (match_unasked(s, d, match_keys[i], keys))
			rank = NOT_CONTRADICTED;
	}
	return rank;
}

const struct view_device **conf_match(const struct conf *c, const struct view_device *d,
				      size_t nr, bool keys)
{
	const struct view_device **of = calloc(c->nr + 1, sizeof(*of));
	bool *taken = calloc(nr + 1, sizeof(*taken));
	const struct conf_section *s;
	enum match_rank rank;
	size_t i;

	if (!of || !taken)
		ctl_refuse("no memory");
	for (rank = 0; rank < RANKS; rank++) {
		for (s = c->section; s < c->section + c->nr; s++) {
			for (i = 0; i < nr && s->kind == CONF_DEVICE && !of[s - c->section]; i++) {
				if (taken[i] || !match_home(s, &d[i]) ||
				    match_rank(s, &d[i], keys) != rank)
					continue;
				taken[i] = true;
				of[s - c->section] = &d[i];
			}
		}
	}
	free(taken);
	return of;
}

void conf_match_fixed(struct conf *c, const struct conf_section *s,
		      const struct view_device *d, bool keys)
{
	const struct conf_entry *e;
	struct swaps_entry swap;
	size_t i;

	for (i = 0; i < NR_KEYS; i++) {
		e = match_contradicts(s, d, match_keys[i]);
		if (e && match_is_flash(e))
			conf_complain(c, e->line, DELETE, "flash cannot be added to %s", d->name);
		else if (e && !strcmp(e->key, "seal"))
			conf_complain(c, e->line, DELETE, "whether %s is sealed cannot be changed",
				      d->name);
		else if (e && !strcmp(e->key, "compress"))
			conf_complain(c, e->line, DELETE,
				      "how pages of %s are compressed cannot be changed", d->name);
		else if (e)
			conf_complain(c, e->line, DELETE, "the %s of %s cannot be changed", e->key,
				      d->name);
		else if (conf_on(s, "swap", true) && !swaps_find(d->name, &swap) &&
			 match_unasked(s, d, match_keys[i], keys))
			conf_complain(c, s->line, DELETE,
				      "%s is not swapped to, and has another %s than 'device add' would give it by this section",
				      d->name, match_keys[i]);
	}
}

/* udev looks at a device for a moment, after it was added and after it was written to */
static bool match_stays_in_use(const char *name)
{
	const struct timespec step = { .tv_nsec = 100 * 1000 * 1000 };
	struct view_device *all;
	unsigned int tries = 20;
	bool in_use = true;
	size_t i, nr;

	while (in_use && tries--) {
		nanosleep(&step, NULL);
		in_use = false;
		nr = view_devices(&all);
		for (i = 0; i < nr; i++)
			in_use = in_use || (all[i].in_use && !strcmp(all[i].name, name));
		free(all);
	}
	return in_use;
}

bool conf_match_sure(struct conf *c, const struct conf_section *s,
		     const struct view_device *d, bool signature)
{
	uint64_t pages = d->remote + d->at_flash + d->at_home + d->lost +
			 d->cache_dirty;

	if (!signature && pages)
		conf_complain(c, s->line, "swap = no, or 'nswapctl device del' first",
			      "there are %llu pages and no signature of swap on %s, which would be lost",
			      (unsigned long long)pages, d->name);
	else if (!signature && d->in_use && match_stays_in_use(d->name))
		conf_complain(c, s->line, "swap = no, or close what has it open",
			      "%s is in use, and not for swap", d->name);
	else
		return true;
	return false;
}
