/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the feeds: looks twice a second which sessions the relay has, attaches to
 * every one of the name (a kernel and an application session are two, the second
 * seconds later), connects again with growing pauses, and knows when it is over.
 */
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "live/viewer/source_live.h"

#define LOOK_US 500000
#define STEADY_US G_USEC_PER_SEC	/* a connection after one that broke counts once it holds so long, or
					 * packets come */
#define GOOD_LIFE_US (10 * G_USEC_PER_SEC)
#define JOIN_MS 2000

static char *describe(const struct live_url *url)
{
	g_autofree char *target = text_visible(url->target), *session = text_visible(url->session);
	g_autofree char *relay = viewer_relay_name(url);

	return g_strdup_printf("session '%s' of host '%s' on relay %s", session, target, relay);
}

void keeper_init(struct keeper *k, struct live *l, const struct live_url *url)
{
	k->live = l;
	k->url = (struct live_url){ .host = g_strdup(url->host), .port = url->port,
				    .target = g_strdup(url->target), .family = url->family,
				    .session = g_strdup(url->session) };
	k->name = describe(url);
	k->wake_fd = net_wake_new();
	k->done = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	k->first = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	k->pasts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					 (GDestroyNotify)attach_past_free);
	k->left = g_array_new(FALSE, FALSE, sizeof(int));
}

/* The relay lets one viewer in. After a silent outage it believes that we are still there,
 * until it is told, which can be done once it is reached again. */
static void give_back_places(struct keeper *k)
{
	for (guint i = 0; i < k->left->len; i++)
		net_abort(g_array_index(k->left, int, i));
	g_array_set_size(k->left, 0);
}

void keeper_clear(struct keeper *k)
{
	viewer_free(k->viewer);
	give_back_places(k);
	g_array_unref(k->left);
	close(k->wake_fd);
	g_array_unref(k->done);
	g_array_unref(k->first);
	g_hash_table_unref(k->pasts);
	live_url_clear(&k->url);
	g_free(k->name);
	g_free(k->trouble);
}

static bool is_mine(const struct keeper *k, const struct feed *f)
{
	return f->url == &k->url;
}

static bool is_steady(const struct keeper *k, const struct feed *f)
{
	return !k->failures || f->advanced || g_get_monotonic_time() - f->started > STEADY_US;
}

/* Its feeds that run; *ret_attached: of them those that the relay has let in. */
static unsigned count_running(const struct keeper *k, unsigned *ret_attached)
{
	const GPtrArray *feeds = k->live->feeds;
	unsigned n = 0;

	*ret_attached = 0;
	for (guint i = 0; i < feeds->len; i++) {
		const struct feed *f = g_ptr_array_index(feeds, i);
		if (!is_mine(k, f) || f->end)
			continue;
		n++;
		*ret_attached += f->attached && is_steady(k, f);
	}
	return n;
}

/* Does the relay say anything, be it to a feed? Its list may be late behind much data. */
static bool is_answering(const struct keeper *k)
{
	const struct live *l = k->live;
	gint now = (gint)(g_get_monotonic_time() / G_USEC_PER_SEC);
	bool any = k->reachable;

	for (guint i = 0; i < l->feeds->len && !any; i++) {
		struct feed *f = g_ptr_array_index(l->feeds, i);
		any = is_mine(k, f) && !f->end && now - g_atomic_int_get(&f->came) <= l->owner.timeout_ms / 1000;
	}
	return any;
}

/* -- what the user is told --------------------------------------------------- */

static void set_trouble(struct keeper *k, char *text)
{
	g_free(k->trouble);
	k->trouble = text;
}

