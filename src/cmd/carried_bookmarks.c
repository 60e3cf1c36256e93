/* SPDX-License-Identifier: GPL-2.0-only */
/* Bookmarks that a saved trace carries: see carried_bookmarks.h. */
#include "cmd/carried_bookmarks.h"

#include "cli/config.h"
#include "app/messages.h"

#include "views/bookmarks.h"

#include "base/files.h"

#define CARRIED ".blktop-bookmarks"	/* readers skip hidden files */

bool carried_bookmarks_read(const struct input *in, char **ret_text, size_t *ret_len, GError **error)
{
	g_autofree char *identity = input_identity(in);
	const char *const *paths = input_paths(in);

	if (!config_read_bookmarks(identity, ret_text, ret_len, error))
		return false;
	if (*ret_text || !paths || !*paths || !files_is_dir(*paths))
		return true;
	g_autofree char *carried = g_build_filename(*paths, CARRIED, NULL);
	return config_read_text(carried, ret_text, ret_len, error);
}

void carried_bookmarks_save(const struct input *in, const char *path, int64_t from_ns, int64_t to_ns)
{
	g_autofree char *text = NULL, *file = g_build_filename(path, CARRIED, NULL);
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) all = NULL;
	size_t len = 0;

	if (carried_bookmarks_read(in, &text, &len, &error) && text)
		all = bookmarks_parse("the bookmarks file", text, len, &error);
	if (all && all->len) {
		g_autofree char *some = bookmarks_text(all, from_ns, to_ns);

		files_set_contents(file, some, strlen(some), 0600, &error);
	}
	if (error)
		log_note("the bookmarks are not saved with the trace: %s", error->message);
}
