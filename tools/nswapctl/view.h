/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module shows, as plain structs.
 */
#ifndef NSWAPCTL_VIEW_H
#define NSWAPCTL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keyfile.h"
#include "parse.h"

struct view_node {
	uint32_t number;
	uint64_t id;
	uint64_t epoch;
	struct ctl_addr addr;
	uint32_t netns;
	uint32_t conns;
	bool broadcast;
	uint64_t lent;
	uint64_t held;
	uint64_t ram;		/* pages that these take */
	uint64_t set_aside;
	uint64_t granted;
	uint32_t owners;
	char place[64];
	char size[64];
	uint64_t target;
	uint64_t surplus;
	char trend[32];
	char public[KEY_TEXT];	/* "" if it is open */
	uint32_t members;	/* 0: all that know the secret */
};

#define VIEW_TIERS	4
#define VIEW_KINDS	16	/* of policies */
#define VIEW_SIDES	16

struct view_side {
	char name[32];
	uint32_t bits;		/* of a slot */
	uint64_t bytes;
};

struct view_tier {
	char class[16];
	uint32_t rank;
	uint64_t pages;
	uint64_t used;
	uint64_t size;		/* 0 for RAM */
	char devices[160];	/* "" for RAM */
};

struct view_policy {
	char kind[32];
	char name[64];
	char help[128];
	bool current;
	bool own;		/* the device's that was asked for */
};

struct view_device {
	char name[64];
	uint32_t instance;
	uint64_t size;
	uint64_t map_bytes;
	uint64_t remote;
	uint64_t lost;
	char protect[16];
	char class[16];
	uint64_t reserve;
	uint64_t reserved;
	uint64_t exposed;
	bool sealed;
	char compress[16];
	uint64_t compressed;	/* pages that left shorter than they were, and then had */
	uint64_t compressed_bytes;
	uint64_t incompressible;	/* pages that left whole */
	uint64_t cache;		/* bytes of its write cache, 0 without; of it: */
	bool early;		/* page-outs end when their pages are there */
	uint64_t cache_used;
	uint64_t cache_dirty;
	uint64_t cache_hits;
	uint64_t cache_misses;
	uint64_t cache_rewrites;
	uint64_t cache_frees;
	uint64_t cache_full;
	uint64_t cache_failed;
	uint64_t cache_kept;
	bool rekeying;
	uint64_t old_key;	/* pages left under the old key; of these: */
	uint64_t unread;	/* could not be read or written when tried last */
	uint64_t altered;	/* likewise, they came and did not open */
	uint32_t lag;
	uint64_t at_home;
	char home[64];		/* "" without one */
	uint64_t at_flash;
	char flash[160];	/* "" without any */
	uint64_t flash_size;
	uint64_t flash_used;
	struct view_tier tier[VIEW_TIERS];
	size_t nr_tiers;
	uint64_t side_bytes;
	struct view_side side[VIEW_SIDES];
	size_t nr_sides;
	bool in_use;
	struct view_policy own[VIEW_KINDS];	/* kind and name only */
	size_t nr_own;
};

struct view_peer {
	uint32_t index;
	char state[32];		/* "leaving" covers new, connecting and up, "rebooting"
				 * and "refused" all but lost
				 */
	bool fresh;
	bool listed;
	uint64_t id;
	uint64_t epoch;
	struct ctl_addr addr;
	uint64_t lent;
	uint64_t free;
	uint64_t used;
	uint32_t grants;
	uint32_t inflight;
	uint64_t slots;
	uint64_t heard_ms;
	bool shrinking;
	uint32_t version;	/* of the wire protocol, 0 if not heard of */
	uint64_t features;	/* enum nswap_feature, while a session stands */
	char refused[96];	/* why it is no peer; "" if it is one */
	char reason[64];	/* why it is suspected or dead; "" if it is well */
};

struct view_owner {
	uint64_t id;
	uint64_t epoch;
	bool connected;
	uint64_t held;
	uint64_t ram;		/* pages that these take */
	uint64_t granted;
	bool no_home;
	uint64_t reserved;
	uint64_t share;
	uint32_t weight;
};

struct view_weight {
	uint64_t id;
	uint32_t value;
};

struct view_knob {
	char name[64];
	char help[128];
	uint32_t value;
	uint32_t lowest;
	uint32_t highest;
	uint32_t def;
};

/* counters, by place: see view_counters[] */
#define VIEW_COUNTERS_MAX	96
enum view_role { VIEW_CLIENT, VIEW_SERVER, VIEW_ANNOUNCE, VIEW_ROLES };

struct view_counter {
	enum view_role role;
	int attr;
	const char *name;
	const char *help;
	bool now;		/* a state, which may go down again */
};

extern const struct view_counter view_counters[];
extern const unsigned int view_nr_counters;
extern const char *const view_roles[VIEW_ROLES];

struct view_stat {
	struct view_node node;
	uint64_t counter[VIEW_COUNTERS_MAX];
};

/* a counter by its name */
uint64_t view_count(const struct view_stat *s, enum view_role role,
		    const char *name);

/* the node of this network namespace; the first returns false without one */
bool view_find_node(struct view_node *node);
void view_get_node(struct view_node *node);
void view_get_stat(struct view_stat *stat);

/* a device of this node by its name; refused if there is none */
void view_get_device(const char *name, struct view_device *d);

/* lists, to be freed; each returns how many entries it has */
size_t view_nodes(struct view_node **list);
size_t view_devices(struct view_device **list);
size_t view_peers(struct view_peer **list);
size_t view_owners(struct view_owner **list);
size_t view_weights(struct view_weight **list);
/* of the node for NULL */
size_t view_policies(struct view_policy **list, const char *device);
size_t view_knobs(struct view_knob **list);
/* 0 if there is none of that name */
uint32_t view_knob(const char *name);

struct nlattr;
/* @node: struct view_node; @device: struct view_device */
void view_take_node(struct nlattr **attrs, void *node);
void view_take_peer(struct nlattr **attrs, struct view_peer *peer);
void view_take_device(struct nlattr **attrs, void *device);
void view_take_policy(struct nlattr *nest, struct view_policy *p);

/* how a list marks what is used: + if the device follows its node */
char view_mark(const struct view_policy *p, const char *device);

/* a device's own policies in one line, "-" without any */
void view_print_own(const struct view_device *d);
void view_json_own(const struct view_device *d);

void view_json_node(const char *key, const struct view_node *n);
void view_json_device(const struct view_device *d);

/*
 * Where the pages are that the kernel swapped out to this node's devices, and programs wrote
 * to those that are not swap.
 */
struct view_swapped {
	uint64_t size;		/* bytes of all devices */
	uint64_t used;		/* pages, by /proc/swaps */
	uint64_t backed;	/* pages a peer holds */
	uint64_t lost;		/* pages whose peer is gone, or whose page-out failed */
	uint64_t exposed;	/* pages that one more death would take */
	uint64_t old_key;	/* pages left under a key that is being changed */
	uint64_t unbacked;	/* used, but neither at a peer nor lost, swap device by device */
};

void view_add_up(struct view_swapped *s, const struct view_device *devices,
		 size_t nr);

/* its state in a column: "shrinking" is one that is up */
const char *view_peer_state(const struct view_peer *peer);
bool view_peer_alive(const struct view_peer *peer);
uint64_t view_lent_to_us(void);
unsigned int view_lenders(void);

#endif
