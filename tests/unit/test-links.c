/* SPDX-License-Identifier: GPL-2.0-only */
/* Links of spans by rules: what they say of messages, in views and exports. */
#include "lib/check_views.h"
#include "lib/sources.h"
#include "export/export.h"
#include "state/publish/model.h"
#include "state/spans/rules.h"
#include "state/store/timeline.h"
#include "views/causes.h"
#include "views/path.h"
#include "views/span_detail.h"
#include "views/spans.h"
#include "views/waterfall.h"

#include <string.h>

#define RULES "[send]\nbegin=p:send\nend=p:sent\nkey=id\nend_link_out=msg(stamp)\nname=send ${id}\nservice=talker\n" \
	"[take]\nbegin=p:take\nend=p:taken\nkey=id\nlink_in=msg(stamp)\nname=take ${id}\nservice=listener\n"
#define SENDS "10 0 u@a:p:send id=1 ctx.vtid=7 ctx.vpid=7\n15 0 u@a:p:sent id=1 stamp=99 ctx.vtid=7 ctx.vpid=7\n"
#define TAKES "40 0 u@b:p:take id=2 stamp=99 ctx.vtid=8 ctx.vpid=8\n50 0 u@b:p:taken id=2 ctx.vtid=8 ctx.vpid=8\n"

static struct timeline *timeline_by(const char *text, const char *script)
{
	g_autoptr(GError) error = NULL;
	struct rules *r = rules_new();
	g_assert_true(rules_parse(r, "rules", text, strlen(text), false, &error) && rules_check(r, &error) &&
		      rules_install(r, &error));
	struct timeline *tl = timeline_of_script(script, &(struct model_options){ 0 });
	rules_install(NULL, NULL);
	return tl;
}

static const struct span *named(const struct timeline *tl, const char *name)
{
	for (size_t i = 0; i < timeline_n_spans(tl); i++)
		if (g_str_equal(timeline_span(tl, i)->name, name))
			return timeline_span(tl, i);
	g_error("no span %s", name);
}

static void test_link(void)
{
	g_autoptr(blk_timeline) tl = timeline_by(RULES, SENDS TAKES);
	const struct span *from = named(tl, "send 1"), *to = named(tl, "take 2");
	g_assert_cmpuint(to->n_links, ==, 1);
	g_assert_cmpuint(from->n_links, ==, 0);
	g_assert_cmpuint(to->links[0].trace_id, ==, from->trace_id);
	g_assert_cmpuint(to->links[0].span_id, ==, from->span_id);
	g_assert_cmpint(to->links[0].out_ns, ==, 15);
	g_assert_cmpint(to->links[0].in_ns, ==, 40);
	g_assert_false(to->links[0].unsure);
	g_assert_cmpuint(to->parent_id, ==, 0);
	g_assert_cmpuint(to->trace_id, !=, from->trace_id);
	g_assert_true(span_linked(tl, &to->links[0]) == from);
}

