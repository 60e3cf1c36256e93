/* SPDX-License-Identifier: GPL-2.0-only */
/* The container of slice files: see slice_file.h. */
#include "state/slice/slice_file.h"

#include "base/deflate.h"
#include "base/disk.h"
#include "base/fail.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/limits.h"
#include "state/kernel/feed.h"
#include "state/slice/pack.h"
#include "state/slice/slice_code.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The header has fixed sizes, numbers are little-endian:
 *
 *     0	8 bytes		"BLKSLICE"
 *     8	u32		version
 *     12	u32		number of sections
 *     16	SECTION_BYTES	of each section: u64 offset, u64 length in the file, u64 length, u32 checksum of
 *				its bytes in the file, u32 0
 *     ...	u32		checksum of all of the above
 *
 * A section is compressed if its two lengths differ. The bytes of packs (pack.h) follow the last section, in the order
 * in which it names them.
 */
#define MAGIC "BLKSLICE"
#define MAGIC_BYTES 8
#define SECTION_BYTES 32

typedef void (*section_code)(struct coder *c, struct slice *s, struct slice_counts *n);
static const struct {
	const char *name;
	section_code code;
	bool inside;		/* its instants are within the coverage */
} sections[] = {
	{ "summary", code_summary, false }, { "hosts", code_hosts, false }, { "strings", code_strings, false },
	{ "threads", code_threads, true }, { "CPUs", code_cpus, true }, { "logs", code_logs, true },
	{ "seconds", packs_code, true },
};
#define SUMMARY_SECTIONS 2		/* what has to be known before slices are merged */
#define SECTIONS G_N_ELEMENTS(sections)
#define HEADER_BYTES (MAGIC_BYTES + 8 + SECTIONS * SECTION_BYTES + 4)

#define ERROR_QUARK g_quark_from_static_string("blk-slice-file")

static void put_le(uint8_t *to, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t get_le(const uint8_t *from, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)from[i] << 8 * i;
	return v;
}

/* ---- writing ---- */

static void source_free(gpointer p)
{
	g_free(((struct slice_source *)p)->name);
	g_free(p);
}

void slice_piece_add(struct slice_piece *p, const char *name, int64_t from, int64_t to)
{
	const struct slice_source x = { g_strdup(name), from, to };

	if (!p->sources)
		p->sources = g_ptr_array_new_with_free_func(source_free);
	g_ptr_array_add(p->sources, g_memdup2(&x, sizeof x));
}

void slice_piece_clear(struct slice_piece *p)
{
	if (p->sources)
		g_ptr_array_unref(p->sources);
	*p = (struct slice_piece){ 0 };
}

/* What is written: `head` has the header and the sections, then come packs. */
struct output {
	GByteArray *head;
	GPtrArray *packs;		/* struct pack *: those of the slice, then .last */
	struct pack *last;		/* what was outside of packs; or NULL */
	GArray *pending;		/* of .last; or NULL */
	uint64_t size;			/* bytes */
};

static void output_clear(struct output *o)
{
	g_clear_pointer(&o->head, g_byte_array_unref);
	g_clear_pointer(&o->packs, g_ptr_array_unref);
	g_clear_pointer(&o->last, pack_free);
	g_clear_pointer(&o->pending, g_array_unref);
}

static GByteArray *encode_section(size_t i, struct slice *s, struct slice_counts *n, const char **ret_fault)
{
	GByteArray *bytes = g_byte_array_new();
	struct coder c = { .out = bytes };

	coder_columns_begin(&c);
	sections[i].code(&c, s, n);
	coder_columns_end(&c);
	coder_bound(&c, LIMIT_SLICE_BYTES);
	*ret_fault = c.fault;
	return bytes;
}

/* The sections' bytes. From the last to the first one: the strings that are used are known at the end. */
static const char *encode_sections(struct slice *s, const struct slice_piece *piece, const struct output *o,
				   GByteArray *ret[SECTIONS])
{
	struct slice_piece copy = *piece;
	struct coder_ids used;
	struct slice_counts n = {
		.piece = &copy, .used_strings = &used, .last = o->last, .pending = o->pending,
	};
	const char *fault = NULL;

	count_ids(s, &n);
	coder_ids_init(&used, n.strings);
	for (size_t i = SECTIONS; i-- > 0 && !fault;)
		ret[i] = encode_section(i, s, &n, &fault);
	coder_ids_clear(&used);
	return fault;
}

