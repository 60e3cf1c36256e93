/* SPDX-License-Identifier: GPL-2.0-only */
/* Sorted arrays of losses and of loss windows; see losses.h. */
#include "state/kernel/losses.h"

#include "base/coder.h"
#include "base/each.h"
#include "base/sort.h"


struct window { int64_t begin, end; };

struct loss_cover {
	GArray *windows;	/* struct window, in order; none overlaps the next */
	int64_t forgotten_to;	/* end of the last dropped window; INT64_MIN: none was dropped */
};

static void cover_clear(gpointer p)
{
	struct loss_cover *c = p;
	if (c->windows)
		g_array_unref(c->windows);
}

void losses_init(struct losses *l)
{
	*l = (struct losses){
		.counted = g_array_new(false, false, sizeof(struct loss)),
		.begins = g_array_new(false, false, sizeof(int64_t)),
		.covers = g_array_new(false, true, sizeof(struct loss_cover)),
		.backs = g_array_new(false, false, sizeof(struct loss)),
		.latest = INT64_MIN,
	};
	g_array_set_clear_func(l->covers, cover_clear);
}

void losses_clear(struct losses *l)
{
	g_array_unref(l->counted);
	g_array_unref(l->begins);
	g_array_unref(l->covers);
	g_array_unref(l->backs);
}

/* ---- counted losses ---- */

static int order(const struct loss *a, const struct loss *b)
{
	return ORDER(a->end, b->end) ?: ORDER(a->begin, b->begin) ?: ORDER(a->host, b->host) ?:
	       ORDER(a->stream_cpu, b->stream_cpu) ?: ORDER(a->vpid, b->vpid) ?: (int)a->kernel - (int)b->kernel;
}

/* Number of losses in the array that are ordered before x. */
static guint ordered_before(const GArray *all, const struct loss *x)
{
	return FIRST_INDEX(i, all->len, order(&g_array_index(all, struct loss, i), x) >= 0);
}

/* Adds the loss to the array, which is in order. False: it is there already. */
static bool put_in_order(GArray *all, const struct loss *loss)
{
	guint at = ordered_before(all, loss);
	if (at < all->len && !order(&g_array_index(all, struct loss, at), loss))
		return false;
	g_array_insert_val(all, at, *loss);
	return true;
}

/* Number of losses that end before the instant. */
static guint ended_before(const struct losses *l, int64_t instant)
{
	return ordered_before(l->counted, &(struct loss){ .begin = INT64_MIN, .end = instant });
}

/* Number of losses that begin before the instant. */
static guint begun_before(const struct losses *l, int64_t instant)
{
	return FIRST_INDEX(i, l->begins->len, g_array_index(l->begins, int64_t, i) >= instant);
}

/* Records come in order of time, so the place is near the end of the array. */
static void count(struct losses *l, const struct loss *loss)
{
	if (!put_in_order(l->counted, loss))
		return;
	g_array_insert_val(l->begins, begun_before(l, loss->begin), loss->begin);
	g_assert(l->counted->len == l->begins->len);
}

uint64_t losses_touching(const struct losses *l, int64_t begin, int64_t end)
{
	uint64_t before = begin == INT64_MIN ? l->n_forgotten : 0;
	/* A loss that ends before the range also begins before the range's end. */
	guint begun = end == INT64_MAX ? l->begins->len : begun_before(l, end);
	return before + begun - MIN(begun, ended_before(l, begin));
}

void losses_each(const struct losses *l, int64_t begin, int64_t end,
		 void (*each)(const struct loss *loss, int64_t ns, void *data), void *data)
{
	uint64_t left = losses_touching(l, begin, end);

	for (guint i = ended_before(l, begin); left && i < l->counted->len; i++) {
		const struct loss *x = &g_array_index(l->counted, struct loss, i);
		if (x->begin >= end)
			continue;
		left--;
		if (MIN(x->end, end) > MAX(x->begin, begin))
			each(x, MIN(x->end, end) - MAX(x->begin, begin), data);
	}
}

/* ---- windows ---- */

static struct loss_cover *cover_of(const struct losses *l, uint32_t host, bool kernel)
{
	guint i = 2 * host + kernel;
	return i < l->covers->len ? &g_array_index(l->covers, struct loss_cover, i) : NULL;
}

static struct loss_cover *cover_made(struct losses *l, uint32_t host, bool kernel)
{
	guint i = 2 * host + kernel;
	if (i >= l->covers->len)
		g_array_set_size(l->covers, i + 1);
	struct loss_cover *c = &g_array_index(l->covers, struct loss_cover, i);
	if (!c->windows) {
		c->windows = g_array_new(false, false, sizeof(struct window));
		c->forgotten_to = INT64_MIN;
	}
	return c;
}

