/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text from traces is hostile: any byte, escape sequences, huge, wide, combining.
 * Everything that reaches a terminal or a file name goes through here.
 */
#ifndef BLK_BASE_TEXT_H
#define BLK_BASE_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A new string, valid UTF-8: control characters (C0, DEL, C1) and invalid bytes
 * become \xNN, bidi controls and other format characters (Cf) \u{NNNN}; backslash
 * stays. Free with g_free. NULL gives "". */
char *text_visible(const char *s);
char *text_visible_len(const char *s, size_t len);
void text_append_visible(GString *out, const char *s);	/* the same, appended; s: not NULL */

/* Columns that `s` (valid UTF-8) takes on a terminal: wide characters 2, combining
 * 0. Never negative. */
unsigned text_width(const char *s);
/* Bytes of the longest prefix of at most `cols` columns; *ret_cols what it takes
 * (may be cols - 1 before a wide character). ret_cols may be NULL. */
size_t text_prefix(const char *s, unsigned cols, unsigned *ret_cols);
/* A new string of at most `cols` columns: `s`, or its prefix and a '~' (utf8: an
 * ellipsis). cols 0 gives "". */
char *text_clip(const char *s, unsigned cols, bool utf8);
/* The same from the left: of a path the end tells more. */
char *text_clip_left(const char *s, unsigned cols, bool utf8);

/* A new string: `s`, and blanks up to `cols` columns. Never cut. */
char *text_pad(const char *s, unsigned cols);

/* A name fit for a file: [A-Za-z0-9._-] kept, the rest '_', as are dots and dashes that it
 * begins with; never empty, at most 100 bytes. Free with g_free. */
char *text_filename(const char *s);

/* An id of a span or trace: 1 to `most` hex digits, perhaps behind "0x". Of more than 16, as other
 * tracers have them, the lower 16 count. false: it is none; *ret stays. */
bool text_parse_id(const char *s, unsigned most, uint64_t *ret);
/* The digits of such an id before its lower 16; 0: there are none. */
uint64_t text_id_upper(const char *s);
#define TEXT_ID 16
#define TEXT_TRACE_ID 32

/* Is `id`, that of a column, `name` and its unit: _ns, _bytes, _ratio? */
bool text_is_with_unit(const char *id, const char *name);

/* `s` quoted for a POSIX shell where it needs it. Free with g_free. */
char *text_shell_quote(const char *s);

#endif