static void append_section(GByteArray *out, size_t i, const GByteArray *bytes)
{
	guint at = out->len;

	pack_compress(out, bytes->data, bytes->len);
	uint8_t *row = out->data + MAGIC_BYTES + 8 + i * SECTION_BYTES;
	put_le(row, at, 8);
	put_le(row + 8, out->len - at, 8);
	put_le(row + 16, bytes->len, 8);
	put_le(row + 24, pack_checksum(out->data + at, out->len - at), 4);
}

static void append_sections(GByteArray *out, GByteArray *const bytes[SECTIONS])
{
	g_byte_array_set_size(out, HEADER_BYTES);
	memset(out->data, 0, HEADER_BYTES);
	for (size_t i = 0; i < SECTIONS; i++)
		append_section(out, i, bytes[i]);
	memcpy(out->data, MAGIC, MAGIC_BYTES);
	put_le(out->data + MAGIC_BYTES, SLICE_FILE_VERSION, 4);
	put_le(out->data + MAGIC_BYTES + 4, SECTIONS, 4);
	put_le(out->data + HEADER_BYTES - 4, pack_checksum(out->data, HEADER_BYTES - 4), 4);
}

static void list_packs(const struct slice *s, struct output *o)
{
	o->packs = g_ptr_array_new();
	for (uint32_t i = 0; i < packs_n(&s->packs); i++)
		g_ptr_array_add(o->packs, pack_at(&s->packs, i));
	if (o->last)
		g_ptr_array_add(o->packs, o->last);
	for (guint i = 0; i < o->packs->len; i++)
		o->size += ((const struct pack *)g_ptr_array_index(o->packs, i))->stored;
}

static bool make_output(struct slice *s, const struct slice_piece *piece, struct output *ret, GError **error)
{
	GByteArray *bytes[SECTIONS] = { NULL };
	GError *why = NULL;
	const char *fault = NULL;

	g_assert(!s->from_start && !s->live);
	slice_flush(s);
	*ret = (struct output){ .head = g_byte_array_new() };
	ret->last = pack_of(s, &ret->pending, &why);
	if (!why)
		fault = encode_sections(s, piece, ret, bytes);
	if (!why && !fault) {
		append_sections(ret->head, bytes);
		list_packs(s, ret);
		ret->size += ret->head->len;
		fault = ret->size > LIMIT_SLICE_BYTES ? "it is too large" : NULL;
	}
	if (fault)
		g_set_error(&why, ERROR_QUARK, 0, "the slice cannot be written: %s", fault);
	for (size_t i = 0; i < SECTIONS; i++)
		g_clear_pointer(&bytes[i], g_byte_array_unref);
	if (!why)
		return true;
	g_propagate_error(error, why);
	output_clear(ret);
	return false;
}

bool slice_file_write(struct slice *s, const struct slice_piece *piece, int fd, uint64_t *ret_size, GError **error)
{
	struct output o;

	if (!make_output(s, piece, &o, error))
		return false;
	bool ok = disk_write(fd, o.head->data, o.head->len);
	for (guint i = 0; ok && i < o.packs->len; i++) {
		const struct pack *p = g_ptr_array_index(o.packs, i);
		g_autofree uint8_t *bytes = pack_read(p, error);
		ok = bytes && disk_write(fd, bytes, p->stored);
	}
	*ret_size = o.size;
	output_clear(&o);
	return ok;
}

/* ---- reading ---- */

static bool refuse(GError **error, const char *why)
{
	return fail(error, ERROR_QUARK, 0, "not a slice that can be read: %s (blktop map makes it again from its "
		    "packets)", why);
}

struct stored {
	int fd;
	uint64_t size;
};

static bool check_header(const uint8_t *h, GError **error)
{
	uint64_t version = get_le(h + MAGIC_BYTES, 4);

	if (memcmp(h, MAGIC, MAGIC_BYTES) != 0)
		return refuse(error, "it does not begin with " MAGIC);
	if (version != SLICE_FILE_VERSION)
		return fail(error, ERROR_QUARK, 0, "a slice of version %u; this blktop reads version %u",
			    (unsigned)version, SLICE_FILE_VERSION);
	if (get_le(h + MAGIC_BYTES + 4, 4) != SECTIONS)
		return refuse(error, "its header has another number of sections");
	return get_le(h + HEADER_BYTES - 4, 4) == pack_checksum(h, HEADER_BYTES - 4) ||
		refuse(error, "its header is damaged");
}

