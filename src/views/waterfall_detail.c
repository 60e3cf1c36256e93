/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draws the bars of the waterfall cell by cell, and writes the lines that explain one span.
 */
#include "base/sort.h"
#include "base/timefmt.h"
#include "state/store/severity.h"
#include "views/waterfall.h"
#include "views/why.h"

#include <string.h>

/* --- bars --- */

#define FINE 8			/* finer cells for each cell; the most frequent letter is shown */
#define CHILD '='

struct fine_paint {
	int64_t from_ns, to_ns;
	size_t n;
	char *fine;
};

/* Sets the fine cells whose middle is in [from, to). */
static void paint_interval(struct fine_paint *p, int64_t from, int64_t to, char letter)
{
	double scale = (double)p->n / (p->to_ns - p->from_ns);
	double first = (from - p->from_ns) * scale + 0.5, end = (to - p->from_ns) * scale + 0.5;
	size_t i = first < 0 ? 0 : (size_t)first;
	size_t last = end < 0 ? 0 : MIN((size_t)end, p->n);
	for (; i < last; i++)
		p->fine[i] = letter;
}

/* What the thread did outside of retained waits and calls: the largest part without them. */
static char rest_letter(const struct span *s)
{
	int64_t rest[PART_N], in_calls = 0;
	memcpy(rest, s->part, sizeof(rest));
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *w = &s->waits[i];
		rest[w->part] -= wait_blocked(w);
		if (w->part != PART_PREEMPTED)
			rest[PART_WAKEUP] -= w->end_ns - w->wake_ns;
		if (w->call)
			in_calls -= w->end_ns - w->begin_ns;
	}
	for (uint32_t i = 0; i < s->n_slow; i++)
		in_calls += s->slow[i].duration_ns;
	rest[PART_SYSCALL] -= MAX(in_calls, 0);
	enum part most = span_duration(s) > 0 ? PART_USER : PART_UNKNOWN;
	for (int p = 0; p < PART_N; p++)
		if (rest[p] > rest[most])
			most = p;
	return part_info[most].letter;
}

static void paint_waits(struct fine_paint *p, const struct span *s)
{
	for (uint32_t i = 0; i < s->n_slow; i++)
		paint_interval(p, s->slow[i].begin_ns, s->slow[i].begin_ns + s->slow[i].duration_ns,
			       part_info[PART_SYSCALL].letter);
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *w = &s->waits[i];
		bool preempted = w->part == PART_PREEMPTED;
		paint_interval(p, w->begin_ns, preempted ? w->end_ns : w->wake_ns,
			       part_info[w->part].letter);
		if (!preempted)
			paint_interval(p, w->wake_ns, w->end_ns, part_info[PART_WAKEUP].letter);
	}
}

/* In a folded row, waits of its thread's spans below it are drawn. Otherwise '=' marks its children on the same
 * thread. If the row's thread is unknown (imported spans), children of all threads are marked. */
static void paint_below(struct fine_paint *p, const struct waterfall *w,
			const struct waterfall_row *row)
{
	const struct tree_node *nodes = w->tree->nodes;
	int end = row->folded ? tree_end(w->tree, row->index) : 0;
	for (int i = row->index + 1; i < end; i++)
		if (tree_same_thread(row->span, nodes[i].span))
			paint_waits(p, nodes[i].span);
	for (int c = row->folded ? -1 : nodes[row->index].first_child; c >= 0; c = nodes[c].next) {
		const struct span *child = nodes[c].span;
		if (row->span->thread == ID_NONE || tree_same_thread(row->span, child))
			paint_interval(p, child->begin_ns, child->end_ns, CHILD);
	}
}

static char most_frequent(const char *fine)
{
	char best = ' ';
	int most = 0;
	for (int i = 0; i < FINE; i++) {
		int n = 0;
		for (int k = 0; k < FINE; k++)
			n += fine[k] == fine[i];
		if (fine[i] != ' ' && n > most) {
			most = n;
			best = fine[i];
		}
	}
	return best;
}

