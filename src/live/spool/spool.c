/* SPDX-License-Identifier: GPL-2.0-only */
/* The spool: the queue of pushed data, and the thread that checks and writes it. See spool.h. */
#include "live/spool/spool.h"

#include "live/spool/spool_files.h"
#include "live/spool/stream_format.h"
#include "trace/reader.h"

#include "base/disk.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/pages.h"
#include "base/text.h"

#include <string.h>

enum op_kind {
	OP_TRACE, OP_METADATA, OP_RESTART, OP_END_TRACE, OP_STREAM, OP_PACKET, OP_BEACON, OP_END_STREAM, OP_END, N_OPS
};

struct op {
	enum op_kind kind;
	unsigned number;		/* of the trace or stream */
	unsigned trace;			/* of a new stream */
	char *name;
	GBytes *bytes;
	uint64_t beacon[2];		/* little endian: stream class, cycles */
};

/* The writer's state of a trace, until the trace ends. */
struct spooled_trace {
	GByteArray *text;		/* metadata so far */
	struct ctf_meta *meta;		/* parsed from .text, up to its last complete declaration */
	struct ctf_pieces *pieces;
	bool failed;			/* .text cannot be parsed; it is stored for other readers */
	bool fresh;			/* .text has more declarations than the files */
	bool written;			/* the files have metadata with which packets can be read, if any can */
	bool has_packets;		/* the files have packets */
	bool refuses;			/* over the limit of size: no packets are stored */
	GQueue waiting;			/* struct op *: packets that came before their metadata, in order */
	gint64 waits_since;		/* monotonic: of the first of them */
};

struct spool {
	gatomicrefcount refs;
	GThread *thread;
	int fd;				/* what a stream is written to (stream_format.h); -1: files */
	struct spool_files *files;	/* the writer's, up to .chunks; NULL: a stream */
	struct pages traces;		/* struct spooled_trace */
	GPtrArray *chunks;		/* struct spool_range *: time range of each chunk, from chunk 1 on */
	uint64_t waiting;		/* bytes of the packets that wait for metadata: .waiting of the traces */

	unsigned n_traces, n_streams;	/* used by the pushing thread */

	GMutex lock;			/* protects the following fields */
	GCond changed;
	GQueue queue;			/* struct op * */
	uint64_t queued, pushed, done;	/* bytes in .queue; operations pushed; operations done */
	bool quit, ended;
	struct spool_status status;
};

struct spool_range { int64_t from, to; };

static void op_free(void *data)
{
	struct op *o = data;
	g_free(o->name);
	g_clear_pointer(&o->bytes, g_bytes_unref);
	g_free(o);
}

static uint64_t size_of(const struct op *o)
{
	return o->bytes ? g_bytes_get_size(o->bytes) : 0;
}

static uint64_t waiting_size(const struct op *o)
{
	return sizeof *o + size_of(o);
}

static struct spooled_trace *trace_at(const struct spool *s, unsigned trace)
{
	return pages_at(&s->traces, struct spooled_trace, trace);
}

static void drop_trace(struct spool *s, unsigned trace)
{
	struct spooled_trace *t = trace_at(s, trace);

	g_queue_clear_full(&t->waiting, op_free);
	g_byte_array_unref(t->text);
	ctf_pieces_free(t->pieces);
	ctf_meta_free(t->meta);
	pages_drop(&s->traces, trace);
}

static void begin_metadata(struct spooled_trace *t)
{
	ctf_pieces_free(t->pieces);
	ctf_meta_free(t->meta);
	t->meta = ctf_meta_new();
	t->pieces = ctf_pieces_new(t->meta);
	t->failed = false;
}

/* ---- the writer ---- */

static void stop(struct spool *s, const GError *error)
{
	g_autofree char *visible = text_visible(error->message);
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->status.stopped = true;
	g_snprintf(s->status.message, sizeof s->status.message, "%s%s",
		   s->fd < 0 ? "the spool stopped: " : "", visible);
}

static void count(struct spool *s, uint64_t *counter)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	++*counter;
}

static void do_trace(struct spool *s, const struct op *o)
{
	struct spooled_trace *t = pages_put(&s->traces, o->number);
	t->text = g_byte_array_new();
	begin_metadata(t);
	spool_files_add_trace(s->files, o->name);
}

/* The metadata to check packets with; NULL: packets are not checked. */
static const struct ctf_meta *readable(const struct spooled_trace *t)
{
	return !t->failed && t->meta->has_trace && t->meta->streams->len ? t->meta : NULL;
}

