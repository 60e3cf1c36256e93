/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists the sessions of a relay daemon (live.h): relay sessions of the same name are one row. */
#include "live/viewer/viewer.h"

#include "base/each.h"

static void session_free(gpointer p)
{
	struct live_session *s = p;

	g_free(s->target);
	g_free(s->name);
	g_free(s);
}

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct live_session *x = *(struct live_session *const *)a;
	const struct live_session *y = *(struct live_session *const *)b;
	int c = strcmp(x->target, y->target);

	return c ? c : strcmp(x->name, y->name);
}

static struct live_session *find(GPtrArray *rows, const struct viewer_session *s)
{
	PTR_EACH(struct live_session, row, rows)
		if (!strcmp(row->target, s->host) && !strcmp(row->name, s->name))
			return row;
	struct live_session *row = g_new0(struct live_session, 1);
	row->target = g_strdup(s->host);
	row->name = g_strdup(s->name);
	g_ptr_array_add(rows, row);
	return row;
}

GPtrArray *live_list_sessions(const struct live_url *url, int timeout_ms, GError **error)
{
	return sessions_list(url, timeout_ms, -1, error);
}

GPtrArray *sessions_list(const struct live_url *url, int timeout_ms, int wake_fd, GError **error)
{
	struct viewer *v = viewer_open(url, timeout_ms, wake_fd, error);
	g_autoptr(GArray) list = v ? viewer_list(v, error) : NULL;
	GPtrArray *rows;

	viewer_free(v);
	if (!list)
		return NULL;
	rows = g_ptr_array_new_with_free_func(session_free);
	ARRAY_EACH(const struct viewer_session, s, list) {
		struct live_session *row = find(rows, s);
		row->timer_us = MAX(row->timer_us, s->timer_us);
		row->streams += s->streams;
		row->viewers += s->viewers;
		row->ids++;
	}
	g_ptr_array_sort(rows, compare);
	return rows;
}
