/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists, as the module knows them: circular, doubly linked, part of what they link.
 */
#ifndef LEND_LIST_H
#define LEND_LIST_H

#include "types.h"

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name)	struct list_head name = { &(name), &(name) }

#define list_entry(at, t, m)	container_of(at, t, m)
#define list_first_entry(head, t, m)	list_entry((head)->next, t, m)
#define list_last_entry(head, t, m)	list_entry((head)->prev, t, m)
#define list_first_entry_or_null(head, t, m) \
	(list_empty(head) ? NULL : list_first_entry(head, t, m))
#define list_for_each_entry(e, head, m) \
	for ((e) = list_entry((head)->next, typeof(*(e)), m); &(e)->m != (head); \
	     (e) = list_entry((e)->m.next, typeof(*(e)), m))
#define list_for_each_entry_safe(e, n, head, m) \
	for ((e) = list_entry((head)->next, typeof(*(e)), m), \
	     (n) = list_entry((e)->m.next, typeof(*(e)), m); &(e)->m != (head); \
	     (e) = (n), (n) = list_entry((n)->m.next, typeof(*(n)), m))
/* looked at without a lock: a snapshot */
#define list_empty_careful(head) \
	(__atomic_load_n(&(head)->next, __ATOMIC_RELAXED) == (head))

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_put(struct list_head *new, struct list_head *prev,
			    struct list_head *next)
{
	new->prev = prev;
	new->next = next;
	prev->next = new;
	next->prev = new;
}

static inline void list_add(struct list_head *new, struct list_head *head)
{
	list_put(new, head, head->next);
}

static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	list_put(new, head->prev, head);
}

static inline void list_del(struct list_head *at)
{
	at->prev->next = at->next;
	at->next->prev = at->prev;
}

static inline void list_del_init(struct list_head *at)
{
	list_del(at);
	INIT_LIST_HEAD(at);
}

static inline void list_move(struct list_head *at, struct list_head *head)
{
	list_del(at);
	list_add(at, head);
}

static inline void list_move_tail(struct list_head *at, struct list_head *head)
{
	list_del(at);
	list_add_tail(at, head);
}

static inline void list_splice_init(struct list_head *from, struct list_head *head)
{
	if (list_empty(from))
		return;
	from->next->prev = head;
	from->prev->next = head->next;
	head->next->prev = from->prev;
	head->next = from->next;
	INIT_LIST_HEAD(from);
}

#endif
