/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of a spool: see spool_files.h. */
#include "live/spool/spool_files.h"

#include "live/spool/spool_old.h"
#include "trace/ctf/ctf_index_write.h"

#include "base/disk.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/pages.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNKS 16			/* number of chunks that the limit is divided into */
#define FIRST_US (5 * G_USEC_PER_SEC)	/* if age is limited: time for the state dump, which is in the first chunk */
#define OPEN_STREAMS 256		/* most streams with open files */
#define DIRECTORIES (3 * 4096)		/* bytes on disk of a trace's directories */

struct file_trace {
	char *name;			/* of its directory */
	GBytes *metadata;		/* NULL: none yet */
	unsigned chunk;			/* the chunk in which its directory was last created; 0: none */
	bool is_new;			/* that directory does not have the newest metadata */
	GArray *streams;		/* unsigned */
};

struct file_stream {
	unsigned trace;
	char *name;
	unsigned chunk;			/* the chunk that contains its files; 0: none */
	int fd, index_fd;		/* -1: not open */
	uint64_t size;			/* of the file, in bytes: whole packets */
	uint64_t n_entries;
	size_t entry;			/* bytes of an index entry; 0: no index file */
};

struct spool_files {
	char *path;			/* directory of this run */
	bool whole;			/* one trace without chunks or limit, directly in .path */
	gint64 last_us;			/* age at which chunks are deleted; 0: at none */
	gint64 chunk_us;		/* monotonic: when the newest chunk began; 0: it is empty */
	int held;			/* atomic */
	int lock_fd;
	uint64_t limit, bytes, all_bytes;	/* bytes: limit for DIR; used by this run; used by everything that
						 * may be deleted */
	unsigned chunk, oldest;
	uint64_t chunk_bytes, chunk_packets;	/* bytes of the newest chunk; of its packets only */
	GQueue old;			/* struct spool_chunk *, oldest first, without the newest */
	struct pages traces, streams;	/* struct file_trace, file_stream: not ended */
	unsigned n_open;
};

static struct file_trace *trace_at(const struct spool_files *f, unsigned trace)
{
	return pages_at(&f->traces, struct file_trace, trace);
}

static struct file_stream *stream_at(const struct spool_files *f, unsigned stream)
{
	return pages_at(&f->streams, struct file_stream, stream);
}

static void close_files(struct spool_files *f, struct file_stream *st)
{
	if (st->fd >= 0)
		f->n_open--;
	if (st->fd >= 0)
		close(st->fd);
	if (st->index_fd >= 0)
		close(st->index_fd);
	st->fd = st->index_fd = -1;
}

static void close_all(struct spool_files *f)
{
	PAGES_EACH(&f->streams, i)
		close_files(f, stream_at(f, i));
}

static bool cannot(GError **error, const char *what, const char *path)
{
	int number = errno;
	return fail(error, G_FILE_ERROR, g_file_error_from_errno(number), "cannot %s '%s': %s", what,
		    path, g_strerror(number));
}

/* ---- the run ---- */

static char *run_name(const char *label)
{
	g_autofree char *safe = text_filename(label);
	g_autoptr(GDateTime) now = g_date_time_new_now_utc();
	g_autofree char *date = g_date_time_format(now, "%Y%m%dT%H%M%SZ");
	return g_strdup_printf("%s-%s-%d", safe, date, (int)getpid());
}

/* Fails with EEXIST if it is there. */
static bool make_new_dir(const char *path)
{
	if (!files_exists(path))
		return files_make_dirs(path);
	errno = EEXIST;
	return false;
}

static bool make_run(struct spool_files *f, const char *dir, const char *label, GError **error)
{
	g_autofree char *name = run_name(label);
	g_autofree char *path = g_build_filename(dir, name, NULL);

	f->path = g_strdup(path);
	for (unsigned i = 2; !make_new_dir(f->path); i++) {
		if (errno != EEXIST || i > 99)
			return cannot(error, "make directory", f->path);
		g_free(f->path);
		f->path = g_strdup_printf("%s-%u", path, i);
	}
	g_autofree char *lock = g_build_filename(f->path, SPOOL_LOCK, NULL);
	f->lock_fd = files_create(lock);
	if (f->lock_fd < 0 || flock(f->lock_fd, LOCK_EX | LOCK_NB) != 0)
		return cannot(error, "lock", lock);
	return true;
}

