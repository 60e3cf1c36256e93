/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metadata in pieces: a relay sends what it has, which may end inside a packet, a declaration or a fragment.
 * Declarations (CTF 1.8) end with a ';' outside of all braces, strings and comments. Fragments (CTF 2) end with their
 * outermost '}', or where the next one begins.
 */
#include "trace/ctf/ctf_meta.h"

#include "base/fail.h"
#include "trace/ctf/ctf_parse.h"

#include <string.h>

#define BEGIN_BYTES 10			/* number of bytes needed to distinguish packets from text */

enum inside { IN_CODE, IN_TEXT, IN_CHARACTER, IN_COMMENT, IN_LINE };

struct ctf_pieces {
	struct ctf_parser *parser;
	GString *raw;			/* an incomplete packet; plain text goes to .text */
	GString *text;			/* an incomplete declaration or fragment */
	size_t scanned;			/* bytes of .text that were scanned */
	size_t whole;			/* bytes of .text that are complete declarations */
	size_t blank;			/* bytes at the beginning of .text that are known to be white space */
	enum inside inside;
	unsigned depth;
	bool escaped;			/* CTF 2: the last character was a backslash in a string */
	size_t appended;		/* bytes */
	size_t parsed;			/* of them, up to the end of a declaration */
};

struct ctf_pieces *ctf_pieces_new(struct ctf_meta *m)
{
	struct ctf_pieces *x = g_new0(struct ctf_pieces, 1);
	x->parser = (struct ctf_parser *)(void *)m;
	x->raw = g_string_new(NULL);
	x->text = g_string_new(NULL);
	return x;
}

void ctf_pieces_free(struct ctf_pieces *x)
{
	if (!x)
		return;
	g_string_free(x->raw, TRUE);
	g_string_free(x->text, TRUE);
	g_free(x);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

bool ctf_pieces_wait(const struct ctf_pieces *x)
{
	return x->blank < x->text->len || x->raw->len;
}

size_t ctf_pieces_whole(const struct ctf_pieces *x)
{
	return x->parsed;
}

/* Removes n bytes from the beginning of .text. */
static void erase(struct ctf_pieces *x, size_t n)
{
	g_assert(n <= x->scanned && n <= x->text->len);
	g_string_erase(x->text, 0, (gssize)n);
	x->scanned -= n;
	x->blank = 0;
}

/* Handles a character outside of strings and comments. */
static void scan_sign(struct ctf_pieces *x, const char *s, size_t i)
{
	static const struct { char first, second; enum inside inside; } begin[] = {
		{ '"', 0, IN_TEXT }, { '\'', 0, IN_CHARACTER },
		{ '/', '*', IN_COMMENT }, { '/', '/', IN_LINE },
	};
	for (size_t k = 0; k < G_N_ELEMENTS(begin); k++)
		if (s[i] == begin[k].first && (!begin[k].second || s[i + 1] == begin[k].second))
			x->inside = begin[k].inside;
	x->depth += s[i] == '{';
	x->depth -= s[i] == '}' && x->depth;
	if (s[i] == ';' && !x->depth)
		x->whole = i + 1;
}

/* The length of the next token: tokens of two characters are scanned as one. */
static size_t step_of(enum inside inside, const char *s)
{
	bool escape = (inside == IN_TEXT || inside == IN_CHARACTER) && s[0] == '\\';
	bool comment = inside == IN_CODE && s[0] == '/' && (s[1] == '*' || s[1] == '/');
	bool ends = inside == IN_COMMENT && s[0] == '*' && s[1] == '/';
	return escape || comment || ends ? 2 : 1;
}

/* Finds the end of the last complete declaration. The last character of the text waits, as it may be the first of
 * two. */
static void scan(struct ctf_pieces *x)
{
	static const char signs[256] = {
		['"'] = 1, ['\''] = 1, ['/'] = 1, ['{'] = 1, ['}'] = 1, [';'] = 1,
	};
	const char *s = x->text->str;
	size_t last = x->text->len ? x->text->len - 1 : 0;
	while (x->scanned < last || (x->scanned < x->text->len && x->inside == IN_CODE &&
				     s[x->scanned] == ';')) {
		size_t i = x->scanned;
		while (x->inside == IN_CODE && i < last && !signs[(uint8_t)s[i]])
			i++;
		if (i > x->scanned) {
			x->scanned = i;
			continue;
		}
		size_t n = step_of(x->inside, s + i);
		x->scanned += n;
		if (x->inside == IN_CODE)
			scan_sign(x, s, i);
		else if ((x->inside == IN_TEXT && s[i] == '"') ||
			 (x->inside == IN_CHARACTER && s[i] == '\'') ||
			 (x->inside == IN_LINE && s[i] == '\n') ||
			 (x->inside == IN_COMMENT && n == 2))
			x->inside = IN_CODE;
	}
}

static bool parse_whole(struct ctf_pieces *x, GError **error)
{
	x->whole = 0;
	scan(x);
	if (!x->whole)
		return true;
	size_t n = x->whole;
	g_assert(n <= x->scanned && x->scanned <= x->text->len);
	bool ok = ctf_meta_parse(x->parser, x->text->str, n, error);
	erase(x, n);
	return ok;
}

/* Is the fragment at `begin` complete? Then .whole is its end. */
static bool scan_fragment(struct ctf_pieces *x, size_t begin)
{
	const char *s = x->text->str;
	for (; x->scanned < x->text->len; x->scanned++) {
		char c = s[x->scanned];
		if (c == CTF_RS && x->scanned > begin) {	/* JSON has no RS */
			x->whole = x->scanned;
			return true;
		}
		if (x->escaped)
			x->escaped = false;
		else if (x->inside == IN_TEXT && c == '\\')
			x->escaped = true;
		else if (c == '"')
			x->inside = x->inside == IN_TEXT ? IN_CODE : IN_TEXT;
		else if (x->inside == IN_CODE && c == '{')
			x->depth++;
		else if (x->inside == IN_CODE && c == '}' && x->depth && !--x->depth) {
			x->whole = ++x->scanned;
			return true;
		}
	}
	return false;
}

static bool take_fragment(struct ctf_pieces *x, size_t begin, GError **error)
{
	g_assert(x->whole > begin && x->whole <= x->text->len);
	const char *s = x->text->str + begin;
	if (*s != CTF_RS)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
			    "metadata continues without a record separator");
	x->inside = IN_CODE;
	x->escaped = false;
	x->depth = 0;
	return ctf_meta_fragment(x->parser, s + 1, x->whole - begin - 1, error);
}

