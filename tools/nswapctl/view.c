// SPDX-License-Identifier: GPL-2.0
/*
 * What the module shows, as plain structs: asking for it, and what they say together.
 */
#include "json.h"
#include "take.h"
#include "view.h"

static void more_nodes(struct nlattr **attrs, void *arg)
{
	view_take_node(attrs, one_more(arg));
}

static void more_devices(struct nlattr **attrs, void *arg)
{
	view_take_device(attrs, one_more(arg));
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
	o->ram = u64_of(tb[NSWAP_OWNER_A_RAM_PAGES]);
	o->granted = u64_of(tb[NSWAP_OWNER_A_GRANTED_PAGES]);
	o->no_home = tb[NSWAP_OWNER_A_NO_HOME];
	o->reserved = u64_of(tb[NSWAP_OWNER_A_RESERVED_PAGES]);
	o->share = u64_of(tb[NSWAP_OWNER_A_SHARE_PAGES]);
	o->weight = u32_of(tb[NSWAP_OWNER_A_WEIGHT]);
}

static void more_weights(struct nlattr **attrs, void *arg)
{
	struct nlattr *tb[NSWAP_WEIGHT_A_MAX + 1] = {};
	struct view_weight *w = one_more(arg);

	nested(tb, NSWAP_WEIGHT_A_MAX, attrs[NSWAP_A_WEIGHT]);
	w->id = u64_of(tb[NSWAP_WEIGHT_A_ID]);
	w->value = u32_of(tb[NSWAP_WEIGHT_A_VALUE]);
}

static void more_policies(struct nlattr **attrs, void *arg)
{
	view_take_policy(attrs[NSWAP_A_POLICY], one_more(arg));
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

void view_get_device(const char *name, struct view_device *d)
{
	struct view_device *all;
	size_t i, nr = view_devices(&all);

	for (i = 0; i < nr && strcmp(all[i].name, name); i++)
		;
	if (i == nr)
		ctl_refuse("%s is no device of this node: nswapctl device list", name);
	*d = all[i];
	free(all);
}

size_t view_peers(struct view_peer **list)
{
	return list_of(NSWAP_CMD_PEER_GET, more_peers, list, sizeof(**list));
}

size_t view_owners(struct view_owner **list)
{
	return list_of(NSWAP_CMD_OWNER_GET, more_owners, list, sizeof(**list));
}

size_t view_weights(struct view_weight **list)
{
	return list_of(NSWAP_CMD_WEIGHT_GET, more_weights, list, sizeof(**list));
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
	json_number("ram_pages", n->ram);
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

const char *view_peer_state(const struct view_peer *peer)
{
	return peer->shrinking && !strcmp(peer->state, "up") ? "shrinking" : peer->state;
}

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

/* what the peers together lend, in bytes */
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
