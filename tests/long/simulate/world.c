/* SPDX-License-Identifier: GPL-2.0-only */
/* What is traced and when it reaches the relay: see relay.h. */
#include "relay.h"
#include "sched.h"

#include "lib/made_feed.h"

#include <string.h>

#define MS 1000				/* us */
#define NS_MS INT64_C(1000000)
#define LAST_MOMENTS_US 250000		/* as ATTACH_LAST_US */
#define HEADER_BYTES 84			/* of a packet, up to its first event */
#define MOST_PACKET_EVENTS 60

struct sim_world world;

static const char metadata_format[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; } := u8;\n"
	"typealias integer { size = 16; align = 8; } := u16;\n"
	"typealias integer { size = 32; align = 8; } := u32;\n"
	"typealias integer { size = 32; align = 8; signed = 1; } := i32;\n"
	"typealias integer { size = 64; align = 8; } := u64;\n"
	"trace { major = 1; minor = 8; byte_order = le; uuid = \"%08x-0000-0000-0000-000000000000\";\n"
	"packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };\n"
	"env { hostname = \"web1\"; domain = \"ust\"; tracer_name = \"lttng-ust\"; %s };\n"
	"clock { name = c; uuid = \"01010101-0101-0101-0101-010101010101\"; freq = 1000000000;\n"
	"offset_s = 1795244812; };\n"
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
	"stream { id = 7; event.header := struct { u16 id; ts timestamp; };\n"
	"packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size;\n"
	"u64 packet_seq_num; u64 events_discarded; u32 cpu_id; };\n"
	"event.context := struct { i32 _vpid; i32 _vtid; }; };\n"
	"event { id = 0; stream_id = 7; name = \"zipkin:timestamp\"; fields := struct { string _trace_name;\n"
	"string _service_name; i32 _port_no; string _ip; u64 _trace_id; u64 _span_id; u64 _parent_span_id;\n"
	"string _event; }; };\n";
static const char rest_of_metadata[] =
	"event { id = 1; stream_id = 7; name = \"app:counted\"; fields := struct { u32 _n; }; };\n";

/* An event before it is in a packet. */
struct event {
	int64_t ts;
	uint64_t request;		/* 0: one that is only counted */
	bool ends;
	int32_t pid;
};

static void put_text(GByteArray *a, const char *text)
{
	g_byte_array_append(a, (const guint8 *)text, (guint)strlen(text) + 1);
}

static void put_event(GByteArray *a, const struct event *e)
{
	made_put(a, e->request ? 0 : 1, 2);
	made_put(a, (uint64_t)e->ts, 8);
	made_put(a, (uint32_t)e->pid, 4);
	made_put(a, (uint32_t)e->pid, 4);
	if (!e->request) {
		made_put(a, 7, 4);
		return;
	}
	put_text(a, e->request % 3 ? "get" : "put");
	put_text(a, "server");
	made_put(a, 80, 4);
	put_text(a, "");
	made_put(a, e->request, 8);
	made_put(a, e->request, 8);
	made_put(a, 0, 8);
	put_text(a, e->ends ? "ss" : "sr");
}

/* ---- packets ---- */

struct filling {
	struct sim_session *session;
	struct sim_stream *stream;
	GArray *events;			/* struct event, of the packet that is not closed yet */
	uint64_t seq, discarded, offset;
	unsigned file;
	int64_t end_ns, at_us;		/* of the last packet */
	int64_t slow_us;		/* the consumer is late by this */
};

static void put_header(GByteArray *a, const struct filling *f)
{
	made_put(a, 0xc1fc1fc1, 4);
	made_put(a, GUINT32_SWAP_LE_BE((uint32_t)f->stream->trace->uuid), 4);
	made_put(a, 0, 4);
	made_put(a, 0, 8);
	made_put(a, 7, 4);
	made_put(a, f->stream->id, 8);
	for (int i = 0; i < 4; i++)
		made_put(a, 0, 8);
	made_put(a, f->seq, 8);
	made_put(a, f->discarded, 8);
	made_put(a, f->stream->cpu, 4);
	g_assert_cmpuint(a->len, ==, HEADER_BYTES);
}

static void rotate(struct filling *f)
{
	if (world.calm ? sim_one_of(20) : sim_one_of(6)) {
		f->file++;
		f->offset = 0;
	}
}

