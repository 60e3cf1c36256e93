/* SPDX-License-Identifier: GPL-2.0-only */
/* Spans: creation and memory. The arrays are g_malloc'd and owned, or packed behind the span. */
#include "state/store/span.h"

#include <stddef.h>
#include <string.h>

struct span *span_new(void)
{
	struct span *s = g_new(struct span, 1);

	*s = (struct span){ .name = reftext_new(""), .service = reftext_new(""), .ip = reftext_new(""),
			    .thread = UINT32_MAX, .tid = -1, .pid = -1 };
	g_atomic_ref_count_init(&s->refs);
	return s;
}

bool span_is_message(const struct span *s)
{
	for (uint32_t i = 0; i < s->n_tags; i++)
		if (strcmp(s->tags[i].key, TAG_KIND) == 0)
			return true;
	return false;
}

char *span_host_clock(const char *host)
{
	return g_strdup_printf("host\t%s", host);
}

char *span_endpoint_clock(const char *service, const char *ip)
{
	return g_strdup_printf("endpoint\t%s\t%s", service, ip);
}

static void unref_text(const char *text, void *unused)
{
	reftext_unref(text);
}

static void weigh_text(const char *text, void *span)
{
	struct span *s = span;
	bool is_long = reftext_len(text) >= SPAN_LONG_TEXT;
	s->bytes += is_long ? 0 : reftext_len(text) + 1;
	s->has_long_text |= is_long;
}

/* Memory (bytes) of an allocation of n elements: a header of 8 bytes, rounded up to 16. */
static size_t allocated(size_t n, size_t size)
{
	return n && size ? (n * size + 8 + 15) / 16 * 16 : 0;
}

static size_t span_runqueue_size(const struct span_runqueue *b)
{
	return b ? sizeof *b + b->n * sizeof b->top[0] : 0;
}

void span_seal(struct span *s)
{
	s->bytes = allocated(1, sizeof *s) + allocated(s->n_annotations, sizeof *s->annotations) +
		   allocated(s->n_tags, sizeof *s->tags) + allocated(span_n_links(s), sizeof *s->links) +
		   allocated(s->n_waits, sizeof *s->waits) +
		   allocated(s->n_calls, sizeof *s->calls) + allocated(s->n_slow, sizeof *s->slow) +
		   allocated(s->n_chain, sizeof *s->chain) +
		   allocated(s->runqueue != NULL, span_runqueue_size(s->runqueue));
	span_each_text(s, weigh_text, s);
}

/* Copies an array to *at and advances *at. Returns the copy; NULL when size is 0. */
static void *pack(char **at, const void *from, size_t size)
{
	char *to = *at;
	if (!size)
		return NULL;
	memcpy(to, from, size);
	*at += size;
	return to;
}

struct span *span_pack(const struct span *s)
{
	size_t annotations = s->n_annotations * sizeof *s->annotations, tags = s->n_tags * sizeof *s->tags;
	size_t links = span_n_links(s) * sizeof *s->links;
	size_t waits = s->n_waits * sizeof *s->waits, calls = s->n_calls * sizeof *s->calls;
	size_t slow = s->n_slow * sizeof *s->slow, chain = s->n_chain * sizeof *s->chain;
	size_t runqueue = span_runqueue_size(s->runqueue);
	size_t size = sizeof *s + annotations + tags + links + waits + calls + slow + chain + runqueue;
	struct span *r = g_malloc(size);
	char *at = (char *)(r + 1);

	*r = *s;
	r->packed = true;
	r->annotations = pack(&at, s->annotations, annotations);
	r->tags = pack(&at, s->tags, tags);
	r->links = pack(&at, s->links, links);
	r->waits = pack(&at, s->waits, waits);
	r->calls = pack(&at, s->calls, calls);
	r->slow = pack(&at, s->slow, slow);
	r->chain = pack(&at, s->chain, chain);
	r->runqueue = pack(&at, s->runqueue, runqueue);
	g_assert(at == (char *)r + size);
	r->bytes = allocated(1, size);
	span_each_text(r, weigh_text, r);
	g_atomic_ref_count_init(&r->refs);
	return r;
}

/* A field of a span or of its arrays that is an id. */
struct id_field {
	enum span_id kind;
	size_t at;			/* offset in its struct */
};

