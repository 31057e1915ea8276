// SPDX-License-Identifier: GPL-2.0
/*
 * Comparing the configuration file with what is there, which changes nothing.
 *
 * A key that is not in the file is not looked at. The name of a device that is still to be
 * added reads nswapN.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_match.h"
#include "conf_plan.h"
#include "ctl.h"
#include "nl.h"
#include "signature.h"
#include "swaps.h"
#include "view.h"

#define DOWN	"as it is, or 'nswapctl down' first"
#define PEER	"a peer that lists this node or was heard of: bring it up and apply again; one of another subnet is taken when the node comes up, by 'systemctl restart nswap', or by swapoff, 'nswapctl device del', 'nswapctl down' and apply"

static struct conf_step *plan_begin(struct conf_plan *p, const char *program)
{
	struct conf_step *s;

	p->step = realloc(p->step, (p->nr + 1) * sizeof(*s));
	if (!p->step)
		ctl_refuse("no memory");
	s = &p->step[p->nr++];
	memset(s, 0, sizeof(*s));
	s->word[s->nr++] = program;
	return s;
}

static void plan_word(struct conf_step *s, const char *word)
{
	if (s->nr == STEP_WORDS - 1)
		ctl_refuse("a command has too many words");
	s->word[s->nr++] = word;
}

/* nswapctl A B C D, up to the first NULL */
static void plan_ctl(struct conf_plan *p, const char *a, const char *b, const char *c,
		     const char *d)
{
	const char *const words[] = { a, b, c, d };
	struct conf_step *s = plan_begin(p, "nswapctl");
	size_t i;

	for (i = 0; i < 4 && words[i]; i++)
		plan_word(s, words[i]);
}

static void plan_option(struct conf_step *s, const struct conf_section *from, const char *key,
			const char *option)
{
	if (!conf_value(from, key))
		return;
	plan_word(s, option);
	plan_word(s, conf_value(from, key));
}

static void plan_up(struct conf_plan *p, const struct conf_section *n)
{
	struct conf_step *s = plan_begin(p, "nswapctl");

	plan_word(s, "up");
	plan_option(s, n, "address", "--addr");
	plan_option(s, n, "port", "--port");
	plan_option(s, n, "peers", "--peers");
	plan_option(s, n, "connections", "--conns");
	plan_option(s, n, "key", "--key");
	plan_option(s, n, "members", "--members");
	plan_option(s, n, "secret", "--secret");
	plan_option(s, n, "lend", "--lend");
	plan_option(s, n, "size-policy", "--size-policy");
	if (!conf_on(n, "broadcast", true))
		plan_word(s, "--no-broadcast");
	if (conf_on(n, "open", false))
		plan_word(s, "--open");
}

static bool plan_same_addr(const struct ctl_addr *a, const struct ctl_addr *b)
{
	return a->family == b->family && a->port == b->port &&
	       !memcmp(a->ip, b->ip, sizeof(a->ip));
}

/*
 * Complaints about peers of the file that the node does not know. One without a port has
 * the node's, and the node itself, which is in a list that all nodes have, is no peer. An
 * address may have changed: a peer that lists this node, or reaches it by broadcast, says
 * so itself and keeps its pages; then it is known.
 */
static void plan_peers(struct conf *c, const struct conf_entry *e, const struct ctl_addr *own)
{
	char *copy = strdup(e->value), *at = copy, *one;
	struct view_peer *peers, *p;
	size_t nr = view_peers(&peers);
	struct ctl_addr addr;
	bool found;

	if (!copy)
		ctl_refuse("no memory");
	while ((one = strsep(&at, ",")) && parse_addr_later(one, &addr)) {
		if (!addr.port)
			addr.port = own->port;
		found = plan_same_addr(&addr, own);
		for (p = peers; p < peers + nr; p++)
			found = found || (plan_same_addr(&addr, &p->addr) &&
					  (p->listed || view_peer_alive(p)));
		if (!found)
			conf_complain(c, e->line, PEER,
				      "the node that is up does not know the peer %s", one);
	}
	free(copy);
	free(peers);
}

