/* SPDX-License-Identifier: GPL-2.0-only */
/* The pusher's side of the feed: messages go to an inbox, under a lock that is only held for short. */
#include "trace/native/native_feed_private.h"

#include "trace/ctf/layouts.h"

static int64_t monotonic(void *data)
{
	return g_get_monotonic_time();
}

void feed_message_clear(struct feed_message *x)
{
	g_clear_pointer(&x->bytes, g_bytes_unref);
	g_clear_pointer(&x->name, g_free);
}

gsize feed_message_bytes(const struct feed_message *x)
{
	return x->kind == FEED_TRACE ? FEED_TRACE_BYTES :
	       x->kind == FEED_STREAM ? FEED_STREAM_BYTES : FEED_MESSAGE_BYTES;
}

static void clear_message(void *x)
{
	feed_message_clear(x);
}

static void free_message(void *p)
{
	clear_message(p);
	g_free(p);
}

static void stream_free(void *p)
{
	struct feed_stream *x = p;
	g_queue_clear_full(&x->waiting, free_message);
	if (x->track)
		feed_track_free(x->track);
	g_free(x->name);
	g_free(x);
}

static void feed_cancel(struct source *s)
{
	struct native_feed *f = (struct native_feed *)s;
	g_atomic_int_set(&f->s.cancelled, 1);
	native_feed_wake(f);
}

static void feed_free(struct source *s)
{
	native_feed_free((struct native_feed *)s);
}

static const struct source_ops feed_ops = {
	.next = feed_next, .cancel = feed_cancel, .free = feed_free, .take_late = feed_take_late,
};

static GArray *messages_new(void)
{
	GArray *a = g_array_new(FALSE, FALSE, sizeof(struct feed_message));
	g_array_set_clear_func(a, clear_message);
	return a;
}

static void boot_free(void *p)
{
	struct feed_boot *boot = p;
	g_free(boot->host);
	g_free(boot);
}

static void ended_track_free(void *p)
{
	feed_track_free(p);
}

struct native_feed *native_feed_new(const struct blk_subscription *rows, size_t n_rows)
{
	struct native_feed *f = g_new0(struct native_feed, 1);
	source_init(&f->s.source, &feed_ops);
	f->s.native = f->s.owned = native_new(rows, n_rows);
	f->s.from = INT64_MIN;
	f->s.to = INT64_MAX;
	f->s.layouts = layouts_new();
	f->s.open = g_array_new(FALSE, FALSE, sizeof(struct native_loss));
	f->now = monotonic;
	g_mutex_init(&f->lock);
	g_cond_init(&f->pushed);
	f->inbox = messages_new();
	f->taken = messages_new();
	f->all = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, stream_free);
	f->traces = g_ptr_array_new_with_free_func(feed_trace_free);
	f->streams = g_ptr_array_new();
	f->free_slots = g_array_new(FALSE, FALSE, sizeof(guint));
	f->ended_streams = g_ptr_array_new();
	f->pending = g_ptr_array_new();
	f->order = g_ptr_array_new();
	f->cut = g_hash_table_new(g_str_hash, g_str_equal);
	f->boots = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, boot_free);
	f->retired = g_array_new(FALSE, FALSE, sizeof(struct feed_packet));
	g_array_set_clear_func(f->retired, feed_packet_clear);
	f->ended_tracks = g_ptr_array_new_with_free_func(ended_track_free);
	f->newest_ns = f->last_ns = f->reported_horizon_ns = INT64_MIN;
	f->late_from_ns = INT64_MAX;
	f->late_to_ns = INT64_MIN;
	f->status = (struct native_feed_status){
		.newest_ns = INT64_MIN, .horizon_ns = INT64_MIN, .late_from_ns = INT64_MAX,
		.late_to_ns = INT64_MIN, .stalled_stream = -1, .waits_for = -1,
	};
	return f;
}

void native_feed_free(struct native_feed *f)
{
	if (!f)
		return;
	g_array_unref(f->inbox);
	g_array_unref(f->taken);
	g_array_unref(f->retired);
	g_ptr_array_unref(f->ended_tracks);
	g_hash_table_unref(f->cut);
	g_ptr_array_unref(f->pending);
	g_ptr_array_unref(f->order);
	g_ptr_array_unref(f->streams);
	g_array_unref(f->free_slots);
	g_ptr_array_unref(f->ended_streams);
	g_queue_clear(&f->cut_order);
	g_hash_table_unref(f->all);
	g_ptr_array_unref(f->traces);
	g_hash_table_unref(f->boots);
	g_mutex_clear(&f->lock);
	g_cond_clear(&f->pushed);
	f->s.n_cursors = 0;		/* freed with the tracks */
	native_source_clear(&f->s);
	g_free(f);
}

struct source *native_feed_source(struct native_feed *f)
{
	return &f->s.source;
}

/* ---- pushing ---- */

static void push_locked(struct native_feed *f, struct feed_message message)
{
	if (!f->inbox->len)
		g_cond_broadcast(&f->pushed);
	g_atomic_pointer_add(&f->beside, (gssize)feed_message_bytes(&message));
	g_array_append_val(f->inbox, message);
}

static void push(struct native_feed *f, struct feed_message message)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	push_locked(f, message);
}

unsigned native_feed_add_trace(struct native_feed *f, const char *name)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	unsigned number = f->n_traces++;
	push_locked(f, (struct feed_message){ .kind = FEED_TRACE, .number = number,
					   .name = g_strdup(name) });
	return number;
}

void native_feed_metadata(struct native_feed *f, unsigned trace, GBytes *bytes)
{
	g_atomic_pointer_add(&f->queued, (gssize)g_bytes_get_size(bytes));
	g_atomic_pointer_add(&f->beside, (gssize)g_bytes_get_size(bytes) * (FEED_PARSED - 1));
	push(f, (struct feed_message){ .kind = FEED_METADATA, .number = trace, .bytes = bytes });
}

