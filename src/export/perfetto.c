/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans as trace-event JSON, for ui.perfetto.dev and chrome://tracing. Each thread is a track: spans are slices,
 * annotations are instants, and arrows show requests to other threads, and messages (links of spans). With
 * --with-kernel, calls and waits are slices inside, and a second track shows the states of each thread.
 *
 * Times are microseconds with three decimals since the beginning of the export (otherData.begin_ns), because doubles
 * cannot hold nanoseconds since the epoch.
 */
#include "export/tracks.h"

#include "base/each.h"
#include "base/json_write.h"
#include "state/store/severity.h"
#include "views/common.h"

#include <string.h>

struct perfetto {
	struct json_out w;
	struct tracks t;
	int64_t base_ns;
	uint64_t n_flows;
};

/* Begins an event, which the caller ends. */
static struct json_out *begin_event(struct perfetto *p, const char *phase, int64_t pid, int64_t tid)
{
	json_newline(&p->w);
	json_open(&p->w, NULL, '{');
	json_put_text(&p->w, "ph", phase);
	json_put_int(&p->w, "pid", pid);
	json_put_int(&p->w, "tid", tid);
	return &p->w;
}

static void add_us(struct json_out *b, const char *key, int64_t ns)
{
	char us[32];
	g_snprintf(us, sizeof us, "%" G_GINT64_FORMAT ".%03d", ns / 1000, (int)(ns % 1000));
	json_put_raw(b, key, us);
}

static void add_name(struct json_out *b, const char *name)
{
	json_put_text(b, "name", *name ? name : "?");
}

/* ---- metadata ---- */

static void metadata(struct perfetto *p, const char *what, int64_t pid, int64_t tid,
		     const char *key, const char *name, int64_t n)
{
	struct json_out *b = begin_event(p, "M", pid, tid);
	add_name(b, what);
	json_open(b, "args", '{');
	if (name)
		json_put_text(b, key, name);
	else
		json_put_int(b, key, n);
	json_close(b, '}');
	json_close(b, '}');
}

static void append_names(struct perfetto *p)
{
	g_autoptr(GHashTable) named = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < p->t.tracks->len; i++) {
		const struct track *t = &g_array_index(p->t.tracks, struct track, i);
		if (g_hash_table_add(named, GINT_TO_POINTER(t->pid)))
			metadata(p, "process_name", t->pid, 0, "name", t->process, 0);
		metadata(p, "thread_name", t->pid, t->tid, "name", t->name, 0);
		metadata(p, "thread_sort_index", t->pid, t->tid, "sort_index", NULL, 2 * i);
		if (!p->t.set->with_kernel || t->thread == ID_NONE)
			continue;
		g_autofree char *strip = g_strdup_printf("%s: states", t->name);
		metadata(p, "thread_name", t->pid, t->strip_tid, "name", strip, 0);
		metadata(p, "thread_sort_index", t->pid, t->strip_tid, "sort_index", NULL, 2 * i + 1);
	}
}

/* ---- slices ---- */

static void add_args(struct json_out *b, const struct perfetto *p, const struct item *i)
{
	const struct timeline *tl = p->t.set->h->tl;
	const struct tree *tree = p->t.set->traces[i->trace].tree;
	const struct span *s = item_span(&p->t, i);
	uint64_t parent = i->kernel ? i->kernel->parent_id : export_parent_id(s);
	g_autoptr(GArray) attributes = i->kernel ? attributes_of_kernel(tl, i->kernel) :
		attributes_of_span(p->t.set->h, tree, i->node);
	g_autofree char *trace_id = export_trace_id(s, 16);

	json_open(b, "args", '{');
	json_put_text(b, "trace_id", trace_id);
	json_put_hex(b, "span_id", i->kernel ? i->kernel->id : s->span_id);
	if (parent)
		json_put_hex(b, "parent_id", parent);
	json_put_text(b, "service", s->service);
	ARRAY_EACH(const struct attribute, f, attributes) {
		/* JavaScript cannot represent larger numbers: they remain text. */
		if (f->is_int && ABS(f->n) < INT64_C(1) << 53)
			json_put_int(b, f->key, f->n);
		else
			json_put_text(b, f->key, f->text);
	}
	json_close(b, '}');
}

static char *item_name(const struct perfetto *p, const struct item *i)
{
	const struct timeline *tl = p->t.set->h->tl;
	return i->kernel ? kernel_span_name(tl, i->kernel) :
		g_strdup(item_span(&p->t, i)->name);
}

static void add_category(struct json_out *b, const struct perfetto *p, const struct item *i, bool with_id)
{
	/* Both halves of a span have the same id, but each pair of events needs its own. */
	uint64_t id = i->kernel ? i->kernel->id : derived_id(item_span(&p->t, i), i->node);
	g_autofree char *text = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", id);
	json_put_text(b, "cat", i->kernel ? "kernel" : "span");
	if (with_id)
		json_put_text(b, "id", text);
}

