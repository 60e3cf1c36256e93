/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the feeds: looks twice a second which sessions the relay has, attaches to
 * every one of the name (a kernel and an application session are two, the second
 * seconds later), connects again with growing pauses, and knows when it is over.
 */
#include <unistd.h>

#include "base/text.h"
#include "live/source_live.h"

#define LOOK_US 500000
#define BACKOFF_US 500000
#define MAX_BACKOFF 4			/* 2^4 * 0.5 s = 8 s */
#define GRACE_US (60 * G_USEC_PER_SEC)	/* for a lost session to be made again */
#define MAX_BROKEN 5
#define GOOD_LIFE_US (10 * G_USEC_PER_SEC)
#define JOIN_MS 2000

void keeper_init(struct keeper *k)
{
	k->wake_fd = net_wake_new();
	k->done = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

void keeper_clear(struct keeper *k)
{
	viewer_free(k->viewer);
	close(k->wake_fd);
	g_array_unref(k->done);
	g_free(k->trouble);
}

/* Half a second, one, two ... eight, and not all viewers in the same instant. */
static int64_t backoff(unsigned failures)
{
	int64_t us = (int64_t)BACKOFF_US << MIN(failures, MAX_BACKOFF);

	return us + g_random_int_range(-(int)(us / 4), (int)(us / 4));
}

/* -- what the user is told --------------------------------------------------- */

static void set_trouble(struct keeper *k, char *text)
{
	g_free(k->trouble);
	k->trouble = text;
}

void keeper_tell(struct live *l)
{
	unsigned attached = 0;
	bool connected;

	for (guint i = 0; i < l->feeds->len; i++) {
		const struct feed *f = g_ptr_array_index(l->feeds, i);
		attached += f->attached && !f->end;
	}
	connected = attached && l->keeper.reachable;
	if (connected != l->status.connected)
		l->status.since_ns = g_get_real_time() * 1000;
	l->status.connected = connected;
	l->status.attached = attached;
	g_strlcpy(l->status.message, connected || l->ended ? "" :
		  l->keeper.trouble ? l->keeper.trouble : "attaching", sizeof l->status.message);
}

/* -- feeds that ended --------------------------------------------------------- */

static void end_over(struct live *l, struct feed *f)
{
	g_array_append_val(l->keeper.done, f->session.id);
	l->keeper.over = true;
}

static void retry_later(struct live *l, struct feed *f)
{
	struct keeper *k = &l->keeper;

	k->over = false;
	k->retry_at = g_get_monotonic_time() + backoff(k->failures++);
	set_trouble(k, g_strdup(f->why ? f->why : "the connection broke"));
}

static void end_taken(struct live *l, struct feed *f)
{
	/* once attached it may be our own shadow: the relay has not missed us yet */
	if (l->owner.newest != INT64_MIN) {
		retry_later(l, f);
		return;
	}
	if (!l->fatal)
		l->fatal = g_error_new(BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION,
			"cannot attach to %s: another viewer has it, and a relay lets only one in; "
			"end that one, or open the relay's output directory instead", l->name);
}

static void end_broken(struct live *l, struct feed *f)
{
	struct keeper *k = &l->keeper;
	bool soon = g_get_monotonic_time() - f->started < GOOD_LIFE_US;

	k->broken = soon ? k->broken + 1 : 1;
	if (k->broken < MAX_BROKEN)
		retry_later(l, f);
	else if (!l->fatal)
		l->fatal = g_error_new(BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
				       "cannot read %s: %s", l->name, f->why ? f->why : "?");
}

static void reap(struct live *l, GPtrArray *feeds)
{
	static void (*const ends[FEED_N_ENDS])(struct live *, struct feed *) = {
		[FEED_SESSION_OVER] = end_over, [FEED_LOST] = retry_later,
		[FEED_TAKEN] = end_taken, [FEED_BROKEN] = end_broken,
	};
	for (guint i = 0; i < feeds->len; i++) {
		struct feed *f = g_ptr_array_index(feeds, i);
		if (!f->end || f->reaped)
			continue;
		f->reaped = true;
		ends[f->end](l, f);
	}
}

/* -- the relay's sessions ------------------------------------------------------ */

static bool is_ours(const struct live *l, const struct viewer_session *s)
{
	return !strcmp(s->host, l->url.target) && !strcmp(s->name, l->url.session);
}

static bool is_done(const struct keeper *k, uint64_t id)
{
	for (guint i = 0; i < k->done->len; i++) {
		if (g_array_index(k->done, uint64_t, i) == id)
			return true;
	}
	return false;
}

static struct feed *find_running(const struct live *l, uint64_t id)
{
	for (guint i = 0; i < l->feeds->len; i++) {
		struct feed *f = g_ptr_array_index(l->feeds, i);
		if (f->session.id == id && !f->end)
			return f;
	}
	return NULL;
}

static bool is_listed(const GArray *list, uint64_t id)
{
	for (guint i = 0; i < list->len; i++) {
		if (g_array_index(list, struct viewer_session, i).id == id)
			return true;
	}
	return false;
}

/* A feed whose session has left the list ends by itself, unless sessiond died: then
 * babeltrace2 would wait for ever. */
static unsigned watch_running(struct live *l, const GArray *list, int64_t now)
{
	unsigned n = 0;

	for (guint i = 0; i < l->feeds->len; i++) {
		struct feed *f = g_ptr_array_index(l->feeds, i);
		if (f->end)
			continue;
		n++;
		if (is_listed(list, f->session.id))
			f->missing_since = 0;
		else if (!f->missing_since)
			f->missing_since = now;
		else if (now - f->missing_since > feed_patience(f) && !f->queued)
			feed_stop(f, FEED_SESSION_OVER);
	}
	return n;
}

static unsigned attach_new(struct live *l, const GArray *list, int64_t now)
{
	unsigned n = 0;

	for (guint i = 0; i < list->len; i++) {
		const struct viewer_session *s = &g_array_index(list, struct viewer_session, i);
		if (!is_ours(l, s) || is_done(&l->keeper, s->id))
			continue;
		n++;
		if (now >= l->keeper.retry_at && !find_running(l, s->id))
			g_ptr_array_add(l->feeds, feed_new(&l->owner, s));
	}
	return n;
}

static bool any_attached(const struct live *l)
{
	for (guint i = 0; i < l->feeds->len; i++) {
		const struct feed *f = g_ptr_array_index(l->feeds, i);
		if (f->attached && !f->end)
			return true;
	}
	return false;
}

void keeper_apply(struct live *l, const GArray *list)
{
	struct keeper *k = &l->keeper;
	int64_t now = g_get_monotonic_time();
	unsigned listed = attach_new(l, list, now), running = watch_running(l, list, now);

	if (any_attached(l)) {
		k->failures = 0;
		set_trouble(k, NULL);
	}
	if (listed || running) {
		k->empty_since = 0;
		return;
	}
	if (!k->empty_since)
		k->empty_since = now;
	if (k->over || now - k->empty_since > GRACE_US) {
		l->ended = true;
		g_cond_broadcast(&l->owner.arrived);
		return;
	}
	/* a relay that was restarted has forgotten its sessions */
	set_trouble(k, g_strdup_printf("%s is not there any more: waiting for it to be created "
				       "again", l->name));
}

/* -- the thread ------------------------------------------------------------------ */

static GArray *look(struct live *l, GError **error)
{
	struct keeper *k = &l->keeper;
	GArray *list;

	if (!k->viewer)
		k->viewer = viewer_open(&l->url, l->owner.timeout_ms, k->wake_fd, error);
	if (!k->viewer)
		return NULL;
	list = viewer_list(k->viewer, error);
	if (!list)
		g_clear_pointer(&k->viewer, viewer_free);
	return list;
}

/* One look, and what follows from it; until when to sleep. */
static int64_t keep(struct live *l)
{
	struct keeper *k = &l->keeper;
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) list = NULL;
	int64_t next = g_get_monotonic_time() + LOOK_US;

	g_mutex_unlock(&l->owner.lock);
	list = look(l, &error);
	g_mutex_lock(&l->owner.lock);
	k->reachable = list != NULL;
	reap(l, l->feeds);
	reap(l, l->retired);
	if (list) {
		keeper_apply(l, list);
	} else {
		set_trouble(k, g_strdup(error->message));
		/* its numbers mean nothing after a restart */
		g_array_set_size(k->done, 0);
		next = g_get_monotonic_time() + backoff(k->failures++);
	}
	keeper_tell(l);
	return next;
}

