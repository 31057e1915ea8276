// SPDX-License-Identifier: GPL-2.0
/*
 * Command metrics: all there is to see, for Prometheus; once, or as the answer
 * to one HTTP request, for a socket unit that starts it for each connection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "args.h"
#include "ctl.h"
#include "metrics.h"

#define PATIENCE	10	/* s for a request to come in */

/* a node that is down is a metric too */
static void write_metrics(FILE *out, bool plain)
{
	struct metrics m = { .out = out, .plain = plain };
	struct snap s;
	bool up = snap_take(&s);

	metrics_family(&m, METRICS_GAUGE, "nswap_up", NULL,
		       "1 if the module is loaded and this node is up");
	metrics_whole(&m, "", NULL, up);
	metrics_family(&m, METRICS_INFO, "nswapctl", NULL, "version of nswapctl");
	metrics_whole(&m, "_info", "version=\"" NSWAP_VERSION "\",", 1);
	if (up) {
		metrics_node(&m, &s);
		metrics_lists(&m, &s);
		metrics_latency(&m, &s);
		snap_drop(&s);
	}
	if (!plain)
		fputs("# EOF\n", out);
}

struct request {
	char method[16];
	char path[256];
	bool open;		/* takes OpenMetrics */
};

/* false if what came makes no sense */
static bool read_request(struct request *r)
{
	char line[4096], minor;

	memset(r, 0, sizeof(*r));
	if (!fgets(line, sizeof(line), stdin) ||
	    sscanf(line, "%15s %255s HTTP/1.%c", r->method, r->path, &minor) != 3)
		return false;
	while (fgets(line, sizeof(line), stdin) && *line != '\r' && *line != '\n')
		if (!strncasecmp(line, "accept:", 7) &&
		    strstr(line, "application/openmetrics-text"))
			r->open = true;
	return true;
}

static void answer(const char *status, const char *type, const char *body,
		   bool whole)
{
	printf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
	       "Connection: close\r\n\r\n%s", status, type, strlen(body),
	       whole ? body : "");
}

static void answer_http(void)
{
	static const char plain[] = "text/plain; version=0.0.4; charset=utf-8";
	struct request r;
	size_t bytes;
	char *body;
	FILE *out;
	bool head;

	alarm(PATIENCE);
	if (!read_request(&r)) {
		answer("400 Bad Request", plain, "This is no request.\n", true);
		return;
	}
	head = !strcmp(r.method, "HEAD");
	if (!head && strcmp(r.method, "GET")) {
		answer("405 Method Not Allowed", plain, "GET /metrics is all.\n", true);
		return;
	}
	if (strcmp(r.path, "/metrics")) {
		answer("404 Not Found", plain, "The metrics are at /metrics.\n", !head);
		return;
	}
	out = open_memstream(&body, &bytes);
	if (!out)
		ctl_refuse("no memory");
	write_metrics(out, !r.open);
	if (fclose(out))
		ctl_refuse("no memory");
	answer("200 OK", r.open ?
	       "application/openmetrics-text; version=1.0.0; charset=utf-8" :
	       plain, body, !head);
	free(body);
}

int cmd_metrics(int argc, char **argv)
{
	static const struct option options[] = {
		{ "textfile", no_argument, NULL, 't' },
		{ "http", no_argument, NULL, 'h' },
		{ }
	};
	bool plain = false, http = false;
	int option;

	while ((option = arg_option(argc, argv, options)) != -1) {
		plain |= option == 't';
		http |= option == 'h';
	}
	arg_no_more(argc, argv, optind);
	if (ctl_json)
		ctl_refuse("metrics are no JSON, 'nswapctl --json stat' has the counters");
	if (plain && http)
		ctl_usage("--textfile or --http: who asks over HTTP says which format");
	if (http)
		answer_http();
	else
		write_metrics(stdout, plain);
	return 0;
}
