/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of limits as data: see limits.h. */
#include "base/limits.h"

#include <glib.h>

#define ROW(name, limit, its_unit, bounds, beyond, reason) \
	{ .group = GROUP, .id = #name, .value = (limit), .unit = its_unit, .what = bounds, .above = beyond, \
	  .why = reason },

static struct limit rows[] = {
#define GROUP "Metadata"
	LIMITS_METADATA(ROW)
#undef GROUP
#define GROUP "Directories and packets"
	LIMITS_PACKETS(ROW)
#undef GROUP
#define GROUP "Texts and filters"
	LIMITS_TEXT(ROW)
#undef GROUP
#define GROUP "Model and views"
	LIMITS_MODEL(ROW)
#undef GROUP
#define GROUP "Live sessions"
	LIMITS_LIVE(ROW)
#undef GROUP
#define GROUP "Files of spans"
	LIMITS_IMPORT(ROW)
#undef GROUP
#define GROUP "Sent metrics"
	LIMITS_SEND(ROW)
#undef GROUP
#define GROUP "Program and screen"
	LIMITS_PROGRAM(ROW)
#undef GROUP
#define GROUP "Ring buffers of kernels"
	LIMITS_RING(ROW)
};

/* METADATA_BYTES becomes "metadata-bytes". */
static const char *machine_name(const char *name)
{
	g_autofree char *id = g_ascii_strdown(name, -1);
	return g_intern_string(g_strdelimit(id, "_", '-'));
}

const struct limit *limits_at(size_t i)
{
	static gsize named;

	if (g_once_init_enter(&named)) {
		for (size_t k = 0; k < G_N_ELEMENTS(rows); k++)
			rows[k].id = machine_name(rows[k].id);
		g_once_init_leave(&named, 1);
	}
	return i < G_N_ELEMENTS(rows) ? &rows[i] : NULL;
}
