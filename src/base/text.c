/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes untrusted text safe to show; measures and cuts text by terminal columns. */
#include "base/text.h"

#include "base/limits.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- making text visible --- */

static bool is_control(gunichar c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

/* Characters that are invisible but change how others are shown, or whose width is unknown: bidi controls, joiners,
 * line separators, surrogates, code points without a character. */
static bool is_format(gunichar c)
{
	switch (g_unichar_type(c)) {
	case G_UNICODE_FORMAT:
	case G_UNICODE_LINE_SEPARATOR:
	case G_UNICODE_PARAGRAPH_SEPARATOR:
	case G_UNICODE_SURROGATE:
	case G_UNICODE_UNASSIGNED:
		return true;
	default:
		return false;
	}
}

static bool is_fast(char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* Appends the character at p in a visible form; returns the position after it. */
static const char *append_visible(GString *out, const char *p, const char *end)
{
	gunichar c = g_utf8_get_char_validated(p, end - p);

	if (c == (gunichar)-1 || c == (gunichar)-2) {
		g_string_append_printf(out, "\\x%02x", (unsigned char)*p);
		return p + 1;
	}
	const char *next = g_utf8_next_char(p);
	if (is_control(c))
		g_string_append_printf(out, "\\x%02x", c);
	else if (is_format(c))
		g_string_append_printf(out, "\\u{%04x}", c);
	else
		g_string_append_len(out, p, next - p);
	return next;
}

static void append_visible_len(GString *out, const char *s, size_t len)
{
	const char *p = s, *end = s + len;

	while (p < end && is_fast(*p))
		p++;
	g_string_append_len(out, s, p - s);
	while (p < end)				/* rarely true */
		p = append_visible(out, p, end);
}

void text_append_visible(GString *out, const char *s)
{
	append_visible_len(out, s, strlen(s));
}

char *text_visible_len(const char *s, size_t len)
{
	size_t n = s ? strnlen(s, len) : 0;
	GString *out = g_string_sized_new(n);

	append_visible_len(out, s ? s : "", n);
	return g_string_free(out, FALSE);
}

char *text_visible(const char *s)
{
	return text_visible_len(s, s ? strlen(s) : 0);
}

/* --- measuring and cutting --- */

/* Bytes of the first character of a non-empty string; *ret_width: its columns. */
static size_t first_char(const char *s, unsigned *ret_width)
{
	*ret_width = 1;
	if (!(*s & 0x80))
		return 1;
	gunichar c = g_utf8_get_char_validated(s, -1);
	if (c == (gunichar)-1 || c == (gunichar)-2)
		return 1;
	if (g_unichar_iszerowidth(c))
		*ret_width = 0;
	else if (g_unichar_iswide(c))
		*ret_width = 2;
	return (size_t)(g_utf8_next_char(s) - s);
}

unsigned text_width(const char *s)
{
	unsigned total = 0, width;

	for (; *s; s += first_char(s, &width), total += width)
		;
	return total;
}

size_t text_prefix(const char *s, unsigned cols, unsigned *ret_cols)
{
	unsigned total = 0, width;
	size_t len = 0;

	while (s[len]) {
		size_t n = first_char(s + len, &width);
		if (width > cols - total)
			break;
		total += width;
		len += n;
	}
	if (ret_cols)
		*ret_cols = total;
	return len;
}

#define LONG_WORD_BYTES 20		/* so much is left out to end with a word */
#define FIGURE_BYTES 14		/* longer words that begin with a digit are ids and addresses */

/* Bytes of a word that is a figure, such as 24, 44.6ms, (53%), 06:08:38; else 0. *ret_bare: it has no unit. */
static size_t figure_len(const char *word, bool *ret_bare)
{
	const char *p = word + strspn(word, "(<>~=+!-"), *digits = p;

	p += strspn(p, "0123456789.,:");
	if (!g_ascii_isdigit(*digits))
		return 0;
	*ret_bare = *p == ' ' || *p == '\0';
	while (*p && *p != ' ' && (g_ascii_isalpha(*p) || strchr("%/),;:.", *p)))
		p++;
	return (*p == ' ' || *p == '\0') && p - word <= FIGURE_BYTES ? (size_t)(p - word) : 0;
}

/* The beginning of the word that ends at, or goes on at, s[at]. */
static size_t word_begin(const char *s, size_t at)
{
	while (at > 0 && s[at - 1] != ' ')
		at--;
	return at;
}

static size_t without_blanks(const char *s, size_t len)
{
	while (len > 0 && s[len - 1] == ' ')
		len--;
	return len;
}

/* Where a text that is longer than `len` bytes is cut. */
static size_t cut_at(const char *s, size_t len)
{
	size_t word = word_begin(s, len), end = without_blanks(s, len);
	bool bare = false;

	if (s[len] != ' ' && s[word] != ' ' &&
	    ((2 * word >= len && len - word <= LONG_WORD_BYTES) || figure_len(s + word, &bare)))
		end = without_blanks(s, word);
	/* A number whose unit is the next word goes with it. */
	word = word_begin(s, end);
	if (end > 0 && figure_len(s + word, &bare) == end - word && bare)
		end = without_blanks(s, word);
	while (end > 0 && end < len && strchr(",;: ", s[end - 1]))
		end--;
	return end;
}

char *text_clip(const char *s, unsigned cols, bool utf8)
{
	if (cols == 0)
		return g_strdup("");
	size_t len = text_prefix(s, cols, NULL);
	if (s[len] == '\0')
		return g_strdup(s);
	len = cut_at(s, text_prefix(s, cols - 1, NULL));
	return g_strdup_printf("%.*s%s", (int)len, s, utf8 ? "\342\200\246" : "~");
}

char *text_clip_left(const char *s, unsigned cols, bool utf8)
{
	unsigned total = text_width(s), skip, width;

	if (cols == 0 || total <= cols)
		return text_clip(s, cols, utf8);
	skip = total - (cols - 1);
	/* Whole characters with their combining characters. */
	while (*s) {
		size_t n = first_char(s, &width);

		if (skip == 0 && width > 0)
			break;
		skip -= MIN(skip, width);
		s += n;
	}
	return g_strconcat(utf8 ? "\342\200\246" : "~", s, NULL);
}

static size_t cut_of(const char *s, unsigned cols, size_t least)
{
	size_t whole = text_prefix(s, cols, NULL), cut = whole;
	if (!s[whole])
		return whole;
	while (cut > least && s[cut] != ' ')
		cut--;
	return cut > least ? cut : whole;
}

void text_wrap(GPtrArray *lines, const char *text, unsigned cols, unsigned hang, size_t least)
{
	size_t cut = cut_of(text, cols, least);
	g_ptr_array_add(lines, g_strndup(text, cut));
	for (text += cut; *text; text += cut) {
		text += strspn(text, " ");
		cut = cut_of(text, cols - hang, 0);
		if (!cut)
			break;
		g_ptr_array_add(lines, g_strdup_printf("%*s%.*s", (int)hang, "", (int)cut, text));
	}
}

char *text_pad(const char *s, unsigned cols)
{
	unsigned width = text_width(s);

	return g_strdup_printf("%s%*s", s, width < cols ? (int)(cols - width) : 0, "");
}

/* --- names and quoting --- */

char *text_filename(const char *s)
{
	char *name = g_strndup(s && *s ? s : "_", LIMIT_FILE_NAME_BYTES);

	for (char *p = name; *p; p++) {
		if (!g_ascii_isalnum(*p) && !strchr("._-", *p))
			*p = '_';
	}
	/* Not hidden, and no option to a command such as `rm *`. */
	for (char *p = name; *p == '.' || *p == '-'; p++)
		*p = '_';
	return name;
}

char *text_shell_quote(const char *s)
{
	const char *p = s ? s : "";

	while (g_ascii_isalnum(*p) || (*p && strchr("_@%+=:,./-", *p)))
		p++;
	if (*p == '\0' && s && *s)
		return g_strdup(s);

	return g_shell_quote(s ? s : "");
}

bool text_parse_id(const char *s, unsigned most, uint64_t *ret)
{
	const char *digits = g_ascii_strncasecmp(s, "0x", 2) == 0 ? s + 2 : s;
	size_t n = strlen(digits);

	if (n < 1 || n > most || strspn(digits, "0123456789abcdefABCDEF") != n)
		return false;
	*ret = g_ascii_strtoull(n > TEXT_ID ? digits + n - TEXT_ID : digits, NULL, 16);
	return true;
}

uint64_t text_id_upper(const char *s)
{
	const char *digits = g_ascii_strncasecmp(s, "0x", 2) == 0 ? s + 2 : s;
	size_t n = strlen(digits);

	g_autofree char *upper = g_strndup(digits, n > TEXT_ID ? n - TEXT_ID : 0);
	return g_ascii_strtoull(upper, NULL, 16);
}

bool text_is_with_unit(const char *id, const char *name)
{
	static const char *const units[] = { "_ns", "_bytes", "_ratio", NULL };
	size_t len = strlen(name);

	return len && strncmp(id, name, len) == 0 && g_strv_contains(units, id + len);
}

/* ---- proposals ---- */

#define SUGGEST_BYTES 32

/* Letters to insert, remove, change, or swap with the next: the distance of Damerau and Levenshtein. */
static unsigned distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[SUGGEST_BYTES + 1][SUGGEST_BYTES + 1];
	if (n > SUGGEST_BYTES || m > SUGGEST_BYTES)
		return UINT_MAX;
	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++) {
			if (!i || !k) {
				row[i][k] = (unsigned)(i + k);
				continue;
			}
			bool same = g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[k - 1]);
			unsigned d = MIN(MIN(row[i - 1][k], row[i][k - 1]) + 1, row[i - 1][k - 1] + !same);
			if (i > 1 && k > 1 && g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[k - 2]) &&
			    g_ascii_tolower(a[i - 2]) == g_ascii_tolower(b[k - 1]))
				d = MIN(d, row[i - 2][k - 2] + 1);
			row[i][k] = d;
		}
	return row[n][m];
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (const char *p = text; (p = strcasestr(p, word)); p++)
		if ((p == text || !g_ascii_isalnum(p[-1])) && !g_ascii_isalnum(p[n]))
			return true;
	return false;
}

