/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources: where batches of records (event.h) come from.
 *
 * A source delivers the records of one or more traces, merged in order of time. Records with equal timestamps are
 * ordered by the stream's order key, then by position in the stream. A source belongs to one thread at a time; only
 * source_cancel() may be called from another.
 *
 *     g_autoptr(GError) error = NULL;
 *     struct source *s = source_open_bt2(paths, subs, n_subs, &error);
 *     while ((st = source_next(s, &batch, &error)) == SOURCE_OK)
 *             for (i = 0; i < batch.n; i++) ... batch.ev[i] ...
 *     source_free(s);
 *
 * Error messages (domain BLK_TRACE_ERROR) say what failed, on what, and why.
 */
#ifndef BLK_TRACE_READER_H
#define BLK_TRACE_READER_H

#include "trace/event.h"

#include "base/missing.h"

#define BLK_BATCH 512

/* Owned by the source; contents valid until the next source_next(). */
struct blk_batch {
	const struct blk_event *ev;
	size_t n;
};

enum source_status {
	SOURCE_OK,		/* a batch, not empty */
	SOURCE_AGAIN,		/* live: nothing now; call again later */
	SOURCE_END,		/* no more records */
	SOURCE_CANCELLED,	/* source_cancel() was called */
	SOURCE_ERROR,		/* *error is set */
};

#define BLK_TRACE_ERROR (blk_trace_error_quark())
GQuark blk_trace_error_quark(void);
enum blk_trace_error {
	BLK_TRACE_ERROR_NOT_FOUND,	/* no such directory, or no trace in it */
	BLK_TRACE_ERROR_ACCESS,		/* no permission */
	BLK_TRACE_ERROR_CORRUPT,	/* metadata or packets that cannot be read */
	BLK_TRACE_ERROR_CONNECT,	/* live: no relay there, or the connection broke */
	BLK_TRACE_ERROR_SESSION,	/* live: no such session, or another client has it */
	BLK_TRACE_ERROR_INTERNAL,
	BLK_TRACE_ERROR_UNSUPPORTED,	/* native reader: the trace has something it does not support */
	BLK_TRACE_ERROR_NO_TIME,	/* events without a time: no reader can place them */
};

struct source;

/* Late events: they came after newer events were delivered, so their records have a later instant than their own. */
struct source_late {
	uint64_t n;
	int64_t from_ns, to_ns;		/* true times of the first and the last one */
	int64_t at_from_ns, at_to_ns;	/* times of their records */
};

/* The functions of an implementation. Other code uses the functions below. */
struct source_ops {
	enum source_status (*next)(struct source *s, struct blk_batch *ret, GError **error);
	void (*cancel)(struct source *s);		/* any thread; may be NULL */
	double (*progress)(struct source *s);		/* 0..1, < 0 unknown; may be NULL */
	bool (*take_late)(struct source *s, struct source_late *ret);	/* may be NULL */
	char *(*warning)(struct source *s);		/* may be NULL */
	void (*missing)(struct source *s, struct missing *ret);	/* may be NULL */
	size_t (*bytes)(struct source *s);		/* may be NULL */
	void (*free)(struct source *s);
};

/* The base of every source; implementations have it as their first member. */
struct source {
	const struct source_ops *ops;
	struct blk_tables tables;
	GArray *free_streams;		/* guint: numbers of streams that have ended, for reuse; or NULL */
	const int *stop;		/* see source_stop_by() */
};

enum source_status source_next(struct source *s, struct blk_batch *ret, GError **error);
void source_cancel(struct source *s);
/* The consumer sets this before the first source_next(): once *stop is not 0, source_next() soon returns CANCELLED,
 * also in the middle of a large packet. *stop is read by g_atomic_int_get() until the source is freed. */
void source_stop_by(struct source *s, const int *stop);
/* For implementations whose calls may take long. */
static inline bool source_is_stopped(const struct source *s)
{
	return s->stop && g_atomic_int_get(s->stop);
}
double source_progress(struct source *s);
/* Late events since the last call; false: none. For the reading thread. */
bool source_take_late(struct source *s, struct source_late *ret);
/* What is left out so far because it cannot be read, and why: one line of printable text (g_free); NULL: nothing.
 * It may change while the source is read. Only for the reading thread. */
