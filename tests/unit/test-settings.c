/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user chooses and keeps: blktoprc, keys, themes, lines typed, messages. */
#include "base/limits.h"
#include "ui/keys.h"
#include "ui/messages.h"
#include "ui/prefs.h"
#include "ui/prompt.h"
#include "ui/rc.h"
#include "ui/prompt_history.h"
#include "views/overview.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

/* --- blktoprc --- */

static struct prefs *read_rc(const char *text)
{
	struct prefs *p = prefs_new();

	rc_read(p, "rc", text, strlen(text));
	return p;
}

static void check_warning(const struct prefs *p, guint i, const char *text)
{
	g_assert_cmpuint(i, <, p->warnings->len);
	g_assert_cmpstr(g_ptr_array_index(p->warnings, i), ==, text);
}

static void test_rc_read(void)
{
	struct prefs *p = read_rc("# mine\n\n[blktop]\ntheme = light\nmouse=no\n  utc = yes\nmemory=64M\n"
				  "step=10s\nview=syscalls\ncursor=on\naccessible=yes\nhide=idle\n"
				  "[colors]\nhot = 209 on 17 bold\n"
				  "[view processes]\nsort=-pid\ncolumns = pid, comm\n"
				  "[view syscalls]\nsort=count\n");

	g_assert_cmpuint(p->warnings->len, ==, 0);
	g_assert_cmpint(p->theme, ==, THEME_LIGHT);
	g_assert_false(p->mouse);
	g_assert_true(p->utc && p->cursor && p->accessible && !p->ascii);
	g_assert_cmpint(p->hide, ==, HIDE_IDLE);
	g_assert_cmpuint(p->memory, ==, 64u << 20);
	g_assert_cmpint(p->step_ns, ==, 10 * NS_PER_S);
	g_assert_cmpstr(p->view, ==, "syscalls");
	g_assert_true(p->has_own[ROLE_HOT] && !p->has_own[ROLE_TEXT]);
	g_assert_cmpint(p->own[ROLE_HOT].fg, ==, 209);
	g_assert_cmpint(p->own[ROLE_HOT].bg, ==, 17);
	g_assert_cmpuint(p->own[ROLE_HOT].attr, ==, STYLE_BOLD);
	g_assert_cmpstr(prefs_view_get(p, "processes")->sort, ==, "-pid");
	g_assert_cmpstr(prefs_view_get(p, "processes")->columns, ==, "pid, comm");
	g_assert_null(prefs_view_get(p, "syscalls")->columns);
	g_assert_null(prefs_view_get(p, "files"));
	prefs_free(p);

	p = read_rc("\357\273\277[blktop]\r\ntheme = light\r\n");	/* as another system's editor writes */
	g_assert_cmpuint(p->warnings->len, ==, 0);
	g_assert_cmpint(p->theme, ==, THEME_LIGHT);
	prefs_free(p);
}

/* Each is told with its line, and none keeps the others from being read. */
static void test_rc_warnings(void)
{
	struct prefs *p = read_rc("theme=dark\n[blktop\n[blktop]\nnonsense\ntheme=pink\nfoo=1\nmouse=maybe\n"
				  "memory=1K\nstep=3s\nview=waterfal\n[view nope]\nsort=x\n"
				  "[view files]\nsort=-nope\nwidth=3\n[colors]\nhot=mauve\nhut=red\n"
				  "[keys]\nquit=Blah\nfly=x\npause=Ctrl-C\n[other]\na=b\n"
				  "[blktop]\nutc=yes\nview=\xff\nascii=\x1b[31m\n");

	check_warning(p, 0, "rc:1: it stands before any [GROUP]");
	check_warning(p, 1, "rc:2: neither [GROUP] nor KEY=VALUE");
	check_warning(p, 2, "rc:4: neither [GROUP] nor KEY=VALUE");
	check_warning(p, 3, "rc:5: theme takes auto, dark, light or mono, not 'pink'");
	check_warning(p, 4, "rc:6: unknown key 'foo'");
	check_warning(p, 5, "rc:7: mouse takes yes or no, not 'maybe'");
	check_warning(p, 6, "rc:8: memory takes a size such as 512M, at least 16M, or 0, not '1K'");
	check_warning(p, 7, "rc:9: step takes 1ms, 10ms, 100ms, 1s, 10s, 1m or 10m, not '3s'");
	check_warning(p, 8, "rc:10: view takes a view's id, or auto, not 'waterfal'");
	check_warning(p, 9, "rc:11: [view nope]: no such view");
	check_warning(p, 10, "rc:14: sort: view files has no column 'nope'");
	check_warning(p, 11, "rc:15: unknown key 'width' in [view files]");
	check_warning(p, 12, "rc:17: hot takes COLOR [on COLOR] [bold|dim|reverse|underline], not 'mauve'");
	check_warning(p, 13, "rc:18: unknown key 'hut' in [colors]");
	check_warning(p, 14, "rc:20: quit: 'Blah' is not a key");
	check_warning(p, 15, "rc:21: unknown key 'fly' in [keys]: no such command");
	check_warning(p, 16, "rc:22: pause: 'Ctrl-C' always quits");
	check_warning(p, 17, "rc:23: unknown group [other]");
	check_warning(p, 18, "rc:27: its value is not text");
	check_warning(p, 19, "rc:28: ascii takes yes or no, not '\\x1b[31m'");
	g_assert_cmpuint(p->warnings->len, ==, 20);
	g_assert_true(p->utc);
	prefs_free(p);
	keymap_reset();
}

