/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaches to live sessions and prints what came, for the live tests:
 *
 *     live-count [-Bcw] [-e N] [-l MS] [-n SECONDS] [-t MS] URL...
 *     live-count [-N] DIR...
 *
 * The second prints the same of traces in files, read with babeltrace2 (-N: natively): the relay's
 * own output is what live reading is held against.
 *
 * -e: stop when so many events came; -B: from the beginning; -w: wait for the session; -l: the
 * bound of lateness; -c: cancel from another thread after 0.3 s; -n: stop after so long
 * or with SIGINT (60); -t: time limit of the connection (2000). "status connected|gone ATTACHED MESSAGE"
 * on every change, "stalled NAME" likewise; at the end "event NAME COUNT" and other
 * counts, "digest HEX" (of all events, in any order: instant, CPU, name, and fields),
 * "disorder N" (records that went back in time), "longest MS" (the longest
 * source_next()), and last "end|stopped|cancelled|error MESSAGE".
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/sources.h"
#include "base/text.h"
#include "live/live.h"
#include "trace/native/native.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = signal;
}

static const struct blk_subscription rows[] = {
	{ .event = "zipkin:timestamp", .fields = { "trace_name", "service_name", "port_no", "ip", "trace_id",
				"span_id", "parent_span_id", "event", NULL } },
	{ .event = "zipkin:keyval_string", .fields = { "trace_name", "service_name", "port_no", "ip", "trace_id",
				    "span_id", "parent_span_id", "key", "val", NULL } },
	{ .event = "zipkin:keyval_integer", .fields = { "trace_name", "service_name", "port_no", "ip", "trace_id",
				     "span_id", "parent_span_id", "key", "val", NULL } },
};

struct counts {
	uint64_t events[G_N_ELEMENTS(rows)], other, lost_events, lost_packets, gaps, disorder;
	uint64_t added, ended, root_begins, horizons, digest;
	int64_t last, horizon, longest_us;
};

static void count_loss(struct counts *c, const struct blk_event *e)
{
	const struct blk_loss *loss = (const struct blk_loss *)e->data;

	c->lost_events += loss->events;
	c->lost_packets += loss->packets;
	c->gaps += !loss->events && !loss->packets;
}

static uint64_t mix(uint64_t h, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3;
	return h;
}

/* The same whatever the reader and the order. */
static uint64_t digest_of(const struct blk_event *e, const struct blk_tables *tables)
{
	const struct blk_stream *st = blk_stream(tables, e->stream);
	uint64_t h = mix(0xcbf29ce484222325, &e->ts, sizeof e->ts);

	h = mix(h, &st->cpu, sizeof st->cpu);
	h = mix(h, rows[e->row].event, strlen(rows[e->row].event));
	for (unsigned slot = 0; slot < BLK_MAX_SLOTS; slot++) {
		struct blk_text t = blk_text(e, slot);
		int64_t v = blk_int_or(e, slot, 0);
		h = mix(h, t.str, t.len);
		h = mix(h, &v, sizeof v);
	}
	return h ^ h >> 29;
}

