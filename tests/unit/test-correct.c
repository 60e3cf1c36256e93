/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What comes too late in a live session: its seconds, those in which it was told instead and those between
 * are made again of what is kept, and say what a run over everything in order says.
 */
#include "lib/sources.h"
#include "lib/fake_pieces.h"
#include "lib/fake_timeline.h"
#include "lib/report.h"
#include "lib/traces.h"
#include "base/timefmt.h"
#include "run/job.h"
#include "state/publish/model.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"
#include "state/store/timeline_private.h"

#include <string.h>

#define LONG_MS 20000

/* ---- a source that tells a stream's events too late ---- */

struct tardy {
	struct source base;
	struct blk_event *ev;
	size_t n, at;
	struct source_late late;	/* told with the batch at .late_at */
	size_t late_at;
	bool was_late;
};

static enum source_status tardy_next(struct source *s, struct blk_batch *ret,
				     G_GNUC_UNUSED GError **error)
{
	struct tardy *t = (struct tardy *)s;

	if (t->at == t->n)
		return SOURCE_END;
	ret->ev = t->ev + t->at;
	ret->n = MIN(t->n - t->at, BLK_BATCH);
	t->at += ret->n;
	return SOURCE_OK;
}

static bool tardy_take_late(struct source *s, struct source_late *ret)
{
	struct tardy *t = (struct tardy *)s;

	if (t->was_late || t->at < t->late_at || !t->late.n)
		return false;
	t->was_late = true;
	*ret = t->late;
	return true;
}

static void tardy_free(struct source *s)
{
	g_free(((struct tardy *)s)->ev);
	g_free(s);
}

static const struct source_ops tardy_ops = {
	.next = tardy_next, .free = tardy_free, .take_late = tardy_take_late,
};

/* The events of every other stream in [from, to) come at `at`, and with that instant. */
static struct tardy *tardy_new(const struct recording *r, int64_t from, int64_t to, int64_t at)
{
	struct tardy *t = g_new0(struct tardy, 1);
	size_t n = recording_n(r);
	unsigned which = 0;
	g_autoptr(GArray) moved = g_array_new(FALSE, FALSE, sizeof(struct blk_event));

	t->base.ops = &tardy_ops;
	t->base.tables = *recording_tables(r);
	t->ev = g_new(struct blk_event, n);
	for (size_t i = 0; i < n; i++) {
		struct blk_event e = *recording_event(r, i);
		if (e.ts >= at && moved->len && !t->late_at) {
			memcpy(t->ev + t->n, moved->data, moved->len * sizeof e);
			t->n += moved->len;
			t->late_at = t->n;
		}
		if (e.row >= BLK_ROW_FIRST_PSEUDO || e.ts < from || e.ts >= to ||
		    (t->late.n && (e.stream ^ which) & 1)) {
			t->ev[t->n++] = e;
			continue;
		}
		which = e.stream;
		t->late.from_ns = t->late.n ? t->late.from_ns : e.ts;
		t->late.to_ns = e.ts;
		t->late.n++;
		e.ts = at;
		g_array_append_val(moved, e);
	}
	g_assert_cmpuint(t->n, ==, n);
	t->late.at_from_ns = t->late.at_to_ns = at;
	return t;
}

struct scene {
	struct fake_pieces pieces;
	struct tardy *source;
	bool stored;
};

static bool open_scene(void *data, struct job_trace *ret, G_GNUC_UNUSED GError **error)
{
	struct scene *s = data;

	ret->source = &s->source->base;
	if (s->stored)
		ret->pieces = fake_pieces_growing(&s->pieces);
	return true;
}

static struct timeline *play(struct scene *s, struct job_status *ret)
{
	struct job_options options = { .threads = 1, .model.live = true, .model.provisional = true };
	struct job *j = job_start(open_scene, s, NULL, &options);
	struct timeline *tl = timeline_new(0);

	g_assert_true(job_wait(j, tl, LONG_MS));
	job_get_status(j, ret);
	g_assert_cmpint(ret->phase, ==, JOB_DONE);
	job_free(j);
	return tl;
}

static struct timeline *in_order(const struct recording *r)
{
	struct timeline *tl = timeline_new(0);
	struct slice *s = slice_new(true, NS_PER_S);