/* Writes the metadata once it is enough to read packets. No reader could parse half a declaration at its end: then the
 * first writing leaves that out, and a later one waits for the rest. */
static bool write_metadata(struct spool *s, unsigned number, GError **error)
{
	struct spooled_trace *t = trace_at(s, number);
	bool whole = t->failed || !ctf_pieces_wait(t->pieces);
	size_t n = whole ? t->text->len : ctf_pieces_whole(t->pieces);

	if (!t->fresh || (!t->failed && !readable(t)) || (t->written && !whole))
		return true;
	if (!spool_files_metadata(s->files, number, t->text->data, n, error))
		return false;
	t->fresh = !whole;
	return t->written = true;
}

static void write_waiting(struct spool *s, struct spooled_trace *t, bool all);

static void do_metadata(struct spool *s, const struct op *o)
{
	struct spooled_trace *t = trace_at(s, o->number);
	gsize n;
	const void *bytes = g_bytes_get_data(o->bytes, &n);

	if (!t)
		return;
	if (t->refuses || n > LIMIT_METADATA_BYTES - t->text->len) {
		t->refuses = true;
		return;
	}
	g_byte_array_append(t->text, bytes, (guint)n);
	t->fresh = true;
	t->failed = t->failed || !ctf_pieces_append(t->pieces, bytes, n, NULL);
	g_autoptr(GError) error = NULL;
	/* later metadata is written with the next packet */
	if (t->has_packets && !t->written && !write_metadata(s, o->number, &error))
		stop(s, error);
	write_waiting(s, t, false);
}

static void do_restart(struct spool *s, const struct op *o)
{
	struct spooled_trace *t = trace_at(s, o->number);
	if (!t)
		return;
	g_byte_array_set_size(t->text, 0);
	begin_metadata(t);
	t->fresh = t->refuses = false;
}

static void do_end_trace(struct spool *s, const struct op *o)
{
	struct spooled_trace *t = trace_at(s, o->number);

	if (!t)
		return;
	write_waiting(s, t, true);
	drop_trace(s, o->number);
	spool_files_end_trace(s->files, o->number);
}

static void do_stream(struct spool *s, const struct op *o)
{
	spool_files_add_stream(s->files, o->number, o->name);
}

static int64_t instant(const struct ctf_meta *m, uint64_t cycles)
{
	const struct ctf_clock *k = g_ptr_array_index(m->clocks, 0);
	unsigned __int128 all = (unsigned __int128)k->offset + cycles;
	all = all * 1000000000u / k->freq + (unsigned __int128)MAX(k->offset_s, 0) * 1000000000u;
	return all > INT64_MAX ? INT64_MAX : (int64_t)all;
}

static void note_span(struct spool *s, const struct ctf_meta *m, const struct ctf_packet *p)
{
	unsigned chunk = spool_files_chunk(s->files), oldest = spool_files_oldest(s->files);
	struct spool_range all = { INT64_MAX, INT64_MIN };

	while (s->chunks->len < chunk) {
		struct spool_range *fresh = g_new(struct spool_range, 1);
		*fresh = all;
		g_ptr_array_add(s->chunks, fresh);
	}
	if (p && p->has_begin && p->has_end && m->clocks->len == 1) {
		struct spool_range *now = g_ptr_array_index(s->chunks, chunk - 1);
		now->from = MIN(now->from, instant(m, p->begin));
		now->to = MAX(now->to, instant(m, p->end));
	}
	for (unsigned i = oldest; i <= chunk; i++) {
		const struct spool_range *each = g_ptr_array_index(s->chunks, i - 1);
		all.from = MIN(all.from, each->from);
		all.to = MAX(all.to, each->to);
	}
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->status.bytes = spool_files_bytes(s->files);
	s->status.from_ns = all.from;
	s->status.to_ns = all.to;
}

/* Can later metadata make the packet readable, that is not so yet? */
static bool may_fit_later(const struct spooled_trace *t)
{
	return !t->refuses && (!t->text->len || (readable(t) && ctf_pieces_wait(t->pieces)));
}

