/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text from traces is hostile: it may have any byte, escape sequences, huge length, wide and combining characters.
 * All text that goes to a terminal or becomes a file name must pass these functions.
 */
#ifndef BLK_BASE_TEXT_H
#define BLK_BASE_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A new string of valid UTF-8 (g_free). Control characters (C0, DEL, C1) and invalid bytes become \xNN; bidi controls
 * and other format characters (Cf) become \u{NNNN}; a backslash stays. NULL gives "". */
char *text_visible(const char *s);
char *text_visible_len(const char *s, size_t len);
void text_append_visible(GString *out, const char *s);	/* the same, appended to `out`; s must not be NULL */

/* As g_string_append_len(), without a function call if there is room. */
static inline void text_append_len(GString *out, const char *text, size_t len)
{
	if (G_UNLIKELY(out->len + len >= out->allocated_len)) {
		g_string_append_len(out, text, (gssize)len);
		return;
	}
	memcpy(out->str + out->len, text, len);
	out->len += len;
	out->str[out->len] = '\0';
}
void text_append_int(GString *out, int64_t n);

/* The number of terminal columns of `s` (valid UTF-8): wide characters have 2, combining ones 0. */
unsigned text_width(const char *s);
/* Bytes of the longest prefix with at most `cols` columns. *ret_cols (may be NULL): its columns, perhaps cols - 1
 * before a wide character. */
size_t text_prefix(const char *s, unsigned cols, unsigned *ret_cols);
/* A new string with at most `cols` columns: `s`, or a prefix of it and a '~' (utf8: an ellipsis). cols 0 gives "". It
 * is cut between words, unless that leaves less than half of it or leaves out a long word's beginning, and never inside
 * of a figure or between a number and its unit. */
char *text_clip(const char *s, unsigned cols, bool utf8);
/* The same, but cut at the left: the end of a path is more important. */
char *text_clip_left(const char *s, unsigned cols, bool utf8);

/* Adds the lines (char *) of a text that is wrapped at blanks; those after the first are indented by `hang` columns.
 * The first is cut within a word rather than before `least` bytes. */
void text_wrap(GPtrArray *lines, const char *text, unsigned cols, unsigned hang, size_t least);

/* A new string: `s` and blanks up to `cols` columns. It is never cut. */
char *text_pad(const char *s, unsigned cols);

/* A name that is safe for a file (g_free): [A-Za-z0-9._-] stay, other characters become '_', as do leading dots and
 * dashes. Not empty, at most 100 bytes. */
char *text_filename(const char *s);

/* Parses the id of a span or trace: 1 to `most` hex digits, optionally after "0x". Of more than 16 digits, as other
 * tracers have them, the lower 16 are used. False: it is no id; *ret is not changed. */
bool text_parse_id(const char *s, unsigned most, uint64_t *ret);
/* The digits of such an id above the lower 16; 0: there are none. */
uint64_t text_id_upper(const char *s);
#define TEXT_ID 16
char *text_id(uint64_t id);		/* its 16 digits, lower-case (g_free) */
#define TEXT_TRACE_ID 32

/* Is the column id `id` the same as `name` with a unit: _ns, _bytes, _ratio? */
bool text_is_with_unit(const char *id, const char *name);

/* `s`, quoted for a POSIX shell if necessary (g_free). */
char *text_shell_quote(const char *s);

/* The candidate that somebody who typed `word` may have meant: the one with the fewest changed letters, if they are at
 * most a third; else the first whose meaning (a help text, may be NULL) has the word. NULL: none. at(i): candidate i;
 * a .name of NULL ends the list. Its .title (may be NULL) is another name of it. O(letters^2) for each candidate; of
 * more than 32 bytes only the meaning counts. */
struct text_candidate { const char *name, *meaning, *title; };
typedef struct text_candidate (*text_candidate_at)(size_t i, const void *data);
const char *text_suggest(const char *word, text_candidate_at at, const void *data);

/* The shortest text, in any locale, that reads as this number; of a `single`, that of 4 bytes, as a number of that
 * size: "0.1", "1e+30", "-0", "inf", "nan". Returns `to`. */
#define TEXT_REAL_BYTES 32		/* with its NUL */
const char *text_real(double d, bool single, char to[TEXT_REAL_BYTES]);

/* A UUID as text: "0a0a0a0a-0a0a-0a0a-0a0a-0a0a0a0a0a0a". */
#define TEXT_UUID_BYTES 37		/* with its NUL */
void text_uuid(char to[TEXT_UUID_BYTES], const uint8_t uuid[16]);

#endif