	slice_feed(s, recording_tables(r), recording_event(r, 0), recording_n(r));
	timeline_apply(tl, slice_finish(s));
	slice_free(s);
	return tl;
}

static unsigned corrected_at(const struct timeline *tl, int64_t at)
{
	const struct second *s = timeline_second(tl, timeline_find(tl, at));

	return s && s->begin_ns <= at ? s->completeness.corrected : 0;
}

static void test_late(gconstpointer name)
{
	struct recording *r = traces_record(name);
	struct job_status st;
	struct scene s = { .stored = true };

	if (!r)
		return;
	g_autoptr(blk_timeline) right = in_order(r);
	int64_t first = timeline_second(right, 0)->begin_ns, from = timeline_second(right, 1)->begin_ns;
	int64_t to = from + NS_PER_S;
	int64_t at = timeline_second(right, timeline_n_seconds(right) > 3 ? 3 : 2)->begin_ns + 5;

	fake_pieces_init(&s.pieces, r);
	s.source = tardy_new(r, from, to, at);
	uint64_t late = s.source->late.n;
	g_assert_cmpuint(late, >, 0);
	g_autoptr(blk_timeline) tl = play(&s, &st);
	g_assert_cmpuint(st.late, ==, late);
	g_assert_true(st.corrects);
	for (size_t i = 0; i < timeline_n_seconds(tl); i++)	/* each is in its second now */
		g_assert_cmpuint(timeline_second(tl, i)->completeness.late, ==, 0);
	unsigned n = 0;
	for (int64_t begin = from; begin <= at; begin += NS_PER_S) {
		g_autofree char *expected = report_of_seconds(right, begin, begin + NS_PER_S);
		g_autofree char *got = report_of_seconds(tl, begin, begin + NS_PER_S);
		report_assert_equal("corrected", expected, got);
		g_assert_cmpuint(corrected_at(tl, begin), ==, 1);
		n++;
	}
	g_assert_cmpuint(st.corrected, ==, n);
	g_assert_cmpuint(corrected_at(tl, first), ==, 0);
	g_assert_cmpuint(corrected_at(tl, from + n * NS_PER_S), ==, 0);
	fake_pieces_clear(&s.pieces);
}

/* A process ends, another one gets its pid, and then comes what was late for a second of the first. */
static const char reused[] =
	"1000 0 lttng_statedump_process_state tid=5 pid=5 ppid=1 name=\"sh\" type=0\n"
	"1001 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name=\"other\" type=0\n"
	"100000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/1\" next_comm=\"other\"\n"
	"100000010 0 sched_switch prev_tid=0 prev_state=0 next_tid=5 prev_comm=\"swapper/0\" next_comm=\"sh\"\n"
	"200000000 0 sched_process_fork parent_tid=5 child_tid=500 parent_pid=5 child_pid=500 child_comm=\"sh\"\n"
	"300000000 0 sched_switch prev_tid=5 prev_state=1 next_tid=500 prev_comm=\"sh\" next_comm=\"old\"\n"
	"1200000000 1 syscall_entry_read ctx.tid=7 fd=3 count=10\n"
	"1300000000 1 syscall_exit_read ctx.tid=7 ret=10\n"
	"1400000000 0 syscall_entry_write ctx.tid=500 fd=4 count=20\n"
	"1500000000 0 syscall_exit_write ctx.tid=500 ret=20\n"
	"2100000000 0 sched_process_exit ctx.tid=500 tid=500 comm=\"old\"\n"
	"2110000000 0 sched_switch prev_tid=500 prev_state=16 next_tid=5 prev_comm=\"old\" next_comm=\"sh\"\n"
	"2500000000 0 sched_process_fork parent_tid=5 child_tid=500 parent_pid=5 child_pid=500 child_comm=\"sh\"\n"
	"2600000000 0 sched_switch prev_tid=5 prev_state=1 next_tid=500 prev_comm=\"sh\" next_comm=\"new\"\n"
	"3500000000 0 syscall_entry_write ctx.tid=500 fd=4 count=20\n"
	"3600000000 0 syscall_exit_write ctx.tid=500 ret=20\n"
	"4200000000 1 syscall_entry_read ctx.tid=7 fd=3 count=10\n"
	"4300000000 1 syscall_exit_read ctx.tid=7 ret=10\n"
	"5300000000 0 syscall_entry_write ctx.tid=500 fd=4 count=20\n"
	"5400000000 0 syscall_exit_write ctx.tid=500 ret=20\n";

