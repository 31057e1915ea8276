// SPDX-License-Identifier: GPL-2.0
/*
 * Replies of the module, taken apart into plain structs.
 *
 * Attributes that a newer or older module leaves out read as 0 or "".
 */
#include "take.h"
#include "view.h"

static void take_addr(struct nlattr *nest, struct ctl_addr *addr)
{
	struct nlattr *tb[NSWAP_ADDR_A_MAX + 1] = {};

	nested(tb, NSWAP_ADDR_A_MAX, nest);
	if (tb[NSWAP_ADDR_A_FAMILY])
		addr->family = nla_get_u16(tb[NSWAP_ADDR_A_FAMILY]);
	if (tb[NSWAP_ADDR_A_PORT])
		addr->port = nla_get_u16(tb[NSWAP_ADDR_A_PORT]);
	addr->scope = u32_of(tb[NSWAP_ADDR_A_SCOPE]);
	if (tb[NSWAP_ADDR_A_IP] &&
	    nla_len(tb[NSWAP_ADDR_A_IP]) == sizeof(addr->ip))
		memcpy(addr->ip, nla_data(tb[NSWAP_ADDR_A_IP]),
		       sizeof(addr->ip));
}

void view_take_node(struct nlattr **attrs, void *arg)
{
	struct nlattr *tb[NSWAP_NODE_INFO_A_MAX + 1] = {};
	struct view_node *n = arg;

	nested(tb, NSWAP_NODE_INFO_A_MAX, attrs[NSWAP_A_NODE_INFO]);
	n->number = u32_of(tb[NSWAP_NODE_INFO_A_NUMBER]);
	n->id = u64_of(tb[NSWAP_NODE_INFO_A_ID]);
	n->epoch = u64_of(tb[NSWAP_NODE_INFO_A_EPOCH]);
	take_addr(tb[NSWAP_NODE_INFO_A_ADDR], &n->addr);
	n->netns = u32_of(tb[NSWAP_NODE_INFO_A_NETNS]);
	n->conns = u32_of(tb[NSWAP_NODE_INFO_A_CONNS]);
	n->broadcast = tb[NSWAP_NODE_INFO_A_BROADCAST];
	n->lent = u64_of(tb[NSWAP_NODE_INFO_A_LENT_PAGES]);
	n->held = u64_of(tb[NSWAP_NODE_INFO_A_HELD_PAGES]);
	n->ram = u64_of(tb[NSWAP_NODE_INFO_A_RAM_PAGES]);
	n->set_aside = u64_of(tb[NSWAP_NODE_INFO_A_SET_ASIDE_PAGES]);
	n->granted = u64_of(tb[NSWAP_NODE_INFO_A_GRANTED_PAGES]);
	n->owners = u32_of(tb[NSWAP_NODE_INFO_A_OWNERS]);
	text_of(tb[NSWAP_NODE_INFO_A_PLACE], n->place, sizeof(n->place));
	text_of(tb[NSWAP_NODE_INFO_A_SIZE_POLICY], n->size, sizeof(n->size));
	n->target = u64_of(tb[NSWAP_NODE_INFO_A_TARGET_PAGES]);
	n->surplus = u64_of(tb[NSWAP_NODE_INFO_A_SURPLUS_PAGES]);
	text_of(tb[NSWAP_NODE_INFO_A_TREND], n->trend, sizeof(n->trend));
	n->members = u32_of(tb[NSWAP_NODE_INFO_A_MEMBERS]);
	n->public[0] = 0;
	if (tb[NSWAP_NODE_INFO_A_PUBLIC_KEY] &&
	    nla_len(tb[NSWAP_NODE_INFO_A_PUBLIC_KEY]) == KEY_BYTES)
		keyfile_text(nla_data(tb[NSWAP_NODE_INFO_A_PUBLIC_KEY]), n->public);
}

static void take_tier(struct nlattr *nest, struct view_tier *t)
{
	struct nlattr *tb[NSWAP_TIER_A_MAX + 1] = {};

	nested(tb, NSWAP_TIER_A_MAX, nest);
	text_of(tb[NSWAP_TIER_A_CLASS], t->class, sizeof(t->class));
	t->rank = u32_of(tb[NSWAP_TIER_A_RANK]);
	t->pages = u64_of(tb[NSWAP_TIER_A_PAGES]);
	t->used = u64_of(tb[NSWAP_TIER_A_USED]);
	t->size = u64_of(tb[NSWAP_TIER_A_SIZE]);
	text_of(tb[NSWAP_TIER_A_DEVICES], t->devices, sizeof(t->devices));
}

