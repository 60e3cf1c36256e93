/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast path (state/kernel/fast_path.c) gives what the handlers give: every recording with it and without it,
 * whole, without spans, cut in two, and as a live run that publishes meanwhile.
 */
#include "lib/report.h"
#include "lib/test_traces.h"
#include "lib/traces.h"

#include "state/kernel/event_class.h"
#include "state/kernel/handlers.h"
#include "state/kernel/slice_state.h"
#include "state/publish/model.h"
#include "trace/native/native.h"

#define STEP INT64_C(1000000000)
#define BATCH 100	/* records: so that some second ends within one */

struct way {
	const char *name;
	bool spans, cut, live;
};

static void feed(struct slice *s, const struct recording *r, size_t from, size_t to)
{
	for (size_t i = from; i < to; i += BATCH)
		slice_feed(s, recording_tables(r), recording_event(r, i), MIN(to - i, BATCH));
}

static struct slice *slice_of(const struct recording *r, const struct way *way, size_t from, size_t to,
			      bool plain)
{
	struct slice *s = slice_new(!from, STEP);
	if (!plain)
		slice_without_fast_path(s);
	if (!way->spans)
		slice_without_spans(s);
	feed(s, r, from, to);
	return s;
}

/* Where an instant begins, about in the middle. */
static size_t middle_of(const struct recording *r)
{
	size_t at = recording_n(r) / 2;
	while (at && at < recording_n(r) && recording_event(r, at)->ts == recording_event(r, at - 1)->ts)
		at++;
	return at;
}

static char *live_report(const struct recording *r, bool plain)
{
	struct model *m = model_new(&(struct model_options){ .live = true, .provisional = true,
							     .no_fast_path = !plain });
	struct timeline *tl = timeline_new(0);
	for (size_t i = 0; i < recording_n(r); i += BATCH) {
		model_feed(m, recording_tables(r), recording_event(r, i), MIN(recording_n(r) - i, BATCH));
		struct publication *p = model_publish(m, false);
		if (p)
			timeline_apply(tl, p);
	}
	timeline_apply(tl, model_publish(m, true));
	char *report = report_of_timeline(tl);
	timeline_free(tl);
	model_free(m);
	return report;
}

static char *report_of(const struct recording *r, const struct way *way, bool plain)
{
	if (way->live)
		return live_report(r, plain);
	size_t at = way->cut ? middle_of(r) : recording_n(r);
	struct slice *s = slice_of(r, way, 0, at, plain);
	if (at < recording_n(r))
		s = slice_stitch(s, slice_of(r, way, at, recording_n(r), plain));
	return report_of_slice(s);
}

/* How many kinds of events took the fast path. */
static unsigned kinds_on_fast_path(const struct recording *r, bool plain)
{
	const struct way way = { .spans = true };
	struct slice *s = slice_of(r, &way, 0, recording_n(r), plain);
	bool kinds[KIND_WAKE + 1] = { false };
	for (guint i = 0; i < s->class_infos->len; i++) {
		const struct class_info *c = &g_array_index(s->class_infos, struct class_info, i);
		if (c->plan.layout)
			kinds[c->kind] = true;
	}
	slice_free(s);
	return kinds[KIND_ENTRY] + kinds[KIND_EXIT] + kinds[KIND_SWITCH] + kinds[KIND_WAKE];
}

static bool has_calls(const struct recording *r)
{
	bool entry = false;
	for (size_t i = 0; i < recording_n(r) && !entry; i++) {
		const struct blk_event *e = recording_event(r, i);
		entry = e->row < BLK_ROW_FIRST_PSEUDO &&
			slice_event_kind(e->row) == KIND_ENTRY;
	}
	return entry;
}

static void compare(const char *name, struct recording *r)
{
	static const struct way ways[] = {
		{ "whole", .spans = true }, { .name = "without spans" }, { "cut", .spans = true, .cut = true },
		{ "live", .live = true },
	};
	if (has_calls(r))
		g_assert_cmpuint(kinds_on_fast_path(r, true), >=, 2);
	g_assert_cmpuint(kinds_on_fast_path(r, false), ==, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(ways) && !g_test_failed(); i++) {
		g_autofree char *with = report_of(r, &ways[i], true);
		g_autofree char *without = report_of(r, &ways[i], false);
		g_autofree char *what = g_strdup_printf("%s, %s", name, ways[i].name);
		g_assert_cmpuint(strlen(without), >, 500);
		report_assert_equal(what, without, with);
	}
	recording_free(r);
}

/* As the program reads it: records point into the packets, texts are inline. */
static void test_recording(gconstpointer data)
{
	g_autofree char *path = test_trace(data);
	g_autoptr(GError) error = NULL;
	const char *const paths[] = { path, NULL };
	size_t n;
	if (!path)
		return;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	struct source *source = source_open_native(paths, subs, n, &error);
	g_assert_no_error(error);
	struct recording *r = recording_new(source, &error);
	g_assert_no_error(error);
	compare(data, r);
}

/* Records that own their fields, texts elsewhere: babeltrace2's, and those of events that vary in size. */
static void test_copied(gconstpointer data)
{
	struct recording *r = traces_record(data);
	if (r)
		compare(data, r);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"block/trace", "containers/trace", "demo/trace", "faults/trace", "kernel-small/trace",
		"kernel-ust/trace", "live/trace", "lost/trace", "lost/trace-overwrite", "net/trace",
		"pause/trace", "rotation/trace", "snapshot/trace", "thumb/trace", "ust-fields/trace",
		"ctf2/demo/trace", "ctf2/lost/trace", "ctf2/ust-both/ctf-2", "public/uneven-streams",
		"public/scp_src", "public/flipping-endianness",
	};
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		if (traces_too_long(names[i]))
			continue;
		g_autofree char *path = g_strdup_printf("/plain/%s", names[i]);
		g_test_add_data_func(path, names[i], test_recording);
	}
	g_test_add_data_func("/plain/copied/kernel-ust/trace", "kernel-ust/trace", test_copied);
	g_test_add_data_func("/plain/copied/lost/trace", "lost/trace", test_copied);
	return g_test_run();
}
