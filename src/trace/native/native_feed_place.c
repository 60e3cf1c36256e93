/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handles the messages that were pushed. Metadata is parsed as it becomes complete. Packets wait for the metadata that
 * they need. They are checked like packets of a file, and placed in time after the packets before them.
 */
#include "trace/native/native_feed_private.h"

#include "base/each.h"

#define MAX_LATE_US INT64_C(3600000000)	/* a longer time counts as unlimited */

/* ---- what packets share ---- */

static struct feed_meta *meta_new(struct native_feed *f)
{
	struct feed_meta *g = g_new0(struct feed_meta, 1);
	g->feed = f;
	g->m = native_meta_new();
	g->file.m = g->m;
	g->pieces = ctf_pieces_new(g->m->meta);
	g->refs = 1;
	return g;
}

static void meta_unref(struct feed_meta *g)
{
	if (!g)
		return;
	g_assert(g->refs > 0);
	if (--g->refs)
		return;
	g_atomic_pointer_add(&g->feed->held, -(gssize)g->bytes);
	if (g->over)
		g_atomic_pointer_add(&g->feed->beside, -(gssize)g->bytes);
	ctf_pieces_free(g->pieces);
	native_meta_free(g->m);
	g_free(g);
}

/* Its memory becomes free once its packets are decoded. */
static void meta_over(struct feed_meta *g)
{
	if (!g->over)
		g_atomic_pointer_add(&g->feed->beside, (gssize)g->bytes);
	g->over = true;
}

static void trace_closed(struct feed_trace *t)
{
	if (t->ended && !t->n_open)
		meta_over(t->meta);
}

void feed_packet_clear(void *p)
{
	struct feed_packet *packet = p;
	g_clear_pointer(&packet->bytes, g_bytes_unref);
	meta_unref(packet->meta);
}

void feed_trace_free(void *p)
{
	struct feed_trace *t = p;
	meta_unref(t->meta);
	g_free(t->name);
	g_free(t->trouble);
	g_free(t->partly);
	g_free(t);
}

void feed_track_free(struct feed_track *t)
{
	g_array_unref(t->packets);
	g_free(t->plan.packet);
	if (t->cursor)
		native_cursor_clear(t->cursor);
	g_free(t->cursor);
	meta_unref(t->last_meta);
	native_stream_free(t->st);
	g_free(t->key);
	g_free(t);
}

/* ---- metadata ---- */

static void grow_classes(struct native_feed *f)
{
	struct native_source *s = &f->s;
	size_t n = s->native->classes->len;
	if (n < f->n_grown)
		return;
	size_t cap = MAX(n + 1, 2 * f->n_grown);
	s->cls = g_renew(uint32_t, s->cls, cap);
	for (size_t i = f->n_grown; i < cap; i++)
		s->cls[i] = UINT32_MAX;
	f->n_grown = cap;
}

static void take_metadata(struct native_feed *f, struct feed_trace *t, GBytes *bytes)
{
	g_autoptr(GError) error = NULL;
	struct feed_meta *g = t->meta;
	gsize size;
	const void *data = g_bytes_get_data(bytes, &size);
	if (t->failed || t->ended)
		return;
	t->has_metadata |= size > 0;
	if (!ctf_pieces_append(g->pieces, data, size, &error) ||
	    !native_meta_compile(f->s.native, g->m, &error))
		feed_trouble_metadata(f, t, error);
	g_atomic_pointer_add(&f->held, (gssize)native_meta_bytes(g->m) - (gssize)g->bytes);
	g->bytes = native_meta_bytes(g->m);
	t->usable = !t->failed && g->m->meta->has_trace && g->m->decoders->len;
	if (t->usable)
		feed_trouble_resolved(f, t);
	grow_classes(f);
}

static void restart_metadata(struct native_feed *f, struct feed_trace *t)
{
	if (t->ended)
		return;
	meta_over(t->meta);
	meta_unref(t->meta);
	t->meta = meta_new(f);
	t->usable = false;
}

