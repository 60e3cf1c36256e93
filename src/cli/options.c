/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: see options.h. popt splits it and permutes operands; the table's rows read values that stand alone.
 * What depends on other options is checked and interpreted here.
 */
#include "cli/options.h"

#include "cli/options_table.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/text.h"
#include "send/graphite.h"
#include "send/host_names.h"
#include "views/heatmap.h"
#include "views/logline.h"
#include "views/narrowing.h"
#include "views/threshold.h"

#include <popt.h>
#include <string.h>

#define DEFAULT_LISTENING 5		/* seconds; doctor */

/* --- splitting --- */

static bool is_asking(enum command command)
{
	return command == COMMAND_HELP || command == COMMAND_HELP_SESSION ||
	       command == COMMAND_HELP_SEND || command == COMMAND_VERSION;
}

static bool set_command(struct command_line *c, enum command command, const char *name, GError **error)
{
	/* --help and --version win over any other command. */
	if (is_asking(c->options.command))
		return true;
	bool asks = is_asking(command);
	if (c->command_name && c->options.command != command && !asks)
		return fail(error, OPTIONS, "%s and %s cannot be combined", c->command_name, name);
	c->options.command = command;
	c->command_name = name;
	return true;
}

/* Takes an option; an error in its value waits until it is known whether help is asked for. */
static bool take_option(struct command_line *c, const struct option_row *r, const char *arg, GError **wrong,
			GError **error)
{
	if (!*wrong)
		option_take(c, r, arg, wrong);
	c->given[r - option_rows] = r->take != NULL;
	if (r->command == COMMAND_SCREEN)
		return true;
	g_autofree char *name = g_strconcat("--", r->name, NULL);
	return set_command(c, r->command, g_intern_string(name), error);
}

/* Words after "--" are a program and its arguments, which popt could not distinguish from operands. Returns the
 * number of words before it. */
static int split_program(struct command_line *c, int argc, const char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (g_str_equal(argv[i], "--")) {
			c->program = argv + i + 1;
			return i;
		}
	return argc;
}

static bool split_args(struct command_line *c, GPtrArray *operands, int argc, const char *const *argv, GError **error)
{
	struct poptOption table[OPTION_SLOTS + 1] = { 0 };
	g_autoptr(GError) wrong = NULL;

	for (size_t i = 0; i < option_n_rows; i++)
		table[i] = (struct poptOption){
			.longName = option_rows[i].name, .shortName = option_rows[i].letter,
			.argInfo = !option_rows[i].arg ? POPT_ARG_NONE : !option_rows[i].optional ? POPT_ARG_STRING :
				   POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL,
			.val = (int)i + 1,
		};

	argc = split_program(c, argc, argv);
	enum command command;
	const char *word = option_command_of(argc > 1 ? argv[1] : NULL, &command);
	bool ok = !word || set_command(c, command, word, error);
	/* popt skips the first word: the program's name, or the command. */
	poptContext con = poptGetContext("blktop", argc - (word != NULL), (const char **)argv + (word != NULL), table,
					 0);
	int val = 0;
	while (ok && (val = poptGetNextOpt(con)) > 0) {
		char *arg = poptGetOptArg(con);
		ok = take_option(c, &option_rows[val - 1], arg, &wrong, error);
		free(arg);
	}
	if (ok && val < -1)
		ok = fail(error, OPTIONS, "%s: %s", poptBadOption(con, POPT_BADOPTION_NOALIAS),
			  poptStrerror(val));
	const char *operand;
	while (ok && (operand = poptGetArg(con)))
		g_ptr_array_add(operands, g_strdup(operand));
	poptFreeContext(con);
	if (!ok || !wrong || is_asking(c->options.command))
		return ok;
	g_propagate_error(error, g_steal_pointer(&wrong));
	return false;
}

/* --- views and metrics --- */

static bool read_choice(const char *option, const char *text, const char *const *words, unsigned *ret, GError **error)
{
	for (unsigned i = 0; words[i]; i++)
		if (g_str_equal(words[i], text)) {
			*ret = i;
			return true;
		}
	g_autofree char *all = g_strjoinv(", ", (char **)words);
	return fail(error, OPTIONS, "%s takes one of %s, not '%s'", option, all, text);
}

static bool read_column(const struct view *v, const char *option, const char *id, int *ret, GError **error)
{
	*ret = view_column_typed(v, id);
	return *ret >= 0 ||
	       fail(error, OPTIONS, *ret == EXPR_SEVERAL ?
		    "%s: view %s has several columns called '%s'; see blktop --list-columns %s" :
		    "%s: view %s has no column '%s'; see blktop --list-columns %s", option, v->id, id, v->id);
}

