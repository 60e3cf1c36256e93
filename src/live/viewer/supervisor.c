/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The supervisor of one requested session: lists the relay's sessions twice a second, attaches to each one with
 * the name, reconnects with growing pauses, and detects the end. An LTTng session with kernel and user-space domains
 * is two relay sessions of one name; the second may appear seconds later.
 */
#include <unistd.h>

#include "base/each.h"
#include "base/limits.h"
#include "base/text.h"
#include "live/viewer/source_live.h"

#define LIST_US 500000
#define FULL_US 20000			/* pause while too much waits to attach a session */
#define STEADY_US G_USEC_PER_SEC	/* after a failure, a connection counts as attached once it lasted this long
					 * or delivered a packet */
#define SHORT_LIFE_US (10 * G_USEC_PER_SEC)
#define JOIN_MS 2000

static char *describe(const struct live_url *url)
{
	g_autofree char *target = text_visible(url->target), *session = text_visible(url->session);
	g_autofree char *relay = viewer_relay_name(url);

	return g_strdup_printf("session '%s' of host '%s' on relay %s", session, target, relay);
}

static GHashTable *id_set_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

static void id_set_add(GHashTable *set, uint64_t id)
{
	g_hash_table_add(set, g_memdup2(&id, sizeof id));
}

void supervisor_init(struct supervisor *k, struct live *l, const struct live_url *url)
{
	k->live = l;
	k->url = (struct live_url){ .host = g_strdup(url->host), .port = url->port,
				    .target = g_strdup(url->target), .family = url->family,
				    .session = g_strdup(url->session) };
	k->name = describe(url);
	k->wake_fd = net_wake_new();
	k->ended_sessions = id_set_new();
	k->postponed = id_set_new();
	k->initial_sessions = id_set_new();
	k->histories = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					 (GDestroyNotify)attach_history_free);
	k->broken_fds = g_array_new(FALSE, FALSE, sizeof(int));
}

/* The relay accepts one viewer a session. After a network outage it still counts the old connection as a viewer until
 * that is reset. A reset is possible once the relay is reachable again. */
static void abort_broken_connections(struct supervisor *k)
{
	for (guint i = 0; i < k->broken_fds->len; i++)
		net_abort(g_array_index(k->broken_fds, int, i));
	g_array_set_size(k->broken_fds, 0);
}

void supervisor_clear(struct supervisor *k)
{
	viewer_free(k->viewer);
	abort_broken_connections(k);
	g_array_unref(k->broken_fds);
	close(k->wake_fd);
	g_hash_table_unref(k->ended_sessions);
	g_hash_table_unref(k->postponed);
	g_hash_table_unref(k->initial_sessions);
	g_hash_table_unref(k->histories);
	live_url_clear(&k->url);
	g_free(k->name);
	g_free(k->trouble);
}

static bool is_own(const struct supervisor *k, const struct link *f)
{
	return f->url == &k->url;
}

static bool is_steady(const struct supervisor *k, const struct link *f)
{
	return !k->failures || f->advanced || g_get_monotonic_time() - f->started > STEADY_US;
}

/* Number of its running links; *ret_attached: how many of them are attached. */
static unsigned count_running(const struct supervisor *k, unsigned *ret_attached)
{
	const GPtrArray *links = k->live->links;
	unsigned n = 0;

	*ret_attached = 0;
	PTR_EACH(const struct link, f, links) {
		if (!is_own(k, f) || f->end)
			continue;
		n++;
		*ret_attached += f->attached && is_steady(k, f);
	}
	return n;
}

/* Does the relay answer the supervisor or a link? The list may be delayed while much data is sent. */
static bool is_answering(const struct supervisor *k)
{
	const struct live *l = k->live;
	gint now = (gint)(g_get_monotonic_time() / G_USEC_PER_SEC);

	PTR_EACH(struct link, f, l->links)
		if (is_own(k, f) && !f->end && now - g_atomic_int_get(&f->bytes_at) <= l->owner.timeout_ms / 1000)
			return true;
	return k->reachable;
}

/* -- status ------------------------------------------------------------------ */

static void set_trouble(struct supervisor *k, char *text)
{
	g_free(k->trouble);
	k->trouble = text;
}

