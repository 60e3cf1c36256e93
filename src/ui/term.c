/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal with curses: see term.h. Signals and crashes are in term_signal.c. */
#include "ui/term.h"

#include "base/fail.h"
#include "base/text.h"
#include "ui/background.h"
#include "ui/escape.h"
#include "ui/keys.h"
#include "ui/painter.h"
#include "ui/term_signal.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <term.h>
#include <unistd.h>

/* How long the first rows wait for the terminal's answer, and how long after its question the screen stays for it. */
#define FIRST_ANSWER_US (100 * 1000)
#define LAST_ANSWER_US (300 * 1000)
#define MOUSE_EVENTS 16			/* curses stores 8 */
#define ANSWER_PAUSE_US (1000 * 1000)	/* after such a pause an answer does not continue */

static struct {
	SCREEN *screen;
	FILE *in;		/* /dev/tty if stdin is not a terminal, else NULL */
	enum scheme scheme;
	struct style style[ROLE_N];
	bool mouse;
	struct term_mouse event, events[MOUSE_EVENTS];	/* the current one; further ones, the oldest last */
	unsigned n_events;
	char *note;
	int stderr_log, stderr_real;	/* -1: not redirected */
	off_t stderr_read;
	int color, colors;	/* as in term_options */
	struct painter *painter;	/* NULL: curses paints */
	bool blank;		/* the painter begins with a blank screen */
	const struct prefs *prefs;	/* the caller's, or NULL */
	struct background background;	/* stays when the screen ends: it is asked once */
	enum theme_background background_seen;
	gint64 asked_us, answer_us;	/* monotonic: the query was written, the last piece of an answer came */
	GArray *early;		/* int: keys that were pressed while the answer was waited for, or NULL */
} term = { .stderr_log = -1, .stderr_real = -1 };

static bool term_known(const char *name)
{
	int status;

	if (!name || !*name || setupterm(name, STDOUT_FILENO, &status) != OK)
		return false;
	del_curterm(cur_term);		/* newterm() makes its own */
	return true;
}

static SCREEN *open_screen(FILE *in)
{
	const char *name = getenv("TERM");
	SCREEN *screen;

	if (term_known(name) && (screen = newterm(name, stdout, in)))
		return screen;
	term.note = g_strdup_printf("TERM=%s is unknown here: taken as xterm-256color",
				    name ? name : "");
	if (term_known("xterm-256color") && (screen = newterm("xterm-256color", stdout, in)))
		return screen;
	return term_known("vt100") ? newterm("vt100", stdout, in) : NULL;
}

static void stderr_divert(void)
{
	term.stderr_log = memfd_create("blktop-stderr", MFD_CLOEXEC);
	if (term.stderr_log < 0)
		return;
	fflush(stderr);
	term.stderr_read = 0;
	term.stderr_real = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(term.stderr_log, STDERR_FILENO);
}

static void stderr_restore(void)
{
	char buf[4096];
	ssize_t n;

	if (term.stderr_log < 0)
		return;
	fflush(stderr);
	if (term.stderr_real >= 0) {
		dup2(term.stderr_real, STDERR_FILENO);
		close(term.stderr_real);
	}
	lseek(term.stderr_log, 0, SEEK_SET);
	while ((n = read(term.stderr_log, buf, sizeof buf)) > 0) {
		if (write(STDERR_FILENO, buf, (size_t)n) < 0)
			break;
	}
	close(term.stderr_log);
	term.stderr_log = term.stderr_real = -1;
}

char *term_stderr(void)
{
	char buf[1024];
	ssize_t n;

	if (term.stderr_log < 0)
		return NULL;
	n = pread(term.stderr_log, buf, sizeof buf, term.stderr_read);
	if (n <= 0)
		return NULL;
	term.stderr_read += n;
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	return n ? text_visible_len(buf, (size_t)n) : NULL;
}

static short pair_of(enum role role, bool selected)
{
	return (short)(1 + (int)role + (selected && COLOR_PAIRS > 2 * ROLE_N ? ROLE_N : 0));
}

/* Terminals that have few colours, do not answer, and print what they do not know. */
static bool is_simple(const char *name)
{
	return !name || !strcmp(name, "dumb") || !strcmp(name, "linux") || g_str_has_prefix(name, "vt");
}

