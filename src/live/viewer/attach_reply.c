/* SPDX-License-Identifier: GPL-2.0-only */
/* Handles the replies of an attachment: new streams, indexes, packets, metadata, ends of streams. */
#include "live/viewer/attach_private.h"

#include "base/each.h"
#include "base/limits.h"

#define METADATA_US 20000		/* between two requests for announced metadata; each time twice as long, up */
#define METADATA_SLOW_US 200000		/* to this: a thousand traces without any must not keep the relay busy */
#define MOST_PREAMBLE (64u << 10)	/* bytes of CTF 2's first fragment that are searched */
#define CTF1_BEGIN "/* CTF 1.8"
#define CTF2_SEPARATOR 0x1e		/* begins each fragment of CTF 2's metadata; occurs nowhere else */
#define PROGRESS_US 100000		/* shortest time between two reports of progress */

static int64_t now_us(void)
{
	return g_get_monotonic_time();
}

/* The reply is invalid: ends the link. Returns false. */
static bool attach_broken(struct attach *a, const char *what)
{
	a->end = LINK_BROKEN;
	a->why = g_strdup_printf("relay %s sent an invalid answer: %s", a->v->relay, what);
	return false;
}

/* -- streams ----------------------------------------------------------------- */

/* Named "HOST/ust/uid/0/64-bit" in the link, "HOST-ust/uid/0/64-bit" in the spool, which makes it a safe name. */
static unsigned add_trace(struct attach *a, const struct viewer_stream *of)
{
	g_autofree char *dir = g_path_get_dirname(of->name);
	g_autofree char *shown = g_strdup_printf("%s/%s", a->link.session.host, dir);
	g_autofree char *file = g_strdup_printf("%s-%s", a->link.session.host, dir);

	if (a->sink->spool)
		spool_add_trace(a->sink->spool, file);
	return native_feed_add_trace(a->sink->feed, shown);
}

static struct trace *find_trace(struct attach *a, const struct viewer_stream *of)
{
	uint64_t id = of->trace;
	struct trace *t = g_hash_table_lookup(a->traces, &id);

	if (!t && g_hash_table_size(a->traces) < LIMIT_RELAY_TRACES) {
		t = g_new0(struct trace, 1);
		t->id = id;
		t->number = add_trace(a, of);
		g_hash_table_insert(a->traces, &t->id, t);
	}
	return t;
}

static bool is_known(const struct attach *a, uint64_t id)
{
	PTR_EACH(const struct stream, s, a->streams)
		if (s->id == id)
			return true;
	return false;
}

/* See ATTACH_WATCH_PAUSE_US. */
static void watch_process(struct attach *a, struct trace *t)
{
	a->n_watched++;
	t->watched = true;
	if (a->listed)
		t->active_at = a->process_began_at = now_us();
}

static void add_data_stream(struct attach *a, struct trace *t, const struct viewer_stream *from)
{
	struct stream *s = g_new0(struct stream, 1);

	s->id = from->id;
	s->trace = t;
	t->of_process = strstr(from->name, "ust/pid/");
	a->history->of_process |= t->of_process;
	if (t->of_process && a->v->minor < ATTACH_MINOR_RETAINS)
		watch_process(a, t);
	if (a->sink->spool) {
		g_autofree char *name = g_path_get_basename(from->name);
		spool_add_stream(a->sink->spool, t->number, name);
	}
	s->number = native_feed_add_stream(a->sink->feed, t->number, from->name, a->late_us);
	s->due = s->answered = now_us();
	attach_load_history(a, s);
	g_ptr_array_add(a->streams, s);
	t->alive++;
	t->had_stream = true;
	a->alive++;
}

