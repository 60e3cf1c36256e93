/* SPDX-License-Identifier: GPL-2.0-only */
/* A time between two slices of which nothing is known: see slice.h. */
#include "state/slice/slice.h"

#include "base/each.h"
#include "state/kernel/annot.h"
#include "state/kernel/cpu.h"
#include "state/kernel/slice_state.h"

static void host_free(void *data)
{
	struct blk_host *h = data;
	g_free(h->name);
	g_free(h->boot);
	g_free(h->kernel_release);
	g_free(h);
}

static void add_stream(struct blk_tables *t, uint32_t host, enum blk_domain domain, uint32_t cpu)
{
	if (host > G_MAXUINT16 || t->streams->len > G_MAXUINT16)
		return;			/* more than records can refer to */
	struct blk_stream *s = g_new0(struct blk_stream, 1);
	*s = (struct blk_stream){ .cpu = cpu, .host = (uint16_t)host, .domain = (uint8_t)domain, .vpid = -1 };
	g_ptr_array_add(t->streams, s);
}

/* Do programs of the host write spans? */
static bool has_spans(const struct slice *s, uint32_t host)
{
	for (guint i = 0; i < s->annots->len; i++)
		if (g_array_index(s->annots, struct annot, i).host == host)
			return true;
	return false;
}

static void add_hosts(struct blk_tables *t, const struct slice *after)
{
	ARRAY_EACH(const struct slice_host, h, after->hosts) {
		struct blk_host *host = g_new0(struct blk_host, 1);

		*host = (struct blk_host){
			.name = g_strdup(h->name), .boot = g_strdup(h->boot), .kernel_release = g_strdup(h->release),
			.has_kernel = h->has_kernel, .begin_ns = INT64_MIN, .end_ns = INT64_MAX, .machine = h->evidence,
		};
		g_ptr_array_add(t->hosts, host);
	}
}

/* Streams of each CPU: of the kernel, of programs, or both. */
static void add_streams(struct blk_tables *t, const struct slice *after)
{
	PTR_EACH(const struct cpu, c, after->cpus) {
		bool kernel = slice_has_kernel(after, c->host);

		if (kernel)
			add_stream(t, c->host, BLK_DOMAIN_KERNEL, c->number);
		if (!kernel || has_spans(after, c->host))
			add_stream(t, c->host, BLK_DOMAIN_UST, c->number);
	}
}

static void feed_losses(struct slice *s, const struct blk_tables *t, const struct blk_loss *loss)
{
	for (unsigned end = 0; end < 2; end++)
		for (guint i = 0; i < t->streams->len; i++) {
			const struct blk_event ev = {
				.ts = end ? loss->end_ns : loss->begin_ns, .data = (const uint8_t *)loss,
				.row = end ? BLK_ROW_LOST_END : BLK_ROW_LOST_BEGIN, .stream = (uint16_t)i,
			};
			slice_feed(s, t, &ev, 1);
		}
}

struct slice *slice_gap(const struct slice *after, int64_t from, int64_t to)
{
	struct slice *s = slice_new(false, after->step);
	struct blk_tables t = {
		.streams = g_ptr_array_new_with_free_func(g_free), .hosts = g_ptr_array_new_with_free_func(host_free),
		.classes = g_ptr_array_new(),
	};
	const struct blk_loss loss = { .begin_ns = from, .end_ns = to - 1 };

	g_assert(from < to);
	if (after->no_spans)
		slice_without_spans(s);
	add_hosts(&t, after);
	add_streams(&t, after);
	feed_losses(s, &t, &loss);
	slice_change_source(s);
	g_ptr_array_unref(t.streams);
	g_ptr_array_unref(t.hosts);
	g_ptr_array_unref(t.classes);
	return s;
}