/* Of commands that name no view: what they print. */
static const char *usual_view(const struct command_line *c)
{
	enum command command = c->options.command;
	return command == COMMAND_REPORT ? "traces" : c->options.batch.check ? "alerts" :
	       command == COMMAND_BATCH && !c->words.metric ? "processes" : NULL;
}

static bool check_view(struct command_line *c, GError **error)
{
	const struct words *w = &c->words;
	const char *given = w->list_columns ? w->list_columns : w->view, *id = given ? given : usual_view(c);
	struct shown_options *s = &c->options.shown;

	if (!id)
		return true;
	s->view = view_find(id);
	if (g_strcmp0(id, w->view) && c->options.command == COMMAND_BATCH && !c->options.batch.check && !w->by &&
	    !w->sort && !w->columns && !w->only && !s->filter)
		s->otherwise = view_find("events");
	if (s->view == &view_log && c->options.command == COMMAND_BATCH)
		return fail(error, OPTIONS, "the log is printed by: blktop log TRACE_DIR");
	return s->view || fail(error, OPTIONS, "no view '%s'; see blktop --list-views", id);
}

/* What a metric is compared with: before, history, or FROM..TO. */
static bool check_metric_against(struct options *o, const char *against, GError **error)
{
	const char *dots = strstr(against, "..");
	bool history = g_str_equal(against, "history");
	if (dots && o->read.live)
		return fail(error, OPTIONS, "--against FROM..TO needs a recorded trace");
	if (dots) {
		o->read.against_from = g_strndup(against, (gsize)(dots - against));
		o->read.against_to = g_strdup(dots + 2);
	} else if (!history && !g_str_equal(against, "before")) {
		return fail(error, OPTIONS, "--against: a metric takes before, history or FROM..TO, not '%s'", against);
	}
	o->shown.metric.against = dots ? METRIC_RANGE : history ? METRIC_HISTORY : METRIC_BEFORE;
	return true;
}

/* What the views of metrics do not take. */
static bool check_metric_view(const struct shown_options *s, GError **error)
{
	bool heatmap = s->view->kind == VIEW_HEATMAP;
	if (s->metric.n_by > (heatmap ? 1 : 0))
		return fail(error, OPTIONS, "%s",
			    heatmap ? "--by: heatmap takes one field" : "--by: distribution takes no field");
	return !heatmap || s->metric.against == METRIC_ALONE ||
	       fail(error, OPTIONS, "--against: a heatmap is not compared; distribution is");
}

static bool check_metric(struct command_line *c, GError **error)
{
	g_autoptr(GError) why = NULL;
	const struct words *w = &c->words;
	struct shown_options *s = &c->options.shown;
	bool screen = c->options.command == COMMAND_SCREEN;

	if (!w->metric)
		return true;
	if (w->view && !s->view->of_metric)
		return fail(error, OPTIONS,
			    "--metric and --view cannot be combined, but for views heatmap and distribution");
	if (screen && !w->view)
		s->view = &view_heatmap;
	if (!(s->metric.metric = metric_find(w->metric, &why)))
		return fail(error, OPTIONS, "--metric: %s", why->message);
	if ((w->view || screen) && !metric_has_durations(s->metric.metric))
		return fail(error, OPTIONS, "--metric: view %s is of durations, one by one, which %s does not have",
			    s->view->id, w->metric);
	if (w->by && !metric_query_by(&s->metric, w->by, &why))
		return fail(error, OPTIONS, "--by: %s", why->message);
	if (w->where && !metric_query_where(&s->metric, w->where, &why))
		return fail(error, OPTIONS, "--where: %s", why->message);
	if (w->against && !check_metric_against(&c->options, w->against, error))
		return false;
	if (metric_query_needs_calls(&s->metric) && screen)
		return fail(error, OPTIONS, "--by: file, errno and cpu of %s need -b", s->metric.metric->id);
	if (metric_query_needs_calls(&s->metric) && c->options.read.live)
		return fail(error, OPTIONS,
			    "--metric: %s by file, errno or cpu, and fields of events, need a recorded trace",
			    s->metric.metric->id);
	if ((w->view || screen) && !check_metric_view(s, error))
		return false;
	if (screen)
		return true;
	s->metric_view = w->view ? metric_view_of(s->view, &s->metric) : metric_view_new(&s->metric);
	s->view = s->metric_view;
	return true;
}