/* False: the packet must wait for metadata; `last`: it cannot, and is refused. */
static bool write_packet(struct spool *s, unsigned trace, const struct op *o, bool last)
{
	struct spooled_trace *t = trace_at(s, trace);
	const struct ctf_meta *m = readable(t);
	g_autoptr(GError) error = NULL;
	struct ctf_packet p;
	size_t need;
	gsize n;
	const void *bytes = g_bytes_get_data(o->bytes, &n);
	bool fits = t->text->len && (!m || (ctf_packet_read(m, bytes, n, 0, n, &p, &need, NULL) &&
					    p.fault == CTF_WHOLE && p.packet_bits == (uint64_t)n * 8));

	if (!fits && !last && may_fit_later(t))
		return false;
	if (!fits) {
		count(s, &s->status.refused);
		return true;
	}
	bool ok = write_metadata(s, trace, &error) &&
		  spool_files_packet(s->files, o->number, bytes, n, m ? &p : NULL, &error);
	t->has_packets = true;
	if (ok)
		count(s, &s->status.packets);
	else
		stop(s, error);
	note_span(s, m, m ? &p : NULL);
	return true;
}

/* Writes the packets of the trace that waited for the metadata that is there now. `all`: more will not come. */
static void write_waiting(struct spool *s, struct spooled_trace *t, bool all)
{
	const struct op *o;

	while ((o = g_queue_peek_head(&t->waiting)) && write_packet(s, o->trace, o, all)) {
		g_assert(s->waiting >= waiting_size(o));
		s->waiting -= waiting_size(o);
		op_free(g_queue_pop_head(&t->waiting));
	}
}

/* Metadata that does not come must not keep that of others from being waited for. */
static void make_room(struct spool *s, uint64_t bytes)
{
	while (s->waiting && s->waiting + bytes > LIMIT_SPOOL_QUEUE_BYTES) {
		struct spooled_trace *first = NULL;
		PAGES_EACH(&s->traces, i) {
			struct spooled_trace *t = trace_at(s, i);
			if (!g_queue_is_empty(&t->waiting) && (!first || t->waits_since < first->waits_since))
				first = t;
		}
		g_assert(first);
		write_waiting(s, first, true);
	}
}

static void do_packet(struct spool *s, const struct op *o)
{
	unsigned trace = 0;
	bool known = spool_files_find_stream(s->files, o->number, &trace);
	struct spooled_trace *t = known ? trace_at(s, trace) : NULL;

	if (!t) {
		count(s, &s->status.refused);
		return;
	}
	if (!g_queue_is_empty(&t->waiting) && t->text->len &&
	    g_get_monotonic_time() - t->waits_since > LIMIT_CLASS_MS * G_TIME_SPAN_MILLISECOND)
		write_waiting(s, t, true);
	if (g_queue_is_empty(&t->waiting) && write_packet(s, trace, o, false))
		return;
	make_room(s, waiting_size(o));
	if (g_queue_is_empty(&t->waiting))
		t->waits_since = g_get_monotonic_time();
	struct op *later = g_memdup2(o, sizeof *o);
	later->trace = trace;
	g_bytes_ref(later->bytes);
	g_queue_push_tail(&t->waiting, later);
	s->waiting += waiting_size(o);
}

/* Nothing more will come. */
static void do_end(struct spool *s, const struct op *o)
{
	(void)o;
	PAGES_EACH(&s->traces, i)
		write_waiting(s, trace_at(s, i), true);
}

/* What only a program that reads while it is recorded needs to know. */
static void do_nothing(struct spool *s, const struct op *o)
{
	(void)s, (void)o;
}

static void (*const ops[N_OPS])(struct spool *s, const struct op *o) = {
	[OP_TRACE] = do_trace, [OP_METADATA] = do_metadata, [OP_RESTART] = do_restart,
	[OP_END_TRACE] = do_end_trace, [OP_STREAM] = do_stream, [OP_PACKET] = do_packet,
	[OP_BEACON] = do_nothing, [OP_END_STREAM] = do_nothing, [OP_END] = do_end,
};

/* ---- a stream ---- */

static bool write_out(struct spool *s, const void *bytes, size_t n, GError **error)
{
	return disk_write(s->fd, bytes, n) ||
	       fail(error, G_FILE_ERROR, g_file_error_from_errno(errno), "cannot write the stream: %s",
		    errno == EPIPE ? "its reader has ended" : g_strerror(errno));
}

static bool write_record(struct spool *s, enum stream_kind kind, unsigned number, const void *head, size_t n_head,
			 const void *bytes, size_t n, GError **error)
{
	struct { uint32_t kind, number; uint64_t length; } record = {
		GUINT32_TO_LE(kind), GUINT32_TO_LE(number), GUINT64_TO_LE((uint64_t)n_head + n),
	};
	G_STATIC_ASSERT(sizeof record == STREAM_RECORD_BYTES);
	return write_out(s, &record, sizeof record, error) && (!n_head || write_out(s, head, n_head, error)) &&
	       (!n || write_out(s, bytes, n, error));
}

