// SPDX-License-Identifier: GPL-2.0
/*
 * What the module shows, as plain structs.
 *
 * Attributes that a newer or older module leaves out read as 0 or "".
 */
#include "json.h"
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

static void take_policy(struct nlattr *nest, struct view_policy *p)
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
			take_policy(at, &d->own[d->nr_own++]);
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

static void more_nodes(struct nlattr **attrs, void *arg)
{
	view_take_node(attrs, one_more(arg));
}

static void more_devices(struct nlattr **attrs, void *arg)
{
	view_take_device(attrs, one_more(arg));
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

static void more_peers(struct nlattr **attrs, void *arg)
{
	view_take_peer(attrs, one_more(arg));
}

static void more_owners(struct nlattr **attrs, void *arg)
{
	struct nlattr *tb[NSWAP_OWNER_A_MAX + 1] = {};
	struct view_owner *o = one_more(arg);

	nested(tb, NSWAP_OWNER_A_MAX, attrs[NSWAP_A_OWNER]);
	o->id = u64_of(tb[NSWAP_OWNER_A_ID]);
	o->epoch = u64_of(tb[NSWAP_OWNER_A_EPOCH]);
	o->connected = tb[NSWAP_OWNER_A_CONNECTED];
	o->held = u64_of(tb[NSWAP_OWNER_A_HELD_PAGES]);
	o->granted = u64_of(tb[NSWAP_OWNER_A_GRANTED_PAGES]);
	o->no_home = tb[NSWAP_OWNER_A_NO_HOME];
	o->reserved = u64_of(tb[NSWAP_OWNER_A_RESERVED_PAGES]);
	o->share = u64_of(tb[NSWAP_OWNER_A_SHARE_PAGES]);
}

static void more_policies(struct nlattr **attrs, void *arg)
{
	take_policy(attrs[NSWAP_A_POLICY], one_more(arg));
}

static void more_knobs(struct nlattr **attrs, void *arg)
{
	struct nlattr *tb[NSWAP_KNOB_A_MAX + 1] = {};
	struct view_knob *k = one_more(arg);

	nested(tb, NSWAP_KNOB_A_MAX, attrs[NSWAP_A_KNOB]);
	text_of(tb[NSWAP_KNOB_A_NAME], k->name, sizeof(k->name));
	text_of(tb[NSWAP_KNOB_A_HELP], k->help, sizeof(k->help));
	k->value = u32_of(tb[NSWAP_KNOB_A_VALUE]);
	k->lowest = u32_of(tb[NSWAP_KNOB_A_LOWEST]);
	k->highest = u32_of(tb[NSWAP_KNOB_A_HIGHEST]);
	k->def = u32_of(tb[NSWAP_KNOB_A_DEFAULT]);
}

static void take_stat(struct nlattr **attrs, void *arg)
{
	struct nlattr *client[NSWAP_CLIENT_A_MAX + 1] = {};
	struct nlattr *server[NSWAP_SERVER_A_MAX + 1] = {};
	struct nlattr *announce[NSWAP_ANNOUNCE_A_MAX + 1] = {};
	struct nlattr **role[VIEW_ROLES] = { client, server, announce };
	struct view_stat *s = arg;
	unsigned int i;

	view_take_node(attrs, &s->node);
	nested(client, NSWAP_CLIENT_A_MAX, attrs[NSWAP_A_CLIENT]);
	nested(server, NSWAP_SERVER_A_MAX, attrs[NSWAP_A_SERVER]);
	nested(announce, NSWAP_ANNOUNCE_A_MAX, attrs[NSWAP_A_ANNOUNCE]);
	for (i = 0; i < view_nr_counters; i++) {
		const struct view_counter *c = &view_counters[i];

		s->counter[i] = u64_of(role[c->role][c->attr]);
	}
}

bool view_find_node(struct view_node *node)
{
	memset(node, 0, sizeof(*node));
	return !ctl_try_call(ctl_request(NSWAP_CMD_NODE_GET), view_take_node, node);
}

void view_get_node(struct view_node *node)
{
	memset(node, 0, sizeof(*node));
	ctl_call(ctl_request(NSWAP_CMD_NODE_GET), view_take_node, node);
}

void view_get_stat(struct view_stat *stat)
{
	memset(stat, 0, sizeof(*stat));
	ctl_call(ctl_request(NSWAP_CMD_STAT_GET), take_stat, stat);
}

static size_t list_from(struct nl_msg *msg, ctl_reply_fn more, void *list,
			size_t size)
{
	struct growing g = { .size = size };

	ctl_dump(msg, more, &g);
	memcpy(list, &g.entry, sizeof(g.entry));
	return g.nr;
}

static size_t list_of(uint8_t cmd, ctl_reply_fn more, void *list, size_t size)
{
	return list_from(ctl_request(cmd), more, list, size);
}

size_t view_nodes(struct view_node **list)
{
	return list_of(NSWAP_CMD_NODE_GET, more_nodes, list, sizeof(**list));
}

size_t view_devices(struct view_device **list)
{
	return list_of(NSWAP_CMD_DEVICE_GET, more_devices, list,
		       sizeof(**list));
}

size_t view_peers(struct view_peer **list)
{
	return list_of(NSWAP_CMD_PEER_GET, more_peers, list, sizeof(**list));
}

size_t view_owners(struct view_owner **list)
{
	return list_of(NSWAP_CMD_OWNER_GET, more_owners, list, sizeof(**list));
}

size_t view_policies(struct view_policy **list, const char *device)
{
	return list_from(ctl_request_of(NSWAP_CMD_POLICY_GET, device),
			 more_policies, list, sizeof(**list));
}

size_t view_knobs(struct view_knob **list)
{
	return list_of(NSWAP_CMD_KNOB_GET, more_knobs, list, sizeof(**list));
}

uint32_t view_knob(const char *name)
{
	struct view_knob *knobs;
	size_t i, nr = view_knobs(&knobs);
	uint32_t value = 0;

	for (i = 0; i < nr; i++)
		if (!strcmp(knobs[i].name, name))
			value = knobs[i].value;
	free(knobs);
	return value;
}

void view_json_node(const char *key, const struct view_node *n)
{
	char ip[ADDR_TEXT];

	json_object(key);
	json_number("number", n->number);
	json_number("netns", n->netns);
	json_id("id", n->id);
	json_id("epoch", n->epoch);
	json_string("addr", text_ip(&n->addr, ip));
	json_number("port", n->addr.port);
	json_number("conns", n->conns);
	json_bool("broadcast", n->broadcast);
	json_string("place", n->place);
	json_string("size", n->size);
	json_string("trend", n->trend);
	json_number("lent_pages", n->lent);
	json_number("target_pages", n->target);
	json_number("surplus_pages", n->surplus);
	json_number("held_pages", n->held);
	json_number("set_aside_pages", n->set_aside);
	json_number("granted_pages", n->granted);
	json_number("owners", n->owners);
	json_string("public", n->public);
	json_number("members", n->members);
	json_end();
}

/* can it be counted on: heard of, understood, and neither gone nor going */
bool view_peer_alive(const struct view_peer *peer)
{
	return peer->fresh && strcmp(peer->state, "dead") &&
	       strcmp(peer->state, "lost") && strcmp(peer->state, "leaving") &&
	       strcmp(peer->state, "rebooting") && strcmp(peer->state, "refused");
}

/* what the peers together lend, in bytes */
unsigned int view_lenders(void)
{
	struct view_peer *peers;
	size_t i, nr = view_peers(&peers);
	unsigned int n = 0;

	for (i = 0; i < nr; i++)
		n += view_peer_alive(&peers[i]) && peers[i].lent;
	free(peers);
	return n;
}

uint64_t view_lent_to_us(void)
{
	struct view_peer *peers;
	size_t i, nr = view_peers(&peers);
	uint64_t pages = 0;

	for (i = 0; i < nr; i++)
		if (view_peer_alive(&peers[i]))
			pages += peers[i].lent;
	free(peers);
	return pages * PAGE_BYTES;
}
