/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block requests, by device and start sector: queued, issued, completed. Charges their latencies, and the time in
 * which a device is in use, to the seconds.
 */
#ifndef BLK_STATE_KERNEL_BLOCK_H
#define BLK_STATE_KERNEL_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct slice;

enum block_what {
	BLOCK_INSERT, BLOCK_ISSUE, BLOCK_COMPLETE, BLOCK_REQUEUE,
	BLOCK_MERGE, BLOCK_BACKMERGE, BLOCK_FRONTMERGE,
};

/*
 * A flush of the device's cache has sector 0 or -1 when it is issued, sector -1 when it completes, and no sectors.
 * BLOCK_FLUSH_ASKED: the completion of a write that asked for flushes, after the last of them. It has no sectors: the
 * data, if any, had its own issue and completion before.
 */
enum block_flush { BLOCK_NO_FLUSH, BLOCK_FLUSH, BLOCK_FLUSH_ASKED };

struct block_event {
	int64_t ts;
	uint64_t sector, sectors, bytes;
	uint32_t host, dev;
	uint32_t thread;	/* the current task; ID_NONE: none, or unknown */
	uint8_t what;		/* enum block_what */
	uint8_t dir;		/* enum block_dir */
	uint8_t flush;		/* enum block_flush */
	bool error;
};

/* The time in which a request was outstanding: from its insertion or issue to its completion. */
struct block_busy {
	int64_t begin, end;	/* ns; .end INT64_MAX: still outstanding */
	uint32_t host, thread;	/* .thread: as in struct block_event */
	bool read;
	int64_t issue;		/* when it left the queue for the device; INT64_MAX: not yet */
};

struct blocks;
struct blocks *blocks_new(void);
void blocks_free(struct blocks *k);
/* Calls each() for the thread of every pending request. */
void blocks_each_thread(const struct blocks *k, void (*each)(uint32_t thread, void *data), void *data);
void blocks_apply(struct slice *s, const struct block_event *e);
void blocks_finish(struct slice *s);		/* no more events will come */
/* Charges the time in which devices are in use, up to the instant. */
void blocks_charge(struct slice *s, int64_t until);
/*
 * Logged while spans exist that need it (slice_keeps_logs()), in a slice from the trace's beginning.
 * blocks_each_busy(): the requests that overlap [from, to), in order of completion, then those that are outstanding.
 * blocks_forget(): drops requests that ended before the time (ns).
 */
void blocks_each_busy(const struct slice *s, uint32_t host, int64_t from, int64_t to,
		      void (*each)(const struct block_busy *b, void *data), void *data);
void blocks_forget(struct slice *s, int64_t before);
/* Sorts the stored events of a slice that does not start at the trace's beginning by time: those of several hosts. */
void blocks_sort(struct blocks *k);
uint32_t blocks_n_stored(const struct blocks *k);	/* how many these are */
void blocks_drop_stored(struct blocks *k);
struct coder;
/* Writes or reads the events that a slice which does not start at the trace's beginning has stored, as rows of the set
 * (coder_row()). */
void blocks_code(struct coder *c, struct blocks *k, unsigned set, uint32_t n_hosts, uint32_t n_threads);
/* Moves b's requests to a. host, thread: map b's ids to a's. */
void blocks_join(struct slice *a, struct slice *b, const uint32_t *host, const uint32_t *thread);

#endif
