/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blktoprc: see rc.h. Each line is parsed alone with GKeyFile, so that an error affects one line only and has its
 * number.
 */
#include "ui/rc.h"

#include "ui/keys.h"
#include "ui/nav.h"
#include "views/overview.h"
#include "views/view.h"

#include "base/limits.h"
#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

#define GENERAL "blktop"
#define VIEW_PREFIX "view "
#define RULE_PREFIX "span "

/* One line, and what it is. */
struct rc_line {
	char *text;		/* as it stands, without its newline */
	char *group;		/* that it is in or begins; NULL: none yet */
	char *key, *value;	/* NULL: it is not KEY=VALUE */
	char *bad;		/* what is wrong with it; NULL: nothing */
	bool begins;		/* it begins a group */
};

static void line_clear(gpointer data)
{
	struct rc_line *l = data;

	g_free(l->text);
	g_free(l->group);
	g_free(l->key);
	g_free(l->value);
	g_free(l->bad);
}

static GKeyFile *parse_text(const char *text, char **ret_why)
{
	GKeyFile *file = g_key_file_new();
	g_autoptr(GError) error = NULL;

	if (g_key_file_load_from_data(file, text, strlen(text), G_KEY_FILE_NONE, &error))
		return file;
	g_key_file_unref(file);
	*ret_why = g_strdup("neither [GROUP] nor KEY=VALUE");
	return NULL;
}

static void parse_group(struct rc_line *l)
{
	g_autoptr(GKeyFile) file = parse_text(l->text, &l->bad);
	g_auto(GStrv) groups = file ? g_key_file_get_groups(file, NULL) : NULL;

	if (groups && groups[0])
		l->group = g_strdup(groups[0]);
	l->begins = l->group != NULL;
}

/* "\\s" and its like in a value. NULL: it is no text. (GLib's own complains on stderr of
 * two bad ones in a row.) */
static char *unescape(const char *raw)
{
	static const char *const pairs = "s n\nt\tr\r\\\\";
	g_autoptr(GString) s = g_string_new(NULL);

	if (!g_utf8_validate(raw, -1, NULL))
		return NULL;
	for (; *raw; raw++) {
		const char *pair = pairs;

		if (*raw != '\\') {
			g_string_append_c(s, *raw);
			continue;
		}
		raw++;
		while (*pair && *pair != *raw)
			pair += 2;
		if (!*pair || !*raw)
			return NULL;
		g_string_append_c(s, pair[1]);
	}
	return g_strdup(s->str);
}

static void parse_key(struct rc_line *l)
{
	g_autofree char *text = g_strdup_printf("[g]\n%s", l->text);
	g_autoptr(GKeyFile) file = parse_text(text, &l->bad);
	g_auto(GStrv) keys = file ? g_key_file_get_keys(file, "g", NULL, NULL) : NULL;
	g_autofree char *raw = NULL;

	if (!keys || !keys[0])
		return;
	raw = g_key_file_get_value(file, "g", keys[0], NULL);
	l->value = raw ? unescape(raw) : NULL;
	if (!l->value)
		l->bad = g_strdup("its value is not text");
	else if (!l->group)
		l->bad = g_strdup("it stands before any [GROUP]");
	else
		l->key = g_strdup(keys[0]);
}

static void parse_line(GArray *lines, const char *text, size_t len, char **group)
{
	struct rc_line l = { .text = g_strndup(text, len) };
	const char *p = l.text + strspn(l.text, " \t\r");

	if (memchr(text, '\0', len))
		l.bad = g_strdup("it holds a NUL byte");
	else if (*p == '[')
		parse_group(&l);
	else if (*p && *p != '#') {
		l.group = g_strdup(*group);
		parse_key(&l);
	}
	if (l.begins) {
		g_free(*group);
		*group = g_strdup(l.group);
	}
	if (!l.group)
		l.group = g_strdup(*group);
	g_array_append_val(lines, l);
}