void native_feed_metadata_restart(struct native_feed *f, unsigned trace)
{
	push(f, (struct feed_message){ .kind = FEED_RESTART, .number = trace });
}

void native_feed_end_trace(struct native_feed *f, unsigned trace)
{
	push(f, (struct feed_message){ .kind = FEED_TRACE_END, .number = trace });
}

unsigned native_feed_add_stream(struct native_feed *f, unsigned trace, const char *name,
				int64_t late_us)
{
	struct feed_stream *x = g_new0(struct feed_stream, 1);
	x->name = g_strdup(name);
	g_queue_init(&x->waiting);
	x->beacon_ns = x->overtaken_ns = INT64_MIN;
	g_mutex_lock(&f->lock);
	x->number = f->n_streams++;
	g_hash_table_insert(f->all, GUINT_TO_POINTER(x->number), x);
	push_locked(f, (struct feed_message){ .kind = FEED_STREAM, .number = x->number,
					   .class_id = trace, .late_us = late_us });
	g_mutex_unlock(&f->lock);
	return x->number;
}

void native_feed_touch(struct native_feed *f, unsigned stream)
{
	push(f, (struct feed_message){ .kind = FEED_TOUCH, .number = stream });
}

static struct feed_stream *find_locked(const struct native_feed *f, unsigned stream)
{
	return g_hash_table_lookup(f->all, GUINT_TO_POINTER(stream));
}

void native_feed_packet(struct native_feed *f, unsigned stream, GBytes *packet,
			const struct native_feed_index *index)
{
	struct feed_message message = { .kind = FEED_PACKET, .number = stream, .bytes = packet };
	gsize size = g_bytes_get_size(packet);
	g_mutex_lock(&f->lock);
	struct feed_stream *x = find_locked(f, stream);
	bool known = stream < f->n_streams;
	if (known) {
		g_atomic_pointer_add(&f->queued, (gssize)size);
		if (size)
			g_atomic_pointer_add(&f->beside, FEED_PACKET_BYTES);
		if (x)
			g_atomic_pointer_add(&x->queued, (gssize)size);
		message.has_index = index != NULL;
		if (index)
			message.index = *index;
		push_locked(f, message);
	}
	g_mutex_unlock(&f->lock);
	if (!known)
		g_bytes_unref(packet);
}

void native_feed_beacon(struct native_feed *f, unsigned stream, uint64_t stream_class,
			uint64_t cycles)
{
	push(f, (struct feed_message){ .kind = FEED_BEACON, .number = stream,
				    .class_id = stream_class, .cycles = cycles });
}

void native_feed_end_stream(struct native_feed *f, unsigned stream)
{
	push(f, (struct feed_message){ .kind = FEED_STREAM_END, .number = stream });
}

void native_feed_cut_stream(struct native_feed *f, unsigned stream)
{
	push(f, (struct feed_message){ .kind = FEED_STREAM_CUT, .number = stream });
}

void native_feed_end(struct native_feed *f)
{
	push(f, (struct feed_message){ .kind = FEED_END });
}

/* ---- state ---- */

void feed_unqueue(struct native_feed *f, struct feed_stream *x, gsize bytes)
{
	g_assert((gsize)g_atomic_pointer_get(&f->queued) >= bytes);	/* only the taker subtracts */
	g_assert(!x || (gsize)g_atomic_pointer_get(&x->queued) >= bytes);
	g_atomic_pointer_add(&f->queued, -(gssize)bytes);
	if (bytes)
		g_atomic_pointer_add(&f->beside, -(gssize)FEED_PACKET_BYTES);
	if (x)
		g_atomic_pointer_add(&x->queued, -(gssize)bytes);
}

void feed_parsed(struct native_feed *f, gsize bytes)
{
	g_atomic_pointer_add(&f->queued, -(gssize)bytes);
	g_atomic_pointer_add(&f->beside, -(gssize)bytes * (FEED_PARSED - 1));
}

uint64_t native_feed_waiting(const struct native_feed *f)
{
	return native_feed_queued(f) + (gsize)g_atomic_pointer_get(&((struct native_feed *)f)->beside);
}

void native_feed_set_bound(struct native_feed *f, uint64_t bytes)
{
	f->bound = bytes;
}

uint64_t native_feed_bytes(const struct native_feed *f)
{
	return (gsize)g_atomic_pointer_get(&((struct native_feed *)f)->held);
}

int native_feed_awaited(struct native_feed *f)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	return f->status.waits_for;
}

uint64_t native_feed_queued(const struct native_feed *f)
{
	return (gsize)g_atomic_pointer_get(&((struct native_feed *)f)->queued);
}

bool native_feed_wants(struct native_feed *f, unsigned stream)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	struct feed_stream *x = find_locked(f, stream);
	return x && !(gsize)g_atomic_pointer_get(&x->queued);
}

void native_feed_wait(struct native_feed *f, int64_t timeout_us)
{
	int64_t deadline = g_get_monotonic_time() + timeout_us;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	while (!f->inbox->len && !f->woken && g_cond_wait_until(&f->pushed, &f->lock, deadline))
		;
	f->woken = false;
}

void native_feed_wake(struct native_feed *f)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	f->woken = true;
	g_cond_broadcast(&f->pushed);
}

void native_feed_get_status(struct native_feed *f, struct native_feed_status *ret)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	*ret = f->status;
}

char *native_feed_stream_name(struct native_feed *f, unsigned stream)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	const struct feed_stream *x = find_locked(f, stream);
	char *name = x ? g_strdup(x->name) : NULL;
	return name;
}