static bool has_string(const char *capability)
{
	const char *s = tigetstr(capability);

	return s && s != (char *)-1;
}

/* Does the terminal take 24-bit colours, as it or its description says? COLORTERM is of the terminal around screen,
 * which prints such colours as something else; tmux takes them in any case. */
static bool has_rgb(void)
{
	const char *name = getenv("TERM"), *says = getenv("COLORTERM");
	bool in_screen = name && g_str_has_prefix(name, "screen") && !getenv("TMUX");

	if (tigetflag("RGB") > 0 || tigetnum("RGB") > 0 || has_string("RGB") || tigetflag("Tc") > 0 ||
	    (has_string("setrgbf") && has_string("setrgbb")) || (name && g_str_has_suffix(name, "-direct")))
		return true;
	return says && (!strcmp(says, "truecolor") || !strcmp(says, "24bit")) && has_colors() && !is_simple(name) &&
	       !in_screen;
}

static int n_colors(void)
{
	int n = has_rgb() ? COLORS_RGB : has_colors() ? COLORS : 0;

	return term.colors == COLORS_RGB ? COLORS_RGB : term.colors ? MIN(n, term.colors) : n;
}

static enum scheme scheme_of(enum theme theme)
{
	return theme_choose(term.color, theme, n_colors(), getenv("NO_COLOR"), term.background.color,
			    getenv("COLORFGBG"));
}

bool term_has_colors(void)
{
	return scheme_of(THEME_DARK) != SCHEME_MONO;
}

enum theme term_set_theme(enum theme theme)
{
	const struct prefs *p = term.prefs;

	term.scheme = scheme_of(theme);
	for (int r = 0; r < ROLE_N; r++) {
		term.style[r] = theme_style(term.scheme, r);
		if (p && p->has_own[r])
			term.style[r] = theme_own_style(term.scheme, r, &p->own[r]);
		if (term.scheme != SCHEME_MONO && !term.painter)
			init_pair(pair_of(r, false), (short)term.style[r].fg, (short)term.style[r].bg);
	}
	for (int r = 0; COLOR_PAIRS > 2 * ROLE_N && r < ROLE_N && !term.painter; r++)
		init_pair(pair_of(r, true), (short)term.style[r].fg, (short)term.style[ROLE_SELECTED].bg);
	term_redraw();
	return theme_of_scheme(term.scheme);
}

static void colors_start(const struct term_options *o)
{
	term.color = o->color;
	term.colors = o->colors;
	term.prefs = o->prefs;
	if (has_colors() && start_color() == OK)
		use_default_colors();
	/* Direct colours of curses are no numbers of a palette: there the painter also paints when fewer are asked. */
	if (term_has_colors() && (n_colors() >= COLORS_RGB || has_rgb()))
		term.painter = painter_new();
	term_set_theme(o->prefs ? o->prefs->theme : THEME_AUTO);
}

/* Prepares the string that restores the terminal, for use in a crash. */
static void leave_string(void)
{
	static const char *const caps[] = { "sgr0", "op", "rmkx", "cnorm", "rmcup" };
	GString *s = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(caps); i++) {
		const char *cap = tigetstr(caps[i]);

		if (cap && cap != (char *)-1)
			g_string_append(s, cap);
	}
	/* All modes of mouse reporting; terminals ignore those they do not know. */
	if (key_mouse)
		g_string_append(s, "\033[?1006l\033[?1003l\033[?1002l\033[?1000l");
	g_string_append_c(s, '\r');
	term_signal_leave(s->str, s->len, term.stderr_real);
	g_string_free(s, TRUE);
}

static bool is_answered(void)
{
	return term.background.color != BACKGROUND_UNKNOWN || term.background.has_kind;
}

static int read_key(void);

/* Reads until the terminal has answered, or this time has passed since it was asked. keep: keys are for term_key(). */
static void wait_for_answer(gint64 us, bool keep)
{
	struct pollfd in = { .fd = term_fd(), .events = POLLIN };
	gint64 rest;

	while ((rest = term.asked_us + us - g_get_monotonic_time()) > 0 && !is_answered()) {
		int key = read_key();

		if (key != UI_KEY_NONE && keep)
			g_array_append_val(term.early, key);
		if (key == UI_KEY_NONE && !is_answered() &&
		    (poll(&in, 1, (int)(rest / 1000) + 1) < 0 || (in.revents & (POLLHUP | POLLERR | POLLNVAL))))
			return;
	}
}

