/* SPDX-License-Identifier: GPL-2.0-only */
/* Turns babeltrace2's messages into records: streams, packets, losses, tallies. bt2_bind.c reads the events'
 * fields. */
#include "trace/bt2/bt2_convert.h"

#include "base/sort.h"
#include "trace/bt2/bt2_bind.h"
#include "trace/bt2/bt2_clock.h"
#include "trace/bt2/bt2_mip.h"
#include "trace/ctf/layouts.h"

#define NS_PER_S 1000000000
#define MAX_DIRECT_ID 65536	/* event class ids looked up by index */

/* Event classes of one stream class. */
struct class_set {
	const bt_stream_class *sc;
	unsigned users;			/* streams */
	GPtrArray *by_id;		/* struct bt2_binding *, gaps NULL */
	GHashTable *by_far_id;		/* the same for ids beyond MAX_DIRECT_ID */
};

/* A stream of babeltrace2, while it is read. */
struct in_stream {
	const bt_stream *bt;		/* reference */
	struct class_set *classes;
	struct bt2_clock clock;
	struct blk_stream info;		/* of the stream being added; make_order() sets .order */
	char *order_base;		/* the order key without the CPU */
	uint16_t index;			/* stream number in the source; G_MAXUINT16: not added yet */
	bool has_packets;
	GHashTable *by_cpu;		/* perf puts all CPUs into one stream: CPU -> stream number + 1 */

	int64_t last_ts;		/* ns, of the last event or packet border */
	int64_t event_ns, before_ns;	/* as in struct native_cursor, as the next one */
	bool went_back;
	int64_t packet_end;		/* ns, the latest end of a packet; INT64_MAX: unknown */
	bool loss_pending;		/* the next packet, or the current one, lost events */
	bool is_placed;			/* the native reader placed this stream's losses */
	bool counter_seen;		/* babeltrace2 reported the discarded counter of the next packet */
	uint64_t lost_events;		/* if loss_pending: how many; 0: unknown */
	int64_t below;			/* how far the discarded counter is below its highest value; see rise() */

	int64_t second, second_end;	/* s: the second that .counts is of; ns: its end */
	GArray *counts;			/* uint64_t by class index */
	GArray *counted;		/* uint32_t: classes whose count is not 0 */
	int64_t tally_last;		/* ns, of the newest event counted */
	bool tally_reported;		/* the first event was reported at once (struct blk_tally) */
};

struct bt2_convert {
	struct source *source;		/* borrowed */
	GHashTable *clocks;		/* see bt2_clock_init() */
	const struct blk_subscription *rows;
	struct blk_matcher *matcher;
	GHashTable *streams;		/* bt_stream * -> struct in_stream * */
	GHashTable *class_sets;		/* bt_stream_class * -> struct class_set * */
	GHashTable *class_names;	/* char * -> class index + 1 */
	GHashTable *layouts;
	struct in_stream *last;		/* stream of the last message */
	GArray *ends;			/* int64_t by stream number of the source; see bt2_convert_end() */
	GHashTable *notes;		/* note_key() -> what the native reader found, see enum note */
	GHashTable *kernels;		/* boot -> name of the host in its kernel's trace; both owned */
};

static void free_class_set(void *p)
{
	struct class_set *set = p;
	g_ptr_array_unref(set->by_id);
	g_hash_table_unref(set->by_far_id);
	bt_stream_class_put_ref(set->sc);
	g_free(set);
}

static void free_binding(void *p)
{
	bt2_binding_free(p);
}

static void free_stream(void *p)
{
	struct in_stream *st = p;
	bt_stream_put_ref(st->bt);
	if (st->by_cpu)
		g_hash_table_unref(st->by_cpu);
	g_array_unref(st->counts);
	g_array_unref(st->counted);
	g_free(st->order_base);
	g_free(st->info.vpid_procname);
	g_free(st->info.hostname);
	g_free(st);
}

struct bt2_convert *bt2_convert_new(struct source *s, const struct blk_subscription *rows,
				    size_t n_rows)
{
	struct bt2_convert *c = g_new0(struct bt2_convert, 1);
	c->source = s;
	c->clocks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	c->rows = rows;
	c->matcher = blk_matcher_new(rows, n_rows);
	c->streams = g_hash_table_new_full(NULL, NULL, NULL, free_stream);
	c->class_sets = g_hash_table_new_full(NULL, NULL, NULL, free_class_set);
	c->class_names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	c->layouts = layouts_new();
	c->notes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	c->kernels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	c->ends = g_array_new(FALSE, TRUE, sizeof(int64_t));
	return c;
}

