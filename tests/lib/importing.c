/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/importing.h"

#include "trace/align.h"

#include <glib/gstdio.h>
#include <unistd.h>

char *write_temporary(const char *text, size_t len)
{
	g_autoptr(GError) error = NULL;
	char *path = NULL;
	int fd = g_file_open_tmp("blktop-import-XXXXXX.json", &path, &error);
	g_assert_no_error(error);
	g_assert_true(g_file_set_contents(path, text, (gssize)len, NULL));
	g_assert_true(g_close(fd, NULL));
	return path;
}

static struct timeline *apply_all(struct import *im, size_t budget, GError **error)
{
	struct timeline *tl = timeline_new(budget);
	GError *why = NULL;
	struct publication *pub;

	while ((pub = import_next(im, &why)))
		timeline_apply(tl, pub);
	if (!why)
		return tl;
	timeline_free(tl);
	g_propagate_error(error, why);
	return NULL;
}

struct timeline *import_pieces(const char *text, size_t len, size_t piece_bytes, size_t budget,
			       char **warning, GError **error)
{
	g_autofree char *path = write_temporary(text, len);
	const char *const paths[] = { path, NULL };
	struct import *im = import_open(paths, piece_bytes, NULL, error);
	if (im)
		import_align(im, align_of);
	struct timeline *tl = im ? apply_all(im, budget, error) : NULL;
	g_unlink(path);
	if (tl)
		*warning = import_warning(im);
	import_free(im);
	return tl;
}

struct timeline *import_bytes(const char *text, size_t len, char **warning, GError **error)
{
	return import_pieces(text, len, 0, 0, warning, error);
}