/* what of a node that is up cannot be changed */
static void plan_fixed_node(struct conf *c, const struct conf_section *s,
			    const struct view_node *n)
{
	const struct conf_entry *e = conf_find(s, "address");
	bool keys = conf_value(s, "key") || conf_value(s, "secret");
	struct ctl_addr addr;

	if (e && parse_addr_later(e->value, &addr) &&
	    (addr.family != n->addr.family || memcmp(addr.ip, n->addr.ip, sizeof(addr.ip)) ||
	     (addr.port && addr.port != n->addr.port)))
		conf_complain(c, e->line, DOWN, "the address of a node that is up cannot be changed");
	e = conf_find(s, "port");
	if (e && strtoul(e->value, NULL, 10) != n->addr.port)
		conf_complain(c, e->line, DOWN, "the port of a node that is up cannot be changed");
	e = conf_find(s, "connections");
	if (e && strtoul(e->value, NULL, 10) != n->conns)
		conf_complain(c, e->line, DOWN, "the connections of a node that is up cannot be changed");
	e = conf_find(s, "broadcast");
	if (e && conf_on(s, "broadcast", true) != n->broadcast)
		conf_complain(c, e->line, DOWN, "the broadcast of a node that is up cannot be changed");
	e = conf_find(s, "peers");
	if (e)
		plan_peers(c, e, &n->addr);
	if (keys != !!*n->public || (keys && !conf_value(s, "members") != !n->members))
		conf_complain(c, s->line, DOWN, "a node that is up cannot get or lose keys");
}

/* a policy of the node, or of a device: is it chosen? */
static bool plan_has_policy(const char *kind, const char *name, const char *device)
{
	struct view_policy *all;
	size_t i, nr = view_policies(&all, device);
	bool found = false;

	for (i = 0; i < nr; i++)
		found = found || (!strcmp(all[i].kind, kind) && !strcmp(all[i].name, name) &&
				  all[i].current && (!device || all[i].own));
	free(all);
	return found;
}

/* @there: whether it is, to be asked */
static void plan_policies(struct conf_plan *p, const struct conf_section *s, bool there,
			  const char *device)
{
	static const char *const kinds[][2] = {
		{ "place", "place-policy" }, { "read", "read-policy" }
	};
	struct conf_step *step;
	size_t i;

	for (i = 0; i < 2; i++) {
		const char *name = conf_value(s, kinds[i][1]);

		if (!name || (there && plan_has_policy(kinds[i][0], name, device)))
			continue;
		plan_ctl(p, "policy", kinds[i][0], name, NULL);
		step = &p->step[p->nr - 1];
		if (!device)
			continue;
		plan_word(step, "--device");
		plan_word(step, device);
	}
}

static void plan_knob(struct conf *c, struct conf_plan *p, const struct conf_entry *e,
		      const struct view_knob *knobs, size_t nr)
{
	uint32_t value = strtoul(e->value, NULL, 10);
	const struct view_knob *k = knobs;

	while (k < knobs + nr && strcmp(k->name, e->key))
		k++;
	if (nr && k == knobs + nr)
		conf_complain(c, e->line, "those of: nswapctl set", "there is no knob '%s'",
			      e->key);
	else if (nr && (value < k->lowest || value > k->highest))
		conf_complain(c, e->line, "what 'nswapctl set' says", "%s cannot be %s", e->key,
			      e->value);
	else if (!nr || k->value != value)
		plan_ctl(p, "set", e->key, e->value, NULL);
}

/*
 * What other nodes get beside each other; @n: this node, if it is up. Nodes may share the file:
 * the module takes a node's own weight and does nothing with it.
 */
static void plan_weights(struct conf_plan *p, const struct conf_section *s,
			 const struct view_node *n, bool up)
{
	struct view_weight *weights = NULL;
	size_t i, j, nr = up ? view_weights(&weights) : 0;

	for (i = 0; i < s->nr; i++) {
		const struct conf_entry *e = &s->entry[i];
		uint64_t id, wanted, now = 100;
		const char *number;
		char *word;

		number = strcmp(e->key, "weight") ? NULL : parse_weight(e->value, &id, &wanted);
		if (!number)
			continue;
		for (j = 0; j < nr; j++)
			if (weights[j].id == id)
				now = weights[j].value;
		if (now == wanted || (up && id == n->id))
			continue;
		/* the plan keeps it */
		word = strndup(e->value, 16);
		if (!word)
			ctl_refuse("no memory");
		plan_ctl(p, "weight", word, number, NULL);
	}
	free(weights);
}

static void plan_node(struct conf *c, struct conf_plan *p, const struct conf_section *s,
		      const struct view_node *n, bool up)
{
	const char *lend = conf_value(s, "lend"), *size = conf_value(s, "size-policy");
	uint64_t bytes;

	if (!up) {
		plan_up(p, s);
	} else {
		plan_fixed_node(c, s, n);
		if (size && strcmp(size, n->size))
			plan_ctl(p, "policy", "size", size, NULL);
		if (lend && parse_size(lend, &bytes) && bytes / PAGE_BYTES != n->lent)
			plan_ctl(p, "lend", lend, NULL, NULL);
	}
	plan_policies(p, s, up, NULL);
	plan_weights(p, s, n, up);
}

