/* SPDX-License-Identifier: GPL-2.0-only */
/* Spans: life and memory. The arrays are g_malloc'd and owned. */
#include "state/publish.h"

struct span *span_new_with(uint32_t n_annotations, uint32_t n_tags)
{
	size_t annotations = n_annotations * sizeof(struct span_annotation);
	struct span *s = g_malloc(sizeof(*s) + annotations + n_tags * sizeof(struct span_tag));

	*s = (struct span){
		.thread = UINT32_MAX, .tid = -1, .pid = -1, .whole = true,
		.n_annotations = n_annotations, .n_tags = n_tags,
		.annotations = (struct span_annotation *)(void *)(s + 1),
		.tags = (struct span_tag *)(void *)((char *)(s + 1) + annotations),
	};
	g_atomic_ref_count_init(&s->refs);
	return s;
}

struct span *span_new(void)
{
	struct span *s = span_new_with(0, 0);

	s->annotations = NULL;
	s->tags = NULL;
	s->whole = false;
	return s;
}

/* What the allocator takes for n things: a few words more, and rounded up. */
static size_t taken(size_t n, size_t size)
{
	return n && size ? (n * size + 8 + 15) / 16 * 16 : 0;
}

static size_t span_behind_size(const struct span_behind *b)
{
	return b ? sizeof *b + b->n * sizeof b->top[0] : 0;
}

void span_seal(struct span *s)
{
	size_t annotations = s->n_annotations * sizeof *s->annotations;
	size_t tags = s->n_tags * sizeof *s->tags;

	s->bytes = taken(s->n_waits, sizeof *s->waits) + taken(s->n_calls, sizeof *s->calls) +
		   taken(s->n_slow, sizeof *s->slow) + taken(s->n_hops, sizeof *s->hops) +
		   taken(s->behind != NULL, span_behind_size(s->behind));
	if (s->whole)
		s->bytes += taken(1, sizeof *s + annotations + tags);
	else
		s->bytes += taken(1, sizeof *s) + taken(1, annotations) + taken(1, tags);
}

struct span *span_copy(const struct span *s)
{
	struct span *copy = g_memdup2(s, sizeof(*s));

	copy->whole = false;
	copy->annotations = g_memdup2(s->annotations, s->n_annotations * sizeof(*s->annotations));
	copy->tags = g_memdup2(s->tags, s->n_tags * sizeof(*s->tags));
	copy->waits = g_memdup2(s->waits, s->n_waits * sizeof(*s->waits));
	copy->calls = g_memdup2(s->calls, s->n_calls * sizeof(*s->calls));
	copy->slow = g_memdup2(s->slow, s->n_slow * sizeof(*s->slow));
	copy->hops = g_memdup2(s->hops, s->n_hops * sizeof(*s->hops));
	copy->behind = g_memdup2(s->behind, span_behind_size(s->behind));
	g_atomic_ref_count_init(&copy->refs);
	return copy;
}

bool span_is_better_root(const struct span *s, const struct span *than)
{
	if ((s->parent_id == 0) != (than->parent_id == 0))
		return s->parent_id == 0;
	if ((s->kind == SPAN_SERVER) != (than->kind == SPAN_SERVER))
		return than->kind == SPAN_SERVER;
	if (s->begin_ns != than->begin_ns)
		return s->begin_ns < than->begin_ns;
	if (s->end_ns != than->end_ns)
		return s->end_ns > than->end_ns;
	return s->span_id < than->span_id;
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
	if (!s->whole) {
		g_free(s->annotations);
		g_free(s->tags);
	}
	g_free(s->waits);
	g_free(s->calls);
	g_free(s->slow);
	g_free(s->hops);
	g_free(s->behind);
	g_free(s);
}
