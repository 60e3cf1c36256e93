/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables about one request: its phases (as in the view phases), the system calls of all its spans, and the waits of
 * its threads.
 */
#include "export/report_tables.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "export/markdown.h"
#include "views/common.h"
#include "views/path.h"
#include "views/why.h"

#include <string.h>

#define MAX_PHASES 20
#define MAX_CALLS 12
#define MAX_WAITS 12
#define MAX_PIECES 16

static void put_cell(GString *out, const char *text)
{
	g_autofree char *cell = markdown_code(text);
	markdown_cell(out, cell);
}

static void put_duration(GString *out, int64_t ns)
{
	char buf[TIMEFMT_LEN];
	markdown_cell(out, timefmt_duration(buf, ns));
}

static void put_number(GString *out, uint64_t n)
{
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, n);
	markdown_cell(out, text);
}

/* --- phases --- */

/* Does any row have a value for this column? */
static bool is_used(const struct view *v, const struct rows *rows, const char *column)
{
	int c = view_column(v, column);
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value value = column_value(&v->columns[c], rows->rows->pdata[i], rows);
		if (value.kind != VALUE_NONE && value.i != 0)
			return true;
	}
	return false;
}

void report_phases(GString *out, const struct timeline *tl, uint64_t trace_id)
{
	static const char *const always[] = {
		"name", "service", "kind", "count", "errors", "total_ns", "max_ns", "share_ratio"
	};
	const struct view *v = view_find("phases");
	struct view_query q = VIEW_QUERY_INIT;
	g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);

	query_set_trace(&q, trace_id);
	struct rows *rows = v->build(tl, &q);
	g_string_append(out, "\n### Phases\n\n");
	for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
		g_ptr_array_add(columns, g_strdup(always[i]));
	for (int p = 0; p < PART_N; p++) {
		g_autofree char *id = g_strdup_printf("%s_ns", part_info[p].id);
		if (is_used(v, rows, id))
			g_ptr_array_add(columns, g_steal_pointer(&id));
	}
	g_ptr_array_add(columns, NULL);
	rows_sort(rows, v, view_column(v, "total_ns"), true);
	if (rows->rows->len)
		markdown_rows(out, v, rows, (const char *const *)columns->pdata, MAX_PHASES,
			      "phases");
	else
		g_string_append(out, "Still open: no phase of it has ended.\n");
	rows_free(rows);
}

/* --- system calls --- */

struct call_sum {
	const char *service;
	uint32_t name;			/* string */
	uint64_t count, errors;
	int64_t total_ns;
	const struct span_call *longest;
	const struct waterfall_row *in;	/* the span with the longest call */
};

static void add_call(GArray *calls, const struct waterfall_row *r, const struct span_call *c)
{
	struct call_sum *found = NULL;
	for (guint i = 0; i < calls->len && !found; i++) {
		struct call_sum *call = &g_array_index(calls, struct call_sum, i);
		if (call->name == c->name && call->service == r->span->service)
			found = call;
	}
	if (!found) {
		struct call_sum fresh = { .service = r->span->service, .name = c->name };
		g_array_append_val(calls, fresh);
		found = &g_array_index(calls, struct call_sum, calls->len - 1);
	}
	found->count += c->count;
	found->errors += c->errors;
	found->total_ns += c->total_ns;
	if (!found->longest || c->max_ns > found->longest->max_ns) {
		found->longest = c;
		found->in = r;
	}
}

static int compare_calls(const void *va, const void *vb, void *data)
{
	const struct call_sum *a = va, *b = vb;
	const struct timeline *tl = data;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	int order = strcmp(timeline_string(tl, a->name), timeline_string(tl, b->name));
	return order ? order : strcmp(a->service, b->service);
}

static void put_call(GString *out, const struct timeline *tl, const struct call_sum *c)
{
	const struct file_info *f = timeline_file(tl, c->longest->file);
	put_cell(out, timeline_string(tl, c->name));
	put_cell(out, c->service);
	put_number(out, c->count);
	put_number(out, c->errors);
	put_duration(out, c->total_ns);
	put_duration(out, c->longest->max_ns);
	put_cell(out, c->in->name_only);
	put_cell(out, f ? timeline_string(tl, f->path) : "");
	markdown_row_end(out);
}

