/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spool stores the packets of a live session on disk, as an ordinary CTF trace of bounded size. babeltrace2 and
 * blktop can open it while it grows, and after the writing process was killed.
 *
 *     struct spool *s = spool_new(dir, 1 << 30, "relay1 prod", &error);
 *     unsigned t = spool_add_trace(s, "web1-kernel");
 *     spool_metadata(s, t, bytes);
 *     unsigned st = spool_add_stream(s, t, "chan_0");
 *     spool_packet(s, st, packet);		// again and again
 *     spool_unref(s);
 *
 * On disk: DIR/LABEL-DATE-PID/NUMBER/TRACE-N/ with metadata, stream files and their index files; modes 0700 and
 * 0600. Each NUMBER is a chunk: a complete trace of about a sixteenth of the limit. When the files in DIR exceed the
 * limit, the oldest chunk is deleted, first of earlier runs. Chunks of other running processes (a lock) are retained.
 *
 * Threads: one thread pushes and never waits for the disk; a thread of the spool writes. When the writer is some
 * 64 MiB behind, packets are dropped, which the trace shows as a loss. When writing fails (a full disk), the spool
 * reports it and stops; the live source is not affected.
 *
 * Packets wait while there is no metadata, as a relay may deliver it after them; when some 64 MiB wait, those that have
 * waited longest are refused, and at the end all. While the metadata declares no stream, packets are stored unchecked,
 * and readers find no trace there; the metadata is written as soon as it declares one. What does not fit metadata that
 * is incomplete waits for the rest, up to LIMIT_CLASS_MS.
 *
 * All pushed data is untrusted: names are made safe, and invalid packets are refused once a stream is declared.
 */
#ifndef BLK_LIVE_SPOOL_SPOOL_H
#define BLK_LIVE_SPOOL_SPOOL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SPOOL_DEFAULT_LIMIT ((uint64_t)1 << 30)		/* bytes */
#define SPOOL_LEAST ((uint64_t)16 << 20)		/* bytes: smallest limit */

struct spool;

/* XDG_STATE_HOME/blktop/spool; g_free(). */
char *spool_default_dir(void);

/* Makes the directory if it is missing. False, *error (G_FILE_ERROR): it is a symbolic link, or cannot be made. */
bool spool_make_dir(const char *dir, GError **error);

/* Makes `dir` as above. `limit`: bytes. `label`: part of the directory's name. NULL: *error (G_FILE_ERROR). */
struct spool *spool_new(const char *dir, uint64_t limit, const char *label, GError **error);
/* A recording without limit of size, in a directory without files below one that was added (base/files.h).
 * last_us: 0: one trace, DIR/TRACE-N/. Else a ring, DIR/NUMBER/TRACE-N/: what is older is deleted, except the first
 * seconds, which have the state dump. */
struct spool *spool_new_whole(const char *dir, gint64 last_us);
/* A stream (stream_format.h) to `fd`, borrowed, instead of files: for a program that reads while it is
 * recorded. The functions about chunks, paths and times must not be called. NULL: *error (G_FILE_ERROR). */
struct spool *spool_new_stream(int fd, GError **error);
struct spool *spool_ref(struct spool *s);
/* The last reference writes what is queued, for some seconds at most. NULL is fine. */
void spool_unref(struct spool *s);

/* ---- the pushing thread ---- */

/* Traces and streams are numbered from 0 in the order of these calls. */

unsigned spool_add_trace(struct spool *s, const char *name);
/* More metadata, cut at any byte. Takes over a reference. */
void spool_metadata(struct spool *s, unsigned trace, GBytes *bytes);
/* The metadata begins again, as after lttng clear. */
void spool_metadata_restart(struct spool *s, unsigned trace);
/* The trace has ended: frees its memory. */
void spool_end_trace(struct spool *s, unsigned trace);
unsigned spool_add_stream(struct spool *s, unsigned trace, const char *name);
/* One packet. Takes over a reference. */
void spool_packet(struct spool *s, unsigned stream, GBytes *packet);

/* For streams; files need no such thing. */
void spool_beacon(struct spool *s, unsigned stream, uint64_t stream_class, uint64_t cycles);	/* native_feed.h */
void spool_end_stream(struct spool *s, unsigned stream);
/* Nothing more will come: waits until all is written. False: nothing was written for LIMIT_SPOOL_END_SECONDS, the rest
 * will not be. */
bool spool_end(struct spool *s);

/* ---- any thread ---- */

const char *spool_path(const struct spool *s);	/* this run's directory; borrowed */
/* Waits until all that was pushed is in the files; false: not within timeout_us. */
bool spool_flush(struct spool *s, int64_t timeout_us);

/* A ring that is held keeps all that it has, so that it can be copied. Waits until what was pushed is in the files;
 * false: not within timeout_us. */
bool spool_hold(struct spool *s, bool held, int64_t timeout_us);

struct spool_status {
	uint64_t bytes;			/* on disk, of this run */
	uint64_t packets;		/* in the files */
	uint64_t dropped, refused;	/* packets: the disk was too slow; damaged, or without metadata */
	int64_t from_ns, to_ns;		/* times of its packets; from > to: none */
	bool stopped;
	char message[256];		/* why it stopped, safe to print; or "" */
};
void spool_get_status(struct spool *s, struct spool_status *ret);

#endif
