/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace while it is being read: see extent.h.
 */
#include "views/extent.h"

#include "base/each.h"
#include "base/timefmt.h"
#include "views/strip.h"
#include "views/view.h"

#include <string.h>

bool extent_is_whole(const struct extent *e)
{
	return !e->outline || e->final_to_ns >= e->outline->to_ns;
}

/* The interval that main retains, [*ret_from, *ret_to): without time that is not read yet or was dropped. */
static bool retained(const struct extent *e, int64_t *ret_from, int64_t *ret_to)
{
	int64_t first, last;
	*ret_from = INT64_MIN;
	*ret_to = e->final_to_ns;
	if (timeline_coverage(e->main, &first, &last) && timeline_retained_from(e->main) > first)
		*ret_from = timeline_retained_from(e->main);
	return *ret_from < *ret_to;
}

static bool overlap(int64_t a_from, int64_t a_to, int64_t b_from, int64_t b_to)
{
	return a_from < b_to && b_from < a_to;
}

/* The quality of the preview, for a range that it overlaps. */
static enum cover_kind preview_kind(const struct extent *e)
{
	return e->window.exact ? COVER_EXACT : COVER_PROVISIONAL;
}

/* Does the preview overlap the range? *ret_all: does it hold all of it? */
static bool is_previewed(const struct extent *e, int64_t from, int64_t to, bool *ret_all)
{
	const struct decoded_range *w = &e->window;

	*ret_all = e->preview && w->from_ns <= from && w->to_ns >= to;
	return e->preview && overlap(from, to, w->from_ns, w->to_ns);
}

bool extent_is_folded(const struct timeline *main, int64_t from, int64_t to, int64_t *ret_from,
		      int64_t *ret_to)
{
	int64_t begin = from, end = to;
	if (from >= timeline_facts(main)->folded_until)
		return false;
	for (size_t i = timeline_find(main, from); i < timeline_n_seconds(main); i++) {
		const struct second *s = timeline_outline(main, i);
		if (s->begin_ns >= to)
			break;
		begin = s->fold_ns ? MIN(begin, s->begin_ns) : begin;
		end = s->fold_ns ? MAX(end, s->end_ns) : end;
	}
	if (ret_from)
		*ret_from = begin;
	if (ret_to)
		*ret_to = end;
	return begin < from || end > to;
}

struct cover extent_cover(const struct extent *e, int64_t from, int64_t to)
{
	int64_t main_from, main_to;
	bool all;
	if (!e->outline)
		return (struct cover){ COVER_READ, false };
	from = MAX(from, e->outline->from_ns);
	to = MIN(to, e->outline->to_ns);
	if (from >= to)
		return (struct cover){ COVER_READ, false };
	bool any = retained(e, &main_from, &main_to);
	if (extent_is_folded(e->main, from, to, NULL, NULL) && is_previewed(e, from, to, &all) && all)
		return (struct cover){ preview_kind(e), false };
	if (any && main_from <= from && main_to >= to)
		return (struct cover){ COVER_READ, false };
	bool previewed = is_previewed(e, from, to, &all);
	if (all)
		return (struct cover){ preview_kind(e), false };
	if (any && overlap(from, to, main_from, main_to))
		return (struct cover){ COVER_READ, true };
	return (struct cover){ previewed ? preview_kind(e) : COVER_UNREAD, true };
}

int64_t extent_fine_step(int64_t from, int64_t to)
{
	static const int64_t steps[] = { NS_PER_S / 10, NS_PER_S / 100, NS_PER_S / 1000 };
	if (from % NS_PER_S == 0 && to % NS_PER_S == 0)
		return 0;
	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
		if (from % steps[i] == 0 && to % steps[i] == 0)
			return steps[i];
	return 0;
}

