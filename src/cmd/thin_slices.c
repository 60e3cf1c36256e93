/* SPDX-License-Identifier: GPL-2.0-only */
/* Old slices to history: see thin_slices.h. */
#include "cmd/thin_slices.h"

#include "app/reading.h"
#include "app/messages.h"

#include "base/files.h"
#include "cmd/map.h"
#include "run/slice_dir.h"

#include <errno.h>
#include <string.h>

struct old_slice { char *path; int64_t from, to; };	/* to: its end; ns, as in struct slice_piece */

struct thinner {
	const char *slices;		/* directory of the slices; borrowed */
	int64_t after_ns;		/* age of those that are folded */
	char *dir;			/* of the files of history */
	GHashTable *chunks;		/* char *, owned: names of the chunks that are in history */
	GHashTable *failed;		/* char *, owned: paths of slices that cannot be folded */
	char *newest;			/* path of the newest file of history; NULL: none */
	int64_t from, to;		/* ns: of .newest */
};

static void slice_clear(void *data)
{
	g_free(((struct old_slice *)data)->path);
}

static int by_from(gconstpointer a, gconstpointer b)
{
	const struct old_slice *x = a, *y = b;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : strcmp(x->path, y->path);
}

static bool give_up(struct thinner *t, const char *path, const char *why)
{
	if (!g_hash_table_contains(t->failed, path))
		log_error("%s", why);
	g_hash_table_add(t->failed, g_strdup(path));
	return false;
}

/* Notes what a file of history has. */
static bool note_history(struct thinner *t, const char *path)
{
	const char *const paths[] = { path, NULL };
	struct slice_piece piece = { 0 };
	g_autoptr(GError) error = NULL;
	int64_t first, last;

	if (!slice_file_summary(paths, &piece, &first, &last, &error))
		return give_up(t, path, error->message);
	for (guint i = 0; piece.sources && i < piece.sources->len; i++) {
		const struct slice_source *source = g_ptr_array_index(piece.sources, i);
		g_hash_table_add(t->chunks, g_strdup(source->name));
	}
	if (!t->newest || piece.to >= t->to) {
		g_free(t->newest);
		t->newest = g_strdup(path);
		t->from = piece.from;
		t->to = piece.to;
	}
	slice_piece_clear(&piece);
	return true;
}

struct thinner *thinner_new(const char *slices, int64_t after_ns)
{
	struct thinner *t = g_new0(struct thinner, 1);

	t->slices = slices;
	t->after_ns = after_ns;
	t->dir = g_build_filename(slices, "history", NULL);
	t->chunks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	t->failed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_auto(GStrv) files = slice_dir_files(t->dir);
	for (char **file = files; file && *file; file++)
		note_history(t, *file);
	return t;
}

void thinner_free(struct thinner *t)
{
	if (!t)
		return;
	g_free(t->dir);
	g_hash_table_unref(t->chunks);
	g_hash_table_unref(t->failed);
	g_free(t->newest);
	g_free(t);
}

bool thinner_has(const struct thinner *t, const char *chunk)
{
	return g_hash_table_contains(t->chunks, chunk);
}

bool thinner_failed(const struct thinner *t)
{
	return g_hash_table_size(t->failed) > 0;
}

/* The slices in order of time; those that cannot be read are left alone. */
static GArray *list_slices(struct thinner *t)
{
	g_auto(GStrv) files = slice_dir_files(t->slices);
	GArray *all = g_array_new(false, true, sizeof(struct old_slice));

	g_array_set_clear_func(all, slice_clear);
	for (char **file = files; file && *file; file++) {
		const char *const paths[] = { *file, NULL };
		struct old_slice x = { 0 };
		struct slice_piece piece = { 0 };
		g_autoptr(GError) error = NULL;
		int64_t first, last;
		if (!slice_file_summary(paths, &piece, &first, &last, &error)) {
			give_up(t, *file, error->message);
			continue;
		}
		x = (struct old_slice){ g_strdup(*file), piece.from, piece.to };
		slice_piece_clear(&piece);
		g_array_append_val(all, x);
	}
	g_array_sort(all, by_from);
	return all;
}

/* ---- folding ---- */

static bool is_readable(const char *path, GError **error)
{
	struct slice *s = slice_file_open(path, SLICE_ALL, NULL, error);

	slice_free(s);
	return s != NULL;
}

static bool go_on(void *data, double progress, uint64_t n)
{
	(void)data, (void)progress, (void)n;
	return !reading_caught();
}

/* Merges the files (NULL-terminated), and writes the result to `path`. *error without a message: a signal came. */
static bool write_history(const char *const *files, const char *path, GError **error)
{
	struct slice_piece piece = { 0 };
	const struct watch watch = { .go_on = go_on };
	g_autofree char *written = NULL;
	struct slice *s = slice_file_merge_history(files, &piece, &watch, error);
	uint64_t size;
	const struct output_options output = { (char *)path, true };
	bool ok = s && map_write_slice(s, &piece, &output, &written, &size, error) && is_readable(path, error);

	slice_free(s);
	slice_piece_clear(&piece);
	return ok;
}

/* Where the history goes on with slices from that one on: the newest file, or a new one after a gap. */
static char *history_path(const struct thinner *t, const struct old_slice *first)
{
	g_autofree char *name = g_path_get_basename(first->path);

	return t->newest && t->to == first->from ? g_strdup(t->newest) : g_build_filename(t->dir, name, NULL);
}

/* Folds `n` slices that follow each other, and deletes them. */
static void fold(struct thinner *t, const struct old_slice *slices, guint n)
{
	g_autofree char *path = history_path(t, slices);
	g_autoptr(GPtrArray) files = g_ptr_array_new();
	g_autoptr(GError) error = NULL;

	if (files_exists(path))
		g_ptr_array_add(files, path);
	for (guint i = 0; i < n; i++)
		g_ptr_array_add(files, slices[i].path);
	g_ptr_array_add(files, NULL);
	if (!write_history((const char *const *)files->pdata, path, &error) || !note_history(t, path)) {
		if (error)
			give_up(t, slices[0].path, error->message);
		return;
	}
	for (guint i = 0; i < n; i++)
		if (!files_remove(slices[i].path))
			give_up(t, slices[i].path, g_strerror(errno));
	fprintf(stderr, "folded %u slices to %s\n", n, path);
}

/* Killed after the history was written and before all its slices were deleted? */
static bool is_in_history(const struct thinner *t, const struct old_slice *x)
{
	return t->newest && x->from >= t->from && x->to <= t->to;
}

static bool is_old(const struct thinner *t, const struct old_slice *x, int64_t now)
{
	return x->to <= now && (uint64_t)now - (uint64_t)x->to >= (uint64_t)t->after_ns &&
		!g_hash_table_contains(t->failed, x->path);
}

void thinner_run(struct thinner *t)
{
	g_autoptr(GArray) all = list_slices(t);
	const struct old_slice *slices = (const struct old_slice *)(const void *)all->data;
	guint from = 0;

	if (!all->len)
		return;
	for (; from < all->len && is_in_history(t, &slices[from]); from++)
		files_remove(slices[from].path);
	int64_t now = slices[all->len - 1].from;
	while (from < all->len && is_old(t, &slices[from], now) && !reading_caught()) {
		guint to = from + 1;
		while (to < all->len && slices[to].from == slices[to - 1].to && is_old(t, &slices[to], now))
			to++;
		if (!files_make_dirs(t->dir)) {
			give_up(t, t->dir, "cannot make the directory of history");
			return;
		}
		fold(t, slices + from, to - from);
		from = to;
	}
}