void bt2_convert_free(struct bt2_convert *c)
{
	if (!c)
		return;
	g_array_unref(c->ends);
	g_hash_table_unref(c->notes);
	g_hash_table_unref(c->kernels);
	g_hash_table_unref(c->streams);
	g_hash_table_unref(c->class_sets);
	g_hash_table_unref(c->class_names);
	g_hash_table_unref(c->layouts);
	blk_matcher_free(c->matcher);
	g_hash_table_unref(c->clocks);
	g_free(c);
}

/* -- what the native reader found ------------------------------------------ */

/* Of a stream (.order; ns: an instant in it), or of a host (host_key()). */
enum note {
	NOTE_PAUSED,		/* a packet that ends there: int64_t, beginning of the pause */
	NOTE_PAUSE,		/* a packet that begins there: the same */
	NOTE_FALL,		/* likewise: uint64_t, see bt2_convert_fall() */
	NOTE_LOSS, NOTE_PART,	/* struct blk_loss that begins there; NOTE_PART: with .is_part */
	NOTE_PLACED,		/* ns 0: the stream's losses are in these notes */
	NOTE_RECORDED,		/* ns 0: int64_t[2], see bt2_convert_recorded() */
	NOTE_EXTENT,		/* of a host: int64_t[2], see bt2_convert_extent() */
	NOTE_MACHINE,		/* of a host: struct machine_evidence */
};

static char *note_key(enum note kind, const char *of, int64_t ns)
{
	return g_strdup_printf("%u %" G_GINT64_FORMAT " %s", kind, ns, of);
}

static void add_note(struct bt2_convert *c, enum note kind, const char *of, int64_t ns, const void *data, size_t size)
{
	g_hash_table_insert(c->notes, note_key(kind, of, ns), g_memdup2(data, size));
}

static void *find_note(const struct bt2_convert *c, enum note kind, const char *of, int64_t ns)
{
	g_autofree char *key = note_key(kind, of, ns);
	return g_hash_table_lookup(c->notes, key);
}

/* Of a stream that was added. */
static void *find_stream_note(const struct bt2_convert *c, enum note kind, const struct in_stream *st, int64_t ns)
{
	return find_note(c, kind, blk_stream(&c->source->tables, st->index)->order, ns);
}

static char *host_key(const char *host, const char *boot)
{
	return g_strdup_printf("%s %s", boot, host);
}

void bt2_convert_machine(void *convert, const char *host, const char *boot, const struct machine_evidence *e)
{
	g_autofree char *key = host_key(host, boot);
	struct machine_evidence *known = find_note(convert, NOTE_MACHINE, key, 0);
	if (known)
		machine_evidence_add(known, e);
	else
		add_note(convert, NOTE_MACHINE, key, 0, e, sizeof *e);
}

void bt2_convert_extent(void *convert, const char *host, const char *boot, G_GNUC_UNUSED const char *release,
			int64_t begin_ns, int64_t end_ns)
{
	g_autofree char *key = host_key(host, boot);
	add_note(convert, NOTE_EXTENT, key, 0, (const int64_t[]){ begin_ns, end_ns }, 2 * sizeof(int64_t));
}

void bt2_convert_recorded(void *convert, const char *order, int64_t from_ns, int64_t to_ns)
{
	add_note(convert, NOTE_RECORDED, order, 0, (const int64_t[]){ from_ns, to_ns }, 2 * sizeof(int64_t));
}

void bt2_convert_pause(void *convert, const char *order, int64_t last_end, int64_t begin, int64_t end)
{
	add_note(convert, NOTE_PAUSED, order, last_end, &begin, sizeof begin);
	add_note(convert, NOTE_PAUSE, order, end, &begin, sizeof begin);
}

void bt2_convert_fall(void *convert, const char *order, int64_t begin_ns, uint64_t fall)
{
	add_note(convert, NOTE_FALL, order, begin_ns, &fall, sizeof fall);
}

void bt2_convert_loss(struct bt2_convert *c, const char *order, const struct blk_loss *loss)
{
	add_note(c, NOTE_PLACED, order, 0, "", 1);
	add_note(c, loss->is_part ? NOTE_PART : NOTE_LOSS, order, loss->begin_ns, loss, sizeof *loss);
}

/* -- environment of the trace ---------------------------------------------- */

static const char *env_text(const bt_trace *trace, const char *name, const char *absent)
{
	const bt_value *v = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
	return v && bt_value_is_string(v) ? bt_value_string_get(v) : absent;
}

static int32_t env_vpid(const bt_trace *trace)
{
	const bt_value *v = bt_trace_borrow_environment_entry_value_by_name_const(trace, "vpid");
	if (v && bt_value_is_signed_integer(v))
		return (int32_t)bt_value_integer_signed_get(v);
	if (v && bt_value_is_unsigned_integer(v))
		return (int32_t)bt_value_integer_unsigned_get(v);
	return -1;
}

