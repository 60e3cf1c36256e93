/* SPDX-License-Identifier: GPL-2.0-only */
/* See made_feed.h. */
#include "lib/inspect.h"
#include "lib/made_feed.h"

static const struct blk_subscription rows[] = {
	{ .event = "said", .fields = { "n" } },
	{ .event = "later", .fields = { "text" } },
};

const char more_metadata[] =
	"event { id = 300; stream_id = 7; name = \"later\"; fields := struct { string text; }; };\n";

char *made_metadata(int uuid, const char *domain, const char *boot, int offset)
{
	return g_strdup_printf("/* CTF 1.8 */\n"
		"typealias integer { size = 8; align = 8; } := u8;\n"
		"typealias integer { size = 16; align = 8; } := u16;\n"
		"typealias integer { size = 32; align = 8; } := u32;\n"
		"typealias integer { size = 64; align = 8; } := u64;\n"
		"trace { major = 1; minor = 8; byte_order = le;\n"
		"	uuid = \"%08x-0000-0000-0000-000000000000\";\n"
		"	packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; "
		"u64 stream_instance_id; }; };\n"
		"env { hostname = \"h;{\\\"\"; domain = \"%s\"; }; /* } ; */ // ' {\n"
		"clock { name = c; uuid = \"%s\"; freq = 1000000000; offset = %d; };\n"
		"typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
		"stream { id = 7; event.header := struct { u16 id; ts timestamp; };\n"
		"	packet.context := struct { ts timestamp_begin; ts timestamp_end;\n"
		"		u64 content_size; u64 packet_size; u64 packet_seq_num;\n"
		"		u64 events_discarded; u32 cpu_id; }; };\n"
		"event { id = 0; stream_id = 7; name = \"said\"; fields := struct { u32 n; }; };\n"
		"event { id = 1; stream_id = 7; name = \"counted\"; fields := struct { u8 n; }; };\n",
		GUINT32_SWAP_LE_BE((guint32)uuid), domain, boot, offset);
}

void made_put(GByteArray *a, uint64_t value, unsigned bytes)
{
	value = GUINT64_TO_LE(value);
	g_byte_array_append(a, (const guint8 *)&value, bytes);
}

GByteArray *made_bytes(struct made *m, uint64_t begin, uint64_t end, unsigned id, int n)
{
	GByteArray *a = g_byte_array_new();
	made_put(a, 0xc1fc1fc1, 4);
	made_put(a, (uint64_t)m->uuid, 8);
	made_put(a, 0, 8);
	made_put(a, 7, 4);
	made_put(a, m->instance, 8);
	for (int i = 0; i < 4; i++)
		made_put(a, 0, 8);
	made_put(a, m->seq++, 8);
	made_put(a, m->discarded, 8);
	made_put(a, m->cpu, 4);
	g_assert_cmpuint(a->len, ==, AT_EVENTS);
	for (int i = 0; i < n; i++) {
		made_put(a, id, 2);
		made_put(a, begin + (uint64_t)i * 10, 8);
		if (id == 300)
			g_byte_array_append(a, (const guint8 *)"text", 5);
		else
			made_put(a, (uint64_t)i, id ? 1 : 4);
	}
	uint64_t context[] = { GUINT64_TO_LE(begin), GUINT64_TO_LE(end),
			       GUINT64_TO_LE(UINT64_C(8) * a->len),
			       GUINT64_TO_LE(UINT64_C(8) * (a->len + 16)) };
	memcpy(a->data + AT_BEGIN, context, sizeof context);
	made_put(a, 0, 8);
	made_put(a, 0, 8);
	return a;
}

GBytes *made_packet(struct made *m, uint64_t begin, uint64_t end, unsigned id, int n)
{
	return g_byte_array_free_to_bytes(made_bytes(m, begin, end, id, n));
}

/* ---- a feed, and what came of it ---- */

static int64_t clock_of(void *data)
{
	return ((struct live *)data)->now;
}

void made_init(struct live *l)
{
	*l = (struct live){ .last = INT64_MIN, .horizon = INT64_MIN, .now = 1000000 };
	l->f = native_feed_new(rows, G_N_ELEMENTS(rows));
	l->s = native_feed_source(l->f);
	l->ev = g_array_new(FALSE, FALSE, sizeof(struct blk_event));
	l->losses = g_array_new(FALSE, FALSE, sizeof(struct blk_loss));
	native_feed_set_clock(l->f, clock_of, l);
}

void made_clear(struct live *l)
{
	native_feed_free(l->f);
	g_array_unref(l->ev);
	g_array_unref(l->losses);
}

void made_take(struct live *l, const struct blk_event *e)
{
	g_assert_cmpint(e->ts, >=, l->last);
	l->last = e->ts;
	g_array_append_val(l->ev, *e);
	if (e->row == BLK_ROW_HORIZON) {
		l->horizon = e->ts;
	} else if (e->row == BLK_ROW_LOST_END) {
		g_array_append_vals(l->losses, e->data, 1);
	} else if (e->row == BLK_ROW_TALLY) {
		struct blk_tally tally;
		memcpy(&tally, e->data, sizeof tally);
		l->n[2] += tally.count;
	} else if (e->row < 2) {
		l->n[e->row]++;
	}
	if (e->row == 1)
		g_assert_cmpint(blk_text(e, BLK_FIELD0).len, ==, 4);
}

enum source_status made_drain(struct live *l)
{
	struct blk_batch batch;
	while ((l->status = source_next(l->s, &batch, NULL)) == SOURCE_OK)
		for (size_t i = 0; i < batch.n; i++)
			made_take(l, &batch.ev[i]);
	return l->status;
}

/* Time goes by while somebody waits for records. */
void made_pass(struct live *l, int64_t us)
{
	for (; us > 0; us -= 50000) {
		l->now += MIN(us, 50000);
		made_drain(l);
	}
}

unsigned made_trace(struct live *l, int uuid, const char *domain, const char *boot,
			  int offset)
{
	unsigned t = native_feed_add_trace(l->f, "t");
	char *text = made_metadata(uuid, domain, boot, offset);
	native_feed_metadata(l->f, t, g_bytes_new_take(text, strlen(text)));
	return t;
}

struct native_feed_status made_status(struct live *l)
{
	struct native_feed_status st;
	native_feed_get_status(l->f, &st);
	return st;
}
