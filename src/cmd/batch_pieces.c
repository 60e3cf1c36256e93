/* SPDX-License-Identifier: GPL-2.0-only */
/* What exceeds memory: see batch_pieces.h. */
#include "cmd/batch_pieces.h"

#include "app/messages.h"
#include "app/reading.h"

#include "base/intmap.h"
#include "base/sort.h"
#include "base/timefmt.h"

#include <errno.h>

#define PIECE_SPANS 8192	/* least number of spans in a piece */
/* Estimates, in bytes: of a row with its texts, and of what a second has of a lane while reading. */
#define ROW_BYTES 1024
#define LANE_BYTES 512
#define RANGE_SHARE 2	/* part of --memory for a range that is printed whole */

static struct rows *build(struct batch_pieces *p, int64_t from_ns, int64_t to_ns, const struct intmap *among)
{
	const struct shown_options *o = p->shown;
	struct view_query query = o->narrow;

	if (o->narrowed && !p->of_traces)
		narrow_resolve(&query, p->tl);
	query.by = o->by;
	query.among = among;
	query.names = p->survey;
	query.from_ns = from_ns;
	query.to_ns = to_ns;
	struct rows *rows = o->view->build(p->tl, &query);
	completeness_add(&p->completeness, &rows->completeness);
	p->completeness.touched += rows->completeness.touched;
	p->completeness.corrected += rows->completeness.corrected;
	rows_filter(rows, o->view, o->expr);
	if (o->sort >= 0)
		rows_sort(rows, o->view, o->sort, o->sort_descending);
	return rows;
}

/* Prints the rows and frees them. */
static void print_rows(struct batch_pieces *p, struct rows *rows, bool last)
{
	if (!rows_print_piece(stdout, p->view, rows, &p->pieces, last))
		p->broken = errno;
	rows_free(rows);
}

/* Before the first piece. */
static void report_pieces(const struct batch_pieces *p, const char *what)
{
	if (!p->pieces.begun)
		log_error("%s: %s --memory: %s printed in pieces, each in order", p->view->id,
			  p->of_traces ? "the list exceeds" : "the rows exceed", what);
}

/* --- traces --- */

static void print_traces(struct batch_pieces *p, const uint64_t *trace_ids, size_t n)
{
	struct intmap among = { 0 };
	uint32_t spans = 0;

	for (size_t i = 0; i < n && !p->broken; i++) {
		const struct trace_info *t = timeline_find_trace(p->tl, trace_ids[i]);
		intmap_set(&among, trace_ids[i], 0);
		spans += t ? t->n_spans : 0;
		if (spans < PIECE_SPANS && i + 1 < n)
			continue;
		print_rows(p, build(p, 0, 0, &among), false);
		intmap_clear(&among);
		spans = 0;
	}
	intmap_clear(&among);
}

void batch_pieces_evicting(struct batch_pieces *p, const uint64_t *trace_ids, size_t n)
{
	if (!p->of_traces)
		return;
	report_pieces(p, "it is");
	print_traces(p, trace_ids, n);
}

static int by_end(gconstpointer a, gconstpointer b)
{
	const struct trace_info *x = *(const struct trace_info *const *)a;
	const struct trace_info *y = *(const struct trace_info *const *)b;
	return ORDER(x->end_ns, y->end_ns) ?: ORDER(x->trace_id, y->trace_id);
}

static void finish_traces(struct batch_pieces *p, int64_t from_ns, int64_t to_ns)
{
	g_autoptr(GPtrArray) left = g_ptr_array_new();
	g_autoptr(GArray) ids = g_array_new(false, false, sizeof(uint64_t));
	struct intmap none = { 0 };

	for (size_t i = 0; i < timeline_n_traces(p->tl); i++)
		g_ptr_array_add(left, (gpointer)timeline_trace(p->tl, i));
	g_ptr_array_sort(left, by_end);
	for (guint i = 0; i < left->len; i++)
		g_array_append_val(ids, ((const struct trace_info *)left->pdata[i])->trace_id);
	print_traces(p, (const uint64_t *)(void *)ids->data, ids->len);
	if (!p->broken)
		print_rows(p, build(p, from_ns, to_ns, &none), true);
}

/* --- steps --- */

/* Estimated bytes of all steps, and of the steps and rows in the range. */
static double estimate(const struct batch_pieces *p, double *ret_range)
{
	bool machine = p->shown->by == BY_SYSTEM || p->shown->by == BY_CPU;
	double all = 0, range = 0;

	for (size_t i = 0; i < timeline_n_seconds(p->survey); i++) {
		const struct second *s = timeline_second(p->survey, i);
		int64_t printed = MAX(MIN(s->end_ns, p->to_ns) - MAX(s->begin_ns, p->from_ns), 0);
		uint32_t others = s->n_cpus + s->n_devs + s->n_irqs;
		double step = (double)read_step(p->read), lanes = (s->n_threads + others) * LANE_BYTES;

		all += (double)(s->end_ns - s->begin_ns) / step * lanes;
		range += (double)printed / step * (lanes + (machine ? others : s->n_threads) * ROW_BYTES);
	}
	*ret_range = range;
	return all;
}

