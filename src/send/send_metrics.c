/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of metrics that are sent: see send_metrics.h. */
#include "send/send_metrics.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/limits.h"

#include <string.h>

static const char default_list[] =
	"request.latency by service,operation; request.time by operation,part; call.latency by call; "
	"call.errors by call; ran.time by process; sched.wakeup; device.latency by device; "
	"device.bytes by device,direction; event.count by host; loss.events by host; loss.packets by host";

static void metric_free(void *data)
{
	struct send_metric *m = data;
	metric_query_clear(&m->query);
	g_free(m->name);
	g_free(m);
}

static bool has_name(const GPtrArray *metrics, const char *name)
{
	for (guint i = 0; i < metrics->len; i++)
		if (g_strcmp0(((const struct send_metric *)metrics->pdata[i])->name, name) == 0)
			return true;
	return false;
}

static char *name_of(const GPtrArray *before, const struct metric_query *q)
{
	/* A unit of time is appended where it is written. */
	g_autoptr(GString) name = g_string_new(q->metric->id);
	if (g_str_has_suffix(name->str, ".ns"))
		g_string_append(g_string_truncate(name, name->len - 2), "time");
	g_strdelimit(name->str, ".:", '_');
	if (has_name(before, name->str))
		for (unsigned i = 0; i < q->n_by; i++)
			g_string_append_printf(name, "%s%s", i ? "_" : "_by_", metric_field_words[q->by[i]]);
	return g_strdup(name->str);
}

static bool add(GPtrArray *metrics, const char *text, GError **error)
{
	g_auto(GStrv) words = g_strsplit_set(text, " \t\n", -1);
	g_autoptr(GPtrArray) given = g_ptr_array_new();
	for (char **w = words; *w; w++)
		if (**w)
			g_ptr_array_add(given, *w);
	if (!given->len)
		return true;		/* the list may end with ';' */
	if (given->len != 1 && (given->len != 3 || !g_str_equal(given->pdata[1], "by"))) {
		g_autofree char *why = g_strdup_printf("'%s': write METRIC by FIELD,FIELD", text);
		return fail(error, BLK_METRIC_ERROR, 0, "%s", why);
	}
	struct send_metric *m = g_new0(struct send_metric, 1);
	g_ptr_array_add(metrics, m);
	m->query.metric = metric_find(given->pdata[0], error);
	if (!m->query.metric || (given->len == 3 && !metric_query_by(&m->query, given->pdata[2], error)))
		return false;
	if (metric_query_needs_calls(&m->query))
		return fail(error, BLK_METRIC_ERROR, 0,
			    "calls by file, errno or cpu, and fields of events, are not in seconds");
	g_autofree char *name = name_of(metrics, &m->query);
	if (has_name(metrics, name)) {
		g_autofree char *why = g_strdup_printf("'%s' is there twice", text);
		return fail(error, BLK_METRIC_ERROR, 0, "%s", why);
	}
	m->name = g_steal_pointer(&name);
	return metrics->len <= LIMIT_SENT_METRICS || fail(error, BLK_METRIC_ERROR, 0,
							  "too many metrics (--list-limits)");
}

GPtrArray *send_metrics_parse(const char *list, GError **error)
{
	g_autoptr(GPtrArray) metrics = g_ptr_array_new_with_free_func(metric_free);
	g_auto(GStrv) parts = g_strsplit(list ? list : default_list, ";", -1);
	for (char **part = parts; *part; part++)
		if (!add(metrics, g_strstrip(*part), error))
			return NULL;
	if (metrics->len)
		return g_steal_pointer(&metrics);
	fail(error, BLK_METRIC_ERROR, 0, "no metric is named");
	return NULL;
}

size_t send_first_second(const struct timeline *tl, int64_t since_ns, size_t end)
{
	size_t first = timeline_find(tl, since_ns);
	while (first < end && timeline_outline(tl, first)->begin_ns < since_ns)
		first++;			/* a folded second */
	return MIN(first, end);
}

bool send_metric_has_distribution(const struct send_metric *m)
{
	return m->query.metric->has_values && !metric_query_has(&m->query, METRIC_BY_part);
}

uint32_t send_metrics_read(const GPtrArray *metrics, bool *ret_spans)
{
	uint32_t reads = 0;
	*ret_spans = false;
	PTR_EACH(const struct send_metric, m, metrics) {
		bool spans;
		reads |= metric_query_reads(&m->query, &spans);
		*ret_spans |= spans;
	}
	return reads;
}
