/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parser of CTF 1.8 metadata; internal to its files (inside src/trace/). The parser of CTF 2 (ctf2.h) uses the
 * same memory and types:
 *
 *     ctf_lex.c	text -> tokens
 *     ctf_parse.c	blocks: trace, env, clock, stream, event
 *     ctf_types.c	types and their declarations
 *     ctf_scope.c	memory; the names of types and where they are valid
 *     ctf_bind.c	registers of lengths and tags
 *     ctf_meta.c	packets -> text; the functions of ctf_meta.h
 *     ctf_pieces.c	metadata that comes in pieces, also of CTF 2
 *
 * Every function that returns bool or a pointer returns false or NULL once lex.error is set.
 */
#ifndef BLK_TRACE_CTF_CTF_PARSE_H
#define BLK_TRACE_CTF_CTF_PARSE_H

#include "trace/ctf/ctf_class.h"
#include "trace/ctf/ctf_lex.h"
#include "trace/reader.h"

/* The name of a length or tag: a.b.c. */
struct ctf_path {
	const char *at;			/* its place in the text */
	uint32_t n;
	const char **part;
};

/* A type, with fields that only the parser needs. */
struct ctf_node {
	struct ctf_type t;		/* must be first: a struct ctf_type * from the parser is a node */
	const struct ctf_path *ref;	/* the length of a sequence, the tag of a variant */
	uint64_t fixed_bits;		/* size, if it is .fixed; see ctf_type_fixed() */
	uint64_t min_bits;		/* lower bound of its size in a packet */
	uint32_t cost;			/* number of types in it, itself included */
	uint32_t owner;			/* 0: shared; else serial number of the binding that owns the copy */
	uint8_t depth;
	bool fixed;
	bool native;			/* a number with the trace's byte order */
	bool dynamic;			/* contains sequences or variants: bound at each use */
};

static inline struct ctf_node *ctf_node_of(const struct ctf_type *t)
{
	return (struct ctf_node *)(void *)t;
}

struct ctf2;				/* ctf2.h */
struct ctf_pool;			/* memory that is freed with the meta */
struct ctf_scope {			/* names declared inside one pair of braces */
	GHashTable *types;		/* name -> struct ctf_node *; NULL: none yet */
	struct ctf_scope *up;
};

struct ctf_event {
	struct ctf_event_class pub;	/* must be first */
	const char *text;		/* its declaration; valid as long as the meta */
	size_t n_text;
};

struct ctf_stream {
	struct ctf_stream_class pub;	/* must be first */
	GHashTable *by_id;		/* uint64_t * -> struct ctf_event * */
	uint32_t next_reg;		/* first register of the event classes */
};

struct ctf_parser {
	struct ctf_meta meta;		/* must be first: a struct ctf_meta * is a parser */
	struct ctf_lexer lex;
	struct ctf_pool *pool;
	struct ctf_scope global, *scope;
	GPtrArray *texts;		/* char *: all texts that were appended */
	uint64_t n_text;
	GHashTable *by_id;		/* uint64_t * -> struct ctf_stream * */
	GPtrArray *native;		/* nodes that wait for the declaration of the trace's byte order */
	GArray *fields;			/* struct ctf_field: stack of the fields in all open structures */
	GHashTable *orphans;		/* id of a stream class -> GArray of struct orphan: it is not declared yet */
	GArray *ranges;			/* struct ctf_range: of the current enumeration */
	GHashTable *integers;		/* "{ size = 8; ... }" -> struct ctf_node *: the same text is written many
					 * times */
	GString *name, *key;		/* scratch */
	uint32_t n_nodes, n_bindings, all_cost, n_lookups, n_events;
	uint32_t packet_regs;		/* next register of the packet header */
	unsigned nested;		/* nesting of the current type */
	struct ctf_clock *default_clock;	/* of timestamps if no clock is declared; or NULL */
	GHashTable *env_index;		/* name -> its index in .meta.env, plus 1 */
	bool started;			/* some text was parsed */
	struct ctf2 *ctf2;		/* if the metadata is CTF 2; else NULL */
	bool has_packet_uuid;
	uint8_t packet_uuid[16];	/* of the metadata's own packets; valid if has_packet_uuid */
};

