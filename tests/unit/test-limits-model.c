/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of the model: what is kept of threads, calls, waits and spans. */
#include "base/limits.h"
#include "lib/slices.h"
#include "lib/sources.h"
#include "lib/traces.h"
#include "lib/limit_test.h"
#include "lib/span_feed.h"
#include "state/kernel/coverage.h"
#include "state/kernel/facts.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/threads.h"
#include "state/kernel/subscriptions.h"
#include "state/publish/model.h"
#include "state/slice/slice_file.h"
#include "state/spans/rules.h"
#include "state/spans/suggest.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"
#include "trace/reader.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define S INT64_C(1000000000)

/* ---- scripts ---- */

static struct timeline *timeline_of(const char *script)
{
	return timeline_of_script(script, &(struct model_options){ .at_end = true });
}

/* The same by these rules. */
static struct timeline *timeline_by_rules(const char *text, const char *script)
{
	g_autoptr(GError) error = NULL;
	struct rules *r = rules_new();

	g_assert_true(rules_parse(r, "rules", text, strlen(text), false, &error) && rules_install(r, &error));
	struct timeline *tl = timeline_of(script);
	rules_install(NULL, NULL);
	return tl;
}

#define SWITCH "%u %u sched_switch prev_tid=%u prev_state=%u next_tid=%u prev_comm=\"t%u\" next_comm=\"t%u\"\n"

static void add_switch(GString *s, unsigned at, unsigned cpu, unsigned prev, unsigned state, unsigned next)
{
	g_string_append_printf(s, SWITCH, at, cpu, prev, state, next, prev, next);
}

/* Thread 7 runs on CPU 0, and its span begins. */
static GString *span_begin(void)
{
	GString *s = g_string_new(NULL);

	add_switch(s, 10, 0, 0, 0, 7);
	add_switch(s, 11, 1, 5, 1, 0);
	g_string_append(s, "100 0 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 "
			"parent_span_id=0 event=\"sr\" ctx.vtid=7 ctx.vpid=7\n");
	return s;
}

static struct timeline *span_end(GString *s, unsigned at)
{
	g_string_append_printf(s, "%u 0 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 "
			       "parent_span_id=0 event=\"ss\" ctx.vtid=7 ctx.vpid=7\n", at);
	add_switch(s, at + 1, 0, 7, 1, 0);
	struct timeline *tl = timeline_of(s->str);
	g_string_free(s, true);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	return tl;
}

static bool span_waits(uint64_t n)
{
	GString *s = span_begin();
	unsigned at = 200;

	for (uint64_t i = 0; i < n; i++, at += 20) {
		add_switch(s, at, 0, 7, 1, 0);
		g_string_append_printf(s, "%u 1 sched_waking tid=7 target_cpu=0\n", at + 5);
		add_switch(s, at + 10, 0, 0, 0, 7);
	}
	g_autoptr(blk_timeline) tl = span_end(s, at);
	const struct span *span = timeline_span(tl, 0);
	g_assert_cmpuint(span->n_waits + span->n_waits_more, ==, n);
	g_assert_cmpuint(span->n_waits, ==, MIN(n, LIMIT_SPAN_WAITS));
	return !span->n_waits_more;
}

/* A span of n seconds that one event tells of at its end. */
static bool past_seconds(uint64_t n)
{
	g_autofree char *script = g_strdup_printf(
		SWITCH "%" G_GUINT64_FORMAT "000000000 0 u:my:call d=%" G_GUINT64_FORMAT " ctx.vtid=7 ctx.vpid=7\n",
		1u, 0u, 0u, 0u, 7u, 0u, 7u, n + 1, n);
	g_autoptr(blk_timeline) tl = timeline_by_rules("[x]\nend=my:call\nduration=d\nunit=s\n", script);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	const struct span *span = timeline_span(tl, 0);
	g_assert_cmpint(span->part[PART_USER], ==, (int64_t)MIN(n, LIMIT_PAST_SECONDS) * S);
	g_assert_true(span->out_of_reach == (n > LIMIT_PAST_SECONDS));
	return !span->part[PART_UNKNOWN];
}