void waterfall_strip(const struct rows *rows, const struct waterfall_row *row,
		     int64_t from_ns, int64_t to_ns, unsigned n, char *cells)
{
	const struct span *s = row->span;
	const struct waterfall *w = waterfall_of(rows);
	if (!n)
		return;
	memset(cells, ' ', n);
	if (to_ns <= from_ns || s->begin_ns >= to_ns || s->end_ns < from_ns)
		return;
	struct fine_paint p = { .from_ns = from_ns, .to_ns = to_ns, .n = (size_t)n * FINE };
	g_autofree char *fine = g_malloc(p.n);
	p.fine = fine;
	memset(fine, ' ', p.n);
	char rest = rest_letter(s);
	paint_interval(&p, s->begin_ns, s->end_ns, rest);
	paint_waits(&p, s);
	if (w)
		paint_below(&p, w, row);
	/* A half may slightly exceed its span, but waits are inside of it. */
	paint_interval(&p, from_ns, MIN(s->begin_ns, to_ns), ' ');
	paint_interval(&p, MAX(s->end_ns, from_ns), to_ns, ' ');
	for (unsigned i = 0; i < n; i++)
		cells[i] = most_frequent(fine + (size_t)i * FINE);
	size_t first = s->begin_ns <= from_ns ? 0 :
		(size_t)((double)(s->begin_ns - from_ns) * n / (to_ns - from_ns));
	if (s->begin_ns >= from_ns && first < n && cells[first] == ' ') {
		int64_t ns;
		enum part most = part_largest(s->part, &ns, NULL);
		cells[first] = ns > 0 ? part_info[most].letter : rest;
	}
}

/* --- lines --- */

static void add_line(GPtrArray *lines, unsigned max, GString *text)
{
	if (lines->len < max)
		g_ptr_array_add(lines, g_string_free(text, FALSE));
	else
		g_string_free(text, TRUE);
}

static int compare_parts(const void *va, const void *vb, void *data)
{
	const int64_t *part = data;
	int a = *(const int *)va, b = *(const int *)vb;
	return ORDER(part[b], part[a]) ?: a - b;
}

/* "lock  thumbd-w2/256 cpu0  54.7ms = futex 53.2ms + wakeup 1.4ms + ... + unknown 0" */
static GString *line_of_parts(const struct timeline *tl, const struct span *s)
{
	GString *text = g_string_new(NULL);
	g_autofree char *label = s->thread == ID_NONE ? g_strdup(s->service) :
				 thread_label_new(tl, s->thread, s->end_ns);
	const struct span_wait *w = why_longest_wait(s, PART_N);
	char buf[TIMEFMT_LEN];
	int order[PART_N];
	for (int p = 0; p < PART_N; p++)
		order[p] = p;
	sort_array(order, PART_N, sizeof(*order), compare_parts, (void *)s->part);
	g_string_append_printf(text, "%s  %s", s->name, label);
	if (w && w->cpu != SPAN_NO_CPU)
		g_string_append_printf(text, " cpu%u", w->cpu);
	g_string_append_printf(text, "  %s =", timefmt_duration(buf, span_duration(s)));
	for (int i = 0; i < PART_N; i++)
		if (order[i] != PART_UNKNOWN && s->part[order[i]] > 0)
			g_string_append_printf(text, " %s %s +", part_info[order[i]].id,
					       timefmt_duration(buf, s->part[order[i]]));
	g_string_append_printf(text, " unknown %s", timefmt_duration(buf, s->part[PART_UNKNOWN]));
	return text;
}

/* "futex(0x55efb1a37580)", "read(/srv/images/image-01)", "page fault" */
static void append_call(GString *text, const struct timeline *tl, const struct span_wait *w)
{
	const char *call = timeline_string(tl, w->call);
	const struct file_info *f = timeline_file(tl, w->file);
	if (w->part == PART_PREEMPTED) {
		g_string_append(text, part_info[w->part].id);
		return;
	}
	g_string_append(text, *call ? call : part_info[w->part].id);
	if (f)
		g_string_append_printf(text, "(%s)", timeline_string(tl, f->path));
	else if (w->arg && *call)
		g_string_append_printf(text, "(0x%" G_GINT64_MODIFIER "x)", w->arg);
	g_string_append_printf(text, "  blocked on %s", part_info[w->part].id);
}

static GString *line_at(const struct span *s, int64_t at)
{
	GString *text = g_string_new(NULL);
	char buf[TIMEFMT_LEN];
	g_string_printf(text, "%8s ", timefmt_duration(buf, MAX(at - s->begin_ns, 0)));
	return text;
}

static GString *line_of_waker(const struct timeline *tl, const struct span *s,
			      const struct span_wait *w)
{
	GString *text = line_at(s, w->wake_ns);
	const char *irq = timeline_string(tl, w->waker_irq);
	const char *call = timeline_string(tl, w->waker_call);
	if (w->waker != ID_NONE) {
		g_autofree char *label = thread_label_new(tl, w->waker, w->wake_ns);
		g_string_append_printf(text, "woken by %s", label);
		if (*call)
			g_string_append_printf(text, ", just out of %s", call);
	} else if (w->part == PART_TIMER) {
		g_string_append(text, "its time is over");
	} else if (*irq) {
		g_string_append_printf(text, "woken by %s", irq);
	} else {
		g_string_append(text, "woken; by which thread is unknown");
	}
	return text;
}

