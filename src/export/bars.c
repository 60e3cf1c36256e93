/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints a waterfall as lines of text: see bars.h. */
#include "export/bars.h"

#include "base/sort.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/span_detail.h"

#include <string.h>

#define NAME_COLS 30
#define NUMBER_COLS 8
#define CELLS (BARS_COLS - NAME_COLS - 2 * NUMBER_COLS - 3)
#define TICKS 4

struct bars {
	GString *out;
	const struct rows *rows;
	const struct waterfall *w;
	bool utf8;
	bool *keep;			/* by index as built: print this row */
	bool seen[PART_N];		/* letters that need an entry in the legend */
	bool child;			/* '=' needs an entry in the legend */
};

static const char *edge(const struct bars *b)
{
	return b->utf8 ? "│" : "|";
}

/* Pads or truncates `text` to `cols` columns. right: right aligned. */
static void put(GString *out, const char *text, unsigned cols, bool right, bool utf8)
{
	g_autofree char *clipped = text_clip(text, cols, utf8);
	int pad = (int)(cols - text_width(clipped));
	if (right)
		g_string_append_printf(out, "%*s%s", pad, "", clipped);
	else
		g_string_append_printf(out, "%s%*s", clipped, pad, "");
}

/* --- which rows --- */

static int compare_longest(const void *va, const void *vb)
{
	const struct waterfall_row *a = *(const struct waterfall_row *const *)va;
	const struct waterfall_row *b = *(const struct waterfall_row *const *)vb;
	int64_t da = span_duration(a->span), db = span_duration(b->span);
	return ORDER(db, da) ?: ORDER(a->index, b->index);
}

size_t bars_choose(const struct waterfall *w, bool *keep)
{
	g_autofree const struct waterfall_row **order =
		g_memdup2(w->all, w->n_all * sizeof(*w->all));
	size_t n_chosen = 0;

	qsort(order, w->n_all, sizeof(*order), compare_longest);
	for (size_t i = 0; i < w->n_all && i < BARS_ROWS; i++)
		for (int k = order[i]->index; k >= 0 && !keep[k]; k = w->all[k]->parent)
			keep[k] = true;
	for (size_t i = 0; i < w->n_all; i++)
		n_chosen += keep[i];
	return w->n_all - n_chosen;
}

/* --- lines --- */

static void put_axis(struct bars *b)
{
	int64_t whole = MAX(b->w->end_ns - b->w->begin_ns, 1);
	char buf[TIMEFMT_LEN];

	put(b->out, "SPAN", NAME_COLS, false, b->utf8);
	put(b->out, "DUR", NUMBER_COLS, true, b->utf8);
	put(b->out, "SELF", NUMBER_COLS, true, b->utf8);
	g_string_append_printf(b->out, " %s", edge(b));
	for (unsigned i = 0; i < TICKS; i++) {
		unsigned cols = CELLS * (i + 1) / TICKS - CELLS * i / TICKS;
		const char *tick = timefmt_duration(buf, whole / TICKS * i);
		if (i + 1 < TICKS) {
			put(b->out, tick, cols, false, b->utf8);
			continue;
		}
		put(b->out, tick, cols - NUMBER_COLS, false, b->utf8);
		put(b->out, timefmt_duration(buf, whole), NUMBER_COLS, true, b->utf8);
	}
	g_string_append_printf(b->out, "%s\n", edge(b));
}

static void put_name(struct bars *b, const struct waterfall_row *r)
{
	g_autofree char *name = text_visible(r->name);
	unsigned indent = 2 * MIN((unsigned)r->row.depth, NAME_COLS / 4);
	g_autofree char *text = g_strdup_printf("%s%*s%s%s", r->row.marked ? "!" : r->orphan ? "?" : " ",
						(int)indent, "", r->critical ? "*" : " ", name);
	put(b->out, text, NAME_COLS, false, b->utf8);
}

static void note_letters(struct bars *b, const char *cells)
{
	for (const char *c = cells; *c; c++) {
		b->child |= *c == '=';
		for (int p = 0; p < PART_N; p++)
			b->seen[p] |= part_info[p].letter == *c;
	}
}

static void put_row(struct bars *b, const struct waterfall_row *r)
{
	char buf[TIMEFMT_LEN], cells[CELLS + 1] = { 0 };
	g_autofree char *duration = g_strdup_printf("%s%s", span_has_end(r->span) ? "" : ">",
						    timefmt_duration(buf, span_duration(r->span)));

	waterfall_strip(b->rows, r, b->w->begin_ns, MAX(b->w->end_ns, b->w->begin_ns + 1), CELLS,
			cells);
	note_letters(b, cells);
	put_name(b, r);
	put(b->out, duration, NUMBER_COLS, true, b->utf8);
	put(b->out, timefmt_duration(buf, r->span->self_ns), NUMBER_COLS, true, b->utf8);
	g_string_append_printf(b->out, " %s%s%s\n", edge(b), cells, edge(b));
}

static void put_legend(struct bars *b)
{
	g_autoptr(GString) line = g_string_new("* critical path");
	if (b->child)
		g_string_append(line, "  = in a child");
	for (int p = 0; p < PART_N; p++) {
		if (!b->seen[p])
			continue;
		g_autofree char *word = g_strdup_printf("  %c %s", part_info[p].letter,
							part_info[p].id);
		if (line->len + strlen(word) > BARS_COLS) {
			g_string_append_printf(b->out, "%s\n", line->str);
			g_string_truncate(line, 0);
		}
		g_string_append(line, line->len ? word : word + 2);
	}
	g_string_append_printf(b->out, "%s\n", line->str);
}

void bars_append(GString *out, const struct rows *rows, bool utf8)
{
	struct bars b = { .out = out, .rows = rows, .w = waterfall_of(rows), .utf8 = utf8 };
	if (!b.w || !b.w->root)
		return;
	b.keep = g_new0(bool, b.w->n_all);
	size_t left_out = bars_choose(b.w, b.keep);
	put_axis(&b);
	for (size_t i = 0; i < b.w->n_all; i++)
		if (b.keep[i])
			put_row(&b, b.w->all[i]);
	if (left_out)
		g_string_append_printf(out, "and %" G_GSIZE_FORMAT " shorter spans\n", left_out);
	put_legend(&b);
	g_free(b.keep);
}
