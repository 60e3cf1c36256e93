/* SPDX-License-Identifier: GPL-2.0-only */
/* The model of one run: a slice from the trace's beginning, its publisher, and the memory bounds of both; see
 * model.h. */
#include "state/kernel/feed.h"
#include "state/kernel/subscriptions.h"
#include "state/publish/model_private.h"

#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/coverage.h"
#include "state/kernel/slice_state.h"
#include "state/names/names.h"
#include "state/publish/adopt.h"
#include "state/publish/publisher.h"
#include "state/spans/spans.h"

#include "base/each.h"
#include "base/timefmt.h"

#define CORRECTIONS_NS (120 * NS_PER_S)	/* live: seconds older than that are dropped, though there is room for them */
#define UNPUBLISHED_NS (10 * NS_PER_S)	/* live: publish when this much time is unpublished */
#define FACTS_AT_ONCE 4096	/* facts are applied at this number, to bound their memory */
#define LOCKS_AT_ONCE 1024	/* releases of locks are counted at this number */
#define LEAST_CORRECTIONS 3	/* this many of the newest seconds can be corrected, whatever their size */

#define LEAST_SPANS (8 << 20)	/* bytes: about 70,000 annotations */
struct again { int64_t bin, due; };	/* a provisional second (index), to be published again at `due` (ns) */

static size_t span_budget(const struct model *m)
{
	return m->options.span_budget ? m->options.span_budget : m->options.memory_budget / 2;
}

/* Without a budget everything is retained: a recorded trace is read to its end. */
static struct publisher *new_publisher(const struct model *m, struct slice *s)
{
	struct publisher *p = publisher_new(s);
	if (m->options.live || m->options.memory_budget)
		publisher_bound_spans(p, MAX(4 * span_budget(m), LEAST_SPANS));
	return p;
}

struct model *model_new(const struct model_options *options)
{
	struct model *m = g_new0(struct model, 1);
	m->options = *options;
	if (m->options.step_ns <= 0)
		m->options.step_ns = NS_PER_S;
	m->s = slice_new(true, m->options.step_ns);
	if (m->options.live) {
		slice_live(m->s);
		slice_bound_paths(m->s, m->options.memory_budget);
	}
	if (m->options.no_fast_path)
		slice_without_fast_path(m->s);
	slice_read_cells(m->s, m->options.cells);
	m->publisher = new_publisher(m, m->s);
	m->border = m->shown = m->retained_from = INT64_MIN;
	m->again = g_array_new(false, false, sizeof(struct again));
	return m;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	publisher_free(m->publisher);
	slice_free(m->s);
	g_array_unref(m->again);
	g_free(m);
}

void model_without_spans(struct model *m)
{
	slice_without_spans(m->s);
}

void model_feed(struct model *m, const struct blk_tables *tables, const struct blk_event *ev, size_t n)
{
	slice_feed(m->s, tables, ev, n);
	const struct lock_log *l = &m->s->locks;
	if (m->s->facts->len < FACTS_AT_ONCE && l->waits.len + l->releases.len < m->locks_at + LOCKS_AT_ONCE)
		return;
	publisher_update(m->publisher, false);
	m->locks_at = 2 * (l->waits.len + l->releases.len);
}

void model_stitch(struct model *m, struct slice *s)
{
	if (slice_first(m->s) == INT64_MAX && s->from_start) {
		publisher_free(m->publisher);
		slice_free(m->s);
		m->s = s;
		m->publisher = new_publisher(m, s);
		return;
	}
	struct slice *both = slice_stitch(m->s, s);
	g_assert(both == m->s);		/* the publisher borrows it */
}

void model_add_late(struct model *m, int64_t at_ns, uint64_t n)
{
	slice_bin(m->s, at_ns)->completeness.late += n;
}

int64_t model_closed_to(const struct model *m)
{
	return m->border;
}

int64_t model_now(const struct model *m)
{
	return MAX(slice_last(m->s), m->s->horizon);
}

uint64_t model_n_events(const struct model *m)
{
	return slice_n_events(m->s);
}