/* The same, of a thread that changed its state n times. */
static bool past_charges(uint64_t n)
{
	GString *s = g_string_new(NULL);
	unsigned at = 10;

	add_switch(s, at++, 0, 0, 0, 7);
	for (uint64_t i = 0; i + 1 < n; i++)
		g_string_append_printf(s, "%u 0 syscall_%s_getppid ctx.tid=7 ret=1\n", at++, i % 2 ? "exit" : "entry");
	if (n % 2 == 0)
		g_string_append_printf(s, "%u 0 syscall_exit_getppid ctx.tid=7 ret=1\n", at++);
	g_string_append_printf(s, "%u 0 u:my:call d=%u ctx.vtid=7 ctx.vpid=7\n", at, at - 10);
	g_autoptr(blk_timeline) tl = timeline_by_rules("[x]\nend=my:call\nduration=d\n", s->str);
	g_string_free(s, true);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	return !timeline_span(tl, 0)->part[PART_UNKNOWN];
}

/* Calls that last as long as a second has room for. */
static void add_calls(GString *s, unsigned *at, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++, *at += 1000000)
		g_string_append_printf(s, "%u 0 syscall_entry_read ctx.tid=7 fd=5 count=64\n"
				       "%u 0 syscall_exit_read ctx.tid=7 ret=64\n", *at, *at + 900000);
}

static bool span_calls(uint64_t n)
{
	GString *s = span_begin();
	unsigned at = 200;

	add_calls(s, &at, n);
	g_autoptr(blk_timeline) tl = span_end(s, at);
	const struct span *span = timeline_span(tl, 0);
	g_assert_cmpuint(span->n_slow + span->n_slow_more, ==, n);
	g_assert_cmpuint(span->n_slow, ==, MIN(n, LIMIT_SPAN_CALLS));
	return !span->n_slow_more;
}

static bool second_calls(uint64_t n)
{
	GString *s = span_begin();
	unsigned at = 200;

	add_calls(s, &at, n);
	g_autoptr(blk_timeline) tl = span_end(s, at);
	uint32_t slow = timeline_second(tl, 0)->n_slow;
	g_assert_cmpuint(slow, ==, MIN(n, LIMIT_SECOND_CALLS));
	return slow == n;
}

static bool span_neighbours(uint64_t n)
{
	GString *s = span_begin();
	unsigned prev = 7, at = 200;

	for (unsigned i = 0; i < n; i++, at += 20) {
		add_switch(s, at, 0, prev, 0, 20 + i);
		prev = 20 + i;
	}
	add_switch(s, at, 0, prev, 0, 7);
	g_autoptr(blk_timeline) tl = span_end(s, at + 10);
	const struct span_runqueue *behind = timeline_span(tl, 0)->runqueue;
	g_assert_cmpuint(behind->n + behind->n_more, ==, n);
	return !behind->n_more;
}

/* ---- wakers ---- */

/* Thread 7 waits for 20, which waits for 21, and so on, n threads deep. */
static bool waker_depth(uint64_t n)
{
	GString *s = span_begin();
	const unsigned first = 20, last = first + (unsigned)n, middle = 1000 + 10 * (unsigned)n;
	unsigned deepest = 0;

	add_switch(s, 200, 0, 7, 1, 0);
	add_switch(s, 201, 1, 0, 0, first);
	for (unsigned i = first; i < last; i++)
		add_switch(s, 210 + i, 1, i, 1, i + 1);
	for (unsigned i = last; i > first; i--) {
		g_string_append_printf(s, "%u 1 sched_waking tid=%u target_cpu=1\n", middle - 4 * i, i - 1);
		add_switch(s, middle - 4 * i + 2, 1, i, 1, i - 1);
	}
	g_string_append_printf(s, "%u 1 sched_waking tid=7 target_cpu=0\n", middle);
	add_switch(s, middle + 10, 0, 0, 0, 7);
	g_autoptr(blk_timeline) tl = span_end(s, middle + 20);
	const struct span *span = timeline_span(tl, 0);
	for (uint32_t i = 0; i < span->n_chain; i++)
		deepest = MAX(deepest, span->chain[i].depth);
	return deepest == n;
}

