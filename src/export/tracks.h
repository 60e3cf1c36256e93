/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracks of a Perfetto export: numbers of processes and threads in trace-event JSON, and the items on each track.
 * Private to src/export/.
 */
#ifndef BLK_EXPORT_TRACKS_H
#define BLK_EXPORT_TRACKS_H

#include "export/spans.h"

struct track {
	uint32_t thread;		/* timeline_thread(), ID_NONE: spans of no known thread */
	int64_t pid, tid;		/* as exported: the real ids if these are unambiguous */
	int64_t strip_tid;		/* track for the states of its thread in the kernel */
	char *process, *name;		/* "thumbd 246 on web1", "thumbd-w0/254": any bytes */
};

/* A span, or a wait or call, on its track. */
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
	GArray *items;			/* struct item, by track, then by beginning, outer ones first */
	GPtrArray *kernel;		/* private */
	GHashTable *by_key, *processes, *pids;	/* private */
};

/* Makes the tracks of the export. Slices of one track nest. An item that overlaps others, or has no thread, is
 * .async. */
void tracks_init(struct tracks *t, const struct export_set *set);
void tracks_clear(struct tracks *t);

static inline const struct span *item_span(const struct tracks *t, const struct item *i)
{
	return t->set->traces[i->trace].tree->nodes[i->node].span;
}

#endif