#define FIELD(kind, type, field) { SPAN_ID_##kind, offsetof(struct type, field) }
static const struct id_field wait_ids[] = {
	FIELD(THREAD, span_wait, thread), FIELD(STRING, span_wait, call), FIELD(FILE, span_wait, file),
	FIELD(THREAD, span_wait, waker), FIELD(STRING, span_wait, waker_irq), FIELD(STRING, span_wait, waker_call),
	FIELD(THREAD, span_wait, cpu_holder), FIELD(THREAD, span_wait, stopper),
};
static const struct id_field chain_ids[] = {
	FIELD(THREAD, chain_link, thread), FIELD(STRING, chain_link, call), FIELD(FILE, chain_link, file),
	FIELD(THREAD, chain_link, waker), FIELD(STRING, chain_link, waker_irq), FIELD(THREAD, chain_link, cpu_holder),
};
static const struct id_field call_ids[] = { FIELD(STRING, span_call, name), FIELD(FILE, span_call, file) };
static const struct id_field slow_ids[] = {
	FIELD(STRING, span_slow_call, name), FIELD(FILE, span_slow_call, file), FIELD(THREAD, span_slow_call, thread),
};
static const struct id_field annotation_ids[] = { FIELD(THREAD, span_annotation, thread) };
static const struct id_field link_ids[] = { FIELD(THREAD, span_link, cpu_holder) };
static const struct id_field neighbour_ids[] = { FIELD(THREAD, span_neighbour, thread) };
static const struct id_field span_ids[] = { FIELD(HOST, span, host), FIELD(THREAD, span, thread) };

struct visitor {
	void (*visit)(enum span_id kind, uint32_t *id, void *data);
	void *data;
};

static void visit_array(const struct visitor *v, void *array, size_t n, size_t size, const struct id_field *fields,
			size_t n_fields)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n_fields; k++)
			v->visit(fields[k].kind, (void *)((char *)array + i * size + fields[k].at), v->data);
}

#define VISIT(v, array, n, ids) visit_array(v, array, n, sizeof *(array), ids, G_N_ELEMENTS(ids))

void span_each_id(struct span *s, void (*visit)(enum span_id kind, uint32_t *id, void *data), void *data)
{
	const struct visitor v = { visit, data };

	VISIT(&v, s, 1, span_ids);
	VISIT(&v, s->annotations, s->n_annotations, annotation_ids);
	VISIT(&v, s->links, span_n_links(s), link_ids);
	VISIT(&v, s->waits, s->n_waits, wait_ids);
	VISIT(&v, s->calls, s->n_calls, call_ids);
	VISIT(&v, s->slow, s->n_slow, slow_ids);
	VISIT(&v, s->chain, s->n_chain, chain_ids);
	if (s->runqueue)
		VISIT(&v, s->runqueue->top, s->runqueue->n, neighbour_ids);
}

bool span_is_better_root(const struct span *s, const struct span *than)
{
	if ((s->parent_id == 0) != (than->parent_id == 0))
		return s->parent_id == 0;
	/* The client half: the server's clock may differ. */
	if (s->span_id == than->span_id && (s->kind == SPAN_SERVER) != (than->kind == SPAN_SERVER))
		return than->kind == SPAN_SERVER;
	if (s->begin_ns != than->begin_ns)
		return s->begin_ns < than->begin_ns;
	if (s->end_ns != than->end_ns)
		return s->end_ns > than->end_ns;
	return s->span_id < than->span_id;
}

const struct span_link *span_message(const struct span *s)
{
	for (uint32_t i = 0; i < s->n_links; i++)
		if (s->links[i].trace_id == s->trace_id && s->links[i].span_id != s->span_id)
			return &s->links[i];
	return NULL;
}

struct span *span_ref(struct span *s)
{
	g_atomic_ref_count_inc(&s->refs);
	return s;
}

void span_unref(struct span *s)
{
	if (!s || !g_atomic_ref_count_dec(&s->refs))
		return;
	span_each_text(s, unref_text, NULL);
	if (!s->packed) {
		g_free(s->annotations);
		g_free(s->tags);
		g_free(s->links);
		g_free(s->waits);
		g_free(s->calls);
		g_free(s->slow);
		g_free(s->chain);
		g_free(s->runqueue);
	}
	g_free(s);
}