static struct window *window_at(const struct loss_cover *c, guint i)
{
	return &g_array_index(c->windows, struct window, i);
}

/* Index of the first window that ends at the instant or later (after: only later). */
static guint first_ending(const struct loss_cover *c, int64_t instant, bool after)
{
	return FIRST_INDEX(i, c->windows->len, window_at(c, i)->end > instant ||
					       (!after && window_at(c, i)->end == instant));
}

static bool is_empty(const struct window *w)
{
	return w->begin == w->end;
}

/* Do they overlap, or is one of them an instant at the border of the other? Windows that only touch stay separate:
 * nothing was lost at the instant between them. */
static bool is_one(const struct window *earlier, const struct window *later)
{
	return later->begin < earlier->end ||
	       (later->begin == earlier->end && (is_empty(earlier) || is_empty(later)));
}

static void cover_add(struct loss_cover *c, struct window w)
{
	g_assert(w.begin <= w.end);
	guint first = first_ending(c, w.begin, false);
	if (first < c->windows->len && window_at(c, first)->end == w.begin && !is_one(window_at(c, first), &w))
		first++;
	guint next = first;
	for (; next < c->windows->len && is_one(&w, window_at(c, next)); next++) {
		w.begin = MIN(w.begin, window_at(c, next)->begin);
		w.end = MAX(w.end, window_at(c, next)->end);
	}
	if (next == first) {
		g_array_insert_val(c->windows, first, w);
		return;
	}
	*window_at(c, first) = w;
	g_assert(!first || window_at(c, first - 1)->end <= w.begin);
	if (next - first > 1)
		g_array_remove_range(c->windows, first + 1, next - first - 1);
	g_assert(first + 1 == c->windows->len || w.end <= window_at(c, first + 1)->begin);
}

bool losses_find(const struct losses *l, uint32_t host, bool kernel, int64_t from, int64_t to,
		 int64_t *ret_begin)
{
	const struct loss_cover *c = cover_of(l, host, kernel);
	if (!c || !c->windows)
		return false;
	if (c->forgotten_to > from) {
		*ret_begin = from;
		return true;
	}
	guint i = first_ending(c, from, true);
	if (i == c->windows->len || window_at(c, i)->begin >= to)
		return false;
	*ret_begin = MAX(window_at(c, i)->begin, from);
	return true;
}

/* ---- clocks that went back ---- */

bool losses_clock_back(const struct losses *l, uint32_t host, bool kernel, uint32_t stream_cpu, int64_t from,
		       int64_t to)
{
	if (!l->backs->len)
		return false;
	guint first = ordered_before(l->backs, &(struct loss){ .begin = INT64_MIN, .end = from });
	for (guint i = first; i < l->backs->len; i++) {
		const struct loss *x = &g_array_index(l->backs, struct loss, i);
		if (x->begin >= to)
			return false;
		if (x->host == host && x->kernel == kernel && x->stream_cpu == stream_cpu)
			return true;
	}
	return false;
}

/* ---- both ---- */

void losses_add(struct losses *l, const struct loss *loss)
{
	struct loss new = *loss;
	new.end = MAX(new.end, new.begin);
	l->latest = MAX(l->latest, new.end);
	if (new.is_back) {
		put_in_order(l->backs, &new);
		new.begin--;		/* nothing is known of what begins or ends at that instant */
		new.end++;
	}
	if (!new.silence) {
		struct loss window = new;
		window.begin -= new.earlier;
		window.end += new.later;
		count(l, &window);
	}
	cover_add(cover_made(l, new.host, new.kernel), (struct window){ new.begin, new.end });
}

void losses_join(struct losses *l, const struct losses *from, const uint32_t *host)
{
	l->latest = MAX(l->latest, from->latest);
	for (guint i = 0; i < from->counted->len; i++) {
		struct loss x = g_array_index(from->counted, struct loss, i);
		x.host = host[x.host];
		count(l, &x);
	}
	for (guint i = 0; i < from->backs->len; i++) {
		struct loss x = g_array_index(from->backs, struct loss, i);
		x.host = host[x.host];
		put_in_order(l->backs, &x);
	}
	for (guint i = 0; i < from->covers->len; i++) {
		const struct loss_cover *c = &g_array_index(from->covers, struct loss_cover, i);
		for (guint k = 0; c->windows && k < c->windows->len; k++)
			cover_add(cover_made(l, host[i / 2], i % 2), *window_at(c, k));
	}
}