struct cover extent_fine_cover(const struct extent *e, int64_t from, int64_t to, int64_t step_ns)
{
	bool all;
	if (!e->outline || MAX(from, e->outline->from_ns) >= MIN(to, e->outline->to_ns))
		return (struct cover){ COVER_READ, false };
	/* Windows do not extend beyond the trace. */
	from = MAX(from, time_floor(e->outline->from_ns, step_ns));
	to = MIN(to, time_floor(e->outline->to_ns - 1, step_ns) + step_ns);
	bool previewed = is_previewed(e, from, to, &all) && e->window.step_ns == step_ns;
	return (struct cover){ previewed ? preview_kind(e) : COVER_UNREAD, !(previewed && all) };
}

bool extent_is_less(const struct extent *e, int64_t from, int64_t to, bool with_spans)
{
	int64_t main_from, main_to;

	retained(e, &main_from, &main_to);
	return from < main_from || extent_is_folded(e->main, from, to, NULL, NULL) ||
	       (with_spans && from < timeline_facts(e->main)->requests_from);
}

struct cover extent_retained_cover(const struct extent *e, int64_t from, int64_t to, int64_t step_ns,
			       bool with_spans)
{
	bool all, previewed = is_previewed(e, from, to, &all);
	if (step_ns) {
		previewed = previewed && e->window.step_ns == step_ns;
		return (struct cover){ previewed ? preview_kind(e) : COVER_UNREAD, !(previewed && all) };
	}
	if (all && extent_is_less(e, from, to, with_spans))
		return (struct cover){ preview_kind(e), false };
	return (struct cover){ extent_is_dropped(e, from, to) ? COVER_UNREAD : COVER_READ, false };
}

bool extent_is_dropped(const struct extent *e, int64_t from, int64_t to)
{
	int64_t main_from, main_to;
	retained(e, &main_from, &main_to);
	return to <= main_from && from < e->final_to_ns;
}

bool extent_sum(const struct extent *e, int64_t from, int64_t to, struct extent_sum *ret)
{
	const struct outline *o = e->outline;
	*ret = (struct extent_sum){ 0 };
	if (!o || !o->n || from >= to || to <= o->begin_ns)
		return false;
	size_t first = from > o->begin_ns ? (size_t)((from - o->begin_ns) / o->step_ns) : 0;
	size_t last = (size_t)((to - 1 - o->begin_ns) / o->step_ns);
	if (first >= o->n)
		return false;
	last = MIN(last, o->n - 1);
	for (size_t i = first; i <= last; i++) {
		ret->bytes += o->cell[i].bytes;
		ret->lost_events += o->cell[i].lost_events;
		ret->lost_packets += o->cell[i].lost_packets;
	}
	ret->from_ns = MAX(o->begin_ns + (int64_t)first * o->step_ns, o->from_ns);
	ret->to_ns = MIN(o->begin_ns + (int64_t)(last + 1) * o->step_ns, o->to_ns);
	return true;
}

char *extent_counts_text(uint64_t n_events, uint64_t n_packets)
{
	char events[TIMEFMT_LEN], packets[TIMEFMT_LEN];

	timefmt_count(events, n_events);
	timefmt_count(packets, n_packets);
	if (n_events && n_packets)
		return g_strdup_printf("%s events, %s packets", events, packets);
	return n_events ? g_strdup_printf("%s events", events) :
		n_packets ? g_strdup_printf("%s packets", packets) : NULL;
}

char *extent_lost_text(const struct extent *e, int64_t from, int64_t to)
{
	struct extent_sum sum;

	return extent_sum(e, from, to, &sum) ? extent_counts_text(sum.lost_events, sum.lost_packets) : NULL;
}

/* --- the strip --- */

/* The least time that a rate divides by: a very short point at either end would be much higher than all others. */
#define SHORTEST_S 0.1

