// SPDX-License-Identifier: GPL-2.0
/*
 * Exports by NVMe/TCP: the kernel's target, nvmet, which is set up by folders, files and
 * links of its part of configfs.
 *
 *   subsystems/NQN/attr_allow_any_host, allowed_hosts/HOST -> hosts/HOST
 *   subsystems/NQN/namespaces/1/device_path, enable
 *   ports/N/addr_*, subsystems/NQN -> subsystems/NQN
 *
 * Invariants:
 *  - Ours are the subsystems whose NQN begins with NQN, and the ports from FIRST_PORT on;
 *    a port for the same address that is there already is used too, and left alone.
 *  - The port's link is made last and goes first: nothing listens for what is half made.
 *  - It listens in the network namespace of the task that makes that link.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "export.h"
#include "run.h"


#define CONFIGFS	"/sys/kernel/config"
#define FIRST_PORT	9611u
#define LAST_PORT	9999u
#define PATH_LEN	1024

static char root[PATH_LEN];	/* nvmet's folder, "" until it is found */

/* a path below it, in one of a few buffers that are used in turn */
static const char *at(const char *format, ...)
{
	static char buf[4][PATH_LEN];
	static unsigned int turn;
	char *path = buf[turn++ % 4];
	int used = snprintf(path, PATH_LEN, "%s/", root);
	va_list args;

	va_start(args, format);
	vsnprintf(path + used, PATH_LEN - used, format, args);
	va_end(args);
	return path;
}

static bool put(const char *path, const char *value)
{
	int file = open(path, O_WRONLY | O_CLOEXEC), why;
	bool done;

	if (file < 0)
		return false;
	done = write(file, value, strlen(value)) == (ssize_t)strlen(value);
	why = errno;
	close(file);
	errno = why;
	return done;
}

/* the first line of a file; "" if there is none */
static const char *got(const char *path, char *line, int len)
{
	FILE *f = fopen(path, "re");

	*line = '\0';
	if (!f)
		return line;
	if (!fgets(line, len, f))
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(f);
	return line;
}

/* the next name in a folder, which may be NULL */
static const char *next(DIR *dir)
{
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (*e->d_name != '.')
			return e->d_name;
	return NULL;
}

