/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of all views; see registry.h. */
#include "views/registry.h"

#include "views/logview.h"

#include <string.h>

#define VIEW_POINTER_(id) &view_##id,
const struct view *const view_all[] = { VIEW_LIST(VIEW_POINTER_) NULL };

const struct view *view_find(const char *id)
{
	for (size_t i = 0; view_all[i]; i++)
		if (strcmp(view_all[i]->id, id) == 0)
			return view_all[i];
	return strcmp(id, view_log.id) ? NULL : &view_log;
}
