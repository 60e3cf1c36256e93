/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filter expressions over the columns of a view: what --filter and the `\` key take.
 *
 *     expr    := or ; or := and { ("||" | "or") and } ; and := not { ("&&" | "and") not }
 *     not     := ("!" | "not") not | "(" or ")" | test
 *     test    := COLUMN OP VALUE | WORD | "STRING"
 *     OP      := == = != < <= > >= =~ !~
 *     VALUE   := number with an optional unit (ns us ms s m h; K M G; %), 0x7f00 | WORD | "STRING"
 *
 * A bare word or string is true for a row in which any text column holds it (case
 * folded). =~ and !~ take a regular expression (GRegex, case folded). A missing
 * value (null) makes every test but != and !~ false. Column names are checked when
 * the expression is made. Depth and length are bounded. Immutable, thread safe.
 */
#ifndef BLK_BASE_EXPR_H
#define BLK_BASE_EXPR_H

#include "base/value.h"

#include <glib.h>
#include <stdbool.h>

struct expr;

/* Is there a column of this id, and which number has it? -1: no. */
typedef int (*expr_lookup)(const char *column, const void *data);
/* The row's value in that column. */
typedef struct value (*expr_get)(int column, const void *row, const void *data);

/* NULL and *error (BLK_EXPR_ERROR) with position and reason when it can't be read.
 * `n_columns` columns are searched by bare words. Empty text gives an expression
 * that is always true. */
struct expr *expr_parse(const char *text, expr_lookup lookup, const void *data,
			int n_columns, GError **error);
/* What kind of values a column has; VALUE_NONE: of any. */
typedef enum value_kind (*expr_kind)(int column, const void *data);
/* Can every value that a column is compared with be one of the column's (not 3x, nor 5K, of a
 * duration)? No: false and *error, which says what it takes. To expr_match() it is a missing
 * value; who typed it wants to know. */
bool expr_check(const struct expr *e, expr_kind kind, const void *data, GError **error);
bool expr_match(const struct expr *e, expr_get get, const void *row, const void *data);
void expr_free(struct expr *e);			/* NULL is fine */

#define BLK_EXPR_ERROR (blk_expr_error_quark())
GQuark blk_expr_error_quark(void);

#endif
