/* SPDX-License-Identifier: GPL-2.0-only */
/* Title, completeness, status line, hints and key bar: see frame.h. */
#include "ui/frame.h"

#include "ui/crumb.h"
#include "ui/output.h"

#include "base/text.h"
#include "base/timefmt.h"
#include "views/repairs.h"

#include <stdarg.h>
#include <string.h>

#define COACH_LEAST_ROWS 18		/* smaller screens have no room for hints */
#define STALLED_COLS 24
#define POSITION_COLS 110		/* from this width on the title has the number of the second */
#define LOAD_BAR_COLS 100		/* and the line about loading has a bar, */
#define LOAD_BAR 10			/* of so many cells */
#define REACH_COLS 120			/* from this width on the history is written in words */

static char *mode_text(const struct app *app)
{
	const struct ui_status *s = &app->status;
	int percent = (int)(s->progress * 100);

	switch (s->phase) {
	case UI_OPENING:
		return g_strdup("opening");
	case UI_LOADING:
		return s->progress < 0 ? g_strdup("loading") :
			g_strdup_printf("loading %d%%", CLAMP(percent, 0, 100));
	case UI_FAILED:
		return g_strdup("FAILED");
	case UI_CANCELLED:
		if (app->nav.mode == NAV_PLAY || app->nav.mode == NAV_FOLLOW)
			break;
		return s->progress < 0 ? g_strdup("PAUSED, load stopped") :
			g_strdup_printf("stopped at %d%%", CLAMP(percent, 0, 100));
	case UI_LIVE:
		if (app->nav.mode != NAV_FOLLOW)
			break;
		return app->options->watched ? g_strdup("LIVE") :
			s->lag_ns < 0 ? g_strdup("LIVE lag ?") :
			g_strdup_printf("LIVE lag %.1fs", (double)s->lag_ns / 1e9);
	default:
		break;
	}
	return g_strdup(app->nav.mode == NAV_PLAY ? "PLAYING" :
			app->nav.mode == NAV_FOLLOW ? "AT THE END" :
			"PAUSED");
}

static enum role mode_role(const struct app *app)
{
	if (app->status.phase == UI_FAILED)
		return ROLE_ERROR;
	return app->nav.mode == NAV_FOLLOW || app->nav.mode == NAV_PLAY ? ROLE_LIVE : ROLE_PAUSED;
}

static char *clock_text(const struct app *app, int64_t from, int64_t to)
{
	char a[TIMEFMT_LEN], b[TIMEFMT_LEN];

	if (app->nav.cursor_ns == TIME_UNKNOWN)
		return g_strdup("--:--:--");
	bool fine = app->nav.step_ns < NS_PER_S || from % NS_PER_S || to % NS_PER_S;

	fine ? timefmt_clock_ms(a, from) : timefmt_clock(a, from);
	if (!nav_has_range(&app->nav))
		return g_strdup(a);
	return g_strdup_printf("%s-%s", a, fine ? timefmt_clock_ms(b, to) : timefmt_clock(b, to));
}

/* "  second 18 of 29": where the step is in the trace. NULL: unknown, or other than one second is shown. */
static char *position_text(const struct app *app)
{
	int64_t first, last, at = app->nav.cursor_ns;

	if (app->nav.step_ns != NS_PER_S || nav_has_range(&app->nav) || at == TIME_UNKNOWN ||
	    !nav_bounds(&app->nav, app->main, &first, &last))
		return NULL;
	size_t n = timeline_n_seconds(app->main);
	if (n && app->nav.last_ns == TIME_UNKNOWN)	/* the last event can be just after the last second */
		last = timeline_outline(app->main, n - 1)->begin_ns;
	first = time_floor(first, NS_PER_S);
	last = time_floor(last, NS_PER_S);
	if (at < first || at > last)
		return NULL;
	return g_strdup_printf("  second %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, (at - first) / NS_PER_S + 1,
			       (last - first) / NS_PER_S + 1);
}

/* Does the range reach into the second that is not over yet? */
static bool is_open(const struct timeline *tl, int64_t to)
{
	size_t n = timeline_n_seconds(tl);
	const struct second *last = n ? timeline_outline(tl, n - 1) : NULL;

	return last && !last->version && last->begin_ns < to;
}

/* Right half of the title: clock, mode, range and step; without range and step in a narrow terminal. */
static char *time_text(const struct app *app, unsigned cols, unsigned *ret_mode_at)
{
	char range[TIMEFMT_LEN], step[TIMEFMT_LEN];
	g_autofree char *mode = mode_text(app), *clock = NULL, *tail = NULL;
	g_autofree char *position = cols >= POSITION_COLS ? position_text(app) : NULL;
	int64_t from, to;

	nav_range(&app->nav, &from, &to);
	clock = clock_text(app, from, to);
	timefmt_step(range, to - from);
	timefmt_step(step, app->nav.step_ns);
	if (cols >= 72)
		tail = g_strdup_printf("%s  range %s step %s", position ? position : "",
				       app->nav.cursor_ns == TIME_UNKNOWN ? "-" : range, step);
	*ret_mode_at = (unsigned)strlen(clock) + 1;
	return g_strdup_printf("%s %s%s%s", clock, mode, is_open(app->main, to) ? ", not over yet" : "",
			       tail ? tail : "");
}