static struct spool_files *new_files(uint64_t limit)
{
	struct spool_files *f = g_new0(struct spool_files, 1);

	f->lock_fd = -1;
	f->limit = limit;
	f->chunk = f->oldest = 1;
	g_queue_init(&f->old);
	f->traces.size = sizeof(struct file_trace);
	f->streams.size = sizeof(struct file_stream);
	return f;
}

struct spool_files *spool_files_new_whole(const char *dir, gint64 last_us)
{
	struct spool_files *f = new_files(UINT64_MAX);

	f->whole = !last_us;
	f->last_us = last_us;
	f->path = g_strdup(dir);
	return f;
}

struct spool_files *spool_files_new(const char *dir, uint64_t limit, const char *label,
				    GError **error)
{
	struct spool_files *f = new_files(limit);

	if (!make_run(f, dir, label, error)) {
		spool_files_free(f);
		return NULL;
	}
	f->all_bytes = spool_old_find(dir, &f->old);
	return f;
}

void spool_files_free(struct spool_files *f)
{
	if (!f)
		return;
	PAGES_EACH(&f->traces, i)
		spool_files_end_trace(f, i);
	pages_clear(&f->traces);
	pages_clear(&f->streams);
	g_queue_clear_full(&f->old, spool_chunk_free);
	/* deletes the directory of a run that wrote nothing */
	if (f->path && f->lock_fd >= 0 && !f->bytes)
		files_remove_tree(f->path);
	if (f->lock_fd >= 0)
		close(f->lock_fd);
	g_free(f->path);
	g_free(f);
}

/* ---- chunks ---- */

static char *chunk_path(const struct spool_files *f, unsigned chunk)
{
	return f->whole ? g_strdup(f->path) : g_strdup_printf("%s/%0*u", f->path, SPOOL_DIGITS, chunk);
}

static void drop_oldest(struct spool_files *f)
{
	struct spool_chunk *c = g_queue_pop_head(&f->old);
	bool own = g_str_has_prefix(c->path, f->path) && c->path[strlen(f->path)] == '/';

	files_remove_tree(c->path);
	if (!own)
		spool_old_forget_run(c->path);
	f->all_bytes -= c->bytes;
	if (own) {
		f->bytes -= c->bytes;
		f->oldest++;
	}
	spool_chunk_free(c);
}

static void begin_chunk(struct spool_files *f)
{
	struct spool_chunk *c = g_new0(struct spool_chunk, 1);

	close_all(f);
	c->path = chunk_path(f, f->chunk);
	c->bytes = f->chunk_bytes;	/* hard-linked metadata counts in each chunk */
	c->ended_us = g_get_monotonic_time();
	g_queue_push_tail(&f->old, c);
	f->chunk_bytes = f->chunk_packets = 0;
	f->chunk_us = 0;
	f->chunk++;
}

/* Limits the age of chunks. What a chunk has was recorded before it ended. */
static void keep_last(struct spool_files *f)
{
	gint64 now = g_get_monotonic_time(), most = f->last_us / CHUNKS;

	if (f->chunk == 1)
		most = MAX(most, MIN(FIRST_US, f->last_us));
	if (f->chunk_us && now - f->chunk_us > most) {
		begin_chunk(f);
		if (f->chunk == 2)
			spool_chunk_free(g_queue_pop_head(&f->old));
	}
	if (!f->chunk_us)
		f->chunk_us = now;
	while (!g_atomic_int_get(&f->held) && !g_queue_is_empty(&f->old) &&
	       now - ((const struct spool_chunk *)g_queue_peek_head(&f->old))->ended_us > f->last_us) {
		f->oldest = MAX(f->oldest, 2);
		drop_oldest(f);
	}
}

static size_t metadata_bytes(const struct file_trace *t)
{
	return t->metadata ? g_bytes_get_size(t->metadata) : 0;
}

static void make_room(struct spool_files *f, const struct file_trace *t, uint64_t bytes)
{
	if (f->last_us)
		keep_last(f);
	if (f->chunk_packets && f->chunk_packets + bytes > f->limit / CHUNKS)
		begin_chunk(f);
	if (t->chunk != f->chunk)
		bytes += DIRECTORIES + metadata_bytes(t);
	while (f->all_bytes + bytes > f->limit && !g_queue_is_empty(&f->old))
		drop_oldest(f);
}