void keeper_tell(struct live *l)
{
	const char *message = "";
	unsigned attached = 0;

	for (size_t i = 0; i < l->n_keepers; i++) {
		const struct keeper *k = &l->keepers[i];
		unsigned mine;
		count_running(k, &mine);
		attached += mine;
		if (!k->ended && !(mine && is_answering(k)) && !*message)
			message = k->trouble ? k->trouble : "attaching";
	}
	bool connected = attached && !*message;
	if (connected != l->status.connected)
		l->status.since_ns = g_get_real_time() * 1000;
	l->status.connected = connected;
	l->status.attached = attached;
	g_strlcpy(l->status.message, l->ended ? "" : message, sizeof l->status.message);
}

static void give_up(struct keeper *k, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void give_up(struct keeper *k, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!k->live->fatal)
		k->live->fatal = g_error_new_valist(BLK_TRACE_ERROR, code, format, args);
	va_end(args);
	intake_wake(k->live);
}

/* Not all that the session has, or had, is here. */
static void note_given_up(struct keeper *k, const char *what)
{
	struct missing *m = &k->live->status.missing;

	if (!m->gave_up)
		g_snprintf(m->why, sizeof m->why, "%s %s", k->name, what);
	m->gave_up = true;
}

void keeper_tell_missing(const struct live *l, struct missing *ret)
{
	ret->left_packets = l->owner.refused_packets;
	ret->left_bytes = l->owner.refused_bytes;
	ret->ended_early = l->owner.ended_early;
	ret->ends_unknown = l->owner.ends_unknown;
	for (guint i = 0; i < l->feeds->len; i++) {
		const struct feed *f = g_ptr_array_index(l->feeds, i);
		ret->ended_early += f->given_up + f->early;
		ret->ends_unknown += f->ends_unknown;
	}
	for (size_t i = 0; i < l->n_keepers; i++) {
		GHashTableIter it;
		gpointer past;
		g_hash_table_iter_init(&it, l->keepers[i].pasts);
		while (g_hash_table_iter_next(&it, NULL, &past)) {
			ret->left_packets += ((struct attach_past *)past)->owed_packets;
			ret->left_bytes += ((struct attach_past *)past)->owed_bytes;
		}
	}
}

/* -- feeds that ended --------------------------------------------------------- */

static void end_over(struct keeper *k, struct feed *f)
{
	g_array_append_val(k->done, f->session.id);
	k->over = true;
	struct attach_past *past = keeper_past(k, f->session.id);
	bool cut_off = past->open && !f->attached;	/* it went while the connection was broken */
	past->open = false;
	k->live->owner.ended_early += f->given_up + f->early;
	if (cut_off || f->withheld)
		note_given_up(k, "was over when the connection was there again: "
			      "the relay hands out nothing more of it");
	else if (!f->whole || f->unstopped)
		note_given_up(k, "has ended, though nobody destroyed it: its session daemon was killed, or its relay "
			      "gave it up (is the disk full?)");
}

static void retry_later(struct keeper *k, struct feed *f)
{
	k->over = false;
	if (f->advanced) {
		k->failures = 0;
		k->live->status.since_ns = g_get_real_time() * 1000;
	}
	int64_t now = g_get_monotonic_time();
	bool at_once = f->advanced && now - f->started > STEADY_US;
	int64_t pause = net_backoff(k->failures++);
	k->retry_at = at_once ? now : now + pause;
	set_trouble(k, g_strdup(f->why ? f->why : "the connection broke"));
}

/* Goes on from where it was; unless each connection breaks within the same packet. */
static void end_lost(struct keeper *k, struct feed *f)
{
	retry_later(k, f);
	k->stuck = f->advanced ? 0 : k->stuck + f->owes;
	if (k->stuck > LIMIT_STUCK_CONNECTIONS)
		give_up(k, BLK_TRACE_ERROR_CONNECT, "cannot read %s: each of %u connections broke before a packet had "
			"come: %s", k->name, k->stuck, f->why ? f->why : "?");
}

#define TAKEN "cannot attach to %s: another viewer has it, and a relay lets only one in; " \
	      "end that one, or open the relay's output directory instead"

