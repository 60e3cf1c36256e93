/* SPDX-License-Identifier: GPL-2.0-only */
/* Saves a range of packets as traces: see cut.h. */
#include "trace/native/cut.h"

#include "trace/ctf/ctf_index_write.h"
#include "trace/native/native_private.h"

#include "base/disk.h"
#include "base/each.h"
#include "base/fail.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

#define COPY_AT_ONCE (1 << 20)		/* bytes copied between checks whether to stop */
#define SYNC_EACH 256			/* stream files: of more the whole file system is synchronised at once */

struct cut_range { int64_t from, to; };

struct cut {
	const struct trace_cut *what;
	struct trace_cut_result *ret;
	struct native *n;
	struct cut_range range;		/* packets that overlap it are saved */
	struct cut_range dump;		/* and those of the first state dump; from == to: none */
	GHashTable *packets;		/* struct native_file * -> GArray of struct ctf_packet */
	char *shared;			/* directory that all traces have in common */
	char *making;			/* the directory under its temporary name */
	uint8_t *buffer;
};

static bool cannot_save(GError **error, const struct cut *c, int code, const char *why)
{
	return fail(error, BLK_TRACE_ERROR, code, "cannot save to '%s': %s", c->ret->path, why);
}

static bool fail_disk(GError **error, const struct cut *c)
{
	const int number = errno;
	g_autofree char *why = g_strconcat(g_strerror(number), files_hint(number), NULL);

	return cannot_save(error, c, BLK_TRACE_ERROR_ACCESS, number == EEXIST ? "it already exists" : why);
}

static bool stopped(const struct cut *c, GError **error)
{
	if (!c->what->stop || !g_atomic_int_get(c->what->stop))
		return false;
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "saving was stopped");
	return true;
}

/* ---- the state dump ---- */

static const struct blk_subscription dump_rows[] = {
	{ .event = "lttng_statedump_start" }, { .event = "lttng_statedump_end" },
};

/* The last whole state dump within `of`; from == to: none. */
static struct cut_range last_dump(struct cut *c, struct cut_range of)
{
	struct blk_batch b;
	struct cut_range found = { 0 }, open = { 0 };
	struct source *s = native_range(c->n, of.from, of.to, 0);

	while (source_next(s, &b, NULL) == SOURCE_OK)
		for (size_t i = 0; i < b.n; i++) {
			if (b.ev[i].row == 0)
				open.from = b.ev[i].ts;
			if (b.ev[i].row == 1 && open.from)
				found = (struct cut_range){ open.from, b.ev[i].ts + 1 };
		}
	source_free(s);
	return found;
}

/* Lets the range begin at a state dump. */
static bool begin_at_dump(struct cut *c)
{
	struct cut_range dump = last_dump(c, (struct cut_range){ c->range.from - c->what->earlier_ns, c->range.from });

	if (dump.from == dump.to)
		return false;
	c->range.from = dump.from;
	c->ret->has_statedump = true;
	return true;
}

/* Finds the first state dump that begins before the range, within the first LIMIT_STATEDUMP_BYTES. */
static void find_dump(struct cut *c)
{
	struct blk_batch b;
	int64_t first, last;
	bool ended = false;

	c->range = (struct cut_range){ c->what->from_ns, c->what->to_ns };
	if (c->what->earlier_ns && begin_at_dump(c))
		return;
	if (!c->what->statedump || !native_bounds(c->n, &first, &last) || first >= c->what->from_ns)
		return;
	last = c->what->from_ns;
	while (native_bytes_between(c->n, first, last) > LIMIT_STATEDUMP_BYTES)
		last = first + (last - first) / 2;
	struct source *s = native_range(c->n, INT64_MIN, last, 0);
	while (!ended && source_next(s, &b, NULL) == SOURCE_OK) {
		for (size_t i = 0; i < b.n && !ended; i++) {
			if (b.ev[i].row == 0 && c->dump.from == c->dump.to)
				c->dump = (struct cut_range){ b.ev[i].ts, b.ev[i].ts + 1 };
			ended = b.ev[i].row == 1 && c->dump.to;
			if (ended)
				c->dump.to = b.ev[i].ts + 1;
		}
	}
	source_free(s);
	if (!ended)
		c->dump = (struct cut_range){ 0 };
	c->ret->has_statedump = ended;
}

/* ---- which packets ---- */