/* Appends a part of the breadcrumb. depth: index in the stack of the place it leads to; G_MAXUINT: none. */
static void add_crumb(const struct app *app, GString *s, GArray *depths, const char *text, guint depth)
{
	if (s->len)
		g_string_append_printf(s, " %s ", app->glyphs->crumb);
	g_string_append(s, text);
	g_array_append_val(depths, depth);
}

/* The breadcrumb from place `first` on, with the root or without it. */
static char *crumbs_from(const struct app *app, bool with_root, guint first, GArray *ret_depths)
{
	GPtrArray *stack = app->nav.stack;
	const struct place *root = g_ptr_array_index(stack, 0);
	GString *s = g_string_new(NULL);

	g_array_set_size(ret_depths, 0);
	if (with_root)
		add_crumb(app, s, ret_depths, root->view->title, 0);
	if (stack->len == 1 && app->status.source[0])
		add_crumb(app, s, ret_depths, app->status.source, G_MAXUINT);
	if (!with_root || first > 1)
		add_crumb(app, s, ret_depths, "..", G_MAXUINT);
	for (guint i = first; i < stack->len; i++) {
		g_autofree char *crumb = place_crumb(app, g_ptr_array_index(stack, i));

		add_crumb(app, s, ret_depths, crumb, i);
	}
	return g_string_free(s, FALSE);
}

/* "Overview > thumbnail > 7f8e...". When it is too long, parts in the middle are left out, never the last one. */
static char *crumbs_text(const struct app *app, unsigned cols, GArray *ret_depths)
{
	guint n = app->nav.stack->len;
	char *text = NULL;

	for (guint first = 1; first < MAX(n, 2); first++) {
		g_free(text);
		text = crumbs_from(app, true, first, ret_depths);
		if (text_width(text) <= cols || n == 1)
			return text;
	}
	g_free(text);
	return crumbs_from(app, false, n - 1, ret_depths);
}

/* Registers the clickable parts of the breadcrumb, which are separated by glyphs->crumb. */
static void crumbs_hits(struct app *app, unsigned cols, const GArray *depths)
{
	struct canvas *c = app->canvas;
	unsigned begin = 0;
	guint part = 0;

	for (unsigned x = 0; x <= cols && part < depths->len; x++) {
		bool mark = x < cols && !strcmp(canvas_cell(c, 0, x)->ch, app->glyphs->crumb);
		guint depth = g_array_index(depths, guint, part);

		if (!mark && x < cols)
			continue;
		if (depth != G_MAXUINT)
			canvas_hit(c, 0, begin, x - begin, HIT_CRUMB, NULL, (int64_t)depth);
		begin = x + 1;
		part++;
	}
}

/* The live stream that has sent nothing up to `to`, or NULL. g_free. */
static char *stalled_stream(const struct app *app, int64_t to)
{
	if (app->status.phase != UI_LIVE || !app->status.stalled[0] || to <= app->status.stalled_ns)
		return NULL;
	return text_clip(app->status.stalled, STALLED_COLS, app->glyphs->utf8);
}

/* Title of a waterfall: when the request began. *ret_mode_at: the column of the mode; without one, after the text. */
static char *began_text(const struct app *app, const struct place *p, const struct waterfall *w,
			 unsigned *ret_mode_at)
{
	struct completeness t = p->rows->completeness;
	bool lost = t.lost_events || t.lost_packets || t.touched;
	g_autofree char *mode = mode_text(app), *stalled = stalled_stream(app, w->end_ns);
	bool paused = !strcmp(mode, "PAUSED");
	char begin[TIMEFMT_LEN];

	timefmt_clock_ms(begin, w->begin_ns);
	char *text = g_strdup_printf("began %s%s%s  %s%s%s", begin, paused ? "" : "  ", paused ? "" : mode,
				     lost ? "! events lost" : stalled ? "! no data from " : "complete",
				     lost || !stalled ? "" : stalled,
				     app->cover.kind == COVER_PROVISIONAL ? " ~provisional" : "");
	*ret_mode_at = paused ? text_width(text) : (unsigned)(strlen("began ") + strlen(begin) + 2);
	return text;
}

