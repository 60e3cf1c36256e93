/* SPDX-License-Identifier: GPL-2.0-only */
/* A recorded trace as one source: see sources.h. */
#include "lib/sources.h"

#include "trace/native/native_cursor.h"

struct source *source_open_native(const char *const *paths, const struct blk_subscription *rows,
				  size_t n_rows, GError **error)
{
	struct native *n = native_open(paths, rows, n_rows, error);
	if (!n)
		return NULL;
	while (native_index(n, 65536))
		;
	struct source *source = native_range(n, INT64_MIN, INT64_MAX, 0);
	((struct native_source *)source)->owned = n;
	return source;
}
