/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slice files of any bytes: each is refused with a reason, or it can be merged with its neighbour and with the same
 * slice of another machine, folded to history, shown, and written again. Offsets, lengths and checksums are made right
 * first, so that what is examined is what sections contain.
 *
 * Input: one slice file, or two neighbouring ones behind each other, without compression.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzzer.h"
#include "lib/inspect.h"
#include "state/slice/slice_file.h"
#include "state/slice/slice_history.h"
#include "state/slice/slice_state.h"

#define SECTIONS 7
#define ROWS 16			/* where the rows of sections begin */
#define ROW 32
#define LENGTH 8		/* where a row has the section's length in the file */
#define HEADER (ROWS + SECTIONS * ROW + 4)
#define FILES 2
#define MOST_CELLS 10000	/* that may be made of quiet times */

struct layout {			/* offsets in the input */
	unsigned n_files;
	size_t header[FILES], section[FILES][SECTIONS], len[FILES][SECTIONS];
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

/* Where files and sections are. Of lengths only those count that fit; the last section has the rest. */
static void find_sections(const uint8_t *data, size_t size, struct layout *ret)
{
	size_t at = 0;
	*ret = (struct layout){ 0 };
	while (ret->n_files < FILES && size - at >= HEADER) {
		unsigned k = ret->n_files++;
		const uint8_t *rows = data + at + ROWS;
		ret->header[k] = at;
		at += HEADER;
		for (unsigned i = 0; i < SECTIONS; i++) {
			ret->section[k][i] = at;
			ret->len[k][i] = MIN(get(rows + i * ROW + LENGTH, 3), size - at);
			at += ret->len[k][i];
		}
	}
	if (ret->n_files)
		ret->len[ret->n_files - 1][SECTIONS - 1] += size - at;
}

/* ---- mutations ---- */

/* A section is mutated in place; it has room for `room` bytes. */
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

static void mutate_section(GRand *r, struct piece *p)
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
	find_sections(data, size, &where);
	if (!where.n_files)
		return LLVMFuzzerMutate(data, size, max_size);
	for (int n = g_rand_int_range(r, 1, 4); n > 0; n--) {
		unsigned k = g_rand_int(r) % where.n_files, i = g_rand_int(r) % SECTIONS;
		size_t at = where.section[k][i], len = where.len[k][i];
		struct piece p = { g_malloc0(len + max_size - size + 1), len, len + max_size - size };
		memcpy(p.bytes, data + at, len);
		mutate_section(r, &p);
		memmove(data + at + p.len, data + at + len, size - at - len);
		memcpy(data + at, p.bytes, p.len);
		size = size - len + p.len;
		g_free(p.bytes);
		put(data + where.header[k] + ROWS + i * ROW + LENGTH, p.len, 3);
		find_sections(data, size, &where);
	}
	return size;
}

/* ---- the target ---- */

static unsigned n_inputs, n_read, n_merged;

static void print_counts(void)
{
	fprintf(stderr, "%u inputs: %u read, %u merged\n", n_inputs, n_read, n_merged);
}

static uint32_t checksum_of(const uint8_t *bytes, size_t n)
{
	g_autofree char *hex = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes, n);
	hex[8] = '\0';
	return GUINT32_SWAP_LE_BE((uint32_t)strtoul(hex, NULL, 16));
}

/* File k of the input as a descriptor, with a header that fits. */
static int repaired(const uint8_t *data, const struct layout *where, unsigned k)
{
	size_t begin = where->header[k], size = where->section[k][SECTIONS - 1] + where->len[k][SECTIONS - 1] - begin;
	g_autofree uint8_t *file = g_memdup2(data + begin, size);
	memcpy(file, "BLKSLICE", 8);
	put(file + 8, SLICE_FILE_VERSION, 4);
	put(file + 12, SECTIONS, 4);
	for (unsigned i = 0; i < SECTIONS; i++) {
		uint8_t *row = file + ROWS + i * ROW;
		size_t at = where->section[k][i] - begin, len = where->len[k][i];
		put(row, at, 8);
		put(row + LENGTH, len, 8);
		put(row + 16, len, 8);		/* not compressed */
		put(row + 24, checksum_of(file + at, len), 4);
	}
	put(file + HEADER - 4, checksum_of(file, HEADER - 4), 4);
	int fd = memfd_create("slice", MFD_CLOEXEC);
	g_assert_cmpint(write(fd, file, size), ==, (ssize_t)size);
	return fd;
}

/* Refused is only what sections contain: what is around them was made right. */
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
	g_autoptr(GByteArray) bytes = slice_file_bytes(s, piece, &error);
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

static struct slice *merge(const int fds[FILES])
{
	g_autoptr(GError) error = NULL;
	g_autofree char *one = g_strdup_printf("/proc/self/fd/%d", fds[0]), *two = g_strdup_printf("/proc/self/fd/%d", fds[1]);
	struct slice_piece piece = { 0 };
	struct slice *s = slice_file_merge((const char *[]){ one, two, NULL }, &piece, NULL, &error);
	if (s) {
		g_assert_no_error(error);
		check_written(s, &piece, true);
		n_merged++;
	} else {
		g_assert_cmpuint(strlen(error->message), >, 10);
	}
	slice_piece_clear(&piece);
	return s;
}

static void rename_text(char **text)
{
	g_autofree char *old = *text;
	*text = g_strdup_printf("other %s", old);
}

static struct slice *copy_of(struct slice *s)
{
	const struct slice_piece whole = { .from = INT64_MIN, .to = INT64_MAX };
	g_autoptr(GByteArray) bytes = slice_file_bytes(s, &whole, NULL);
	if (!bytes)
		return NULL;
	int fd = memfd_create("copy", MFD_CLOEXEC);
	g_assert_cmpint(write(fd, bytes->data, bytes->len), ==, (ssize_t)bytes->len);
	struct slice *copy = slice_file_read(fd, NULL, NULL);
	g_assert_nonnull(copy);
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
	find_sections(data, size, &where);
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
	if (all && where.n_files == FILES)
		show(merge(fds));
	for (unsigned k = 0; k < FILES; k++)
		if (fds[k] >= 0)
			close(fds[k]);
	return 0;
}
