/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When events were lost, in one slice. Each loss is stored once, however often it is reported, so that losses can be
 * counted. For each host's kernel and programs there are also the windows in which anything was lost. Queries are
 * binary searches. In a live run, losses before the retained seconds become a single count; see losses_forget().
 */
#ifndef BLK_STATE_KERNEL_LOSSES_H
#define BLK_STATE_KERNEL_LOSSES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct loss {
	int64_t begin, end;	/* ns; an end before the beginning counts as the beginning */
	uint32_t host, stream_cpu;
	int32_t vpid;		/* of per-process buffers; else -1 */
	int64_t earlier, later;	/* ns: its window begins this much before .begin and ends this much after .end */
	bool kernel;
	bool silence;		/* as in struct blk_loss: nothing was lost, and the loss is not counted */
	bool is_back;		/* the stream's clock went back at .begin (= .end); with .silence */
};

struct losses {
	GArray *counted;		/* struct loss: the counted ones (not .silence), by end */
	GArray *begins;		/* int64_t: their beginnings, in ascending order */
	uint64_t n_forgotten;	/* losses that were dropped from both arrays */
	int64_t latest;		/* the latest end of any loss; INT64_MIN: no loss */
	GArray *covers;		/* struct loss_cover, by 2 * host + kernel */
	GArray *backs;		/* struct loss: those with .is_back, by end */
};

/* This many of the newest windows of each host's kernel and programs are retained, however old they are. */
#define LOSSES_RETAINED 4096

void losses_init(struct losses *l);
void losses_clear(struct losses *l);
void losses_add(struct losses *l, const struct loss *loss);
/* Adds the losses of `from`. host: maps its host ids to those of l. */
void losses_join(struct losses *l, const struct losses *from, const uint32_t *host);

/* Number of losses that overlap [begin, end) or end at `begin`. From INT64_MIN to INT64_MAX: of all losses ever.
 * In any other range, those that losses_forget() dropped do not count. */
uint64_t losses_touching(const struct losses *l, int64_t begin, int64_t end);

/* Calls each() for every counted loss that overlaps [begin, end). ns > 0: its length in that range. */
void losses_each(const struct losses *l, int64_t begin, int64_t end,
		 void (*each)(const struct loss *loss, int64_t ns, void *data), void *data);

/*
 * Was anything of the host's kernel (or of its programs) lost in (from, to)? *ret_begin: the loss's beginning, at
 * least `from`. Dropped windows count as one loss, which gives `from`.
 */
bool losses_find(const struct losses *l, uint32_t host, bool kernel, int64_t from, int64_t to,
		 int64_t *ret_begin);

/* Did the clock of a stream of that CPU (UINT32_MAX: of none) go back in [from, to)? */
bool losses_clock_back(const struct losses *l, uint32_t host, bool kernel, uint32_t stream_cpu, int64_t from,
		       int64_t to);

/* Drops losses that ended before the instant, except for the newest LOSSES_RETAINED windows. */
void losses_forget(struct losses *l, int64_t before);
size_t losses_bytes(const struct losses *l);

struct coder;
/* Writes or reads all losses of a slice that is not live. n_hosts: the number of its hosts. */
void losses_code(struct coder *c, struct losses *l, uint32_t n_hosts);

#endif
