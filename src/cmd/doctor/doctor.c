/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop --doctor: see doctor.h. It reads only; a live session is listened to and not changed. */
#include "cmd/doctor/doctor.h"

#include "cmd/doctor/doctor_private.h"
#include "app/input.h"
#include "cmd/isolate.h"
#include "app/messages.h"
#include "cmd/output.h"
#include "app/relay.h"

#include "base/each.h"
#include "base/timefmt.h"
#include "base/user.h"
#include "base/text.h"
#include "live/live.h"
#include "state/publish/model.h"
#include "run/suggestjob.h"
#include "state/kernel/subscriptions.h"
#include "state/slice/slice_file.h"
#include "state/spans/rules.h"
#include "trace/native/native.h"

#include <string.h>

#define MODEL_BYTES ((size_t)64 << 20)	/* of seconds that are not published yet */

/* No fields are wanted: events are only counted. */
static const struct blk_subscription nothing[] = { { .event = "blktop:nothing" } };
/* With contexts, of which events have the values. */
static const struct blk_subscription everything[] = {
	{ .event = "*", .fields = { BLK_COUNTERS } },
	[DOCTOR_ROW_PROBE] = { .event = BLK_PROBES, .fields = { BLK_COUNTERS } },
};

static void free_clock(void *data)
{
	struct doctor_clock *c = data;
	g_free(c->where);
	g_free(c->host);
	g_free(c->uuid);
	g_free(c);
}

static void doctor_init(struct doctor *doc, const char *label, bool live)
{
	*doc = (struct doctor){ .d = diagnosis_new(label), .live = live };
	doc->d->isolation = isolate_describe();
	doc->d->user = user_describe();
	doc->d->live = live;
	doc->by_class = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	doc->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	doc->heard = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	doc->clocks = g_ptr_array_new_with_free_func(free_clock);
	doc->by_record = g_ptr_array_new_with_free_func(g_free);
}

static void doctor_clear(struct doctor *doc)
{
	diagnosis_free(doc->d);
	g_hash_table_unref(doc->by_class);
	g_hash_table_unref(doc->counts);
	g_hash_table_unref(doc->heard);
	g_ptr_array_unref(doc->clocks);
	g_ptr_array_unref(doc->by_record);
	g_free(doc->other_tracer);
	g_free(doc->session);
	g_free(doc->suggestion);
	g_free(doc->suggest_from);
}

static void hear_batch(struct doctor *doc, const struct source *s, const struct blk_batch *batch)
{
	for (size_t i = 0; i < batch->n; i++)
		doctor_count_event(doc, &s->tables, &batch->ev[i]);
}

/* --- recorded --- */

/* m: NULL, or the model to be fed with the records. */
static bool count_records(struct doctor *doc, struct source *s, struct model *m, GError **error)
{
	struct blk_batch batch;
	enum source_status st;

	while ((st = source_next(s, &batch, error)) == SOURCE_OK || st == SOURCE_AGAIN) {
		if (st != SOURCE_OK)
			continue;
		hear_batch(doc, s, &batch);
		if (!m)
			continue;
		model_feed(m, &s->tables, batch.ev, batch.n);
		if (model_is_full(m))
			publication_free(model_publish(m, false));
	}
	doctor_counted(doc, &s->tables);
	return st == SOURCE_END;
}

/* Only the model knows which events of two CPUs belong together. */
static bool count_all(struct doctor *doc, struct source *s, GError **error)
{
	if (!doctor_find_channel(doc, "kernel"))
		return count_records(doc, s, NULL, error);
	struct model *m = model_new(&(struct model_options){
		.at_end = true, .memory_budget = MODEL_BYTES, .cells = READS(file) });
	model_without_spans(m);
	bool ok = count_records(doc, s, m, error);
	struct publication *p = model_publish(m, true);
	doc->reordered_pairs = p ? p->completeness.reordered_pairs : 0;
	doc->reordered_max_ns = p ? p->completeness.reordered_max_ns : 0;
	publication_free(p);
	model_free(m);
	return ok;
}

