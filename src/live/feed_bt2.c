/* SPDX-License-Identifier: GPL-2.0-only */
/* One babeltrace2 graph on its thread: see feed_bt2.h. */
#include "live/feed_bt2.h"

#include "live/gate.h"

#define BLOCK_RECORDS 512		/* a block is handed over with about so many */
#define BLOCK_US 20000			/* or after so long */
#define QUEUE_RECORDS 400000		/* then the relay has to keep the rest */
#define N_SPARE 8

/* What only the feed's thread touches. */
struct feed_thread {
	struct feed_bt2 *feed;
	enum viewer_seek seek;
	struct source source;		/* its own tables */
	struct bt2_convert *convert;
	struct feed_block *block;	/* being filled */
	int64_t block_since;
	guint n_streams, n_hosts, n_classes;	/* entries handed over */
	int64_t last;			/* of records so far */
	GArray *early;			/* struct blk_event: ends of losses still to come */
	GError *error;
	unsigned gate_streams;
};

/* babeltrace2's objects may be used by one thread at a time; its table of component
 * classes is shared by all of them. */
static GMutex graph_lock;

/* -- blocks ---------------------------------------------------------------- */

static struct feed_block *block_new(void)
{
	struct feed_block *b = g_new0(struct feed_block, 1);

	b->streams = g_ptr_array_new();
	b->hosts = g_ptr_array_new();
	b->classes = g_ptr_array_new();
	return b;
}

static void block_free(gpointer p)
{
	struct feed_block *b = p;

	bt2_out_clear(&b->out);
	g_ptr_array_unref(b->streams);
	g_ptr_array_unref(b->hosts);
	g_ptr_array_unref(b->classes);
	g_free(b);
}

void feed_recycle(struct feed_bt2 *f, struct feed_block *b)
{
	if (g_queue_get_length(&f->spare) >= N_SPARE) {
		block_free(b);
		return;
	}
	bt2_out_reset(&b->out);
	b->at = 0;
	g_ptr_array_set_size(b->streams, 0);
	g_ptr_array_set_size(b->hosts, 0);
	g_ptr_array_set_size(b->classes, 0);
	g_queue_push_tail(&f->spare, b);
}

static void hand_entries(GPtrArray *to, GPtrArray *from, guint *n)
{
	while (*n < from->len)
		g_ptr_array_add(to, g_ptr_array_index(from, (*n)++));
}

/* Gives the block to the merger; waits while that one has too many. */
static void publish(struct feed_thread *t)
{
	struct feed_bt2 *f = t->feed;
	struct feed_owner *o = f->feed.owner;
	struct feed_block *b = t->block;

	hand_entries(b->streams, t->source.tables.streams, &t->n_streams);
	hand_entries(b->hosts, t->source.tables.hosts, &t->n_hosts);
	hand_entries(b->classes, t->source.tables.classes, &t->n_classes);
	g_mutex_lock(&o->lock);
	f->feed.streams = t->gate_streams;
	f->horizon = MAX(f->horizon, t->last);
	o->newest = MAX(o->newest, t->last);
	if (b->out.n) {
		b->arrived = g_get_monotonic_time();
		f->feed.queued += b->out.n;
		g_queue_push_tail(&f->blocks, b);
		t->block = g_queue_pop_head(&f->spare);
		g_cond_broadcast(&o->arrived);
	}
	while (f->feed.queued > QUEUE_RECORDS && !feed_stopped(&f->feed))
		g_cond_wait(&o->taken, &o->lock);
	g_mutex_unlock(&o->lock);
	if (!t->block)
		t->block = block_new();
	t->block_since = g_get_monotonic_time();
}

/* -- records --------------------------------------------------------------- */

static bool is_discard(const bt_message *msg)
{
	bt_message_type type = bt_message_get_type(msg);

	return type == BT_MESSAGE_TYPE_DISCARDED_PACKETS ||
	       type == BT_MESSAGE_TYPE_DISCARDED_EVENTS;
}

/* Takes a loss's end, which lies ahead of what other streams still say, out. */
static void set_aside(struct feed_thread *t, size_t i)
{
	struct bt2_out *out = &t->block->out;
	struct blk_event e = out->ev[i];

	/* its data may be in a block that is gone by then */
	e.data = g_memdup2(e.data, sizeof(struct blk_loss));
	g_array_append_val(t->early, e);
	memmove(out->ev + i, out->ev + i + 1, (out->n - i - 1) * sizeof *out->ev);
	out->n--;
}

