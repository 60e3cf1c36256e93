/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: see options.h. popt splits it and permutes operands; the checks below interpret the values. */
#include "cli/options.h"

#include "cli/options_table.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "live/session/plan.h"
#include "ui/nav.h"
#include "views/heatmap.h"
#include "views/logline.h"
#include "views/narrowing.h"
#include "views/threshold.h"

#include <popt.h>
#include <string.h>

#define LEAST_MEMORY (16 << 20)
#define DEFAULT_SPOOL "1G"
#define DEFAULT_CACHE "1G"
#define DEFAULT_CACHE_AFTER_MS 1000
#define DEFAULT_SCREEN "120x40"
#define DEFAULT_WORST 5
#define DEFAULT_TIMER_US 1000000
#define LEAST_TIMER_NS (10 * NS_PER_MS)
#define DEFAULT_LISTENING 5		/* seconds; doctor */

/* --- splitting --- */

static bool is_asking(enum command command)
{
	return command == COMMAND_HELP || command == COMMAND_HELP_SESSION ||
	       command == COMMAND_HELP_SEND || command == COMMAND_VERSION;
}

static bool set_command(struct words *w, enum command command, const char *name, GError **error)
{
	/* --help and --version win over any other command. */
	if (is_asking(w->command))
		return true;
	bool asks = is_asking(command);
	if (w->command_name && w->command != command && !asks)
		return fail(error, OPTIONS, "%s and %s cannot be combined", w->command_name, name);
	w->command = command;
	w->command_name = name;
	return true;
}

/* "--name", for messages; never freed. */
static const char *dashed_name(const struct option_row *r)
{
	g_autofree char *name = g_strconcat("--", r->name, NULL);
	return g_intern_string(name);
}

/* The subcommand that the command line begins with; NULL: none. */
static const struct subcommand *find_subcommand(int argc, const char *const *argv)
{
	for (size_t i = 0; argc > 1 && i < option_n_subcommands; i++)
		if (g_str_equal(argv[1], option_subcommands[i].word))
			return &option_subcommands[i];
	return NULL;
}

static bool take_option(struct words *w, const struct option_row *r, char *arg, GError **error)
{
	char *base = (char *)w;

	if (r->kind == KIND_FLAG) {
		*(bool *)(base + r->offset) = true;
	} else if (r->kind == KIND_LIST) {
		g_ptr_array_add(*(GPtrArray **)(base + r->offset), g_strdup(arg));
	} else if (r->offset != WORD_NONE) {
		char **word = (char **)(base + r->offset);
		char *all = r->kind == KIND_JOINED && *word ? g_strconcat(*word, ",", arg, NULL) :
			g_strdup(arg);
		g_free(*word);
		*word = all;
	}
	return r->kind != KIND_COMMAND || set_command(w, r->command, dashed_name(r), error);
}

/* Words after "--" are a program and its arguments, which popt could not distinguish from operands. Returns the
 * number of words before it. */
static int split_program(struct words *w, int argc, const char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (g_str_equal(argv[i], "--")) {
			w->program = argv + i + 1;
			return i;
		}
	return argc;
}

static bool split_args(struct words *w, GPtrArray *operands, int argc, const char *const *argv,
		       GError **error)
{
	g_autofree struct poptOption *table = g_new0(struct poptOption, option_n_rows + 1);
	for (size_t i = 0; i < option_n_rows; i++)
		table[i] = (struct poptOption){
			.longName = option_rows[i].name, .shortName = option_rows[i].letter,
			.argInfo = option_rows[i].arg ? POPT_ARG_STRING : POPT_ARG_NONE,
			.val = (int)i + 1,
		};

	argc = split_program(w, argc, argv);
	const struct subcommand *sub = find_subcommand(argc, argv);
	bool ok = !sub || set_command(w, sub->command, sub->word, error);
	/* popt skips the first word: the program's name, or the subcommand. */
	poptContext con = poptGetContext("blktop", argc - (sub != NULL),
					 (const char **)argv + (sub != NULL), table, 0);
	int val = 0;
	while (ok && (val = poptGetNextOpt(con)) > 0) {
		char *arg = poptGetOptArg(con);
		ok = take_option(w, &option_rows[val - 1], arg, error);
		free(arg);
	}
	if (ok && val < -1)
		ok = fail(error, OPTIONS, "%s: %s", poptBadOption(con, POPT_BADOPTION_NOALIAS),
			  poptStrerror(val));
	const char *operand;
	while (ok && (operand = poptGetArg(con)))
		g_ptr_array_add(operands, g_strdup(operand));
	poptFreeContext(con);
	return ok;
}

/* --- the meaning of single words --- */

static bool read_unsigned(const char *option, const char *text, unsigned *ret, GError **error)
{
	char *end;
	guint64 n = g_ascii_strtoull(text, &end, 10);
	if (!g_ascii_isdigit(*text) || *end || n == 0 || n > 1000000000)
		return fail(error, OPTIONS, "%s takes a number above 0, not '%s'", option, text);
	*ret = (unsigned)n;
	return true;
}

static bool read_count(const char *option, const char *text, unsigned most, unsigned *ret,
		       GError **error)
{
	return read_unsigned(option, text, ret, error) &&
	       (*ret <= most || fail(error, OPTIONS, "%s takes 1 to %u, not '%s'", option, most, text));
}

static bool parse_id(const char *option, const char *text, unsigned most, uint64_t *ret, GError **error)
{
	return text_parse_id(text, most, ret) ||
	       fail(error, OPTIONS, "%s takes 1 to %u hex digits, not '%s'", option, most, text);
}

static bool read_span(struct options *o, const char *id, GError **error)
{
	return parse_id("--export-span", id, TEXT_ID, &o->selection.span_id, error) &&
	       (o->selection.span_id || fail(error, OPTIONS, "--export-span takes no span of the id 0"));
}

