/* SPDX-License-Identifier: GPL-2.0-only */
/* The keys in force: see keymap.h. */
#include "ui/keymap.h"

#include <string.h>

static struct {
	GArray *bindings;	/* struct key_binding; NULL: as shipped */
} map;

const struct key_binding *keymap(size_t *ret_n)
{
	*ret_n = map.bindings ? map.bindings->len : ui_n_bindings;
	return map.bindings ? (const struct key_binding *)(void *)map.bindings->data : ui_bindings;
}

void keymap_reset(void)
{
	g_clear_pointer(&map.bindings, g_array_unref);
}

enum command_id keymap_command(const char *id)
{
	for (int c = CMD_NONE + 1; c < CMD_N; c++) {
		if (!strcmp(ui_commands[c].id, id))
			return (enum command_id)c;
	}
	return CMD_NONE;
}

int keymap_key(const char *name)
{
	gunichar u = g_utf8_get_char_validated(name, -1);
	char buf[16];

	if (!*name)
		return UI_KEY_NONE;
	for (int key = UI_KEY_SPECIAL; key <= UI_KEY_F12; key++) {
		if (!strcmp(keys_name(key, buf), name) && strcmp(name, "?"))
			return key;
	}
	for (int key = 1; key <= UI_KEY_BACKSPACE_CHAR; key++) {
		if (!g_ascii_strcasecmp(keys_name(key, buf), name) &&
		    (key <= ' ' || *name == key))
			return key;
	}
	if (u == (gunichar)-1 || u == (gunichar)-2 || *g_utf8_next_char(name))
		return UI_KEY_NONE;
	return u > 127 && g_unichar_isgraph(u) ? (int)u : UI_KEY_NONE;
}

/* Erased or unknown: keys as the words say. */
static GArray *parse_keys(const char *text, unsigned contexts, enum command_id command,
			  GError **error)
{
	g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(int));
	g_auto(GStrv) words = g_strsplit_set(text, " \t", -1);

	for (char **w = words; *w; w++) {
		int key = **w ? keymap_key(*w) : UI_KEY_NONE;
		const char *why = NULL;

		if (!**w)
			continue;
		if (key == UI_KEY_NONE)
			why = "is no key";
		else if (key == UI_CTRL('c') && command != CMD_QUIT && contexts != CTX_PROMPT)
			why = "always leaves";
		else if ((contexts & CTX_PROMPT) && key >= ' ' && key < UI_KEY_SPECIAL &&
			 key != UI_KEY_BACKSPACE_CHAR)
			why = "is typed there";
		if (why) {
			g_set_error(error, g_quark_from_static_string("blk-keymap"), 0,
				    "'%s' %s", *w, why);
			return NULL;
		}
		g_array_append_val(keys, key);
	}
	return g_steal_pointer(&keys);
}

/* In the contexts of `b` none of its keys does anything else. */
static void put(GArray *to, const struct key_binding *b, const GArray *keys)
{
	for (guint i = 0; i < keys->len; i++) {
		struct key_binding one = *b;

		one.key = g_array_index(keys, int, i);
		if (i)
			one.bar = 0;
		g_array_append_val(to, one);
	}
}

static unsigned contexts_of(const struct key_binding *all, size_t n, enum command_id command)
{
	unsigned contexts = 0;

	for (size_t i = 0; i < n; i++) {
		if (all[i].command == command)
			contexts |= all[i].contexts;
	}
	return contexts;
}

static bool holds(const GArray *keys, int key)
{
	for (guint i = 0; i < keys->len; i++) {
		if (g_array_index(keys, int, i) == key)
			return true;
	}
	return false;
}

/* The rows of a command with other keys. */
static void put_all(GArray *to, enum command_id command, const GArray *keys)
{
	unsigned covered = 0;

	for (size_t i = 0; i < ui_n_bindings; i++) {
		struct key_binding b = ui_bindings[i];

		if (b.command != command)
			continue;
		b.contexts &= ~covered;
		b.bar &= b.contexts;
		covered |= b.contexts;
		if (b.contexts)
			put(to, &b, keys);
	}
}

bool keymap_set(enum command_id command, const char *text, GError **error)
{
	size_t n;
	const struct key_binding *all = keymap(&n);
	unsigned contexts = contexts_of(ui_bindings, ui_n_bindings, command);
	g_autoptr(GArray) keys = parse_keys(text, contexts, command, error);
	GArray *fresh;
	bool there = false;

	if (!keys)
		return false;
	fresh = g_array_new(FALSE, FALSE, sizeof(struct key_binding));
	for (size_t i = 0; i < n; i++) {
		struct key_binding b = all[i];
		bool stays = command == CMD_QUIT && b.key == UI_CTRL('c');

		/* Where it was, so that the key bar keeps its order. */
		if (b.command == command && !there)
			put_all(fresh, command, keys);
		there = there || b.command == command;
		if (b.command == command && !stays)
			continue;
		if (holds(keys, b.key) && !stays)
			b.contexts &= ~contexts;
		b.bar &= b.contexts;
		if (b.contexts)
			g_array_append_val(fresh, b);
	}
	if (!there)
		put_all(fresh, command, keys);
	keymap_reset();
	map.bindings = fresh;
	return true;
}

/* A key that one command gets in some contexts, beside those it has. */
static void add(int key, enum command_id command, unsigned contexts)
{
	size_t n;
	const struct key_binding *all = keymap(&n);
	struct key_binding b = { contexts, key, command, 0, 0, NULL };
	GArray *fresh = g_array_new(FALSE, FALSE, sizeof b);

	for (size_t i = 0; i < n; i++) {
		struct key_binding old = all[i];

		if (old.key == key)
			old.contexts &= ~contexts;
		old.bar &= old.contexts;
		if (old.contexts)
			g_array_append_val(fresh, old);
	}
	g_array_append_val(fresh, b);
	keymap_reset();
	map.bindings = fresh;
}

void keymap_vi(void)
{
	add('h', CMD_TIME_BACK, CTX_VIEWS);
	add('l', CMD_TIME_FORWARD, CTX_LISTS);	/* in a waterfall: the longest child */
}
