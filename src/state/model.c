/* SPDX-License-Identifier: GPL-2.0-only */
/* The model of one run: a rooted slice and its publisher. */
#include "state/model.h"

#include "base/timefmt.h"
#include "state/publisher.h"

/* Where memory is bounded, seconds stay open for corrections this long. */
#define CORRECTIONS_NS (INT64_C(120) * 1000000000)

struct model {
	struct model_options options;
	struct slice *s;
	struct publisher *publisher;
	int64_t horizon;	/* INT64_MIN: none told */
	int64_t border;		/* seconds before it are closed */
};

struct model *model_new(const struct model_options *options)
{
	struct model *m = g_new0(struct model, 1);
	m->options = *options;
	if (m->options.step_ns <= 0)
		m->options.step_ns = NS_PER_S;
	m->s = slice_new(true, m->options.step_ns);
	m->publisher = publisher_new(m->s);
	m->horizon = m->border = INT64_MIN;
	return m;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	publisher_free(m->publisher);
	slice_free(m->s);
	g_free(m);
}

const struct blk_subscription *model_subscriptions(size_t *ret_n)
{
	return slice_subscriptions(ret_n);
}

void model_feed(struct model *m, const struct blk_tables *tables, const struct blk_event *ev, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ev[i].row == BLK_ROW_HORIZON)
			m->horizon = MAX(m->horizon, ev[i].ts);
	slice_feed(m->s, tables, ev, n);
}

void model_stitch(struct model *m, struct slice *s)
{
	if (slice_first(m->s) == INT64_MAX && s->rooted) {
		publisher_free(m->publisher);
		slice_free(m->s);
		m->s = s;
		m->publisher = publisher_new(s);
		return;
	}
	struct slice *both = slice_stitch(m->s, s);
	g_assert(both == m->s);		/* the publisher has it */
}

int64_t model_closed_to(const struct model *m)
{
	return m->border;
}

int64_t model_now(const struct model *m)
{
	return MAX(slice_last(m->s), m->horizon);
}

uint64_t model_n_events(const struct model *m)
{
	return slice_n_events(m->s);
}

struct publication *model_publish(struct model *m, bool final)
{
	int64_t now = model_now(m);
	if (now == INT64_MIN || slice_first(m->s) == INT64_MAX)
		return final ? publication_new() : NULL;
	int64_t border = time_floor(now, m->options.step_ns);
	if (!final && border == m->border)
		return NULL;
	m->border = final ? INT64_MAX : border;
	if (m->horizon > slice_last(m->s) && !final)
		m->s->last = border > m->s->last ? border - 1 : m->s->last;
	struct publication *p = publisher_publish(m->publisher, border, now, final);
	if (!final && (m->options.live || m->options.memory_budget))
		publisher_forget(m->publisher, now - CORRECTIONS_NS, now);
	return p;
}