static void do_record(struct spool *s, const struct op *o)
{
	static const enum stream_kind kinds[N_OPS] = {
		[OP_TRACE] = STREAM_TRACE, [OP_METADATA] = STREAM_METADATA, [OP_RESTART] = STREAM_RESTART,
		[OP_END_TRACE] = STREAM_END_TRACE, [OP_STREAM] = STREAM_STREAM, [OP_PACKET] = STREAM_PACKET,
		[OP_BEACON] = STREAM_BEACON, [OP_END_STREAM] = STREAM_END_STREAM, [OP_END] = STREAM_END,
	};
	g_autoptr(GError) error = NULL;
	uint32_t trace = GUINT32_TO_LE(o->trace);
	const void *head = o->kind == OP_STREAM ? (const void *)&trace : o->beacon;
	size_t n_head = o->kind == OP_STREAM ? sizeof trace : o->kind == OP_BEACON ? sizeof o->beacon : 0;
	gsize n = o->name ? strlen(o->name) : 0;
	const void *bytes = o->bytes ? g_bytes_get_data(o->bytes, &n) : o->name;

	if (!write_record(s, kinds[o->kind], o->number, head, n_head, bytes, n, &error)) {
		stop(s, error);
		return;
	}
	if (o->kind != OP_PACKET)
		return;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->status.packets++;
	s->status.bytes += n;
}

static void *run(void *data)
{
	struct spool *s = data;

	g_mutex_lock(&s->lock);
	while (!s->quit || !g_queue_is_empty(&s->queue)) {
		struct op *o = g_queue_pop_head(&s->queue);
		if (!o) {
			g_cond_wait(&s->changed, &s->lock);
			continue;
		}
		bool stopped = s->status.stopped;
		g_mutex_unlock(&s->lock);
		if (!stopped && s->fd >= 0)
			do_record(s, o);
		else if (!stopped)
			ops[o->kind](s, o);
		g_mutex_lock(&s->lock);
		s->queued -= size_of(o);
		s->done++;
		op_free(o);
		g_cond_broadcast(&s->changed);
	}
	bool stopped = s->status.stopped;
	g_mutex_unlock(&s->lock);
	if (!stopped)
		ops[OP_END](s, NULL);
	g_mutex_lock(&s->lock);
	s->ended = true;
	g_cond_broadcast(&s->changed);
	g_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- the pushing thread ---- */

static void push_op(struct spool *s, struct op op)
{
	GBytes *bytes = op.bytes;
	uint64_t n = bytes ? g_bytes_get_size(bytes) : 0;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	/* A reader that does not read must not let beacons pile up. Later ones say the same. */
	bool full = (op.kind == OP_PACKET && s->queued + n > LIMIT_SPOOL_QUEUE_BYTES) ||
		    (op.kind == OP_BEACON && s->queued > LIMIT_SPOOL_QUEUE_BYTES / 2);
	if (full || s->status.stopped) {
		s->status.dropped += full && op.kind == OP_PACKET && !s->status.stopped;
		g_clear_pointer(&bytes, g_bytes_unref);
	} else {
		struct op *o = g_new(struct op, 1);
		*o = op;
		o->name = g_strdup(op.name);
		g_queue_push_tail(&s->queue, o);
		s->queued += n;
		s->pushed++;
		g_cond_broadcast(&s->changed);
	}
}

static void push(struct spool *s, enum op_kind kind, unsigned number, char *name, GBytes *bytes)
{
	push_op(s, (struct op){ .kind = kind, .number = number, .name = name, .bytes = bytes });
}

unsigned spool_add_trace(struct spool *s, const char *name)
{
	push(s, OP_TRACE, s->n_traces, (char *)name, NULL);
	return s->n_traces++;
}

void spool_metadata(struct spool *s, unsigned trace, GBytes *bytes)
{
	push(s, OP_METADATA, trace, NULL, bytes);
}

void spool_metadata_restart(struct spool *s, unsigned trace)
{
	push(s, OP_RESTART, trace, NULL, NULL);
}

void spool_end_trace(struct spool *s, unsigned trace)
{
	push(s, OP_END_TRACE, trace, NULL, NULL);
}

unsigned spool_add_stream(struct spool *s, unsigned trace, const char *name)
{
	push_op(s, (struct op){ .kind = OP_STREAM, .number = s->fd < 0 ? trace : s->n_streams, .trace = trace,
				.name = (char *)name });
	return s->n_streams++;
}

void spool_beacon(struct spool *s, unsigned stream, uint64_t stream_class, uint64_t cycles)
{
	if (s->fd >= 0)
		push_op(s, (struct op){ .kind = OP_BEACON, .number = stream,
					.beacon = { GUINT64_TO_LE(stream_class), GUINT64_TO_LE(cycles) } });
}

void spool_end_stream(struct spool *s, unsigned stream)
{
	if (s->fd >= 0)
		push(s, OP_END_STREAM, stream, NULL, NULL);
}

void spool_packet(struct spool *s, unsigned stream, GBytes *packet)
{
	push(s, OP_PACKET, stream, NULL, packet);
}

/* ---- the object ---- */

char *spool_default_dir(void)
{
	return g_build_filename(g_get_user_state_dir(), "blktop", "spool", NULL);
}

bool spool_make_dir(const char *dir, GError **error)
{
	return files_add_private(dir, "XDG_STATE_HOME or --spool DIR", error);
}

/* files NULL: a stream to `fd`. */
static struct spool *start(struct spool_files *files, int fd)
{
	struct spool *s = g_new0(struct spool, 1);
	g_atomic_ref_count_init(&s->refs);
	s->files = files;
	s->fd = fd;
	s->traces.size = sizeof(struct spooled_trace);
	s->chunks = g_ptr_array_new_with_free_func(g_free);
	s->status.from_ns = INT64_MAX;
	s->status.to_ns = INT64_MIN;
	g_mutex_init(&s->lock);
	g_cond_init(&s->changed);
	g_queue_init(&s->queue);
	s->thread = g_thread_new("spool", run, s);
	return s;
}

struct spool *spool_new(const char *dir, uint64_t limit, const char *label, GError **error)
{
	if (!spool_make_dir(dir, error))
		return NULL;
	struct spool_files *files = spool_files_new(dir, MAX(limit, SPOOL_LEAST), label, error);
	return files ? start(files, -1) : NULL;
}

struct spool *spool_new_whole(const char *dir, gint64 last_us)
{
	return start(spool_files_new_whole(dir, last_us), -1);
}

struct spool *spool_new_stream(int fd, GError **error)
{
	struct spool *s = start(NULL, fd);

	if (write_out(s, STREAM_MAGIC, STREAM_MAGIC_BYTES, error))
		return s;
	spool_unref(s);
	return NULL;
}

bool spool_hold(struct spool *s, bool held, int64_t timeout_us)
{
	spool_files_hold(s->files, held);
	return !held || spool_flush(s, timeout_us);
}

/* Waits until everything pushed is written; `end`: until the writer thread has ended. */
static bool wait_done(struct spool *s, bool end, int64_t timeout_us)
{
	gint64 until = g_get_monotonic_time() + timeout_us;
	uint64_t goal = s->pushed;

	while (end ? !s->ended : s->done < goal)
		if (!g_cond_wait_until(&s->changed, &s->lock, until))
			return false;
	return true;
}

bool spool_flush(struct spool *s, int64_t timeout_us)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	return wait_done(s, false, timeout_us);
}