static void add_cells(struct extent_strip *s, const struct extent *e)
{
	const struct outline *o = e->outline;
	for (size_t i = 0; i < o->n; i++) {
		struct extent_point *p = &s->points[i];
		p->begin_ns = o->begin_ns + (int64_t)i * o->step_ns;
		p->end_ns = p->begin_ns + o->step_ns;
		graph_unknown(p->figure);
		p->cover = extent_cover(e, p->begin_ns, p->end_ns).kind;
		p->lost = o->cell[i].lost_events || o->cell[i].lost_packets;
		int64_t ns = MIN(p->end_ns, o->to_ns) - MAX(p->begin_ns, o->from_ns);
		p->bytes = (double)o->cell[i].bytes / MAX((double)ns / NS_PER_S, SHORTEST_S);
		p->gap = !o->cell[i].bytes;
		p->folded = p->begin_ns < timeline_facts(e->main)->folded_until &&
			    p->end_ns > timeline_retained_from(e->main);
		s->max_bytes = MAX(s->max_bytes, p->bytes);
	}
}

size_t extent_strip_find(const struct extent_strip *s, int64_t at)
{
	if (!s->n || at < s->points[0].begin_ns)
		return 0;
	int64_t step = s->points[0].end_ns - s->points[0].begin_ns;
	return MIN((size_t)((at - s->points[0].begin_ns) / step), s->n - 1);
}

/* Copies the values of seconds that were read. */
static void add_read(struct extent_strip *s, const struct strip *read)
{
	ARRAY_EACH(const struct strip_point, r, read->points) {
		struct extent_point *p = &s->points[extent_strip_find(s, r->begin_ns)];
		if (r->gap || p->cover != COVER_READ)
			continue;
		p->count += r->count;
		for (int g = 0; g < GRAPH_N; g++)
			p->figure[g] = MAX(p->figure[g], r->figure[g]);
		p->lost |= r->lost;
		p->corrected |= r->corrected;
		p->outlier |= r->outlier;
		p->folded |= r->folded;
		p->open |= r->open;
	}
}

/* Events a second in the second that begins there. */
static double event_rate(const struct timeline *tl, int64_t at)
{
	size_t i = timeline_find(tl, at);
	const struct second *s = i < timeline_n_seconds(tl) ? timeline_outline(tl, i) : NULL;
	uint64_t sum = 0;
	for (uint32_t k = 0; s && k < s->n_events; k++)
		sum += s->events[k].count;
	return s ? (double)sum / MAX(range_seconds(tl, s->begin_ns, s->end_ns), SHORTEST_S) : 0;
}

/* Without an outline, the strip ends where reading has arrived. */
static void add_seconds(struct extent_strip *s, const struct extent *e, const struct strip *read)
{
	s->n = read->points->len;
	s->points = g_new0(struct extent_point, s->n + 1);
	for (size_t i = 0; i < s->n; i++) {
		const struct strip_point *r = &g_array_index(read->points, struct strip_point, i);
		s->points[i] = (struct extent_point){
			.begin_ns = r->begin_ns, .end_ns = r->end_ns,
			.count = r->count, .lost = r->lost, .gap = r->gap, .outlier = r->outlier,
			.folded = r->folded, .open = r->open, .corrected = r->corrected, .cover = COVER_READ,
			.bytes = r->gap ? 0 : event_rate(e->main, r->begin_ns),
		};
		memcpy(s->points[i].figure, r->figure, sizeof r->figure);
		s->max_bytes = MAX(s->max_bytes, s->points[i].bytes);
	}
}

struct extent_strip *extent_strip_new(const struct extent *e)
{
	g_autoptr(blk_history) h = history_new(e->main);
	g_autoptr(blk_strip) read = strip_new(h);
	struct extent_strip *s = g_new0(struct extent_strip, 1);
	s->usual_ns = read->usual_ns;
	if (!e->outline) {
		add_seconds(s, e, read);
		return s;
	}
	s->n = e->outline->n;
	s->points = g_new0(struct extent_point, s->n + 1);
	add_cells(s, e);
	if (s->n)
		add_read(s, read);
	return s;
}

void extent_strip_free(struct extent_strip *s)
{
	if (!s)
		return;
	g_free(s->points);
	g_free(s);
}
