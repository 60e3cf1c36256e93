/* SPDX-License-Identifier: GPL-2.0-only */
/* The live source (live.h): opening, the functions of a struct source, the status. */
#include "live/viewer/source_live.h"

#include "live/viewer/kernel_link.h"
#include "live/viewer/stream_link.h"

#include "base/limits.h"

static void note_passed(struct live *l, const struct blk_batch *batch)
{
	int64_t event = INT64_MIN, passed = INT64_MIN;

	for (size_t i = batch->n; i-- > 0 && event == INT64_MIN;) {
		const struct blk_event *e = &batch->ev[i];
		if (e->row == BLK_ROW_HORIZON)
			passed = MAX(passed, e->ts);
		else if (e->row < BLK_ROW_FIRST_PSEUDO || e->row == BLK_ROW_TALLY)
			event = e->ts;
	}
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&l->owner.lock);
	l->event_ns = MAX(l->event_ns, event);
	l->passed_ns = MAX(l->passed_ns, passed);
	if (l->event_ns == INT64_MIN)		/* no events since the attachment: quiet from its beginning */
		l->event_ns = passed;
}

/* Has nothing that was received been readable for so long that reading fails? The session's other domain may appear
 * later, so it waits for some seconds. */
static bool is_unreadable(struct live *l, bool ended, GError **error)
{
	g_autofree char *why = intake_why_unreadable(l);
	int64_t now = g_get_monotonic_time();

	if (!why)
		l->unreadable_since = 0;
	else if (!l->unreadable_since)
		l->unreadable_since = now;
	if (!why || (!ended && now - l->unreadable_since < LIMIT_UNREADABLE_SECONDS * G_USEC_PER_SEC))
		return false;
	g_set_error_literal(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, why);
	return true;
}

static bool has_failed(struct live *l, GError **error)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&l->owner.lock);
	if (l->fatal)
		g_propagate_error(error, g_error_copy(l->fatal));
	return l->fatal != NULL;
}

static enum source_status live_next(struct source *s, struct blk_batch *ret, GError **error)
{
	struct live *l = (struct live *)s;

	if (g_atomic_int_get(&l->cancelled))
		return SOURCE_CANCELLED;
	enum source_status st = intake_next(l, ret, error);
	if (st == SOURCE_OK)
		note_passed(l, ret);
	if (st != SOURCE_AGAIN && st != SOURCE_END)
		return st;
	ret->n = 0;
	if (g_atomic_int_get(&l->cancelled))
		return SOURCE_CANCELLED;
	if (has_failed(l, error))
		return SOURCE_ERROR;
	return is_unreadable(l, st == SOURCE_END, error) ? SOURCE_ERROR : st;
}

static void live_cancel(struct source *s)
{
	struct live *l = (struct live *)s;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&l->owner.lock);
	g_atomic_int_set(&l->cancelled, 1);
	g_cond_broadcast(&l->owner.arrived);
	intake_wake(l);
}

static void live_free(struct source *s)
{
	struct live *l = (struct live *)s;

	/* a thread that did not end still uses the memory, so it is not freed */
	if (!supervisors_stop(l))
		return;
	for (guint i = 0; i < l->links->len; i++)
		link_free(g_ptr_array_index(l->links, i));
	g_ptr_array_unref(l->links);
	intake_clear(l);
	for (size_t i = 0; i < l->n_supervisors; i++)
		supervisor_clear(&l->supervisors[i]);
	g_free(l->supervisors);
	g_mutex_clear(&l->owner.lock);
	g_cond_clear(&l->owner.arrived);
	g_cond_clear(&l->owner.changed);
	g_clear_error(&l->fatal);
	g_free(l);
}

static bool live_take_late(struct source *s, struct source_late *ret)
{
	struct live *l = (struct live *)s;

	return source_take_late(native_feed_source(l->sink.feed), ret);
}

static char *live_warning(struct source *s)
{
	struct live *l = (struct live *)s;

	return native_feed_troubles(l->sink.feed);
}

static void live_missing(struct source *s, struct missing *ret)
{
	struct live_status st;

	live_get_status(s, &st);
	*ret = st.missing;
}

static size_t live_bytes(struct source *s)
{
	return (size_t)native_feed_bytes(((struct live *)s)->sink.feed);
}

static const struct source_ops live_ops = {
	.next = live_next,
	.take_late = live_take_late,
	.warning = live_warning,
	.missing = live_missing,
	.bytes = live_bytes,
	.cancel = live_cancel,
	.free = live_free,
};

static struct live *live_new(const struct live_url *urls, size_t n_urls,
			     const struct live_options *options,
			     const struct blk_subscription *rows, size_t n_rows)
{
	struct live *l = g_new0(struct live, 1);

	source_init(&l->source, &live_ops);
	l->options = *options;
	g_mutex_init(&l->owner.lock);
	g_cond_init(&l->owner.arrived);
	g_cond_init(&l->owner.changed);
	l->owner.rows = rows;
	l->owner.n_rows = n_rows;
	l->owner.timeout_ms = options->timeout_ms;
	l->owner.newest = l->event_ns = l->passed_ns = INT64_MIN;
	l->links = g_ptr_array_new();
	l->status.since_ns = g_get_real_time() * 1000;
	intake_init(l);
	l->n_supervisors = n_urls;
	l->supervisors = g_new0(struct supervisor, n_urls);
	for (size_t i = 0; i < n_urls; i++)
		supervisor_init(&l->supervisors[i], l, &urls[i]);
	l->ended = !n_urls;
	if (options->kernel)
		l->direct = kernel_link_new(&l->owner, &l->sink, options->kernel);
	else if (options->stream)
		l->direct = stream_link_new(&l->owner, &l->sink, options->stream);
	if (l->direct)
		g_ptr_array_add(l->links, l->direct);
	return l;
}

struct source *live_open(const struct live_url *urls, size_t n_urls,
			 const struct live_options *options,
			 const struct blk_subscription *rows, size_t n_rows, GError **error)
{
	for (size_t i = 0; i < n_urls; i++) {
		if (urls[i].target && urls[i].session)
			continue;
		g_set_error_literal(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION,
				    "cannot attach: no session is named");
		return NULL;
	}
	struct live *l = live_new(urls, n_urls, options, rows, n_rows);
	blk_trace_error_quark();	/* registered before several threads use it */
	for (size_t i = 0; i < n_urls; i++)
		supervisor_start(&l->supervisors[i]);
	if (l->direct)
		link_start(l->direct, options->kernel ? "blk-kernel" : "blk-stream");
	return &l->source;
}

void live_get_status(struct source *s, struct live_status *ret)
{
	struct live *l = (struct live *)s;
	int64_t now = g_get_real_time() * 1000;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&l->owner.lock);
	supervisor_update_status(l);
	*ret = l->status;
	ret->lag_ns = l->owner.newest == INT64_MIN ? -1 : MAX(now - l->owner.newest, 0);
	ret->missing.behind_ns = l->ended ? -1 : ret->lag_ns;
	supervisor_get_missing(l, &ret->missing);
	bool quiet = l->event_ns != INT64_MIN && l->passed_ns >= l->event_ns &&
		l->passed_ns - l->event_ns >= LIVE_QUIET_NS;
	ret->quiet_ns = quiet ? l->event_ns : INT64_MIN;
	intake_get_status(l, ret);
}
