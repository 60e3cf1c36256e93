/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slice files of any bytes: each is refused with a reason, or it can be merged with its neighbour (decoded, or with
 * packs) and with the same slice of another machine, folded to history, shown, and written again. Offsets, lengths and
 * checksums are made right first, so that what is examined is what sections and packs contain.
 *
 * Input: one slice file, or two neighbouring ones behind each other, as pieces without compression: the sections, then
 * the strings and the rest of a pack. Their lengths come first (3 bytes each). If a file names several packs, all have
 * these bytes.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzzer.h"
#include "lib/inspect.h"
#include "lib/slices.h"
#include "state/kernel/slice_state.h"
#include "state/publish/model.h"
#include "state/slice/pack.h"
#include "state/slice/slice_file.h"
#include "state/slice/slice_history.h"

#define SECTIONS 7
#define SECONDS (SECTIONS - 1)	/* the section that names packs */
#define STRINGS SECTIONS	/* pieces of the pack */
#define REST (STRINGS + 1)
#define PIECES (REST + 1)
#define LENGTH 3		/* bytes of a length in the input */
#define LENGTHS (PIECES * LENGTH)
#define ROWS 16			/* in a slice file: where the rows of sections begin */
#define ROW 32
#define HEADER (ROWS + SECTIONS * ROW + 4)
#define MOST_PACKS 3
#define FILES 2
#define MOST_CELLS 10000	/* that may be made of quiet times */

struct layout {			/* offsets in the input */
	unsigned n_files;
	size_t header[FILES], at[FILES][PIECES], len[FILES][PIECES];
};

static size_t get(const uint8_t *from, unsigned n)
{
	size_t v = 0;
	for (unsigned i = 0; i < n; i++)
		v |= (size_t)from[i] << 8 * i;
	return v;
}

