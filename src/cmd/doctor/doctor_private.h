/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of the doctor: a scan of metadata and stream files, a pass that counts events, and advice made from both.
 */
#ifndef BLK_CMD_DOCTOR_DOCTOR_PRIVATE_H
#define BLK_CMD_DOCTOR_DOCTOR_PRIVATE_H

#include "cli/command.h"

#include "export/diagnosis.h"
#include "trace/reader.h"

/* One trace's clock, as its metadata says. */
struct doctor_clock {
	char *where;			/* its directory */
	char *host, *uuid;		/* uuid "": none */
	const char *domain;
	__int128 offset_ns;		/* of clock value 0 from the epoch */
};

struct doctor {
	struct diagnosis *d;
	GHashTable *by_class;		/* "UUID|STREAM CLASS" -> struct diag_channel *, borrowed */
	GHashTable *counts;		/* event name -> uint64_t *; 0: in the metadata, but no event came */
	GHashTable *heard;		/* struct heard *, by stream and class: events of the pass */
	GPtrArray *clocks;		/* struct doctor_clock * */
	uint64_t reordered_pairs;	/* as in struct completeness; 0 of a live session */
	int64_t reordered_max_ns;
	char *suggestion;		/* pairs of events that look like spans (state/spans/suggest.h); NULL: none,
					 * or there are spans */
	char *suggest_from;		/* the trace, as a shell takes it */
	char *session;			/* of a live session; NULL */
	bool live, scanned;		/* scanned: every trace's metadata could be read */
	char *other_tracer;		/* what recorded the kernel's events, if not LTTng: "ftrace", "trace-cmd"; NULL:
					 * LTTng did, or unknown. lttng commands then repair nothing */
	GPtrArray *by_record;		/* char *: what `blktop record` would record; only with .other_tracer */
};

/* Number of events of any of "a|b" (also "syscall_*"); -1: none of them is in the metadata. */
int64_t doctor_count(const struct doctor *doc, const char *names);

/* The names of all events, borrowed, and NULL (g_ptr_array_unref()). */
GPtrArray *doctor_events(const struct doctor *doc);

bool doctor_has_spans(const struct doctor *doc);	/* does the trace have events that make spans? */

/* Reads metadata and stream files below the paths. What cannot be read becomes a problem. */
void doctor_scan(struct doctor *doc, const char *const *paths);
/* Counts one record of the pass. Live sessions use a table whose row DOCTOR_ROW_PROBE is BLK_PROBES. */
#define DOCTOR_ROW_PROBE 1
void doctor_count_event(struct doctor *doc, const struct blk_tables *t, const struct blk_event *e);
/* Adds what was counted to the channels. Call it once, at the end of the pass. */
void doctor_counted(struct doctor *doc, const struct blk_tables *t);

/* After the pass: fills in questions, problems and repairs. */
void doctor_advise(struct doctor *doc);
void doctor_check_clocks(struct doctor *doc);

/* Adds one, unless it is there. */
void doctor_problem(struct doctor *doc, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Repairs. Commands for an unknown channel call it NAME. */
struct diag_repair *doctor_repair(struct doctor *doc, char *problem, GPtrArray *commands,
				  double events_per_s, char *cost);
const struct diag_channel *doctor_find_channel(const struct doctor *doc, const char *domain);
char *doctor_where(const struct doctor *doc, const char *domain, const struct diag_channel *c);
void doctor_repair_losses(struct doctor *doc);
/* Estimated events a second of an event that was not recorded, from a recorded one that is about as frequent.
 * *ret_why (g_free): how it was estimated. */
double doctor_estimate(const struct doctor *doc, const char *event, char **ret_why);

#endif
