/* SPDX-License-Identifier: GPL-2.0-only */
/* The breadcrumb's words: what a place is narrowed to, and what its view cannot be narrowed to. */
#ifndef BLK_UI_CRUMB_H
#define BLK_UI_CRUMB_H

#include "ui/app_state.h"

/* A part of the breadcrumb. g_free. */
char *place_crumb(const struct app *app, const struct place *p);
/* Name of the narrowest thing that q names: trace, thread, process, container, operation, host. g_free. */
char *crumb_name(const struct app *app, const struct place *p, const struct view_query *q);
/* ONLY_ bits that q sets. The host does not count where there is only one. */
unsigned crumb_narrowed(const struct app *app, const struct view_query *q);

#endif
