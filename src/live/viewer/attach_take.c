/* SPDX-License-Identifier: GPL-2.0-only */
/* What follows from the replies: see attach_private.h. */
#include "live/viewer/attach_private.h"

#include "base/limits.h"

#define METADATA_US 20000		/* between two questions for what was announced */
#define MOST_PREAMBLE (64u << 10)	/* bytes of CTF 2's first fragment that are looked at */
#define CTF1_BEGIN "/* CTF 1.8"
#define CTF2_SEPARATOR 0x1e		/* begins each fragment of CTF 2's metadata, and nothing else */
#define PROGRESS_US 100000		/* between two times that it is told, at least */

static int64_t now_us(void)
{
	return g_get_monotonic_time();
}

static void push_begin(struct attach *a)
{
	g_mutex_lock(&a->sink->push);
}

static void push_end(struct attach *a)
{
	g_mutex_unlock(&a->sink->push);
}

/* It answered what can't be: false. */
static bool attach_broken(struct attach *a, const char *what)
{
	a->end = FEED_BROKEN;
	a->why = g_strdup_printf("relay %s answered nonsense: %s", a->v->relay, what);
	return false;
}

/* -- streams ----------------------------------------------------------------- */

/* "HOST/ust/uid/0/64-bit", and as name of a directory. */
static unsigned add_trace(struct attach *a, const struct viewer_stream *of)
{
	g_autofree char *dir = g_path_get_dirname(of->name);
	g_autofree char *shown = g_strdup_printf("%s/%s", a->feed.session.host, dir);
	g_autofree char *file = g_strdup_printf("%s-%s", a->feed.session.host, dir);

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
	for (guint i = 0; i < a->streams->len; i++) {
		const struct stream *s = g_ptr_array_index(a->streams, i);
		if (s->id == id)
			return true;
	}
	return false;
}

/* Before LTTng 2.15 what such a stream holds last is handed out for a moment alone. */
static void watch_process(struct attach *a, struct trace *t)
{
	a->of_processes++;
	t->per_process = true;
	if (a->listed)
		t->wrote = a->appeared = now_us();
}

static void add_data_stream(struct attach *a, struct trace *t, const struct viewer_stream *from)
{
	struct stream *s = g_new0(struct stream, 1);

	s->id = from->id;
	s->trace = t;
	t->of_process = strstr(from->name, "ust/pid/");
	if (t->of_process && a->v->minor < ATTACH_MINOR_KEEPS)
		watch_process(a, t);
	if (a->sink->spool) {
		g_autofree char *name = g_path_get_basename(from->name);
		spool_add_stream(a->sink->spool, t->number, name);
	}
	s->number = native_feed_add_stream(a->sink->feed, t->number, from->name, a->late_us);
	s->due = now_us();
	attach_recall(a, s);
	g_ptr_array_add(a->streams, s);
	t->alive++;
	t->begun = true;
	a->alive++;
}

bool attach_add_streams(struct attach *a, GPtrArray *streams)
{
	bool ok = true;

	push_begin(a);
	for (guint i = 0; i < streams->len && ok; i++) {
		const struct viewer_stream *from = g_ptr_array_index(streams, i);
		struct trace *t = find_trace(a, from);
		ok = t && a->streams->len < LIMIT_RELAY_STREAMS;
		if (ok && from->metadata) {
			/* another one has all metadata from its beginning on */
			t->restarts = t->has_metadata && t->metadata_stream != from->id;
			t->has_metadata = t->wants = true;
			t->gone = false;
			t->metadata_stream = from->id;
		} else if (ok && !is_known(a, from->id)) {
			add_data_stream(a, t, from);
		}
	}
	push_end(a);
	a->scan_due = 0;
	g_mutex_lock(&a->feed.owner->lock);
	a->feed.streams = a->alive;
	g_mutex_unlock(&a->feed.owner->lock);
	return ok || attach_broken(a, "too many streams");
}

void attach_end_trace(struct attach *a, struct trace *t)
{
	push_begin(a);
	native_feed_end_trace(a->sink->feed, t->number);
	if (a->sink->spool)
		spool_end_trace(a->sink->spool, t->number);
	push_end(a);
}

/* -- streams that end ---------------------------------------------------------- */

static void forget_packet(struct attach *a, struct stream *s)
{
	if (!s->packet)
		return;
	a->fetching -= s->size;
	packets_give_back(g_steal_pointer(&s->packet));
}

void attach_end_stream(struct attach *a, struct stream *s, bool cut)
{
	if (s->state == STREAM_OVER)
		return;
	forget_packet(a, s);
	s->state = STREAM_OVER;
	s->trace->alive--;
	a->alive--;
	a->of_processes -= s->trace->per_process;
	attach_hold(a, &(struct held){ .kind = cut ? HELD_CUT : HELD_END, .stream = s });
}