/* Finds the range. Returns the exit status. */
static int survey(struct batch_pieces *p, struct reading_purpose purpose)
{
	struct read_options o = *p->read;
	struct reading r;
	int64_t first, end;

	o.step_ns = 0;
	purpose.skip_free = false;
	int code = reading_start(&r, &o, &purpose);
	if (code == EXIT_FINE) {
		reading_wait(&r, -1);
		if (r.signal)
			code = reading_code(&r);
		else if (reading_range(&r, &first, &end))	/* else the error is printed when it is read again */
			code = reading_find_range(&r, p->read, &p->from_ns, &p->to_ns);
		p->survey = g_steal_pointer(&r.tl);
	}
	reading_free(&r);
	return code;
}

/* Whole steps are counted. */
static void note_range(struct batch_pieces *p, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = timeline_find(p->tl, from_ns); i < timeline_n_seconds(p->tl); i++) {
		const struct second *s = timeline_outline(p->tl, i);
		if (s->begin_ns >= to_ns)
			return;
		p->first_ns = MIN(p->first_ns, s->begin_ns);
		p->end_ns = MAX(p->end_ns, s->end_ns);
	}
}

static void print_steps(struct batch_pieces *p, int64_t to_ns, bool last)
{
	int64_t from_ns = MAX(p->from_ns, p->printed_to);

	note_range(p, from_ns, to_ns);
	struct rows *rows = build(p, from_ns, to_ns, NULL);
	rows->completeness = p->completeness;
	rows->query.from_ns = MIN(p->from_ns, p->first_ns);
	rows->query.to_ns = MAX(to_ns, p->end_ns);
	print_rows(p, rows, last);
	p->printed_to = to_ns;
}

static void on_dropping(void *data, int64_t until_ns)
{
	struct batch_pieces *p = data;
	int64_t to_ns = MIN(until_ns, p->to_ns);

	if (p->broken || to_ns <= MAX(p->from_ns, p->printed_to))
		return;
	report_pieces(p, "they are");
	print_steps(p, to_ns, false);
}

/* --- both --- */

/* What is printed later than as it closes needs all steps. */
static bool can_be_of_steps(const struct batch_pieces *p, const struct batch_options *o)
{
	return p->shown->view->has_steps && !p->read->live && !o->each && read_step(p->read) < NS_PER_S &&
	       !p->shown->thresholds && !o->check && !o->send.only && !o->send.metrics && !o->send.forward.path &&
	       rows_format_info[p->shown->format].use != ROWS_PATHS;
}

int batch_pieces_choose(struct batch_pieces *p, const struct read_options *read, const struct shown_options *shown,
			const struct batch_options *o, struct reading_purpose *purpose)
{
	*p = (struct batch_pieces){
		.read = read, .shown = shown, .printed_to = INT64_MIN, .first_ns = INT64_MAX, .end_ns = INT64_MIN,
		.pieces = { .format = shown->format, .header = true },
		.of_traces = shown->view->lists_spans && !read->live && !o->each && shown->sort < 0 && !read->at &&
			     !read->from && !read->to && !query_has_trace(&shown->narrow),
	};
	if (!can_be_of_steps(p, o))
		return EXIT_FINE;
	int code = survey(p, *purpose);
	double range = 0, all = code == EXIT_FINE && p->survey ? estimate(p, &range) : 0;
	purpose->takes_seconds = all + range > (double)read->memory;
	p->of_steps = range > (double)read->memory / RANGE_SHARE;
	if (!purpose->takes_seconds)
		g_clear_pointer(&p->survey, timeline_free);
	return code;
}

void batch_pieces_begin(struct batch_pieces *p, const struct view *view, struct timeline *tl)
{
	p->view = view;
	p->tl = tl;
	if (p->survey && p->of_steps)
		timeline_retain_range(tl, 0, 0, on_dropping, p);
	else if (p->survey)
		timeline_retain_range(tl, time_floor(p->from_ns, read_step(p->read)), p->to_ns, NULL, NULL);
}

void batch_pieces_finish(struct batch_pieces *p, int64_t from_ns, int64_t to_ns)
{
	g_assert(p->pieces.begun);
	if (p->of_traces)
		finish_traces(p, from_ns, to_ns);
	else
		print_steps(p, p->to_ns, true);
}

void batch_pieces_clear(struct batch_pieces *p)
{
	rows_pieces_clear(&p->pieces);
	g_clear_pointer(&p->survey, timeline_free);
}