static bool read_size(const char *option, const char *text, size_t *ret, GError **error)
{
	if (!timefmt_parse_bytes(text, ret))
		return fail(error, OPTIONS, "%s takes a size such as 512M or 2G, not '%s'", option, text);
	return *ret >= LEAST_MEMORY || fail(error, OPTIONS, "%s needs 16M or more, not '%s'", option, text);
}

static bool read_seconds(const char *option, const char *text, int64_t least, int64_t *ret_ns,
			 GError **error)
{
	return (timefmt_parse_duration(text, ret_ns, NULL) && *ret_ns >= least &&
		*ret_ns <= LIMIT_TIMEOUT_SECONDS * NS_PER_S) ||
	       fail(error, OPTIONS, "%s takes seconds, not '%s'", option, text);
}

static bool parse_step(const char *text, int64_t *ret, GError **error)
{
	if (timefmt_parse_duration(text, ret, NULL) && nav_is_step(*ret))
		return true;
	return fail(error, OPTIONS, "--step is one of 1ms, 10ms, 100ms, 1s, 10s, 1m, 10m, not '%s'", text);
}

/* The number of the word in a list of words, -1 when it is none of them. */
static int find_word(const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (g_str_equal(words[i], text))
			return i;
	return -1;
}

static bool read_choice(const char *option, const char *text, const char *const *words,
			unsigned *ret, GError **error)
{
	int i = find_word(text, words);
	if (i < 0) {
		g_autofree char *all = g_strjoinv(", ", (char **)words);
		return fail(error, OPTIONS, "%s takes one of %s, not '%s'", option, all, text);
	}
	*ret = (unsigned)i;
	return true;
}

/* Checks the syntax only: what it is relative to is known when the trace is read. */
static bool check_instant(const char *option, const char *text, GError **error)
{
	g_autoptr(GError) why = NULL;
	const struct time_scope scope = { .last = NS_PER_S, .after = INT64_MIN };
	int64_t ns;
	if (!text || timefmt_parse_instant(text, &scope, &ns, NULL, &why))
		return true;
	return fail(error, OPTIONS, "%s: %s", option, why->message);
}

static bool read_column(const struct view *v, const char *option, const char *id, int *ret,
			GError **error)
{
	*ret = view_column_typed(v, id);
	if (*ret == EXPR_SEVERAL)
		return fail(error, OPTIONS, "%s: view %s has several columns called '%s'; see blktop --list-columns %s",
			    option,
			    v->id, id, v->id);
	return *ret >= 0 || fail(error, OPTIONS, "%s: view %s has no column '%s'; "
				 "see blktop --list-columns %s", option, v->id, id, v->id);
}

/* --- checks --- */

static bool check_view(struct options *o, bool batch, const char *id, GError **error)
{
	o->view = view_find(id);
	if (o->view == &view_log && batch)
		return fail(error, OPTIONS, "the log is printed by: blktop log TRACE_DIR");
	return o->view || fail(error, OPTIONS, "no view '%s'; see blktop --list-views", id);
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
	o->metric.against = dots ? METRIC_RANGE : history ? METRIC_HISTORY : METRIC_BEFORE;
	return true;
}

/* What the views of metrics do not take. */
static bool check_metric_view(const struct options *o, GError **error)
{
	bool heatmap = o->view->kind == VIEW_HEATMAP;
	if (o->metric.n_by > (heatmap ? 1 : 0))
		return fail(error, OPTIONS, "%s",
			    heatmap ? "--by: heatmap takes one field" : "--by: distribution takes no field");
	return !heatmap || o->metric.against == METRIC_ALONE ||
	       fail(error, OPTIONS, "--against: a heatmap is not compared; distribution is");
}

static bool check_metric(struct options *o, const struct words *w, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!w->metric)
		return true;
	if (w->view && !o->view->of_metric)
		return fail(error, OPTIONS,
			    "--metric and --view cannot be combined, but for views heatmap and distribution");
	bool screen = w->command == COMMAND_SCREEN;
	if (screen && !w->view)
		o->view = &view_heatmap;
	if (!(o->metric.metric = metric_find(w->metric, &why)))
		return fail(error, OPTIONS, "--metric: %s", why->message);
	if ((w->view || screen) && !metric_has_durations(o->metric.metric))
		return fail(error, OPTIONS, "--metric: view %s is of durations, one by one, which %s does not have",
			    o->view->id, w->metric);
	if (w->by && !metric_query_by(&o->metric, w->by, &why))
		return fail(error, OPTIONS, "--by: %s", why->message);
	if (w->where && !metric_query_where(&o->metric, w->where, &why))
		return fail(error, OPTIONS, "--where: %s", why->message);
	if (w->against && !check_metric_against(o, w->against, error))
		return false;
	if (metric_query_needs_calls(&o->metric) && screen)
		return fail(error, OPTIONS, "--by: file, errno and cpu of %s need -b", o->metric.metric->id);
	if (metric_query_needs_calls(&o->metric) && o->read.live)
		return fail(error, OPTIONS,
			    "--metric: %s by file, errno or cpu, and fields of events, need a recorded trace",
			    o->metric.metric->id);
	if ((w->view || screen) && !check_metric_view(o, error))
		return false;
	if (screen)
		return true;
	o->metric_view = w->view ? metric_view_of(o->view, &o->metric) : metric_view_new(&o->metric);
	o->view = o->metric_view;
	return true;
}

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
static struct threshold *add_threshold(struct options *o, const char *option, const char *text, GError **error)
{
	g_autoptr(GError) why = NULL;
	struct threshold *t = threshold_parse(text, &why);
	if (!t) {
		fail(error, OPTIONS, "%s: %s", option, why->message);
		return NULL;
	}
	if (!o->thresholds)
		o->thresholds = thresholds_new();
	g_ptr_array_add(o->thresholds, t);
	return t;
}