bool spool_end(struct spool *s)
{
	push(s, OP_END, 0, NULL, NULL);
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	uint64_t done;
	do {
		done = s->done;
		if (wait_done(s, false, LIMIT_SPOOL_END_SECONDS * G_USEC_PER_SEC))
			return true;
	} while (s->done != done);
	return false;
}

struct spool *spool_ref(struct spool *s)
{
	g_atomic_ref_count_inc(&s->refs);
	return s;
}

void spool_unref(struct spool *s)
{
	if (!s || !g_atomic_ref_count_dec(&s->refs))
		return;
	g_mutex_lock(&s->lock);
	if (!wait_done(s, false, LIMIT_SPOOL_END_SECONDS * G_USEC_PER_SEC))
		s->status.stopped = true;	/* the rest of the queue is freed, not written */
	s->quit = true;
	g_cond_broadcast(&s->changed);
	bool ended = wait_done(s, true, LIMIT_SPOOL_END_SECONDS * G_USEC_PER_SEC);
	g_mutex_unlock(&s->lock);
	if (!ended)
		return;		/* the writer hangs on the disk: abandon it */
	g_thread_join(s->thread);
	spool_files_free(s->files);
	PAGES_EACH(&s->traces, i)
		drop_trace(s, i);
	pages_clear(&s->traces);
	g_ptr_array_unref(s->chunks);
	g_queue_clear_full(&s->queue, op_free);
	g_mutex_clear(&s->lock);
	g_cond_clear(&s->changed);
	g_free(s);
}

const char *spool_path(const struct spool *s)
{
	return spool_files_path(s->files);
}

void spool_get_status(struct spool *s, struct spool_status *ret)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	*ret = s->status;
}