static enum blk_domain env_domain(const bt_trace *trace)
{
	const char *domain = env_text(trace, "domain", "");
	return !strcmp(domain, "kernel") ? BLK_DOMAIN_KERNEL :
	       !strcmp(domain, "ust") ? BLK_DOMAIN_UST : BLK_DOMAIN_OTHER;
}

/* A key that sorts in the order of equal timestamps, without the CPU. */
static char *make_order_base(const bt_stream *bt, const bt_trace *trace, const char *boot)
{
	char uuid[BT2_UUID_TEXT];
	bt2_trace_identity(trace, uuid);
	uint64_t sc = bt_stream_class_get_id(bt_stream_borrow_class_const(bt));
	return g_strdup_printf("%s|%d|%s|%016" G_GINT64_MODIFIER "x", boot, env_domain(trace), uuid,
			       sc);
}

static char *make_order(const struct in_stream *st, uint32_t cpu)
{
	if (cpu != UINT32_MAX)
		return g_strdup_printf("%s|cpu %08x", st->order_base, cpu);
	return g_strdup_printf("%s|instance %016" G_GINT64_MODIFIER "x", st->order_base,
			       bt_stream_get_id(st->bt));
}

static const char *env_host(const bt_trace *trace)
{
	const char *name = env_text(trace, "hostname", env_text(trace, "host", "?"));
	return name[0] ? name : "?";
}

/* name: of its own trace, or of that of its boot's kernel. */
static unsigned add_host(struct bt2_convert *c, const bt_trace *trace, const char *name, const char *boot)
{
	const char *release = env_text(trace, "kernel_release", env_text(trace, "release", ""));
	unsigned host = source_add_host(c->source, name, boot, release);
	g_autofree char *key = host_key(name, boot);
	const int64_t *extent = find_note(c, NOTE_EXTENT, key, 0);
	if (extent)
		source_host_lasts(c->source, host, extent[0], extent[1]);
	const struct machine_evidence *machine = find_note(c, NOTE_MACHINE, key, 0);
	if (machine)
		source_host_machine(c->source, host, machine);
	return host;
}

/* -- streams and classes -------------------------------------------------- */

static struct class_set *use_class_set(struct bt2_convert *c, const bt_stream_class *sc)
{
	struct class_set *set = g_hash_table_lookup(c->class_sets, sc);
	if (!set) {
		set = g_new0(struct class_set, 1);
		set->sc = sc;
		bt_stream_class_get_ref(sc);
		set->by_id = g_ptr_array_new_with_free_func(free_binding);
		set->by_far_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
						       free_binding);
		g_hash_table_insert(c->class_sets, (void *)sc, set);
	}
	set->users++;
	return set;
}

static struct in_stream *open_stream(struct bt2_convert *c, const bt_stream *bt, GError **error)
{
	const bt_stream_class *sc = bt_stream_borrow_class_const(bt);
	const bt_trace *trace = bt_stream_borrow_trace_const(bt);
	const bt_clock_class *cc = bt_stream_class_borrow_default_clock_class_const(sc);
	const char *name = bt_stream_get_name(bt);
	if (!cc) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
			    "cannot place the events of stream '%s' in time: it has no clock",
			    name ? name : "?");
		return NULL;
	}
	struct in_stream *st = g_new0(struct in_stream, 1);
	st->bt = bt;
	bt_stream_get_ref(bt);
	st->classes = use_class_set(c, sc);
	bt2_clock_init(&st->clock, cc, c->clocks);
	st->order_base = make_order_base(bt, trace, st->clock.uuid);
	st->info.cpu = UINT32_MAX;
	const char *kernel = g_hash_table_lookup(c->kernels, st->clock.uuid), *own = env_host(trace);
	st->info.host = add_host(c, trace, kernel ? kernel : own, st->clock.uuid);
	st->info.domain = env_domain(trace);
	if (kernel && st->info.domain != BLK_DOMAIN_KERNEL && strcmp(kernel, own))
		st->info.hostname = g_strdup(own);
	if (st->info.domain == BLK_DOMAIN_KERNEL)
		source_has_kernel(c->source, st->info.host);
	st->info.vpid = st->info.domain == BLK_DOMAIN_UST ? env_vpid(trace) : -1;
	if (st->info.vpid != -1)
		st->info.vpid_procname = g_strdup(env_text(trace, "procname", NULL));
	st->index = G_MAXUINT16;
	st->has_packets = bt_stream_class_supports_packets(sc);
	st->last_ts = st->second_end = st->packet_end = st->event_ns = st->before_ns = G_MININT64;
	st->counts = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	st->counted = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_hash_table_insert(c->streams, (void *)bt, st);
	return st;
}

