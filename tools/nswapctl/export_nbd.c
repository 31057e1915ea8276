// SPDX-License-Identifier: GPL-2.0
/*
 * Exports by NBD: a qemu-nbd of root for each, found again by its command line.
 *
 * It reads and writes past this machine's page cache, so a write that peers have no room for
 * fails at the client, which keeps the page. nbd-server writes through that cache and does not
 * look at what its fsync() says: the page would be lost without a word.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "export.h"
#include "run.h"

#define SERVER	"qemu-nbd"
#define END_MS	10000

/* the value of an option of it, NULL if this word is another one */
static const char *value_of(const char *word, const char *option)
{
	size_t len = strlen(option);

	return strncmp(word, option, len) ? NULL : word + len;
}

/* one word of its command line */
static void take_word(const char *word, struct export *e)
{
	const char *value;

	if ((value = value_of(word, "--export-name=")))
		snprintf(e->name, sizeof(e->name), "%s", value);
	else if ((value = value_of(word, "--bind=")))
		export_addr(value, &e->to);
	else if ((value = value_of(word, "--port=")))
		e->to.port = atoi(value);
	else if ((value = value_of(word, "/dev/nswap")))
		snprintf(e->device, sizeof(e->device), "nswap%s", value);
}

/* does root run it? Any user may give any program the same words. */
static bool is_of_root(int pid)
{
	unsigned int real = 1, effective = 1, saved = 1;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u %u %u", &real, &effective, &saved) == 3)
			break;
	if (f)
		fclose(f);
	return !real && !effective && !saved;
}

/* is it the program that its words say? Its file may have been replaced since. */
static bool is_server(int pid)
{
	char path[64], file[1024], *name;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, file, sizeof(file) - 1);
	/* which is told to root only */
	if (len < 0)
		return errno == EACCES;
	file[len] = '\0';
	name = strrchr(file, '/');
	return name && (!strcmp(name, "/" SERVER) || !strcmp(name, "/" SERVER " (deleted)"));
}

/* what a process exports; false if it is none of these */
static bool take_process(int pid, struct export *e)
{
	char path[64], words[2048], *word;
	ssize_t len;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	len = read(file, words, sizeof(words) - 1);
	close(file);
	if (len <= 0)
		return false;
	words[len] = '\0';
	word = strrchr(words, '/');
	if (strcmp(word ? word + 1 : words, SERVER) || !is_of_root(pid) || !is_server(pid))
		return false;
	memset(e, 0, sizeof(*e));
	for (word = words; word < words + len; word += strlen(word) + 1)
		take_word(word, e);
	e->pid = pid;
	return *e->device && !strncmp(e->name, e->device, strlen(e->device));
}

void export_nbd_list(struct export **list, size_t *nr)
{
	const struct dirent *entry;
	DIR *proc = opendir("/proc");
	struct export e;

	while (proc && (entry = readdir(proc)))
		if (take_process(atoi(entry->d_name), &e))
			*export_more(list, nr) = e;
	if (proc)
		closedir(proc);
}

/* it is needed for as long as a client swaps to it */
static void spare_from_oom(const struct export *e)
{
	struct export *all = NULL;
	size_t i, nr = 0;
	char path[64];
	int file;

	export_nbd_list(&all, &nr);
	for (i = 0; i < nr && strcmp(all[i].name, e->name); i++)
		;
	if (i < nr)
		snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", all[i].pid);
	free(all);
	if (i == nr)
		return;
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, "-1000", 5) != 5)
		ctl_warn("%s: %s", path, strerror(errno));
	if (file >= 0)
		close(file);
}

/* a stop of nswap.service that is refused, as a client is connected, would end it all the same */
static void check_service(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[1024];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "/nswap.service"))
			ctl_refuse(SERVER " would end whenever nswap.service stops: export by NBD from a unit of its own");
	if (f)
		fclose(f);
}

void export_nbd_start(const struct export *e)
{
	char ip[ADDR_TEXT], bind[ADDR_TEXT + 8], port[16], name[EXPORT_NAME + 16], device[80];
	const char *const word[] = { SERVER, "--fork", "--persistent", "--shared=1",
				     "--format=raw", "--cache=none", "--aio=native",
				     "--discard=unmap", "--detect-zeroes=off", bind, port, name,
				     device, NULL };
	FILE *said = tmpfile();
	char line[256] = "";
	int status;

	check_service();
	if (!said)
		ctl_refuse("there is no temporary file to be had: %s", strerror(errno));
	snprintf(bind, sizeof(bind), "--bind=%s", text_ip(&e->to, ip));
	snprintf(port, sizeof(port), "--port=%u", e->to.port);
	snprintf(name, sizeof(name), "--export-name=%s", e->name);
	snprintf(device, sizeof(device), "/dev/%s", e->device);
	status = run_words(word, fileno(said), fileno(said));
	rewind(said);
	if (!fgets(line, sizeof(line), said))
		snprintf(line, sizeof(line), "it ended with %d", status);
	fclose(said);
	line[strcspn(line, "\n")] = '\0';
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		ctl_refuse(SERVER " (of the package qemu-utils) did not start: %s", line);
	spare_from_oom(e);
}

void export_nbd_end(const struct export *e)
{
	struct pollfd end = { .events = POLLIN };
	struct export now;

	end.fd = syscall(SYS_pidfd_open, e->pid, 0);
	if (end.fd < 0 && errno == ESRCH)
		return;
	/* it may be another process since */
	if (end.fd >= 0 && (!take_process(e->pid, &now) || strcmp(now.name, e->name))) {
		close(end.fd);
		return;
	}
	if (end.fd < 0 || syscall(SYS_pidfd_send_signal, end.fd, SIGTERM, NULL, 0))
		ctl_refuse(SERVER " %d does not end: %s", e->pid, strerror(errno));
	if (poll(&end, 1, END_MS) != 1)
		ctl_refuse(SERVER " %d does not end: it waits for the device, perhaps for a peer that is silent",
			   e->pid);
	close(end.fd);
}