void report_calls(GString *out, const struct rows *rows)
{
	const struct waterfall *w = waterfall_of(rows);
	g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(struct call_sum));

	for (size_t i = 0; i < w->n_all; i++)
		for (uint32_t k = 0; k < w->all[i]->span->n_calls; k++)
			add_call(calls, w->all[i], &w->all[i]->span->calls[k]);
	g_array_sort_with_data(calls, compare_calls, (void *)rows->tl);
	g_string_append(out, "\n### System calls\n\n");
	if (!calls->len) {
		g_string_append(out, "None known.\n");
		return;
	}
	markdown_head(out, "Call|Service|>Count|>Errors|>Total|>Longest|in the span|on");
	for (guint i = 0; i < calls->len && i < MAX_CALLS; i++)
		put_call(out, rows->tl, &g_array_index(calls, struct call_sum, i));
	if (calls->len > MAX_CALLS)
		g_string_append_printf(out, "\nand %u more kinds of calls.\n", calls->len - MAX_CALLS);
}

/* --- waits --- */

struct wait_in_span {
	const struct waterfall_row *in;	/* the innermost span with this wait */
	const struct span_wait *w;
};

/* Adds a wait once: nested spans have the same waits. */
static void add_wait(GArray *waits, const struct waterfall_row *r, const struct span_wait *w)
{
	ARRAY_EACH(struct wait_in_span, old, waits) {
		if (old->w->thread != w->thread || old->w->wake_ns != w->wake_ns ||
		    old->w->end_ns < w->begin_ns || w->end_ns < old->w->begin_ns)
			continue;
		if (w->end_ns - w->begin_ns >= old->w->end_ns - old->w->begin_ns &&
		    r->row.depth >= old->in->row.depth)
			*old = (struct wait_in_span){ r, w };
		return;
	}
	struct wait_in_span fresh = { r, w };
	g_array_append_val(waits, fresh);
}

static int compare_longest(const void *va, const void *vb)
{
	const struct span_wait *a = ((const struct wait_in_span *)va)->w, *b = ((const struct wait_in_span *)vb)->w;
	int64_t da = a->end_ns - a->begin_ns, db = b->end_ns - b->begin_ns;
	return ORDER(db, da) ?: ORDER(a->begin_ns, b->begin_ns);
}

static int compare_begin(const void *va, const void *vb)
{
	const struct wait_in_span *a = va, *b = vb;
	return ORDER(a->w->begin_ns, b->w->begin_ns) ?: a->in->index - b->in->index;
}

/* "futex(0x55efb1a37580)", "read(/srv/x)", "preempted". */
static char *wait_text(const struct timeline *tl, const struct span_wait *w)
{
	const char *call = timeline_string(tl, w->call);
	const char *object = wait_object(tl, w);
	if (w->part == PART_PREEMPTED || !*call)
		return g_strdup("");
	if (object)
		return g_strdup_printf("%s(%s)", call, object);
	return w->arg ? g_strdup_printf("%s(0x%" G_GINT64_MODIFIER "x)", call, w->arg) :
		g_strdup(call);
}

/* Returns Markdown. */
static char *waker_text(const struct timeline *tl, const struct span_wait *w, bool still)
{
	const char *irq = timeline_string(tl, w->waker_irq);
	const char *call = timeline_string(tl, w->waker_call);
	if (still)
		return g_strdup("not woken yet");
	if (w->part == PART_PREEMPTED)
		return g_strdup("-");
	if (w->waker == ID_NONE) {
		if (w->part == PART_TIMER)
			return g_strdup("the clock");
		return *irq ? markdown_code(irq) : g_strdup("not known");
	}
	g_autofree char *label = thread_label_new(tl, w->waker, w->wake_ns);
	g_autofree char *code = markdown_code(label);
	g_autofree char *what = *call ? markdown_code(call) : NULL;
	return what ? g_strdup_printf("%s, just out of %s", code, what) : g_steal_pointer(&code);
}

