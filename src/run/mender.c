/* SPDX-License-Identifier: GPL-2.0-only */
/* Which seconds are due, and reading them: see mender.h. */
#include "run/mender.h"

#include "base/timefmt.h"
#include "run/window.h"

#define QUIET_US G_USEC_PER_SEC		/* so long nothing more has come for it */
#define PATIENCE_US (10 * G_USEC_PER_SEC)	/* however much more comes */
#define REST 4				/* times as long as making took */
#define MOST_NOTED 600			/* seconds, of one note */
#define MOST_AT_ONCE 30
#define BEFORE_BYTES (64 << 20)		/* read before, at most, for names and what is open */

struct wound {
	int64_t begin;
	int64_t first_us, last_us;	/* noted */
};

struct mender {
	struct pieces kept;		/* borrowed */
	int64_t step;
	mender_post post;
	void *data;
	int64_t rest_until_us;		/* the worker's */

	GMutex lock;			/* what follows */
	GCond changed;
	GArray *wounds;			/* struct wound, by begin */
	int64_t closed_to;
	int stop;			/* atomic, too: see source_stop_by() */
	bool hurry, busy;
};

struct mender *mender_new(const struct pieces *kept, int64_t step_ns, mender_post post, void *data)
{
	struct mender *m = g_new0(struct mender, 1);

	m->kept = *kept;
	m->step = step_ns;
	m->post = post;
	m->data = data;
	m->closed_to = INT64_MIN;
	m->wounds = g_array_new(FALSE, FALSE, sizeof(struct wound));
	g_mutex_init(&m->lock);
	g_cond_init(&m->changed);
	return m;
}

void mender_free(struct mender *m)
{
	if (!m)
		return;
	g_array_unref(m->wounds);
	g_mutex_clear(&m->lock);
	g_cond_clear(&m->changed);
	g_free(m);
}

/* ---- noting ---- */

static void note_second(struct mender *m, int64_t begin, int64_t now_us)
{
	struct wound fresh = { begin, now_us, now_us };
	guint i = m->wounds->len;

	while (i > 0 && g_array_index(m->wounds, struct wound, i - 1).begin > begin)
		i--;
	if (i > 0 && g_array_index(m->wounds, struct wound, i - 1).begin == begin)
		g_array_index(m->wounds, struct wound, i - 1).last_us = now_us;
	else
		g_array_insert_val(m->wounds, i, fresh);
}

static void note_range(struct mender *m, int64_t from, int64_t to, int64_t now_us)
{
	int64_t last = time_floor(to, m->step);
	int64_t first = MAX(time_floor(from, m->step), last - (MOST_NOTED - 1) * m->step);

	for (int64_t at = first; at <= last; at += m->step)
		note_second(m, at, now_us);
}

void mender_note(struct mender *m, const struct source_late *late)
{
	int64_t now_us = g_get_monotonic_time();

	g_mutex_lock(&m->lock);
	note_range(m, late->from_ns, late->to_ns, now_us);
	note_range(m, late->to_ns, late->at_to_ns, now_us);
	g_mutex_unlock(&m->lock);
}

void mender_closed_to(struct mender *m, int64_t instant)
{
	g_mutex_lock(&m->lock);
	m->closed_to = MAX(m->closed_to, instant);
	g_mutex_unlock(&m->lock);
}

bool mender_finish(struct mender *m, int64_t timeout_us)
{
	gint64 until = g_get_monotonic_time() + timeout_us;
	bool done;

	g_mutex_lock(&m->lock);
	m->hurry = true;
	while (!(done = !m->wounds->len && !m->busy) && !m->stop)
		if (!g_cond_wait_until(&m->changed, &m->lock, until))
			break;
	g_mutex_unlock(&m->lock);
	return done;
}

void mender_stop(struct mender *m)
{
	g_mutex_lock(&m->lock);
	g_atomic_int_set(&m->stop, 1);
	g_cond_broadcast(&m->changed);
	g_mutex_unlock(&m->lock);
}

/* ---- making ---- */

static bool is_due(const struct mender *m, const struct wound *w, int64_t now_us)
{
	bool quiet = now_us - w->last_us >= QUIET_US || now_us - w->first_us >= PATIENCE_US;

	return (quiet || m->hurry) && (m->closed_to == INT64_MAX || w->begin <= m->closed_to - m->step);
}

/* The oldest that are due, one after another; lock held. They are noted no more. */
static bool take_due(struct mender *m, struct look_window *ret)
{
	int64_t now_us = g_get_monotonic_time();
	guint first = 0, n = 0;

	if (m->stop || (now_us < m->rest_until_us && !m->hurry))
		return false;
	while (first < m->wounds->len &&
	       !is_due(m, &g_array_index(m->wounds, struct wound, first), now_us))
		first++;
	while (first + n < m->wounds->len && n < MOST_AT_ONCE) {
		const struct wound *w = &g_array_index(m->wounds, struct wound, first + n);
		if (!is_due(m, w, now_us) || (n && w->begin != w[-1].begin + m->step))
			break;
		n++;
	}
	if (!n)
		return false;
	ret->from_ns = g_array_index(m->wounds, struct wound, first).begin;
	ret->to_ns = ret->from_ns + n * m->step;
	ret->step_ns = m->step;
	ret->exact = true;
	g_array_remove_range(m->wounds, first, n);
	m->busy = true;
	return true;
}

static bool is_in_vain(void *data)
{
	struct mender *m = data;

	g_mutex_lock(&m->lock);
	bool stop = m->stop;
	g_mutex_unlock(&m->lock);
	return stop;
}

/* From where on it is read: all there is before, or as much as is worth it. */
static int64_t begin_for(const struct mender *m, const struct look_window *w)
{
	const struct piece_ops *ops = m->kept.ops;
	int64_t first, end;

	if (!ops->bounds(m->kept.trace, &first, &end) || first >= w->from_ns)
		return INT64_MIN;
	for (int64_t back = w->from_ns - first; back > NS_PER_S / 4; back /= 2)
		if (ops->bytes_between(m->kept.trace, w->from_ns - back, w->to_ns) <= BEFORE_BYTES)
			return back == w->from_ns - first ? INT64_MIN : w->from_ns - back;
	return w->from_ns - NS_PER_S / 4;
}

/* Is all of the window still kept? */
static bool is_kept(const struct mender *m, const struct look_window *w)
{
	int64_t first, end;

	return m->kept.ops->renew(m->kept.trace, INT64_MAX, w->to_ns) &&
	       m->kept.ops->bounds(m->kept.trace, &first, &end) && first < w->to_ns && end >= w->from_ns;
}

bool mender_work(void *mender)
{
	struct mender *m = mender;
	const struct window_reader reader = { &m->kept, is_in_vain, m, 0, &m->stop };
	struct publication *again = NULL;
	struct look_window w;

	g_mutex_lock(&m->lock);
	bool any = take_due(m, &w);
	g_mutex_unlock(&m->lock);
	if (!any)
		return false;
	int64_t begin_us = g_get_monotonic_time();
	if (is_kept(m, &w))
		again = window_read_from(&reader, &w, begin_for(m, &w), NULL);
	if (again)
		m->post(m->data, again, w.from_ns, w.to_ns);
	int64_t end_us = g_get_monotonic_time();
	m->rest_until_us = end_us + (end_us - begin_us) * REST;
	g_mutex_lock(&m->lock);
	m->busy = false;
	g_cond_broadcast(&m->changed);
	g_mutex_unlock(&m->lock);
	return true;
}
