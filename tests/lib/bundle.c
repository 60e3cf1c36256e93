/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/bundle.h"

#define MOST_FILES 64
#define MOST_DEPTH 8			/* names in a path */

static void file_free(void *p)
{
	struct bundle_file *f = p;
	g_free(f->path);
	g_byte_array_unref(f->bytes);
	g_free(f);
}

struct bundle *bundle_new(void)
{
	struct bundle *b = g_new0(struct bundle, 1);
	b->files = g_ptr_array_new_with_free_func(file_free);
	return b;
}

void bundle_free(struct bundle *b)
{
	if (!b)
		return;
	g_ptr_array_unref(b->files);
	g_free(b);
}

struct bundle_file *bundle_find(const struct bundle *b, const char *path)
{
	for (guint i = 0; i < b->files->len; i++) {
		struct bundle_file *f = g_ptr_array_index(b->files, i);
		if (!strcmp(f->path, path))
			return f;
	}
	return NULL;
}

/* Names of letters, digits and "-_.+", none of which is "." or "..". */
static bool is_good_path(const char *path)
{
	g_auto(GStrv) names = g_strsplit(path, "/", -1);
	unsigned n = g_strv_length(names);
	if (!n || n > MOST_DEPTH)
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (!*names[i] || strspn(names[i], ".") == strlen(names[i]))
			return false;
		for (const char *p = names[i]; *p; p++)
			if (!g_ascii_isalnum(*p) && !strchr("-_.+", *p))
				return false;
	}
	return true;
}

struct bundle_file *bundle_add(struct bundle *b, const char *path, const void *bytes, size_t n)
{
	if (b->files->len >= MOST_FILES || !is_good_path(path) || strlen(path) > G_MAXUINT8 || bundle_find(b, path))
		return NULL;
	struct bundle_file *f = g_new0(struct bundle_file, 1);
	f->path = g_strdup(path);
	f->bytes = g_byte_array_sized_new((guint)n);
	g_byte_array_append(f->bytes, bytes, (guint)n);
	g_ptr_array_add(b->files, f);
	return f;
}

void bundle_remove(struct bundle *b, struct bundle_file *f)
{
	g_ptr_array_remove(b->files, f);
}

/* ---- as bytes ---- */

struct bundle *bundle_parse(const uint8_t *data, size_t size)
{
	struct bundle *b = bundle_new();
	while (size) {
		size_t n_path = data[0];
		uint32_t n;
		if (size < 1 + n_path + sizeof n)
			break;
		g_autofree char *path = g_strndup((const char *)data + 1, n_path);
		memcpy(&n, data + 1 + n_path, sizeof n);
		data += 1 + n_path + sizeof n;
		size -= 1 + n_path + sizeof n;
		n = (uint32_t)MIN(GUINT32_FROM_LE(n), size);
		bundle_add(b, path, data, n);
		data += n;
		size -= n;
	}
	return b;
}

GByteArray *bundle_serialise(const struct bundle *b)
{
	GByteArray *out = g_byte_array_new();
	for (guint i = 0; i < b->files->len; i++) {
		const struct bundle_file *f = g_ptr_array_index(b->files, i);
		uint8_t n_path = (uint8_t)strlen(f->path);
		uint32_t n = GUINT32_TO_LE(f->bytes->len);
		g_byte_array_append(out, &n_path, 1);
		g_byte_array_append(out, (const uint8_t *)f->path, n_path);
		g_byte_array_append(out, (const uint8_t *)&n, sizeof n);
		g_byte_array_append(out, f->bytes->data, f->bytes->len);
	}
	return out;
}

/* ---- as files ---- */

static void load(struct bundle *b, const char *dir, const char *below)
{
	g_autofree char *here = below ? g_build_filename(dir, below, NULL) : g_strdup(dir);
	g_autoptr(GDir) d = g_dir_open(here, 0, NULL);
	g_assert_nonnull(d);
	for (const char *name; (name = g_dir_read_name(d));) {
		g_autofree char *path = below ? g_strconcat(below, "/", name, NULL) : g_strdup(name);
		g_autofree char *full = g_build_filename(dir, path, NULL);
		g_autofree char *bytes = NULL;
		gsize n;
		if (g_file_test(full, G_FILE_TEST_IS_DIR)) {
			load(b, dir, path);
			continue;
		}
		g_assert_true(g_file_get_contents(full, &bytes, &n, NULL));
		g_assert_nonnull(bundle_add(b, path, bytes, n));
	}
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp((*(struct bundle_file *const *)a)->path, (*(struct bundle_file *const *)b)->path);
}

struct bundle *bundle_load(const char *dir)
{
	struct bundle *b = bundle_new();
	load(b, dir, NULL);
	g_ptr_array_sort(b->files, compare_paths);
	return b;
}

void bundle_save(const struct bundle *b, const char *dir)
{
	for (guint i = 0; i < b->files->len; i++) {
		const struct bundle_file *f = g_ptr_array_index(b->files, i);
		g_autofree char *path = g_build_filename(dir, f->path, NULL);
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0 && errno == ENOENT) {
			g_autofree char *parent = g_path_get_dirname(path);
			g_mkdir_with_parents(parent, 0700);
			fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		}
		if (fd < 0)
			continue;
		g_assert_cmpint(write(fd, f->bytes->data, f->bytes->len), ==, f->bytes->len);
		close(fd);
	}
}
