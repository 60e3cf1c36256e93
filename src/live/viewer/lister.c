/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests the relay's list of sessions each second, on its own thread, so that the screen does not wait for answers.
 * See live.h.
 */
#include "live/viewer/viewer.h"

#include <unistd.h>

#define EVERY_US G_USEC_PER_SEC

struct live_lister {
	gatomicrefcount refs;		/* the owner's and the thread's */
	struct live_url url;
	int timeout_ms;
	int wake_fd, event_fd;

	GMutex lock;			/* protects the following fields */
	GCond changed;
	bool stop;
	GPtrArray *sessions;		/* the newest answer, or .error; both NULL: none yet */
	GError *error;
};

static void unref(struct live_lister *l)
{
	if (!g_atomic_ref_count_dec(&l->refs))
		return;
	live_url_clear(&l->url);
	close(l->wake_fd);
	close(l->event_fd);
	g_clear_pointer(&l->sessions, g_ptr_array_unref);
	g_clear_error(&l->error);
	g_mutex_clear(&l->lock);
	g_cond_clear(&l->changed);
	g_free(l);
}

static void answer(struct live_lister *l, GPtrArray *sessions, GError *error)
{
	g_clear_pointer(&l->sessions, g_ptr_array_unref);
	g_clear_error(&l->error);
	l->sessions = sessions;
	l->error = error;
	net_wake(l->event_fd);
}

static void *run(void *data)
{
	struct live_lister *l = data;

	g_mutex_lock(&l->lock);
	while (!l->stop) {
		gint64 until = g_get_monotonic_time() + EVERY_US;
		GError *error = NULL;
		g_mutex_unlock(&l->lock);
		GPtrArray *sessions = sessions_list(&l->url, l->timeout_ms, l->wake_fd, &error);
		g_mutex_lock(&l->lock);
		answer(l, sessions, error);
		while (!l->stop && g_cond_wait_until(&l->changed, &l->lock, until))
			;
	}
	g_mutex_unlock(&l->lock);
	unref(l);
	return NULL;
}

struct live_lister *live_lister_new(const struct live_url *url, int timeout_ms)
{
	struct live_lister *l = g_new0(struct live_lister, 1);

	g_atomic_ref_count_init(&l->refs);
	g_atomic_ref_count_inc(&l->refs);
	l->url = (struct live_url){ .host = g_strdup(url->host), .port = url->port, .family = url->family };
	l->timeout_ms = timeout_ms;
	l->wake_fd = net_wake_new();
	l->event_fd = net_wake_new();
	g_mutex_init(&l->lock);
	g_cond_init(&l->changed);
	g_thread_unref(g_thread_new("blk-lister", run, l));
	return l;
}

int live_lister_fd(const struct live_lister *l)
{
	return l->event_fd;
}

GPtrArray *live_lister_take(struct live_lister *l, GError **error)
{
	uint64_t count;
	ssize_t n = read(l->event_fd, &count, sizeof count);

	(void)n;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&l->lock);
	GPtrArray *sessions = g_steal_pointer(&l->sessions);
	if (l->error)
		g_propagate_error(error, g_steal_pointer(&l->error));
	return sessions;
}

void live_lister_free(struct live_lister *l)
{
	if (!l)
		return;
	g_mutex_lock(&l->lock);
	l->stop = true;
	net_wake(l->wake_fd);
	g_cond_broadcast(&l->changed);
	g_mutex_unlock(&l->lock);
	unref(l);
}
