/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of rules; see rule_files.h. */
#include "cli/rule_files.h"

#include "app/messages.h"
#include "cli/config.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "state/spans/presets.h"
#include "state/spans/rules.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".preset"

struct rule_text {
	char *file;			/* visible path */
	char *text;			/* NULL: there is none */
	size_t len;
	bool only_marked;
};

static struct rule_text own, of_rc;

static void clear(struct rule_text *t)
{
	g_clear_pointer(&t->file, g_free);
	g_clear_pointer(&t->text, g_free);
}

void rule_files_clear(void)
{
	clear(&own);
	clear(&of_rc);
	presets_clear();
}

static bool add(struct rules *rules, const struct rule_text *t, GError **error)
{
	return !t->text || rules_parse(rules, t->file, t->text, t->len, t->only_marked, error);
}

/* Can the text's rules be used? *ret_n: how many there are; *ret_preset: is it a preset? */
static bool check(const struct rule_text *t, size_t *ret_n, bool *ret_preset, GError **error)
{
	struct rules *rules = rules_new();
	bool good = add(rules, t, error) && rules_check(rules, error);

	*ret_n = rules_n(rules);
	g_autoptr(GPtrArray) heads = rules_take_presets(rules);
	*ret_preset = heads->len > 0;
	rules_free(rules);
	return good;
}

/* ---- presets ---- */

static void warn(struct prefs *p, const char *message)
{
	if (!p) {
		log_error("%s", message);
		return;
	}
	log_note("%s", message);
	g_ptr_array_add(p->warnings, text_visible(message));
}

static void read_preset(const char *path, struct prefs *p)
{
	g_autofree char *text = NULL, *visible = text_visible(path);
	g_autoptr(GError) error = NULL;
	size_t len;

	if (files_read_input(path, LIMIT_SETTINGS_BYTES, &text, &len, &error) &&
	    presets_add(visible, text, len, false, &error))
		return;
	g_autofree char *all = g_strdup_printf("this preset is left out: %s", error->message);
	warn(p, all);
}

static void read_presets(const char *dir, struct prefs *p)
{
	g_autoptr(GPtrArray) names = files_list(dir, LIMIT_PRESETS);

	if (!names)
		return;
	PTR_EACH(const char, name, names) {
		g_autofree char *path = g_build_filename(dir, name, NULL);
		if (g_str_has_suffix(name, SUFFIX))
			read_preset(path, p);
	}
}

/* Directories of data, in the order of their rank. */
static GPtrArray *data_dirs(void)
{
	GPtrArray *dirs = g_ptr_array_new_with_free_func(g_free);
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	exe[n > 0 ? n : 0] = '\0';
	g_autofree char *bin = g_path_get_dirname(exe), *root = g_path_get_dirname(bin);
	g_ptr_array_add(dirs, g_build_filename(g_get_user_data_dir(), "blktop", "presets", NULL));
	g_ptr_array_add(dirs, g_build_filename(root, "share", "blktop", "presets", NULL));
	for (const char *const *d = g_get_system_data_dirs(); *d; d++)
		g_ptr_array_add(dirs, g_build_filename(*d, "blktop", "presets", NULL));
	g_ptr_array_add(dirs, g_build_filename(BLKTOP_DATADIR, "presets", NULL));
	return dirs;
}

static void read_all_presets(struct prefs *p)
{
	g_autoptr(GPtrArray) dirs = data_dirs();

	PTR_EACH(const char, dir, dirs)
		read_presets(dir, p);
}

static bool choose(const char *chosen, struct prefs *p, GError **error)
{
	g_autoptr(GError) why = NULL;

	if (chosen && !presets_choose(chosen, &why))
		return fail(error, why->domain, why->code, "--presets: %s", why->message);
	if (chosen || !p || !p->presets || presets_choose(p->presets, &why))
		return true;
	g_autofree char *all = g_strdup_printf("presets of blktoprc: %s", why->message);
	warn(p, all);
	return true;
}

/* ---- all ---- */

/* Errors become warnings on the screen, which then starts without these rules. */
static void read_rc(struct prefs *p)
{
	g_autoptr(GError) why = NULL;
	size_t n;
	bool is_preset;

	of_rc.only_marked = true;
	if (config_read_rc(&of_rc.file, &of_rc.text, &of_rc.len, &why) && check(&of_rc, &n, &is_preset, &why))
		return;
	if (why)
		warn(p, why->message);
	clear(&of_rc);
}

/* A preset that the user names comes before others of its name, and is on. */
static bool read_own(const char *path, GError **error)
{
	size_t n;
	bool is_preset;

	own.file = text_visible(path);
	if (!files_read_input(path, LIMIT_SETTINGS_BYTES, &own.text, &own.len, error) ||
	    !check(&own, &n, &is_preset, error))
		return false;
	if (!n)
		return fail(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "cannot read %s: there is no [RULE] in it", path);
	if (!is_preset)
		return true;
	bool added = presets_add(own.file, own.text, own.len, true, error);
	clear(&own);
	return added;
}

bool rule_files_read(const char *path, const char *chosen, struct prefs *p, GError **error)
{
	rule_files_clear();
	if (path && !read_own(path, error))
		return false;
	read_all_presets(p);
	if (p)
		read_rc(p);
	return choose(chosen, p, error);
}

static bool install(bool presets, const char *suggested, GError **error)
{
	struct rules *rules = rules_new();
	bool good = (!presets || presets_add_rules(rules, error)) && add(rules, &of_rc, error) &&
		    add(rules, &own, error) &&
		    (!suggested || rules_parse(rules, "suggested", suggested, strlen(suggested), false, error)) &&
		    rules_check(rules, error);

	if (good && rules_n(rules))
		return rules_install(rules, error);
	rules_free(rules);
	return good && rules_install(NULL, error);
}

bool rule_files_install(const char *suggested, GError **error)
{
	g_autoptr(GError) why = NULL;

	if (install(true, suggested, &why))
		return true;
	/* A rule of the user's and one of a preset can need more fields of an event together than there is room for. */
	if (!install(false, suggested, error))
		return false;
	log_error("presets are left out: %s", why->message);
	return true;
}
