// SPDX-License-Identifier: GPL-2.0
/*
 * Tiers: the table of them, in the order of rank, and what each holds.
 *
 * Invariants: the table is constant. The rank of a tier is its index here, which
 * also numbers it where page-outs and page-ins are measured. Numbers of pages are
 * those of the slot map: a page that is being moved is counted nowhere.
 */
#include "core/parity.h"
#include "core/slot_update.h"
#include "free.h"
#include "pagein.h"
#include "pageout.h"
#include "tier.h"

#define FLASH_AFTER_MS	20
#define HOME_AFTER_MS	250

static void ram_stat(struct nswap_device *dev, struct nswap_tier_view *v)
{
	const struct nswap_parity *p = nswap_parity_of(dev);

	v->pages = nswap_slot_count(dev, NSWAP_SLOT_REMOTE);
	v->used = v->pages;
	if (p) {
		v->pages += atomic64_read(&p->live);
		v->used += nswap_slot_count(p->cells, NSWAP_SLOT_REMOTE);
	}
}

static bool flash_there(const struct nswap_device *dev)
{
	return dev->flash;
}

static void flash_stat(struct nswap_device *dev, struct nswap_tier_view *v)
{
	v->pages = nswap_slot_count(dev, NSWAP_SLOT_FLASH);
	v->slots = nswap_flash_total(dev->flash);
	v->used = nswap_flash_used(dev->flash);
	nswap_flash_names(dev->flash, v->names, sizeof(v->names));
}

static bool home_there(const struct nswap_device *dev)
{
	return dev->home;
}

static void home_stat(struct nswap_device *dev, struct nswap_tier_view *v)
{
	v->pages = nswap_slot_count(dev, NSWAP_SLOT_HOME);
	v->used = v->pages;
	v->slots = dev->map.nr;
	strscpy(v->names, dev->home->name, sizeof(v->names));
}

static const struct nswap_tier_ops ram = {
	.class = "ram",
	.store = nswap_pageout_to_peers,
	.load = nswap_pagein_from_peers,
	.discard = nswap_free_told,
	.stat = ram_stat,
};

static const struct nswap_tier_ops flash = {
	.class = "flash",
	.patience_ms = FLASH_AFTER_MS,
	.there = flash_there,
	.store = nswap_tier_flash_store,
	.load = nswap_tier_flash_load,
	.stat = flash_stat,
};

static const struct nswap_tier_ops home = {
	.class = "disk",
	.patience_ms = HOME_AFTER_MS,
	.there = home_there,
	.store = nswap_tier_home_store,
	.load = nswap_tier_home_load,
	.stat = home_stat,
};

const struct nswap_tier_ops *const nswap_tiers[NSWAP_TIERS] = {
	[NSWAP_TIER_REMOTE] = &ram,
	[NSWAP_TIER_FLASH] = &flash,
	[NSWAP_TIER_HOME] = &home,
};

/* fill in what a device has in a tier */
void nswap_tier_look(struct nswap_device *dev, enum nswap_tier tier,
		     struct nswap_tier_view *v)
{
	memset(v, 0, sizeof(*v));
	v->class = nswap_tiers[tier]->class;
	v->rank = tier;
	v->there = nswap_tier_there(dev, tier);
	if (v->there)
		nswap_tiers[tier]->stat(dev, v);
}
