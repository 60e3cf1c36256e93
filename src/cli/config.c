/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings and history files: see config.h. */
#include "cli/config.h"

#include "app/messages.h"

#include "base/fail.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "ui/rc.h"
#include "ui/prompt_history.h"
#include "views/bookmarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How the user names another place, for messages. */
#define RC_INSTEAD "XDG_CONFIG_HOME or --config FILE"
#define HISTORY_INSTEAD "XDG_STATE_HOME"

static const char *chosen;		/* --config: a path, or "none"; NULL: the usual one */

void config_choose(const char *path)
{
	chosen = path;
}

static bool is_none(void)
{
	return chosen && g_str_equal(chosen, "none");
}

/* If the settings file is a symbolic link, its target is replaced, and the link stays. The target is looked up once,
 * before isolation. */
static char *rc_path(void)
{
	static char *target;

	if (!target) {
		g_autofree char *path = chosen ? g_strdup(chosen) :
			g_build_filename(g_get_user_config_dir(), "blktop", "blktoprc", NULL);
		g_autofree char *real = realpath(path, NULL);
		target = g_strdup(real ? real : path);
	}
	return g_strdup(target);
}

static char *history_path(void)
{
	return g_build_filename(g_get_user_state_dir(), "blktop", "history", NULL);
}

static char *bookmarks_dir(void)
{
	return g_build_filename(g_get_user_state_dir(), "blktop", "bookmarks", NULL);
}

static bool cannot_read(GError **error, int code, const char *path, const char *why)
{
	return fail(error, G_FILE_ERROR, (int)g_file_error_from_errno(code), "cannot read %s: %s",
		    path, why ? why : g_strerror(code));
}

/* false without an error: there is no such file. */
static bool read_file(const char *path, char **ret_text, size_t *ret_len, GError **error)
{
	g_autoptr(GError) why = NULL;

	if (files_read_input(path, LIMIT_SETTINGS_BYTES, ret_text, ret_len, &why))
		return true;
	/* Of a directory that was refused, writing it says why. */
	if (!g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT) && !files_why_refused(path))
		g_propagate_error(error, g_steal_pointer(&why));
	return false;
}

static bool write_file(const char *path, const char *text, mode_t mode, GError **error)
{
	struct stat st;

	if (files_stat(path, &st))
		mode = st.st_mode & 0777;
	return files_set_contents(path, text, strlen(text), mode, error);
}

/* --- settings --- */

static void load_rc(struct prefs *p)
{
	g_autofree char *path = rc_path(), *text = NULL, *visible = text_visible(path);
	g_autofree char *name = g_path_get_basename(visible);
	g_autoptr(GError) error = NULL;
	size_t len;

	if (read_file(path, &text, &len, &error))
		rc_read(p, name, text, len);
	else if (error)
		g_ptr_array_add(p->warnings, text_visible(error->message));
	else if (chosen)
		g_ptr_array_add(p->warnings, g_strdup_printf("there is no %s: W makes it", visible));
}

static void load_history(struct prefs *p)
{
	g_autofree char *path = history_path(), *text = NULL;
	g_autoptr(GError) error = NULL;
	size_t len;

	if (read_file(path, &text, &len, &error))
		prompt_history_read(p->prompt_history, text, len);
	else if (error)
		g_ptr_array_add(p->warnings, text_visible(error->message));
}

static void warn_place(struct prefs *p, const char *what, const GError *error)
{
	g_autofree char *visible = text_visible(error->message);

	g_ptr_array_add(p->warnings, g_strdup_printf("%s: %s", what, visible));
}

/* Makes the directories, and names the files as places, before isolation (cmd/isolate.h). */
static void make_places(struct prefs *p)
{
	g_autofree char *rc = rc_path(), *history = history_path(), *bookmarks = bookmarks_dir();
	g_autofree char *rc_dir = g_path_get_dirname(rc), *history_dir = g_path_get_dirname(history);
	g_autoptr(GError) no_rc = NULL, no_history = NULL, no_bookmarks = NULL;

	if (!files_make_home_dir(rc_dir, RC_INSTEAD, &no_rc) || !files_add(rc, FILES_OUTPUT, &no_rc))
		warn_place(p, "settings are not stored", no_rc);
	bool is_private = files_make_private(history_dir, HISTORY_INSTEAD, &no_history);
	if (!is_private || !files_add(history, FILES_OUTPUT, &no_history))
		warn_place(p, "typed lines are not stored", no_history);
	if (!is_private || !files_add_private(bookmarks, HISTORY_INSTEAD, &no_bookmarks))
		warn_place(p, "bookmarks are not stored", is_private ? no_bookmarks : no_history);
}

