/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live sessions of which one seed decides everything: what is traced, the relay, the network, the order in which
 * threads run, memory, the disk of the spool, and when blktop is killed and started again. From the client of the
 * viewer protocol to the timeline the program's own code runs: job, live source, spool, model, timeline. Checked are:
 *
 *  - every event that the relay has is counted once, or something is reported missing;
 *  - every request is in the sums of the second in which it ended;
 *  - where nothing goes wrong, nothing is missing, and nothing is reported;
 *  - what the spool has is readable, and has no event twice.
 *
 * Usage: simulate [-v] FIRST N    (as many seeds; -v says what happens). One line a seed with its digest and figures.
 */
#include "relay.h"
#include "sched.h"

#include "base/timefmt.h"
#include "lib/sources.h"
#include "lib/test_traces.h"
#include "live/live.h"
#include "live/spool/spool.h"
#include "run/job.h"
#include "trace/native/native.h"
#include "views/registry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEGIN_US INT64_C(1000000000)
#define SECOND_US G_USEC_PER_SEC
#define PATIENCE_US (60 * G_USEC_PER_SEC)	/* after the last session: then blktop is stopped */
#define QUIET_US (40 * G_USEC_PER_SEC)	/* the same, where it waits for other sessions */
#define SEED_SECONDS 120		/* of real time */
#define TRACE_ID (BLK_FIELD0 + 4)	/* of slice_subscriptions() */
#define EVENT (BLK_FIELD0 + 7)

/* One run of blktop. */
struct run {
	struct source source;		/* first member: what the job reads; it looks at what passes */
	struct source *live;
	struct spool *spool;
	const char *dir;		/* of the spool */
	bool from_sink;
	uint8_t *seen;			/* of each request: 1: its first event, 2: its last one */
	uint64_t n_seen, n_moved;	/* events; of these with another time than their own */
	uint64_t counted;		/* those of other classes */
	GArray *ended;			/* int64_t: ends of requests of which the last event passed */
	int64_t checked_to;		/* ns: seconds before it were compared */
	uint64_t short_by, too_many;	/* requests */
	unsigned wrong_seconds;
};

static struct {
	size_t memory;			/* 0: no bound */
	bool spool, disk_full;
	int64_t full_us;		/* the disk is, from then on */
	int64_t kill_us;		/* INT64_MAX: it is not killed */
} plan;

/* ---- a disk that gets full ---- */

ssize_t __wrap_write(int fd, const void *buf, size_t n);
ssize_t __real_write(int fd, const void *buf, size_t n);
ssize_t __wrap_pwrite(int fd, const void *buf, size_t n, off_t at);
ssize_t __real_pwrite(int fd, const void *buf, size_t n, off_t at);

static bool is_full(size_t n)
{
	return plan.disk_full && n > sizeof(uint64_t) && sched_now() >= plan.full_us;
}

ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
	if (!is_full(n))
		return __real_write(fd, buf, n);
	errno = ENOSPC;
	return sim_one_of(2) ? -1 : __real_write(fd, buf, n / 2);
}

ssize_t __wrap_pwrite(int fd, const void *buf, size_t n, off_t at)
{
	if (!is_full(n))
		return __real_pwrite(fd, buf, n, at);
	errno = ENOSPC;
	return sim_one_of(2) ? -1 : __real_pwrite(fd, buf, n / 2, at);
}

/* ---- what passes ---- */

static void see_event(struct run *r, const struct blk_event *e)
{
	uint64_t id = (uint64_t)blk_int(e, TRACE_ID);
	struct blk_text text = blk_text(e, EVENT);
	bool ends = text.len == 2 && text.str[1] == 's';

	if (!id || id > world.requests->len) {
		sim_fail("an event that nothing recorded: request %" PRIu64, id);
		return;
	}
	const struct sim_request *q = &g_array_index(world.requests, struct sim_request, id - 1);
	if (r->seen[id - 1] & (1 + ends))
		sim_fail("request %" PRIu64 ": its %s event comes twice", id, ends ? "last" : "first");
	r->seen[id - 1] |= (uint8_t)(1 + ends);
	r->n_seen++;
	r->n_moved += e->ts != SIM_EPOCH_NS + (ends ? q->end_ns : q->begin_ns);
	if (ends)
		g_array_index(r->ended, int64_t, id - 1) = e->ts;
}

