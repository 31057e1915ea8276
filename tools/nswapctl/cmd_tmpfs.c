// SPDX-License-Identifier: GPL-2.0
/*
 * tmpfs create, list, remove: a file system for temporary files in peers' RAM
 * (Nswap2L, future work).
 *
 *   device add, with as much reserved at the peers -> mkfs.ext4 -> mount
 *
 * Invariants:
 *  - With a reserve it is the file system that is full first: its programs get ENOSPC, as
 *    on any other. Without one a write may fail when peers are full, and with EIO. For
 *    second copies there is no reserve: when peers are full a page is exposed.
 *  - What a step of create has done is undone if a later one fails, or if it is interrupted.
 *    remove is not interrupted: without its file system a device is in no list of these.
 *  - One create at a time looks at its folder and mounts there: two at once would put one file
 *    system on top of the other.
 *  - Blocks of deleted files are discarded at once, so peers get their RAM back.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "json.h"
#include "lock.h"
#include "run.h"
#include "view.h"

#define LOCK_FILE	"/run/nswap-tmpfs.lock"
#define LEAST_BYTES	(4ull << 20)	/* an ext4 of less is all metadata */
#define MOUNTS		"/proc/self/mounts"
#define OPTIONS		"discard,noatime,nosuid,nodev,noinit_itable"
#define WORDS		24

static const struct option create_options[] = {
	{ "protect", required_argument, NULL, 'p' },
	{ "no-reserve", no_argument, NULL, 'n' },
	{ "no-seal", no_argument, NULL, 'E' },
	{ "compress", required_argument, NULL, 'C' },
	{ }
};

/* what is to be made */
struct tmpfs {
	uint64_t bytes;
	const char *dir;
	const char *protect;
	bool reserve;
	bool seal;
	const char *compress;
	char device[80];	/* "/dev/nswap0", once it is there */
};

/* a file system on a device of nswap */
struct mounted {
	char device[80];
	char dir[512];
	uint64_t bytes;
	uint64_t used;
};

static volatile sig_atomic_t interrupted;

static void tmpfs_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

/*
 * SIG_BLOCK: what is run now, and this program, are interrupted later; adding a device, mounting
 * and undoing take a moment, and are not done by half. SIG_UNBLOCK: what is run ends, and this
 * program only takes note of it. What was ignored from the beginning, as by nohup, stays so.
 */
static void tmpfs_interrupts(int how)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction was;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		sigaddset(&set, taken[i]);
		sigaction(taken[i], NULL, &was);
		if (was.sa_handler != SIG_IGN)
			signal(taken[i], tmpfs_interrupt);
	}
	sigprocmask(how, &set, NULL);
}