/* Thread 7 waits for 20, which waits n times meanwhile; one of its waits is longer. */
static bool waker_looks(uint64_t n)
{
	GString *s = span_begin();
	unsigned at = 210;

	add_switch(s, 200, 0, 7, 1, 0);
	add_switch(s, 201, 1, 0, 0, 20);
	for (uint64_t i = 0; i < n; i++) {
		unsigned wait = i == n / 2 ? (unsigned)n * 20 : 4;
		add_switch(s, at, 1, 20, 1, 0);
		g_string_append_printf(s, "%u 2 sched_waking tid=20 target_cpu=1\n", at + wait);
		add_switch(s, at + wait + 2, 1, 0, 0, 20);
		at += wait + 10;
	}
	g_string_append_printf(s, "%u 1 sched_waking tid=7 target_cpu=0\n", at);
	add_switch(s, at + 5, 0, 0, 0, 7);
	g_autoptr(blk_timeline) tl = span_end(s, at + 10);
	const struct span *span = timeline_span(tl, 0);
	g_assert_cmpuint(span->n_chain, >, 0);
	return span->n_chain > 1;
}

/* ---- counters ---- */

/* Of n names, by event classes that have one each. */
static bool counters(uint64_t n)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < n; i++)
			g_string_append_printf(s, "%u 0 sched_switch ctx.perf_c%u=%u prev_tid=%u prev_state=0 "
					       "next_tid=%u\n", 10 + round * 1000 + i, i, 5 + round, 7 + i % 2,
					       8 - i % 2);
	g_autoptr(blk_timeline) tl = timeline_of(s->str);
	return timeline_second(tl, 0)->n_counts == n;
}

/* ---- events of two CPUs in the wrong order ---- */

/* n records of thread 7 at one instant: it is switched in, and makes calls. */
static void add_records(GString *s, uint64_t n)
{
	add_switch(s, 2000000, 1, 0, 0, 7);
	for (uint64_t i = 1; i < n; i++)
		g_string_append_printf(s, "2000000 1 syscall_%s_getpid ctx.tid=7\n", i % 2 ? "entry" : "exit");
}

/* Is its state unknown after them, in a slice that does not begin with the trace? */
static bool is_collected(uint64_t n)
{
	g_autoptr(GString) s = g_string_new("10 2 sched_switch prev_tid=0 prev_state=0 next_tid=8\n");
	add_records(s, n);
	struct recording *r = traces_record_script(s->str);
	struct slice *slice = slices_of(r, 0, recording_n(r), false);
	const struct thread *t = slice_thread(slice, 0, 7);
	bool collected = !thread_is_known(t);

	g_assert_cmpuint(t->head.len, ==, n);
	slice_free(slice);
	recording_free(r);
	return collected;
}

/* The switch-out before them comes last. */
static bool held_records(uint64_t n)
{
	g_autoptr(GString) s = g_string_new(NULL);

	add_switch(s, 10, 0, 0, 0, 7);
	add_records(s, n);
	add_switch(s, 2000000, 0, 7, 256, 0);
	add_switch(s, 3000000, 1, 7, 1, 0);
	g_autoptr(blk_timeline) tl = timeline_of(s->str);
	bool held = timeline_facts(tl)->completeness.reordered_pairs;
	g_assert_true(held == is_collected(n));
	return held;
}

/* n requests end before they are issued. */
static bool early_events(uint64_t n)
{
	g_autoptr(GString) s = g_string_new(NULL);
	for (unsigned i = 0; i < 2 * n; i++)
		g_string_append_printf(s, "%u %u block_rq_%s dev=1 sector=%u rwbs=0 nr_sector=8 error=0\n",
				       1000 + i, i < n, i < n ? "complete" : "issue", 8 * (unsigned)(i % n));
	g_autoptr(blk_timeline) tl = timeline_of(s->str);
	uint32_t paired = (uint32_t)timeline_facts(tl)->completeness.reordered_pairs;
	g_assert_cmpuint(paired, ==, MIN(n, LIMIT_EARLY_EVENTS));
	return paired == n;
}

/* ---- spans ---- */