static void see(struct run *r, const struct blk_tables *tables, const struct blk_batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		const struct blk_event *e = &batch->ev[i];
		if (e->row == BLK_ROW_TALLY)
			r->counted += ((const struct blk_tally *)e->data)->count;
		else if (e->row < BLK_ROW_FIRST_PSEUDO && !strcmp(blk_class(tables, e->cls)->name, "zipkin:timestamp"))
			see_event(r, e);
	}
}

static enum source_status run_next(struct source *s, struct blk_batch *ret, GError **error)
{
	struct run *r = (struct run *)s;
	enum source_status st = source_next(r->live, ret, error);

	if (st == SOURCE_OK)
		see(r, &s->tables, ret);
	return st;
}

static void run_cancel(struct source *s)
{
	source_cancel(((struct run *)s)->live);
}

static bool run_take_late(struct source *s, struct source_late *ret)
{
	return source_take_late(((struct run *)s)->live, ret);
}

static char *run_warning(struct source *s)
{
	return source_warning(((struct run *)s)->live);
}

static void run_missing(struct source *s, struct missing *ret)
{
	source_missing(((struct run *)s)->live, ret);
}

static void run_free(struct source *s)
{
	source_free(((struct run *)s)->live);
}

static const struct source_ops run_ops = {
	.next = run_next, .cancel = run_cancel, .take_late = run_take_late, .warning = run_warning,
	.missing = run_missing, .free = run_free,
};

static bool open_run(void *data, struct job_trace *ret, GError **error)
{
	static const struct live_url url = { .host = (char *)"relay", .port = 5344, .target = (char *)"web1",
					     .session = (char *)"spans" };
	struct run *r = data;
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	const struct live_options options = { .timeout_ms = LIVE_DEFAULT_TIMEOUT_MS, .from_beginning = true,
					      .wait = world.many_sessions || world.begins_us > BEGIN_US, .late_ns = -1,
					      .spool = r->spool };

	r->live = live_open(&url, 1, &options, rows, n, error);
	r->source = (struct source){ .ops = &run_ops, .tables = r->live->tables };
	ret->source = &r->source;
	if (r->spool)
		ret->pieces = pieces_spool(r->spool, rows, n);
	return true;
}

/* ---- sums of seconds ---- */

/* Requests of [from, to) as the view services has them: calls from outside of each trace. */
static uint64_t requests_in(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	const struct view *v = view_find("services");
	const struct column *caller = NULL, *count = NULL;
	struct view_query query = VIEW_QUERY_INIT;
	uint64_t n = 0;

	for (size_t i = 0; i < v->n_columns; i++) {
		caller = !strcmp(v->columns[i].id, "caller") ? &v->columns[i] : caller;
		count = !strcmp(v->columns[i].id, "count") ? &v->columns[i] : count;
	}
	query.from_ns = from_ns;
	query.to_ns = to_ns;
	struct rows *rows = v->build(tl, &query);
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct row *row = rows->rows->pdata[i];
		if (column_value(caller, row, rows).kind == VALUE_NONE)
			n += (uint64_t)column_value(count, row, rows).i;
	}
	rows_free(rows);
	return n;
}

/* Of requests that passed whole and ended there; *ret_half: those that may be counted there or not: of which one event
 * passed anywhere. */
static uint64_t passed_in(const struct run *r, int64_t from_ns, int64_t to_ns, uint64_t *ret_half)
{
	uint64_t n = 0;

	*ret_half = 0;
	for (guint i = 0; i < world.requests->len; i++) {
		int64_t end = g_array_index(r->ended, int64_t, i);
		n += r->seen[i] == 3 && end >= from_ns && end < to_ns;
		*ret_half += r->seen[i] && r->seen[i] != 3;
	}
	return n;
}

/* Spans that a loss cut off, as far as is known: they may turn out to end later. */
static uint64_t cut_off_in(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	uint64_t n = 0;

	TIMELINE_EACH_SPAN(tl, i, from_ns, to_ns) {
		const struct span *x = timeline_span(tl, i);
		n += x->state == SPAN_PARTIAL && x->end_ns >= from_ns && x->end_ns < to_ns;
	}
	return n;
}