/* runs it, with what it prints to @out and what it complains about to @err; did it do it? */
static bool tmpfs_run(const char *const *word, int out, int err)
{
	int status = run_words(word, out, err);

	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* undo what there is, and say what failed; it has said why itself */
static void tmpfs_undo(const struct tmpfs *t, const char *what)
{
	const char *const del[] = { "nswapctl", "device", "del", t->device, NULL };
	const char *how = interrupted ? "was interrupted" : "failed";

	tmpfs_interrupts(SIG_BLOCK);
	if (!tmpfs_run(del, STDERR_FILENO, STDERR_FILENO))
		ctl_refuse("%s %s, and %s is still there: nswapctl device del %s", what, how,
			   t->device, t->device);
	ctl_refuse("%s %s, and nothing was changed", what, how);
}

/* mounting hides what is in a folder, so there must be nothing */
static void tmpfs_check_dir(const char *dir)
{
	const struct dirent *e;
	unsigned int n = 0;
	DIR *d = opendir(dir);

	if (!d)
		ctl_refuse("%s: %s; make the folder first: mkdir -p %s", dir, strerror(errno),
			   dir);
	while ((e = readdir(d)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(d);
	if (n)
		ctl_refuse("%s is not empty: what is in it would be hidden", dir);
}

/* why it was refused is said as our own sentence, and a warning passed on */
static void tmpfs_added(FILE *said, bool done)
{
	char line[512];

	rewind(said);
	while (fgets(line, sizeof(line), said)) {
		line[strcspn(line, "\n")] = '\0';
		if (!done)
			ctl_refuse("%s", strncmp(line, "nswapctl: ", 10) ? line : line + 10);
		fprintf(stderr, "%s\n", line);
	}
	if (!done)
		ctl_refuse("no device could be added for it");
	fclose(said);
}

/* its name is the first word that is printed */
static void tmpfs_add_device(struct tmpfs *t)
{
	char size[32];
	const char *word[WORDS] = { "nswapctl", "device", "add", "--size", size, "--protect",
				    t->protect };
	FILE *name = tmpfile(), *said = tmpfile();
	unsigned int n = 7;

	if (!name || !said)
		ctl_refuse("there is no temporary file to be had: %s", strerror(errno));
	snprintf(size, sizeof(size), "%llu", (unsigned long long)t->bytes);
	if (t->reserve) {
		word[n++] = "--reserve";
		word[n++] = size;
	}
	if (!t->seal)
		word[n++] = "--no-seal";
	word[n++] = "--compress";
	word[n++] = t->compress;
	tmpfs_added(said, tmpfs_run(word, fileno(name), fileno(said)));
	rewind(name);
	if (fscanf(name, "%79[^,\n ]", t->device) != 1)
		ctl_refuse("the device that was added has no name: nswapctl device list");
	fclose(name);
}

/*
 * Pages must not change while they are written: they are sealed or compressed, or parity is
 * made of them
 */
static void tmpfs_stable(const struct tmpfs *t)
{
	char path[160];
	int file;

	snprintf(path, sizeof(path), "/sys/block/%s/queue/stable_writes",
		 arg_in_dev(t->device));
	file = open(path, O_WRONLY);
	if (file < 0 || write(file, "1", 1) != 1)
		tmpfs_undo(t, path);
	close(file);
}

static bool tmpfs_mount(const struct tmpfs *t)
{
	const char *const word[] = { "mount", "-t", "ext4", "-o", OPTIONS, t->device, t->dir,
				     NULL };

	return tmpfs_run(word, STDERR_FILENO, STDERR_FILENO);
}

static void tmpfs_parse(int argc, char **argv, struct tmpfs *t)
{
	int option;

	while ((option = arg_option(argc, argv, create_options)) != -1) {
		if (option == 'p')
			t->protect = optarg;
		else if (option == 'n')
			t->reserve = false;
		else if (option == 'C')
			t->compress = optarg;
		else
			t->seal = false;
	}
	if (argc < optind + 2)
		ctl_usage("name the size, and the folder");
	arg_no_more(argc, argv, optind + 2);
	t->bytes = arg_size(argv[optind]) / PAGE_BYTES * PAGE_BYTES;
	t->dir = argv[optind + 1];
	if (t->bytes < LEAST_BYTES)
		ctl_refuse("a file system needs 4 MiB at least");
	if (!strcmp(t->protect, "home"))
		ctl_refuse("a temporary file system has no home: none, mirror or parity protects it");
	if (t->reserve && !strncmp(t->protect, "parity", 6))
		ctl_refuse("parity has no use for a reserve: take --protect mirror, or --no-reserve");
}

int cmd_tmpfs_create(int argc, char **argv)
{
	struct tmpfs t = { .protect = "none", .reserve = true, .seal = true,
			   .compress = "off" };
	const char *const mkfs[] = { "mkfs.ext4", "-q", "-b", "4096", "-m", "0", "-O",
				     "^has_journal", "-E", "nodiscard,lazy_itable_init=1",
				     t.device, NULL };

	tmpfs_parse(argc, argv, &t);
	if (ctl_node)
		ctl_refuse("it is made on the node of this network namespace, without --node");
	lock_until_end(LOCK_FILE);
	tmpfs_check_dir(t.dir);
	tmpfs_interrupts(SIG_BLOCK);
	tmpfs_add_device(&t);
	tmpfs_stable(&t);
	tmpfs_interrupts(SIG_UNBLOCK);
	if (interrupted || !tmpfs_run(mkfs, STDERR_FILENO, STDERR_FILENO) || interrupted)
		tmpfs_undo(&t, "mkfs.ext4 (of the package e2fsprogs)");
	tmpfs_interrupts(SIG_BLOCK);
	if (!tmpfs_mount(&t))
		tmpfs_undo(&t, "mount");
	if (chmod(t.dir, 01777))
		ctl_warn("%s: %s", t.dir, strerror(errno));
	if (!ctl_json) {
		printf("%s, on %s\n", t.dir, t.device);
		return 0;
	}
	json_object(NULL);
	json_string("dir", t.dir);
	json_string("device", arg_in_dev(t.device));
	json_number("size_bytes", t.bytes);
	json_string("protect", t.protect);
	json_end();
	return 0;
}

/* false if what is mounted there is none of nswap */
static bool tmpfs_take(const struct mntent *e, struct mounted *m)
{
	struct statvfs fs;

	if (strncmp(e->mnt_fsname, "/dev/nswap", 10) || statvfs(e->mnt_dir, &fs))
		return false;
	snprintf(m->device, sizeof(m->device), "%s", e->mnt_fsname);
	snprintf(m->dir, sizeof(m->dir), "%s", e->mnt_dir);
	m->bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
	m->used = (uint64_t)(fs.f_blocks - fs.f_bfree) * fs.f_frsize;
	return true;
}

static FILE *tmpfs_mounts(void)
{
	FILE *mounts = setmntent(MOUNTS, "r");

	if (!mounts)
		ctl_refuse("%s: %s", MOUNTS, strerror(errno));
	return mounts;
}

static void tmpfs_print(const struct mounted *m, const struct view_device *d)
{
	char size[32], used[32], kept[32];

	if (ctl_json) {
		json_object(NULL);
		json_string("dir", m->dir);
		json_string("device", d->name);
		json_number("size_bytes", m->bytes);
		json_number("used_bytes", m->used);
		json_number("slots_remote", d->remote);
		json_number("slots_lost", d->lost);
		json_string("protect", d->protect);
		json_number("exposed_pages", d->exposed);
		json_number("reserved_bytes", d->reserved);
		json_end();
		return;
	}
	printf("%-24s %-8s %10s %10s %10llu %-10s %10s\n", m->dir, d->name,
	       text_size(m->bytes, size, sizeof(size)),
	       text_size(m->used, used, sizeof(used)), (unsigned long long)d->remote,
	       d->protect, text_size(d->reserved, kept, sizeof(kept)));
}

int cmd_tmpfs_list(int argc, char **argv)
{
	struct view_device *devices;
	const struct mntent *e;
	struct mounted m;
	size_t i, nr;
	FILE *mounts;

	(void)argv;
	arg_no_more(argc, argv, 1);
	nr = view_devices(&devices);
	mounts = tmpfs_mounts();
	if (ctl_json)
		json_list(NULL);
	else
		printf("%-24s %-8s %10s %10s %10s %-10s %10s\n", "DIR", "DEVICE", "SIZE", "USED",
		       "AT PEERS", "PROTECT", "RESERVED");
	while ((e = getmntent(mounts)))
		for (i = 0; i < nr; i++)
			if (!strcmp(devices[i].name, arg_in_dev(e->mnt_fsname)) &&
			    tmpfs_take(e, &m))
				tmpfs_print(&m, &devices[i]);
	if (ctl_json)
		json_end();
	endmntent(mounts);
	free(devices);
	return 0;
}

/* the device that is mounted on a folder, last if more are; refused if that is none of nswap */
static void tmpfs_find(const char *dir, struct mounted *m)
{
	FILE *mounts = tmpfs_mounts();
	char *path = realpath(dir, NULL);
	const struct mntent *e;
	bool found = false;

	while (path && (e = getmntent(mounts)))
		if (!strcmp(e->mnt_dir, path))
			found = tmpfs_take(e, m);
	endmntent(mounts);
	free(path);
	if (!found)
		ctl_refuse("%s is no temporary file system of nswap: nswapctl tmpfs list", dir);
}

int cmd_tmpfs_remove(int argc, char **argv)
{
	struct mounted m;
	const char *const umount[] = { "umount", m.dir, NULL };
	const char *const del[] = { "nswapctl", "device", "del", m.device, NULL };

	if (argc < 2)
		ctl_usage("name the folder");
	arg_no_more(argc, argv, 2);
	tmpfs_find(argv[1], &m);
	tmpfs_interrupts(SIG_BLOCK);
	if (!tmpfs_run(umount, STDERR_FILENO, STDERR_FILENO))
		ctl_refuse("%s is in use: end the programs that use it (fuser -vm %s), and try again",
			   m.dir, m.dir);
	if (!tmpfs_run(del, STDERR_FILENO, STDERR_FILENO))
		ctl_refuse("%s is not mounted any more, and %s is still there: nswapctl device del %s",
			   m.dir, m.device, m.device);
	return 0;
}