static void put_wait(GString *out, const struct rows *rows, const struct wait_in_span *x)
{
	const struct timeline *tl = rows->tl;
	const struct span *s = x->in->span;
	const struct span_wait *w = x->w;
	bool still = s->state == SPAN_OPEN && w->end_ns >= s->end_ns;
	g_autofree char *thread = thread_label_new(tl, w->thread, w->end_ns);
	g_autofree char *what = wait_text(tl, w);
	g_autofree char *waker = waker_text(tl, w, still);

	put_duration(out, MAX(w->begin_ns - waterfall_of(rows)->begin_ns, 0));
	put_cell(out, x->in->name_only);
	put_cell(out, thread);
	markdown_cell(out, part_info[w->part].id);
	put_cell(out, what);
	put_duration(out, wait_blocked(w));
	put_duration(out, w->part == PART_PREEMPTED ? 0 : w->end_ns - w->wake_ns);
	markdown_cell(out, waker);
	markdown_row_end(out);
}

void report_waits(GString *out, const struct rows *rows)
{
	const struct waterfall *w = waterfall_of(rows);
	g_autoptr(GArray) waits = g_array_new(FALSE, FALSE, sizeof(struct wait_in_span));

	for (size_t i = 0; i < w->n_all; i++)
		for (uint32_t k = 0; k < w->all[i]->span->n_waits; k++)
			add_wait(waits, w->all[i], &w->all[i]->span->waits[k]);
	g_string_append(out, "\n### Waits\n\n");
	if (!waits->len) {
		g_string_append(out, "None known.\n");
		return;
	}
	guint all = waits->len;
	g_array_sort(waits, compare_longest);
	g_array_set_size(waits, MIN(all, MAX_WAITS));
	g_array_sort(waits, compare_begin);
	markdown_head(out, ">At|Span|Thread|On|Call|>For|>Then ready|Woken by");
	for (guint i = 0; i < waits->len; i++)
		put_wait(out, rows, &g_array_index(waits, struct wait_in_span, i));
	if (all > waits->len)
		g_string_append_printf(out, "\nand %u shorter ones.\n", all - waits->len);
}

/* ---- the critical path ---- */

static int compare_pieces(const void *va, const void *vb)
{
	const struct path_segment *a = va, *b = vb;
	int64_t da = a->end_ns - a->begin_ns, db = b->end_ns - b->begin_ns;
	return ORDER(db, da) ?: ORDER(a->begin_ns, b->begin_ns);
}

static int compare_times(const void *va, const void *vb)
{
	const struct path_segment *a = va, *b = vb;
	return ORDER(a->begin_ns, b->begin_ns);
}

static void put_piece(GString *out, const struct waterfall *w, const struct timeline *tl,
		      const struct path_segment *p)
{
	g_autofree char *thread = p->thread == ID_NONE ? g_strdup("") :
				  thread_label_new(tl, p->thread, p->end_ns);
	g_autofree char *words = path_words(tl, p);
	g_autofree char *span = !p->span ? g_strdup("") : p->node >= 0 ?
		g_strdup(p->span->name) :
		g_strdup_printf("%s %016" G_GINT64_MODIFIER "x", p->span->name,
				p->span->trace_id);
	put_duration(out, MAX(p->begin_ns - w->begin_ns, 0));
	put_duration(out, p->end_ns - p->begin_ns);
	put_cell(out, thread);
	put_cell(out, span);
	put_cell(out, words);
	markdown_row_end(out);
}

void report_path(GString *out, const struct rows *rows)
{
	const struct waterfall *w = waterfall_of(rows);
	g_autoptr(GArray) path = path_of_trace(w->history, w->tree);
	guint all = path->len;
	int64_t rest = 0;
	char buf[TIMEFMT_LEN];
	g_array_sort(path, compare_pieces);
	for (guint i = MAX_PIECES; i < all; i++) {
		const struct path_segment *p = &g_array_index(path, struct path_segment, i);
		rest += p->end_ns - p->begin_ns;
	}
	g_array_set_size(path, MIN(all, MAX_PIECES));
	g_array_sort(path, compare_times);
	g_string_append(out, "\n### Critical path\n\n");
	if (!all) {
		g_string_append(out, "It took no time.\n");
		return;
	}
	markdown_head(out, ">At|>For|Thread|Span|What it did");
	for (guint i = 0; i < path->len; i++)
		put_piece(out, w, rows->tl, &g_array_index(path, struct path_segment, i));
	if (rest)
		g_string_append_printf(out, "\nand %u shorter pieces, %s in all.\n", all - path->len,
				       timefmt_duration(buf, rest));
}
