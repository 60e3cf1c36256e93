/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filter expressions: a recursive-descent parser that makes a small tree, and its evaluation. Chains of && and || are
 * one node, so only parentheses and negations add depth, which is bounded.
 *
 * The meaning of a literal depends on the column that it is compared with: K is 1024 for bytes and 1000 for counts;
 * digits are hexadecimal for ids and plain text for names. A literal that cannot be compared with the column (5ms
 * with a number of bytes) behaves like a missing value.
 */
#include "base/expr.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK(blk-expr-error-quark, blk_expr_error)

enum op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_LIKE, OP_UNLIKE, OP_N };

static const struct {
	const char *text;
	enum op op;
} op_table[] = {			/* longer ones first */
	{ "==", OP_EQ }, { "=~", OP_LIKE }, { "!=", OP_NE }, { "!~", OP_UNLIKE },
	{ "<=", OP_LE }, { ">=", OP_GE }, { "=", OP_EQ }, { "<", OP_LT }, { ">", OP_GT },
};

/* By order of value and literal (-1, 0, 1): does the operator hold? */
static const bool op_holds[OP_N][3] = {
	[OP_EQ] = { false, true, false }, [OP_NE] = { true, false, true },
	[OP_LT] = { true, false, false }, [OP_LE] = { true, true, false },
	[OP_GT] = { false, false, true }, [OP_GE] = { false, true, true },
};

enum dimension { DIM_NONE, DIM_TIME, DIM_SIZE, DIM_RATIO };

static const struct unit {
	const char *text;
	enum dimension dim;
	double factor;
	double factor_bytes;		/* used if the column is in bytes */
} unit_table[] = {
	{ "", DIM_NONE, 1, 1 },
	{ "ns", DIM_TIME, 1, 1 }, { "us", DIM_TIME, 1e3, 1 }, { "\302\265s", DIM_TIME, 1e3, 1 },
	{ "ms", DIM_TIME, 1e6, 1 }, { "s", DIM_TIME, 1e9, 1 },
	{ "m", DIM_TIME, 60e9, 1 }, { "h", DIM_TIME, 3600e9, 1 },
	{ "K", DIM_SIZE, 1e3, 1024.0 }, { "k", DIM_SIZE, 1e3, 1024.0 },
	{ "M", DIM_SIZE, 1e6, 1048576.0 }, { "G", DIM_SIZE, 1e9, 1073741824.0 },
	{ "%", DIM_RATIO, 0.01, 1 }, { "x", DIM_RATIO, 1, 1 },
};

/* Kinds of value that a literal with a unit may be compared with, as bits. */
#define BIT(kind) (1u << (kind))
static const unsigned dim_kinds[] = {
	[DIM_NONE] = ~0u,
	[DIM_TIME] = BIT(VALUE_NS),
	[DIM_SIZE] = BIT(VALUE_COUNT) | BIT(VALUE_BYTES) | BIT(VALUE_ID),
	[DIM_RATIO] = BIT(VALUE_RATIO),
};

struct expr_number {
	double d;
	int64_t i;
	bool whole;			/* i is exact */
};

struct literal {
	char *text;
	bool is_number, is_hex;
	enum dimension dim;
	struct expr_number number, number_bytes;
	uint64_t hex;
};

enum node_kind { NODE_OR, NODE_AND, NODE_NOT, NODE_TEST, NODE_WORD };

struct node {
	enum node_kind kind;
	GPtrArray *children;		/* OR, AND, NOT (one) */
	int column;			/* TEST */
	enum op op;			/* TEST */
	struct literal literal;		/* TEST; text: WORD */
	long at;			/* TEST: position of the literal, in characters from 1 */
	GRegex *regex;			/* TEST with =~ or !~ */
	bool glob;			/* TEST: the literal is a pattern for texts */
	bool ascii;			/* WORD: ASCII only, so Unicode case folding is not needed */
};

struct expr {
	char *text;
	struct node *root;		/* NULL: always true */
	int n_columns;
};

/* --- nodes --- */

static void node_free(void *p)
{
	struct node *node = p;

	if (!node)
		return;
	if (node->children)
		g_ptr_array_free(node->children, TRUE);
	if (node->regex)
		g_regex_unref(node->regex);
	g_free(node->literal.text);
	g_free(node);
}