static void test_reused(void)
{
	struct recording *r = traces_record_script(reused);
	struct job_status st;
	struct scene s = { .stored = true };
	g_autoptr(blk_timeline) right = in_order(r);

	fake_pieces_init(&s.pieces, r);
	s.source = tardy_new(r, NS_PER_S, 2 * NS_PER_S, 3 * NS_PER_S + 5);
	g_assert_cmpuint(s.source->late.n, ==, 2);
	g_autoptr(blk_timeline) tl = play(&s, &st);
	g_assert_cmpuint(st.corrected, ==, 3);
	for (int64_t at = 0; at < 6 * NS_PER_S; at += NS_PER_S) {
		g_autofree char *expected = report_of_seconds(right, at, at + NS_PER_S);
		g_autofree char *got = report_of_seconds(tl, at, at + NS_PER_S);
		report_assert_equal("a pid that was given again", expected, got);
	}
	fake_pieces_clear(&s.pieces);
}

/* Nothing is kept: what is late is counted, and nothing is corrected. */
static void test_not_stored(gconstpointer name)
{
	struct recording *r = traces_record(name);
	struct job_status st;
	struct scene s = { .stored = false };

	if (!r)
		return;
	g_autoptr(blk_timeline) right = in_order(r);
	int64_t from = timeline_second(right, 1)->begin_ns;
	fake_pieces_init(&s.pieces, r);
	s.source = tardy_new(r, from, from + NS_PER_S, from + 2 * NS_PER_S);
	uint64_t late = s.source->late.n;
	g_autoptr(blk_timeline) tl = play(&s, &st);
	const struct second *came = timeline_second(tl, timeline_find(tl, from + 2 * NS_PER_S));
	g_assert_cmpint(came->begin_ns, ==, from + 2 * NS_PER_S);
	g_assert_cmpuint(came->completeness.late, ==, late);
	g_assert_cmpuint(timeline_facts(tl)->completeness.late, ==, late);
	g_assert_cmpuint(st.late, ==, late);
	g_assert_false(st.corrects);
	g_assert_cmpuint(st.corrected, ==, 0);
	for (size_t i = 0; i < timeline_n_seconds(tl); i++)
		g_assert_cmpuint(timeline_second(tl, i)->completeness.corrected, ==, 0);
	fake_pieces_clear(&s.pieces);
}

/* ---- the model's side ---- */

/* The first events of it, read again. */
static struct publication *read_again_to(const struct recording *r, size_t n)
{
	struct slice *s = slice_new(true, NS_PER_S);

	slice_feed(s, recording_tables(r), recording_event(r, 0), n);
	struct publication *p = slice_finish(s);
	slice_free(s);
	return p;
}

static struct publication *read_again(const struct recording *r)
{
	return read_again_to(r, recording_n(r));
}

/* Returns how many seconds it was. */
static unsigned adopt(struct model *m, struct timeline *tl, struct publication *again, int64_t from, int64_t to)
{
	struct publication *p = model_adopt(m, again, from, to);
	unsigned n = p ? p->seconds->len : 0;

	if (p)
		timeline_apply(tl, p);
	return n;
}

/* Two readings of a trace number nothing alike: what one has of a second is in the other
 * what it was. All seconds at once, and what no reading before knew. */
static void test_ids(gconstpointer name)
{
	struct recording *r = traces_record(name);
	if (!r)
		return;
	size_t half = recording_n(r) / 2;
	struct model *m = model_new(&(struct model_options){ 0 });
	g_autoptr(blk_timeline) tl = timeline_new(0);

	model_feed(m, recording_tables(r), recording_event(r, 0), half);
	timeline_apply(tl, model_publish(m, true));
	g_autoptr(blk_timeline) right = in_order(r);
	int64_t first, end;
	g_assert_true(timeline_coverage(right, &first, &end));
	int64_t from = time_floor(first, NS_PER_S);
	/* Views ask of the last second what is open at the end of what is known. */
	int64_t to = time_floor(recording_event(r, half)->ts, NS_PER_S);
	g_assert_cmpuint(adopt(m, tl, read_again(r), from, end + 1), ==, timeline_n_seconds(right));
	g_autofree char *expected = report_of_seconds(right, from, to);
	g_autofree char *got = report_of_seconds(tl, from, to);
	report_assert_equal("the first half", expected, got);
	/* Once more changes nothing but how often it was done. */
	g_assert_cmpuint(adopt(m, tl, read_again(r), from, end + 1), ==, timeline_n_seconds(right));
	g_autofree char *again = report_of_seconds(tl, from, to);
	report_assert_equal("again", expected, again);
	g_assert_cmpuint(timeline_second(tl, 0)->completeness.corrected, ==, 2);
	g_assert_cmpuint(timeline_n_spans(tl), ==, timeline_n_spans(right));
	model_free(m);
	recording_free(r);
}

