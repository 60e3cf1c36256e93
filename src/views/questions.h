/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The questions that the views answer, and which events and contexts of a trace each needs.
 * Every registered view belongs to one; a view that no row of the table names is a question
 * of its own, with what its own .needs say.
 *
 * A need: "sched_switch"; "irq_softirq_entry|softirq_entry" (one of them is enough, as they
 * are names of several tracer versions); "syscall_*" (any system call at all) and the other
 * NEED_ of registry.h; or a context of a domain's channels, "ust.vtid".
 */
#ifndef BLK_VIEWS_QUESTIONS_H
#define BLK_VIEWS_QUESTIONS_H

#include "views/view.h"

#define QUESTION_NEEDS 6

struct question {
	const char *id, *text;		/* "why", "Why was a request slow?" */
	const char *views[8];		/* view ids, NULL-terminated */
	const char *needs[QUESTION_NEEDS + 1];	/* without one of them: no answer */
	struct question_want {
		const char *need;	/* without it the answer lacks ... */
		const char *lacks;	/* "names of files that were open before" */
	} wants[QUESTION_NEEDS + 1];
};

/* All of them, struct question *, freed with the array. */
GPtrArray *questions_all(void);

/* Costs much and is seldom asked: a trace that can't answer it is well all the same. */
bool question_is_on_request(const struct question *q);

/* What the event of the subscription table is read for counts as there when any of these is:
 * "irq_softirq_entry|softirq_entry" for either name; the name itself when it has no others. */
const char *question_names(const char *event);

#endif
