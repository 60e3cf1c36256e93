/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A slice file of any bytes: it is refused with a reason, or it can be merged and shown. Lengths and checksums of its
 * sections are made right first, or nothing but these would be examined.
 *
 * Input: a slice file without compression.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzzer.h"
#include "lib/inspect.h"
#include "state/slice/slice_file.h"
#include "state/store/publication.h"

#define SECTIONS 7
#define ROWS 16			/* where the rows of sections begin */
#define ROW 32
#define HEADER (ROWS + SECTIONS * ROW + 4)

static uint32_t checksum_of(const uint8_t *bytes, size_t n)
{
	g_autofree char *hex = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes, n);
	hex[8] = '\0';
	return GUINT32_SWAP_LE_BE((uint32_t)strtoul(hex, NULL, 16));
}

static void put(uint8_t *to, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

static void repair(uint8_t *file, size_t size)
{
	size_t at = HEADER;
	memcpy(file, "BLKSLICE\1\0\0\0\7\0\0", ROWS);
	for (unsigned i = 0; i < SECTIONS; i++) {
		uint8_t *row = file + ROWS + i * ROW;
		size_t len = row[8] | row[9] << 8 | row[10] << 16;
		len = i == SECTIONS - 1 ? size - at : MIN(len, size - at);
		put(row, at, 8);
		put(row + 8, len, 8);
		put(row + 16, len, 8);		/* not compressed */
		put(row + 24, checksum_of(file + at, len), 4);
		at += len;
	}
	put(file + HEADER - 4, checksum_of(file, HEADER - 4), 4);
}

static struct slice *read_file(const uint8_t *file, size_t size)
{
	g_autoptr(GError) error = NULL;
	int fd = memfd_create("slice", MFD_CLOEXEC);
	g_assert_cmpint(write(fd, file, size), ==, (ssize_t)size);
	struct slice *s = slice_file_read(fd, NULL, &error);
	close(fd);
	if (s)
		g_assert_no_error(error);
	else
		g_assert_cmpuint(strlen(error->message), >, 10);
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct slice_piece piece = { .from = INT64_MIN, .to = INT64_MAX };
	if (size < HEADER || size > 1 << 20)
		return 0;
	g_autofree uint8_t *file = g_memdup2(data, size);
	repair(file, size);
	struct slice *s = read_file(file, size), *b;
	if (!s)
		return 0;
	g_autoptr(GByteArray) bytes = slice_file_bytes(s, &piece, NULL);
	b = read_file(bytes->data, bytes->len);
	g_assert_nonnull(b);
	slice_free(b);
	s = slice_root(s);
	publication_free(slice_finish(s));
	slice_free(s);
	return 0;
}
