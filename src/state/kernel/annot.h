/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Annotations: events that belong to a span (its beginning, end, or a tag). Handlers append them to slice.annots;
 * pairs.h and spans.h make spans of them. Also the binaries that addresses of functions lie in.
 */
#ifndef BLK_STATE_KERNEL_ANNOT_H
#define BLK_STATE_KERNEL_ANNOT_H

#include "state/store/schema.h"

#include <stdbool.h>
#include <stdint.h>

/* A note is an event of a log within a span. */
enum annot_type { ANNOT_EVENT, ANNOT_STRING, ANNOT_INT, ANNOT_NOTE };

/*
 * A mark begins or ends a span, but has no ids: functions, and events of rules. Until pairs.h knows which marks belong
 * together, .trace is the mark's key, .parent the parent's key, and .span the rule's number. A tag belongs to the
 * annotation before it. A note belongs to the innermost open span of its thread; until pairs.h knows that one, .trace
 * and .span are ANNOT_NO_SPAN. A definition (MARK_DEFINE, state/spans/lookups.h) belongs to no span: .key means .val
 * from now on. A link belongs to the annotation before it; .address is its key, and .key its name. So does
 * MARK_EVERY: .val is after how many ns the next span of the key is due.
 */
enum annot_mark { MARK_NONE, MARK_BEGIN, MARK_END, MARK_TAG, MARK_NOTE, MARK_DEFINE, MARK_LINK_OUT,
		  MARK_LINK_IN, MARK_WHOLE, MARK_EVERY, MARK_N };
#define ANNOT_NO_SPAN UINT64_MAX
#define RULE_FUNCTION UINT32_MAX	/* a function: the key is its thread */

/* A program or library that a process has mapped since .ts. */
struct binary {
	int64_t ts;
	uint64_t base, size;
	uint32_t host, path;	/* .path: string id */
	int32_t vpid;
};

/* A thread's counters at an instant. */
struct snap {
	uint64_t wait_index;	/* waits of the thread before it */
	int64_t part[PART_SLICE_N];	/* ns, as in struct tstate */
};

struct annot {
	int64_t ts;
	uint64_t trace, span, parent;
	uint8_t type;		/* enum annot_type */
	uint8_t mark;		/* enum annot_mark */
	bool by_kernel;		/* .thread comes from the kernel trace */
	bool in_kernel;		/* a kernel event: only the kernel trace knows its thread */
	uint8_t severity;	/* of a note: see severity.h */
	bool ends;		/* its thread is no longer in the span, or it is a note */
	bool borrows;		/* .snap is a copy of another annotation's */
	bool claims;		/* it is no event: .thread, with the snapshot, may have made the annotation before it */
	bool is_unsure;		/* it was later than .ts, for its stream's clock went back */
	uint8_t looks_up;	/* LOOKS_UP_*: texts of it that name entries of tables */
	uint32_t name, service, ip;	/* ids in slice.texts, as the next two */
	uint32_t key, val;	/* event, or key and value */
	uint32_t port;		/* of a link that was taken: 2 * the host that sent it + (1: its kernel) */
	uint32_t host;
	uint32_t thread;	/* the kernel's current task; ID_NONE: unknown */
	int32_t vpid, vtid;
	uint32_t cpu;		/* index in slice.cpus */
	uint32_t channel;	/* number in slice.channels */
	uint32_t rule;		/* of a mark: number of its rule, or RULE_FUNCTION */
	uint32_t next;		/* the next one of its trace's list; ID_NONE: none, or it is in no list; see spans.c */
	uint64_t address;	/* of a function; 0: an exit without an address (cyg_profile_fast); of a link: its
				 * key, then the trace of the other span, whose id is .parent; of a whole span, which
				 * ends at .ts: its duration (ns); of MARK_EVERY: the key, then the ns of .val */
	int64_t out_ts;		/* of a link that was taken: ns, when it was sent; of MARK_EVERY: when the span before
				 * it began; private to pairs.h and spans.c */
	struct snap *snap;	/* owned by slice.snaps; NULL: the thread's parts of time are unknown */
};

#endif