static int64_t most_pause(const struct attach *a, const struct trace *t)
{
	int64_t often = MAX(ATTACH_WATCH_PAUSE_US, (int64_t)a->of_processes * ATTACH_WATCH_EACH_US);
	int64_t now = now_us();
	if (!t->per_process || now - t->wrote >= attach_lately(a))
		return a->max_pause;
	bool hot = now - t->wrote < ATTACH_HOT_US;
	return hot ? MIN(ATTACH_HOT_PAUSE_US, a->max_pause) : MIN(often, a->max_pause);
}

/* Nothing there: the next question later, and later still. */
static void rest(struct attach *a, struct stream *s)
{
	int64_t most = most_pause(a, s->trace);
	s->pause = CLAMP(s->pause * 2, MIN(ATTACH_LEAST_PAUSE_US, most), most);
	/* all at the same instants: one look for many */
	s->due = (now_us() / s->pause + 1) * s->pause;
	s->state = STREAM_RESTS;
	a->scan_due = MIN(a->scan_due, s->due);
}

/* The process may have exited: all of its streams have their last packet then, for a moment. */
static void ask_others(struct attach *a, const struct stream *s)
{
	for (guint i = 0; i < a->streams->len; i++) {
		struct stream *other = g_ptr_array_index(a->streams, i);
		if (other == s || other->trace != s->trace || other->state != STREAM_RESTS)
			continue;
		other->due = other->pause = 0;
	}
	a->scan_due = 0;
}

/* What was had before is of others: everything once more. */
static bool restart_session(struct attach *a)
{
	attach_disbelieve(a, true);
	g_queue_clear(&a->past->ended);
	g_hash_table_remove_all(a->past->had);
	a->past->forgotten_packets = a->past->forgotten_bytes = 0;
	a->past->since = 0;
	a->why = g_strdup_printf("relay %s has other streams than before", a->v->relay);
	return false;
}

/* -- replies ----------------------------------------------------------------- */

/* The keeper wants to know that data comes, and the merge of which streams some is under way. */
static void tell_progress(struct attach *a)
{
	int64_t now = now_us();

	if (now - a->told < PROGRESS_US)
		return;
	a->told = now;
	push_begin(a);
	for (guint i = 0; i < a->streams->len; i++) {
		const struct stream *s = g_ptr_array_index(a->streams, i);
		if (s->state == STREAM_READY || s->state == STREAM_PACKET)
			native_feed_touch(a->sink->feed, s->number);
	}
	push_end(a);
	g_mutex_lock(&a->feed.owner->lock);
	a->feed.progress_at = now;
	g_mutex_unlock(&a->feed.owner->lock);
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
	s->found = s->trace->wrote = now_us();
	s->state = STREAM_READY;
}

static bool found_packet(struct attach *a, struct stream *s, const struct viewer_index *x)
{
	if (!is_possible(x))
		return attach_broken(a, "an impossible packet");
	tell_progress(a);
	s->last_begin = x->begin;
	s->last_end = x->end;
	s->quiet_at = 0;
	enum attach_known known = attach_compare(s, x);
	if (known == ATTACH_STRANGE)
		return restart_session(a);
	if (known == ATTACH_HAD) {
		s->due = a->scan_due = 0;
		s->state = STREAM_RESTS;
		return true;
	}
	note_packet(a, s, x);
	if (s->trace->per_process)
		ask_others(a, s);
	if (s->trace->wants && !s->trace->asked && !s->trace->gone && s->trace->has_metadata &&
	    attach_has_window(a))
		attach_ask_metadata(a, s->trace);
	attach_begin_packet(a, s);
	if (s->state == STREAM_READY)
		a->scan_due = 0;
	return true;
}

static bool found_nothing(struct attach *a, struct stream *s)
{
	rest(a, s);
	return true;
}

static bool found_beacon(struct attach *a, struct stream *s, const struct viewer_index *x)
{
	if (x->end > s->had.end && attach_is_strange(s))
		return restart_session(a);
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
		g_mutex_lock(&a->feed.owner->lock);
		a->feed.given_up++;
		g_mutex_unlock(&a->feed.owner->lock);
		attach_end_stream(a, s, true);
		return true;
	}
	s->pause = a->max_pause;
	rest(a, s);
	return true;
}

static void tell_withheld(struct attach *a)
{
	g_mutex_lock(&a->feed.owner->lock);
	a->feed.given_up++;
	a->feed.withheld = true;
	g_mutex_unlock(&a->feed.owner->lock);
}

