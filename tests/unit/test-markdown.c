/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markdown that hostile texts can't break out of, and the page about the worst requests.
 */
#include "export/markdown.h"
#include "export/report.h"
#include "lib/fake_timeline.h"
#include "base/timefmt.h"

#include <string.h>

struct pair {
	const char *in, *out;
};

static void check(char *(*escape)(const char *), const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		g_autofree char *got = escape(pairs[i].in);
		g_assert_cmpstr(got, ==, pairs[i].out);
	}
}

static void test_text(void)
{
	static const struct pair pairs[] = {
		{ "waited 54.7ms for a lock; w0/254 slept (1e98)",
		  "waited 54.7ms for a lock; w0/254 slept (1e98)" },
		{ "a|b", "a&#124;b" },
		{ "<b>&amp;</b>", "&#60;b&#62;&#38;amp;&#60;/b&#62;" },
		{ "`x` *y* _z_ [l](u)", "\\`x\\` \\*y\\* \\_z\\_ \\[l\\](u)" },
		{ "back\\slash ~~gone~~ $x$", "back\\\\slash \\~\\~gone\\~\\~ \\$x\\$" },
		{ "@someone #12", "<span>&#64;</span>someone <span>&#35;</span>12" },
		{ "http://x www.x.org", "http&#58;//x www&#46;x.org" },
		{ "\033[2J\n# head", "\\\\x1b\\[2J\\\\x0a<span>&#35;</span> head" },
		{ "wörld 世界", "wörld 世界" },
		{ "\xff", "\\\\xff" },
		{ NULL, "" },
	};
	check(markdown_text, pairs, G_N_ELEMENTS(pairs));
}

static void test_code(void)
{
	static const struct pair pairs[] = {
		{ "read", "`read`" },
		{ "/srv/@x <b>", "`/srv/@x <b>`" },
		{ "a`b", "``a`b``" },
		{ "a``", "``` a`` ```" },
		{ " x ", "`  x  `" },
		{ " x", "` x`" },
		{ "  ", "<code>  </code>" },
		{ "a|`b\\", "<code>a&#124;&#96;b&#92;</code>" },
		{ "x\ny", "`x\\x0ay`" },
		{ "", "-" }, { NULL, "-" },
	};
	check(markdown_code, pairs, G_N_ELEMENTS(pairs));
}

static void test_block(void)
{
	g_autoptr(GString) out = g_string_new(NULL);
	markdown_block(out, "a\nb");
	g_assert_cmpstr(out->str, ==, "```text\na\nb\n```\n");
	g_string_truncate(out, 0);
	markdown_block(out, "```\n<script>````\n");
	g_assert_cmpstr(out->str, ==, "`````text\n```\n<script>````\n`````\n");
}