static void count(struct counts *c, const struct blk_event *e, const struct blk_tables *tables)
{
	c->disorder += e->ts < c->last || e->ts < c->horizon;
	c->last = e->ts;
	if (e->row < G_N_ELEMENTS(rows)) {
		c->events[e->row]++;
		c->digest += digest_of(e, tables);
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

static bool of_files, natively;

static void show_status(struct source *s)
{
	if (of_files)
		return;
	static char last[300], stalled[128];
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
	if (strcmp(stalled, st.stalled_name)) {
		printf("stalled %s\n", st.stalled_name);
		fflush(stdout);
		strcpy(stalled, st.stalled_name);
	}
}

static void show_counts(struct source *s, const struct counts *c)
{
	struct live_status st = { 0 };

	if (!of_files)
		live_get_status(s, &st);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		printf("event %s %" PRIu64 "\n", rows[i].event, c->events[i]);
	printf("roots %" PRIu64 "\nother %" PRIu64 "\n", c->root_begins, c->other);
	printf("lost %" PRIu64 " %" PRIu64 "\n", c->lost_events, c->lost_packets);
	printf("digest %016" PRIx64 "\n", c->digest);
	printf("gaps %" PRIu64 "\nstreams %" PRIu64 " %" PRIu64 "\n", c->gaps, c->added, c->ended);
	printf("horizons %" PRIu64 "\nlate %" PRIu64 "\n", c->horizons, st.late);
	printf("ends_unknown %u\nended_early %u\nleft %" PRIu64 "\ngave_up %d\n", st.missing.ends_unknown,
	       st.missing.ended_early, st.missing.left_packets, st.missing.gave_up);
	printf("lag %" PRId64 "\n", st.lag_ns / 1000000);
	printf("disorder %" PRIu64 "\nlongest %" PRId64 "\n", c->disorder, c->longest_us / 1000);
}

static gpointer cancel_later(gpointer s)
{
	g_usleep(300000);
	source_cancel(s);
	return NULL;
}

static uint64_t n_events(const struct counts *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		n += c->events[i];
	return n;
}

static const char *run(struct source *s, struct counts *c, int64_t until, uint64_t most,
		       GError **error)
{
	for (;;) {
		struct blk_batch batch;
		int64_t before = g_get_monotonic_time();
		enum source_status st = source_next(s, &batch, error);
		c->longest_us = MAX(c->longest_us, g_get_monotonic_time() - before);
		for (size_t i = 0; i < batch.n; i++)
			count(c, &batch.ev[i], &s->tables);
		show_status(s);
		if (st == SOURCE_END)
			return "end";
		if (st == SOURCE_CANCELLED)
			return "cancelled";
		if (st == SOURCE_ERROR)
			return "error";
		if (g_get_monotonic_time() > until || n_events(c) >= most || interrupted)
			return "stopped";
	}
}

static bool read_options(int argc, char **argv, struct live_options *o, double *seconds,
			 uint64_t *most, bool *cancel)
{
	int opt;

	while ((opt = getopt(argc, argv, "BNcwe:l:n:t:")) != -1) {
		o->from_beginning |= opt == 'B';
		o->wait |= opt == 'w';
		natively |= opt == 'N';
		*cancel |= opt == 'c';
		if (opt == 'e')
			*most = strtoull(optarg, NULL, 10);
		if (opt == 'l')
			o->late_ns = (int64_t)atoi(optarg) * 1000000;
		if (opt == 't')
			o->timeout_ms = atoi(optarg);
		if (opt == 'n')
			*seconds = atof(optarg);
		if (opt == '?')
			return false;
	}
	return optind < argc;
}

/* Of the operands; NULL: *error. */
static struct source *open_all(char **operands, int n, const struct live_options *options,
			       GError **error)
{
	struct live_url urls[8];
	size_t n_urls = 0;

	of_files = g_file_test(operands[0], G_FILE_TEST_IS_DIR);
	if (of_files)
		return (natively ? source_open_native : source_open_bt2)(
			(const char *const *)operands, rows, G_N_ELEMENTS(rows), error);
	while (n_urls < MIN((size_t)n, G_N_ELEMENTS(urls))) {
		if (!live_url_parse(operands[n_urls], &urls[n_urls], error))
			return NULL;
		n_urls++;
	}
	struct source *s = live_open(urls, n_urls, options, rows, G_N_ELEMENTS(rows), error);
	while (n_urls > 0)
		live_url_clear(&urls[--n_urls]);
	return s;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	struct live_options options = { .timeout_ms = 2000, .late_ns = -1 };
	struct counts c = { .last = INT64_MIN, .horizon = INT64_MIN };
	double seconds = 60;
	uint64_t most = UINT64_MAX;
	bool cancel = false;

	signal(SIGINT, interrupt);
	if (!read_options(argc, argv, &options, &seconds, &most, &cancel)) {
		fprintf(stderr, "live-count: URL or directory expected\n");
		return 2;
	}
	g_autoptr(blk_source) s = open_all(argv + optind, argc - optind, &options, &error);
	if (!s) {
		printf("error %s\n", error->message);
		return 1;
	}
	GThread *canceller = cancel ? g_thread_new("cancel", cancel_later, s) : NULL;
	const char *how = run(s, &c, g_get_monotonic_time() + (int64_t)(seconds * 1e6), most,
			      &error);
	if (canceller)
		g_thread_join(canceller);
	show_counts(s, &c);
	printf("%s %s\n", how, error ? error->message : "");
	return strcmp(how, "error") ? 0 : 1;
}
