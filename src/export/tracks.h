/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracks of a Perfetto export: processes and threads as the numbers that trace-event
 * JSON knows them by, and what lies on each of them. Private to src/export/.
 */
#ifndef BLK_EXPORT_TRACKS_H
#define BLK_EXPORT_TRACKS_H

#include "export/spans.h"

struct track {
	uint32_t thread;		/* timeline_thread(), ID_NONE: spans of no known thread */
	int64_t pid, tid;		/* as written: the real ones where these are unambiguous */
	int64_t strip_tid;		/* of what its thread did in the kernel */
	char *process, *name;		/* "thumbd 246 on web1", "thumbd-w0/254": any bytes */
};

/* A span, or one of the kernel's, on its track. */
struct item {
	unsigned track;
	unsigned trace;
	int node;
	const struct kernel_span *kernel;	/* NULL: the span itself */
	int64_t begin_ns, end_ns;
	bool async;			/* does not nest with other items of the track: drawn as an async slice */
};

struct tracks {
	const struct export_set *set;
	GArray *tracks;			/* struct track */
	GArray *items;			/* struct item, by track, then begin, outer ones first */
	GPtrArray *kernel;		/* private */
	GHashTable *by_key, *processes, *pids;	/* private */
};

/* All of the export. Slices of one track nest; what overlaps others, or has no thread, is
 * .async. */
void tracks_init(struct tracks *t, const struct export_set *set);
void tracks_clear(struct tracks *t);

static inline const struct span *item_span(const struct tracks *t, const struct item *i)
{
	return t->set->traces[i->trace].tree->nodes[i->node].span;
}

#endif
