// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor on memory: the reserve, and how the kernel swaps.
 */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define LINK_KB		1024		/* buffers of a connection, both ways */
#define RESERVE_SHARE	16		/* of RAM that may be kept free for it */
#define LEAST_GROUP	(16 << 20)	/* bytes that a device may have under way */
#define USUAL_CLUSTER	3
#define CGROUPS		"/sys/fs/cgroup"

static unsigned long long meminfo_total(void)
{
	FILE *f = doctor_open("/proc/meminfo");
	unsigned long long value = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemTotal: %llu", &value) == 1)
			break;
	if (f)
		fclose(f);
	return value;
}

static unsigned long long clamped(unsigned long long value,
				  unsigned long long least,
				  unsigned long long most)
{
	return value < least ? least : value > most ? most : value;
}

/* KiB of buffers that sessions with @peers peers, both ways, may fill */
static unsigned long long buffers_kb(const struct patient *p, size_t peers,
				     unsigned long long total)
{
	unsigned long long need = peers * 2 * p->node.conns * LINK_KB;

	return clamped(need, 0, clamped(total / 32, 65536, 1048576));
}

/*
 * What comes in while the machine is out of memory is received into the reserve: 1/64
 * of RAM, at least 4 MiB and at most 128 MiB, for a few peers; for more of them what
 * their connections may fill, which the module bounds (pure/buffers.c). No more than a
 * RESERVE_SHARE of RAM: reclaim keeps half as much again free, no program has it, and of
 * 128 MiB a kernel leaves a third. A machine that small does better with fewer peers.
 */
static void check_reserve(const struct patient *p)
{
	unsigned long long total = meminfo_total();
	unsigned long long have = 0;
	unsigned long long want = clamped(total / 64, 4096, 131072);
	size_t peers = doctor_alive(p);
	unsigned long long fill = buffers_kb(p, peers, total);
	unsigned long long most = total / RESERVE_SHARE;
	char fix[80], why[256] = "";

	if (!total || !doctor_number("/proc/sys/vm/min_free_kbytes", &have))
		return;
	want = clamped(clamped(want, fill, ~0ull), 0, most);
	snprintf(fix, sizeof(fix), "sysctl -w vm.min_free_kbytes=%llu", want);
	if (have > clamped(want, total / 8, ~0ull)) {
		doctor_find(DOCTOR_ADVICE, true, fix, "vm.min_free_kbytes is %llu, more than an eighth of RAM: programs cannot have that, and what they need is swapped or not there; %llu is recommended",
			    have, want);
		return;
	}
	if (have >= want) {
		doctor_fine("vm.min_free_kbytes is high enough");
		return;
	}
	if (peers)
		snprintf(why, sizeof(why), ": connections with %zu peers may fill %llu KiB while memory is out%s",
			 peers, fill, fill > most ?
			 ", of which a machine as small as this one can spare a 16th of its RAM" : "");
	doctor_find(DOCTOR_PROBLEM, true, fix, "vm.min_free_kbytes is %llu, %llu is recommended on this machine%s",
		    have, want, why);
}

/*
 * TCP's memory is counted in pages for all connections of the machine: above the second
 * figure of tcp_mem they get less of it, above the third packets that came are dropped. The
 * module's connections ask for no more than their budget.
 */
static void check_sockets(const struct patient *p)
{
	size_t peers = doctor_alive(p);
	unsigned long long fill = buffers_kb(p, peers, meminfo_total());
	unsigned long long low, pressure, most, need = fill / (PAGE_BYTES / 1024);
	char line[128], fix[160];

	if (!peers || !doctor_line("/proc/sys/net/ipv4/tcp_mem", line, sizeof(line)) ||
	    sscanf(line, "%llu %llu %llu", &low, &pressure, &most) != 3)
		return;
	/* a half for all other connections */
	if (need <= pressure / 2) {
		doctor_fine("connections with %zu peers may fill %llu KiB of the %llu KiB that TCP may have",
			    peers, fill, pressure * (PAGE_BYTES / 1024));
		return;
	}
	snprintf(fix, sizeof(fix), "sysctl -w net.ipv4.tcp_mem='%llu %llu %llu'",
		 need * 3 / 2, need * 2, clamped(most, need * 3, ~0ull));
	doctor_find(DOCTOR_ADVICE, true, fix, "connections with %zu peers may fill %llu KiB, and net.ipv4.tcp_mem gives all connections of this machine %llu KiB: above that their windows shrink, and page-ins wait",
		    peers, fill, pressure * (PAGE_BYTES / 1024));
}