typedef struct node expr_node;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(expr_node, node_free)

static struct node *node_new(enum node_kind kind)
{
	struct node *node = g_new0(struct node, 1);

	node->kind = kind;
	if (kind == NODE_OR || kind == NODE_AND || kind == NODE_NOT)
		node->children = g_ptr_array_new_with_free_func(node_free);
	return node;
}

/* --- literals --- */

static struct expr_number number_from(double d, bool round)
{
	struct expr_number n = { .d = d };

	if (fabs(d) < 9e15 && (round || d == rint(d))) {
		n.i = llrint(d);
		n.whole = true;
	}
	return n;
}

static const struct unit *find_unit(const char *text)
{
	for (size_t i = 0; i < G_N_ELEMENTS(unit_table); i++) {
		if (strcmp(text, unit_table[i].text) == 0)
			return &unit_table[i];
	}
	return NULL;
}

/* 0x7f00, the form in which addresses and flags are shown. */
static void read_hex_number(struct literal *l, const char *digits)
{
	char *end;
	uint64_t n = g_ascii_strtoull(digits, &end, 16);
	if (!g_ascii_isxdigit(*digits) || *end || n > INT64_MAX)
		return;
	l->is_number = true;
	l->number = l->number_bytes = (struct expr_number){
		.d = (double)n, .i = *l->text == '-' ? -(int64_t)n : (int64_t)n, .whole = true };
	l->number.d = l->number_bytes.d = (double)l->number.i;
}

static void read_number(struct literal *l)
{
	const char *digits = l->text + (*l->text == '-' || *l->text == '+');
	char *end;

	/* g_ascii_strtod() also accepts inf and nan, which are words here. */
	if (!g_ascii_isdigit(*digits))
		return;
	if (*digits == '0' && g_ascii_tolower(digits[1]) == 'x') {
		read_hex_number(l, digits + 2);
		return;
	}
	double d = g_ascii_strtod(l->text, &end);
	const struct unit *unit = find_unit(end);
	if (!unit || !isfinite(d))
		return;
	l->is_number = true;
	l->dim = unit->dim;
	l->number = number_from(d * unit->factor, unit->dim == DIM_TIME);
	l->number_bytes = number_from(d * unit->factor_bytes, false);
	if (unit->dim != DIM_NONE)
		return;
	char *end_int;				/* a plain integer keeps all its 64 bits */
	int64_t i = g_ascii_strtoll(l->text, &end_int, 10);
	if (end_int == end && i != INT64_MAX && i != INT64_MIN) {
		l->number.i = l->number_bytes.i = i;
		l->number.whole = l->number_bytes.whole = true;
	}
}

static void read_hex(struct literal *l)
{
	l->is_hex = text_parse_id(l->text, TEXT_TRACE_ID, &l->hex);
}

/* Can a value of this kind equal the literal? */
static bool fits(const struct literal *l, enum value_kind kind)
{
	if (kind == VALUE_NONE || kind == VALUE_TEXT)
		return true;
	return kind == VALUE_HEX64 ? l->is_hex : l->is_number && dim_kinds[l->dim] & BIT(kind);
}

/* --- tokens --- */

enum token_kind {
	TOKEN_END, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_AND, TOKEN_OR, TOKEN_NOT, TOKEN_OP,
	TOKEN_WORD, TOKEN_STRING, TOKEN_UNTERMINATED
};

struct token {
	enum token_kind kind;
	const char *begin, *end;
	enum op op;
};

struct parser {
	const char *text;
	struct token token;		/* the next token */
	unsigned depth;
	expr_lookup lookup;
	text_candidate_at columns;
	const void *data;
	GError **error;
};

static bool ends_word(const char *p)
{
	return *p == '\0' || g_ascii_isspace(*p) || strchr("()\"=<>!", *p) ||
	       (p[0] == '&' && p[1] == '&') || (p[0] == '|' && p[1] == '|');
}

static struct token string_token(const char *begin)
{
	const char *p = begin + 1;

	while (*p && *p != '"')
		p += *p == '\\' && p[1] ? 2 : 1;
	if (!*p)
		return (struct token){ TOKEN_UNTERMINATED, begin, p, 0 };
	return (struct token){ TOKEN_STRING, begin, p + 1, 0 };
}