static void note_end(struct attach_ends *ends, const struct stream *s)
{
	ends->flushed |= s->last_end && s->last_begin == s->last_end;
	ends->last_begin = MAX(ends->last_begin, s->last_begin);
	if (s->quiet_at)
		ends->quiet_at = ends->quiet_at ? MIN(ends->quiet_at, s->quiet_at) : s->quiet_at;
}

/* While the session goes on it is of a process that has exited. */
static bool found_end(struct attach *a, struct stream *s)
{
	if (attach_is_strange(s))
		return restart_session(a);
	if (attach_is_withheld(a, s))
		tell_withheld(a);
	if (!s->trace->of_process)
		note_end(&a->ends, s);
	if (!s->trace->of_process)
		a->hung++;
	else if (s->trace->per_process && now_us() - s->found > ATTACH_LAST_US)
		a->hung_unknown++;
	a->hung_at = now_us();
	attach_end_stream(a, s, false);
	return true;
}

/* What the answers up to this one say of the session; the question was sent at .news_sent. */
static void tell_state(struct attach *a)
{
	struct feed *f = &a->feed;
	bool goes_on = !a->hung_up && a->news_sent - a->hung_at > ATTACH_HUNG_US;

	g_mutex_lock(&f->owner->lock);
	f->answered_at = a->news_sent;
	if (now_us() - a->full_at < ATTACH_NEWS_US)
		f->progress_at = now_us();
	if (goes_on)
		f->ends_unknown += a->hung_unknown;
	f->early = a->hung_up ? 0 : goes_on ? a->hung : f->early;
	g_mutex_unlock(&f->owner->lock);
	if (goes_on)
		a->hung_unknown = 0;
}

static bool take_index(struct attach *a, const struct request *r, GError **error)
{
	struct stream *s = r->of;
	struct viewer_index x;

	if (!viewer_get_index(a->v, &x, error))
		return false;
	s->index_asked = false;
	if (s->state == STREAM_OVER)
		return true;
	if (x.flags & VIEWER_FLAG_STREAMS)
		a->news_due = a->scan_due = 0;
	if (x.flags & VIEWER_FLAG_METADATA && !s->trace->asked) {
		s->trace->wants = true;
		a->scan_due = 0;
	}
	if (x.status != VIEWER_INDEX_ERR)
		s->errors = 0;
	if (x.status == VIEWER_INDEX_OK)
		return found_packet(a, s, &x);
	if (x.status == VIEWER_INDEX_INACTIVE)
		return found_beacon(a, s, &x);
	if (x.status == VIEWER_INDEX_RETRY)
		return found_nothing(a, s);
	return x.status == VIEWER_INDEX_ERR ? found_error(a, s) : found_end(a, s);
}

/* The relay does not give it. */
static void forget_refused(struct attach *a, const struct stream *s)
{
	attach_note_refused(a, s);
	g_mutex_lock(&a->feed.owner->lock);
	a->feed.owner->refused_packets++;
	a->feed.owner->refused_bytes += s->size;
	g_mutex_unlock(&a->feed.owner->lock);
}

/* All pieces have come, or have been refused. */
static void end_packet(struct attach *a, struct stream *s)
{
	uint8_t *packet = g_steal_pointer(&s->packet);

	s->state = s->index_asked ? STREAM_INDEX : STREAM_RESTS;
	s->due = 0;
	a->scan_due = 0;
	if (s->spoilt) {
		a->fetching -= s->size;
		packets_give_back(packet);
		if (s->again && ++s->errors < LIMIT_STREAM_ERRORS)
			s->state = STREAM_READY;
		else
			forget_refused(a, s);
		return;
	}
	attach_hold(a, &(struct held){ .kind = HELD_PACKET, .stream = s, .index = s->index,
			       .bytes = packets_to_bytes(packet, s->size) });
}

static bool take_packet(struct attach *a, const struct request *r, GError **error)
{
	struct stream *s = r->of;
	struct viewer_answer answer;

	if (!viewer_get_packet(a->v, s->packet + s->got, r->len, &answer, error))
		return false;
	s->got += r->len;
	tell_progress(a);
	if (answer.status != VIEWER_PACKET_OK) {
		s->spoilt = true;
		s->again = answer.flags & VIEWER_FLAG_METADATA &&
			   a->v->minor < ATTACH_MINOR_PIPELINE;
		s->trace->wants = s->trace->wants || answer.flags & VIEWER_FLAG_METADATA;
	}
	if (s->got == s->content)
		end_packet(a, s);
	else
		attach_ask_pieces(a, s);
	return true;
}