static bool read_thresholds(struct options *o, const struct words *w, GError **error)
{
	g_autoptr(GError) why = NULL;
	for (guint i = 0; i < w->threshold->len; i++)
		if (!add_threshold(o, "--threshold", w->threshold->pdata[i], error))
			return false;
	if (o->thresholds && o->thresholds->len > LIMIT_THRESHOLDS)
		return fail(error, OPTIONS, "--threshold: more than %d", LIMIT_THRESHOLDS);
	if (w->thresholds && !o->thresholds)
		o->thresholds = thresholds_new();
	return !w->thresholds || threshold_read_file(o->thresholds, w->thresholds, &why) ||
	       fail(error, OPTIONS, "--thresholds: %s", why->message);
}

static bool read_exec(struct options *o, const struct words *w, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!w->exec_on_alert)
		return true;
	return g_shell_parse_argv(w->exec_on_alert, NULL, &o->session.exec_on_alert, &why) ||
	       fail(error, OPTIONS, "--exec-on-alert: %s", why->message);
}

static bool check_thresholds(struct options *o, const struct words *w, GError **error)
{
	if (!read_thresholds(o, w, error))
		return false;
	if (o->check)
		o->view = view_find("alerts");
	if (w->baseline && !(o->baseline = baseline_path("--baseline", w->baseline, error)))
		return false;
	if (!read_exec(o, w, error))
		return false;
	return !w->save_baseline || (o->save_baseline = baseline_path("--save-baseline", w->save_baseline, error));
}

static bool check_by(struct options *o, const struct words *w, GError **error)
{
	unsigned by = 0;

	if (o->metric.metric)
		return true;
	if (o->view)
		o->by = o->view->default_by;
	if (!w->by)
		return true;
	if (!read_choice("--by", w->by, view_by_words, &by, error))
		return false;
	if (!o->view)
		return fail(error, OPTIONS, "--by needs --view");
	if (o->view->of_metric)
		return fail(error, OPTIONS, "--by: view %s needs --metric", o->view->id);
	if (!o->view->by_values)
		return fail(error, OPTIONS, "view %s has no --by", o->view->id);
	if (!view_has_by(o->view, (enum view_by)by))
		return fail(error, OPTIONS, "view %s has no --by %s", o->view->id, w->by);
	o->by = (enum view_by)by;
	return true;
}

/* compare: with the usual or another request; changed: with another range. */
static bool check_against(const struct options *o, const char *against, GError **error)
{
	const char *view = o->view ? o->view->id : "";
	bool compares = g_str_equal(view, "compare"), changed = g_str_equal(view, "changed");
	bool of_range = o->narrow.history || o->narrow.quiet || g_str_equal(against, "before");

	if (!compares && !changed)
		return fail(error, OPTIONS, "--against needs --metric, or --view compare or changed");
	if (compares && of_range)
		return fail(error, OPTIONS, "--against: compare takes usual or TRACE[:SPAN], not '%s'", against);
	if (changed && !of_range)
		return fail(error, OPTIONS, "--against: changed takes before, quiet or history, not '%s'", against);
	return true;
}

/* Rows of the whole system cannot be narrowed to a process: then rows are by process. */
static bool choose_by(struct options *o, const struct words *w, GError **error)
{
	enum view_by by = view_by_narrowed(o->view, o->by, &o->narrow);

	if (by != o->by && w->by)
		return fail(error, OPTIONS, "--only: view %s by %s cannot be narrowed to a process or thread",
			    o->view->id,
			    w->by);
	o->by = by;
	return true;
}

static bool check_narrow(struct options *o, const struct words *w, GError **error)
{
	const char *option = w->only ? "--only" : "--against";
	g_autoptr(GError) why = NULL;

	if (!narrow_parse(&o->narrow, w->only, o->metric_view ? NULL : w->against, &why))
		return fail(error, OPTIONS, "%s: %s", option, why->message);
	if (w->only && !narrow_fits(&o->narrow, o->view, &why))
		return fail(error, OPTIONS, "--only: %s", why->message);
	if (w->only && !choose_by(o, w, error))
		return false;
	return !w->against || o->metric_view || check_against(o, w->against, error);
}

static bool check_columns(struct options *o, const struct words *w, GError **error)
{
	o->sort = -1;
	if (!w->sort && !w->columns)
		return true;
	if (!o->view)
		return fail(error, OPTIONS, "--sort and --columns need --view");
	if (w->sort) {
		bool turned = w->sort[0] == '-';
		if (o->view->kind == VIEW_WATERFALL)
			return fail(error, OPTIONS, "view %s is a tree: it has no --sort", o->view->id);
		if (!read_column(o->view, "--sort", w->sort + turned, &o->sort, error))
			return false;
		o->sort_descending = o->view->columns[o->sort].descending != turned;
	}
	if (!w->columns)
		return true;
	g_auto(GStrv) ids = g_strsplit(w->columns, ",", -1);
	o->columns = g_new0(unsigned, g_strv_length(ids) + 1);
	for (char **id = ids; *id; id++) {
		int column;
		if (!read_column(o->view, "--columns", g_strstrip(*id), &column, error))
			return false;
		o->columns[o->n_columns++] = (unsigned)column;
	}
	return o->n_columns > 0 || fail(error, OPTIONS, "--columns names no column");
}

static bool check_log_filter(const char *text, GError **error)
{
	g_autoptr(GError) why = NULL;
	struct logfilter *filter = text ? logfilter_new(text, &why) : NULL;
	logfilter_free(filter);
	return !why || fail(error, OPTIONS, "--filter: %s", why->message);
}

