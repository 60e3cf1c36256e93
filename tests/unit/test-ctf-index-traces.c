/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings: what their index files say is what the headers say, and the walk that
 * begins at the newest finds what a plain one from the begin on finds. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/test_traces.h"
#include "trace/ctf/ctf_index.h"
#include "trace/reader.h"

static struct ctf_meta *read_meta(const char *dir)
{
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	g_autofree char *text = NULL;
	GError *error = NULL;
	gsize n;

	g_assert_true(g_file_get_contents(path, &text, &n, NULL));
	struct ctf_meta *m = ctf_meta_new();
	ctf_meta_append(m, text, n, &error);
	g_assert_no_error(error);
	return m;
}

/* One packet after the other, from the begin on. */
static GArray *plain_walk(const struct ctf_meta *m, const char *path)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct ctf_packet));
	g_autofree char *bytes = NULL;
	gsize n, need;
	uint64_t at = 0;

	g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
	while (at < n) {
		struct ctf_packet p;
		GError *error = NULL;
		ctf_packet_read(m, (uint8_t *)bytes + at, n - at, at, n, &p, &need, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(need, ==, 0);
		g_array_append_val(all, p);
		at += p.packet_bits / 8;
	}
	return all;
}

static void assert_equal(const struct ctf_packet *a, const struct ctf_packet *b)
{
	g_assert_cmpuint(a->offset, ==, b->offset);
	g_assert_cmpuint(a->packet_bits, ==, b->packet_bits);
	g_assert_cmpuint(a->content_bits, ==, b->content_bits);
	g_assert_cmpuint(a->begin, ==, b->begin);
	g_assert_cmpuint(a->end, ==, b->end);
	g_assert_cmpuint(a->discarded, ==, b->discarded);
	g_assert_cmpuint(a->stream_id, ==, b->stream_id);
	g_assert_cmpuint(a->fault, ==, CTF_WHOLE);
	g_assert_cmpuint(b->fault, ==, CTF_WHOLE);
	g_assert_cmpuint(a->has_begin, ==, b->has_begin);
	g_assert_cmpuint(a->has_end, ==, b->has_end);
	g_assert_cmpuint(a->has_discarded, ==, b->has_discarded);
	g_assert_cmpuint(a->discarded_bits, ==, b->discarded_bits);
	if (a->has_seq)
		g_assert_cmpuint(a->seq, ==, b->seq);
	if (a->has_instance)
		g_assert_cmpuint(a->instance, ==, b->instance);
}

static void compare(const struct ctf_index *x, const GArray *truth)
{
	size_t n;
	const struct ctf_packet *p = ctf_index_packets(x, &n);

	g_assert_true(ctf_index_complete(x));
	g_assert_cmpuint(n, ==, truth->len);
	for (size_t i = 0; i < n; i++) {
		struct ctf_packet checked = p[i];
		GError *error = NULL;
		assert_equal(&p[i], &g_array_index(truth, struct ctf_packet, i));
		ctf_index_check(x, &checked, &error);
		g_assert_no_error(error);
		g_assert_true(checked.checked && checked.header_bits > 0);
	}
}

static void check_file(const struct ctf_meta *m, const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autofree char *idx = g_strdup_printf("%s/index/%s.idx", dir, name);
	g_autoptr(GArray) truth = plain_walk(m, path);
	GError *error = NULL;
	struct ctf_index *x = ctf_index_open(m, dir, name, &error);

	g_assert_no_error(error);
	bool has_idx = g_file_test(idx, G_FILE_TEST_EXISTS) && truth->len > 0;
	g_assert_cmpint(ctf_index_has_file(x), ==, has_idx);
	g_assert_cmpint(ctf_index_complete(x), ==, has_idx || truth->len < 2);
	while (ctf_index_walk(x, 1))
		;
	compare(x, truth);
	ctf_index_distrust(x);
	while (ctf_index_walk(x, 2))
		;
	compare(x, truth);
	ctf_index_free(x);
}

static void test_trace_index(const void *name)
{
	g_autofree char *path = test_trace(name);
	const char *const paths[] = { path, NULL };
	const char *file;
	unsigned n_files = 0;

	if (!path)
		return;
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, NULL);
	g_assert_nonnull(dirs);
	for (guint i = 0; i < dirs->len; i++) {
		struct ctf_meta *m = read_meta(dirs->pdata[i]);
		GDir *d = g_dir_open(dirs->pdata[i], 0, NULL);
		while ((file = g_dir_read_name(d))) {
			if (!strcmp(file, "metadata") || !strcmp(file, "index") || file[0] == '.')
				continue;
			check_file(m, dirs->pdata[i], file);
			n_files++;
		}
		g_dir_close(d);
		ctf_meta_free(m);
	}
	g_test_message("%u stream files", n_files);
	g_assert_cmpuint(n_files, >, 0);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"demo/trace", "kernel-small/trace", "kernel-ust/trace", "live/trace",
		"lost/trace", "lost/trace-overwrite", "rotation/trace", "snapshot/trace",
		"ctf2/demo/trace", "ctf2/lost/trace", "ctf2/ust-both/ctf-2",
		"public/ros2", "public/uneven-streams", "public/scp_dest", "public/scp_src",
		"public/flipping-endianness", "public/context-switches-ust",
		"public/perf-taskset2", "public/glxgears-cyg-profile",
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_strdup_printf("/ctf-index/of/%s", names[i]);
		g_test_add_data_func(path, names[i], test_trace_index);
	}
	return g_test_run();
}
