/* SPDX-License-Identifier: GPL-2.0-only */
/* The command and key tables, and what is made from them. */
#include "lib/canvas_text.h"
#include "ui/escape.h"
#include "ui/keys.h"
#include "ui/popup.h"
#include "ui/prompt.h"
#include "ui/ui.h"

#include <string.h>

static const enum context contexts[] = {
	CTX_OVERVIEW, CTX_TABLE, CTX_WATERFALL, CTX_POPUP, CTX_PROMPT, CTX_CHOOSER, CTX_HEATMAP,
	CTX_TIMELINE, CTX_FLAME,
};

static void test_reachable(void)
{
	for (int c = 1; c < CMD_N; c++) {
		g_autofree char *keys = keys_of(~0u, c);

		g_assert_nonnull(ui_commands[c].id);
		g_assert_cmpstr(keys, !=, "");
		g_assert_cmpstr(ui_commands[c].help, !=, "");
		for (int other = 1; other < c; other++)
			g_assert_cmpstr(ui_commands[c].id, !=, ui_commands[other].id);
	}
}

static void test_no_key_twice(void)
{
	for (size_t i = 0; i < ui_n_bindings; i++) {
		for (size_t k = 0; k < i; k++) {
			if (ui_bindings[i].key == ui_bindings[k].key)
				g_assert_cmpuint(ui_bindings[i].contexts & ui_bindings[k].contexts,
						 ==, 0);
		}
		unsigned bars = ui_bindings[i].contexts;

		bars |= (bars & CTX_TABLE ? CTX_LOG_BAR : 0) | (bars & CTX_ROWS ? CTX_REQUEST_BAR : 0) |
			(bars & CTX_VIEWS ? CTX_TOP_BAR | CTX_MORE_BAR : 0) | (bars & CTX_OVERVIEW ? CTX_SPANS_BAR : 0);
		g_assert_cmpuint(ui_bindings[i].bar & ~bars, ==, 0);
	}
}

static void test_find(void)
{
	g_assert_cmpint(keys_find(CTX_OVERVIEW, '\n'), ==, CMD_DRILL);
	g_assert_cmpint(keys_find(CTX_OVERVIEW, UI_KEY_ENTER), ==, CMD_DRILL);
	g_assert_cmpint(keys_find(CTX_WATERFALL, 'z'), ==, CMD_ZOOM_IN);
	g_assert_cmpint(keys_find(CTX_TABLE, 'z'), ==, CMD_STEP_FINER);
	g_assert_cmpint(keys_find(CTX_POPUP, 'w'), ==, CMD_NONE);
	g_assert_cmpint(keys_find(CTX_POPUP, 'e'), ==, CMD_NONE);
	for (size_t i = 0; i < G_N_ELEMENTS(contexts); i++) {
		for (size_t b = 0; b < ui_n_bindings; b++) {
			if (ui_bindings[b].contexts & contexts[i])
				g_assert_cmpint(keys_find(contexts[i], ui_bindings[b].key), ==,
						ui_bindings[b].command);
		}
	}
}

static bool help_has(const GPtrArray *lines, const char *text)
{
	for (guint i = 0; i < lines->len; i++) {
		if (strstr(g_ptr_array_index(lines, i), text))
			return true;
	}
	return false;
}

static void test_help_lists_all(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(contexts); i++) {
		g_autoptr(GPtrArray) lines = keys_help(contexts[i]);

		for (size_t b = 0; b < ui_n_bindings; b++) {
			const char *help = ui_commands[ui_bindings[b].command].help;

			if (ui_bindings[b].contexts & contexts[i])
				g_assert_true(help_has(lines, help));
		}
		for (int c = 1; c < CMD_N; c++) {
			g_autofree char *keys = keys_of(contexts[i] | CTX_PROMPT, c);

			if (!*keys)
				g_assert_false(help_has(lines, ui_commands[c].help));
		}
	}
}

