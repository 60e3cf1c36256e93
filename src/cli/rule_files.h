/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where rules for spans (state/spans/rules.h) come from: presets, blktoprc, --spans, and those that blktop suggests.
 * The files are read once, before isolation; rules are installed from their texts, again when the user changes what is
 * used.
 */
#ifndef BLK_CLI_RULE_FILES_H
#define BLK_CLI_RULE_FILES_H

#include "ui/prefs.h"

/*
 * Presets are NAME.preset in blktop/presets/ of $XDG_DATA_HOME, beside this program, of each of $XDG_DATA_DIRS, and
 * where blktop was installed; the first of a name counts. own: the file of --spans; NULL: none. chosen: --presets;
 * NULL: as p says. An error about these two is fatal. p: settings, where other errors become warnings, and which makes
 * blktoprc count; NULL: other errors are printed.
 */
bool rule_files_read(const char *own, const char *chosen, struct prefs *p, GError **error);
/* Installs all of them, with the suggested rules (a text; NULL: none). While nothing is open. */
bool rule_files_install(const char *suggested, GError **error);
void rule_files_clear(void);

#endif