static bool check_by(struct command_line *c, GError **error)
{
	const char *text = c->words.by;
	struct shown_options *s = &c->options.shown;
	unsigned by = 0;

	if (s->metric.metric)
		return true;
	if (s->view)
		s->by = s->view->default_by;
	if (!text)
		return true;
	if (!read_choice("--by", text, view_by_words, &by, error))
		return false;
	if (!s->view)
		return fail(error, OPTIONS, "--by needs --view");
	if (s->view->of_metric)
		return fail(error, OPTIONS, "--by: view %s needs --metric", s->view->id);
	if (!s->view->by_values)
		return fail(error, OPTIONS, "view %s has no --by", s->view->id);
	if (!view_has_by(s->view, (enum view_by)by))
		return fail(error, OPTIONS, "view %s has no --by %s", s->view->id, text);
	s->by = (enum view_by)by;
	return true;
}

/* compare: with the usual or another request; changed: with another range. */
static bool check_against(const struct shown_options *s, const char *against, GError **error)
{
	const char *view = s->view ? s->view->id : "";
	bool compares = g_str_equal(view, "compare"), changed = g_str_equal(view, "changed");
	bool of_range = s->narrow.history || s->narrow.quiet || g_str_equal(against, "before");

	if (!compares && !changed)
		return fail(error, OPTIONS, "--against needs --metric, or --view compare or changed");
	if (compares && of_range)
		return fail(error, OPTIONS, "--against: compare takes usual or TRACE[:SPAN], not '%s'", against);
	if (changed && !of_range)
		return fail(error, OPTIONS, "--against: changed takes before, quiet or history, not '%s'", against);
	return true;
}

/* Rows of the whole system cannot be narrowed to a process: then rows are by process. */
static bool choose_by(struct command_line *c, GError **error)
{
	struct shown_options *s = &c->options.shown;
	enum view_by by = view_by_narrowed(s->view, s->by, &s->narrow);

	if (by != s->by && c->words.by)
		return fail(error, OPTIONS, "--only: view %s by %s cannot be narrowed to a process or thread",
			    s->view->id, c->words.by);
	s->by = by;
	return true;
}

static bool check_narrow(struct command_line *c, GError **error)
{
	const char *only = c->words.only, *against = c->options.shown.metric_view ? NULL : c->words.against;
	struct shown_options *s = &c->options.shown;
	g_autoptr(GError) why = NULL;

	s->narrowed = only || against;
	if (!narrow_parse(&s->narrow, only, against, &why))
		return fail(error, OPTIONS, "%s: %s", only ? "--only" : "--against", why->message);
	if (only && !narrow_fits(&s->narrow, s->view, &why))
		return fail(error, OPTIONS, "--only: %s", why->message);
	if (only && !choose_by(c, error))
		return false;
	return !against || check_against(s, against, error);
}

static bool check_columns(struct command_line *c, GError **error)
{
	const char *sort = c->words.sort;
	struct shown_options *s = &c->options.shown;

	if (!sort && !c->words.columns)
		return true;
	if (!s->view)
		return fail(error, OPTIONS, "--sort and --columns need --view");
	if (sort) {
		bool turned = sort[0] == '-';
		if (s->view->kind == VIEW_WATERFALL)
			return fail(error, OPTIONS, "view %s is a tree: it has no --sort", s->view->id);
		if (!read_column(s->view, "--sort", sort + turned, &s->sort, error))
			return false;
		s->sort_descending = s->view->columns[s->sort].descending != turned;
	}
	if (!c->words.columns)
		return true;
	g_auto(GStrv) ids = g_strsplit(c->words.columns, ",", -1);
	s->columns = g_new0(unsigned, g_strv_length(ids) + 1);
	for (char **id = ids; *id; id++) {
		int column;
		if (!read_column(s->view, "--columns", g_strstrip(*id), &column, error))
			return false;
		s->columns[s->n_columns++] = (unsigned)column;
	}
	return s->n_columns > 0 || fail(error, OPTIONS, "--columns names no column");
}