static void draw_title(struct app *app, struct place *p)
{
	struct canvas *c = app->canvas;
	const struct waterfall *w = p->view->kind == VIEW_WATERFALL ? waterfall_of(p->rows) : NULL;
	unsigned mode_at, x, used;
	g_autoptr(GArray) depths = g_array_new(FALSE, FALSE, sizeof(guint));
	g_autofree char *time = w && w->root ? began_text(app, p, w, &mode_at) :
		time_text(app, c->cols, &mode_at);
	unsigned time_cols = MIN(text_width(time), c->cols);
	g_autofree char *source = NULL, *crumbs = NULL;

	x = c->cols - time_cols;
	crumbs = crumbs_text(app, x > 2 ? x - 2 : 0, depths);
	used = canvas_put(c, 0, 0, x > 2 ? x - 2 : 0, ROLE_CRUMB, crumbs);
	crumbs_hits(app, used, depths);
	source = g_strdup_printf("  (%s)", app->status.source);
	if (app->nav.stack->len > 1 && app->status.source[0] && used + text_width(source) + 2 < x)
		canvas_put(c, 0, used, x - used, ROLE_TITLE, source);
	canvas_put(c, 0, x, time_cols, ROLE_TITLE, time);
	for (unsigned i = x + mode_at; i < c->cols && canvas_cell(c, 0, i)->ch[0]; i++) {
		if (canvas_cell(c, 0, i)->ch[0] == ' ' && i + 1 < c->cols &&
		    canvas_cell(c, 0, i + 1)->ch[0] == ' ')
			break;
		canvas_set_role(c, 0, i, 1, mode_role(app));
	}
}

unsigned frame_add(struct app *app, unsigned y, unsigned x, enum role role, const char *format,
		   ...)
{
	g_autofree char *s = NULL;
	va_list ap;

	va_start(ap, format);
	s = g_strdup_vprintf(format, ap);
	va_end(ap);
	if (x + text_width(s) > app->canvas->cols)
		return x;
	return x + canvas_put(app->canvas, y, x, app->canvas->cols, role, s);
}

/* The length of the first line of a text that is wrapped at blanks. */
static size_t line_length(const char *text, unsigned cols)
{
	size_t whole = text_prefix(text, cols, NULL), cut = whole;

	while (text[cut] && cut > 0 && text[cut] != ' ')
		cut--;
	return cut ? cut : whole;
}

static unsigned wrapped_rows(const char *text, unsigned cols)
{
	unsigned n = 0;

	for (size_t cut; *text && (cut = line_length(text, cols)); n++)
		text += cut + (text[cut] == ' ');
	return n;
}

/* Wraps a text into the box. If it does not fit, its end is cut, and the last row's last `reserved` columns are free;
 * *ret_cut_at is that row, else 0. Returns the number of lines. */
static unsigned wrap(struct app *app, struct box box, enum role role, const char *text, unsigned reserved,
		     unsigned *ret_cut_at)
{
	g_autofree char *visible = text_visible(text);
	const char *rest = visible;
	unsigned n = 0;

	*ret_cut_at = 0;
	while (*rest && n < box.rows) {
		bool last = n + 1 == box.rows;
		size_t cut = last ? text_prefix(rest, box.cols, NULL) : line_length(rest, box.cols);
		g_autofree char *line = rest[cut] && last ? text_clip(rest, box.cols - reserved, app->glyphs->utf8) :
			g_strndup(rest, cut);
		if (rest[cut] && last)
			*ret_cut_at = box.y + n;
		canvas_put(app->canvas, box.y + n++, box.x, box.cols, role, line);
		rest += cut + (rest[cut] == ' ');
	}
	return n;
}

unsigned frame_sentence(struct app *app, struct box box, enum role role, const char *text)
{
	unsigned cut_at;

	return wrap(app, box, role, text, 0, &cut_at);
}

unsigned frame_why(struct app *app, struct box box, const char *text)
{
	g_autofree char *keys = keys_of(app_context(app), CMD_VIEW_INFO);
	g_autofree char *hint = g_strdup_printf(" %s: all", keys);
	unsigned cut_at, n;

	canvas_put(app->canvas, box.y, box.x, 3, ROLE_KEY, "WHY");
	n = wrap(app, (struct box){ box.y, box.x + 4, box.rows, box.cols - 4 }, ROLE_WHY, text,
		 *keys ? text_width(hint) : 0, &cut_at);
	if (cut_at && *keys)
		canvas_put_right(app->canvas, cut_at, box.x, box.cols, ROLE_DIM, hint);
	return n;
}

void frame_bar(struct app *app, unsigned y, unsigned x, enum role role, unsigned eighths, unsigned cells)
{
	canvas_fill(app->canvas, y, x, eighths / 8, role, app->glyphs->eighth[8]);
	if (eighths % 8)
		canvas_put(app->canvas, y, x + eighths / 8, 1, role, app->glyphs->eighth[eighths % 8]);
	for (unsigned i = 0; i < (eighths + 7) / 8; i++)
		canvas_shade(app->canvas, y, x + i, 1, theme_shade((i + 1.0) / cells), false);
}

