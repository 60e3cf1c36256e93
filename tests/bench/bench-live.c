/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live session, measured. Prints "attached", when it is, and at the end "key value"
 * lines: events, wall and CPU time of the whole process.
 *
 * Usage: bench-live MODE [--seconds N] [--events N] URL
 *
 *     drain   all that the relay has, from the beginning: until nothing came for half a
 *             second, or so many events
 *     follow  for so long, with what comes now; also how late (ms): events when they are
 *             there (event), seconds when they close, after their end (close), and events
 *             when their second closes (second)
 *     model   drain, and the whole model
 */
#include "live/live.h"
#include "state/slice/slice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define MS INT64_C(1000000)
#define MAX_MS 30000
#define QUEUE (32u << 20)	/* as the program by default */

/* How often so many ms. */
struct lags {
	uint64_t n[MAX_MS], all;
};

struct bench {
	bool drains, models;
	double seconds;
	uint64_t wanted;
	struct slice *slice;
	uint64_t events, records, lost, late;
	int64_t first, last;		/* ns, CLOCK_MONOTONIC: records came */
	int64_t cpu_first, cpu_last;	/* ns of CPU by then */
	int64_t closing;		/* the second that is open; INT64_MIN: none yet */
	uint64_t in_second[1000];	/* events of it, by ms */
	struct lags event, close, second;
};

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void add(struct lags *l, int64_t ns, uint64_t times)
{
	l->n[CLAMP(ns / MS, 0, MAX_MS - 1)] += times;
	l->all += times;
}

static int64_t percentile(const struct lags *l, double share)
{
	uint64_t rank = (uint64_t)((double)l->all * share), sum = 0;

	for (int64_t ms = 0; ms < MAX_MS; ms++)
		if ((sum += l->n[ms]) > rank)
			return ms;
	return -1;
}

/* Everything before `ts` is there: seconds that end by then close. */
static void close_seconds(struct bench *b, int64_t ts, int64_t wall)
{
	int64_t second = ts / SECOND;

	if (b->closing == INT64_MIN)
		b->closing = second;
	if (second <= b->closing)
		return;
	int64_t end = (b->closing + 1) * SECOND;
	add(&b->close, wall - end, 1);
	for (int ms = 0; ms < 1000; ms++) {
		if (b->in_second[ms])
			add(&b->second, wall - end + (1000 - ms) * MS, b->in_second[ms]);
		b->in_second[ms] = 0;
	}
	b->closing = second;
}

static void take(struct bench *b, const struct blk_event *e, int64_t wall)
{
	struct blk_tally tally;
	struct blk_loss loss;

	b->records++;
	if (e->row == BLK_ROW_TALLY) {
		memcpy(&tally, e->data, sizeof tally);
		b->events += tally.count;
	} else if (e->row == BLK_ROW_LOST_END) {
		memcpy(&loss, e->data, sizeof loss);
		b->lost += loss.events;
	} else if (e->row < BLK_ROW_FIRST_PSEUDO) {
		b->events++;
	}
	if (b->drains)
		return;
	close_seconds(b, e->ts, wall);
	if (e->row < BLK_ROW_FIRST_PSEUDO) {
		add(&b->event, wall - e->ts, 1);
		b->in_second[e->ts / MS % 1000]++;
	}
}

static void take_batch(struct bench *b, struct source *s, const struct blk_batch *batch)
{
	int64_t wall = now(CLOCK_REALTIME);
	uint64_t before = b->events;

	if (!b->first) {
		b->first = now(CLOCK_MONOTONIC);
		b->cpu_first = now(CLOCK_PROCESS_CPUTIME_ID);
	}
	for (size_t i = 0; i < batch->n; i++)
		take(b, &batch->ev[i], wall);
	if (b->models)
		slice_feed(b->slice, &s->tables, batch->ev, batch->n);
	if (b->events != before) {
		b->last = now(CLOCK_MONOTONIC);
		b->cpu_last = now(CLOCK_PROCESS_CPUTIME_ID);
	}
}

static bool is_over(const struct bench *b, int64_t begin)
{
	int64_t t = now(CLOCK_MONOTONIC);

	if (b->wanted && b->events >= b->wanted)
		return true;
	if (t - begin > (int64_t)(b->seconds * 1e9))
		return true;
	return b->drains && b->last && t - b->last > SECOND / 2;
}

static void show(struct bench *b, struct source *s)
{
	static const char *const names[] = { "event", "close", "second" };
	const struct lags *lags[] = { &b->event, &b->close, &b->second };
	struct live_status st;

	live_get_status(s, &st);
	printf("events %" PRIu64 "\nrecords %" PRIu64 "\nlost %" PRIu64 "\nlate %" PRIu64 "\n", b->events,
	       b->records, b->lost, st.late);
	printf("wall_ms %.1f\ncpu_ms %.1f\n", (double)(b->last - b->first) / 1e6,
	       (double)(b->cpu_last - b->cpu_first) / 1e6);
	printf("process_cpu_ms %.1f\n", (double)now(CLOCK_PROCESS_CPUTIME_ID) / 1e6);
	for (size_t i = 0; i < G_N_ELEMENTS(lags) && !b->drains; i++)
		printf("%s_p50 %" PRId64 "\n%s_p99 %" PRId64 "\n", names[i], percentile(lags[i], 0.5),
		       names[i], percentile(lags[i], 0.99));
}

static int run(struct bench *b, struct source *s)
{
	int64_t begin = now(CLOCK_MONOTONIC);
	bool attached = false;
	GError *error = NULL;
	struct blk_batch batch;
	enum source_status status;

	do {
		struct live_status st;
		status = source_next(s, &batch, &error);
		if (status == SOURCE_OK)
			take_batch(b, s, &batch);
		if (!attached) {
			live_get_status(s, &st);
			attached = st.connected;
			if (attached)
				printf("attached 1\n");
			fflush(stdout);
		}
	} while (status <= SOURCE_AGAIN && !is_over(b, begin));
	if (error) {
		fprintf(stderr, "bench-live: %s\n", error->message);
		return 1;
	}
	show(b, s);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: bench-live drain|follow|model [--seconds N] [--events N] URL\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct live_options o = { .timeout_ms = 5000, .late_ns = -1, .queue = QUEUE };
	struct bench *b = g_new0(struct bench, 1);
	g_autoptr(GError) error = NULL;
	struct live_url url;
	int i = 2, status = 1;
	size_t n;

	b->seconds = 60;
	b->closing = INT64_MIN;
	for (; i < argc && g_str_has_prefix(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--seconds") && i + 1 < argc)
			b->seconds = atof(argv[++i]);
		else if (!strcmp(argv[i], "--events") && i + 1 < argc)
			b->wanted = g_ascii_strtoull(argv[++i], NULL, 10);
		else
			return usage();
	}
	if (i + 1 != argc || !live_url_parse(argv[i], &url, &error))
		return usage();
	b->models = !strcmp(argv[1], "model");
	b->drains = o.from_beginning = b->models || !strcmp(argv[1], "drain");
	const struct blk_subscription *rows = slice_subscriptions(&n);
	struct source *s = live_open(&url, 1, &o, rows, n, &error);
	if (s) {
		b->slice = slice_new(true, SECOND);
		status = run(b, s);
		slice_free(b->slice);
	}
	source_free(s);
	live_url_clear(&url);
	g_free(b);
	return status;
}
