/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The doctor's parts. A scan reads what metadata and stream files say; a listening pass over
 * the events counts them; the advice is made of both.
 */
#ifndef BLK_CMD_DOCTOR_DOCTOR_PRIVATE_H
#define BLK_CMD_DOCTOR_DOCTOR_PRIVATE_H

#include "cli/options.h"

#include "export/diagnosis.h"
#include "trace/reader.h"

/* One trace's clock, as its metadata says. */
struct doctor_clock {
	char *where;			/* its directory */
	char *host, *uuid;		/* uuid "": none */
	const char *domain;
	__int128 offset_ns;		/* of the epoch */
};

struct doctor {
	struct diagnosis *d;
	GHashTable *by_class;		/* "UUID|STREAM CLASS" -> struct diag_channel *, borrowed */
	GHashTable *counts;		/* event name -> uint64_t *; 0: known, never came */
	GPtrArray *clocks;		/* struct doctor_clock * */
	char *session;			/* of a live session; NULL */
	bool live, scanned;		/* scanned: every trace's metadata could be read */
	bool recorded_by_lttng;		/* a session's name is known */
};

/* How often any of "a|b" came; -1: none of them is known. "syscall_*" too. */
int64_t doctor_count(const struct doctor *doc, const char *names);

/* Metadata and stream files below the paths. What can't be read becomes a problem. */
void doctor_scan(struct doctor *doc, const char *const *paths);
/* One record of the pass. Live: of a table whose row DOCTOR_ROW_PROBE is BLK_PROBES. */
#define DOCTOR_ROW_PROBE 1
void doctor_hear(struct doctor *doc, const struct blk_tables *t, const struct blk_event *e);

/* When all was heard: questions, problems, repairs. */
void doctor_advise(struct doctor *doc);
void doctor_check_clocks(struct doctor *doc);

/* Repairs. `channel` may be NULL: then placeholders stand for what is not known. */
struct diag_repair *doctor_repair(struct doctor *doc, char *problem, GPtrArray *commands,
				  double events_per_s, char *cost);
const struct diag_channel *doctor_find_channel(const struct doctor *doc, const char *domain);
char *doctor_where(const struct doctor *doc, const char *domain, const struct diag_channel *c);
void doctor_repair_losses(struct doctor *doc);
/* What an event costs that is not recorded: from one that is and comes about as often. */
double doctor_estimate(const struct doctor *doc, const char *event, char **ret_why);

#endif
