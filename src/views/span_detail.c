/* SPDX-License-Identifier: GPL-2.0-only */
/* Details of one span as lines of text: see span_detail.h. */
#include "views/span_detail.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "views/clocks.h"
#include "views/neighbours.h"
#include "views/path.h"
#include "views/spans.h"
#include "views/why.h"

#include <string.h>

struct detail {
	GPtrArray *lines;
	const struct timeline *tl;
	const struct waterfall *w;
	const struct span *s;
};

static void add(struct detail *d, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add(struct detail *d, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_ptr_array_add(d->lines, g_strdup_vprintf(format, ap));
	va_end(ap);
}

static void heading(struct detail *d, const char *text)
{
	add(d, "%s", "");
	add(d, "%s", text);
}

/* Time since the beginning of the trace: "+54.7ms". */
static const char *since(char buf[TIMEFMT_LEN], const struct detail *d, int64_t at)
{
	char text[TIMEFMT_LEN];
	g_snprintf(buf, TIMEFMT_LEN, "%s%s", at < d->w->begin_ns ? "" : "+",
		   timefmt_duration(text, at - d->w->begin_ns));
	return buf;
}

static void add_ids(struct detail *d)
{
	const struct span *s = d->s;
	const struct host_info *host = timeline_host(d->tl, s->host);
	const char *ip = s->ip, *kind = span_kind_name[s->kind];
	g_autoptr(GString) text = g_string_new(NULL);
	add(d, "trace %016" G_GINT64_MODIFIER "x  span %016" G_GINT64_MODIFIER "x  %s%016"
	    G_GINT64_MODIFIER "x%s", s->trace_id, s->span_id, s->parent_id ? "parent " :
	    "a root: no parent ", s->parent_id, timeline_parent_is_missing(d->tl, s) ? " (missing)" : "");
	g_string_append_printf(text, "service %s  host %s", s->service,
			       host ? host->name : "-");
	if (*ip)
		g_string_append_printf(text, "  endpoint %s:%u", ip, s->port);
	if (s->pid >= 0)
		g_string_append_printf(text, "  pid %d", s->pid);
	if (s->tid >= 0)
		g_string_append_printf(text, "  tid %d", s->tid);
	g_string_append_printf(text, "  %s%s%s", span_state_name[s->state], kind ? ", half of the " : "",
			       kind ? kind : "");
	if (s->errors)
		g_string_append_printf(text, "  errors %u", s->errors);
	add(d, "%s", text->str);
}

bool span_has_end(const struct span *s)
{
	static const char *const ends[] = { "ss", "cr", "end" };
	bool has = s->state == SPAN_COMPLETE;
	for (uint32_t i = 0; !has && s->state == SPAN_PARTIAL && i < s->n_annotations; i++)
		for (size_t k = 0; k < G_N_ELEMENTS(ends); k++)
			has |= !s->annotations[i].is_note && !strcmp(s->annotations[i].event, ends[k]);
	return has;
}

static void add_times(struct detail *d)
{
	const struct span *s = d->s;
	char clock[TIMEFMT_LEN], rel[TIMEFMT_LEN], dur[TIMEFMT_LEN], self[TIMEFMT_LEN];
	add(d, "begin %s  %s", timefmt_clock_ns(clock, s->begin_ns), since(rel, d, s->begin_ns));
	add(d, "%s %s  %s", span_has_end(s) ? "end  " : "known until",
	    timefmt_clock_ns(clock, s->end_ns), since(rel, d, s->end_ns));
	add(d, "took  %s%s  self %s", span_has_end(s) ? "" : ">",
	    timefmt_duration(dur, span_duration(s)), timefmt_duration(self, s->self_ns));
}

/* Finds the client span or half and the server half that answers it; node i is either of them. */
static void find_pair(const struct tree *t, int i, const struct span **ret_client,
		      const struct span **ret_server)
{
	const struct tree_node *node = &t->nodes[i];
	*ret_client = *ret_server = NULL;
	if (node->span->kind == SPAN_SERVER && node->parent >= 0)
		*ret_client = t->nodes[node->parent].span;
	if (node->span->kind == SPAN_SERVER)
		*ret_server = node->span;
	if (node->span->kind != SPAN_CLIENT)
		return;
	*ret_client = node->span;
	for (int c = node->first_child; c >= 0 && !*ret_server; c = t->nodes[c].next)
		if (t->nodes[c].span->kind == SPAN_SERVER)
			*ret_server = t->nodes[c].span;
}

static void add_way(struct detail *d, const char *what, int64_t ns, int64_t error_ns)
{
	char took[TIMEFMT_LEN], error[TIMEFMT_LEN];
	if (ns == TIME_UNKNOWN)
		add(d, "  %8s  %s: how far the hosts' clocks are apart is not known", "-", what);
	else if (error_ns)
		add(d, "  %8s  %s, +-%s, as the hosts' clocks are known to it", timefmt_duration(took, ns),
		    what, timefmt_duration(error, error_ns));
	else
		add(d, "  %8s  %s", timefmt_duration(took, ns), what);
}

/* What the thread that took the message, or was late, did meanwhile. */
static void add_way_of(struct detail *d, const struct span_link *l)
{
	char ran[TIMEFMT_LEN], runnable[TIMEFMT_LEN], blocked[TIMEFMT_LEN];
	g_autofree char *behind = l->cpu_holder == ID_NONE ? NULL : thread_label_new(d->tl, l->cpu_holder, l->in_ns);
	if (l->ran_ns || l->runnable_ns || l->blocked_ns)
		add(d, "  %9s  its thread meanwhile ran %s, waited for a CPU %s%s%s, was blocked %s", "",
		    timefmt_duration(ran, l->ran_ns), timefmt_duration(runnable, l->runnable_ns),
		    behind ? " behind " : "", behind ? behind : "", timefmt_duration(blocked, l->blocked_ns));
}

/* The messages that it took. */
static void add_links(struct detail *d)
{
	const struct span *s = d->s;
	char at[TIMEFMT_LEN], took[TIMEFMT_LEN];
	if (s->n_links)
		heading(d, "Links: messages that it took");
	for (uint32_t i = 0; i < s->n_links; i++) {
		const struct span_link *l = &s->links[i];
		g_autofree char *label = span_link_label(d->tl, l);
		add(d, "  %9s  %s from %s, after %s%s", since(at, d, l->in_ns), l->name, label,
		    timefmt_duration(took, l->in_ns - l->out_ns), l->unsure ? "; events were lost meanwhile, so "
		    "another span may have sent it" : "");
		add(d, "  %9s  trace %016" G_GINT64_MODIFIER "x  span %016" G_GINT64_MODIFIER "x%s", "", l->trace_id,
		    l->span_id, l->span_id == s->parent_id ? ", its parent" : "");
		add_way_of(d, l);
	}
}

static void add_late(struct detail *d)
{
	const struct span_link *l = span_late(d->s);
	char late[TIMEFMT_LEN], every[TIMEFMT_LEN];
	if (!l)
		return;
	heading(d, "Late");
	add(d, "  %9s  later than %s after the one before it began", timefmt_duration(late, l->in_ns - l->out_ns),
	    timefmt_duration(every, l->every_ns));
	add_way_of(d, l);
}

/* Network time between a client and the server that answers it. */
static void add_gap(struct detail *d, const struct waterfall_row *row)
{
	const struct span *client, *server;
	char took[TIMEFMT_LEN];
	find_pair(d->w->tree, row->index, &client, &server);
	if (!client || !server || client->kind != SPAN_CLIENT || client->state == SPAN_OPEN ||
	    server->state == SPAN_OPEN)
		return;
	g_autoptr(blk_clocks) k = clocks_new(d->tl);
	struct clock_gap gap = clocks_gap(k, client, server);
	heading(d, "Network gap, client to server and back");
	add(d, "  %8s  both ways: the client's time less the server's",
	    timefmt_duration(took, gap.total_ns));
	add_way(d, "there", gap.there_ns, gap.error_ns);
	add_way(d, "back", gap.back_ns, gap.error_ns);
}

static void add_explanation(struct detail *d, const struct waterfall_row *row)
{
	struct why why;
	why_find(d->w->history, d->w->tree, row->index, &why);
	g_autofree char *text = why_sentence(d->w->history, d->w->tree, row->index, &why);
	heading(d, "Why");
	add(d, "  %s", text ? text : "within the usual of its operation");
}

static int compare_parts(const void *va, const void *vb, void *data)
{
	const int64_t *part = data;
	int a = *(const int *)va, b = *(const int *)vb;
	return ORDER(part[b], part[a]) ?: a - b;
}

static void add_parts(struct detail *d)
{
	const struct span *s = d->s;
	int order[PART_N];
	char buf[TIMEFMT_LEN];
	for (int p = 0; p < PART_N; p++)
		order[p] = p;
	sort_array(order, PART_N, sizeof(*order), compare_parts, (void *)s->part);
	heading(d, "Its time");
	for (int i = 0; i < PART_N; i++)
		if (s->part[order[i]] > 0 || order[i] == PART_UNKNOWN)
			add(d, "  %8s %5.1f%%  %-10s%s", timefmt_duration(buf, s->part[order[i]]),
			    span_duration(s) > 0 ? 100.0 * s->part[order[i]] / span_duration(s) : 0.0,
			    part_info[order[i]].id, part_info[order[i]].help);
}

/* Processes that ran on the CPU while the thread waited for it. */
static void add_cpu_holders(struct detail *d)
{
	g_autoptr(GArray) rows = neighbours_of(d->tl, d->s);
	int64_t all = part_sum_runnable(d->s->part);
	char buf[TIMEFMT_LEN];
	if (rows->len)
		heading(d, "Runnable behind");
	ARRAY_EACH(const struct neighbour_row, r, rows)
		add(d, "  %8s %5.1f%%  %s", timefmt_duration(buf, r->ns), 100.0 * r->ns / all, r->label);
}

#define PATH_SHARE 200		/* of the span: shorter segments are summed */

/* "decode", or "thumbnail 1e9873c2" in another trace. */
static char *name_of_span(const struct path_segment *p)
{
	if (!p->span)
		return g_strdup("-");
	const char *name = p->span->name;
	return p->node >= 0 ? g_strdup(name) :
		g_strdup_printf("%s %08x", name, value_short_id(p->span->trace_id));
}

/* The thread, or for imported spans without threads the service. */
static char *label_of(const struct detail *d, const struct path_segment *p)
{
	if (p->thread != ID_NONE)
		return thread_label_new(d->tl, p->thread, p->end_ns);
	return g_strdup(p->span ? p->span->service : "-");
}

static void add_path(struct detail *d, const struct waterfall_row *row)
{
	g_autoptr(GArray) path = path_of(d->w->history, d->w->tree, row->index);
	char at[TIMEFMT_LEN], took[TIMEFMT_LEN];
	int64_t rest = 0;
	guint more = 0;
	if (path->len)
		heading(d, "Critical path       thread               span       what it did");
	ARRAY_EACH(const struct path_segment, p, path) {
		int64_t ns = p->end_ns - p->begin_ns;
		if (ns * PATH_SHARE < span_duration(d->s)) {
			rest += ns;
			more++;
			continue;
		}
		g_autofree char *label = label_of(d, p);
		g_autofree char *text = path_words(d->tl, p), *name = name_of_span(p);
		add(d, "  %9s %7s %*s%-*s %-10s %s", since(at, d, p->begin_ns), timefmt_duration(took, ns),
		    (int)MIN(p->depth, 4), "", (int)(20 - MIN(p->depth, 4)), label, name, text);
	}
	if (more)
		add(d, "  %9s %7s in %u shorter piece%s", "", timefmt_duration(took, rest), more,
		    more == 1 ? "" : "s");
}

/* Threads of the span by its annotations. Between annotations of two threads it was handed over. */
static void add_segments(struct detail *d)
{
	const struct span *s = d->s;
	char at[TIMEFMT_LEN], took[TIMEFMT_LEN];
	uint32_t i = 0;
	heading(d, "On threads");
	while (i < s->n_annotations) {
		uint32_t thread = s->annotations[i].thread, last = i;
		while (last + 1 < s->n_annotations && s->annotations[last + 1].thread == thread)
			last++;
		bool is_last = last + 1 == s->n_annotations;
		int64_t from = i ? s->annotations[i].ts : s->begin_ns;
		int64_t to = is_last ? s->end_ns : s->annotations[last].ts;
		g_autofree char *label = thread_label_new(d->tl, thread, to);
		add(d, "  %9s %8s  %s", since(at, d, from), timefmt_duration(took, MAX(to - from, 0)),
		    label);
		if (!is_last)
			add(d, "  %9s %8s  handed over", since(at, d, to),
			    timefmt_duration(took, s->annotations[last + 1].ts - to));
		i = last + 1;
	}
	if (!s->n_annotations) {
		g_autofree char *label = thread_label_new(d->tl, s->thread, s->end_ns);
		add(d, "  %9s %8s  %s", since(at, d, s->begin_ns),
		    timefmt_duration(took, span_duration(s)), label);
	}
}

static void add_annotations(struct detail *d)
{
	const struct span *s = d->s;
	char at[TIMEFMT_LEN];
	if (s->n_annotations)
		heading(d, "Annotations");
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		const struct span_annotation *a = &s->annotations[i];
		g_autofree char *label = thread_label_new(d->tl, a->thread, a->ts);
		g_autofree char *text = span_annotation_text(a);
		add(d, "  %9s  %-16s %s", since(at, d, a->ts), text, label);
	}
	if (s->n_tags)
		heading(d, "Tags");
	for (uint32_t i = 0; i < s->n_tags; i++)
		add(d, "  %9s  %s = %s", since(at, d, s->tags[i].ts),
		    s->tags[i].key, s->tags[i].val);
}

