/* SPDX-License-Identifier: GPL-2.0-only */
/* The live source: opening, the reader's functions, the status. */
#include "live/source_live.h"

#include "base/text.h"

#define NEXT_US 50000			/* source_next() waits no longer */

static enum source_status live_next(struct source *s, struct blk_batch *ret, GError **error)
{
	struct live *l = (struct live *)s;
	int64_t deadline = g_get_monotonic_time() + NEXT_US;
	enum source_status st = SOURCE_AGAIN;
	size_t n;

	g_mutex_lock(&l->owner.lock);
	while (!(n = merger_next(l)) && !g_atomic_int_get(&l->cancelled) && !l->fatal &&
	       !(l->ended && merger_idle(l)) &&
	       g_cond_wait_until(&l->owner.arrived, &l->owner.lock, deadline))
		;
	if (g_atomic_int_get(&l->cancelled)) {
		st = SOURCE_CANCELLED;
	} else if (n) {
		*ret = (struct blk_batch){ l->merger.batch, n };
		st = SOURCE_OK;
	} else if (l->fatal) {
		g_propagate_error(error, g_error_copy(l->fatal));
		st = SOURCE_ERROR;
	} else if (l->ended && merger_idle(l)) {
		st = SOURCE_END;
	}
	g_mutex_unlock(&l->owner.lock);
	return st;
}

static void live_cancel(struct source *s)
{
	struct live *l = (struct live *)s;

	g_mutex_lock(&l->owner.lock);
	g_atomic_int_set(&l->cancelled, 1);
	g_cond_broadcast(&l->owner.arrived);
	g_mutex_unlock(&l->owner.lock);
}

static void free_feeds(GPtrArray *feeds)
{
	for (guint i = 0; i < feeds->len; i++)
		feed_free(g_ptr_array_index(feeds, i));
	g_ptr_array_unref(feeds);
}

static void live_free(struct source *s)
{
	struct live *l = (struct live *)s;

	/* a thread that would not end keeps what it uses: all of it */
	if (!keeper_stop(l))
		return;
	for (guint i = 0; i < l->merger.held->len; i++)
		feed_recycle(g_ptr_array_index(l->merger.held_of, i),
			     g_ptr_array_index(l->merger.held, i));
	free_feeds(l->feeds);
	free_feeds(l->retired);
	merger_clear(&l->merger);
	keeper_clear(&l->keeper);
	bt2_clocks_unref(l->owner.clocks);
	g_mutex_clear(&l->owner.lock);
	g_cond_clear(&l->owner.arrived);
	g_cond_clear(&l->owner.changed);
	g_cond_clear(&l->owner.taken);
	g_clear_error(&l->fatal);
	live_url_clear(&l->url);
	source_clear(&l->source);
	g_free(l->name);
	g_free(l);
}

static const struct source_ops live_ops = {
	.next = live_next,
	.cancel = live_cancel,
	.free = live_free,
};

static char *describe(const struct live_url *url)
{
	g_autofree char *target = text_visible(url->target), *session = text_visible(url->session);
	g_autofree char *relay = viewer_relay_name(url);

	return g_strdup_printf("session '%s' of host '%s' on relay %s", session, target, relay);
}

static struct live *live_new(const struct live_url *url, const struct blk_subscription *rows,
			     size_t n_rows, int timeout_ms)
{
	struct live *l = g_new0(struct live, 1);

	source_init(&l->source, &live_ops);
	l->url = (struct live_url){ .host = g_strdup(url->host), .port = url->port,
				    .target = g_strdup(url->target), .family = url->family,
				    .session = g_strdup(url->session) };
	l->name = describe(url);
	g_mutex_init(&l->owner.lock);
	g_cond_init(&l->owner.arrived);
	g_cond_init(&l->owner.changed);
	g_cond_init(&l->owner.taken);
	l->owner.url = &l->url;
	l->owner.rows = rows;
	l->owner.n_rows = n_rows;
	l->owner.timeout_ms = timeout_ms;
	l->owner.clocks = bt2_clocks_new();
	l->owner.newest = INT64_MIN;
	l->feeds = g_ptr_array_new();
	l->retired = g_ptr_array_new();
	l->status.since_ns = g_get_real_time() * 1000;
	keeper_init(&l->keeper);
	merger_init(&l->merger);
	return l;
}

/* What there is instead of the session that was asked for. */
static void fail_missing(const struct live *l, const GArray *list, GError **error)
{
	GString *others = g_string_new(NULL);

	for (guint i = 0; i < list->len && i < 8; i++) {
		const struct viewer_session *s = &g_array_index(list, struct viewer_session, i);
		g_autofree char *host = text_visible(s->host), *name = text_visible(s->name);
		g_string_append_printf(others, "%s%s/%s", i ? ", " : "", host, name);
	}
	g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION,
		    "cannot attach to %s: there is no such session (%s%s%s)", l->name,
		    list->len ? "there are: " : "the relay has none", others->str,
		    list->len > 8 ? ", ..." : "");
	g_string_free(others, TRUE);
}

/* Is the session there, and free? */
static bool check_session(const struct live *l, const GArray *list, GError **error)
{
	bool found = false;

	for (guint i = 0; i < list->len; i++) {
		const struct viewer_session *s = &g_array_index(list, struct viewer_session, i);
		if (strcmp(s->host, l->url.target) || strcmp(s->name, l->url.session))
			continue;
		found = true;
		if (!s->viewers)
			continue;
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION,
			    "cannot attach to %s: another viewer has it, and a relay lets only one "
			    "in; end that one, or open the relay's output directory instead",
			    l->name);
		return false;
	}
	if (!found)
		fail_missing(l, list, error);
	return found;
}

struct source *live_open(const struct live_url *url, const struct blk_subscription *rows,
			 size_t n_rows, int timeout_ms, GError **error)
{
	g_autoptr(GArray) list = NULL;
	struct live *l;

	if (!url->target || !url->session) {
		g_set_error_literal(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION,
				    "cannot attach: no session is named");
		return NULL;
	}
	l = live_new(url, rows, n_rows, timeout_ms);
	l->keeper.viewer = viewer_open(&l->url, timeout_ms, l->keeper.wake_fd, error);
	if (l->keeper.viewer)
		list = viewer_list(l->keeper.viewer, error);
	if (!list || !check_session(l, list, error)) {
		source_free(&l->source);
		return NULL;
	}
	g_mutex_lock(&l->owner.lock);
	l->keeper.reachable = true;
	keeper_apply(l, list);
	g_mutex_unlock(&l->owner.lock);
	keeper_start(l);
	return &l->source;
}

void live_get_status(struct source *s, struct live_status *ret)
{
	struct live *l = (struct live *)s;
	int64_t now = g_get_real_time() * 1000;

	g_mutex_lock(&l->owner.lock);
	keeper_tell(l);
	*ret = l->status;
	ret->late = l->merger.late;
	ret->lag_ns = l->owner.newest == INT64_MIN ? -1 : MAX(now - l->owner.newest, 0);
	g_mutex_unlock(&l->owner.lock);
}
