/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of settings, typed lines and bookmarks: $XDG_CONFIG_HOME/blktop/blktoprc, $XDG_STATE_HOME/blktop/history
 * and $XDG_STATE_HOME/blktop/bookmarks/. They are written completely or not at all. Failures never end the program:
 * they become a warning in the settings, or a message.
 */
#ifndef BLK_CLI_CONFIG_H
#define BLK_CLI_CONFIG_H

#include "cli/command.h"
#include "ui/prefs.h"

/* The file of settings: a path, "none", or NULL for the usual one. Borrowed. Before all others. */
void config_choose(const char *path);
/* Settings of the files, overridden by the command line. Creates the directories, and adds what is written later to the
 * places (base/files.h). prefs_free() it. */
struct prefs *config_load(const struct options *o);
/* The text of blktoprc (g_free; *ret_path: its visible path). false without an error: there is none. */
bool config_read_rc(char **ret_path, char **ret_text, size_t *ret_len, GError **error);
/* Key W: writes the settings. *ret_message (g_free) for the status row. true: written. */
bool config_save(const struct prefs *p, char **ret_message);
/* The bookmarks (views/bookmarks.h) of what is read: those of the user's state directory, else those that a saved trace
 * carries in its file .blktop-bookmarks. *ret_text (g_free) NULL without an error: there are none. false: *error. */
bool config_read_bookmarks(const struct input *in, char **ret_text, size_t *ret_len, GError **error);
bool config_write_bookmarks(const struct input *in, const char *text, GError **error);
/* Copies those of the range to a trace that was saved to `path`. Failures are logged. */
void config_copy_bookmarks(const struct input *in, const char *path, int64_t from_ns, int64_t to_ns);
/* Adds the directory of bookmarks to the places, for reading. */
void config_add_bookmarks(void);
/* At the end: appends the typed lines to the history, which other processes may have changed meanwhile. */
void config_save_history(const struct prefs *p);

#endif