#define BOM "\357\273\277"

static GArray *parse(const char *text, size_t len)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct rc_line));
	g_autofree char *group = NULL;
	const char *end = text + len;

	g_array_set_clear_func(lines, line_clear);
	/* Some editors write a byte order mark, and CR before LF. */
	if (len >= strlen(BOM) && !memcmp(text, BOM, strlen(BOM)))
		text += strlen(BOM);
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		size_t line = (size_t)(stop - text);
		parse_line(lines, text, line - (line && text[line - 1] == '\r'), &group);
		text = stop + 1;
	}
	return lines;
}

/* --- the settings --- */

static bool read_bool(const char *text, bool *ret)
{
	static const char *const yes[] = { "yes", "true", "on", "1" };
	static const char *const no[] = { "no", "false", "off", "0" };

	for (size_t i = 0; i < G_N_ELEMENTS(yes); i++) {
		if (!g_ascii_strcasecmp(text, yes[i]) || !g_ascii_strcasecmp(text, no[i])) {
			*ret = !g_ascii_strcasecmp(text, yes[i]);
			return true;
		}
	}
	return false;
}

/* The index of a word; -1: it is none of them. */
static int find_word(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

static bool read_theme(struct prefs *p, const char *text)
{
	int i = find_word(theme_ids, text);

	p->theme = i < 0 ? p->theme : (enum theme)i;
	return i >= 0;
}

static char *write_theme(const struct prefs *p)
{
	return g_strdup(theme_ids[p->theme]);
}

static const char *const hide_words[HIDE_N + 1] = { "none", "kernel", "idle", NULL };

static bool read_hide(struct prefs *p, const char *text)
{
	int i = find_word(hide_words, text);

	p->hide = i < 0 ? p->hide : (enum hide)i;
	return i >= 0;
}

static char *write_hide(const struct prefs *p)
{
	return g_strdup(hide_words[p->hide]);
}

static bool read_memory(struct prefs *p, const char *text)
{
	size_t bytes;

	if (!timefmt_parse_bytes(text, &bytes) || (bytes && bytes < PREFS_LEAST_MEMORY))
		return false;
	p->memory = bytes;
	return true;
}

static char *write_memory(const struct prefs *p)
{
	return p->memory && p->memory % (1 << 20) == 0 ? g_strdup_printf("%zuM", p->memory >> 20) :
		g_strdup_printf("%zu", p->memory);
}

static bool read_view(struct prefs *p, const char *text)
{
	const struct view *view = view_find(text);
	bool automatic = !strcmp(text, "auto");

	if (!automatic && (!view || !view->on_screen))
		return false;
	g_free(p->view);
	p->view = automatic ? NULL : g_strdup(text);
	return true;
}

static char *write_view(const struct prefs *p)
{
	return g_strdup(p->view ? p->view : "auto");
}

/* Which presets there are is not known here. */
static bool read_presets(struct prefs *p, const char *text)
{
	g_free(p->presets);
	p->presets = g_strdup(text);
	return *text != '\0';
}

static char *write_presets(const struct prefs *p)
{
	return g_strdup(p->presets ? p->presets : "auto");
}

static bool read_step(struct prefs *p, const char *text)
{
	int64_t ns;

	if (!timefmt_parse_duration(text, &ns, NULL) || !nav_is_step(ns))
		return false;
	p->step_ns = ns;
	return true;
}

static char *write_step(const struct prefs *p)
{
	char buf[TIMEFMT_LEN];

	return g_strdup(timefmt_step(buf, p->step_ns));
}

static const struct setting {
	const char *key, *takes, *help;
	bool (*read)(struct prefs *p, const char *text);
	char *(*write)(const struct prefs *p);
	size_t flag;		/* of a setting without these functions: its bool in struct prefs */
} settings[] = {
	{ "theme", "auto, dark, light or mono",
	  "colours for this background; auto: as the terminal answers, else by $COLORFGBG, else dark",
	  .read = read_theme, .write = write_theme },
	{ "mouse", "yes or no", "blktop uses wheel and clicks; no: the terminal does, to copy text",
	  .flag = offsetof(struct prefs, mouse) },
	{ "cursor", "yes or no", "show the terminal's cursor on the selected row",
	  .flag = offsetof(struct prefs, cursor) },
	{ "accessible", "yes or no", "text for screen readers: one fact a line, the cursor on the selected row",
	  .flag = offsetof(struct prefs, accessible) },
	{ "utc", "yes or no", "show times in UTC, not in local time", .flag = offsetof(struct prefs, utc) },
	{ "ascii", "yes or no", "draw with ASCII only", .flag = offsetof(struct prefs, ascii) },
	{ "vi-keys", "yes or no", "the keys h and l go back and forward in time; ? and F1 are help",
	  .flag = offsetof(struct prefs, vi_keys) },
	{ "hide", "none, kernel or idle",
	  "threads that tables leave out (key K): kernel threads; idle: these and idle threads",
	  .read = read_hide, .write = write_hide },
	{ "memory", "a size such as 512M, at least 16M, or 0",
	  "memory for the trace; 0: the default", .read = read_memory, .write = write_memory },
	{ "presets", "auto, none or names of presets",
	  "rules for spans of well-known programs (blktop --list-presets); auto: those whose events a trace has",
	  .read = read_presets, .write = write_presets },
	{ "view", "a view's id, or auto", "the first view; auto: depends on whether the trace has requests",
	  .read = read_view, .write = write_view },
	{ "step", "1ms, 10ms, 100ms, 1s, 10s, 1m or 10m", "the first step in time",
	  .read = read_step, .write = write_step },
};

static bool read_setting(struct prefs *p, const struct setting *s, const char *text)
{
	if (s->read)
		return s->read(p, text);
	if (!read_bool(text, (bool *)((char *)p + s->flag)))
		return false;
	if (s->flag == offsetof(struct prefs, vi_keys) && p->vi_keys)
		keymap_vi();
	return true;
}

static char *write_setting(const struct prefs *p, const struct setting *s)
{
	return s->write ? s->write(p) : g_strdup(*(const bool *)((const char *)p + s->flag) ? "yes" : "no");
}

void ui_print_settings(FILE *out)
{
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
		fprintf(out, "%s\t%s\t%s\n", settings[i].key, settings[i].takes, settings[i].help);
}

/* --- reading --- */

static void warn(struct prefs *p, const char *name, guint line, const char *format, ...)
	G_GNUC_PRINTF(4, 5);

static void warn(struct prefs *p, const char *name, guint line, const char *format, ...)
{
	g_autofree char *why = NULL, *all = NULL;
	va_list ap;

	if (p->warnings->len > LIMIT_SETTINGS_WARNINGS)
		return;
	va_start(ap, format);
	why = g_strdup_vprintf(format, ap);
	va_end(ap);
	all = p->warnings->len == LIMIT_SETTINGS_WARNINGS ?
		g_strdup_printf("%s:%u: and more that is not understood", name, line) :
		g_strdup_printf("%s:%u: %s", name, line, why);
	g_ptr_array_add(p->warnings, text_visible(all));
}

/* These apply a line. NULL: valid; else what is wrong (g_free). */
static char *take_general(struct prefs *p, const struct rc_line *l)
{
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
		if (strcmp(settings[i].key, l->key))
			continue;
		return read_setting(p, &settings[i], l->value) ? NULL :
			g_strdup_printf("%s takes %s, not '%s'", l->key, settings[i].takes,
					l->value);
	}
	return g_strdup_printf("unknown key '%s'", l->key);
}

