/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The keys in force: those of ui_bindings[], with what the user has put on others.
 * One a process, as there is one keyboard.
 */
#ifndef BLK_UI_KEYMAP_H
#define BLK_UI_KEYMAP_H

#include "ui/keys.h"

/* First match wins. */
const struct key_binding *keymap(size_t *ret_n);
void keymap_reset(void);

/* Puts a command on these keys ("Left H Ctrl-B"; empty: on none) wherever it had some,
 * and takes them from what they did there. Ctrl-C always leaves. */
bool keymap_set(enum command_id command, const char *keys, GError **error);
/* h and l go through time as Left and Right do. */
void keymap_vi(void);

enum command_id keymap_command(const char *id);	/* CMD_NONE: there is none */
int keymap_key(const char *name);		/* as keys_name() tells it; UI_KEY_NONE: none */

#endif