/* The screen parses its filter for its first view; without one, so is that of no view. */
static bool check_filter(struct command_line *c, GError **error)
{
	g_autoptr(GError) why = NULL;
	struct shown_options *s = &c->options.shown;
	enum command command = c->options.command;
	int64_t line;

	if (!s->filter)
		return true;
	if (command == COMMAND_EXPORT && !c->options.spans.selection.slowest)
		return fail(error, OPTIONS, "--filter needs --export-slowest, not %s", c->command_name);
	if (s->view && s->view->kind == VIEW_DISTRIBUTION && command != COMMAND_SCREEN && view_line(s->filter, &line))
		return fail(error, OPTIONS,
			    "--filter: '%s' is a line, which is for the screen; --view %s filters columns",
			    s->filter, s->view->id);
	const struct view *view = command == COMMAND_EXPORT ? view_find("traces") : s->view;
	if (command == COMMAND_LOG)
		logfilter_free(logfilter_new(s->filter, &why));
	else if (view)
		s->expr = view_expr(view, s->filter, &why);
	c->options.spans.selection.filter = s->expr;
	return !why || fail(error, OPTIONS, "--filter: %s", why->message);
}

/* Lines of paths and times are of one range, all of them. */
static bool check_paths(const struct command_line *c, GError **error)
{
	const struct options *o = &c->options;

	if (o->command != COMMAND_BATCH || !rows_can_fold(o->shown.view))
		return fail(error, OPTIONS, "--format %s needs -b --view flame", c->words.format);
	if (c->words.columns || o->batch.each || o->read.live)
		return fail(error, OPTIONS, "--format %s is of one range of a recorded trace, without --columns",
			    c->words.format);
	return true;
}

static bool read_format(struct command_line *c, GError **error)
{
	const char *text = c->words.format;
	struct options *o = &c->options;

	if (!text)
		return true;
	if (o->command == COMMAND_EXPORT)
		return span_format_parse(text, &o->spans.format) ||
		       fail(error, OPTIONS, "--format takes" SPAN_FORMAT_WORDS " here, not '%s'", text);
	bool by_lines = o->command == COMMAND_DOCTOR || o->command == COMMAND_LOG ||
			o->command == COMMAND_LIST_SESSIONS;
	g_autofree char *names = rows_format_names(by_lines ? ROWS_LINES : ROWS_PATHS);
	bool known = rows_format_parse(text, &o->shown.format);
	if (!known || (by_lines && rows_format_info[o->shown.format].use != ROWS_LINES))
		return fail(error, OPTIONS, "--format takes %s%s, not '%s'", names, known ? " here" : "", text);
	return rows_format_info[o->shown.format].use != ROWS_PATHS || check_paths(c, error);
}

static bool check_format(struct command_line *c, GError **error)
{
	struct options *o = &c->options;

	if (!read_format(c, error))
		return false;
	if (!o->screen.csv_safe || o->command == COMMAND_SCREEN)
		return true;
	if (o->shown.format != FORMAT_CSV)
		return fail(error, OPTIONS, "--csv-safe needs --format csv, or the screen");
	o->shown.format = FORMAT_CSV_SAFE;
	return true;
}

/* --- thresholds --- */

/* The file of a baseline. NULL: *error. */
static char *baseline_path(const char *option, const char *name, GError **error)
{
	for (const char *c = name; *c; c++)
		if (!g_ascii_isalnum(*c) && (!strchr("._-", *c) || c == name)) {
			fail(error, OPTIONS, "%s takes a name of letters, digits and '.', '_', '-', not '%s'", option,
			     name);
			return NULL;
		}
	if (!*name) {
		fail(error, OPTIONS, "%s needs a name", option);
		return NULL;
	}
	return g_build_filename(g_get_user_state_dir(), "blktop", "baselines", name, NULL);
}

/* Adds one to the thresholds; NULL: *error. */
static struct threshold *add_threshold(struct shown_options *s, const char *option, const char *text, GError **error)
{
	g_autoptr(GError) why = NULL;
	struct threshold *t = threshold_parse(text, &why);
	if (!t) {
		fail(error, OPTIONS, "%s: %s", option, why->message);
		return NULL;
	}
	if (!s->thresholds)
		s->thresholds = thresholds_new();
	g_ptr_array_add(s->thresholds, t);
	return t;
}

static bool read_thresholds(struct command_line *c, GError **error)
{
	g_autoptr(GError) why = NULL;
	struct shown_options *s = &c->options.shown;

	for (char **text = c->words.threshold; text && *text; text++)
		if (!add_threshold(s, "--threshold", *text, error))
			return false;
	if (s->thresholds && s->thresholds->len > LIMIT_THRESHOLDS)
		return fail(error, OPTIONS, "--threshold: more than %d", LIMIT_THRESHOLDS);
	if (c->words.thresholds && !s->thresholds)
		s->thresholds = thresholds_new();
	return !c->words.thresholds || threshold_read_file(s->thresholds, c->words.thresholds, &why) ||
	       fail(error, OPTIONS, "--thresholds: %s", why->message);
}