void supervisor_update_status(struct live *l)
{
	const char *message = "";
	unsigned attached = 0;

	for (size_t i = 0; i < l->n_supervisors; i++) {
		const struct supervisor *k = &l->supervisors[i];
		unsigned mine;
		count_running(k, &mine);
		attached += mine;
		if (!k->ended && !(mine && is_answering(k)) && !*message)
			message = k->trouble ? k->trouble : "attaching";
	}
	attached += l->direct && l->direct->attached && !l->direct->end;
	bool connected = attached && !*message;
	if (connected != l->status.connected)
		l->status.since_ns = g_get_real_time() * 1000;
	l->status.connected = connected;
	l->status.attached = attached;
	g_strlcpy(l->status.message, l->ended ? "" : message, sizeof l->status.message);
}

static void give_up(struct supervisor *k, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void give_up(struct supervisor *k, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!k->live->fatal)
		k->live->fatal = g_error_new_valist(BLK_TRACE_ERROR, code, format, args);
	va_end(args);
	intake_wake(k->live);
}

/* Some of the session's data was not received. `what` completes "session NAME ...". */
static void note_given_up(struct supervisor *k, const char *what)
{
	struct missing *m = &k->live->status.missing;

	if (!m->gave_up)
		g_snprintf(m->why, sizeof m->why, "%s %s", k->name, what);
	m->gave_up = true;
}

static void note_left_out(const struct supervisor *k, struct missing *ret)
{
	if (!k->left_out || ret->gave_up)
		return;
	ret->gave_up = true;
	g_snprintf(ret->why, sizeof ret->why, "%s: there are %u more of this name, and at most %u are attached "
		   "at a time", k->name, k->left_out, LIMIT_ATTACHED_SESSIONS);
}

void supervisor_get_missing(const struct live *l, struct missing *ret)
{
	ret->left_packets = l->owner.refused_packets;
	ret->left_bytes = l->owner.refused_bytes;
	ret->ended_early = l->owner.ended_early;
	ret->ends_unknown = l->owner.ends_unknown;
	PTR_EACH(const struct link, f, l->links) {
		ret->ended_early += f->given_up + f->ended_early;
		ret->ends_unknown += f->ends_unknown;
	}
	for (size_t i = 0; i < l->n_supervisors; i++) {
		const struct supervisor *k = &l->supervisors[i];
		note_left_out(k, ret);
		TABLE_EACH(each, k->histories) {
			ret->left_packets += ((struct attach_history *)each.value)->outstanding_packets;
			ret->left_bytes += ((struct attach_history *)each.value)->outstanding_bytes;
		}
	}
}

/* -- links that ended --------------------------------------------------------- */

static void handle_session_end(struct supervisor *k, struct link *f)
{
	id_set_add(k->ended_sessions, f->session.id);
	k->session_ended = true;
	struct attach_history *history = supervisor_history(k, f->session.id);
	bool cut_off = history->open && !f->attached;	/* it ended while the connection was broken */
	history->open = false;
	k->live->owner.ended_early += f->given_up + f->ended_early;
	if (cut_off || f->withheld)
		note_given_up(k, "ended while the connection was broken: "
			      "the relay delivers nothing more of it");
	else if (!f->all_ended || f->not_stopped)
		note_given_up(k, "ended without being destroyed: its session daemon was killed, or its relay "
			      "gave it up (is the disk full?)");
}

