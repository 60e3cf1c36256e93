/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results of --doctor for a trace or session, and functions that print them. Texts may come from the trace: printing
 * escapes them.
 */
#ifndef BLK_EXPORT_DIAGNOSIS_H
#define BLK_EXPORT_DIAGNOSIS_H

#include "views/questions.h"

#include <stdio.h>

/* Streams of one name, which LTTng calls a channel. NULL or 0: unknown. */
struct diag_channel {
	char *host, *session, *name;
	const char *domain;		/* "kernel", "ust"; or "other" */
	char *contexts;			/* "pid tid procname"; "": none */
	uint64_t events, bytes, packet_bytes;	/* packet_bytes: the largest packet, which is the size of a
						 * sub-buffer */
	int64_t first_ns, last_ns;	/* of its events; TIME_UNKNOWN: no events */
	uint64_t lost_events, lost_packets;
	uint64_t damaged;		/* packets that cannot be decoded to their end */
	unsigned losses, streams;
	uint64_t worst_events;		/* events of the largest loss */
	int64_t longest_ns;		/* the longest loss */
	int64_t back_ns, back_at_ns;	/* how far the clock of a stream went back at most, and when; .back_ns 0: it did
					 * not */
};

/* A stream with losses. */
struct diag_loss {
	const struct diag_channel *channel;
	int64_t cpu, vpid;		/* -1: unknown */
	uint64_t events, packets;
	unsigned losses;
};

enum diag_answer { ANSWER_YES, ANSWER_PARTLY, ANSWER_NO };

struct diag_question {
	const struct question *question;
	enum diag_answer answer;
	GPtrArray *missing;		/* char *: "sched_switch"; with answer PARTLY "sched_waking: who woke it" */
};

/* One recommended change. */
struct diag_repair {
	char *problem;			/* "disks: block_rq_issue is not recorded" */
	GPtrArray *commands;		/* char *, for a shell */
	double events_per_s;		/* estimated rate of additional events; < 0: unknown */
	char *cost;			/* source of the estimate, and other costs */
	bool on_request;		/* belongs to a question on request: without it the trace is complete */
};

struct diagnosis {
	char *label, *reader, *warning, *isolation, *user;	/* NULL: not applicable; label is always set */
	bool live;
	int64_t from_ns, to_ns;		/* TIME_UNKNOWN: no events */
	uint64_t events;
	GPtrArray *channels;		/* struct diag_channel * */
	GPtrArray *losses;		/* struct diag_loss * */
	GPtrArray *questions;		/* struct diag_question * */
	GPtrArray *kernels;		/* char *: "HOST: names of files by event probes", where another tracer than
					 * LTTng's recorded the kernel */
	GPtrArray *problems;		/* char *: clocks, hosts, unreadable data */
	GPtrArray *repairs;		/* struct diag_repair * */
	GPtrArray *all_questions;	/* private: owns what .questions points to */
};

struct diagnosis *diagnosis_new(const char *label);
void diagnosis_free(struct diagnosis *d);		/* NULL is fine */
typedef struct diagnosis blk_diagnosis;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_diagnosis, diagnosis_free)

/* Events per second over the time of the events; < 0: unknown. */
double diag_rate(const struct diagnosis *d, uint64_t events);
extern const char *const diag_answer_name[];		/* "yes", "partly", "no" */

void diagnosis_print_text(FILE *out, const struct diagnosis *d);
char *diagnosis_json(const struct diagnosis *d);	/* one object on one line; free with g_free() */

#endif
