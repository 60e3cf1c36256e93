/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The working state of making spans (spans.h). A trace is made in two steps. First all its halves get their times, and
 * the calls and long waits of their threads. Then each half becomes a span, in reused buffers.
 */
#ifndef BLK_STATE_SPANS_SPANS_STATE_H
#define BLK_STATE_SPANS_SPANS_STATE_H

#include "base/limits.h"
#include "base/timefmt.h"
#include "state/kernel/annot.h"
#include "state/kernel/slice_state.h"
#include "state/names/names.h"
#include "state/store/span.h"

struct pairs;

/* Entries in a vec of struct inner. */
struct inner_range { guint first, n; };

struct half {
	const uint32_t *annots;		/* in order of time; all of one half */
	guint n_annots;
	uint8_t kind, state;		/* enum span_kind, enum span_state */
	uint8_t nth;			/* index among the span's halves of its kind */
	bool may_end;			/* see struct span */
	uint32_t thread;		/* that began it; ID_NONE: unknown */
	int32_t tid, pid;		/* as published; -1: unknown */
	uint32_t host, service;
	uint64_t id, parent;
	int64_t begin, end, self_ns;
	struct inner_range calls, chains;	/* in struct spans.calls, .chains */
};

/* An interval in which a thread worked for a half and not for one of its children. */
struct segment { int64_t begin, end; uint32_t thread, half; };

/* Consecutive calls, or one wait, in a segment. index: of the first in the thread's log; n: their number. */
struct inner { uint32_t half, segment, index, n; };

/* A thread that ran while another was runnable, and for how long; see cpu_neighbours.h. */
struct neighbour { const struct thread *thread; int64_t ns; };

struct neighbour_list {
	const struct slice *s;
	struct vec all;			/* struct neighbour */
	int64_t idle;
};

enum core { CORE_NONE, CORE_CS, CORE_CR, CORE_SR, CORE_SS, CORE_START, CORE_END, CORE_N };
#define CORE_KEYS 64

/* Buffers for one span. */
struct parts_of_span {
	struct vec annotations, tags, linked, waits, calls, slow, links;
	struct neighbour_list neighbour_list, chain_neighbours;
	/* holds a struct span_runqueue */
	_Alignas(struct span_runqueue) char neighbours[sizeof(struct span_runqueue) +
						     LIMIT_SPAN_NEIGHBOURS * sizeof(struct span_neighbour)];
};

/* Ids of dropped traces, in two generations: when the younger one is full, the older one is dropped. */
struct forgotten {
	struct intmap ids[2];		/* younger generation, older generation */
	int64_t last[2];		/* ns: the newest annotation of each generation; INT64_MIN: none */
	int64_t unknown_to;		/* ns: the newest annotation of traces whose ids were dropped */
};
#define FORGOTTEN_RETAINED 250000		/* ids per generation */
#define SPANS_LOOK_BACK_NS (LIMIT_PAST_SECONDS * NS_PER_S)
#define AGREED_RETAINED 250000		/* processes in spans.agreed: then it begins anew */

struct spans {
	struct slice *s;
	struct names *n;
	struct pairs *pairs;
	uint32_t (*thread)(void *data, uint32_t thread);	/* registry id of a thread; see spans_new() */
	void *thread_data;
	uint32_t core[CORE_N];		/* ids of the core annotations' texts */
	/* For the first CORE_KEYS texts (most annotations have one of them): enum core, and whether the text is
	 * known to be no error. */
	uint8_t core_of[CORE_KEYS];
	bool no_error[CORE_KEYS];
	guint done;			/* number of annotations indexed */
	size_t room;			/* bytes for retained annotations and their texts; 0: no bound */
	GPtrArray *traces;		/* struct strace * */
	struct intmap by_id;		/* trace id -> index in .traces */
	struct forgotten forgotten;
	uint32_t n_slots;
	int64_t forgot_at;		/* instant of the last spans_forget(); INT64_MIN: never */
	size_t texts_retained;		/* bytes after texts were last dropped */
	struct intmap agreed;		/* host << 32 | vpid: processes, see note_agreement() */
	struct intmap irqs;		/* cache of irq_text(), while spans are published */
	/* Valid while a trace is made: */
	struct vec ids;			/* uint32_t: its annotations, by span and time */
	struct vec halves;		/* struct half; .annots point into ids */
	struct vec segments;		/* struct segment; by thread and time */
	struct vec children;		/* struct child */
	struct vec calls, chains;	/* struct inner: by half */
	struct vec inner, stack, starts;	/* buffers for finding calls and chains */
	struct vec known, known_neighbours;	/* waits in several spans: struct known_wait (explain.c), and
						 * their struct neighbour */
	struct vec outstanding, in_device;	/* buffers of device_wait() */
	struct parts_of_span parts;	/* buffers of the current span */
};

static inline enum core spans_core(const struct spans *sp, const struct annot *a)
{
	if (a->type != ANNOT_EVENT)
		return CORE_NONE;
	if (a->key < CORE_KEYS)
		return sp->core_of[a->key];
	for (unsigned i = CORE_CS; i < CORE_N; i++)
		if (a->key == sp->core[i])
			return (enum core)i;
	return CORE_NONE;
}

static inline bool core_is_end(enum core c)
{
	return c == CORE_CR || c == CORE_SS || c == CORE_END;
}

static inline struct half *half_at(const struct spans *sp, guint i)
{
	return vec_at(&sp->halves, struct half, i);
}

static inline const struct segment *segment_at(const struct spans *sp, guint i)
{
	return vec_at(&sp->segments, struct segment, i);
}

static inline const struct annot *annot_of(const struct spans *sp, const struct half *h, guint i)
{
	return &g_array_index(sp->s->annots, struct annot, h->annots[i]);
}

/* The published id of a thread; ID_NONE: none, an idle task, or an unidentified thread. */
static inline uint32_t spans_map_thread(const struct spans *sp, uint32_t thread)
{
	const struct thread *t = thread == ID_NONE ? NULL : thread_at(sp->s, thread);
	if (!t || !thread_is_identified(t))
		return ID_NONE;
	return t->id != ID_NONE ? t->id : sp->thread(sp->thread_data, thread);
}

#endif
