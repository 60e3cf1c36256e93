/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exports: rows in the formats of ROWS_FORMATS, spans in four JSON formats. Files are written completely or not at all:
 * a temporary file beside the target, then rename or link. An existing file is replaced only with `force`.
 */
#ifndef BLK_EXPORT_EXPORT_H
#define BLK_EXPORT_EXPORT_H

#include "views/rows_format.h"
#include "views/view.h"

#include <stdio.h>

struct rows_format_info { const char *id, *suffix; enum rows_use use; enum rows_range range; };
extern const struct rows_format_info rows_format_info[ROWS_FORMAT_N + 1];	/* the last one is of CSV_SAFE */
/* Parses an id. */
bool rows_format_parse(const char *text, enum rows_format *ret);
/* The format of the path's suffix, else text. */
enum rows_format rows_format_of_path(const char *path);
/* The ids of formats of that use or a wider one: "text, csv or json" (g_free). */
char *rows_format_names(enum rows_use use);

/*
 * Prints the rows.
 *
 * TEXT: aligned columns of raw numbers; the header names the units; nothing is truncated.
 * CSV: RFC 4180 with raw numbers, and one header line if `header` is set. CSV_SAFE: the same, but each text is quoted,
 * and a text that a spreadsheet could run as a formula has an apostrophe before it.
 * FOLDED: lines "path self_ns", without rows whose self_ns is 0, for flamegraph.pl and speedscope. Only of views that
 * have these columns: rows_can_fold().
 * JSON: one object on one line:
 * {"blktop":VERSION,"view":ID,"range":{"from_ns":N,"to_ns":N},"trust":
 * {"lost_events":N,"lost_packets":N,"lost_ns":N,"lost_cpus":N,"damaged_packets":N,"soft":N,"corrected":N,
 * "late_records":N,"reordered_pairs":N,"reordered_max_ns":N,
 * "dropped_traces":N,"dropped_spans":N,"dropped":TEXT,
 * "omitted":TEXT,"behind_ns":N,"left_packets":N,"left_bytes":N,"unread_packets":N,
 * "ended_early":N,"ends_unknown":N,"gave_up":N},"rows":[{COLUMN_ID:VALUE,...}]}.
 *
 * Numbers are integers except ratios, in the C locale's format. An unknown value is null (CSV: empty; TEXT: "-").
 * TEXT escapes text cells for terminals. False: errno is set.
 */
bool rows_print(FILE *out, const struct view *v, const struct rows *rows,
		enum rows_format format, bool header);
bool rows_can_fold(const struct view *v);
/* The rows as objects of a list that is open in `b`; b's text is emptied. */
struct json_out;
void rows_print_objects(FILE *out, struct json_out *b, const struct view *v, const struct rows *rows);

/* rows_print() in pieces: one header, one JSON object with the rows first and range and trust of the last piece.
 * Initialise with zeros and .format, .header. */
struct rows_pieces {
	enum rows_format format;
	bool header;			/* the header is not printed yet */
	bool whole;			/* this piece is all of it */
	uint64_t n;			/* rows so far */
	unsigned *width;		/* width of each column so far (text format); NULL: not known yet */
	bool begun;
};
bool rows_print_piece(FILE *out, const struct view *v, const struct rows *rows,
		      struct rows_pieces *pieces, bool last);
void rows_pieces_clear(struct rows_pieces *pieces);

/*
 * Zipkin v2: a list of spans, as the Zipkin API accepts and returns them. OTLP: one ExportTraceServiceRequest as
 * JSON on one line. Perfetto: trace-event JSON for chrome and ui.perfetto.dev. JSON: blktop's own format, with all
 * known data in nanoseconds.
 */
#define SPAN_FORMATS(X) /* SPAN_NAME; the id for --format and of spans_ID(), see spans.h */ \
	X(ZIPKIN, zipkin) X(OTLP, otlp) X(PERFETTO, perfetto) X(JSON, json)
#define SPAN_FORMAT_ENUM_(name, id) SPAN_##name,
enum span_format { SPAN_FORMATS(SPAN_FORMAT_ENUM_) SPAN_FORMAT_N };
#define SPAN_FORMAT_WORD_(name, id) " " #id
#define SPAN_FORMAT_WORDS SPAN_FORMATS(SPAN_FORMAT_WORD_)	/* " zipkin otlp ..." */
extern const char *const span_format_ids[SPAN_FORMAT_N + 1];	/* NULL-terminated */
bool span_format_parse(const char *text, enum span_format *ret);

/* What is exported. */
struct span_selection {
	uint64_t trace_id;	/* 0: not by trace */
	bool trace_zero;	/* export the trace with id 0 */
	uint64_t trace_upper;	/* upper half of an id with 32 digits; 0: not given */
	uint64_t span_id;	/* 0: the whole trace; else this span with its subtree */
	unsigned slowest;	/* > 0: export the N slowest traces instead */
	const struct expr *filter;	/* .slowest: only traces that pass it, as rows of view traces; or NULL */
	bool with_kernel;	/* also export waits and long system calls as child spans */
};

/* Ids of the timeline have 64 bits. A trace imported with an id of 32 digits gets the lower half as its id. If another
 * trace has that id already, it gets this number instead, which is never 0. */
uint64_t export_other_id(uint64_t upper, uint64_t lower);
/* The id in the timeline of a trace with this id of 32 digits. upper 0: `lower` itself. */
uint64_t export_trace_named(const struct timeline *tl, uint64_t upper, uint64_t lower);

/* The JSON text; free it with g_free(). *ret_spans: the number of exported spans, those of waits
 * and calls included. NULL and *error: the timeline has no such trace or span. */
char *span_export(const struct timeline *tl, const struct span_selection *what,
		  enum span_format format, unsigned *ret_spans, GError **error);

/* Where an export in several texts goes on; zeros: at the beginning. */
struct span_place {
	size_t trace;			/* index of its id */
	int node;			/* of its tree */
};
/* The next text with spans of the traces, about `most` of them (a span and its waits and calls stay together). Moves
 * `at`; returns NULL when all were exported. Traces that the timeline has not are passed over. */
char *span_export_next(const struct timeline *tl, const uint64_t *trace_ids, size_t n, struct span_place *at,
		       unsigned most, bool with_kernel, enum span_format format, unsigned *ret_spans);

/* The default file name: "./blktop-TRACE-SPAN.json" with 16 hex digits each; without -SPAN for a whole trace. */
char *span_export_name(const struct span_selection *what);

/* Writes `text` to `path`. *ret_absolute: the absolute path; free it with g_free(). force: replaces an existing file
 * or symbolic link, but no device or directory. */
bool export_write_file(const char *path, const char *text, size_t len, bool force,
		       char **ret_absolute, GError **error);
/* The same of what write() writes to the open file. It returns false with *error, or with errno alone. */
typedef bool (*export_writer)(int fd, void *data, GError **error);
bool export_write_by(const char *path, export_writer write, void *data, bool force, char **ret_absolute,
		     GError **error);

#endif
