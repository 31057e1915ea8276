// SPDX-License-Identifier: GPL-2.0
/*
 * Commands export, unexport: a device of this node for a machine that has not
 * the module, which swaps to it by NVMe/TCP or NBD.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "export.h"
#include "json.h"
#include "keyfile.h"
#include "lock.h"
#include "view.h"

#define NVME_PORT	4420
#define NBD_PORT	10809
#define CLIENTS_LEN	512
#define LOCK_FILE	"/run/nswap-export.lock"

static const struct option export_options[] = {
	{ "nvme", no_argument, NULL, 'n' },
	{ "nbd", no_argument, NULL, 'b' },
	{ "to", required_argument, NULL, 't' },
	{ "host", required_argument, NULL, 'h' },
	{ "secret", required_argument, NULL, 's' },
	{ }
};

static const struct option unexport_options[] = {
	{ "now", no_argument, NULL, 'n' },
	{ }
};

/* what was asked for, but for the device */
struct export_args {
	bool nvme;
	bool nbd;
	const char *to;
	const char *host;
	const char *secret;
};

static void export_parse(int argc, char **argv, struct export_args *a)
{
	int option;

	while ((option = arg_option(argc, argv, export_options)) != -1) {
		if (option == 'n')
			a->nvme = true;
		else if (option == 'b')
			a->nbd = true;
		else if (option == 't')
			a->to = optarg;
		else if (option == 'h')
			a->host = optarg;
		else
			a->secret = optarg;
	}
	if (optind >= argc)
		ctl_usage("name the device to export");
	arg_no_more(argc, argv, optind + 1);
	if (a->nvme == a->nbd)
		ctl_usage("say how to export it: --nvme or --nbd");
	if (a->nbd && (a->host || a->secret))
		ctl_usage("--host and --secret go with --nvme: NBD does not ask who a client is");
	if (a->secret && !a->host)
		ctl_usage("--secret goes with --host, whose secret it is");
	if (a->host && (!*a->host || strchr(a->host, '/') || strlen(a->host) >= EXPORT_NAME))
		ctl_usage("'%s' is no host NQN, a client has it in /etc/nvme/hostnqn", a->host);
}

/*
 * Until this program ends no other one makes or ends exports: they share ports and hosts, and
 * what one has half made is not for another one to end.
 */
static void export_lock(void)
{
	lock_until_end(LOCK_FILE);
}

