/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attributes of an exported span beside its ids, names and times, the same in all formats: its own tags, and results of
 * blktop (keys that begin with "blktop."). Also waits and system calls as child spans (--with-kernel).
 * Private to src/export/.
 */
#ifndef BLK_EXPORT_ATTRIBUTES_H
#define BLK_EXPORT_ATTRIBUTES_H

#include "export/export.h"
#include "views/why.h"

struct attribute {
	char *key, *text;		/* valid UTF-8; integers as decimal text as well */
	bool is_int;
	int64_t n;
};

/* struct attribute, keys unique (the last tag of a name wins). Free with g_array_unref(). */
GArray *attributes_of_span(struct history *h, const struct tree *t, int node);

/* Fields of imported Zipkin spans that struct span does not have. They are stored in these tags and exported as the
 * original fields; they are no attributes. */
#define TAG_TRACE_ID "blktop.trace_id"		/* 32 hex digits */
/* TAG_KIND (state/store/span.h) is another such tag. */
/* Of annotations: the word and the number of severity.h. */
#define ATTRIBUTE_SEVERITY "blktop.severity"
#define ATTRIBUTE_SEVERITY_NUMBER "blktop.severity_number"
/* Number of waits retained for a span, in it or below; an attribute. */
#define TAG_WAITS "blktop.waits"
/* The last tag of that name; NULL: none. */
const char *attributes_tag(const struct span *s, const char *key);

/* The trace id with 16 or 32 hex digits, at least `digits`. */
char *export_trace_id(const struct span *s, size_t digits);

/* Id of the parent; 0: none, or the span names itself as its parent, which readers of exports cannot show. */
uint64_t export_parent_id(const struct span *s);

/* Node of the other half of a shared span; -1: missing, or the span is not shared. */
int export_other_half(const struct tree *t, int node);

/* Is the annotation implied by the kind and times of the span (cs, sr, ...)? */
bool attributes_is_core(const struct span *s, const struct span_annotation *a);

/* A wait or a slow system call inside a span. */
struct kernel_span {
	uint64_t id, parent_id;		/* parent: the span, or the call it lies in */
	int64_t begin_ns, end_ns;
	uint32_t thread;
	const struct span_wait *wait;	/* exactly one of wait and call is set */
	const struct span_slow_call *call;
};

/* struct kernel_span of the node, by beginning, calls before the waits in them. Leaves out waits that a child span has,
 * too, and calls that are neither long nor have a wait in them: see is_slow(). Borrows from the tree's spans. */
GArray *kernel_spans(const struct tree *t, int node);
char *kernel_span_name(const struct timeline *tl, const struct kernel_span *k);
GArray *attributes_of_kernel(const struct timeline *tl, const struct kernel_span *k);

/* An id derived from the span and `salt`: the same in every export, and different from ids of other spans. */
uint64_t derived_id(const struct span *s, uint64_t salt);

#endif
