/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints rows of any view as text, CSV or JSON. Nothing is truncated, and numbers have no unit.
 */
#include "export/export.h"

#include "base/json_write.h"
#include "base/text.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define RATIO_UNIT 1000000		/* six digits */

/* Same output as printf() (exact, ties to even), but several times faster. Most values are below 2^32. */
static void append_ratio(GString *out, double d)
{
	char buf[G_ASCII_DTOSTR_BUF_SIZE];
	int exponent;
	double mantissa = frexp(d, &exponent);		/* d = mantissa * 2^exponent */
	int below = DBL_MANT_DIG - exponent;		/* bits after the binary point */

	if (signbit(d) || exponent > 32 || below > 120) {
		g_string_append(out, g_ascii_formatd(buf, sizeof buf, "%.6f", d));
		return;
	}
	unsigned __int128 n = (unsigned __int128)(uint64_t)ldexp(mantissa, DBL_MANT_DIG) * RATIO_UNIT;
	g_assert(below >= 1);			/* as exponent <= 32 */
	unsigned __int128 half = (unsigned __int128)1 << (below - 1), rest = n & (2 * half - 1);
	uint64_t units = (uint64_t)(n >> below);
	units += rest > half || (rest == half && units & 1);
	text_append_int(out, (int64_t)(units / RATIO_UNIT));
	gsize at = out->len;
	text_append_int(out, (int64_t)(RATIO_UNIT + units % RATIO_UNIT));	/* 1, then all digits */
	out->str[at] = '.';
}

/* Appends the raw value in the C locale's format. False: the value is unknown. */
static bool append_cell(GString *out, struct value v)
{
	switch (v.kind) {
	case VALUE_NONE:
		return false;
	case VALUE_RATIO:
		if (isfinite(v.d))
			append_ratio(out, v.d);
		return isfinite(v.d);
	case VALUE_HEX64:
		g_string_append_printf(out, "%016" G_GINT64_MODIFIER "x", v.i);
		return true;
	case VALUE_TEXT:
		if (v.s)
			text_append_visible(out, v.s);
		return v.s;
	default:
		text_append_int(out, v.i);
		return true;
	}
}

static struct value cell(const struct view *v, const struct rows *rows, guint row, size_t column)
{
	return column_value(&v->columns[column], rows->rows->pdata[row], rows);
}

/* --- text --- */

static void put_padded(FILE *out, const char *text, unsigned width, bool left, bool last)
{
	unsigned used = text_width(text);
	int pad = used < width ? (int)(width - used) : 0;
	if (left)
		fprintf(out, "%s%*s", text, last ? 0 : pad, "");
	else
		fprintf(out, "%*s%s", pad, "", text);
	fputs(last ? "\n" : "  ", out);
}

static const char *text_cell(GString *text, const struct view *v, const struct rows *rows, guint row, size_t column)
{
	g_string_truncate(text, 0);
	if (!append_cell(text, cell(v, rows, row, column)))
		g_string_append_c(text, '-');
	return text->str;
}

/* Formats cells a second time instead of storing them, because there may be very many. */
static void widen(unsigned *width, const struct view *v, const struct rows *rows, GString *text)
{
	for (size_t c = 0; c < v->n_columns; c++)
		width[c] = MAX(width[c], text_width(v->columns[c].id));
	for (guint r = 0; r < rows->rows->len; r++)
		for (size_t c = 0; c < v->n_columns; c++)
			width[c] = MAX(width[c], text_width(text_cell(text, v, rows, r, c)));
}

static void put_text_cell(FILE *out, const struct view *v, size_t c, const char *text,
			  const unsigned *width)
{
	bool left = v->columns[c].kind == VALUE_TEXT || v->columns[c].kind == VALUE_HEX64;
	put_padded(out, text, width[c], left, c + 1 == v->n_columns);
}

