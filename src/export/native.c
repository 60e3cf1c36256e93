/* SPDX-License-Identifier: GPL-2.0-only */
/* Spans in blktop's own JSON: all known data in nanoseconds, nested as in the trace. */
#include "base/json_write.h"
#include "export/spans.h"
#include "state/store/severity.h"
#include "views/common.h"
#include "views/neighbours.h"
#include "views/path.h"
#include "views/spans.h"

static void add_text_or_null(struct json_out *b, const char *key, const char *text)
{
	json_put_text(b, key, text && *text ? text : NULL);
}

static void add_string(struct json_out *b, const struct timeline *tl, const char *key, uint32_t id)
{
	add_text_or_null(b, key, timeline_string(tl, id));
}

static void add_thread(struct json_out *b, const struct timeline *tl, const char *key,
		       uint32_t thread, int64_t at)
{
	const struct thread_info *t = timeline_thread(tl, thread);
	const struct process_info *p = t ? timeline_process(tl, t->process) : NULL;
	if (!t) {
		json_put_null(b, key);
		return;
	}
	json_open(b, key, '{');
	json_put_known(b, "pid", p ? p->pid : 0, p);
	json_put_int(b, "tid", t->tid);
	json_put_text(b, "comm", timeline_comm(tl, thread, at));
	json_close(b, '}');
}

static void add_file(struct json_out *b, const struct timeline *tl, uint32_t file)
{
	const struct file_info *f = timeline_file(tl, file);
	json_put_text(b, "file", f ? timeline_string(tl, f->path) : NULL);
}

static void add_parts(struct json_out *b, const struct span *s)
{
	json_open(b, "parts", '{');
	for (int p = 0; p < PART_N; p++) {
		g_autofree char *key = g_strdup_printf("%s_ns", part_info[p].id);
		json_put_int(b, key, s->part[p]);
	}
	json_close(b, '}');
}