static void end_taken(struct keeper *k, struct feed *f)
{
	retry_later(k, f);
	/* once attached it is our own shadow, most likely: the relay has not missed us yet */
	if (k->seen)
		set_trouble(k, g_strdup_printf("%s has a viewer, by what the relay says: this one, "
					       "before the connection broke, or another one", k->name));
	if (!k->seen && !k->live->options.wait)
		give_up(k, BLK_TRACE_ERROR_SESSION, TAKEN, k->name);
}

static void end_broken(struct keeper *k, struct feed *f)
{
	bool soon = g_get_monotonic_time() - f->started < GOOD_LIFE_US;

	retry_later(k, f);
	k->broken = soon && !f->advanced ? k->broken + 1 : 1;
	if (k->broken > LIMIT_BROKEN_ANSWERS)
		give_up(k, BLK_TRACE_ERROR_CORRUPT, "cannot read %s: %s", k->name,
			f->why ? f->why : "?");
}

static void reap(struct keeper *k)
{
	static void (*const ends[FEED_N_ENDS])(struct keeper *, struct feed *) = {
		[FEED_SESSION_OVER] = end_over, [FEED_LOST] = end_lost,
		[FEED_TAKEN] = end_taken, [FEED_BROKEN] = end_broken,
	};
	struct live *l = k->live;

	for (guint i = l->feeds->len; i-- > 0;) {
		struct feed *f = g_ptr_array_index(l->feeds, i);
		if (!is_mine(k, f) || !f->end)
			continue;
		ends[f->end](k, f);
		if (f->left_fd >= 0)
			g_array_append_val(k->left, f->left_fd);
		f->left_fd = -1;
		l->owner.ends_unknown += f->ends_unknown;
		/* it has nothing left to do, and needs the lock for nothing */
		g_thread_join(g_steal_pointer(&f->thread));
		g_ptr_array_remove_index(l->feeds, i);
		feed_free(f);
	}
}

/* -- the relay's sessions ------------------------------------------------------ */

static bool is_ours(const struct keeper *k, const struct viewer_session *s)
{
	return !strcmp(s->host, k->url.target) && !strcmp(s->name, k->url.session);
}

static bool has_id(const GArray *ids, uint64_t id)
{
	for (guint i = 0; i < ids->len; i++) {
		if (g_array_index(ids, uint64_t, i) == id)
			return true;
	}
	return false;
}

struct attach_past *keeper_past(struct keeper *k, uint64_t session)
{
	struct attach_past *past = g_hash_table_lookup(k->pasts, &session);

	if (past)
		return past;
	past = attach_past_new();
	g_hash_table_insert(k->pasts, g_memdup2(&session, sizeof session), past);
	return past;
}

bool keeper_wants_all(const struct keeper *k, uint64_t session)
{
	const struct live *l = k->live;
	const struct attach_past *past = g_hash_table_lookup(k->pasts, &session);
	unsigned attached, others = 0;

	if (l->options.from_beginning)
		return true;
	if (has_id(k->first, session) && !(past && past->any))
		return false;
	if (!k->seen || count_running(k, &attached))
		return true;		/* it appeared while we look */
	/* we were away: what the relay kept meanwhile, unless others went on without us */
	for (size_t i = 0; i < l->n_keepers; i++) {
		count_running(&l->keepers[i], &attached);
		others += attached;
	}
	return !others;
}

static struct feed *find_running(const struct keeper *k, uint64_t id)
{
	const GPtrArray *feeds = k->live->feeds;