static bool check_filter(struct options *o, const struct words *w, GError **error)
{
	g_autoptr(GError) why = NULL;

	if (w->command == COMMAND_LOG)
		return check_log_filter(w->filter, error);
	if (w->filter && w->command == COMMAND_EXPORT && !w->slowest)
		return fail(error, OPTIONS, "--filter needs --export-slowest, not %s", w->command_name);
	if (w->filter && w->slowest) {
		o->expr = view_expr(view_find("traces"), w->filter, &why);
		return o->expr || fail(error, OPTIONS, "--filter: %s", why->message);
	}
	if (!w->filter || !o->view)
		return true;		/* the screen parses it for its first view */
	int64_t line;
	if (o->view->kind == VIEW_DISTRIBUTION && w->command != COMMAND_SCREEN && view_line(w->filter, &line))
		return fail(error, OPTIONS,
			    "--filter: '%s' is a line, which is for the screen; --view %s filters columns",
			    w->filter, o->view->id);
	o->expr = view_expr(o->view, w->filter, &why);
	return o->expr || fail(error, OPTIONS, "--filter: %s", why->message);
}

static bool check_times(struct options *o, const struct words *w, GError **error)
{
	if (w->n && w->command == COMMAND_DOCTOR)
		return o->read.live ? read_count("-n", w->n, LIMIT_LISTENING_SECONDS, &o->n_seconds, error) :
			fail(error, OPTIONS, "-n needs a relay");
	if (w->command == COMMAND_DOCTOR)
		o->n_seconds = DEFAULT_LISTENING;
	if (w->step && !parse_step(w->step, &o->read.step_ns, error))
		return false;
	if (w->n && !o->read.live && !w->each)
		return fail(error, OPTIONS, "-n needs --each, or a live session (-r)");
	return check_instant("--at", w->at, error) && check_instant("--from", w->from, error) &&
	       check_instant("--to", w->to, error) &&
	       (!w->n || read_unsigned("-n", w->n, &o->n_seconds, error));
}

static bool check_csv_safe(struct options *o, const struct words *w, GError **error)
{
	if (!w->csv_safe || w->command == COMMAND_SCREEN)
		return true;
	if (o->format != FORMAT_CSV)
		return fail(error, OPTIONS, "--csv-safe needs --format csv, or the screen");
	o->format = FORMAT_CSV_SAFE;
	return true;
}

/* Lines of paths and times are of one range, all of them. */
static bool check_paths(const struct options *o, const struct words *w, GError **error)
{
	if (w->command != COMMAND_BATCH || !rows_can_fold(o->view))
		return fail(error, OPTIONS, "--format %s needs -b --view flame", w->format);
	if (w->columns || w->each || o->read.live)
		return fail(error, OPTIONS, "--format %s is of one range of a recorded trace, without --columns",
			    w->format);
	return true;
}

static bool check_format(struct options *o, const struct words *w, GError **error)
{
	if (!w->format)
		return true;
	if (w->command == COMMAND_EXPORT)
		return span_format_parse(w->format, &o->span_format) ||
		       fail(error, OPTIONS, "--format takes" SPAN_FORMAT_WORDS " here, not '%s'", w->format);
	bool by_lines = w->command == COMMAND_DOCTOR || w->command == COMMAND_LOG ||
			w->command == COMMAND_LIST_SESSIONS;
	g_autofree char *names = rows_format_names(by_lines ? ROWS_LINES : ROWS_PATHS);
	bool known = rows_format_parse(w->format, &o->format);
	if (!known || (by_lines && rows_format_info[o->format].use != ROWS_LINES))
		return fail(error, OPTIONS, "--format takes %s%s, not '%s'", names, known ? " here" : "", w->format);
	return rows_format_info[o->format].use != ROWS_PATHS || check_paths(o, w, error);
}

/* Its requests are rows of the view traces. */
static bool check_report(struct options *o, const struct words *w, GError **error)
{
	o->worst = DEFAULT_WORST;
	if (w->html && !*w->html)
		return fail(error, OPTIONS, "--html needs a FILE");
	return !w->worst || read_count("--worst", w->worst, LIMIT_REPORT_REQUESTS, &o->worst, error);
}

static bool is_no_file(const char *name)
{
	return !name || !*name || g_str_equal(name, "-");
}

static bool check_save(struct options *o, const struct words *w, GError **error)
{
	if (is_no_file(w->output))
		return fail(error, OPTIONS,
			    "save needs -o DIR: where the range is saved, which is not standard output");
	return !w->force || fail(error, OPTIONS, "save has no --force: it never overwrites anything");
}

static bool check_map(struct options *o, const struct words *w, GError **error)
{
	if (o->read.demo)
		return fail(error, OPTIONS, "%s needs recorded data", w->command == COMMAND_MAP ? "map" : "reduce");
	if (w->watch && (w->from || w->to || w->force))
		return fail(error, OPTIONS, "map --watch has no --from, --to or --force");
	return !is_no_file(w->output) || fail(error, OPTIONS,
					      "%s needs -o FILE: where the slice is stored; it is read at any "
					      "place, so it is not standard output",
					      w->command == COMMAND_MAP ? "map" : "reduce");
}

static bool read_trace(struct options *o, const char *id, GError **error)
{
	o->selection.trace_upper = text_id_upper(id);
	if (!parse_id("--export-trace", id, TEXT_TRACE_ID, &o->selection.trace_id, error))
		return false;
	o->selection.trace_zero = !o->selection.trace_id;
	return true;
}

/* "90s", "2h", "7d" */
static bool read_age(const char *text, int64_t *ret, GError **error)
{
	static const struct { char unit; int64_t ns; } units[] = {
		{ 's', NS_PER_S }, { 'm', 60 * NS_PER_S }, { 'h', 3600 * NS_PER_S }, { 'd', 86400 * NS_PER_S },
	};
	char *end;
	guint64 n = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0;

	for (size_t i = 0; n && n <= LIMIT_THIN_AGE && i < G_N_ELEMENTS(units); i++)
		if (*end == units[i].unit && !end[1]) {
			*ret = (int64_t)n * units[i].ns;
			return true;
		}
	return fail(error, OPTIONS, "--thin takes an age such as 90s, 30m, 2h or 7d, not '%s'", text);
}

