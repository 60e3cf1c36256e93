/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The painter: whatever was on the screen, after its bytes a terminal shows the canvas; and they are few. The terminal
 * here knows what xterm does with these sequences.
 */
#include "ui/painter.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 7
#define COLS 23

struct shown {
	char ch[CELL_BYTES];
	struct style style;
};

struct terminal {
	struct shown cells[ROWS][COLS];
	struct style style;
	unsigned y, x;
};

static const struct shown blank = { " ", { -1, -1, 0 } };

static void terminal_clear(struct terminal *t)
{
	*t = (struct terminal){ .style = { -1, -1, 0 } };
	for (unsigned i = 0; i < ROWS * COLS; i++)
		t->cells[i / COLS][i % COLS] = blank;
}

/* A colour of an SGR sequence whose parameters begin at *p; *p becomes that behind it. */
static int32_t extended(const unsigned *n, unsigned *p)
{
	if (n[*p + 1] == 5) {
		*p += 3;
		return (int32_t)n[*p - 1];
	}
	g_assert_cmpuint(n[*p + 1], ==, 2);
	*p += 5;
	return (int32_t)(COLOR_RGB | n[*p - 3] << 16 | n[*p - 2] << 8 | n[*p - 1]);
}

static void sgr(struct terminal *t, const unsigned *n, unsigned count)
{
	for (unsigned i = 0; i < count;) {
		unsigned v = n[i];

		if (v == 38 || v == 48) {
			*(v == 38 ? &t->style.fg : &t->style.bg) = extended(n, &i);
			continue;
		}
		if (v == 0)
			t->style = blank.style;
		else if (v == 1 || v == 2 || v == 4 || v == 7)
			t->style.attr |= v == 1 ? STYLE_BOLD : v == 2 ? STYLE_DIM : v == 4 ? STYLE_UNDERLINE :
				STYLE_REVERSE;
		else if (v >= 30 && v <= 39)
			t->style.fg = v == 39 ? -1 : (int32_t)v - 30;
		else if (v >= 40 && v <= 49)
			t->style.bg = v == 49 ? -1 : (int32_t)v - 40;
		else
			g_assert_not_reached();
		i++;
	}
}

/* Takes a sequence after CSI; returns what is behind it. */
static const char *control(struct terminal *t, const char *s)
{
	unsigned n[16] = { 0 }, count = 1;

	for (; *s == ';' || g_ascii_isdigit(*s); s++) {
		if (*s == ';')
			count++;
		else
			n[count - 1] = n[count - 1] * 10 + (unsigned)(*s - '0');
	}
	switch (*s) {
	case 'm':
		sgr(t, n, count);
		break;
	case 'H':
		t->y = MAX(n[0], 1) - 1;
		t->x = MAX(n[1], 1) - 1;
		break;
	case 'C':
		t->x = MIN(t->x + MAX(n[0], 1), COLS - 1);
		break;
	case 'K':
		g_assert_cmpint(t->style.bg, ==, -1);
		for (unsigned x = t->x; x < COLS; x++)
			t->cells[t->y][x] = blank;
		break;
	case 'J':
		for (unsigned i = 0; i < ROWS * COLS; i++)
			t->cells[i / COLS][i % COLS] = blank;
		break;
	default:
		g_assert_not_reached();
	}
	return s + 1;
}

/* Half a wide character that is overwritten takes the other half with it. */
static void take(struct terminal *t, unsigned x)
{
	struct shown *c = &t->cells[t->y][x];

	if (!*c->ch && x > 0)
		c[-1] = blank;
	if (x + 1 < COLS && !*c[1].ch)
		c[1] = blank;
	*c = blank;
}