/* What was adopted is known when the model tells more, and nothing is there twice. */
static void test_between(gconstpointer name)
{
	struct recording *r = traces_record(name);
	if (!r)
		return;
	size_t n = recording_n(r), half = n / 2;
	struct model *m = model_new(&(struct model_options){ 0 });
	g_autoptr(blk_timeline) tl = timeline_new(0);
	g_autoptr(blk_timeline) right = in_order(r);
	int64_t first, end;

	g_assert_true(timeline_coverage(right, &first, &end));
	int64_t from = time_floor(first, NS_PER_S), to = time_floor(recording_event(r, half)->ts, NS_PER_S);
	model_feed(m, recording_tables(r), recording_event(r, 0), half);
	timeline_apply(tl, model_publish(m, false));
	g_assert_cmpuint(adopt(m, tl, read_again(r), from, to), >, 0);
	model_feed(m, recording_tables(r), recording_event(r, half), n - half);
	timeline_apply(tl, model_publish(m, true));
	uint32_t strings = tl->strings.n, threads = tl->threads.n, processes = tl->processes.n, files = tl->files.n;
	g_assert_cmpuint(adopt(m, tl, read_again(r), from, end + 1), ==, timeline_n_seconds(right));
	g_assert_cmpuint(tl->strings.n, ==, strings);
	g_assert_cmpuint(tl->threads.n, ==, threads);
	g_assert_cmpuint(tl->processes.n, ==, processes);
	g_assert_cmpuint(tl->files.n, ==, files);
	g_autofree char *expected = report_of_seconds(right, from, end + 1);
	g_autofree char *got = report_of_seconds(tl, from, end + 1);
	report_assert_equal("all of it", expected, got);
	model_free(m);
	recording_free(r);
}

/* A later version of the model's does not come back. */
static void test_stays(gconstpointer name)
{
	struct recording *r = traces_record(name);
	if (!r)
		return;
	struct model *m = model_new(&(struct model_options){ 0 });
	g_autoptr(blk_timeline) tl = timeline_new(0);
	model_feed(m, recording_tables(r), recording_event(r, 0), recording_n(r));
	timeline_apply(tl, model_publish(m, true));
	int64_t begin = timeline_second(tl, 1)->begin_ns;
	g_assert_cmpuint(adopt(m, tl, read_again(r), begin, begin + NS_PER_S), ==, 1);
	const struct second *mine = timeline_second(tl, 1);
	struct publication *p = publication_new();
	struct second *empty = second_new(begin, begin + NS_PER_S);
	empty->version = 99;
	second_seal(empty);
	g_ptr_array_add(p->seconds, empty);
	/* Nor one of its spans: in its slot, or in one that is new. */
	size_t n = timeline_n_spans(tl);
	g_autoptr(GPtrArray) spans = g_ptr_array_new();
	for (size_t i = 0; i < n; i++) {
		const struct span *s = timeline_span(tl, i);
		if (s->state != SPAN_COMPLETE || time_floor(s->begin_ns, NS_PER_S) != begin)
			continue;
		g_ptr_array_add(spans, (gpointer)s);
		publication_add_span(p, (uint32_t)i, fake_copy(s));
		publication_add_span(p, (uint32_t)(4 * n + i), fake_copy(s));
	}
	g_assert_cmpuint(spans->len, >, 0);
	timeline_apply(tl, p);
	g_assert_true(timeline_second(tl, 1) == mine);
	g_assert_cmpuint(timeline_n_spans(tl), ==, n);
	size_t stored = 0;
	for (size_t i = 0; i < n; i++)
		stored += g_ptr_array_find(spans, timeline_span(tl, i), NULL);
	g_assert_cmpuint(stored, ==, spans->len);
	model_free(m);
	recording_free(r);
}