/* Is it the beginning of metadata? CTF 2 has one preamble, text of CTF 1.8 says its version first. */
static bool is_beginning(const GByteArray *text)
{
	const uint8_t *next = text->len > 1 ? memchr(text->data + 1, CTF2_SEPARATOR, text->len - 1) : NULL;
	gsize len = next ? (gsize)(next - text->data) : text->len;

	if (text->data[0] != CTF2_SEPARATOR)
		return text->len >= strlen(CTF1_BEGIN) && !memcmp(text->data, CTF1_BEGIN, strlen(CTF1_BEGIN));
	/* quotes within texts are escaped, so this is a member, or one of an attribute */
	g_autofree char *fragment = g_strndup((const char *)text->data + 1, MIN(len, MOST_PREAMBLE) - 1);
	return g_regex_match_simple("\"type\"\\s*:\\s*\"preamble\"", fragment, G_REGEX_RAW, 0);
}

/* The trace's first bytes say what format they are in; so did the list. */
static bool is_as_listed(const struct attach *a, const GByteArray *text)
{
	enum viewer_format format = a->feed.session.format;
	bool ctf2 = text->data[0] == CTF2_SEPARATOR;

	return format == VIEWER_FORMAT_UNKNOWN || (format == VIEWER_FORMAT_CTF2) == ctf2;
}

static bool hold_metadata(struct attach *a, struct trace *t, GByteArray *text)
{
	bool again = t->metadata_bytes && (t->restarts || is_beginning(text));

	if ((again || !t->metadata_bytes) && !is_as_listed(a, text))
		return attach_broken(a, "metadata of a format that its list does not say");
	t->metadata_bytes += text->len;
	if (t->metadata_bytes > LIMIT_METADATA_BYTES)
		return attach_broken(a, "too much metadata");
	t->restarts = false;
	attach_hold(a, &(struct held){ .kind = HELD_METADATA, .trace = t, .restarts = again,
			       .bytes = g_bytes_new(text->data, text->len) });
	return true;
}

static bool take_metadata(struct attach *a, const struct request *r, GError **error)
{
	struct trace *t = r->of;
	g_autoptr(GByteArray) text = g_byte_array_new();
	uint32_t status;

	if (!viewer_get_metadata(a->v, text, &status, error))
		return false;
	t->asked = false;
	t->due = now_us() + METADATA_US;
	a->scan_due = MIN(a->scan_due, t->due);
	if (text->len) {		/* until there is no more: only then an index announces it */
		t->due = a->scan_due = 0;
		tell_progress(a);
		return hold_metadata(a, t, text);
	}
	if (t->last)
		attach_end_trace(a, t);
	if (status == VIEWER_METADATA_NONE && (t->metadata_bytes || t->last)) {
		t->wants = false;
	} else if (status == VIEWER_METADATA_ERR) {
		t->wants = false;
		t->gone = true;
	}
	return true;
}

/* The session is over. Packets that wait for metadata must not fill the queue for ever: what of it the
 * relay still has is asked for once more, and behind that none is waited for. */
static void ask_last_metadata(struct attach *a)
{
	GHashTableIter it;
	gpointer value;

	g_hash_table_iter_init(&it, a->traces);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		struct trace *t = value;
		if (t->last || t->asked)
			continue;
		t->last = true;
		t->wants = t->has_metadata && !t->gone;
		if (!t->wants)
			attach_end_trace(a, t);
	}
}

static bool take_streams(struct attach *a, G_GNUC_UNUSED const struct request *r, GError **error)
{
	g_autoptr(GPtrArray) streams = g_ptr_array_new_with_free_func(viewer_stream_free);
	uint32_t status;

	if (!viewer_get_streams(a->v, &status, streams, error))
		return false;
	a->news_asked = false;
	if (status == VIEWER_STREAMS_ERR)
		return attach_broken(a, "it can't tell which streams there are");
	a->hung_up = status == VIEWER_STREAMS_HUP;
	tell_state(a);
	bool ok = attach_add_streams(a, streams);
	if (ok && a->hung_up)
		ask_last_metadata(a);
	attach_note_news(a);
	return ok;
}

bool attach_take(struct attach *a, GError **error)
{
	static bool (*const takes[])(struct attach *, const struct request *, GError **) = {
		[ASKED_INDEX] = take_index, [ASKED_PACKET] = take_packet,
		[ASKED_METADATA] = take_metadata, [ASKED_STREAMS] = take_streams,
	};
	struct request r = a->asked[a->first];

	a->first = (a->first + 1) % ATTACH_WINDOW;
	a->n_asked--;
	if (!takes[r.kind](a, &r, error))
		return false;
	a->n_replies++;
	return true;
}