static const char *character(struct terminal *t, const char *s)
{
	gunichar u = g_utf8_get_char(s);
	unsigned wide = u >= 0x2e80 && u < 0xa000 ? 2 : g_unichar_iszerowidth(u) ? 0 : 1;
	struct shown *c;

	g_assert_cmpuint(t->y, <, ROWS);
	g_assert_cmpuint(t->x + MAX(wide, 1) - 1, <, COLS + (wide == 0));
	if (!wide) {
		c = &t->cells[t->y][t->x - 1];
		if (!*c->ch)
			c--;
		c->ch[strlen(c->ch) + (size_t)g_unichar_to_utf8(u, c->ch + strlen(c->ch))] = '\0';
		return g_utf8_next_char(s);
	}
	for (unsigned i = 0; i < wide; i++)
		take(t, t->x + i);
	c = &t->cells[t->y][t->x];
	c->ch[g_unichar_to_utf8(u, c->ch)] = '\0';
	c->style = t->style;
	if (wide == 2)
		c[1] = (struct shown){ "", t->style };
	t->x += wide;
	return g_utf8_next_char(s);
}

static void feed(struct terminal *t, const char *s)
{
	while (*s) {
		g_assert_true(*s != '\033' || s[1] == '[');
		s = *s == '\033' ? control(t, s + 2) : character(t, s);
	}
}

/* --- */

static struct style styles[ROLE_N];

static void use(enum scheme scheme)
{
	for (int r = 0; r < ROLE_N; r++)
		styles[r] = theme_style(scheme, r);
}

static bool shows_nothing(const char *ch, const struct style *s)
{
	return !strcmp(ch, " ") && s->bg < 0 && !(s->attr & (STYLE_REVERSE | STYLE_UNDERLINE));
}

static void check(const struct terminal *t, const struct canvas *c, enum scheme scheme)
{
	for (unsigned i = 0; i < c->rows * c->cols; i++) {
		const struct cell *cell = &c->cells[i];
		const struct shown *s = &t->cells[i / c->cols][i % c->cols];
		struct look look = cell_look(cell, scheme, &styles[cell->role]);

		g_assert_cmpstr(s->ch, ==, look.ch);
		if (!cell->width)	/* it is painted as the left half is */
			continue;
		if (shows_nothing(look.ch, &look.style) && shows_nothing(s->ch, &s->style))
			continue;
		g_assert_cmpint(s->style.fg, ==, look.style.fg);
		g_assert_cmpint(s->style.bg, ==, look.style.bg);
		g_assert_cmpint(s->style.attr, ==, look.style.attr);
	}
	g_assert_true(t->style.fg == -1 && t->style.bg == -1 && !t->style.attr);
}

static void scribble(struct canvas *c, GRand *r)
{
	static const char *const texts[] = {
		"a", "   ", "作", "e\u0301", "░▒▓█", "▁▂▃", "some words", "作作作", " ", "━",
	};

	for (int n = g_rand_int_range(r, 0, 12); n > 0; n--) {
		unsigned y = (unsigned)g_rand_int_range(r, 0, ROWS), x = (unsigned)g_rand_int_range(r, 0, COLS);

		canvas_put(c, y, x, COLS, (enum role)g_rand_int_range(r, 0, ROLE_N),
			   texts[g_rand_int_range(r, 0, G_N_ELEMENTS(texts))]);
		if (g_rand_int_range(r, 0, 3) == 0)
			canvas_add_attr(c, y, x, 4, (unsigned)g_rand_int_range(r, 0, 32));
		if (g_rand_int_range(r, 0, 2) == 0)
			canvas_shade(c, y, x, 6, (unsigned)g_rand_int_range(r, 0, SHADES + 1), g_rand_boolean(r));
	}
	if (g_rand_int_range(r, 0, 20) == 0)
		canvas_clear(c);
}