/* How to avoid losses: the command where there is room, else the key that shows it. */
static unsigned completeness_repair(struct app *app, unsigned y, unsigned x)
{
	struct completeness all = timeline_facts(app->main)->completeness;
	bool by_tracer = all.lost_events || all.lost_packets;
	unsigned after = frame_add(app, y, x, ROLE_DIM, "   %s%s", by_tracer ? "next time: " : "",
				   by_tracer ? repair_for_losses() : "a piece of the trace is missing or damaged");

	return after != x ? after : frame_add(app, y, x, ROLE_DIM, "  F7: how to avoid it");
}

/* Live: what was announced and not received, of the whole session. */
static unsigned completeness_missing(struct app *app, unsigned y, unsigned x, const struct missing *m)
{
	if (m->gave_up)
		x = frame_add(app, y, x, ROLE_DISTRUST, " INCOMPLETE");
	if (m->left_packets)
		x = frame_add(app, y, x, ROLE_DISTRUST, " %" G_GUINT64_FORMAT " packets not received", m->left_packets);
	if (m->ended_early)
		x = frame_add(app, y, x, ROLE_DISTRUST, " %u streams ended early", m->ended_early);
	return x;
}

static bool is_lossy(const struct completeness *t)
{
	return t->lost_events || t->lost_packets || t->touched;
}

/* Calls and block requests whose begin or end is not in what was read. Of what is final nothing more can come: then it
 * says what they miss, if there is room; F7 does always. */
static unsigned completeness_unresolved(struct app *app, unsigned y, unsigned x, uint64_t n, int64_t to)
{
	if (app->cover.kind == COVER_PROVISIONAL || is_open(app->main, to))
		return frame_add(app, y, x, ROLE_DISTRUST, ", %" G_GUINT64_FORMAT " provisional", n);
	if (app->canvas->cols < 80)
		return x;
	return frame_add(app, y, x, ROLE_DIM, ", %" G_GUINT64_FORMAT " call%s or I/O%s seen in part", n,
			 n == 1 ? "" : "s", n == 1 ? "" : "s");
}

static unsigned completeness_losses(struct app *app, unsigned y, const struct completeness *t)
{
	const struct missing *m = timeline_missing(app->main);
	bool bad = is_lossy(t), incomplete = m && missing_is_any(m);
	enum role role = bad ? ROLE_DISTRUST : ROLE_COMPLETENESS;
	int64_t from, to;

	nav_range(&app->nav, &from, &to);
	g_autofree char *stalled = stalled_stream(app, to);
	unsigned x = frame_add(app, y, 0, stalled || incomplete ? ROLE_DISTRUST : role, "DATA %s",
			       bad || stalled || incomplete ? "!" : "ok");

	if (stalled)
		x = frame_add(app, y, x, ROLE_DISTRUST, " NO DATA from %s", stalled);
	x = frame_add(app, y, x, role, bad ? " LOST" : " lost 0");
	if (bad && !t->lost_events && !t->lost_packets && !t->damaged)
		x = frame_add(app, y, x, role, " a part");
	if (t->lost_events)
		x = frame_add(app, y, x, role, " %" G_GUINT64_FORMAT " events", t->lost_events);
	if (t->lost_packets)
		x = frame_add(app, y, x, role, " %" G_GUINT64_FORMAT " packets", t->lost_packets);
	if (t->damaged)
		x = frame_add(app, y, x, role, " %" G_GUINT64_FORMAT " damaged", t->damaged);
	if (incomplete)
		x = completeness_missing(app, y, x, m);
	if (t->provisional)
		x = completeness_unresolved(app, y, x, t->provisional, to);
	if (t->late)
		x = frame_add(app, y, x, ROLE_DISTRUST, " late %" G_GUINT64_FORMAT, t->late);
	uint64_t traces, spans;
	timeline_evicted(app->main, &traces, &spans);
	traces += timeline_facts(app->main)->n_thinned;
	if (traces)
		x = frame_add(app, y, x, ROLE_DISTRUST, " dropped %" G_GUINT64_FORMAT " traces", traces);
	if (t->corrected == 1)
		x = frame_add(app, y, x, ROLE_PROVISIONAL, " corrected");
	else if (t->corrected)
		x = frame_add(app, y, x, ROLE_PROVISIONAL, " corrected %u seconds", t->corrected);
	return x;
}

/* What the whole trace lost: by the index while it is read, then as it was read, if that is more than in the range. */
static unsigned completeness_all(struct app *app, unsigned y, unsigned x, const struct completeness *t)
{
	const struct outline *o = app->nav.reading ? app->outline : NULL;
	const struct completeness all = timeline_facts(app->main)->completeness;
	bool more = all.lost_events > t->lost_events || all.lost_packets > t->lost_packets;
	g_autofree char *lost = o ? extent_lost_text(&app->extent, o->from_ns, o->to_ns) :
		more ? extent_counts_text(all.lost_events, all.lost_packets) : NULL;

	if (!lost && !o)
		return x;
	return frame_add(app, y, x, lost ? ROLE_DISTRUST : ROLE_DIM, "   in all lost %s", lost ? lost : "0");
}