static void rows_as_text(FILE *out, const struct view *v, const struct rows *rows, struct rows_pieces *p, bool last)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (!p->width)
		p->width = g_new0(unsigned, v->n_columns);
	widen(p->width, v, rows, text);
	for (size_t c = 0; p->header && c < v->n_columns; c++)
		put_text_cell(out, v, c, v->columns[c].id, p->width);
	for (guint r = 0; r < rows->rows->len; r++)
		for (size_t c = 0; c < v->n_columns; c++)
			put_text_cell(out, v, c, text_cell(text, v, rows, r, c), p->width);
}

/* --- CSV --- */

/* Would a spreadsheet run the cell as a formula (OWASP, CSV injection)? Spreadsheets skip leading control
 * characters, but cells have none: they are made visible. The last four characters are the full-width forms. */
static bool is_formula(const char *text)
{
	static const char *const begins[] = { "=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20" };

	text += strspn(text, " ");
	for (size_t i = 0; i < G_N_ELEMENTS(begins); i++)
		if (g_str_has_prefix(text, begins[i]))
			return true;
	return false;
}

/* safe: quotes each text, so that a spreadsheet with another separator does not split it. */
static void append_csv(GString *row, const char *text, bool safe)
{
	if (!safe && !strpbrk(text, ",\"\r\n")) {
		text_append_len(row, text, strlen(text));
		return;
	}
	g_string_append(row, safe && is_formula(text) ? "\"'" : "\"");
	for (const char *p = text; *p; p++) {
		if (*p == '"')
			g_string_append_c(row, '"');
		g_string_append_c(row, *p);
	}
	g_string_append_c(row, '"');
}

static void append_csv_cell(GString *row, struct value v, enum rows_format format, GString *text)
{
	if (v.kind != VALUE_TEXT) {
		append_cell(row, v);
		return;
	}
	g_string_truncate(text, 0);
	if (append_cell(text, v))
		append_csv(row, text->str, format == FORMAT_CSV_SAFE);
}

static void append_csv_end(GString *row, bool last)
{
	if (last)
		text_append_len(row, "\r\n", 2);
	else
		text_append_len(row, ",", 1);
}

static void rows_as_csv(FILE *out, const struct view *v, const struct rows *rows, struct rows_pieces *p, bool last)
{
	g_autoptr(GString) row = g_string_new(NULL), text = g_string_new(NULL);
	size_t n = v->n_columns;

	for (size_t c = 0; p->header && c < n; c++) {
		append_csv(row, v->columns[c].id, false);
		append_csv_end(row, c + 1 == n);
	}
	for (guint r = 0; r < rows->rows->len; r++) {
		for (size_t c = 0; c < n; c++) {
			append_csv_cell(row, cell(v, rows, r, c), p->format, text);
			append_csv_end(row, c + 1 == n);
		}
		fwrite(row->str, 1, row->len, out);
		g_string_truncate(row, 0);
	}
	fwrite(row->str, 1, row->len, out);	/* a header without rows */
}

/* --- JSON --- */

static void put_json_value(struct json_out *b, const char *key, struct value v)
{
	switch (v.kind) {
	case VALUE_NONE:
		json_put_null(b, key);
		break;
	case VALUE_RATIO:
		json_put_real(b, key, v.d);
		break;
	case VALUE_HEX64:
		json_put_hex(b, key, (uint64_t)v.i);
		break;
	case VALUE_TEXT:
		json_put_text(b, key, v.s);
		break;
	default:
		json_put_int(b, key, v.i);
	}
}

/* Prints what was written, and makes room for more. */
static void flush_json(FILE *out, struct json_out *b)
{
	fwrite(b->out->str, 1, b->out->len, out);
	g_string_truncate(b->out, 0);
}

void rows_print_objects(FILE *out, struct json_out *b, const struct view *v, const struct rows *rows)
{
	for (guint r = 0; r < rows->rows->len; r++) {
		json_open(b, NULL, '{');
		for (size_t c = 0; c < v->n_columns; c++)
			put_json_value(b, v->columns[c].id, cell(v, rows, r, c));
		json_close(b, '}');
		flush_json(out, b);
	}
}