/* Refuse the text at that place. Return NULL. */
static inline void *ctf_corrupt(struct ctf_parser *p, const char *at, const char *why)
{
	return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_CORRUPT, "%s", why);
}

static inline void *ctf_unsupported(struct ctf_parser *p, const char *at, const char *why)
{
	return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_UNSUPPORTED, "%s", why);
}

static inline void *ctf_limited(struct ctf_parser *p, const char *at, const char *why)
{
	return ctf_lex_fail(&p->lex, at, CTF_LEX_OURS, "%s", why);
}

/* ---- ctf_scope.c ---- */

struct ctf_pool *ctf_pool_new(void);
void ctf_pool_free(struct ctf_pool *pool);
void *ctf_pool_alloc(struct ctf_pool *pool, size_t n);		/* zeroed, aligned */
size_t ctf_pool_bytes(const struct ctf_pool *pool);		/* allocated so far */
char *ctf_pool_string(struct ctf_pool *pool, const char *s, size_t n);

struct ctf_node *ctf_node_new(struct ctf_parser *p, enum ctf_kind kind);	/* NULL: there are too many */

/* Field names are stored without their leading '_'. The byte before the name shows whether it had one, as lengths
 * and tags are written with it. With `name - 1` the field has the name as it is written. */
char *ctf_field_name(struct ctf_pool *pool, const char *s, size_t n);
bool ctf_field_is(const struct ctf_field *f, const char *written);

void ctf_scope_push(struct ctf_parser *p, struct ctf_scope *scope);
void ctf_scope_pop(struct ctf_parser *p);

/* The type called "uint32_t", "unsigned long", "struct name" in this scope or those around it. */
struct ctf_node *ctf_scope_find(const struct ctf_parser *p, const char *name);
bool ctf_scope_add(struct ctf_parser *p, const char *at, const char *name, struct ctf_node *type);

/* ---- ctf_types.c ---- */

/* Parses typealias, typedef, struct NAME ..., enum ..., variant ..., up to the ';'. */
bool ctf_parse_declaration(struct ctf_parser *p);
bool ctf_is_declaration(const struct ctf_parser *p);

/* Parses a type without a declarator, as after ":=". */
struct ctf_node *ctf_parse_type(struct ctf_parser *p);

/* Parse values at the current token. Texts are owned by the pool. */
bool ctf_parse_number(struct ctf_parser *p, uint64_t *ret);
bool ctf_parse_signed(struct ctf_parser *p, int64_t *ret);
bool ctf_parse_text(struct ctf_parser *p, char **ret);		/* "string" or a.b.c */
struct ctf_path *ctf_parse_path(struct ctf_parser *p);

/* Byte orders, as numbers and the trace declare them. */
enum ctf_order { CTF_ORDER_NATIVE, CTF_ORDER_LITTLE, CTF_ORDER_BIG };
bool ctf_parse_order(struct ctf_parser *p, enum ctf_order *ret);

/* One of some words, quoted or not, or its number; `what` names it in the error. */
struct ctf_choice_word { const char *word; int value; };
bool ctf_parse_choice(struct ctf_parser *p, const struct ctf_choice_word *c, size_t n,
		      const char *what, int *ret);
bool ctf_parse_bool(struct ctf_parser *p, bool *ret);

/* A type in a block, and where it is. */
struct ctf_declared {
	struct ctf_node *type;		/* NULL: absent */
	const char *at;
};