/* n spans inside each other, of a rule or of functions: are all of them complete? */
static bool is_nested(const char *begin, const char *end, uint64_t n)
{
	g_autoptr(GString) s = g_string_new(NULL);
	unsigned complete = 0;

	for (unsigned i = 0; i < 2 * n; i++)
		g_string_append_printf(s, "%u 0 %s ctx.vtid=7 ctx.vpid=7 ctx.tid=7 ctx.pid=7\n", 10 + i,
				       i < n ? begin : end);
	g_autoptr(blk_timeline) tl = timeline_by_rules("[r]\nbegin=a\nend=b\nnested=yes\n", s->str);
	for (size_t i = 0; i < timeline_n_spans(tl); i++)
		complete += timeline_span(tl, i)->state == SPAN_COMPLETE;
	return complete == n;
}

static bool open_spans(uint64_t n)
{
	bool functions = is_nested("u:lttng_ust_cyg_profile:func_entry", "u:lttng_ust_cyg_profile:func_exit", n);

	g_assert_true(functions == is_nested("a", "b", n));
	return functions;
}

/* n definitions: has the first one its meaning at the end? */
static bool table_entries(uint64_t n)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (uint64_t i = 0; i < n; i++)
		g_string_append_printf(s, "%u 0 u:d k=%u v=\"v%u\"\n", 10 + (unsigned)i, (unsigned)i, (unsigned)i);
	g_string_append_printf(s, "%u 0 u:a k=0\n%u 0 u:b k=0\n", 20 + (unsigned)n, 30 + (unsigned)n);
	g_autoptr(blk_timeline) tl = timeline_by_rules("[table t]\nevent=d\nkey=k\nvalue=${v}\n"
						       "[r]\nbegin=a\nend=b\nkey=k\nname=${t[k]}\n", s->str);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	return g_str_equal(timeline_span(tl, 0)->name, "v0");
}

static const char links_text[] = "[send]\nbegin=s\nend=s\nkey=n\nlink_out=msg(n)\n"
	"[take]\nbegin=t\nend=e\nkey=m\nlink_in=msg(n)\nparent=link\n";

/* n messages are sent, then the first one is taken: is it linked? If not, it is reported. */
static bool link_outs(uint64_t n)
{
	g_autoptr(GString) s = g_string_new(NULL);
	bool linked = false;

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(s, "%u 0 s n=%u\n", 10 + i, i);
	g_string_append_printf(s, "%u 0 t n=0 m=0\n%u 0 e m=0\n", 20 + (unsigned)n, 21 + (unsigned)n);
	g_autoptr(blk_timeline) tl = timeline_by_rules(links_text, s->str);
	for (size_t i = 0; i < timeline_n_spans(tl); i++)
		linked |= timeline_span(tl, i)->n_links;
	g_assert_true(linked != timeline_has_event(tl, "(rule take: t without (link))"));
	return linked;
}

/* One message that n spans take: are all in its trace? */
static bool linked_spans(uint64_t n)
{
	g_autoptr(GString) s = g_string_new("10 0 s n=0\n");
	unsigned joined = 0, linked = 0;

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(s, "%u 0 t n=0 m=%u\n%u 0 e m=%u\n", 20 + 2 * i, i, 21 + 2 * i, i);
	g_autoptr(blk_timeline) tl = timeline_by_rules(links_text, s->str);
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *x = timeline_span(tl, i);
		joined += x->parent_id != 0;
		linked += x->n_links;
	}
	g_assert_cmpuint(linked, ==, n);
	return joined == n;
}

/* n events that match a pattern: does each have a row? */
static bool rule_classes(uint64_t n)
{
	static const char text[] = "[r]\nbegin=p:*_begin\nend=p:${1}_end\n";
	g_autoptr(GError) error = NULL;
	struct rules *r = rules_new();
	size_t n_rows;
	unsigned n_made = 0;

	g_assert_true(rules_parse(r, "rules", text, strlen(text), false, &error) && rules_install(r, &error));
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	struct blk_matcher *m = blk_matcher_new(rows, n_rows);
	for (unsigned i = 0; i < n; i++) {
		g_autofree char *event = g_strdup_printf("p:%u_begin", i);
		uint16_t row = blk_matcher_class(m, event, false);
		n_made += row != G_MAXUINT16;
		g_assert_true(row == G_MAXUINT16 || g_str_equal(rows[row].event, event));
	}
	blk_matcher_free(m);
	rules_install(NULL, NULL);
	return n_made == n;
}