static void retry_later(struct supervisor *k, struct link *f)
{
	k->session_ended = false;
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

/* Reconnects and continues after the last packet; gives up if each connection breaks within the same packet. */
static void handle_lost(struct supervisor *k, struct link *f)
{
	retry_later(k, f);
	k->stuck = f->advanced ? 0 : k->stuck + f->has_outstanding;
	if (k->stuck > LIMIT_STUCK_CONNECTIONS)
		give_up(k, BLK_TRACE_ERROR_CONNECT, "cannot read %s: each of %u connections broke before a packet was "
			"received: %s", k->name, k->stuck, f->why ? f->why : "?");
}

#define TAKEN "cannot attach to %s: another viewer is attached, and a relay accepts only one; " \
	      "close that one, or open the relay's output directory instead"

static void handle_taken(struct supervisor *k, struct link *f)
{
	retry_later(k, f);
	/* after an attachment the other viewer most likely is our own broken connection */
	if (k->was_attached)
		set_trouble(k, g_strdup_printf("%s has a viewer already: another one, or this one "
					       "from before the connection broke", k->name));
	if (!k->was_attached && !k->live->options.wait)
		give_up(k, BLK_TRACE_ERROR_SESSION, TAKEN, k->name);
}

static void handle_broken(struct supervisor *k, struct link *f)
{
	bool soon = g_get_monotonic_time() - f->started < SHORT_LIFE_US;

	retry_later(k, f);
	k->broken = soon && !f->advanced ? k->broken + 1 : 1;
	if (k->broken > LIMIT_BROKEN_ANSWERS)
		give_up(k, BLK_TRACE_ERROR_CORRUPT, "cannot read %s: %s", k->name,
			f->why ? f->why : "?");
}

static void reap(struct supervisor *k)
{
	static void (*const ends[LINK_N_ENDS])(struct supervisor *, struct link *) = {
		[LINK_SESSION_ENDED] = handle_session_end, [LINK_LOST] = handle_lost,
		[LINK_TAKEN] = handle_taken, [LINK_BROKEN] = handle_broken,
	};
	struct live *l = k->live;

	for (guint i = l->links->len; i-- > 0;) {
		struct link *f = g_ptr_array_index(l->links, i);
		if (!is_own(k, f) || !f->end)
			continue;
		g_assert(f->end < LINK_N_ENDS && ends[f->end]);
		ends[f->end](k, f);
		if (f->broken_fd >= 0)
			g_array_append_val(k->broken_fds, f->broken_fd);
		f->broken_fd = -1;
		l->owner.ends_unknown += f->ends_unknown;
		/* joins with the lock held: after it set .end, the thread does not lock again */
		g_thread_join(g_steal_pointer(&f->thread));
		g_ptr_array_remove_index(l->links, i);
		link_free(f);
	}
}

/* -- the relay's sessions ------------------------------------------------------ */

static bool is_wanted(const struct supervisor *k, const struct viewer_session *s)
{
	return !strcmp(s->host, k->url.target) && !strcmp(s->name, k->url.session);
}

struct attach_history *supervisor_history(struct supervisor *k, uint64_t session)
{
	struct attach_history *history = g_hash_table_lookup(k->histories, &session);

	if (history)
		return history;
	history = attach_history_new();
	g_hash_table_insert(k->histories, g_memdup2(&session, sizeof session), history);
	return history;
}

bool supervisor_reads_all(const struct supervisor *k, uint64_t session)
{
	const struct live *l = k->live;
	const struct attach_history *history = g_hash_table_lookup(k->histories, &session);
	unsigned attached, others = 0;

	if (l->options.from_beginning)
		return true;
	if (g_hash_table_contains(k->initial_sessions, &session) && !(history && history->any))
		return false;
	if (!k->was_attached || count_running(k, &attached))
		return true;		/* it appeared while this source was attached */
	/* after an outage: all that the relay retained, unless other sessions were read on meanwhile */
	for (size_t i = 0; i < l->n_supervisors; i++) {
		count_running(&l->supervisors[i], &attached);
		others += attached;
	}
	return !others;
}

static struct link *find_running(const struct supervisor *k, uint64_t id)
{
	const GPtrArray *links = k->live->links;

	PTR_EACH(struct link, f, links)
		if (is_own(k, f) && f->session.id == id && !f->end)
			return f;
	return NULL;
}

static bool has_session(const GArray *list, uint64_t id)
{
	for (guint i = 0; i < list->len; i++) {
		if (g_array_index(list, struct viewer_session, i).id == id)
			return true;
	}
	return false;
}

/* A link whose session is no longer listed ends by itself, unless the session daemon was killed: then its streams
 * never end. So the link is stopped if the relay has sent no data for some time after that. */
static void check_running_links(struct supervisor *k, const GArray *list, int64_t now)
{
	const GPtrArray *links = k->live->links;

	PTR_EACH(struct link, f, links) {
		if (!is_own(k, f) || f->end)
			continue;
		if (has_session(list, f->session.id))
			f->missing_since = 0;
		else if (!f->missing_since)
			f->missing_since = now;
		else if (f->answered_at - MAX(f->missing_since, f->progress_at) > link_patience(f))
			link_stop(f, LINK_SESSION_ENDED);
	}
}

/* Reports sessions that ended while the connection to them was broken. */
static void check_lost_sessions(struct supervisor *k, const GArray *list)
{
	TABLE_EACH(each, k->histories) {
		struct attach_history *history = each.value;
		uint64_t session = *(uint64_t *)each.key;
		if (!history->open || find_running(k, session) || has_session(list, session))
			continue;
		history->open = false;
		note_given_up(k, "ended before all of it was read");
	}
}

/* Forgets sessions that have ended and are not listed any more: a relay uses an id once. */
static void forget_sessions(struct supervisor *k, const GArray *list)
{
	g_autoptr(GHashTable) listed = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (guint i = 0; i < list->len; i++)
		g_hash_table_add(listed, &g_array_index(list, struct viewer_session, i).id);
	TABLE_EACH(each, k->histories) {
		struct attach_history *history = each.value;
		if (history->open || g_hash_table_contains(listed, each.key) ||
		    !g_hash_table_contains(k->ended_sessions, each.key) || find_running(k, *(uint64_t *)each.key))
			continue;
		k->live->owner.refused_packets += history->outstanding_packets;
		k->live->owner.refused_bytes += history->outstanding_bytes;
		g_hash_table_iter_remove(&each.it);
	}
	TABLE_EACH(each, k->ended_sessions)
		if (!g_hash_table_contains(listed, each.key))
			g_hash_table_iter_remove(&each.it);
}

/* Reports sessions that ended while they waited to be attached. */
static void check_postponed(struct supervisor *k, const GArray *list)
{
	guint listed = 0;

	for (guint i = 0; i < list->len; i++)
		listed += g_hash_table_contains(k->postponed, &g_array_index(list, struct viewer_session, i).id);
	if (listed < g_hash_table_size(k->postponed))
		note_given_up(k, "ended before there was room to attach to it");
	g_hash_table_remove_all(k->postponed);
}

/* Attaches to wanted sessions that have no link, while there is room for what they send. Returns the number of wanted
 * sessions. */
static unsigned attach_new_sessions(struct supervisor *k, const GArray *list, int64_t now)
{
	struct live *l = k->live;
	unsigned n = 0, attached, running = count_running(k, &attached);

	check_postponed(k, list);
	k->left_out = 0;
	k->full = false;
	ARRAY_EACH(const struct viewer_session, s, list) {
		if (!is_wanted(k, s) || g_hash_table_contains(k->ended_sessions, &s->id))
			continue;
		n++;
		if (now < k->retry_at || find_running(k, s->id))
			continue;
		bool above = running >= LIMIT_ATTACHED_SESSIONS, full = attach_room(&l->sink) != ATTACH_ROOM;
		k->left_out += above;
		k->full |= full;
		if (above || full) {
			id_set_add(k->postponed, s->id);
			continue;
		}
		g_ptr_array_add(l->links, intake_attach(l, k, s));
		running++;
	}
	return n;
}

/* -- the first list ------------------------------------------------------------ */

/* Fails with the names of the sessions that exist instead. */
static void report_no_session(struct supervisor *k, const GArray *list)
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

/* Fails, without --wait, if the session does not exist or has a viewer. */
static void check_first_list(struct supervisor *k, const GArray *list)
{
	bool found = false;

	k->was_listed = true;
	ARRAY_EACH(const struct viewer_session, s, list) {
		if (!is_wanted(k, s))
			continue;
		found = true;
		id_set_add(k->initial_sessions, s->id);
		if (s->viewers && !k->live->options.wait)
			give_up(k, BLK_TRACE_ERROR_SESSION, TAKEN, k->name);
	}
	if (!found && !k->live->options.wait)
		report_no_session(k, list);
}

/* -- each list ------------------------------------------------------------------- */

static void end_supervisor(struct supervisor *k)
{
	struct live *l = k->live;
	bool all = true;

	k->ended = true;
	for (size_t i = 0; i < l->n_supervisors; i++)
		all = all && l->supervisors[i].ended;
	l->ended = all;
	intake_wake(l);
}

static void apply(struct supervisor *k, const GArray *list)
{
	struct live *l = k->live;
	int64_t now = g_get_monotonic_time();
	unsigned attached;

	if (!k->was_listed)
		check_first_list(k, list);
	if (l->fatal)
		return;
	check_running_links(k, list, now);
	check_lost_sessions(k, list);
	forget_sessions(k, list);
	unsigned listed = attach_new_sessions(k, list, now), running = count_running(k, &attached);
	if (attached) {
		k->failures = 0;
		k->was_attached = true;
		set_trouble(k, NULL);
	}
	if (listed || running) {
		k->empty_since = 0;
		return;
	}
	if (!k->empty_since)
		k->empty_since = now;
	bool lost = now - k->empty_since > LIMIT_LOST_SESSION_SECONDS * G_USEC_PER_SEC;
	if (!l->options.wait && (k->session_ended || lost)) {
		if (!k->session_ended)
			note_given_up(k, "does not exist any more");
		end_supervisor(k);
		return;
	}
	/* a restarted relay does not know its former sessions */
	set_trouble(k, g_strdup_printf(k->was_attached ? "%s does not exist any more: waiting for it to be "
						 "created again"
					       : "%s does not exist yet: waiting for it", k->name));
}

static GArray *list_sessions(struct supervisor *k, GError **error)
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

/* Requests the list once and handles it. Returns until when to sleep (monotonic, us). Lock held; released during
 * the request. */
static int64_t supervisor_step(struct supervisor *k)
{
	struct live *l = k->live;
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) list = NULL;
	int64_t next = g_get_monotonic_time() + LIST_US;

	g_mutex_unlock(&l->owner.lock);
	list = list_sessions(k, &error);
	g_mutex_lock(&l->owner.lock);
	if (l->stop)
		return next;
	if (list && !k->reachable)
		k->failures = 0;
	k->reachable = list != NULL;
	reap(k);
	if (list) {
		abort_broken_connections(k);
		apply(k, list);
	} else {
		set_trouble(k, g_strdup(error->message));
		/* the relay may have restarted: then its ids have changed */
		g_hash_table_remove_all(k->ended_sessions);
		if (k->was_attached)
			g_hash_table_remove_all(k->initial_sessions);
		next = g_get_monotonic_time() + net_backoff(k->failures++);
		if (!k->was_listed && !l->options.wait)
			give_up(k, error->code, "%s", error->message);
	}
	supervisor_update_status(l);
	return k->full ? MIN(next, g_get_monotonic_time() + FULL_US) : next;
}