static bool operator_token(const char *p, struct token *ret)
{
	for (size_t i = 0; i < G_N_ELEMENTS(op_table); i++) {
		size_t len = strlen(op_table[i].text);
		if (strncmp(p, op_table[i].text, len) == 0) {
			*ret = (struct token){ TOKEN_OP, p, p + len, op_table[i].op };
			return true;
		}
	}
	return false;
}

static enum token_kind word_kind(const char *begin, size_t len)
{
	static const struct {
		const char *word;
		enum token_kind kind;
	} keywords[] = { { "and", TOKEN_AND }, { "or", TOKEN_OR }, { "not", TOKEN_NOT } };

	for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++) {
		if (strlen(keywords[i].word) == len &&
		    g_ascii_strncasecmp(begin, keywords[i].word, len) == 0)
			return keywords[i].kind;
	}
	return TOKEN_WORD;
}

static struct token read_token(const char *p)
{
	static const struct {
		const char text[3];
		enum token_kind kind;
	} marks[] = { { "(", TOKEN_OPEN }, { ")", TOKEN_CLOSE }, { "&&", TOKEN_AND },
		      { "||", TOKEN_OR }, { "!", TOKEN_NOT } };
	struct token token;

	while (g_ascii_isspace(*p))
		p++;
	if (*p == '\0')
		return (struct token){ TOKEN_END, p, p, 0 };
	if (*p == '"')
		return string_token(p);
	if (operator_token(p, &token))
		return token;
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
		size_t len = strlen(marks[i].text);
		if (strncmp(p, marks[i].text, len) == 0)
			return (struct token){ marks[i].kind, p, p + len, 0 };
	}
	const char *end = p;
	while (!ends_word(end))
		end++;
	return (struct token){ word_kind(p, (size_t)(end - p)), p, end, 0 };
}

static void advance(struct parser *ps)
{
	ps->token = read_token(ps->token.end);
}

/* The text of a word or string. In a string, \" and \\ are decoded; other backslashes stay, for regular
 * expressions. */
static char *token_text(const struct token *token)
{
	if (token->kind != TOKEN_STRING)
		return g_strndup(token->begin, (size_t)(token->end - token->begin));

	GString *s = g_string_new(NULL);
	for (const char *p = token->begin + 1; p < token->end - 1; p++) {
		if (*p == '\\' && (p[1] == '"' || p[1] == '\\'))
			p++;
		g_string_append_c(s, *p);
	}
	return g_string_free(s, FALSE);
}

G_GNUC_PRINTF(3, 4)
static struct node *refuse(struct parser *ps, const char *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *reason = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(ps->error, BLK_EXPR_ERROR, 0, "filter '%s': %s at character %ld", ps->text,
		    reason, g_utf8_pointer_to_offset(ps->text, at) + 1);
	return NULL;
}

static struct node *fail_expected(struct parser *ps, const char *what)
{
	const struct token *token = &ps->token;

	if (token->kind == TOKEN_END)
		return refuse(ps, token->begin, "expected %s, not the end,", what);
	if (token->kind == TOKEN_UNTERMINATED)
		return refuse(ps, token->begin, "a string that is not closed");
	g_autofree char *found = g_strndup(token->begin, (size_t)(token->end - token->begin));
	return refuse(ps, token->begin, "expected %s, not '%s',", what, found);
}

/* --- the grammar --- */

#define COLUMN_WORDS 4			/* in a column's title */

static struct node *parse_or(struct parser *ps);

static bool set_regex(struct parser *ps, struct node *test, const char *at)
{
	g_autoptr(GError) error = NULL;

	test->regex = g_regex_new(test->literal.text, G_REGEX_CASELESS, 0, &error);
	if (!test->regex) {
		refuse(ps, at, "regular expression '%s': %s", test->literal.text, error->message);
		return false;
	}
	/* pcre2pattern(3): a row for which it takes more steps does not match. */
	g_autofree char *bounded = g_strdup_printf("(*LIMIT_MATCH=%d)%s", LIMIT_REGEX_STEPS, test->literal.text);
	g_regex_unref(test->regex);
	test->regex = g_regex_new(bounded, G_REGEX_CASELESS, 0, NULL);
	if (!test->regex)
		refuse(ps, at, "regular expression '%s' cannot be bounded", test->literal.text);
	return test->regex;
}