static bool check_export(struct options *o, const struct words *w, GError **error)
{
	if (w->thin && !read_age(w->thin, &o->thin_after_ns, error))
		return false;
	if (w->command == COMMAND_REPORT)
		return check_report(o, w, error);
	if (w->command == COMMAND_SAVE)
		return check_save(o, w, error);
	if (w->command == COMMAND_MAP || w->command == COMMAND_REDUCE)
		return check_map(o, w, error);
	if (w->command != COMMAND_EXPORT)
		return true;
	o->selection.with_kernel = w->with_kernel;
	return (!w->span || read_span(o, w->span, error)) &&
	       (!w->trace || read_trace(o, w->trace, error)) &&
	       (!w->slowest || read_unsigned("--export-slowest", w->slowest,
					     &o->selection.slowest, error));
}

static bool is_url(const char *text)
{
	static const char *const schemes[] = { "net://", "net4://", "net6://", "tcp://", NULL };
	for (int i = 0; schemes[i]; i++)
		if (g_str_has_prefix(text, schemes[i]))
			return true;
	return false;
}

static bool check_relays(struct options *o, const struct words *w, GError **error)
{
	o->read.n_urls = 0;
	o->read.urls = g_new0(struct live_url, w->relays->len + 1);
	for (guint i = 0; i < w->relays->len; i++) {
		const char *relay = g_ptr_array_index(w->relays, i);
		g_autoptr(GError) why = NULL;
		struct live_url *url = &o->read.urls[o->read.n_urls++];
		if (!live_url_parse(relay, url, &why))
			return fail(error, OPTIONS, "%s", why->message);
		if (w->wait && !url->session)
			return fail(error, OPTIONS, "--wait needs the session to wait for: "
				    "net://HOST[:PORT]/host/NAME/SESSION");
	}
	o->read.live = w->relays->len > 0;
	if (w->relays->len > 1 && w->command != COMMAND_SCREEN && w->command != COMMAND_BATCH)
		return fail(error, OPTIONS, "%s takes one relay", w->command_name);
	return true;
}

/* Detects a subcommand after an option, which would be taken for a directory. */
static bool check_command_first(GPtrArray *operands, GError **error)
{
	const char *first = operands->len ? g_ptr_array_index(operands, 0) : "";

	for (size_t i = 0; i < option_n_subcommands; i++)
		if (g_str_equal(first, option_subcommands[i].word) &&
		    !g_file_test(first, G_FILE_TEST_EXISTS))
			return fail(error, OPTIONS, "%s comes first, before all options: blktop %s ...", first,
				    first);
	return true;
}

/* Where to read: directories, relays (also as operands), or the demo. */
static bool check_source(struct options *o, struct words *w, GPtrArray *operands, GError **error)
{
	for (guint i = 0; i < operands->len; i++) {
		char *operand = g_ptr_array_index(operands, i);
		if (!is_url(operand))
			continue;
		g_ptr_array_add(w->relays, g_strdup(operand));
		g_ptr_array_remove_index(operands, i--);
	}
	if (!check_command_first(operands, error) || !check_relays(o, w, error))
		return false;
	if (o->read.live + w->demo + (operands->len > 0) > 1)
		return fail(error, OPTIONS, "a relay, --demo and trace directories cannot be combined");
	if (w->command == COMMAND_LIST_SESSIONS && !o->read.live)
		return fail(error, OPTIONS, "--list-sessions needs -r HOST");
	bool reads = w->command < COMMAND_LIST_SESSIONS;
	if (!reads && operands->len > 0)
		return fail(error, OPTIONS, "%s takes no '%s'", w->command_name,
			    (char *)g_ptr_array_index(operands, 0));
	if (reads && !o->read.live && !w->demo && operands->len == 0 && w->command > COMMAND_BATCH)
		return fail(error, OPTIONS, "no trace directory and no relay given");
	if (w->watch && (operands->len != 1 || o->read.live))
		return fail(error, OPTIONS, "--watch takes one directory, of rotation chunks or slice files");
	o->local = !o->read.live && !w->demo && operands->len == 0 && w->command <= COMMAND_BATCH;
	o->read.live |= o->local || (w->watch && w->command <= COMMAND_BATCH);
	return true;
}

static bool check_reading(struct options *o, const struct words *w, GError **error)
{
	static const char *const readers[] = { "auto", "native", "babeltrace2", NULL };
	unsigned reader = READER_AUTO;

	if (w->align_hosts && o->local)
		return fail(error, OPTIONS, "--align-hosts needs a trace or a relay: this machine has one clock");
	if ((w->jobs && !read_count("--jobs", w->jobs, LIMIT_THREADS, &o->read.jobs, error)) ||
	    (w->slices && !read_count("--slices", w->slices, LIMIT_SLICES, &o->read.slices, error)) ||
	    (w->reader && !read_choice("--reader", w->reader, readers, &reader, error)))
		return false;
	o->read.reader = (enum reader)reader;
	o->machine = w->machine ? machine_by_name(w->machine) : MACHINE_UNKNOWN;
	if (w->machine && o->machine == MACHINE_UNKNOWN)
		return fail(error, OPTIONS, "--machine: unknown machine '%s' (see --list-machines)", w->machine);
	if (o->read.live && o->read.reader == READER_BT2)
		return fail(error, OPTIONS, "--reader babeltrace2 reads recorded traces: live sessions are read by "
			    "the native reader alone");
	return true;
}

