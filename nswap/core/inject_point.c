// SPDX-License-Identifier: GPL-2.0
/*
 * Named points, at which a test stops a task of a node, decides what happens to the
 * cluster meanwhile, and lets it go on: the module parameter inject_point.
 *
 *   written   "NAME" or "NAME ID": the next task that comes to the point, of the node
 *             with that id (hexadecimal), stops there; "none": it goes on
 *   read      "none", "NAME armed" or "NAME held"
 *
 * Invariants:
 *  - At most one task is held, and for no longer than HOLD_MAX: what waits for its end
 *    always ends.
 *  - A task may be held only where it may sleep and holds no lock.
 */
#include <linux/moduleparam.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/wait.h>

#include "inject.h"

#define HOLD_MAX	(8 * HZ)

static DEFINE_SPINLOCK(point_lock);
static DECLARE_WAIT_QUEUE_HEAD(point_wait);
static enum nswap_point armed;
static u64 whose;
static bool held;

/* in the order of enum nswap_point */
#define POINT_NAME(NAME, name, where)	#name,
static const char *const points[] = { "none", NSWAP_INJECT_POINTS(POINT_NAME) };

static_assert(ARRAY_SIZE(points) == NSWAP_POINT_NR);

static int set_point(const char *val, const struct kernel_param *kp)
{
	char name[16];
	u64 id = 0;
	int found;

	if (sscanf(val, "%15s %llx", name, &id) < 1)
		return -EINVAL;
	found = match_string(points, ARRAY_SIZE(points), name);
	if (found < 0)
		return found;
	spin_lock(&point_lock);
	armed = found;
	whose = id;
	held = false;
	spin_unlock(&point_lock);
	wake_up_all(&point_wait);
	return 0;
}

static int show_point(char *buf, const struct kernel_param *kp)
{
	int n;

	spin_lock(&point_lock);
	n = sysfs_emit(buf, "%s%s\n", points[armed],
		       held ? " held" : armed ? " armed" : "");
	spin_unlock(&point_lock);
	return n;
}

static const struct kernel_param_ops point_ops = {
	.set = set_point,
	.get = show_point,
};
module_param_cb(inject_point, &point_ops, NULL, 0644);
MODULE_PARM_DESC(inject_point, "stop the next task that comes to this point, of the node with this id");

/**
 * nswap_inject_point() - a task comes to a named point
 * @id: of its node
 * @at: the point
 *
 * Context: process, no lock held; sleeps while a test holds it here.
 */
void nswap_inject_point(u64 id, enum nswap_point at)
{
	bool hit;

	spin_lock(&point_lock);
	hit = armed == at && !held && (!whose || whose == id);
	held |= hit;
	spin_unlock(&point_lock);
	if (!hit || wait_event_timeout(point_wait, !READ_ONCE(held), HOLD_MAX))
		return;
	spin_lock(&point_lock);
	armed = NSWAP_POINT_NONE;
	held = false;
	spin_unlock(&point_lock);
}