/* A message is unsure if events of the sender's host were lost meanwhile, and only then. */
static void test_unsure(void)
{
	static const struct { const char *loss; bool unsure; } each[] = {
		{ "30 0 u@a:!lost begin=20 end=30 events=5\n", true },
		{ "14 0 u@a:!lost begin=11 end=14 events=5\n", false },
		{ "30 0 u@b:!lost begin=20 end=30 events=5\n", false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
		g_autofree char *script = g_strconcat(SENDS, each[i].loss, TAKES, NULL);
		g_autoptr(blk_timeline) tl = timeline_by(RULES, script);
		g_assert_cmpuint(named(tl, "take 2")->n_links, ==, 1);
		g_assert_true(named(tl, "take 2")->links[0].unsure == each[i].unsure);
	}
}

/* With host in the key, a message of another host is another one. */
static void test_host(void)
{
	static const char text[] = "[send]\nbegin=p:send\nend=p:sent\nkey=id\nend_link_out=msg(host, stamp)\n"
		"[take]\nbegin=p:take\nend=p:taken\nkey=id\nname=take ${id}\nlink_in=msg(host, stamp)\n";
	g_autoptr(blk_timeline) tl = timeline_by(text, SENDS TAKES
		"60 0 u@a:p:take id=3 stamp=99 ctx.vtid=8 ctx.vpid=8\n70 0 u@a:p:taken id=3 ctx.vtid=8 ctx.vpid=8\n");
	g_assert_cmpuint(named(tl, "take 2")->n_links, ==, 0);
	g_assert_cmpuint(named(tl, "take 3")->n_links, ==, 1);
}

/* An event takes what others sent before, not what it sends itself: a chain through one event. */
static void test_relay(void)
{
	static const char text[] = "[hop]\nbegin=p:hop\nend=p:end\nkey=id\nname=hop ${id}\n"
		"link_in=m(n)\nlink_out=m(n)\nparent=link\n";
	g_autoptr(blk_timeline) tl = timeline_by(text,
		"10 0 u@a:p:hop id=1 n=5\n11 0 u@a:p:end id=1\n20 0 u@b:p:hop id=2 n=5\n21 0 u@b:p:end id=2\n"
		"30 0 u@c:p:hop id=3 n=5\n31 0 u@c:p:end id=3\n");
	g_assert_cmpuint(named(tl, "hop 1")->n_links, ==, 0);
	g_assert_cmpuint(named(tl, "hop 1")->parent_id, ==, 0);
	g_assert_cmpuint(named(tl, "hop 2")->parent_id, ==, named(tl, "hop 1")->span_id);
	g_assert_cmpuint(named(tl, "hop 3")->parent_id, ==, named(tl, "hop 2")->span_id);
	g_assert_cmpuint(named(tl, "hop 3")->trace_id, ==, named(tl, "hop 1")->trace_id);
}

/* A text and a number are different keys; two fields are not their concatenation. */
static void test_keys(void)
{
	static const char text[] = "[send]\nbegin=p:send\nend=p:sent\nkey=id\nlink_out=msg(x, y)\n"
		"[take]\nbegin=p:take\nend=p:taken\nkey=id\nname=take ${id}\nlink_in=msg(x, y)\n"
		"[other]\nbegin=p:other\nend=p:taken\nkey=id\nname=other ${id}\nlink_in=mail(x, y)\n";
	g_autoptr(blk_timeline) tl = timeline_by(text, "10 0 u:p:send id=1 x=\"ab\" y=\"c\"\n11 0 u:p:sent id=1\n"
		"12 0 u:p:send id=1 x=1 y=2\n13 0 u:p:sent id=1\n"
		"20 0 u:p:take id=2 x=\"a\" y=\"bc\"\n21 0 u:p:take id=3 x=\"1\" y=\"2\"\n"
		"22 0 u:p:take id=4 x=\"ab\" y=\"c\"\n23 0 u:p:take id=5 x=1 y=2\n24 0 u:p:other id=6 x=1 y=2\n");
	static const char *const without[] = { "take 2", "take 3", "other 6" }, *const with[] = { "take 4", "take 5" };
	for (size_t i = 0; i < G_N_ELEMENTS(without); i++)
		g_assert_cmpuint(named(tl, without[i])->n_links, ==, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(with); i++)
		g_assert_cmpuint(named(tl, with[i])->n_links, ==, 1);
}

static char *exported(const struct timeline *tl, enum span_format format)
{
	unsigned n;
	return span_export(tl, &(struct span_selection){ .slowest = 10 }, format, &n, NULL);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		g_error("no %s in %s", part, text);
}

static void test_exports(void)
{
	g_autoptr(blk_timeline) tl = timeline_by(RULES, SENDS TAKES);
	const struct span *from = named(tl, "send 1");
	g_autofree char *json = exported(tl, SPAN_JSON), *otlp = exported(tl, SPAN_OTLP);
	g_autofree char *perfetto = exported(tl, SPAN_PERFETTO), *zipkin = exported(tl, SPAN_ZIPKIN);
	g_autofree char *ids = g_strdup_printf("\"links\":[{\"traceId\":\"0000000000000000%016" G_GINT64_MODIFIER
		"x\",\"spanId\":\"%016" G_GINT64_MODIFIER "x\"", from->trace_id, from->span_id);
	assert_has(json, "\"out_ns\":15,\"in_ns\":40,\"unsure\":false");
	assert_has(otlp, ids);
	/* from its end, of which the last ns is inside */
	assert_has(perfetto, "\"ts\":0.004,\"cat\":\"link\",\"id\":1,\"name\":\"msg\"");
	assert_has(perfetto, "\"ts\":0.030,\"cat\":\"link\",\"id\":1,\"bp\":\"e\",\"name\":\"msg\"");
	g_assert_null(strstr(zipkin, "link"));
}

static void test_views(void)
{
	g_autoptr(blk_timeline) tl = timeline_by(RULES, SENDS TAKES);
	struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = view_find("spans")->build(tl, &q);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	rows_print(out, view_find("spans"), rows, FORMAT_JSON, false);
	fclose(out);
	assert_has(text, "\"linked_from\":\"send 1 in talker\",\"link_ns\":25");
	assert_has(text, "\"linked_from\":null,\"link_ns\":null");
	free(text);
	rows_free(rows);

	query_set_trace(&q, named(tl, "take 2")->trace_id);
	rows = view_waterfall.build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	g_autoptr(GPtrArray) lines = span_detail(rows, rows->rows->pdata[0]);
	g_ptr_array_add(lines, NULL);
	g_autofree char *page = g_strjoinv("\n", (char **)lines->pdata);
	assert_has(page, "msg from send 1 in talker, after 25ns");
	rows_free(rows);
}

/* WHY names the message that took the longest, if it is sure. */
static void test_late_message(void)
{
	static const char text[] = "[hop]\nbegin=p:hop\nend=p:end\nkey=id\nname=hop ${id}\nservice=s\n"
		"link_in=m(n)\nlink_out=m(n)\nparent=link\n";
	static const struct { const char *third, *loss, *says; } each[] = {
		{ "40", "", "the message to hop 3 (s) was on its way for 20ns (20ns of 31ns); and the message to hop 2 "
			    "(s) was on its way for 10ns (+10ns)" },
		{ "40", "30 0 u@a:!lost begin=22 end=30 events=5\n", "30ns, cause unknown" },
		{ "20", "", "the message to hop 2 (s) was on its way for 10ns (10ns of 12ns)" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
		g_autofree char *script = g_strdup_printf(
			"10 0 u@a:p:hop id=1 n=5\n11 0 u@a:p:end id=1\n20 0 u@a:p:hop id=2 n=5\n"
			"21 0 u@a:p:end id=2\n%s%s 0 u@a:p:hop id=3 n=5\n%s 0 u@a:p:end id=3\n", each[i].loss,
			each[i].third, i == 2 ? "22" : "41");
		g_autoptr(blk_timeline) tl = timeline_by(text, script);
		struct view_query q = VIEW_QUERY_INIT;
		query_set_trace(&q, named(tl, "hop 1")->trace_id);
		struct rows *rows = view_waterfall.build(tl, &q);
		const char *why = waterfall_of(rows)->why;
		if (!why || !strstr(why, each[i].says))
			g_error("%zu: %s", i, why);
		rows_free(rows);
	}
}

/* WHY names what the thread of the longest hop waited for, when the root's causes do not have that time. */
static void test_late_hop(void)
{
	static const char text[] = "[send]\nend=p:send\nduration=0\nname=send\nservice=a\nend_link_out=m(n)\n"
		"[take]\nbegin=p:take\nend=p:taken\nname=take ${n}\nservice=b\nlink_in=m(n)\nparent=link\n";
#define TAKEN(at) at " 1 u:p:taken n=5 ctx.vtid=8 ctx.vpid=8\n"
	static const struct { const char *sleeps, *says; } each[] = {
		{ "30", "take 5 in b: slept 50ns (50ns of 90ns); and take 5 in b: computed 29ns (+29ns)" },
		{ "70", "take 5 in b: computed 69ns (69ns of 90ns)" },
		{ "30", NULL },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
		g_autofree char *script = g_strdup_printf(
			"1 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
			"2 1 sched_switch prev_tid=0 prev_state=0 next_tid=8 prev_comm=\"s\" next_comm=\"q\"\n"
			"10 0 u:p:send n=5 ctx.vtid=7 ctx.vpid=7\n20 1 u:p:take n=5 ctx.vtid=8 ctx.vpid=8\n"
			"%s%s 1 syscall_entry_clock_nanosleep ctx.tid=8\n"
			"%s 1 sched_switch prev_tid=8 prev_state=1 next_tid=0 prev_comm=\"q\" next_comm=\"s\"\n"
			"80 0 sched_waking tid=8\n"
			"80 1 sched_switch prev_tid=0 prev_state=0 next_tid=8 prev_comm=\"s\" next_comm=\"q\"\n"
			"81 1 syscall_exit_clock_nanosleep ctx.tid=8 ret=0\n%s",
			i == 2 ? TAKEN("21") : "", each[i].sleeps, each[i].sleeps, i == 2 ? "" : TAKEN("100"));
		g_autoptr(blk_timeline) tl = timeline_by(text, script);
		struct view_query q = VIEW_QUERY_INIT;
		query_set_trace(&q, named(tl, "send")->trace_id);
		struct rows *rows = view_waterfall.build(tl, &q);
		const char *why = waterfall_of(rows)->why;
		if (each[i].says ? !why || !strstr(why, each[i].says) : why && strstr(why, "take 5 in b:"))
			g_error("%zu: %s", i, why);
		rows_free(rows);
	}
}

/* The critical path of a trace follows messages back: root, message, what the taker's thread did. All is contiguous. */
static void test_path(void)
{
	static const char text[] = "[job]\nbegin=p:a\nend=p:b\nservice=a\n"
		"[send]\nend=p:send\nduration=0\nservice=a\nparent=thread\nend_link_out=m(n)\n"
		"[take]\nbegin=p:take\nend=p:taken\nservice=b\nlink_in=m(n)\nparent=link\n";
	static const char script[] =
		"1 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
		"2 1 sched_switch prev_tid=0 prev_state=0 next_tid=8 prev_comm=\"s\" next_comm=\"q\"\n"
		"10 0 u:p:a ctx.vtid=7 ctx.vpid=7\n30 0 u:p:send n=5 ctx.vtid=7 ctx.vpid=7\n"
		"40 0 u:p:b ctx.vtid=7 ctx.vpid=7\n60 1 u:p:take n=5 ctx.vtid=8 ctx.vpid=8\n"
		"70 1 syscall_entry_clock_nanosleep ctx.tid=8\n"
		"70 1 sched_switch prev_tid=8 prev_state=1 next_tid=0 prev_comm=\"q\" next_comm=\"s\"\n"
		"90 0 sched_waking tid=8\n"
		"90 1 sched_switch prev_tid=0 prev_state=0 next_tid=8 prev_comm=\"s\" next_comm=\"q\"\n"
		"90 1 syscall_exit_clock_nanosleep ctx.tid=8 ret=0\n100 1 u:p:taken n=5 ctx.vtid=8 ctx.vpid=8\n";
	static const struct { int64_t end; const char *name, *words; } wanted[] = {
		{ 30, "job", "cpu user" }, { 60, "take", "handoff: m on its way" }, { 70, "take", "cpu user" },
		{ 90, "take", "timer: clock_nanosleep" }, { 100, "take", "cpu user" },
	};
	g_autoptr(blk_timeline) tl = timeline_by(text, script);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, named(tl, "job")->trace_id);
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GArray) path = path_of_trace(h, t);
	int64_t at = 10;

	g_assert_cmpuint(path->len, ==, G_N_ELEMENTS(wanted));
	for (guint i = 0; i < path->len; i++) {
		const struct path_segment *p = &g_array_index(path, struct path_segment, i);
		g_autofree char *words = path_words(tl, p);
		g_assert_cmpint(p->begin_ns, ==, at);
		g_assert_cmpint(p->end_ns, ==, wanted[i].end);
		g_assert_cmpstr(p->span->name, ==, wanted[i].name);
		g_assert_cmpstr(words, ==, wanted[i].words);
		at = p->end_ns;
	}
	path_mark(t);
	for (int i = 1; i < t->n; i++)
		g_assert_true(t->nodes[i].critical);
}