bool attach_add_streams(struct attach *a, GPtrArray *streams)
{
	bool ok = true;

	g_mutex_lock(&a->sink->push);
	for (guint i = 0; i < streams->len && ok; i++) {
		const struct viewer_stream *from = g_ptr_array_index(streams, i);
		struct trace *t = find_trace(a, from);
		ok = t && a->streams->len < LIMIT_RELAY_STREAMS;
		if (ok && from->metadata) {
			/* another metadata stream begins with all metadata again */
			t->restarts = t->has_metadata && t->metadata_stream != from->id;
			t->has_metadata = t->wants = true;
			t->metadata_ended = false;
			t->metadata_stream = from->id;
		} else if (ok && !is_known(a, from->id)) {
			add_data_stream(a, t, from);
		}
	}
	g_mutex_unlock(&a->sink->push);
	a->scan_due = 0;
	g_mutex_lock(&a->link.owner->lock);
	a->link.streams = a->alive;
	g_mutex_unlock(&a->link.owner->lock);
	return ok || attach_broken(a, "too many streams");
}

bool attach_add_announced(struct attach *a)
{
	if (attach_room(a->sink) == ATTACH_FULL)
		return true;
	g_autoptr(GPtrArray) streams = g_steal_pointer(&a->announced);
	a->announced = g_ptr_array_new_with_free_func(viewer_stream_free);
	return attach_add_streams(a, streams);
}

/* Adds the streams, or retains them while there is no room: then their first events may come late. */
static bool announce(struct attach *a, GPtrArray *streams)
{
	if (!a->announced->len && attach_room(a->sink) != ATTACH_FULL)
		return attach_add_streams(a, streams);
	g_ptr_array_extend_and_steal(a->announced, g_ptr_array_ref(streams));
	return a->announced->len <= 2 * LIMIT_RELAY_STREAMS || attach_broken(a, "too many streams");
}

void attach_end_trace(struct attach *a, struct trace *t)
{
	g_mutex_lock(&a->sink->push);
	native_feed_end_trace(a->sink->feed, t->number);
	if (a->sink->spool)
		spool_end_trace(a->sink->spool, t->number);
	g_mutex_unlock(&a->sink->push);
}

/* -- streams that end ---------------------------------------------------------- */

static void drop_packet(struct attach *a, struct stream *s)
{
	if (!s->packet)
		return;
	attach_fetch(a, -(gssize)s->size);
	packets_recycle(g_steal_pointer(&s->packet));
}

void attach_end_stream(struct attach *a, struct stream *s, bool cut)
{
	if (s->state == STREAM_ENDED)
		return;
	drop_packet(a, s);
	g_assert(a->alive && s->trace->alive);
	s->state = STREAM_ENDED;
	s->trace->alive--;
	a->alive--;
	a->n_watched -= s->trace->watched;
	attach_hold(a, &(struct held){ .kind = cut ? HELD_CUT : HELD_END, .stream = s });
}

static int64_t longest_pause(const struct attach *a, const struct trace *t)
{
	int64_t often = MAX(ATTACH_WATCH_PAUSE_US, (int64_t)a->n_watched * ATTACH_WATCH_EACH_US);
	int64_t now = now_us();
	if (!t->watched || now - t->active_at >= attach_watch_us(a))
		return a->max_pause;
	bool hot = now - t->active_at < ATTACH_HOT_US;
	return hot ? MIN(ATTACH_HOT_PAUSE_US, a->max_pause) : MIN(often, a->max_pause);
}

/* No packet yet: doubles the pause before the next request. */
static void set_idle(struct attach *a, struct stream *s)
{
	int64_t most = longest_pause(a, s->trace);
	g_assert(most > 0);
	s->pause = CLAMP(s->pause * 2, MIN(ATTACH_LEAST_PAUSE_US, most), most);
	/* at multiples of the pause, so that many streams are due at once */
	s->due = (now_us() / s->pause + 1) * s->pause;
	s->state = STREAM_IDLE;
	a->scan_due = MIN(a->scan_due, s->due);
}