static void add_wait(GPtrArray *lines, unsigned max, const struct timeline *tl,
		     const struct span *s, const struct span_wait *w)
{
	GString *text = line_at(s, w->begin_ns);
	append_call(text, tl, w);
	add_line(lines, max, text);
	bool still = s->state == SPAN_OPEN && w->end_ns >= s->end_ns;
	if (still) {
		text = line_at(s, w->end_ns);
		g_string_append(text, w->lock ? "still waits, holder ?" : "still waits");
		add_line(lines, max, text);
		return;
	}
	if (w->part != PART_PREEMPTED && w->wake_ns < w->end_ns)
		add_line(lines, max, line_of_waker(tl, s, w));
	text = line_at(s, w->end_ns);
	if (w->cpu != SPAN_NO_CPU)
		g_string_append_printf(text, "runs on cpu%u", w->cpu);
	else
		g_string_append(text, "runs");
	add_line(lines, max, text);
}

static int compare_longest(const void *va, const void *vb)
{
	const struct span_wait *a = *(const struct span_wait *const *)va;
	const struct span_wait *b = *(const struct span_wait *const *)vb;
	int64_t da = a->end_ns - a->begin_ns, db = b->end_ns - b->begin_ns;
	return ORDER(db, da) ?: ORDER(a->begin_ns, b->begin_ns);
}

static int compare_begin(const void *va, const void *vb)
{
	const struct span_wait *a = *(const struct span_wait *const *)va;
	const struct span_wait *b = *(const struct span_wait *const *)vb;
	return ORDER(a->begin_ns, b->begin_ns);
}

/* The longest waits, three lines each, by time. */
static void add_waits(GPtrArray *lines, unsigned max, const struct timeline *tl,
		      const struct span *s)
{
	guint n = max > lines->len + 1 ? (max - lines->len - 1) / 3 : 0;
	g_autoptr(GPtrArray) waits = g_ptr_array_new();
	for (uint32_t i = 0; i < s->n_waits; i++)
		g_ptr_array_add(waits, &s->waits[i]);
	g_ptr_array_sort(waits, compare_longest);
	g_ptr_array_set_size(waits, MIN(MAX(n, 1), waits->len));
	g_ptr_array_sort(waits, compare_begin);
	for (guint i = 0; i < waits->len; i++)
		add_wait(lines, max > 1 ? max - 1 : max, tl, s, waits->pdata[i]);
	guint more = s->n_waits + s->n_waits_more - waits->len;
	if (more && lines->len + 1 < max) {
		GString *text = g_string_new(NULL);
		g_string_printf(text, "%8s %u more %s off the CPU", "", more, more == 1 ? "time" : "times");
		add_line(lines, max, text);
	}
}

/* The typical duration, and how many other spans have a similar part: "usual lock 12us others with futex over
 * 26.6ms: 4 of 39". */
static GString *line_of_usual(const struct history *h, const struct span *s)
{
	GString *text = g_string_new(NULL);
	char buf[TIMEFMT_LEN];
	int64_t ns, usual = history_usual(h, s);
	enum part p = part_largest(s->part, &ns, NULL);
	unsigned same = 0, all = 0;
	for (size_t i = 0; i < timeline_n_spans(h->tl); i++) {
		const struct span *o = timeline_span(h->tl, i);
		if (o->name != s->name || o->service != s->service || o->kind != s->kind || o == s)
			continue;
		all++;
		same += o->part[p] > ns / 2;
	}
	g_string_append_printf(text, "usual %s %s", s->name,
			       usual < 0 ? "-" : timefmt_duration(buf, usual));
	if (ns > 0 && all)
		g_string_append_printf(text, "   others with %s over %s: %u of %u", part_info[p].id,
				       timefmt_duration(buf, ns / 2), same, all);
	return text;
}

/* Cached, because the screen requests the same row for every frame. */
static void add_usual(GPtrArray *lines, unsigned max, struct waterfall *w,
		      const struct waterfall_row *row)
{
	if (!w->usual_line || w->usual_row != row->index) {
		g_free(w->usual_line);
		w->usual_line = g_string_free(line_of_usual(w->history, row->span), FALSE);
		w->usual_row = row->index;
	}
	add_line(lines, max, g_string_new(w->usual_line));
}