struct prefs *config_load(const struct options *o)
{
	struct prefs *p = prefs_new();

	if (!is_none()) {
		make_places(p);
		load_rc(p);
		load_history(p);
	}
	if (o->screen.theme >= 0)
		p->theme = (enum theme)o->screen.theme;
	if (o->screen.mouse >= 0)
		p->mouse = o->screen.mouse > 0;
	p->utc = p->utc || o->shown.utc;
	p->ascii = p->ascii || o->shown.ascii;
	p->accessible = p->accessible || o->screen.accessible;
	if (o->screen.memory_given)
		p->memory = o->read.memory;
	for (guint i = 0; i < p->warnings->len; i++)
		log_note("%s", (char *)g_ptr_array_index(p->warnings, i));
	return p;
}

bool config_read_rc(char **ret_path, char **ret_text, size_t *ret_len, GError **error)
{
	g_autofree char *path = rc_path();

	*ret_path = text_visible(path);
	return !is_none() && read_file(path, ret_text, ret_len, error);
}

bool config_save(const struct prefs *p, char **ret_message)
{
	g_autofree char *path = rc_path(), *old = NULL, *text = NULL, *visible = text_visible(path);
	g_autoptr(GError) error = NULL;
	size_t len;

	if (is_none()) {
		*ret_message = g_strdup("cannot write the settings: started with --config none");
		return false;
	}
	read_file(path, &old, &len, &error);
	if (!error && old && memchr(old, '\0', len))
		cannot_read(&error, EINVAL, path, "it is not text");
	if (!error) {
		text = rc_write(p, old ? old : "", len);
		write_file(path, text, 0644, &error);
	}
	*ret_message = error ? text_visible(error->message) :
		g_strdup_printf("settings written to %s", visible);
	log_note("%s", *ret_message);
	return !error;
}

void config_save_history(const struct prefs *p)
{
	g_autofree char *path = history_path(), *old = NULL, *text = NULL;
	g_autoptr(GError) error = NULL;
	size_t len;

	if (is_none() || !prompt_history_changed(p->prompt_history))
		return;
	read_file(path, &old, &len, &error);
	if (!error) {
		text = prompt_history_merge(p->prompt_history, old ? old : "", len);
		write_file(path, text, 0600, &error);
	}
	if (error)
		log_note("typed lines are not stored: %s", error->message);
}

/* --- bookmarks --- */

#define CARRIED ".blktop-bookmarks"	/* in a saved trace; readers skip hidden files */

static char *bookmarks_path(const struct input *in)
{
	g_autofree char *dir = bookmarks_dir(), *identity = input_identity(in);
	return g_build_filename(dir, identity, NULL);
}

static bool read_text(const char *path, char **ret_text, size_t *ret_len, GError **error)
{
	g_autoptr(GError) why = NULL;

	if (read_file(path, ret_text, ret_len, &why) || !why)
		return true;
	g_propagate_error(error, g_steal_pointer(&why));
	return false;
}

bool config_read_bookmarks(const struct input *in, char **ret_text, size_t *ret_len, GError **error)
{
	g_autofree char *path = bookmarks_path(in);
	const char *const *paths = input_paths(in);

	*ret_text = NULL;
	*ret_len = 0;
	if (!is_none() && !read_text(path, ret_text, ret_len, error))
		return false;
	if (*ret_text || !paths || !*paths || !files_is_dir(*paths))
		return true;
	g_autofree char *carried = g_build_filename(*paths, CARRIED, NULL);
	return read_text(carried, ret_text, ret_len, error);
}

bool config_write_bookmarks(const struct input *in, const char *text, GError **error)
{
	g_autofree char *path = bookmarks_path(in);

	if (is_none())
		return fail(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "started with --config none");
	return write_file(path, text, 0600, error);
}

void config_copy_bookmarks(const struct input *in, const char *path, int64_t from_ns, int64_t to_ns)
{
	g_autofree char *text = NULL, *file = g_build_filename(path, CARRIED, NULL);
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) all = NULL;
	size_t len = 0;

	if (config_read_bookmarks(in, &text, &len, &error) && text)
		all = bookmarks_parse("the bookmarks file", text, len, &error);
	if (all && all->len) {
		g_autofree char *some = bookmarks_text(all, from_ns, to_ns);

		files_set_contents(file, some, strlen(some), 0600, &error);
	}
	if (error)
		log_note("the bookmarks are not saved with the trace: %s", error->message);
}

void config_add_bookmarks(void)
{
	g_autofree char *dir = bookmarks_dir();

	if (!is_none())
		files_add(dir, FILES_READ, NULL);	/* there may be none */
}
