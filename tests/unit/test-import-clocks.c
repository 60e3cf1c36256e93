/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks of files of spans: each endpoint has its own, measured from calls and moved as those of traced hosts. The
 * truth is known, for the files are made here.
 */
#include "app/host_clocks.h"
#include "export/export.h"
#include "lib/importing.h"
#include "state/store/span_tree.h"
#include "trace/align.h"
#include "views/clocks.h"
#include "views/view.h"

#include <string.h>

#define T0_US INT64_C(1795241240000000)
#define MS INT64_C(1000000)

/* A call: the caller sees [begin, end); the called one works for `work`, from `there` after the beginning on. Its clock
 * is `ahead` of the caller's. Times in us. */
struct call {
	const char *from, *from_ip, *to, *to_ip;
	int64_t begin, end, there, work, ahead;
	const char *kinds[2];		/* NULL: CLIENT and SERVER */
};

static void add_span(GString *text, unsigned id, unsigned parent, const char *kind, const char *service, const char *ip,
		     int64_t at, int64_t us)
{
	g_string_append_printf(text, "%s{\"traceId\":\"f1\",\"id\":\"%x\",\"name\":\"n\",\"kind\":\"%s\",",
			       text->len > 1 ? "," : "", id, kind);
	if (parent)
		g_string_append_printf(text, "\"parentId\":\"%x\",", parent);
	g_string_append_printf(text, "\"timestamp\":%" G_GINT64_FORMAT ",\"duration\":%" G_GINT64_FORMAT
			       ",\"localEndpoint\":{\"serviceName\":\"%s\"", T0_US + at, us, service);
	if (*ip)
		g_string_append_printf(text, ",\"ipv4\":\"%s\"", ip);
	g_string_append(text, "}}");
}

static void add_call(GString *text, unsigned nth, const struct call *c)
{
	unsigned id = 2 * nth + 1;
	add_span(text, id, 0, c->kinds[0] ? c->kinds[0] : "CLIENT", c->from, c->from_ip, c->begin, c->end - c->begin);
	add_span(text, id + 1, id, c->kinds[1] ? c->kinds[1] : "SERVER", c->to, c->to_ip,
		 c->begin + c->there + c->ahead, c->work);
}

static struct timeline *read_calls(const struct call *calls, size_t n)
{
	g_autoptr(GString) text = g_string_new("[");
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;
	for (size_t i = 0; i < n; i++)
		add_call(text, (unsigned)i, &calls[i]);
	g_string_append_c(text, ']');
	struct timeline *tl = import_bytes(text->str, text->len, &warning, &error);
	g_assert_no_error(error);
	g_assert_null(warning);
	return tl;
}

static const struct span *span_of(const struct timeline *tl, const char *service, const char *ip)
{
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		if (!strcmp(s->service, service) && !strcmp(s->ip, ip))
			return s;
	}
	g_error("no span of %s", service);
}

static bool between(const struct timeline *tl, const struct call *c, int64_t *ret_offset, int64_t *ret_error)
{
	g_autoptr(blk_clocks) k = clocks_new(tl);
	return clocks_between(k, clocks_place(k, span_of(tl, c->from, c->from_ip)),
			      clocks_place(k, span_of(tl, c->to, c->to_ip)), ret_offset, ret_error);
}

/* Forgets what was moved, so that tests do not depend on each other. */
static void move_back(const struct timeline *tl)
{
	g_autoptr(blk_clocks) k = clocks_new(tl);
	for (guint i = 0; i < k->clocks->len; i++) {
		const struct clock *c = &g_array_index(k->clocks, struct clock, i);
		align_install(c->boot, 0);
		align_install(c->alias, 0);
	}
}