/* The process may have exited; then all its streams have their last packet now, for a short time (watched). */
static void ask_siblings(struct attach *a, const struct stream *s)
{
	PTR_EACH(struct stream, other, a->streams) {
		if (other == s || other->trace != s->trace || other->state != STREAM_IDLE)
			continue;
		other->due = other->pause = 0;
	}
	a->scan_due = 0;
}

/* The history is that of other streams: forgets it, and ends the connection to read everything again. */
static bool restart_history(struct attach *a)
{
	attach_discard_unproven(a, true);
	g_queue_clear(&a->history->ended);
	g_hash_table_remove_all(a->history->streams);
	a->history->evicted_packets = a->history->evicted_bytes = 0;
	a->history->since = 0;
	a->why = g_strdup_printf("relay %s has other streams than before", a->v->relay);
	return false;
}

/* -- replies ----------------------------------------------------------------- */

/* Reports to the supervisor that data arrives, and to the merge for which streams data is being received. */
static void report_progress(struct attach *a)
{
	int64_t now = now_us();

	if (now - a->progress_reported_at < PROGRESS_US)
		return;
	a->progress_reported_at = now;
	g_mutex_lock(&a->sink->push);
	PTR_EACH(const struct stream, s, a->streams)
		if (s->state == STREAM_READY || s->state == STREAM_PACKET)
			native_feed_touch(a->sink->feed, s->number);
	g_mutex_unlock(&a->sink->push);
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&a->link.owner->lock);
	a->link.progress_at = now;
}

static bool is_possible(const struct viewer_index *x)
{
	return x->packet_bits % 8 == 0 && x->content_bits && x->content_bits <= x->packet_bits &&
	       x->packet_bits / 8 <= LIMIT_PACKET_BYTES && x->offset <= INT64_MAX - LIMIT_PACKET_BYTES;
}

static void note_packet(struct attach *a, struct stream *s, const struct viewer_index *x)
{
	attach_note_announced(a, s, x);
	s->offset = x->offset;
	s->size = (size_t)(x->packet_bits / 8);
	s->content = (size_t)(x->content_bits + 7) / 8;
	s->index = (struct native_feed_index){
		.begin = x->begin, .end = x->end, .packet_bits = x->packet_bits, .content_bits = x->content_bits,
	};
	s->pause = 0;
	s->found = s->trace->active_at = now_us();
	s->state = STREAM_READY;
}

static bool found_packet(struct attach *a, struct stream *s, const struct viewer_index *x)
{
	if (!is_possible(x))
		return attach_broken(a, "a packet whose sizes are impossible");
	report_progress(a);
	s->last_begin = x->begin;
	s->last_end = x->end;
	s->quiet_at = 0;
	enum attach_known known = attach_compare(s, x);
	if (known == ATTACH_OTHER_STREAM)
		return restart_history(a);
	if (known == ATTACH_RECEIVED) {
		s->due = a->scan_due = 0;
		s->state = STREAM_IDLE;
		return true;
	}
	note_packet(a, s, x);
	if (s->trace->watched)
		ask_siblings(a, s);
	if (s->trace->wants && !s->trace->asked && !s->trace->metadata_ended && s->trace->has_metadata &&
	    attach_has_window(a))
		attach_ask_metadata(a, s->trace);
	attach_begin_packet(a, s);
	if (s->state == STREAM_READY)
		a->scan_due = 0;
	return true;
}

static bool found_nothing(struct attach *a, struct stream *s)
{
	set_idle(a, s);
	return true;
}

static bool found_beacon(struct attach *a, struct stream *s, const struct viewer_index *x)
{
	if (x->end > s->earlier.end && attach_is_other_stream(s))
		return restart_history(a);
	attach_note_beacon(a, x->end);
	if (!s->quiet_at && x->end > s->last_end)
		s->quiet_at = x->end;
	attach_hold(a, &(struct held){ .kind = HELD_BEACON, .stream = s, .class = x->class,
			       .end = x->end });
	return found_nothing(a, s);
}