static void test_any(void)
{
	static const enum scheme schemes[] = {
		SCHEME_DARK_RGB, SCHEME_LIGHT_RGB, SCHEME_DARK_256, SCHEME_DARK_8, SCHEME_MONO,
	};
	g_autoptr(GRand) r = g_rand_new_with_seed(7);

	for (size_t s = 0; s < G_N_ELEMENTS(schemes); s++) {
		struct painter *p = painter_new();
		struct canvas *c = canvas_new(ROWS, COLS);
		struct terminal t;

		use(schemes[s]);
		terminal_clear(&t);
		for (int i = 0; i < 3000; i++) {
			g_autoptr(GString) out = g_string_new(NULL), again = g_string_new(NULL);

			scribble(c, r);
			painter_frame(p, c, schemes[s], styles, out);
			feed(&t, out->str);
			check(&t, c, schemes[s]);
			painter_frame(p, c, schemes[s], styles, again);
			g_assert_cmpstr(again->str, ==, "");
		}
		painter_free(p);
		canvas_free(c);
	}
}

static char *frame(struct painter *p, const struct canvas *c)
{
	GString *out = g_string_new(NULL);

	use(SCHEME_DARK_RGB);
	painter_frame(p, c, SCHEME_DARK_RGB, styles, out);
	return g_string_free(out, FALSE);
}

/* Only what changed, and colours only where they change. */
static void test_bytes(void)
{
	struct painter *p = painter_new();
	struct canvas *c = canvas_new(2, COLS);

	canvas_put(c, 0, 2, COLS, ROLE_HEAT, "██");
	canvas_shade(c, 0, 2, 1, 1, true);
	canvas_shade(c, 0, 3, 1, 1, true);
	canvas_put(c, 1, 0, COLS, ROLE_SELECTED, "abc");
	g_autofree char *first = frame(p, c);
	g_assert_cmpstr(first, ==, "\033[1;3H\033[38;2;47;99;204m██\033[2H\033[1;39;48;5;237mabc\033[m");
	canvas_put(c, 1, 1, COLS, ROLE_SELECTED, "x");
	g_autofree char *second = frame(p, c);
	g_assert_cmpstr(second, ==, "\033[2;2H\033[1;48;5;237mx\033[m");
	canvas_fill(c, 1, 0, COLS, ROLE_TEXT, " ");
	g_autofree char *third = frame(p, c);
	g_assert_cmpstr(third, ==, "\033[2H\033[K");
	canvas_put(c, 0, 8, COLS, ROLE_TEXT, "x");
	canvas_put(c, 0, 12, COLS, ROLE_TEXT, "y");
	g_autofree char *fourth = frame(p, c);
	g_assert_cmpstr(fourth, ==, "\033[1;9Hx   y");
	canvas_put(c, 0, 9, COLS, ROLE_TEXT, "z");
	canvas_put(c, 0, 17, COLS, ROLE_TEXT, "z");
	g_autofree char *far = frame(p, c);
	g_assert_cmpstr(far, ==, "\033[1;10Hz\033[7Cz");
	canvas_resize(c, 1, COLS);
	canvas_put(c, 0, 0, COLS, ROLE_TEXT, "z");
	g_autofree char *fifth = frame(p, c);
	g_assert_cmpstr(fifth, ==, "\033[2J\033[1Hz");
	painter_forget(p);
	g_autofree char *sixth = frame(p, c);
	g_assert_cmpstr(sixth, ==, "\033[1Hz");
	painter_free(p);
	canvas_free(c);
}

/* A width that the C library does not have. */
static void test_unknown(void)
{
	struct painter *p = painter_new();
	struct canvas *c = canvas_new(1, 4);
	struct cell *cell = &c->cells[0];

	canvas_put(c, 0, 0, 4, ROLE_TEXT, "作ab");
	cell->width = 1;
	g_autofree char *out = frame(p, c);
	g_assert_cmpstr(out, ==, "\033[1H? ab");
	painter_free(p);
	canvas_free(c);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	g_test_add_func("/painter/any", test_any);
	g_test_add_func("/painter/bytes", test_bytes);
	g_test_add_func("/painter/unknown-width", test_unknown);
	return g_test_run();
}