static guint trace_place(const struct native_feed *f, unsigned number)
{
	guint from = 0, to = f->traces->len;

	while (from < to) {
		guint at = (from + to) / 2;
		const struct feed_trace *t = g_ptr_array_index(f->traces, at);
		if (t->number < number)
			from = at + 1;
		else
			to = at;
	}
	return from;
}

struct feed_trace *feed_trace(const struct native_feed *f, unsigned number)
{
	guint at = trace_place(f, number);
	struct feed_trace *t = at < f->traces->len ? g_ptr_array_index(f->traces, at) : NULL;

	return t && t->number == number ? t : NULL;
}

static void release_trace(struct native_feed *f, struct feed_trace *t)
{
	if (!t->ended || t->n_streams)
		return;
	meta_unref(t->meta);
	t->meta = NULL;
	t->usable = false;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	if (feed_trouble_may_free(f, t))
		g_ptr_array_remove_index(f->traces, trace_place(f, t->number));
}

/* ---- clocks ---- */

static const struct ctf_decoder *first_decoder(const struct feed_trace *t)
{
	return t->usable ? g_ptr_array_index(t->meta->m->decoders, 0) : NULL;
}

/* Is the clock of trace a preferred? Kernel traces come first, then traces by UUID. */
static bool before_trace(const struct feed_trace *a, const struct feed_trace *b)
{
	const char *da = ctf_meta_env(a->meta->m->meta, "domain");
	const char *db = ctf_meta_env(b->meta->m->meta, "domain");
	bool ka = !g_strcmp0(da, "kernel"), kb = !g_strcmp0(db, "kernel");
	return ka != kb ? ka : strcmp(a->meta->m->uuid, b->meta->m->uuid) < 0;
}

static void learn_kernel(struct feed_boot *boot, const struct native_meta *m)
{
	if (!boot->host && native_meta_domain(m) == BLK_DOMAIN_KERNEL)
		boot->host = g_strdup(native_meta_host(m));
}

/* The boot of clock k; pins its clock, if none is. NULL: wait, as a trace without metadata may be of the same boot and
 * have the preferred clock. */
static struct feed_boot *pin(struct native_feed *f, const struct feed_trace *own, const struct ctf_clock *k)
{
	const struct feed_trace *best = own;
	const struct ctf_clock *pinned = k;
	struct feed_boot *boot = g_hash_table_lookup(f->boots, k->uuid);
	if (boot)
		return boot;
	PTR_EACH(const struct feed_trace, t, f->traces) {
		const struct ctf_decoder *d = first_decoder(t);
		if (!t->usable && !t->failed && !t->ended && !f->ended &&
		    f->now_us - t->added_us < FEED_CLASS_US)
			return NULL;
		if (d && !strcmp(d->clock->uuid, k->uuid) && before_trace(t, best)) {
			best = t;
			pinned = d->clock;
		}
	}
	boot = g_new0(struct feed_boot, 1);
	boot->clock = *pinned;
	learn_kernel(boot, best->meta->m);
	g_hash_table_insert(f->boots, g_strdup(k->uuid), boot);
	return boot;
}

/* NULL: wait; or the clock has no uuid. */
static struct feed_boot *boot_of(struct native_feed *f, const struct feed_trace *own, const struct ctf_clock *k)
{
	return k->uuid[0] ? pin(f, own, k) : NULL;
}

/* Gives the stream its boot's clock, and the name of its machine. boot NULL: its boot is unknown. */
static void join_boot(struct native_stream *st, struct feed_boot *boot, const struct native_meta *m)
{
	native_stream_pin(st, boot ? &boot->clock : st->ctf_clock);
	if (boot)
		learn_kernel(boot, m);
	if (boot && boot->host)
		native_stream_join(st, boot->host);
}

/* ---- streams ---- */

static void rank(struct native_feed *f, struct feed_stream *x)
{
	guint from = 0, to = f->order->len;
	while (from < to) {
		guint at = (from + to) / 2;
		const struct feed_stream *other = g_ptr_array_index(f->order, at);
		if (strcmp(x->track->st->info.order, other->track->st->info.order) < 0)
			to = at;
		else
			from = at + 1;
	}
	g_ptr_array_insert(f->order, (gint)from, x);
	f->rebuild = true;
}