static GString *line_of_calls(const struct timeline *tl, const struct span *s)
{
	GString *text = g_string_new("calls:");
	char buf[TIMEFMT_LEN];
	int64_t below = INT64_MAX;
	for (int shown = 0; shown < 4; shown++) {
		const struct span_call *most = NULL;
		for (uint32_t i = 0; i < s->n_calls; i++)
			if (s->calls[i].total_ns < below &&
			    (!most || s->calls[i].total_ns > most->total_ns))
				most = &s->calls[i];
		if (!most)
			break;
		below = most->total_ns;
		g_string_append_printf(text, "%s %s %ux %s", shown ? "," : "",
				       timeline_string(tl, most->name), most->count,
				       timefmt_duration(buf, most->total_ns));
	}
	return text;
}

static GString *line_of_tags(const struct span *s)
{
	GString *text = g_string_new("tags:");
	for (uint32_t i = 0; i < s->n_tags; i++)
		g_string_append_printf(text, " %s=%s", s->tags[i].key, s->tags[i].val);
	return text;
}

/* The first of the most severe annotations. NULL: none is at least a warning. */
static GString *line_of_severe(const struct span *s)
{
	uint8_t most = span_severity(s);
	uint32_t n = 0;
	const struct span_annotation *first = NULL;
	char at[TIMEFMT_LEN];
	if (most < SEVERITY_WARNING)
		return NULL;
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		first = !first && s->annotations[i].severity == most ? &s->annotations[i] : first;
		n += s->annotations[i].severity >= SEVERITY_WARNING;
	}
	GString *text = g_string_new(NULL);
	g_autofree char *said = span_annotation_text(first);
	g_string_printf(text, "%s  at %s", said, timefmt_duration(at, first->ts - s->begin_ns));
	if (n > 1)
		g_string_append_printf(text, ", of %u annotations with warnings or errors", n);
	return text;
}

GPtrArray *waterfall_detail(const struct rows *rows, const struct waterfall_row *row,
			    unsigned max_lines)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	const struct waterfall *w = waterfall_of(rows);
	const struct span *s = row->span;
	GString *severe = line_of_severe(s);
	add_line(lines, max_lines, line_of_parts(rows->tl, s));
	if (severe)
		add_line(lines, max_lines, severe);
	add_waits(lines, max_lines, rows->tl, s);
	if (w && w->history)
		add_usual(lines, max_lines, (struct waterfall *)w, row);
	if (s->n_calls)
		add_line(lines, max_lines, line_of_calls(rows->tl, s));
	if (s->n_tags)
		add_line(lines, max_lines, line_of_tags(s));
	return lines;
}

/* --- the waker --- */

/* The longest of the span's own waits. If it never waited, the wait of the span below it that its explanation
 * blames. */
static const struct span_wait *wait_of_row(const struct waterfall *w,
					   const struct waterfall_row *row)
{
	const struct span_wait *wait = why_longest_wait(row->span, PART_N);
	struct why why;
	if (wait || !w || !w->history)
		return wait;
	why_find(w->history, w->tree, row->index, &why);
	return why.n ? why.cause[0].wait : NULL;
}

static const char *reason_against(const struct timeline *tl, const struct span *s,
				  const struct span_wait *wait)
{
	if (!wait)
		return s->part[PART_UNKNOWN] == span_duration(s) ?
			"the trace does not show what its thread did" : "it never waited";
	if (wait->part == PART_PREEMPTED)
		return "it was preempted, and did not need a wakeup";
	if (wait->waker != ID_NONE)
		return NULL;
	if (s->state == SPAN_OPEN && wait->wake_ns >= s->end_ns)
		return "it still waits for a wakeup";
	if (wait->part == PART_TIMER)
		return "it slept: the clock woke it";
	return *timeline_string(tl, wait->waker_irq) ? "an interrupt woke it" :
		"its wakeup is not in the trace";
}

bool waterfall_waker(struct rows *rows, const struct waterfall_row *row,
		     struct waterfall_waker *ret, const char **ret_reason)
{
	const struct waterfall *w = waterfall_of(rows);
	const struct span_wait *wait = wait_of_row(w, row);
	*ret = (struct waterfall_waker){ .thread = ID_NONE, .span_kind = -1 };
	*ret_reason = reason_against(rows->tl, row->span, wait);
	if (*ret_reason)
		return false;
	ret->thread = wait->waker;
	ret->at_ns = wait->wake_ns;
	const struct span *s = w ? history_span_at(w->history, wait->waker, wait->wake_ns - 1) : NULL;
	if (s) {
		ret->trace_id = s->trace_id;
		ret->span_id = s->span_id;
		ret->span_kind = s->kind;
	}
	char buf[TIMEFMT_LEN];
	g_autofree char *label = thread_label_new(rows->tl, ret->thread, ret->at_ns);
	ret->text = rows_take_text(rows, g_strdup_printf("%s at %s%s%s", label,
		timefmt_clock_ms(buf, ret->at_ns), s ? ", in " : "",
		s ? s->name : ""));
	return true;
}