static void append_slice(struct perfetto *p, const struct item *i)
{
	const struct track *t = &g_array_index(p->t.tracks, struct track, i->track);
	g_autofree char *name = item_name(p, i);
	struct json_out *b = begin_event(p, i->async ? "b" : "X", t->pid, t->tid);

	add_us(b, "ts", i->begin_ns - p->base_ns);
	if (!i->async)
		add_us(b, "dur", i->end_ns - i->begin_ns);
	add_category(b, p, i, i->async);
	add_name(b, name);
	add_args(b, p, i);
	json_close(b, '}');
	if (!i->async)
		return;
	begin_event(p, "e", t->pid, t->tid);
	add_us(b, "ts", i->end_ns - p->base_ns);
	add_category(b, p, i, true);
	add_name(b, name);
	json_close(b, '}');
}

static void append_instants(struct perfetto *p, const struct item *i)
{
	const struct track *t = &g_array_index(p->t.tracks, struct track, i->track);
	const struct span *s = item_span(&p->t, i);

	for (uint32_t k = 0; !i->kernel && k < s->n_annotations; k++) {
		const struct span_annotation *a = &s->annotations[k];
		const char *event = a->event;
		if (attributes_is_core(s, a) || a->ts < p->base_ns)
			continue;
		struct json_out *b = begin_event(p, i->async ? "n" : "i", t->pid, t->tid);
		add_us(b, "ts", a->ts - p->base_ns);
		add_category(b, p, i, i->async);
		if (!i->async)
			json_put_text(b, "s", "t");
		add_name(b, event);
		if (a->severity != SEVERITY_NONE) {
			json_open(b, "args", '{');
			json_put_text(b, ATTRIBUTE_SEVERITY, severity_word(a->severity));
			json_close(b, '}');
		}
		json_close(b, '}');
	}
}

/* ---- arrows ---- */

static void append_end_of_arrow(struct perfetto *p, const struct item *i, const char *phase,
				int64_t ts, const char *category, const char *name)
{
	const struct track *t = &g_array_index(p->t.tracks, struct track, i->track);
	struct json_out *b = begin_event(p, phase, t->pid, t->tid);
	add_us(b, "ts", ts - p->base_ns);
	json_put_text(b, "cat", category);
	json_put_int(b, "id", (int64_t)p->n_flows);
	if (*phase == 'f')
		json_put_text(b, "bp", "e");
	add_name(b, name);
	json_close(b, '}');
}

static void append_arrow(struct perfetto *p, const struct item *from, const struct item *to)
{
	if (!to || !from || to->async || from->async || to->track == from->track ||
	    to->begin_ns < from->begin_ns || to->begin_ns >= from->end_ns)
		return;
	p->n_flows++;
	append_end_of_arrow(p, from, "s", to->begin_ns, "request", "request");
	append_end_of_arrow(p, to, "f", to->begin_ns, "request", "request");
}

/* An instant inside the slice, to which an arrow is bound. */
static int64_t inside(const struct item *i, int64_t ts)
{
	return CLAMP(ts, i->begin_ns, MAX(i->begin_ns, i->end_ns - 1));
}

static void append_links(struct perfetto *p, const struct item *to, GHashTable *by_id)
{
	const struct span *s = item_span(&p->t, to);

	for (uint32_t i = 0; !to->async && i < s->n_links; i++) {
		const struct span_link *l = &s->links[i];
		const struct item *from = g_hash_table_lookup(by_id, &l->span_id);
		if (!from || from->async || item_span(&p->t, from)->trace_id != l->trace_id)
			continue;
		p->n_flows++;
		append_end_of_arrow(p, from, "s", inside(from, l->out_ns), "link", l->name);
		append_end_of_arrow(p, to, "f", inside(to, l->in_ns), "link", l->name);
	}
}

/* Arrows of messages between spans that are both exported. */
static void append_all_links(struct perfetto *p)
{
	g_autoptr(GHashTable) by_id = g_hash_table_new(g_int64_hash, g_int64_equal);

	ARRAY_EACH(const struct item, item, p->t.items)
		if (!item->kernel)
			g_hash_table_insert(by_id, (gpointer)&item_span(&p->t, item)->span_id, (gpointer)item);
	ARRAY_EACH(const struct item, item, p->t.items)
		if (!item->kernel)
			append_links(p, item, by_id);
}

/* Arrows from a span to its children on other threads, if their clocks agree. */
static void append_arrows(struct perfetto *p)
{
	const struct export_set *set = p->t.set;
	g_autofree size_t *first = g_new0(size_t, set->n + 1);	/* index of each trace's first node */

	for (guint k = 0; k < set->n; k++)
		first[k + 1] = first[k] + set->traces[k].tree->n;
	g_autofree const struct item **of_node = g_new0(const struct item *, first[set->n] + 1);
	ARRAY_EACH(const struct item, item, p->t.items)
		if (!item->kernel)
			of_node[first[item->trace] + item->node] = item;
	for (guint k = 0; k < set->n; k++) {
		const struct tree *tree = set->traces[k].tree;
		for (int n = 0; n < tree->n; n++)
			if (tree->nodes[n].parent >= 0)
				append_arrow(p, of_node[first[k] + tree->nodes[n].parent],
					     of_node[first[k] + n]);
	}
}

