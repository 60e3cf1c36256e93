/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One trace as a tree of bars, with its explanation. The view "waterfall" builds it for query->trace_id (0: the slowest
 * trace of the range). rows->rows are struct waterfall_row in display order, rows->extra is a struct waterfall.
 *
 * Texts are raw bytes of the trace: escape them (base/text.h) before they reach a terminal.
 */
#ifndef BLK_VIEWS_WATERFALL_H
#define BLK_VIEWS_WATERFALL_H

#include "views/spans.h"

struct waterfall_row {
	union {
		struct row row;		/* .depth, .expandable */
		struct span_row columns;	/* private: what the columns read */
	};
	const struct span *span;	/* valid as long as the rows are */
	const char *name;		/* "send"; "send stored" for the half in another service */
	const char *name_only;		/* the span's own name */
	const char *service;
	const char *why;		/* private: short explanation, made at first use */
	int parent;			/* index among all rows as built, -1: a root */
	int index;			/* index among all rows as built, before folding and filtering */
	bool critical;			/* on the critical path for a notable time: path_mark() */
	bool orphan;			/* its parent is not (yet) in the trace */
	bool folded;			/* children hidden by waterfall_fold_rows() */
};

struct waterfall {
	uint64_t trace_id;
	const struct span *root;	/* the first root; NULL: no such trace */
	int64_t begin_ns, end_ns;	/* of all its spans */
	uint32_t n_spans, n_processes, n_services;
	uint32_t n_missing;		/* spans that others name as parent, and that are not there */
	bool has_root;			/* false: .root is a part of a request whose root is missing */
	bool open;			/* a span of it has not ended */
	uint32_t errors;
	int64_t usual_ns;		/* of the root's operation; -1: unknown */
	double x_usual;			/* duration / usual; < 0: unknown */
	const char *why;		/* the sentence: "waited 54.7ms for a lock; ..." */
	int blamed;			/* row (as built) that the sentence is about; -1 */
	struct waterfall_row **all;	/* rows as built, index -> row; owned here */
	size_t n_all;
	struct tree *tree;		/* private */
	char *usual_line;		/* private: cache of the row explained last (it needs a pass over */
	int usual_row;			/* all retained spans) */
	struct history *history;	/* private */
};

extern const struct view view_waterfall;
/* "incomplete: 1 span is missing, the root too, so it took longer than shown". NULL: none is known to be missing. */
char *waterfall_missing(const struct waterfall *w);
/* NULL when the rows are not of the view "waterfall". */
const struct waterfall *waterfall_of(const struct rows *rows);

/*
 * What the span's thread did in [from_ns, to_ns), n cells wide: cells[i] is the
 * letter (part_info[]) of the largest part in it; '=' if a child span on the same thread is active (on any thread, if
 * the span's own is unknown; never in a folded row); ' ' outside the span. A span shorter than a cell fills
 * one. Not terminated.
 */
void waterfall_strip(const struct rows *rows, const struct waterfall_row *row,
		     int64_t from_ns, int64_t to_ns, unsigned n, char *cells);

/* Lines that explain the selected span, at most `max_lines`: its parts, its longest waits with their object and waker,
 * and the typical duration. char *, owned by the array. Free with g_ptr_array_unref(). */
GPtrArray *waterfall_detail(const struct rows *rows, const struct waterfall_row *row,
			    unsigned max_lines);

/* "cursor +92.0ms  thumbd-w2/256: futex for 7.40ms of 53.2ms, in futex(0x55efb1a37580), woken by ...": what the span's
 * thread did at that instant, also where a child on the same thread covers it. Raw text of the trace; g_free(). */
char *waterfall_instant(const struct rows *rows, const struct waterfall_row *row, int64_t at_ns);

/* "woken by kworker/u4:1/9 > irq 25 > stored/253": the chain of wakers of the span's longest wait, the first one first.
 * Raw text; NULL: none is known. Free with g_free(). */
char *waterfall_wakers(const struct rows *rows, const struct waterfall_row *row);

/* The tid of the row's span (-1: unknown), and when the span began. */
void waterfall_where(const struct rows *rows, const struct row *row, int32_t *ret_tid,
		     int64_t *ret_at);

/* Index in rows->rows of its longest child (halves count); -1: no child is shown. */
int waterfall_longest_child(const struct rows *rows, const struct waterfall_row *row);

/* The thread that ended the longest wait of a span (key w). */
struct waterfall_waker {
	uint32_t thread;		/* timeline_thread() */
	int64_t at_ns;			/* when it ended the wait */
	uint64_t trace_id, span_id;	/* span that it worked on then, */
	int span_kind;			/* and its half; -1: it worked on none, or it is unknown */
	const char *text;		/* "thumbd-w0/254 at 06:08:38.946, in thumbnail" */
};
/* False: no wait, or an interrupt or an unknown waker ended it; *ret_reason says which (static text). */
bool waterfall_waker(struct rows *rows, const struct waterfall_row *row,
		     struct waterfall_waker *ret, const char **ret_reason);

/*
 * Folding. The screen owns the set of folded rows, so that it survives a rebuild.
 * waterfall_fold_rows() removes the rows below folded ones from rows->rows.
 */
typedef struct waterfall_folds waterfall_folds;
waterfall_folds *waterfall_folds_new(void);
void waterfall_folds_free(waterfall_folds *folds);	/* NULL is fine */
void waterfall_folds_set(waterfall_folds *folds, const struct row *row, bool folded);
void waterfall_fold_rows(struct rows *rows, const waterfall_folds *folds);

/* Index in rows->rows of the span (any kind: -1), -1 when it is not shown. */
int waterfall_find(const struct rows *rows, uint64_t span_id, int kind);

#endif
