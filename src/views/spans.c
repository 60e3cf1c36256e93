/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans of the range, one row for each span or half.
 */
#include "views/spans.h"

#include "views/evicted.h"
#include "views/neighbours.h"
#include "views/registry.h"
#include "views/explanations.h"

#include "base/limits.h"
#include "base/sort.h"

#include <string.h>

#define SPAN(row) (((const struct span_row *)(row))->span)

const char *const span_state_name[] = {
	[SPAN_COMPLETE] = "complete", [SPAN_OPEN] = "open", [SPAN_PARTIAL] = "partial",
};

const char *const span_kind_name[] = {
	[SPAN_LOCAL] = NULL, [SPAN_CLIENT] = "client", [SPAN_SERVER] = "server",
};

/* key[1] of its row; key[0] is the span id */
static uint64_t span_row_key(const struct span *s)
{
	return s->trace_id ^ (uint64_t)s->kind << 62;
}

bool query_wants_operation(const struct view_query *q, const struct span *s)
{
	if (q->operation && strcmp(q->operation, s->name) != 0)
		return false;
	return !q->service || strcmp(q->service, s->service) == 0;
}

bool query_wants_span(const struct view_query *q, const struct timeline *tl,
		      const struct span *s)
{
	return (!query_has_trace(q) || q->trace_id == s->trace_id) &&
	       (!q->span_id || q->span_id == s->span_id) &&
	       (q->span_kind < 0 || q->span_kind == (int)s->kind) &&
	       (q->pid < 0 || q->pid == s->pid) && (q->tid < 0 || q->tid == s->tid) &&
	       (q->host == ID_NONE || q->host == s->host) && (!q->container || query_wants_thread(q, tl, s->thread)) &&
	       query_wants_operation(q, s);
}

static void unref_span(void *span)
{
	span_unref(span);
}

void rows_hold_span(struct rows *rows, const struct span *s)
{
	if (!rows->spans)
		rows->spans = g_ptr_array_new_with_free_func(unref_span);
	g_ptr_array_add(rows->spans, span_ref((struct span *)s));
}

void span_row_fill(struct span_row *r, struct rows *rows, const struct span *s)
{
	const struct timeline *tl = rows->tl;
	const struct thread_info *t = timeline_thread(tl, s->thread);
	rows_hold_span(rows, s);
	r->span = (struct span *)s;
	r->c.name = s->name;
	r->c.service = s->service;
	common_host(&r->c, rows, s->host);
	r->c.pid = s->pid;
	r->c.tid = s->tid;
	r->c.container = container_label(rows, t ? t->process : ID_NONE);
	r->c.errors = s->errors;
	memcpy(r->c.part, s->part, sizeof(r->c.part));
	r->c.parts_unknown = span_duration(s) > 0 && s->part[PART_UNKNOWN] == span_duration(s);
	r->c.row.key[0] = s->span_id;
	r->c.row.key[1] = span_row_key(s);
	r->c.row.marked = s->errors > 0;
	r->c.row.open = s->state == SPAN_OPEN;
	query_set_trace(&r->c.row.drill, s->trace_id);
	r->c.row.drill.span_id = s->span_id;
	r->c.row.drill.span_kind = s->kind;
}

GETTER(span_get_duration)
{
	return value_int(VALUE_NS, span_duration(SPAN(row)));
}

GETTER(span_get_parent_state)
{
	return value_text(timeline_parent_is_missing(rows->tl, SPAN(row)) ? "missing" : NULL);
}

bool span_add_word(GString *to, const char *word, const char *rest)
{
	size_t n = strlen(word) + strlen(rest) + (to->len > 0);

	if (to->len + n <= LIMIT_WORDS_BYTES) {
		g_string_append_printf(to, "%s%s%s", to->len ? " " : "", word, rest);
		return true;
	}
	if (!g_str_has_suffix(to->str, " ..."))
		g_string_append(to, " ...");
	return false;
}

static bool add_tag(GString *to, const struct span_tag *tag)
{
	g_autofree char *key = g_strconcat(tag->key, "=", NULL);
	return span_add_word(to, key, tag->val);
}

void span_add_tags(GString *to, const struct span *s)
{
	for (uint32_t i = 0; i < s->n_tags && add_tag(to, &s->tags[i]); i++)
		;
}