/* Drops entries only when they are at least half of the array, since the rest has to move. */
void losses_forget(struct losses *l, int64_t before)
{
	guint n = ended_before(l, before);
	if (n > LOSSES_RETAINED && n > l->counted->len / 2) {
		l->n_forgotten += n;
		g_array_remove_range(l->counted, 0, n);
		/* They may belong to other losses, which makes no difference: all are before the instant. */
		g_array_remove_range(l->begins, 0, n);
	}
	n = ordered_before(l->backs, &(struct loss){ .begin = INT64_MIN, .end = before });
	if (n > LOSSES_RETAINED && n > l->backs->len / 2)
		g_array_remove_range(l->backs, 0, n);
	ARRAY_EACH(struct loss_cover, c, l->covers) {
		guint old = c->windows ? first_ending(c, before, false) : 0;
		if (old < 2 * LOSSES_RETAINED || old < c->windows->len / 2)
			continue;
		g_assert(old > LOSSES_RETAINED);
		c->forgotten_to = window_at(c, old - LOSSES_RETAINED - 1)->end;
		g_array_remove_range(c->windows, 0, old - LOSSES_RETAINED);
	}
}

size_t losses_bytes(const struct losses *l)
{
	size_t n = l->counted->len * (sizeof(struct loss) + sizeof(int64_t)) +
		   l->covers->len * sizeof(struct loss_cover) + l->backs->len * sizeof(struct loss);
	ARRAY_EACH(const struct loss_cover, c, l->covers)
		n += c->windows ? c->windows->len * sizeof(struct window) : 0;
	return n;
}

/* ---- as bytes ---- */

static void code_counted(struct coder *c, struct losses *l, uint32_t n_hosts)
{
	uint32_t n = code_len(c, l->counted->len, 9, sizeof(struct loss) + CODER_OWN_BYTES);

	for (uint32_t i = 0; i < n; i++) {
		struct loss x = { 0 };
		if (coder_writes(c))
			x = g_array_index(l->counted, struct loss, i);
		code_ts(c, &x.begin);
		code_ts(c, &x.end);
		code_id(c, &x.host, n_hosts, false);
		code_u32(c, &x.stream_cpu);
		code_i32(c, &x.vpid);
		code_ns(c, &x.earlier);
		code_ns(c, &x.later);
		code_bool(c, &x.kernel);
		code_bool(c, &x.silence);
		if (x.end < x.begin)
			coder_refuse(c, "a loss ends before it begins");
		if (!coder_writes(c) && !c->fault)
			count(l, &x);
	}
	if (l->counted->len != n)
		coder_refuse(c, "a loss is there twice");
}

static void code_backs(struct coder *c, struct losses *l, uint32_t n_hosts)
{
	uint32_t n = code_len(c, l->backs->len, 5, sizeof(struct loss) + CODER_OWN_BYTES);

	for (uint32_t i = 0; i < n && !c->fault; i++) {
		struct loss x = { .silence = true, .is_back = true };
		if (coder_writes(c))
			x = g_array_index(l->backs, struct loss, i);
		code_ts(c, &x.begin);
		code_id(c, &x.host, n_hosts, false);
		code_u32(c, &x.stream_cpu);
		code_i32(c, &x.vpid);
		code_bool(c, &x.kernel);
		x.end = x.begin;
		if (!coder_writes(c) && !c->fault)
			put_in_order(l->backs, &x);
	}
}

static void code_windows(struct coder *c, struct loss_cover *cover)
{
	uint32_t n = code_len(c, cover->windows ? cover->windows->len : 0, 2, sizeof(struct window));

	for (uint32_t i = 0; i < n; i++) {
		struct window w = { 0 };
		if (coder_writes(c))
			w = *window_at(cover, i);
		code_ts(c, &w.begin);
		code_ts(c, &w.end);
		if (w.end < w.begin || (i && !coder_writes(c) && w.begin < window_at(cover, i - 1)->end))
			coder_refuse(c, "losses are not in order");
		if (c->fault)
			return;
		if (!coder_writes(c))
			g_array_append_val(cover->windows, w);
	}
}

void losses_code(struct coder *c, struct losses *l, uint32_t n_hosts)
{
	g_assert(!l->n_forgotten);
	code_counted(c, l, n_hosts);
	code_backs(c, l, n_hosts);
	code_ts(c, &l->latest);
	for (uint32_t i = 0; i < 2 * n_hosts; i++)
		code_windows(c, cover_made(l, i / 2, i % 2));
}