/* where clients connect to: an address of this machine, the node's by default */
static void export_to(const struct export_args *a, struct ctl_addr *to)
{
	struct sockaddr_storage ss;
	struct view_node node;
	struct ctl_addr there;
	char ip[ADDR_TEXT];
	socklen_t len;
	int sock, done;

	if (!a->to) {
		view_get_node(&node);
		*to = node.addr;
		to->port = 0;
	} else if (!parse_addr(a->to, to)) {
		ctl_usage("'%s' is no address", a->to);
	}
	if (to->family == AF_INET6 && to->ip[0] == 0xfe && (to->ip[1] & 0xc0) == 0x80 && !to->scope)
		ctl_refuse("%s is an address of one link only: say which, as in %s%%eth0",
			   text_ip(to, ip), ip);
	there = *to;
	there.port = 0;
	len = addr_socket(&there, &ss);
	sock = socket(to->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	done = sock < 0 ? 0 : bind(sock, (struct sockaddr *)&ss, len);
	if (sock >= 0)
		close(sock);
	if (done && errno == EADDRNOTAVAIL)
		ctl_refuse("%s is no address of this machine: --to says where clients connect to, --host which one may",
			   a->to ? a->to : "the node's address");
	if (!to->port)
		to->port = a->nvme ? NVME_PORT : NBD_PORT;
}

/* no client takes it for an earlier one: whatever that had swapped out would be wrong */
static void export_name(struct export *e)
{
	unsigned long long number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		ctl_refuse("there are no random numbers to be had: %s", strerror(errno));
	snprintf(e->name, sizeof(e->name), "%s%.63s-%016llx",
		 e->nvme ? EXPORT_NQN : "", e->device, number);
}

/* the secret in a file, which others must not read */
static void export_secret(const char *path, char *secret, int len)
{
	FILE *f = fopen(path, "re");
	const char *wrong = NULL;
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		ctl_refuse("%s: %s", path, strerror(errno));
	wrong = keyfile_wrong(&st);
	if (!wrong && (!fgets(secret, len, f) || strncmp(secret, "DHHC-1:", 7)))
		wrong = "no secret as 'nvme gen-dhchap-key' prints is in its first line";
	fclose(f);
	if (wrong)
		ctl_refuse("%s: %s", path, wrong);
	secret[strcspn(secret, "\n")] = '\0';
}

static void export_json(const struct export *e, const char *clients)
{
	char ip[ADDR_TEXT], one[ADDR_TEXT];

	json_object(NULL);
	json_string("device", e->device);
	json_string("by", e->nvme ? "nvme" : "nbd");
	json_string("name", e->name);
	json_string("addr", e->to.family ? text_ip(&e->to, ip) : "");
	json_number("port", e->to.port);
	json_string("host", e->host);
	json_bool("secret", e->secret);
	json_list("clients");
	for (; sscanf(clients, "%79[^,]", one) == 1; clients += strlen(one) + !!clients[strlen(one)])
		json_string(NULL, one);
	json_end();
	json_end();
}

/* what a client types to use it */
static void export_say(const struct export *e)
{
	static const uint8_t any[16];
	char ip[ADDR_TEXT], clients[CLIENTS_LEN];

	export_clients(e, clients, sizeof(clients));
	if (ctl_json) {
		export_json(e, clients);
		return;
	}
	text_ip(&e->to, ip);
	printf("/dev/%s, by %s at %s port %u; on the client:\n", e->device,
	       e->nvme ? "NVMe/TCP" : "NBD", ip, e->to.port);
	if (!memcmp(e->to.ip, any, sizeof(any)))
		strcpy(ip, "ADDR");
	if (e->nvme)
		printf("nvme connect -t tcp -a %s -s %u -n %s --keep-alive-tmo=5 --ctrl-loss-tmo=-1%s\n"
		       "for c in $(grep -lxF %s /sys/class/nvme/*/subsysnqn); do echo 10 > ${c%%/*}/fast_io_fail_tmo; done\n",
		       ip, e->to.port, e->name, e->secret ? " --dhchap-secret=SECRET" : "",
		       e->name);
	else
		printf("nbd-client %s %u /dev/nbd0 -N %s -b 4096 -swap -timeout 30\n", ip,
		       e->to.port, e->name);
}

/* an export of a device of this node that was interrupted while it was made */
static void export_end_half(struct view_device *d)
{
	struct export e;

	if (!export_find(d->name, &e) || e.to.family)
		return;
	export_nvme_end(&e);
	view_get_device(d->name, d);
}

/* is it exported so already? Refused if it is, but otherwise */
static bool export_is_so(const struct export *e, bool secret)
{
	struct export there;
	char to[ADDR_TEXT];

	if (!export_find(e->device, &there))
		return false;
	if (there.nvme != e->nvme || memcmp(&there.to, &e->to, sizeof(e->to)) ||
	    strcmp(there.host, e->host) || there.secret != secret)
		ctl_refuse("%s is exported already, by %s at %s%s%s: nswapctl unexport %s first",
			   e->device, there.nvme ? "NVMe/TCP" : "NBD",
			   text_addr(&there.to, to), *there.host ? " to " : "", there.host,
			   e->device);
	export_say(&there);
	return true;
}

static int export_list(void)
{
	char clients[CLIENTS_LEN], to[ADDR_TEXT];
	struct export *all, *e;
	size_t nr;

	nr = export_all(&all);
	if (ctl_json)
		json_list(NULL);
	else
		printf("%-8s %-4s %-24s %-16s %s\n", "DEVICE", "BY", "ADDRESS", "CLIENTS",
		       "NAME");
	for (e = all; e < all + nr; e++) {
		export_clients(e, clients, sizeof(clients));
		if (ctl_json) {
			export_json(e, clients);
			continue;
		}
		printf("%-8s %-4s %-24s %-16s %s\n", e->device, e->nvme ? "nvme" : "nbd",
		       e->to.family ? text_addr(&e->to, to) : "half made",
		       *clients ? clients : "-", e->name);
		if (*e->host)
			printf("         for %s%s\n", e->host, e->secret ? ", with a secret" : "");
	}
	if (ctl_json)
		json_end();
	free(all);
	return 0;
}

int cmd_export(int argc, char **argv)
{
	struct export_args a = { .nvme = false };
	struct export e = { .pid = 0 };
	char secret[256], to[ADDR_TEXT];
	struct view_device d;

	if (argc == 1 || (argc == 2 && !strcmp(argv[1], "list")))
		return export_list();
	export_parse(argc, argv, &a);
	if (ctl_node)
		ctl_refuse("it is exported from the node of this network namespace, without --node");
	snprintf(e.device, sizeof(e.device), "%s", arg_in_dev(argv[optind]));
	export_lock();
	view_get_device(e.device, &d);
	export_end_half(&d);
	snprintf(e.host, sizeof(e.host), "%s", a.host ? a.host : "");
	e.nvme = a.nvme;
	export_to(&a, &e.to);
	if (a.secret)
		export_secret(a.secret, secret, sizeof(secret));
	if (export_is_so(&e, a.secret))
		return 0;
	if (d.in_use)
		ctl_refuse("%s is in use on this machine: swapoff or unmount it first", d.name);
	export_name(&e);
	if (e.nvme)
		export_nvme_start(&e, a.secret ? secret : NULL);
	else
		export_nbd_start(&e);
	e.secret = a.secret;
	export_say(&e);
	fflush(stdout);
	if (!a.secret)
		ctl_warn("%s who reaches %s can read and write it; neither way encrypts, so use a network you trust",
			 *e.host ? "anyone who knows that name and" : "anyone",
			 text_addr(&e.to, to));
	return 0;
}

int cmd_unexport(int argc, char **argv)
{
	char clients[CLIENTS_LEN];
	const char *device;
	struct view_device d;
	bool now = false;
	struct export e;

	while (arg_option(argc, argv, unexport_options) != -1)
		now = true;
	if (optind >= argc)
		ctl_usage("name the device to export no longer");
	arg_no_more(argc, argv, optind + 1);
	if (ctl_node)
		ctl_refuse("an export ends from the node of this network namespace, without --node");
	device = arg_in_dev(argv[optind]);
	export_lock();
	if (!export_find(device, &e))
		ctl_refuse("%s is not exported: nswapctl export", device);
	/* who is connected is only seen where it listens, in the network namespace of its node */
	if (e.to.family)
		view_get_device(device, &d);
	export_clients(&e, clients, sizeof(clients));
	if (*clients && !now)
		ctl_refuse("%s is connected: swapoff and disconnect there first, or lose what it has swapped out with --now",
			   clients);
	if (e.nvme)
		export_nvme_end(&e);
	else
		export_nbd_end(&e);
	return 0;
}