static void add_annotations(struct json_out *b, const struct timeline *tl, const struct span *s)
{
	json_open(b, "annotations", '[');
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		const struct span_annotation *a = &s->annotations[i];
		json_open(b, NULL, '{');
		json_put_int(b, "at_ns", a->ts);
		json_put_text(b, "event", a->event);
		if (a->severity != SEVERITY_NONE)
			json_put_text(b, "severity", severity_word(a->severity));
		add_thread(b, tl, "thread", a->thread, a->ts);
		json_close(b, '}');
	}
	json_close(b, ']');
	json_open(b, "tags", '[');
	for (uint32_t i = 0; i < s->n_tags; i++) {
		const char *val = s->tags[i].val;
		json_open(b, NULL, '{');
		json_put_int(b, "at_ns", s->tags[i].ts);
		json_put_text(b, "key", s->tags[i].key);
		if (s->tags[i].is_int)
			json_put_int(b, "value", g_ascii_strtoll(val, NULL, 10));
		else
			json_put_text(b, "value", val);
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void add_way(struct json_out *b, const struct timeline *tl, const struct span_link *l)
{
	bool known = l->ran_ns || l->runnable_ns || l->blocked_ns;

	json_put_known(b, "ran_ns", l->ran_ns, known);
	json_put_known(b, "runnable_ns", l->runnable_ns, known);
	json_put_known(b, "blocked_ns", l->blocked_ns, known);
	add_thread(b, tl, "cpu_holder", l->cpu_holder, l->in_ns);
}

static void add_late(struct json_out *b, const struct timeline *tl, const struct span_link *l)
{
	json_open(b, "late", '{');
	json_put_int(b, "due_ns", l->out_ns);
	json_put_int(b, "late_ns", l->in_ns - l->out_ns);
	json_put_int(b, "every_ns", l->every_ns);
	add_way(b, tl, l);
	json_close(b, '}');
}

static void add_links(struct json_out *b, const struct timeline *tl, const struct span *s)
{
	json_open(b, "links", '[');
	for (uint32_t i = 0; i < s->n_links; i++) {
		const struct span_link *l = &s->links[i];
		json_open(b, NULL, '{');
		json_put_text(b, "name", l->name);
		json_put_hex(b, "trace_id", l->trace_id);
		json_put_hex(b, "span_id", l->span_id);
		json_put_int(b, "out_ns", l->out_ns);
		json_put_int(b, "in_ns", l->in_ns);
		json_put_bool(b, "unsure", l->unsure);
		add_way(b, tl, l);
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void add_wait(struct json_out *b, const struct timeline *tl, const struct span_wait *w)
{
	json_open(b, NULL, '{');
	json_put_text(b, "part", part_info[w->part].id);
	json_put_int(b, "begin_ns", w->begin_ns);
	json_put_known(b, "wake_ns", w->wake_ns, w->part != PART_PREEMPTED);
	json_put_int(b, "end_ns", w->end_ns);
	add_thread(b, tl, "thread", w->thread, w->end_ns);
	add_string(b, tl, "syscall", w->call);
	add_file(b, tl, w->file);
	g_autofree char *arg = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", w->arg);
	json_put_text(b, "arg", w->arg ? arg : NULL);
	json_put_bool(b, "lock", w->lock);
	if (w->joined)
		json_put_bool(b, "joined", true);
	if (w->stopper != ID_NONE)
		add_thread(b, tl, "stopper", w->stopper, w->begin_ns);
	add_thread(b, tl, "waker", w->waker, w->wake_ns);
	add_string(b, tl, "waker_irq", w->waker_irq);
	add_string(b, tl, "waker_syscall", w->waker_call);
	json_put_known(b, "cpu", w->cpu, w->cpu != SPAN_NO_CPU);
	json_close(b, '}');
}

static void add_segment(struct json_out *b, const struct timeline *tl, const struct path_segment *p)
{
	json_open(b, NULL, '{');
	json_put_int(b, "begin_ns", p->begin_ns);
	json_put_int(b, "end_ns", p->end_ns);
	json_put_text(b, "state", path_state(p));
	json_put_text(b, "mode", p->on_cpu && p->part != PART_UNKNOWN ? part_info[p->part].id : NULL);
	for (unsigned part = 0; part < PATH_MODES; part++) {
		g_autofree char *key = g_strdup_printf("%s_ns", part_info[part].id);
		json_put_known(b, key, path_part_ns(p, part), !p->on_cpu || p->part != PART_UNKNOWN);
	}
	json_put_bool(b, "mixed", p->mixed);
	add_thread(b, tl, "thread", p->thread, p->end_ns);
	if (p->span) {
		json_put_hex(b, "trace_id", p->span->trace_id);
		json_put_hex(b, "span_id", p->span->span_id);
	} else {
		json_put_null(b, "trace_id");
		json_put_null(b, "span_id");
	}
	json_put_int(b, "hops", p->depth);
	add_string(b, tl, "syscall", p->call);
	add_file(b, tl, p->file);
	add_thread(b, tl, "waker", p->waker, p->end_ns);
	add_string(b, tl, "waker_irq", p->waker_irq);
	add_thread(b, tl, "behind", p->cpu_holder, p->end_ns);
	json_close(b, '}');
}

static void add_path(struct json_out *b, struct history *h, const struct tree *t, int node)
{
	g_autoptr(GArray) path = path_of(h, t, node);
	json_open(b, "critical_path", '[');
	for (guint i = 0; i < path->len; i++)
		add_segment(b, h->tl, &g_array_index(path, struct path_segment, i));
	json_close(b, ']');
}

/* The process that ran while the thread waited for a CPU. null if the thread never waited for one. */
static void add_behind(struct json_out *b, const struct timeline *tl, const struct span *s)
{
	const struct span_runqueue *x = s->runqueue;
	if (!x) {
		json_put_null(b, "runnable_behind");
		return;
	}
	json_open(b, "runnable_behind", '{');
	json_open(b, "threads", '[');
	for (uint32_t i = 0; i < x->n; i++) {
		json_open(b, NULL, '{');
		add_thread(b, tl, "thread", x->top[i].thread, s->end_ns);
		json_put_int(b, "ns", x->top[i].ns);
		json_put_bool(b, "same_request", neighbour_is_of_request(tl, s, x->top[i].thread));
		json_close(b, '}');
	}
	json_close(b, ']');
	json_put_int(b, "threads_not_kept", x->n_more);
	json_put_int(b, "not_kept_ns", x->more_ns);
	json_put_int(b, "idle_ns", x->idle_ns);
	json_put_int(b, "unknown_ns", x->unknown_ns);
	json_close(b, '}');
}

static void add_calls(struct json_out *b, const struct timeline *tl, const struct span *s)
{
	json_open(b, "syscalls", '[');
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct span_call *c = &s->calls[i];
		json_open(b, NULL, '{');
		json_put_text(b, "syscall", timeline_string(tl, c->name));
		json_put_int(b, "count", c->count);
		json_put_int(b, "errors", c->errors);
		json_put_int(b, "total_ns", c->total_ns);
		json_put_int(b, "max_ns", c->max_ns);
		add_file(b, tl, c->file);
		json_close(b, '}');
	}
	json_close(b, ']');
	json_open(b, "calls", '[');
	for (uint32_t i = 0; i < s->n_slow; i++) {
		const struct span_slow_call *c = &s->slow[i];
		json_open(b, NULL, '{');
		json_put_text(b, "syscall", timeline_string(tl, c->name));
		json_put_int(b, "begin_ns", c->begin_ns);
		json_put_int(b, "duration_ns", c->duration_ns);
		json_put_int(b, "ret", c->ret);
		add_file(b, tl, c->file);
		add_thread(b, tl, "thread", c->thread, c->begin_ns);
		json_close(b, '}');
	}
	json_close(b, ']');
	json_put_int(b, "calls_not_kept", s->n_slow_more);
}

static void add_identity(struct json_out *b, const struct timeline *tl, const struct span *s)
{
	const struct host_info *host = timeline_host(tl, s->host);
	const char *kind = span_kind_name[s->kind];
	json_put_hex(b, "trace_id", s->trace_id);
	json_put_hex(b, "span_id", s->span_id);
	if (s->parent_id)
		json_put_hex(b, "parent_id", s->parent_id);
	else
		json_put_null(b, "parent_id");
	json_put_text(b, "kind", kind);
	json_put_text(b, "service", s->service);
	json_put_text(b, "name", s->name);
	add_text_or_null(b, "ip", s->ip);
	json_put_known(b, "port", s->port, s->port != 0);
	json_put_text(b, "host", host ? host->name : NULL);
	json_put_known(b, "pid", s->pid, s->pid >= 0);
	json_put_known(b, "tid", s->tid, s->tid >= 0);
	add_thread(b, tl, "thread", s->thread, s->end_ns);
}

/* Begins an object, with all members but its last, the list of its children, which stays open. top: the span has no
 * exported parent. */
static void begin_span(struct json_out *b, struct history *h, const struct tree *t, int node, bool top)
{
	const struct span *s = t->nodes[node].span;
	struct why why;
	why_find(h, t, node, &why);
	g_autofree char *sentence = why_sentence(h, t, node, &why);
	int64_t usual = history_usual(h, s);
	json_newline(b);
	json_open(b, NULL, '{');
	add_identity(b, h->tl, s);
	json_put_text(b, "state", span_state_name[s->state]);
	add_text_or_null(b, "parent_state", timeline_parent_is_missing(h->tl, s) ? "missing" : "");
	json_put_int(b, "begin_ns", s->begin_ns);
	json_put_int(b, "end_ns", s->end_ns);
	json_put_int(b, "duration_ns", span_duration(s));
	json_put_int(b, "self_ns", s->self_ns);
	json_put_int(b, "errors", s->errors);
	json_put_known(b, "usual_ns", usual, usual >= 0);
	json_put_bool(b, "critical", t->nodes[node].critical);
	add_text_or_null(b, "why", sentence);
	add_parts(b, s);
	json_put_known(b, "disk_queue_ns", s->disk_queue_ns, s->disk_queue_known);
	add_annotations(b, h->tl, s);
	if (s->n_links)
		add_links(b, h->tl, s);
	if (span_late(s))
		add_late(b, h->tl, span_late(s));
	json_open(b, "waits", '[');
	for (uint32_t i = 0; i < s->n_waits; i++)
		add_wait(b, h->tl, &s->waits[i]);
	json_close(b, ']');
	json_put_int(b, "waits_not_kept", s->n_waits_more);
	add_behind(b, h->tl, s);
	if (top)
		add_path(b, h, t, node);
	add_calls(b, h->tl, s);
	json_open(b, "children", '[');
}

static void end_span(struct json_out *b)
{
	json_close(b, ']');
	json_close(b, '}');
}

static void begin_kernel(struct json_out *b, const struct timeline *tl, const struct span *s,
			 const struct kernel_span *k)
{
	g_autofree char *name = kernel_span_name(tl, k);
	json_newline(b);
	json_open(b, NULL, '{');
	json_put_hex(b, "trace_id", s->trace_id);
	json_put_hex(b, "span_id", k->id);
	json_put_hex(b, "parent_id", k->parent_id);
	json_put_text(b, "kernel", k->call ? "syscall" : "wait");
	json_put_text(b, "service", s->service);
	json_put_text(b, "name", name);
	add_thread(b, tl, "thread", k->thread, k->end_ns);
	json_put_int(b, "begin_ns", k->begin_ns);
	json_put_int(b, "end_ns", k->end_ns);
	json_put_int(b, "duration_ns", k->end_ns - k->begin_ns);
	json_open(b, "children", '[');
}

/* Appends waits and calls with this parent, and the waits inside those calls. There are no deeper levels. */
static void append_kernels(struct json_out *b, const struct timeline *tl, const struct span *s,
			   const GArray *kernel, uint64_t parent)
{
	for (guint i = 0; i < kernel->len; i++) {
		const struct kernel_span *k = &g_array_index(kernel, struct kernel_span, i);
		if (k->parent_id != parent)
			continue;
		begin_kernel(b, tl, s, k);
		for (guint j = i + 1; k->call && j < kernel->len; j++) {
			const struct kernel_span *in = &g_array_index(kernel, struct kernel_span, j);
			if (in->parent_id != k->id)
				continue;
			begin_kernel(b, tl, s, in);
			end_span(b);
		}
		end_span(b);
	}
}

/* A span's object is closed when the next span is not below it. */
static void append_nested(struct json_out *b, const struct export_set *set, const struct export_trace *trace)
{
	struct tree *t = trace->tree;
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(int));
	path_mark(t);
	for (int i = 0; i < t->n; i++) {
		if (!trace->wanted[i])
			continue;
		while (open->len && g_array_index(open, int, open->len - 1) != t->nodes[i].parent) {
			end_span(b);
			g_array_set_size(open, open->len - 1);
		}
		begin_span(b, set->h, t, i, !open->len);
		g_array_append_val(open, i);
		if (set->with_kernel) {
			g_autoptr(GArray) kernel = kernel_spans(t, i);
			append_kernels(b, set->h->tl, t->nodes[i].span, kernel, t->nodes[i].span->span_id);
		}
	}
	for (; open->len; g_array_set_size(open, open->len - 1))
		end_span(b);
}

/* Of a trace that goes on by messages: how long it took with them, and why. */
static void add_messages(struct json_out *b, struct history *h, const struct tree *t)
{
	const struct trace_info *info = timeline_find_trace(h->tl, t->trace_id);
	struct why why;
	if (!info || !trace_has_messages(info))
		return;
	why_find_trace(h, t, &why);
	g_autofree char *sentence = why_sentence(h, t, t->root, &why);
	json_put_int(b, "to_last_ns", trace_duration(info));
	json_put_known(b, "usual_to_last_ns", why.usual_ns, why.usual_ns >= 0);
	add_text_or_null(b, "why", sentence);
}

void spans_json(GString *out, const struct export_set *set)
{
	struct json_out w = { .out = out }, *b = &w;
	json_open(b, NULL, '{');
	json_put_text(b, "blktop", BLKTOP_VERSION);
	json_open(b, "traces", '[');
	for (guint i = 0; i < set->n; i++) {
		const struct tree *t = set->traces[i].tree;
		const GArray *missing = timeline_missing_spans(set->h->tl, t->trace_id);
		bool rootless = t->root >= 0 && t->nodes[t->root].orphan;
		json_newline(b);
		json_open(b, NULL, '{');
		json_put_hex(b, "trace_id", t->trace_id);
		json_put_int(b, "missing_spans", missing ? missing->len : 0);
		json_put_text(b, "duration_bound", rootless ? "at least" : NULL);
		add_messages(b, set->h, t);
		json_open(b, "spans", '[');
		append_nested(b, set, &set->traces[i]);
		json_close(b, ']');
		json_close(b, '}');
	}
	g_string_append(out, "\n]}\n");
}