static bool check_thresholds(struct command_line *c, GError **error)
{
	g_autoptr(GError) why = NULL;
	const struct words *w = &c->words;
	struct options *o = &c->options;

	if (!read_thresholds(c, error))
		return false;
	if (w->baseline && !(o->shown.baseline = baseline_path("--baseline", w->baseline, error)))
		return false;
	if (w->exec_on_alert && !g_shell_parse_argv(w->exec_on_alert, NULL, &o->session.exec_on_alert, &why))
		return fail(error, OPTIONS, "--exec-on-alert: %s", why->message);
	return !w->save_baseline ||
	       (o->batch.save_baseline = baseline_path("--save-baseline", w->save_baseline, error));
}

/* --- what single commands need --- */

static bool is_no_file(const char *name)
{
	return !name || !*name || g_str_equal(name, "-");
}

static bool check_output(struct command_line *c, GError **error)
{
	struct options *o = &c->options;
	bool maps = o->command == COMMAND_MAP || o->command == COMMAND_REDUCE;

	if (c->words.html && !*c->words.html)
		return fail(error, OPTIONS, "--html needs a FILE");
	o->page.html = c->words.html != NULL;
	if (o->page.html)
		o->output.path = g_steal_pointer(&c->words.html);
	if (o->command == COMMAND_SAVE && is_no_file(o->output.path))
		return fail(error, OPTIONS,
			    "save needs -o DIR: where the range is saved, which is not standard output");
	if (o->command == COMMAND_SAVE && o->output.force)
		return fail(error, OPTIONS, "save has no --force: it never overwrites anything");
	o->record.to = o->output.path;
	o->record.n_seconds = c->words.seconds;
	if (o->command == COMMAND_RECORD && (!o->output.path || !*o->output.path))
		return fail(error, OPTIONS, "record needs -o DIR: a new or empty directory, or - for a pipe");
	if (o->record.last_ns && g_strcmp0(o->output.path, "-") == 0)
		return fail(error, OPTIONS, "record --last needs -o DIR: it writes several traces");
	if (maps && o->read.demo)
		return fail(error, OPTIONS, "%s needs recorded data", c->command_name);
	if (maps && o->read.watch && (o->read.from || o->read.to || o->output.force))
		return fail(error, OPTIONS, "map --watch has no --from, --to or --force");
	return !maps || !is_no_file(o->output.path) ||
	       fail(error, OPTIONS, "%s needs -o FILE: where the slice is stored; it is read at any place, so it is "
		    "not standard output", c->command_name);
}

static bool check_screenshot(struct options *o, GError **error)
{
	const char *path = o->screen.screenshot;

	o->screen.force = o->output.force;
	if (!path)
		return !o->output.force || o->command != COMMAND_SCREEN ||
		       fail(error, OPTIONS, "--force needs --screenshot");
	return g_str_has_suffix(path, ".svg") ||
	       fail(error, OPTIONS, "--screenshot writes SVG: name the file .svg, not '%s'", path);
}

/* -n */
static bool check_seconds(struct command_line *c, GError **error)
{
	struct options *o = &c->options;
	unsigned n = c->words.seconds;
	bool doctor = o->command == COMMAND_DOCTOR;

	o->batch.n_seconds = n;
	o->doctor_seconds = n ? n : DEFAULT_LISTENING;
	if (n && doctor && !o->read.live)
		return fail(error, OPTIONS, "-n needs a relay");
	if (doctor && n > LIMIT_LISTENING_SECONDS)
		return fail(error, OPTIONS, "-n takes 1 to %d, not '%u'", LIMIT_LISTENING_SECONDS, n);
	return !n || doctor || o->read.live || o->batch.each ||
	       fail(error, OPTIONS, "-n needs --each, or a live session (-r)");
}

/* --- what is read --- */

static bool is_url(const char *text)
{
	static const char *const schemes[] = { "net://", "net4://", "net6://", "tcp://", NULL };
	for (int i = 0; schemes[i]; i++)
		if (g_str_has_prefix(text, schemes[i]))
			return true;
	return false;
}

