/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves what a slice has into another one: its ids become those of the other slice. What stitch.c and unite.c share.
 * Only for src/state/slice/.
 */
#ifndef BLK_STATE_SLICE_MOVING_H
#define BLK_STATE_SLICE_MOVING_H

#include "state/kernel/slice_state.h"

/* Arrays: b's id -> a's id. All zero: nothing. */
struct moving {
	uint32_t *string, *text, *host, *channel;
	uint32_t *cpu;		/* the caller allocates and fills it, before moving_threads() */
	uint32_t *n_runs;	/* by b's CPU: length of a's log of runs, which b's is appended to. Likewise */
	uint32_t *thread;	/* b's threads are appended, so all ids are shifted by the same number */
	uint32_t n_threads;
	uint32_t annot_add;
	uint64_t seq_add;
};

static inline uint32_t moved_thread(const struct moving *m, uint32_t id)
{
	g_assert(id == ID_NONE || id < m->n_threads);
	return id == ID_NONE ? ID_NONE : m->thread[id];
}

/* Adds b's strings to a's. Returns a new array: b's id -> a's id. */
uint32_t *moving_strings(struct strtab *a, const struct strtab *b);
/* Registries and losses. follows: b is later than a, else of the same time. */
void moving_registries(struct moving *m, struct slice *a, const struct slice *b, bool follows);
void moving_threads(struct moving *m, struct slice *a, struct slice *b);
/* Annotations, binaries and facts; then seconds, and packs (pack.h). */
void moving_logs(const struct moving *m, struct slice *a, struct slice *b);
void moving_seconds(const struct moving *m, struct slice *a, struct slice *b);
/* Maps the ids that a CPU of b has, other than those of its tasks. */
void moving_cpu(const struct moving *m, struct cpu *c);
/* Numbers of events, and which event classes there are. Call it last. */
/* What b has: kinds of events, and changes of descriptors. Call it before b's records are applied. */
void moving_known(struct slice *a, const struct slice *b);
void moving_counts(struct slice *a, const struct slice *b);
/* Sorts three ranges of facts: a's, those from `right` on, which were b's, and those from `contexts` on, which merging
 * wrote. */
void moving_sort_facts(struct slice *s, guint right, guint contexts);
/* The coverage is that of both. Frees b, and what m has. */
void moving_end(struct moving *m, struct slice *a, struct slice *b);
/* Registers the ids that the moved threads have in their pid namespaces. */
void moving_inner(const struct moving *m, struct slice *a);

#endif