static void test_values(void)
{
	static const struct { struct value v; const char *text; } cases[] = {
		{ { .kind = VALUE_NONE }, "-" },
		{ { .kind = VALUE_NS, .i = 54700000 }, "54.7ms" },
		{ { .kind = VALUE_BYTES, .i = 12288 }, "12.0K" },
		{ { .kind = VALUE_COUNT, .i = 1234567 }, "1234567" },
		{ { .kind = VALUE_RATIO, .d = 2.84 }, "2.8" },
		{ { .kind = VALUE_HEX64, .i = 255 }, "`00000000000000ff`" },
		{ { .kind = VALUE_TEXT, .s = "x" }, "`x`" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = markdown_value(cases[i].v);
		g_assert_cmpstr(text, ==, cases[i].text);
	}
}

/* Bars that are not escaped: what divides a row into cells. */
static unsigned count_bars(const char *line)
{
	unsigned n = 0;
	for (; *line; line++)
		n += *line == '|';
	return n;
}

/* Every table has rows of one length, every block is closed, no line is a raw one of the
 * trace's. Returns how many tables there are. */
static unsigned check_shape(const char *page)
{
	g_auto(GStrv) lines = g_strsplit(page, "\n", -1);
	const char *fence = NULL;
	unsigned bars = 0, tables = 0;

	for (char **l = lines; *l; l++) {
		if (!fence && g_str_has_prefix(*l, "```")) {
			fence = *l;
			continue;
		}
		if (fence) {
			size_t n = strspn(fence, "`");
			if (strspn(*l, "`") >= n && !(*l)[strspn(*l, "`")])
				fence = NULL;
			continue;
		}
		if (**l == '|') {
			tables += !bars;
			g_assert_true(!bars || bars == count_bars(*l));
			bars = count_bars(*l);
		} else {
			bars = 0;
		}
		for (const char *c = *l; *c; c++)
			g_assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
	}
	g_assert_null(fence);
	return tables;
}

static struct report_options options_of(const struct timeline *tl, unsigned worst)
{
	struct report_options o = { .sort = -1, .worst = worst, .label = "a|b`c", .reader = "native" };
	g_assert_true(timeline_coverage(tl, &o.from_ns, &o.to_ns));
	o.to_ns++;
	return o;
}

static void test_story(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct report_options o = options_of(tl, 2);
	unsigned n;
	g_autofree char *page = report_markdown(tl, &o, &n);

	g_assert_cmpuint(n, ==, 2);
	/* The head, the summary, and phases, calls and waits of each at most. */
	g_assert_cmpuint(check_shape(page), >=, 4);
	g_assert_nonnull(strstr(page, "# Slow requests in <code>a&#124;b&#96;c</code>\n"));
	g_assert_nonnull(strstr(page, "\n## 1. `"));
	g_assert_nonnull(strstr(page, "\n## 2. `"));
	g_assert_null(strstr(page, "\n## 3. `"));
	g_assert_nonnull(strstr(page, "> **Why:** "));
	g_assert_nonnull(strstr(page, "| Read by | native |"));
}

static void test_hostile(void)
{
	struct fake *f = fake_new();
	const char *evil = "|`\n```\n# <img src=x>@all\033[2J";
	uint32_t t = fake_thread(f, 0, 1, 2, evil), call = fake_string(f, evil);
	fake_cell(fake_second(f, 0), t);
	struct span *s = fake_span(f, &(struct fake_span){
		.trace = 7, .id = 8, .name = evil, .service = evil, .thread = t,
		.begin = 0, .end = 50 * FAKE_MS, .state = SPAN_COMPLETE });
	fake_wait(s, PART_FUTEX, FAKE_MS, 40 * FAKE_MS, FAKE_MS, t, call);
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct report_options o = options_of(tl, 5);
	unsigned n;
	g_autofree char *page = report_markdown(tl, &o, &n);

	g_assert_cmpuint(n, ==, 1);
	check_shape(page);
	/* Outside of code, as an element, only what is made here. */
	g_assert_null(strstr(page, "\n# <img"));
	g_assert_null(strchr(page, '\033'));
	g_assert_nonnull(strstr(page, "&#124;"));
}

static void test_empty(void)
{
	struct fake *f = fake_new();
	fake_cell(fake_second(f, 0), fake_thread(f, 0, 1, 2, "x"));
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct report_options o = options_of(tl, 5);
	unsigned n = 9;
	g_autofree char *page = report_markdown(tl, &o, &n);
	g_assert_cmpuint(n, ==, 0);
	check_shape(page);
}

/* The phases of a request are its own, also if its trace has the id 0. */
static void test_trace_zero(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 1, 2, "x");
	fake_cell(fake_second(f, 0), t);
	fake_span(f, &(struct fake_span){ .trace = 0, .id = 8, .name = "slow", .service = "s", .thread = t,
					  .begin = 0, .end = 50 * FAKE_MS, .state = SPAN_COMPLETE });
	fake_span(f, &(struct fake_span){ .trace = 7, .id = 9, .name = "other", .service = "s", .thread = t,
					  .begin = 0, .end = 5 * FAKE_MS, .state = SPAN_COMPLETE });
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct report_options o = options_of(tl, 1);
	unsigned n;
	g_autofree char *page = report_markdown(tl, &o, &n);
	const char *phases = strstr(page, "\n### Phases\n");

	g_assert_cmpuint(n, ==, 1);
	g_assert_nonnull(phases);
	g_assert_nonnull(strstr(phases, "`slow`"));
	g_assert_null(strstr(phases, "`other`"));
}

/* A range that was traced in part says for how long. */
static void test_traced_part(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct report_options o = options_of(tl, 1);
	char traced[TIMEFMT_LEN];
	unsigned n;
	g_autofree char *said = g_strdup_printf(", traced for %s)",
						timefmt_duration(traced, range_recorded(tl, o.from_ns, o.to_ns)));
	g_autofree char *whole = report_markdown(tl, &o, &n);

	g_assert_null(strstr(whole, "traced for"));
	o.to_ns += 60 * NS_PER_S;
	g_autofree char *part = report_markdown(tl, &o, &n);
	g_assert_nonnull(strstr(part, said));
}

int main(int argc, char **argv)
{
	g_setenv("TZ", "UTC", TRUE);
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/markdown/text", test_text);
	g_test_add_func("/markdown/code", test_code);
	g_test_add_func("/markdown/block", test_block);
	g_test_add_func("/markdown/values", test_values);
	g_test_add_func("/report/story", test_story);
	g_test_add_func("/report/hostile", test_hostile);
	g_test_add_func("/report/empty", test_empty);
	g_test_add_func("/report/trace-zero", test_trace_zero);
	g_test_add_func("/report/traced-part", test_traced_part);
	return g_test_run();
}
