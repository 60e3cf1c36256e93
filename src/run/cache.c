/* SPDX-License-Identifier: GPL-2.0-only */
/* The cache: see cache.h. */
#include "run/cache.h"

#include "run/cache_file.h"
#include "run/cache_key.h"

#include "base/disk.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/timefmt.h"
#include "base/user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file: the magic, the key (KEY_BYTES), what cache_file.h writes. */
#define MAGIC "BLKCACHE"
#define MAGIC_BYTES 8
#define HEADER_BYTES (MAGIC_BYTES + KEY_BYTES)

#define SUFFIX ".blkcache"
#define UNFINISHED "unfinished-"

struct cache {
	const struct cache_place *place;
	char **paths, *model;
	int64_t since_ns;
	struct cache_key key;		/* .name is of no variant yet */
	char *path, *temporary;		/* NULL: no file is found or begun; no temporary file exists */
	struct cache_key variant;	/* of .path */

	struct cache_reader *reader;	/* cache_find() */
	struct cache_writer *writer;	/* cache_begin() */
	int fd;				/* the temporary file, or -1 */
	struct cache_variant begun;	/* cache_begin() */
	int64_t begun_us;
	GByteArray *held;		/* what is written when a temporary file is open */
	uint64_t size;			/* bytes of the file so far */
	bool failed;			/* nothing more is written */
	GString *message;
};

/* ---- the directory ---- */

char *cache_default_dir(void)
{
	return g_build_filename(g_get_user_cache_dir(), "blktop", NULL);
}

bool cache_make_dir(const char *dir, GError **error)
{
	return files_add_private(dir, "XDG_CACHE_HOME", error);
}

static G_GNUC_PRINTF(2, 3) void add_message(struct cache *c, const char *format, ...)
{
	va_list ap;

	if (c->message->len)
		g_string_append(c->message, "; ");
	va_start(ap, format);
	g_string_append_vprintf(c->message, format, ap);
	va_end(ap);
}

struct cache *cache_new(const struct cache_place *place, const char *const *paths, const char *model, int64_t since_ns)
{
	struct cache_key key;

	if (!place->dir || !cache_make_dir(place->dir, NULL) || !cache_key_of(&key, paths, model, since_ns) ||
	    key.bytes < (uint64_t)(place->after_ns / NS_PER_MS) * CACHE_MS_BYTES)
		return NULL;
	struct cache *c = g_new0(struct cache, 1);
	c->place = place;
	c->paths = g_strdupv((char **)paths);
	c->model = g_strdup(model);
	c->since_ns = since_ns;
	c->key = key;
	c->fd = -1;
	c->held = g_byte_array_new();
	c->message = g_string_new(NULL);
	return c;
}

/* Removes what was not renamed. */
static void drop_temporary(struct cache *c)
{
	if (c->temporary)
		files_remove(c->temporary);
	g_clear_pointer(&c->temporary, g_free);
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	drop_temporary(c);
	if (c->fd >= 0)
		close(c->fd);
	g_strfreev(c->paths);
	g_free(c->model);
	g_free(c->path);
	cache_reader_free(c->reader);
	cache_writer_free(c->writer);
	g_byte_array_unref(c->held);
	g_string_free(c->message, true);
	g_free(c);
}

char *cache_message(const struct cache *c)
{
	return c->message->len ? g_strdup(c->message->str) : NULL;
}

static void choose_variant(struct cache *c, const struct cache_variant *v)
{
	c->variant = cache_key_variant(&c->key, v);
	g_free(c->path);
	c->path = g_strdup_printf("%s/%s" SUFFIX, c->place->dir, c->variant.name);
}

/* ---- reading ---- */

/* Opens what is in the file. NULL: fine; else why it is not used. */
static const char *open_file(struct cache *c, int fd)
{
	uint8_t header[HEADER_BYTES];
	const char *why;
	struct stat st;

	if (fstat(fd, &st) != 0 || !user_is_own(st.st_uid))
		return "it is another user's";
	if (!disk_read_at(fd, header, sizeof header, 0) || memcmp(header, MAGIC, MAGIC_BYTES) != 0)
		return "it is damaged";
	if (memcmp(header + MAGIC_BYTES, c->variant.digest, KEY_BYTES) != 0)
		return "the trace, the program or the options have changed";
	c->reader = cache_reader_open(fd, HEADER_BYTES, (uint64_t)st.st_size, &why);
	return c->reader ? NULL : why;
}

static bool find_variant(struct cache *c, const struct cache_variant *v)
{
	choose_variant(c, v);
	auto_fd fd = files_open_unlinked(c->path, NULL);
	if (fd < 0)
		return false;
	const char *why = open_file(c, fd);
	if (why)
		add_message(c, "%s is not used: %s", c->path, why);
	else
		add_message(c, "read from %s", c->path);
	if (!why)
		files_touch(c->path);	/* files are removed by the time of their last use */
	return !why;
}

bool cache_find(struct cache *c, const struct cache_variant *v)
{
	struct cache_variant any = *v;

	any.memory = 0;
	return find_variant(c, &any) || find_variant(c, v);
}

struct publication *cache_next(struct cache *c, GError **error)
{
	const char *why;
	struct publication *p = cache_reader_next(c->reader, &why);

	if (why) {
		files_remove(c->path);
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "cannot read %s: %s; it is removed, try again",
			    c->path, why);
	}
	return p;
}

uint64_t cache_bytes(const struct cache *c)
{
	return cache_reader_bytes(c->reader);
}

/* ---- writing ---- */

