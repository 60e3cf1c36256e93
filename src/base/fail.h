/* SPDX-License-Identifier: GPL-2.0-only */
/* How a function says that it failed. */
#ifndef BLK_BASE_FAIL_H
#define BLK_BASE_FAIL_H

#include <glib.h>
#include <stdbool.h>

/* Sets *error (error may be NULL) and returns false: return fail(error, BLK_EXPR_ERROR, 0, "no field '%s'", name); */
bool fail(GError **error, GQuark domain, int code, const char *format, ...) G_GNUC_PRINTF(4, 5);

#endif
