/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader of recorded traces on babeltrace2. Every stream has its own iterator; the streams are merged here.
 * babeltrace2's muxer would take a fifth of the time and handle unwanted events; here events without a row never reach
 * the merge.
 *
 * Messages are converted and released as they come (15 at a time). Their records wait in the cursor for the merge.
 */
#include "base/sort.h"
#include "trace/bt2/bt2_convert.h"
#include "trace/bt2/bt2_error.h"
#include "trace/bt2/bt2_mip.h"
#include "trace/bt2/bt2_open.h"
#include "trace/bt2/bt2_plugin.h"
#include "trace/native/merge.h"
#include "trace/native/native.h"

struct cursor {
	bt_message_iterator *it;
	char *name;			/* the stream's name, or its file */
	unsigned rank;			/* order at equal timestamps */
	unsigned stream;		/* stream number of its first record */
	bool started, ended;		/* records of it were delivered; all were */
	bt_message_array_const held;	/* the first messages, read before clocks are pinned */
	uint64_t n_held;
	struct bt2_out out;		/* records not merged yet: out.ev[at ..] */
	size_t at;
	/* Rows must stay valid as long as the batch they were delivered in. The arenas are used in turns: records of
	 * the last batch are in the other one. */
	struct arena arena[2];
	unsigned turn;
	uint64_t turn_batch;
};

struct reader {
	struct source source;
	const bt_component_class_source *fs;	/* from bt2_class_take() */
	bt_graph *graph;
	struct bt2_convert *convert;
	struct bt2_sizes sizes;
	uint64_t consumed;		/* bytes of the packets begun */
	GArray *cursors;		/* struct cursor */
	struct merge_head *heap;
	size_t n_heap;
	bool primed, ended;
	gint cancelled;
	GError *error;			/* of consume(), to be returned by reader_next() */
	uint64_t batch_number;
	struct blk_event batch[BLK_BATCH];
	size_t n_batch;
};

static struct cursor *cursor_at(struct reader *r, unsigned i)
{
	return &g_array_index(r->cursors, struct cursor, i);
}

/* -- one stream ----------------------------------------------------------- */

static void count_packet(struct reader *r, const bt_message *msg)
{
	const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(msg);
	const bt_stream_class *sc =
		bt_stream_borrow_class_const(bt_packet_borrow_stream_const(packet));
	if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(sc))
		return;
	const bt_clock_snapshot *cs =
		bt_message_packet_beginning_borrow_default_clock_snapshot_const(msg);
	r->consumed += bt2_sizes_packet(&r->sizes, bt_stream_class_get_id(sc),
					bt_clock_snapshot_get_value(cs));
}

static bool convert_all(struct reader *r, struct cursor *k, bt_message_array_const msgs, uint64_t n)
{
	bool ok = true;
	for (uint64_t i = 0; i < n; i++) {
		if (bt_message_get_type(msgs[i]) == BT_MESSAGE_TYPE_PACKET_BEGINNING)
			count_packet(r, msgs[i]);
		ok = ok && bt2_convert_message(r->convert, msgs[i], &k->out, &r->error);
		bt_message_put_ref(msgs[i]);
	}
	return ok;
}

static bool ask(struct reader *r, struct cursor *k, bt_message_array_const *msgs, uint64_t *n)
{
	*n = 0;
	bt_message_iterator_next_status status = bt_message_iterator_next(k->it, msgs, n);
	if (G_LIKELY(status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK))
		return true;
	*n = 0;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		k->ended = true;
		return true;
	}
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
		return true;
	g_autofree char *what = g_strdup_printf("cannot read stream '%s', damaged data", k->name);
	bt2_set_error(&r->error, BLK_TRACE_ERROR_CORRUPT, what);
	return false;
}

static void choose_arena(struct reader *r, struct cursor *k)
{
	if (k->turn_batch != r->batch_number) {
		k->turn ^= 1;
		k->turn_batch = r->batch_number;
		arena_reset(&k->arena[k->turn]);
	}
	k->out.arena = &k->arena[k->turn];
}

/* Reads until the cursor has a record or has ended. False: error or cancelled. */
static bool refill(struct reader *r, struct cursor *k)
{
	k->at = k->out.n = 0;
	choose_arena(r, k);
	while (!k->out.n && !k->ended) {
		bt_message_array_const msgs;
		uint64_t n;
		if (g_atomic_int_get(&r->cancelled) || !ask(r, k, &msgs, &n) ||
		    !convert_all(r, k, msgs, n))
			return false;
	}
	return true;
}

/* -- the merge ------------------------------------------------------------ */

