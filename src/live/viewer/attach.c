/* SPDX-License-Identifier: GPL-2.0-only */
/* The thread of an attachment (attach.h): attaching, exchanging messages, leaving. */
#include "live/viewer/attach_private.h"

#include "base/each.h"

#define FAREWELL_MS 200

/* Is metadata still asked for, for the last time? */
static bool awaits_metadata(const struct attach *a)
{
	TABLE_EACH(each, a->traces) {
		const struct trace *t = each.value;
		if (t->asked || (t->draining && t->wants))
			return true;
	}
	return false;
}

/* Sends requests and handles replies until the session ends (.end), the connection breaks (*error, or .end with
 * .why), or the link is asked to stop. */
static void exchange(struct attach *a, GError **error)
{
	int64_t next = g_get_monotonic_time();		/* when the loop was to go on */

	while (!link_stopped(&a->link)) {
		int64_t now = g_get_monotonic_time();
		a->stalled |= now - next > ATTACH_LAST_US;
		next = now;
		if (a->session_hup && !a->alive && !a->announced->len && g_queue_is_empty(&a->held) &&
		    !awaits_metadata(a)) {
			a->end = LINK_SESSION_ENDED;
			return;
		}
		if (a->announced->len && !attach_add_announced(a))
			return;
		if (a->scan_due <= now && a->n_asked < ATTACH_WINDOW / 2)
			attach_ask_due(a, now);
		if (a->v->requests->len && !viewer_flush(a->v, error))
			return;
		if (!a->n_asked) {
			next = MAX(a->scan_due, now + ATTACH_LEAST_PAUSE_US / 2);
			net_sleep(a->link.wake_fd, next);
		} else if (!attach_receive(a, error)) {
			return;
		}
	}
}

static bool attach(struct attach *a, GError **error)
{
	static const struct {
		enum link_end end;
		const char *why;
	} ends[] = {
		[VIEWER_TAKEN] = { LINK_TAKEN, "another viewer is attached to the session" },
		[VIEWER_UNKNOWN] = { LINK_SESSION_ENDED, "the session does not exist any more" },
		[VIEWER_NOT_LIVE] = { LINK_BROKEN, "the session is not a live session" },
		[VIEWER_BAD_SEEK] = { LINK_BROKEN, "the relay cannot start at that position" },
		[VIEWER_NO_VIEWER_SESSION] = { LINK_LOST, "the relay no longer knows this viewer" },
	};
	g_autoptr(GPtrArray) streams = g_ptr_array_new_with_free_func(viewer_stream_free);
	uint32_t status;

	a->streams_known_at = g_get_monotonic_time();
	if (!viewer_attach(a->v, a->link.session.id, a->seek, &status, streams, error))
		return false;
	if (status != VIEWER_ATTACHED) {
		g_assert(status < G_N_ELEMENTS(ends) && ends[status].end);	/* viewer_attach() checks it */
		a->end = ends[status].end;
		a->why = g_strdup(ends[status].why);
		return false;
	}
	a->stalled = a->history->connection++ || g_get_monotonic_time() - a->streams_known_at > ATTACH_LAST_US;
	a->listed = attach_add_streams(a, streams);
	return a->listed;
}

/* Reports to the supervisor how it ended. */
static void report_end(struct attach *a, bool session_ended, bool all_ended)
{
	unsigned vanished = session_ended ? attach_count_vanished(a) : 0;

	for (guint i = 0; session_ended && i < a->announced->len; i++)
		vanished += !((struct viewer_stream *)g_ptr_array_index(a->announced, i))->metadata;
	uint64_t packets, bytes;

	attach_report_stall(a);
	if (!session_ended)		/* whether the session goes on is not known any more */
		attach_report_unknown(a, a->early_unknown);
	attach_sum_outstanding(a, &packets, &bytes);

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&a->link.owner->lock);
	a->link.all_ended = all_ended;
	a->link.not_stopped = !a->ends.flushed && a->ends.quiet_at && a->ends.last_begin > a->ends.quiet_at;
	a->link.given_up += vanished;
	a->link.has_outstanding = packets > 0;
	a->history->outstanding_packets = packets;
	a->history->outstanding_bytes = bytes;
}

/* Ends all streams and traces, so that the merge does not wait for them. The supervisor may reconnect. */
static void leave(struct attach *a)
{
	enum link_end stop = (enum link_end)g_atomic_int_get(&a->link.stop);
	bool session_ended = stop ? stop == LINK_SESSION_ENDED : a->end == LINK_SESSION_ENDED;
	bool all_ended = !a->alive;

	attach_set_member(a, false);
	if (!session_ended)
		attach_discard_unproven(a, a->end == LINK_BROKEN);
	for (guint i = 0; i < a->streams->len; i++)
		attach_end_stream(a, g_ptr_array_index(a->streams, i), !session_ended);
	attach_release(a, true);
	TABLE_EACH(each, a->traces)
		attach_end_trace(a, each.value);
	report_end(a, session_ended, all_ended);
	/* frees the viewer's place at once; a relay that does not answer notices the closed connection */
	if (stop && a->v && !a->n_asked) {
		a->v->net.wake_fd = -1;
		a->v->timeout_ms = FAREWELL_MS;
		viewer_detach(a->v, a->link.session.id, NULL);
	}
}

enum link_end attach_run(struct link *f, char **why)
{
	struct attach *a = (struct attach *)f;
	g_autoptr(GError) error = NULL;

	a->end = LINK_LOST;
	a->v = viewer_open(f->url, f->owner->timeout_ms, f->wake_fd, &error);
	if (a->v)
		a->v->net.bytes_at = &f->bytes_at;
	if (a->v && attach(a, &error)) {
		attach_set_member(a, true);
		g_mutex_lock(&f->owner->lock);
		a->history->open = true;
		g_mutex_unlock(&f->owner->lock);
		link_set_attached(f);
		exchange(a, &error);
	}
	if (g_error_matches(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT))
		a->end = LINK_BROKEN;
	leave(a);
	if (a->v && a->end == LINK_LOST && !link_stopped(f))
		f->broken_fd = net_leave(&a->v->net);
	viewer_free(g_steal_pointer(&a->v));
	*why = error ? g_strdup(error->message) : g_steal_pointer(&a->why);
	return a->end;
}

static void stream_free(gpointer p)
{
	struct stream *s = p;

	packets_recycle(s->packet);
	g_free(s);
}

static void attach_free(struct link *f)
{
	struct attach *a = (struct attach *)f;

	g_assert(g_queue_is_empty(&a->held));	/* leave() released or discarded all */
	g_ptr_array_unref(a->streams);
	g_ptr_array_unref(a->announced);
	g_hash_table_unref(a->traces);
	g_free(a->why);
	g_free(a);
}

struct link *attach_new(struct link_owner *owner, const struct live_url *url,
			const struct viewer_session *session, const struct attach_options *o)
{
	static const struct link_ops ops = { attach_run, attach_free };
	struct attach *a = g_new0(struct attach, 1);

	link_init(&a->link, &ops, owner, url, session);
	a->sink = o->sink;
	a->seek = o->seek;
	a->history = o->history;
	a->traces = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	a->streams = g_ptr_array_new_with_free_func(stream_free);
	a->announced = g_ptr_array_new_with_free_func(viewer_stream_free);
	a->max_pause = CLAMP(session->timer_us / 10, ATTACH_LEAST_PAUSE_US, ATTACH_MOST_PAUSE_US);
	a->late_us = a->sink->late_us >= 0 ? a->sink->late_us
					   : link_timer_patience(session->timer_us);
	link_start(&a->link, "blk-attach");
	return &a->link;
}
