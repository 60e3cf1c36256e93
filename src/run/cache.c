/* SPDX-License-Identifier: GPL-2.0-only */
/* The cache of slices: see cache.h. */
#include "run/cache.h"

#include "run/cache_key.h"

#include "base/disk.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "state/slice/slice_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A file, numbers are little-endian:
 *
 *     0	8 bytes		"BLKCACHE"
 *     8	32 bytes	the key
 *     40	...		slice files, one after the other
 *     ...	ROW_BYTES	of each, by time: from, to (ns), offset, length
 *     ...	u64		their number
 *     ...	32 bytes	SHA-256 of all but the slice files and this
 */
#define MAGIC "BLKCACHE"
#define MAGIC_BYTES 8
#define HEADER_BYTES (MAGIC_BYTES + KEY_BYTES)
#define ROW_BYTES 32
#define TAIL_BYTES (8 + KEY_BYTES)

#define SUFFIX ".blkcache"
#define UNFINISHED "unfinished-"

struct row { int64_t from, to; uint64_t at, size; };

struct cache {
	const struct cache_place *place;
	char **paths, *model;
	int64_t since_ns;
	struct cache_key key;		/* .name is of no variant yet */
	char *path, *temporary;		/* NULL: no file is found or begun; no temporary file exists */
	struct cache_key variant;	/* of .path */

	int fd;				/* the file that is read, or the temporary one; -1 */
	GArray *rows;			/* struct row; reading: in order of time */
	bool writes;			/* cache_begin() */
	int64_t begun_us;

	GMutex lock;			/* what follows, and while writing .fd and .rows */
	GPtrArray *held;		/* GByteArray *: slices, while no temporary file is open */
	uint64_t size;			/* bytes of the file so far */
	bool failed;			/* nothing more is written */
	bool damaged;			/* a piece was */
	GString *message;
};

static void put_le(uint8_t *to, uint64_t v)
{
	v = GUINT64_TO_LE(v);
	memcpy(to, &v, sizeof v);
}

static uint64_t get_le(const uint8_t *from)
{
	uint64_t v;

	memcpy(&v, from, sizeof v);
	return GUINT64_FROM_LE(v);
}

/* ---- the directory ---- */

char *cache_default_dir(void)
{
	return g_build_filename(g_get_user_cache_dir(), "blktop", NULL);
}

static bool is_private(const char *dir)
{
	struct stat st;

	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

bool cache_make_dir(const char *dir, GError **error)
{
	if (!disk_make_home_dir(dir, "XDG_CACHE_HOME", error))
		return false;
	if (is_private(dir))
		return true;
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_ACCES, "'%s' is not a directory that only the user can write",
		    dir);
	return false;
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
	c->rows = g_array_new(false, false, sizeof(struct row));
	c->held = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	c->message = g_string_new(NULL);
	g_mutex_init(&c->lock);
	return c;
}

/* Removes what was not renamed. */
static void drop_temporary(struct cache *c)
{
	if (c->temporary)
		unlink(c->temporary);
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
	g_array_unref(c->rows);
	g_ptr_array_unref(c->held);
	g_string_free(c->message, true);
	g_mutex_clear(&c->lock);
	g_free(c);
}

char *cache_message(struct cache *c)
{
	g_mutex_lock(&c->lock);
	char *text = c->message->len ? g_strdup(c->message->str) : NULL;
	g_mutex_unlock(&c->lock);
	return text;
}

static void choose_variant(struct cache *c, uint32_t cells, bool without_spans)
{
	c->variant = cache_key_variant(&c->key, cells, without_spans);
	g_free(c->path);
	c->path = g_strdup_printf("%s/%s" SUFFIX, c->place->dir, c->variant.name);
}

/* ---- reading ---- */

static bool read_all(int fd, void *to, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* The header, and what follows the slices, without the digest at its end. */
static void digest_of(const uint8_t *header, const uint8_t *tail, size_t n_tail, uint8_t *ret)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	gsize len = KEY_BYTES;

	g_checksum_update(sum, header, HEADER_BYTES);
	g_checksum_update(sum, tail, (gssize)n_tail);
	g_checksum_get_digest(sum, ret, &len);
}

/* Do the pieces cover all time, without gaps in the file? */
static bool rows_fit(const GArray *rows, uint64_t end)
{
	int64_t from = INT64_MIN;
	uint64_t at = HEADER_BYTES, sum = 0;

	for (guint i = 0; i < rows->len; i++) {
		const struct row *r = &g_array_index(rows, struct row, i);
		if (r->from != from || r->from >= r->to || r->at < at || r->at > end || r->size > end - r->at)
			return false;
		from = r->to;
		sum += r->size;
	}
	return rows->len && from == INT64_MAX && sum == end - at;
}

static void read_rows(GArray *rows, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++, bytes += ROW_BYTES) {
		struct row r = {
			(int64_t)get_le(bytes), (int64_t)get_le(bytes + 8), get_le(bytes + 16), get_le(bytes + 24),
		};
		g_array_append_val(rows, r);
	}
}