/* "120x40" */
static bool read_size_of_screen(struct options *o, const char *text, GError **error)
{
	char *x, *end;
	guint64 cols = g_ascii_strtoull(text, &x, 10);
	guint64 rows = *x == 'x' && g_ascii_isdigit(x[1]) ? g_ascii_strtoull(x + 1, &end, 10) : 0;

	if (!g_ascii_isdigit(*text) || !rows || *end || cols < APP_MIN_COLS || rows < APP_MIN_ROWS ||
	    cols > LIMIT_SCREENSHOT_COLS || rows > LIMIT_SCREENSHOT_ROWS)
		return fail(error, OPTIONS, "--size takes COLSxROWS from %dx%d to %dx%d, not '%s'", APP_MIN_COLS,
			    APP_MIN_ROWS,
			    LIMIT_SCREENSHOT_COLS, LIMIT_SCREENSHOT_ROWS, text);
	o->shot_cols = (unsigned)cols;
	o->shot_rows = (unsigned)rows;
	return true;
}

static bool check_screenshot(struct options *o, const struct words *w, GError **error)
{
	if (!w->screenshot)
		return !w->force || w->command != COMMAND_SCREEN || fail(error, OPTIONS, "--force needs --screenshot");
	if (!g_str_has_suffix(w->screenshot, ".svg"))
		return fail(error, OPTIONS, "--screenshot writes SVG: name the file .svg, not '%s'", w->screenshot);
	return read_size_of_screen(o, w->size ? w->size : DEFAULT_SCREEN, error);
}

/* Views of recorded traces are cached. */
static bool check_cache(struct options *o, const struct words *w, GError **error)
{
	bool used = option_find("no-cache")->commands & 1u << w->command;
	guint64 after_ms = DEFAULT_CACHE_AFTER_MS;

	if (w->cache_after && !g_ascii_string_to_unsigned(w->cache_after, 10, 0, G_MAXINT32, &after_ms, NULL))
		return fail(error, OPTIONS, "--cache-after takes milliseconds, not '%s'", w->cache_after);
	if (w->chunks->len && ((o->read.live && !w->watch) || o->local))
		return fail(error, OPTIONS, "--chunks is for slice files that are shown, printed or saved from");
	o->read.cache_after_ns = (int64_t)after_ms * NS_PER_MS;
	o->read.caches = used && !o->read.live && !o->local && !w->no_cache;
	return read_size("--cache-size", w->cache_size ? w->cache_size : DEFAULT_CACHE, &o->read.cache_size, error);
}

static bool check_rest(struct options *o, const struct words *w, GError **error)
{
	static const char *const whens[] = { "auto", "never", "always", "256", "truecolor", NULL };
	static const char *const switches[] = { "off", "on", NULL };
	static const char *const levels[] = { "error", "note", "debug", NULL };
	unsigned color = UI_COLOR_AUTO, theme = 0, mouse = 0, level = 0;

	int64_t timeout = LIVE_DEFAULT_TIMEOUT_MS * NS_PER_MS;

	o->read.relay.late_ns = -1;
	if ((w->color && !read_choice("--color", w->color, whens, &color, error)) ||
	    (w->theme && !read_choice("--theme", w->theme, theme_ids, &theme, error)) ||
	    (w->mouse && !read_choice("--mouse", w->mouse, switches, &mouse, error)) ||
	    (w->log_level && !read_choice("--log-level", w->log_level, levels, &level, error)) ||
	    (w->timeout && !read_seconds("--timeout", w->timeout, NS_PER_MS, &timeout, error)) ||
	    (w->late_bound &&
	     !read_seconds("--late-bound", w->late_bound, 0, &o->read.relay.late_ns, error)))
		return false;
	o->read.relay.timeout_ms = (int)(timeout / NS_PER_MS);
	o->read.relay.from_beginning = w->from_beginning;
	o->read.relay.wait = w->wait;
	o->color = (enum ui_color)color;
	o->theme = w->theme ? (int)theme : -1;
	o->mouse = w->mouse ? (int)mouse : -1;
	o->log_level = w->log_level ? (int)level : -1;
	o->memory_given = w->memory != NULL;
	return read_size("--memory", w->memory ? w->memory : DEFAULT_MEMORY, &o->read.memory, error) &&
	       read_size("--spool-size", w->spool_size ? w->spool_size : DEFAULT_SPOOL, &o->read.spool_size,
			 error);
}

/* --- sessions of this machine --- */

/* The first option for sessions of this machine that was given; NULL: none. snapshots: also those for snapshots. */
static const char *session_option(const struct words *w, bool snapshots)
{
	static const char *const only_snapshots[] = { "snapshot", "snapshot-when", NULL };
	for (size_t i = 0; i < option_n_rows; i++) {
		const struct option_row *r = &option_rows[i];
		if (r->group != GROUP_SESSION || !option_given(w, r) || r->source != SOURCE_ANY)
			continue;
		if (snapshots || !g_strv_contains(only_snapshots, r->name))
			return dashed_name(r);
	}
	return w->program ? "-- PROGRAM" : NULL;
}

static bool read_timer(struct session_options *h, const char *text, GError **error)
{
	int64_t ns;
	h->timer_us = DEFAULT_TIMER_US;
	if (!text)
		return true;
	if (!timefmt_parse_duration(text, &ns, NULL) || ns < LEAST_TIMER_NS || ns > LIMIT_LIVE_TIMER_SECONDS * NS_PER_S)
		return fail(error, OPTIONS, "--live-timer takes 10ms to 10s, not '%s'", text);
	h->timer_us = (unsigned)(ns / NS_PER_US);
	return true;
}

static bool read_pid(struct session_options *h, const char *text, GError **error)
{
	char *end;
	guint64 n = text ? g_ascii_strtoull(text, &end, 10) : 0;
	if (text && (!g_ascii_isdigit(*text) || *end || n == 0 || n > G_MAXINT))
		return fail(error, OPTIONS, "--pid takes a process id, not '%s'", text);
	h->pid = (int)n;
	return true;
}

