/* SPDX-License-Identifier: GPL-2.0-only */
/* Positions of spans in files: see import_survey.h. */
#include "export/import_survey.h"

#include "base/limits.h"
#include "base/sort.h"
#include "export/zipkin_read.h"

void survey_init(struct survey *v)
{
	const int64_t none = INT64_MIN;

	*v = (struct survey){
		.items = g_array_new(FALSE, FALSE, sizeof(struct survey_item)),
		.files = g_array_new(FALSE, FALSE, sizeof(guint)),
		.ends = g_array_new(FALSE, FALSE, sizeof(int64_t)),
		.first_ns = INT64_MAX, .last_ns = INT64_MIN,
	};
	g_array_append_val(v->ends, none);	/* for SURVEY_NO_TRACE */
}

static void drop_traces(struct survey *v)
{
	g_clear_pointer(&v->ends, g_array_unref);
	intmap_clear(&v->by_id);
}

void survey_clear(struct survey *v)
{
	drop_traces(v);
	g_array_unref(v->items);
	g_array_unref(v->files);
	g_free(v->order);
}

void survey_begin_file(struct survey *v)
{
	g_array_append_val(v->files, v->items->len);
}

static uint32_t trace_of(struct survey *v, const struct zipkin_peek *p)
{
	uint32_t trace = intmap_get(&v->by_id, p->trace);

	if (trace == INTMAP_NONE) {
		trace = v->ends->len;
		intmap_set(&v->by_id, p->trace, trace);
		g_array_append_val(v->ends, p->end_ns);
	}
	int64_t *end = &g_array_index(v->ends, int64_t, trace);
	*end = MAX(*end, p->end_ns);
	return trace;
}

bool survey_add(struct survey *v, struct json_value o, size_t n_bytes, uint64_t end)
{
	g_assert(n_bytes <= end && n_bytes <= UINT32_MAX);
	struct survey_item item = { end - n_bytes, (uint32_t)n_bytes, SURVEY_NO_TRACE };
	struct zipkin_peek p;

	if (v->items->len >= LIMIT_SPANS)
		return false;
	if (zipkin_peek(o, &p)) {
		item.trace = trace_of(v, &p);
		if (p.begin_ns != TIME_UNKNOWN) {
			v->first_ns = MIN(v->first_ns, p.begin_ns);
			v->last_ns = MAX(v->last_ns, p.end_ns);
		}
	}
	g_assert(item.trace < v->ends->len);
	v->bytes += n_bytes;
	g_array_append_val(v->items, item);
	return true;
}

static int compare_items(const void *va, const void *vb, void *data)
{
	const struct survey *v = data;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	uint32_t in_a = g_array_index(v->items, struct survey_item, a).trace;
	uint32_t in_b = g_array_index(v->items, struct survey_item, b).trace;
	int64_t end_a = g_array_index(v->ends, int64_t, in_a);
	int64_t end_b = g_array_index(v->ends, int64_t, in_b);

	return ORDER(end_a, end_b) ?: ORDER(in_a, in_b) ?: ORDER(a, b);
}

void survey_order(struct survey *v)
{
	v->order = g_new(uint32_t, v->items->len + 1);
	for (guint i = 0; i < v->items->len; i++)
		v->order[i] = i;
	sort_array(v->order, v->items->len, sizeof *v->order, compare_items, v);
	drop_traces(v);
}

size_t survey_bytes(const struct survey *v)
{
	return v->items->len * (sizeof(struct survey_item) + sizeof *v->order);
}

void survey_place(const struct survey *v, guint item, guint *ret_file, guint *ret_nth)
{
	guint file = v->files->len - 1;

	g_assert(item < v->items->len);
	while (file > 0 && g_array_index(v->files, guint, file) > item)
		file--;
	*ret_file = file;
	g_assert(g_array_index(v->files, guint, file) <= item);
	*ret_nth = item - g_array_index(v->files, guint, file);
}
