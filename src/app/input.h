/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is read: trace directories, files of spans, a directory of slices, or sessions of relay daemons. The job's
 * thread opens and reads it; all functions here are for the main thread.
 */
#ifndef BLK_APP_INPUT_H
#define BLK_APP_INPUT_H

#include "live/live.h"
#include "live/spool/spool.h"
#include "run/job.h"

struct input;

/* READER_AUTO is the native reader. babeltrace2's library is not hardened against hostile traces, and is used only on
 * request. */
enum reader { READER_AUTO, READER_NATIVE, READER_BT2 };

/* watched: the path is a directory in which slices appear (run/slice_dir.h). */
struct input *input_new_paths(const char *const *paths, enum reader reader, bool watched);
/* Takes over an array of struct live_url, each with target and session. */
struct input *input_new_live(GArray *urls, const struct live_options *options);
/* Does it have single events? Slices do not: *error says where they are. */
bool input_has_events(const struct input *in, GError **error);
/* Counts all events by thread, too. Before input_start(). */
void input_count_threads(struct input *in, bool count);
/* Finds and stores slices of recorded traces in the cache (run/cache.h), which has at most `most` bytes, if reading
 * takes after_ns. Before input_start(). */
void input_cache(struct input *in, uint64_t most, int64_t after_ns);
/* Packets of slice files are in directories that are below these (copied), see run/chunks.h. Before input_start(). */
void input_chunks(struct input *in, const char *const *dirs);
/* The directories with packets of [from_ns, to_ns), for what needs them (g_strfreev()); of slice files those that
 * input_chunks() has, of a watched directory those that are there now. NULL: *error names what is missing. */
char **input_packets(const struct input *in, int64_t from_ns, int64_t to_ns, GError **error);
/* Prepares a second input_start(), after the first job was freed. A live input is then read from the beginning of
 * what the relay daemon has, and without storing packets. */
void input_again(struct input *in);
/* The same of a session that has ended: from now on it is a recorded trace, of the packets that were stored. false:
 * none were. */
bool input_again_stored(struct input *in);
/* Stores the packets of a live input below `dir` (live/spool/spool.h). limit: bytes. Before input_start(). */
bool input_store(struct input *in, const char *dir, uint64_t limit, GError **error);
/* A recording: stores the packets of a live input in `dir`, as spool_new_whole() does, or writes them to stdout ("-",
 * spool_new_stream()). decodes: false: no event reaches the model; losses do. Before input_start(). */
bool input_record(struct input *in, const char *dir, gint64 last_us, bool decodes, GError **error);
/* last_us: at least so much is stored, and a state dump (of the kernel's own ring buffer) so often: */
int64_t input_state_every_ns(const struct input *in);	/* 0: only at the beginning */
bool input_end_record(struct input *in);	/* all that was recorded has come; as spool_end() */
/* The same as spool_hold(), of what input_record() stores. False: the disk is seconds behind. */
bool input_hold_stored(struct input *in, bool held);
/* What is stored, once all that came is in the files. false: packets are not stored. */
bool input_stored(struct input *in, struct spool_status *ret);
/* The directory of the stored packets, flushed; NULL: packets are not stored. Borrowed. */
const char *input_stored_path(struct input *in);
/* Beginning of the oldest stored packet; TIME_UNKNOWN: none yet. false: packets are not stored. */
bool input_stored_from(struct input *in, int64_t *ret_from);
char *input_store_trouble(struct input *in);	/* why storing has stopped (g_free), or NULL */
void input_unref(struct input *in);		/* NULL is fine */

/* Starts a job that reads it. The job has its own reference. */
struct job *input_start(struct input *in, const struct job_options *options);

/* State of the connection. false: not live, not open yet, or closed. */
bool input_live_status(struct input *in, struct live_status *ret);

/* If the path is a file of history, *ret_step (ns) is its step, the finest one. */
void input_history_step(const char *path, int64_t *ret_step);

/* The paths that are read; NULL: live. Borrowed. */
const char *const *input_paths(const struct input *in);
/* Short visible text: "demo", "relay1/web1 prod". Borrowed. */
const char *input_label(const struct input *in);

/* Names what is read, wherever it is: a digest of the traces' UUIDs, of the beginning of files of spans, or of the
 * names of live sessions. Letters, digits and '-'. Reads the files anew. Free with g_free(). */
char *input_identity(const struct input *in);

/* The directory of the bundled recording; NULL and *error when there is none. */
char *input_find_demo(GError **error);

#endif