/* The path does not follow a message whose link is unsure. */
static void test_unsure_path(void)
{
	static const char text[] = "[hop]\nbegin=p:hop\nend=p:end\nkey=id\nname=hop ${id}\n"
		"link_in=m(n)\nlink_out=m(n)\nparent=link\n";
	g_autoptr(blk_timeline) tl = timeline_by(text,
		"10 0 u@a:p:hop id=1 n=5\n11 0 u@a:p:end id=1\n19 0 u@a:!lost begin=14 end=19 events=5\n"
		"20 0 u@a:p:hop id=2 n=5\n21 0 u@a:p:end id=2\n40 0 u@a:p:hop id=3 n=5\n41 0 u@a:p:end id=3\n");
	g_autoptr(blk_tree) t = timeline_tree_new(tl, named(tl, "hop 1")->trace_id);
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GArray) path = path_of_trace(h, t);

	g_assert_cmpuint(path->len, ==, 3);	/* hop 2 sent its message as it began */
	g_assert_cmpint(g_array_index(path, struct path_segment, 0).begin_ns, ==, 10);
	g_assert_cmpint(g_array_index(path, struct path_segment, 0).part, ==, PART_UNKNOWN);
	g_assert_cmpint(g_array_index(path, struct path_segment, 1).begin_ns, ==, 20);
	g_assert_cmpstr(g_array_index(path, struct path_segment, 1).message->name, ==, "m");
	g_assert_cmpint(g_array_index(path, struct path_segment, 2).end_ns, ==, 41);
}

