/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blktoprc, as text: a key file (GKeyFile) with a group for the program, one for colours, one for keys, and one for
 * each view.
 *
 *     [blktop]
 *     theme=light
 *     [view processes]
 *     columns=pid,comm,busy_ns
 *     sort=-busy_ns
 *     [colors]
 *     hot=209 bold
 *     [keys]
 *     time-back=Left H
 *     [span NAME]                       a rule: state/spans/rules.h
 *
 * Errors become warnings with their line. Writing changes values and adds missing keys only; everything else stays as
 * it is.
 */
#ifndef BLK_UI_RC_H
#define BLK_UI_RC_H

#include "ui/prefs.h"

#include <stdio.h>

/* Reads settings into p, and keys into the keymap. `name` is the prefix of warnings. */
void rc_read(struct prefs *p, const char *name, const char *text, size_t len);
/* The text with the settings of p. `text` may be empty. Free with g_free. */
char *rc_write(const struct prefs *p, const char *text, size_t len);

/* Tab-separated: key, valid values, help; for the man page. */
void ui_print_settings(FILE *out);

#endif