/* Has a feed ended that was not looked at? */
static bool news(const struct live *l)
{
	for (guint i = 0; i < l->feeds->len + l->retired->len; i++) {
		const struct feed *f = i < l->feeds->len
			? g_ptr_array_index(l->feeds, i)
			: g_ptr_array_index(l->retired, i - l->feeds->len);
		if (f->end && !f->reaped)
			return true;
	}
	return false;
}

static gpointer keeper_thread(gpointer data)
{
	struct live *l = data;
	struct keeper *k = &l->keeper;
	struct feed_owner *o = &l->owner;

	g_mutex_lock(&o->lock);
	while (!k->stop && !l->ended) {
		int64_t until = keep(l);
		while (!k->stop && !l->ended && !news(l) &&
		       g_cond_wait_until(&o->changed, &o->lock, until))
			;
	}
	g_mutex_unlock(&o->lock);
	return NULL;
}

void keeper_start(struct live *l)
{
	l->keeper.thread = g_thread_new("blk-keeper", keeper_thread, l);
}

static bool join_all(GPtrArray *feeds)
{
	bool ok = true;

	for (guint i = 0; i < feeds->len; i++)
		ok = feed_join(g_ptr_array_index(feeds, i), JOIN_MS) && ok;
	return ok;
}

bool keeper_stop(struct live *l)
{
	struct keeper *k = &l->keeper;

	g_mutex_lock(&l->owner.lock);
	k->stop = true;
	net_wake(k->wake_fd);
	g_cond_broadcast(&l->owner.changed);
	for (guint i = 0; i < l->feeds->len; i++)
		feed_stop(g_ptr_array_index(l->feeds, i), FEED_LOST);
	g_mutex_unlock(&l->owner.lock);
	/* every wait of the keeper ends by the waker, so it may be joined */
	if (k->thread)
		g_thread_join(g_steal_pointer(&k->thread));
	g_mutex_lock(&l->owner.lock);
	for (guint i = 0; i < l->feeds->len; i++)
		feed_stop(g_ptr_array_index(l->feeds, i), FEED_LOST);
	g_mutex_unlock(&l->owner.lock);
	bool feeds = join_all(l->feeds), retired = join_all(l->retired);
	return feeds && retired;
}