/* Asks for the background if the theme depends on it. */
static void ask_background(enum theme theme)
{
	if (term.background.asked || theme != THEME_AUTO || !term_has_colors() || term.note ||
	    is_simple(getenv("TERM")))
		return;
	if (write(STDOUT_FILENO, BACKGROUND_QUERY, strlen(BACKGROUND_QUERY)) < 0)
		return;
	background_asked(&term.background);
	term.asked_us = g_get_monotonic_time();
	term.early = g_array_new(FALSE, FALSE, sizeof(int));
	wait_for_answer(FIRST_ANSWER_US, true);
	if (term_background_changed())
		term_set_theme(theme);
}

bool term_background_changed(void)
{
	bool changed = term.background.color != term.background_seen;

	term.background_seen = term.background.color;
	return changed;
}

bool term_start(const struct term_options *options, GError **error)
{
	const char *locale = setlocale(LC_CTYPE, NULL);

	if (!locale || !strcmp(locale, "C"))
		setlocale(LC_CTYPE, "");
	term.in = isatty(STDIN_FILENO) ? NULL : fopen("/dev/tty", "re");
	if (!isatty(STDOUT_FILENO) || (!isatty(STDIN_FILENO) && !term.in))
		return fail(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
			    "cannot start the screen: %s is not a terminal (use --batch)",
			    isatty(STDOUT_FILENO) ? "standard input" : "standard output");
	term_signal_begin(term.in ? fileno(term.in) : STDIN_FILENO);
	term.screen = open_screen(term.in ? term.in : stdin);
	if (!term.screen) {
		term_signal_end();
		return fail(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
			    "cannot start the screen: no description of the terminal '%s'",
			    getenv("TERM") ? getenv("TERM") : "");
	}
	set_term(term.screen);
	if (!cursor_address) {
		endwin();
		delscreen(term.screen);
		term.screen = NULL;
		term_signal_end();
		return fail(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
			    "cannot start the screen: a '%s' terminal cannot move its cursor "
			    "(use --batch)", getenv("TERM"));
	}
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	colors_start(options);
	ask_background(options->prefs ? options->prefs->theme : THEME_AUTO);
	term_set_mouse(options->prefs && options->prefs->mouse);
	stderr_divert();
	leave_string();
	return true;
}

void term_stop(void)
{
	if (!term.screen)
		return;
	term_set_mouse(false);
	if (term.background.asked)
		wait_for_answer(LAST_ANSWER_US, false);		/* else the shell would get it */
	g_clear_pointer(&term.early, g_array_unref);
	endwin();
	delscreen(term.screen);
	term.screen = NULL;
	g_clear_pointer(&term.painter, painter_free);
	stderr_restore();
	term_signal_end();
	g_clear_pointer(&term.in, fclose);
	g_clear_pointer(&term.note, g_free);
}

const char *term_problem(void)
{
	const char *name = g_getenv("TERM");

	if (!isatty(STDOUT_FILENO))
		return "the screen needs a terminal";
	if (!name || !*name)
		return "the screen needs to know the terminal, and TERM is not set";
	if (g_str_equal(name, "dumb"))
		return "the screen needs a terminal that can move its cursor, not TERM=dumb";
	return NULL;
}

const char *term_note(void)
{
	return term.note;
}

bool term_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void term_size(unsigned *ret_rows, unsigned *ret_cols)
{
	struct winsize ws;

	if (ioctl(term_fd(), TIOCGWINSZ, &ws) == 0 && ws.ws_row && ws.ws_col &&
	    (ws.ws_row != LINES || ws.ws_col != COLS)) {
		resizeterm(ws.ws_row, ws.ws_col);
		term_redraw();
	}
	*ret_rows = (unsigned)MAX(LINES, 1);
	*ret_cols = (unsigned)MAX(COLS, 1);
}

static attr_t attr_of(const struct style *s, unsigned extra)
{
	unsigned a = theme_attrs(s, extra);

	return ((a & STYLE_BOLD) ? A_BOLD : 0) | ((a & STYLE_DIM) ? A_DIM : 0) |
	       ((a & STYLE_REVERSE) ? A_REVERSE : 0) | ((a & STYLE_UNDERLINE) ? A_UNDERLINE : 0);
}