/* A process begins, and that comes too late: its thread, whom the model had known before, is its own from
 * then on, also when the model tells more of it. */
static const char late_begin[] =
	"1000 0 lttng_statedump_process_state tid=5 pid=5 ppid=1 name=\"sh\" type=0\n"
	"1001 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name=\"other\" type=0\n"
	"100000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/1\" next_comm=\"other\"\n"
	"100000010 0 sched_switch prev_tid=0 prev_state=0 next_tid=5 prev_comm=\"swapper/0\" next_comm=\"sh\"\n"
	"1050000000 1 syscall_entry_read ctx.tid=7 fd=3 count=10\n"
	"1100000000 0 sched_process_fork parent_tid=5 child_tid=500 parent_pid=5 child_pid=500 child_comm=\"sh\"\n"
	"2200000000 1 sched_process_fork parent_tid=500 child_tid=501 parent_pid=500 child_pid=500 child_comm=\"one\"\n"
	"2300000000 1 sched_switch prev_tid=7 prev_state=1 next_tid=501 prev_comm=\"other\" next_comm=\"one\"\n"
	"3500000000 1 syscall_entry_write ctx.tid=501 fd=4 count=20\n"
	"3600000000 1 syscall_exit_write ctx.tid=501 ret=20\n"
	"4500000000 1 sched_switch prev_tid=501 prev_state=1 next_tid=7 prev_comm=\"one\" next_comm=\"other\"\n"
	"5300000000 1 sched_switch prev_tid=7 prev_state=1 next_tid=501 prev_comm=\"other\" next_comm=\"two\"\n"
	"5400000000 1 syscall_entry_write ctx.tid=501 fd=4 count=20\n"
	"5500000000 1 syscall_exit_write ctx.tid=501 ret=20\n";

static void test_late_begin(void)
{
	struct recording *r = traces_record_script(late_begin);
	struct tardy *t = tardy_new(r, 1075 * (NS_PER_S / 1000), 2 * NS_PER_S, 3 * NS_PER_S + 5);
	struct model *m = model_new(&(struct model_options){ 0 });
	g_autoptr(blk_timeline) right = in_order(r), tl = timeline_new(0);
	size_t n = t->n;

	while (t->ev[n - 1].ts > 4 * NS_PER_S)
		n--;
	g_assert_cmpuint(t->late.n, ==, 1);
	model_feed(m, &t->base.tables, t->ev, n + 1);
	timeline_apply(tl, model_publish(m, false));
	g_assert_cmpuint(adopt(m, tl, read_again_to(r, n + 1), NS_PER_S, 4 * NS_PER_S), ==, 3);
	model_feed(m, &t->base.tables, t->ev + n + 1, t->n - n - 1);
	timeline_apply(tl, model_publish(m, true));
	/* Before, the model takes whom it did not see begin for one that had been there. */
	for (int64_t at = NS_PER_S; at < 6 * NS_PER_S; at += NS_PER_S) {
		g_autofree char *expected = report_of_seconds(right, at, at + NS_PER_S);
		g_autofree char *got = report_of_seconds(tl, at, at + NS_PER_S);
		report_assert_equal("a process whose begin came late", expected, got);
	}
	model_free(m);
	tardy_free(&t->base);
	recording_free(r);
}

/* ---- names of its own ---- */

#define NAMESAKES 12

/* A machine of that name, which has nothing else in common. */
static const char web1[] =
	"1795241315000000000 0 k@web1:sched_switch prev_tid=0 prev_state=0 next_tid=9999 "
	"prev_comm=\"swapper/0\" next_comm=\"x\"\n"
	"1795241316999999999 0 k@web1:sched_switch prev_tid=9999 prev_state=1 next_tid=0 "
	"prev_comm=\"x\" next_comm=\"swapper/0\"\n";

static void count(struct second *s, uint32_t t, uint32_t name, enum count_kind kind, uint64_t n)
{
	s->counts = g_renew(struct count_cell, s->counts, s->n_counts + 1);
	s->counts[s->n_counts++] = (struct count_cell){
		.thread = t, .name = name, .kind = kind, .value = n,
	};
}