/* Parses the complete fragments. Between them is only white space. */
static bool parse_fragments(struct ctf_pieces *x, GError **error)
{
	size_t begin = 0;		/* of the next fragment */
	for (;;) {
		while (begin < x->text->len && is_space(x->text->str[begin]))
			begin++;
		x->scanned = MAX(x->scanned, begin);
		if (begin == x->text->len || !scan_fragment(x, begin))
			break;
		if (!take_fragment(x, begin, error))
			return false;
		begin = x->whole;
	}
	erase(x, begin);
	return true;
}

bool ctf_pieces_append(struct ctf_pieces *x, const void *bytes, size_t n, GError **error)
{
	struct ctf_parser *p = x->parser;
	if (!ctf_meta_count(p, n, error))
		return false;
	g_string_append_len(x->raw, bytes, (gssize)n);
	x->appended += n;
	const uint8_t *raw = (const uint8_t *)x->raw->str;
	size_t used = x->raw->len;
	if (!p->started && x->raw->len < BEGIN_BYTES)
		return true;
	if (!ctf_meta_begin(p, raw, x->raw->len, error))
		return false;
	if (!p->meta.packetised)
		g_string_append_len(x->text, x->raw->str, (gssize)used);
	else if (!ctf_meta_unpack(p, raw, x->raw->len, x->text, &used, error))
		return false;
	g_string_erase(x->raw, 0, (gssize)used);
	bool ok = p->meta.is_ctf2 ? parse_fragments(x, error) : parse_whole(x, error);
	while (x->blank < x->text->len && is_space(x->text->str[x->blank]))
		x->blank++;
	/* Packets have headers: where in them a declaration ends is only known if it ends with a packet. */
	if (!p->meta.packetised || !ctf_pieces_wait(x))
		x->parsed = x->appended - x->text->len - x->raw->len;
	return ok;
}
