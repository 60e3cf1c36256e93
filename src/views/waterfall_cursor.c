/* SPDX-License-Identifier: GPL-2.0-only */
/* What a span's thread did at an instant, from its waits and calls: see waterfall.h. */
#include "views/waterfall.h"

#include "base/timefmt.h"
#include "views/why.h"

static bool is_within(const struct span *s, int64_t at)
{
	return s->begin_ns <= at && (at < s->end_ns || s->begin_ns == s->end_ns);
}

/* The innermost span below the row on the same thread that the instant is in; else the row's own span. */
static const struct span *innermost(const struct waterfall *w, const struct waterfall_row *row, int64_t at)
{
	const struct span *found = row->span;
	for (int i = row->index + 1; i < tree_end(w->tree, row->index); i++) {
		const struct span *s = w->tree->nodes[i].span;
		if (is_within(s, at) && tree_same_thread(row->span, s))
			found = s;
	}
	return found;
}

static const struct span_wait *wait_at(const struct span *s, int64_t at)
{
	for (uint32_t i = 0; i < s->n_waits; i++)
		if (s->waits[i].begin_ns <= at && at < s->waits[i].end_ns)
			return &s->waits[i];
	return NULL;
}

/* The CPU of the instant: where the thread ran again after its last wait before. */
static uint16_t cpu_before(const struct span *s, int64_t at)
{
	uint16_t cpu = SPAN_NO_CPU;
	int64_t last = INT64_MIN;
	for (uint32_t i = 0; i < s->n_waits; i++)
		if (s->waits[i].end_ns <= at && s->waits[i].end_ns > last) {
			last = s->waits[i].end_ns;
			cpu = s->waits[i].cpu;
		}
	return s->n_waits_more ? SPAN_NO_CPU : cpu;
}

static const struct span_slow_call *call_at(const struct span *s, int64_t at)
{
	for (uint32_t i = 0; i < s->n_slow; i++)
		if (s->slow[i].begin_ns <= at && at < s->slow[i].begin_ns + s->slow[i].duration_ns)
			return &s->slow[i];
	return NULL;
}

static void append_call(GString *text, const struct timeline *tl, uint32_t name, const char *object)
{
	const char *call = timeline_string(tl, name);
	if (*call)
		g_string_append_printf(text, ", in %s(%s)", call, object ? object : "");
	else if (object)
		g_string_append_printf(text, ", on %s", object);
}

static void append_waker(GString *text, const struct timeline *tl, const struct span_wait *w)
{
	const char *irq = timeline_string(tl, w->waker_irq);
	char buf[TIMEFMT_LEN];
	if (w->part == PART_PREEMPTED)
		return;
	if (w->waker != ID_NONE) {
		g_autofree char *label = thread_label_new(tl, w->waker, w->wake_ns);
		g_string_append_printf(text, ", woken by %s", label);
	} else if (*irq) {
		g_string_append_printf(text, ", woken by %s", irq);
	} else {
		return;
	}
	g_string_append_printf(text, " after %s", timefmt_duration(buf, w->wake_ns - w->begin_ns));
}

static void append_wait(GString *text, const struct timeline *tl, const struct span *s, const struct span_wait *w,
			int64_t at)
{
	bool woken = w->part != PART_PREEMPTED && w->wake_ns <= at;
	bool open = s->state == SPAN_OPEN && w->end_ns >= s->end_ns;
	int64_t begin = woken ? w->wake_ns : w->begin_ns;
	int64_t end = woken || w->part == PART_PREEMPTED ? w->end_ns : w->wake_ns;
	char so_far[TIMEFMT_LEN], all[TIMEFMT_LEN];
	g_string_append_printf(text, "%s for %s of %s%s", part_info[woken ? PART_WAKEUP : w->part].id,
			       timefmt_duration(so_far, at - begin), timefmt_duration(all, end - begin),
			       open ? ", still" : "");
	append_call(text, tl, w->call, wait_object(tl, w));
	if (!open)
		append_waker(text, tl, w);
	if (w->cpu != SPAN_NO_CPU && !open)
		g_string_append_printf(text, ", then on CPU%u", w->cpu);
}