/* ---- how long a second can be corrected ---- */

#define MAP_BYTES 24		/* estimate: a cell's entry in its map */
#define HIST_BYTES 128		/* estimate: a histogram with several values */

/* Estimated bytes of the cells, with their maps and histograms. */
static size_t bin_bytes(const struct bin *b)
{
	size_t bytes = sizeof *b;

	for (enum cell_kind k = 0; k < CELL_KIND_N; k++) {
		const struct cell_layout *l = built_layout(k);
		bytes += b->table[k].n * (l->size + MAP_BYTES + l->n_hists * (size_t)HIST_BYTES);
	}
	return bytes;
}

/* The beginning (ns) of the oldest second that fits into the budget; INT64_MIN: all fit. */
static int64_t room_from(const struct model *m, size_t budget)
{
	g_autoptr(GPtrArray) bins = slice_bins_in_order(m->s);
	size_t bytes = 0;

	for (guint i = bins->len; i > 0; i--) {
		const struct bin *b = g_ptr_array_index(bins, i - 1);
		bytes += bin_bytes(b);
		if (bins->len - i >= LEAST_CORRECTIONS && bytes > budget)
			return b->after * m->options.step_ns;
	}
	return INT64_MIN;
}

/* Annotations of open traces cannot be dropped. So the bound is relative to what remained after the last
 * publication. Else every call would request another one. */
bool model_has_many_spans(const struct model *m)
{
	size_t more = MAX(span_budget(m) / sizeof(struct annot), m->annots_retained / 2);
	return m->options.memory_budget && (m->s->annots->len > m->annots_retained + more ||
					    strtab_bytes(m->s->texts) > m->texts_retained + span_budget(m));
}

/* The border (ns) of the next publication. Each thread has a cell in each second before it. */
static int64_t next_border(const struct model *m, int64_t now)
{
	int64_t step = m->options.step_ns, border = time_floor(now, step), from = m->border;
	size_t cell = built_layout(CELL_thread)->size + MAP_BYTES;
	struct time_void v;

	if (!m->options.closing_bytes || slice_first(m->s) == INT64_MAX)
		return border;
	if (from == INT64_MIN)
		from = time_floor(slice_first(m->s), step);
	if (covered_void_at(m->s, from, 0, &v))
		from = MAX(from, time_floor(v.end, step));
	int64_t most = (int64_t)(m->options.closing_bytes / (cell * (m->s->threads->len + 1)));
	return (border - from) / step > MAX(most, 1) ? from + MAX(most, 1) * step : border;
}

bool model_has_backlog(const struct model *m)
{
	return m->options.closing_bytes && next_border(m, model_now(m)) < time_floor(model_now(m), m->options.step_ns);
}

bool model_has_forgotten(const struct model *m)
{
	return m->has_forgotten;
}

void model_set_retained_from(struct model *m, int64_t ns)
{
	m->retained_from = ns;
}

struct publication *model_adopt(struct model *m, struct publication *again, int64_t from, int64_t to)
{
	return publisher_adopt(m->publisher, again, from, to);
}

static size_t seconds_bytes(const struct model *m)
{
	size_t bytes = 0;
	TABLE_EACH(each, m->s->bins)
		bytes += bin_bytes(each.value);
	return bytes;
}

size_t model_bytes(const struct model *m)
{
	return slice_span_bytes(m->s) + losses_bytes(&m->s->losses) + publisher_registry_bytes(m->publisher) +
	       (m->options.live ? seconds_bytes(m) : 0);
}

bool model_is_full(const struct model *m)
{
	const struct model_options *o = &m->options;
	/* Live, each publication drops seconds. But after an outage, or when a session is read from its beginning, an
	 * hour of records may come within seconds. */
	if (!o->memory_budget || model_has_many_spans(m))
		return o->memory_budget;
	if (o->live)
		return m->border != INT64_MIN && model_now(m) - m->border > UNPUBLISHED_NS;
	return room_from(m, o->memory_budget) != INT64_MIN;
}