static char *make_key(const struct native_meta *m, const struct ctf_packet *p)
{
	if (!p->has_instance || !m->meta->has_uuid)
		return NULL;
	return g_strdup_printf("%s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, m->uuid, p->stream_id,
			       p->instance);
}

/* If the key is that of a stream that was cut off, stream x continues it: x takes its track. */
static bool take_over(struct native_feed *f, struct feed_stream *x, const char *key)
{
	struct feed_stream *old = key ? g_hash_table_lookup(f->cut, key) : NULL;
	if (!old)
		return false;
	g_assert(old != x && old->track && !x->track);
	g_hash_table_remove(f->cut, key);
	g_ptr_array_remove(f->order, old);
	x->track = g_steal_pointer(&old->track);
	x->track->resumed = true;
	for (guint i = (guint)x->track->n_decoded; i < x->track->packets->len; i++) {
		gsize n = g_bytes_get_size(g_array_index(x->track->packets, struct feed_packet, i).bytes);
		g_atomic_pointer_add(&x->queued, (gssize)n);
		g_atomic_pointer_add(&old->queued, -(gssize)n);
	}
	f->s.cursor[old->slot] = NULL;
	x->beacon_ns = MAX(x->beacon_ns, old->beacon_ns);
	feed_stream_end(f, old);
	return true;
}

static bool begin_track(struct native_feed *f, struct feed_stream *x, const struct ctf_packet *p)
{
	const struct native_meta *m = x->trace->meta->m;
	const struct ctf_decoder *d = native_decoder(m, p->stream_id);
	struct feed_boot *boot = boot_of(f, x->trace, d->clock);
	g_autofree char *key = make_key(m, p);
	if (d->clock->uuid[0] && !boot)
		return false;
	if (!take_over(f, x, key)) {
		struct feed_track *t = x->track = g_new0(struct feed_track, 1);
		t->st = native_stream_new(m, d, p, f->n_numbers++);
		join_boot(t->st, boot, m);
		t->key = g_steal_pointer(&key);
		t->plan.grows = true;
		t->packets = g_array_new(FALSE, FALSE, sizeof(struct feed_packet));
		g_array_set_clear_func(t->packets, feed_packet_clear);
		t->cursor = g_new(struct native_cursor, 1);
		native_cursor_init(t->cursor, &f->s, t->st, &t->plan);
	}
	f->s.cursor[x->slot] = x->track->cursor;
	rank(f, x);
	return true;
}

/* ---- packets ---- */

static void refuse(struct native_feed *f, struct feed_stream *x, const struct feed_message *message)
{
	f->refused++;
	feed_unqueue(f, x, g_bytes_get_size(message->bytes));
}

/* The cursor has tables of the decoder that it used last. That decoder must not be freed before they are. */
static void retain_last_meta(struct feed_track *t, struct feed_meta *g)
{
	if (t->last_meta == g)
		return;
	meta_unref(t->last_meta);
	t->last_meta = g;
	g->refs++;
	t->cursor->hot_decoder = NULL;
}

void feed_track_retire(struct native_feed *f, struct feed_stream *x)
{
	struct feed_track *t = x->track;
	struct native_cursor *k = t->cursor;
	g_assert(t->n_retired <= t->n_decoded && t->n_decoded <= t->plan.n);
	if (!t->n_decoded)
		return;
	for (; t->n_retired < t->n_decoded; t->n_retired++) {
		struct feed_packet *packet = &g_array_index(t->packets, struct feed_packet, t->n_retired);
		retain_last_meta(t, packet->meta);
		g_array_append_val(f->retired, *packet);
		*packet = (struct feed_packet){ 0 };
	}
	if (t->n_decoded * 2 < t->plan.n)
		return;
	g_array_remove_range(t->packets, 0, (guint)t->n_decoded);
	t->plan.n -= t->n_decoded;
	memmove(t->plan.packet, t->plan.packet + t->n_decoded, t->plan.n * sizeof *t->plan.packet);
	g_assert(k->next >= t->n_decoded && (!k->packet || k->packet >= t->plan.packet + t->n_decoded));
	k->next -= t->n_decoded;
	if (k->packet)
		k->packet -= t->n_decoded;
	t->n_decoded = t->n_retired = 0;
}

