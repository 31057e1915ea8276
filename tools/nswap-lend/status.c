// SPDX-License-Identifier: GPL-2.0
/*
 * Status, for people and programs: over a socket without a file, named by the port, which
 * there is one of in a network namespace, as of the node. It is told to its own user and
 * to root; this program prints it, asked with --status.
 */
#include <stdio.h>
#include <sys/un.h>
#include <unistd.h>

#include "json.h"
#include "keys/identity.h"
#include "lend.h"
#include "options.h"
#include "status.h"

#define WAIT_S	5

static socklen_t status_name(u16 port, struct sockaddr_un *at)
{
	memset(at, 0, sizeof(*at));
	at->sun_family = AF_UNIX;
	return offsetof(struct sockaddr_un, sun_path) + 1 +
	       snprintf(at->sun_path + 1, sizeof(at->sun_path) - 1, "nswap-lend-%u", port);
}

/* the socket, negative if there is none: then there is no status */
int lend_status_start(u16 port)
{
	struct sockaddr_un at;
	socklen_t len = status_name(port, &at);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, len) && !listen(fd, 4))
		return fd;
	lend_say("cannot be asked for its status: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static void status_fill(struct nswap_node *node, struct lend_status *s)
{
	memset(s, 0, sizeof(*s));
	strscpy(s->version, NSWAP_VERSION, sizeof(s->version));
	s->id = node->id;
	s->epoch = node->epoch;
	s->addr = node->addr;
	s->keys = node->identity;
	s->members = s->keys ? nswap_identity_members(node->identity) : 0;
	nswap_cache_get_view(node, &s->view);
	s->draining = !s->view.lent;
	s->counts = node->counts;
	s->owners = s->view.owners;
}

/* its own user, or root? */
static bool status_may(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) &&
	       (!who.uid || who.uid == geteuid());
}

/*
 * Somewhat more than fits is not told; the main thread never waits for who asks. False if
 * who asks cannot be answered now, as without a file.
 */
bool lend_status_answer(struct nswap_node *node, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct nswap_owner_view v;
	struct lend_status s;
	unsigned int i;

	if (fd < 0)
		return false;
	if (status_may(fd)) {
		status_fill(node, &s);
		send(fd, &s, sizeof(s), MSG_NOSIGNAL);
		for (i = 0; i < s.owners && nswap_owner_next(node, i, &v); i++)
			send(fd, &v, sizeof(v), MSG_NOSIGNAL);
	}
	close(fd);
	return true;
}

static const char *mib(u64 pages, char buf[32])
{
	return text_size(pages * PAGE_BYTES, buf, 32);
}

/* one line in the log */
void lend_status_log(struct nswap_node *node)
{
	char lent[32], held[32], room[32];
	struct nswap_cache_view v;

	nswap_cache_get_view(node, &v);
	lend_say("lends %s, holds %s for %u owners, %s is free; stored %llu, loaded %llu, freed %llu, refused %llu pages",
		 mib(v.lent, lent), mib(v.ram, held), v.owners, mib(v.free, room),
		 (u64)READ_ONCE(node->counts.pages_stored),
		 (u64)READ_ONCE(node->counts.pages_loaded),
		 (u64)READ_ONCE(node->counts.pages_freed),
		 (u64)READ_ONCE(node->counts.stores_refused));
}

static void print_text(const struct lend_status *s, const struct nswap_owner_view *o, u32 nr)
{
	char at[64], lent[32], held[32], room[32];
	u32 i;

	printf("%s%s%s lends %s, holds %s, %s free\n",
	       lend_addr_text(&s->addr, at, sizeof(at)), s->keys ? "" : " (open)",
	       s->draining ? " (draining)" : "", mib(s->view.lent, lent),
	       mib(s->view.ram, held), mib(s->view.free, room));
	for (i = 0; i < nr; i++)
		printf("owner %016llx holds %s%s\n", o[i].id, mib(o[i].ram, held),
		       o[i].connected ? "" : ", is away");
}

#define COUNT(name, ...)	{ #name, offsetof(struct nswap_stats, name) },

static const struct {
	const char *name;
	size_t at;
} counts[] = { NSWAP_SERVER_STATS(COUNT) NSWAP_ANNOUNCE_STATS(COUNT) };

static void print_json(const struct lend_status *s, const struct nswap_owner_view *o, u32 nr)
{
	char at[64];
	u32 i;

	json_object(NULL);
	json_string("addr", lend_addr_text(&s->addr, at, sizeof(at)));
	json_id("id", s->id);
	json_id("epoch", s->epoch);
	json_bool("open", !s->keys);
	json_bool("draining", s->draining);
	json_number("lent_pages", s->view.lent);
	json_number("held_pages", s->view.held);
	json_number("ram_pages", s->view.ram);
	json_number("free_pages", s->view.free);
	json_number("granted_pages", s->view.granted);
	json_number("set_aside_pages", s->view.set_aside);
	json_object("counters");
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		json_number(counts[i].name, *(u64 *)((char *)&s->counts + counts[i].at));
	json_end();
	json_list("owners");
	for (i = 0; i < nr; i++) {
		json_object(NULL);
		json_id("id", o[i].id);
		json_id("epoch", o[i].epoch);
		json_bool("connected", o[i].connected);
		json_number("held_pages", o[i].held);
		json_number("ram_pages", o[i].ram);
		json_number("granted_pages", o[i].granted);
		json_end();
	}
	json_end();
	json_end();
}

static bool status_read(int fd, void *to, size_t bytes)
{
	return recv(fd, to, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

/* ask the lender of the port that is asked for; the exit code */
int lend_status_ask(const struct lend_options *asked)
{
	struct nswap_owner_view *o = calloc(NSWAP_MAX_PEERS, sizeof(*o));
	struct timeval wait = { .tv_sec = WAIT_S };
	struct sockaddr_un at;
	socklen_t len = status_name(asked->addr.port, &at);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct lend_status s;
	u32 nr = 0;

	if (fd < 0 || !o || connect(fd, (struct sockaddr *)&at, len)) {
		if (asked->metrics) {
			lend_metrics(NULL, NULL, 0);
			return 0;
		}
		fprintf(stderr, "nswap-lend: no nswap-lend runs on port %u of this network namespace\n",
			asked->addr.port);
		return 1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (!status_read(fd, &s, sizeof(s)) ||
	    strncmp(s.version, NSWAP_VERSION, sizeof(s.version) - 1)) {
		fprintf(stderr, "nswap-lend: the one that runs tells you nothing: it is another user's, or another version\n");
		return 1;
	}
	while (nr < s.owners && nr < NSWAP_MAX_PEERS && status_read(fd, &o[nr], sizeof(*o)))
		nr++;
	close(fd);
	if (asked->metrics)
		lend_metrics(&s, o, nr);
	else if (asked->json)
		print_json(&s, o, nr);
	else
		print_text(&s, o, nr);
	free(o);
	return 0;
}
