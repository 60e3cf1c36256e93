/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The questions that the views answer, and the events and contexts that each answer needs. Every registered view
 * belongs to a question; a view that the table does not name is a question of its own, with its own .needs.
 *
 * A need is an event ("sched_switch"), alternatives ("irq_softirq_entry|softirq_entry": names in several tracer
 * versions, one is enough), a NEED_ of registry.h ("syscall_*": any system call), or a context of a domain's
 * channels ("ust.vtid").
 */
#ifndef BLK_VIEWS_QUESTIONS_H
#define BLK_VIEWS_QUESTIONS_H

#include "views/view.h"

#define QUESTION_NEEDS 6

struct question {
	const char *id, *text;		/* "why", "Why was a request slow?" */
	const char *views[8];		/* view ids, NULL-terminated */
	const char *needs[QUESTION_NEEDS + 1];	/* if one of them is missing there is no answer */
	struct question_want {
		const char *need;	/* if it is missing the answer is partial: */
		const char *unknown;	/* what is unknown then: "names of files that were open before" */
	} wants[QUESTION_NEEDS + 1];
};

/* All questions: struct question *, owned by the array. */
GPtrArray *questions_all(void);

/* Is it expensive to record and rarely needed? A trace that cannot answer it is still complete. */
bool question_is_on_request(const struct question *q);

/* All names of an event of the subscription table; one of them is enough: "irq_softirq_entry|softirq_entry" for either
 * name. The name itself if it has no alternatives. */
const char *question_names(const char *event);

#endif