static bool found_error(struct attach *a, struct stream *s)
{
	if (++s->errors > LIMIT_STREAM_ERRORS) {
		g_mutex_lock(&a->link.owner->lock);
		a->link.given_up++;
		g_mutex_unlock(&a->link.owner->lock);
		attach_end_stream(a, s, true);
		return true;
	}
	s->pause = a->max_pause;
	set_idle(a, s);
	return true;
}

static void report_withheld(struct attach *a)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&a->link.owner->lock);
	a->link.given_up++;
	a->link.withheld = true;
}

void attach_report_unknown(struct attach *a, unsigned n)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&a->link.owner->lock);
	a->link.ends_unknown += n;
}

static void note_end(struct attach_ends *ends, const struct stream *s)
{
	ends->flushed |= s->last_end && s->last_begin == s->last_end;
	ends->last_begin = MAX(ends->last_begin, s->last_begin);
	if (s->quiet_at)
		ends->quiet_at = ends->quiet_at ? MIN(ends->quiet_at, s->quiet_at) : s->quiet_at;
}

/* Packets may have come and gone unseen if the relay was not asked all the time, or if more than one packet waited when
 * it was. Without that, only a stream that was silent before its end is in doubt, and only if it was not stopped. */
static void note_process_end(struct attach *a, const struct stream *s)
{
	bool unseen = s->behind || now_us() - s->answered > ATTACH_LAST_US;

	if (!unseen && now_us() - s->found > ATTACH_LAST_US)
		a->early_unknown++;
	if (unseen)
		attach_report_unknown(a, 1);
}

/* The relay never announces a stream that was closed before it was asked for new ones. So a process may have begun and
 * ended unseen, and no stream shows that. */
void attach_report_stall(struct attach *a)
{
	a->history->stalls += a->stalled;
	a->stalled = false;
	if (!a->history->of_process)
		return;
	attach_report_unknown(a, a->history->stalls);
	a->history->stalls = 0;
}

/* If the session continues, the stream belonged to an exited process, or ended early. */
static bool found_end(struct attach *a, struct stream *s)
{
	/* of a closed stream of a process the relay withholds the rest, so that the last packet is not met again */
	if (attach_is_other_stream(s) && !s->trace->watched)
		return restart_history(a);
	if (attach_is_withheld(a, s))
		report_withheld(a);
	if (!s->trace->of_process)
		note_end(&a->ends, s);
	if (!s->trace->of_process)
		a->early_ends++;
	else if (s->trace->watched)
		note_process_end(a, s);
	a->early_at = now_us();
	attach_end_stream(a, s, false);
	return true;
}

/* Updates the link from the answers up to this one, whose request was sent at .streams_asked_at. */
static void report_state(struct attach *a)
{
	struct link *f = &a->link;
	bool goes_on = !a->session_hup && a->streams_asked_at - a->early_at > ATTACH_HUP_US;

	g_mutex_lock(&f->owner->lock);
	f->answered_at = a->streams_asked_at;
	if (now_us() - a->full_at < ATTACH_STREAMS_US)
		f->progress_at = now_us();
	if (goes_on)
		f->ends_unknown += a->early_unknown;
	f->ended_early = a->session_hup ? 0 : goes_on ? a->early_ends : f->ended_early;
	g_mutex_unlock(&f->owner->lock);
	if (goes_on)
		a->early_unknown = 0;
}

