/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans in blktop's own JSON: all known data in nanoseconds, nested as in the trace. Nesting is written without
 * json-glib, so its depth is not limited.
 */
#include "export/json.h"
#include "export/spans.h"
#include "views/common.h"
#include "views/neighbours.h"
#include "views/path.h"
#include "views/spans.h"

static void add_text_or_null(JsonBuilder *b, const char *key, const char *text)
{
	if (text && *text)
		json_add_text(b, key, text);
	else
		json_add_null(b, key);
}

static void add_string(JsonBuilder *b, const struct timeline *tl, const char *key, uint32_t id)
{
	add_text_or_null(b, key, timeline_string(tl, id));
}

static void add_thread(JsonBuilder *b, const struct timeline *tl, const char *key,
		       uint32_t thread, int64_t at)
{
	const struct thread_info *t = timeline_thread(tl, thread);
	const struct process_info *p = t ? timeline_process(tl, t->process) : NULL;
	if (!t) {
		json_add_null(b, key);
		return;
	}
	json_builder_set_member_name(b, key);
	json_builder_begin_object(b);
	if (p)
		json_add_int(b, "pid", p->pid);
	else
		json_add_null(b, "pid");
	json_add_int(b, "tid", t->tid);
	json_add_text(b, "comm", timeline_comm(tl, thread, at));
	json_builder_end_object(b);
}

static void add_file(JsonBuilder *b, const struct timeline *tl, uint32_t file)
{
	const struct file_info *f = timeline_file(tl, file);
	if (f)
		json_add_text(b, "file", timeline_string(tl, f->path));
	else
		json_add_null(b, "file");
}

static void add_known_int(JsonBuilder *b, const char *key, int64_t n, bool known)
{
	if (known)
		json_add_int(b, key, n);
	else
		json_add_null(b, key);
}

static void begin_array(JsonBuilder *b, const char *key)
{
	json_builder_set_member_name(b, key);
	json_builder_begin_array(b);
}

static void add_parts(JsonBuilder *b, const struct span *s)
{
	json_builder_set_member_name(b, "parts");
	json_builder_begin_object(b);
	for (int p = 0; p < PART_N; p++) {
		g_autofree char *key = g_strdup_printf("%s_ns", part_info[p].id);
		json_add_int(b, key, s->part[p]);
	}
	json_builder_end_object(b);
}