static void put(uint8_t *to, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

/* Where files and pieces are. Of lengths only those count that fit; the last piece has the rest. */
static void find_pieces(const uint8_t *data, size_t size, struct layout *ret)
{
	size_t at = 0;
	*ret = (struct layout){ 0 };
	while (ret->n_files < FILES && size - at >= LENGTHS) {
		unsigned k = ret->n_files++;
		const uint8_t *lengths = data + at;
		ret->header[k] = at;
		at += LENGTHS;
		for (unsigned i = 0; i < PIECES; i++) {
			ret->at[k][i] = at;
			ret->len[k][i] = MIN(get(lengths + i * LENGTH, LENGTH), size - at);
			at += ret->len[k][i];
		}
	}
	if (ret->n_files)
		ret->len[ret->n_files - 1][PIECES - 1] += size - at;
}

/* ---- mutations ---- */

/* A piece is mutated in place; it has room for `room` bytes. */
struct piece {
	uint8_t *bytes;
	size_t len, room;
};

/* Numbers of 7 bits a byte: where that of a random place begins and ends. */
static size_t find_number(GRand *r, const struct piece *p, size_t *ret_end)
{
	size_t at = g_rand_int(r) % p->len, end = at;
	while (at > 0 && p->bytes[at - 1] & 0x80)
		at--;
	while (end + 1 < p->len && p->bytes[end] & 0x80)
		end++;
	*ret_end = end + 1;
	return at;
}

static uint64_t number_at(const struct piece *p, size_t at, size_t end)
{
	uint64_t v = 0;
	for (unsigned shift = 0; at < end && shift < 64; at++, shift += 7)
		v |= (uint64_t)(p->bytes[at] & 0x7f) << shift;
	return v;
}

static uint64_t other_number(GRand *r, const struct piece *p, uint64_t v)
{
	size_t end, at;
	switch (g_rand_int_range(r, 0, 8)) {
	case 0:
		return 0;
	case 1:
		return (UINT64_C(1) << g_rand_int_range(r, 0, 64)) - (uint64_t)g_rand_int_range(r, 0, 3);
	case 2:
		return g_rand_int(r) % 16;
	case 3:
	case 4:
		at = find_number(r, p, &end);
		return number_at(p, at, end);
	default:
		return v + (uint64_t)g_rand_int_range(r, -4, 5);
	}
}

/* Replaces [at, end) by n bytes. */
static void replace(struct piece *p, size_t at, size_t end, const uint8_t *bytes, size_t n)
{
	if (p->len - (end - at) + n > p->room)
		return;
	memmove(p->bytes + at + n, p->bytes + end, p->len - end);
	memcpy(p->bytes + at, bytes, n);
	p->len = p->len - (end - at) + n;
}

static void change_number(GRand *r, struct piece *p)
{
	size_t end, at = find_number(r, p, &end), n = 0;
	uint8_t bytes[10];
	uint64_t v = other_number(r, p, number_at(p, at, end));
	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	replace(p, at, end, bytes, n);
}

/* Some numbers are removed, or come a second time, or come instead of others. */
static void move_numbers(GRand *r, struct piece *p)
{
	size_t end, at = find_number(r, p, &end), to_end, to = find_number(r, p, &to_end);
	size_t more = g_rand_int(r) % 32;
	end = MIN(p->len, end + more);
	g_autofree uint8_t *some = g_memdup2(p->bytes + at, end - at);
	switch (g_rand_int_range(r, 0, 3)) {
	case 0:
		replace(p, at, end, some, 0);
		break;
	case 1:
		replace(p, to, to, some, end - at);
		break;
	default:
		replace(p, to, MIN(p->len, to + (end - at)), some, end - at);
	}
}

static void mutate_piece(GRand *r, struct piece *p)
{
	if (!p->len) {
		p->len = MIN(p->room, 1);
		memset(p->bytes, 0, p->len);
	} else if (g_rand_int_range(r, 0, 8) < 6) {
		change_number(r, p);
	} else if (g_rand_boolean(r)) {
		move_numbers(r, p);
	} else {
		p->len = LLVMFuzzerMutate(p->bytes, p->len, p->room);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	g_autoptr(GRand) r = g_rand_new_with_seed(seed);
	struct layout where;
	find_pieces(data, size, &where);
	if (!where.n_files)
		return LLVMFuzzerMutate(data, size, max_size);
	for (int n = g_rand_int_range(r, 1, 4); n > 0; n--) {
		unsigned k = g_rand_int(r) % where.n_files, i = g_rand_int(r) % PIECES;
		size_t at = where.at[k][i], len = where.len[k][i];
		struct piece p = { g_malloc0(len + max_size - size + 1), len, len + max_size - size };
		memcpy(p.bytes, data + at, len);
		mutate_piece(r, &p);
		memmove(data + at + p.len, data + at + len, size - at - len);
		memcpy(data + at, p.bytes, p.len);
		size = size - len + p.len;
		g_free(p.bytes);
		put(data + where.header[k] + i * LENGTH, p.len, LENGTH);
		find_pieces(data, size, &where);
	}
	return size;
}

/* ---- the target ---- */

static unsigned n_inputs, n_read, n_merged;

static void print_counts(void)
{
	fprintf(stderr, "%u inputs: %u read, %u merged\n", n_inputs, n_read, n_merged);
}

static void append_number(GByteArray *out, uint64_t v)
{
	uint8_t bytes[10];
	unsigned n = 0;
	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	g_byte_array_append(out, bytes, n);
}

static uint64_t next_number(const uint8_t **at, const uint8_t *end)
{
	uint64_t v = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return v;
}

/* The columns of rows of packs that have lengths and checksums. */
enum { COLUMN_STORED = 64, COLUMN_SIZE, COLUMN_CHECKSUM, COLUMN_AFTER };

/* number: with the bit that says whether the column is divided. */
static bool is_renewed(uint64_t number)
{
	return number / 2 >= COLUMN_STORED && number / 2 < COLUMN_AFTER;
}

/* Appends the section that names packs, with those of the pack. Returns how many packs it names; 0: its columns are
 * wrong, and it is as it was. */
static size_t append_seconds(GByteArray *out, const uint8_t *bytes, size_t n, const GByteArray *pack)
{
	const uint8_t *at = bytes, *end = bytes + n;
	uint64_t columns = next_number(&at, end), number[64], len[64], n_values[64];
	uint64_t sum = 0, n_old = 0;
	for (uint64_t i = 0; i < columns && i < G_N_ELEMENTS(number); i++) {
		number[i] = next_number(&at, end);
		len[i] = next_number(&at, end);
		n_values[i] = number[i] % 2 ? next_number(&at, end) : 0;
		sum += len[i] < n ? len[i] : n;
		n_old += is_renewed(number[i]);
	}
	if (columns > G_N_ELEMENTS(number) || sum > (size_t)(end - at)) {
		g_byte_array_append(out, bytes, (guint)n);
		return 0;
	}
	const uint8_t *columns_at = end - sum;
	uint64_t named = next_number(&at, columns_at), n_packs = MIN(named, MOST_PACKS);
	GByteArray *fresh[COLUMN_AFTER - COLUMN_STORED] = { g_byte_array_new(), g_byte_array_new(), g_byte_array_new() };
	for (uint64_t i = 0; i < n_packs; i++) {
		append_number(fresh[0], pack->len);
		append_number(fresh[1], pack->len);
		append_number(fresh[2], pack_checksum(pack->data, pack->len));
	}
	unsigned n_fresh = n_packs ? G_N_ELEMENTS(fresh) : 0;
	append_number(out, columns - n_old + n_fresh);
	for (unsigned i = 0; i < n_fresh; i++) {
		append_number(out, 2 * (COLUMN_STORED + i));
		append_number(out, fresh[i]->len);
	}
	for (uint64_t i = 0; i < columns; i++)
		if (!is_renewed(number[i])) {
			append_number(out, number[i]);
			append_number(out, len[i]);
			if (number[i] % 2)
				append_number(out, n_values[i]);
		}
	append_number(out, n_packs);
	g_byte_array_append(out, at, (guint)(columns_at - at));
	for (unsigned i = 0; i < n_fresh; i++)
		g_byte_array_append(out, fresh[i]->data, fresh[i]->len);
	for (uint64_t i = 0; i < columns; columns_at += len[i++])
		if (!is_renewed(number[i]))
			g_byte_array_append(out, columns_at, (guint)len[i]);
	for (unsigned i = 0; i < G_N_ELEMENTS(fresh); i++)
		g_byte_array_unref(fresh[i]);
	return n_packs;
}

/* File k of the input as a descriptor, with a header that fits. */
static int repaired(const uint8_t *data, const struct layout *where, unsigned k)
{
	g_autoptr(GByteArray) file = g_byte_array_new(), pack = g_byte_array_new();
	uint8_t length[4];
	put(length, where->len[k][STRINGS], sizeof length);
	g_byte_array_append(pack, length, sizeof length);
	g_byte_array_append(pack, data + where->at[k][STRINGS], (guint)(where->len[k][STRINGS] + where->len[k][REST]));
	g_byte_array_set_size(file, HEADER);
	memset(file->data, 0, HEADER);
	size_t n_packs = 0;
	for (unsigned i = 0; i < SECTIONS; i++) {
		size_t at = file->len;
		if (i == SECONDS)
			n_packs = append_seconds(file, data + where->at[k][i], where->len[k][i], pack);
		else
			g_byte_array_append(file, data + where->at[k][i], (guint)where->len[k][i]);
		uint8_t *row = file->data + ROWS + i * ROW;
		put(row, at, 8);
		put(row + 8, file->len - at, 8);
		put(row + 16, file->len - at, 8);		/* not compressed */
		put(row + 24, pack_checksum(file->data + at, file->len - at), 4);
	}
	for (size_t i = 0; i < n_packs; i++)
		g_byte_array_append(file, pack->data, pack->len);
	memcpy(file->data, "BLKSLICE", 8);
	put(file->data + 8, SLICE_FILE_VERSION, 4);
	put(file->data + 12, SECTIONS, 4);
	put(file->data + HEADER - 4, pack_checksum(file->data, HEADER - 4), 4);
	int fd = memfd_create("slice", MFD_CLOEXEC);
	g_assert_cmpint(write(fd, file->data, file->len), ==, (ssize_t)file->len);
	return fd;
}

/* Refused is only what sections and packs contain: what is around them was made right. */
static void check_refused(const GError *error)
{
	g_assert_nonnull(error);
	g_assert_cmpuint(strlen(error->message), >, 10);
	g_assert_true(g_str_has_prefix(error->message, "section '") || strstr(error->message, "its coverage"));
	g_assert_null(strstr(error->message, "checksum"));
	g_assert_null(strstr(error->message, "do not follow each other"));
}

static struct slice *read_file(int fd, struct slice_piece *ret_piece)
{
	g_autoptr(GError) error = NULL;
	struct slice *s = slice_file_read(fd, ret_piece, &error);
	if (s)
		g_assert_no_error(error);
	else
		check_refused(error);
	return s;
}

/* What was read can be written, and that is read as the same. What was merged of pieces that contradict each other can
 * be refused, too. */
static void check_written(struct slice *s, const struct slice_piece *piece, bool merged)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = slices_bytes(s, piece, &error);
	if (merged && error) {
		g_assert_true(g_str_has_prefix(error->message, "the slice cannot be written: "));
		return;
	}
	g_assert_no_error(error);
	int fd = memfd_create("again", MFD_CLOEXEC);
	g_assert_cmpint(write(fd, bytes->data, bytes->len), ==, (ssize_t)bytes->len);
	struct slice *b = slice_file_read(fd, NULL, &error);
	if (!merged)
		g_assert_no_error(error);
	close(fd);
	slice_free(b);
}

/* With packs as they are, or decoded first. NULL: they are refused. */
static struct slice *merge(const int fds[FILES], bool packed)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *one = g_strdup_printf("/proc/self/fd/%d", fds[0]), *two = g_strdup_printf("/proc/self/fd/%d", fds[1]);
	const char *const both[] = { one, two, NULL };
	struct slice_piece piece = { 0 };
	struct slice *s = (packed ? slice_file_merge_packed : slice_file_merge)(both, &piece, NULL, &error);
	if (s) {
		g_assert_no_error(error);
		check_written(s, &piece, true);
		n_merged++;
	} else {
		g_assert_cmpuint(strlen(error->message), >, 10);
	}
	slice_piece_clear(&piece);
	if (s && packed && !slice_unpack(s, NULL))
		slice_free(g_steal_pointer(&s));
	return s;
}

