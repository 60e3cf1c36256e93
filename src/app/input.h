/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is read: directories or a session of a relay, opened on a job's thread while
 * the main thread asks about it.
 */
#ifndef BLK_APP_INPUT_H
#define BLK_APP_INPUT_H

#include "live/live.h"
#include "run/job.h"

struct input;

/* Which reader: the native one (auto is the same), or babeltrace2's library, which is not
 * hardened against hostile traces and is used only where it is asked for. */
enum reader { READER_AUTO, READER_NATIVE, READER_BT2 };

struct input *input_new_paths(const char *const *paths, enum reader reader);
/* Takes over an array of struct live_url, each with target and session. */
struct input *input_new_live(GArray *urls, const struct live_options *options);
/* All events are to be counted by thread, too: before it is started. */
void input_count_threads(struct input *in, bool count);
/* Before it is started once more, after its job was freed: live, from the beginning of what the
 * relay has, and packets are not kept any more. */
void input_again(struct input *in);
/* What a live input gets is kept below `dir`, too (live/spool/spool.h). Before input_start(). */
bool input_keep(struct input *in, const char *dir, uint64_t limit, GError **error);
/* The directory with all that came so far; NULL: nothing is kept. Borrowed. */
const char *input_kept(struct input *in);
/* Begin of the oldest packet that is kept, TIME_UNKNOWN: none yet; false: nothing is kept. */
bool input_keeps(struct input *in, int64_t *ret_from);
char *input_keep_trouble(struct input *in);	/* why nothing more is kept; NULL */
void input_unref(struct input *in);		/* NULL is fine */

/* A job that reads it; the job holds a reference of its own while it needs it. */
struct job *input_start(struct input *in, const struct job_options *options);

/* The connection of a live input; false: not live, not open yet, or closed. */
bool input_live_status(struct input *in, struct live_status *ret);

/* Short visible text: "demo", "relay1/web1 prod". Borrowed. */
/* The directories that are read; NULL: live. */
const char *const *input_paths(const struct input *in);
const char *input_label(const struct input *in);

/* The directory of the bundled recording; NULL and *error when there is none. */
char *input_find_demo(GError **error);

#endif
