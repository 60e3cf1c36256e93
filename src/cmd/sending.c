/* SPDX-License-Identifier: GPL-2.0-only */
/* Sending metrics: see sending.h. */
#include "cmd/sending.h"

#include "app/reading.h"
#include "base/isolation.h"
#include "base/limits.h"
#include "cli/messages.h"
#include "send/graphite.h"
#include "send/listener.h"
#include "send/server.h"
#include "send/totals_text.h"

#include <errno.h>
#include <poll.h>

#define LOOK_MS 20		/* how often it is looked whether all was sent */
#define LAST_LINES_US 500000	/* for the last values, after a signal */
#define WAIT_MS 200		/* until a signal between a look and a wait is noticed */

struct sending {
	const struct options *o;
	struct totals *totals;
	struct server *server;		/* NULL: without --listen */
	GBytes *written;		/* what the file has */
	struct graphite *graphite;	/* NULL: without --graphite, or finished */
	bool reported_dropped;
	bool failed;			/* the file could not be written, which was printed */
	int64_t from_ns, to_ns;
};

bool sending_open(struct send_options *o)
{
	g_autoptr(GError) error = NULL;
	if (!o->listen)
		return true;
	o->fd = listener_open(o->listen, &o->url, &error);
	if (o->fd < 0)
		log_error("--listen: %s", error->message);
	return o->fd >= 0;
}

bool sending_start(const struct options *o, struct sending **ret)
{
	g_autoptr(GError) error = NULL;
	*ret = NULL;
	if (!o->send.metrics)
		return true;
	struct sending *s = *ret = g_new0(struct sending, 1);
	*s = (struct sending){ .o = o, .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	if (o->send.graphite.host) {
		struct graphite_options graphite = {
			.server = o->send.graphite, .metrics = o->send.metrics, .name = o->send.graphite_name,
			.datacenter = o->send.datacenter, .most = o->send.most_values, .live = o->live,
		};
		s->graphite = graphite_start(&graphite);
	}
	s->totals = totals_new(o->send.metrics, o->send.most_values, o->live);
	if (o->send.fd < 0)
		return true;
	s->server = server_start(o->send.fd, s->totals, &error);
	if (s->server)
		log_error("serving %s", o->send.url);
	else
		log_error("--listen: %s", error->message);
	return s->server != NULL;
}

void sending_free(struct sending *s)
{
	if (!s)
		return;
	sending_finish(s);
	server_stop(s->server);
	totals_free(s->totals);
	g_clear_pointer(&s->written, g_bytes_unref);
	g_free(s);
}

void sending_limit(struct sending *s, int64_t from_ns, int64_t to_ns)
{
	if (!s)
		return;
	s->from_ns = from_ns;
	s->to_ns = to_ns;
}

/* Each reason is printed once, until the file can be written again. */
static void write_file(struct sending *s)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) text = totals_text(s->totals, false);
	gsize n;
	const char *bytes = g_bytes_get_data(text, &n);
	if (text == s->written)
		return;
	/* Another user reads it. */
	bool ok = g_file_set_contents_full(s->o->send.metrics_file, bytes, (gssize)n, G_FILE_SET_CONTENTS_CONSISTENT,
					   0644, &error);
	if (!ok && !s->failed)
		log_error("--metrics-file: %s%s", error->message,
			  g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ACCES) ? isolation_hint(EACCES) : "");
	s->failed = !ok;
	if (!ok)
		return;
	g_clear_pointer(&s->written, g_bytes_unref);
	s->written = g_steal_pointer(&text);
}

/* ---- Graphite ---- */

static void report_graphite(struct sending *s)
{
	struct carbon *c = graphite_connection(s->graphite);
	g_autofree char *message = carbon_take_message(c);
	if (message)
		log_error("--graphite: %s; trying again", message);
	if (!s->reported_dropped && carbon_dropped(c)) {
		log_error("--graphite: the oldest values are dropped: more than %d bytes wait", LIMIT_GRAPHITE_BYTES);
		s->reported_dropped = true;
	}
}

/* A recorded trace is sent as the server takes it. */
static void update_graphite(struct sending *s, const struct timeline *tl, size_t end, bool ended)
{
	struct carbon *c = graphite_connection(s->graphite);
	bool all = graphite_update(s->graphite, tl, end, s->from_ns, s->to_ns);
	gint64 since = g_get_monotonic_time();
	report_graphite(s);
	while (ended && !all && !reading_caught() &&
	       g_get_monotonic_time() - since < LIMIT_GRAPHITE_END_SECONDS * (gint64)G_USEC_PER_SEC) {
		poll(NULL, 0, WAIT_MS);
		if (carbon_has_room(c)) {
			all = graphite_update(s->graphite, tl, end, s->from_ns, s->to_ns);
			since = g_get_monotonic_time();
		}
		report_graphite(s);
	}
	if (ended && !all)
		log_error("--graphite: the trace is not sent whole");
}

int sending_finish(struct sending *s)
{
	if (!s || !s->graphite)
		return EXIT_FINE;
	struct carbon *c = graphite_connection(s->graphite);
	bool was_caught = reading_caught();
	carbon_end(c);
	for (gint64 since = g_get_monotonic_time(); carbon_is_busy(c); poll(NULL, 0, LOOK_MS)) {
		report_graphite(s);
		if (was_caught ? g_get_monotonic_time() - since > LAST_LINES_US : reading_caught() != 0)
			break;
	}
	report_graphite(s);
	uint64_t dropped = graphite_free(s->graphite);
	s->graphite = NULL;
	if (!dropped)
		return EXIT_FINE;
	log_error("--graphite: %" G_GUINT64_FORMAT " values were not sent", dropped);
	return EXIT_INCOMPLETE;
}

void sending_update(struct sending *s, const struct timeline *tl, size_t end, bool ended)
{
	if (!s)
		return;
	if (s->graphite)
		update_graphite(s, tl, end, ended);
	if (s->o->send.fd < 0 && !s->o->send.metrics_file)
		return;
	totals_update(s->totals, tl, end, s->from_ns, s->to_ns, ended);
	if (s->o->send.metrics_file && (s->o->live || ended))
		write_file(s);
}

void sending_wait(struct sending *s)
{
	while (s && s->server && !reading_caught())
		poll(NULL, 0, WAIT_MS);
}