/* Says when the figures are provisional, or of a part of the range. */
static unsigned completeness_cover(struct app *app, unsigned y, unsigned x)
{
	static const char *const provisional[] = {
		"provisional: what came before is not read yet", "provisional: only a part of it is read yet",
	};

	char a[TIMEFMT_LEN], b[TIMEFMT_LEN];
	int64_t from, to, begin, end;

	nav_range(&app->nav, &from, &to);
	if (app->cover.kind == COVER_PROVISIONAL)
		return frame_add(app, y, x, ROLE_PROVISIONAL, "   %s %s", app->glyphs->provisional,
				 provisional[app->cover.part]);
	if (app->cover.kind == COVER_EXACT)
		return frame_add(app, y, x, ROLE_DIM, "   decoded again%s",
				 app->cover.part ? ", only a part of it" : "");
	if (app->cover.kind == COVER_READ &&
	    extent_is_folded(app->main, from, to, &begin, &end))
		return frame_add(app, y, x, ROLE_PROVISIONAL, "   = folded: %s-%s are one row",
				 timefmt_clock(a, begin), timefmt_clock(b, end));
	if (app->cover.kind == COVER_READ && app->cover.part)
		return frame_add(app, y, x, ROLE_PROVISIONAL, "   only a part of it is read");
	if (app->cover.kind == COVER_READ && is_open(app->main, to))
		return frame_add(app, y, x, ROLE_PROVISIONAL, "   %s open second", app->glyphs->provisional);
	int64_t part = range_recorded_part(app->tl, from, to);
	return part ? frame_add(app, y, x, ROLE_PROVISIONAL, "   traced for %s", timefmt_duration(a, part)) : x;
}

/* "14:03:05-14:04:00"; of several days "11-21 14:03:05 - 12-02 09:00:00". */
static unsigned completeness_time(struct app *app, unsigned y, unsigned x, const char *what, int64_t first,
				  int64_t last)
{
	char a[TIMEFMT_LEN], b[TIMEFMT_LEN];
	const size_t year = strlen("2026-"), day = strlen("2026-11-21");
	if (strncmp(timefmt_date(a, first), timefmt_date(b, last), day))
		return frame_add(app, y, x, ROLE_DIM, "   %s %s - %s", what, a + year, b + year);
	return frame_add(app, y, x, ROLE_DIM, "   %s %s-%s", what, a + day + 1, b + day + 1);
}

/* Live: how far back seconds and requests are in memory, and packets on disk, from which both can be decoded
 * again. */
static unsigned completeness_reach(struct app *app, unsigned y, unsigned x, int64_t first)
{
	char clock[TIMEFMT_LEN];
	const char *mark = "   ";
	int64_t stored = app->status.stored ? app->status.stored_from_ns : TIME_UNKNOWN;
	int64_t from = timeline_facts(app->main)->requests_from;
	bool wide = app->canvas->cols >= REACH_COLS, is_stored = stored != TIME_UNKNOWN;
	bool requests = timeline_facts(app->main)->has_spans && (is_stored || from != TIME_UNKNOWN);

	if (wide || (!requests && !is_stored)) {
		x = frame_add(app, y, x, ROLE_DIM, "%shistory %s-now", mark, timefmt_clock(clock, first));
		mark = ", ";
	}
	if (requests) {
		timefmt_clock(clock, from > first ? time_floor(from - 1, NS_PER_S) + NS_PER_S : first);
		x = frame_add(app, y, x, ROLE_DIM, wide ? "%srequests since %s" : "%sreq %s-", mark, clock);
		mark = ", ";
	}
	if (is_stored)
		x = frame_add(app, y, x, ROLE_DIM, wide ? "%spackets since %s" : "%spkt %s-", mark,
			      timefmt_clock(clock, stored));
	return x;
}

static unsigned completeness_history(struct app *app, unsigned y, unsigned x)
{
	int64_t first, last;

	if (!timeline_coverage(app->main, &first, &last))
		return x;
	if (timeline_retained_from(app->main) > first)
		first = timeline_retained_from(app->main);
	if (app->status.phase == UI_LIVE && !app->options->watched)
		return completeness_reach(app, y, x, first);
	return completeness_time(app, y, x, "history", first, last);
}