static bool overlaps(const struct native_packet *x, struct cut_range r)
{
	int64_t end = x->end_ns < INT64_MAX - NATIVE_OVERHANG_NS ? x->end_ns + NATIVE_OVERHANG_NS : INT64_MAX;
	return r.from < r.to && x->begin_ns < r.to && end >= r.from;
}

static void select_packet(struct cut *c, const struct native_packet *x)
{
	if (x->p.fault != CTF_WHOLE) {
		c->ret->damaged++;
		return;
	}
	GArray *of_file = g_hash_table_lookup(c->packets, x->file);
	if (!of_file) {
		of_file = g_array_new(FALSE, FALSE, sizeof x->p);
		g_hash_table_insert(c->packets, (void *)x->file, of_file);
	}
	g_array_append_val(of_file, x->p);
	c->ret->from_ns = c->ret->packets ? MIN(c->ret->from_ns, x->begin_ns) : x->begin_ns;
	c->ret->to_ns = c->ret->packets ? MAX(c->ret->to_ns, x->end_ns) : x->end_ns;
	c->ret->packets++;
	c->ret->bytes += x->p.packet_bits / 8;
}

static bool same_clock(const struct native_stream *x, const struct native_stream *y)
{
	return g_str_equal(x->boot, y->boot) && x->ctf_clock->offset_s == y->ctf_clock->offset_s &&
	       x->ctf_clock->offset == y->ctf_clock->offset;
}

static bool is_chosen(const struct cut *c, const struct native_stream *st)
{
	for (guint i = 0; i < st->files->len; i++)
		if (g_hash_table_contains(c->packets, g_ptr_array_index(st->files, i)))
			return true;
	return false;
}

/* Selects the stream's last whole packet that begins before the end of the range, else its first. */
static void select_nearest(struct cut *c, const struct native_plan_stream *s)
{
	const struct native_packet *nearest = NULL;
	for (size_t k = 0; k < s->n; k++)
		if (s->packet[k].p.fault == CTF_WHOLE &&
		    (!nearest || s->packet[k].begin_ns < c->what->to_ns))
			nearest = &s->packet[k];
	if (nearest)
		select_packet(c, nearest);
}

/* All traces of a boot use the clock offset of one of them (see pin_clocks()). That trace must have a packet in the
 * result, or the instants would differ by microseconds. */
static void select_clock(struct cut *c, guint chosen)
{
	const GPtrArray *streams = c->n->streams;
	const struct native_stream *st = g_ptr_array_index(streams, chosen);
	guint first = 0;
	if (!st->boot[0])
		return;
	while (!g_str_equal(((const struct native_stream *)g_ptr_array_index(streams, first))->boot, st->boot))
		first++;
	g_assert(first <= chosen);
	const struct native_stream *pin = g_ptr_array_index(streams, first);
	PTR_EACH(const struct native_stream, other, streams)
		if (same_clock(other, pin) && is_chosen(c, other))
			return;
	select_nearest(c, &c->n->plan->stream[first]);
}

static void select_packets(struct cut *c)
{
	const struct native_plan *plan = c->n->plan;

	g_hash_table_remove_all(c->packets);
	c->ret->damaged = c->ret->packets = c->ret->bytes = 0;
	for (size_t i = 0; i < plan->n_streams; i++) {
		const struct native_stream *st = g_ptr_array_index(c->n->streams, i);
		bool has_dump = st->info.domain == BLK_DOMAIN_KERNEL;
		for (size_t k = 0; k < plan->stream[i].n; k++) {
			const struct native_packet *x = &plan->stream[i].packet[k];
			if (overlaps(x, c->range) || (has_dump && overlaps(x, c->dump)))
				select_packet(c, x);
		}
	}
	for (guint i = 0; i < c->n->streams->len; i++)
		if (is_chosen(c, g_ptr_array_index(c->n->streams, i)))
			select_clock(c, i);
}

static bool are_true(struct cut *c, GError **error)
{
	TABLE_EACH(each, c->packets) {
		const struct native_file *f = each.key;
		GArray *all = each.value;
		bool fits = true;
		for (guint i = 0; i < all->len && fits && !stopped(c, NULL); i++)
			fits = ctf_index_check(f->index, &g_array_index(all, struct ctf_packet, i), error);
		ctf_index_close_file(f->index);
		if (!fits)
			return false;
	}
	return true;
}

/* Reads all packet headers and ignores the index files. */
static void walk_all(struct native *n)
{
	PTR_EACH(struct native_file, f, n->files) {
		ctf_index_distrust(f->index);
		while (ctf_index_walk(f->index, SIZE_MAX))
			;
		ctf_index_close_file(f->index);
	}
	native_plan_make(n);
}