static const char *file_of(const struct detail *d, uint32_t file)
{
	const struct file_info *f = timeline_file(d->tl, file);
	return f ? timeline_string(d->tl, f->path) : "";
}

static void add_calls(struct detail *d)
{
	const struct span *s = d->s;
	char at[TIMEFMT_LEN], took[TIMEFMT_LEN], max[TIMEFMT_LEN];
	heading(d, "System calls, by name                             file of the longest");
	for (uint32_t i = 0; i < s->n_calls; i++)
		add(d, "  %6ux %8s  longest %8s  %-16s %s", s->calls[i].count,
		    timefmt_duration(took, s->calls[i].total_ns),
		    timefmt_duration(max, s->calls[i].max_ns), timeline_string(d->tl, s->calls[i].name),
		    file_of(d, s->calls[i].file));
	if (!s->n_calls)
		add(d, "  none known: those inside of its children are theirs");
	if (s->n_slow)
		heading(d, "System calls, one by one");
	for (uint32_t i = 0; i < s->n_slow; i++)
		add(d, "  %9s %8s  %-16s = %-8" G_GINT64_FORMAT " %s", since(at, d, s->slow[i].begin_ns),
		    timefmt_duration(took, s->slow[i].duration_ns),
		    timeline_string(d->tl, s->slow[i].name), s->slow[i].ret, file_of(d, s->slow[i].file));
	if (s->n_slow_more)
		add(d, "  and %u shorter ones", s->n_slow_more);
}