static void append(struct native_feed *f, struct feed_stream *x, struct native_packet *p,
		   struct feed_message *message)
{
	struct feed_track *t = x->track;
	struct native_cursor *k = t->cursor;
	size_t at = k->packet ? (size_t)(k->packet - t->plan.packet) : 0;
	struct feed_packet packet = { g_steal_pointer(&message->bytes), x->trace->meta, message->at_us };
	g_assert(t->packets->len == t->plan.n);
	g_assert(!k->packet || at < t->plan.n);
	packet.meta->refs++;
	g_array_append_val(t->packets, packet);
	if (t->plan.n == t->cap) {
		t->cap = MAX(8, t->cap * 2);
		t->plan.packet = g_renew(struct native_packet, t->plan.packet, t->cap);
	}
	t->plan.packet[t->plan.n++] = *p;
	if (k->packet)
		k->packet = &t->plan.packet[at];
	t->tallies_reported = false;
}

/* After a reconnect: was this packet already received before the connection broke? */
static bool is_duplicate(const struct feed_track *t, const struct ctf_packet *p)
{
	return t->resumed && t->has_previous && p->has_seq && t->previous.p.has_seq &&
	       p->seq <= t->previous.p.seq && p->begin <= t->previous.p.begin;
}

/* Reads the packet header. False: it is no packet of the trace; *error may say why. As in a file, packets of one
 * stream may be of several stream classes. A file may be of another trace, if a writer has copied its metadata; a
 * relay does not copy any. */
static bool check_packet(const struct feed_stream *x, const struct feed_message *message,
			 struct ctf_packet *ret, GError **error)
{
	gsize size;
	size_t need;
	const uint8_t *bytes = g_bytes_get_data(message->bytes, &size);
	*ret = (struct ctf_packet){ 0 };
	if (!size || !ctf_packet_read(x->trace->meta->m->meta, bytes, size, 0, size, ret, &need, error))
		return false;
	if (ret->other_uuid)
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, "the packet has another trace's uuid");
	return !ret->other_uuid && native_decoder(x->trace->meta->m, ret->stream_id) &&
	       (ret->has_begin || native_is_header_only(x->trace->meta->m, ret));
}

/* Of two values that should be equal: the smaller one that is at least `least`. A time that is too late would be
 * wrong for all later packets, too. */
static uint64_t likely(uint64_t a, uint64_t b, uint64_t least)
{
	return a < least ? b : b < least ? a : MIN(a, b);
}

/* Compares the packet header with the relay's index and takes values that fit both. True: they differ. */
static bool reconcile(const struct feed_stream *x, const struct feed_message *message, struct ctf_packet *p)
{
	const struct native_feed_index *index = &message->index;
	const struct feed_track *t = x->track;
	if (!message->has_index || (p->begin == index->begin && p->end == index->end &&
				 p->content_bits == index->content_bits && p->packet_bits == index->packet_bits))
		return false;
	p->begin = likely(p->begin, index->begin, t && t->has_previous ? t->previous.p.begin : 0);
	p->end = likely(p->end, index->end, p->begin);
	p->has_end = p->end >= p->begin;
	p->content_bits = MIN(p->content_bits, index->content_bits);
	p->fault = CTF_CUT_OFF;		/* the packet is damaged at its end */
	return true;
}

/* Has the packet waited long enough for metadata, while others need the memory? */
static bool is_given_up(const struct native_feed *f, const struct feed_message *message)
{
	return f->bound && native_feed_waiting(f) > f->bound &&
	       f->now_us - message->at_us >= LIMIT_METADATA_SECONDS * G_USEC_PER_SEC;
}

/* Can later metadata make this packet readable? */
static bool may_fit_later(const struct native_feed *f, const struct feed_stream *x,
		       const struct feed_message *message)
{
	const struct feed_trace *t = x->trace;
	if (t->failed || t->ended || f->ended)
		return false;
	if (!t->usable)
		return !is_given_up(f, message);
	return ctf_pieces_wait(t->meta->pieces) && f->now_us - message->at_us < FEED_CLASS_US;
}

