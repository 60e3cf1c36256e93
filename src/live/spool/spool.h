/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a live session sent, kept on disk: a bounded, ordinary CTF trace, which grows
 * while it is received. babeltrace2 and blktop open it, also while it grows and after
 * whoever wrote it was killed.
 *
 *     struct spool *s = spool_new(dir, 1 << 30, "relay1 prod", &error);
 *     unsigned t = spool_add_trace(s, "web1-kernel");
 *     spool_metadata(s, t, bytes);
 *     unsigned st = spool_add_stream(s, t, "chan_0");
 *     spool_packet(s, st, packet);		// again and again
 *     spool_unref(s);
 *
 * On disk: DIR/LABEL-DATE-PID/NUMBER/TRACE-N/ with metadata, stream files and their index
 * files, 0700 and 0600. Each number is a chunk, a whole trace of its own, a sixteenth of
 * the limit; the oldest is deleted when all there is in DIR exceeds the limit: those that
 * earlier runs left go first, those of runs that go on (a lock) never.
 *
 * Threads: one pushes; nothing of that waits for the disk, a thread of its own writes.
 * When the disk is slower than the network by some 64 MiB, packets are dropped, which shows
 * in the spool as a loss. When it can't write (a full disk), it says so and stops; live
 * goes on.
 *
 * Everything that is pushed is hostile: names are made safe, what is no packet is refused
 * as soon as there is metadata to tell.
 */
#ifndef BLK_LIVE_SPOOL_SPOOL_H
#define BLK_LIVE_SPOOL_SPOOL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SPOOL_DEFAULT_LIMIT ((uint64_t)1 << 30)		/* bytes */
#define SPOOL_LEAST ((uint64_t)16 << 20)

struct spool;

/* XDG_STATE_HOME/blktop/spool, as new string. */
char *spool_default_dir(void);

/* Makes the directory where it is missing. false, *error (G_FILE_ERROR): it is a link, or cannot be made. */
bool spool_make_dir(const char *dir, GError **error);

/* dir is made as above. *error (G_FILE_ERROR): what of it can't be made. */
struct spool *spool_new(const char *dir, uint64_t limit, const char *label, GError **error);
struct spool *spool_ref(struct spool *s);
/* The last one writes what is still queued (for some seconds at most). NULL is fine. */
void spool_unref(struct spool *s);

/* ---- the pusher's ---- */

unsigned spool_add_trace(struct spool *s, const char *name);
/* More metadata, in pieces cut anywhere; the bytes are taken over (a reference). */
void spool_metadata(struct spool *s, unsigned trace, GBytes *bytes);
/* A session that is cleared may begin its metadata again. */
void spool_metadata_restart(struct spool *s, unsigned trace);
/* No more of it: lets its memory go. */
void spool_end_trace(struct spool *s, unsigned trace);
unsigned spool_add_stream(struct spool *s, unsigned trace, const char *name);
/* A whole packet; the bytes are taken over (a reference). */
void spool_packet(struct spool *s, unsigned stream, GBytes *packet);

/* ---- any thread ---- */

const char *spool_path(const struct spool *s);	/* of this run's directory; borrowed */
/* Waits until what was pushed so far is in the files, at most so long. */
bool spool_flush(struct spool *s, int64_t timeout_us);

struct spool_status {
	uint64_t bytes;			/* of this run, on disk */
	uint64_t dropped, refused;	/* packets */
	int64_t from_ns, to_ns;		/* of its packets; from > to: none */
	bool stopped;
	char message[256];		/* why it stopped, visible text; or "" */
};
void spool_get_status(struct spool *s, struct spool_status *ret);

#endif