static struct in_stream *find_stream(struct bt2_convert *c, const bt_stream *bt, GError **error)
{
	if (G_LIKELY(c->last && c->last->bt == bt))
		return c->last;
	c->last = g_hash_table_lookup(c->streams, bt);
	if (!c->last)
		c->last = open_stream(c, bt, error);
	return c->last;
}

static void close_stream(struct bt2_convert *c, struct in_stream *st)
{
	struct class_set *set = st->classes;
	c->last = NULL;
	g_hash_table_remove(c->streams, st->bt);
	g_assert(set->users > 0);
	if (!--set->users)
		g_hash_table_remove(c->class_sets, set->sc);
}

static uint32_t class_index(struct bt2_convert *c, const char *name, uint16_t row,
			    const char *counters)
{
	g_autofree char *key = blk_class_key(name, counters);
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(c->class_names, key));
	if (known)
		return known - 1;
	uint32_t cls = source_add_class(c->source, name, row, counters);
	g_hash_table_insert(c->class_names, g_steal_pointer(&key), GUINT_TO_POINTER(cls + 1));
	return cls;
}

static struct bt2_binding *bind_class(struct bt2_convert *c, struct class_set *set,
				      const bt_event_class *ec, uint64_t id)
{
	struct bt2_types types;
	struct ctf_wanted w[LIMIT_EVENT_COUNTERS];
	unsigned n;
	if (id >= MAX_DIRECT_ID) {
		struct bt2_binding *far = g_hash_table_lookup(set->by_far_id, &id);
		if (far)
			return far;
	}
	bt2_types_init(&types, ec);
	uint16_t row = blk_matcher_class(c->matcher, types.ec.name, ctf_wanted_is_probe(&types.ec));
	const struct blk_subscription *sub = row == G_MAXUINT16 ? NULL : &c->rows[row];
	g_autofree char *counters = blk_wants_counters(sub) ? ctf_wanted_counters(&types.sc, &types.ec, w, &n) : NULL;
	struct bt2_binding *b = bt2_binding_new(&types, sub, row, class_index(c, types.ec.name, row, counters),
						c->layouts);
	bt2_types_clear(&types);
	if (id >= MAX_DIRECT_ID) {
		g_hash_table_insert(set->by_far_id, g_memdup2(&id, sizeof id), b);
		return b;
	}
	if (id >= set->by_id->len)
		g_ptr_array_set_size(set->by_id, id + 1);
	set->by_id->pdata[id] = b;
	return b;
}

static inline struct bt2_binding *find_binding(struct bt2_convert *c, struct class_set *set,
					       const bt_event_class *ec)
{
	uint64_t id = bt_event_class_get_id(ec);
	if (G_LIKELY(id < set->by_id->len && set->by_id->pdata[id]))
		return set->by_id->pdata[id];
	return bind_class(c, set, ec, id);
}

/* -- records -------------------------------------------------------------- */

void bt2_out_clear(struct bt2_out *o)
{
	g_free(o->ev);
	arena_clear(&o->own);
	*o = (struct bt2_out){ .arena = o->arena };
}

void bt2_out_silence(struct bt2_out *o, int64_t from_ns)
{
	g_assert(o->n && o->ev[0].row == BLK_ROW_STREAM_ADD && from_ns <= o->ev[0].ts);
	struct blk_loss *l = arena_alloc(o->arena ? o->arena : &o->own, sizeof *l);
	*l = (struct blk_loss){ .begin_ns = from_ns, .end_ns = o->ev[0].ts, .silence = true };
	if (o->n + 2 > o->cap) {
		o->cap = o->cap * 2 + 2;
		o->ev = g_renew(struct blk_event, o->ev, o->cap);
	}
	memmove(o->ev + 3, o->ev + 1, (o->n - 1) * sizeof *o->ev);
	o->n += 2;
	o->ev[0].ts = from_ns;
	o->ev[1] = (struct blk_event){ .ts = from_ns, .row = BLK_ROW_LOST_BEGIN,
				       .stream = o->ev[0].stream, .data = (uint8_t *)l };
	o->ev[2] = o->ev[1];
	o->ev[2].ts = l->end_ns;
	o->ev[2].row = BLK_ROW_LOST_END;
}

static struct blk_event *push(struct bt2_out *out, int64_t ts, uint16_t row, uint16_t stream)
{
	if (G_UNLIKELY(out->n == out->cap)) {
		out->cap = MAX(64, out->cap * 2);
		out->ev = g_renew(struct blk_event, out->ev, out->cap);
	}
	struct blk_event *e = &out->ev[out->n++];
	*e = (struct blk_event){ .ts = ts, .row = row, .stream = stream };
	return e;
}

static inline struct arena *arena_of(struct bt2_out *out)
{
	return out->arena ? out->arena : &out->own;
}