static char *take_color(struct prefs *p, const struct rc_line *l)
{
	int role = theme_role_find(l->key);
	struct style style;

	if (role < 0)
		return g_strdup_printf("unknown key '%s' in [colors]", l->key);
	if (!theme_parse_style(l->value, &style))
		return g_strdup_printf("%s takes COLOR [on COLOR] [bold|dim|reverse|underline], "
				       "not '%s'", l->key, l->value);
	p->own[role] = style;
	p->has_own[role] = true;
	return NULL;
}

static char *take_keys(const struct rc_line *l)
{
	enum command_id command = keymap_command(l->key);
	g_autoptr(GError) error = NULL;

	if (command == CMD_NONE)
		return g_strdup_printf("unknown key '%s' in [keys]: no such command", l->key);
	if (keymap_set(command, l->value, &error))
		return NULL;
	return g_strdup_printf("%s: %s", l->key, error->message);
}

/* The view of [view ID], which can also be one of the overview. */
static const struct view *view_of_group(const char *group)
{
	const char *id = group + strlen(VIEW_PREFIX);

	return !strcmp(view_overview_processes.id, id) ? &view_overview_processes :
	       !strcmp(view_overview_since.id, id) ? &view_overview_since : view_find(id);
}

/* The first of "a,b,c" that is no column, or NULL (g_free). */
static char *unknown_column(const struct view *v, const char *list)
{
	g_auto(GStrv) ids = g_strsplit(list, ",", -1);

	for (char **id = ids; *id; id++) {
		if (view_column(v, g_strstrip(*id)) < 0)
			return g_strdup(*id);
	}
	return NULL;
}

