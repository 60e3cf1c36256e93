/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of other tracers among what is to be read: they are converted to CTF traces first (trace/ring/dat_convert.h),
 * in a directory of their own below the user's cache directory, which is removed when the program ends. What a killed
 * program left is removed by the next one that converts.
 *
 *     if (converted_any(paths)) {
 *             converted_add_place(&error);		// before isolation
 *             own = converted_paths(paths, &error);	// in isolation, as files are hostile
 *             converted_remove();
 *     }
 *
 * One thread.
 */
#ifndef BLK_APP_CONVERTED_H
#define BLK_APP_CONVERTED_H

#include "trace/ring/dat_convert.h"

#include <glib.h>
#include <stdbool.h>

/* Is one of the paths (NULL-terminated) such a file? */
static inline bool converted_any(char **paths)
{
	bool any = false;
	for (char **p = paths; p && *p; p++)
		any |= dat_is_file(*p);
	return any;
}

/* Makes the directory, and adds it as a place (base/files.h). */
bool converted_add_place(GError **error);
/* The paths, with directories instead of files; g_strfreev(). Prints what is special about a file. NULL: *error. */
char **converted_paths(char **paths, GError **error);
/* Removes the directory, if there is one. */
void converted_remove(void);

#endif