/* Are both kernel streams of one CPU of one boot? */
static bool same_cpu(const struct reader *r, unsigned a, unsigned b)
{
	const struct blk_stream *x = blk_stream(&r->source.tables, a), *y = blk_stream(&r->source.tables, b);
	return x->domain == BLK_DOMAIN_KERNEL && y->domain == BLK_DOMAIN_KERNEL && x->host == y->host &&
	       x->cpu == y->cpu && x->cpu != UINT32_MAX;
}

/* Cursor k has ended. Adds a silence before the packets of the next stream on the same CPU, as place_silences() in
 * native_plan.c does. */
static void begin_silence(struct reader *r, const struct cursor *k)
{
	struct merge_head *next = NULL;
	int64_t end = INT64_MIN;

	for (guint i = 0; i < r->cursors->len; i++)
		if (cursor_at(r, i)->ended && same_cpu(r, cursor_at(r, i)->stream, k->stream))
			end = MAX(end, bt2_convert_end(r->convert, cursor_at(r, i)->stream));
	for (size_t i = 0; i < r->n_heap; i++) {
		struct merge_head *h = &r->heap[i];
		const struct cursor *other = cursor_at(r, h->cursor);
		if (!same_cpu(r, other->stream, k->stream))
			continue;
		if (other->started)
			return;
		if (!next || merge_before(h, next))
			next = h;
	}
	if (!next || end >= next->ts - 1)
		return;
	struct bt2_out *out = &cursor_at(r, next->cursor)->out;
	bt2_out_silence(out, end + 1);
	next->ts = end + 1;
	merge_build(r->heap, r->n_heap);
}

/* Delivers records of the first cursor for as long as no other cursor has an earlier one. */
static bool take_run(struct reader *r)
{
	struct merge_head *top = &r->heap[0], rival = merge_rival(r->heap, r->n_heap);
	struct cursor *k = cursor_at(r, top->cursor);
	k->started = true;
	do {
		r->batch[r->n_batch++] = k->out.ev[k->at++];
		if (k->at == k->out.n && !refill(r, k))
			return false;
		if (k->at == k->out.n) {	/* the stream has ended */
			r->heap[0] = r->heap[--r->n_heap];
			if (r->n_heap)
				merge_sift_down(r->heap, r->n_heap, 0);
			begin_silence(r, k);
			return true;
		}
		top->ts = k->out.ev[k->at].ts;
	} while (r->n_batch < BLK_BATCH && merge_before(top, &rival));
	merge_sift_down(r->heap, r->n_heap, 0);
	return true;
}

static int compare_orders(const void *a, const void *b, void *data)
{
	struct reader *r = data;
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	struct cursor *p = cursor_at(r, x), *q = cursor_at(r, y);
	const struct blk_tables *t = &r->source.tables;
	int order = 0;
	if (p->out.n && q->out.n)
		order = strcmp(blk_stream(t, p->out.ev[0].stream)->order,
			       blk_stream(t, q->out.ev[0].stream)->order);
	return order ? order : x < y ? -1 : x > y;
}

static void build_heap(struct reader *r)
{
	g_autofree unsigned *sorted = g_new(unsigned, r->cursors->len + 1);
	unsigned n = 0;
	for (guint i = 0; i < r->cursors->len; i++)
		if (cursor_at(r, i)->out.n)
			sorted[n++] = i;
	sort_array(sorted, n, sizeof *sorted, compare_orders, r);
	r->heap = g_new0(struct merge_head, n + 1);
	r->n_heap = n;
	for (unsigned i = 0; i < n; i++) {
		struct cursor *k = cursor_at(r, sorted[i]);
		k->rank = i;
		k->stream = k->out.ev[0].stream;
		r->heap[i] = (struct merge_head){ k->out.ev[0].ts, i, sorted[i] };
	}
	g_assert(n <= r->cursors->len);
	merge_build(r->heap, n);
}

/* Reads the first messages of all streams, pins the clocks, then makes the first records. */
static bool prime(struct reader *r)
{
	g_autoptr(GPtrArray) streams = g_ptr_array_new();
	bool ok = true;
	for (guint i = 0; i < r->cursors->len; i++) {
		struct cursor *k = cursor_at(r, i);
		if (!ask(r, k, &k->held, &k->n_held))
			return false;
		if (!k->n_held ||
		    bt_message_get_type(k->held[0]) != BT_MESSAGE_TYPE_STREAM_BEGINNING)
			continue;
		const bt_stream *st = bt_message_stream_beginning_borrow_stream_const(k->held[0]);
		if (bt_stream_get_name(st)) {
			g_free(k->name);
			k->name = g_strdup(bt_stream_get_name(st));
		}
		g_ptr_array_add(streams, (void *)st);
	}
	bt2_convert_pin_clocks(r->convert, (const bt_stream *const *)streams->pdata, streams->len);
	for (guint i = 0; ok && i < r->cursors->len; i++) {
		struct cursor *k = cursor_at(r, i);
		uint64_t n = k->n_held;
		k->n_held = 0;
		choose_arena(r, k);
		ok = convert_all(r, k, k->held, n) && (k->out.n || refill(r, k));
	}
	if (ok)
		build_heap(r);
	return ok;
}

