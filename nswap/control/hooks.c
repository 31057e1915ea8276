// SPDX-License-Identifier: GPL-2.0
/*
 * The table of upward calls, see base/hooks.h.
 */
#include "announce.h"
#include "base/hooks.h"
#include "client/free.h"
#include "client/late.h"
#include "device/totals.h"
#include "migrate/moved.h"
#include "migrate/mover.h"
#include "migrate/serve_move.h"
#include "peers/attach.h"
#include "peers/loss.h"
#include "tiering/prefetcher.h"
#include "tiering/promote.h"

static int hook_peer_made(struct nswap_peer *peer)
{
	return nswap_free_init(peer) ?: nswap_moved_init(peer) ?:
	       nswap_attach_init(peer);
}

static bool hook_tick_device(struct nswap_device *dev)
{
	nswap_prefetcher_tick(dev);
	return nswap_promote_kick(dev);
}

const struct nswap_hooks nswap_hooks = {
	.peer_made = hook_peer_made,
	.late_answer = nswap_late_answer,
	.tick_device = hook_tick_device,
	.mover_kick = nswap_mover_kick,
	.announce_now = nswap_announce_now,
	.copy_obsolete = nswap_free_orphan,
	.copy_forgotten = nswap_free_by_comparison,
	.slot_released = nswap_loss_passed,
	.serve_moves = nswap_serve_moves,
	.totals = nswap_totals_look,
};
