// SPDX-License-Identifier: GPL-2.0
/*
 * Ordered trees: a treap, after Seidel and Aragon, Randomized Search Trees (1996). Where a
 * node belongs its user decides, the rank is drawn here: so the depth is logarithmic
 * whatever the order in which a peer stores its pages.
 *
 * Invariant: no node has a higher rank than its parent.
 */
#include "rbtree.h"

/* xorshift: good enough for ranks; each thread has its own, begun from its stack */
static u32 rank_drawn(void)
{
	static __thread u64 state;

	if (!state)
		state = ktime_get_ns() ^ (u64)(uintptr_t)&state << 16 ^ 0x9e3779b97f4a7c15ull;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 32;
}

/* what leads to a node: its parent, or the root */
static struct rb_node **place_of(struct rb_node *at, struct rb_root *root)
{
	struct rb_node *parent = at->rb_parent;

	if (!parent)
		return &root->rb_node;
	return parent->rb_left == at ? &parent->rb_left : &parent->rb_right;
}

/* a node changes places with its parent */
static void lift(struct rb_node *at, struct rb_root *root)
{
	struct rb_node *parent = at->rb_parent, *between;

	*place_of(parent, root) = at;
	at->rb_parent = parent->rb_parent;
	if (parent->rb_left == at) {
		between = at->rb_right;
		parent->rb_left = between;
		at->rb_right = parent;
	} else {
		between = at->rb_left;
		parent->rb_right = between;
		at->rb_left = parent;
	}
	if (between)
		between->rb_parent = parent;
	parent->rb_parent = at;
}

void rb_link_node(struct rb_node *new, struct rb_node *parent, struct rb_node **at)
{
	*new = (struct rb_node){ .rb_parent = parent, .rank = rank_drawn() };
	*at = new;
}

void rb_insert_color(struct rb_node *new, struct rb_root *root)
{
	while (new->rb_parent && new->rb_parent->rank < new->rank)
		lift(new, root);
}

void rb_erase(struct rb_node *old, struct rb_root *root)
{
	struct rb_node *left, *right, *below;

	while ((left = old->rb_left) && (right = old->rb_right))
		lift(left->rank > right->rank ? left : right, root);
	below = old->rb_left ? old->rb_left : old->rb_right;
	*place_of(old, root) = below;
	if (below)
		below->rb_parent = old->rb_parent;
}

void rb_replace_node(struct rb_node *old, struct rb_node *new, struct rb_root *root)
{
	*place_of(old, root) = new;
	*new = *old;
	if (new->rb_left)
		new->rb_left->rb_parent = new;
	if (new->rb_right)
		new->rb_right->rb_parent = new;
}

struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *at = root->rb_node;

	while (at && at->rb_left)
		at = at->rb_left;
	return at;
}

struct rb_node *rb_next(const struct rb_node *at)
{
	struct rb_node *next = at->rb_right;

	while (next && next->rb_left)
		next = next->rb_left;
	if (next)
		return next;
	for (next = at->rb_parent; next && next->rb_right == at; next = at->rb_parent)
		at = next;
	return next;
}

/* NULL if it was added, else what is there already */
struct rb_node *rb_find_add(struct rb_node *new, struct rb_root *root,
			    int (*order)(struct rb_node *new, const struct rb_node *at))
{
	struct rb_node **at = &root->rb_node, *parent = NULL;

	while (*at) {
		int d = order(new, *at);

		if (!d)
			return *at;
		parent = *at;
		at = d < 0 ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(new, parent, at);
	rb_insert_color(new, root);
	return NULL;
}