static void count(struct spool_files *f, uint64_t bytes)
{
	f->chunk_bytes += bytes;
	f->bytes += bytes;
	f->all_bytes += bytes;
}

/* ---- traces ---- */

static void end_stream(struct spool_files *f, unsigned number)
{
	struct file_stream *st = stream_at(f, number);

	close_files(f, st);
	g_free(st->name);
	pages_drop(&f->streams, number);
}

void spool_files_add_trace(struct spool_files *f, const char *name)
{
	unsigned number = f->traces.n;
	struct file_trace *t = pages_put(&f->traces, number);
	g_autofree char *safe = text_filename(name);
	t->name = g_strdup_printf("%s-%u", safe, number);
	t->streams = g_array_new(FALSE, FALSE, sizeof(unsigned));
}

void spool_files_add_stream(struct spool_files *f, unsigned trace, const char *name)
{
	struct file_trace *t = trace_at(f, trace);
	unsigned number = f->streams.n;
	struct file_stream *st = pages_put(&f->streams, number);
	g_autofree char *safe = text_filename(name);
	st->name = g_strdup_printf("%s-%u", safe, number);
	st->trace = trace;
	st->fd = st->index_fd = -1;
	if (t)
		g_array_append_val(t->streams, number);
	else
		end_stream(f, number);
}

bool spool_files_find_stream(const struct spool_files *f, unsigned stream, unsigned *ret_trace)
{
	const struct file_stream *st = stream_at(f, stream);
	if (st)
		*ret_trace = st->trace;
	return st;
}

static char *trace_path(const struct spool_files *f, const struct file_trace *t, unsigned chunk)
{
	g_autofree char *in = chunk_path(f, chunk);
	return g_build_filename(in, t->name, NULL);
}

/* Writes a hidden file and renames it, so that readers see all of the metadata or nothing. */
static bool write_metadata(struct file_trace *t, const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	g_autofree char *making = g_build_filename(dir, ".metadata", NULL);
	gsize n;
	const void *bytes = g_bytes_get_data(t->metadata, &n);

	files_remove(making);
	int fd = files_create(making);
	bool ok = fd >= 0 && disk_write(fd, bytes, n);
	int number = errno;
	if (fd >= 0)
		close(fd);
	errno = number;
	if (!ok || !files_rename(making, path, true)) {
		cannot(error, "write", path);
		files_remove(making);
		return false;
	}
	t->is_new = false;
	return true;
}

/* Makes the trace's directory in this chunk, with its metadata if there is any: a hard link to that of the previous
 * chunk if nothing was added. */
static bool make_trace(struct spool_files *f, struct file_trace *t, GError **error)
{
	g_autofree char *dir = trace_path(f, t, f->chunk);
	g_autofree char *index = g_build_filename(dir, "index", NULL);
	g_autofree char *metadata = g_build_filename(dir, "metadata", NULL);
	g_autofree char *last = trace_path(f, t, t->chunk);
	g_autofree char *before = g_build_filename(last, "metadata", NULL);

	if (t->chunk == f->chunk && t->is_new)
		count(f, metadata_bytes(t));
	if (t->chunk == f->chunk)
		return !t->is_new || write_metadata(t, dir, error);
	if (!files_make_dirs(index))
		return cannot(error, "make directory", index);
	bool linked = t->metadata && t->chunk && !t->is_new && files_link(before, metadata);
	if (t->metadata && !linked && !write_metadata(t, dir, error))
		return false;
	t->chunk = f->chunk;
	count(f, DIRECTORIES + metadata_bytes(t));
	return true;
}

void spool_files_end_trace(struct spool_files *f, unsigned trace)
{
	struct file_trace *t = trace_at(f, trace);

	if (!t)
		return;
	g_clear_pointer(&t->metadata, g_bytes_unref);
	for (guint i = 0; i < t->streams->len; i++)
		end_stream(f, g_array_index(t->streams, unsigned, i));
	g_array_unref(t->streams);
	g_free(t->name);
	pages_drop(&f->traces, trace);
}