/* Curses uses the C library's widths of characters. If they differ from ours, the cells are filled with '?' and
 * blanks. */
static void paint_unknown(unsigned y, unsigned x, const struct cell *cell, attr_t attr, short pair)
{
	for (unsigned i = 0; i < cell->width; i++) {
		cchar_t cc;

		if (setcchar(&cc, i ? L" " : L"?", attr, pair, NULL) == OK)
			mvadd_wch((int)y, (int)(x + i), &cc);
	}
}

static void paint_cell(unsigned y, unsigned x, const struct cell *cell)
{
	const struct style *s = &term.style[cell->role];
	short pair = term.scheme == SCHEME_MONO ? 0 : pair_of(cell->role, cell->attr & STYLE_SELECTED);
	wchar_t text[CCHARW_MAX + 1];
	const char *p = cell->ch;
	unsigned n = 0;
	cchar_t cc;

	for (; *p && n < CCHARW_MAX; p = g_utf8_next_char(p))
		text[n++] = (wchar_t)g_utf8_get_char(p);
	if (n == 0 || wcwidth(text[0]) != cell->width) {
		paint_unknown(y, x, cell, attr_of(s, cell->attr), pair);
		return;
	}
	text[n] = 0;
	if (setcchar(&cc, text, attr_of(s, cell->attr), pair, NULL) == OK)
		mvadd_wch((int)y, (int)x, &cc);
}

static void write_all(const char *s, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, s, len);
		struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

		if (n < 0 && errno == EAGAIN && poll(&out, 1, -1) < 0 && errno != EINTR)
			return;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return;
		s += MAX(n, 0);
		len -= (size_t)MAX(n, 0);
	}
}

/* Curses has an empty screen and clears it; the rest is the painter's. */
static void paint_rgb(const struct canvas *c, unsigned y, unsigned x, bool show_cursor)
{
	g_autoptr(GString) out = g_string_new(NULL);

	if (term.blank) {
		refresh();
		painter_forget(term.painter);
		term.blank = false;
	}
	painter_frame(term.painter, c, term.scheme, term.style, out);
	g_string_append_printf(out, "\033[%u;%uH", y + 1, x + 1);
	write_all(out->str, out->len);
	curs_set(show_cursor ? 1 : 0);
}

void term_paint(const struct canvas *c, unsigned y, unsigned x, bool show_cursor)
{
	if (term.painter) {
		paint_rgb(c, y, x, show_cursor);
		return;
	}
	for (unsigned row = 0; row < c->rows && row < (unsigned)LINES; row++) {
		for (unsigned col = 0; col < c->cols && col < (unsigned)COLS; col++) {
			const struct cell *cell = canvas_cell(c, row, col);

			if (cell->width)
				paint_cell(row, col, cell);
		}
	}
	curs_set(show_cursor ? 1 : 0);
	move((int)MIN(y, (unsigned)LINES - 1), (int)MIN(x, (unsigned)COLS - 1));
	refresh();
}

void term_redraw(void)
{
	clearok(curscr, TRUE);
	term.blank = true;
}

void term_suspend(void)
{
	bool mouse = term.mouse;

	term_set_mouse(false);
	def_prog_mode();
	endwin();
	term_signal_stop_self();
	reset_prog_mode();
	term_set_mouse(mouse);
	term_redraw();
	refresh();
}

/* OSC 52 has no answer: this lists terminals that are known to ignore it. */
const char *term_copy_doubt(void)
{
	const char *name = g_getenv("TERM"), *program = g_getenv("TERM_PROGRAM");

	if (g_getenv("TMUX"))
		return "in tmux: set -g set-clipboard on";
	if (name && g_str_has_prefix(name, "screen"))
		return "screen keeps it";
	if (name && (g_str_equal(name, "linux") || g_str_has_prefix(name, "vt")))
		return "this terminal has no clipboard: s saves";
	if (g_getenv("VTE_VERSION"))
		return "older VTE terminals ignore it: s saves";
	if (program && g_str_equal(program, "Apple_Terminal"))
		return "Terminal.app ignores it: s saves";
	return NULL;
}

static void write_sequence(const char *sequence)
{
	fflush(stdout);
	write_all(sequence, strlen(sequence));
}