/* The view tells the offset; moved and read again, nothing is left of it. */
static void test_two(void)
{
	static const struct call call = { "front", "10.0.0.1", "back", "10.0.0.2", 10000, 110000, 10000, 80000, -40000,
					  { NULL } };
	const struct view *v = view_find("services");
	struct view_query q = VIEW_QUERY_INIT;
	int64_t offset, error;
	g_autoptr(blk_timeline) tl = read_calls(&call, 1);
	g_assert_true(between(tl, &call, &offset, &error));
	g_assert_cmpint(offset, ==, -40 * MS);
	g_assert_cmpint(error, ==, 10 * MS);
	g_assert_true(timeline_coverage(tl, &q.from_ns, &q.to_ns));
	q.to_ns++;
	struct rows *rows = v->build(tl, &q);
	g_assert_cmpstr(rows->about, ==,
			"clocks: front (10.0.0.1) is 40.000ms +-10.0ms ahead of back (10.0.0.2) (1 call)");
	rows_free(rows);

	g_autofree char *message = NULL;
	g_assert_true(hosts_move(tl, &message));
	g_assert_cmpstr(message, ==, "the clock of back (10.0.0.2) is moved forward by 40.000ms +-10.0ms, "
			"to that of front (10.0.0.1)");
	g_autoptr(blk_timeline) after = read_calls(&call, 1);
	g_assert_true(between(after, &call, &offset, &error));
	g_assert_cmpint(offset, ==, 0);
	const struct span *server = span_of(after, "back", "10.0.0.2");
	g_assert_cmpint(server->begin_ns, ==, (T0_US + 20000) * 1000);
	g_assert_cmpint(server->annotations[0].ts, ==, server->begin_ns);
	g_assert_cmpint(span_of(after, "front", "10.0.0.1")->self_ns, ==, 20 * MS);
	g_autofree char *again = NULL;
	g_assert_false(hosts_move(after, &again));
	move_back(after);
}

/* Over a service between them, whose client spans have no address; the network is slow one way only. */
static void test_chain(void)
{
	static const struct call calls[] = {
		{ "a", "10.0.0.1", "b", "10.0.0.2", 0, 100000, 9000, 90000, 500000, { NULL } },
		{ "b", "", "c", "10.0.0.3", 510000, 590000, 1000, 70000, -700000, { NULL } },
		{ "b", "", "d", "10.0.0.2", 510000, 590000, 1000, 70000, 0, { NULL } },
	};
	const struct call ends = { .from = "a", .from_ip = "10.0.0.1", .to = "c", .to_ip = "10.0.0.3" };
	int64_t offset, error;
	g_autoptr(blk_timeline) tl = read_calls(calls, G_N_ELEMENTS(calls));
	g_assert_true(between(tl, &calls[0], &offset, &error));
	g_assert_cmpint(ABS(offset - 500 * MS), <=, error);
	g_assert_cmpint(error, ==, 5 * MS);
	g_assert_true(between(tl, &ends, &offset, &error));
	g_assert_cmpint(ABS(offset + 200 * MS), <=, error);
	g_autofree char *message = NULL;
	g_assert_true(hosts_move(tl, &message));
	g_assert_nonnull(strstr(message, "the clock of d (10.0.0.2) is not moved"));
	g_assert_nonnull(strstr(message, "the clock of a (10.0.0.1) is moved forward by 50"));
	g_assert_nonnull(strstr(message, "to that of b (10.0.0.2)"));
	g_autoptr(blk_timeline) after = read_calls(calls, G_N_ELEMENTS(calls));
	g_assert_true(between(after, &ends, &offset, &error));
	g_assert_cmpint(ABS(offset), <=, error);
	const struct span *client = span_of(after, "b", ""), *server = span_of(after, "c", "10.0.0.3");
	g_assert_cmpint(client->begin_ns, ==, (T0_US + 510000) * 1000);
	g_assert_cmpint(client->begin_ns, <=, server->begin_ns);
	g_assert_cmpint(client->end_ns, >=, server->end_ns);
	move_back(after);
}

/* Nothing is said or moved where clocks agree, nor where no answer comes back. */
static void test_nothing(void)
{
	static const struct call agree[] = {
		{ "a", "10.0.0.1", "b", "10.0.0.1", 0, 100000, 2000, 90000, 0, { NULL } },
		{ "b", "10.0.0.1", "c", "", 0, 100000, 2000, 90000, 0, { NULL } },
	};
	static const struct call message = { "a", "10.0.0.1", "b", "10.0.0.2", 0, 5000, 1000000, 2000, 0,
					     { "PRODUCER", "CONSUMER" } };
	int64_t offset, error, gap;
	g_autoptr(blk_timeline) tl = read_calls(agree, G_N_ELEMENTS(agree));
	g_autoptr(blk_clocks) k = clocks_new(tl);
	g_assert_null(clocks_sentence(k));
	g_assert_true(between(tl, &agree[0], &offset, &error));
	g_assert_cmpint(ABS(offset), <=, error);
	g_autofree char *said = NULL;
	g_assert_false(hosts_move(tl, &said));
	g_assert_nonnull(strstr(said, "is not moved: it agrees with that of"));

	g_autoptr(blk_timeline) messages = read_calls(&message, 1);
	g_assert_false(between(messages, &message, &offset, &error));
	g_assert_false(tree_call_gap(span_of(messages, "a", "10.0.0.1"), span_of(messages, "b", "10.0.0.2"), &gap));
	g_autofree char *none = NULL;
	g_assert_false(hosts_move(messages, &none));
	g_assert_nonnull(strstr(none, "no calls from one service to another"));
}