/* n threads, each with an open pair at once: is a rule proposed? */
static bool suggest_keys(uint64_t n)
{
	static const char *const names[] = { "app:x_end", "app:x_start", NULL };
	struct suggest *g = suggest_new(names);
	struct blk_stream stream = { .domain = BLK_DOMAIN_UST };
	struct blk_tables tables = { .streams = g_ptr_array_new() };
	struct blk_layout layout = { .slot[BLK_CTX_VTID] = { .size = 4, .repr = BLK_INT } };

	g_ptr_array_add(tables.streams, &stream);
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t vtid = 1 + i % (uint32_t)n;
		struct blk_event e = { .ts = i, .data = (const uint8_t *)&vtid, .layout = &layout, .row = i < n };

		suggest_feed(g, &tables, &e, 1);
	}
	g_autoptr(GPtrArray) found = suggest_finish(g);
	g_assert_true(!found->len || ((const struct suggestion *)found->pdata[0])->pairs == n);
	bool taken = found->len > 0;
	g_ptr_array_unref(tables.streams);
	suggest_free(g);
	return taken;
}

/* A function that calls n - 1 others. */
static bool trace_functions(uint64_t n)
{
	g_autoptr(GString) s = g_string_new("10 0 u:lttng_ust_cyg_profile:func_entry addr=1 ctx.vtid=7 ctx.vpid=7\n");
	unsigned at = 20;
	bool one = true;

	for (uint64_t i = 1; i < n; i++, at += 2)
		g_string_append_printf(s, "%u 0 u:lttng_ust_cyg_profile:func_entry addr=2 ctx.vtid=7 ctx.vpid=7\n"
				       "%u 0 u:lttng_ust_cyg_profile:func_exit addr=2 ctx.vtid=7 ctx.vpid=7\n", at,
				       at + 1);
	g_string_append_printf(s, "%u 0 u:lttng_ust_cyg_profile:func_exit addr=1 ctx.vtid=7 ctx.vpid=7\n", at);
	g_autoptr(blk_timeline) tl = timeline_of(s->str);
	g_assert_cmpuint(timeline_n_spans(tl), ==, n);
	for (size_t i = 1; i < n && one; i++)
		one = timeline_span(tl, i)->trace_id == timeline_span(tl, 0)->trace_id;
	return one;
}

struct fed {
	struct model *m;
	struct span_feed *f;
	struct timeline *tl;
};

static struct fed fed_begin(const struct model_options *options, size_t budget)
{
	struct fed r = { .m = model_new(options), .tl = timeline_new(budget) };
	r.f = span_feed_new(r.m);
	return r;
}

static void fed_publish(struct fed *r, bool final)
{
	struct publication *p = model_publish(r->m, final);
	if (p)
		timeline_apply(r->tl, p);
}

static void fed_end(struct fed *r)
{
	span_feed_free(r->f);
	model_free(r->m);
	timeline_free(r->tl);
}

static bool span_halves(uint64_t n)
{
	struct fed r = fed_begin(&(struct model_options){ .at_end = true }, 0);

	for (uint64_t i = 0; i < n; i++) {
		g_autofree char *service = g_strdup_printf("service%u", (unsigned)i);
		struct span_mark m = { .ts = 10 + (int64_t)i, .trace = 1, .span = 2, .event = "sr", .service = service,
				       .vtid = 7 + (int)i };
		span_feed_mark(r.f, &m);
	}
	fed_publish(&r, true);
	size_t halves = timeline_n_spans(r.tl);
	fed_end(&r);
	g_assert_cmpuint(halves, ==, MIN(n, LIMIT_SPAN_HALVES));
	return halves == n;
}

/* Events of a log within a span. */
static bool span_notes(uint64_t n)
{
	static const char rules[] = "[a]\nbegin=u:a\nend=u:b\n[annotation log]\nevent=u:log\ntext=${msg}\n";
	g_autoptr(GString) s = g_string_new("1 0 u:u:a ctx.vtid=7\n");

	for (uint64_t i = 0; i < n; i++)
		g_string_append_printf(s, "%u 0 u:u:log msg=\"m\" ctx.vtid=7\n", 2 + (unsigned)i);
	g_string_append_printf(s, "%u 0 u:u:b ctx.vtid=7\n", 2 + (unsigned)n);
	g_autoptr(blk_timeline) tl = timeline_by_rules(rules, s->str);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	g_assert_cmpuint(timeline_span(tl, 0)->n_annotations, ==, 2 + MIN(n, LIMIT_SPAN_NOTES));
	g_assert_cmpuint(timeline_facts(tl)->notes.over, ==, n - MIN(n, LIMIT_SPAN_NOTES));
	return !timeline_facts(tl)->notes.over;
}