void term_copy(const char *text)
{
	g_autofree char *b64 = g_base64_encode((const guchar *)text, strlen(text));
	g_autofree char *seq = g_strdup_printf("\033]52;c;%s\a", b64);

	write_sequence(seq);
}

int term_fd(void)
{
	return term.in ? fileno(term.in) : STDIN_FILENO;
}

#define OTHER_BUTTONS (BUTTON2_PRESSED | BUTTON3_PRESSED)
/* Motion while a button is pressed, which curses does not ask for. Terminals ignore modes that they do not know. */
#define DRAG_ON "\033[?1002h"
#define DRAG_OFF "\033[?1002l"

bool term_set_mouse(bool on)
{
	mmask_t wanted = BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED | OTHER_BUTTONS, had;
	mmask_t drag = BUTTON1_RELEASED | REPORT_MOUSE_POSITION;

	if (term.mouse)
		write_sequence(DRAG_OFF);
	term.mouse = on && key_mouse && (mousemask(wanted | drag, &had) & wanted);
	if (term.mouse)
		write_sequence(DRAG_ON);
	if (term.mouse)
		mouseinterval(0);	/* report presses at once; mouse.c detects double clicks */
	else
		mousemask(0, &had);
	return key_mouse && (term.mouse || !on);
}

struct term_mouse term_mouse(void)
{
	return term.event;
}

static struct term_mouse mouse_of(const MEVENT *e)
{
	enum term_button button = (e->bstate & BUTTON1_PRESSED) ? TERM_BUTTON_LEFT :
		(e->bstate & BUTTON4_PRESSED) ? TERM_WHEEL_UP :
		(e->bstate & BUTTON5_PRESSED) ? TERM_WHEEL_DOWN :
		(e->bstate & BUTTON1_RELEASED) ? TERM_RELEASED :
		(e->bstate & OTHER_BUTTONS) ? TERM_BUTTON_OTHER :
		(e->bstate & REPORT_MOUSE_POSITION) ? TERM_DRAGGED : TERM_RELEASED;

	return (struct term_mouse){ button, (unsigned)e->y, (unsigned)e->x };
}

/* Curses reports events that came together as one key, and returns the newest first. */
static void read_mouse(void)
{
	MEVENT e;

	while (term.n_events < MOUSE_EVENTS && getmouse(&e) == OK)
		if (e.y >= 0 && e.x >= 0)
			term.events[term.n_events++] = mouse_of(&e);
}

/* The oldest event that was not taken becomes the current one. false: there is none. */
static bool next_mouse(void)
{
	if (!term.n_events)
		return false;
	term.event = term.events[--term.n_events];
	return true;
}

static const struct { int code, key; } special[] = {
	{ KEY_UP, UI_KEY_UP }, { KEY_DOWN, UI_KEY_DOWN }, { KEY_LEFT, UI_KEY_LEFT },
	{ KEY_RIGHT, UI_KEY_RIGHT }, { KEY_SLEFT, UI_KEY_SLEFT }, { KEY_SRIGHT, UI_KEY_SRIGHT },
	{ KEY_PPAGE, UI_KEY_PGUP }, { KEY_NPAGE, UI_KEY_PGDN }, { KEY_HOME, UI_KEY_HOME },
	{ KEY_END, UI_KEY_END }, { KEY_DC, UI_KEY_DELETE }, { KEY_BACKSPACE, UI_KEY_BACKSPACE },
	{ KEY_BTAB, UI_KEY_BACKTAB }, { KEY_RESIZE, UI_KEY_RESIZE }, { KEY_ENTER, UI_KEY_ENTER },
};

/* Wait for the rest of a sequence, which can arrive in pieces. */
#define ESCAPE_MS 25

/* Reads what there is of an answer of the terminal, by bytes: hostile ones are no characters. */
static void read_answer(void)
{
	int c;

	if (g_get_monotonic_time() - term.answer_us > ANSWER_PAUSE_US)
		background_abort(&term.background);
	while (background_is_open(&term.background) && (c = getch()) != ERR) {
		enum background_taken taken = c > 0xff ? BACKGROUND_KEY : background_take(&term.background, c);

		if (c > 0xff)
			background_abort(&term.background);
		if (taken != BACKGROUND_MINE)
			ungetch(c);
		if (taken == BACKGROUND_ESC_KEY)
			ungetch(UI_KEY_ESC);
		term.answer_us = g_get_monotonic_time();
	}
}

