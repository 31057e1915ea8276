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
 *  - It listens in the network namespace of the task that makes that link; a port that listens in
 *    another one is none for its address here.
 *  - Hosts that others may not list are ours, and go with the last subsystem that allows them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "export.h"
#include "export_nvmet.h"

#define FIRST_PORT	9611u
#define LAST_PORT	9999u
#define SECRET_LEN	256

/* is it a port of ours? */
static bool is_own(const char *port)
{
	unsigned long number = strtoul(port, NULL, 10);

	return number >= FIRST_PORT && number <= LAST_PORT;
}

static bool port_addr(const char *port, struct ctl_addr *to)
{
	char ip[64], service[16];
	bool known;

	nvmet_got(nvmet_at("ports/%s/addr_traddr", port), ip, sizeof(ip));
	nvmet_got(nvmet_at("ports/%s/addr_trsvcid", port), service, sizeof(service));
	known = export_addr(ip, to);
	to->port = atoi(service);
	return known;
}

static bool port_is_at(const char *port, const struct ctl_addr *to)
{
	struct ctl_addr at_port;
	char type[16];

	nvmet_got(nvmet_at("ports/%s/addr_trtype", port), type, sizeof(type));
	return !strcmp(type, "tcp") && port_addr(port, &at_port) &&
	       !memcmp(&at_port, to, sizeof(*to));
}

static void take_port(struct export *e)
{
	DIR *ports = opendir(nvmet_at("ports"));
	const char *port;

	while (!e->to.family && (port = nvmet_next(ports)))
		if (!access(nvmet_at("ports/%s/subsystems/%s", port, e->name), F_OK))
			port_addr(port, &e->to);
	if (ports)
		closedir(ports);
}

