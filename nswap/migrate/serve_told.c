// SPDX-License-Identifier: GPL-2.0
/*
 * Serving what a node is told of its own pages: that a server moved them (MOVED) or
 * dropped them (DROPPED), or the pages themselves (RETURN).
 *
 * Invariant: the client role gets the names of a MOVED, and the pages of a RETURN in its
 * own memory; it decides for each page whether the mover may drop its copy.
 */
#include <linux/highmem.h>

#include "core/inject.h"
#include "core/node.h"
#include "dropped.h"
#include "moved.h"
#include "moved_cell.h"
#include "returned.h"
#include "serve_move.h"
#include "serve_told.h"

/* MOVED: a server reports that it moved pages of this node */
static int serve_moved(struct nswap_srv_conn *conn)
{
	struct nswap_wire_names *names = (void *)conn->run;
	u32 i, nr = le32_to_cpu(conn->rx.nr);
	u32 bytes = nr * sizeof(conn->result[0]);
	unsigned long drop;
	const __le16 *none;
	int ret;

	ret = nswap_move_names(conn, &none);
	if (ret)
		return ret;
	drop = nswap_moved(conn->node, conn->mover, conn->epoch, &names->who, names->page, nr);
	nswap_inject_point(conn->node->id, NSWAP_POINT_CLAIMED);
	for (i = 0; i < nr; i++)
		conn->result[i].status = cpu_to_le32(drop & BIT(i) ?
						NSWAP_ST_OK : NSWAP_ST_KEEP);
	nswap_serve_head(conn, NSWAP_MOVED_ACK, nr, bytes);
	return nswap_serve_answer(conn, conn->result, bytes);
}

/* DROPPED: a server reports that it dropped droppable pages of this node */
static int serve_dropped(struct nswap_srv_conn *conn)
{
	struct nswap_wire_names *names = (void *)conn->run;
	u32 nr = le32_to_cpu(conn->rx.nr);
	u32 bytes = nr * sizeof(conn->result[0]);
	struct nswap_node *node = conn->node;
	const __le16 *none;
	int ret;

	ret = nswap_move_names(conn, &none);
	if (ret)
		return ret;
	nswap_move_answer_all(conn, nr, NSWAP_ST_OK);
	if (le64_to_cpu(names->who.id) == node->id &&
	    le64_to_cpu(names->who.epoch) == node->epoch)
		nswap_dropped(node, conn->mover, conn->epoch, names->page, nr);
	nswap_serve_head(conn, NSWAP_DROPPED_ACK, nr, bytes);
	return nswap_serve_answer(conn, conn->result, bytes);
}

/* @len: the pages' lengths, NULL if they are whole; the rest of each becomes zeros */
static int recv_returned(struct nswap_srv_conn *conn, struct nswap_return *r,
			 const __le16 *len, u32 nr)
{
	struct iov_iter it;
	size_t bytes = 0;
	u32 i;

	for (i = 0; i < nr; i++) {
		u32 n = len ? le16_to_cpu(len[i]) : PAGE_SIZE;

		bvec_set_page(&conn->bv[i], r->b.io.page[i], n, 0);
		memzero_page(r->b.io.page[i], n, PAGE_SIZE - n);
		bytes += n;
	}
	iov_iter_bvec(&it, ITER_DEST, conn->bv, nr, bytes);
	return nswap_answers_recv(conn, &it);
}

/* RETURN: a server sends pages of this node back */
static int serve_return(struct nswap_srv_conn *conn)
{
	struct nswap_wire_names *names = (void *)conn->run;
	u32 nr = le32_to_cpu(conn->rx.nr);
	u32 bytes = nr * sizeof(conn->result[0]);
	struct nswap_node *node = conn->node;
	struct nswap_return *r = NULL;
	u16 status = NSWAP_ST_KEEP;
	const __le16 *len;
	int ret;

	ret = nswap_move_names(conn, &len);
	if (ret)
		return ret;
	if (le64_to_cpu(names->who.id) == node->id &&
	    le64_to_cpu(names->who.epoch) == node->epoch)
		status = nswap_return_take(node, le32_to_cpu(names->page[0].instance),
					   &r);
	if (r) {
		ret = recv_returned(conn, r, len, nr);
		if (!ret)
			nswap_returned(conn->mover, conn->epoch, r, names->page, nr,
				       conn->result);
		nswap_return_give(r);
	} else {
		if (status == NSWAP_ST_NO_HOME)
			nswap_moved_want(node, names->page, nr);
		nswap_move_answer_all(conn, nr, status);
		ret = nswap_serve_drain(conn);
	}
	if (ret)
		return ret;
	nswap_serve_head(conn, NSWAP_RETURN_ACK, nr, bytes);
	return nswap_serve_answer(conn, conn->result, bytes);
}

/*
 * Serve a message about this node's own pages, see nswap_serve_moves(). Returns 0 to go on,
 * an error to close the connection.
 */
int nswap_serve_told(struct nswap_srv_conn *conn)
{
	switch (conn->rx.type) {
	case NSWAP_MOVED:
		return serve_moved(conn);
	case NSWAP_DROPPED:
		return serve_dropped(conn);
	case NSWAP_RETURN:
		return serve_return(conn);
	default:
		return -EPROTO;
	}
}
