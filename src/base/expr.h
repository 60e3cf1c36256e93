/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filter expressions over the columns of a view: what --filter and the `\` key take.
 *
 *     expr    := or ; or := and { ("||" | "or") and } ; and := not { ("&&" | "and") not }
 *     not     := ("!" | "not") not | "(" or ")" | test
 *     test    := COLUMN OP VALUE | COLUMN ["not"] "in" "(" VALUE { [","] VALUE } ")" | WORD | "STRING"
 *     COLUMN  := WORD { WORD } | "STRING"
 *     OP      := == = != < <= > >= =~ !~
 *     VALUE   := number with an optional unit (ns us ms s m h; K M G; %; x), 0x7f00 | WORD | "STRING"
 *
 * With a column name that has %, numbers are in percent: CPU% > 3 means 3 %. A bare word or string is true for a row
 * if any text column contains it, ignoring case. =~ and !~ take a regular expression (GRegex), also ignoring case. A
 * WORD after ==, != or `in` is a pattern if it has * (any text) or ? (any character): mysql*; a "STRING" is not. With
 * a missing value (null), or a NaN, all tests but !=, !~ and `not in` are false. Column names are checked when the
 * expression is parsed. Depth, length, and the steps of a regular expression are bounded. Immutable, thread safe.
 */
#ifndef BLK_BASE_EXPR_H
#define BLK_BASE_EXPR_H

#include "base/text.h"
#include "base/value.h"

#include <glib.h>
#include <stdbool.h>

struct expr;

/* The number of the column with this name; -1: there is none; EXPR_SEVERAL: there are several. */
#define EXPR_SEVERAL (-2)
typedef int (*expr_lookup)(const char *column, const void *data);
/* The row's value in that column. */
typedef struct value (*expr_get)(int column, const void *row, const void *data);

/* Parses `text`. NULL: *error (BLK_EXPR_ERROR) has position and reason. Bare words are searched in columns 0 to
 * n_columns - 1. An empty text gives an expression that is always true. columns: the columns to propose for an unknown
 * one, called with `data`; NULL: none. */
struct expr *expr_parse(const char *text, expr_lookup lookup, text_candidate_at columns, const void *data,
			int n_columns, GError **error);
/* The kind of a column's values; VALUE_NONE: any kind. */
typedef enum value_kind (*expr_kind)(int column, const void *data);
/* Can each literal be compared with its column (a duration cannot with 3x or 5K)? False: *error says what the column
 * takes. expr_match() treats such a literal as a missing value; this reports it to the user. */
bool expr_check(const struct expr *e, expr_kind kind, const void *data, GError **error);
bool expr_has_words(const struct expr *e);	/* bare words, which are searched in several columns */
bool expr_match(const struct expr *e, expr_get get, const void *row, const void *data);
/* The text as a "STRING" of an expression. Free with g_free(). */
char *expr_quote(const char *text);
void expr_free(struct expr *e);			/* NULL is fine */

#define BLK_EXPR_ERROR (blk_expr_error_quark())
GQuark blk_expr_error_quark(void);

#endif