static void test_names(void)
{
	char buf[16];
	g_autofree char *back = keys_of(CTX_TABLE, CMD_BACK);

	g_assert_cmpstr(keys_name(UI_KEY_F(10), buf), ==, "F10");
	g_assert_cmpstr(keys_name(UI_CTRL('l'), buf), ==, "Ctrl-L");
	g_assert_cmpstr(keys_name('?', buf), ==, "?");
	g_assert_cmpstr(back, ==, "Esc Backspace q");
}

/* Whatever the width: fits, only keys of the context, the help always. */
static void test_bar(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(contexts); i++) {
		for (unsigned cols = 60; cols <= 240; cols += 5) {
			struct bar_entry e[40];
			unsigned n = keys_bar(contexts[i], false, cols, e, 40), used = 0;

			g_assert_cmpuint(n, >, 0);
			for (unsigned k = 0; k < n; k++)
				used += strlen(e[k].key) + e[k].spaced + strlen(e[k].label) + 1 +
					(e[k].divided ? 2 : 0);
			g_assert_cmpuint(used, <=, cols + 1);
			if (contexts[i] & CTX_VIEWS)
				g_assert_cmpstr(e[n - 1].key, ==, "?");
		}
	}
}

/* Does the bar have this key, alone or joined with others? */
static bool bar_has(const struct bar_entry *e, unsigned n, int key)
{
	char name[16];

	keys_name(key, name);
	for (unsigned i = 0; i < n; i++)
		if (e[i].code == key || (e[i].n_joined && strchr(e[i].key, key)))
			return true;
	return false;
}

/* What is not in the bar is in the second one, which one key of the bar shows: also where there is little room. */
static const char *label_of_enter(unsigned context)
{
	static struct bar_entry e[40];
	unsigned n = keys_bar(context, false, 200, e, 40);

	for (unsigned i = 0; i < n; i++)
		if (e[i].code == UI_KEY_ENTER)
			return e[i].label;
	return "";
}

/* Enter says why only where it opens slow requests. */
static void test_why(void)
{
	g_assert_cmpstr(label_of_enter(CTX_OVERVIEW | CTX_WHY_BAR), ==, "why");
	g_assert_cmpstr(label_of_enter(CTX_OVERVIEW), ==, "open");
	g_assert_cmpstr(label_of_enter(CTX_TABLE), ==, "open");
}

static void test_second_bar(void)
{
	static const enum command_id wanted[] = {
		CMD_RANGE_ALL, CMD_HEATMAP, CMD_DISTRIBUTION, CMD_VIEW_TIMELINE, CMD_VIEW_FLAME, CMD_VIEW_LOG,
	};

	for (size_t i = 0; i < G_N_ELEMENTS(contexts); i++) {
		unsigned context = contexts[i];

		if (!(context & CTX_VIEWS) || (context & (context - 1)))
			continue;
		for (unsigned cols = 60; cols <= 240; cols += 5) {
			struct bar_entry e[40];
			unsigned n = keys_bar(context | CTX_TOP_BAR, false, cols, e, 40), used = 0;

			g_assert_true(bar_has(e, n, ',') && bar_has(e, n, '?'));
			n = keys_bar(context | CTX_MORE_BAR, false, cols, e, 40);
			for (unsigned k = 0; k < n; k++)
				used += (unsigned)strlen(e[k].key) + e[k].spaced + (unsigned)strlen(e[k].label) + 1 +
					(e[k].divided ? 2 : 0);
			g_assert_cmpuint(used, <=, cols + 1);
			for (size_t w = 0; w < G_N_ELEMENTS(wanted); w++) {
				g_autofree char *key = keys_of(context, wanted[w]);

				g_assert_true(!*key || (cols < 80 && wanted[w] == CMD_VIEW_TIMELINE) ||
					      bar_has(e, n, *key));
			}
		}
	}
}

static void test_man(void)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ui_print_keys(f);
	fclose(f);
	g_assert_nonnull(strstr(text, ".SS Why\n.TP\n.B Enter\n"));
	g_assert_nonnull(strstr(text, ".B \\(rs F4\n"));
	for (const char *p = text; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		if (*p == '.')
			g_assert_true(g_str_has_prefix(p, ".SS ") || g_str_has_prefix(p, ".TP\n") ||
				      g_str_has_prefix(p, ".B "));
	}
	free(text);
}