static int begin_answer(void)
{
	term.answer_us = g_get_monotonic_time();
	return UI_KEY_NONE;
}

/* What get_wch() returned is read again. */
static void put_back(int status, wint_t w)
{
	if (status == OK)
		unget_wch((wchar_t)w);
	else if (status == KEY_CODE_YES)
		ungetch((int)w);
}

/* After two Esc: rxvt sends Alt with an arrow as Esc and the arrow. Else the first is a key, and the rest is read
 * later. */
static int read_alt(void)
{
	wint_t w[2];
	int status = get_wch(&w[0]);

	if (status == OK && escape_begins(w[0])) {
		timeout(ESCAPE_MS);
		int second = get_wch(&w[1]);
		nodelay(stdscr, TRUE);
		if (second == OK && (w[1] == 'C' || w[1] == 'D'))
			return w[1] == 'C' ? UI_KEY_ARIGHT : UI_KEY_ALEFT;
		put_back(second, w[1]);
	}
	put_back(status, w[0]);
	ungetch(UI_KEY_ESC);
	return UI_KEY_ESC;
}

/* After Esc: the key of a sequence that curses does not know, or Esc itself. UI_KEY_NONE: an answer begins. */
static int read_escape(void)
{
	char s[ESCAPE_MAX + 1] = "";
	wint_t w;
	int status = get_wch(&w);

	if (status == OK && background_begins(&term.background, 0, w))
		return begin_answer();
	if (status == KEY_CODE_YES && (w == KEY_LEFT || w == KEY_RIGHT))
		return w == KEY_RIGHT ? UI_KEY_ARIGHT : UI_KEY_ALEFT;
	if (status == OK && w == UI_KEY_ESC)
		return read_alt();
	if (status != OK || !escape_begins(w)) {
		put_back(status, w);
		return UI_KEY_ESC;
	}
	s[0] = (char)w;
	timeout(ESCAPE_MS);
	for (size_t n = 1; !escape_is_whole(s); n++) {
		if (get_wch(&w) != OK || w < ' ' || w > '~')
			break;
		if (n == 1 && background_begins(&term.background, (gunichar)s[0], w))
			break;
		s[n] = (char)w;
	}
	nodelay(stdscr, TRUE);
	if (background_is_open(&term.background))
		return begin_answer();
	if (s[1])
		return escape_key(s);
	unget_wch((wchar_t)s[0]);	/* Esc, followed by another key */
	return UI_KEY_ESC;
}

/* Keys that have a number only while curses runs. Their names are those of ncurses' terminal descriptions. */
static int key_by_name(int code)
{
	const char *name = keyname(code);

	return name && !strcmp(name, "kLFT3") ? UI_KEY_ALEFT : name && !strcmp(name, "kRIT3") ? UI_KEY_ARIGHT :
		UI_KEY_OTHER;
}

/* A key of curses, whose special keys cannot be in an answer. */
static int key_of(int status, wint_t w)
{
	if (status == OK)
		return w == 0 ? UI_KEY_OTHER : w == UI_KEY_ESC ? read_escape() : (int)w;
	if (w == KEY_MOUSE) {
		read_mouse();
		return next_mouse() ? UI_KEY_MOUSE : UI_KEY_NONE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(special); i++) {
		if ((int)w == special[i].code)
			return special[i].key;
	}
	if ((int)w > KEY_F0 && (int)w <= KEY_F(12))
		return UI_KEY_F((int)w - KEY_F0);
	return key_by_name((int)w);
}

/* The next key that is no part of an answer. */
static int read_key(void)
{
	int key = UI_KEY_NONE, status;
	wint_t w;

	if (next_mouse())
		return UI_KEY_MOUSE;
	while (key == UI_KEY_NONE) {
		read_answer();
		if (background_is_open(&term.background) || (status = get_wch(&w)) == ERR)
			break;
		key = key_of(status, w);
	}
	return key;
}

int term_key(void)
{
	int key;

	if (!term.early || !term.early->len)
		return read_key();
	key = g_array_index(term.early, int, 0);
	g_array_remove_index(term.early, 0);
	return key;
}