static void note_packet(struct native_feed *f, struct feed_stream *x, bool ok, const char *why)
{
	struct feed_trace *t = x->trace;
	f->refused += !ok;
	if (why)
		feed_trouble_packet(f, x, why);
	if (ok && !t->placed)
		feed_trouble_resolved(f, t);
	t->placed |= ok;
}

/* Appends a loss at begin_ns for the packets that were refused before the first placed one. */
static void append_unplaced(struct native_feed *f, struct feed_stream *x, int64_t begin_ns)
{
	struct native_packet p = {
		.p.fault = CTF_GARBAGE, .file = &x->trace->meta->file, .begin_ns = begin_ns,
		.end_ns = INT64_MAX, .max_end_ns = begin_ns, .n_unread = x->n_unplaced,
	};
	struct feed_message nothing = { .bytes = g_bytes_new_static("", 0), .at_us = f->now_us };
	append(f, x, &p, &nothing);
	x->track->n_refused += x->n_unplaced;
	g_assert(f->unplaced >= x->n_unplaced);
	f->unplaced -= x->n_unplaced;
	x->n_unplaced = 0;
}

/* Packets that came and were refused are not missing: subtracts them from those that sequence numbers say are
 * lost. */
static void subtract_refused(struct feed_track *t, struct native_packet *x)
{
	if (x->has_gap)
		x->lost_packets -= MIN(x->lost_packets, t->n_refused);
	x->has_gap = x->has_gap && (x->lost_packets || x->is_gap_discarded);
	t->n_refused = 0;
}

/* Computes the packet's times. False: it cannot be placed. `error` is why its header cannot be read, or NULL. */
static bool place_in_time(struct native_feed *f, struct feed_stream *x, const struct feed_message *message,
			  struct native_packet *p, const char *error)
{
	const struct feed_track *t = x->track;
	bool differs = !error && reconcile(x, message, &p->p);
	if (error)
		p->p = (struct ctf_packet){
			.fault = CTF_GARBAGE, .packet_bits = g_bytes_get_size(message->bytes) * 8,
		};
	p->bytes = g_bytes_get_data(message->bytes, NULL);
	if (t && t->has_previous)
		ctf_packet_follow(&p->p, ctf_packet_latest(&t->previous.p));
	if (t)
		native_packet_place(t->st, p, t->has_previous ? &t->previous : NULL);
	bool ok = p->p.fault != CTF_GARBAGE;
	note_packet(f, x, ok, error ? error : !ok ? "its times are impossible" :
		    differs ? "its times or sizes differ from the relay's index" : NULL);
	return ok;
}

/* False: the message must wait for metadata. */
static bool place_packet(struct native_feed *f, struct feed_stream *x, struct feed_message *message)
{
	struct native_packet p = { .file = &x->trace->meta->file };
	g_autoptr(GError) error = NULL;
	bool ok = x->trace->usable && check_packet(x, message, &p.p, &error);
	if (!ok && may_fit_later(f, x, message))
		return false;
	if (ok && !x->track && p.p.has_begin && !begin_track(f, x, &p.p))
		return false;
	struct feed_track *t = x->track;
	/* A packet without events and time needs one before it. */
	bool came = ok && (!t || is_duplicate(t, &p.p) || (!p.p.has_begin && !t->has_previous));
	if (!came)
		ok = place_in_time(f, x, message, &p, ok ? NULL : error ? error->message :
				   !x->trace->usable ? "their metadata did not come" :
				   "they do not belong to the trace");
	if (came || (!ok && !(t && t->has_previous))) {
		x->n_unplaced += !came;
		f->unplaced += !came;
		feed_unqueue(f, x, g_bytes_get_size(message->bytes));
		return true;
	}
	if (x->n_unplaced)
		append_unplaced(f, x, p.begin_ns);
	t->n_refused += !ok;
	if (ok) {
		subtract_refused(t, &p);
		t->previous = p;
		t->has_previous = true;
		f->newest_ns = MAX(f->newest_ns, p.end_ns == INT64_MAX ? p.begin_ns : p.end_ns);
	}
	append(f, x, &p, message);
	return true;
}