/* Puts one that was set aside back, before record i; true when there was one. */
static bool put_back(struct feed_thread *t, size_t i)
{
	struct bt2_out *out = &t->block->out;
	guint first = 0;

	for (guint k = 1; k < t->early->len; k++) {
		if (g_array_index(t->early, struct blk_event, k).ts <
		    g_array_index(t->early, struct blk_event, first).ts)
			first = k;
	}
	if (!t->early->len)
		return false;
	struct blk_event e = g_array_index(t->early, struct blk_event, first);
	if (i < out->n && e.ts > out->ev[i].ts)
		return false;
	g_array_remove_index(t->early, first);
	struct blk_loss *loss = arena_alloc(out->arena ? out->arena : &out->own, sizeof *loss);
	memcpy(loss, e.data, sizeof *loss);
	g_free((gpointer)e.data);
	e.data = (const uint8_t *)loss;
	if (out->n == out->cap) {
		out->cap = MAX(64, out->cap * 2);
		out->ev = g_renew(struct blk_event, out->ev, out->cap);
	}
	memmove(out->ev + i + 1, out->ev + i, (out->n - i) * sizeof *out->ev);
	out->ev[i] = e;
	out->n++;
	return true;
}

/* Brings the records from `from` on, of one message, into the order of time. */
static void settle(struct feed_thread *t, size_t from, bool discard)
{
	struct bt2_out *out = &t->block->out;

	for (size_t i = from; i < out->n; i++) {
		if (discard && out->ev[i].row == BLK_ROW_LOST_END && out->ev[i].ts > t->last) {
			set_aside(t, i--);
			continue;
		}
		if (G_UNLIKELY(t->early->len))
			put_back(t, i);
		if (out->ev[i].ts < t->last)
			out->ev[i].ts = t->last;
		t->last = out->ev[i].ts;
	}
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator,
								  void *data)
{
	struct feed_thread *t = data;
	bt_message_array_const msgs;
	uint64_t n;
	bool ok = true;
	bt_message_iterator_next_status st = bt_message_iterator_next(iterator, &msgs, &n);

	if (st != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_graph_simple_sink_component_consume_func_status)st;
	for (uint64_t i = 0; i < n; i++) {
		size_t from = t->block->out.n;
		ok = ok && bt2_convert_message(t->convert, msgs[i], &t->block->out, &t->error);
		settle(t, from, is_discard(msgs[i]));
		bt_message_put_ref(msgs[i]);
	}
	return ok ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK
		  : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

/* -- the graph ------------------------------------------------------------- */

static bt_value *make_params(const char *url)
{
	bt_value *params = bt_value_map_create(), *inputs = NULL;

	bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
	bt_value_array_append_string_element(inputs, url);
	bt_value_map_insert_string_entry(params, "session-not-found-action", "end");
	return params;
}

static bool connect_components(bt_graph *graph, const bt_component_class_source *cls,
			       const char *url, struct feed_thread *t)
{
	const bt_component_source *source = NULL;
	const bt_component_sink *sink = NULL;
	bt_value *params = make_params(url);
	bool ok = !bt_graph_add_source_component(graph, cls, "live", params, BT_LOGGING_LEVEL_NONE,
						 &source) &&
		  !bt_graph_add_simple_sink_component(graph, "records", NULL, consume, NULL, t,
						      &sink) &&
		  !bt_graph_connect_ports(graph,
			bt_component_source_borrow_output_port_by_index_const(source, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);

	bt_value_put_ref(params);
	return ok;
}

static bt_graph *make_graph(const char *url, struct feed_thread *t)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *cls = NULL;
	bt_graph *graph = NULL;

	g_mutex_lock(&graph_lock);
	if (!bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, &plugin))
		cls = bt_plugin_borrow_source_component_class_by_name_const(plugin, "lttng-live");
	if (cls)
		graph = bt_graph_create(0);
	if (graph && !connect_components(graph, cls, url, t))
		BT_GRAPH_PUT_REF_AND_RESET(graph);
	bt_plugin_put_ref(plugin);
	g_mutex_unlock(&graph_lock);
	return graph;
}

static void free_graph(bt_graph *graph)
{
	g_mutex_lock(&graph_lock);
	bt_graph_put_ref(graph);
	g_mutex_unlock(&graph_lock);
	bt_current_thread_clear_error();
}