/* The names of the columns with this title, "a, b, c". g_free. */
static char *names_with_title(struct parser *ps, const char *title)
{
	GString *s = g_string_new(NULL);
	struct text_candidate c;
	for (size_t i = 0; ps->columns && (c = ps->columns(i, ps->data)).name; i++)
		if (c.title && !g_ascii_strcasecmp(c.title, title))
			g_string_append_printf(s, "%s%s", s->len ? ", " : "", c.name);
	return g_string_free(s, false);
}

/* < 0: there is no such column, and the error is set. */
static int find_column(struct parser *ps, const char *name, const char *at)
{
	int column = ps->lookup(name, ps->data);
	if (column == EXPR_SEVERAL) {
		g_autofree char *names = names_with_title(ps, name);
		refuse(ps, at, "several columns are called '%s' (%s)", name, names);
		return column;
	}
	const char *meant = column < 0 && ps->columns ? text_suggest(name, ps->columns, ps->data) : NULL;
	if (column < 0 && meant)
		refuse(ps, at, "no column '%s' (did you mean %s?)", name, meant);
	else if (column < 0)
		refuse(ps, at, "no column '%s'", name);
	return column;
}

/* Can the token be a value? Also a keyword can. */
static bool is_value(const struct token *t)
{
	return t->kind == TOKEN_WORD || t->kind == TOKEN_STRING ||
	       (t->kind != TOKEN_END && g_ascii_isalpha(*t->begin));
}

/* A comparison with a literal. Takes text. name: of the column, as it was typed. */
static struct node *test_new(struct parser *ps, int column, const char *name, enum op op, char *text,
			     const struct token *value)
{
	struct node *test = node_new(NODE_TEST);
	test->op = op;
	test->column = column;
	test->literal.text = text;
	test->at = g_utf8_pointer_to_offset(ps->text, value->begin) + 1;
	test->glob = value->kind != TOKEN_STRING && (op == OP_EQ || op == OP_NE) && strpbrk(text, "*?");
	read_number(&test->literal);
	read_hex(&test->literal);
	if (strchr(name, '%') && test->literal.is_number && test->literal.dim == DIM_NONE) {
		test->literal.dim = DIM_RATIO;
		test->literal.number = number_from(test->literal.number.d / 100, false);
	}
	return test;
}

/* Parses the operator and value after a column: `name`, which was read already. */
static struct node *parse_comparison(struct parser *ps, const char *name, const char *at)
{
	enum op op = ps->token.op;
	int column = find_column(ps, name, at);
	if (column < 0)
		return NULL;
	advance(ps);
	if (!is_value(&ps->token))
		return fail_expected(ps, "a value");
	g_autoptr(expr_node) test = test_new(ps, column, name, op, token_text(&ps->token), &ps->token);
	if ((op == OP_LIKE || op == OP_UNLIKE) && !set_regex(ps, test, ps->token.begin))
		return NULL;
	advance(ps);
	return g_steal_pointer(&test);
}

/* Adds the values of a token: words may be joined by commas. */
static void add_values(struct parser *ps, struct node *any, int column, const char *name)
{
	const struct token *value = &ps->token;
	g_autofree char *text = token_text(value);
	if (value->kind == TOKEN_STRING) {
		g_ptr_array_add(any->children, test_new(ps, column, name, OP_EQ, g_steal_pointer(&text), value));
		return;
	}
	g_auto(GStrv) words = g_strsplit(text, ",", -1);
	for (char **w = words; *w; w++)
		if (**w)
			g_ptr_array_add(any->children, test_new(ps, column, name, OP_EQ, g_strdup(*w), value));
}

/* Parses the list after a column and `in`. */
static struct node *parse_list(struct parser *ps, const char *name, const char *at)
{
	g_autoptr(expr_node) any = node_new(NODE_OR);
	int column = find_column(ps, name, at);
	if (column < 0)
		return NULL;
	advance(ps);
	for (advance(ps); ps->token.kind != TOKEN_CLOSE; advance(ps)) {
		if (!is_value(&ps->token))
			return fail_expected(ps, "a value or ')'");
		add_values(ps, any, column, name);
	}
	if (!any->children->len)
		return fail_expected(ps, "a value");
	advance(ps);
	return g_steal_pointer(&any);
}