/* Seconds that closed are final, except for late events. */
static void check_seconds(struct run *r, const struct timeline *tl, int64_t closed_to)
{
	int64_t first, last;

	if (!timeline_coverage(tl, &first, &last) || closed_to == TIME_UNKNOWN)
		return;
	r->checked_to = r->checked_to ? r->checked_to : first / NS_PER_S * NS_PER_S;
	for (closed_to = MIN(closed_to, last + 1); r->checked_to + NS_PER_S <= closed_to; r->checked_to += NS_PER_S) {
		uint64_t half, passed = passed_in(r, r->checked_to, r->checked_to + NS_PER_S, &half);
		uint64_t n = requests_in(tl, r->checked_to, r->checked_to + NS_PER_S);
		half += cut_off_in(tl, r->checked_to, r->checked_to + NS_PER_S);
		sim_note(n);
		r->wrong_seconds += n < passed || n > passed + half;
		r->short_by += n < passed ? passed - n : 0;
		r->too_many += n > passed + half ? n - passed - half : 0;
		if (n < passed || n > passed + half)
			sim_say("second %.0f: %" PRIu64 " requests instead of %" PRIu64 " (and %" PRIu64
				" of which a part passed)",
				(double)(r->checked_to - SIM_EPOCH_NS) / 1e9, n, passed, half);
	}
}

/* ---- a run ---- */

static void run_begin(struct run *r, const char *dir)
{
	g_autoptr(GError) error = NULL;

	*r = (struct run){ .seen = g_new0(uint8_t, world.requests->len + 1),
			   .ended = g_array_new(false, true, sizeof(int64_t)), .dir = dir };
	g_array_set_size(r->ended, world.requests->len);
	if (!plan.spool)
		return;
	r->spool = spool_new(dir, SPOOL_LEAST, "simulated", &error);
	if (!r->spool)
		sim_say("no spool: %s", error->message);
	if (!r->spool && !plan.disk_full)
		sim_fail("no spool: %s", error->message);
}

/* Until it ends by itself, or is killed (false). */
static bool run_until_end(struct run *r, struct job *j, struct timeline *tl, struct job_status *st)
{
	int64_t stop_us = world.ends_us + (world.many_sessions ? QUIET_US : PATIENCE_US);
	bool stopped = false;

	for (;;) {
		if (sched_now() >= plan.kill_us)
			return false;
		job_get_status(j, st);
		bool over = st->phase >= JOB_DONE;
		job_collect(j, tl);
		job_get_status(j, st);
		check_seconds(r, tl, st->closed_to_ns);
		if (over && st->phase >= JOB_DONE)
			return true;
		if (sched_now() > stop_us && !stopped) {
			sim_say("blktop is stopped");
			job_cancel(j);
			stopped = true;
		}
		if (sched_now() > stop_us + PATIENCE_US)
			g_error("the job does not end");
		sched_wait(sched_now() + 50000, -1);
	}
}

/* ---- what was missing, and what was said ---- */

static void say_packet(const struct run *r, const struct sim_session *session, const struct sim_stream *x,
		       const struct sim_packet *p)
{
	guint n = 0, seen = 0;

	for (guint i = 0; i < p->requests->len; i++) {
		uint64_t which = g_array_index(p->requests, uint64_t, i);
		n += which > 0;
		seen += which && r->seen[which / 2 - 1] & (1 + which % 2);
	}
	if (seen < n)
		sim_say("  missing: %u of %u events of requests in packet %" PRIu64 " of stream %" PRIu64
			", session %" PRIu64 ", from %.6f to %.6f, at the relay at %.6f, which closes it at %.6f, "
			"and the session at %.6f%s%s%s", n - seen, n, p->seq, x->id, session->id,
			(double)p->begin_ns / 1e9, (double)p->end_ns / 1e9, (double)p->at_us / 1e6,
			(double)x->gone_us / 1e6, (double)session->closed_us / 1e6, p->lost ? ", vanished" : "",
			p->refused ? ", refused" : "", p->overwritten ? ", overwritten" : "");
}

static void say_missing(const struct run *r)
{
	for (guint i = 0; sim_verbose && i < world.sessions->len; i++) {
		const struct sim_session *s = world.sessions->pdata[i];
		for (guint k = 0; k < s->streams->len; k++) {
			const struct sim_stream *x = s->streams->pdata[k];
			for (guint m = 0; x->known && m < x->packets->len; m++)
				say_packet(r, s, x, x->packets->pdata[m]);
		}
	}
}

