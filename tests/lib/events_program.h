/* SPDX-License-Identifier: GPL-2.0-only */
/* The compiled decoder against the walker, event by event. */
#ifndef BLK_TEST_EVENTS_PROGRAM_H
#define BLK_TEST_EVENTS_PROGRAM_H

#include "lib/events_ctf.h"

struct events_programs;

/*
 * Compiles all classes of the metadata several times: with nothing subscribed, and with
 * all of the fields of every class, ten at a time. NULL: refused, *error says what.
 */
struct events_programs *events_programs_new(const struct ctf_meta *m, GError **error);
void events_programs_free(struct events_programs *p);	/* NULL is fine */

/*
 * Reads the event that the walker has read (events_stream_digest() set e->end) once with
 * each: time, id and ends are the same? Else what is wrong, as new string.
 */
char *events_programs_check(struct events_programs *p, const struct events_stream *s,
			    const struct events_event *e);

#endif
