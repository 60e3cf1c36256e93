/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists that exceed memory: see batch_list.h. */
#include "cmd/batch_list.h"

#include "app/messages.h"

#include "base/intmap.h"

#include <errno.h>

#define PIECE_SPANS 8192	/* least number of spans in a piece */

static bool is_in_pieces(const struct options *o)
{
	return o->view->lists_spans && !o->read.live && !o->each && o->sort < 0 && !o->read.at && !o->read.from &&
	       !o->read.to && !query_has_trace(&o->narrow);
}

static void print_piece(struct batch_list *list, const struct intmap *among, int64_t from_ns,
			int64_t to_ns, bool last)
{
	struct view_query query = list->o->narrow;
	query.by = list->o->by;
	query.among = among;
	query.from_ns = from_ns;
	query.to_ns = to_ns;
	struct rows *rows = list->o->view->build(list->tl, &query);

	rows_filter(rows, list->o->view, list->o->expr);
	if (!rows_print_piece(stdout, list->view, rows, &list->pieces, last))
		list->broken = errno;
	rows_free(rows);
}

static void print_traces(struct batch_list *list, const uint64_t *trace_ids, size_t n)
{
	struct intmap among = { 0 };
	uint32_t spans = 0;

	for (size_t i = 0; i < n && !list->broken; i++) {
		const struct trace_info *t = timeline_find_trace(list->tl, trace_ids[i]);
		intmap_set(&among, trace_ids[i], 0);
		spans += t ? t->n_spans : 0;
		if (spans < PIECE_SPANS && i + 1 < n)
			continue;
		print_piece(list, &among, 0, 0, false);
		intmap_clear(&among);
		spans = 0;
	}
	intmap_clear(&among);
}

void batch_list_evicting(struct batch_list *list, const uint64_t *trace_ids, size_t n)
{
	if (!list->in_pieces)
		return;
	if (!list->pieces.begun)
		log_error("%s: the list exceeds --memory: it is printed in pieces, each in order",
			  list->view->id);
	print_traces(list, trace_ids, n);
}

void batch_list_begin(struct batch_list *list, const struct options *o, const struct view *view,
		      struct timeline *tl)
{
	*list = (struct batch_list){ .o = o, .view = view, .tl = tl, .in_pieces = is_in_pieces(o),
				     .pieces = { .format = o->format, .header = true } };
}

bool batch_list_is_begun(const struct batch_list *list)
{
	return list->pieces.begun;
}

static int by_end(gconstpointer a, gconstpointer b)
{
	const struct trace_info *x = *(const struct trace_info *const *)a;
	const struct trace_info *y = *(const struct trace_info *const *)b;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->trace_id > y->trace_id) - (x->trace_id < y->trace_id);
}

void batch_list_finish(struct batch_list *list, int64_t from_ns, int64_t to_ns)
{
	g_assert(batch_list_is_begun(list));
	g_autoptr(GPtrArray) left = g_ptr_array_new();
	g_autoptr(GArray) ids = g_array_new(false, false, sizeof(uint64_t));
	struct intmap none = { 0 };

	for (size_t i = 0; i < timeline_n_traces(list->tl); i++)
		g_ptr_array_add(left, (gpointer)timeline_trace(list->tl, i));
	g_ptr_array_sort(left, by_end);
	for (guint i = 0; i < left->len; i++)
		g_array_append_val(ids, ((const struct trace_info *)left->pdata[i])->trace_id);
	print_traces(list, (const uint64_t *)(void *)ids->data, ids->len);
	if (!list->broken)
		print_piece(list, &none, from_ns, to_ns, true);
}

void batch_list_clear(struct batch_list *list)
{
	rows_pieces_clear(&list->pieces);
}