/* Any bytes: read without harm, warnings bounded and visible. */
static void test_rc_hostile(void)
{
	g_autoptr(GString) many = g_string_new("[blktop]\n");

	for (int i = 0; i < 1000; i++)
		g_string_append_printf(many, "bad%d=1\n", i);
	for (int seed = 0; seed < 300; seed++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)seed);
		struct prefs *p = prefs_new();
		g_autofree char *out = NULL;
		char text[400];

		for (size_t i = 0; i < sizeof text; i++)
			text[i] = "[]=# \n\n\\\t\0\x1b\xc3\xff" "blktop view keys"[g_rand_int_range(rand, 0, 29)];
		rc_read(p, "rc", text, sizeof text);
		out = rc_write(p, text, sizeof text);
		g_assert_nonnull(strstr(out, "[blktop]\n"));
		for (guint i = 0; i < p->warnings->len; i++) {
			g_autofree char *again = text_visible(g_ptr_array_index(p->warnings, i));

			g_assert_cmpstr(again, ==, g_ptr_array_index(p->warnings, i));
		}
		prefs_free(p);
	}
	struct prefs *p = read_rc(many->str);
	g_assert_cmpuint(p->warnings->len, ==, 101);
	prefs_free(p);
	keymap_reset();
}

static void test_rc_write(void)
{
	const char *text = "# kept\n[blktop]\ntheme = dark\nfuture=42\nbroken line\nmouse=yes\n\n# views\n"
			   "[view processes]\nsort=pid\n\n[later]\nx=y";
	struct prefs *p = read_rc(text), *q;
	g_autofree char *first = NULL, *again = NULL;

	p->mouse = false;
	p->step_ns = 100 * NS_PER_MS;
	prefs_view_set_sort(p, "processes", "-pid");
	prefs_view_set_columns(p, "files", "path");
	first = rc_write(p, text, strlen(text));
	g_assert_true(g_str_has_prefix(first, "# kept\n[blktop]\ntheme = dark\nfuture=42\nbroken line\n"
				       "mouse=no\n"));
	g_assert_nonnull(strstr(first, "\nstep=100ms\n\n# views\n[view processes]\nsort=-pid\n\n"
				       "[later]\nx=y\n\n[view files]\ncolumns=path\n"));
	q = read_rc(first);
	g_assert_cmpuint(q->warnings->len, ==, 3);	/* the same as before */
	g_assert_false(q->mouse);
	g_assert_cmpint(q->step_ns, ==, 100 * NS_PER_MS);
	again = rc_write(q, first, strlen(first));
	g_assert_cmpstr(first, ==, again);
	prefs_view_set_sort(q, "processes", NULL);
	g_free(again);
	again = rc_write(q, first, strlen(first));
	g_assert_null(strstr(again, "sort="));
	prefs_free(p);
	prefs_free(q);
}

