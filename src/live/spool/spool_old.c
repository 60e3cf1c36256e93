/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds chunks of earlier runs; see spool_old.h. */
#include "live/spool/spool_old.h"

#include "base/fd.h"
#include "base/files.h"
#include "base/limits.h"
#include "trace/ctf/ctf_index_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void spool_chunk_free(void *chunk)
{
	struct spool_chunk *c = chunk;
	g_free(c->path);
	g_free(c);
}

/* Names in a directory, sorted. */
static GPtrArray *names_in(const char *path)
{
	GPtrArray *names = files_list(path, LIMIT_SPOOL_ENTRIES);

	return names ? names : g_ptr_array_new_with_free_func(g_free);
}

static bool is_chunk(const char *name)
{
	return strlen(name) == SPOOL_DIGITS && strspn(name, G_CSET_DIGITS) == SPOOL_DIGITS;
}

/* Is it the directory of a run that has ended? *ret_since: when the run began. */
static bool has_ended(const char *path, int64_t *ret_since)
{
	g_autofree char *lock = g_build_filename(path, SPOOL_LOCK, NULL);
	struct stat st;
	auto_fd fd = files_open(lock, O_RDONLY);

	if (fd < 0)
		return false;
	bool over = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0;
	*ret_since = (int64_t)st.st_mtime;
	return over;
}

/* ---- incomplete packets of killed runs ---- */

/* End, in bytes, of the last packet in the index file; 0: it has none. */
static uint64_t indexed_end(const char *index)
{
	uint8_t header[CTF_INDEX_HEADER], stored[2 * sizeof(uint64_t)];
	uint64_t word[2];
	struct stat st;
	auto_fd fd = files_open(index, O_RDONLY);
	uint64_t end = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && pread(fd, header, sizeof header, 0) == sizeof header) {
		uint64_t entry = header[15], n = 0;
		if (entry == CTF_INDEX_MOST || entry == 56)
			n = ((uint64_t)st.st_size - sizeof header) / entry;
		off_t at = (off_t)(sizeof header + (n - 1) * entry);
		if (n && pread(fd, stored, sizeof stored, at) == sizeof stored) {
			memcpy(word, stored, sizeof word);
			end = GUINT64_FROM_BE(word[0]) + GUINT64_FROM_BE(word[1]) / 8;
		}
	}
	return end;
}

static void complete_file(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autofree char *index = g_strdup_printf("%s/index/%s.idx", dir, name);
	struct stat st;
	uint64_t end = indexed_end(index);

	if (!end || !files_stat(path, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size <= end)
		return;
	auto_fd fd = files_open(path, O_WRONLY);
	if (fd >= 0 && ftruncate(fd, (off_t)end) != 0)
		g_debug("cannot truncate %s: %s", path, g_strerror(errno));
}

static void complete_chunk(const char *chunk)
{
	g_autoptr(GPtrArray) traces = names_in(chunk);

	for (guint i = 0; i < traces->len; i++) {
		g_autofree char *dir = g_build_filename(chunk, traces->pdata[i], NULL);
		g_autoptr(GPtrArray) files = names_in(dir);
		for (guint k = 0; k < files->len; k++)
			complete_file(dir, files->pdata[k]);
	}
}

/* ---- all runs ---- */

static uint64_t bytes_below(const char *path)
{
	struct stat st;
	uint64_t bytes = 0;

	if (!files_stat(path, &st))
		return 0;
	if (!S_ISDIR(st.st_mode))
		return (uint64_t)st.st_size;
	g_autoptr(GPtrArray) names = names_in(path);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *child = g_build_filename(path, names->pdata[i], NULL);
		bytes += bytes_below(child);
	}
	return bytes;
}

static uint64_t append_run(const char *path, GQueue *ret)
{
	g_autoptr(GPtrArray) names = names_in(path);
	uint64_t bytes = 0;
	struct spool_chunk *last = NULL;

	for (guint i = 0; i < names->len; i++) {
		if (!is_chunk(names->pdata[i]))
			continue;
		struct spool_chunk *c = last = g_new0(struct spool_chunk, 1);
		c->path = g_build_filename(path, names->pdata[i], NULL);
		c->bytes = bytes_below(c->path);
		bytes += c->bytes;
		g_queue_push_tail(ret, c);
	}
	if (last)
		complete_chunk(last->path);
	return bytes;
}

struct old_run { char *path; int64_t since; };

static void old_run_clear(void *data)
{
	g_free(((struct old_run *)data)->path);
}

static int compare_runs(const void *a, const void *b)
{
	const struct old_run *x = a, *y = b;
	return x->since != y->since ? (x->since < y->since ? -1 : 1) : strcmp(x->path, y->path);
}

uint64_t spool_old_find(const char *dir, GQueue *ret)
{
	g_autoptr(GPtrArray) names = names_in(dir);
	g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(struct old_run));
	uint64_t bytes = 0;

	g_array_set_clear_func(runs, old_run_clear);
	for (guint i = 0; i < names->len; i++) {
		struct old_run run = { .path = g_build_filename(dir, names->pdata[i], NULL) };
		if (has_ended(run.path, &run.since))
			g_array_append_val(runs, run);
		else
			g_free(run.path);
	}
	g_array_sort(runs, compare_runs);
	for (guint i = 0; i < runs->len; i++)
		bytes += append_run(g_array_index(runs, struct old_run, i).path, ret);
	return bytes;
}

void spool_old_forget_run(const char *chunk_path)
{
	g_autofree char *run = g_path_get_dirname(chunk_path);
	g_autofree char *lock = g_build_filename(run, SPOOL_LOCK, NULL);
	g_autoptr(GPtrArray) names = names_in(run);

	for (guint i = 0; i < names->len; i++)
		if (is_chunk(names->pdata[i]))
			return;
	files_remove(lock);
	files_remove_dir(run);
}
