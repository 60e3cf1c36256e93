/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words, numbers, strings and signs of CTF metadata text (TSDL), one token ahead, and
 * the errors of everybody who reads them: by line and column (inside src/trace/).
 */
#ifndef BLK_TRACE_CTF_CTF_LEX_H
#define BLK_TRACE_CTF_CTF_LEX_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Signs of one character are that character. */
enum ctf_token_kind {
	CTF_TOKEN_END = 256,
	CTF_TOKEN_BAD,		/* lexer.error says why; no rule takes it */
	CTF_TOKEN_WORD,
	CTF_TOKEN_NUMBER,
	CTF_TOKEN_STRING,
	CTF_TOKEN_IS_TYPE,	/* := */
	CTF_TOKEN_TO,		/* ... */
	CTF_TOKEN_ARROW,	/* -> */
};

/* Words that the language knows; in the order of the lexer's table. */
enum ctf_word {
	CTF_WORD_NAME,		/* any other */
	CTF_WORD_ALIGN, CTF_WORD_CALLSITE, CTF_WORD_CHAR, CTF_WORD_CLOCK, CTF_WORD_CONST,
	CTF_WORD_DOUBLE, CTF_WORD_ENUM, CTF_WORD_ENV, CTF_WORD_EVENT, CTF_WORD_FLOAT,
	CTF_WORD_FLOATING_POINT, CTF_WORD_INT, CTF_WORD_INTEGER, CTF_WORD_LONG, CTF_WORD_SHORT,
	CTF_WORD_SIGNED, CTF_WORD_STREAM, CTF_WORD_STRING, CTF_WORD_STRUCT, CTF_WORD_TRACE,
	CTF_WORD_TYPEALIAS, CTF_WORD_TYPEDEF, CTF_WORD_UNSIGNED, CTF_WORD_VARIANT, CTF_WORD_VOID,
};

struct ctf_token {
	int kind;
	int word;			/* of a word: enum ctf_word */
	const char *at;			/* in the text: where it begins */
	const char *s;			/* the same; of a string what is between the quotes */
	size_t n;
	uint64_t number;
};

struct ctf_lexer {
	const char *text, *at, *end;
	uint64_t line, column;		/* of text[0], from 1 */
	struct ctf_token tok;		/* the one to be read */
	GError *error;			/* the first one */
};

/* Begins with the first token of a text, which is borrowed; positions go on from the
 * text before it. */
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

/* Goes on behind a token of that kind: did it? No error otherwise. */
bool ctf_lex_skip(struct ctf_lexer *x, int kind);

/* The same, or the error that it is missing. */
bool ctf_lex_expect(struct ctf_lexer *x, int kind);

/* "expected WHAT, not 'token'": always false. */
bool ctf_lex_unexpected(struct ctf_lexer *x, const char *what);

/* Sets the error at that place of the text, unless there is one: always false. The
 * message may hold words of the text (letters, digits and '_'), nothing else of it. */
bool ctf_lex_fail(struct ctf_lexer *x, const char *at, int code, const char *format, ...)
	G_GNUC_PRINTF(4, 5);

/* What a string token says, to `ret`, which has room for tok->n + 1 bytes. */
bool ctf_lex_unescape(struct ctf_lexer *x, const struct ctf_token *tok, char *ret);

/* The '}' that ends the block at the current token, its '{', found without reading tokens. NULL: there is none, or a
 * comment, a string or another block inside may hold a '}'. */
const char *ctf_lex_block_end(const struct ctf_lexer *x);

#endif
