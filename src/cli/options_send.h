/* SPDX-License-Identifier: GPL-2.0-only */
/* Options for what is sent to other programs. */
#ifndef BLK_CLI_OPTIONS_SEND_H
#define BLK_CLI_OPTIONS_SEND_H

#include "live/live.h"
#include "send/forward.h"
#include "send/send_metrics.h"

struct words;

/* What is sent to other programs. */
struct send_options {
	GPtrArray *metrics;		/* struct send_metric *; NULL: none is sent */
	unsigned most_values;
	char *listen, *metrics_file;	/* as given, or NULL */
	char **hosts;			/* with .listen: host_names.h */
	bool only;			/* nothing is printed: neither --view nor --metric was given */
	int fd;				/* the socket of .listen, set by the caller of isolate(); -1: none */
	int notify_fd;			/* likewise, of systemd; -1: none */
	char *url;			/* of .fd's socket, likewise; the caller of isolate() frees it */
	struct live_url graphite;	/* .host NULL: not given */
	char *graphite_name;		/* a template, or NULL: those of lttng-graph */
	char *datacenter;
	struct http_url forward;	/* .path NULL: not given */
	enum span_format forward_format;
	struct forward_rule forward_rule;
	bool forward_kernel;
};

/* Interprets them. False: *error says what is wrong with which option. Moves words to `ret`. */
bool options_read_send(struct send_options *ret, struct words *w, GError **error);
void send_options_clear(struct send_options *s);

#endif