/* how many pages one fault reads is 2 to the power of it */
static void check_cluster(const struct patient *p)
{
	unsigned long long cluster;

	(void)p;
	if (!doctor_number("/proc/sys/vm/page-cluster", &cluster))
		return;
	if (cluster > USUAL_CLUSTER)
		doctor_find(DOCTOR_ADVICE, true, "sysctl -w vm.page-cluster=3",
			    "vm.page-cluster is %llu: a page-in brings up to %u pages, and a program waits for all of them to get one",
			    cluster, 1u << (cluster < 16 ? cluster : 16));
	else if (!cluster)
		doctor_find(DOCTOR_NOTE, false, "sysctl -w vm.page-cluster=3",
			    "vm.page-cluster is 0: each page-in is a message of its own, which suits programs that read at random; with 3, the default, adjacent pages come in one message");
	else
		doctor_fine("vm.page-cluster is %llu", cluster);
}

static void check_zswap(const struct patient *p)
{
	char line[16];

	(void)p;
	if (!doctor_line("/sys/module/zswap/parameters/enabled", line, sizeof(line)))
		return;
	if (*line == 'Y' || *line == '1')
		doctor_find(DOCTOR_ADVICE, true,
			    "echo N > /sys/module/zswap/parameters/enabled",
			    "zswap is on: pages stay in this machine's RAM, compressed, and the oldest are decompressed to be sent, so RAM that peers lend is used late");
	else
		doctor_fine("off");
}

static void check_huge(const struct patient *p)
{
	char line[64];

	(void)p;
	if (!doctor_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof(line)))
		return;
	if (strstr(line, "[always]"))
		doctor_find(DOCTOR_NOTE, false,
			    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
			    "every program gets transparent huge pages: what touches a little of each takes more RAM than without, and swaps earlier; with madvise only those get them that ask");
	else
		doctor_fine("transparent ones are not given to every program");
}

static unsigned int small_groups;
static char small_group[1024];

/* memory.max of a group that may swap */
static int group_look(const char *path, const struct stat *st, int type, struct FTW *at)
{
	char line[32] = "", sibling[4096];
	unsigned long long max = 0;
	bool swaps = true;
	FILE *f;

	(void)st;
	if (type != FTW_F || strcmp(path + at->base, "memory.max"))
		return 0;
	f = fopen(path, "r");
	if (!f || !fgets(line, sizeof(line), f) || sscanf(line, "%llu", &max) != 1)
		max = LEAST_GROUP;
	if (f)
		fclose(f);
	if (max >= LEAST_GROUP)
		return 0;
	snprintf(sibling, sizeof(sibling), "%.*smemory.swap.max", at->base, path);
	f = fopen(sibling, "r");
	if (f && fgets(line, sizeof(line), f))
		swaps = atoll(line) || !strncmp(line, "max", 3);
	if (f)
		fclose(f);
	if (swaps && !small_groups++)
		snprintf(small_group, sizeof(small_group), "%s", path);
	return 0;
}

/* reclaim does not wait for pages under way: a group that has no others is killed */
static void check_groups(const struct patient *p)
{
	char root[4096], fix[1200];
	const char *group;

	if (!p->nr_devices)
		return;
	small_groups = 0;
	doctor_path(root, sizeof(root), CGROUPS);
	nftw(root, group_look, 32, FTW_PHYS);
	if (!small_groups) {
		doctor_fine("none that may swap is smaller than 16 MiB");
		return;
	}
	group = small_group + strlen(root) - strlen(CGROUPS);
	snprintf(fix, sizeof(fix), "echo 16M > %s", group);
	doctor_find(DOCTOR_ADVICE, false, fix, "%u memory cgroups that may swap have a limit below 16 MiB, one is %.*s: all their pages may be on their way to a peer at once, and then a program in there is killed",
		    small_groups, (int)(strlen(group) - strlen("/memory.max")), group);
}

const struct doctor_check doctor_vm[] = {
	{ "memory reserve", DOCTOR_ALWAYS, check_reserve },
	{ "socket buffers", DOCTOR_UP, check_sockets },
	{ "page cluster", DOCTOR_ALWAYS, check_cluster },
	{ "zswap", DOCTOR_ALWAYS, check_zswap },
	{ "huge pages", DOCTOR_ALWAYS, check_huge },
	{ "memory cgroups", DOCTOR_UP, check_groups },
	{ }
};