/* Relays, also of operands. */
static bool check_relays(struct command_line *c, GPtrArray *operands, GError **error)
{
	struct read_options *read = &c->options.read;
	g_autoptr(GPtrArray) relays = g_ptr_array_new();

	for (char **relay = c->words.relays; relay && *relay; relay++)
		g_ptr_array_add(relays, *relay);
	for (guint i = 0; i < operands->len; i++)
		if (is_url(operands->pdata[i]))
			g_ptr_array_add(relays, operands->pdata[i]);
	read->urls = g_new0(struct live_url, relays->len + 1);
	for (guint i = 0; i < relays->len; i++) {
		g_autoptr(GError) why = NULL;
		struct live_url *url = &read->urls[read->n_urls++];
		if (!live_url_parse(relays->pdata[i], url, &why))
			return fail(error, OPTIONS, "%s", why->message);
		if (read->relay.wait && !url->session)
			return fail(error, OPTIONS, "--wait needs the session to wait for: "
				    "net://HOST[:PORT]/host/NAME/SESSION");
	}
	return relays->len <= 1 || c->options.command == COMMAND_SCREEN || c->options.command == COMMAND_BATCH ||
	       fail(error, OPTIONS, "%s takes one relay", c->command_name);
}

/* Detects a subcommand after an option, which would be taken for a directory. */
static bool check_command_first(const char *first, GError **error)
{
	enum command command;
	return !option_command_of(first, &command) || g_file_test(first, G_FILE_TEST_EXISTS) ||
	       fail(error, OPTIONS, "%s comes first, before all options: blktop %s ...", first, first);
}

/* Where to read: directories, relays, or the demo. */
static bool check_source(struct command_line *c, GPtrArray *operands, GError **error)
{
	enum command command = c->options.command;
	struct read_options *read = &c->options.read;
	g_autoptr(GPtrArray) paths = g_ptr_array_new();

	for (guint i = 0; i < operands->len; i++)
		if (g_str_equal(operands->pdata[i], "-"))
			read->stream = true;
		else if (!is_url(operands->pdata[i]))
			g_ptr_array_add(paths, operands->pdata[i]);
	g_ptr_array_add(paths, NULL);
	read->paths = g_strdupv((char **)paths->pdata);
	if (!check_command_first(*read->paths, error) || !check_relays(c, operands, error))
		return false;
	bool relay = read->n_urls > 0, reads = command < COMMAND_LIST_SESSIONS;
	bool none = !relay && !read->demo && !read->stream && !*read->paths, shows = command <= COMMAND_BATCH;
	bool records = command == COMMAND_RECORD;
	if (read->stream && !shows)
		return fail(error, OPTIONS, "%s does not read a stream (-): the screen and -b do", c->command_name);
	if (relay + read->demo + read->stream + (*read->paths != NULL) > 1)
		return fail(error, OPTIONS, "a relay, a stream (-), --demo and trace directories cannot be combined");
	if (command == COMMAND_LIST_SESSIONS && !relay)
		return fail(error, OPTIONS, "--list-sessions needs -r HOST");
	if (!reads && *read->paths)
		return fail(error, OPTIONS, "%s takes no '%s'", c->command_name, *read->paths);
	if (records && !none)
		return fail(error, OPTIONS, "record takes no trace and no relay: it records this machine");
	if (reads && none && !shows && !records)
		return fail(error, OPTIONS, "no trace directory and no relay given");
	if (read->watch && (paths->len != 2 || relay))
		return fail(error, OPTIONS, "--watch takes one directory, of rotation chunks or slice files");
	read->local = none && (shows || records);
	read->live = relay || read->local || read->stream || (read->watch && shows);
	return true;
}

/* Views of recorded traces are cached. */
static bool check_reading(struct command_line *c, GError **error)
{
	struct read_options *read = &c->options.read;
	bool caches = option_find("no-cache")->commands & 1u << c->options.command;

	read->caches = caches && !read->live && !c->words.no_cache;
	read->stores = !c->words.no_spool &&
		       (read->spool || c->options.batch.suggest_rules || c->options.command == COMMAND_SCREEN);
	if (read->align_hosts && read->local)
		return fail(error, OPTIONS, "--align-hosts needs a trace or a relay: this machine has one clock");
	if (read->live && read->reader == READER_BT2)
		return fail(error, OPTIONS, "--reader babeltrace2 reads recorded traces: live sessions are read by "
			    "the native reader alone");
	return !read->chunks || !read->live || read->watch ||
	       fail(error, OPTIONS, "--chunks is for slice files that are shown, printed or saved from");
}