static bool receive_index(struct attach *a, const struct request *r, GError **error)
{
	struct stream *s = r->of;
	struct viewer_index x;

	if (!viewer_get_index(a->v, &x, error))
		return false;
	g_assert(s->index_asked);
	s->index_asked = false;
	if (s->state == STREAM_ENDED)
		return true;
	if (x.flags & VIEWER_FLAG_STREAMS)
		a->streams_due = a->scan_due = 0;
	if (x.flags & VIEWER_FLAG_METADATA && !s->trace->asked) {
		s->trace->wants = true;
		a->scan_due = 0;
	}
	if (x.status != VIEWER_INDEX_ERR)
		s->errors = 0;
	if (x.status == VIEWER_INDEX_ERR)
		return found_error(a, s);
	if (x.status == VIEWER_INDEX_HUP || x.status == VIEWER_INDEX_EOF)
		return found_end(a, s);
	s->behind = s->had_packet && x.status == VIEWER_INDEX_OK;
	s->had_packet = x.status == VIEWER_INDEX_OK;
	s->answered = s->index_asked_at;
	if (x.status == VIEWER_INDEX_OK)
		return found_packet(a, s, &x);
	return x.status == VIEWER_INDEX_INACTIVE ? found_beacon(a, s, &x) : found_nothing(a, s);
}

/* The relay does not deliver the packet. */
static void note_refused(struct attach *a, const struct stream *s)
{
	attach_note_refused(a, s);
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&a->link.owner->lock);
	a->link.owner->refused_packets++;
	a->link.owner->refused_bytes += s->size;
}

/* All pieces were received or refused. */
static void end_packet(struct attach *a, struct stream *s)
{
	g_assert(s->state == STREAM_PACKET && s->packet && s->got == s->asked);
	uint8_t *packet = g_steal_pointer(&s->packet);

	s->state = s->index_asked ? STREAM_INDEX : STREAM_IDLE;
	s->due = 0;
	a->scan_due = 0;
	if (s->failed) {
		attach_fetch(a, -(gssize)s->size);
		packets_recycle(packet);
		if (s->retry && ++s->errors < LIMIT_STREAM_ERRORS)
			s->state = STREAM_READY;
		else
			note_refused(a, s);
		return;
	}
	attach_hold(a, &(struct held){ .kind = HELD_PACKET, .stream = s, .index = s->index,
			       .bytes = packets_to_bytes(packet, s->size) });
}

static bool receive_packet(struct attach *a, const struct request *r, GError **error)
{
	struct stream *s = r->of;
	g_assert(s->packet && s->state == STREAM_PACKET && r->len <= s->asked - s->got);
	struct viewer_answer answer;

	if (!viewer_get_packet(a->v, s->packet + s->got, r->len, &answer, error))
		return false;
	s->got += r->len;
	g_assert(s->got <= s->asked && s->asked <= s->content && s->content <= s->size);
	report_progress(a);
	if (answer.status != VIEWER_PACKET_OK) {
		s->failed = true;
		s->retry = answer.flags & VIEWER_FLAG_METADATA &&
			   a->v->minor < ATTACH_MINOR_PIPELINE;
		s->trace->wants = s->trace->wants || answer.flags & VIEWER_FLAG_METADATA;
	}
	if (s->got == s->content)
		end_packet(a, s);
	else
		attach_ask_pieces(a, s);
	return true;
}

/* Is it the beginning of metadata? CTF 2 has one preamble, and CTF 1.8 begins with its version. */
static bool is_beginning(const GByteArray *text)
{
	const uint8_t *next = text->len > 1 ? memchr(text->data + 1, CTF2_SEPARATOR, text->len - 1) : NULL;
	gsize len = next ? (gsize)(next - text->data) : text->len;

	if (text->data[0] != CTF2_SEPARATOR)
		return text->len >= strlen(CTF1_BEGIN) && !memcmp(text->data, CTF1_BEGIN, strlen(CTF1_BEGIN));
	/* quotes in JSON strings are escaped, so a match is a member of the fragment or of an attribute */
	g_autofree char *fragment = g_strndup((const char *)text->data + 1, MIN(len, MOST_PREAMBLE) - 1);
	return g_regex_match_simple("\"type\"\\s*:\\s*\"preamble\"", fragment, G_REGEX_RAW, 0);
}