static void put_json_range(struct json_out *b, const struct rows *rows)
{
	int64_t from = rows->query.from_ns, to = range_sum_end(rows->tl, from, rows->query.to_ns);
	bool all = from == 0 && to == 0, known = !all || timeline_coverage(rows->tl, &from, &to);

	json_open(b, "range", '{');
	json_put_known(b, "from_ns", from, known);
	json_put_known(b, "to_ns", to, known);
	json_close(b, '}');
}

/* Missing data of the whole session so far; null for recorded traces, where it is unknown. */
static void put_missing(struct json_out *b, const struct missing *m)
{
	const struct { const char *name; int64_t n; } counts[] = {
		{ "left_packets", m ? (int64_t)m->left_packets : 0 }, { "left_bytes", m ? (int64_t)m->left_bytes : 0 },
		{ "unread_packets", m ? (int64_t)m->unread_packets : 0 }, { "ended_early", m ? m->ended_early : 0 },
		{ "ends_unknown", m ? m->ends_unknown : 0 }, { "gave_up", m ? m->gave_up : 0 },
	};

	json_put_known(b, "behind_ns", m ? m->behind_ns : -1, m && m->behind_ns >= 0);
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
		json_put_known(b, counts[i].name, counts[i].n, m);
}

/* Completeness of the range. Evicted traces and spans are those of the whole timeline. */
static void put_json_completeness(struct json_out *b, const struct rows *rows)
{
	uint64_t traces, spans;

	timeline_evicted(rows->tl, &traces, &spans);
	if (rows->query.among)		/* evicted spans were already printed */
		traces = spans = 0;
	json_open(b, "trust", '{');
	json_put_int(b, "lost_events", (int64_t)rows->completeness.lost_events);
	json_put_int(b, "lost_packets", (int64_t)rows->completeness.lost_packets);
	json_put_int(b, "lost_ns", rows->completeness.lost_ns);
	json_put_int(b, "lost_cpus", __builtin_popcountll(rows->completeness.lost_cpus));
	json_put_int(b, "damaged_packets", (int64_t)rows->completeness.damaged);
	json_put_int(b, "soft", (int64_t)rows->completeness.provisional);
	json_put_int(b, "corrected", rows->completeness.corrected);
	json_put_int(b, "late_records", (int64_t)rows->completeness.late);
	json_put_int(b, "reordered_pairs", (int64_t)rows->completeness.reordered_pairs);
	json_put_int(b, "reordered_max_ns", rows->completeness.reordered_max_ns);
	json_put_int(b, "dropped_traces", (int64_t)(traces + timeline_facts(rows->tl)->n_thinned));
	json_put_int(b, "dropped_spans", (int64_t)spans);
	struct notes_left_out notes = timeline_facts(rows->tl)->notes;
	if (notes.alone)
		json_put_int(b, "annotations_without_span", (int64_t)notes.alone);
	if (notes.over)
		json_put_int(b, "annotations_over_limit", (int64_t)notes.over);
	if (rows->left_out)
		json_put_int(b, "left_out_spans", (int64_t)rows->left_out);
	json_put_text(b, "dropped", rows->dropped);
	json_put_text(b, "omitted", rows->omitted);
	put_missing(b, timeline_missing(rows->tl));
	json_close(b, '}');
}

/* The object of a view's rows is open in `b` then. */
static void begin_json(struct json_out *b, const struct view *v)
{
	json_open(b, NULL, '{');
	json_put_text(b, "blktop", BLKTOP_VERSION);
	json_put_text(b, "view", v->id);
}

/* Of pieces, range and completeness are known only after the last one. */
static void put_json_summary(struct json_out *b, const struct rows *rows)
{
	put_json_range(b, rows);
	put_json_completeness(b, rows);
}