static void plan_add(struct conf_plan *p, const struct conf_section *s)
{
	struct conf_step *step = plan_begin(p, "nswapctl");
	size_t i;

	plan_word(step, "device");
	plan_word(step, "add");
	plan_option(step, s, "size", "--size");
	plan_option(step, s, "home", "--home");
	plan_option(step, s, "protect", "--protect");
	plan_option(step, s, "class", "--class");
	plan_option(step, s, "reserve", "--reserve");
	plan_option(step, s, "compress", "--compress");
	plan_option(step, s, "cache", "--cache");
	if (conf_on(s, "early-ack", false))
		plan_word(step, "--early-ack");
	for (i = 0; i < s->nr; i++) {
		if (strcmp(s->entry[i].key, "flash") && strcmp(s->entry[i].key, "tier"))
			continue;
		plan_word(step, *s->entry[i].key == 'f' ? "--flash" : "--tier");
		plan_word(step, s->entry[i].value);
	}
	if (conf_value(s, "seal"))
		plan_word(step, conf_on(s, "seal", false) ? "--seal" : "--no-seal");
}

static void plan_take(struct conf_plan *p, const struct conf_section *s, const char *device,
		      const char *why)
{
	p->taken = realloc(p->taken, (p->nr_taken + 1) * sizeof(*p->taken));
	if (!p->taken)
		ctl_refuse("no memory");
	p->taken[p->nr_taken].device = device;
	p->taken[p->nr_taken].section = s->name;
	p->taken[p->nr_taken++].why = why;
}

/* @d: NULL if it is still to be added */
static void plan_swap(struct conf *c, struct conf_plan *p, const struct conf_section *s,
		      const struct view_device *d)
{
	const struct conf_entry *e = conf_find(s, "priority");
	const char *priority = e ? e->value : "100";
	struct swaps_entry swap;
	struct conf_step *step;
	char *path, what[160];
	bool signature;

	if (d && swaps_find(d->name, &swap)) {
		if (e && strtol(e->value, NULL, 10) != swap.priority)
			conf_complain(c, e->line, "as it is, or swapoff first",
				      "the priority of %s, which is swapped to, cannot be changed",
				      d->name);
		return;
	}
	if (asprintf(&path, "/dev/%s", d ? d->name : "nswapN") < 0)
		ctl_refuse("no memory");
	signature = d && signature_find(path, what, sizeof(what));
	if (signature && strncmp(what, "\"swap\"", 6)) {
		conf_complain(c, s->line, "swap = no, or nothing on it",
			      "there is %s on %s, which would be lost", what, path);
		return;
	}
	if (d && !conf_match_sure(c, s, d, signature))
		return;
	if (d)
		plan_take(p, s, d->name, signature ? "swap already" : "empty");
	if (!signature)
		plan_word(plan_begin(p, "mkswap"), path);
	step = plan_begin(p, "swapon");
	plan_word(step, "-p");
	plan_word(step, priority);
	plan_word(step, path);
}

static void plan_device(struct conf *c, struct conf_plan *p, const struct conf_section *s,
			const struct view_device *d, bool keys)
{
	const char *protect = conf_value(s, "protect");

	if (!d) {
		plan_add(p, s);
	} else {
		conf_match_fixed(c, s, d, keys);
		if (protect && strcmp(protect, d->protect)) {
			plan_ctl(p, "device", "protect", d->name, protect);
			plan_word(&p->step[p->nr - 1], "--no-wait");
		}
	}
	plan_policies(p, s, d, d ? d->name : "nswapN");
	if (conf_on(s, "swap", true))
		plan_swap(c, p, s, d);
}

void conf_plan(struct conf *c, struct conf_plan *p)
{
	struct view_device *devices = NULL;
	struct view_knob *knobs = NULL;
	size_t i, j, nr = 0, nr_knobs = 0;
	const struct conf_section *s;
	struct view_node node;
	bool up = view_find_node(&node), keys = up && *node.public;
	const struct view_device **of;

	if (up) {
		nr = view_devices(&devices);
		nr_knobs = view_knobs(&knobs);
	}
	of = conf_match(c, devices, nr, keys);
	memset(p, 0, sizeof(*p));
	for (s = c->section; s < c->section + c->nr; s++)
		if (s->kind == CONF_NODE)
			plan_node(c, p, s, &node, up);
	for (i = 0; i < c->nr; i++)
		for (j = 0; c->section[i].kind == CONF_KNOBS && j < c->section[i].nr; j++)
			plan_knob(c, p, &c->section[i].entry[j], knobs, nr_knobs);
	for (s = c->section; s < c->section + c->nr; s++)
		if (s->kind == CONF_DEVICE)
			plan_device(c, p, s, of[s - c->section], keys);
	free(of);
	free(knobs);
}
