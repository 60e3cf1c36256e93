/* SPDX-License-Identifier: GPL-2.0-only */
/* See made_processes.h. */
#include "lib/made_processes.h"

#include "lib/made_feed.h"

#include <string.h>

static const char metadata_format[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; } := u8;\n"
	"typealias integer { size = 16; align = 8; } := u16;\n"
	"typealias integer { size = 32; align = 8; } := u32;\n"
	"typealias integer { size = 32; align = 8; signed = 1; } := i32;\n"
	"typealias integer { size = 64; align = 8; } := u64;\n"
	"trace { major = 1; minor = 8; byte_order = le; uuid = \"%08x-0000-0000-0000-000000000000\";\n"
	"packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };\n"
	"env { hostname = \"bench\"; domain = \"ust\"; tracer_name = \"lttng-ust\"; vpid = %d; procname = \"worker\";\n"
	"tracer_buffering_scheme = \"pid\"; };\n"
	"clock { name = c; uuid = \"01010101-0101-0101-0101-010101010101\"; freq = 1000000000;\n"
	"offset = 1795244812000000000; };\n"
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
	"stream { id = 7; event.header := struct { u16 id; ts timestamp; };\n"
	"packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size;\n"
	"u64 packet_seq_num; u64 events_discarded; u32 cpu_id; };\n"
	"%s };\n"
	"event { id = 0; stream_id = 7; name = \"zipkin:timestamp\"; fields := struct { string _trace_name;\n"
	"string _service_name; i32 _port_no; string _ip; u64 _trace_id; u64 _span_id; u64 _parent_span_id;\n"
	"string _event; }; };\n";


static const char context[] = "event.context := struct { i32 _vpid; i32 _vtid; };";

static void put_text(GByteArray *a, const char *text)
{
	g_byte_array_append(a, (const guint8 *)text, (guint)strlen(text) + 1);
}

static void put_event(GByteArray *a, const struct made_processes *m, unsigned i, uint64_t ts, const char *event)
{
	made_put(a, 0, 2);
	made_put(a, ts, 8);
	for (int k = 0; !m->counts && k < 2; k++)
		made_put(a, (uint32_t)m->pid_of(i), 4);
	put_text(a, "op");
	put_text(a, "worker");
	made_put(a, 0, 4);
	put_text(a, "");
	made_put(a, i + 1, 8);
	made_put(a, i + 1, 8);
	made_put(a, 0, 8);
	put_text(a, event);
}

static GBytes *packet_of(const struct made_processes *m, unsigned i)
{
	GByteArray *a = g_byte_array_new();
	uint64_t begin = (uint64_t)i * (uint64_t)m->ns_a_process, end = begin + (uint64_t)m->ns_a_process / 2;

	made_put(a, 0xc1fc1fc1, 4);
	made_put(a, GUINT32_SWAP_LE_BE(i), 4);
	made_put(a, 0, 4);
	made_put(a, 0, 8);
	made_put(a, 7, 4);
	made_put(a, 1, 8);
	for (int k = 0; k < 6; k++)
		made_put(a, 0, 8);
	made_put(a, i % 4, 4);
	put_event(a, m, i, begin, "sr");
	put_event(a, m, i, end, "ss");
	uint64_t times[] = { GUINT64_TO_LE(begin), GUINT64_TO_LE(end),
			       GUINT64_TO_LE(UINT64_C(8) * a->len), GUINT64_TO_LE(UINT64_C(8) * a->len) };
	memcpy(a->data + AT_BEGIN, times, sizeof times);
	return g_byte_array_free_to_bytes(a);
}

static void begin(struct made_processes *m, unsigned i)
{
	struct made_process *p = &m->alive[i % MADE_ALIVE];
	char *text = g_strdup_printf(metadata_format, i, m->pid_of(i), m->counts ? "" : context);

	p->trace = native_feed_add_trace(m->feed, "worker");
	native_feed_metadata(m->feed, p->trace, g_bytes_new_take(text, strlen(text)));
	p->stream = native_feed_add_stream(m->feed, p->trace, "s", INT64_MAX);
	native_feed_packet(m->feed, p->stream, packet_of(m, i), NULL);
}

static void end(struct made_processes *m, unsigned i)
{
	const struct made_process *p = &m->alive[i % MADE_ALIVE];

	native_feed_end_stream(m->feed, p->stream);
	native_feed_end_trace(m->feed, p->trace);
}

void made_processes_init(struct made_processes *m, size_t memory, bool counts)
{
	size_t n_rows;
	const struct blk_subscription *rows = counts ? slice_subscriptions_counting(&n_rows) :
					      slice_subscriptions(&n_rows);

	m->counts = counts;
	m->n = 0;
	m->feed = native_feed_new(rows, n_rows);
	m->source = native_feed_source(m->feed);
	m->model = model_new(&(struct model_options){ .live = true, .memory_budget = memory });
	m->timeline = timeline_new(memory);
}

void made_processes_clear(struct made_processes *m)
{
	timeline_free(m->timeline);
	model_free(m->model);
	native_feed_free(m->feed);
}

static void publish(struct made_processes *m, bool final)
{
	struct publication *p = model_publish(m->model, final);

	if (!p)
		return;
	p->beside_bytes = model_bytes(m->model) + p->span_bytes;
	timeline_apply(m->timeline, p);
	model_set_retained_from(m->model, timeline_retained_from(m->timeline));
}

static void take_all(struct made_processes *m)
{
	struct blk_batch batch;

	while (source_next(m->source, &batch, NULL) == SOURCE_OK)
		model_feed(m->model, &m->source->tables, batch.ev, batch.n);
}

void made_processes_run(struct made_processes *m, unsigned n)
{
	for (unsigned stop = m->n + n; m->n < stop; m->n++) {
		if (m->n >= MADE_ALIVE)
			end(m, m->n);
		begin(m, m->n);
		take_all(m);
		if (m->n % MADE_ALIVE == 0)
			publish(m, false);
	}
}

void made_processes_end(struct made_processes *m)
{
	native_feed_end(m->feed);
	take_all(m);
	publish(m, true);
}