static bool choose(struct cut *c, GError **error)
{
	select_packets(c);
	if (!are_true(c, NULL) && !stopped(c, NULL)) {
		walk_all(c->n);
		select_packets(c);
		if (!are_true(c, error))
			return false;
	}
	return c->ret->packets || cannot_save(error, c, BLK_TRACE_ERROR_NOT_FOUND,
				       "the trace has no packet in that range");
}

/* ---- names ---- */

/* A name of a path made safe. A changed name gets a hash, so that different names stay different. */
static char *safe_name(const char *name)
{
	g_autofree char *safe = text_filename(name);
	if (g_str_equal(safe, name))
		return g_steal_pointer(&safe);
	return g_strdup_printf("%s-%08x", safe, g_str_hash(name));
}

static char *dir_of(const struct native_file *f)
{
	return g_path_get_dirname(ctf_index_name(f->index));
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n] || (n && dir[n - 1] == '/'));
}

static void find_shared(struct cut *c)
{
	PTR_EACH(const struct native_file, f, c->n->files) {
		if (!g_hash_table_contains(c->packets, f))
			continue;
		g_autofree char *dir = dir_of(f);
		if (!c->shared)
			c->shared = g_strdup(dir);
		while (!is_below(dir, c->shared)) {
			g_autofree char *below = c->shared;
			c->shared = g_path_get_dirname(below);
			if (g_str_equal(below, c->shared)) {	/* "." or "/": they have nothing in common */
				*c->shared = '\0';
				break;
			}
		}
	}
}

static char *place_of(const struct cut *c, const char *dir)
{
	g_assert(g_str_has_prefix(dir, c->shared));
	GString *s = g_string_new(c->making);
	g_auto(GStrv) names = g_strsplit(dir + strlen(c->shared), "/", -1);
	for (char **name = names; *name; name++) {
		if (!**name)
			continue;
		g_autofree char *safe = safe_name(*name);
		g_string_append_printf(s, "/%s", safe);
	}
	return g_string_free(s, FALSE);
}

/* ---- copying ---- */

static bool syncs_at_once(const struct cut *c)
{
	return g_hash_table_size(c->packets) > SYNC_EACH;
}

/* Waits until the file is on disk, unless all files are synchronised together at the end. */
static bool close_file(const struct cut *c, int fd, bool ok)
{
	int number = errno;
	ok = ok && (syncs_at_once(c) || fsync(fd) == 0);
	if (!ok && !number)
		number = errno;
	if (close(fd) != 0 && ok) {
		ok = false;
		number = errno;
	}
	errno = number;
	return ok;
}

/* Copies the metadata file, unless another stream of the trace has done so. */
static bool copy_metadata(struct cut *c, const char *dir, const char *to, GError **error)
{
	g_autofree char *from = g_build_filename(dir, "metadata", NULL);
	g_autofree char *path = g_build_filename(to, "metadata", NULL);
	g_autofree char *bytes = NULL;
	size_t n;

	if (!files_make_dirs(to))
		return fail_disk(error, c);
	int fd = files_create(path);
	if (fd < 0)
		return errno == EEXIST || fail_disk(error, c);
	errno = 0;
	if (!files_read_input(from, LIMIT_METADATA_BYTES, &bytes, &n, error)) {
		close(fd);
		return false;
	}
	c->ret->traces++;
	return close_file(c, fd, disk_write(fd, bytes, n)) || fail_disk(error, c);
}

