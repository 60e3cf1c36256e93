/* SPDX-License-Identifier: GPL-2.0-only */
/* One trace, as spans are made of it; only for spans.c and spans_forget.c. */
#ifndef BLK_STATE_SPANS_SPAN_TRACE_H
#define BLK_STATE_SPANS_SPAN_TRACE_H

#include "state/spans/spans_private.h"

#include "base/limits.h"
#include "base/timefmt.h"

struct strace {
	uint64_t id;
	guint n_annots;
	uint32_t first_annot, last_annot;	/* of a chain, see struct annot */
	GArray *slots;		/* struct slot, by span and kind; NULL: none yet */
	GHashTable *abandoned;	/* uint64_t ids of spans without an end; NULL: none */
	bool dirty, open;	/* open: published with open spans, or not closed yet */
	bool given_up;		/* there is no room for more of it */
	bool goes_on;		/* it had open spans, when it was published last */
	bool settled;		/* nothing that comes for others can change what was published */
	int64_t root_end, first, last;	/* root_end: TS_NONE; instants of annotations */
	guint published;	/* annotations, when it was published last */
	int64_t published_at;	/* and when that was */
};

/* Closed 2 s after the root's end; without one, when it is given up. */
static inline bool strace_closed(const struct strace *t, int64_t now)
{
	return t->given_up || (t->root_end != TS_NONE && now - t->root_end >= SPANS_LINGER_NS && now >= t->last) ||
	       now - t->last > LIMIT_OPEN_TRACE_SECONDS * NS_PER_S;
}

#endif
