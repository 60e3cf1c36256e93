/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blktoprc, as text: a key file (GKeyFile) with a group for the program, one for
 * colours, one for keys, and one for each view.
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
 * What is not understood is said with its line, and stays as it is when the file is
 * written: only values change, and what is missing is added.
 */
#ifndef BLK_UI_RC_H
#define BLK_UI_RC_H

#include "ui/prefs.h"

#include <stdio.h>

/* Into p, and keys into the keymap; `name` stands before the warnings in p. */
void rc_read(struct prefs *p, const char *name, const char *text, size_t len);
/* The text with what p holds now. `text` may be empty. Free with g_free. */
char *rc_write(const struct prefs *p, const char *text, size_t len);

/* Tab-separated: name, what it may be, help; for the man page. */
void ui_print_settings(FILE *out);

#endif