/* After the next publication, seconds before this time (ns) are dropped; INT64_MIN: none. */
static int64_t forget_before(const struct model *m, int64_t now, bool final)
{
	const struct model_options *o = &m->options;

	if (final || (!o->live && !o->memory_budget))
		return INT64_MIN;
	int64_t from = o->memory_budget ? room_from(m, o->memory_budget) : INT64_MIN;
	if (o->live)
		return MAX(from, now - CORRECTIONS_NS);
	/* With at_end, publications are rare: drop down to half of the budget at once. */
	return from == INT64_MIN || !o->at_end ? from : room_from(m, o->memory_budget / 2);
}

/* ---- provisional seconds ----
 *
 * A second with an unknown name is published again when names have changed. In a recorded trace that happens each time
 * its age has doubled, before it is dropped, and at the end.
 */

static struct bin *find_bin(const struct model *m, int64_t index)
{
	return g_hash_table_lookup(m->s->bins, &index);
}

static void mark_again(struct model *m, int64_t now, int64_t forgotten, bool final)
{
	guint n_left = 0;

	for (guint i = 0; i < m->again->len; i++) {
		struct again a = g_array_index(m->again, struct again, i);
		struct bin *b = find_bin(m, a.bin);
		bool due = final || a.due <= now || (b && b->after * m->options.step_ns <= forgotten);
		if (b && due)
			b->again = true;
		else if (b && !b->dirty)
			g_array_index(m->again, struct again, n_left++) = a;
	}
	g_array_set_size(m->again, n_left);
}

static void put_off(struct model *m, int64_t now)
{
	TABLE_EACH(each, m->s->bins) {
		struct bin *b = each.value;
		int64_t end = b->after * m->options.step_ns;
		if (!b->provisional || !b->again || end > m->border)
			continue;
		struct again a = { b->index, now + MAX(now - end, m->options.step_ns) };
		g_array_append_val(m->again, a);
		b->again = false;
	}
}

struct publication *model_publish(struct model *m, bool final)
{
	int64_t now = model_now(m);
	if (now == INT64_MIN || slice_first(m->s) == INT64_MAX)
		return final ? publication_new() : NULL;
	int64_t border = final ? time_floor(now, m->options.step_ns) : next_border(m, now);
	bool open = m->options.provisional && !final;
	if (!final && border == m->border && !(open && now > m->shown) && !model_has_many_spans(m))
		return NULL;
	m->shown = now;
	int64_t forgotten = forget_before(m, now, final);
	if (m->options.at_end && !final && forgotten == INT64_MIN && !model_has_many_spans(m))
		return NULL;
	m->border = border;
	forgotten = MIN(forgotten, border);
	if (m->s->horizon > slice_last(m->s) && !final && border > m->s->last) {
		covered_to(m->s, border - 1);
		m->s->last = border - 1;
	}
	mark_again(m, now, forgotten, final);
	struct publication *p = publisher_publish(m->publisher, border, now,
						  final ? PUBLISH_FINAL : open ? PUBLISH_OPEN : PUBLISH_CLOSED);
	publisher_drop(m->publisher, p, m->retained_from);
	m->has_forgotten |= forgotten > slice_first(m->s) || (p && p->completeness.late);
	if (!final && !m->options.live)
		put_off(m, now);
	if (!final && (m->options.live || m->options.memory_budget)) {
		publisher_forget(m->publisher, MAX(forgotten, slice_first(m->s)), now);
		m->annots_retained = m->s->annots->len;
		m->texts_retained = strtab_bytes(m->s->texts);
	}
	if (final)
		m->border = INT64_MAX;
	return p;
}

struct publication *slice_finish(struct slice *s)
{
	struct publisher *p = publisher_new(s);
	struct publication *pub = publisher_publish(p, INT64_MAX, s->last, PUBLISH_FINAL);
	publisher_free(p);
	return pub ? pub : publication_new();
}

struct publication *slice_finish_at(struct slice *s, int64_t until)
{
	if (s->first != INT64_MAX)
		s->last = MAX(s->last, until);
	return slice_finish(s);
}