/* Has a link ended that is not handled yet? */
static bool has_ended_link(const struct supervisor *k)
{
	const GPtrArray *links = k->live->links;

	PTR_EACH(const struct link, f, links)
		if (is_own(k, f) && f->end)
			return true;
	return false;
}

static gpointer supervisor_thread(gpointer data)
{
	struct supervisor *k = data;
	struct live *l = k->live;
	struct link_owner *o = &l->owner;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&o->lock);
	while (!l->stop && !k->ended && !l->fatal) {
		int64_t until = supervisor_step(k);
		while (!l->stop && !k->ended && !l->fatal && !has_ended_link(k) &&
		       g_cond_wait_until(&o->changed, &o->lock, until))
			;
	}
	return NULL;
}

void supervisor_start(struct supervisor *k)
{
	g_assert(!k->thread);
	k->thread = g_thread_new("blk-supervisor", supervisor_thread, k);
}

static void stop_links(struct live *l)
{
	for (guint i = 0; i < l->links->len; i++)
		link_stop(g_ptr_array_index(l->links, i), LINK_LOST);
}

bool supervisors_stop(struct live *l)
{
	bool ok = true;

	g_mutex_lock(&l->owner.lock);
	l->stop = true;
	for (size_t i = 0; i < l->n_supervisors; i++)
		net_wake(l->supervisors[i].wake_fd);
	g_cond_broadcast(&l->owner.changed);
	stop_links(l);
	g_mutex_unlock(&l->owner.lock);
	/* wake_fd ends all waits of the supervisors, so joining them takes no longer */
	for (size_t i = 0; i < l->n_supervisors; i++) {
		if (l->supervisors[i].thread)
			g_thread_join(g_steal_pointer(&l->supervisors[i].thread));
	}
	for (guint i = 0; i < l->links->len; i++)
		ok = link_join(g_ptr_array_index(l->links, i), JOIN_MS) && ok;
	return ok;
}