/* Closes the packet at that time. */
static void close_packet(struct filling *f, int64_t end_ns)
{
	struct sim_packet *p = g_new0(struct sim_packet, 1);
	guint n = f->events->len;

	if (!world.calm && sim_one_of(25)) {
		uint64_t dropped = 1 + sim_below(100);
		f->discarded += dropped;
	}
	if (!world.calm && sim_one_of(30))
		f->slow_us = sim_between(0, 3000 * MS);
	f->slow_us = sim_one_of(4) ? f->slow_us / 2 : f->slow_us;
	p->begin_ns = n ? g_array_index(f->events, struct event, 0).ts : end_ns;
	p->end_ns = end_ns;
	f->at_us = MAX(f->at_us, f->stream->trace->rest_us);
	p->at_us = f->at_us = MAX(f->at_us, end_ns / 1000 + sim_between(MS, 20 * MS) + f->slow_us);
	p->refused = !world.calm && sim_one_of(200);
	/* an older packet than the first one that comes is as if it had been before the session */
	p->overwritten = !world.calm && sim_one_of(200) && f->stream->packets->len;
	p->n_events = n;
	p->seq = f->seq;
	p->discarded = f->discarded;
	p->bytes = g_byte_array_new();
	put_header(p->bytes, f);
	p->requests = g_array_new(false, false, sizeof(uint64_t));
	for (guint i = 0; i < n; i++) {
		const struct event *e = &g_array_index(f->events, struct event, i);
		uint64_t which = 2 * e->request + e->ends;
		put_event(p->bytes, e);
		g_array_append_val(p->requests, which);
	}
	uint64_t bits = UINT64_C(8) * p->bytes->len;
	uint64_t padding = sim_one_of(3) ? sim_below(500) : 0;
	uint64_t context[] = { GUINT64_TO_LE((uint64_t)p->begin_ns), GUINT64_TO_LE((uint64_t)p->end_ns),
			       GUINT64_TO_LE(bits), GUINT64_TO_LE(bits + 8 * padding) };
	memcpy(p->bytes->data + AT_BEGIN, context, sizeof context);
	for (uint64_t i = 0; i < padding; i++)
		made_put(p->bytes, 0, 1);
	rotate(f);
	p->file = f->file;
	p->offset = f->offset;
	f->offset += p->bytes->len;
	f->seq++;
	f->end_ns = end_ns;
	p->lost = p->at_us > f->session->vanishes_us;
	g_array_set_size(f->events, 0);
	g_ptr_array_add(f->stream->packets, p);
}

/* Of events in order, at the live timer and when it is full. */
static void fill_stream(struct sim_session *session, struct sim_stream *stream, const GArray *events)
{
	struct filling f = { .session = session, .stream = stream,
			     .events = g_array_new(false, false, sizeof(struct event)) };
	int64_t timer_ns = (int64_t)session->timer_us * 1000, tick = INT64_MIN;
	guint most = 1 + (guint)sim_below(MOST_PACKET_EVENTS);

	for (guint i = 0; i < events->len; i++) {
		struct event e = g_array_index(events, struct event, i);
		if (f.events->len && e.ts >= tick)
			close_packet(&f, MAX(tick, g_array_index(f.events, struct event, f.events->len - 1).ts));
		if (!f.events->len)
			tick = (e.ts / timer_ns + 1) * timer_ns;
		g_array_append_val(f.events, e);
		if (f.events->len >= most)
			close_packet(&f, e.ts);
	}
	/* what is in the buffer when the daemon is killed never reaches the relay */
	if (f.events->len && session->destroyed)
		close_packet(&f, MIN(stream->closes_us * 1000, MAX(tick, f.end_ns)));
	if (session->destroyed && !stream->trace->of_process)
		close_packet(&f, stream->closes_us * 1000);
	if (stream->packets->len)	/* the newest file is there */
		((struct sim_packet *)stream->packets->pdata[stream->packets->len - 1])->overwritten = false;
	stream->gone_us = MAX(f.at_us, stream->closes_us) + sim_between(MS, 50 * MS);
	g_array_unref(f.events);
}

/* ---- processes ---- */

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	if (x->ts != y->ts)
		return x->ts > y->ts ? 1 : -1;
	return (x->request > y->request) - (x->request < y->request);
}