/* From nothing, everything is there, and means what is. */
static void test_rc_write_new(void)
{
	struct prefs *p = prefs_new(), *q;
	g_autofree char *text = NULL;
	char *rows = NULL;
	size_t size;
	FILE *f = open_memstream(&rows, &size);

	p->view = g_strdup("files");
	p->memory = 100u << 20;
	p->theme = THEME_MONO;
	text = rc_write(p, "", 0);
	q = read_rc(text);
	g_assert_cmpuint(q->warnings->len, ==, 0);
	g_assert_cmpstr(q->view, ==, "files");
	g_assert_cmpuint(q->memory, ==, 100u << 20);
	g_assert_cmpint(q->theme, ==, THEME_MONO);
	ui_print_settings(f);
	fclose(f);
	g_auto(GStrv) lines = g_strsplit(g_strchomp(rows), "\n", -1);
	for (char **l = lines; *l; l++) {
		g_autofree char *line = g_strdup_printf("\n%.*s=", (int)strcspn(*l, "\t"), *l);

		g_assert_nonnull(strstr(text, line));
	}
	free(rows);
	prefs_free(p);
	prefs_free(q);
}

/* What the screen keeps of any of its tables is read again. */
static void test_rc_views(void)
{
	struct prefs *p = prefs_new(), *q;
	g_autofree char *text = NULL;

	prefs_view_set_sort(p, view_overview_processes.id, view_overview_processes.columns[0].id);
	prefs_view_set_sort(p, view_overview_processes.id, view_overview_processes.columns[0].id);
	for (size_t i = 0; view_all[i]; i++)
		prefs_view_set_columns(p, view_all[i]->id, view_all[i]->columns[0].id);
	text = rc_write(p, "", 0);
	q = read_rc(text);
	g_assert_cmpuint(q->warnings->len, ==, 0);
	g_assert_cmpuint(g_hash_table_size(p->views), ==, g_hash_table_size(q->views));
	prefs_free(p);
	prefs_free(q);
}

/* --- keys --- */

static void test_keymap(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *keys = NULL;
	struct bar_entry e[40];

	g_assert_true(keymap_set(CMD_TIME_BACK, "Left  H Ctrl-B F12 é", &error));
	g_assert_cmpint(keys_find(CTX_TABLE, 'H'), ==, CMD_TIME_BACK);
	g_assert_cmpint(keys_find(CTX_WATERFALL, UI_CTRL('b')), ==, CMD_TIME_BACK);
	g_assert_cmpint(keys_find(CTX_OVERVIEW, UI_KEY_F(12)), ==, CMD_TIME_BACK);
	g_assert_cmpint(keys_find(CTX_OVERVIEW, 0xe9), ==, CMD_TIME_BACK);
	g_assert_cmpint(keys_find(CTX_PROMPT, 'H'), ==, CMD_NONE);
	keys = keys_of(CTX_TABLE, CMD_TIME_BACK);
	g_assert_cmpstr(keys, ==, "Left H Ctrl-B F12 é");
	/* Its old keys are free, those it takes do nothing else there. */
	g_assert_true(keymap_set(CMD_FILTER, "e", &error));
	g_assert_cmpint(keys_find(CTX_TABLE, '\\'), ==, CMD_NONE);
	g_assert_cmpint(keys_find(CTX_TABLE, 'e'), ==, CMD_FILTER);
	g_assert_cmpint(keys_find(CTX_WATERFALL, 'e'), ==, CMD_EXPORT);
	unsigned n = keys_bar(CTX_TABLE, false, 200, e, 40);
	bool found = false;
	for (unsigned i = 0; i < n; i++)
		found = found || (!strcmp(e[i].key, "e") && !strcmp(e[i].label, "filter"));
	g_assert_true(found);
	g_assert_true(keymap_set(CMD_FILTER, "", &error));
	g_assert_cmpint(keys_find(CTX_TABLE, 'e'), ==, CMD_NONE);
	/* Somewhere out there always is. */
	g_assert_true(keymap_set(CMD_QUIT, "X", &error));
	g_assert_cmpint(keys_find(CTX_TABLE, UI_CTRL('c')), ==, CMD_QUIT);
	g_assert_cmpint(keys_find(CTX_TABLE, 'Q'), ==, CMD_NONE);
	g_assert_false(keymap_set(CMD_ACCEPT, "a", &error));
	g_assert_cmpstr(error->message, ==, "'a' is text in a prompt");
	keymap_reset();
	g_assert_cmpint(keys_find(CTX_TABLE, 'e'), ==, CMD_EXPORT);
	keymap_vi();
	g_assert_cmpint(keys_find(CTX_TABLE, 'h'), ==, CMD_TIME_BACK);
	g_assert_cmpint(keys_find(CTX_TABLE, 'l'), ==, CMD_TIME_FORWARD);
	g_assert_cmpint(keys_find(CTX_WATERFALL, 'l'), ==, CMD_LONGEST);
	g_assert_cmpint(keys_find(CTX_TABLE, '?'), ==, CMD_HELP);
	keymap_reset();
}