static void append_running(GString *text, const struct timeline *tl, const struct span *s, int64_t at)
{
	const struct span_slow_call *call = call_at(s, at);
	const struct file_info *file = call ? timeline_file(tl, call->file) : NULL;
	uint16_t cpu = cpu_before(s, at);
	if (span_duration(s) > 0 && s->part[PART_UNKNOWN] >= span_duration(s)) {
		g_string_append(text, "what its thread did is not known");
		return;
	}
	g_string_append(text, s->n_waits_more ? "running, or in one of its short waits" : "running");
	if (call)
		append_call(text, tl, call->name, file ? timeline_string(tl, file->path) : NULL);
	if (cpu != SPAN_NO_CPU)
		g_string_append_printf(text, ", on CPU%u", cpu);
}

/* What the span last said in a log. */
static void append_note(GString *text, const struct span *s, int64_t at)
{
	const struct span_annotation *last = NULL;
	char buf[TIMEFMT_LEN];
	for (uint32_t i = 0; i < s->n_annotations && s->annotations[i].ts <= at; i++)
		last = s->annotations[i].is_note ? &s->annotations[i] : last;
	if (!last)
		return;
	g_autofree char *said = span_annotation_text(last);
	g_string_append_printf(text, "; %s after \"%s\"", timefmt_duration(buf, at - last->ts), said);
}

char *waterfall_instant(const struct rows *rows, const struct waterfall_row *row, int64_t at)
{
	const struct waterfall *w = waterfall_of(rows);
	const struct timeline *tl = rows->tl;
	const struct span *s = innermost(w, row, at);
	const struct span_wait *wait = wait_at(s, at);
	GString *text = g_string_new(NULL);
	char buf[TIMEFMT_LEN];

	g_string_append_printf(text, "cursor %s%s  ", at < w->begin_ns ? "-" : "+",
			       timefmt_duration(buf, ABS(at - w->begin_ns)));
	if (!is_within(row->span, at)) {
		g_string_append_printf(text, "%s %s", row->span->name,
				       at < row->span->begin_ns ? "has not begun" : "has ended");
		return g_string_free(text, FALSE);
	}
	g_autofree char *label = s->thread == ID_NONE ? g_strdup(s->service) : thread_label_new(tl, s->thread, at);
	g_string_append(text, label);
	if (s != row->span)
		g_string_append_printf(text, " in %s", s->name);
	g_string_append(text, ": ");
	if (wait)
		append_wait(text, tl, s, wait, at);
	else
		append_running(text, tl, s, at);
	append_note(text, s, at);
	return g_string_free(text, FALSE);
}

/* ---- wakers ---- */

/* Prepends a waker to the chain, unless it is there already as the first. */
static void prepend(GString *text, const char *label)
{
	if (g_str_has_prefix(text->str, label))
		return;
	if (text->len)
		g_string_prepend(text, " > ");
	g_string_prepend(text, label);
}

char *waterfall_wakers(const struct rows *rows, const struct waterfall_row *row)
{
	const struct timeline *tl = rows->tl;
	const struct span *s = row->span;
	const struct span_wait *w = why_longest_wait(s, PART_N);
	GString *text = g_string_new(NULL);

	if (!w || w->part == PART_PREEMPTED || (w->part == PART_TIMER && w->waker == ID_NONE))
		return g_string_free(text, TRUE);
	if (w->waker != ID_NONE) {
		g_autofree char *label = thread_label_new(tl, w->waker, w->wake_ns);
		prepend(text, label);
	} else if (*timeline_string(tl, w->waker_irq)) {
		prepend(text, timeline_string(tl, w->waker_irq));
	}
	/* The last link of each depth: who woke the one before. */
	for (unsigned depth = 1; text->len; depth++) {
		const struct chain_link *last = NULL;
		for (uint32_t i = 0; i < s->n_chain; i++)
			if (s->chain[i].depth == depth && s->chain[i].begin_ns >= w->begin_ns &&
			    s->chain[i].end_ns <= w->end_ns)
				last = &s->chain[i];
		if (!last)
			break;
		if (*timeline_string(tl, last->waker_irq))
			prepend(text, timeline_string(tl, last->waker_irq));
		if (last->waker == ID_NONE)
			continue;
		g_autofree char *label = thread_label_new(tl, last->waker, last->end_ns);
		prepend(text, label);
	}
	if (!text->len)
		return g_string_free(text, TRUE);
	g_string_prepend(text, "woken by ");
	return g_string_free(text, FALSE);
}
