/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When events were lost, in one slice. Each loss is stored once, however often it is reported, so that losses can be
 * counted; and for each host's kernel and programs the windows in which anything was lost. Queries are binary searches.
 * In a live run the losses before the retained seconds become a sum, see losses_forget().
 */
#ifndef BLK_STATE_KERNEL_LOSSES_H
#define BLK_STATE_KERNEL_LOSSES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct loss {
	int64_t begin, end;	/* ns; an end before the beginning counts as the beginning */
	uint32_t host, stream_cpu;
	int32_t vpid;		/* of buffers of one process; else -1 */
	int64_t earlier, later;	/* ns: one loss begins so much before .begin and ends so much after .end */
	bool kernel;
	bool silence;		/* as in struct blk_loss: nothing was lost, and it is not counted */
};

struct losses {
	GArray *told;		/* struct loss: those that count (not .silence), by end */
	GArray *begins;		/* int64_t: their beginnings, in order */
	uint64_t n_forgotten;	/* losses that were dropped from both */
	int64_t latest;		/* the latest end of all; INT64_MIN: there was none */
	GArray *covers;		/* struct loss_cover, by 2 * host + kernel */
};

/* The newest windows of each host's kernel and programs are retained, however old they are. */
#define LOSSES_KEPT 4096

void losses_init(struct losses *l);
void losses_clear(struct losses *l);
void losses_add(struct losses *l, const struct loss *loss);
/* Adds those of `from`. host: its hosts' ids in l. */
void losses_join(struct losses *l, const struct losses *from, const uint32_t *host);

/* Number of losses that overlap [begin, end) or end at `begin`. INT64_MIN, INT64_MAX: all there were; any other range
 * must not begin before the instant of losses_forget(). */
uint64_t losses_touching(const struct losses *l, int64_t begin, int64_t end);

/* Calls each() for every loss that counts and overlaps [begin, end), with its part of that range, ns > 0. */
void losses_each(const struct losses *l, int64_t begin, int64_t end,
		 void (*each)(const struct loss *loss, int64_t ns, void *data), void *data);

/*
 * Was anything of the host's kernel (or of its programs) lost in (from, to)? *ret_begin: since when, not before `from`.
 * Dropped windows count as one loss, so there it is `from`.
 */
bool losses_find(const struct losses *l, uint32_t host, bool kernel, int64_t from, int64_t to,
		 int64_t *ret_begin);

/* Drops what ended before the instant, except for the newest LOSSES_KEPT windows. */
void losses_forget(struct losses *l, int64_t before);
size_t losses_bytes(const struct losses *l);

#endif