static char *take_view(struct prefs *p, const struct rc_line *l)
{
	const struct view *v = view_of_group(l->group);
	bool is_sort = !strcmp(l->key, "sort");
	g_autofree char *unknown = NULL;

	if (!v)
		return NULL;		/* its [view ...] had a warning */
	if (!is_sort && strcmp(l->key, "columns"))
		return g_strdup_printf("unknown key '%s' in [%s]", l->key, l->group);
	unknown = unknown_column(v, l->value + (is_sort && *l->value == '-'));
	if (is_sort)
		prefs_view_set_sort(p, v->id, l->value);
	else
		prefs_view_set_columns(p, v->id, l->value);
	return !unknown ? NULL :
		g_strdup_printf("%s: view %s has no column '%s'", l->key, v->id, unknown);
}

static bool is_view_group(const char *group)
{
	return g_str_has_prefix(group, VIEW_PREFIX);
}

static char *take_group(const struct rc_line *l)
{
	if (is_view_group(l->group))
		return view_of_group(l->group) ? NULL :
			g_strdup_printf("[%s]: no such view", l->group);
	if (!strcmp(l->group, GENERAL) || !strcmp(l->group, "colors") || !strcmp(l->group, "keys"))
		return NULL;
	if (g_str_has_prefix(l->group, RULE_PREFIX))
		return NULL;		/* state/spans/rules.h reads them */
	return g_strdup_printf("unknown group [%s]", l->group);
}

static char *take_line(struct prefs *p, const struct rc_line *l)
{
	if (l->bad)
		return g_strdup(l->bad);
	if (l->begins)
		return take_group(l);
	if (!l->key)
		return NULL;
	if (!strcmp(l->group, GENERAL))
		return take_general(p, l);
	if (!strcmp(l->group, "colors"))
		return take_color(p, l);
	if (!strcmp(l->group, "keys"))
		return take_keys(l);
	return is_view_group(l->group) ? take_view(p, l) : NULL;
}

void rc_read(struct prefs *p, const char *name, const char *text, size_t len)
{
	g_autoptr(GArray) lines = parse(text, len);

	for (guint i = 0; i < lines->len; i++) {
		g_autofree char *why = take_line(p, &g_array_index(lines, struct rc_line, i));

		if (why)
			warn(p, name, i + 1, "%s", why);
	}
}

/* --- writing --- */