static void type(struct prompt *p, const char *text)
{
	for (; *text; text = g_utf8_next_char(text))
		prompt_key(p, (int)g_utf8_get_char(text));
}

static void test_prompt(void)
{
	struct prompt p = { 0 };
	struct canvas *c = canvas_new(1, 60);
	const char *above;
	g_autofree char *line = NULL;

	prompt_open(&p, PROMPT_FILTER, "");
	type(&p, "pid == 作者 ab");
	g_assert_cmpint(prompt_key(&p, UI_CTRL('w')), ==, PROMPT_EDITING);
	g_assert_cmpstr(p.text->str, ==, "pid == 作者 ");
	prompt_key(&p, UI_KEY_BACKSPACE);
	prompt_key(&p, UI_KEY_BACKSPACE_CHAR);
	g_assert_cmpstr(p.text->str, ==, "pid == 作");
	prompt_key(&p, UI_KEY_LEFT);
	prompt_key(&p, UI_KEY_DELETE);
	prompt_key(&p, UI_KEY_DELETE);
	type(&p, "4\033");
	g_assert_cmpstr(p.text->str, ==, "pid == 4");
	prompt_key(&p, UI_KEY_HOME);
	type(&p, "!");
	g_assert_cmpuint(prompt_draw(&p, c, 0, &above), ==, 9);
	line = canvas_line(c, 0);
	g_assert_cmpstr(line, ==, "filter: !pid == 4");
	g_assert_cmpint(prompt_key(&p, UI_KEY_ENTER), ==, PROMPT_ACCEPTED);
	prompt_open(&p, PROMPT_FILTER, "");
	g_assert_cmpint(prompt_key(&p, UI_KEY_UP), ==, PROMPT_EDITING);
	g_assert_cmpstr(p.text->str, ==, "!pid == 4");
	prompt_key(&p, UI_CTRL('u'));
	g_assert_cmpstr(p.text->str, ==, "");
	g_assert_cmpint(prompt_key(&p, UI_KEY_BACKSPACE), ==, PROMPT_CANCELLED);
	g_assert_cmpint(prompt_key(&p, UI_KEY_ESC), ==, PROMPT_CANCELLED);
	prompt_clear(&p);
	canvas_free(c);
}

/* A line longer than the screen: the cursor stays on it. */
static void test_prompt_long(void)
{
	struct prompt p = { 0 };
	struct canvas *c = canvas_new(1, 60);
	const char *above;

	prompt_open(&p, PROMPT_SEARCH, "");
	for (int i = 0; i < 300; i++) {
		type(&p, "作");
		g_assert_cmpuint(prompt_draw(&p, c, 0, &above), <, 60);
	}
	prompt_open(&p, PROMPT_EXPORT, "");
	g_assert_cmpuint(prompt_draw(&p, c, 0, &above), >, 30);		/* the label fits at 60 columns */
	prompt_open(&p, PROMPT_FILTER, "");
	type(&p, "(");
	prompt_set_error(&p, "filter '(': expected a column, a word or '(', at character 2");
	prompt_draw(&p, c, 0, &above);
	g_autofree char *dump = canvas_dump(c);
	g_assert_nonnull(strstr(dump, "filter: ("));		/* and what it is about */
	g_assert_nonnull(strstr(dump, " expected a column, a word or '(', at"));
	g_assert_null(above);
	type(&p, " ");					/* the error is of what was taken, and goes above */
	prompt_set_error(&p, "filter '(': expected a column, a word or '(', at character 2");
	g_autofree char *again = (prompt_draw(&p, c, 0, &above), canvas_dump(c));
	g_assert_cmpstr(again, ==, "filter: (\n");
	g_assert_cmpstr(above, ==, "expected a column, a word or '(', at character 2");
	prompt_set_error(&p, "no such column 'x' at 1, and a text that is longer than the line is");
	g_assert_cmpuint(prompt_draw(&p, c, 0, &above), <, 60);
	for (int i = 0; i < 5000; i++)
		type(&p, "a");
	g_assert_cmpuint(p.text->len, <, 4100);
	prompt_clear(&p);
	canvas_free(c);
}