static void rename_text(char **text)
{
	g_autofree char *old = *text;
	*text = g_strdup_printf("other %s", old);
}

/* NULL: it was merged of pieces that contradict each other, and is refused: see check_written(). */
static struct slice *copy_of(struct slice *s)
{
	const struct slice_piece whole = { .from = INT64_MIN, .to = INT64_MAX };
	g_autoptr(GByteArray) bytes = slices_bytes(s, &whole, NULL);
	if (!bytes)
		return NULL;
	int fd = memfd_create("copy", MFD_CLOEXEC);
	g_assert_cmpint(write(fd, bytes->data, bytes->len), ==, (ssize_t)bytes->len);
	struct slice *copy = slice_file_read(fd, NULL, NULL);
	close(fd);
	return copy;
}

/* Merges it with the same slice of another machine. */
static struct slice *unite(struct slice *s)
{
	struct slice *other = copy_of(s);
	for (guint i = 0; other && i < other->hosts->len; i++) {
		rename_text(&g_array_index(other->hosts, struct slice_host, i).name);
		rename_text(&g_array_index(other->hosts, struct slice_host, i).boot);
	}
	if (other && slice_unite_cells(s, other) < MOST_CELLS)
		return slice_unite(s, other);
	slice_free(other);
	return s;
}