/* The value with the escapes of key files. */
static char *escaped(const char *value)
{
	g_autoptr(GKeyFile) file = g_key_file_new();

	g_key_file_set_string(file, "g", "k", value);
	return g_key_file_get_value(file, "g", "k", NULL);
}

static void insert_line(GArray *lines, guint at, const char *group, const char *key,
			const char *value, char *text)
{
	struct rc_line l = { .text = text, .group = g_strdup(group), .key = g_strdup(key),
			     .value = g_strdup(value), .begins = group && !key };

	g_array_insert_val(lines, at, l);
}

/* The index after the last setting of the group, which is added if it is missing. */
static guint end_of_group(GArray *lines, const char *group)
{
	guint at = 0;

	for (guint i = 0; i < lines->len; i++) {
		const struct rc_line *l = &g_array_index(lines, struct rc_line, i);

		if (!g_strcmp0(l->group, group) && (l->begins || l->key))
			at = i + 1;
	}
	if (at)
		return at;
	if (lines->len)
		insert_line(lines, lines->len, NULL, NULL, NULL, g_strdup(""));
	insert_line(lines, lines->len, group, NULL, NULL, g_strdup_printf("[%s]", group));
	return lines->len;
}

static void unset(GArray *lines, const char *group, const char *key)
{
	for (guint i = lines->len; i-- > 0;) {
		const struct rc_line *l = &g_array_index(lines, struct rc_line, i);

		if (l->key && !strcmp(l->key, key) && !strcmp(l->group, group))
			g_array_remove_index(lines, i);
	}
}

/* Sets a value; NULL: removes it. A line whose value does not change keeps its spelling, as in "theme = light". */
static void set(GArray *lines, const char *group, const char *key, const char *value,
		const char *help)
{
	g_autofree char *raw = value ? escaped(value) : NULL;
	guint at;

	if (!value) {
		unset(lines, group, key);
		return;
	}
	for (guint i = lines->len; i-- > 0;) {
		struct rc_line *l = &g_array_index(lines, struct rc_line, i);

		if (!l->key || strcmp(l->key, key) || strcmp(l->group, group))
			continue;
		if (strcmp(l->value, value)) {
			g_free(l->text);
			l->text = g_strdup_printf("%s=%s", key, raw);
		}
		return;			/* the last one counts */
	}
	at = end_of_group(lines, group);
	if (help)
		insert_line(lines, at++, NULL, NULL, NULL, g_strdup_printf("# %s", help));
	insert_line(lines, at, group, key, value, g_strdup_printf("%s=%s", key, raw));
}

static void write_views(GArray *lines, const struct prefs *p)
{
	GList *ids = g_list_sort(g_hash_table_get_keys(p->views), (GCompareFunc)strcmp);

	for (GList *id = ids; id; id = id->next) {
		const struct prefs_view *v = prefs_view_get(p, id->data);
		g_autofree char *group = g_strdup_printf(VIEW_PREFIX "%s", (char *)id->data);

		set(lines, group, "columns", v->columns, NULL);
		set(lines, group, "sort", v->sort, NULL);
	}
	g_list_free(ids);
}

char *rc_write(const struct prefs *p, const char *text, size_t len)
{
	g_autoptr(GArray) lines = parse(text, len);
	GString *s = g_string_new(NULL);

	if (!lines->len)
		insert_line(lines, 0, NULL, NULL, NULL,
			    g_strdup("# Settings of blktop, written when W is pressed. "
				     "Other lines are preserved."));
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
		g_autofree char *value = write_setting(p, &settings[i]);
		g_autofree char *help = g_strdup_printf("%s (%s)", settings[i].help,
							settings[i].takes);

		set(lines, GENERAL, settings[i].key, value, help);
	}
	write_views(lines, p);
	for (guint i = 0; i < lines->len; i++)
		g_string_append_printf(s, "%s\n", g_array_index(lines, struct rc_line, i).text);
	return g_string_free(s, FALSE);
}
