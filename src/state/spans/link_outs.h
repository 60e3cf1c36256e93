/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that spans sent (link_out of rules, rules.h), by their keys. The newest LIMIT_LINK_OUTS keys are stored; a
 * message replaces an earlier one with its key. A message stays after it was taken, since others may take it, too.
 */
#ifndef BLK_STATE_SPANS_LINK_OUTS_H
#define BLK_STATE_SPANS_LINK_OUTS_H

#include <stdbool.h>
#include <stdint.h>

struct link_out {
	uint64_t key;
	uint64_t trace, span;		/* that sent it */
	int64_t ts;			/* ns, when */
	uint32_t host;			/* index in slice.hosts */
	bool in_kernel;			/* a kernel event sent it */
	bool closed;			/* the trace takes no more spans */
};

struct link_outs;
struct link_outs *link_outs_new(void);
void link_outs_free(struct link_outs *l);		/* NULL is fine */
void link_outs_put(struct link_outs *l, const struct link_out *out);
/* NULL: none has the key. Valid until the next link_outs_put(). */
const struct link_out *link_outs_find(const struct link_outs *l, uint64_t key);
/* Was any removed for the limit? */
bool link_outs_evicted(const struct link_outs *l);
/* Sets .closed of messages of traces for which closed() is true. */
void link_outs_close(struct link_outs *l, bool (*closed)(uint64_t trace, void *data), void *data);

#endif