void frame_completeness(struct app *app, unsigned y, const struct completeness *completeness)
{
	char a[TIMEFMT_LEN], b[TIMEFMT_LEN];
	size_t budget = timeline_facts(app->main)->budget, held = timeline_bytes(app->main);
	const struct outline *o = app->nav.reading ? app->outline : NULL;
	bool unread = app->cover.kind == COVER_UNREAD;
	unsigned x = unread ? frame_add(app, y, 0, ROLE_UNREAD, "DATA -") : completeness_losses(app, y, completeness);

	x = completeness_cover(app, y, x);
	x = completeness_all(app, y, x, completeness);
	if (!unread && is_lossy(completeness) && !app->cover.part)
		x = completeness_repair(app, y, x);
	x = o ? completeness_time(app, y, x, "trace", o->from_ns, o->to_ns) : completeness_history(app, y, x);
	if (app->preview)
		held += timeline_bytes(app->preview);
	timefmt_bytes(a, held);
	x = frame_add(app, y, x, ROLE_DIM, "   mem %s%s%s", a, budget ? "/" : "",
		      budget ? timefmt_bytes(b, budget) : "");
	if (app->status.n_events)
		x = frame_add(app, y, x, ROLE_DIM, "   %s events",
			      timefmt_count(a, app->status.n_events));
	if (app->status.late)
		frame_add(app, y, x, ROLE_DISTRUST, "   late %s",
			  timefmt_count(a, app->status.late));
}

/* "native", or "babeltrace2 (why)" with as much of the reason as fits. */
static char *reader_text(const struct app *app, unsigned room)
{
	const char *why = strstr(app->status.reader, ": ");
	g_autofree char *name = NULL, *clipped = NULL;

	if (!why)
		return text_clip(app->status.reader, room, app->glyphs->utf8);
	name = g_strndup(app->status.reader, (gsize)(why - app->status.reader));
	if (room < strlen(name) + 8)
		return text_clip(name, room, app->glyphs->utf8);
	clipped = text_clip(why + 2, room - (unsigned)strlen(name) - 3, app->glyphs->utf8);
	return g_strdup_printf("%s (%s)", name, clipped);
}

/* ", 12s left": by the share that was read so far. Unknown during the first second and near its end. */
static void add_rest(GString *text, const struct app *app)
{
	double progress = app->status.progress;
	double elapsed = (double)(g_get_monotonic_time() - app->loading_since_us) / G_USEC_PER_SEC;
	double rest = elapsed * (1 - progress) / progress;

	if (!app->loading_since_us || elapsed < 1 || progress < 0.02 || rest < 1)
		return;
	if (rest < 100)
		g_string_append_printf(text, ", %.0fs left", rest);
	else
		g_string_append_printf(text, ", %.0fmin left", rest / 60);
}

static void add_load_bar(GString *text, const struct app *app)
{
	unsigned eighths = (unsigned)(CLAMP(app->status.progress, 0, 1) * LOAD_BAR * 8);

	g_string_append_printf(text, " %s", app->glyphs->edge);
	for (unsigned i = 0; i < LOAD_BAR; i++)
		g_string_append(text, app->glyphs->eighth[MIN(eighths - MIN(8 * i, eighths), 8)]);
	g_string_append(text, app->glyphs->edge);
}

/* "native 42%, 12 of 40 parts, 1.2M events, 16M/s, 12s left; Esc stops the load" */
static char *loading_text(const struct app *app)
{
	const struct ui_status *s = &app->status;
	const char *end = nav_is_top(&app->nav) ? "; Esc stops the load" :
		"; at the top Esc stops it";
	GString *text = g_string_new(NULL);
	char n[TIMEFMT_LEN], r[TIMEFMT_LEN];
	g_autofree char *reader = NULL, *figures = NULL;
	unsigned room;

	if (s->progress >= 0 && app->canvas->cols >= LOAD_BAR_COLS)
		add_load_bar(text, app);
	if (s->progress >= 0)
		g_string_append_printf(text, " %d%%", CLAMP((int)(s->progress * 100), 0, 100));
	if (s->index_progress >= 0 && s->index_progress < 1)
		g_string_append_printf(text, ", index %d%%", (int)(s->index_progress * 100));
	if (s->pieces)
		g_string_append_printf(text, ", %u of %u parts", s->pieces_done, s->pieces);
	g_string_append_printf(text, "%s%s events%s, %s%s", text->len ? ", " : "",
			       timefmt_count(n, s->n_events), text->len ? "" : " read",
			       timefmt_count(r, (uint64_t)MAX(s->events_per_s, 0)),
			       text->len ? "/s" : " a second");
	add_rest(text, app);
	figures = g_string_free(text, FALSE);
	room = app->canvas->cols > text_width(figures) + strlen(end) ?
		app->canvas->cols - text_width(figures) - (unsigned)strlen(end) : 0;
	reader = reader_text(app, room);
	return g_strchug(g_strconcat(reader, figures, end, NULL));
}

/* Names the missing events. A long list is clipped so that the hint stays readable. */
static char *missing_text_of(const struct app *app, const char *missing)
{
	static const char hint[] = "   F7: how to record it";
	bool yet = app->status.phase == UI_LIVE;	/* programs that start later may have them */
	g_autofree char *all = g_strconcat(yet ? "not received yet: " : "not in this trace: ", missing, NULL);
	unsigned room = app->canvas->cols - MIN(app->canvas->cols, (unsigned)strlen(hint));
	g_autofree char *clipped = text_clip(all, room, app->glyphs->utf8);

	return g_strconcat(clipped, hint, NULL);
}

