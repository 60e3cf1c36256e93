/* SPDX-License-Identifier: GPL-2.0-only */
/* Sending metrics and spans: see sending.h. */
#include "cmd/sending.h"

#include "app/reading.h"
#include "base/files.h"
#include "app/messages.h"
#include "send/forward.h"
#include "send/graphite.h"
#include "send/listener.h"
#include "send/notify.h"
#include "send/server.h"
#include "send/totals_text.h"

#include <poll.h>

#define LOOK_MS 20		/* how often it is looked whether all was sent */
#define LAST_LINES_US 500000	/* for the last values, after a signal */
#define STATUS_US G_USEC_PER_SEC	/* how often the status line is sent */
#define WAIT_MS 200		/* until a signal between a look and a wait is noticed */

struct sending {
	const struct send_options *o;
	bool live;
	struct totals *totals;		/* NULL: without --listen and --metrics-file */
	struct server *server;		/* NULL: without --listen */
	GBytes *written;		/* what the file has */
	struct graphite *graphite;	/* NULL: without --graphite, or finished */
	struct forward *forward;	/* NULL: without --forward, or finished */
	bool reported_graphite, reported_forward;	/* what is dropped */
	bool reported_evicted;
	bool incomplete;		/* not all was sent, or not all is counted */
	bool failed;			/* the newest could not be written to the file, which was printed */
	int64_t from_ns, to_ns;
	gint64 reported_us;
};

bool sending_open(struct send_options *o)
{
	g_autoptr(GError) error = NULL;
	o->notify_fd = notify_open();
	if (!o->listen)
		return true;
	o->fd = listener_open(o->listen, &o->url, &error);
	if (o->fd < 0)
		log_error("--listen: %s", error->message);
	return o->fd >= 0;
}

static bool wait_for_room(void *data);

static void start_forward(struct sending *s)
{
	const struct send_options *o = s->o;
	struct forward_options forward = {
		.url = o->forward, .format = o->forward_format, .rule = o->forward_rule,
		.with_kernel = o->forward_kernel, .live = s->live, .wait = wait_for_room, .data = s,
	};
	s->forward = forward_start(&forward);
}