char *span_annotation_text(const struct span_annotation *a)
{
	const char *severity = severity_word(a->severity);
	return severity ? g_strdup_printf("%s: %s", severity, a->event) : g_strdup(a->event);
}

uint8_t span_severity(const struct span *s)
{
	uint8_t most = SEVERITY_NONE;
	for (uint32_t i = 0; i < s->n_annotations; i++)
		most = MAX(most, s->annotations[i].severity);
	return most;
}

char *span_notes_left_out(const struct timeline *tl)
{
	struct notes_left_out n = timeline_facts(tl)->notes;
	g_autoptr(GString) text = g_string_new(NULL);

	if (n.alone)
		g_string_append_printf(text, "%" G_GUINT64_FORMAT " events of annotations belong to no span: none was "
				       "open on their thread, or their thread is unknown (context vtid)", n.alone);
	if (n.over)
		g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " events of annotations are left out: their span "
				       "has %d already", n.alone ? "; " : "", n.over, LIMIT_SPAN_NOTES);
	return text->len ? g_strdup(text->str) : NULL;
}

void span_add_annotations(GString *to, const struct span *s)
{
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		g_autofree char *text = span_annotation_text(&s->annotations[i]);
		if (!span_add_word(to, text, ""))
			return;
	}
}

/* A text about the span, made at first use and cached, because it is expensive. */
static struct value joined_text(struct rows *rows, const char **cached, const struct span *s,
			 void (*add)(GString *to, const struct span *s))
{
	if (!*cached) {
		g_autoptr(GString) text = g_string_new(NULL);
		add(text, s);
		*cached = rows_text(rows, text->str);
	}
	return value_text(**cached ? *cached : NULL);
}

GETTER(span_get_tags)
{
	struct span_row *r = (struct span_row *)row;
	return joined_text((struct rows *)rows, &r->tags, r->span, span_add_tags);
}

GETTER(span_get_annotations)
{
	struct span_row *r = (struct span_row *)row;
	return joined_text((struct rows *)rows, &r->marks, r->span, span_add_annotations);
}

GETTER(span_get_severity)
{
	return value_text(severity_word(span_severity(SPAN(row))));
}

GETTER(span_get_explanation)
{
	struct span_row *r = (struct span_row *)row;
	return explanations_value(rows->extra, rows, r->span, &r->explanation);
}

/* The process that ran on the CPU for which the span's thread waited. */
static GETTER(get_neighbour)
{
	struct span_row *r = (struct span_row *)row;
	if (!r->neighbour) {
		g_autofree char *label = neighbour_main(rows->tl, r->span, &r->neighbour_ns);
		r->neighbour = label ? rows_text((struct rows *)rows, label) : "";
	}
	return value_text(*r->neighbour ? r->neighbour : NULL);
}

static GETTER(get_neighbour_ns)
{
	bool known = get_neighbour(row, rows).kind == VALUE_TEXT;
	return known ? value_int(VALUE_NS, ((const struct span_row *)row)->neighbour_ns) : value_none();
}

const struct span *span_linked(const struct timeline *tl, const struct span_link *l)
{
	const GArray *spans = timeline_trace_spans(tl, l->trace_id);
	for (guint i = 0; spans && i < spans->len; i++) {
		const struct span *s = timeline_span(tl, g_array_index(spans, uint32_t, i));
		if (s->span_id == l->span_id)
			return s;
	}
	return NULL;
}

char *span_link_label(const struct timeline *tl, const struct span_link *l)
{
	const struct span *s = span_linked(tl, l);
	g_autofree char *id = text_id(l->span_id);
	if (!s)
		return g_strdup_printf("span %s, which is not here", id);
	return g_strdup_printf("%s in %s", s->name, *s->service ? s->service : "-");
}

static void add_links(GString *to, const struct span *s, const struct timeline *tl)
{
	for (uint32_t i = 0; i < s->n_links; i++) {
		g_autofree char *label = span_link_label(tl, &s->links[i]);
		if (!span_add_word(to, label, i + 1 < s->n_links ? "," : ""))
			return;
	}
}

/* The spans that sent the messages which it took. */
static GETTER(get_linked_from)
{
	struct span_row *r = (struct span_row *)row;
	if (!r->linked) {
		g_autoptr(GString) text = g_string_new(NULL);
		add_links(text, r->span, rows->tl);
		r->linked = rows_text((struct rows *)rows, text->str);
	}
	return value_text(*r->linked ? r->linked : NULL);
}

