// SPDX-License-Identifier: GPL-2.0
/*
 * One connection of a session, client side: messages that wait for too long.
 *
 * Invariant: what is partly sent, or being sent, stays where it is (conn.c).
 */
#include <linux/jiffies.h>

#include "conn.h"

/* the oldest message of a type, if it was given to the connection before @since */
static struct nswap_msg *first_before(struct list_head *list, u8 type,
				      unsigned long since)
{
	struct nswap_msg *m;

	list_for_each_entry(m, list, link)
		if (m->hdr.type == type)
			return time_before(m->since, since) ? m : NULL;
	return NULL;
}

/**
 * nswap_conn_overdue() - take back the oldest message of a type if it has timed out
 * @c: a connection
 * @type: STORE or LOAD: the late answer to one of another type would break the session
 * @since: messages given to the connection before this time are overdue
 * @unsent: set if no byte of the message was sent
 *
 * A partly sent message stays: see nswap_conn_stuck().
 *
 * Context: process, page-out path; does not sleep.
 * Return: a message, IDLE, or NULL.
 */
struct nswap_msg *nswap_conn_overdue(struct nswap_conn *c, u8 type,
				     unsigned long since, bool *unsent)
{
	struct nswap_msg *m;

	spin_lock(&c->lock);
	m = first_before(&c->sent, type, since);
	*unsent = !m || m->at == NSWAP_MSG_SENDING;
	if (*unsent)
		m = first_before(&c->txq, type, since);
	if (m) {
		list_del_init(&m->link);
		m->at = NSWAP_MSG_IDLE;
	}
	spin_unlock(&c->lock);
	return m;
}

/* the oldest message of a type; with the lock held */
static struct nswap_msg *conn_oldest(struct nswap_conn *c, u8 type)
{
	struct nswap_msg *m;

	list_for_each_entry(m, &c->sent, link)
		if (m->hdr.type == type)
			return m;
	list_for_each_entry(m, &c->txq, link)
		if (m->hdr.type == type)
			return m;
	return NULL;
}

/* was the oldest message of @type given to it before @since? process; does not sleep */
bool nswap_conn_late(struct nswap_conn *c, u8 type, unsigned long since)
{
	struct nswap_msg *m;
	bool late;

	spin_lock(&c->lock);
	m = conn_oldest(c, type);
	late = m && time_before(m->since, since);
	spin_unlock(&c->lock);
	return late;
}

static struct nswap_msg *last_of(struct list_head *list, u8 type)
{
	struct nswap_msg *m;

	list_for_each_entry_reverse(m, list, link)
		if (m->hdr.type == type && m->at != NSWAP_MSG_SENDING)
			return m;
	return NULL;
}

/**
 * nswap_conn_take_newest() - take back the newest message of a type
 * @c: a connection
 * @type: type; the oldest message of it stays, and so does one partly sent
 *
 * Context: process, page-in path; does not sleep.
 * Return: a message, IDLE, or NULL.
 */
struct nswap_msg *nswap_conn_take_newest(struct nswap_conn *c, u8 type)
{
	struct nswap_msg *m;

	spin_lock(&c->lock);
	m = last_of(&c->txq, type) ?: last_of(&c->sent, type);
	if (m == conn_oldest(c, type))
		m = NULL;
	if (m) {
		list_del_init(&m->link);
		m->at = NSWAP_MSG_IDLE;
	}
	spin_unlock(&c->lock);
	return m;
}

/*
 * Take back the oldest message of a type that @may says may be, and that is not partly
 * sent; @may is called with the lock held, and does not sleep. Process, page-in path.
 * Returns a message, IDLE, or NULL.
 */
struct nswap_msg *nswap_conn_take(struct nswap_conn *c, u8 type,
				  bool (*may)(struct nswap_msg *m))
{
	struct nswap_msg *m, *found = NULL;

	spin_lock(&c->lock);
	list_for_each_entry(m, &c->sent, link) {
		if (m->hdr.type != type || m->at == NSWAP_MSG_SENDING || !may(m))
			continue;
		found = m;
		list_del_init(&m->link);
		m->at = NSWAP_MSG_IDLE;
		break;
	}
	spin_unlock(&c->lock);
	return found;
}

/* is a message partly sent for too long? process, page-out path; does not sleep */
bool nswap_conn_stuck(struct nswap_conn *c, unsigned long since)
{
	bool stuck;

	spin_lock(&c->lock);
	stuck = c->cur && time_before(c->cur->since, since);
	spin_unlock(&c->lock);
	return stuck;
}

/*
 * For how many ms has nothing come though a message waits, taken back or not; 0 if
 * none does; any context.
 */
unsigned int nswap_conn_unanswered(const struct nswap_conn *c)
{
	unsigned long asked = READ_ONCE(c->asked);

	return asked ? jiffies_to_msecs(jiffies - asked) : 0;
}
