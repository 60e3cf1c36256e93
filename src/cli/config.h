/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where settings and typed lines are kept: $XDG_CONFIG_HOME/blktop/blktoprc and
 * $XDG_STATE_HOME/blktop/history. Written whole or not at all; nothing here stops the
 * program: what fails is a warning in the settings, or a message.
 */
#ifndef BLK_CLI_CONFIG_H
#define BLK_CLI_CONFIG_H

#include "cli/options.h"
#include "ui/prefs.h"

/* What the files say, and above that what the command line does. Makes their directories. */
struct prefs *config_load(const struct options *o);
/* The rules for spans (state/spans/rules.h) of --spans, which must be right, and of the screen's
 * blktoprc, where a wrong one is a warning in p and all there are left out (p: NULL for what
 * reads no settings). Before anything is opened. */
bool config_install_rules(const struct options *o, struct prefs *p, GError **error);
/* W: one line for the status row (g_free). true: written. */
bool config_save(const struct options *o, const struct prefs *p, char **ret_message);
/* Adds (g_strdup()) the directories where settings and typed lines are written, which config_load() made
 * where they can be. */
void config_add_places(const struct options *o, GPtrArray *places);
/* At the end: the lines typed go behind those that others have written since. */
void config_save_history(const struct options *o, const struct prefs *p);

#endif