/* The message, else the most important of: state of the source, filter, loading, missing events. */
static char *status_text(struct app *app, struct place *p, enum role *ret_role)
{
	g_autofree char *missing = NULL;

	*ret_role = ROLE_STATUS;
	if (app->message) {
		*ret_role = app->message_is_error ? ROLE_ERROR : ROLE_STATUS;
		return text_visible(app->message);
	}
	if (app->status.banner[0] && !(app->status.calm && p->filter)) {
		*ret_role = app->status.calm ? ROLE_STATUS : ROLE_ERROR;
		return text_visible(app->status.banner);
	}
	if (p->filter) {
		struct focus f = place_focus(p);
		g_autofree char *shown = text_visible(p->filter);

		g_autofree char *count = rows_count_text(f.rows, p->filter);
		int64_t line;

		if (f.view->kind == VIEW_DISTRIBUTION && view_line(p->filter, &line))
			return g_strdup_printf("line: %s   u clears it", shown);
		return g_strdup_printf("%s, filter: %s   u clears it", count, shown);
	}
	*ret_role = ROLE_DIM;
	if (app->status.phase == UI_LOADING &&
	    (app->status.events_per_s > 0 || *app->status.reader))
		return app->prefs->accessible ? g_strdup("loading; Esc stops it") : loading_text(app);
	if (app->status.phase != UI_OPENING && app->status.phase != UI_LOADING)
		missing = output_missing(app, p->view);
	if (missing)
		return missing_text_of(app, missing);
	/* Explains why reading was slow. */
	if (app->status.phase == UI_DONE && g_str_has_prefix(app->status.reader, "babeltrace2: "))
		return g_strdup_printf("read by %s", app->status.reader);
	return g_strdup("");
}

/* The hints of each kind of screen: commands that work there. */
static const struct { enum context context; enum command_id command; const char *word; } hints[] = {
	{ CTX_OVERVIEW, CMD_DRILL, "why" }, { CTX_OVERVIEW, CMD_NEXT, "next cause" },
	{ CTX_OVERVIEW, CMD_CHANGED, "what changed" },
	{ CTX_OVERVIEW, CMD_HEATMAP, "heatmap" }, { CTX_OVERVIEW, CMD_VIEW_TIMELINE, "timeline" },
	{ CTX_TABLE, CMD_DRILL, "open" }, { CTX_TABLE, CMD_FILTER, "filter" },
	{ CTX_TABLE, CMD_VIEW_INFO, "what this means" }, { CTX_TABLE, CMD_BACK, "back" },
	{ CTX_WATERFALL, CMD_CURSOR_RIGHT, "time cursor" }, { CTX_WATERFALL, CMD_WAKER, "waker" },
	{ CTX_WATERFALL, CMD_COMPARE, "compare with the usual" }, { CTX_WATERFALL, CMD_BACK, "back" },
	{ CTX_HEATMAP, CMD_DRILL, "list the cell" }, { CTX_HEATMAP, CMD_SELECT, "select" },
	{ CTX_HEATMAP, CMD_BACK, "back" },
	{ CTX_TIMELINE, CMD_ZOOM_IN, "zoom" }, { CTX_TIMELINE, CMD_DRILL, "open" }, { CTX_TIMELINE, CMD_BACK, "back" },
};

static bool has_coach(const struct app *app)
{
	return app->coach && app->canvas->rows >= COACH_LEAST_ROWS;
}

/* Does Enter open slow requests, whose cause is shown then? */
static bool says_why(struct app *app)
{
	struct place *p = nav_top(&app->nav);

	return app_context(app) == CTX_OVERVIEW && p->pane == PANE_CAUSES && place_selected(p);
}

/* "Enter why"; NULL: the command has no key in that context. g_free. */
static char *hint_text(enum context context, enum command_id command, const char *word)
{
	g_autofree char *keys = keys_of(context, command);

	keys[strcspn(keys, " ")] = '\0';
	return *keys ? g_strdup_printf("%s %s", keys, word) : NULL;
}

/* "Enter why · n next cause · x hide": as many as fit. While a line is typed, none. */
static void draw_coach(struct app *app, unsigned y)
{
	enum context context = app_context(app);
	const char *between = app->glyphs->utf8 ? " · " : " - ";
	g_autofree char *end = hint_text(context, CMD_COACH, "hide");
	unsigned room = app->canvas->cols - 2 - (end ? text_width(end) + 3 : 0);
	g_autoptr(GString) s = g_string_new(NULL);

	canvas_fill(app->canvas, y, 0, app->canvas->cols, ROLE_COACH, " ");
	for (size_t i = 0; i < G_N_ELEMENTS(hints) && app->prompt.kind == PROMPT_NONE; i++) {
		bool says_open = context == CTX_OVERVIEW && hints[i].command == CMD_DRILL && !says_why(app);
		bool no_spans = hints[i].command == CMD_CHANGED && !timeline_facts(app->tl)->has_spans;
		g_autofree char *hint = hints[i].context == context && !no_spans ?
			hint_text(context, hints[i].command, says_open ? "open" : hints[i].word) : NULL;

		if (hint && text_width(s->str) + text_width(hint) + 3 <= room)
			g_string_append_printf(s, "%s%s", s->len ? between : "", hint);
	}
	if (end && app->prompt.kind == PROMPT_NONE)
		g_string_append_printf(s, "%s%s", s->len ? between : "", end);
	canvas_put(app->canvas, y, 1, app->canvas->cols - 1, ROLE_COACH, s->str);
}

