/* SPDX-License-Identifier: GPL-2.0-only */
/* The thread of a link, its end, and how it is stopped: see link.h. */
#include "live/viewer/link.h"

#include "base/limits.h"

#include <unistd.h>

void link_init(struct link *f, const struct link_ops *ops, struct link_owner *owner,
	       const struct live_url *url, const struct viewer_session *session)
{
	f->ops = ops;
	f->owner = owner;
	f->url = url;
	f->session = *session;
	f->started = g_get_monotonic_time();
	f->wake_fd = net_wake_new();
	f->broken_fd = -1;
}

static gpointer run(gpointer data)
{
	struct link *f = data;
	char *why = NULL;
	enum link_end end = f->ops->run(f, &why), asked;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->owner->lock);
	asked = (enum link_end)g_atomic_int_get(&f->stop);
	g_assert(!f->end && (asked || end));
	f->why = why;
	f->end = asked ? asked : end;
	g_cond_broadcast(&f->owner->arrived);
	g_cond_broadcast(&f->owner->changed);
	return NULL;
}

void link_start(struct link *f, const char *name)
{
	g_assert(!f->thread);
	f->thread = g_thread_new(name, run, f);
}

bool link_stopped(struct link *f)
{
	return g_atomic_int_get(&f->stop);
}

void link_set_attached(struct link *f)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->owner->lock);
	f->attached = true;
	g_cond_broadcast(&f->owner->arrived);
	g_cond_broadcast(&f->owner->changed);
}

void link_stop(struct link *f, enum link_end as)
{
	g_assert(as > 0 && as < LINK_N_ENDS);
	g_atomic_int_compare_and_exchange(&f->stop, 0, (gint)as);
	net_wake(f->wake_fd);
}

bool link_join(struct link *f, int timeout_ms)
{
	int64_t deadline = net_deadline(timeout_ms);

	if (!f->thread)
		return true;
	g_mutex_lock(&f->owner->lock);
	while (!f->end && g_cond_wait_until(&f->owner->arrived, &f->owner->lock, deadline))
		;
	bool ended = f->end;
	g_mutex_unlock(&f->owner->lock);
	if (ended)
		g_thread_join(g_steal_pointer(&f->thread));
	return ended;
}

void link_free(struct link *f)
{
	int wake_fd = f->wake_fd, broken_fd = f->broken_fd;

	g_assert(!f->thread);	/* joined */
	g_free(f->why);
	f->ops->free(f);
	close(wake_fd);
	if (broken_fd >= 0)
		close(broken_fd);
}

int64_t link_timer_patience(uint32_t timer_us)
{
	return 2 * (int64_t)MIN(timer_us, LIMIT_LIVE_TIMER_SECONDS * G_USEC_PER_SEC) + G_USEC_PER_SEC;
}

int64_t link_patience(const struct link *f)
{
	return f->streams ? link_timer_patience(f->session.timer_us)
			  : MIN(f->session.timer_us, LIMIT_LIVE_TIMER_SECONDS * G_USEC_PER_SEC) + 300000;
}