void view_take_policy(struct nlattr *nest, struct view_policy *p)
{
	struct nlattr *tb[NSWAP_POLICY_A_MAX + 1] = {};

	nested(tb, NSWAP_POLICY_A_MAX, nest);
	text_of(tb[NSWAP_POLICY_A_KIND], p->kind, sizeof(p->kind));
	text_of(tb[NSWAP_POLICY_A_NAME], p->name, sizeof(p->name));
	text_of(tb[NSWAP_POLICY_A_HELP], p->help, sizeof(p->help));
	p->current = tb[NSWAP_POLICY_A_CURRENT];
	p->own = tb[NSWAP_POLICY_A_OWN];
}

/* what there may be several of */
static void take_side(struct nlattr *nest, struct view_side *s)
{
	struct nlattr *tb[NSWAP_SIDE_A_MAX + 1] = {};

	nested(tb, NSWAP_SIDE_A_MAX, nest);
	text_of(tb[NSWAP_SIDE_A_NAME], s->name, sizeof(s->name));
	s->bits = u32_of(tb[NSWAP_SIDE_A_BITS]);
	s->bytes = u64_of(tb[NSWAP_SIDE_A_BYTES]);
}

static void take_sides(struct nlattr *device, struct view_device *d)
{
	struct nlattr *at;
	int left;

	d->nr_sides = 0;
	if (!device)
		return;
	nla_for_each_nested(at, device, left)
		if (nla_type(at) == NSWAP_DEVICE_A_SIDE &&
		    d->nr_sides < VIEW_SIDES)
			take_side(at, &d->side[d->nr_sides++]);
}

static void take_tiers(struct nlattr *device, struct view_device *d)
{
	struct nlattr *at;
	int left;

	d->nr_tiers = 0;
	d->nr_own = 0;
	if (!device)
		return;
	nla_for_each_nested(at, device, left) {
		if (nla_type(at) == NSWAP_DEVICE_A_TIER &&
		    d->nr_tiers < VIEW_TIERS)
			take_tier(at, &d->tier[d->nr_tiers++]);
		if (nla_type(at) == NSWAP_DEVICE_A_POLICY &&
		    d->nr_own < VIEW_KINDS)
			view_take_policy(at, &d->own[d->nr_own++]);
	}
}

void view_take_device(struct nlattr **attrs, void *device)
{
	struct nlattr *tb[NSWAP_DEVICE_A_MAX + 1] = {};
	struct view_device *d = device;

	nested(tb, NSWAP_DEVICE_A_MAX, attrs[NSWAP_A_DEVICE]);
	text_of(tb[NSWAP_DEVICE_A_NAME], d->name, sizeof(d->name));
	d->instance = u32_of(tb[NSWAP_DEVICE_A_INSTANCE]);
	d->size = u64_of(tb[NSWAP_DEVICE_A_SIZE]);
	d->map_bytes = u64_of(tb[NSWAP_DEVICE_A_MAP_BYTES]);
	d->remote = u64_of(tb[NSWAP_DEVICE_A_SLOTS_REMOTE]);
	d->lost = u64_of(tb[NSWAP_DEVICE_A_SLOTS_LOST]);
	text_of(tb[NSWAP_DEVICE_A_PROTECT], d->protect, sizeof(d->protect));
	text_of(tb[NSWAP_DEVICE_A_CLASS], d->class, sizeof(d->class));
	d->reserve = u64_of(tb[NSWAP_DEVICE_A_RESERVE]);
	d->reserved = u64_of(tb[NSWAP_DEVICE_A_RESERVED]);
	d->exposed = u64_of(tb[NSWAP_DEVICE_A_EXPOSED]);
	d->sealed = tb[NSWAP_DEVICE_A_SEALED];
	text_of(tb[NSWAP_DEVICE_A_COMPRESS], d->compress, sizeof(d->compress));
	d->compressed = u64_of(tb[NSWAP_DEVICE_A_COMPRESSED]);
	d->compressed_bytes = u64_of(tb[NSWAP_DEVICE_A_COMPRESSED_BYTES]);
	d->incompressible = u64_of(tb[NSWAP_DEVICE_A_INCOMPRESSIBLE]);
	d->cache = u64_of(tb[NSWAP_DEVICE_A_CACHE]);
	d->early = tb[NSWAP_DEVICE_A_EARLY_ACK];
	d->cache_used = u64_of(tb[NSWAP_DEVICE_A_CACHE_USED]);
	d->cache_dirty = u64_of(tb[NSWAP_DEVICE_A_CACHE_DIRTY]);
	d->cache_hits = u64_of(tb[NSWAP_DEVICE_A_CACHE_HITS]);
	d->cache_misses = u64_of(tb[NSWAP_DEVICE_A_CACHE_MISSES]);
	d->cache_rewrites = u64_of(tb[NSWAP_DEVICE_A_CACHE_REWRITES]);
	d->cache_frees = u64_of(tb[NSWAP_DEVICE_A_CACHE_FREES]);
	d->cache_full = u64_of(tb[NSWAP_DEVICE_A_CACHE_FULL]);
	d->cache_failed = u64_of(tb[NSWAP_DEVICE_A_CACHE_FAILED]);
	d->cache_kept = u64_of(tb[NSWAP_DEVICE_A_CACHE_KEPT]);
	d->rekeying = tb[NSWAP_DEVICE_A_REKEYING];
	d->old_key = u64_of(tb[NSWAP_DEVICE_A_OLD_KEY]);
	d->unread = u64_of(tb[NSWAP_DEVICE_A_OLD_KEY_UNREAD]);
	d->altered = u64_of(tb[NSWAP_DEVICE_A_OLD_KEY_ALTERED]);
	d->lag = u32_of(tb[NSWAP_DEVICE_A_LAG]);
	d->in_use = tb[NSWAP_DEVICE_A_IN_USE];
	d->at_home = u64_of(tb[NSWAP_DEVICE_A_SLOTS_HOME]);
	text_of(tb[NSWAP_DEVICE_A_HOME], d->home, sizeof(d->home));
	d->at_flash = u64_of(tb[NSWAP_DEVICE_A_SLOTS_FLASH]);
	text_of(tb[NSWAP_DEVICE_A_FLASH], d->flash, sizeof(d->flash));
	d->flash_size = u64_of(tb[NSWAP_DEVICE_A_FLASH_SIZE]);
	d->flash_used = u64_of(tb[NSWAP_DEVICE_A_FLASH_USED]);
	d->side_bytes = u64_of(tb[NSWAP_DEVICE_A_SIDE_BYTES]);
	take_tiers(attrs[NSWAP_A_DEVICE], d);
	take_sides(attrs[NSWAP_A_DEVICE], d);
}

