/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One table of commands and one of keys, from which dispatching, key bar, help and man page are made.
 */
#ifndef BLK_UI_KEYS_H
#define BLK_UI_KEYS_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/* Keys are Unicode characters (control keys 1..31), or these. */
enum ui_key {
	UI_KEY_NONE = 0,
	UI_KEY_BACKSPACE_CHAR = 127,
	UI_KEY_SPECIAL = 0x200000,
	UI_KEY_UP, UI_KEY_DOWN, UI_KEY_LEFT, UI_KEY_RIGHT, UI_KEY_SLEFT, UI_KEY_SRIGHT,
	UI_KEY_ALEFT, UI_KEY_ARIGHT,
	UI_KEY_PGUP, UI_KEY_PGDN, UI_KEY_HOME, UI_KEY_END, UI_KEY_DELETE, UI_KEY_BACKSPACE,
	UI_KEY_BACKTAB, UI_KEY_RESIZE, UI_KEY_MOUSE, UI_KEY_OTHER,
	UI_KEY_F0, UI_KEY_F12 = UI_KEY_F0 + 12,
};
#define UI_CTRL(c) ((c) & 0x1f)
#define UI_KEY_ENTER '\r'
#define UI_KEY_ESC 27
#define UI_KEY_F(n) (UI_KEY_F0 + (n))

/* Where a key is pressed. Exactly one is in effect at a time; combinations are for tables. */
enum context {
	CTX_OVERVIEW = 1, CTX_TABLE = 2, CTX_WATERFALL = 4, CTX_POPUP = 8, CTX_PROMPT = 16,
	CTX_CHOOSER = 32, CTX_HEATMAP = 64, CTX_TIMELINE = 128, CTX_FLAME = 256,
	CTX_LISTS = CTX_OVERVIEW | CTX_TABLE,
	CTX_PAINTED = CTX_WATERFALL | CTX_TIMELINE,
	CTX_ROWS = CTX_LISTS | CTX_PAINTED,
	CTX_VIEWS = CTX_ROWS | CTX_HEATMAP | CTX_FLAME,
	CTX_MOVING = CTX_VIEWS | CTX_POPUP | CTX_CHOOSER,
	/* Only in .bar, beside the context: of the log; where the selected row is of a request. */
	CTX_LOG_BAR = 1024, CTX_REQUEST_BAR = 2048,
	/* Likewise: where q quits; the second bar, which has other keys of the context. */
	CTX_TOP_BAR = 4096, CTX_MORE_BAR = 8192,
	/* Also given to keys_bar(): Enter opens slow requests, so it says why they are slow. */
	CTX_WHY_BAR = 16384,
	CTX_SPANS_BAR = 32768,	/* where there are spans */
};
#define CTX_N 9