static uint16_t add_stream(struct bt2_convert *c, struct in_stream *st, uint32_t cpu, int64_t ts,
			   struct bt2_out *out)
{
	struct blk_stream info = st->info;
	g_autofree char *order = make_order(st, cpu);
	info.cpu = cpu;
	info.order = order;
	const int64_t *recorded = find_note(c, NOTE_RECORDED, order, 0);
	info.recorded_from = recorded ? recorded[0] : 0;
	info.recorded_to = recorded ? recorded[1] : 0;
	uint16_t index = source_add_stream(c->source, &info);
	push(out, ts, BLK_ROW_STREAM_ADD, index);
	return index;
}

static inline void ensure_added(struct bt2_convert *c, struct in_stream *st, int64_t ts,
				struct bt2_out *out)
{
	if (G_LIKELY(st->index != G_MAXUINT16))
		return;
	st->index = add_stream(c, st, st->info.cpu, ts, out);
	st->is_placed = find_stream_note(c, NOTE_PLACED, st, 0);
}

/* perf writes the events of all CPUs to one stream; each CPU gets its own stream here. */
static uint16_t stream_of_cpu(struct bt2_convert *c, struct in_stream *st, uint32_t cpu, int64_t ts,
			      struct bt2_out *out)
{
	if (cpu == UINT32_MAX)
		return st->index;
	if (!st->by_cpu)
		st->by_cpu = g_hash_table_new(NULL, NULL);
	void *key = GUINT_TO_POINTER(cpu);
	unsigned index = GPOINTER_TO_UINT(g_hash_table_lookup(st->by_cpu, key));
	if (!index) {
		index = add_stream(c, st, cpu, ts, out) + 1;
		g_hash_table_insert(st->by_cpu, key, GUINT_TO_POINTER(index));
	}
	return index - 1;
}

static void flush_tallies(struct in_stream *st, struct bt2_out *out)
{
	for (guint i = 0; i < st->counted->len; i++) {
		uint32_t cls = g_array_index(st->counted, uint32_t, i);
		uint64_t *count = &g_array_index(st->counts, uint64_t, cls);
		struct blk_tally *t = arena_alloc(arena_of(out), sizeof *t);
		*t = (struct blk_tally){
			.second = st->second, .count = *count, .last_ns = st->tally_last,
		};
		struct blk_event *e = push(out, st->last_ts, BLK_ROW_TALLY, st->index);
		e->cls = cls;
		e->data = (uint8_t *)t;
		*count = 0;
	}
	g_array_set_size(st->counted, 0);
}

static void next_second(struct in_stream *st, int64_t ts, struct bt2_out *out)
{
	flush_tallies(st, out);
	st->second = ts / NS_PER_S - (ts % NS_PER_S < 0);
	st->second_end = st->second < G_MAXINT64 / NS_PER_S ? (st->second + 1) * NS_PER_S
							     : G_MAXINT64;
}

static void tally(struct in_stream *st, uint32_t cls)
{
	if (G_UNLIKELY(cls >= st->counts->len))
		g_array_set_size(st->counts, cls + 1);
	if (!g_array_index(st->counts, uint64_t, cls)++)
		g_array_append_val(st->counted, cls);
}

/* The snapshot in ns. Timestamps of a stream never decrease. */
static inline int64_t advance(struct in_stream *st, const bt_clock_snapshot *cs)
{
	int64_t ts = bt2_clock_ns(&st->clock, bt_clock_snapshot_get_value(cs));
	return G_LIKELY(ts >= st->last_ts) ? ts : st->last_ts;
}

static void push_loss(struct in_stream *st, const struct blk_loss *loss, struct bt2_out *out)
{
	struct blk_loss *l = arena_alloc(arena_of(out), sizeof *l);
	*l = *loss;
	push(out, l->begin_ns, BLK_ROW_LOST_BEGIN, st->index)->data = (uint8_t *)l;
	push(out, l->end_ns, BLK_ROW_LOST_END, st->index)->data = (uint8_t *)l;
}

/* The packet lost events. Adds a loss if some may be missing between the record before, at from_ns, and that at ts. */
static void add_discarded(const struct bt2_convert *c, struct in_stream *st, int64_t from_ns, int64_t ts,
			  struct bt2_out *out)
{
	if (from_ns >= ts)
		return;
	struct blk_loss whole = { .begin_ns = from_ns, .end_ns = ts, .is_part = true };
	const struct blk_loss *loss = st->is_placed ? find_stream_note(c, NOTE_PART, st, from_ns) : &whole;
	if (loss && loss->end_ns == ts)
		push_loss(st, loss, out);
}

