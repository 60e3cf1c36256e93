/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lexer of CTF 1.8 metadata text (TSDL), with one token of lookahead. Errors of all users of the lexer are set
 * here, with line and column (inside src/trace/).
 */
#ifndef BLK_TRACE_CTF_CTF_LEX_H
#define BLK_TRACE_CTF_CTF_LEX_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of a one-character token is that character. */
enum ctf_token_kind {
	CTF_TOKEN_END = 256,
	CTF_TOKEN_BAD,		/* see lexer.error; no rule accepts it */
	CTF_TOKEN_WORD,
	CTF_TOKEN_NUMBER,
	CTF_TOKEN_STRING,
	CTF_TOKEN_IS_TYPE,	/* := */
	CTF_TOKEN_TO,		/* ... */
	CTF_TOKEN_ARROW,	/* -> */
};

/* Keywords, in the order of the lexer's table. */
enum ctf_word {
	CTF_WORD_NAME,		/* any other word */
	CTF_WORD_ALIGN, CTF_WORD_CALLSITE, CTF_WORD_CHAR, CTF_WORD_CLOCK, CTF_WORD_CONST,
	CTF_WORD_DOUBLE, CTF_WORD_ENUM, CTF_WORD_ENV, CTF_WORD_EVENT, CTF_WORD_FLOAT,
	CTF_WORD_FLOATING_POINT, CTF_WORD_INT, CTF_WORD_INTEGER, CTF_WORD_LONG, CTF_WORD_SHORT,
	CTF_WORD_SIGNED, CTF_WORD_STREAM, CTF_WORD_STRING, CTF_WORD_STRUCT, CTF_WORD_TRACE,
	CTF_WORD_TYPEALIAS, CTF_WORD_TYPEDEF, CTF_WORD_UNSIGNED, CTF_WORD_VARIANT, CTF_WORD_VOID,
};

struct ctf_token {
	int kind;
	int word;			/* of a word: enum ctf_word */
	const char *at;			/* its beginning in the text */
	const char *s;			/* the same; of a string: the text between its quotes */
	size_t n;
	uint64_t number;
};

struct ctf_lexer {
	const char *text, *at, *end;
	uint64_t line, column;		/* position of text[0], from 1 */
	struct ctf_token tok;		/* the next token */
	GError *error;			/* the first error */
	bool is_limit;			/* its code was CTF_LEX_OURS */
};

/* Begins with the first token of a text, which is borrowed. Line numbers continue from the text before. */
void ctf_lex_begin(struct ctf_lexer *x, const char *text, size_t n);
void ctf_lex_next(struct ctf_lexer *x);

static inline bool ctf_lex_is(const struct ctf_lexer *x, int kind)
{
	return x->tok.kind == kind;
}

static inline bool ctf_lex_is_word(const struct ctf_lexer *x, enum ctf_word word)
{
	return x->tok.kind == CTF_TOKEN_WORD && x->tok.word == (int)word;
}

/* Skips a token of that kind. False: the next token is another one; no error. */
bool ctf_lex_skip(struct ctf_lexer *x, int kind);

/* The same; another token is an error. */
bool ctf_lex_expect(struct ctf_lexer *x, int kind);

/* Sets the error "expected WHAT, not 'token'". Returns NULL, as functions that return a bool or a pointer do. */
void *ctf_lex_unexpected(struct ctf_lexer *x, const char *what);

/* The place in all texts so far, "LINE:COLUMN" (g_free). */
char *ctf_lex_place(const struct ctf_lexer *x, const char *at);

/* An error code: UNSUPPORTED, because of a limit of this parser that babeltrace2's does not have. */
#define CTF_LEX_OURS (-1)

/* Sets the error at that place of the text if it is not set yet; returns NULL. The message may contain only words
 * (letters, digits and '_') of the text. */
void *ctf_lex_fail(struct ctf_lexer *x, const char *at, int code, const char *format, ...)
	G_GNUC_PRINTF(4, 5);

/* Decodes a string token into `ret`, which must have room for tok->n + 1 bytes. */
bool ctf_lex_unescape(struct ctf_lexer *x, const struct ctf_token *tok, char *ret);

/* The '}' that ends the block at the current token, '{'. It is found without reading tokens. NULL: it is missing,
 * or a comment, a string or another block inside may contain a '}'. */
const char *ctf_lex_block_end(const struct ctf_lexer *x);

#endif