/* False: the message must wait, as the clock of the beacon is not known yet. */
static bool place_beacon(struct native_feed *f, struct feed_stream *x, const struct feed_message *message)
{
	const struct ctf_decoder *d;
	struct native_stream st = { 0 };
	if (x->track) {
		st.clock = x->track->st->clock;
	} else {
		if (!x->trace->usable)
			return x->trace->failed || x->trace->ended || f->ended;
		d = message->class_id == NATIVE_FEED_ANY_CLASS ? first_decoder(x->trace)
							    : native_decoder(x->trace->meta->m, message->class_id);
		const struct feed_boot *boot = d ? boot_of(f, x->trace, d->clock) : NULL;
		if (!d || (d->clock->uuid[0] && !boot))
			return !d;
		st.ctf_clock = d->clock;
		native_stream_pin(&st, boot ? &boot->clock : d->clock);
	}
	int64_t beacon = native_ns_clamped(&st.clock, message->cycles);
	if (!native_is_out_of_range(beacon))
		x->beacon_ns = MAX(x->beacon_ns, beacon);
	f->newest_ns = MAX(f->newest_ns, x->beacon_ns);
	return true;
}

/* No other stream continues this one. */
static void forget_cut(struct native_feed *f, const struct feed_stream *x)
{
	if (x->track && x->track->key && g_hash_table_lookup(f->cut, x->track->key) == x)
		g_hash_table_remove(f->cut, x->track->key);
}

/* The stream's memory becomes free once its records are delivered. */
static void note_closed(struct native_feed *f, struct feed_stream *x)
{
	const struct native_cursor *k = x->track ? x->track->cursor : NULL;
	if (x->closed || !x->trace)
		return;
	g_assert(x->trace->n_open > 0);
	x->trace->n_open--;
	trace_closed(x->trace);
	x->bytes = sizeof *x + sizeof *x->track;
	if (k)
		x->bytes += sizeof *k + k->n_counts * sizeof *k->counts + k->n_hot * sizeof *k->hot;
	g_atomic_pointer_add(&f->held, (gssize)x->bytes);
	g_atomic_pointer_add(&f->beside, (gssize)x->bytes);
}

static void close_stream(struct native_feed *f, struct feed_stream *x)
{
	f->rebuild |= x->parked;
	note_closed(f, x);
	x->closed = true;
	x->cut = x->parked = false;
	if (!x->track)
		return;
	x->track->plan.grows = false;
	if (x->track->cursor)
		x->track->cursor->end_ns = MAX(x->track->cursor->end_ns, x->beacon_ns);
}

static bool place(struct native_feed *f, struct feed_stream *x, struct feed_message *message)
{
	switch (message->kind) {
	case FEED_PACKET:
		return place_packet(f, x, message);
	case FEED_BEACON:
		return place_beacon(f, x, message);
	case FEED_STREAM_CUT:
		x->cut = true;
		x->cut_us = f->clock_us;
		g_queue_push_tail(&f->cut_order, GUINT_TO_POINTER(x->number));
		if (x->track && x->track->key)
			g_hash_table_replace(f->cut, x->track->key, x);
		return true;
	default:
		close_stream(f, x);
		return true;
	}
}

static void place_messages(struct native_feed *f, struct feed_stream *x)
{
	struct feed_message *message;
	if (x->overtaken_ns != INT64_MIN && !g_queue_is_empty(&x->waiting)) {
		x->overtaken_ns = INT64_MIN;
		f->rebuild = true;
	}
	while (!x->closed && (message = g_queue_peek_head(&x->waiting)) && place(f, x, message)) {
		g_queue_pop_head(&x->waiting);
		feed_message_clear(message);
		g_free(message);
	}
}

/* ---- the inbox ---- */

static void take_trace(struct native_feed *f, struct feed_message *message)
{
	struct feed_trace *t = g_new0(struct feed_trace, 1);
	g_assert(trace_place(f, message->number) == f->traces->len);	/* numbers rise */
	t->number = message->number;
	t->meta = meta_new(f);
	t->name = g_steal_pointer(&message->name);
	t->added_us = message->at_us;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	g_ptr_array_add(f->traces, t);
}

