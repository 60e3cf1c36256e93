/* SPDX-License-Identifier: GPL-2.0-only */
/* The breadcrumb's words: see crumb.h. */
#include "ui/crumb.h"

#include "base/text.h"
#include "views/narrowing.h"

#include <string.h>

char *crumb_name(const struct app *app, const struct place *p, const struct view_query *q)
{
	if (query_has_trace(q))
		return g_strdup_printf("%016" G_GINT64_MODIFIER "x", q->trace_id);
	if (q->tid >= 0)
		return g_strdup_printf("tid %d", q->tid);
	if (q->pid >= 0)
		return g_strdup_printf("pid %d", q->pid);
	if (q->container)
		return view_container_name(app->main, q->host, q->container);
	if (q->operation && q->service && strcmp(q->operation, q->service)) {
		g_autofree char *op = text_visible(q->operation), *sv = text_visible(q->service);

		return g_strdup_printf("%s (%s)", op, sv);
	}
	if (q->operation || q->service)
		return text_visible(q->operation ? q->operation : q->service);
	return text_visible(p->host ? p->host : "");
}

unsigned crumb_narrowed(const struct app *app, const struct view_query *q)
{
	return query_narrowed(q) & (timeline_n_hosts(app->tl) > 1 ? ~0u : ~(unsigned)ONLY_HOST);
}

char *place_crumb(const struct app *app, const struct place *p)
{
	struct view_query shown = place_query(p);
	unsigned wanted = crumb_narrowed(app, &p->narrow), taken = crumb_narrowed(app, &shown);
	g_autofree char *name = *p->crumb ? g_strdup(p->crumb) : crumb_name(app, p, taken ? &shown : &p->narrow);

	if (!wanted)
		return g_strdup(*p->crumb ? p->crumb : p->view->title);
	if (!taken)
		return g_strdup_printf("%s: all, not only %s", p->view->title, name);
	if (taken == ONLY_HOST && wanted != ONLY_HOST) {
		g_autofree char *host = text_visible(p->host ? p->host : ""), *rest = crumb_name(app, p, &p->narrow);

		return g_strdup_printf("%s: all of %s, not only %s", p->view->title, host, rest);
	}
	return *p->crumb ? g_strdup(p->crumb) : g_strdup_printf("%s: %s", p->view->title, name);
}