/* A block of assignments: what the right side of one is, and where in the target it goes. */
enum ctf_value {
	CTF_VALUE_OTHER,		/* .read() parses it */
	CTF_VALUE_NUMBER,		/* uint64_t */
	CTF_VALUE_SIGNED,		/* int64_t */
	CTF_VALUE_BOOL,			/* bool */
	CTF_VALUE_TEXT,			/* char * */
	CTF_VALUE_ORDER,		/* enum ctf_order */
	CTF_VALUE_TYPE,			/* struct ctf_declared; after := */
	CTF_IGNORED_TEXT, CTF_IGNORED_SIGNED,
};
struct ctf_attribute {
	const char *name;
	enum ctf_value value;
	size_t to;			/* offset */
	bool (*read)(struct ctf_parser *p, void *target);
	bool required;
};
bool ctf_parse_block(struct ctf_parser *p, const struct ctf_attribute *a, size_t n,
		     void *target, const char *what);

/* ---- ctf_bind.c ---- */

enum ctf_root {
	CTF_ROOT_PACKET_HEADER, CTF_ROOT_PACKET_CONTEXT, CTF_ROOT_HEADER, CTF_ROOT_CONTEXT,
	CTF_ROOT_OWN_CONTEXT, CTF_ROOT_FIELDS, CTF_N_ROOTS,
};

struct ctf_binding {
	struct ctf_parser *p;
	struct ctf_node *root[CTF_N_ROOTS];	/* bound structures; NULL: absent */
	bool open[CTF_N_ROOTS];			/* bound by this binding: its fields may get registers */
	bool uses_header;			/* a length or tag is in the event header */
	enum ctf_root now;
	uint32_t serial, next_reg;
};

void ctf_binding_begin(struct ctf_binding *b, struct ctf_parser *p, uint32_t next_reg);

/* Binds a root, which may be absent: replaces it by a copy, if needed, in which lengths and tags have registers. Call
 * in the order of the enum. */
bool ctf_bind(struct ctf_binding *b, enum ctf_root which, const struct ctf_declared *type);

/* ---- ctf_meta.c ---- */

/* Finds out the language by the first bytes; 10 are enough. */
bool ctf_meta_begin(struct ctf_parser *p, const uint8_t *bytes, size_t n, GError **error);
/* Counts the bytes. False: they are more than the limit. */
bool ctf_meta_count(struct ctf_parser *p, size_t n, GError **error);

/* Appends the text in the packets. ret_used: the last packet may be incomplete, *ret_used is the size of the complete
 * ones. NULL: all must be complete. */
bool ctf_meta_unpack(struct ctf_parser *p, const uint8_t *bytes, size_t n, GString *text,
		     size_t *ret_used, GError **error);
bool ctf_meta_parse(struct ctf_parser *p, const char *text, size_t n, GError **error);

/* Parses a fragment of CTF 2, without its RS. */
bool ctf_meta_fragment(struct ctf_parser *p, const char *text, size_t n, GError **error);
#define CTF_RS '\x1e'

/* The clock of that name; NULL: none. Clocks of CTF 2 are found by their ids (struct ctf2). */
struct ctf_clock *ctf_meta_clock(const struct ctf_parser *p, const char *name);
/* Adds a copy of the clock. Returns it. */
struct ctf_clock *ctf_meta_add_clock(struct ctf_parser *p, const struct ctf_clock *c);

/* Counts a remark. True: it is the first of its kind, the caller sets .first. */
static inline bool ctf_meta_remark(struct ctf_parser *p, enum ctf_remark_kind kind)
{
	return !p->meta.remark[kind].n++;
}

/* Adds a stream class to .meta; marks one that has a new event class. */
void ctf_meta_add_stream(struct ctf_parser *p, struct ctf_stream *s);
void ctf_meta_grow(struct ctf_parser *p, struct ctf_stream *s);
/* Adds an entry of the environment, in place of an earlier one of its name. False: there are too many. */
bool ctf_meta_add_env(struct ctf_parser *p, const struct ctf_env *e);

/* ---- ctf_parse.c ---- */

GHashTable *ctf_orphans_new(void);
bool ctf_check_orphans(struct ctf_parser *p);	/* is every event's stream declared? */
bool ctf_parse_all(struct ctf_parser *p);		/* up to the end of the text */

#endif