static bool copy_bytes(struct cut *c, int from, uint64_t offset, uint64_t n, int to, GError **error)
{
	while (n > 0) {
		ssize_t got = pread(from, c->buffer, MIN(n, COPY_AT_ONCE), (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return cannot_save(error, c, BLK_TRACE_ERROR_CORRUPT, got ? g_strerror(errno) :
				    "a stream file became shorter while it was read");
		if (stopped(c, error))
			return false;
		if (!disk_write(to, c->buffer, (size_t)got))
			return fail_disk(error, c);
		offset += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return true;
}

static bool copy_packets(struct cut *c, const struct native_file *f, const GArray *packets, int to,
			 GError **error)
{
	auto_fd from = ctf_index_reopen(f->index);
	bool ok = from >= 0 || fail_disk(error, c);
	for (guint i = 0; ok && i < packets->len; i++) {
		const struct ctf_packet *p = &g_array_index(packets, struct ctf_packet, i);
		ok = copy_bytes(c, from, p->offset, p->packet_bits / 8, to, error);
	}
	return ok;
}

static bool write_index(const struct cut *c, const char *path, const GArray *packets, GError **error)
{
	g_assert(packets->len > 0);
	size_t size = ctf_index_entry_size((const struct ctf_packet *)packets->data);
	g_autofree uint8_t *bytes = g_malloc(CTF_INDEX_HEADER + packets->len * size);
	uint8_t *at = bytes + CTF_INDEX_HEADER;
	uint64_t offset = 0;

	ctf_index_put_header(bytes, size);
	for (guint i = 0; i < packets->len; i++, at += size) {
		struct ctf_packet p = g_array_index(packets, struct ctf_packet, i);
		p.offset = offset;
		offset += p.packet_bits / 8;
		ctf_index_put_entry(at, size, &p);
	}
	int fd = files_create(path);
	errno = fd < 0 ? errno : 0;
	return (fd >= 0 && close_file(c, fd, disk_write(fd, bytes, (size_t)(at - bytes)))) ||
	       fail_disk(error, c);
}

static bool copy_file(struct cut *c, const struct native_file *f, const GArray *packets,
		      GError **error)
{
	g_autofree char *dir = dir_of(f);
	g_autofree char *to = place_of(c, dir);
	g_autofree char *base = g_path_get_basename(ctf_index_name(f->index));
	g_autofree char *name = safe_name(base);
	g_autofree char *path = g_build_filename(to, name, NULL);
	g_autofree char *index_dir = g_build_filename(to, "index", NULL);
	g_autofree char *index = g_strconcat(index_dir, "/", name, ".idx", NULL);

	if (!copy_metadata(c, dir, to, error))
		return false;
	int fd = files_create(path);
	if (fd < 0)
		return fail_disk(error, c);
	bool ok = copy_packets(c, f, packets, fd, error);
	errno = 0;
	if (!close_file(c, fd, ok))
		return ok ? fail_disk(error, c) : false;
	c->ret->streams++;
	return (files_make_dirs(index_dir) || fail_disk(error, c)) &&
	       write_index(c, index, packets, error);
}

static bool copy_all(struct cut *c, GError **error)
{
	PTR_EACH(const struct native_file, f, c->n->files) {
		const GArray *packets = g_hash_table_lookup(c->packets, f);
		if (packets && !copy_file(c, f, packets, error))
			return false;
	}
	return true;
}

/* ---- all of it ---- */

static bool make_and_rename(struct cut *c, GError **error)
{
	struct files_output o;

	if (files_exists(c->ret->path)) {
		errno = EEXIST;
		return fail_disk(error, c);
	}
	if (!files_output_begin_dir(c->ret->path, &o))
		return fail_disk(error, c);
	c->making = g_strdup(o.path);
	bool ok = copy_all(c, error);
	if (ok && syncs_at_once(c))
		ok = files_sync_all(c->making) || fail_disk(error, c);
	if (!ok) {
		files_output_discard(&o);
		return false;
	}
	files_sync_dir(c->making);
	return files_output_commit(&o, false) || fail_disk(error, c);
}

static void free_packets(void *packets)
{
	g_array_unref(packets);
}

bool trace_cut_write(const struct trace_cut *cut, struct trace_cut_result *ret, GError **error)
{
	struct cut c = { .what = cut, .ret = ret };
	size_t n_warnings;

	*ret = (struct trace_cut_result){ .path = g_canonicalize_filename(cut->to, NULL) };
	c.n = native_open(cut->paths, dump_rows, G_N_ELEMENTS(dump_rows), error);
	bool ok = c.n != NULL;
	if (ok) {
		c.packets = g_hash_table_new_full(NULL, NULL, NULL, free_packets);
		c.buffer = g_malloc(COPY_AT_ONCE);
		while (native_index(c.n, SIZE_MAX))
			;
		native_warnings(c.n, &n_warnings);
		ret->unreadable = (unsigned)n_warnings;
		find_dump(&c);
		ok = choose(&c, error);
		if (ok) {
			find_shared(&c);
			ok = make_and_rename(&c, error);
		}
		g_hash_table_unref(c.packets);
	}
	native_free(c.n);
	g_free(c.buffer);
	g_free(c.shared);
	g_free(c.making);
	if (!ok)
		g_clear_pointer(&ret->path, g_free);
	return ok;
}