static bool read_level(struct session_options *h, const char *text, GError **error)
{
	h->loglevel = text ? plan_loglevel(text) : -1;
	return !text || h->loglevel >= 0 ||
	       fail(error, OPTIONS, "--loglevel takes emerg, alert, crit, err, warning, notice, info, "
		    "debug-system ... debug-line or debug, not '%s'", text);
}

static bool read_session(struct session_options *h, const char *text, GError **error)
{
	static const char allowed[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-";
	size_t n = text ? strlen(text) : 0;
	bool fits = n > 0 && n <= LIMIT_SESSION_NAME_BYTES;
	if (text && (!fits || strspn(text, allowed) != n || *text == '-' || *text == '.'))
		return fail(error, OPTIONS, "--session takes a name of letters, digits, '.', '_' and '-', not '%s'",
			    text);
	h->session = g_strdup(text);
	return true;
}

static bool read_counters(struct session_options *h, const char *text, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!text)
		return true;
	h->counters = g_strsplit(text, ",", -1);
	for (char **name = h->counters; *name; name++)
		if (!plan_counter(*name, &why))
			return fail(error, OPTIONS, "--perf: %s", why->message);
	return g_strv_length(h->counters) <= LIMIT_PERF_COUNTERS ||
	       fail(error, OPTIONS, "--perf takes %d counters at most", LIMIT_PERF_COUNTERS);
}

static bool read_probes(struct session_options *h, const char *text, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!text)
		return true;
	h->probes = g_strsplit(text, ",", -1);
	for (char **name = h->probes; *name; name++) {
		g_autofree char *symbol = NULL;
		uint64_t offset;
		if (!plan_symbol(*name, &symbol, &offset, &why))
			return fail(error, OPTIONS, "--kprobe: %s", why->message);
	}
	return true;
}

static bool read_tracepoints(struct session_options *h, const char *text, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!text)
		return true;
	h->programs = g_strsplit(text, ",", -1);
	for (char **name = h->programs; *name; name++)
		if (!plan_tracepoint_check(*name, &why))
			return fail(error, OPTIONS, "--tracepoints: %s", why->message);
	return true;
}

static bool read_snapshot(struct options *o, const struct words *w, GError **error)
{
	struct session_options *h = &o->session;
	h->snapshot = g_strdup(w->snapshot);
	if (!w->snapshot_when)
		return true;
	struct threshold *t = add_threshold(o, "--snapshot-when", w->snapshot_when, error);
	if (!t)
		return false;
	t->takes_snapshot = true;
	if (!h->snapshot && !o->local)
		return fail(error, OPTIONS, "--snapshot-when needs --snapshot SESSION");
	if (!h->snapshot)
		h->snapshot = g_strdup("new");
	return true;
}

static bool check_combinations(const struct options *o, const struct words *w, GError **error)
{
	const char *name = session_option(w, !o->read.live || w->command > COMMAND_BATCH);

	if (name && !o->local)
		return fail(error, OPTIONS, "%s is for a session of this machine: without directories, relay and "
			    "commands that need one", name);
	if (w->program && !w->program[0])
		return fail(error, OPTIONS, "-- needs a program after it");
	if (w->program && w->pid)
		return fail(error, OPTIONS, "--pid and -- PROGRAM cannot be combined");
	if (w->calls_only && !w->program && !w->pid)
		return fail(error, OPTIONS, "--calls-only needs --pid or -- PROGRAM");
	if (w->keep && w->program && w->command == COMMAND_BATCH && !w->n)
		return fail(error, OPTIONS, "--keep with -b and a program needs -n: the session does not end");
	return true;
}

static bool check_session(struct options *o, const struct words *w, GError **error)
{
	struct session_options *h = &o->session;

	if (!check_combinations(o, w, error))
		return false;
	h->yes = w->yes;
	h->keep = w->keep;
	h->spans_only = w->spans_only;
	h->calls_only = w->calls_only;
	h->functions = w->functions;
	h->program = w->program ? g_strdupv((char **)w->program) : NULL;
	return read_timer(h, w->live_timer, error) && read_pid(h, w->pid, error) &&
	       read_level(h, w->loglevel, error) && read_session(h, w->session, error) &&
	       read_counters(h, w->perf, error) && read_probes(h, w->kprobe, error) &&
	       read_tracepoints(h, w->tracepoints, error) &&
	       read_snapshot(o, w, error);
}

static void clear_session(struct session_options *h)
{
	g_free(h->session);
	g_strfreev(h->counters);
	g_strfreev(h->probes);
	g_strfreev(h->programs);
	g_strfreev(h->program);
	g_free(h->snapshot);
	g_strfreev(h->exec_on_alert);
}

/* What commands and options need and exclude, whatever their values. */
static bool check_conditions(const struct options *o, const struct words *w, GError **error)
{
	static const unsigned recorded = 1u << COMMAND_LOG | 1u << COMMAND_EXPORT | 1u << COMMAND_REPORT |
					 1u << COMMAND_SAVE | 1u << COMMAND_MAP | 1u << COMMAND_REDUCE;
	g_autofree char *wrong = option_check(w, o->read.live);

	if (o->read.live && recorded & 1u << w->command)
		return fail(error, OPTIONS, "%s needs a recorded trace", w->command_name);
	return !wrong || fail(error, OPTIONS, "%s", wrong);
}

