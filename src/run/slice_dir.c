/* SPDX-License-Identifier: GPL-2.0-only */
/* Slices that appear in a directory: see slice_dir.h. */
#include "run/slice_dir.h"

#include "run/map.h"
#include "state/slice/slice_file.h"

#include "base/each.h"
#include "base/files.h"
#include "base/limits.h"

#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".blkslice"

struct waiting {		/* a file that was found */
	char *path;
	int64_t from, to;	/* ns: as in struct slice_piece; .from of a trace's beginning: the first event */
	int64_t since_us;	/* real time, us: when it was written */
};

struct slice_dir {
	char *path;
	int64_t step_ns;
	const int *stop;
	GHashTable *seen;	/* char *, owned: name of a file -> char *, its version: inode, size, time */
	GArray *waiting;	/* struct waiting, by .from */
	int64_t chunk;		/* number of the last chunk that was mapped or left out; -1: none yet */
	int64_t to;		/* ns: the end of what was given; INT64_MIN: nothing was given */
	struct slice *after;	/* the slice after a gap, which was given last; or NULL */
	bool begun, without_spans;	/* the first slice was given; it has no data for spans */
	GQueue messages;	/* char *, owned */
};

static void waiting_clear(void *data)
{
	g_free(((struct waiting *)data)->path);
}

struct slice_dir *slice_dir_new(const char *path, int64_t step_ns, const int *stop, GError **error)
{
	g_autoptr(GPtrArray) names = files_list(path, 1);

	if (!names) {
		g_set_error(error, G_FILE_ERROR, (int)g_file_error_from_errno(errno),
			    "cannot list the directory '%s': %s", path, g_strerror(errno));
		return NULL;
	}
	struct slice_dir *d = g_new0(struct slice_dir, 1);
	d->path = g_strdup(path);
	d->step_ns = step_ns;
	d->stop = stop;
	d->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	d->waiting = g_array_new(false, true, sizeof(struct waiting));
	g_array_set_clear_func(d->waiting, waiting_clear);
	d->chunk = -1;
	d->to = INT64_MIN;
	g_queue_init(&d->messages);
	return d;
}

void slice_dir_free(struct slice_dir *d)
{
	if (!d)
		return;
	g_free(d->path);
	g_hash_table_unref(d->seen);
	g_array_unref(d->waiting);
	slice_free(d->after);
	g_queue_clear_full(&d->messages, g_free);
	g_free(d);
}

static void leave_out(struct slice_dir *d, const char *path, const char *why)
{
	/* Some errors name the path. */
	bool named = strstr(why, path) != NULL;

	g_queue_push_tail(&d->messages, g_strdup_printf("left out: %s%s%s", named ? "" : path, named ? "" : ": ", why));
}

char *slice_dir_message(struct slice_dir *d)
{
	return g_queue_pop_head(&d->messages);
}

/* ---- the files ---- */

static GPtrArray *list_files(const char *path)
{
	g_autoptr(GPtrArray) names = files_list(path, SIZE_MAX);
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		if (g_str_has_suffix(name, SUFFIX) && name[0] != '.')
			g_ptr_array_add(files, g_build_filename(path, name, NULL));
	}
	return files;
}

char **slice_dir_files(const char *path)
{
	GPtrArray *files = list_files(path);
	bool any = files->len;

	g_ptr_array_add(files, NULL);
	char **all = (char **)g_ptr_array_free(files, false);
	if (!any)
		g_clear_pointer(&all, g_strfreev);
	return all;
}

static int by_from(gconstpointer a, gconstpointer b)
{
	const struct waiting *x = a, *y = b;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : strcmp(x->path, y->path);
}

static void forget_waiting(struct slice_dir *d, const char *path)
{
	for (guint i = 0; i < d->waiting->len; i++)
		if (g_str_equal(g_array_index(d->waiting, struct waiting, i).path, path))
			g_array_remove_index(d->waiting, i--);
}

static int64_t begin_of(const struct slice_piece *piece, int64_t first)
{
	return piece->from == INT64_MIN && first != INT64_MAX ? first : piece->from;
}

static void add_file(struct slice_dir *d, const char *path, int64_t since_us)
{
	const char *const paths[] = { path, NULL };
	struct slice_piece piece = { 0 };
	g_autoptr(GError) error = NULL;
	int64_t first, last;

	forget_waiting(d, path);	/* what it was before */
	if (!slice_file_summary(paths, &piece, &first, &last, &error)) {
		leave_out(d, path, error->message);
		return;
	}
	struct waiting w = { g_strdup(path), begin_of(&piece, first), piece.to, MIN(since_us, g_get_real_time()) };
	slice_piece_clear(&piece);
	g_array_append_val(d->waiting, w);
}