/* An event is stamped `at`: is that earlier than one before it? Then it is unknown when it was. */
static void follow_clock(struct in_stream *st, int64_t at, struct bt2_out *out)
{
	if (G_LIKELY(at >= st->event_ns)) {
		st->event_ns = at;
		return;
	}
	uint64_t back = (uint64_t)MAX(st->last_ts, st->event_ns) - (uint64_t)at;
	st->went_back = true;
	push_loss(st, &(struct blk_loss){ .begin_ns = st->last_ts, .end_ns = st->last_ts, .silence = true,
					  .back_ns = (int64_t)MIN(back, INT64_MAX) }, out);
}

/* -- messages ------------------------------------------------------------- */

static bool on_event(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
		     GError **error)
{
	const bt_event *event = bt_message_event_borrow_event_const(msg);
	struct in_stream *st = find_stream(c, bt_event_borrow_stream_const(event), error);
	if (G_UNLIKELY(!st))
		return false;
	const bt_clock_snapshot *cs = bt_message_event_borrow_default_clock_snapshot_const(msg);
	int64_t ts = advance(st, cs);
	struct bt2_binding *b = find_binding(c, st->classes, bt_event_borrow_class_const(event));
	ensure_added(c, st, ts, out);
	if (G_UNLIKELY(ts >= st->second_end))
		next_second(st, ts, out);
	if (G_UNLIKELY(st->loss_pending))
		add_discarded(c, st, st->last_ts, ts, out);
	st->last_ts = ts;
	follow_clock(st, bt2_clock_ns(&st->clock, bt_clock_snapshot_get_value(cs)), out);
	if (b->row == G_MAXUINT16) {
		tally(st, b->cls);
		st->tally_last = ts;
		if (G_UNLIKELY(!st->tally_reported)) {
			flush_tallies(st, out);		/* coverage begins with it */
			st->tally_reported = true;
		}
		return true;
	}
	uint16_t index = st->index;
	if (G_UNLIKELY(b->has_cpu && st->info.cpu == UINT32_MAX))
		index = stream_of_cpu(c, st, bt2_binding_cpu(b, event), ts, out);
	bt2_binding_read(b, event, arena_of(out), push(out, ts, b->row, index));
	return true;
}