static void give_up(struct cache *c, const char *why)
{
	if (!c->failed)
		add_message(c, "not stored: %s", why);
	c->failed = true;
	drop_temporary(c);
	g_byte_array_set_size(c->held, 0);
}

/* Removes unfinished files of processes that have ended: they hold no lock. */
static void sweep(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	auto_fd fd = files_open_unlinked(path, NULL);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		files_remove(path);
}

struct entry { char *path; uint64_t size; struct timespec used; };

static void entry_clear(gpointer p)
{
	g_free(((struct entry *)p)->path);
}

static int oldest_first(gconstpointer a, gconstpointer b)
{
	const struct timespec x = ((const struct entry *)a)->used, y = ((const struct entry *)b)->used;

	return x.tv_sec != y.tv_sec ? (x.tv_sec > y.tv_sec) - (x.tv_sec < y.tv_sec) :
		(x.tv_nsec > y.tv_nsec) - (x.tv_nsec < y.tv_nsec);
}

/* Makes room for `more` bytes: removes the files that were used longest ago, but not `except`. */
static void make_room(const struct cache_place *place, const char *except, uint64_t more)
{
	g_autoptr(GArray) all = g_array_new(false, true, sizeof(struct entry));
	g_autoptr(GPtrArray) names = files_list(place->dir, SIZE_MAX);
	uint64_t sum = more;
	struct stat st;

	g_array_set_clear_func(all, entry_clear);
	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		if (g_str_has_prefix(name, UNFINISHED))
			sweep(place->dir, name);
		struct entry x = { .path = g_build_filename(place->dir, name, NULL) };
		if (!g_str_has_suffix(name, SUFFIX) || !files_stat(x.path, &st) || g_str_equal(x.path, except)) {
			g_free(x.path);
			continue;
		}
		x.size = (uint64_t)st.st_size;
		x.used = st.st_mtim;
		sum += x.size;
		g_array_append_val(all, x);
	}
	g_array_sort(all, oldest_first);
	for (guint i = 0; i < all->len && sum > place->most; i++) {
		const struct entry *x = &g_array_index(all, struct entry, i);
		if (files_remove(x->path))
			sum -= x->size;
	}
}

/* Writes what is held. */
static void write_held(struct cache *c)
{
	uint64_t n = c->held->len;

	if (c->failed || !n)
		return;
	if (c->size + n > c->place->most)
		give_up(c, "it is larger than the cache may be");
	else if (!disk_write_at(c->fd, c->held->data, n, c->size))
		give_up(c, g_strerror(errno));
	c->size += n;
	g_byte_array_set_size(c->held, 0);
}

static void open_temporary(struct cache *c)
{
	make_room(c->place, c->path, 0);
	c->temporary = g_strdup_printf("%s/" UNFINISHED "%d-%08x", c->place->dir, (int)getpid(), g_random_int());
	c->fd = files_create(c->temporary);
	if (c->fd < 0 || flock(c->fd, LOCK_EX | LOCK_NB) != 0)
		give_up(c, g_strerror(errno));
}

static bool is_long(const struct cache *c)
{
	return (g_get_monotonic_time() - c->begun_us) * NS_PER_US >= c->place->after_ns;
}

void cache_begin(struct cache *c, const struct cache_variant *v)
{
	c->begun = *v;
	choose_variant(c, v);
	c->writer = cache_writer_new(HEADER_BYTES);
	g_byte_array_set_size(c->held, HEADER_BYTES);	/* commit() writes it */
	memset(c->held->data, 0, HEADER_BYTES);
	c->begun_us = g_get_monotonic_time();
}

void cache_add(struct cache *c, struct publication *p)
{
	if (!c->writer || c->failed)
		return;
	const char *why = cache_writer_add(c->writer, p, c->held);
	if (why)
		give_up(c, why);
	if (!c->failed && c->fd < 0 && is_long(c))
		open_temporary(c);
	if (c->fd >= 0)
		write_held(c);
}

/* Has the trace changed since the beginning? */
static bool is_changed(const struct cache *c)
{
	struct cache_key now;

	return !cache_key_of(&now, (const char *const *)c->paths, c->model, c->since_ns) ||
		memcmp(now.digest, c->key.digest, KEY_BYTES) != 0;
}

static void write_header(struct cache *c)
{
	uint8_t header[HEADER_BYTES] = MAGIC;

	memcpy(header + MAGIC_BYTES, c->variant.digest, KEY_BYTES);
	if (!c->failed && !disk_write_at(c->fd, header, sizeof header, 0))
		give_up(c, g_strerror(errno));
}

static void commit(struct cache *c)
{
	char size[TIMEFMT_LEN];

	if (c->fd < 0)
		open_temporary(c);
	const char *why = c->failed ? NULL : cache_writer_end(c->writer, c->held);
	if (why)
		give_up(c, why);
	write_held(c);
	write_header(c);
	if (!c->failed && is_changed(c))
		give_up(c, "the trace has changed while it was read");
	if (!c->failed && fsync(c->fd) != 0)
		give_up(c, g_strerror(errno));
	if (c->failed)
		return;
	make_room(c->place, c->path, c->size);
	if (!files_rename(c->temporary, c->path, true)) {
		give_up(c, g_strerror(errno));
		return;
	}
	g_clear_pointer(&c->temporary, g_free);
	files_sync_dir(c->place->dir);
	add_message(c, "stored in %s, %s", c->path, timefmt_bytes(size, c->size));
}

void cache_finish(struct cache *c, bool fits)
{
	if (!c->writer || c->failed || !is_long(c))
		return;
	c->begun.memory = fits ? 0 : c->begun.memory;
	choose_variant(c, &c->begun);
	commit(c);
}