/* The bytes of a section; `row`: its entry in the header, *at: where it begins. NULL: *error. */
static uint8_t *section_bytes(const struct stored *in, const uint8_t *row, uint64_t *at, size_t *ret_n, GError **error)
{
	uint64_t offset = get_le(row, 8), stored = get_le(row + 8, 8), n = get_le(row + 16, 8);

	if (offset != *at || offset > in->size || stored > in->size - offset || n < stored || n > LIMIT_SLICE_BYTES ||
	    n / DEFLATE_RATIO > stored)
		return refuse(error, "its sections do not follow each other"), NULL;
	if (n > slice_room())
		return refuse(error, CODER_NO_ROOM), NULL;
	*at += stored;
	*ret_n = n;
	g_autofree uint8_t *bytes = g_malloc(stored + 1);
	if (!pack_read_at(in->fd, bytes, stored, offset, error))
		return NULL;
	if (get_le(row + 24, 4) != pack_checksum(bytes, stored))
		return refuse(error, "the checksum of a section is another one"), NULL;
	uint8_t *all = pack_restore(g_steal_pointer(&bytes), stored, n);
	if (!all)
		refuse(error, "a section is not compressed as it should be");
	return all;
}

/* Reads and checks a section; arguments as section_bytes(). */
static bool read_section(const struct stored *in, size_t i, const uint8_t *row, uint64_t *at, struct slice *s,
			 struct slice_counts *n, GError **error)
{
	size_t len = 0;
	g_autofree uint8_t *bytes = section_bytes(in, row, at, &len, error);
	uint64_t before = slice_room(), room = before;
	struct coder c = { .at = bytes, .end = bytes + len, .first = s->first, .last = s->last, .room = &room };

	c.seq_end = s->seq + (i > 0);		/* the summary has s->seq */
	if (sections[i].inside)
		code_bounds(&c);
	if (bytes) {
		coder_columns_begin(&c);
		sections[i].code(&c, s, n);
		coder_columns_end(&c);
	}
	if (bytes && c.at != c.end)
		coder_refuse(&c, "it is too long");
	slice_take(s, (gssize)(before - room));
	if (bytes && c.fault)
		refuse(error, c.fault);
	g_prefix_error(error, "section '%s': ", sections[i].name);
	return bytes && !c.fault;
}

static bool read_header(const struct stored *in, uint8_t *header, GError **error)
{
	return pack_read_at(in->fd, header, MAGIC_BYTES + 8, 0, error) &&
		(get_le(header + MAGIC_BYTES, 4) != SLICE_FILE_VERSION ||
		 pack_read_at(in->fd, header, HEADER_BYTES, 0, error)) &&
		check_header(header, error);
}

/* Where the packs' bytes are, which follow the sections from `at` on: in the file of the path, or (NULL) in the open
 * one. */
static bool place_packs(const struct stored *in, struct slice *s, const char *path, uint64_t at, GError **error)
{
	g_autoptr(GRefString) name = path ? g_ref_string_new(path) : NULL;

	for (uint32_t i = 0; i < packs_n(&s->packs); i++) {
		struct pack *p = pack_at(&s->packs, i);
		if (!p->stored || at > in->size || p->stored > in->size - at)
			return refuse(error, "it is cut off");
		p->path = name ? g_ref_string_acquire(name) : NULL;
		p->fd = in->fd;
		p->offset = at;
		at += p->stored;
	}
	return at == in->size || refuse(error, "it is too long");
}

/* Checks what is known when all sections were read; reads the packs, unless the path is given. */
static bool finish_reading(const struct stored *in, struct slice *s, const char *path, uint64_t at, GError **error)
{
	uint64_t n_bins = packs_n_bins(&s->packs);

	if (!code_coverage_fits(s, n_bins))
		return refuse(error, "its coverage is longer than its seconds");
	if (place_packs(in, s, path, at, error) && (path || slice_unpack(s, error)))
		return true;
	g_prefix_error(error, "section 'seconds': ");
	return false;
}