static char *numbered(const char *what, unsigned second, unsigned i)
{
	return g_strdup_printf("%s-%u-%u", what, second, i);
}

/* Threads, counters, probes and spans of the second, all called as in no other one. */
static void tell_second(struct fake *f, unsigned second)
{
	struct second *s = fake_second(f, second);

	for (unsigned i = 0; i < NAMESAKES; i++) {
		g_autofree char *name = numbered("name", second, i), *comm = numbered("comm", second, i);
		g_autofree char *probe = numbered("probe", second, i);
		g_autofree char *service = numbered("service", second, i);
		int32_t tid = 100 + (int32_t)(second * NAMESAKES + i);
		uint32_t t = fake_thread(f, 0, tid, tid, comm), id = fake_string(f, name);
		for (int kind = COUNT_FAULT; kind < COUNT_KIND_N; kind++)
			count(s, t, id, kind, (uint64_t)tid * 10 + kind);
		count(s, t, fake_string(f, probe), COUNT_PROBE, 1);
		count(s, t, fake_string(f, "cpu_instructions"), COUNT_PERF, 1000 + i);
		count(s, t, fake_string(f, "cpu_cycles"), COUNT_PERF, 3000 + 10 * i);
		fake_cell(s, t)->part[PART_USER] = 1000;
		fake_call(s, t, id, 1, 100 + i);
		fake_io(s, t, fake_file(f, 0, FILE_REGULAR, name), 1, 1, 10, 5);
		s->files[i].fd_low = s->files[i].fd_high = 3;	/* it is of no other */
		int64_t begin = second * FAKE_S + (int64_t)i * FAKE_MS;
		fake_span(f, &(struct fake_span){
			.trace = tid, .id = tid, .kind = SPAN_SERVER, .name = "GET", .service = service,
			.thread = t, .begin = begin, .end = begin + (i + 1) * FAKE_MS, .state = SPAN_COMPLETE,
		});
	}
}

/* What nothing but the reading knows is told apart from all that the model knows, in every view. */
static void test_own_names(void)
{
	struct fake *all = fake_new(), *late = fake_new();
	struct recording *r = traces_record_script(web1);
	struct model *m = model_new(&(struct model_options){ 0 });
	g_autoptr(blk_timeline) tl = timeline_new(0);

	tell_second(all, 0);
	tell_second(all, 1);
	fake_class(all, "sched_switch");
	g_autoptr(blk_timeline) right = fake_done(all);
	tell_second(late, 0);
	tell_second(late, 1);
	struct publication *again = fake_publication(late);
	model_feed(m, recording_tables(r), recording_event(r, 0), recording_n(r));
	timeline_apply(tl, model_publish(m, true));
	struct host_info *host = &g_array_index(again->hosts, struct published_host, 0).info;
	g_free(host->boot);
	host->boot = g_strdup(timeline_host(tl, 0)->boot);
	g_assert_cmpuint(adopt(m, tl, again, FAKE_T0, FAKE_T0 + 2 * FAKE_S), ==, 2);
	for (int i = 0; i < 2; i++) {
		int64_t from = FAKE_T0 + i * FAKE_S;
		g_autofree char *expected = report_of_seconds(right, from, from + FAKE_S);
		g_autofree char *got = report_of_seconds(tl, from, from + FAKE_S);
		report_assert_equal("own names", expected, got);
	}
	model_free(m);
	recording_free(r);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*test)(gconstpointer); } tests[] = {
		{ "late", test_late }, { "not-kept", test_not_stored }, { "ids", test_ids },
		{ "between", test_between }, { "stays", test_stays },
	};
	static const char *const traces[] = { "demo/trace", "kernel-ust/trace" };

	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/correct/own-names", test_own_names);
	g_test_add_func("/correct/reused", test_reused);
	g_test_add_func("/correct/late-begin", test_late_begin);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
		for (size_t k = 0; k < G_N_ELEMENTS(traces); k++) {
			g_autofree char *path = g_strdup_printf("/correct/%s/%s", tests[i].name, traces[k]);
			g_test_add_data_func(path, traces[k], tests[i].test);
		}
	return g_test_run();
}