/* late: records came too late, or of a trace that had been given up for lack of memory, and this is reported: then the
 * second of their requests may be another one. */
static void check_sums(const struct run *r, const struct timeline *tl, bool late)
{
	int64_t first, last;

	if (!timeline_coverage(tl, &first, &last))
		return;
	if (r->wrong_seconds && !late)
		sim_fail("%u seconds have %" PRIu64 " requests too few and %" PRIu64 " too many", r->wrong_seconds,
			 r->short_by, r->too_many);
	int64_t from = MAX(first, timeline_retained_from(tl));
	uint64_t half, all = passed_in(r, from, last + 1, &half), sum = requests_in(tl, from, last + 1);
	sim_note(sum);
	if ((sum < all || sum > all + half) && !late)
		sim_fail("the time that is retained has %" PRIu64 " requests of %" PRIu64, sum, all);
}

static void check_missing(const struct run *r, const struct timeline *tl, const struct job_status *st)
{
	struct completeness c = timeline_facts(tl)->completeness;
	const struct sim_sums of = world_sums();
	uint64_t n = r->n_seen + r->counted;
	bool reported = c.lost_packets || c.damaged || c.late || (st->has_missing && missing_is_any(&st->missing)) ||
		st->warning || st->phase == JOB_FAILED;
	g_autofree char *text = st->has_missing ? missing_text(&st->missing) : NULL;

	sim_note(n);
	sim_note(c.lost_events);
	sim_note(c.lost_packets);
	bool all_reported = reported || (st->has_missing && st->missing.ends_unknown);
	sim_note(all_reported);
	sim_say("end: phase %d, %" PRIu64 " of %" PRIu64 " events, %" PRIu64 " moved; %" PRIu64 " lost events, %" PRIu64
		" packets, %" PRIu64 " damaged, %" PRIu64 " late, %" PRIu64 " provisional; %s; %s; %s", st->phase, n,
		of.recorded, r->n_moved, c.lost_events, c.lost_packets, c.damaged, c.late, c.provisional,
		text ? text : "", st->warning ? st->warning : "", st->message ? st->message : "");
	say_missing(r);
	if (n > of.readable)
		sim_fail("%" PRIu64 " events of %" PRIu64, n, of.readable);
	if (n < of.recorded && !all_reported)
		sim_fail("%" PRIu64 " of %" PRIu64 " events are missing, and nothing says so", of.recorded - n,
			 of.recorded);
	if (r->n_moved && !c.late && !st->late)
		sim_fail("%" PRIu64 " events were moved in time, and nothing says so", r->n_moved);
	if (world.calm && (n != of.recorded || reported || c.lost_events))
		sim_fail("nothing went wrong, but of %" PRIu64 " events %" PRIu64 " came; reported: %s, %" PRIu64
			 " lost packets, %" PRIu64 " late", of.recorded, n, text ? text : "nothing",
			 c.lost_packets, c.late);
	if (n == of.recorded && c.lost_events != of.discarded && !world.restarts && plan.kill_us == INT64_MAX)
		sim_fail("%" PRIu64 " events were discarded, and %" PRIu64 " are reported", of.discarded,
			 c.lost_events);
	check_sums(r, tl, c.late || st->late || r->n_moved);
}

/* What the directory has can be read: nothing, a trace, or several, of what was recorded. whole: all that was read. Not
 * where a connection broke in the midst of a trace's metadata: packets that need the rest are not stored. */
static void check_spool(const struct run *r, const char *dir, bool whole)
{
	const char *const paths[] = { dir, NULL };
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	struct run again = { .seen = g_new0(uint8_t, world.requests->len + 1),
			     .ended = g_array_new(false, true, sizeof(int64_t)) };
	struct blk_batch batch;
	g_autoptr(GError) error = NULL;

	g_array_set_size(again.ended, world.requests->len);
	struct source *s = source_open_native(paths, rows, n_rows, &error);
	while (s && source_next(s, &batch, NULL) == SOURCE_OK)
		see(&again, &s->tables, &batch);
	if (error && error->code != BLK_TRACE_ERROR_NOT_FOUND)
		sim_fail("the spool cannot be read: %s", error->message);
	sim_say("the spool has %" PRIu64 " events%s%s", again.n_seen + again.counted, error ? ": " : "",
		error ? error->message : "");
	sim_note(again.n_seen + again.counted);
	if (whole && (again.n_seen != r->n_seen || again.counted != r->counted))
		sim_fail("the spool has %" PRIu64 " events, but %" PRIu64 " were read", again.n_seen + again.counted,
			 r->n_seen + r->counted);
	source_free(s);
	g_free(again.seen);
	g_array_unref(again.ended);
}

