/* SPDX-License-Identifier: GPL-2.0-only */
/* Setting bookmarks and going to them: see bookmark.h. */
#include "ui/bookmark.h"

#include "ui/metric_place.h"
#include "ui/screen_flame.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/bookmarks.h"

#include <string.h>

/* The message has a long path: its reason is shown, and all of it is in the messages. */
static void note_failure(struct app *app, const char *what, const char *message, GError **error)
{
	const char *reason = message ? strrchr(message, ':') : NULL;

	if (message)
		app_note(app, true, message);
	g_set_error(error, BLK_EXPR_ERROR, 0, "%s%s", what, reason ? reason + 2 : message ? message : "failed");
}

/* The stored bookmarks; NULL: *error says why they cannot be used. */
static GPtrArray *read_all(struct app *app, GError **error)
{
	const struct ui_backend *b = app->backend;
	g_autofree char *text = NULL, *message = NULL;
	size_t len = 0;

	if (!b || !b->read_bookmarks || !b->write_bookmarks) {
		g_set_error(error, BLK_EXPR_ERROR, 0, "no bookmarks here");
		return NULL;
	}
	if (b->read_bookmarks(b->data, &text, &len, &message))
		return bookmarks_parse("the bookmarks file", text ? text : "", len, error);
	note_failure(app, "cannot read the bookmarks: ", message, error);
	return NULL;
}

/* Of a view of a metric. false: not all can be stored: a second side, two values of one field, a very long value. */
static bool put_metric(struct bookmark *b, const struct metric_place *m)
{
	bool all = !m->other.metric && !m->query.metric->event;

	b->metric = m->query.metric->event ? NULL : m->query.metric;
	b->split = b->metric && m->query.n_by ? (int)m->query.by[0] : -1;
	b->low_ns = m->low_ns >= 0 ? m->low_ns : TIME_UNKNOWN;
	for (guint i = 0; b->metric && i < m->conditions->len; i++) {
		const struct metric_condition *c = &g_array_index(m->conditions, struct metric_condition, i);

		if (b->value[c->field] || strlen(c->text) > LIMIT_TYPED_BYTES) {
			all = false;
			continue;
		}
		b->value[c->field] = g_strdup(c->text);
	}
	return all;
}

static struct metric_place *metric_of(const struct bookmark *b)
{
	enum metric_field split = b->split >= 0 ? (enum metric_field)b->split : 0;
	struct metric_place *m = metric_place_by(b->metric, &split, b->split >= 0);

	for (int f = 0; f < METRIC_FIELD_N; f++)
		if (b->value[f])
			metric_place_where(m, f, metric_field_kind(f) == VALUE_TEXT ? value_text(b->value[f]) :
					   value_int(VALUE_ID, g_ascii_strtoll(b->value[f], NULL, 10)));
	m->low_ns = MAX(b->low_ns, -1);
	return m;
}

static void remember_instants(struct app *app, const GPtrArray *all)
{
	if (app->bookmarked)
		g_array_unref(app->bookmarked);
	app->bookmarked = g_array_new(FALSE, FALSE, sizeof(int64_t));
	for (guint i = 0; all && i < all->len; i++) {
		const struct bookmark *b = all->pdata[i];

		g_array_append_val(app->bookmarked, b->at_ns);
	}
}

const GArray *bookmark_instants(struct app *app)
{
	if (!app->bookmarked) {
		g_autoptr(GPtrArray) all = app->backend && app->backend->read_bookmarks ? read_all(app, NULL) : NULL;

		remember_instants(app, all);
	}
	return app->bookmarked;
}

/* Where the user is. *ret_all: the whole narrowing can be stored. */
static struct bookmark *bookmark_here(const struct app *app, struct place *p, bool *ret_all)
{
	const struct nav *nav = &app->nav;
	struct bookmark *b = bookmark_new(p->view);

	b->at_ns = nav->cursor_ns;
	b->step_ns = nav->step_ns;
	b->a_ns = nav->a_ns;
	b->b_ns = nav->b_ns;
	b->cursor_ns = p->mark_ns;
	b->by = p->narrow.by;
	b->filter = g_strdup(p->filter);
	b->host = timeline_n_hosts(app->tl) > 1 ? g_strdup(p->host) : NULL;
	b->frame = screen_flame_zoomed(p);
	*ret_all = bookmark_narrow(b, &p->narrow) && !p->among;
	if (p->view->of_metric && place_metric(p)->query.metric)
		*ret_all = put_metric(b, place_metric(p)) && *ret_all;
	return b;
}

static struct bookmark *find_same(const GPtrArray *all, const struct bookmark *b)
{
	for (guint i = 0; i < all->len; i++)
		if (bookmark_is_same(all->pdata[i], b))
			return all->pdata[i];
	return NULL;
}