bool sending_start(const struct send_options *o, bool live, struct sending **ret)
{
	g_autoptr(GError) error = NULL;
	struct sending *s = *ret = g_new0(struct sending, 1);
	*s = (struct sending){ .o = o, .live = live, .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	if (o->graphite.host) {
		struct graphite_options graphite = {
			.server = o->graphite, .metrics = o->metrics, .name = o->graphite_name,
			.datacenter = o->datacenter, .most = o->most_values, .live = live,
		};
		s->graphite = graphite_start(&graphite);
	}
	if (o->forward.path)
		start_forward(s);
	if (o->listen || o->metrics_file)
		s->totals = totals_new(o->metrics, o->most_values, live);
	notify_ready(o->notify_fd);
	if (o->fd < 0)
		return true;
	s->server = server_start(o->fd, o->hosts, s->totals, &error);
	if (s->server)
		log_error("serving %s", o->url);
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
	bool ok = files_set_contents(s->o->metrics_file, bytes, n, 0644, &error);
	if (!ok && !s->failed)
		log_error("--metrics-file: %s", error->message);
	s->failed = !ok;
	if (!ok)
		return;
	g_clear_pointer(&s->written, g_bytes_unref);
	s->written = g_steal_pointer(&text);
}

/* ---- what waits for servers ---- */

static void report(struct outbox *o, const char *option, const char *why_dropped, bool *reported_dropped)
{
	uint64_t sent, dropped;
	g_autofree char *message = outbox_take_message(o);
	if (message)
		log_error("%s: %s", option, message);
	outbox_get_counts(o, &sent, &dropped);
	if (!*reported_dropped && dropped) {
		log_error("%s: %s", option, why_dropped);
		*reported_dropped = true;
	}
}

static void report_all(struct sending *s)
{
	if (s->graphite)
		report(graphite_outbox(s->graphite), "--graphite", "the oldest values are dropped: too many wait",
		       &s->reported_graphite);
	if (s->forward)
		report(forward_outbox(s->forward), "--forward",
		       "spans are dropped: too many wait, or the server does not take them", &s->reported_forward);
}

/* A recorded trace is sent as the servers take it. False: do not wait for this one. */
static bool wait_for(struct sending *s, struct outbox *o)
{
	report_all(s);
	if (reading_caught() || !outbox_makes_progress(o))
		return false;
	poll(NULL, 0, LOOK_MS);
	return true;
}

static void update_graphite(struct sending *s, const struct timeline *tl, size_t end, bool ended)
{
	bool all;
	do {
		all = graphite_update(s->graphite, tl, end, s->from_ns, s->to_ns);
	} while (ended && !all && wait_for(s, graphite_outbox(s->graphite)));
	if (!ended || all)
		return;
	s->incomplete = true;
	log_error("--graphite: the trace is not sent whole");
	graphite_stop_waiting(s->graphite);
	if (!reading_caught())
		graphite_update(s->graphite, tl, end, s->from_ns, s->to_ns);
}

/* ---- spans ---- */

static bool wait_for_room(void *data)
{
	struct sending *s = data;
	return wait_for(s, forward_outbox(s->forward));
}

static void note_forwarded(struct sending *s, bool all)
{
	if (!all && !s->incomplete)
		log_error("--forward: the trace is not sent whole");
	s->incomplete |= !all;
}

static void update_forward(struct sending *s, const struct timeline *tl, size_t end, bool ended)
{
	if (!ended && (!s->live || !end))
		return;
	int64_t closed_ns = ended ? INT64_MAX : timeline_outline(tl, end - 1)->end_ns;
	note_forwarded(s, forward_update(s->forward, tl, closed_ns, s->from_ns, s->to_ns));
	if (!s->totals)
		return;
	struct forward_counts c = forward_count(s->forward);
	totals_note_spans(s->totals, c.chosen, c.sent, c.dropped);
}

void sending_evicting(struct sending *s, const struct timeline *tl, const uint64_t *trace_ids, size_t n)
{
	if (s->forward)
		note_forwarded(s, forward_evicting(s->forward, tl, trace_ids, n, s->from_ns, s->to_ns));
}

/* ---- all ---- */

/* Waits until the server has taken what waits, or takes nothing; after a signal for half a second. A recorded trace has
 * waited for it already. */
static void finish(struct sending *s, struct outbox *o)
{
	bool was_caught = reading_caught(), gave_up = !s->live && !outbox_makes_progress(o);
	outbox_end(o);
	for (gint64 since = g_get_monotonic_time(); !gave_up && outbox_is_busy(o); poll(NULL, 0, LOOK_MS)) {
		report_all(s);
		if (was_caught ? g_get_monotonic_time() - since > LAST_LINES_US : reading_caught() != 0)
			break;
	}
	report_all(s);
}

/* Some figures are not known. */
static void report_evicted(struct sending *s, const char *option, uint64_t n)
{
	s->incomplete |= n > 0;
	if (n)
		log_error("%s: %" G_GUINT64_FORMAT " spans that were dropped to save memory are not counted; a larger "
			  "--memory retains more", option, n);
}

static void finish_graphite(struct sending *s)
{
	finish(s, graphite_outbox(s->graphite));
	report_evicted(s, "--graphite", graphite_left_out(s->graphite));
	uint64_t dropped = graphite_free(s->graphite);
	s->graphite = NULL;
	s->incomplete |= dropped > 0;
	if (dropped)
		log_error("--graphite: %" G_GUINT64_FORMAT " values were not sent, or not acknowledged", dropped);
}

static void finish_forward(struct sending *s)
{
	finish(s, forward_outbox(s->forward));
	struct forward_counts c = forward_free(s->forward);
	s->forward = NULL;
	s->incomplete |= c.dropped > 0;
	if (s->totals)
		totals_note_spans(s->totals, c.chosen, c.sent, c.dropped);
	if (c.dropped)
		log_error("--forward: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " spans were not sent", c.dropped,
			  c.chosen);
}

int sending_finish(struct sending *s)
{
	notify_stopping(s->o->notify_fd);
	if (s->graphite)
		finish_graphite(s);
	if (s->forward)
		finish_forward(s);
	if (s->totals && !s->reported_evicted)
		report_evicted(s, s->server ? "--listen" : "--metrics-file", totals_left_out(s->totals));
	s->reported_evicted = true;
	if (s->totals && s->o->metrics_file && s->o->forward.path)
		write_file(s);
	if (s->failed)
		return EXIT_FAILED;
	return s->incomplete ? EXIT_INCOMPLETE : EXIT_FINE;
}

static void tell_status(struct sending *s, const struct timeline *tl, size_t end, bool ended)
{
	struct forward_counts c;
	if (!ended && g_get_monotonic_time() - s->reported_us < STATUS_US)
		return;
	s->reported_us = g_get_monotonic_time();
	if (s->forward)
		c = forward_count(s->forward);
	notify_status(s->o->notify_fd, end ? timeline_outline(tl, end - 1)->end_ns : INT64_MIN,
		      s->forward ? &c : NULL);
}

void sending_update(struct sending *s, const struct timeline *tl, size_t end, bool ended)
{
	if (s->graphite)
		update_graphite(s, tl, end, ended);
	if (s->forward)
		update_forward(s, tl, end, ended);
	report_all(s);
	tell_status(s, tl, end, ended);
	if (!s->totals)
		return;
	totals_update(s->totals, tl, end, s->from_ns, s->to_ns, ended);
	if (s->o->metrics_file && (s->live || ended))
		write_file(s);
}

void sending_wait(struct sending *s)
{
	while (s->server && !reading_caught()) {
		poll(NULL, 0, WAIT_MS);
		notify_status(s->o->notify_fd, INT64_MIN, NULL);
	}
}