/* Each stream has what ran on its CPU. */
static void make_events(struct sim_trace *t, GArray **of_cpu, unsigned n_cpus, unsigned per_second)
{
	int64_t from = t->begins_us * 1000 + NS_MS, to = t->ends_us * 1000 - NS_MS;
	int32_t pid = (int32_t)(1000 + t->uuid);

	for (int64_t at = from; at < to; at += sim_between(1, 2 * INT64_C(1000000000) / per_second)) {
		int64_t longest = sim_one_of(50) ? 3000 * NS_MS : 40 * NS_MS;
		struct sim_request r = { .begin_ns = at, .end_ns = at + sim_between(1000, longest) };
		struct event e = { .ts = at, .pid = pid };
		if (sim_one_of(5))
			g_array_append_val(of_cpu[sim_below(n_cpus)], e);
		if (r.end_ns >= to)
			continue;
		g_array_append_val(world.requests, r);
		e.request = world.requests->len;
		g_array_append_val(of_cpu[sim_below(n_cpus)], e);
		e.ts = r.end_ns;
		e.ends = true;
		g_array_append_val(of_cpu[sim_below(n_cpus)], e);
	}
}

static void make_trace(struct sim_session *s, int64_t begins_us, int64_t ends_us, bool of_process, unsigned per_second)
{
	unsigned n_cpus = 1 + (unsigned)sim_below(3);
	GArray *events[3];
	struct sim_trace *t = g_new0(struct sim_trace, 1);

	t->uuid = ++world.n_traces;
	t->id = world.restarts ? s->traces->len + 1 : t->uuid;
	t->metadata_id = 1000 * t->id;
	t->begins_us = begins_us;
	t->ends_us = ends_us;
	t->of_process = of_process;
	g_autofree char *env = g_strdup_printf("vpid = %d; procname = \"server\"; tracer_buffering_scheme = \"pid\";",
					       (int)(1000 + t->uuid));
	t->metadata = g_string_new(NULL);
	g_string_printf(t->metadata, metadata_format, (unsigned)t->uuid, of_process ? env : "");
	t->first_part = t->metadata->len;
	g_string_append(t->metadata, rest_of_metadata);
	t->rest_us = begins_us + (sim_one_of(3) ? sim_between(0, 200 * MS) : 0);
	g_ptr_array_add(s->traces, t);
	for (unsigned i = 0; i < n_cpus; i++)
		events[i] = g_array_new(false, false, sizeof(struct event));
	make_events(t, events, n_cpus, per_second);
	for (unsigned i = 0; i < n_cpus; i++) {
		struct sim_stream *x = g_new0(struct sim_stream, 1);
		*x = (struct sim_stream){ .id = t->metadata_id + 1 + i, .trace = t, .cpu = i, .begins_us = begins_us,
					  .closes_us = ends_us, .packets = g_ptr_array_new() };
		g_array_sort(events[i], compare_events);
		fill_stream(s, x, events[i]);
		g_ptr_array_add(s->streams, x);
		g_array_unref(events[i]);
	}
}

/* ---- sessions ---- */

static struct sim_session *make_session(uint64_t id, int64_t begins_us, int64_t ends_us)
{
	static const uint32_t timers[] = { 100 * MS, 200 * MS, 1000 * MS };
	struct sim_session *s = g_new0(struct sim_session, 1);
	static const unsigned rates[] = { 5, 50, 200 };
	unsigned per_second = rates[sim_below(G_N_ELEMENTS(rates))];

	*s = (struct sim_session){ .id = id, .begins_us = begins_us, .ends_us = ends_us, .vanishes_us = INT64_MAX,
				   .timer_us = timers[sim_below(G_N_ELEMENTS(timers))],
				   .traces = g_ptr_array_new(), .streams = g_ptr_array_new() };
	s->destroyed = world.calm || !sim_one_of(6);
	if (!world.calm && sim_one_of(10))
		s->vanishes_us = sim_between(begins_us, ends_us);
	else if (world.restarts)
		s->vanishes_us = ends_us;
	g_ptr_array_add(world.sessions, s);
	if (sim_one_of(3)) {
		for (int64_t at = begins_us; at < ends_us - 500 * MS; at += sim_between(100 * MS, 2000 * MS))
			make_trace(s, at, MIN(ends_us, at + sim_between(100 * MS, 4000 * MS)), true, per_second);
	} else {
		make_trace(s, begins_us, ends_us, false, per_second);
	}
	for (guint i = 0; i < s->streams->len; i++)
		s->closed_us = MAX(s->closed_us, ((struct sim_stream *)s->streams->pdata[i])->gone_us);
	s->closed_us = MAX(s->closed_us, ends_us) + sim_between(MS, 20 * MS);
	sim_say("plan: session %" G_GUINT64_FORMAT " from %.3f to %.3f, timer %u ms, %u traces, %s%s", id,
		(double)begins_us / 1e6, (double)ends_us / 1e6, s->timer_us / MS, s->traces->len,
		s->destroyed ? "destroyed" : "killed", s->vanishes_us < INT64_MAX ? ", vanishes" : "");
	return s;
}