const char *frame_nothing(const struct app *app, const char *otherwise)
{
	if (app->nav.cursor_ns != TIME_UNKNOWN)
		return otherwise;
	switch (app->status.phase) {
	case UI_DONE:
		return "this trace has no events; blktop --recipe prints a script that records";
	case UI_CANCELLED:
		return "nothing was read before Esc stopped it; q, and start blktop again";
	case UI_FAILED:
		return "nothing was read: the line below says why, blktop --doctor says more";
	default:
		return "reading ...";
	}
}

bool frame_page(struct app *app, struct box box)
{
	bool silent = app->nav.cursor_ns == TIME_UNKNOWN && !app->status.n_events &&
		(app->status.phase == UI_LIVE || app->status.phase == UI_DONE);
	g_autofree char *text = silent && app->backend && app->backend->nothing ?
		app->backend->nothing(app->backend->data) : NULL;
	unsigned y = box.y + 1, end = box.y + box.rows;

	if (!text)
		return false;
	canvas_clear(app->canvas);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line && y < end; line++) {
		bool command = g_str_has_prefix(*line, "  ");
		unsigned indent = command ? 3 : 1;

		y += frame_sentence(app, (struct box){ y, indent, end - y, box.cols - indent },
				    command ? ROLE_KEY : ROLE_TEXT, command ? *line + 2 : *line);
	}
	return true;
}

/* What is wrong with the typed text, over the rows above it. */
static void draw_prompt_error(struct app *app, const char *error, unsigned y)
{
	g_autofree char *visible = text_visible(error);
	unsigned cols = app->canvas->cols, rows = MIN(wrapped_rows(visible, cols), y);

	for (unsigned i = 1; i <= rows; i++)
		canvas_fill(app->canvas, y - i, 0, cols, ROLE_ERROR, " ");
	frame_sentence(app, (struct box){ y - rows, 0, rows, cols }, ROLE_ERROR, visible);
}

static void draw_status(struct app *app, struct place *p, unsigned y)
{
	enum role role;
	g_autofree char *text = NULL;

	if (app->prompt.kind != PROMPT_NONE) {
		const char *above = NULL;

		app->cursor_y = y;
		app->cursor_x = prompt_draw(&app->prompt, app->canvas, y, &above);
		if (above)
			draw_prompt_error(app, above, y);
		app->cursor_shown = true;
		return;
	}
	text = status_text(app, p, &role);
	canvas_put(app->canvas, y, 0, app->canvas->cols, role, text);
}

struct box frame_body(const struct app *app)
{
	unsigned below = has_coach(app) ? 3 : 2;

	return (struct box){ 1, 0, app->canvas->rows - 1 - below, app->canvas->cols };
}

/* Is the selected row of a request or a span, so that key e exports it? */
static bool is_of_request(struct place *p)
{
	if (!p->rows)
		return false;
	struct view_query q = place_selected_query(p);
	return query_has_trace(&q);
}

void frame_draw(struct app *app, struct place *p)
{
	struct canvas *c = app->canvas;

	draw_title(app, p);
	draw_status(app, p, c->rows - (has_coach(app) ? 3 : 2));
	if (has_coach(app))
		draw_coach(app, c->rows - 2);
	if (app->prefs->accessible)
		return;
	unsigned bar = app->prompt.kind != PROMPT_NONE ? CTX_PROMPT : app_context(app);

	if (bar == CTX_TABLE && p->view == &view_log)
		bar |= CTX_LOG_BAR;
	if ((bar & CTX_ROWS) && p->view->kind != VIEW_TIMELINE && is_of_request(p))
		bar |= CTX_REQUEST_BAR;
	if (nav_is_top(&app->nav) && app->prompt.kind == PROMPT_NONE)
		bar |= CTX_TOP_BAR;
	if (says_why(app))
		bar |= CTX_WHY_BAR;
	if ((bar & CTX_OVERVIEW) && timeline_facts(app->tl)->has_spans)
		bar |= CTX_SPANS_BAR;
	if (app->more_keys)
		bar = app_context(app) | CTX_MORE_BAR;
	bar_draw(c, c->rows - 1, bar, has_coach(app));
}