/* A trace without an end, n seconds after its last event: may it still go on? */
static bool open_trace_seconds(uint64_t n)
{
	struct fed r = fed_begin(&(struct model_options){ .live = true }, 0);
	struct span_mark m = { .ts = S, .trace = 1, .span = 2, .event = "start", .vtid = 7 };
	bool open = false;

	span_feed_mark(r.f, &m);
	for (uint64_t i = 1; i <= n; i++) {
		m = (struct span_mark){ .ts = S + (int64_t)i * S, .trace = 3, .span = 4, .event = "x", .vtid = 8 };
		span_feed_mark(r.f, &m);
		fed_publish(&r, false);
	}
	m = (struct span_mark){ .ts = S + (int64_t)n * S, .trace = 1, .span = 2, .event = "end", .vtid = 7 };
	span_feed_mark(r.f, &m);
	fed_publish(&r, true);
	for (size_t i = 0; i < timeline_n_spans(r.tl); i++)
		open |= timeline_span(r.tl, i)->span_id == 2 && timeline_span(r.tl, i)->state == SPAN_COMPLETE;
	g_test_message("late %u", (unsigned)timeline_facts(r.tl)->completeness.late);
	fed_end(&r);
	return open;
}

static bool operations(uint64_t n)
{
	struct fed r = fed_begin(&(struct model_options){ .at_end = true }, (size_t)1 << 30);
	unsigned known = 0;

	for (uint64_t i = 0; i < n; i++) {
		g_autofree char *name = g_strdup_printf("op%u", (unsigned)i);
		struct span_mark m = { .ts = 10 + 2 * (int64_t)i, .trace = i + 1, .span = i + 1, .event = "sr",
				       .name = name, .vtid = 7 };
		span_feed_mark(r.f, &m);
		m.ts++;
		m.event = "ss";
		span_feed_mark(r.f, &m);
	}
	fed_publish(&r, true);
	g_assert_cmpuint(timeline_n_spans(r.tl), ==, n);
	for (size_t i = 0; i < n; i++)
		known += timeline_operation(r.tl, timeline_span(r.tl, i)) != NULL;
	fed_end(&r);
	g_assert_cmpuint(known, ==, MIN(n, LIMIT_OPERATIONS));
	return known == n;
}

/* ---- names, gaps ---- */

/* A file that a process opened, read by its n-th descendant. */
static bool forks(uint64_t n)
{
	g_autoptr(GString) s = g_string_new(
		"1 0 sched_switch prev_tid=0 prev_state=0 next_tid=1000 prev_comm=\"x\" next_comm=\"p\"\n"
		"2 0 lttng_statedump_process_state tid=1000 pid=1000 ppid=1 name=\"p\" type=0 file_table_address=9\n"
		"3 0 syscall_entry_openat ctx.tid=1000 dfd=-100 filename=\"/inherited\" flags=0\n"
		"4 0 syscall_exit_openat ctx.tid=1000 ret=5\n");
	unsigned at = 10, pid = 1000;
	bool named = false;

	for (uint64_t i = 0; i < n; i++, pid++, at += 10) {
		g_string_append_printf(s, "%u 0 sched_process_fork parent_tid=%u parent_pid=%u child_tid=%u "
				       "child_pid=%u child_comm=\"p\"\n", at, pid, pid, pid + 1, pid + 1);
		add_switch(s, at + 1, 0, pid, 1, pid + 1);
	}
	g_string_append_printf(s, "%u 0 syscall_entry_read ctx.tid=%u fd=5 count=64\n"
			       "%u 0 syscall_exit_read ctx.tid=%u ret=64\n", at, pid, at + 1, pid);
	g_autoptr(blk_timeline) tl = timeline_of(s->str);
	const struct second *second = timeline_second(tl, 0);
	for (uint32_t i = 0; i < second->n_files; i++) {
		const struct file_info *f = timeline_file(tl, second->files[i].file);
		named |= f && g_str_equal(timeline_string(tl, f->path), "/inherited");
	}
	return named;
}