/* What follows Esc. */
static void test_escape(void)
{
	static const struct { const char *s; int key; } all[] = {
		{ "[1~", UI_KEY_HOME }, { "[H", UI_KEY_HOME }, { "OF", UI_KEY_END },
		{ "[1;2D", UI_KEY_SLEFT }, { "[Z", UI_KEY_BACKTAB }, { "[[A", UI_KEY_F(1) },
		{ "[24~", UI_KEY_F(12) }, { "OP", UI_KEY_F(1) }, { "[1;5D", UI_KEY_OTHER },
		{ "[1;3D", UI_KEY_ALEFT }, { "[1;3C", UI_KEY_ARIGHT },
		{ "[200~", UI_KEY_OTHER }, { "[I", UI_KEY_OTHER }, { "[?1;2c", UI_KEY_OTHER },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		g_assert_true(escape_begins((gunichar)all[i].s[0]));
		for (size_t n = 1; n < strlen(all[i].s); n++) {
			g_autofree char *part = g_strndup(all[i].s, n);

			g_assert_false(escape_is_whole(part));
		}
		g_assert_true(escape_is_whole(all[i].s));
		g_assert_cmpint(escape_key(all[i].s), ==, all[i].key);
	}
	g_assert_true(escape_is_whole("[1111111111111111"));	/* it ends at some time */
	g_assert_false(escape_begins('q'));
}

static char *without_blanks(GPtrArray *lines)
{
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < lines->len; i++) {
		for (const char *c = g_ptr_array_index(lines, i); *c; c++) {
			if (*c != ' ')
				g_string_append_c(s, *c);
		}
	}
	return g_string_free(s, FALSE);
}

/* Nothing of a text is cut, however wide the screen is, and again when that changes. */
static void test_popup_wraps(void)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	struct canvas *c = canvas_new(20, 30);
	g_autofree char *all = NULL;
	struct popup p = { 0 };

	g_ptr_array_add(lines, g_strdup("  key      what it does is told here, in words"));
	g_ptr_array_add(lines, g_strdup(""));
	g_ptr_array_add(lines, g_strdup(" /a/path/without/any/blank/that/is/too/long/for/it"));
	g_ptr_array_add(lines, g_strdup(" ends in    "));
	g_ptr_array_add(lines, g_strdup("   "));
	all = without_blanks(lines);
	popup_open(&p, "Text", lines, false);
	for (unsigned cols = 60; cols >= 8; cols -= 4) {
		g_autofree char *dump = NULL, *said = NULL;

		canvas_resize(c, 20, cols);
		popup_draw(&p, c, glyphs_get(false));
		said = without_blanks(p.wrapped);
		g_assert_cmpstr(said, ==, all);
		for (guint i = 0; i < p.wrapped->len; i++)
			g_assert_cmpuint(strlen(g_ptr_array_index(p.wrapped, i)), <, cols);
		dump = canvas_dump(c);
		g_assert_null(strchr(dump, '~'));
		if (cols == 40)		/* below what it began with */
			g_assert_nonnull(strstr(dump, "\n            in words"));
		popup_command(&p, CMD_BOTTOM);
	}
	popup_close(&p);
	canvas_free(c);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/keys/reachable", test_reachable);
	g_test_add_func("/keys/no-key-twice", test_no_key_twice);
	g_test_add_func("/keys/find", test_find);
	g_test_add_func("/keys/help-lists-all", test_help_lists_all);
	g_test_add_func("/keys/names", test_names);
	g_test_add_func("/keys/bar", test_bar);
	g_test_add_func("/keys/why-bar", test_why);
	g_test_add_func("/keys/second-bar", test_second_bar);
	g_test_add_func("/keys/man", test_man);
	g_test_add_func("/popup/wraps", test_popup_wraps);
	g_test_add_func("/keys/escape", test_escape);
	g_test_add_func("/prompt/edit", test_prompt);
	g_test_add_func("/prompt/long", test_prompt_long);
	return g_test_run();
}