/* Do the next tokens say "in ("? */
static bool begins_list(const struct token *t)
{
	return t->end - t->begin == 2 && !g_ascii_strncasecmp(t->begin, "in", 2) &&
	       read_token(t->end).kind == TOKEN_OPEN;
}

static struct node *negated(struct node *inner)
{
	struct node *not = node_new(NODE_NOT);
	g_ptr_array_add(not->children, inner);
	return not;
}

/* Is it followed by an operator or a list, as a column is? */
static bool precedes_test(struct token next)
{
	return next.kind == TOKEN_OP || begins_list(&next) ||
	       (next.kind == TOKEN_NOT && (next = read_token(next.end), begins_list(&next)));
}

/* The name of a column that a test begins with: all words before the operator. NULL: it is a word to search. Moves to
 * the name's last token. g_free. */
static char *column_name(struct parser *ps)
{
	struct token last = ps->token, next;
	g_autofree char *name = token_text(&last);
	unsigned n = 1;
	for (next = read_token(last.end); last.kind == TOKEN_WORD && next.kind == TOKEN_WORD && !begins_list(&next) &&
	     n < COLUMN_WORDS; next = read_token(last.end), n++) {
		g_autofree char *before = name, *word = token_text(&next);
		name = g_strconcat(before, " ", word, NULL);
		last = next;
	}
	/* More than a word is one only if there is such a column. */
	bool simple = n == 1 && last.kind == TOKEN_WORD;
	if (!precedes_test(next) || (!simple && ps->lookup(name, ps->data) == -1))
		return NULL;
	ps->token = last;
	return g_steal_pointer(&name);
}

static struct node *parse_test(struct parser *ps)
{
	if (ps->token.kind != TOKEN_WORD && ps->token.kind != TOKEN_STRING)
		return fail_expected(ps, "a column, a word or '('");

	const char *at = ps->token.begin;
	g_autofree char *text = token_text(&ps->token), *column = column_name(ps);
	advance(ps);
	if (column && ps->token.kind == TOKEN_OP)
		return parse_comparison(ps, column, at);
	if (column && begins_list(&ps->token))
		return parse_list(ps, column, at);
	if (column) {				/* "not in" */
		advance(ps);
		struct node *any = parse_list(ps, column, at);
		return any ? negated(any) : NULL;
	}

	struct node *word = node_new(NODE_WORD);
	word->ascii = g_str_is_ascii(text);
	word->literal.text = word->ascii ? g_ascii_strdown(text, -1) : g_utf8_casefold(text, -1);
	return word;
}

static struct node *parse_not(struct parser *ps)
{
	struct token first = ps->token;

	if (first.kind != TOKEN_NOT && first.kind != TOKEN_OPEN)
		return parse_test(ps);
	if (++ps->depth > LIMIT_FILTER_DEPTH)
		return refuse(ps, first.begin, "nested more than %d deep", LIMIT_FILTER_DEPTH);
	advance(ps);

	g_autoptr(expr_node) inner = first.kind == TOKEN_NOT ? parse_not(ps) : parse_or(ps);
	if (!inner)
		return NULL;
	ps->depth--;
	if (first.kind == TOKEN_OPEN) {
		if (ps->token.kind != TOKEN_CLOSE)
			return fail_expected(ps, "')', '&&' or '||'");
		advance(ps);
		return g_steal_pointer(&inner);
	}
	return negated(g_steal_pointer(&inner));
}

/* Parses operands of one precedence, joined by `mark`. A single operand gets no node of its own. */
static struct node *parse_chain(struct parser *ps, enum token_kind mark, enum node_kind kind,
				struct node *(*parse_operand)(struct parser *ps))
{
	g_autoptr(expr_node) chain = NULL;
	struct node *operand = parse_operand(ps);

	if (!operand || ps->token.kind != mark)
		return operand;
	chain = node_new(kind);
	g_ptr_array_add(chain->children, operand);
	while (ps->token.kind == mark) {
		advance(ps);
		operand = parse_operand(ps);
		if (!operand)
			return NULL;
		g_ptr_array_add(chain->children, operand);
	}
	return g_steal_pointer(&chain);
}