static void ask_note(struct app *app, struct place *p)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) all = NULL;
	const struct bookmark *same;
	struct bookmark *here;
	bool whole;

	if (app->nav.cursor_ns == TIME_UNKNOWN) {
		app_message(app, "nothing is read yet");
		return;
	}
	all = read_all(app, &error);
	if (!all) {
		app_error(app, "cannot set a bookmark: %s", error->message);
		return;
	}
	here = bookmark_here(app, p, &whole);
	same = find_same(all, here);
	prompt_open(&app->prompt, PROMPT_BOOKMARK, same ? same->note : NULL);
	bookmark_free(here);
}

static bool store(struct app *app, const GPtrArray *all, GError **error)
{
	g_autofree char *text = bookmarks_text(all, INT64_MIN, INT64_MAX), *message = NULL;

	if (app->backend->write_bookmarks(app->backend->data, text, &message)) {
		remember_instants(app, all);
		return true;
	}
	note_failure(app, "", message, error);		/* beside the prompt there is room for the reason only */
	return false;
}

static bool remove_here(struct app *app, GPtrArray *all, const struct bookmark *here, GError **error)
{
	struct bookmark *same = find_same(all, here);

	if (!same) {
		app_message(app, "there is no bookmark here to remove");
		return true;
	}
	g_ptr_array_remove(all, same);
	if (!store(app, all, error))
		return false;
	app_message(app, "bookmark removed: %u left", all->len);
	return true;
}

bool bookmark_set(struct app *app, const char *note, GError **error)
{
	g_autoptr(GPtrArray) all = read_all(app, error);
	bool whole;

	if (!all)
		return false;
	struct bookmark *here = bookmark_here(app, nav_top(&app->nav), &whole);
	if (!strcmp(note, "-")) {
		bool done = remove_here(app, all, here, error);

		bookmark_free(here);
		return done;
	}
	here->note = *note ? g_strdup(note) : NULL;
	if (!bookmarks_add(all, here))
		return fail(error, BLK_EXPR_ERROR, 0, "there are %d bookmarks: remove some", LIMIT_BOOKMARKS);
	if (!store(app, all, error))
		return false;
	app_message(app, "bookmark set%s: ' lists %u", whole ? "" : ", without what its rows are narrowed to",
		    all->len);
	return true;
}

/* --- the list --- */

/* "Thu 07:08:09  Traces  pid=246  note" */
static char *line_of(const struct bookmark *b)
{
	char clock[TIMEFMT_LEN];
	g_autofree char *where = bookmark_where(b), *note = text_visible(b->note ? b->note : "");
	g_autofree char *title = text_pad(b->view->title, 13);

	return g_strdup_printf("%s  %s %s%s%s", timefmt_clock(clock, b->at_ns), title, note,
			       *note && *where ? "   " : "", where);
}

static void go(struct app *app, const struct bookmark *b)
{
	g_autoptr(GError) error = NULL;
	struct nav *nav = &app->nav;
	struct metric_place *metric = b->metric ? metric_of(b) : NULL;
	g_autofree char *title = metric ? metric_place_title(metric) : g_strdup("");
	struct place *p = place_new(b->view, &b->narrow, title);
	char clock[TIMEFMT_LEN];

	p->lateral = true;
	p->narrow.by = b->by;
	p->mark_ns = b->cursor_ns;
	p->select.span = b->narrow.span_id;
	app_pause(app);
	nav->a_ns = nav->b_ns = TIME_UNKNOWN;
	nav_set_step(nav, b->step_ns);
	nav_seek(nav, app->main, b->at_ns);
	nav->a_ns = b->a_ns;
	nav->b_ns = b->b_ns;
	app_open(app, p);
	p = nav_top(nav);	/* which can be an equal place that was left before */
	screen_flame_zoom(p, b->frame);
	if (metric) {
		place_stale(p);
		place_take_metric(p, metric);
	}
	if (b->host) {
		g_free(p->host);
		p->host = g_strdup(b->host);
	}
	g_autofree char *note = text_visible(b->note ? b->note : "");
	app_message(app, "bookmark %s%s%s", timefmt_clock(clock, b->at_ns), *note ? ": " : "", note);
	if (!app_filter(app, p, b->filter, &error))
		app_error(app, "the bookmark's filter is not understood: %s", error->message);
	app_moved(app);
}

static void picked(struct app *app, void *data, size_t line)
{
	const GPtrArray *all = data;

	go(app, all->pdata[line]);
}

static void open_list(struct app *app)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) all = read_all(app, &error);
	GPtrArray *lines;

	if (!all) {
		app_error(app, "%s", error->message);
		return;
	}
	remember_instants(app, all);
	if (!all->len) {
		app_message(app, "no bookmarks in this trace: m sets one");
		return;
	}
	lines = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < all->len; i++)
		g_ptr_array_add(lines, line_of(all->pdata[i]));
	app_pick(app, "Bookmarks: Enter goes to one; there, m with the note - removes it", lines, &(struct pick){
		 .picked = picked, .data = g_steal_pointer(&all), .free = (GDestroyNotify)g_ptr_array_unref });
}

void bookmark_command(struct app *app, struct place *p, enum command_id command)
{
	if (command == CMD_BOOKMARK)
		ask_note(app, p);
	else
		open_list(app);
}
