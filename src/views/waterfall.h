/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One trace as a tree of bars, and why it took so long. Built by the view
 * "waterfall" for query->trace_id (0: the slowest trace of the range): rows->rows
 * are struct waterfall_row in display order, rows->extra a struct waterfall.
 *
 * Texts are as the trace has them: escape them (base/text.h) before a terminal.
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
	const char *name;		/* "send", "send stored" for the half of another service */
	const char *name_only;		/* the span's own name */
	const char *service;
	const char *why;		/* private: short verdict, when it was asked for */
	int parent;			/* index among all rows as built, -1: a root */
	int index;			/* its own, before anything was folded or filtered */
	bool critical;			/* on the critical path and worth looking at: see path.h */
	bool orphan;			/* its parent is not (yet) in the trace */
	bool folded;			/* children hidden by waterfall_fold_rows() */
};

struct waterfall {
	uint64_t trace_id;
	const struct span *root;	/* the first root; NULL: no such trace */
	int64_t begin_ns, end_ns;	/* of all its spans */
	uint32_t n_spans, n_processes, n_services;
	bool open;			/* a span of it has not ended */
	uint32_t errors;
	int64_t usual_ns;		/* p50 of the root's operation over the history; -1 */
	double x_usual;			/* duration / usual; < 0: unknown */
	const char *why;		/* the sentence: "waited 54.7ms for a lock; ..." */
	int blamed;			/* row (as built) that the sentence is about; -1 */
	struct waterfall_row **all;	/* rows as built, index -> row; owned here */
	size_t n_all;
	struct tree *tree;		/* private */
	char *usual_line;		/* private: of the row that was explained last, */
	int usual_row;			/* which costs a look at all spans there are */
	struct history *history;	/* private */
};

extern const struct view view_waterfall;
/* NULL when the rows are not of the view "waterfall". */
const struct waterfall *waterfall_of(const struct rows *rows);

/*
 * What the span's thread did in [from_ns, to_ns), n cells wide: in cells[i] the
 * part_info[] letter that fills most of it; '=' where a child span of the same thread (of any,
 * where its own is not known) is at work (not when the row is folded), ' ' outside the span. Spans shorter than a
 * cell still show one. Not terminated.
 */
void waterfall_strip(const struct rows *rows, const struct waterfall_row *row,
		     int64_t from_ns, int64_t to_ns, unsigned n, char *cells);

/* Lines that explain the selected span, as screens.md has them, at most `max_lines`:
 * what it is made of, its longest waits with what on and who woke, what is usual.
 * char *, freed with the array (g_ptr_array_unref). */
GPtrArray *waterfall_detail(const struct rows *rows, const struct waterfall_row *row,
			    unsigned max_lines);

/* The thread of the row's span (-1: not known), and when it began. */
void waterfall_where(const struct rows *rows, const struct row *row, int32_t *ret_tid,
		     int64_t *ret_at);

/* Index in rows->rows of its longest child (halves count), -1: has none shown. */
int waterfall_longest_child(const struct rows *rows, const struct waterfall_row *row);

/* Who ended the longest wait of this span (w). */
struct waterfall_waker {
	uint32_t thread;		/* timeline_thread() */
	int64_t at_ns;			/* when it did */
	uint64_t trace_id, span_id;	/* what it worked for then; 0: nothing known */
	int span_kind;
	const char *text;		/* "thumbd-w0/254 at 06:08:38.946, in thumbnail" */
};
/* false: no wait, or an interrupt or nobody known woke it (*ret_reason, static: why). */
bool waterfall_waker(struct rows *rows, const struct waterfall_row *row,
		     struct waterfall_waker *ret, const char **ret_reason);

/*
 * Folding. A set of folded rows lives with the screen, so that it survives a rebuild;
 * waterfall_fold_rows() takes the rows below folded ones out of rows->rows.
 */
typedef struct waterfall_folds waterfall_folds;
waterfall_folds *waterfall_folds_new(void);
void waterfall_folds_free(waterfall_folds *folds);	/* NULL is fine */
void waterfall_folds_set(waterfall_folds *folds, const struct row *row, bool folded);
void waterfall_fold_rows(struct rows *rows, const waterfall_folds *folds);

/* Index in rows->rows of the span (any kind: -1), -1 when it is not shown. */
int waterfall_find(const struct rows *rows, uint64_t span_id, int kind);

#endif
