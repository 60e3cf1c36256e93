/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When events were lost, of one slice: each loss once, however often it is told, so that it can be
 * counted; and of each host's kernel and programs the instants at which any was. Every question is
 * a binary search. In a run without end what lies before the seconds that are kept is summed, see
 * losses_forget(). Only for src/state/.
 */
#ifndef BLK_STATE_KERNEL_LOSSES_H
#define BLK_STATE_KERNEL_LOSSES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct loss {
	int64_t begin, end;	/* ns; an end before the begin counts as the begin */
	uint32_t host, stream_cpu;
	int32_t vpid;		/* of buffers of one process; else -1 */
	int64_t earlier, later;	/* ns: one loss begins so much before .begin and ends so much after .end */
	bool kernel;
	bool silence;		/* as in struct blk_loss: nothing was lost, and it is not counted */
};

struct losses {
	GArray *told;		/* struct loss that count, by end */
	GArray *begins;		/* int64_t: theirs, in order */
	uint64_t n_forgotten;	/* that counted and are in neither any more */
	int64_t latest;		/* the latest end of all; INT64_MIN: there was none */
	GArray *covers;		/* struct loss_cover, by 2 * host + kernel */
};

/* Windows that are kept of each host's kernel and programs, however old they are. */
#define LOSSES_KEPT 4096

void losses_init(struct losses *l);
void losses_clear(struct losses *l);
void losses_add(struct losses *l, const struct loss *loss);
/* Those of `from`, whose host h is host[h] here. */
void losses_join(struct losses *l, const struct losses *from, const uint32_t *host);

/* How many that count overlap [begin, end), an end at `begin` among them. INT64_MIN, INT64_MAX: all
 * there were; else nothing before the instant of losses_forget(). */
uint64_t losses_touching(const struct losses *l, int64_t begin, int64_t end);

/* Calls each() for every loss that counts and overlaps [begin, end), with its part of that range, ns > 0. */
void losses_each(const struct losses *l, int64_t begin, int64_t end,
		 void (*each)(const struct loss *loss, int64_t ns, void *data), void *data);

/*
 * Was anything of the host's kernel (or of its programs) lost in (from, to), and since when: not before
 * `from`. Of what is forgotten it is only known that there was a loss: since `from`, as far as one knows.
 */
bool losses_find(const struct losses *l, uint32_t host, bool kernel, int64_t from, int64_t to,
		 int64_t *ret_begin);

/* What ended before the instant is nobody's question any more, but for the newest LOSSES_KEPT windows. */
void losses_forget(struct losses *l, int64_t before);
size_t losses_bytes(const struct losses *l);

#endif
