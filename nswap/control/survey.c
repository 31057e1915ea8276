// SPDX-License-Identifier: GPL-2.0
/*
 * Survey: ask all peers for their totals at once, for a user who waits.
 *
 *   for each peer that can be asked, a work: link of class TELL -> STAT -> STAT_REPLY
 *   the user: wait for all of them, SURVEY_MS at most, and print what has come
 *
 * A link of its own, not the session: a node that only lends has no sessions, and no
 * answer, however wrong or late, can break one that page-ins wait for.
 *
 * Invariants:
 *  - A row is written by its work until @done is set, and by no other task.
 *  - A work holds the survey and its node: both stay until the slowest peer has answered or
 *    timed out, which the user does not wait for, and "down" does.
 *  - The last survey stays for those who are still reading it, until the next one.
 *
 * Context: process, sleeps and allocates; never on the page-out path.
 */
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/hooks.h"
#include "base/workqueues.h"
#include "core/nodes.h"
#include "migrate/move_link.h"
#include "pure/peer_state.h"
#include "survey.h"

#define SURVEY_MS	2000

/**
 * struct survey_row - one peer
 * @work: asks it
 * @survey: of which it is a row
 * @index: in the IPTable
 * @id: node id
 * @addr: where it takes connections
 * @asked: it can be asked
 * @done: it was, and @error and @totals are what came of it
 * @error: 0, or an error for which there are no totals
 * @totals: what it told
 */
struct survey_row {
	struct work_struct work;
	struct nswap_survey *survey;
	u16 index;
	u64 id;
	struct nswap_addr addr;
	bool asked;
	bool done;
	int error;
	struct nswap_totals totals;
};

/**
 * struct nswap_survey - one survey
 * @ref: one for the node, one for each work
 * @node: node
 * @wait: where the user waits
 * @left: works that have not ended
 * @own: the node's own totals
 * @nr: number of @row
 * @row: by index
 */
struct nswap_survey {
	struct kref ref;
	struct nswap_node *node;
	wait_queue_head_t wait;
	atomic_t left;
	struct nswap_totals own;
	u32 nr;
	struct survey_row row[];
};

static void survey_release(struct kref *ref)
{
	kvfree(container_of(ref, struct nswap_survey, ref));
}

static void survey_ask(struct work_struct *work)
{
	struct survey_row *row = container_of(work, struct survey_row, work);
	struct nswap_survey *s = row->survey;
	struct nswap_node *node = s->node;
	struct nswap_move_link ml = {
		.node = node, .t = &nswap_tcp_ops, .class = NSWAP_CLASS_TELL,
	};

	row->error = READ_ONCE(node->going) ? -ESHUTDOWN :
		     nswap_move_link_open(&ml, row->id, &row->addr);
	if (!row->error)
		row->error = nswap_move_link_stat(&ml, &row->totals);
	/* pairs with nswap_survey_next(): the rest of the row is there */
	smp_store_release(&row->done, true);
	if (atomic_dec_and_test(&s->left))
		wake_up_all(&s->wait);
	kref_put(&s->ref, survey_release);
	nswap_node_put(node);
}

/* is it there to be asked? the view says why, if not */
static bool survey_askable(const struct nswap_peer_view *v)
{
	if (!v->id || v->refused)
		return false;
	return v->state == NSWAP_PEER_UP ||
	       (v->fresh && (v->state == NSWAP_PEER_NEW ||
			     v->state == NSWAP_PEER_CONNECTING));
}

static struct nswap_survey *survey_alloc(struct nswap_node *node)
{
	u32 nr = READ_ONCE(node->ipt.top), used = 0;
	struct nswap_peer_view v = {};
	struct nswap_survey *s;

	s = kvzalloc(struct_size(s, row, nr), GFP_KERNEL_ACCOUNT);
	if (!s)
		return NULL;
	kref_init(&s->ref);
	s->node = node;
	init_waitqueue_head(&s->wait);
	while (used < nr && nswap_peer_next(node, v.index, &v)) {
		s->row[used] = (struct survey_row){
			.survey = s, .index = v.index, .id = v.id, .addr = v.addr,
			.asked = survey_askable(&v),
		};
		INIT_WORK(&s->row[used].work, survey_ask);
		atomic_add(s->row[used].asked, &s->left);
		used++;
	}
	s->nr = used;
	return s;
}