static void rows_as_json(FILE *out, const struct view *v, const struct rows *rows, struct rows_pieces *p, bool last)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct json_out b = { .out = text, .follows = p->n > 0 };

	if (!p->begun) {
		begin_json(&b, v);
		if (p->whole)
			put_json_summary(&b, rows);
		json_open(&b, "rows", '[');
	}
	rows_print_objects(out, &b, v, rows);
	if (last) {
		json_close(&b, ']');
		if (!p->whole)
			put_json_summary(&b, rows);
		json_close(&b, '}');
		g_string_append_c(text, '\n');
	}
	flush_json(out, &b);
}

bool rows_can_fold(const struct view *v)
{
	return view_column(v, "path") >= 0 && view_column(v, "self_ns") >= 0;
}

/* Paths are safe: see views/flame.h. */
static void rows_as_folded(FILE *out, const struct view *v, const struct rows *rows, struct rows_pieces *p, bool last)
{
	int path = view_column(v, "path"), self = view_column(v, "self_ns");

	for (guint r = 0; r < rows->rows->len; r++) {
		struct value names = cell(v, rows, r, (size_t)path), ns = cell(v, rows, r, (size_t)self);

		if (names.kind == VALUE_TEXT && ns.kind == VALUE_NS && ns.i > 0)
			fprintf(out, "%s %" G_GINT64_FORMAT "\n", names.s, ns.i);
	}
}

/* ---- the table ---- */

#define INFO_(name, id, suffix, use, range) { #id, #suffix, ROWS_##use, RANGE_##range },
const struct rows_format_info rows_format_info[ROWS_FORMAT_N + 1] = {
	ROWS_FORMATS(INFO_) { "csv", "csv", ROWS_VIEWS, RANGE_COLUMNS },
};

bool rows_format_parse(const char *text, enum rows_format *ret)
{
	for (size_t i = 0; i < ROWS_FORMAT_N; i++)
		if (strcmp(text, rows_format_info[i].id) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

enum rows_format rows_format_of_path(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < ROWS_FORMAT_N; i++)
		if (strcmp(dot + 1, rows_format_info[i].suffix) == 0)
			return i;
	return FORMAT_TEXT;
}

char *rows_format_names(enum rows_use use)
{
	GString *names = g_string_new(NULL);
	const char *last = NULL;

	for (size_t i = 0; i < ROWS_FORMAT_N; i++) {
		if (rows_format_info[i].use > use)
			continue;
		if (last)
			g_string_append_printf(names, "%s%s", names->len ? ", " : "", last);
		last = rows_format_info[i].id;
	}
	g_string_append_printf(names, " or %s", last);
	return g_string_free(names, FALSE);
}

/* ---- printing ---- */

#define PRINT_(name, id, suffix, use, range) rows_as_##id,

bool rows_print_piece(FILE *out, const struct view *v, const struct rows *rows,
		      struct rows_pieces *p, bool last)
{
	static void (*const print[ROWS_FORMAT_N + 1])(FILE *, const struct view *, const struct rows *,
						      struct rows_pieces *, bool) = {
		ROWS_FORMATS(PRINT_) rows_as_csv,
	};
	errno = 0;
	print[p->format](out, v, rows, p, last);
	p->begun = true;
	p->header = false;
	p->n += rows->rows->len;
	if (fflush(out) == 0 && !ferror(out))
		return true;
	if (!errno)
		errno = EIO;
	return false;
}

void rows_pieces_clear(struct rows_pieces *p)
{
	g_clear_pointer(&p->width, g_free);
}

bool rows_print(FILE *out, const struct view *v, const struct rows *rows,
		enum rows_format format, bool header)
{
	struct rows_pieces p = { .format = format, .header = header, .whole = true };
	bool written = rows_print_piece(out, v, rows, &p, true);
	rows_pieces_clear(&p);
	return written;
}