/* What a recorded trace is read for: events that only count have no fields. */
static const struct blk_subscription *wanted(const struct doctor *doc, size_t *ret_n)
{
	*ret_n = G_N_ELEMENTS(nothing);
	return doctor_find_channel(doc, "kernel") ? slice_subscriptions(ret_n) : nothing;
}

static bool hear_native(struct doctor *doc, struct native *native, GError **error)
{
	size_t n;
	const char *const *warnings = native_warnings(native, &n);
	g_autoptr(GPtrArray) lines = g_ptr_array_new();

	for (size_t i = 0; i < n; i++)
		g_ptr_array_add(lines, (char *)warnings[i]);
	g_ptr_array_add(lines, NULL);
	doc->d->warning = n ? g_strjoinv("; ", (char **)lines->pdata) : NULL;
	doc->d->reader = g_strdup("native");
	while (native_index(native, 4096))
		;
	g_autofree char *remark = native_remark(native);
	if (remark)
		log_error("%s", remark);
	g_autoptr(blk_source) s = native_range(native, INT64_MIN, INT64_MAX, 0);
	return count_all(doc, s, error);
}

static bool hear_trace(struct doctor *doc, const char *const *paths, enum reader reader,
		       GError **error)
{
	size_t n_rows;
	const struct blk_subscription *rows = wanted(doc, &n_rows);
	if (!slice_file_has_events(paths[0], error))
		return false;
	if (reader == READER_BT2) {
		g_autoptr(blk_source) s = source_open_bt2(paths, rows, n_rows, error);
		doc->d->reader = g_strdup("babeltrace2: as asked for");
		return s && count_all(doc, s, error);
	}
	g_autoptr(blk_native) native = native_open(paths, rows, n_rows, error);
	return native && hear_native(doc, native, error);
}

GPtrArray *doctor_events(const struct doctor *doc)
{
	GPtrArray *events = g_ptr_array_new();

	TABLE_EACH(each, doc->counts)
		g_ptr_array_add(events, each.key);
	g_ptr_array_add(events, NULL);
	return events;
}

static bool has_event(const void *doc, const char *event)
{
	return doctor_count(doc, event) > 0;
}

bool doctor_has_spans(const struct doctor *doc)
{
	g_autoptr(GPtrArray) events = doctor_events(doc);

	return rules_any_met((const char *const *)events->pdata) || slice_any_makes_spans(has_event, doc);
}

/* Without spans: which pairs of events could be some. */
static void suggest(struct doctor *doc, const char *const *paths, enum reader reader)
{
	g_autofree char **names = (char **)g_hash_table_get_keys_as_array(doc->counts, NULL);
	g_autoptr(GString) from = g_string_new(NULL);
	g_autoptr(GPtrArray) found = doctor_has_spans(doc) ? NULL :
		suggestjob_read(paths, reader == READER_BT2, (const char *const *)names, NULL, NULL);

	if (!found || !found->len)
		return;
	for (; *paths; paths++) {
		g_autofree char *quoted = text_shell_quote(*paths);
		g_string_append_printf(from, "%s%s", from->len ? " " : "", quoted);
	}
	doc->suggestion = suggest_text(found);
	doc->suggest_from = g_string_free(g_steal_pointer(&from), FALSE);
}

static int examine_trace(struct doctor *doc, const struct read_options *o)
{
	g_autoptr(GError) error = NULL;
	const char *const *paths = (const char *const *)o->paths;
	g_autofree char *label = g_strjoinv(" ", (char **)paths);

	doctor_init(doc, o->demo ? "demo" : label, false);
	doctor_scan(doc, paths);
	if (hear_trace(doc, paths, o->reader, &error)) {
		suggest(doc, paths, o->reader);
		return EXIT_FINE;
	}
	log_error("%s%s", error ? error->message : "the trace cannot be read",
		  slice_file_is(paths[0]) ? "; the doctor examines these packets: blktop --doctor DIR" : "");
	return EXIT_FAILED;
}

/* --- live --- */