#define RUNS(at, cpu, from, was, state, to, name) at " " cpu " sched_switch prev_tid=" from " prev_state=" state \
	" next_tid=" to " prev_comm=\"" was "\" next_comm=\"" name "\"\n"

#define MARK(at, what) at " 1 u:p:" what " n=99 ctx.vtid=8 ctx.vpid=8\n"
#define WAKES(at) at " 0 sched_waking tid=8\n"
static const char slow_rules[] =
	"[send]\nend=p:send\nduration=0\nname=send\nservice=a\nend_link_out=m(n)\n"
	"[take]\nbegin=p:take\nend=p:taken\nname=take\nservice=b\nlink_in=m(n)\nparent=link\n"
	"[other]\nbegin=p:busy\nend=p:idle\nname=other\nservice=b\n";

/* Twelve traces that take 30 ns, and at 2000 the message of one that `slow` continues. */
static char *traces_and(const char *slow)
{
	GString *script = g_string_new(RUNS("1", "1", "8", "q", "1", "0", "s") RUNS("1", "0", "0", "s", "0", "7", "p"));
	for (int n = 0, at = 100; n < 12; n++, at += 100)
		g_string_append_printf(script, "%d 0 u:p:send n=%d ctx.vtid=7 ctx.vpid=7\n"
			WAKES("%d") RUNS("%d", "1", "0", "s", "0", "8", "q")
			"%d 1 u:p:take n=%d ctx.vtid=8 ctx.vpid=8\n%d 1 u:p:taken ctx.vtid=8 ctx.vpid=8\n"
			RUNS("%d", "1", "8", "q", "1", "0", "s"), at, n, at + 5, at + 6, at + 10, n, at + 30, at + 31);
	g_string_append_printf(script, "2000 0 u:p:send n=99 ctx.vtid=7 ctx.vpid=7\n%s", slow);
	return g_string_free(script, FALSE);
}