/* where configfs is mounted, and nvmet in it */
static bool nvmet_find(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	const struct mntent *e;

	*root = '\0';
	while (mounts && !*root && (e = getmntent(mounts)))
		if (!strcmp(e->mnt_type, "configfs"))
			snprintf(root, sizeof(root), "%s/nvmet", e->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return *root && !access(root, F_OK);
}

/* the same, loading and mounting what is missing; refused if there is none */
static void nvmet_begin(void)
{
	const char *const modprobe[] = { "modprobe", "-q", "nvmet-tcp", NULL };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (access("/sys/module/nvmet_tcp", F_OK) && null >= 0)
		run_words(modprobe, null, null);
	if (null >= 0)
		close(null);
	if (!nvmet_find() && !*root && !mount("none", CONFIGFS, "configfs", 0, NULL))
		nvmet_find();
	if (!*root || access(root, F_OK))
		ctl_refuse("this kernel has no NVMe target: 'modprobe nvmet-tcp' has to load it, which the packages linux-image-* of Debian have");
}

/* is it a port of ours? */
static bool is_own(const char *port)
{
	unsigned long number = strtoul(port, NULL, 10);

	return number >= FIRST_PORT && number <= LAST_PORT;
}

static bool port_addr(const char *port, struct ctl_addr *to)
{
	char ip[64], service[16];
	bool known = export_addr(got(at("ports/%s/addr_traddr", port), ip, sizeof(ip)), to);

	to->port = atoi(got(at("ports/%s/addr_trsvcid", port), service, sizeof(service)));
	return known;
}

static bool port_is_at(const char *port, const struct ctl_addr *to)
{
	struct ctl_addr at_port;
	char type[16];

	return port_addr(port, &at_port) &&
	       !strcmp(got(at("ports/%s/addr_trtype", port), type, sizeof(type)), "tcp") &&
	       !memcmp(&at_port, to, sizeof(*to));
}

static void take_port(struct export *e)
{
	DIR *ports = opendir(at("ports"));
	const char *port;

	while (!e->to.family && (port = next(ports)))
		if (!access(at("ports/%s/subsystems/%s", port, e->name), F_OK))
			port_addr(port, &e->to);
	if (ports)
		closedir(ports);
}

static void take_host(struct export *e)
{
	DIR *hosts = opendir(at("subsystems/%s/allowed_hosts", e->name));
	const char *host = next(hosts);
	char line[128];

	if (host) {
		snprintf(e->host, sizeof(e->host), "%s", host);
		e->secret = *got(at("hosts/%s/dhchap_key", host), line, sizeof(line));
	}
	if (hosts)
		closedir(hosts);
}

void export_nvme_list(struct export **list, size_t *nr)
{
	struct export *e;
	const char *name;
	DIR *all;

	if (!nvmet_find())
		return;
	all = opendir(at("subsystems"));
	while ((name = next(all))) {
		if (strncmp(name, EXPORT_NQN, strlen(EXPORT_NQN)))
			continue;
		e = export_more(list, nr);
		e->nvme = true;
		snprintf(e->name, sizeof(e->name), "%s", name);
		snprintf(e->device, sizeof(e->device), "%.*s",
			 (int)strcspn(name + strlen(EXPORT_NQN), "-"), name + strlen(EXPORT_NQN));
		take_host(e);
		take_port(e);
	}
	if (all)
		closedir(all);
}

/* undo what there is, and say what failed */
static void __attribute__((noreturn)) nvmet_undo(const struct export *e, const char *what)
{
	const char *why = strerror(errno);

	export_nvme_end(e);
	ctl_refuse("%s: %s; nothing was changed", what, why);
}

static void make_host(const struct export *e, const char *secret)
{
	const char *host = at("hosts/%s", e->host);

	if (!*e->host && put(at("subsystems/%s/attr_allow_any_host", e->name), "1"))
		return;
	if (!*e->host)
		nvmet_undo(e, "attr_allow_any_host");
	if ((mkdir(host, 0755) && errno != EEXIST) ||
	    symlink(host, at("subsystems/%s/allowed_hosts/%s", e->name, e->host)))
		nvmet_undo(e, e->host);
	if (secret && !put(at("hosts/%s/dhchap_key", e->host), secret))
		nvmet_undo(e, errno == ENOENT || errno == EACCES ?
			   "--secret (this kernel is without CONFIG_NVME_TARGET_AUTH)" :
			   "--secret");
}

static void make_namespace(const struct export *e)
{
	char path[80];

	snprintf(path, sizeof(path), "/dev/%s", e->device);
	/* pages go to the device as they came; buffered_io would keep them here as well */
	if (mkdir(at("subsystems/%s/namespaces/1", e->name), 0755) ||
	    !put(at("subsystems/%s/namespaces/1/device_path", e->name), path) ||
	    !put(at("subsystems/%s/namespaces/1/enable", e->name), "1"))
		nvmet_undo(e, path);
}

/* the interface is told by its number: nvmet looks for names in the first network namespace */
static const char *port_ip(const struct ctl_addr *to, char ip[ADDR_TEXT])
{
	struct ctl_addr bare = *to;
	size_t len;

	bare.scope = 0;
	len = strlen(text_ip(&bare, ip));
	if (to->scope)
		snprintf(ip + len, ADDR_TEXT - len, "%%%u", to->scope);
	return ip;
}

/* the port for an address; one that is missing is made, with a number that is free */
static void find_port(const struct export *e, char *port, size_t len)
{
	char ip[ADDR_TEXT], service[16];
	DIR *ports = opendir(at("ports"));
	const char *name;
	unsigned int n;
	bool found = false;

	while (!found && (name = next(ports))) {
		found = port_is_at(name, &e->to);
		snprintf(port, len, "%s", name);
	}
	if (ports)
		closedir(ports);
	if (found)
		return;
	for (n = FIRST_PORT; mkdir(at("ports/%u", n), 0755); n++)
		if (errno != EEXIST || n == LAST_PORT)
			nvmet_undo(e, "a port of nvmet");
	snprintf(port, len, "%u", n);
	snprintf(service, sizeof(service), "%u", e->to.port);
	if (!put(at("ports/%u/addr_trtype", n), "tcp") ||
	    !put(at("ports/%u/addr_adrfam", n), e->to.family == AF_INET ? "ipv4" : "ipv6") ||
	    !put(at("ports/%u/addr_traddr", n), port_ip(&e->to, ip)) ||
	    !put(at("ports/%u/addr_trsvcid", n), service))
		nvmet_undo(e, "the address of a port of nvmet");
}

void export_nvme_start(const struct export *e, const char *secret)
{
	char where[ADDR_TEXT], port[EXPORT_NAME] = "";

	nvmet_begin();
	if (mkdir(at("subsystems/%s", e->name), 0755))
		nvmet_undo(e, e->name);
	/* what 'nvme list' shows on clients */
	put(at("subsystems/%s/attr_model", e->name), "nswap");
	make_host(e, secret);
	make_namespace(e);
	find_port(e, port, sizeof(port));
	if (!symlink(at("subsystems/%s", e->name),
		     at("ports/%s/subsystems/%s", port, e->name)))
		return;
	nvmet_undo(e, errno == EINVAL ? "nvmet-tcp, which modprobe has to load" :
		   text_addr(&e->to, where));
}

/* the ports' links to it, and ports of ours that have no other */
static void end_ports(const struct export *e)
{
	DIR *ports = opendir(at("ports"));
	const char *port;

	while ((port = next(ports))) {
		unlink(at("ports/%s/subsystems/%s", port, e->name));
		/* refused while there is a link */
		if (is_own(port))
			rmdir(at("ports/%s", port));
	}
	if (ports)
		closedir(ports);
}

static void end_hosts(const struct export *e)
{
	DIR *hosts = opendir(at("subsystems/%s/allowed_hosts", e->name));
	const char *host;

	while ((host = next(hosts))) {
		unlink(at("subsystems/%s/allowed_hosts/%s", e->name, host));
		/* refused while another subsystem allows it */
		rmdir(at("hosts/%s", host));
	}
	if (hosts)
		closedir(hosts);
}

void export_nvme_end(const struct export *e)
{
	end_ports(e);
	end_hosts(e);
	put(at("subsystems/%s/namespaces/1/enable", e->name), "0");
	rmdir(at("subsystems/%s/namespaces/1", e->name));
	rmdir(at("subsystems/%s", e->name));
}