static void take_trace_message(struct native_feed *f, struct feed_trace *t, struct feed_message *message)
{
	if (message->kind == FEED_METADATA) {
		take_metadata(f, t, message->bytes);
		feed_parsed(f, g_bytes_get_size(message->bytes));
	} else if (message->kind == FEED_RESTART) {
		restart_metadata(f, t);
	} else {
		t->ended = true;
		trace_closed(t);
		release_trace(f, t);
	}
}

/* NULL: unknown number, or the trace was freed. */
static struct feed_stream *find_stream(struct native_feed *f, unsigned number)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	return g_hash_table_lookup(f->all, GUINT_TO_POINTER(number));
}

static void give_slot(struct native_feed *f, struct feed_stream *x)
{
	if (f->free_slots->len) {
		x->slot = g_array_index(f->free_slots, guint, f->free_slots->len - 1);
		g_array_set_size(f->free_slots, f->free_slots->len - 1);
		g_assert(!f->streams->pdata[x->slot]);
		f->streams->pdata[x->slot] = x;
	} else {
		x->slot = f->streams->len;
		g_ptr_array_add(f->streams, x);
		f->s.n_cursors = f->streams->len;
		f->s.cursor = g_renew(struct native_cursor *, f->s.cursor, f->streams->len);
	}
	f->s.cursor[x->slot] = NULL;
}

static void take_stream(struct native_feed *f, const struct feed_message *message)
{
	struct feed_stream *x = find_stream(f, message->number);
	g_assert(x);			/* native_feed_add_stream() has added it */
	x->late_us = message->late_us;
	x->active_us = f->now_us;
	if (x->late_us < MAX_LATE_US)
		f->max_late_us = MAX(f->max_late_us, x->late_us);
	give_slot(f, x);
	x->trace = feed_trace(f, (unsigned)message->class_id);
	if (!x->trace || x->trace->ended || f->ended) {
		x->trace = NULL;
		feed_stream_end(f, x);
		return;
	}
	x->trace->n_streams++;
	x->trace->n_open++;
	f->rebuild = true;
}

static void take_stream_message(struct native_feed *f, struct feed_stream *x, struct feed_message *message)
{
	if (!x || x->ended || x->closed) {
		if (message->bytes)
			refuse(f, x, message);
		return;
	}
	if (message->kind == FEED_TOUCH) {
		x->active_us = f->now_us;
		return;
	}
	x->active_us = f->now_us;
	struct feed_message *last = g_queue_peek_tail(&x->waiting);
	if (message->kind == FEED_BEACON && last && last->kind == FEED_BEACON && last->class_id == message->class_id) {
		last->cycles = MAX(last->cycles, message->cycles);
		return;
	}
	struct feed_message *copy = g_memdup2(message, sizeof *message);
	message->bytes = NULL;
	if (g_queue_is_empty(&x->waiting))
		g_ptr_array_add(f->pending, x);
	g_queue_push_tail(&x->waiting, copy);
}

static void take_message(struct native_feed *f, struct feed_message *message)
{
	struct feed_trace *t;
	message->at_us = f->now_us;
	if (message->kind == FEED_TRACE)
		take_trace(f, message);
	else if (message->kind == FEED_STREAM)
		take_stream(f, message);
	else if (message->kind == FEED_END)
		f->ended = true;
	else if (message->kind > FEED_TRACE_END)
		take_stream_message(f, find_stream(f, message->number), message);
	else if ((t = feed_trace(f, message->number)) && t->meta)
		take_trace_message(f, t, message);
	else if (message->bytes)
		feed_parsed(f, g_bytes_get_size(message->bytes));	/* the trace or its metadata was freed */
}

