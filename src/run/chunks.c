/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the packets of slice files: see chunks.h. */
#include "run/chunks.h"

#include "run/map.h"

#include "base/timefmt.h"

#include <string.h>

#define NAMED 3			/* missing directories that a message names */
#define BORDER_NS (10 * NS_PER_S)	/* so long after a chunk's beginning the chunk before may have packets */

#define ERROR_QUARK g_quark_from_static_string("blk-chunks")

bool chunks_bounds(const char *const *slices, struct chunks_range *ret_piece, int64_t *ret_first, int64_t *ret_last,
		   GError **error)
{
	struct slice_piece piece = { 0 };

	if (!slice_file_summary(slices, &piece, ret_first, ret_last, error))
		return false;
	*ret_piece = (struct chunks_range){ piece.from, piece.to };
	slice_piece_clear(&piece);
	if (*ret_first <= *ret_last)
		return true;
	g_set_error(error, ERROR_QUARK, 0, "no events in %s", slices[0]);
	return false;
}

/* Where the directory is now (g_free); NULL: nowhere. A name is the last part of a path, or a path. */
static char *find_dir(const char *source, const char *const *dirs)
{
	g_autofree char *name = g_path_get_basename(source);

	for (; *dirs; dirs++) {
		g_autofree char *absolute = g_canonicalize_filename(*dirs, NULL), *own = g_path_get_basename(absolute);
		char *inside = g_build_filename(absolute, name, NULL);
		if (g_file_test(inside, G_FILE_TEST_IS_DIR))
			return inside;
		g_free(inside);
		if (g_str_equal(own, name) && g_file_test(absolute, G_FILE_TEST_IS_DIR))
			return g_steal_pointer(&absolute);
	}
	return NULL;
}

static bool begins_at(const char *dir, int64_t *ret_from, int64_t *ret_to, GError **error)
{
	const char *const paths[] = { dir, NULL };

	return map_bounds(paths, ret_from, ret_to, error);
}

/* Are packets of the range in the missing directories between two that are there (NULL: none is)? *error: they cannot
 * be read. */
static bool is_needed(const char *before, const char *after, const struct chunks_range *range, GError **error)
{
	int64_t from = INT64_MIN, to = INT64_MAX, other;

	if ((before && !begins_at(before, &other, &from, error)) || (after && !begins_at(after, &to, &other, error)))
		return false;
	return from < range->to && to > range->from;
}

struct missing_dirs { GString *names; unsigned n; };

static void add_missing(struct missing_dirs *m, const char *name)
{
	if (m->n++ < NAMED)
		g_string_append_printf(m->names, "%s%s", m->names->len ? ", " : "", name);
}

/* Adds the names of what is needed and missing. `found`: a path for each source, or NULL. */
static bool list_missing(const GPtrArray *sources, const GPtrArray *found, const struct chunks_range *range,
			 struct missing_dirs *missing, GError **error)
{
	g_autoptr(GError) why = NULL;

	for (guint i = 0; i < found->len;) {
		guint end = i;
		while (end < found->len && !found->pdata[end])
			end++;
		bool needed = end > i && is_needed(i ? found->pdata[i - 1] : NULL,
						   end < found->len ? found->pdata[end] : NULL, range, &why);
		if (why) {
			g_propagate_error(error, g_steal_pointer(&why));
			return false;
		}
		for (guint k = i; needed && k < end; k++)
			add_missing(missing, g_ptr_array_index(sources, k));
		i = end + 1;
	}
	return true;
}

/* Events at the slice's beginning may be in packets of the chunk before it. */
static bool add_before(GPtrArray *found, const struct slice_piece *piece, const struct chunks_range *range,
		       struct missing_dirs *missing)
{
	const char *first = g_ptr_array_index(found, 0);

	if (piece->from == INT64_MIN || !first)
		return true;
	char *before = map_chunk_before(first);
	if (before)
		g_ptr_array_insert(found, 0, before);
	else if (map_chunk_number(first) > 0 && range->from < piece->from + BORDER_NS) {
		g_autofree char *name = g_path_get_basename(first);
		g_autofree char *what = g_strdup_printf("the one before %s", name);
		add_missing(missing, what);
	}
	return true;
}

static void set_missing(const struct missing_dirs *m, const char *slice, const char *const *dirs, GError **error)
{
	g_autofree char *more = m->n > NAMED ? g_strdup_printf(" and %u more", m->n - NAMED) : g_strdup("");
	g_autofree char *where = g_strjoinv(", ", (char **)dirs);

	g_set_error(error, ERROR_QUARK, 0, "%s needs directories that are not in %s: %s%s", slice, where, m->names->str,
		    more);
}

GPtrArray *chunks_find(const char *const *slices, const char *const *dirs, const struct chunks_range *range,
		       GError **error)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) names = g_string_new(NULL);
	struct missing_dirs missing = { .names = names };
	struct slice_piece piece = { 0 };
	int64_t first, last;

	if (!slice_file_summary(slices, &piece, &first, &last, error))
		return NULL;
	for (guint i = 0; i < piece.sources->len; i++)
		g_ptr_array_add(found, find_dir(g_ptr_array_index(piece.sources, i), dirs));
	bool ok = list_missing(piece.sources, found, range, &missing, error) &&
		add_before(found, &piece, range, &missing);
	slice_piece_clear(&piece);
	if (ok && missing.n)
		set_missing(&missing, slices[0], dirs, error);
	while (g_ptr_array_remove(found, NULL))
		;
	if (!ok || missing.n || !found->len)
		return NULL;
	g_ptr_array_add(found, NULL);
	return g_steal_pointer(&found);
}