/* --- sessions of this machine --- */

/* The first option for sessions of this machine that was given; NULL: none. snapshots: also those for snapshots. */
static const char *session_option(const struct command_line *c, bool snapshots)
{
	static const char *const only_snapshots[] = { "snapshot", "snapshot-when", NULL };
	for (size_t i = 0; i < option_n_rows; i++) {
		const struct option_row *r = &option_rows[i];
		if (r->group != GROUP_SESSION || !option_given(c, r) || r->source != SOURCE_ANY)
			continue;
		if (snapshots || !g_strv_contains(only_snapshots, r->name))
			return option_words(r);
	}
	return c->program ? "-- PROGRAM" : NULL;
}

static bool check_snapshot(struct command_line *c, GError **error)
{
	const char *rule = c->words.snapshot_when;
	struct session_options *h = &c->options.session;
	if (!rule)
		return true;
	struct threshold *t = add_threshold(&c->options.shown, "--snapshot-when", rule, error);
	if (!t)
		return false;
	if (c->options.command == COMMAND_RECORD) {
		c->options.record.snapshot_when = t;
		return c->options.record.last_ns || fail(error, OPTIONS, "record --snapshot-when needs --last");
	}
	t->takes_snapshot = true;
	if (!h->snapshot && !c->options.read.local)
		return fail(error, OPTIONS, "--snapshot-when needs --snapshot SESSION");
	if (!h->snapshot)
		h->snapshot = g_strdup("new");
	return true;
}

static bool check_session(struct command_line *c, GError **error)
{
	struct options *o = &c->options;
	struct session_options *h = &o->session;
	const char *name = session_option(c, !o->read.live || o->command > COMMAND_BATCH);

	if (name && !o->read.local)
		return fail(error, OPTIONS, "%s is for a session of this machine: without directories, relay and "
			    "commands that need one", name);
	if (c->program && !c->program[0])
		return fail(error, OPTIONS, "-- needs a program after it");
	if (c->program && h->pid)
		return fail(error, OPTIONS, "--pid and -- PROGRAM cannot be combined");
	if (h->calls_only && !c->program && !h->pid)
		return fail(error, OPTIONS, "--calls-only needs --pid or -- PROGRAM");
	if (h->program_only && !c->program && !h->pid)
		return fail(error, OPTIONS, "--program-only needs --pid or -- PROGRAM");
	if (h->keep && c->program && o->command == COMMAND_BATCH && !c->words.seconds)
		return fail(error, OPTIONS, "--keep with -b and a program needs -n: the session does not end");
	h->program = g_strdupv((char **)c->program);
	if (c->words.until && !add_threshold(&o->shown, "--until", c->words.until, error))
		return false;
	return check_snapshot(c, error);
}

/* --- what is sent --- */

/* Several metrics may be split by one field. */
#define NAME_OF_METRICS "1min.lttng.$metric.$values.$datacenter.$host"

static bool check_graphite(struct command_line *c, GError **error)
{
	g_autoptr(GError) why = NULL;
	const struct words *w = &c->words;
	struct send_options *send = &c->options.batch.send;
	if (!w->graphite)
		return true;
	if (!live_url_parse(w->graphite, &send->graphite, &why) || send->graphite.target || strchr(w->graphite, '/'))
		return fail(error, OPTIONS, "--graphite takes HOST[:PORT], not '%s'", w->graphite);
	if (send->graphite.port == LIVE_DEFAULT_PORT &&
	    !g_str_has_suffix(w->graphite, ":" G_STRINGIFY(LIVE_DEFAULT_PORT)))
		send->graphite.port = GRAPHITE_PORT;
	if (send->graphite_name && !graphite_check_name(send->graphite_name, &why))
		return fail(error, OPTIONS, "--graphite-name: %s", why->message);
	if (!send->graphite_name && (w->metrics || send->listen || send->metrics_file))
		send->graphite_name = g_strdup(NAME_OF_METRICS);
	return true;
}

static bool check_forward(struct command_line *c, GError **error)
{
	g_autoptr(GError) why = NULL;
	const struct words *w = &c->words;
	struct send_options *send = &c->options.batch.send;
	if (!w->forward)
		return true;
	if (!forward_url_parse(w->forward, &send->forward, &send->forward_format, &why))
		return fail(error, OPTIONS, "--forward: %s", why->message);
	return !w->forward_only || forward_rule_parse(w->forward_only, &send->forward_rule, &why) ||
	       fail(error, OPTIONS, "--forward-only: %s", why->message);
}

