/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the fields of an event class that a row of the subscription table requests (inside src/trace/). */
#ifndef BLK_TRACE_CTF_CTF_WANTED_H
#define BLK_TRACE_CTF_CTF_WANTED_H

#include "trace/ctf/ctf_class.h"
#include "trace/event.h"

#include "base/limits.h"

enum ctf_scope { CTF_COMMON, CTF_SPECIFIC, CTF_PAYLOAD, CTF_N_SCOPES };	/* in the order of the packet */

enum ctf_want { CTF_WANT_INT, CTF_WANT_REAL, CTF_WANT_TEXT, CTF_WANT_BYTES };

/* Is it delivered as a number? */
static inline bool ctf_want_number(enum ctf_want kind)
{
	return kind == CTF_WANT_INT || kind == CTF_WANT_REAL;
}

/* A wanted field, and the way to it from the structure of its scope. */
struct ctf_wanted {
	uint8_t slot, scope, kind, n_ways;	/* kind: enum ctf_want */
	const struct ctf_type *leaf;		/* its type */
	uint32_t way[LIMIT_FIELD_DEPTH];	/* index of the member, element or option at each level */
};

/* The structure of a scope; NULL: the class has none. */
const struct ctf_type *ctf_scope_type(const struct ctf_stream_class *sc,
				      const struct ctf_event_class *ec, enum ctf_scope scope);

/* The contexts of a stream class, which all its events have; found once. */
struct ctf_contexts {
	const struct ctf_stream_class *sc;
	struct ctf_wanted w[BLK_N_CONTEXTS];
	bool has[BLK_N_CONTEXTS];
};
void ctf_contexts_find(const struct ctf_stream_class *sc, struct ctf_contexts *ret);

/* Finds the wanted contexts and fields that the class has; fills ret, at most BLK_MAX_SLOTS. `common` is for the
 * class's stream class. */
unsigned ctf_wanted_find(const struct ctf_contexts *common, const struct ctf_event_class *ec,
			 const struct blk_subscription *row, struct ctf_wanted *ret);
/* The class's perf counters with their slots; ret has room for LIMIT_EVENT_COUNTERS. Returns their names as in struct
 * blk_class (g_free); NULL: there are none. */
char *ctf_wanted_counters(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
			  struct ctf_wanted *ret, unsigned *ret_n);
bool ctf_wanted_is_probe(const struct ctf_event_class *ec);	/* see blk_is_probe() */

#endif