/* A file that blktop wrote of two hosts: its waits move with their span, down to the instant of the wakeup. */
static void test_hosts(void)
{
#define ON(host, thread) "\"localEndpoint\":{\"serviceName\":\"s\"},\"tags\":{\"blktop.host\":\"" host "\"," \
	"\"blktop.thread\":\"" thread "\"}},"
	static const char text[] = "["
		"{\"traceId\":\"1\",\"id\":\"1\",\"kind\":\"CLIENT\",\"timestamp\":1000000,\"duration\":10000,"
		ON("h1", "t/1")
		"{\"traceId\":\"1\",\"id\":\"2\",\"parentId\":\"1\",\"kind\":\"SERVER\",\"timestamp\":8000000,"
		"\"duration\":8000," ON("h2", "t/2")
		"{\"traceId\":\"1\",\"id\":\"3\",\"parentId\":\"2\",\"timestamp\":8001000,\"duration\":1000,"
		"\"localEndpoint\":{\"serviceName\":\"s\"},\"tags\":{\"blktop.kernel\":\"wait\","
		"\"blktop.part\":\"disk\","
		"\"blktop.thread\":\"t/2\",\"blktop.wake_ns\":\"8001900000\"}}]";
#undef ON
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL, *message = NULL;
	g_autoptr(blk_timeline) before = import_bytes(text, strlen(text), &warning, &error);
	g_assert_no_error(error);
	g_assert_true(hosts_move(before, &message));
	g_assert_nonnull(strstr(message, "the clock of h2 is moved back by 6.999000s"));
	g_autoptr(blk_timeline) tl = import_bytes(text, strlen(text), &warning, &error);
	const struct span *s = timeline_span(tl, 0)->span_id == 2 ? timeline_span(tl, 0) : timeline_span(tl, 1);
	g_assert_cmpint(s->begin_ns, ==, 1001 * MS);
	g_assert_cmpuint(s->n_waits, ==, 1);
	g_assert_cmpint(s->waits[0].begin_ns, ==, 1002 * MS);
	g_assert_cmpint(s->waits[0].wake_ns, ==, 1002 * MS + 900000);
	g_assert_cmpint(s->waits[0].end_ns, ==, 1003 * MS);
	move_back(tl);
}

/* Of many pairs the sentence names some and counts the others: only those that differ by more than the error. */
static void test_sentence(void)
{
	enum { N_AHEAD = 19, N_EQUAL = 5 };
	char names[N_AHEAD + N_EQUAL][8];
	struct call calls[N_AHEAD + N_EQUAL];
	for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
		g_snprintf(names[i], sizeof names[i], "b%02u", i);
		calls[i] = (struct call){ "a", "10.0.0.1", names[i], "10.0.0.2", i * 200000, i * 200000 + 100000,
					  10000, 80000, i < N_AHEAD ? 400000 : 0, { NULL } };
	}
	g_autoptr(blk_timeline) tl = read_calls(calls, G_N_ELEMENTS(calls));
	g_autoptr(blk_clocks) k = clocks_new(tl);
	g_autofree char *sentence = clocks_sentence(k);
	g_assert_nonnull(strstr(sentence, "b15 (10.0.0.2) is 400.000ms +-10.0ms ahead of a (10.0.0.1) (1 call)"));
	g_assert_null(strstr(sentence, "b16"));
	g_assert_true(g_str_has_suffix(sentence, "; and 3 more"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/import-clocks/two", test_two);
	g_test_add_func("/import-clocks/chain", test_chain);
	g_test_add_func("/import-clocks/nothing", test_nothing);
	g_test_add_func("/import-clocks/hosts", test_hosts);
	g_test_add_func("/import-clocks/sentence", test_sentence);
	return g_test_run();
}