/* Copies the waits and the typical duration from waterfall_detail(). */
static void add_waits(struct detail *d, const struct rows *rows, const struct waterfall_row *row)
{
	g_autoptr(GPtrArray) lines = waterfall_detail(rows, row, 200);
	if (d->s->n_waits)
		heading(d, "Off the CPU, since it began");
	for (guint i = 1; i < lines->len; i++) {	/* the first line repeats the parts */
		const char *line = lines->pdata[i];
		if (g_str_has_prefix(line, "usual "))
			heading(d, "Others");
		if (!g_str_has_prefix(line, "calls:") && !g_str_has_prefix(line, "tags:"))
			add(d, "  %s", line);
	}
}

GPtrArray *span_detail(const struct rows *rows, const struct waterfall_row *row)
{
	struct detail d = { .lines = g_ptr_array_new_with_free_func(g_free), .tl = rows->tl,
			    .w = waterfall_of(rows), .s = row->span };
	add_ids(&d);
	add_times(&d);
	add_explanation(&d, row);
	add_parts(&d);
	add_path(&d, row);
	add_cpu_holders(&d);
	add_gap(&d, row);
	add_links(&d);
	add_late(&d);
	add_waits(&d, rows, row);
	add_segments(&d);
	add_annotations(&d);
	add_calls(&d);
	return d.lines;
}