static struct node *parse_and(struct parser *ps)
{
	return parse_chain(ps, TOKEN_AND, NODE_AND, parse_not);
}

static struct node *parse_or(struct parser *ps)
{
	return parse_chain(ps, TOKEN_OR, NODE_OR, parse_and);
}

static bool check_text(const char *text, GError **error)
{
	if (strlen(text) > LIMIT_FILTER_BYTES)
		return fail(error, BLK_EXPR_ERROR, 0, "filter: longer than %d bytes", LIMIT_FILTER_BYTES);
	const char *bad;
	if (!g_utf8_validate(text, -1, &bad))
		return fail(error, BLK_EXPR_ERROR, 0, "filter: not valid UTF-8 at byte %ld",
			    (long)(bad - text) + 1);
	return true;
}

struct expr *expr_parse(const char *text, expr_lookup lookup, text_candidate_at columns, const void *data,
			int n_columns, GError **error)
{
	text = text ? text : "";
	if (!check_text(text, error))
		return NULL;

	struct parser ps = {
		.text = text, .token = read_token(text),
		.lookup = lookup, .columns = columns, .data = data, .error = error,
	};
	g_autoptr(expr_node) root = NULL;
	if (ps.token.kind != TOKEN_END) {
		root = parse_or(&ps);
		if (!root)
			return NULL;
		if (ps.token.kind != TOKEN_END) {
			fail_expected(&ps, "'&&' or '||'");
			return NULL;
		}
	}
	struct expr *e = g_new0(struct expr, 1);
	e->text = g_strdup(text);
	e->root = g_steal_pointer(&root);
	e->n_columns = n_columns;
	return e;
}

static const char *const takes[] = {
	[VALUE_COUNT] = "number (K M G)",
	[VALUE_BYTES] = "number of bytes (K M G)",
	[VALUE_NS] = "duration (ns us ms s m h)",
	[VALUE_TIME] = "number of ns since the epoch",
	[VALUE_ID] = "number",
	[VALUE_RATIO] = "ratio (0.5 or 50%)",
	[VALUE_HEX64] = "hexadecimal id",
};

static bool check_node(const struct expr *e, const struct node *node, expr_kind kind_of,
		       const void *data, GError **error)
{
	for (unsigned i = 0; node->children && i < node->children->len; i++)
		if (!check_node(e, g_ptr_array_index(node->children, i), kind_of, data, error))
			return false;
	if (node->kind != NODE_TEST || node->regex)
		return true;
	enum value_kind kind = kind_of(node->column, data);
	if (fits(&node->literal, kind))
		return true;
	return fail(error, BLK_EXPR_ERROR, 0, "filter '%s': '%s' is not a %s at character %ld", e->text,
		    node->literal.text, takes[kind], node->at);
}

bool expr_check(const struct expr *e, expr_kind kind, const void *data, GError **error)
{
	return !e->root || check_node(e, e->root, kind, data, error);
}

static bool has_words(const struct node *node)
{
	bool any = node->kind == NODE_WORD;
	for (unsigned i = 0; node->children && i < node->children->len; i++)
		any = any || has_words(g_ptr_array_index(node->children, i));
	return any;
}

bool expr_has_words(const struct expr *e)
{
	return e->root && has_words(e->root);
}

char *expr_quote(const char *text)
{
	GString *s = g_string_new("\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			g_string_append_c(s, '\\');
		g_string_append_c(s, *text);
	}
	return g_string_free(g_string_append_c(s, '"'), false);
}

void expr_free(struct expr *e)
{
	if (!e)
		return;
	node_free(e->root);
	g_free(e->text);
	g_free(e);
}

/* --- evaluation --- */

struct match {
	const struct expr *e;
	expr_get get;
	const void *row, *data;
};