/* Publishes what a trace would be that begins with it. */
static void finish(struct slice *s)
{
	s = slice_root(s);
	publication_free(slice_finish(s));
	slice_free(s);
}

/* Shows it: as it is, with another machine, and as history. */
static void show(struct slice *s)
{
	struct slice *old = s ? copy_of(s) : NULL, *history = NULL;
	if (old && slice_fold(old, SLICE_HISTORY_STEP)) {
		slice_thin(old, s->threads->len % 3, s->threads->len % 2, s->hosts->len % 2);
		history = copy_of(old);
	}
	slice_free(old);
	if (history)
		finish(history);
	if (s)
		finish(unite(s));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	atexit(print_counts);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct layout where;
	int fds[FILES] = { -1, -1 };
	bool all = true;
	if (size > 1 << 20)
		return 0;
	find_pieces(data, size, &where);
	for (unsigned k = 0; k < where.n_files; k++) {
		struct slice_piece piece = { 0 };
		fds[k] = repaired(data, &where, k);
		struct slice *s = read_file(fds[k], &piece);
		if (s)
			check_written(s, &piece, false);
		all = all && s;
		slice_piece_clear(&piece);
		show(s);
	}
	n_inputs++;
	n_read += all && where.n_files;
	for (int packed = 0; all && where.n_files == FILES && packed < 2; packed++)
		show(merge(fds, packed));
	for (unsigned k = 0; k < FILES; k++)
		if (fds[k] >= 0)
			close(fds[k]);
	return 0;
}