/* Reads the first `n_sections` sections. If these are all, the rest: see finish_reading(). */
static struct slice *read_sections(const struct stored *in, size_t n_sections, const char *path,
				   struct slice_piece *piece, GError **error)
{
	uint8_t header[HEADER_BYTES] = { 0 };
	struct slice_counts n = { .piece = piece };
	uint64_t at = HEADER_BYTES;

	if (!read_header(in, header, error))
		return NULL;
	struct slice *s = slice_new(false, 1);
	bool ok = true;
	slice_take(s, -(gssize)(in->size * LIMIT_SLICE_RATIO));
	for (size_t i = 0; i < n_sections && ok; i++) {
		const uint8_t *row = header + MAGIC_BYTES + 8 + i * SECTION_BYTES;
		ok = read_section(in, i, row, &at, s, &n, error);
	}
	if (ok && n_sections == SECTIONS)
		ok = finish_reading(in, s, path, at, error);
	if (ok)
		return s;
	slice_free(s);
	return NULL;
}

static bool find_stored(int fd, struct stored *ret, GError **error)
{
	struct stat st = { 0 };

	if (fstat(fd, &st) != 0 || st.st_size > LIMIT_SLICE_BYTES)
		return refuse(error, "it is too large");
	*ret = (struct stored){ fd, (uint64_t)st.st_size };
	return true;
}

static struct slice *read_file(int fd, size_t n_sections, const char *path, struct slice_piece *ret_piece,
			       GError **error)
{
	struct slice_piece piece = { 0 };
	struct stored in = { .fd = -1 };
	struct slice *s = find_stored(fd, &in, error) ? read_sections(&in, n_sections, path, &piece, error) : NULL;

	if (s && ret_piece)
		*ret_piece = piece;
	else
		slice_piece_clear(&piece);
	return s;
}

struct slice *slice_file_read(int fd, struct slice_piece *ret_piece, GError **error)
{
	return read_file(fd, SECTIONS, NULL, ret_piece, error);
}

bool slice_file_is(const char *path)
{
	char magic[MAGIC_BYTES];
	auto_fd fd = files_open_input(path, NULL);

	return fd >= 0 && pread(fd, magic, sizeof magic, 0) == sizeof magic && !memcmp(magic, MAGIC, sizeof magic);
}

struct slice *slice_file_open(const char *path, enum slice_part what, struct slice_piece *ret_piece, GError **error)
{
	auto_fd fd = files_open_input(path, error);

	if (fd < 0)
		return NULL;
	struct slice *s = what == SLICE_ALL ? slice_file_read(fd, ret_piece, error) :
		read_file(fd, what == SLICE_SUMMARY ? SUMMARY_SECTIONS : SECTIONS, path, ret_piece, error);
	if (!s)
		g_prefix_error(error, "%s: ", path);
	return s;
}

#define NAMED_SOURCES 3

bool slice_file_has_events(const char *path, GError **error)
{
	struct slice_piece piece = { 0 };

	if (!slice_file_is(path))
		return true;
	struct slice *s = slice_file_open(path, SLICE_SUMMARY, &piece, error);
	if (s) {
		g_autoptr(GString) names = g_string_new(NULL);
		for (guint i = 0; i < MIN(piece.sources->len, NAMED_SOURCES); i++)
			g_string_append_printf(names, "%s%s", i ? ", " : "",
					       ((struct slice_source *)g_ptr_array_index(piece.sources, i))->name);
		if (piece.sources->len > NAMED_SOURCES)
			g_string_append_printf(names, " and %u more", piece.sources->len - NAMED_SOURCES);
		g_set_error(error, ERROR_QUARK, 0, "%s is a slice file, which has no single events: they are in %s "
			    "(--chunks DIR)", path, names->str);
	}
	slice_free(s);
	slice_piece_clear(&piece);
	return false;
}

bool slice_file_is_history(const char *path, int64_t *ret_step)
{
	struct slice_piece piece = { 0 };
	struct slice *s = slice_file_is(path) ? slice_file_open(path, SLICE_SUMMARY, &piece, NULL) : NULL;
	bool is = s && s->history;

	if (is)
		*ret_step = s->step;
	slice_free(s);
	slice_piece_clear(&piece);
	return is;
}