/* One trace took longer than the others: causes and traces say why. */
static void test_slow_trace(void)
{
	static const struct { const char *slow, *ns, *brief, *whole; } each[] = {
		{ RUNS("2010", "1", "0", "s", "0", "9", "hog") WAKES("2015")
		  RUNS("2150", "1", "9", "hog", "0", "8", "q") MARK("2160", "take") MARK("2180", "taken"), "180",
		  "message to take: 160ns, behind hog/9",
		  "the message to take (b) was on its way for 160ns; q/8 waited for a CPU for 135ns of it, behind "
		  "hog/9 (150ns of 150ns over the usual)" },
		{ WAKES("2005") RUNS("2006", "1", "0", "s", "0", "8", "q") MARK("2007", "busy")
		  RUNS("2010", "1", "8", "q", "1", "0", "s") WAKES("2140") RUNS("2145", "1", "0", "s", "0", "8", "q")
		  MARK("2150", "idle") MARK("2160", "take") MARK("2180", "taken"), "180",
		  "message to take: 160ns",
		  "the message to take (b) was on its way for 160ns; q/8 was in other, which " },
		{ WAKES("2005") RUNS("2006", "1", "0", "s", "0", "8", "q") MARK("2010", "take")
		  RUNS("2012", "1", "8", "q", "0", "9", "hog") RUNS("2150", "1", "9", "hog", "0", "8", "q")
		  MARK("2170", "taken"), "170", "take: b waited 138ns for a CPU",
		  "take in b: waited 138ns for a CPU, preempted, behind hog/9 138ns (" },
	};
	const struct view *const views[] = { &view_causes, view_find("traces") };
	for (size_t i = 0; i < 2 * G_N_ELEMENTS(each); i++) {
		g_autofree char *script = traces_and(each[i / 2].slow);
		g_autofree char *took = g_strdup_printf(i % 2 ? "\"to_last_ns\":%s}" : "\"max_ns\":%s,",
							each[i / 2].ns);
		g_autoptr(blk_timeline) tl = timeline_by(slow_rules, script);
		struct view_query q = VIEW_QUERY_INIT;
		struct rows *rows = views[i % 2]->build(tl, &q);
		g_autofree char *text = check_view_text(views[i % 2], rows, FORMAT_JSON);
		rows_free(rows);
		assert_has(text, each[i / 2].brief);
		assert_has(text, took);
		assert_has(text, i % 2 ? "\"to_last_ns\":30}" : each[i / 2].whole);
	}
}