/* One run of blktop. False: it was killed. */
static bool run_blktop(const char *dir)
{
	const struct job_options options = { .model = { .live = true, .memory_budget = plan.memory / 4 },
					     .memory = plan.memory };
	struct run *r = g_new0(struct run, 1);
	struct job_status st;

	run_begin(r, dir);
	struct timeline *tl = timeline_new(plan.memory);
	struct job *j = job_start(open_run, r, NULL, &options);
	if (!run_until_end(r, j, tl, &st)) {
		sim_say("blktop is killed");
		sched_kill_others();
		world_drop_viewers();
		if (r->spool)
			check_spool(r, spool_path(r->spool), false);
		return false;
	}
	check_missing(r, tl, &st);
	job_free(j);
	if (r->spool) {
		struct spool_status spool;
		g_autofree char *path = g_strdup(spool_path(r->spool));
		spool_flush(r->spool, 60 * SECOND_US);
		spool_get_status(r->spool, &spool);
		if (spool.stopped && !plan.disk_full)
			sim_fail("%s", spool.message);
		spool_unref(r->spool);
		check_spool(r, path, !spool.stopped && !spool.dropped && !spool.refused && !world.session_cut);
	}
	timeline_free(tl);
	g_array_unref(r->ended);
	g_free(r->seen);
	g_free(r);
	return true;
}

/* ---- seeds ---- */

static void make_plan(void)
{
	static const size_t memories[] = { 0, 64 << 20, 1 << 20, 256 << 10 };

	plan.memory = memories[sim_below(G_N_ELEMENTS(memories))];
	plan.spool = sim_one_of(4);
	plan.disk_full = plan.spool && sim_one_of(3);
	plan.full_us = sim_between(world.begins_us, world.ends_us);
	plan.kill_us = !world.calm && sim_one_of(6) ? sim_between(world.begins_us, world.ends_us) : INT64_MAX;
	sim_say("plan: memory %zu KiB%s%s%s", plan.memory >> 10, plan.spool ? ", a spool" : "",
		plan.disk_full ? ", its disk gets full" : "", plan.kill_us < INT64_MAX ? ", killed" : "");
}

static void run_seed(uint64_t seed)
{
	g_autofree char *dir = NULL;

	sched_begin(seed, BEGIN_US);
	world_make(BEGIN_US);
	make_plan();
	dir = plan.spool ? test_temp_dir() : NULL;
	if (!run_blktop(dir)) {
		plan.kill_us = INT64_MAX;
		run_blktop(dir);
	}
	if (dir)
		test_remove_tree(dir);
	printf("%s %" PRIu64 " %016" PRIx64 " %u requests\n", sim_failures() ? "FAILED" : "fine", seed, sim_digest(),
	       world.requests->len);
}

/* In a process of its own: a crash or a loop is a failure of this seed. */
static bool try_seed(uint64_t seed)
{
	int status;

	fflush(stdout);
	pid_t pid = fork();
	g_assert_cmpint(pid, >=, 0);
	if (!pid) {
		alarm(SEED_SECONDS);
		run_seed(seed);
		fflush(stdout);
		_exit(sim_failures() ? 1 : 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		printf("FAILED %" PRIu64 " ended by signal %d\n", seed, WTERMSIG(status));
	return status == 0;
}

int main(int argc, char **argv)
{
	unsigned failed = 0;

	sim_verbose = argc > 1 && !strcmp(argv[1], "-v");
	argc -= sim_verbose;
	argv += sim_verbose;
	if (argc != 3) {
		fprintf(stderr, "usage: simulate [-v] FIRST N\n");
		return 2;
	}
	blk_trace_error_quark();
	uint64_t first = strtoull(argv[1], NULL, 10), n = strtoull(argv[2], NULL, 10);
	for (uint64_t i = 0; i < n; i++)
		failed += !try_seed(first + i);
	return failed > 0;
}
