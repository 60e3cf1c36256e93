/* SPDX-License-Identifier: GPL-2.0-only */
/* Options for what is sent: see options_send.h. */
#include "cli/options_send.h"

#include "cli/options_table.h"

#include "base/fail.h"
#include "base/limits.h"
#include "send/graphite.h"
#include "send/host_names.h"

#include <string.h>

#define DEFAULT_VALUES 1000
#define DEFAULT_DATACENTER "local"
/* Several metrics may be split by one field. */
#define NAME_OF_METRICS "1min.lttng.$metric.$values.$datacenter.$host"

static bool read_most(struct send_options *ret, const char *text, GError **error)
{
	guint64 n = DEFAULT_VALUES;
	if (text && !g_ascii_string_to_unsigned(text, 10, 1, LIMIT_SENT_VALUES, &n, NULL))
		return fail(error, OPTIONS, "--most-values takes 1 to %d, not '%s'", LIMIT_SENT_VALUES, text);
	ret->most_values = (unsigned)n;
	return true;
}

static bool read_graphite(struct send_options *ret, struct words *w, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!w->graphite)
		return true;
	if (!live_url_parse(w->graphite, &ret->graphite, &why) || ret->graphite.target || strchr(w->graphite, '/'))
		return fail(error, OPTIONS, "--graphite takes HOST[:PORT], not '%s'", w->graphite);
	if (ret->graphite.port == LIVE_DEFAULT_PORT &&
	    !g_str_has_suffix(w->graphite, ":" G_STRINGIFY(LIVE_DEFAULT_PORT)))
		ret->graphite.port = GRAPHITE_PORT;
	if (w->graphite_name && !graphite_check_name(w->graphite_name, &why))
		return fail(error, OPTIONS, "--graphite-name: %s", why->message);
	ret->graphite_name = w->graphite_name ? g_steal_pointer(&w->graphite_name) :
			     w->metrics || w->listen || w->metrics_file ? g_strdup(NAME_OF_METRICS) : NULL;
	ret->datacenter = g_strdup(w->datacenter ? w->datacenter : DEFAULT_DATACENTER);
	return true;
}

static bool read_forward(struct send_options *ret, const struct words *w, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!w->forward)
		return true;
	const char *wrong = !forward_url_parse(w->forward, &ret->forward, &ret->forward_format, &why) ? "--forward" :
			    w->forward_only && !forward_rule_parse(w->forward_only, &ret->forward_rule, &why) ?
			    "--forward-only" : NULL;
	ret->forward_kernel = w->forward_kernel;
	return !wrong || fail(error, OPTIONS, "%s: %s", wrong, why->message);
}

static bool read_listen(struct send_options *ret, struct words *w, GError **error)
{
	g_autoptr(GError) why = NULL;
	if (!w->listen)
		return true;
	ret->listen = g_steal_pointer(&w->listen);
	ret->hosts = host_names_new(w->listen_host, &why);
	return ret->hosts || fail(error, OPTIONS, "--listen-host: %s", why->message);
}

static bool read_metrics(struct send_options *ret, const struct words *w, GError **error)
{
	g_autoptr(GError) why = NULL;
	bool only_graphite = w->graphite && !w->listen && !w->metrics_file;
	if (!w->graphite && !w->listen && !w->metrics_file)
		return true;
	if (!read_most(ret, w->most_values, error))
		return false;
	ret->metrics = send_metrics_parse(w->metrics || !only_graphite ? w->metrics : GRAPHITE_DEFAULT_METRICS, &why);
	return ret->metrics || fail(error, OPTIONS, "--metrics: %s", why->message);
}

bool options_read_send(struct send_options *ret, struct words *w, GError **error)
{
	if (w->metrics_file && (!*w->metrics_file || g_str_equal(w->metrics_file, "-")))
		return fail(error, OPTIONS,
			    "--metrics-file needs a FILE, which is replaced: it is not standard output");
	if (!read_graphite(ret, w, error) || !read_forward(ret, w, error))
		return false;
	if (!w->listen && !w->metrics_file && !w->graphite && !w->forward)
		return true;
	if (!read_metrics(ret, w, error) || !read_listen(ret, w, error))
		return false;
	ret->only = !w->view && !w->metric;
	ret->metrics_file = g_steal_pointer(&w->metrics_file);
	return true;
}

void send_options_clear(struct send_options *s)
{
	g_clear_pointer(&s->metrics, g_ptr_array_unref);
	live_url_clear(&s->graphite);
	http_url_clear(&s->forward);
	g_free(s->graphite_name);
	g_free(s->datacenter);
	g_free(s->listen);
	g_strfreev(s->hosts);
	g_free(s->metrics_file);
}
