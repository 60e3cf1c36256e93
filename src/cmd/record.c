/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blktop record: see record.h. The packets of the live session are stored as they come (live/spool/spool.h). Events are
 * decoded only if a rule ends the recording or takes snapshots.
 */
#include "cmd/record.h"

#include "cmd/flight.h"
#include "cmd/local.h"
#include "cmd/thresholds.h"

#include "app/late_events.h"
#include "app/messages.h"
#include "app/reading.h"
#include "base/files.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/alerts.h"

#include <stdio.h>
#include <unistd.h>

#define WAIT_MS 50
/* For what was recorded to arrive after the recording was stopped: the session daemon delivers its buffers first. */
#define DRAIN_US (30 * G_USEC_PER_SEC)

struct recording {
	const struct record_options *o;
	const char *to;
	struct local *running;
	struct reading r;
	struct alerts *alerts;		/* of --until and --snapshot-when; NULL: none */
	struct flight *flight;		/* --last; NULL: everything is stored */
	gint64 began_us, stopped_us;	/* monotonic; 0: not yet */
	bool reached;			/* the rule of --until */
};

/* ---- the directory ---- */

bool record_prepare(const char *to)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) has = NULL;

	if (g_str_equal(to, "-")) {
		if (isatty(STDOUT_FILENO))
			log_error("the recording is not text: -o DIR writes it into a directory; -o - is for a pipe: "
				  "ssh HOST sudo blktop record -o - | blktop -");
		return !isatty(STDOUT_FILENO);
	}
	if (!files_make_private(to, "-o", &error)) {
		log_error("%s", error->message);
		return false;
	}
	has = files_list(to, 1);
	if (!has || has->len) {
		log_error(has ? "%s is not empty: record writes into a new or empty directory (-o DIR)"
			      : "cannot look into %s (-o DIR)", to);
		return false;
	}
	return true;
}

/* ---- recording ---- */

static void serve_local(struct recording *r)
{
	bool is_error;

	local_tick(r->running, r->r.in);
	for (char *text; (text = local_next_message(r->running, &is_error)); g_free(text))
		log_error("%s", text);
}

static void on_alert(void *data, const struct alert *alert, const char *reason)
{
	struct recording *r = data;
	g_autofree char *line = thresholds_report(r->running, alert, reason);

	log_error("%s", line);
	if (alert->threshold == r->o->snapshot_when)
		flight_want(r->flight, reason);
	else
		r->reached = true;
}

static bool is_over(struct recording *r)
{
	size_t n = r->alerts ? timeline_n_seconds(r->r.tl) : 0;

	if (n)
		alerts_update(r->alerts, r->r.tl, n - 1);
	g_autofree char *trouble = input_store_trouble(r->r.in);
	return trouble || r->reached || reading_caught() ||
	       (r->o->n_seconds && g_get_monotonic_time() - r->began_us >= r->o->n_seconds * G_USEC_PER_SEC);
}

static void run(struct recording *r)
{
	r->began_us = g_get_monotonic_time();
	while (!reading_wait(&r->r, WAIT_MS)) {
		serve_local(r);
		if (r->flight)
			flight_tick(r->flight, &r->r);
		if (!r->stopped_us && is_over(r)) {
			r->stopped_us = g_get_monotonic_time();
			local_stop(r->running);
		}
		if (r->stopped_us && g_get_monotonic_time() - r->stopped_us > DRAIN_US) {
			log_error("what was recorded last did not arrive within %d s: the trace ends early",
				  (int)(DRAIN_US / G_USEC_PER_SEC));
			reading_stop(&r->r);
			return;
		}
	}
}

/* ---- the result ---- */

static int report(struct recording *r, int code)
{
	struct spool_status st;
	char bytes[TIMEFMT_LEN], length[TIMEFMT_LEN];
	g_autofree char *lost = losses_report(r->r.tl), *to = text_visible(r->to);

	bool whole = input_end_record(r->r.in);
	if (!input_stored(r->r.in, &st))
		return EXIT_FAILED;
	if (st.message[0])
		log_error("%s", st.message);
	if (!st.packets) {
		g_autofree char *why = local_nothing(r->running, true);
		log_error("nothing was recorded\n%s", why);
		return EXIT_FAILED;
	}
	if (lost)
		log_error("%s", lost);
	if (st.dropped)
		log_error("%" G_GUINT64_FORMAT " packets were not written: the disk was too slow", st.dropped);
	if (st.refused)
		log_error("%" G_GUINT64_FORMAT " packets were not written: they were damaged, or came without metadata",
			  st.refused);
	if (!whole && !st.stopped)
		log_error("%s took nothing more for %d s: what was recorded last is not written", to,
			  LIMIT_SPOOL_END_SECONDS);
	if (code == EXIT_FINE && (st.dropped || st.refused || !whole))
		code = EXIT_LOSS;
	if (r->flight)
		return !flight_end(r->flight, &r->r) || st.stopped ? EXIT_FAILED : code;
	fprintf(stderr, "wrote %s: %" G_GUINT64_FORMAT " packets, %s", to, st.packets, timefmt_bytes(bytes, st.bytes));
	if (st.from_ns <= st.to_ns)
		fprintf(stderr, ", %s", timefmt_duration(length, st.to_ns - st.from_ns));
	fputc('\n', stderr);
	return st.stopped ? EXIT_FAILED : code;
}

int record_run(const struct read_options *read, const struct shown_options *shown, const struct record_options *o)
{
	struct recording r = { .o = o, .to = o->to, .running = read->running,
			       .flight = o->last_ns ? flight_new(o->to, o->last_ns) : NULL };
	const struct reading_purpose purpose = {
		.record_to = r.flight ? flight_ring(r.flight) : o->to, .record_last_us = o->last_ns / NS_PER_US,
		.records_only = !shown->thresholds,
		.without_spans = !shown->thresholds,
		.counts_threads = shown->thresholds && thresholds_count_threads(shown->thresholds),
	};
	const char *no_kernel = local_no_kernel(read->running);

	int code = !shown->thresholds || thresholds_begin(shown, &r.alerts) ? EXIT_FINE : EXIT_FAILED;
	if (r.alerts)
		alerts_on_alert(r.alerts, on_alert, &r);
	if (code == EXIT_FINE)
		code = reading_start(&r.r, read, &purpose);
	if (code == EXIT_FINE) {
		g_autofree char *to = text_visible(o->to);
		fprintf(stderr, "recording to %s: %s; Ctrl-C ends it\n", to,
			*no_kernel ? "programs" : read->relay.kernel ? "the kernel by its own ring buffer" :
			"the kernel by LTTng");
		if (r.flight)
			fprintf(stderr, "kill -USR1 %d takes a snapshot\n", (int)getpid());
		run(&r);
		code = reading_code(&r.r);
		if (code == EXIT_FINE)
			code = reading_loss_code(&r.r);
		code = report(&r, code);
	}
	alerts_free(r.alerts);
	flight_free(r.flight);
	reading_free(&r.r);
	return code;
}