static bool check_send(struct command_line *c, GError **error)
{
	g_autoptr(GError) why = NULL;
	const struct words *w = &c->words;
	struct send_options *send = &c->options.batch.send;
	bool text = send->listen || send->metrics_file;

	if (send->metrics_file && is_no_file(send->metrics_file))
		return fail(error, OPTIONS,
			    "--metrics-file needs a FILE, which is replaced: it is not standard output");
	if (!check_graphite(c, error) || !check_forward(c, error))
		return false;
	send->any = text || w->graphite || w->forward;
	send->only = send->any && !w->view && !w->metric;
	if (text || w->graphite)
		send->metrics = send_metrics_parse(w->metrics || text ? w->metrics : GRAPHITE_DEFAULT_METRICS, &why);
	if (why)
		return fail(error, OPTIONS, "--metrics: %s", why->message);
	if (send->listen && !(send->hosts = host_names_new(w->listen_host, &why)))
		return fail(error, OPTIONS, "--listen-host: %s", why->message);
	return true;
}

/* --- all --- */

/* What commands and options need and exclude, whatever their values. */
static bool check_conditions(const struct command_line *c, GError **error)
{
	static const unsigned recorded = 1u << COMMAND_LOG | 1u << COMMAND_EXPORT | 1u << COMMAND_REPORT |
					 1u << COMMAND_SAVE | 1u << COMMAND_MAP | 1u << COMMAND_REDUCE;
	g_autofree char *wrong = option_check(c);

	if (c->options.read.live && recorded & 1u << c->options.command)
		return fail(error, OPTIONS, "%s needs a recorded trace", c->command_name);
	return !wrong || fail(error, OPTIONS, "%s", wrong);
}

static bool check_all(struct command_line *c, GPtrArray *operands, GError **error)
{
	return check_source(c, operands, error) && check_conditions(c, error) && check_session(c, error) &&
	       check_view(c, error) && check_metric(c, error) && check_send(c, error) &&
	       check_thresholds(c, error) && check_by(c, error) && check_narrow(c, error) &&
	       check_columns(c, error) && check_filter(c, error) && check_seconds(c, error) &&
	       check_reading(c, error) && check_format(c, error) && check_output(c, error) &&
	       check_screenshot(&c->options, error);
}

bool options_parse(struct options *ret, int argc, const char *const *argv, GError **error)
{
	g_autoptr(GPtrArray) operands = g_ptr_array_new_with_free_func(g_free);
	struct command_line c = { .options = {
		.batch.send = { .fd = -1, .notify_fd = -1 }, .shown.sort = -1, .screen = { .theme = -1, .mouse = -1 },
		.read.relay = { .timeout_ms = LIVE_DEFAULT_TIMEOUT_MS, .late_ns = -1 },
		.session.loglevel = -1, .log_level = -1,
	} };

	for (size_t i = 0; i < option_n_rows; i++)
		if (option_rows[i].initial)
			option_take(&c, &option_rows[i], option_rows[i].initial, NULL);
	bool ok = split_args(&c, operands, argc, argv, error);
	if (ok && !is_asking(c.options.command))
		ok = check_all(&c, operands, error);
	c.options.screen.memory_given = option_given(&c, option_find("memory"));
	option_clear(&c, offsetof(struct command_line, words), sizeof c);
	*ret = c.options;
	return ok;
}

void options_clear(struct options *o)
{
	struct send_options *send = &o->batch.send;

	option_clear(o, 0, sizeof *o);
	g_strfreev(o->read.paths);
	for (size_t i = 0; i < o->read.n_urls; i++)
		live_url_clear(&o->read.urls[i]);
	g_free(o->read.urls);
	g_free(o->read.against_from);
	g_free(o->read.against_to);
	g_free(o->shown.columns);
	expr_free(o->shown.expr);
	g_clear_pointer(&o->shown.thresholds, g_ptr_array_unref);
	g_free(o->shown.baseline);
	metric_view_free(o->shown.metric_view);
	metric_query_clear(&o->shown.metric);
	narrow_clear(&o->shown.narrow);
	g_free(o->batch.save_baseline);
	g_strfreev(o->session.program);
	g_strfreev(o->session.exec_on_alert);
	g_clear_pointer(&send->metrics, g_ptr_array_unref);
	live_url_clear(&send->graphite);
	http_url_clear(&send->forward);
	g_strfreev(send->hosts);
	*o = (struct options){ 0 };
}
