/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which half of a shared span a child belongs to. Both halves have the id that the child names as its parent, and one
 * thread may hold both.
 */
#ifndef BLK_STATE_STORE_SPAN_FIT_H
#define BLK_STATE_STORE_SPAN_FIT_H

#include "state/store/span.h"

/* What decides. Two services are the same if their numbers are equal; likewise processes and threads. */
struct span_maker {
	uint64_t service, process;
	uint32_t thread, host;		/* .thread ID_NONE: unknown */
	bool has_process;
	enum span_kind kind;
	int64_t begin_ns, end_ns;
};

static inline struct span_maker span_maker_of(const struct span *s)
{
	return (struct span_maker){
		.service = (uint64_t)(uintptr_t)s->service, .process = (uint64_t)s->host << 32 | (uint32_t)s->pid,
		.has_process = s->pid >= 0, .thread = s->thread, .host = s->host, .kind = s->kind,
		.begin_ns = s->begin_ns, .end_ns = s->end_ns,
	};
}

/*
 * How well `p` fits as the parent of `child`, > 0. The order is: the half of the service that made the child, of its
 * thread, of its process, the half that was open when the child began, the server half. The service of a server half
 * whose caller is not traced is the called one, so it does not say who made it.
 */
static inline unsigned span_fit(const struct span_maker *child, const struct span_maker *p)
{
	bool service = child->kind != SPAN_SERVER && child->service == p->service;
	bool thread = child->thread != ID_NONE && child->thread == p->thread;
	bool process = child->has_process && p->has_process && child->process == p->process;
	bool open = child->host == p->host && child->begin_ns >= p->begin_ns && child->begin_ns <= p->end_ns;
	return 1 + 16 * service + 8 * thread + 4 * process + 2 * open + (p->kind == SPAN_SERVER);
}

#endif
