/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop map --watch: see map.h. */
#include "cmd/map.h"
#include "cmd/thin_slices.h"

#include "app/reading.h"
#include "base/files.h"
#include "app/messages.h"
#include "run/map.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define EVERY_S 1		/* between two looks at the directory: it can be on a network file system */

struct chunk_watch {
	struct map_plan plan;
	const char *dir, *to;		/* of the chunks, and of their slices */
	bool deletes;			/* --delete-mapped */
	GHashTable *failed;		/* paths (owned) of chunks that cannot be mapped or read back */
	bool unreadable;		/* the directory, which was printed */
	bool thins;			/* slices appeared since they were thinned the last time */
	struct thinner *thinner;	/* NULL: without --thin */
};

static char *slice_path(const struct chunk_watch *w, const char *chunk)
{
	g_autofree char *name = g_path_get_basename(chunk);
	return g_strdup_printf("%s/%s.blkslice", w->to, name);
}

static bool has_failed(const struct chunk_watch *w, const char *chunk)
{
	return g_hash_table_contains(w->failed, chunk);
}

/* Is its slice there, or in history? */
static bool is_mapped(const struct chunk_watch *w, const char *chunk)
{
	g_autofree char *name = g_path_get_basename(chunk);
	if (w->thinner && thinner_has(w->thinner, name))
		return true;
	g_autofree char *path = slice_path(w, chunk);
	return files_exists(path);
}

/* Reads the whole slice of the chunk. What is in history was read when it was written. */
static bool is_readable(const struct chunk_watch *w, const char *chunk)
{
	g_autofree char *name = g_path_get_basename(chunk);
	if (w->thinner && thinner_has(w->thinner, name))
		return true;
	g_autofree char *path = slice_path(w, chunk);
	g_autoptr(GError) error = NULL;
	struct slice *s = slice_file_open(path, SLICE_ALL, NULL, &error);

	if (!s)
		log_error("%s is not deleted: %s", chunk, error->message);
	slice_free(s);
	return s != NULL;
}

static void map_chunk(struct chunk_watch *w, const char *chunk)
{
	const char *const paths[] = { chunk, NULL };
	g_autofree char *path = slice_path(w, chunk);

	w->plan.paths = paths;
	int code = map_write_range(w->plan, &(struct output_options){ .path = path });

	if (code != EXIT_FINE && code != EXIT_LOSS && !reading_caught())
		g_hash_table_add(w->failed, g_strdup(chunk));
}

/* The chunks that are not the neighbour of one that is still to be mapped. */
static void delete_mapped(struct chunk_watch *w, const GPtrArray *chunks)
{
	for (guint i = 0; i + 1 < chunks->len && !reading_caught(); i++) {
		const char *chunk = g_ptr_array_index(chunks, i), *next = g_ptr_array_index(chunks, i + 1);
		if (!is_mapped(w, chunk) || !is_mapped(w, next) || has_failed(w, chunk) || !files_is_dir(chunk))
			continue;
		if (is_readable(w, chunk)) {
			files_remove_tree(chunk);
			fprintf(stderr, "deleted %s\n", chunk);
		} else {
			g_hash_table_add(w->failed, g_strdup(chunk));
		}
	}
}

/* A chunk that another one follows is whole: its slice ends where that one begins. */
static void map_chunks(struct chunk_watch *w)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) chunks = map_chunks_of(w->dir, &error);

	if (!chunks) {
		if (!w->unreadable)
			log_error("%s", error->message);
		w->unreadable = true;
		return;
	}
	w->unreadable = false;
	for (guint i = 0; i + 1 < chunks->len && !reading_caught(); i++) {
		const char *chunk = g_ptr_array_index(chunks, i), *next = g_ptr_array_index(chunks, i + 1);
		if (map_chunk_number(next) == map_chunk_number(chunk) + 1 && !is_mapped(w, chunk) &&
		    !has_failed(w, chunk)) {
			map_chunk(w, chunk);
			w->thins = true;
		}
	}
	if (w->deletes)
		delete_mapped(w, chunks);
	if (w->thinner && w->thins)
		thinner_run(w->thinner);
	w->thins = false;
}

int map_watch(struct map_plan plan, const char *to, const struct map_options *o)
{
	struct chunk_watch w = {
		.plan = plan, .dir = plan.paths[0], .to = to, .deletes = o->delete_mapped, .thins = true,
	};
	g_autoptr(GHashTable) failed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	int signal;

	w.failed = failed;
	if (!files_is_dir(w.dir)) {
		log_error("cannot watch %s: it is not a directory; lttng rotate makes the first chunk", w.dir);
		return EXIT_FAILED;
	}
	if (!files_make_dirs(to)) {
		log_error("cannot make the directory %s: %s", to, g_strerror(errno));
		return EXIT_FAILED;
	}
	reading_catch_signals();
	w.thinner = o->thin_after_ns ? thinner_new(to, o->thin_after_ns) : NULL;
	while (!(signal = reading_caught())) {
		map_chunks(&w);
		nanosleep(&(struct timespec){ .tv_sec = EVERY_S }, NULL);	/* a signal ends it */
	}
	reading_release_signals();
	bool complete = !g_hash_table_size(failed) && !(w.thinner && thinner_failed(w.thinner));
	thinner_free(w.thinner);
	if (signal != SIGTERM)
		return EXIT_SIGNAL + signal;
	return !complete ? EXIT_FAILED : EXIT_FINE;
}