/* Does the format of the metadata agree with the session list? */
static bool is_as_listed(const struct attach *a, const GByteArray *text)
{
	enum viewer_format format = a->link.session.format;
	bool ctf2 = text->data[0] == CTF2_SEPARATOR;

	return format == VIEWER_FORMAT_UNKNOWN || (format == VIEWER_FORMAT_CTF2) == ctf2;
}

static bool hold_metadata(struct attach *a, struct trace *t, GByteArray *text)
{
	bool again = t->metadata_bytes && (t->restarts || is_beginning(text));

	if ((again || !t->metadata_bytes) && !is_as_listed(a, text))
		return attach_broken(a, "metadata in another format than its session list says");
	t->metadata_bytes += text->len;
	if (t->metadata_bytes > LIMIT_METADATA_BYTES)
		return attach_broken(a, "too much metadata");
	t->restarts = false;
	attach_hold(a, &(struct held){ .kind = HELD_METADATA, .trace = t, .restarts = again,
			       .bytes = g_bytes_new(text->data, text->len) });
	return true;
}

static bool receive_metadata(struct attach *a, const struct request *r, GError **error)
{
	struct trace *t = r->of;
	g_autoptr(GByteArray) text = g_byte_array_new();
	uint32_t status;

	if (!viewer_get_metadata(a->v, text, &status, error))
		return false;
	g_assert(t->asked);
	t->asked = false;
	t->pause = CLAMP(2 * t->pause, METADATA_US, METADATA_SLOW_US);
	t->due = now_us() + t->pause;
	a->scan_due = MIN(a->scan_due, t->due);
	if (text->len) {		/* asks until there is no more: an index announces only later metadata */
		t->due = t->pause = a->scan_due = 0;
		report_progress(a);
		return hold_metadata(a, t, text);
	}
	if (t->draining || (status == VIEWER_METADATA_NONE && t->metadata_bytes))
		t->wants = false;
	if (status == VIEWER_METADATA_ERR) {
		t->wants = false;
		t->metadata_ended = true;
	}
	return true;
}

/* The session has ended. Packets that wait for metadata must not fill the queue for ever. So the rest of the
 * metadata is requested once more; after that, packets no longer wait for it. */
static void ask_last_metadata(struct attach *a)
{
	TABLE_EACH(each, a->traces) {
		struct trace *t = each.value;
		if (t->draining || t->asked)
			continue;
		t->draining = true;
		t->wants = t->has_metadata && !t->metadata_ended;
	}
	a->scan_due = 0;
}

static bool receive_streams(struct attach *a, G_GNUC_UNUSED const struct request *r, GError **error)
{
	g_autoptr(GPtrArray) streams = g_ptr_array_new_with_free_func(viewer_stream_free);
	uint32_t status;

	if (!viewer_get_streams(a->v, &status, streams, error))
		return false;
	a->streams_asked = false;
	if (status == VIEWER_STREAMS_ERR)
		return attach_broken(a, "it cannot list the streams of the session");
	a->session_hup = status == VIEWER_STREAMS_HUP;
	report_state(a);
	bool ok = announce(a, streams);
	attach_report_stall(a);
	if (ok && a->session_hup)
		ask_last_metadata(a);
	attach_note_streams(a);
	return ok;
}

bool attach_receive(struct attach *a, GError **error)
{
	static bool (*const takes[])(struct attach *, const struct request *, GError **) = {
		[ASKED_INDEX] = receive_index, [ASKED_PACKET] = receive_packet,
		[ASKED_METADATA] = receive_metadata, [ASKED_STREAMS] = receive_streams,
	};
	g_assert(a->n_asked);
	g_assert((size_t)a->asked[a->first].kind < G_N_ELEMENTS(takes));
	struct request r = a->asked[a->first];

	a->first = (a->first + 1) % ATTACH_WINDOW;
	a->n_asked--;
	if (!takes[r.kind](a, &r, error))
		return false;
	a->n_replies++;
	return true;
}

