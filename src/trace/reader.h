/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readers: where batches of records come from (see event.h).
 *
 * A source is one merged, time-ordered run of records of one or more traces.
 * Order of equal timestamps: by stream order key, then by position in the stream.
 * A source belongs to one thread at a time; only source_cancel() may be called
 * from another.
 *
 *     g_autoptr(GError) error = NULL;
 *     struct source *s = source_open_bt2(paths, subs, n_subs, &error);
 *     while ((st = source_next(s, &batch, &error)) == SOURCE_OK)
 *             for (i = 0; i < batch.n; i++) ... batch.ev[i] ...
 *     source_free(s);
 *
 * Errors carry what failed, on what, why (domain BLK_TRACE_ERROR).
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
	SOURCE_AGAIN,		/* live: nothing now; ask later */
	SOURCE_END,		/* no more records */
	SOURCE_CANCELLED,	/* source_cancel() was called */
	SOURCE_ERROR,		/* *error is set */
};

#define BLK_TRACE_ERROR (blk_trace_error_quark())
GQuark blk_trace_error_quark(void);
enum blk_trace_error {
	BLK_TRACE_ERROR_NOT_FOUND,	/* no such directory, or no trace in it */
	BLK_TRACE_ERROR_ACCESS,		/* no permission */
	BLK_TRACE_ERROR_CORRUPT,	/* metadata or packets that can't be read */
	BLK_TRACE_ERROR_CONNECT,	/* live: no relay there, or it went away */
	BLK_TRACE_ERROR_SESSION,	/* live: no such session, or it is taken */
	BLK_TRACE_ERROR_INTERNAL,
	BLK_TRACE_ERROR_UNSUPPORTED,	/* native reader: a trace it does not know for sure */
};

struct source;

/* Events that came when others behind them were delivered already, and so stand in the
 * batches at a later instant than their own. */
struct source_late {
	uint64_t n;
	int64_t from_ns, to_ns;		/* when they were, first and last */
	int64_t at_from_ns, at_to_ns;	/* where they were told instead */
};

/* Implementations fill this table; everybody else uses the functions below. */
struct source_ops {
	enum source_status (*next)(struct source *s, struct blk_batch *ret, GError **error);
	void (*cancel)(struct source *s);		/* any thread; may be NULL */
	double (*progress)(struct source *s);		/* 0..1, < 0 unknown; may be NULL */
	bool (*take_late)(struct source *s, struct source_late *ret);	/* may be NULL */
	char *(*warning)(struct source *s);		/* may be NULL */
	void (*missing)(struct source *s, struct missing *ret);	/* may be NULL */
	void (*free)(struct source *s);
};

/* Base of every source; implementations embed it first. */
struct source {
	const struct source_ops *ops;
	struct blk_tables tables;
	GArray *free_streams;		/* guint: entries of streams that are over; or NULL */
	const int *stop;		/* see source_stop_by() */
};

enum source_status source_next(struct source *s, struct blk_batch *ret, GError **error);
void source_cancel(struct source *s);
/* Whoever takes the records says, before the first: source_next() ends soon with CANCELLED, also in the
 * middle of a large packet, once *stop is not 0. It is read by g_atomic_int_get() until the source is freed. */
void source_stop_by(struct source *s, const int *stop);
/* For implementations that may be long about one call. */
static inline bool source_is_stopped(const struct source *s)
{
	return s->stop && g_atomic_int_get(s->stop);
}
double source_progress(struct source *s);
/* What came late since the last call; false: nothing. The reading thread's. */
bool source_take_late(struct source *s, struct source_late *ret);
/* What is left out by now, as it can't be read, and why: one line of visible text (g_free); NULL:
 * nothing. It may change while the source is read. The reading thread's. */
char *source_warning(struct source *s);
/* False: nothing is known of it (recorded traces). The reading thread's. */
bool source_missing(struct source *s, struct missing *ret);
void source_free(struct source *s);		/* NULL is fine */
typedef struct source blk_source;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_source, source_free)

/* For implementations: makes and frees the (empty) tables, adds entries.
 * The strings are copied. The returned index is the new entry's. */
void source_init(struct source *s, const struct source_ops *ops);
void source_clear(struct source *s);
unsigned source_add_host(struct source *s, const char *name, const char *boot,
			 const char *kernel_release);	/* same name and boot: the same entry */
unsigned source_add_stream(struct source *s, const struct blk_stream *stream);
/* All records of the stream were taken, and its STREAM_END: the entry may become another stream's, which begins
 * with its STREAM_ADD. */
void source_end_stream(struct source *s, unsigned stream);
void source_has_kernel(struct source *s, unsigned host);	/* before its streams are added */
void source_host_lasts(struct source *s, unsigned host, int64_t begin_ns, int64_t end_ns);	/* likewise */
unsigned source_add_class(struct source *s, const char *name, uint16_t row,
			  const char *counters);	/* counters: as in struct blk_class */

/* What tells classes apart: name and counters. Free with g_free. */
char *blk_class_key(const char *name, const char *counters);

/* Which row of the table takes events of this name; G_MAXUINT16 for none.
 * O(1) after blk_matcher_new(). Rows are borrowed and must outlive it. */
struct blk_matcher;
struct blk_matcher *blk_matcher_new(const struct blk_subscription *rows, size_t n);
uint16_t blk_matcher_row(const struct blk_matcher *m, const char *event);
/* The same of a class; is_probe: its fields are as blk_is_probe() asks. */
uint16_t blk_matcher_class(const struct blk_matcher *m, const char *event, bool is_probe);
void blk_matcher_free(struct blk_matcher *m);

/* LTTng gives probes the names that the user chose, and these fields: "ip" alone (kprobe,
 * uprobe), or "ip" and "parent_ip" (kretprobe). Names without the '_' of CTF. */
bool blk_is_probe(const char *event, size_t n_fields, const char *first, const char *second);

/* Names of the contexts by their slot, alternatives as in blk_subscription.fields: behind the
 * first '|' that of perf's copy, a field of the event's own. */
extern const char *const blk_context_names[BLK_N_CONTEXTS];

bool blk_wants_counters(const struct blk_subscription *row);	/* NULL: no */

/* "cpu_instructions" of a context's field "perf_cpu_instructions" or "_perf_cpu_...";
 * NULL: it is no perf counter. Part of the argument. */
const char *blk_counter_name(const char *field);

/*
 * All CTF traces below the directories `paths` (NULL-terminated; a directory with
 * a `metadata` file is a trace; chunks of one trace, as rotation makes them, are
 * one). Reads with babeltrace2, one port a stream, merged here. Each trace's clock:
 * ns since the epoch with one offset a host boot (same clock uuid): the kernel
 * trace's if there is one, else the first's, so that traces of one boot compare
 * by raw cycles. Losses: struct blk_loss as decisions.md has it (events: window
 * from the packet's last event to its end; packets: between the packets).
 * `rows` is borrowed and must outlive the source.
 */
struct source *source_open_bt2(const char *const *paths, const struct blk_subscription *rows,
			       size_t n_rows, GError **error);

/*
 * The trace directories below `paths`, sorted, as new strings (free with
 * g_ptr_array_unref). Errors: NOT_FOUND (says which path, and whether it is
 * missing, no directory, or has no trace inside), ACCESS. Links are not followed
 * below the given paths; depth is bounded. `without` (or NULL) gets the directories that
 * have stream files and no metadata, as new strings; the result may be empty then.
 */
GPtrArray *trace_find_dirs(const char *const *paths, GPtrArray *without, GError **error);

#endif
