/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries of the registries: names of kinds, memory. */
#include "state/store/registry.h"

#include <glib.h>

#define FILE_KIND_NAME_(id, name) name,
const char *const file_kind_name[FILE_KIND_N] = { FILE_KIND_LIST(FILE_KIND_NAME_) };

void host_info_clear(struct host_info *h)
{
	g_free(h->name);
	g_free(h->boot);
	*h = (struct host_info){ 0 };
}