/* Every key of the table can be written by its name. */
static void test_key_names(void)
{
	char buf[16];

	for (size_t i = 0; i < ui_n_bindings; i++) {
		const char *name = keys_name(ui_bindings[i].key, buf);
		int key = keymap_key(name);

		if (key != ui_bindings[i].key)
			g_assert_cmpstr(name, ==, "Backspace");
	}
	g_assert_cmpint(keymap_key("ctrl-l"), ==, UI_CTRL('l'));
	g_assert_cmpint(keymap_key("Space"), ==, ' ');
	g_assert_cmpint(keymap_key("?"), ==, '?');
	g_assert_cmpint(keymap_key("ab"), ==, UI_KEY_NONE);
	g_assert_cmpint(keymap_key(""), ==, UI_KEY_NONE);
	g_assert_cmpint(keymap_key("\xff"), ==, UI_KEY_NONE);
}

/* --- lines typed --- */

static void test_recall(void)
{
	struct prompt_history *r = prompt_history_new();
	const char *old = "filter\ta\nfilter\tb\ngoto\t+1s\nfilter\ta\nno tab\nBad\tx\nfilter\t\x1b[2J\n"
			  "filter\t\xff\nfilter\t\nfilter\tlast";
	g_autofree char *merged = NULL;

	prompt_history_read(r, old, strlen(old));
	g_assert_cmpstr(prompt_history_get(r, "filter", 0), ==, "last");
	g_assert_cmpstr(prompt_history_get(r, "filter", 1), ==, "a");
	g_assert_cmpstr(prompt_history_get(r, "filter", 2), ==, "b");
	g_assert_null(prompt_history_get(r, "filter", 3));
	g_assert_cmpstr(prompt_history_get(r, "goto", 0), ==, "+1s");
	g_assert_false(prompt_history_changed(r));
	prompt_history_add(r, "filter", "b");
	prompt_history_add(r, "filter", "evil\nline");
	prompt_history_add(r, "filter", "");
	g_assert_true(prompt_history_changed(r));
	g_assert_cmpstr(prompt_history_get(r, "filter", 0), ==, "b");
	/* What others wrote since stays; what is ours goes behind. */
	merged = prompt_history_merge(r, "filter\tothers\nfilter\tb\n", 24);
	g_assert_cmpstr(merged, ==, "filter\tothers\nfilter\tb\n");
	for (int i = 0; i < 3 * LIMIT_TYPED_LINES; i++) {
		g_autofree char *line = g_strdup_printf("line %d", i);

		prompt_history_add(r, "filter", line);
	}
	g_assert_nonnull(prompt_history_get(r, "filter", LIMIT_TYPED_LINES - 1));
	g_assert_null(prompt_history_get(r, "filter", LIMIT_TYPED_LINES));
	g_assert_cmpstr(prompt_history_get(r, "goto", 0), ==, "+1s");
	prompt_history_free(r);
}

static void type(struct prompt *p, const char *text)
{
	for (; *text; text = g_utf8_next_char(text))
		prompt_key(p, (int)g_utf8_get_char(text));
}

