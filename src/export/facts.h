/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an exported span says besides its ids, names and times: its own tags, and what
 * blktop found out (keys that begin with "blktop."), the same for all formats; and what
 * the kernel did meanwhile as spans of its own (--with-kernel). Private to src/export/.
 */
#ifndef BLK_EXPORT_FACTS_H
#define BLK_EXPORT_FACTS_H

#include "export/export.h"
#include "views/why.h"

struct fact {
	char *key, *text;		/* valid UTF-8; integers as decimal text as well */
	bool is_int;
	int64_t n;
};

/* struct fact, keys unique (the last tag of a name wins). Free with g_array_unref(). */
GArray *facts_of_span(struct history *h, const struct tree *t, int node);

/* What Zipkin says of a span that was imported, and blktop has no place for, is kept in
 * these tags and written back where it came from: they are no facts. */
#define TAG_TRACE_ID "blktop.trace_id"		/* 32 hex digits */
#define TAG_KIND "blktop.kind"			/* PRODUCER, CONSUMER */
/* How many waits were kept of a span, in it or below; a fact. */
#define TAG_WAITS "blktop.waits"
/* The last tag of that name; NULL: none. */
const char *facts_tag(const struct span *s, const char *key);

/* 16 or 32 hex digits, whatever is wanted at least. */
char *export_trace_id(const struct span *s, size_t digits);

/* 0: none, or it says that it is its own, which no reader of exports can show. */
uint64_t export_parent_id(const struct span *s);

/* The other half of a shared span; -1: it is not there, or it is not shared. */
int export_other_half(const struct tree *t, int node);

/* Is the annotation said by the span's kind and times already? */
bool facts_is_core(const struct span *s, const char *event);

/* What a thread waited for, or a system call that took long, inside a span. */
struct kernel_span {
	uint64_t id, parent_id;		/* parent: the span, or the call it lies in */
	int64_t begin_ns, end_ns;
	uint32_t thread;
	const struct span_wait *wait;	/* one of both */
	const struct span_slow_call *call;
};

/* struct kernel_span of the node, by begin, calls before what lies in them; without the
 * waits that are in one of its children, too. Borrows from the tree's spans. */
GArray *kernel_spans(const struct tree *t, int node);
char *kernel_span_name(const struct timeline *tl, const struct kernel_span *k);
GArray *facts_of_kernel(const struct timeline *tl, const struct kernel_span *k);

/* An id that is the same in every export, and no other span's. */
uint64_t derived_id(const struct span *s, uint64_t salt);

#endif