/* A timer's callback is late since its thread was in another callback: WHY says that. */
static void test_late(void)
{
	static const char text[] = "[tick]\nbegin=p:tick\nend=p:tock\nkey=thread\nname=tick\nevery=100\n"
		"[other]\nbegin=p:busy\nend=p:idle\nname=other\n";
	g_autoptr(blk_timeline) tl = timeline_by(text, RUNS("1", "1", "0", "s", "0", "8", "q")
		MARK("100", "tick") MARK("110", "tock") MARK("200", "tick") MARK("210", "tock") MARK("290", "busy")
		RUNS("291", "1", "8", "q", "1", "0", "s") WAKES("385") RUNS("385", "1", "0", "s", "0", "8", "q")
		MARK("390", "idle") MARK("391", "tick") MARK("400", "tock"));
	struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = view_find("traces")->build(tl, &q);
	g_autofree char *text_of = check_view_text(view_find("traces"), rows, FORMAT_JSON);
	rows_free(rows);
	assert_has(text_of, "tick began 91ns late; q/8 was in other, which was blocked, for 90ns of it");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/links/link", test_link);
	g_test_add_func("/links/unsure", test_unsure);
	g_test_add_func("/links/host", test_host);
	g_test_add_func("/links/relay", test_relay);
	g_test_add_func("/links/keys", test_keys);
	g_test_add_func("/links/late-message", test_late_message);
	g_test_add_func("/links/late-hop", test_late_hop);
	g_test_add_func("/links/path", test_path);
	g_test_add_func("/links/unsure-path", test_unsure_path);
	g_test_add_func("/links/slow-trace", test_slow_trace);
	g_test_add_func("/links/late", test_late);
	g_test_add_func("/links/exports", test_exports);
	g_test_add_func("/links/views", test_views);
	return g_test_run();
}