static void add_annotations(JsonBuilder *b, const struct timeline *tl, const struct span *s)
{
	begin_array(b, "annotations");
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		const struct span_annotation *a = &s->annotations[i];
		json_builder_begin_object(b);
		json_add_int(b, "at_ns", a->ts);
		json_add_text(b, "event", a->event);
		add_thread(b, tl, "thread", a->thread, a->ts);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	begin_array(b, "tags");
	for (uint32_t i = 0; i < s->n_tags; i++) {
		const char *val = s->tags[i].val;
		json_builder_begin_object(b);
		json_add_int(b, "at_ns", s->tags[i].ts);
		json_add_text(b, "key", s->tags[i].key);
		if (s->tags[i].is_int)
			json_add_int(b, "value", g_ascii_strtoll(val, NULL, 10));
		else
			json_add_text(b, "value", val);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_wait(JsonBuilder *b, const struct timeline *tl, const struct span_wait *w)
{
	json_builder_begin_object(b);
	json_add_text(b, "part", part_info[w->part].id);
	json_add_int(b, "begin_ns", w->begin_ns);
	add_known_int(b, "wake_ns", w->wake_ns, w->part != PART_PREEMPTED);
	json_add_int(b, "end_ns", w->end_ns);
	add_thread(b, tl, "thread", w->thread, w->end_ns);
	add_string(b, tl, "syscall", w->call);
	add_file(b, tl, w->file);
	g_autofree char *arg = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", w->arg);
	if (w->arg)
		json_add_text(b, "arg", arg);
	else
		json_add_null(b, "arg");
	json_builder_set_member_name(b, "lock");
	json_builder_add_boolean_value(b, w->lock);
	if (w->joined) {
		json_builder_set_member_name(b, "joined");
		json_builder_add_boolean_value(b, TRUE);
	}
	if (w->stopper != ID_NONE)
		add_thread(b, tl, "stopper", w->stopper, w->begin_ns);
	add_thread(b, tl, "waker", w->waker, w->wake_ns);
	add_string(b, tl, "waker_irq", w->waker_irq);
	add_string(b, tl, "waker_syscall", w->waker_call);
	add_known_int(b, "cpu", w->cpu, w->cpu != SPAN_NO_CPU);
	json_builder_end_object(b);
}

static void add_segment(JsonBuilder *b, const struct timeline *tl, const struct path_segment *p)
{
	json_builder_begin_object(b);
	json_add_int(b, "begin_ns", p->begin_ns);
	json_add_int(b, "end_ns", p->end_ns);
	json_add_text(b, "state", path_state(p));
	if (p->on_cpu && p->part != PART_UNKNOWN)
		json_add_text(b, "mode", part_info[p->part].id);
	else
		json_add_null(b, "mode");
	for (unsigned part = 0; part < PATH_MODES; part++) {
		g_autofree char *key = g_strdup_printf("%s_ns", part_info[part].id);
		add_known_int(b, key, path_part_ns(p, part), !p->on_cpu || p->part != PART_UNKNOWN);
	}
	json_builder_set_member_name(b, "mixed");
	json_builder_add_boolean_value(b, p->mixed);
	add_thread(b, tl, "thread", p->thread, p->end_ns);
	if (p->span) {
		json_add_hex(b, "trace_id", p->span->trace_id);
		json_add_hex(b, "span_id", p->span->span_id);
	} else {
		json_add_null(b, "trace_id");
		json_add_null(b, "span_id");
	}
	json_add_int(b, "hops", p->depth);
	add_string(b, tl, "syscall", p->call);
	add_file(b, tl, p->file);
	add_thread(b, tl, "waker", p->waker, p->end_ns);
	add_string(b, tl, "waker_irq", p->waker_irq);
	add_thread(b, tl, "behind", p->cpu_holder, p->end_ns);
	json_builder_end_object(b);
}

static void add_path(JsonBuilder *b, struct history *h, const struct tree *t, int node)
{
	g_autoptr(GArray) path = path_of(h, t, node);
	begin_array(b, "critical_path");
	for (guint i = 0; i < path->len; i++)
		add_segment(b, h->tl, &g_array_index(path, struct path_segment, i));
	json_builder_end_array(b);
}

/* The process that ran while the thread waited for a CPU. null if the thread never waited for one. */
static void add_behind(JsonBuilder *b, const struct timeline *tl, const struct span *s)
{
	const struct span_runqueue *x = s->runqueue;
	json_builder_set_member_name(b, "runnable_behind");
	if (!x) {
		json_builder_add_null_value(b);
		return;
	}
	json_builder_begin_object(b);
	begin_array(b, "threads");
	for (uint32_t i = 0; i < x->n; i++) {
		json_builder_begin_object(b);
		add_thread(b, tl, "thread", x->top[i].thread, s->end_ns);
		json_add_int(b, "ns", x->top[i].ns);
		json_builder_set_member_name(b, "same_request");
		json_builder_add_boolean_value(b, neighbour_is_of_request(tl, s, x->top[i].thread));
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_add_int(b, "threads_not_kept", x->n_more);
	json_add_int(b, "not_kept_ns", x->more_ns);
	json_add_int(b, "idle_ns", x->idle_ns);
	json_add_int(b, "unknown_ns", x->unknown_ns);
	json_builder_end_object(b);
}

static void add_calls(JsonBuilder *b, const struct timeline *tl, const struct span *s)
{
	begin_array(b, "syscalls");
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct span_call *c = &s->calls[i];
		json_builder_begin_object(b);
		json_add_text(b, "syscall", timeline_string(tl, c->name));
		json_add_int(b, "count", c->count);
		json_add_int(b, "errors", c->errors);
		json_add_int(b, "total_ns", c->total_ns);
		json_add_int(b, "max_ns", c->max_ns);
		add_file(b, tl, c->file);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	begin_array(b, "calls");
	for (uint32_t i = 0; i < s->n_slow; i++) {
		const struct span_slow_call *c = &s->slow[i];
		json_builder_begin_object(b);
		json_add_text(b, "syscall", timeline_string(tl, c->name));
		json_add_int(b, "begin_ns", c->begin_ns);
		json_add_int(b, "duration_ns", c->duration_ns);
		json_add_int(b, "ret", c->ret);
		add_file(b, tl, c->file);
		add_thread(b, tl, "thread", c->thread, c->begin_ns);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_add_int(b, "calls_not_kept", s->n_slow_more);
}

static void add_identity(JsonBuilder *b, const struct timeline *tl, const struct span *s)
{
	const struct host_info *host = timeline_host(tl, s->host);
	const char *kind = span_kind_name(s->kind);
	json_add_hex(b, "trace_id", s->trace_id);
	json_add_hex(b, "span_id", s->span_id);
	if (s->parent_id)
		json_add_hex(b, "parent_id", s->parent_id);
	else
		json_add_null(b, "parent_id");
	if (kind)
		json_add_text(b, "kind", kind);
	else
		json_add_null(b, "kind");
	json_add_text(b, "service", s->service);
	json_add_text(b, "name", s->name);
	add_text_or_null(b, "ip", s->ip);
	add_known_int(b, "port", s->port, s->port != 0);
	if (host)
		json_add_text(b, "host", host->name);
	else
		json_add_null(b, "host");
	add_known_int(b, "pid", s->pid, s->pid >= 0);
	add_known_int(b, "tid", s->tid, s->tid >= 0);
	add_thread(b, tl, "thread", s->thread, s->end_ns);
}

/* top: the span has no exported parent. */
static void append_span(GString *out, struct history *h, const struct tree *t, int node, bool top)
{
	const struct span *s = t->nodes[node].span;
	JsonBuilder *b = json_builder_new();
	struct why why;
	why_find(h, t, node, &why);
	g_autofree char *sentence = why_sentence(h, t, node, &why);
	int64_t usual = history_usual(h, s);
	json_builder_begin_object(b);
	add_identity(b, h->tl, s);
	json_add_text(b, "state", span_state_name[s->state]);
	add_text_or_null(b, "parent_state", timeline_parent_is_missing(h->tl, s) ? "missing" : "");
	json_add_int(b, "begin_ns", s->begin_ns);
	json_add_int(b, "end_ns", s->end_ns);
	json_add_int(b, "duration_ns", span_duration(s));
	json_add_int(b, "self_ns", s->self_ns);
	json_add_int(b, "errors", s->errors);
	add_known_int(b, "usual_ns", usual, usual >= 0);
	json_builder_set_member_name(b, "critical");
	json_builder_add_boolean_value(b, t->nodes[node].critical);
	add_text_or_null(b, "why", sentence);
	add_parts(b, s);
	add_known_int(b, "disk_queue_ns", s->disk_queue_ns, s->disk_queue_known);
	add_annotations(b, h->tl, s);
	begin_array(b, "waits");
	for (uint32_t i = 0; i < s->n_waits; i++)
		add_wait(b, h->tl, &s->waits[i]);
	json_builder_end_array(b);
	json_add_int(b, "waits_not_kept", s->n_waits_more);
	add_behind(b, h->tl, s);
	if (top)
		add_path(b, h, t, node);
	add_calls(b, h->tl, s);
	json_builder_end_object(b);
	json_append(out, b);
}

static void append_kernel(GString *out, const struct timeline *tl, const struct span *s,
			  const struct kernel_span *k)
{
	JsonBuilder *b = json_builder_new();
	g_autofree char *name = kernel_span_name(tl, k);
	json_builder_begin_object(b);
	json_add_hex(b, "trace_id", s->trace_id);
	json_add_hex(b, "span_id", k->id);
	json_add_hex(b, "parent_id", k->parent_id);
	json_add_text(b, "kernel", k->call ? "syscall" : "wait");
	json_add_text(b, "service", s->service);
	json_add_text(b, "name", name);
	add_thread(b, tl, "thread", k->thread, k->end_ns);
	json_add_int(b, "begin_ns", k->begin_ns);
	json_add_int(b, "end_ns", k->end_ns);
	json_add_int(b, "duration_ns", k->end_ns - k->begin_ns);
	json_builder_end_object(b);
	json_append(out, b);
	g_assert(out->str[out->len - 1] == '}');
	g_string_truncate(out, out->len - 1);
	g_string_append(out, ",\"children\":[");
}

/* Appends waits and calls with this parent, and the waits inside those calls. There are no deeper levels. */
static bool append_kernels(GString *out, const struct timeline *tl, const struct span *s,
			   const GArray *kernel, uint64_t parent)
{
	bool first = true;
	for (guint i = 0; i < kernel->len; i++) {
		const struct kernel_span *k = &g_array_index(kernel, struct kernel_span, i);
		if (k->parent_id != parent)
			continue;
		g_string_append(out, first ? "\n" : ",\n");
		append_kernel(out, tl, s, k);
		for (guint j = i + 1; k->call && j < kernel->len; j++) {
			const struct kernel_span *in = &g_array_index(kernel, struct kernel_span, j);
			if (in->parent_id != k->id)
				continue;
			g_string_append(out, out->str[out->len - 1] == '[' ? "\n" : ",\n");
			append_kernel(out, tl, s, in);
			g_string_append(out, "]}");
		}
		g_string_append(out, "]}");
		first = false;
	}
	return first;
}

/* The last member of each span's object is the list of its children. An object is closed when the next span is not
 * below it. */
static void append_nested(GString *out, const struct export_set *set,
			  const struct export_trace *trace)
{
	struct tree *t = trace->tree;
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(int));
	bool first = true;
	path_mark(t);
	for (int i = 0; i < t->n; i++) {
		if (!trace->wanted[i])
			continue;
		while (open->len && g_array_index(open, int, open->len - 1) != t->nodes[i].parent) {
			g_string_append(out, "]}");
			g_array_set_size(open, open->len - 1);
			first = false;
		}
		g_string_append(out, first ? "\n" : ",\n");
		append_span(out, set->h, t, i, !open->len);
		g_assert(out->str[out->len - 1] == '}');
		g_string_truncate(out, out->len - 1);
		g_string_append(out, ",\"children\":[");
		g_array_append_val(open, i);
		first = true;
		if (set->with_kernel) {
			g_autoptr(GArray) kernel = kernel_spans(t, i);
			first = append_kernels(out, set->h->tl, t->nodes[i].span, kernel,
					       t->nodes[i].span->span_id);
		}
	}
	for (; open->len; g_array_set_size(open, open->len - 1))
		g_string_append(out, "]}");
}

void spans_json(GString *out, const struct export_set *set)
{
	g_string_append_printf(out, "{\"blktop\":\"%s\",\"traces\":[", BLKTOP_VERSION);
	for (guint i = 0; i < set->n; i++) {
		g_autofree char *hex = json_hex(set->traces[i].tree->trace_id);
		const struct tree *t = set->traces[i].tree;
		const GArray *missing = timeline_missing_spans(set->h->tl, t->trace_id);
		bool rootless = t->root >= 0 && t->nodes[t->root].orphan;
		g_string_append_printf(out, "%s{\"trace_id\":\"%s\",\"missing_spans\":%u,"
				       "\"duration_bound\":%s,\"spans\":[",
				       i == 0 ? "\n" : ",\n", hex, missing ? missing->len : 0,
				       rootless ? "\"at least\"" : "null");
		append_nested(out, set, &set->traces[i]);
		g_string_append(out, "]}");
	}
	g_string_append(out, "\n]}\n");
}
