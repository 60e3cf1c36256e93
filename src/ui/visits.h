/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the user was: the way back and forth, as in a browser. A visit is a stack of places with the time, the range,
 * the selection and the filter of the place on top. A command that goes to another place or time, or changes range or
 * filter, adds one; a run of single steps in time counts as one. Main thread only.
 */
#ifndef BLK_UI_VISITS_H
#define BLK_UI_VISITS_H

#include "ui/nav.h"

struct app;
struct visit;

#define VISITS_RETAINED 100		/* visits that are retained in each direction */

/* Around everything that a key or a click does. begin returns where the user is (NULL in nested calls), which end
 * takes over. */
struct visit *visits_begin(struct app *app);
void visits_end(struct app *app, struct visit *before);
/* Goes back (-1) or forth (1). false: there is no such visit. */
bool visits_go(struct app *app, int direction);
void visits_clear(struct visits *v);

#endif
