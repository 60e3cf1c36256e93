/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaches to a live session and prints what came, for the live tests:
 *
 *     live-count [-c] [-n SECONDS] [-t MS] URL
 *
 * -c: cancel from another thread after 0.3 s; -n: stop after so long (60); -t: time
 * limit of the connection (2000). "status connected|gone ATTACHED MESSAGE" on every
 * change; at the end "event NAME COUNT" and other counts, "disorder N" (records
 * that went back in time), "longest MS" (the longest source_next()), and last
 * "end|stopped|cancelled|error MESSAGE".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "live/live.h"

static const struct blk_subscription rows[] = {
	{ "zipkin:timestamp", { "trace_name", "service_name", "port_no", "ip", "trace_id",
				"span_id", "parent_span_id", "event", NULL }, NULL },
	{ "zipkin:keyval_string", { "trace_name", "service_name", "port_no", "ip", "trace_id",
				    "span_id", "parent_span_id", "key", "val", NULL }, NULL },
	{ "zipkin:keyval_integer", { "trace_name", "service_name", "port_no", "ip", "trace_id",
				     "span_id", "parent_span_id", "key", "val", NULL }, NULL },
};

struct counts {
	uint64_t events[G_N_ELEMENTS(rows)], other, lost_events, lost_packets, gaps, disorder;
	uint64_t added, ended, root_begins, horizons;
	int64_t last, horizon, longest_us;
};

static void count_loss(struct counts *c, const struct blk_event *e)
{
	const struct blk_loss *loss = (const struct blk_loss *)e->data;

	c->lost_events += loss->events;
	c->lost_packets += loss->packets;
	c->gaps += !loss->events && !loss->packets;
}

static void count(struct counts *c, const struct blk_event *e)
{
	c->disorder += e->ts < c->last || e->ts < c->horizon;
	c->last = e->ts;
	if (e->row < G_N_ELEMENTS(rows)) {
		c->events[e->row]++;
		/* reads every byte, for the sanitizers */
		for (unsigned slot = BLK_FIELD0; slot < BLK_FIELD0 + 8; slot++) {
			struct blk_text t = blk_text(e, slot);
			c->root_begins += t.len == 2 && !memcmp(t.str, "sr", 2) &&
					  !blk_int_or(e, BLK_FIELD0 + 6, 1);
		}
	}
	switch (e->row) {
	case BLK_ROW_LOST_END:
		count_loss(c, e);
		break;
	case BLK_ROW_HORIZON:
		c->horizons++;
		c->horizon = e->ts;
		break;
	case BLK_ROW_STREAM_ADD:
		c->added++;
		break;
	case BLK_ROW_STREAM_END:
		c->ended++;
		break;
	case BLK_ROW_TALLY:
		c->other += ((const struct blk_tally *)e->data)->count;
		break;
	}
}

static void show_status(struct source *s)
{
	static char last[300];
	char line[300];
	struct live_status st;

	live_get_status(s, &st);
	snprintf(line, sizeof line, "status %s %u %s", st.connected ? "connected" : "gone",
		 st.attached, st.message);
	if (strcmp(line, last)) {
		printf("%s\n", line);
		fflush(stdout);
		strcpy(last, line);
	}
}

static void show_counts(struct source *s, const struct counts *c)
{
	struct live_status st;

	live_get_status(s, &st);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		printf("event %s %" PRIu64 "\n", rows[i].event, c->events[i]);
	printf("roots %" PRIu64 "\nother %" PRIu64 "\n", c->root_begins, c->other);
	printf("lost %" PRIu64 " %" PRIu64 "\n", c->lost_events, c->lost_packets);
	printf("gaps %" PRIu64 "\nstreams %" PRIu64 " %" PRIu64 "\n", c->gaps, c->added, c->ended);
	printf("horizons %" PRIu64 "\nlate %" PRIu64 "\n", c->horizons, st.late);
	printf("lag %" PRId64 "\n", st.lag_ns / 1000000);
	printf("disorder %" PRIu64 "\nlongest %" PRId64 "\n", c->disorder, c->longest_us / 1000);
}

static gpointer cancel_later(gpointer s)
{
	g_usleep(300000);
	source_cancel(s);
	return NULL;
}

static const char *run(struct source *s, struct counts *c, int64_t until, GError **error)
{
	for (;;) {
		struct blk_batch batch;
		int64_t before = g_get_monotonic_time();
		enum source_status st = source_next(s, &batch, error);
		c->longest_us = MAX(c->longest_us, g_get_monotonic_time() - before);
		for (size_t i = 0; i < batch.n; i++)
			count(c, &batch.ev[i]);
		show_status(s);
		if (st == SOURCE_END)
			return "end";
		if (st == SOURCE_CANCELLED)
			return "cancelled";
		if (st == SOURCE_ERROR)
			return "error";
		if (g_get_monotonic_time() > until)
			return "stopped";
	}
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	struct live_url url;
	struct counts c = { .last = INT64_MIN, .horizon = INT64_MIN };
	int timeout_ms = 2000, opt;
	double seconds = 60;
	bool cancel = false;

	while ((opt = getopt(argc, argv, "t:n:c")) != -1) {
		if (opt == 't')
			timeout_ms = atoi(optarg);
		else if (opt == 'n')
			seconds = atof(optarg);
		else
			cancel = true;
	}
	if (optind + 1 != argc || !live_url_parse(argv[optind], &url, &error)) {
		fprintf(stderr, "live-count: %s\n", error ? error->message : "URL expected");
		return 2;
	}
	g_autoptr(blk_source) s = live_open(&url, rows, G_N_ELEMENTS(rows), timeout_ms, &error);
	live_url_clear(&url);
	if (!s) {
		printf("error %s\n", error->message);
		return 1;
	}
	GThread *canceller = cancel ? g_thread_new("cancel", cancel_later, s) : NULL;
	const char *how = run(s, &c, g_get_monotonic_time() + (int64_t)(seconds * 1e6), &error);
	if (canceller)
		g_thread_join(canceller);
	show_counts(s, &c);
	printf("%s %s\n", how, error ? error->message : "");
	return strcmp(how, "error") ? 0 : 1;
}
