/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ordered trees behind the interface of the kernel's.
 */
#ifndef LEND_RBTREE_H
#define LEND_RBTREE_H

#include "types.h"

/**
 * struct rb_node - a node, part of what is in the tree
 * @rb_left: what comes before it, below it
 * @rb_right: what comes after it, below it
 * @rb_parent: above it, NULL for the root
 * @rank: at random; none below it has a higher one
 */
struct rb_node {
	struct rb_node *rb_left;
	struct rb_node *rb_right;
	struct rb_node *rb_parent;
	u32 rank;
};

struct rb_root {
	struct rb_node *rb_node;
};

#define RB_ROOT		((struct rb_root){ })
#define rb_entry(at, t, m)	container_of(at, t, m)

void rb_link_node(struct rb_node *new, struct rb_node *parent, struct rb_node **at);
void rb_insert_color(struct rb_node *new, struct rb_root *root);
void rb_erase(struct rb_node *old, struct rb_root *root);
void rb_replace_node(struct rb_node *old, struct rb_node *new, struct rb_root *root);
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *at);
struct rb_node *rb_find_add(struct rb_node *new, struct rb_root *root,
			    int (*order)(struct rb_node *new, const struct rb_node *at));

#endif