/* The relay ends with all that it has, and begins with its numbers again. */
static void restart(int64_t from_us, int64_t to_us)
{
	struct sim_session *s = world.sessions->pdata[world.sessions->len - 1];
	struct sim_fault f = { from_us, to_us, true };

	if (!world.restarts)
		return;
	g_array_append_val(world.faults, f);
	g_assert_cmpint(s->ends_us, ==, from_us);
}

static bool is_unknowable(const struct sim_session *s, const struct sim_stream *x, const struct sim_packet *p)
{
	return world.minor < 15 && x->trace->of_process && x->closes_us < s->ends_us && !p->announced &&
		p->at_us > x->gone_us - LAST_MOMENTS_US;
}

struct sim_sums world_sums(void)
{
	struct sim_sums sums = { 0 };

	for (guint i = 0; i < world.sessions->len; i++) {
		const struct sim_session *s = world.sessions->pdata[i];
		for (guint k = 0; k < s->streams->len; k++) {
			const struct sim_stream *x = s->streams->pdata[k];
			uint64_t discarded = 0, base = UINT64_MAX;
			for (guint m = 0; x->known && m < x->packets->len; m++) {
				const struct sim_packet *p = x->packets->pdata[m];
				if (is_unknowable(s, x, p))
					continue;
				sums.recorded += p->lost ? 0 : p->n_events;
				sums.readable += p->lost || p->refused || p->overwritten ? 0 : p->n_events;
				if (p->lost || p->refused || p->overwritten)
					continue;
				/* the counter of a first packet does not say how many of these are new */
				base = base == UINT64_MAX ? p->discarded : base;
				discarded = p->discarded - base;
			}
			sums.discarded += discarded;
		}
	}
	return sums;
}

static void make_faults(void)
{
	unsigned n = world.calm ? 0 : (unsigned)sim_below(4);

	for (unsigned i = 0; i < n; i++) {
		int64_t from = sim_between(world.begins_us, world.ends_us);
		struct sim_fault f = { from, from + sim_between(10 * MS, sim_one_of(3) ? 15000 * MS : 1500 * MS),
				       sim_one_of(2) };
		g_array_append_val(world.faults, f);
		sim_say("plan: the network is %s from %.3f to %.3f", f.cuts ? "cut" : "silent", (double)f.from_us / 1e6,
			(double)f.to_us / 1e6);
	}
}

void world_make(int64_t now_us)
{
	static const uint32_t minors[] = { 10, 13, 15 };
	int64_t at = now_us + sim_between(0, 300 * MS);

	world = (struct sim_world){ .sessions = g_ptr_array_new(),
				    .requests = g_array_new(false, false, sizeof(struct sim_request)),
				    .faults = g_array_new(false, false, sizeof(struct sim_fault)) };
	world.calm = sim_one_of(5);
	world.minor = minors[sim_below(G_N_ELEMENTS(minors))];
	world.cut_every = world.calm || sim_one_of(2) ? 0 : (unsigned)sim_between(20, 1000);
	world.most_delay_us = sim_one_of(3) ? 50 * MS : 1 * MS;
	world.begins_us = at;
	unsigned n = sim_one_of(3) ? 2 + (unsigned)sim_below(3) : 1;
	world.many_sessions = n > 1;
	world.restarts = n > 1 && !world.calm && sim_one_of(3);
	for (unsigned i = 0; i < n; i++) {
		int64_t end = at + sim_between(600 * MS, n > 1 ? 3000 * MS : 8000 * MS);
		const struct sim_session *s = make_session(world.restarts ? 1 : i + 1, at, end);
		world.ends_us = end;
		at = MAX(s->closed_us, end) + sim_between(10 * MS, 2000 * MS);
		restart(end, at);
	}
	make_faults();
	sim_say("plan: relay 2.%u, %s, a cut every %u replies, %u requests", world.minor,
		world.calm ? "calm" : "faults", world.cut_every, world.requests->len);
}
