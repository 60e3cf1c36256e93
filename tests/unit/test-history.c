/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What spans tell together, counted as they come, against the same spans that came at once.
 */
#include "lib/fake_timeline.h"
#include "views/history.h"
#include "views/view.h"

#include <inttypes.h>
#include <string.h>

/* A span whose slot is its number; what is left open is published again later. */
static struct span *make(GRand *rand, unsigned slot, bool open)
{
	static const char *const names[] = { "", "a", "b", "c" };
	struct span *s = span_new();

	s->trace_id = 1 + slot / 5;
	s->span_id = 1 + slot;
	s->parent_id = slot % 5 ? 1 + slot / 5 * 5 : 0;
	s->kind = slot % 3 ? SPAN_LOCAL : SPAN_SERVER;
	s->state = open ? SPAN_OPEN : slot % 7 ? SPAN_COMPLETE : SPAN_PARTIAL;
	s->name = reftext_new(names[slot % 4]);
	s->service = reftext_new(names[slot % 2]);
	s->thread = slot % 3;
	s->begin_ns = FAKE_T0 + slot * FAKE_MS;
	s->end_ns = s->begin_ns + g_rand_int_range(rand, 1, 100) * FAKE_MS;
	s->errors = slot % 11 == 0;
	span_seal(s);
	return s;
}

/* All spans as they are now, at once. */
static struct timeline *anew(const struct timeline *tl)
{
	struct timeline *fresh = timeline_new(0);
	struct publication *p = publication_new();

	for (size_t i = 0; i < timeline_n_spans(tl); i++)
		publication_add_span(p, (uint32_t)i, fake_copy(timeline_span(tl, i)));
	for (uint32_t i = timeline_next_thread(tl, 0); i != ID_NONE; i = timeline_next_thread(tl, i + 1))
		publication_add_thread(p, i, timeline_thread(tl, i));
	timeline_apply(fresh, p);
	return fresh;
}

static void check_operation(const struct timeline *a, const struct timeline *b, const struct span *s)
{
	const struct operation_info *x = timeline_operation(a, s), *y = timeline_operation(b, s);

	g_assert_true(!x == !y);
	if (!x)
		return;
	g_assert_cmpuint(hist_count(&x->duration), ==, hist_count(&y->duration));
	g_assert_cmpint(hist_sum(&x->duration), ==, hist_sum(&y->duration));
	g_assert_cmpint(hist_min(&x->duration), ==, hist_min(&y->duration));
	g_assert_cmpint(hist_max(&x->duration), ==, hist_max(&y->duration));
	g_assert_cmpint(x->p99, ==, y->p99);
	g_assert_cmpint(x->p25, ==, y->p25);
}

static void check_same(const struct timeline *a, const struct timeline *b)
{
	g_assert_cmpuint(timeline_n_traces(a), ==, timeline_n_traces(b));
	for (size_t i = 0; i < timeline_n_traces(a); i++) {
		const struct trace_info *x = timeline_trace(a, i), *y = timeline_trace(b, i);

		g_assert_cmphex(x->trace_id, ==, y->trace_id);
		g_assert_true(timeline_find_trace(a, x->trace_id) == x);
		g_assert_cmphex(x->root->span_id, ==, y->root->span_id);
		g_assert_true(x->root->kind == y->root->kind);
		g_assert_true(x->has_root == y->has_root && x->open == y->open &&
			      x->partial == y->partial);
		g_assert_cmpint(x->begin_ns, ==, y->begin_ns);
		g_assert_cmpint(x->end_ns, ==, y->end_ns);
		g_assert_cmpuint(x->n_spans, ==, y->n_spans);
		g_assert_cmpuint(x->errors, ==, y->errors);
	}
	for (size_t i = 0; i < timeline_n_spans(a); i++)
		check_operation(a, b, timeline_span(a, i));
}

