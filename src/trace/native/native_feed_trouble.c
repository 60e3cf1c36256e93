/* SPDX-License-Identifier: GPL-2.0-only */
/* Which traces of the feed cannot be read, and why: metadata is wrong or missing, or packets do not fit it. */
#include "trace/native/native_feed_private.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/text.h"

static void set_trouble(struct native_feed *f, struct feed_trace *t, char *text)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	g_free(t->trouble);
	t->trouble = text;
}

void feed_trouble_metadata(struct native_feed *f, struct feed_trace *t, const GError *error)
{
	t->failed = true;
	set_trouble(f, t, g_strdup_printf("cannot read metadata: %s", error->message));
}

static void set_partly(struct native_feed *f, const struct feed_stream *x, const char *why)
{
	struct feed_trace *t = x->trace;

	if (t->partly)
		return;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	t->partly = g_strdup_printf("stream '%s': %s", x->name, why);
}

void feed_trouble_packet(struct native_feed *f, const struct feed_stream *x, const char *why)
{
	struct feed_trace *t = x->trace;

	if (!t->placed && !t->trouble)
		set_trouble(f, t, g_strdup_printf("cannot read packets: %s", why));
	set_partly(f, x, why);
}

static bool has_event(const struct native_cursor *k)
{
	bool any = k->counted->len;

	for (unsigned i = 0; i < k->ahead_n && !any; i++)
		any = k->ahead[i].row < BLK_ROW_FIRST_PSEUDO || k->ahead[i].row == BLK_ROW_TALLY;
	return any;
}

void feed_trouble_events(struct native_feed *f, const struct feed_stream *x)
{
	const struct native_cursor *k = x->track->cursor;
	struct feed_track *track = x->track;
	struct feed_trace *t = x->trace;

	t->decoded = t->decoded || has_event(k);
	if (track->n_counted == k->n_finished)
		return;
	t->n_packets += k->n_finished - track->n_counted;
	t->n_damaged += k->n_damaged - track->n_damaged;
	if (k->n_damaged > track->n_damaged)
		set_partly(f, x, "events do not fit the metadata");
	track->n_counted = k->n_finished;
	track->n_damaged = k->n_damaged;
	if (t->n_damaged * 2 <= t->n_packets)
		feed_trouble_resolved(f, t);
	else if (!t->trouble)
		set_trouble(f, t, g_strdup("cannot read events: in most packets they do not fit the metadata"));
}

void feed_trouble_resolved(struct native_feed *f, struct feed_trace *t)
{
	if (t->trouble && !t->failed)
		set_trouble(f, t, NULL);
}

static const char *why_unusable(const struct feed_trace *t)
{
	if (!t->has_metadata)
		return "packets came, but no metadata";
	if (!t->meta->m->meta->has_trace)
		return "packets came, but only the beginning of the metadata";
	return "packets came, but the metadata has no stream class (its process ended before the relay had all of it, "
	       "or LTTng 2.16 left it out as the contexts pid or tid were added: vpid and vtid are the ones to use)";
}

void feed_trouble_wait(struct native_feed *f, const struct feed_stream *x)
{
	struct feed_trace *t = x->trace;
	const struct feed_message *message = g_queue_peek_head((GQueue *)&x->waiting);

	if (!t || t->usable || t->trouble || !message || message->kind != FEED_PACKET)
		return;
	if (f->ended || t->ended || f->now_us - message->at_us >= LIMIT_METADATA_SECONDS * G_USEC_PER_SEC)
		set_trouble(f, t, g_strdup(why_unusable(t)));
}

static bool is_readable(const struct feed_trace *t)
{
	return t->decoded || (!t->trouble && (t->placed || (t->usable && !t->ended)));
}

void feed_trouble_count(const struct native_feed *f, struct native_feed_status *ret)
{
	ret->unreadable = f->freed_unreadable;
	ret->readable = f->freed_readable;
	PTR_EACH(const struct feed_trace, t, f->traces) {
		ret->unreadable += t->trouble != NULL;
		ret->readable += is_readable(t);
	}
}

bool feed_trouble_may_free(struct native_feed *f, const struct feed_trace *t)
{
	bool troubled = t->trouble || t->partly;

	if (troubled && f->n_troubled < FEED_TROUBLED) {
		f->n_troubled++;
		return false;
	}
	f->freed_unreadable += t->trouble != NULL;
	f->freed_readable += is_readable(t);
	f->freed_troubled += troubled;
	return true;
}

/* After each reconnect a trace is a new one of the same name: each name is counted once. Freed traces have no name
 * any more and are all counted. */
char *native_feed_troubles(struct native_feed *f)
{
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
	g_autofree char *first = NULL;

	g_mutex_lock(&f->lock);
	PTR_EACH(const struct feed_trace, t, f->traces) {
		if (!(t->trouble || t->partly))
			continue;
		if (!g_hash_table_size(names))
			first = g_strdup_printf("cannot read %strace '%s': %s", t->trouble ? "" : "all packets of ",
						t->name, t->trouble ? t->trouble : t->partly);
		g_hash_table_add(names, t->name);
	}
	unsigned n = g_hash_table_size(names) + f->freed_troubled;
	g_mutex_unlock(&f->lock);
	g_autofree char *visible = n ? text_visible(first) : NULL;
	return n > 1 ? g_strdup_printf("%s, and %u more", visible, n - 1) : g_steal_pointer(&visible);
}
