/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lttng-modules call the kernel's events and their fields, and how they store them. Source: lttng-modules 2.13 to
 * 2.16, include/instrumentation/events/; tables of both tracers' recordings of the same seconds agree (tests/traces).
 *
 * Everything that is not named here has its own name: SYSTEM_EVENT, or EVENT if that begins with the system's name.
 */
#ifndef BLK_TRACE_RING_RING_RULES_H
#define BLK_TRACE_RING_RING_RULES_H

#include "trace/ring/ring_format.h"

enum ring_encoding {
	RING_AS_IS,		/* a number, an array or a text, as its type says */
	RING_COMM,		/* a text in 16 bytes, filled with 0 */
	RING_PRIORITY,		/* a thread's priority: LTTng subtracts MAX_RT_PRIO, 100 */
	RING_RWBS,		/* the letters of a block request's operation, as bits */
	RING_USER_TEXT,		/* a text of the traced program, which the kernel stored beside its pointer */
	RING_OMIT,		/* left out */
};

/* Fields that are not in the event itself. */
enum ring_extra {
	RING_NO_EXTRA,
	RING_EXTRA_TID,		/* block requests: tid, the thread on the CPU */
	RING_EXTRA_TGIDS,	/* sched_process_fork: parent_pid, child_pid, if the transcoder knows them */
};

/* LTTng's name of an event; g_free. */
char *ring_event_name(const char *system, const char *event);
enum ring_extra ring_event_extra(const struct ring_format *format);

struct ring_field_rule {
	const char *name;		/* LTTng's name, without an underscore in front */
	enum ring_encoding encoding;
	uint8_t size;			/* of RING_AS_IS numbers: bytes to store; 0: as many as they have */
	bool is_signed;			/* valid if size is set */
};
/* What becomes of a field of the event. The name belongs to the format or to the table. */
struct ring_field_rule ring_field_rule(const struct ring_format *format, const struct ring_field *field);

/* The bits of a block request's letters ("WFS") as LTTng stores them. Source: lttng-modules' block.h; kernel's
 * blk_fill_rwbs(). n: bytes of the text, which may end before with a NUL. */
uint32_t ring_rwbs_bits(const char *letters, size_t n);

#endif