/* let the works run; @s: not published yet */
static void survey_start(struct nswap_survey *s)
{
	u32 i;

	for (i = 0; i < s->nr; i++) {
		if (!s->row[i].asked)
			continue;
		kref_get(&s->ref);
		refcount_inc(&s->node->refs);
		queue_work(nswap_ask_wq, &s->row[i].work);
	}
}

/**
 * nswap_survey_make() - ask all peers of a node for their totals
 * @node: node, with a reference of the caller's
 *
 * Context: process, sleeps for SURVEY_MS at most, and for as long for each survey that is
 * under way.
 * Return: 0; -EINTR; -ENOMEM.
 */
int nswap_survey_make(struct nswap_node *node)
{
	struct nswap_survey *s;
	int ret = 0;

	if (mutex_lock_interruptible(&node->survey_lock))
		return -EINTR;
	s = survey_alloc(node);
	if (s) {
		nswap_hooks.totals(node, &s->own);
		survey_start(s);
		if (wait_event_interruptible_timeout(s->wait, !atomic_read(&s->left),
						     msecs_to_jiffies(SURVEY_MS)) < 0)
			ret = -EINTR;
		nswap_survey_free(node);
		node->survey = s;
	} else {
		ret = -ENOMEM;
	}
	mutex_unlock(&node->survey_lock);
	return ret;
}

/* @done: it was asked, and the rest of the row is there */
static void survey_why(const struct survey_row *row, bool done, struct nswap_survey_view *v)
{
	if (!row->asked) {
		if (v->peer.reason)
			nswap_peer_reason_text(v->peer.reason, v->peer.since_ms, v->why,
					       sizeof(v->why));
		else
			strscpy(v->why, v->peer.refused ? "speaks another version" :
				!v->peer.id ? "not heard of yet" :
				v->peer.fresh ? "it left" : "not heard of lately",
				sizeof(v->why));
		return;
	}
	/* its own time may be up just before the user's is */
	if (!done || row->error == -EAGAIN || row->error == -ETIMEDOUT)
		strscpy(v->why, "has not answered within 2 s", sizeof(v->why));
	else if (row->error == -EOPNOTSUPP)
		strscpy(v->why, "an older version, which tells nothing of itself",
			sizeof(v->why));
	else if (row->error == -EPROTO)
		strscpy(v->why, "what it answers makes no sense", sizeof(v->why));
	else
		nswap_peer_reason_text(nswap_peer_reason_of(row->error), SURVEY_MS, v->why,
				       sizeof(v->why));
}

/* of a peer that is still there; with the lock held */
static bool survey_look(struct nswap_survey *s, u32 place, struct nswap_survey_view *v)
{
	struct survey_row *row = &s->row[place - 1];
	bool done;

	if (!nswap_peer_next(s->node, row->index - 1, &v->peer) ||
	    v->peer.index != row->index)
		return false;
	/* pairs with survey_ask() */
	done = smp_load_acquire(&row->done);
	if (done && !row->error)
		v->totals = row->totals;
	else
		survey_why(row, done, v);
	return true;
}

/* what the last survey found out at place @from, or after it; false at the end */
bool nswap_survey_next(struct nswap_node *node, u32 from, struct nswap_survey_view *v)
{
	struct nswap_survey *s;
	bool found = false;

	mutex_lock(&node->survey_lock);
	s = node->survey;
	for (; s && !found && from <= s->nr; from++) {
		memset(v, 0, sizeof(*v));
		v->place = from;
		if (!from)
			v->totals = s->own;
		found = !from || survey_look(s, from, v);
	}
	mutex_unlock(&node->survey_lock);
	return found;
}

/* forget the last survey; the node is going, or its lock is held */
void nswap_survey_free(struct nswap_node *node)
{
	if (node->survey)
		kref_put(&node->survey->ref, survey_release);
	node->survey = NULL;
}