static bool check_words(struct options *o, struct words *w, GPtrArray *operands, GError **error)
{
	const char *view = w->list_columns ? w->list_columns : w->view;
	o->check = w->check;

	if (w->command == COMMAND_REPORT && view)
		return fail(error, OPTIONS, "report has no --view: its requests are rows of traces");
	if (!view && w->command == COMMAND_BATCH && !w->metric && !w->check)
		view = "processes";
	if (w->command == COMMAND_REPORT)
		view = "traces";
	return check_source(o, w, operands, error) && check_conditions(o, w, error) && check_session(o, w, error) &&
	       (!view || check_view(o, w->command == COMMAND_BATCH, view, error)) &&
	       check_metric(o, w, error) && options_read_send(&o->send, w, error) &&
	       check_thresholds(o, w, error) && check_by(o, w, error) &&
	       check_narrow(o, w, error) &&
	       check_columns(o, w, error) &&
	       check_filter(o, w, error) && check_times(o, w, error) &&
	       check_reading(o, w, error) && check_cache(o, w, error) &&
	       check_format(o, w, error) && check_csv_safe(o, w, error) &&
	       check_export(o, w, error) && check_screenshot(o, w, error) && check_rest(o, w, error);
}

/* Moves the words that options retain, frees the others. */
static void move_words(struct options *o, struct words *w)
{
	o->command = w->command;
	o->read.demo = w->demo;
	o->each = w->each;
	o->force = w->force;
	o->statedump = w->statedump;
	o->keep_spans = w->keep_spans;
	o->read.watch = w->watch;
	o->delete_mapped = w->delete_mapped;
	o->history = w->history;
	o->fail_if_incomplete = w->fail_if_incomplete;
	o->suggest_rules = w->suggest_rules;
	o->read.no_spool = w->no_spool;
	o->no_isolation = w->no_isolation;
	o->align_hosts = w->align_hosts;
	o->csv_safe = w->csv_safe;
	o->utc = w->utc;
	o->ascii = w->ascii;
	o->accessible = w->accessible;
	o->read.at = g_steal_pointer(&w->at);
	o->read.from = g_steal_pointer(&w->from);
	o->read.to = g_steal_pointer(&w->to);
	o->filter = g_steal_pointer(&w->filter);
	o->html = w->html != NULL;
	o->output = w->html ? g_steal_pointer(&w->html) : g_steal_pointer(&w->output);
	o->screenshot = g_steal_pointer(&w->screenshot);
	o->log = g_steal_pointer(&w->log);
	o->user = g_steal_pointer(&w->user);
	o->config = g_steal_pointer(&w->config);
	o->read.spool = g_steal_pointer(&w->spool);
	o->spans = g_steal_pointer(&w->spans);
	for (size_t i = 0; i < option_n_rows; i++)
		if (option_rows[i].kind != KIND_FLAG && option_rows[i].kind != KIND_LIST &&
		    option_rows[i].offset != WORD_NONE)
			g_clear_pointer((char **)((char *)w + option_rows[i].offset), g_free);
}

bool options_parse(struct options *ret, int argc, const char *const *argv, GError **error)
{
	g_autoptr(GPtrArray) operands = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) relays = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) threshold = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) chunks = g_ptr_array_new_with_free_func(g_free);
	struct words w = { .relays = relays, .threshold = threshold, .chunks = chunks };

	*ret = (struct options){ .send.fd = -1, .send.notify_fd = -1,
				 .sort = -1, .theme = -1, .mouse = -1, .log_level = -1 };
	bool ok = split_args(&w, operands, argc, argv, error);
	if (ok && !is_asking(w.command))
		ok = check_words(ret, &w, operands, error);
	move_words(ret, &w);
	g_ptr_array_add(operands, NULL);
	ret->read.paths = g_strdupv((char **)operands->pdata);
	if (chunks->len) {
		g_ptr_array_add(chunks, NULL);
		ret->read.chunks = g_strdupv((char **)chunks->pdata);
	}
	return ok;
}

/* Must events be counted by thread while the trace is read? */
static bool counts_threads(const struct options *o)
{
	for (guint i = 0; o->send.metrics && i < o->send.metrics->len; i++) {
		const struct send_metric *m = o->send.metrics->pdata[i];
		if (m->query.metric->reads & READS(count))
			return true;
	}
	for (guint i = 0; o->thresholds && i < o->thresholds->len; i++) {
		const struct threshold *t = o->thresholds->pdata[i];
		if (t->query.metric->reads & READS(count))
			return true;
	}
	return o->view && (o->view->decodes_all || (o->view->by_counted & 1u << o->by));
}

bool options_store_packets(const struct options *o)
{
	return !o->read.no_spool && (o->read.spool || o->suggest_rules || o->command == COMMAND_SCREEN);
}

struct reading_purpose options_purpose(const struct options *o)
{
	bool prints = o->command == COMMAND_BATCH;
	return (struct reading_purpose){
		.prints = prints, .all_spans = !prints && o->command != COMMAND_SCREEN,
		.view = o->view, .by = o->by, .narrow = &o->narrow, .counts_threads = counts_threads(o),
	};
}

void options_clear(struct options *o)
{
	g_strfreev(o->read.paths);
	g_strfreev(o->read.chunks);
	for (size_t i = 0; i < o->read.n_urls; i++)
		live_url_clear(&o->read.urls[i]);
	g_free(o->read.urls);
	g_free(o->columns);
	expr_free(o->expr);
	g_clear_pointer(&o->thresholds, g_ptr_array_unref);
	g_free(o->baseline);
	g_free(o->save_baseline);
	metric_view_free(o->metric_view);
	metric_query_clear(&o->metric);
	narrow_clear(&o->narrow);
	g_free(o->read.at);
	g_free(o->read.against_from);
	g_free(o->read.against_to);
	g_free(o->read.from);
	g_free(o->read.to);
	g_free(o->filter);
	g_free(o->output);
	g_free(o->screenshot);
	g_free(o->log);
	g_free(o->user);
	g_free(o->config);
	g_free(o->read.spool);
	g_free(o->spans);
	clear_session(&o->session);
	send_options_clear(&o->send);
	*o = (struct options){ 0 };
}
