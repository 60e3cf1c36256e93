/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes windows of a trace: see window.h. */
#include "run/window.h"

#include "base/timefmt.h"
#include "state/publish/model.h"
#include "state/slice/slice.h"

#define WARM_UP_NS (NS_PER_S / 4)	/* read before a window, for the running threads, and after it, for
					 * the ends of requests: */
#define WARM_UP_BYTES (8 << 20)		/* most bytes of these */
#define SILENCE 16			/* if nothing was found, start this many times further back */
#define BEHIND_BYTES (32 << 20)
#define BUFFERS (8 << 20)

static uint64_t bytes_between(const struct window_reader *r, int64_t from, int64_t to)
{
	return r->pieces->ops->bytes_between(r->pieces->native, from, to);
}

static bool is_inside(const struct decoded_range *w, const struct second *s)
{
	return s->begin_ns >= w->from_ns && s->begin_ns < w->to_ns;
}

/* Removes what is outside of the window: it was read only for context. */
static void trim(struct publication *p, const struct decoded_range *w)
{
	struct completeness completeness = { 0 };
	uint64_t n_events = 0;

	for (guint i = p->seconds->len; i > 0; i--) {
		const struct second *s = g_ptr_array_index(p->seconds, i - 1);
		if (!is_inside(w, s)) {
			g_ptr_array_remove_index(p->seconds, i - 1);	/* unrefs it */
			continue;
		}
		completeness_add(&completeness, &s->completeness);
		completeness.touched = MAX(completeness.touched, s->completeness.touched);
		for (guint k = 0; k < s->n_events; k++)
			n_events += s->events[k].count;
	}
	p->first_ns = MAX(p->first_ns, w->from_ns);
	p->last_ns = MIN(p->last_ns, w->to_ns - 1);
	p->completeness = completeness;
	p->n_events = n_events;
}

/* False: obsolete, or too much. */
static bool read_all(const struct window_reader *r, struct slice *s, struct source *source,
		     bool *ret_too_much)
{
	struct blk_batch batch;
	bool obsolete, too_much = false;

	/* errors are ignored: the main pass meets and reports them, too */
	while (!(obsolete = r->obsolete(r->data)) && !too_much &&
	       source_next(source, &batch, NULL) == SOURCE_OK) {
		slice_feed(s, &source->tables, batch.ev, batch.n);
		too_much = r->most && slice_span_bytes(s) > r->most;
	}
	if (ret_too_much)
		*ret_too_much = too_much;
	return !obsolete && !too_much;
}

static struct publication *finish(const struct window_reader *r, const struct decoded_range *w,
				  struct slice *s, int64_t end)
{
	int64_t first, last;
	bool goes_on = pieces_bounds(r->pieces, &first, &last) && last > end;

	if (slice_first(s) == INT64_MAX)
		return publication_new();
	struct publication *p = goes_on ? slice_finish_at(s, end) : slice_finish(s);
	trim(p, w);
	return p;
}

/* Where reading after a window ends. */
static int64_t end_of(const struct window_reader *r, const struct decoded_range *w)
{
	int64_t end = w->to_ns + (w->exact ? WINDOW_BEHIND_NS : WARM_UP_NS);
	uint64_t most = w->exact ? BEHIND_BYTES : WARM_UP_BYTES;

	return bytes_between(r, w->to_ns, end) > most ? w->to_ns : end;
}

struct publication *window_read_from(const struct window_reader *r, const struct decoded_range *w,
				     int64_t begin, bool *ret_too_much)
{
	g_assert(w->step_ns > 0 && w->from_ns < w->to_ns && begin <= w->from_ns);
	int64_t end = end_of(r, w);
	struct source *source = r->pieces->ops->range(r->pieces->native, begin, end, BUFFERS);
	source_stop_by(source, r->stop);
	struct slice *s = pieces_begin_slice(r->pieces, source, true, w->step_ns);
	struct publication *p = NULL;

	slice_window(s, w->from_ns, w->to_ns);
	if (read_all(r, s, source, ret_too_much))
		p = finish(r, w, s, end);
	slice_free(s);
	source_free(source);
	return p;
}

/* How long before the window reading begins, ns; 0: that would be too much. */
static int64_t warm_up(const struct window_reader *r, const struct decoded_range *w, int64_t back)
{
	bool too_much = bytes_between(r, w->from_ns - back, w->from_ns) > WARM_UP_BYTES;

	return too_much ? 0 : back;
}

static struct timeline *read_timeline(const struct window_reader *r, const struct decoded_range *w,
				      int64_t begin, bool *ret_too_much)
{
	struct publication *p = window_read_from(r, w, begin, ret_too_much);
	struct timeline *tl = p ? timeline_new(0) : NULL;

	if (tl)
		timeline_apply(tl, p);
	return tl;
}

struct timeline *window_read(const struct window_reader *r, const struct decoded_range *w,
			     bool *ret_too_much)
{
	int64_t first = INT64_MIN, end, back = warm_up(r, w, WARM_UP_NS);

	if (w->exact)
		return read_timeline(r, w, INT64_MIN, ret_too_much);
	struct timeline *tl = read_timeline(r, w, w->from_ns - back, ret_too_much);
	pieces_bounds(r->pieces, &first, &end);
	/* without events, read further back: the last event shows what goes on */
	while (tl && timeline_n_seconds(tl) == 0 && back && w->from_ns - back > first) {
		back = warm_up(r, w, back * SILENCE);
		if (!back)
			break;
		timeline_free(tl);
		tl = read_timeline(r, w, w->from_ns - back, ret_too_much);
	}
	return tl;
}