/* Reads the table of an open file. NULL: fine; else why it is not used. */
static const char *read_table(struct cache *c)
{
	uint8_t header[HEADER_BYTES], end[TAIL_BYTES], digest[KEY_BYTES];
	struct stat st;

	if (fstat(c->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return "it is another user's";
	uint64_t size = (uint64_t)st.st_size;
	if (size < HEADER_BYTES + TAIL_BYTES || !read_all(c->fd, header, sizeof header, 0) ||
	    memcmp(header, MAGIC, MAGIC_BYTES) != 0 || !read_all(c->fd, end, sizeof end, size - TAIL_BYTES))
		return "it is damaged";
	if (memcmp(header + MAGIC_BYTES, c->variant.digest, KEY_BYTES) != 0)
		return "the trace, the program or the options have changed";
	uint64_t n = get_le(end), room = size - HEADER_BYTES - TAIL_BYTES;
	if (!n || n > LIMIT_SLICES || n * ROW_BYTES > room)
		return "it is damaged";
	size_t n_tail = (size_t)n * ROW_BYTES + 8;
	g_autofree uint8_t *tail = g_malloc(n_tail);
	if (!read_all(c->fd, tail, n_tail, size - KEY_BYTES - n_tail))
		return "it is damaged";
	digest_of(header, tail, n_tail, digest);
	if (memcmp(digest, end + 8, KEY_BYTES) != 0)
		return "it is damaged";
	read_rows(c->rows, tail, (size_t)n);
	return rows_fit(c->rows, size - KEY_BYTES - n_tail) ? NULL : "it is damaged";
}

bool cache_find(struct cache *c, uint32_t cells, bool without_spans)
{
	choose_variant(c, cells, without_spans);
	c->fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	if (c->fd < 0)
		return false;
	const char *why = read_table(c);
	if (!why) {
		futimens(c->fd, NULL);		/* files are removed by the time of their last use */
		add_message(c, "read from %s", c->path);
		return true;
	}
	add_message(c, "%s is not used: %s", c->path, why);
	g_array_set_size(c->rows, 0);
	close(c->fd);
	c->fd = -1;
	return false;
}

size_t cache_pieces(const struct cache *c, int64_t *ret)
{
	for (guint i = 0; ret && i + 1 < c->rows->len; i++)
		ret[i] = g_array_index(c->rows, struct row, i).to;
	return c->rows->len;
}

uint64_t cache_bytes(const struct cache *c)
{
	uint64_t sum = 0;

	for (guint i = 0; i < c->rows->len; i++)
		sum += g_array_index(c->rows, struct row, i).size;
	return sum;
}

struct slice *cache_load(struct cache *c, size_t i, int64_t step_ns, uint32_t cells, bool without_spans)
{
	g_autoptr(GError) error = NULL;
	struct slice_piece piece = { 0 };

	if (c->writes)
		return NULL;
	const struct row *r = &g_array_index(c->rows, struct row, i);
	struct slice *s = slice_file_read_part(c->fd, r->at, r->size, &piece, &error);
	bool fits = s && piece.from == r->from && piece.to == r->to && slice_step(s) == step_ns &&
		slice_is_without_spans(s) == without_spans;
	slice_piece_clear(&piece);
	if (fits) {
		slice_read_cells(s, cells);
		return s;
	}
	slice_free(s);
	g_mutex_lock(&c->lock);
	if (!c->damaged)
		add_message(c, "a piece is read from the trace: %s", error ? error->message : "it is another one's");
	c->damaged = true;
	g_mutex_unlock(&c->lock);
	return NULL;
}

/* ---- writing ---- */

static void give_up(struct cache *c, const char *why)
{
	if (!c->failed)
		add_message(c, "not stored: %s", why);
	c->failed = true;
	drop_temporary(c);
	g_ptr_array_set_size(c->held, 0);
}

/* Removes unfinished files of processes that have ended: they hold no lock. */
static void sweep(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlink(path);
	if (fd >= 0)
		close(fd);
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
	g_autoptr(GDir) dir = g_dir_open(place->dir, 0, NULL);
	uint64_t sum = more;
	struct stat st;

	g_array_set_clear_func(all, entry_clear);
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		if (g_str_has_prefix(name, UNFINISHED))
			sweep(place->dir, name);
		struct entry x = { .path = g_build_filename(place->dir, name, NULL) };
		if (!g_str_has_suffix(name, SUFFIX) || lstat(x.path, &st) != 0 || g_str_equal(x.path, except)) {
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
		if (unlink(x->path) == 0)
			sum -= x->size;
	}
}

/* Lock held. */
static void write_bytes(struct cache *c, const void *bytes, size_t n)
{
	if (c->failed)
		return;
	if (c->size + n > c->place->most)
		give_up(c, "it is larger than the cache may be");
	else if (!disk_write_at(c->fd, bytes, n, c->size))
		give_up(c, g_strerror(errno));
	c->size += n;
}

/* Lock held. */
static void open_temporary(struct cache *c)
{
	uint8_t header[HEADER_BYTES] = MAGIC;

	make_room(c->place, c->path, 0);
	c->temporary = g_strdup_printf("%s/" UNFINISHED "%d-%08x", c->place->dir, (int)getpid(), g_random_int());
	c->fd = disk_create(c->temporary);
	if (c->fd < 0 || flock(c->fd, LOCK_EX | LOCK_NB) != 0) {
		give_up(c, g_strerror(errno));
		return;
	}
	memcpy(header + MAGIC_BYTES, c->variant.digest, KEY_BYTES);
	write_bytes(c, header, sizeof header);
	for (guint i = 0; i < c->held->len; i++) {
		const GByteArray *held = g_ptr_array_index(c->held, i);
		write_bytes(c, held->data, held->len);
	}
	g_ptr_array_set_size(c->held, 0);
}

static bool is_long(const struct cache *c)
{
	return (g_get_monotonic_time() - c->begun_us) * NS_PER_US >= c->place->after_ns;
}

void cache_begin(struct cache *c, uint32_t cells, bool without_spans)
{
	choose_variant(c, cells, without_spans);
	c->writes = true;
	c->begun_us = g_get_monotonic_time();
}

void cache_store(struct cache *c, struct slice *s, int64_t from, int64_t to)
{
	const struct slice_piece piece = { .from = from, .to = to };
	g_autoptr(GError) error = NULL;

	if (!c->writes)
		return;
	GByteArray *bytes = slice_file_bytes(s, &piece, &error);
	g_mutex_lock(&c->lock);
	if (!bytes)
		give_up(c, error->message);
	if (bytes && !c->failed) {
		struct row r = { from, to, 0, bytes->len };
		g_array_append_val(c->rows, r);
	}
	if (!c->failed && c->fd < 0 && is_long(c))
		open_temporary(c);
	if (bytes && c->fd >= 0)
		write_bytes(c, bytes->data, bytes->len);
	else if (!c->failed)
		g_ptr_array_add(c->held, g_byte_array_ref(bytes));
	g_clear_pointer(&bytes, g_byte_array_unref);
	g_mutex_unlock(&c->lock);
}

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct row *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static void write_table(struct cache *c)
{
	uint8_t header[HEADER_BYTES] = MAGIC, digest[KEY_BYTES];
	size_t n_tail = c->rows->len * ROW_BYTES + 8;
	g_autofree uint8_t *tail = g_malloc(n_tail);
	uint64_t at = HEADER_BYTES;

	for (guint i = 0; i < c->rows->len; i++) {	/* still in the order in which they were written */
		struct row *r = &g_array_index(c->rows, struct row, i);
		r->at = at;
		at += r->size;
	}
	g_array_sort(c->rows, by_time);
	for (guint i = 0; i < c->rows->len; i++) {
		const struct row *r = &g_array_index(c->rows, struct row, i);
		const uint64_t row[] = { (uint64_t)r->from, (uint64_t)r->to, r->at, r->size };
		for (size_t k = 0; k < G_N_ELEMENTS(row); k++)
			put_le(tail + i * ROW_BYTES + k * 8, row[k]);
	}
	put_le(tail + n_tail - 8, c->rows->len);
	memcpy(header + MAGIC_BYTES, c->variant.digest, KEY_BYTES);
	digest_of(header, tail, n_tail, digest);
	write_bytes(c, tail, n_tail);
	write_bytes(c, digest, sizeof digest);
	if (!c->failed && !rows_fit(c->rows, at))
		give_up(c, "a piece is missing");
}

/* Has the trace changed since the beginning? */
static bool is_changed(const struct cache *c)
{
	struct cache_key now;

	return !cache_key_of(&now, (const char *const *)c->paths, c->model, c->since_ns) ||
		memcmp(now.digest, c->key.digest, KEY_BYTES) != 0;
}

static void commit(struct cache *c)
{
	char size[TIMEFMT_LEN];

	if (c->fd < 0)
		open_temporary(c);
	write_table(c);
	if (!c->failed && is_changed(c))
		give_up(c, "the trace has changed while it was read");
	if (!c->failed && fsync(c->fd) != 0)
		give_up(c, g_strerror(errno));
	if (c->failed)
		return;
	make_room(c->place, c->path, c->size);
	if (rename(c->temporary, c->path) != 0) {
		give_up(c, g_strerror(errno));
		return;
	}
	g_clear_pointer(&c->temporary, g_free);
	disk_sync_dir(c->place->dir);
	add_message(c, "stored in %s, %s", c->path, timefmt_bytes(size, c->size));
}

void cache_finish(struct cache *c)
{
	g_mutex_lock(&c->lock);
	if (c->damaged)
		unlink(c->path);	/* so it is stored again the next time */
	if (c->writes && !c->failed && is_long(c))
		commit(c);
	g_mutex_unlock(&c->lock);
}