/* Finds files that are new, or were replaced. */
static void look_for_files(struct slice_dir *d)
{
	g_autoptr(GPtrArray) files = list_files(d->path);

	PTR_EACH(const char, path, files) {
		struct stat st;
		if (!files_stat(path, &st) || !S_ISREG(st.st_mode))
			continue;
		g_autofree char *version = g_strdup_printf("%ju %ju %jd.%09ld", (uintmax_t)st.st_ino,
							   (uintmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
							   st.st_mtim.tv_nsec);
		if (g_strcmp0(g_hash_table_lookup(d->seen, path), version) == 0)
			continue;
		g_hash_table_replace(d->seen, g_strdup(path), g_steal_pointer(&version));
		add_file(d, path, (int64_t)st.st_mtim.tv_sec * G_USEC_PER_SEC + st.st_mtim.tv_nsec / 1000);
	}
	g_array_sort(d->waiting, by_from);
}

static const char *misfit(const struct slice_dir *d, const struct slice *s)
{
	return slice_step(s) != d->step_ns ? "it was made with another --step" :
		d->begun && slice_is_without_spans(s) != d->without_spans ?
		"not all slices have data for spans (blktop map --with-spans)" : NULL;
}

/* The slice of the file; NULL: it is left out. */
static struct slice *load(struct slice_dir *d, const struct waiting *w)
{
	struct slice_piece piece = { 0 };
	g_autoptr(GError) error = NULL;
	struct slice *s = slice_file_open(w->path, SLICE_ALL, &piece, &error);
	const char *why = !s ? error->message :
		begin_of(&piece, slice_first(s)) != w->from || piece.to != w->to ?
		"it was replaced while it was read" : misfit(d, s);

	slice_piece_clear(&piece);
	if (!why)
		return s;
	leave_out(d, w->path, why);
	slice_free(s);
	return NULL;
}

/* ---- what fits ---- */

/* `s`, which is at the path, is of [from, to). After a gap, the gap is given first. */
static struct slice *give(struct slice_dir *d, const char *path, struct slice *s, int64_t from, int64_t to)
{
	int64_t before = d->to;

	d->to = to;
	d->without_spans = slice_is_without_spans(s);
	if (!d->begun || from <= before) {
		d->begun = true;
		return s;
	}
	g_queue_push_tail(&d->messages, g_strdup_printf("the slice before %s is missing: nothing is known of %.1f s",
							path, (double)(from - before) / 1e9));
	d->after = s;
	return slice_gap(s, before, from);
}

/* Has it waited long enough for the one before it? */
static bool has_waited(const struct waiting *w)
{
	return g_get_real_time() - w->since_us >= LIMIT_SLICE_WAIT_SECONDS * G_USEC_PER_SEC;
}

/* The file that comes next; false: none, as far as is known. Files that come too late are left out. */
static bool take_waiting(struct slice_dir *d, struct waiting *ret)
{
	while (d->waiting->len) {
		const struct waiting *w = &g_array_index(d->waiting, struct waiting, 0);
		if (d->begun && w->from < d->to) {
			leave_out(d, w->path, "other slices of its time are shown already");
			g_array_remove_index(d->waiting, 0);
			continue;
		}
		if (d->begun && w->from > d->to && !has_waited(w))
			return false;
		*ret = *w;
		ret->path = g_strdup(w->path);
		g_array_remove_index(d->waiting, 0);
		return true;
	}
	return false;
}

static bool has_next(const struct slice_dir *d)
{
	return d->begun && d->waiting->len && g_array_index(d->waiting, struct waiting, 0).from == d->to;
}

/* Was it the end of the trace only when it was made? */
static int64_t end_of(const struct slice_dir *d, const struct slice *s, int64_t to)
{
	bool more = d->waiting->len && slice_last(s) < g_array_index(d->waiting, struct waiting, 0).from;
	return to == INT64_MAX && more ? slice_last(s) + 1 : to;
}

static struct slice *next_file(struct slice_dir *d)
{
	struct slice *s = NULL;
	struct waiting w;

	if (!has_next(d))
		look_for_files(d);
	while (!s && take_waiting(d, &w)) {
		s = load(d, &w);
		if (s)
			s = give(d, w.path, s, w.from, end_of(d, s, w.to));
		waiting_clear(&w);
	}
	return s;
}

/* ---- chunks ---- */

/* The slice of the chunk, and its piece; NULL: it is left out, or it was stopped. */
static struct slice *map_chunk(struct slice_dir *d, const char *path, struct slice_piece *piece)
{
	const char *const paths[] = { path, NULL };
	const struct map_plan plan = {
		.paths = paths, .from = INT64_MIN, .to = INT64_MAX, .step_ns = d->step_ns, .with_spans = true,
		.stop = d->stop,
	};
	g_autofree char *warning = NULL;
	g_autoptr(GError) error = NULL;
	struct slice *s = map_read(&plan, piece, &warning, NULL, &error);

	if (s && d->begun)		/* the chunk before it is missing */
		piece->from = begin_of(piece, slice_first(s));
	if (error || warning)
		leave_out(d, path, error ? error->message : warning);
	if (s && piece->to == INT64_MAX)	/* the chunk after it is missing, but a later one is there */
		piece->to = slice_last(s) + 1;
	return s;
}

static struct slice *next_chunk(struct slice_dir *d, const GPtrArray *chunks)
{
	struct slice *s = NULL;

	for (guint i = 0; i + 1 < chunks->len && !s && !g_atomic_int_get(d->stop); i++) {
		const char *path = g_ptr_array_index(chunks, i);
		struct slice_piece piece = { 0 };
		int64_t number = map_chunk_number(path);
		if (number <= d->chunk)
			continue;
		s = map_chunk(d, path, &piece);
		d->chunk = number;
		if (s && d->begun && piece.from < d->to) {
			leave_out(d, path, "it begins before the one before it ends");
			g_clear_pointer(&s, slice_free);
		}
		if (s)
			s = give(d, path, s, piece.from, piece.to);
		slice_piece_clear(&piece);
	}
	return s;
}

/* ---- both ---- */

struct slice *slice_dir_next(struct slice_dir *d, bool *ret_more)
{
	*ret_more = d->to != INT64_MAX || d->after;
	if (d->after)
		return g_steal_pointer(&d->after);
	if (!*ret_more)
		return NULL;
	/* What was found first decides: the directory of the files may be that of the chunks. */
	struct slice *s = d->chunk < 0 ? next_file(d) : NULL;
	if (s || g_hash_table_size(d->seen))
		return s;
	g_autoptr(GPtrArray) chunks = map_chunks_of(d->path, NULL);
	return chunks ? next_chunk(d, chunks) : NULL;
}
