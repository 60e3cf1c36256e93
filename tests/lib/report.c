/* SPDX-License-Identifier: GPL-2.0-only */
/* See report.h. */
#include "lib/inspect.h"
#include "lib/report.h"

#include "export/export.h"
#include "state/publish/model.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_view(FILE *out, const struct timeline *tl, const struct view *v, enum view_by by,
		       int64_t from, int64_t to)
{
	struct view_query q = VIEW_QUERY_INIT;
	q.from_ns = from;
	q.to_ns = to;
	q.by = by;
	struct rows *rows = v->build(tl, &q);
	fprintf(out, "%s %d %" PRId64 "\n", v->id, by, from);
	rows_print(out, v, rows, FORMAT_CSV, true);
	rows_free(rows);
}

/* Rows that depend on what lies outside of the range. */
static bool looks_around(const struct view *v)
{
	return !strcmp(v->id, "changed");
}

/* alone: of a timeline that may have nothing but these. */
static void print_range(FILE *out, const struct timeline *tl, int64_t from, int64_t to, bool alone)
{
	for (const struct view *const *v = view_all; *v; v++) {
		if ((*v)->kind != VIEW_TABLE || (alone && looks_around(*v)))
			continue;
		print_view(out, tl, *v, BY_THREAD, from, to);
		/* those rows tell other things */
		if (view_has_by(*v, BY_THREAD) && (*v)->default_by == BY_SYSTEM)
			print_view(out, tl, *v, BY_SYSTEM, from, to);
		for (enum view_by by = BY_CPU; by < BY_N; by++)
			if (view_has_by(*v, by))
				print_view(out, tl, *v, by, from, to);
	}
}

static int id_order(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void print_traces(FILE *out, const struct timeline *tl)
{
	g_autoptr(GArray) ids = g_array_new(false, false, sizeof(uint64_t));
	for (size_t i = 0; i < timeline_n_spans(tl); i++)
		g_array_append_val(ids, timeline_span(tl, i)->trace_id);
	g_array_sort(ids, id_order);
	for (guint i = 0; i < ids->len; i++) {
		struct span_selection what = { .trace_id = g_array_index(ids, uint64_t, i) };
		unsigned n;
		if (i && what.trace_id == g_array_index(ids, uint64_t, i - 1))
			continue;
		g_autofree char *text = span_export(tl, &what, SPAN_JSON, &n, NULL);
		fprintf(out, "%s\n", text ? text : "no export");
	}
}

static void print_seconds(FILE *out, const struct timeline *tl, int64_t from, int64_t to,
			  bool alone)
{
	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *sec = timeline_second(tl, i);
		if (sec->begin_ns < from || sec->begin_ns >= to)
			continue;
		fprintf(out, "second %" PRId64 " %" PRId64 " trust %" PRIu64 " %" PRIu64 " %"
			PRIu64 " %u\n", sec->begin_ns, sec->end_ns, sec->completeness.lost_events,
			sec->completeness.lost_packets, sec->completeness.provisional, sec->completeness.touched);
		print_range(out, tl, sec->begin_ns, sec->end_ns, alone);
	}
}

char *report_of_timeline(const struct timeline *tl)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int64_t first, last;
	if (timeline_coverage(tl, &first, &last)) {
		fprintf(out, "coverage %" PRId64 " %" PRId64 " events %" PRIu64 "\n", first, last,
			timeline_n_events(tl));
		const struct notes_left_out notes = timeline_facts(tl)->notes;
		if (notes.alone || notes.over)
			fprintf(out, "annotations without a span %" PRIu64 ", over %" PRIu64 "\n", notes.alone,
				notes.over);
		print_range(out, tl, first, last + 1, false);
		print_seconds(out, tl, INT64_MIN, INT64_MAX, false);
		print_traces(out, tl);
	}
	fclose(out);
	char *copy = g_strndup(text, len);
	free(text);
	return copy;
}

char *report_of_seconds(const struct timeline *tl, int64_t from, int64_t to)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	print_seconds(out, tl, from, to, true);
	fclose(out);
	char *copy = g_strndup(text, len);
	free(text);
	return copy;
}

char *report_of_slice(struct slice *s)
{
	struct timeline *tl = timeline_new(0);
	timeline_apply(tl, slice_finish(s));
	char *text = report_of_timeline(tl);
	timeline_free(tl);
	slice_free(s);
	return text;
}

void report_assert_equal(const char *what, const char *expected, const char *got)
{
	if (!strcmp(expected, got))
		return;
	g_auto(GStrv) a = g_strsplit(expected, "\n", -1);
	g_auto(GStrv) b = g_strsplit(got, "\n", -1);
	const char *section = "";
	for (guint i = 0, shown = 0; a[i] && b[i] && shown < 6; i++) {
		if (strlen(a[i]) && !strchr(a[i], ','))
			section = a[i];
		if (!strcmp(a[i], b[i]))
			continue;
		size_t at = 0;
		while (a[i][at] && a[i][at] == b[i][at])
			at++;
		at -= MIN(at, 150);
		g_test_message("%s: line %u of %s: %.80s\n expected %.400s\n got      %.400s", what, i,
			       section, a[i], a[i] + at, b[i] + at);
		shown++;
	}
	const char *dir = g_getenv("BLKTOP_LAWS_DUMP");	/* both reports, to look at */
	if (dir) {
		g_autofree char *one = g_build_filename(dir, "expected", NULL);
		g_autofree char *two = g_build_filename(dir, "got", NULL);
		g_file_set_contents(one, expected, -1, NULL);
		g_file_set_contents(two, got, -1, NULL);
	}
	g_test_message("%s: %u and %u lines", what, g_strv_length(a), g_strv_length(b));
	g_test_fail();
}