const char *text_suggest(const char *word, text_candidate_at at, const void *data)
{
	const char *nearest = NULL, *meant = NULL;
	unsigned least = (unsigned)strlen(word) / 3 + 1;
	for (size_t i = 0;; i++) {
		struct text_candidate c = at(i, data);
		if (!c.name)
			return nearest ? nearest : meant;
		unsigned d = MIN(distance(word, c.name), c.title ? distance(word, c.title) : UINT_MAX);
		if (d < least) {
			least = d;
			nearest = c.name;
		}
		if (!meant && *word && c.meaning && has_word(c.meaning, word))
			meant = c.name;
	}
}

void text_append_int(GString *out, int64_t i)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
		"49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
		"9899";
	char digits[24], *p = digits + sizeof digits;
	uint64_t rest = i < 0 ? -(uint64_t)i : (uint64_t)i;

	for (; rest >= 100; rest /= 100) {
		p -= 2;
		memcpy(p, pairs + rest % 100 * 2, 2);
	}
	if (rest >= 10)
		*--p = pairs[rest * 2 + 1];
	*--p = rest >= 10 ? pairs[rest * 2] : (char)('0' + rest);
	if (i < 0)
		*--p = '-';
	text_append_len(out, p, (size_t)(digits + sizeof digits - p));
}

char *text_id(uint64_t id)
{
	return g_strdup_printf("%016" G_GINT64_MODIFIER "x", id);
}

void text_uuid(char to[TEXT_UUID_BYTES], const uint8_t u[16])
{
	g_snprintf(to, TEXT_UUID_BYTES, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
		   u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static double read_back(const char *text, bool single)
{
	double d = g_ascii_strtod(text, NULL);
	return single ? (double)(float)d : d;
}

const char *text_real(double d, bool single, char to[TEXT_REAL_BYTES])
{
	/* Each number of at most so many digits stays different, unless it is subnormal; %g drops zeros at its end. */
	int sure = single ? FLT_DIG : DBL_DIG, most = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
	char format[8];
	if (!isfinite(d)) {
		g_strlcpy(to, isnan(d) ? "nan" : d < 0 ? "-inf" : "inf", TEXT_REAL_BYTES);
		return to;
	}
	for (int digits = fabs(d) < (single ? (double)FLT_MIN : DBL_MIN) ? 1 : sure; digits <= most; digits++) {
		g_snprintf(format, sizeof format, "%%.%dg", digits);
		g_ascii_formatd(to, TEXT_REAL_BYTES, format, d);
		if (read_back(to, single) == d)
			break;
	}
	return to;
}
