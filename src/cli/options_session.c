/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of sessions that are made on this machine: see options_here.h. */
#include "cli/options_session.h"

#include "base/limits.h"
#include "base/timefmt.h"
#include "live/session/plan.h"
#include "views/rule.h"

#include <string.h>

#define DEFAULT_TIMER_US 1000000
#define LEAST_TIMER_NS (10 * NS_PER_MS)

static bool fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool fail(GError **error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error_literal(error, g_quark_from_static_string("blk-options"), 0, text);
	return false;
}

/* An option of `why` that was given; NULL: none. */
static const char *given(const struct here_words *w, bool snapshots)
{
	const struct { bool given; const char *name; } all[] = {
		{ w->session != NULL, "--session" }, { w->pid != NULL, "--pid" },
		{ w->live_timer != NULL, "--live-timer" }, { w->loglevel != NULL, "--loglevel" },
		{ w->perf != NULL, "--perf" }, { w->kprobe != NULL, "--kprobe" },
		{ w->yes, "--yes" }, { w->keep, "--keep" }, { w->spans_only, "--spans-only" },
		{ w->calls_only, "--calls-only" }, { w->functions, "--functions" },
		{ w->program != NULL, "-- PROGRAM" },
		{ snapshots && w->snapshot, "--snapshot" },
		{ snapshots && w->snapshot_when, "--snapshot-when" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

static bool read_timer(struct here *h, const char *text, GError **error)
{
	int64_t ns;
	h->timer_us = DEFAULT_TIMER_US;
	if (!text)
		return true;
	if (!timefmt_parse_duration(text, &ns, NULL) || ns < LEAST_TIMER_NS || ns > LIMIT_LIVE_TIMER_SECONDS * NS_PER_S)
		return fail(error, "--live-timer takes 10ms to 10s, not '%s'", text);
	h->timer_us = (unsigned)(ns / NS_PER_US);
	return true;
}

static bool read_pid(struct here *h, const char *text, GError **error)
{
	char *end;
	guint64 n = text ? g_ascii_strtoull(text, &end, 10) : 0;
	if (text && (!g_ascii_isdigit(*text) || *end || n == 0 || n > G_MAXINT))
		return fail(error, "--pid takes a process id, not '%s'", text);
	h->pid = (int)n;
	return true;
}

static bool read_level(struct here *h, const char *text, GError **error)
{
	h->loglevel = text ? plan_loglevel(text) : -1;
	return !text || h->loglevel >= 0 ||
	       fail(error, "--loglevel takes emerg, alert, crit, err, warning, notice, info, "
		    "debug-system ... debug-line or debug, not '%s'", text);
}

static bool read_session(struct here *h, const char *text, GError **error)
{
	static const char allowed[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-";
	size_t n = text ? strlen(text) : 0;
	bool fits = n > 0 && n <= LIMIT_SESSION_NAME_BYTES;
	if (text && (!fits || strspn(text, allowed) != n || *text == '-' || *text == '.'))
		return fail(error, "--session takes a name of letters, digits, '.', '_' and '-', not '%s'",
			    text);
	h->session = g_strdup(text);
	return true;
}

static bool read_counters(struct here *h, const char *text, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!text)
		return true;
	h->counters = g_strsplit(text, ",", -1);
	for (char **name = h->counters; *name; name++)
		if (!plan_counter(*name, &why))
			return fail(error, "--perf: %s", why->message);
	return g_strv_length(h->counters) <= LIMIT_PERF_COUNTERS ||
	       fail(error, "--perf takes %d counters at most", LIMIT_PERF_COUNTERS);
}

static bool read_probes(struct here *h, const char *text, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!text)
		return true;
	h->probes = g_strsplit(text, ",", -1);
	for (char **name = h->probes; *name; name++) {
		g_autofree char *symbol = NULL;
		uint64_t offset;
		if (!plan_symbol(*name, &symbol, &offset, &why))
			return fail(error, "--kprobe: %s", why->message);
	}
	return true;
}

static bool read_rule(struct here *h, const struct here_words *w, bool local, GError **error)
{
	g_autoptr(GError) why = NULL;
	h->snapshot = g_strdup(w->snapshot);
	if (!w->snapshot_when)
		return true;
	struct rule *rule = rule_parse(w->snapshot_when, &why);
	rule_free(rule);
	if (!rule)
		return fail(error, "--snapshot-when: %s", why->message);
	if (!h->snapshot && !local)
		return fail(error, "--snapshot-when needs --snapshot SESSION");
	if (!h->snapshot)
		h->snapshot = g_strdup("new");
	h->snapshot_when = g_strdup(w->snapshot_when);
	return true;
}

static bool check_combinations(const struct options *o, const struct here_words *w, GError **error)
{
	const char *name = given(w, !o->live || w->command > COMMAND_BATCH);

	if (name && !o->local)
		return fail(error, "%s is for a session of this machine: without directories, relay and "
			    "commands that need one", name);
	if (w->program && !w->program[0])
		return fail(error, "-- needs a program behind it");
	if (w->program && w->pid)
		return fail(error, "--pid and -- PROGRAM can't be combined");
	if (w->calls_only && !w->program && !w->pid)
		return fail(error, "--calls-only needs --pid or -- PROGRAM");
	if (w->spans_only && (w->calls_only || w->kprobe))
		return fail(error, "--spans-only and %s can't be combined",
			    w->calls_only ? "--calls-only" : "--kprobe");
	if (w->keep && w->program && w->command == COMMAND_BATCH && !w->has_end)
		return fail(error, "--keep with -b and a program needs -n: the session does not end");
	return true;
}

bool options_check_session(struct options *o, const struct here_words *w, GError **error)
{
	struct here *h = &o->here;

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
	       read_rule(h, w, o->local, error);
}

void options_clear_session(struct here *h)
{
	g_free(h->session);
	g_strfreev(h->counters);
	g_strfreev(h->probes);
	g_strfreev(h->program);
	g_free(h->snapshot);
	g_free(h->snapshot_when);
}
