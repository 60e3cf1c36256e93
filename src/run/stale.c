/* SPDX-License-Identifier: GPL-2.0-only */
/* The set of stale seconds: see stale.h. */
#include "run/stale.h"

#include "base/timefmt.h"

#define QUIET_US G_USEC_PER_SEC		/* a second is due when no late event arrived for it for this time, */
#define PATIENCE_US (10 * G_USEC_PER_SEC)	/* or after this time in any case */
#define MOST_SECONDS 600			/* most seconds of one stale_note() */
#define MOST_AT_ONCE 30

struct stale_second {
	int64_t begin;
	int64_t first_us, last_us;	/* when it was noted first, last; monotonic */
};

struct stale {
	int64_t step;
	GArray *seconds;		/* struct stale_second, by begin */
};

struct stale *stale_new(int64_t step_ns)
{
	struct stale *s = g_new0(struct stale, 1);

	s->step = step_ns;
	s->seconds = g_array_new(FALSE, FALSE, sizeof(struct stale_second));
	return s;
}

void stale_free(struct stale *s)
{
	if (!s)
		return;
	g_array_unref(s->seconds);
	g_free(s);
}

static struct stale_second *second_at(const struct stale *s, guint i)
{
	return &g_array_index(s->seconds, struct stale_second, i);
}

static void note_second(struct stale *s, int64_t begin, int64_t now_us)
{
	struct stale_second fresh = { begin, now_us, now_us };
	guint i = s->seconds->len;

	while (i > 0 && second_at(s, i - 1)->begin > begin)
		i--;
	if (i > 0 && second_at(s, i - 1)->begin == begin)
		second_at(s, i - 1)->last_us = now_us;
	else
		g_array_insert_val(s->seconds, i, fresh);
}

static void note_range(struct stale *s, int64_t from, int64_t to, int64_t now_us)
{
	int64_t last = time_floor(to, s->step);
	int64_t first = MAX(time_floor(from, s->step), last - (MOST_SECONDS - 1) * s->step);

	for (int64_t at = first; at <= last; at += s->step)
		note_second(s, at, now_us);
}

void stale_note(struct stale *s, const struct source_late *late, int64_t now_us)
{
	note_range(s, late->from_ns, late->to_ns, now_us);
	note_range(s, late->to_ns, late->at_to_ns, now_us);
}

bool stale_is_empty(const struct stale *s)
{
	return !s->seconds->len;
}

bool stale_take(struct stale *s, int64_t closed_to, bool hurry, int64_t now_us, struct decoded_range *ret)
{
	guint first = G_MAXUINT, n = 0;

	for (guint i = 0; i < s->seconds->len && n < MOST_AT_ONCE; i++) {
		const struct stale_second *x = second_at(s, i);
		g_assert(!i || x[-1].begin < x->begin);
		bool quiet = now_us - x->last_us >= QUIET_US || now_us - x->first_us >= PATIENCE_US;
		bool due = (quiet || hurry) && x->begin + s->step <= closed_to;
		if (n && (!due || x->begin != x[-1].begin + s->step))
			break;
		first = due && !n ? i : first;
		n += due;
	}
	if (!n)
		return false;
	ret->from_ns = second_at(s, first)->begin;
	ret->to_ns = ret->from_ns + n * s->step;
	ret->step_ns = s->step;
	ret->exact = true;
	g_assert(first + n <= s->seconds->len);
	g_array_remove_range(s->seconds, first, n);
	return true;
}