/* Parts that cannot be read are a finding. true: nothing could be read, which is an error. */
static bool is_all_unread(struct doctor *doc, struct source *s, GError **error)
{
	doc->d->warning = source_warning(s);
	if (!doc->d->warning || doc->d->events)
		return false;
	g_set_error_literal(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, doc->d->warning);
	return true;
}

static bool hear_session(struct doctor *doc, struct source *s, unsigned seconds, int timeout_ms,
			 GError **error)
{
	gint64 begin = g_get_monotonic_time(), until = begin + (gint64)timeout_ms * 1000;
	bool attached = false;
	struct live_status status = { 0 };

	while (g_get_monotonic_time() < until) {
		struct blk_batch batch;
		enum source_status st = source_next(s, &batch, error);
		if (st == SOURCE_ERROR)
			return false;
		if (st == SOURCE_OK)
			hear_batch(doc, s, &batch);
		else if (st != SOURCE_AGAIN)
			return !is_all_unread(doc, s, error);
		live_get_status(s, &status);
		if (!attached && status.connected) {
			attached = true;
			until = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
		}
	}
	if (!attached)
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT, "%s",
			    status.message[0] ? status.message : "the relay did not let us attach");
	return attached && !is_all_unread(doc, s, error);
}

/* The events themselves were not stored: by their names. */
static void suggest_of_session(struct doctor *doc, const char *url)
{
	g_autofree char **names = (char **)g_hash_table_get_keys_as_array(doc->counts, NULL);
	char *text = doctor_has_spans(doc) ? NULL : suggest_names_text((const char *const *)names);
	g_autofree char *quoted = text_shell_quote(url);

	if (!text)
		return;
	doc->suggestion = text;
	doc->suggest_from = g_strdup_printf("-r %s", quoted);
}

static int examine_session(struct doctor *doc, const struct read_options *o, unsigned seconds)
{
	g_autoptr(GError) error = NULL;
	int code;
	g_autoptr(GArray) urls = relay_choose(o, NULL, &code);

	if (!urls) {
		doctor_init(doc, "", true);
		return code;
	}
	const struct live_url *url = &g_array_index(urls, struct live_url, 0);
	g_autofree char *label = live_url_format(url);
	doctor_init(doc, label, true);
	doc->session = g_strdup(url->session);
	g_autoptr(blk_source) s = live_open(url, urls->len, &o->relay, everything,
					    G_N_ELEMENTS(everything), &error);
	bool heard = s && hear_session(doc, s, seconds, o->relay.timeout_ms, &error);
	if (heard) {
		doctor_counted(doc, &s->tables);
		suggest_of_session(doc, label);
		return EXIT_FINE;
	}
	log_error("%s", error ? error->message : "the session cannot be read");
	return EXIT_FAILED;
}

/* --- the result --- */

static bool is_answered(const struct diag_question *q)
{
	return q->answer == ANSWER_YES || question_is_on_request(q->question);
}

static bool is_well(const struct diagnosis *d)
{
	bool well = !d->losses->len && !d->warning;
	for (guint i = 0; i < d->questions->len; i++)
		well &= is_answered(d->questions->pdata[i]);
	return well;
}

static int report(const struct diagnosis *d, enum rows_format format, const struct output_options *output)
{
	g_autofree char *text = NULL;
	size_t len;

	if (format == FORMAT_JSON) {
		text = diagnosis_json(d);
	} else {
		FILE *out = open_memstream(&text, &len);
		diagnosis_print_text(out, d);
		fclose(out);
	}
	int code = output_write(output, text, NULL);
	return code != EXIT_FINE ? code : is_well(d) ? EXIT_FINE : EXIT_LOSS;
}

int doctor_run(const struct read_options *read, enum rows_format format, const struct output_options *output,
	       unsigned seconds)
{
	struct doctor doc;
	int code = read->live ? examine_session(&doc, read, seconds) : examine_trace(&doc, read);

	if (code == EXIT_FINE) {
		doctor_advise(&doc);
		code = report(doc.d, format, output);
	}
	doctor_clear(&doc);
	return code;
}
