/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The intake of a live source: attachments push packets to a native_feed, and this module delivers the link's
 * records. The native_feed's source and the live source share their tables of strings and layouts.
 */
#include "live/viewer/source_live.h"

#include "base/each.h"
#include "base/text.h"

#define NEXT_US 50000
#define ATTACHING_US (2 * G_USEC_PER_SEC)	/* maximum time that the others wait for a link to attach */

void intake_init(struct live *l)
{
	g_mutex_init(&l->sink.push);
	l->sink.feed = native_feed_new(l->owner.rows, l->owner.n_rows);
	l->sink.packets = packets_new();
	l->sink.queue = l->options.queue ? l->options.queue : ATTACH_QUEUE;
	native_feed_set_bound(l->sink.feed, l->sink.queue);
	l->sink.members = g_ptr_array_new();
	if (l->options.spool)
		l->sink.spool = spool_ref(l->options.spool);
	l->sink.state_every_us = l->options.state_every_us;
	l->sink.late_us = l->options.late_ns < 0 ? -1 : l->options.late_ns / 1000;
	/* the tables are the native_feed's, borrowed */
	source_clear(&l->source);
	l->source.tables = native_feed_source(l->sink.feed)->tables;
}

/* Is a link attaching? Records of one session must not be delivered before the streams of the others are known.
 * Lock held. */
static bool is_attaching(const struct live *l)
{
	int64_t now = g_get_monotonic_time();

	PTR_EACH(const struct link, f, l->links)
		if (!f->end && !f->attached && now - f->started < ATTACHING_US)
			return true;
	return false;
}

static void note_newest(struct live *l)
{
	struct native_feed_status st;

	native_feed_get_status(l->sink.feed, &st);
	l->owner.newest = MAX(l->owner.newest, st.newest_ns);
}

/* Frees the link without a relay when it has ended: no supervisor does. Why it failed becomes the source's error. */
static void reap_direct(struct live *l)
{
	struct link *ended = NULL;

	g_mutex_lock(&l->owner.lock);
	if (l->direct && l->direct->end) {
		ended = g_steal_pointer(&l->direct);
		g_ptr_array_remove(l->links, ended);
		if (ended->end == LINK_BROKEN && !l->fatal)
			l->fatal = g_error_new_literal(BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, ended->why);
	}
	g_mutex_unlock(&l->owner.lock);
	if (ended && link_join(ended, 0))
		link_free(ended);
}

enum source_status intake_next(struct live *l, struct blk_batch *ret, GError **error)
{
	struct source *inner = native_feed_source(l->sink.feed);
	int64_t deadline = g_get_monotonic_time() + NEXT_US;
	enum source_status st;
	bool attaching, over;

	reap_direct(l);
	g_mutex_lock(&l->owner.lock);
	while ((attaching = is_attaching(l)) && !g_atomic_int_get(&l->cancelled) &&
	       g_cond_wait_until(&l->owner.arrived, &l->owner.lock, deadline))
		;
	over = l->ended && !l->links->len;
	note_newest(l);
	g_mutex_unlock(&l->owner.lock);
	if (over) {
		g_mutex_lock(&l->sink.push);
		native_feed_end(l->sink.feed);
		g_mutex_unlock(&l->sink.push);
	}
	if (attaching)
		return SOURCE_AGAIN;
	st = source_next(inner, ret, error);
	if (st == SOURCE_AGAIN)
		native_feed_wait(l->sink.feed, NEXT_US);
	return st;
}

char *intake_why_unreadable(struct live *l)
{
	struct native_feed_status st;

	native_feed_get_status(l->sink.feed, &st);
	return st.unreadable && !st.readable ? native_feed_troubles(l->sink.feed) : NULL;
}

struct link *intake_attach(struct live *l, struct supervisor *k, const struct viewer_session *s)
{
	bool all = supervisor_reads_all(k, s->id);
	struct attach_history *history = supervisor_history(k, s->id);
	struct attach_options o = {
		.sink = &l->sink, .history = history,
		.seek = all ? VIEWER_FROM_BEGINNING : VIEWER_FROM_LAST,
	};

	history->outstanding_packets = history->outstanding_bytes = 0;	/* announced again over the new connection */
	return attach_new(&l->owner, &k->url, s, &o);
}

void intake_get_status(struct live *l, struct live_status *ret)
{
	struct native_feed_status st;

	native_feed_get_status(l->sink.feed, &st);
	ret->late = st.late;
	ret->missing.unread_packets = st.unplaced;
	ret->stalled = st.stalled;
	ret->stalled_ns = st.stalled_ns;
	ret->stalled_name[0] = '\0';
	if (st.stalled_stream < 0)
		return;
	g_autofree char *name = native_feed_stream_name(l->sink.feed, (unsigned)st.stalled_stream);
	g_strlcpy(ret->stalled_name, name ? name : "", sizeof ret->stalled_name);
}

void intake_wake(struct live *l)
{
	native_feed_wake(l->sink.feed);
}

void intake_clear(struct live *l)
{
	native_feed_free(l->sink.feed);
	packets_unref(l->sink.packets);
	spool_unref(l->sink.spool);
	g_ptr_array_unref(l->sink.members);
	g_mutex_clear(&l->sink.push);
}