static void test_prompt_recall(void)
{
	struct prompt p = { 0 };

	prompt_open(&p, PROMPT_FILTER, "");
	type(&p, "one\r");
	prompt_open(&p, PROMPT_FILTER, "");
	type(&p, "two\r");
	prompt_open(&p, PROMPT_GOTO, "");
	prompt_key(&p, UI_KEY_UP);
	g_assert_cmpstr(p.text->str, ==, "");
	prompt_open(&p, PROMPT_FILTER, "");
	type(&p, "thr");
	prompt_key(&p, UI_KEY_UP);
	g_assert_cmpstr(p.text->str, ==, "two");
	prompt_key(&p, UI_KEY_UP);
	prompt_key(&p, UI_KEY_UP);
	g_assert_cmpstr(p.text->str, ==, "one");
	prompt_key(&p, UI_KEY_DOWN);
	prompt_key(&p, UI_KEY_DOWN);
	prompt_key(&p, UI_KEY_DOWN);
	g_assert_cmpstr(p.text->str, ==, "thr");
	prompt_clear(&p);
}

/* What combines is one with its character; what turns the line around stays out. */
static void test_prompt_combining(void)
{
	struct prompt p = { 0 };
	struct canvas *c = canvas_new(1, 60);
	const char *above;

	prompt_open(&p, PROMPT_SEARCH, "");
	type(&p, "ae\u0301\u0302\u4f5c\u202e\u200b\xc2\x85" "x");
	g_assert_cmpstr(p.text->str, ==, "ae\u0301\u0302\u4f5cx");
	g_assert_cmpuint(prompt_draw(&p, c, 0, &above), ==, 6);
	prompt_key(&p, UI_KEY_LEFT);
	prompt_key(&p, UI_KEY_LEFT);
	prompt_key(&p, UI_KEY_LEFT);
	g_assert_cmpuint(prompt_draw(&p, c, 0, &above), ==, 2);
	prompt_key(&p, UI_KEY_DELETE);
	g_assert_cmpstr(p.text->str, ==, "a\u4f5cx");
	prompt_clear(&p);
	canvas_free(c);
}

/* --- messages --- */

static void test_messages(void)
{
	struct messages *m = messages_new();
	g_autoptr(GPtrArray) lines = messages_lines(m, 40);
	g_autofree char *all = NULL;

	g_assert_cmpstr(g_ptr_array_index(lines, 0), ==, "  none so far");
	messages_add(m, 3 * NS_PER_S, false, "hello \x1b[1m");
	messages_add(m, 4 * NS_PER_S, true, "cannot open the file that you named: it is not there, and never was");
	messages_add(m, 5 * NS_PER_S, true, "again");
	messages_add(m, 5 * NS_PER_S, true, "again");
	messages_add(m, 7 * NS_PER_S, true, "again");
	g_ptr_array_unref(lines);
	lines = messages_lines(m, 40);
	g_ptr_array_add(lines, NULL);
	all = g_strjoinv("\n", (char **)lines->pdata);
	g_assert_cmpstr(all, ==,
			"  00:00:03 hello \\x1b[1m\n"
			"  00:00:04 ! cannot open the file that\n"
			"             you named: it is not there,\n"
			"             and never was\n"
			"  00:00:05 ! again   (3 times, until\n"
			"             00:00:07)");
	for (int i = 0; i < LIMIT_MESSAGES + 5; i++) {
		g_autofree char *text = g_strdup_printf("message %d", i);

		messages_add(m, 0, false, text);
	}
	g_ptr_array_unref(lines);
	lines = messages_lines(m, 80);
	g_assert_cmpstr(g_ptr_array_index(lines, 0), ==, "  8 older messages were dropped; --log FILE stores all");
	g_assert_cmpuint(lines->len, ==, LIMIT_MESSAGES + 1);
	messages_free(m);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/rc/read", test_rc_read);
	g_test_add_func("/rc/warnings", test_rc_warnings);
	g_test_add_func("/rc/hostile", test_rc_hostile);
	g_test_add_func("/rc/write", test_rc_write);
	g_test_add_func("/rc/write-new", test_rc_write_new);
	g_test_add_func("/rc/views", test_rc_views);
	g_test_add_func("/keymap/set", test_keymap);
	g_test_add_func("/keymap/names", test_key_names);
	g_test_add_func("/recall/lines", test_recall);
	g_test_add_func("/prompt/recall", test_prompt_recall);
	g_test_add_func("/prompt/combining", test_prompt_combining);
	g_test_add_func("/messages/all", test_messages);
	return g_test_run();
}