/* ---- the strips ---- */

static void append_state(struct perfetto *p, const struct track *t, const char *name,
			 int64_t from, int64_t to)
{
	if (to <= from)
		return;
	struct json_out *b = begin_event(p, "X", t->pid, t->strip_tid);
	add_us(b, "ts", from - p->base_ns);
	add_us(b, "dur", to - from);
	json_put_text(b, "cat", "state");
	add_name(b, name);
	json_close(b, '}');
}

static void append_wait(struct perfetto *p, const struct track *t, const struct span_wait *w,
			int64_t from)
{
	int64_t woken = CLAMP(w->wake_ns, w->begin_ns, w->end_ns);
	if (w->part == PART_PREEMPTED) {
		append_state(p, t, part_info[w->part].id, MAX(from, w->begin_ns), w->end_ns);
		return;
	}
	g_autofree char *name = g_strdup_printf("blocked: %s", part_info[w->part].id);
	append_state(p, t, name, MAX(from, w->begin_ns), woken);
	append_state(p, t, "woken, waits for a CPU", MAX(from, woken), w->end_ns);
}

/* Between waits the span was on a CPU, if all of its time is known. */
static const char *name_rest(const struct span *s)
{
	if (!part_sum_cpu(s->part) || s->part[PART_UNKNOWN] || s->part[PART_HANDOFF])
		return NULL;
	return s->n_waits_more ? "on a CPU, or waits not retained" : "on a CPU";
}

struct track_strip {
	const struct track *track;
	int64_t done;			/* end of the written states */
	int64_t until;			/* end of the outermost span */
	const char *rest;		/* state between waits; NULL: unknown */
};

static void advance(struct perfetto *p, struct track_strip *s, int64_t to)
{
	if (s->rest)
		append_state(p, s->track, s->rest, s->done, MIN(to, s->until));
	s->done = MAX(s->done, to);
}

/* The states of one track. Time inside spans is known; waits divide it. */
static void append_strip(struct perfetto *p, guint begin, guint end)
{
	const struct item *first = &g_array_index(p->t.items, struct item, begin);
	struct track_strip s = { .track = &g_array_index(p->t.tracks, struct track, first->track),
			   .done = INT64_MIN, .until = INT64_MIN };

	if (s.track->thread == ID_NONE)
		return;
	for (guint i = begin; i < end; i++) {
		const struct item *item = &g_array_index(p->t.items, struct item, i);
		if (!item->kernel && item->end_ns > s.until) {
			advance(p, &s, item->begin_ns);
			s.until = item->end_ns;
			s.rest = name_rest(item_span(&p->t, item));
		} else if (item->kernel && item->kernel->wait && item->end_ns > s.done) {
			advance(p, &s, item->begin_ns);
			append_wait(p, s.track, item->kernel->wait, s.done);
			s.done = item->end_ns;
		}
	}
	advance(p, &s, s.until);
}

static void append_strips(struct perfetto *p)
{
	const GArray *items = p->t.items;
	for (guint i = 0, n; i < items->len; i += n) {
		unsigned track = g_array_index(items, struct item, i).track;
		for (n = 1; i + n < items->len;) {
			if (g_array_index(items, struct item, i + n).track != track)
				break;
			n++;
		}
		append_strip(p, i, i + n);
	}
}

void spans_perfetto(GString *out, const struct export_set *set)
{
	struct perfetto p = { .w = { .out = out }, .base_ns = INT64_MAX };

	tracks_init(&p.t, set);
	for (guint i = 0; i < p.t.items->len; i++)
		p.base_ns = MIN(p.base_ns, g_array_index(p.t.items, struct item, i).begin_ns);
	json_open(&p.w, NULL, '{');
	json_open(&p.w, "traceEvents", '[');
	append_names(&p);
	for (guint i = 0; i < p.t.items->len; i++) {
		append_slice(&p, &g_array_index(p.t.items, struct item, i));
		append_instants(&p, &g_array_index(p.t.items, struct item, i));
	}
	append_arrows(&p);
	append_all_links(&p);
	if (set->with_kernel)
		append_strips(&p);
	g_string_append_c(out, '\n');
	json_close(&p.w, ']');
	json_put_text(&p.w, "displayTimeUnit", "ns");
	json_open(&p.w, "otherData", '{');
	json_put_text(&p.w, "version", "blktop " BLKTOP_VERSION);
	json_put_decimal(&p.w, "begin_ns", p.base_ns);
	g_string_append(out, "}}\n");
	tracks_clear(&p.t);
}