/* Until the graph ends or is asked to: its last status. */
static bt_graph_run_once_status run_graph(bt_graph *graph, struct gate *gate, struct feed_thread *t)
{
	int64_t pause = CLAMP(t->feed->feed.session.timer_us / 10, 2000, 20000);

	for (;;) {
		bt_graph_run_once_status st = bt_graph_run_once(graph);
		bool again = st == BT_GRAPH_RUN_ONCE_STATUS_AGAIN;
		t->gate_streams = gate_streams(gate);
		if (again || t->block->out.n >= BLOCK_RECORDS ||
		    g_get_monotonic_time() - t->block_since >= BLOCK_US)
			publish(t);
		if (feed_stopped(&t->feed->feed) || (!again && st != BT_GRAPH_RUN_ONCE_STATUS_OK))
			return st;
		if (again)
			net_sleep(t->feed->feed.wake_fd, g_get_monotonic_time() + pause);
	}
}

/* -- the thread ------------------------------------------------------------ */

/* Runs to the end; how it ended, and why. */
static enum feed_end run_gate(struct feed_thread *t, char **why)
{
	static const enum feed_end ends[] = {
		[GATE_OPEN] = FEED_BROKEN, [GATE_CLOSED] = FEED_BROKEN, [GATE_LOST] = FEED_LOST,
		[GATE_TAKEN] = FEED_TAKEN, [GATE_GONE] = FEED_SESSION_OVER,
		[GATE_REFUSED] = FEED_BROKEN,
	};
	struct feed *f = &t->feed->feed;
	g_autoptr(GError) error = NULL;
	bt_graph_run_once_status st = BT_GRAPH_RUN_ONCE_STATUS_ERROR;
	struct gate *gate = gate_open(f->url, &f->session, t->seek, f->owner->timeout_ms,
				      f->wake_fd, &error);
	if (!gate) {
		*why = g_strdup(error->message);
		return FEED_LOST;
	}
	bt_graph *graph = make_graph(gate_url(gate), t);
	if (graph) {
		feed_set_attached(f);
		st = run_graph(graph, gate, t);
	}
	if (!graph || st < 0)
		bt2_set_error(&error, BLK_TRACE_ERROR_CORRUPT, "cannot read the live data");
	bool over = st == BT_GRAPH_RUN_ONCE_STATUS_END;
	/* first the gate: the graph's farewell to the relay must not wait for it */
	enum gate_end end = gate_close(gate, why);
	gate_free(gate);
	if (graph)
		free_graph(graph);
	if (over && (end == GATE_CLOSED || end == GATE_OPEN))
		return FEED_SESSION_OVER;
	if (!*why)
		*why = g_strdup(t->error ? t->error->message : error ? error->message : NULL);
	return ends[end];
}

static enum feed_end run(struct feed *f, char **why)
{
	struct feed_thread *t = ((struct feed_bt2 *)f)->own;
	enum feed_end end = run_gate(t, why);

	size_t from = t->block->out.n;
	bt2_convert_flush(t->convert, &t->block->out);
	settle(t, from, false);
	while (put_back(t, t->block->out.n))
		t->last = MAX(t->last, t->block->out.ev[t->block->out.n - 1].ts);
	publish(t);
	return end;
}

static void free_feed(struct feed *feed)
{
	struct feed_bt2 *f = (struct feed_bt2 *)feed;
	struct feed_thread *t = f->own;

	bt2_convert_free(t->convert);
	source_clear(&t->source);
	block_free(t->block);
	for (guint i = 0; i < t->early->len; i++)
		g_free((gpointer)g_array_index(t->early, struct blk_event, i).data);
	g_array_unref(t->early);
	g_clear_error(&t->error);
	g_free(t);
	g_queue_clear_full(&f->blocks, block_free);
	g_queue_clear_full(&f->spare, block_free);
	g_array_unref(f->stream_map);
	g_array_unref(f->host_map);
	g_array_unref(f->class_map);
	g_array_unref(f->open);
	g_free(f);
}

static const struct source_ops private_ops = { 0 };	/* the tables are all it is for */
static const struct feed_kind kind = { run, free_feed };

struct feed *feed_bt2_new(struct feed_owner *owner, const struct live_url *url,
			  const struct viewer_session *session, enum viewer_seek seek,
			  struct bt2_clocks *clocks)
{
	struct feed_bt2 *f = g_new0(struct feed_bt2, 1);
	struct feed_thread *t = g_new0(struct feed_thread, 1);

	feed_init(&f->feed, &kind, owner, url, session);
	f->horizon = INT64_MIN;
	f->stream_map = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	f->host_map = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	f->class_map = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->open = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	f->own = t;
	t->feed = f;
	t->seek = seek;
	t->last = INT64_MIN;
	t->block = block_new();
	t->early = g_array_new(FALSE, FALSE, sizeof(struct blk_event));
	source_init(&t->source, &private_ops);
	t->convert = bt2_convert_new(&t->source, clocks, owner->rows, owner->n_rows);
	feed_start(&f->feed, "blk-feed");
	return &f->feed;
}
