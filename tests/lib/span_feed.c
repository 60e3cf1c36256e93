/* SPDX-License-Identifier: GPL-2.0-only */
/* See span_feed.h. */
#include "lib/span_feed.h"

#include "trace/reader.h"

#include <string.h>

enum { F_NAME, F_SERVICE, F_PORT, F_IP, F_TRACE, F_SPAN, F_PARENT, F_EVENT, F_N };

struct span_feed {
	struct source source;
	struct model *m;
	unsigned cls, stream[2];
	uint16_t row;
	struct blk_layout layout;
};

struct payload { struct blk_text text[F_N]; int64_t num[F_N], vpid, vtid; };

static uint16_t row_of(const char *event)
{
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	for (size_t i = 0; i < n; i++)
		if (g_str_equal(rows[i].event, event))
			return (uint16_t)i;
	g_assert_not_reached();
}

static void lay_number(struct span_feed *f, unsigned slot, size_t off)
{
	f->layout.slot[slot] = (struct blk_slot_layout){
		.off = (uint32_t)off, .size = 8, .repr = BLK_INT, .is_signed = true,
		.big_endian = G_BYTE_ORDER == G_BIG_ENDIAN,
	};
}

struct span_feed *span_feed_new(struct model *m)
{
	static const struct source_ops none = { 0 };
	struct span_feed *f = g_new0(struct span_feed, 1);
	f->m = m;
	source_init(&f->source, &none);
	f->row = row_of("zipkin:timestamp");
	f->cls = source_add_class(&f->source, "zipkin:timestamp", f->row, NULL);
	for (unsigned i = 0; i < 2; i++) {
		const char *name = i ? "two" : "one";
		struct blk_stream s = {
			.cpu = 0, .domain = BLK_DOMAIN_UST, .vpid = -1, .order = (char *)name,
			.host = (uint16_t)source_add_host(&f->source, name, name, ""),
		};
		f->stream[i] = source_add_stream(&f->source, &s);
	}
	for (unsigned i = 0; i < F_N; i++) {
		bool text = i == F_NAME || i == F_SERVICE || i == F_IP || i == F_EVENT;
		if (text)
			f->layout.slot[BLK_FIELD0 + i] = (struct blk_slot_layout){
				.off = (uint32_t)(offsetof(struct payload, text) + i * sizeof(struct blk_text)),
				.repr = BLK_TEXT_REF,
			};
		else
			lay_number(f, BLK_FIELD0 + i, offsetof(struct payload, num) + i * 8);
	}
	lay_number(f, BLK_CTX_VPID, offsetof(struct payload, vpid));
	lay_number(f, BLK_CTX_VTID, offsetof(struct payload, vtid));
	return f;
}

void span_feed_free(struct span_feed *f)
{
	source_clear(&f->source);
	g_free(f);
}

static struct blk_text text_of(const char *s, const char *absent)
{
	s = s ? s : absent;
	return (struct blk_text){ s, (uint32_t)strlen(s) };
}

void span_feed_mark(struct span_feed *f, const struct span_mark *m)
{
	struct payload p = { .vpid = m->vtid, .vtid = m->vtid };
	p.text[F_NAME] = text_of(m->name, "op");
	p.text[F_SERVICE] = text_of(m->service, "svc");
	p.text[F_IP] = text_of("10.0.0.1", NULL);
	p.text[F_EVENT] = text_of(m->event, "start");
	p.num[F_TRACE] = (int64_t)m->trace;
	p.num[F_SPAN] = (int64_t)m->span;
	p.num[F_PARENT] = (int64_t)m->parent;
	struct blk_event e = {
		.ts = m->ts, .data = (const uint8_t *)&p, .layout = &f->layout, .cls = f->cls,
		.row = f->row, .stream = (uint16_t)f->stream[m->host],
	};
	model_feed(f->m, &f->source.tables, &e, 1);
}