enum command_id {
	CMD_NONE,
	CMD_VIEW_1, CMD_VIEW_2, CMD_VIEW_3, CMD_VIEW_4, CMD_VIEW_5, CMD_VIEW_6, CMD_VIEW_7,
	CMD_VIEW_8, CMD_VIEW_9, CMD_VIEW_LIST, CMD_VIEW_LOG, CMD_VIEW_TIMELINE, CMD_VIEW_FLAME,
	CMD_VIEW_NEXT, CMD_VIEW_PREV,
	CMD_DRILL, CMD_BACK, CMD_GO_BACK, CMD_GO_FORTH, CMD_BOOKMARK, CMD_BOOKMARKS, CMD_WAKER, CMD_PATH, CMD_LONGEST,
	CMD_COMPARE, CMD_CHANGED, CMD_STATES,
	CMD_EXPORT, CMD_EXPORT_AS,
	CMD_COPY, CMD_SAVE, CMD_SCREENSHOT,
	CMD_SAVE_TRACE, CMD_TIME_BACK, CMD_TIME_FORWARD, CMD_TIME_BACK_10, CMD_TIME_FORWARD_10,
	CMD_GOTO, CMD_GRAPH, CMD_PAUSE, CMD_FOLLOW, CMD_STEP_FINER, CMD_STEP_COARSER, CMD_RANGE_A,
	CMD_RANGE_B, CMD_RANGE_CLEAR, CMD_RANGE_ALL, CMD_NEXT, CMD_PREV, CMD_ERROR_NEXT, CMD_ERROR_PREV,
	CMD_UP, CMD_DOWN, CMD_PAGE_UP, CMD_PAGE_DOWN, CMD_TOP, CMD_BOTTOM, CMD_SEARCH,
	CMD_FILTER, CMD_SORT_LEFT, CMD_SORT_RIGHT, CMD_INVERT, CMD_BY, CMD_TREE,
	CMD_TAG, CMD_UNTAG, CMD_ONLY_TAGGED, CMD_HIDE, CMD_COLUMNS, CMD_SORT_MENU, CMD_VIEW_INFO, CMD_CLEAR,
	CMD_ZOOM_IN, CMD_ZOOM_OUT, CMD_HEATMAP, CMD_DISTRIBUTION, CMD_SELECT,
	CMD_CURSOR_LEFT, CMD_CURSOR_RIGHT, CMD_PAN_LEFT, CMD_PAN_RIGHT,
	CMD_EXPAND, CMD_COLLAPSE, CMD_EXPAND_ALL, CMD_HELP, CMD_MORE_KEYS, CMD_EXPLAIN, CMD_LOG,
	CMD_COACH, CMD_THEME, CMD_MOUSE, CMD_WRITE, CMD_SNAPSHOT, CMD_ALIGN, CMD_SUGGEST,
	CMD_REDRAW, CMD_SUSPEND, CMD_QUIT,
	CMD_TOGGLE, CMD_SHIFT_UP, CMD_SHIFT_DOWN, CMD_RESET,
	CMD_ACCEPT, CMD_CANCEL, CMD_CHAR_LEFT, CMD_CHAR_RIGHT, CMD_LINE_BEGIN, CMD_LINE_END,
	CMD_ERASE, CMD_ERASE_RIGHT, CMD_ERASE_WORD, CMD_ERASE_LINE, CMD_HISTORY,
	CMD_HISTORY_NEWER, CMD_COMPLETE,
	CMD_N
};

struct command {
	const char *id;		/* "time-back": in blktoprc and tests */
	const char *name;	/* in the key bar: "Phases", "waker" */
	const char *group;	/* heading in the help */
	const char *help;	/* one line, no full stop */
};

struct key_binding {
	unsigned contexts;	/* CTX_ bits */
	int key;
	enum command_id command;
	unsigned bar;		/* contexts whose key bar shows it */
	unsigned rank;		/* in a short key bar, low ranks are shown first */
	const char *label;	/* in the key bar; NULL: the command's name */
};

extern const struct command ui_commands[CMD_N];
extern const struct key_binding ui_bindings[];
extern const size_t ui_n_bindings;

/*
 * The keys in force: ui_bindings[] with the changes of blktoprc. One set a process. The first match wins.
 */
const struct key_binding *keymap(size_t *ret_n);
void keymap_reset(void);
/* Binds a command to these keys ("Left H Ctrl-B"; "": to none) in all contexts that have it, and unbinds
 * what the keys did there. Ctrl-C always quits. */
bool keymap_set(enum command_id command, const char *keys, GError **error);
/* h and l do what Left and Right do. */
void keymap_vi(void);
enum command_id keymap_command(const char *id);	/* CMD_NONE: no such command */
int keymap_key(const char *name);		/* a name as of keys_name(); UI_KEY_NONE: no such key */

/* By how many rows a command moves in a list of n that shows a page of them; 0: it does not move. */
long keys_rows(enum command_id command, size_t page, size_t n);
enum command_id keys_find(enum context context, int key);
/* "Enter", "Ctrl-L", "F2", "a". */
const char *keys_name(int key, char buf[16]);
/* All keys of a command in these contexts, "q Esc Backspace". Free with g_free. */
char *keys_of(unsigned contexts, enum command_id command);
/* Lines of help for a context (char *, freed by the array). Entries begin with two blanks, headings do not. */
GPtrArray *keys_help(enum context context);

/* The key bar of one context (with CTX_LOG_BAR, CTX_REQUEST_BAR, CTX_TOP_BAR, or CTX_MORE_BAR): at most `cols` columns;
 * each entry is a key and its label. */
struct bar_entry {
	char key[16];
	int code;		/* the key; of joined ones the first */
	unsigned n_joined;	/* number of single-character keys in key, as in "[]"; 0: one key */
	const char *label;	/* "" for none */
	bool spaced;		/* ':' between them */
	bool divided;		/* a '|' before it */
};
unsigned keys_bar(unsigned context, bool coach, unsigned cols, struct bar_entry *ret,
		  unsigned max);

#endif