static bool gap_steps(uint64_t n)
{
	static struct slice s = { .step = S };

	int64_t from = covered_newest(&s, 5, 5 + (int64_t)n * S);
	g_assert_cmpint(from, >=, 5);
	return from == 5;
}

/* ---- slice files ---- */

/* A file of holes: it is no slice, but what it is is looked at. */
static bool slice_bytes(uint64_t n)
{
	g_autoptr(GError) error = NULL;
	int fd = memfd_create("slice", MFD_CLOEXEC);
	g_assert_cmpint(ftruncate(fd, (off_t)n), ==, 0);
	g_assert_null(slice_file_read(fd, NULL, &error));
	close(fd);
	return strstr(error->message, "does not begin with") || limit_taken(error, "too large");
}

/* A file of so many equal facts. *ret_times: the memory that a byte of it takes. */
static GByteArray *file_of_facts(unsigned n_facts, double *ret_times)
{
	static const struct slice_piece whole = { .from = INT64_MIN, .to = INT64_MAX };
	g_autoptr(GError) error = NULL;
	struct recording *r = traces_record_script(
		"1000000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=1 prev_comm=\"swapper/0\" next_comm=\"a\"\n"
		"1000001000 0 syscall_entry_read fd=3 count=100 ctx.tid=1 ctx.pid=1 ctx.procname=\"a\"\n"
		"2000001000 0 syscall_exit_read ret=100 ctx.tid=1 ctx.pid=1 ctx.procname=\"a\"\n");
	struct slice *s = slices_of(r, 0, recording_n(r), false);
	g_assert_cmpuint(s->facts->len, >, 0);
	const struct fact f = g_array_index(s->facts, struct fact, 0);

	s->facts_sorted = 0;
	for (unsigned i = 0; i < n_facts; i++)
		g_array_append_val(s->facts, f);
	GByteArray *bytes = slices_bytes(s, &whole, &error);
	slice_free(s);
	recording_free(r);
	s = slices_from_bytes(bytes->data, bytes->len, &error);
	g_assert_no_error(error);
	*ret_times = (double)s->taken / bytes->len + LIMIT_SLICE_RATIO;
	slice_free(s);
	return bytes;
}

static bool slice_ratio(uint64_t n)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = NULL;
	double times;

	/* The largest number of facts with which a byte takes at most n. */
	unsigned few = 0, many = 20000;
	while (many - few > 1) {
		unsigned middle = few + (many - few) / 2;
		g_byte_array_unref(file_of_facts(middle, &times));
		*(times <= (double)n ? &few : &many) = middle;
	}
	bytes = file_of_facts(few, &times);
	g_assert_cmpfloat(times, >, (double)n - 1);
	slice_bound_memory(0);
	slice_free(slices_from_bytes(bytes->data, bytes->len, &error));
	slice_bound_memory(SIZE_MAX);
	return limit_taken(error, "name a larger --memory");
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "slice-ratio", slice_ratio, 0 },
		{ "past-seconds", past_seconds, 0 }, { "past-charges", past_charges, 2 * LIMIT_PAST_CHARGES + 2 },
		{ "span-waits", span_waits, 0 }, { "span-calls", span_calls, 0 }, { "second-calls", second_calls, 0 },
		{ "span-neighbours", span_neighbours, 0 }, { "waker-depth", waker_depth, 0 },
		{ "held-records", held_records, 0 }, { "early-events", early_events, 0 },
		{ "waker-looks", waker_looks, 0 }, { "counters", counters, 0 }, { "open-spans", open_spans, 0 },
		{ "suggest-keys", suggest_keys, 0 },
		{ "table-entries", table_entries, 0 },
		{ "rule-classes", rule_classes, 0 }, { "link-outs", link_outs, 0 },
		{ "linked-spans", linked_spans, 0 },
		{ "trace-functions", trace_functions, 0 }, { "span-halves", span_halves, 0 },
		{ "span-notes", span_notes, 0 },
		{ "open-trace-seconds", open_trace_seconds, 0 }, { "operations", operations, 0 }, { "forks", forks, 0 },
		{ "gap-steps", gap_steps, 0 }, { "slice-bytes", slice_bytes, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