static void add_id(const struct span *s, void *data)
{
	*(uint64_t *)data += s->span_id * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* Which they are, in any order. */
static uint64_t spans_of(struct history *h, uint32_t thread, int64_t from, int64_t to)
{
	uint64_t sum = 0;

	history_spans_of(h, thread, from, to, add_id, &sum);
	return sum;
}

static void test_versions(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(unsigned));
	unsigned slot = 0;

	for (int version = 0; version < 60; version++) {
		struct publication *p = publication_new();

		for (uint32_t i = 0; i < 3 && !version; i++)
			publication_add_thread(p, i, &(struct thread_info){ .tid = (int32_t)i });
		for (int i = 0; i < 6 && !version; i++)
			publication_add_string(p, (uint32_t)i, (const char *[]){ "a", "b", "c", "d",
					       "web", "db" }[i]);
		for (guint i = open->len; i-- > 0;) {
			unsigned again = g_array_index(open, unsigned, i);
			bool still = g_rand_boolean(rand);

			publication_add_span(p, again, make(rand, again, still));
			if (!still)
				g_array_remove_index(open, i);
		}
		/* A closed one that turned out differently: all is counted again. */
		if (version % 10 == 9)
			publication_add_span(p, 0, make(rand, 0, false));
		for (int i = g_rand_int_range(rand, 0, 12); i-- > 0; slot++) {
			bool is_open = g_rand_int_range(rand, 0, 4) == 0;

			publication_add_span(p, slot, make(rand, slot, is_open));
			if (is_open)
				g_array_append_val(open, slot);
		}
		timeline_apply(tl, p);

		struct history *now = history_new(tl);
		history_span_at(now, 1, FAKE_T0);	/* the next version has another index */
		if (version % 5 != 4) {
			history_free(now);
			continue;
		}
		g_autoptr(blk_timeline) other = anew(tl);
		struct history *fresh = history_new(other);
		g_assert_true(now != fresh);
		check_same(tl, other);
		for (int i = 0; i < 50; i++) {
			uint32_t thread = (uint32_t)i % 4;
			int64_t from = FAKE_T0 + g_rand_int_range(rand, -5, 400) * FAKE_MS;
			int64_t to = from + g_rand_int_range(rand, 1, 60) * FAKE_MS;

			g_assert_cmphex(spans_of(now, thread, from, to), ==,
					spans_of(fresh, thread, from, to));
		}
		history_free(now);
		history_free(fresh);
	}
}

/* Numbers and ids of all rows. (Texts may be made when they are asked for, of what is there
 * then.) */
static char *print_numbers(const struct view *v, struct rows *rows)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < rows->rows->len; i++) {
		for (size_t c = 0; c < v->n_columns; c++) {
			struct value value = column_value(&v->columns[c], rows->rows->pdata[i], rows);
			if (value.kind != VALUE_TEXT && value.kind != VALUE_NONE)
				g_string_append_printf(text, "%s=%" PRIx64 " ", v->columns[c].id,
						       value.i);
		}
	}
	return g_string_free(text, FALSE);
}

static struct publication *publish(GRand *rand, bool open)
{
	struct publication *p = publication_new();

	p->has_coverage = true;
	p->first_ns = FAKE_T0;
	p->last_ns = FAKE_T0 + FAKE_S;
	g_ptr_array_add(p->seconds, second_new(FAKE_T0, FAKE_T0 + FAKE_S));
	second_seal(p->seconds->pdata[0]);
	for (unsigned slot = 0; slot < 10; slot++)
		publication_add_span(p, slot, make(rand, slot, open && slot % 5 == 0));
	return p;
}

/* Rows hold the spans that they point to, whatever becomes of these. */
static void test_held(void)
{
	static const char *const views[] = { "open", "traces", "spans", "slow-spans", "phases",
					     "services" };

	for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(8);
		g_autoptr(blk_timeline) tl = timeline_new(0);
		struct publication *p = publish(rand, !strcmp(views[i], "open"));
		struct view_query query = VIEW_QUERY_INIT;
		const struct view *v = view_find(views[i]);

		for (uint32_t k = 0; k < 6; k++)
			publication_add_string(p, k, (const char *[]){ "a", "b", "c", "d", "web", "db" }[k]);
		timeline_apply(tl, p);
		struct rows *rows = v->build(tl, &query);
		g_assert_cmpuint(rows->rows->len, >, 0);
		g_autofree char *before = print_numbers(v, rows);
		timeline_apply(tl, publish(rand, false));
		g_autofree char *after = print_numbers(v, rows);
		g_assert_cmpstr(after, ==, before);
		rows_free(rows);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/history/versions", test_versions);
	g_test_add_func("/history/held", test_held);
	return g_test_run();
}
