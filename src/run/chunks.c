/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the packets of slice files: see chunks.h. */
#include "run/chunks.h"

#include "run/map.h"

#include "base/fail.h"
#include "base/files.h"
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
	return fail(error, ERROR_QUARK, 0, "no events in %s", slices[0]);
}

/* Where the directory is now (g_free); NULL: nowhere. A name is the last part of a path, or a path. `skip`: so many
 * directories of that name are others', of other machines. */
static char *find_dir(const char *name, guint skip, const char *const *dirs)
{
	for (; *dirs; dirs++) {
		g_autofree char *absolute = g_canonicalize_filename(*dirs, NULL), *own = g_path_get_basename(absolute);
		g_autofree char *inside = g_build_filename(absolute, name, NULL);
		if (files_is_dir(inside) && !skip--)
			return g_steal_pointer(&inside);
		if (g_str_equal(own, name) && files_is_dir(absolute) && !skip--)
			return g_steal_pointer(&absolute);
	}
	return NULL;
}

struct missing_dirs { GString *names; unsigned n; };

static void add_missing(struct missing_dirs *m, const char *name)
{
	if (m->n++ < NAMED)
		g_string_append_printf(m->names, "%s%s", m->names->len ? ", " : "", name);
}

/* Events at the beginning of a source may be in packets of the chunk before it. Is that one among the sources? */
static bool is_first(const GPtrArray *sources, const struct slice_source *x)
{
	for (guint i = 0; i < sources->len; i++)
		if (((const struct slice_source *)g_ptr_array_index(sources, i))->to == x->from)
			return false;
	return x->from != INT64_MIN;
}

static void add_before(GPtrArray *found, const char *dir, const struct slice_source *x,
		       const struct chunks_range *range, struct missing_dirs *missing)
{
	char *before = map_chunk_before(dir);
	if (before)
		g_ptr_array_add(found, before);
	else if (map_chunk_number(dir) > 0 && range->from < x->from + BORDER_NS) {
		g_autofree char *what = g_strdup_printf("the one before %s", x->name);
		add_missing(missing, what);
	}
}

/* Adds the source's directories, or what is missing of them. named: name -> how many sources of that name there were
 * before. */
static void find_source(const struct slice_source *x, const GPtrArray *sources, const char *const *dirs,
			const struct chunks_range *range, GHashTable *named, GPtrArray *found,
			struct missing_dirs *missing)
{
	char *name = g_path_get_basename(x->name);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(named, name));
	char *dir = find_dir(name, n, dirs);

	g_hash_table_insert(named, name, GUINT_TO_POINTER(n + 1));
	if (dir) {
		g_ptr_array_add(found, dir);
		if (is_first(sources, x))
			add_before(found, dir, x, range, missing);
	} else if (x->from < range->to && x->to > range->from) {
		add_missing(missing, x->name);
	}
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
	g_autoptr(GHashTable) named = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GString) names = g_string_new(NULL);
	struct missing_dirs missing = { .names = names };
	struct slice_piece piece = { 0 };
	int64_t first, last;

	if (!slice_file_summary(slices, &piece, &first, &last, error))
		return NULL;
	for (guint i = 0; piece.sources && i < piece.sources->len; i++)
		find_source(g_ptr_array_index(piece.sources, i), piece.sources, dirs, range, named, found, &missing);
	for (guint i = 0; !found->len && !missing.n && piece.sources && i < piece.sources->len; i++)
		add_missing(&missing, ((const struct slice_source *)g_ptr_array_index(piece.sources, i))->name);
	slice_piece_clear(&piece);
	if (missing.n)
		set_missing(&missing, slices[0], dirs, error);
	if (missing.n || !found->len)
		return NULL;
	g_ptr_array_add(found, NULL);
	return g_steal_pointer(&found);
}