/* Of the first one. */
static GETTER(get_link_ns)
{
	const struct span *s = SPAN(row);
	return s->n_links ? value_int(VALUE_NS, s->links[0].in_ns - s->links[0].out_ns) : value_none();
}

static GETTER(get_late)
{
	const struct span_link *l = span_late(SPAN(row));
	return l ? value_int(VALUE_NS, l->in_ns - l->out_ns) : value_none();
}

static const struct column columns[] = {
	COLUMNS_SPAN,
	COLUMNS_PARTS
	COLUMN_N("runnable_ns", "RUNQ", VALUE_NS, 0, 0, "it could have run, and waited for a CPU",
		 get_runnable),
	COLUMN_T("neighbour", "BEHIND", 0, 0, "thread that ran longest on that CPU meanwhile, "
		 "but not for the same request", get_neighbour),
	COLUMN_N("neighbour_ns", "BEHIND ns", VALUE_NS, 0, 0, "how long that one ran while it waited",
		 get_neighbour_ns),
	COLUMN_T("mainly", "MAINLY", 9, 1, "the largest part of its time", get_mainly),
	COLUMNS_SAID("the span", span_get_tags, span_get_annotations, span_get_severity),
	COLUMN_EXPLANATION(span_get_explanation),
	COLUMN_CONTAINER,
	COLUMN_N("disk_queue_ns", "DQUEUE", VALUE_NS, 0, 0, "of its disk time: its requests were still in the "
		 "device's queue; null: insertions were not recorded",
		 SPAN_MEMBER(disk_queue_ns, .known = offsetof(struct span, disk_queue_known))),
	COLUMN_PARENT_STATE,
	COLUMN_T("linked_from", "FROM", 0, 0, "spans that sent the messages which it took (link_in of a rule)",
		 get_linked_from),
	COLUMN_N("link_ns", "TRANSPORT", VALUE_NS, 0, 0, "from sending the first of its messages to taking it; "
		 "between hosts as far as their clocks agree", get_link_ns),
	COLUMN_N("late_ns", "LATE", VALUE_NS, 0, 0,
		 "how much later it began than it was due (every= of a rule); null: not late, or unknown", get_late),
};

static int compare(const void *va, const void *vb)
{
	const struct span_row *ra = *(const struct span_row *const *)va;
	const struct span_row *rb = *(const struct span_row *const *)vb;
	const struct span *a = ra->span, *b = rb->span;
	return ORDER(a->begin_ns, b->begin_ns) ?: ORDER(a->trace_id, b->trace_id) ?:
	       ORDER(b->end_ns, a->end_ns) ?: ORDER(a->span_id, b->span_id) ?: ORDER(a->kind, b->kind) ?:
	       common_compare(&ra->c, &rb->c);
}

static void add_row(struct rows *rows, const struct span *s)
{
	if (!query_wants_span(&rows->query, rows->tl, s))
		return;
	struct span_row *r = common_new(rows, sizeof(*r));
	span_row_fill(r, rows, s);
}

/* Adds all spans of the trace, even those that ended outside the range. */
static void add_trace(uint64_t trace_id, uint32_t unused, void *data)
{
	struct rows *rows = data;
	const GArray *spans = timeline_trace_spans(rows->tl, trace_id);
	for (guint i = 0; spans && i < spans->len; i++)
		add_row(rows, timeline_span(rows->tl, g_array_index(spans, uint32_t, i)));
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct range range = range_of(tl, query);
	explanations_attach(rows, tl);
	if (query->among)
		intmap_foreach(query->among, add_trace, rows);
	else if (query_has_trace(query))
		add_trace(query->trace_id, 0, rows);
	else
		TIMELINE_EACH_SPAN(tl, i, range.from_ns, range.to_ns)
			if (range_has_span(&range, timeline_span(tl, i)))
				add_row(rows, timeline_span(tl, i));
	common_finish(rows, compare);
	evicted_describe_missing(rows, &range, false);
	return rows;
}

static const char *const needs[] = { "zipkin:timestamp", NULL };

const struct view view_spans = {
	.only = ONLY_SPANS,
	.id = "spans", .title = "Spans",
	.help = "Spans that ended in the range or are open, or all spans of one trace, with the parts of "
		"their time. Each half of a shared span has a row.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "duration_ns", .drill = "waterfall", .needs = needs,
	.on_screen = true, .lists_spans = true, .build = build,
};
