/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bookmarks (views/bookmarks.h) of what is read: those of the user's state directory, else those that a saved trace
 * carries in its file .blktop-bookmarks.
 */
#ifndef BLK_CMD_CARRIED_BOOKMARKS_H
#define BLK_CMD_CARRIED_BOOKMARKS_H

#include "app/input.h"

/* Their text (g_free); NULL without an error: there are none. false: *error. */
bool carried_bookmarks_read(const struct input *in, char **ret_text, size_t *ret_len, GError **error);
/* Copies those of the range to a trace that was saved to `path`. Failures are logged. */
void carried_bookmarks_save(const struct input *in, const char *path, int64_t from_ns, int64_t to_ns);

#endif