/* -- the sink component --------------------------------------------------- */

static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self)
{
	struct reader *r = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));
	if (!r->primed) {
		r->primed = true;
		if (!prime(r))
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
	}
	while (r->n_heap && r->n_batch < BLK_BATCH)
		if (!take_run(r))
			break;
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *config,
	   const bt_value *params, void *data)
{
	struct reader *r = data;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), r);
	for (guint i = 0; i < r->cursors->len; i++) {
		g_autofree char *name = g_strdup_printf("in%u", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
configured(bt_self_component_sink *self)
{
	struct reader *r = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));
	for (guint i = 0; i < r->cursors->len; i++) {
		bt_self_component_port_input *port =
			bt_self_component_sink_borrow_input_port_by_index(self, i);
		if (bt_message_iterator_create_from_sink_component(self, port,
								   &cursor_at(r, i)->it) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* -- a source ------------------------------------------------------------- */

static void put_messages(struct cursor *k)
{
	for (uint64_t i = 0; i < k->n_held; i++)
		bt_message_put_ref(k->held[i]);
	k->n_held = 0;
}

static void reader_free(struct source *s)
{
	struct reader *r = (struct reader *)s;
	for (guint i = 0; i < r->cursors->len; i++) {
		struct cursor *k = cursor_at(r, i);
		put_messages(k);
		bt_message_iterator_put_ref(k->it);
		k->out.arena = NULL;
		bt2_out_clear(&k->out);
		arena_clear(&k->arena[0]);
		arena_clear(&k->arena[1]);
		g_free(k->name);
	}
	bt2_convert_free(r->convert);
	bt_graph_put_ref(r->graph);
	bt2_class_give(r->fs);
	g_array_unref(r->cursors);
	bt2_sizes_clear(&r->sizes);
	g_clear_error(&r->error);
	g_free(r->heap);
	source_clear(&r->source);
	g_free(r);
}

static enum source_status reader_next(struct source *s, struct blk_batch *ret, GError **error)
{
	struct reader *r = (struct reader *)s;
	if (r->error) {
		g_propagate_error(error, g_error_copy(r->error));
		return SOURCE_ERROR;
	}
	if (r->ended)
		return SOURCE_END;
	if (g_atomic_int_get(&r->cancelled))
		return SOURCE_CANCELLED;
	r->batch_number++;
	r->n_batch = 0;
	bt_graph_run_once_status status = bt_graph_run_once(r->graph);
	if (status != BT_GRAPH_RUN_ONCE_STATUS_OK && !r->error)
		bt2_set_error(&r->error, BLK_TRACE_ERROR_INTERNAL, "cannot read the trace");
	if (g_atomic_int_get(&r->cancelled))
		return SOURCE_CANCELLED;
	if (r->n_batch) {		/* records from before an error are delivered */
		*ret = (struct blk_batch){ r->batch, r->n_batch };
		return SOURCE_OK;
	}
	r->ended = !r->error;
	return reader_next(s, ret, error);
}

static void reader_cancel(struct source *s)
{
	g_atomic_int_set(&((struct reader *)s)->cancelled, 1);
}

static double reader_progress(struct source *s)
{
	struct reader *r = (struct reader *)s;
	if (r->ended)
		return 1;
	if (!r->sizes.indexed || r->sizes.indexed < r->sizes.total / 2)
		return -1;
	return MIN(1, (double)r->consumed / (double)r->sizes.indexed);
}

static const struct source_ops reader_ops = {
	.next = reader_next, .cancel = reader_cancel, .progress = reader_progress, .free = reader_free,
};

static bool add_sink(struct reader *r, const bt_component_sink **sink)
{
	bt_component_class_sink *cls = bt_component_class_sink_create("blktop", consume);
	bt_component_class_sink_set_initialize_method(cls, initialize);
	bt_component_class_sink_set_graph_is_configured_method(cls, configured);
	bool ok = bt_graph_add_sink_component_with_initialize_method_data(
			  r->graph, cls, "merge", NULL, r, BT_LOGGING_LEVEL_NONE, sink) ==
		  BT_GRAPH_ADD_COMPONENT_STATUS_OK;
	bt_component_class_sink_put_ref(cls);
	return ok;
}

/* Makes one cursor for each output port of the sources, in the order of `ports`. */
static bool connect_all(struct reader *r, GPtrArray *sources)
{
	g_autoptr(GPtrArray) ports = g_ptr_array_new();
	const bt_component_sink *sink;
	for (guint i = 0; i < sources->len; i++) {
		uint64_t n = bt_component_source_get_output_port_count(sources->pdata[i]);
		for (uint64_t j = 0; j < n; j++)
			g_ptr_array_add(ports, (void *)
				bt_component_source_borrow_output_port_by_index_const(
					sources->pdata[i], j));
	}
	g_array_set_size(r->cursors, ports->len);
	if (!add_sink(r, &sink))
		return false;
	for (guint i = 0; i < ports->len; i++) {
		cursor_at(r, i)->name = g_strdup(bt_port_get_name(
			bt_port_output_as_port_const(ports->pdata[i])));
		if (bt_graph_connect_ports(r->graph, ports->pdata[i],
					   bt_component_sink_borrow_input_port_by_index_const(sink, i),
					   NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return false;
	}
	return true;
}

static bool reader_open(struct reader *r, GPtrArray *dirs, GError **error)
{
	g_autoptr(GPtrArray) uuids = g_ptr_array_new_with_free_func(g_free);
	bool any_ctf2 = false;
	for (guint i = 0; i < dirs->len; i++) {
		struct bt2_metadata m = { 0 };
		bool ok = bt2_check_dir(dirs->pdata[i], &r->sizes, &m, error);
		g_ptr_array_add(uuids, m.uuid);
		if (!ok)
			return false;
		any_ctf2 = any_ctf2 || m.is_ctf2;
	}
	r->fs = bt2_class_take("fs", error);
	if (!r->fs)
		return false;
	g_autoptr(GHashTable) apart = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GPtrArray) sources = NULL;
	g_autoptr(GError) reason = NULL;
	while (!sources && !reason) {
		bt_graph_put_ref(r->graph);
		r->graph = bt_graph_create(bt2_mip_for(any_ctf2));
		sources = bt2_add_sources(r->graph, r->fs, dirs, uuids, apart, &reason);
	}
	if (!sources) {
		g_propagate_error(error, g_steal_pointer(&reason));
		return false;
	}
	if (connect_all(r, sources))
		return true;
	bt2_set_error(error, BLK_TRACE_ERROR_INTERNAL, "cannot read the trace");
	return false;
}

/* Reads all events, as where in a packet some were discarded follows from their sizes. */
static void read_losses(struct reader *r, blk_native *n)
{
	struct source *s = native_range(n, INT64_MIN, INT64_MAX, 0);
	struct blk_batch batch;
	while (source_next(s, &batch, NULL) == SOURCE_OK)
		for (size_t i = 0; i < batch.n; i++) {
			const struct blk_event *e = &batch.ev[i];
			const struct blk_loss *l = (const struct blk_loss *)e->data;
			if (e->row == BLK_ROW_LOST_BEGIN && !l->silence && !l->packets)
				bt2_convert_loss(r->convert, blk_stream(&s->tables, e->stream)->order, l);
		}
	source_free(s);
}

/* Finds pauses, falls of discarded counters, the time for which each stream and host was traced, and the hosts'
 * machines. This needs the packet headers of all streams at once; unreadable headers are left out. */
static void read_headers(struct reader *r, const char *const *paths, const struct blk_subscription *rows,
			size_t n_rows)
{
	g_autoptr(blk_native) n = native_open(paths, rows, n_rows, NULL);
	if (!n)
		return;
	while (native_index(n, 4096)) {
	}
	native_each_pause(n, bt2_convert_pause, r->convert);
	native_each_fall(n, bt2_convert_fall, r->convert);
	native_each_recorded(n, bt2_convert_recorded, r->convert);
	native_each_extent(n, bt2_convert_extent, r->convert);
	native_each_machine(n, bt2_convert_machine, r->convert);
	if (native_has_lost(n))
		read_losses(r, n);
}

struct source *source_open_bt2(const char *const *paths, const struct blk_subscription *rows,
			       size_t n_rows, GError **error)
{
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, error);
	if (!dirs)
		return NULL;
	struct reader *r = g_new0(struct reader, 1);
	source_init(&r->source, &reader_ops);
	r->cursors = g_array_new(FALSE, TRUE, sizeof(struct cursor));
	r->convert = bt2_convert_new(&r->source, rows, n_rows);
	bt2_sizes_init(&r->sizes);
	read_headers(r, paths, rows, n_rows);
	if (reader_open(r, dirs, error))
		return &r->source;
	reader_free(&r->source);
	return NULL;
}
