/* SPDX-License-Identifier: GPL-2.0-only */
/* See slices.h. */
#include "lib/slices.h"
#include "lib/test_traces.h"

#include "state/slice/pack.h"
#include "state/slice/slice_file.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct slice_piece whole = { .from = INT64_MIN, .to = INT64_MAX };

GByteArray *slices_bytes(struct slice *s, const struct slice_piece *piece, GError **error)
{
	uint64_t size;
	int fd = memfd_create("slice", MFD_CLOEXEC);
	g_assert_cmpint(fd, >=, 0);
	GByteArray *bytes = NULL;
	if (slice_file_write(s, piece, fd, &size, error)) {
		bytes = g_byte_array_set_size(g_byte_array_sized_new((guint)size + 1), (guint)size);
		g_assert_cmpint(pread(fd, bytes->data, size + 1, 0), ==, (ssize_t)size);	/* no more are there */
	}
	close(fd);
	return bytes;
}

struct slice *slices_from_bytes(const uint8_t *bytes, size_t n, GError **error)
{
	int fd = memfd_create("slice", MFD_CLOEXEC);
	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(write(fd, bytes, n), ==, (ssize_t)n);
	struct slice *s = slice_file_read(fd, NULL, error);
	close(fd);
	return s;
}

struct slice *slices_through_file(struct slice *s)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = slices_bytes(s, &whole, &error);
	g_assert_no_error(error);
	slice_free(s);
	s = slices_from_bytes(bytes->data, bytes->len, &error);
	g_assert_no_error(error);
	g_autoptr(GByteArray) again = slices_bytes(s, &whole, &error);
	g_assert_no_error(error);
	g_assert_cmpmem(bytes->data, bytes->len, again->data, again->len);
	return s;
}

static char *packed_dir;		/* with files that slices refer to, until the end of the program */

static void remove_packed(void)
{
	test_remove_tree(packed_dir);
	g_free(packed_dir);
}

struct slice *slices_packed(struct slice *s)
{
	static unsigned n;
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = slices_bytes(s, &whole, &error);
	g_assert_no_error(error);
	if (!packed_dir) {
		packed_dir = test_temp_dir();
		atexit(remove_packed);
	}
	g_autofree char *path = g_strdup_printf("%s/%u", packed_dir, n++);
	g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, &error);
	g_assert_no_error(error);
	slice_free(s);
	s = slice_file_open(path, SLICE_PACKED, NULL, &error);
	g_assert_no_error(error);
	g_autoptr(GByteArray) again = slices_bytes(s, &whole, &error);
	g_assert_no_error(error);
	g_assert_cmpmem(bytes->data, bytes->len, again->data, again->len);
	return s;
}

struct slice *slices_at_random(struct slice *s)
{
	g_autoptr(GError) error = NULL;
	switch (g_test_rand_int_range(0, 6)) {
	case 0:
		return s;
	case 1:
		slice_unpack(s, &error);
		g_assert_no_error(error);
		return slices_through_file(s);
	case 2:
		packs_shrink(s, 0, &error);
		g_assert_no_error(error);
		return s;
	default:
		return slices_packed(s);
	}
}

struct lost { unsigned stream; struct blk_loss loss; };

/* Losses that are open before record `at`. */
static GArray *open_losses(const struct recording *r, size_t at)
{
	GArray *open = g_array_new(false, false, sizeof(struct lost));
	for (size_t i = 0; i < at; i++) {
		const struct blk_event *e = recording_event(r, i);
		struct lost x = { .stream = e->stream };
		if (e->row == BLK_ROW_LOST_BEGIN) {
			memcpy(&x.loss, e->data, sizeof x.loss);
			g_array_append_val(open, x);
		}
		for (guint k = 0; e->row == BLK_ROW_LOST_END && k < open->len; k++)
			if (g_array_index(open, struct lost, k).stream == e->stream) {
				g_array_remove_index(open, k);
				break;
			}
	}
	return open;
}

struct slice *slices_of(const struct recording *r, size_t from, size_t to, bool from_start)
{
	struct slice *s = slice_new(from_start, SLICES_STEP);
	slice_learn_hosts(s, recording_tables(r));
	g_autoptr(GArray) lost = open_losses(r, from);
	for (guint i = 0; i < lost->len; i++) {
		const struct lost *x = &g_array_index(lost, struct lost, i);
		slice_begin_lost(s, recording_tables(r), x->stream, &x->loss);
	}
	if (from < to)
		slice_feed(s, recording_tables(r), recording_event(r, from), to - from);
	return s;
}

static int by_size(gconstpointer a, gconstpointer b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x > y) - (x < y);
}

GArray *slices_random_cuts(const struct recording *r, unsigned n)
{
	GArray *cuts = g_array_new(false, true, sizeof(size_t));
	size_t end = recording_n(r);
	g_array_set_size(cuts, 1);
	for (unsigned i = 1; i < n; i++) {
		size_t at = (size_t)g_test_rand_int_range(1, (gint32)end);
		while (at < end && recording_event(r, at)->ts == recording_event(r, at - 1)->ts)
			at++;
		g_array_append_val(cuts, at);
	}
	g_array_append_val(cuts, end);
	g_array_sort(cuts, by_size);
	return cuts;
}

size_t slices_record_at(const struct recording *r, int64_t ts)
{
	size_t at = 0;
	while (at < recording_n(r) && recording_event(r, at)->ts < ts)
		at++;
	return at;
}