bool spool_files_metadata(struct spool_files *f, unsigned trace, const void *all, size_t n, GError **error)
{
	struct file_trace *t = trace_at(f, trace);

	g_clear_pointer(&t->metadata, g_bytes_unref);
	t->metadata = g_bytes_new(all, n);
	t->is_new = true;
	/* rewrites the metadata now: following packets may have events of new classes */
	return t->chunk != f->chunk || make_trace(f, t, error);
}

/* ---- packets ---- */

static int open_file(const char *path, bool is_new)
{
	return is_new ? files_create(path) : files_open(path, O_RDWR);
}

static bool open_files(struct spool_files *f, struct file_stream *st, const struct file_trace *t,
		       GError **error)
{
	g_autofree char *dir = trace_path(f, t, f->chunk);
	g_autofree char *path = g_build_filename(dir, st->name, NULL);
	g_autofree char *index = g_strdup_printf("%s/index/%s.idx", dir, st->name);
	bool is_new = st->chunk != f->chunk;

	if (!is_new && st->fd >= 0)
		return true;
	close_files(f, st);
	if (f->n_open >= OPEN_STREAMS)
		close_all(f);
	st->fd = open_file(path, is_new);
	if (st->fd < 0 && errno == EMFILE) {
		close_all(f);
		st->fd = open_file(path, is_new);
	}
	if (st->fd < 0)
		return cannot(error, "open", path);
	f->n_open++;
	if (is_new) {
		st->chunk = f->chunk;
		st->size = st->n_entries = 0;
		st->entry = 0;
	}
	/* without an index file, readers scan all packet headers */
	if (is_new || st->entry)
		st->index_fd = open_file(index, is_new);
	return true;
}

/* Deletes the index file: if one packet has no entry, it is wrong for all later packets. */
static void drop_index(struct spool_files *f, struct file_stream *st, const struct file_trace *t)
{
	g_autofree char *dir = trace_path(f, t, f->chunk);
	g_autofree char *index = g_strdup_printf("%s/index/%s.idx", dir, st->name);

	if (st->index_fd >= 0)
		close(st->index_fd);
	st->index_fd = -1;
	st->entry = 0;
	files_remove(index);
}

static bool write_entry(struct spool_files *f, struct file_stream *st, const struct ctf_packet *p)
{
	uint8_t bytes[CTF_INDEX_MOST];
	struct ctf_packet here = *p;

	if (!st->entry) {
		st->entry = ctf_index_entry_size(p);
		ctf_index_put_header(bytes, st->entry);
		if (!disk_write_at(st->index_fd, bytes, CTF_INDEX_HEADER, 0))
			return false;
		count(f, CTF_INDEX_HEADER);
	}
	here.offset = st->size;
	ctf_index_put_entry(bytes, st->entry, &here);
	if (!disk_write_at(st->index_fd, bytes, st->entry, CTF_INDEX_HEADER + st->n_entries * st->entry))
		return false;
	st->n_entries++;
	count(f, st->entry);
	return true;
}

bool spool_files_packet(struct spool_files *f, unsigned stream, const void *bytes, size_t n,
			const struct ctf_packet *p, GError **error)
{
	struct file_stream *st = stream_at(f, stream);
	struct file_trace *t = trace_at(f, st->trace);

	make_room(f, t, n + CTF_INDEX_MOST);
	if (!make_trace(f, t, error) || !open_files(f, st, t, error))
		return false;
	if (!disk_write_at(st->fd, bytes, n, st->size)) {
		g_autofree char *path = g_build_filename(f->path, st->name, NULL);
		cannot(error, "write", path);
		/* cuts off a partly written packet */
		if (ftruncate(st->fd, (off_t)st->size) != 0)
			g_prefix_error(error, "with half a packet left: ");
		return false;
	}
	if (st->index_fd >= 0 && (!p || !write_entry(f, st, p)))
		drop_index(f, st, t);
	st->size += n;
	f->chunk_packets += n;
	count(f, n);
	return true;
}

void spool_files_hold(struct spool_files *f, bool held)
{
	g_atomic_int_set(&f->held, held);
}

const char *spool_files_path(const struct spool_files *f)
{
	return f->path;
}

uint64_t spool_files_bytes(const struct spool_files *f)
{
	return f->bytes;
}

unsigned spool_files_oldest(const struct spool_files *f)
{
	return f->oldest;
}

unsigned spool_files_chunk(const struct spool_files *f)
{
	return f->chunk;
}