/* Compares value and literal. False: they cannot be compared. */
static bool order(struct value v, const struct literal *l, int *ret)
{
	struct value other = v;

	if (v.kind == VALUE_NONE || !fits(l, v.kind) || (v.kind == VALUE_RATIO && isnan(v.d)))
		return false;
	if (v.kind == VALUE_TEXT) {
		other = value_text(l->text);
	} else if (v.kind == VALUE_HEX64) {
		other.i = (int64_t)l->hex;
	} else {
		const struct expr_number *n = v.kind == VALUE_BYTES ? &l->number_bytes : &l->number;
		if (v.kind != VALUE_RATIO && !n->whole)
			v = value_ratio((double)v.i);
		other = v.kind == VALUE_RATIO ? value_ratio(n->d) : value_int(v.kind, n->i);
	}
	*ret = value_compare(v, other);
	return true;
}

/* The text as valid UTF-8, which GRegex and case folding need. */
static const char *valid_text(const char *s, char **ret_owned)
{
	if (!g_utf8_validate(s, -1, NULL))
		s = *ret_owned = g_utf8_make_valid(s, -1);
	return s;
}

static bool regex_matches(const GRegex *regex, struct value v)
{
	g_autofree char *owned = NULL;
	char buf[40];

	if (v.kind == VALUE_TEXT)
		return g_regex_match(regex, valid_text(v.s, &owned), 0, NULL);
	if (v.kind == VALUE_RATIO)
		g_ascii_formatd(buf, sizeof(buf), "%g", v.d);
	else if (v.kind == VALUE_HEX64)
		g_snprintf(buf, sizeof(buf), "%016" G_GINT64_MODIFIER "x", (uint64_t)v.i);
	else
		g_snprintf(buf, sizeof(buf), "%" G_GINT64_FORMAT, v.i);
	return g_regex_match(regex, buf, 0, NULL);
}

/* Tries every place for the text of the last `*` only, so it takes at most the product of both lengths. */
static bool glob_matches(const char *glob, const char *s)
{
	const char *star = NULL, *after = NULL;
	while (*s) {
		if (*glob == '*') {
			star = glob++;
			after = s;
		} else if (*glob == '?') {
			glob++;
			s = g_utf8_find_next_char(s, NULL);
		} else if (*glob == *s) {
			glob++;
			s++;
		} else if (star) {
			glob = star + 1;
			s = ++after;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

static bool test_matches(const struct node *test, const struct match *m)
{
	struct value v = m->get(test->column, m->row, m->data);
	bool negative = test->op == OP_NE || test->op == OP_UNLIKE;
	int o;

	if (v.kind == VALUE_NONE)
		return negative;
	if (test->regex)
		return regex_matches(test->regex, v) != negative;
	if (test->glob && v.kind == VALUE_TEXT)
		return glob_matches(test->literal.text, v.s) != negative;
	return order(v, &test->literal, &o) ? op_holds[test->op][o + 1] : negative;
}

static bool contains_ascii_folded(const char *s, const char *lower)
{
	for (; *s; s++) {
		size_t i = 0;
		while (lower[i] && g_ascii_tolower(s[i]) == lower[i])
			i++;
		if (!lower[i])
			return true;
	}
	return *lower == '\0';
}

static bool contains_word(const struct node *word, const char *s)
{
	if (word->ascii)
		return contains_ascii_folded(s, word->literal.text);

	g_autofree char *owned = NULL;
	g_autofree char *folded = g_utf8_casefold(valid_text(s, &owned), -1);
	return strstr(folded, word->literal.text);
}

static bool word_matches(const struct node *word, const struct match *m)
{
	for (int column = 0; column < m->e->n_columns; column++) {
		struct value v = m->get(column, m->row, m->data);
		if (v.kind == VALUE_TEXT && contains_word(word, v.s))
			return true;
	}
	return false;
}

static bool node_matches(const struct node *node, const struct match *m)
{
	if (node->kind == NODE_TEST)
		return test_matches(node, m);
	if (node->kind == NODE_WORD)
		return word_matches(node, m);
	if (node->kind == NODE_NOT)
		return !node_matches(g_ptr_array_index(node->children, 0), m);

	bool decides = node->kind == NODE_OR;
	for (unsigned i = 0; i < node->children->len; i++) {
		if (node_matches(g_ptr_array_index(node->children, i), m) == decides)
			return decides;
	}
	return !decides;
}

bool expr_match(const struct expr *e, expr_get get, const void *row, const void *data)
{
	struct match m = { e, get, row, data };
	return !e->root || node_matches(e->root, &m);
}