void feed_stream_end(struct native_feed *f, struct feed_stream *x)
{
	struct feed_message *message;
	g_assert(!x->ended);
	note_closed(f, x);
	x->ended = x->closed = true;
	while ((message = g_queue_pop_head(&x->waiting))) {
		if (message->bytes)
			refuse(f, x, message);
		feed_message_clear(message);
		g_free(message);
	}
	if (x->track) {
		forget_cut(f, x);
		g_ptr_array_remove(f->order, x);
		f->s.cursor[x->slot] = NULL;
		g_ptr_array_add(f->ended_tracks, g_steal_pointer(&x->track));
	}
	struct feed_trace *t = g_steal_pointer(&x->trace);
	if (t) {
		g_assert(t->n_streams > 0);
		t->n_streams--;
		release_trace(f, t);
	}
	g_ptr_array_add(f->ended_streams, x);
}

/* Frees the first n of .ended_streams. No list has them any more. */
static void free_ended_streams(struct native_feed *f, guint n)
{
	for (guint i = 0; i < n; i++) {
		struct feed_stream *x = g_ptr_array_index(f->ended_streams, i);
		g_assert(x->ended && f->streams->pdata[x->slot] == x);
		f->streams->pdata[x->slot] = NULL;
		g_array_append_val(f->free_slots, x->slot);
		g_atomic_pointer_add(&f->held, -(gssize)x->bytes);
		g_atomic_pointer_add(&f->beside, -(gssize)x->bytes);
		g_mutex_lock(&f->lock);
		g_hash_table_remove(f->all, GUINT_TO_POINTER(x->number));	/* frees it */
		g_mutex_unlock(&f->lock);
	}
	if (n)
		g_ptr_array_remove_range(f->ended_streams, 0, n);
}

static void end_stream(struct native_feed *f, struct feed_stream *x)
{
	struct feed_message *end = g_new0(struct feed_message, 1);
	end->kind = FEED_STREAM_END;
	g_queue_push_tail(&x->waiting, end);
	feed_trouble_wait(f, x);
	place_messages(f, x);
	if (!x->closed)
		close_stream(f, x);		/* what its messages wait for will not come */
}

/* Streams that were cut off are held for a reconnect: not for ever, and not any number of them. */
static void end_old_cuts(struct native_feed *f)
{
	while (!g_queue_is_empty(&f->cut_order)) {
		struct feed_stream *x = find_stream(f, GPOINTER_TO_UINT(g_queue_peek_head(&f->cut_order)));
		bool held = x && x->cut && !x->ended;
		if (held && f->cut_order.length <= LIMIT_CUT_STREAMS &&
		    f->clock_us - x->cut_us <= LIMIT_LOST_SESSION_SECONDS * G_USEC_PER_SEC)
			return;
		g_queue_pop_head(&f->cut_order);
		if (!held)
			continue;
		forget_cut(f, x);
		close_stream(f, x);
	}
}

void feed_take_in(struct native_feed *f)
{
	bool ended = f->ended;
	guint n_ended = f->ended_streams->len;
	g_mutex_lock(&f->lock);
	GArray *inbox = f->inbox;
	f->inbox = f->taken;
	f->taken = inbox;
	g_mutex_unlock(&f->lock);
	for (guint i = 0; i < inbox->len && !native_is_stopped(&f->s); i++) {
		struct feed_message *x = &g_array_index(inbox, struct feed_message, i);
		take_message(f, x);
		g_atomic_pointer_add(&f->beside, -(gssize)feed_message_bytes(x));
	}
	g_array_set_size(inbox, 0);
	end_old_cuts(f);
	for (guint i = 0; f->ended && !ended && i < f->streams->len; i++) {
		struct feed_stream *x = g_ptr_array_index(f->streams, i);
		if (x && !x->ended)
			end_stream(f, x);
	}
	guint n = 0;
	PTR_EACH(struct feed_stream, x, f->pending) {
		if (x->trace && x->trace->ended)	/* reported before the packet is refused */
			feed_trouble_wait(f, x);
		if (!x->ended)
			place_messages(f, x);
		if (g_queue_is_empty(&x->waiting) || x->closed)
			continue;
		feed_trouble_wait(f, x);
		f->pending->pdata[n++] = x;
	}
	g_ptr_array_set_size(f->pending, (gint)n);
	free_ended_streams(f, n_ended);
}