	for (guint i = 0; i < feeds->len; i++) {
		struct feed *f = g_ptr_array_index(feeds, i);
		if (is_mine(k, f) && f->session.id == id && !f->end)
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

/* A feed whose session has left the list ends by itself, unless sessiond died: then its streams would
 * stay for ever. So it is ended once the relay, asked after that, has had nothing for some time. */
static void watch_running(struct keeper *k, const GArray *list, int64_t now)
{
	const GPtrArray *feeds = k->live->feeds;

	for (guint i = 0; i < feeds->len; i++) {
		struct feed *f = g_ptr_array_index(feeds, i);
		if (!is_mine(k, f) || f->end)
			continue;
		if (is_listed(list, f->session.id))
			f->missing_since = 0;
		else if (!f->missing_since)
			f->missing_since = now;
		else if (f->answered_at - MAX(f->missing_since, f->progress_at) > feed_patience(f))
			feed_stop(f, FEED_SESSION_OVER);
	}
}

/* Sessions that we were cut off from, and that are not there any more. */
static void watch_lost(struct keeper *k, const GArray *list)
{
	GHashTableIter it;
	gpointer id, value;

	g_hash_table_iter_init(&it, k->pasts);
	while (g_hash_table_iter_next(&it, &id, &value)) {
		struct attach_past *past = value;
		uint64_t session = *(uint64_t *)id;
		if (!past->open || find_running(k, session) || is_listed(list, session))
			continue;
		past->open = false;
		note_given_up(k, "went away before all of it was read");
	}
}

/* Attaches to what is there and has nobody; how many are there. */
static unsigned attach_new_ones(struct keeper *k, const GArray *list, int64_t now)
{
	struct live *l = k->live;
	unsigned n = 0;

	for (guint i = 0; i < list->len; i++) {
		const struct viewer_session *s = &g_array_index(list, struct viewer_session, i);
		if (!is_ours(k, s) || has_id(k->done, s->id))
			continue;
		n++;
		if (now >= k->retry_at && !find_running(k, s->id))
			g_ptr_array_add(l->feeds, intake_attach(l, k, s));
	}
	return n;
}

/* -- the first look -------------------------------------------------------------- */

/* What there is instead of the session that was asked for. */
static void fail_missing(struct keeper *k, const GArray *list)
{
	g_autoptr(GString) others = g_string_new(NULL);

	for (guint i = 0; i < list->len && i < 8; i++) {
		const struct viewer_session *s = &g_array_index(list, struct viewer_session, i);
		g_autofree char *host = text_visible(s->host), *name = text_visible(s->name);
		g_string_append_printf(others, "%s%s/%s", i ? ", " : "", host, name);
	}
	give_up(k, BLK_TRACE_ERROR_SESSION,
		"cannot attach to %s: there is no such session (%s%s%s); --wait waits for it",
		k->name, list->len ? "there are: " : "the relay has none", others->str,
		list->len > 8 ? ", ..." : "");
}

/* Is the session there, and free? */
static void look_first(struct keeper *k, const GArray *list)
{
	bool found = false;

	k->looked = true;
	for (guint i = 0; i < list->len; i++) {
		const struct viewer_session *s = &g_array_index(list, struct viewer_session, i);
		if (!is_ours(k, s))
			continue;
		found = true;
		g_array_append_val(k->first, s->id);
		if (s->viewers && !k->live->options.wait)
			give_up(k, BLK_TRACE_ERROR_SESSION, TAKEN, k->name);
	}
	if (!found && !k->live->options.wait)
		fail_missing(k, list);
}

/* -- each look ------------------------------------------------------------------- */

static void end_keeper(struct keeper *k)
{
	struct live *l = k->live;
	bool all = true;

	k->ended = true;
	for (size_t i = 0; i < l->n_keepers; i++)
		all = all && l->keepers[i].ended;
	l->ended = all;
	intake_wake(l);
}

static void apply(struct keeper *k, const GArray *list)
{
	struct live *l = k->live;
	int64_t now = g_get_monotonic_time();
	unsigned attached;

	if (!k->looked)
		look_first(k, list);
	if (l->fatal)
		return;
	watch_running(k, list, now);
	watch_lost(k, list);
	unsigned listed = attach_new_ones(k, list, now), running = count_running(k, &attached);
	if (attached) {
		k->failures = 0;
		k->seen = true;
		set_trouble(k, NULL);
	}
	if (listed || running) {
		k->empty_since = 0;
		return;
	}
	if (!k->empty_since)
		k->empty_since = now;
	if (!l->options.wait && (k->over || now - k->empty_since > LIMIT_LOST_SESSION_SECONDS * G_USEC_PER_SEC)) {
		if (!k->over)
			note_given_up(k, "is not there any more");
		end_keeper(k);
		return;
	}
	/* a relay that was restarted has forgotten its sessions */
	set_trouble(k, g_strdup_printf(k->seen ? "%s is not there any more: waiting for it to be "
						 "created again"
					       : "%s is not there yet: waiting for it", k->name));
}

static GArray *look(struct keeper *k, GError **error)
{
	GArray *list;

	if (!k->viewer)
		k->viewer = viewer_open(&k->url, k->live->owner.timeout_ms, k->wake_fd, error);
	if (!k->viewer)
		return NULL;
	list = viewer_list(k->viewer, error);
	if (!list)
		g_clear_pointer(&k->viewer, viewer_free);
	return list;
}

/* One look, and what follows from it; until when to sleep. */
static int64_t keep(struct keeper *k)
{
	struct live *l = k->live;
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) list = NULL;
	int64_t next = g_get_monotonic_time() + LOOK_US;

	g_mutex_unlock(&l->owner.lock);
	list = look(k, &error);
	g_mutex_lock(&l->owner.lock);
	if (l->stop)
		return next;
	if (list && !k->reachable)
		k->failures = 0;
	k->reachable = list != NULL;
	reap(k);
	if (list) {
		give_back_places(k);
		apply(k, list);
	} else {
		set_trouble(k, g_strdup(error->message));
		/* its numbers mean nothing after a restart */
		g_array_set_size(k->done, 0);
		if (k->seen)
			g_array_set_size(k->first, 0);
		next = g_get_monotonic_time() + net_backoff(k->failures++);
		if (!k->looked && !l->options.wait)
			give_up(k, error->code, "%s", error->message);
	}
	keeper_tell(l);
	return next;
}

/* Has a feed ended that was not looked at? */
static bool has_news(const struct keeper *k)
{
	const GPtrArray *feeds = k->live->feeds;

	for (guint i = 0; i < feeds->len; i++) {
		const struct feed *f = g_ptr_array_index(feeds, i);
		if (is_mine(k, f) && f->end)
			return true;
	}
	return false;
}

static gpointer keeper_thread(gpointer data)
{
	struct keeper *k = data;
	struct live *l = k->live;
	struct feed_owner *o = &l->owner;

	g_mutex_lock(&o->lock);
	while (!l->stop && !k->ended && !l->fatal) {
		int64_t until = keep(k);
		while (!l->stop && !k->ended && !l->fatal && !has_news(k) &&
		       g_cond_wait_until(&o->changed, &o->lock, until))
			;
	}
	g_mutex_unlock(&o->lock);
	return NULL;
}

void keeper_start(struct keeper *k)
{
	k->thread = g_thread_new("blk-keeper", keeper_thread, k);
}

static void stop_feeds(struct live *l)
{
	for (guint i = 0; i < l->feeds->len; i++)
		feed_stop(g_ptr_array_index(l->feeds, i), FEED_LOST);
}

bool keepers_stop(struct live *l)
{
	bool ok = true;

	g_mutex_lock(&l->owner.lock);
	l->stop = true;
	for (size_t i = 0; i < l->n_keepers; i++)
		net_wake(l->keepers[i].wake_fd);
	g_cond_broadcast(&l->owner.changed);
	stop_feeds(l);
	g_mutex_unlock(&l->owner.lock);
	/* every wait of the keepers ends by the waker, so they may be joined */
	for (size_t i = 0; i < l->n_keepers; i++) {
		if (l->keepers[i].thread)
			g_thread_join(g_steal_pointer(&l->keepers[i].thread));
	}
	for (guint i = 0; i < l->feeds->len; i++)
		ok = feed_join(g_ptr_array_index(l->feeds, i), JOIN_MS) && ok;
	return ok;
}
