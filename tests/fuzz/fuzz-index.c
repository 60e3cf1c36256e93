/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream file and its index file, any bytes each: whatever they say, in the end all
 * bytes of the stream are in packets that follow each other, and the way there (one
 * header at a time, or all at once) makes no difference.
 *
 * Input: which metadata (fuzz_metas.h), bytes of the index file / 8 (0: there is none),
 * the index file, the stream file.
 */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzzer.h"
#include "lib/fuzz_metas.h"
#include "trace/ctf/ctf_index.h"

static char *dir, *stream_path, *index_dir, *index_path;

static void remove_dirs(void)
{
	g_unlink(stream_path);
	g_unlink(index_path);
	g_rmdir(index_dir);
	g_rmdir(dir);
}

/* In memory where that is there. The fuzzer ends without atexit(), so the directory is
 * there only while an input is read. */
static void make_dirs(void)
{
	if (!dir) {
		const char *base = g_access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
		dir = g_strdup_printf("%s/blktop-fuzz-%d", base, (int)getpid());
		stream_path = g_build_filename(dir, "s", NULL);
		index_dir = g_build_filename(dir, "index", NULL);
		index_path = g_build_filename(index_dir, "s.idx", NULL);
	}
	remove_dirs();		/* one that crashed had that number */
	if (g_mkdir(dir, 0700) || g_mkdir(index_dir, 0700))
		g_error("can't make %s", dir);
}

static void put(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "we");
	if (!f || (n && fwrite(bytes, n, 1, f) != 1) || fclose(f))
		g_error("can't write %s", path);
}

/* A row of packets without holes that begins or ends where the file does. */
static void check_row(const struct ctf_index *x, uint64_t size)
{
	size_t n;
	const struct ctf_packet *p = ctf_index_packets(x, &n);
	for (size_t i = 0; i < n; i++) {
		g_assert_cmpuint(p[i].packet_bits % 8, ==, 0);
		g_assert_cmpuint(p[i].packet_bits, >, 0);
		g_assert_cmpuint(p[i].content_bits, <=, p[i].packet_bits);
		g_assert_cmpuint(p[i].header_bits, <=, p[i].content_bits);
		if (i + 1 < n)
			g_assert_cmpuint(p[i].offset + p[i].packet_bits / 8, ==, p[i + 1].offset);
	}
	if (n)
		g_assert_true(!p[0].offset || p[n - 1].offset + p[n - 1].packet_bits / 8 == size);
	if (n && ctf_index_complete(x)) {
		g_assert_cmpuint(p[0].offset, ==, 0);
		g_assert_cmpuint(p[n - 1].offset + p[n - 1].packet_bits / 8, ==, size);
	}
	g_assert_true(n || !ctf_index_complete(x) || !size);
}

static void check_headers(const struct ctf_index *x)
{
	size_t n;
	const struct ctf_packet *all = ctf_index_packets(x, &n);
	for (size_t i = 0; i < n; i++) {
		g_autoptr(GError) error = NULL;
		struct ctf_packet p = all[i];
		if (ctf_index_check(x, &p, &error)) {
			g_assert_true(p.checked && p.offset == all[i].offset);
			g_assert_cmpuint(p.packet_bits, ==, all[i].packet_bits);
		} else {
			g_assert_nonnull(error);
		}
	}
}

static void check_same(const struct ctf_index *x, const struct ctf_index *y)
{
	size_t n, m;
	const struct ctf_packet *p = ctf_index_packets(x, &n), *q = ctf_index_packets(y, &m);
	g_assert_cmpuint(n, ==, m);
	for (size_t i = 0; i < n; i++)
		g_assert_true(p[i].offset == q[i].offset && p[i].packet_bits == q[i].packet_bits &&
			      p[i].content_bits == q[i].content_bits && p[i].fault == q[i].fault &&
			      p[i].begin == q[i].begin && p[i].end == q[i].end);
}

static struct ctf_index *open_index(const struct ctf_meta *m)
{
	g_autoptr(GError) error = NULL;
	struct ctf_index *x = ctf_index_open(m, dir, "s", &error);
	if (!x)
		fuzz_check_error(error);
	else
		g_assert_no_error(error);
	return x;
}

/* The same without the index file: of the packets' headers alone. */
static void check_distrusted(const struct ctf_meta *m, size_t size)
{
	struct ctf_index *x = open_index(m);
	ctf_index_distrust(x);
	g_assert_false(ctf_index_walk(x, SIZE_MAX));
	g_assert_true(ctf_index_complete(x) && !ctf_index_has_file(x));
	check_row(x, size);
	ctf_index_free(x);
}

static void check_index(const struct ctf_meta *m, size_t n)
{
	struct ctf_index *x = open_index(m), *y = open_index(m);
	g_assert_true(!x == !y);
	if (!x)
		return;
	/* Every step is about one byte of the file at least. */
	for (size_t steps = 0; ctf_index_walk(x, 1); steps++) {
		g_assert_cmpuint(steps, <=, n);
		check_row(x, n);
	}
	g_assert_true(ctf_index_complete(x) && ctf_index_progress(x) >= 1);
	check_row(x, n);
	check_headers(x);
	g_assert_false(ctf_index_walk(y, SIZE_MAX));
	check_same(x, y);
	if (ctf_index_has_file(x))
		check_distrusted(m, n);
	ctf_index_free(x);
	ctf_index_free(y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	size_t n_index = MIN(data[1] * (size_t)8, size - 2), n = size - 2 - n_index;
	make_dirs();
	if (n_index)
		put(index_path, data + 2, n_index);
	put(stream_path, data + 2 + n_index, n);
	check_index(fuzz_meta(data[0]), n);
	remove_dirs();
	return 0;
}
