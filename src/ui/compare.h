/* SPDX-License-Identifier: GPL-2.0-only */
/* Key C: compares two tagged spans, or the selected one with the typical one of its operation. In the view
 * "changed" it switches between the quiet time before, the range before and all history.
 * Key X: what changed, against the quiet time before, by cause. */
#ifndef BLK_UI_COMPARE_H
#define BLK_UI_COMPARE_H

#include "ui/app_state.h"

void compare_command(struct app *app, struct place *p, enum command_id command);

#endif