char *source_warning(struct source *s);
/* How complete a live session is; false: unknown (recorded traces). For the reading thread. */
bool source_missing(struct source *s, struct missing *ret);
/* Estimated bytes that a live source holds for as long as its sessions run: metadata, decoders. 0: not known. The
 * thread of source_next(). */
size_t source_bytes(struct source *s);
void source_free(struct source *s);		/* NULL is fine */
typedef struct source blk_source;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_source, source_free)

/* For implementations: makes and frees the empty tables; adds entries and returns their index. Strings are copied. */
void source_init(struct source *s, const struct source_ops *ops);
void source_clear(struct source *s);
unsigned source_add_host(struct source *s, const char *name, const char *boot,
			 const char *kernel_release);	/* an entry of the same name and boot is reused */
unsigned source_add_stream(struct source *s, const struct blk_stream *stream);
/* Sets blk_stream.recorded_to of a live stream that ends; call it before its STREAM_END. */
void source_stream_recorded(struct source *s, unsigned stream, int64_t to_ns);
/* All records of the stream were delivered, STREAM_END included: its number may be given to another stream. */
void source_end_stream(struct source *s, unsigned stream);
void source_has_kernel(struct source *s, unsigned host);	/* call before its streams are added */
void source_host_lasts(struct source *s, unsigned host, int64_t begin_ns, int64_t end_ns);	/* likewise */
/* Adds to what is known of the host's machine. */
void source_host_machine(struct source *s, unsigned host, const struct machine_evidence *e);
unsigned source_add_class(struct source *s, const char *name, uint16_t row,
			  const char *counters);	/* counters: as in struct blk_class */

/* A text that identifies a class: name and counters. Free with g_free. */
char *blk_class_key(const char *name, const char *counters);

/* Finds the row of the table that takes events of a name; G_MAXUINT16: none. O(1) after blk_matcher_new(). The rows
 * are borrowed and must outlive the matcher. */
struct blk_matcher;
struct blk_matcher *blk_matcher_new(const struct blk_subscription *rows, size_t n);
uint16_t blk_matcher_row(const struct blk_matcher *m, const char *event);
/* The same for a class; is_probe: blk_is_probe() of its fields. */
uint16_t blk_matcher_class(const struct blk_matcher *m, const char *event, bool is_probe);
void blk_matcher_free(struct blk_matcher *m);

/* Is it a dynamic probe? The user chooses the names of probes. Their fields are "ip" alone (kprobe, uprobe), or "ip"
 * and "parent_ip" (kretprobe); field names are passed without the '_' of CTF. */
bool blk_is_probe(const char *event, size_t n_fields, const char *first, const char *second);

/* Names of the contexts by slot, with alternatives as in blk_subscription.fields. After the first '|' is the name that
 * perf uses, as a field of the event. */
extern const char *const blk_context_names[BLK_N_CONTEXTS];

bool blk_wants_counters(const struct blk_subscription *row);	/* row may be NULL: no */

/* "cpu_instructions" for the context "perf_cpu_instructions" or "_perf_cpu_..."; NULL: it is no perf counter. The
 * result points into the argument. */
const char *blk_counter_name(const char *field);

/*
 * Opens all CTF traces below the directories `paths` (NULL-terminated) with babeltrace2. A directory with a `metadata`
 * file is a trace; the chunks of one trace (from rotation) are joined. Each stream has its own iterator, and this
 * reader merges them. Timestamps are ns since the epoch. All traces of a host boot (same clock UUID) use one clock
 * offset: that of the kernel trace if it exists, else of the first trace. So they compare by raw cycles. Losses are
 * where the native reader places them. If it cannot read a trace, a packet that lost events may have lost them anywhere
 * in it, and before it. `rows` is borrowed and must outlive the source.
 */
struct source *source_open_bt2(const char *const *paths, const struct blk_subscription *rows,
			       size_t n_rows, GError **error);

/*
 * The trace directories below `paths`, sorted, as new strings (free with g_ptr_array_unref). Errors: ACCESS; NOT_FOUND
 * with the path, and whether it is missing, no directory, or without a trace. Links are not followed below the given
 * paths; depth is bounded. `without` (or NULL) receives the directories that have stream files but no metadata, as new
 * strings; then the result may be empty.
 */
GPtrArray *trace_find_dirs(const char *const *paths, GPtrArray *without, GError **error);

#endif