static uint32_t packet_cpu(const bt_packet *packet)
{
	const bt_field *f = bt_packet_borrow_context_field_const(packet);
	if (f)
		f = bt_field_structure_borrow_member_field_by_name_const(f, "cpu_id");
	if (!f || !bt_field_class_type_is(bt_field_get_class_type(f),
					  BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return UINT32_MAX;
	return (uint32_t)MIN(bt_field_integer_unsigned_get_value(f), UINT32_MAX);
}

static void end_pause(struct bt2_convert *c, struct in_stream *st, const bt_clock_snapshot *at,
		      struct bt2_out *out)
{
	int64_t end = bt2_clock_ns(&st->clock, bt_clock_snapshot_get_value(at));
	const int64_t *begin = st->index == G_MAXUINT16 ? NULL : find_stream_note(c, NOTE_PAUSE, st, end);
	if (!begin)
		return;
	struct blk_loss loss = { .begin_ns = MAX(*begin, st->last_ts), .silence = true };
	st->last_ts = loss.begin_ns;		/* for tallies from before the pause */
	loss.end_ns = MAX(end, st->last_ts);
	if (loss.end_ns >= st->second_end)
		next_second(st, loss.end_ns, out);
	push_loss(st, &loss, out);
	st->last_ts = loss.end_ns;
}

/* By how much the discarded counter rose above its highest value. `step` is its change since the last packet,
 * modulo 2^64, as babeltrace2 reports it. In user-space traces the counter is 0 in some packets and continues in
 * the next. */
static uint64_t rise(struct in_stream *st, uint64_t step)
{
	int64_t below = (int64_t)((uint64_t)st->below - step);
	st->below = MAX(below, 0);
	return below < 0 ? -(uint64_t)below : 0;
}

/* babeltrace2 2.0 reports two cases that 2.1 does not: a packet's counter fell, or it is not 0 in the first packet,
 * which is a loss of unknown size. */
static void check_fall(struct bt2_convert *c, struct in_stream *st, const bt_clock_snapshot *at)
{
	bool seen = st->counter_seen;
	st->counter_seen = false;
	if (seen)
		return;
	int64_t begin = bt2_clock_ns(&st->clock, bt_clock_snapshot_get_value(at));
	const uint64_t *fall = find_stream_note(c, NOTE_FALL, st, begin);
	if (fall && *fall)
		rise(st, -*fall);
	else if (fall)
		st->loss_pending = true;
}

static bool on_packet_beginning(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
				GError **error)
{
	const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(msg);
	struct in_stream *st = find_stream(c, bt_packet_borrow_stream_const(packet), error);
	if (!st)
		return false;
	if (st->index == G_MAXUINT16)
		st->info.cpu = packet_cpu(packet);
	if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(st->classes->sc))
		return true;
	const bt_clock_snapshot *begin = bt_message_packet_beginning_borrow_default_clock_snapshot_const(msg);
	end_pause(c, st, begin, out);
	int64_t ts = advance(st, begin);
	st->before_ns = st->event_ns;
	st->went_back = false;
	bool is_first = st->index == G_MAXUINT16;
	ensure_added(c, st, ts, out);
	check_fall(c, st, begin);
	/* Tallies belong to the second in which they were counted: flush them before time advances. */
	if (ts >= st->second_end)
		next_second(st, ts, out);
	if (st->loss_pending && !is_first) {	/* the packet before may have been full */
		int64_t full_ns = st->packet_end == INT64_MAX ? st->last_ts : MAX(st->last_ts, st->packet_end);
		add_discarded(c, st, full_ns, ts, out);
	}
	st->last_ts = ts;
	return true;
}

static bool on_packet_end(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
			  GError **error)
{
	const bt_packet *packet = bt_message_packet_end_borrow_packet_const(msg);
	struct in_stream *st = find_stream(c, bt_packet_borrow_stream_const(packet), error);
	if (!st)
		return false;
	int64_t begin = st->last_ts, end = begin;
	bool paused = false;
	if (bt_stream_class_packets_have_end_default_clock_snapshot(st->classes->sc)) {
		const bt_clock_snapshot *cs =
			bt_message_packet_end_borrow_default_clock_snapshot_const(msg);
		int64_t packet_end = bt2_clock_ns(&st->clock, bt_clock_snapshot_get_value(cs));
		end = advance(st, cs);
		st->packet_end = MAX(st->packet_end, packet_end);
		if (!st->went_back && st->event_ns > packet_end)
			st->event_ns = MAX(st->before_ns, packet_end);
		paused = st->index != G_MAXUINT16 && find_stream_note(c, NOTE_PAUSED, st, packet_end);
	} else {
		st->packet_end = INT64_MAX;
	}
	if (end >= st->second_end)
		next_second(st, end, out);
	if (st->loss_pending || paused) {
		struct blk_loss loss = { .events = st->lost_events, .begin_ns = begin, .end_ns = end,
					 .silence = !st->loss_pending };
		ensure_added(c, st, begin, out);
		const struct blk_loss *placed = st->loss_pending ? find_stream_note(c, NOTE_LOSS, st, begin) : NULL;
		loss.earlier_ns = placed ? placed->earlier_ns : 0;
		push_loss(st, &loss, out);
		st->loss_pending = false;
		st->lost_events = 0;
		st->last_ts = end;	/* packets of old tracers overlap by a microsecond */
	}
	return true;
}

/* This message precedes the packet that has the higher counter. The events were lost at the end of that packet, so
 * the loss is reported there. */
static bool on_discarded_events(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
				GError **error)
{
	struct in_stream *st = find_stream(c, bt_message_discarded_events_borrow_stream_const(msg),
					   error);
	uint64_t count = 0;
	if (!st)
		return false;
	st->counter_seen = true;
	if (bt_message_discarded_events_get_count(msg, &count) != BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 0;
	else if (!(count = rise(st, count)))
		return true;
	if (st->has_packets) {
		st->loss_pending = true;
		st->lost_events += count;
		return true;
	}
	struct blk_loss loss = { .events = count, .begin_ns = st->last_ts };
	if (bt_stream_class_discarded_events_have_default_clock_snapshots(st->classes->sc)) {
		loss.begin_ns = advance(st,
			bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(msg));
		st->last_ts = loss.begin_ns;
		loss.end_ns = advance(st,
			bt_message_discarded_events_borrow_end_default_clock_snapshot_const(msg));
	} else if (loss.begin_ns == G_MININT64) {
		return true;	/* no instant is known yet */
	} else {
		loss.end_ns = loss.begin_ns;
	}
	ensure_added(c, st, loss.begin_ns, out);
	push_loss(st, &loss, out);
	st->last_ts = loss.end_ns;
	return true;
}

static bool on_discarded_packets(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
				 GError **error)
{
	struct in_stream *st = find_stream(c, bt_message_discarded_packets_borrow_stream_const(msg),
					   error);
	struct blk_loss loss = { 0 };
	if (!st)
		return false;
	if (bt_message_discarded_packets_get_count(msg, &loss.packets) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		loss.packets = 0;
	loss.begin_ns = loss.end_ns = st->last_ts;
	if (bt_stream_class_discarded_packets_have_default_clock_snapshots(st->classes->sc)) {
		loss.begin_ns = advance(st,
			bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(msg));
		loss.end_ns = advance(st,
			bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(msg));
		loss.end_ns = MAX(loss.begin_ns, loss.end_ns);
	} else if (loss.begin_ns == G_MININT64) {
		return true;
	}
	ensure_added(c, st, loss.begin_ns, out);
	if (loss.end_ns >= st->second_end)
		next_second(st, loss.end_ns, out);
	push_loss(st, &loss, out);
	st->last_ts = loss.end_ns;
	return true;
}

static bool on_stream_beginning(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
				GError **error)
{
	return find_stream(c, bt_message_stream_beginning_borrow_stream_const(msg), error) != NULL;
}

static void end_of_cpu(void *key, void *value, void *data)
{
	g_array_append_val((GArray *)data, ((unsigned){ GPOINTER_TO_UINT(value) - 1 }));
}

static int compare_unsigned(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return ORDER(x, y);
}

static bool on_stream_end(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
			  GError **error)
{
	struct in_stream *st = find_stream(c, bt_message_stream_end_borrow_stream_const(msg), error);
	if (!st)
		return false;
	if (st->index != G_MAXUINT16) {		/* otherwise it had no packet, and no instant is known */
		flush_tallies(st, out);
		if (st->by_cpu) {
			g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(unsigned));
			g_hash_table_foreach(st->by_cpu, end_of_cpu, ends);
			g_array_sort(ends, compare_unsigned);
			for (guint i = 0; i < ends->len; i++)
				push(out, st->last_ts, BLK_ROW_STREAM_END,
				     g_array_index(ends, unsigned, i));
		}
		push(out, st->last_ts, BLK_ROW_STREAM_END, st->index);
		if (st->index >= c->ends->len)
			g_array_set_size(c->ends, st->index + 1u);
		g_array_index(c->ends, int64_t, st->index) = st->packet_end;
	}
	close_stream(c, st);
	return true;
}

int64_t bt2_convert_end(const struct bt2_convert *c, unsigned stream)
{
	return stream < c->ends->len ? g_array_index(c->ends, int64_t, stream) : INT64_MAX;
}

bool bt2_convert_message(struct bt2_convert *c, const bt_message *msg, struct bt2_out *out,
			 GError **error)
{
	static const struct {
		bt_message_type type;
		bool (*handle)(struct bt2_convert *, const bt_message *, struct bt2_out *,
			       GError **);
	} handlers[] = {
		{ BT_MESSAGE_TYPE_PACKET_BEGINNING, on_packet_beginning },
		{ BT_MESSAGE_TYPE_PACKET_END, on_packet_end },
		{ BT_MESSAGE_TYPE_DISCARDED_EVENTS, on_discarded_events },
		{ BT_MESSAGE_TYPE_DISCARDED_PACKETS, on_discarded_packets },
		{ BT_MESSAGE_TYPE_STREAM_BEGINNING, on_stream_beginning },
		{ BT_MESSAGE_TYPE_STREAM_END, on_stream_end },
	};
	bt_message_type type = bt_message_get_type(msg);
	if (G_LIKELY(type == BT_MESSAGE_TYPE_EVENT))
		return on_event(c, msg, out, error);
	for (size_t i = 0; i < G_N_ELEMENTS(handlers); i++)
		if (handlers[i].type == type)
			return handlers[i].handle(c, msg, out, error);
	return true;
}

void bt2_convert_pin_clocks(struct bt2_convert *c, const bt_stream *const *streams, size_t n)
{
	/* In the order of these keys the kernel's trace comes first of its boot. */
	g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);
	for (size_t i = 0; i < n; i++) {
		struct bt2_clock clock;
		const bt_clock_class *cc = bt_stream_class_borrow_default_clock_class_const(
			bt_stream_borrow_class_const(streams[i]));
		if (!cc)
			continue;
		bt2_clock_init(&clock, cc, NULL);
		char *key = make_order_base(streams[i], bt_stream_borrow_trace_const(streams[i]),
					    clock.uuid);
		g_ptr_array_add(keys, key);
		g_hash_table_insert(by_key, key, (void *)streams[i]);
	}
	g_ptr_array_sort(keys, order_texts);
	for (guint i = 0; i < keys->len; i++) {
		const bt_stream *bt = g_hash_table_lookup(by_key, keys->pdata[i]);
		const bt_trace *trace = bt_stream_borrow_trace_const(bt);
		struct bt2_clock clock;
		bt2_clock_init(&clock, bt_stream_class_borrow_default_clock_class_const(
				       bt_stream_borrow_class_const(bt)), c->clocks);
		if (clock.uuid[0] && env_domain(trace) == BLK_DOMAIN_KERNEL &&
		    !g_hash_table_contains(c->kernels, clock.uuid))
			g_hash_table_insert(c->kernels, g_strdup(clock.uuid), g_strdup(env_host(trace)));
	}
}
