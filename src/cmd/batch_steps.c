/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows by step that exceed memory: see batch_steps.h. */
#include "cmd/batch_steps.h"

#include "app/reading.h"
#include "app/messages.h"
#include "views/narrowing.h"

#include "base/timefmt.h"

#include <errno.h>

/* Estimates, in bytes: of a row with its texts, and of what a second has of a lane while reading. */
#define ROW_BYTES 1024
#define LANE_BYTES 512
#define RANGE_SHARE 2	/* part of --memory for a range that is printed whole */

/* What is printed later than as it closes needs all steps. */
static bool can_be_in_pieces(const struct options *o)
{
	return o->view->has_steps && !o->read.live && !o->each && read_step(&o->read) < NS_PER_S && !o->thresholds &&
	       !o->check && !o->send.only && !o->send.metrics && !o->send.forward.path &&
	       rows_format_info[o->format].use != ROWS_PATHS;
}

/* Estimated bytes of all steps, and of the steps and rows in [from, to). */
static double estimate(const struct timeline *tl, const struct options *o, int64_t from, int64_t to, double *ret_range)
{
	bool machine = o->by == BY_SYSTEM || o->by == BY_CPU;
	double all = 0, range = 0;

	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_second(tl, i);
		int64_t printed = MAX(MIN(s->end_ns, to) - MAX(s->begin_ns, from), 0);
		uint32_t others = s->n_cpus + s->n_devs + s->n_irqs;
		double step = (double)read_step(&o->read), lanes = (s->n_threads + others) * LANE_BYTES;

		all += (double)(s->end_ns - s->begin_ns) / step * lanes;
		range += (double)printed / step * (lanes + (machine ? others : s->n_threads) * ROW_BYTES);
	}
	*ret_range = range;
	return all;
}

/* Finds the range. Returns the exit status. */
static int survey(struct batch_steps *steps, const struct read_options *with, struct reading_purpose purpose)
{
	struct read_options o = *with;
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
			code = reading_find_range(&r, with, &steps->from_ns, &steps->to_ns);
		steps->survey = g_steal_pointer(&r.tl);
	}
	reading_free(&r);
	return code;
}

int batch_steps_choose(struct batch_steps *steps, const struct options *o, struct reading_purpose *purpose)
{
	*steps = (struct batch_steps){ .o = o, .printed_to = INT64_MIN, .first_ns = INT64_MAX, .end_ns = INT64_MIN };
	if (!can_be_in_pieces(o))
		return EXIT_FINE;
	int code = survey(steps, &o->read, *purpose);
	double range = 0, all = code == EXIT_FINE && steps->survey ?
		estimate(steps->survey, o, steps->from_ns, steps->to_ns, &range) : 0;
	purpose->takes_seconds = all + range > (double)o->read.memory;
	steps->in_pieces = range > (double)o->read.memory / RANGE_SHARE;
	if (!purpose->takes_seconds)
		g_clear_pointer(&steps->survey, timeline_free);
	return code;
}

static struct rows *build(struct batch_steps *steps, int64_t from_ns, int64_t to_ns)
{
	const struct options *o = steps->o;
	struct view_query query = o->narrow;

	narrow_resolve(&query, steps->tl);
	query.by = o->by;
	query.names = steps->survey;
	query.from_ns = from_ns;
	query.to_ns = to_ns;
	struct rows *rows = o->view->build(steps->tl, &query);
	completeness_add(&steps->completeness, &rows->completeness);
	steps->completeness.touched += rows->completeness.touched;
	steps->completeness.corrected += rows->completeness.corrected;
	rows_filter(rows, o->view, o->expr);
	if (o->sort >= 0)
		rows_sort(rows, o->view, o->sort, o->sort_descending);
	return rows;
}

/* Whole steps are counted. */
static void note_range(struct batch_steps *steps, int64_t from_ns, int64_t to_ns)
{
	const struct timeline *tl = steps->tl;

	for (size_t i = timeline_find(tl, from_ns); i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_outline(tl, i);
		if (s->begin_ns >= to_ns)
			return;
		steps->first_ns = MIN(steps->first_ns, s->begin_ns);
		steps->end_ns = MAX(steps->end_ns, s->end_ns);
	}
}

static void print_piece(struct batch_steps *steps, int64_t to_ns, bool last)
{
	int64_t from_ns = MAX(steps->from_ns, steps->printed_to);

	note_range(steps, from_ns, to_ns);
	struct rows *rows = build(steps, from_ns, to_ns);
	rows->completeness = steps->completeness;
	rows->query.from_ns = MIN(steps->from_ns, steps->first_ns);
	rows->query.to_ns = MAX(to_ns, steps->end_ns);
	if (!rows_print_piece(stdout, steps->view, rows, &steps->pieces, last))
		steps->broken = errno;
	rows_free(rows);
	steps->printed_to = to_ns;
}

static void on_dropping(void *data, int64_t until_ns)
{
	struct batch_steps *steps = data;
	int64_t to_ns = MIN(until_ns, steps->to_ns);

	if (steps->broken || to_ns <= MAX(steps->from_ns, steps->printed_to))
		return;
	if (!steps->pieces.begun)
		log_error("%s: the rows exceed --memory: they are printed in pieces, each in order", steps->view->id);
	print_piece(steps, to_ns, false);
}

void batch_steps_begin(struct batch_steps *steps, const struct view *view, struct timeline *tl)
{
	steps->view = view;
	steps->tl = tl;
	steps->pieces = (struct rows_pieces){ .format = steps->o->format, .header = true };
	if (steps->survey && steps->in_pieces)
		timeline_retain_range(tl, 0, 0, on_dropping, steps);
	else if (steps->survey)
		timeline_retain_range(tl, time_floor(steps->from_ns, read_step(&steps->o->read)), steps->to_ns, NULL,
				      NULL);
}

bool batch_steps_is_begun(const struct batch_steps *steps)
{
	return steps->pieces.begun;
}

void batch_steps_finish(struct batch_steps *steps)
{
	g_assert(batch_steps_is_begun(steps));
	print_piece(steps, steps->to_ns, true);
}

void batch_steps_clear(struct batch_steps *steps)
{
	rows_pieces_clear(&steps->pieces);
	g_clear_pointer(&steps->survey, timeline_free);
}