void view_take_peer(struct nlattr **attrs, struct view_peer *p)
{
	struct nlattr *tb[NSWAP_PEER_A_MAX + 1] = {};

	nested(tb, NSWAP_PEER_A_MAX, attrs[NSWAP_A_PEER]);
	p->index = u32_of(tb[NSWAP_PEER_A_INDEX]);
	text_of(tb[NSWAP_PEER_A_STATE], p->state, sizeof(p->state));
	if (tb[NSWAP_PEER_A_LEAVING] &&
	    (!strcmp(p->state, "new") || !strcmp(p->state, "connecting") ||
	     !strcmp(p->state, "up")))
		strcpy(p->state, "leaving");
	if (tb[NSWAP_PEER_A_AWAITED])
		strcpy(p->state, "rebooting");
	text_of(tb[NSWAP_PEER_A_REFUSED], p->refused, sizeof(p->refused));
	text_of(tb[NSWAP_PEER_A_REASON], p->reason, sizeof(p->reason));
	if (*p->refused && strcmp(p->state, "lost"))
		strcpy(p->state, "refused");
	p->fresh = tb[NSWAP_PEER_A_FRESH];
	p->listed = tb[NSWAP_PEER_A_LISTED];
	p->id = u64_of(tb[NSWAP_PEER_A_ID]);
	p->epoch = u64_of(tb[NSWAP_PEER_A_EPOCH]);
	take_addr(tb[NSWAP_PEER_A_ADDR], &p->addr);
	p->lent = u64_of(tb[NSWAP_PEER_A_LENT_PAGES]);
	p->free = u64_of(tb[NSWAP_PEER_A_FREE_PAGES]);
	p->used = u64_of(tb[NSWAP_PEER_A_USED_PAGES]);
	p->grants = u32_of(tb[NSWAP_PEER_A_GRANTS]);
	p->inflight = u32_of(tb[NSWAP_PEER_A_INFLIGHT]);
	p->slots = u64_of(tb[NSWAP_PEER_A_SLOTS]);
	p->heard_ms = u64_of(tb[NSWAP_PEER_A_HEARD_MS]);
	p->shrinking = tb[NSWAP_PEER_A_SHRINKING];
	p->version = u32_of(tb[NSWAP_PEER_A_VERSION]);
	p->features = u64_of(tb[NSWAP_PEER_A_FEATURES]);
}