static void take_host(struct export *e)
{
	DIR *hosts = opendir(nvmet_at("subsystems/%s/allowed_hosts", e->name));
	const char *host = nvmet_next(hosts);
	const char *key = host ? nvmet_at("hosts/%s/dhchap_key", host) : NULL;
	char line[SECRET_LEN];

	if (host) {
		snprintf(e->host, sizeof(e->host), "%s", host);
		/* it is kept from others if there is one */
		e->secret = *nvmet_got(key, line, sizeof(line)) ||
			    (access(key, F_OK) && errno == EACCES);
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
	all = opendir(nvmet_at("subsystems"));
	while ((name = nvmet_next(all))) {
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

/* the ports' links to it, and ports of ours that have no other */
static void end_ports(const struct export *e)
{
	DIR *ports = opendir(nvmet_at("ports"));
	const char *port;

	while ((port = nvmet_next(ports))) {
		unlink(nvmet_at("ports/%s/subsystems/%s", port, e->name));
		/* refused while there is a link */
		if (is_own(port))
			rmdir(nvmet_at("ports/%s", port));
	}
	if (ports)
		closedir(ports);
}

/* a host goes if it is ours; refused while a subsystem allows it */
static void end_host(const char *host)
{
	struct stat st;

	if (!stat(nvmet_at("hosts/%s", host), &st) && !(st.st_mode & S_IROTH))
		rmdir(nvmet_at("hosts/%s", host));
}

static void end_hosts(const struct export *e)
{
	DIR *hosts = opendir(nvmet_at("subsystems/%s/allowed_hosts", e->name));
	const char *host;

	while ((host = nvmet_next(hosts))) {
		unlink(nvmet_at("subsystems/%s/allowed_hosts/%s", e->name, host));
		end_host(host);
	}
	if (hosts)
		closedir(hosts);
	if (*e->host)
		end_host(e->host);
}

/* all of it that there is; false if it is not gone, with errno */
static bool nvmet_end(const struct export *e)
{
	end_ports(e);
	end_hosts(e);
	nvmet_put(nvmet_at("subsystems/%s/namespaces/1/enable", e->name), "0");
	rmdir(nvmet_at("subsystems/%s/namespaces/1", e->name));
	return !rmdir(nvmet_at("subsystems/%s", e->name)) || errno == ENOENT;
}

/* a secret is a host's, whatever that connects to: refused if it would be another one */
static void check_host(const struct export *e, const char *secret)
{
	char had[SECRET_LEN];

	/* one that an interrupted export left */
	end_host(e->host);
	if (access(nvmet_at("hosts/%s", e->host), F_OK))
		return;
	nvmet_got(nvmet_at("hosts/%s/dhchap_key", e->host), had, sizeof(had));
	if (strcmp(had, secret ? secret : ""))
		ctl_refuse("%s has %s secret for what it may connect to already, and cannot have another one for this: %s",
			   e->host, *had ? "a" : "no",
			   *had ? "name the same one with --secret" : "leave --secret out");
}

/* a host of ours; not for a moment may others open its files, which can show the secret later */
static bool make_host(const char *host, bool secret)
{
	struct stat all;
	bool made;
	int why;

	if (stat(nvmet_at("hosts"), &all) || chmod(nvmet_at("hosts"), 0700))
		return false;
	made = !mkdir(nvmet_at("hosts/%s", host), 0755) &&
	       !chmod(nvmet_at("hosts/%s", host), secret ? 0700 : 0711);
	why = errno;
	chmod(nvmet_at("hosts"), all.st_mode & 0777);
	errno = why;
	return made;
}

/* undo what there is, and say what failed */
static void __attribute__((noreturn)) nvmet_undo(const struct export *e, const char *what)
{
	const char *why = strerror(errno);

	ctl_refuse("%s: %s; %s", what, why, nvmet_end(e) ? "nothing was changed" :
		   "it stays half made: nswapctl unexport");
}

static void allow_host(const struct export *e, const char *secret)
{
	if (!*e->host && nvmet_put(nvmet_at("subsystems/%s/attr_allow_any_host", e->name), "1"))
		return;
	if (!*e->host)
		nvmet_undo(e, "attr_allow_any_host");
	if (make_host(e->host, secret)) {
		if (secret && !nvmet_put(nvmet_at("hosts/%s/dhchap_key", e->host), secret))
			nvmet_undo(e, errno == ENOENT || errno == EACCES ?
				   "--secret (this kernel is without CONFIG_NVME_TARGET_AUTH)" :
				   "--secret");
	} else if (errno != EEXIST) {
		nvmet_undo(e, e->host);
	}
	if (symlink(nvmet_at("hosts/%s", e->host),
		    nvmet_at("subsystems/%s/allowed_hosts/%s", e->name, e->host)))
		nvmet_undo(e, e->host);
}

static void make_namespace(const struct export *e)
{
	char path[80];

	snprintf(path, sizeof(path), "/dev/%s", e->device);
	/* pages go to the device as they came; buffered_io would keep them here as well */
	if (mkdir(nvmet_at("subsystems/%s/namespaces/1", e->name), 0755) ||
	    !nvmet_put(nvmet_at("subsystems/%s/namespaces/1/device_path", e->name), path) ||
	    !nvmet_put(nvmet_at("subsystems/%s/namespaces/1/enable", e->name), "1"))
		nvmet_undo(e, path);
}

/* Does it listen in this network namespace? One that nothing links to does nowhere yet. */
static bool port_is_here(const char *port, const struct ctl_addr *to)
{
	DIR *links = opendir(nvmet_at("ports/%s/subsystems", port));
	bool idle = !nvmet_next(links);

	if (links)
		closedir(links);
	return idle || export_listens(to);
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
	const char *family = e->to.family == AF_INET ? "ipv4" : "ipv6";
	char ip[ADDR_TEXT], service[16];
	DIR *ports = opendir(nvmet_at("ports"));
	const char *name;
	unsigned int n;
	bool found = false;

	while (!found && (name = nvmet_next(ports))) {
		found = port_is_at(name, &e->to) && port_is_here(name, &e->to);
		snprintf(port, len, "%s", name);
	}
	if (ports)
		closedir(ports);
	if (found)
		return;
	for (n = FIRST_PORT; mkdir(nvmet_at("ports/%u", n), 0755); n++)
		if (errno != EEXIST || n == LAST_PORT)
			nvmet_undo(e, "a port of nvmet");
	snprintf(port, len, "%u", n);
	snprintf(service, sizeof(service), "%u", e->to.port);
	if (!nvmet_put(nvmet_at("ports/%u/addr_trtype", n), "tcp") ||
	    !nvmet_put(nvmet_at("ports/%u/addr_adrfam", n), family) ||
	    !nvmet_put(nvmet_at("ports/%u/addr_traddr", n), port_ip(&e->to, ip)) ||
	    !nvmet_put(nvmet_at("ports/%u/addr_trsvcid", n), service))
		nvmet_undo(e, "the address of a port of nvmet");
}

void export_nvme_start(const struct export *e, const char *secret)
{
	char where[ADDR_TEXT], port[EXPORT_NAME] = "";

	nvmet_begin();
	if (*e->host)
		check_host(e, secret);
	if (mkdir(nvmet_at("subsystems/%s", e->name), 0755))
		nvmet_undo(e, e->name);
	/* what 'nvme list' shows on clients */
	nvmet_put(nvmet_at("subsystems/%s/attr_model", e->name), "nswap");
	allow_host(e, secret);
	make_namespace(e);
	find_port(e, port, sizeof(port));
	if (!symlink(nvmet_at("subsystems/%s", e->name),
		     nvmet_at("ports/%s/subsystems/%s", port, e->name)))
		return;
	nvmet_undo(e, errno == EINVAL ? "nvmet-tcp, which modprobe has to load" :
		   text_addr(&e->to, where));
}

void export_nvme_end(const struct export *e)
{
	if (!nvmet_end(e))
		ctl_refuse("%s does not end: %s", e->name, strerror(errno));
}
