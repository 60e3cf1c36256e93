/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parser of CTF 2 metadata (CTF2-SPEC-2.0); internal to its files (inside src/trace/):
 *
 *     json_read.c (base)		text -> tokens
 *     ctf2_object.c	properties of JSON objects and their values; errors with their place
 *     ctf2_fields.c	field classes -> types, roles, mappings
 *     ctf2_location.c	field locations: the register of a length or selector
 *     ctf2_meta.c		fragments: preamble, trace, clock, data stream and event record classes
 *
 * The result is a struct ctf_meta, as for CTF 1.8; everything that uses it is the same for both. A field class alias
 * is parsed again at each use, so that its locations are relative to that place. Only integers without names or roles
 * are shared.
 *
 * Every function that returns bool or a pointer returns false or NULL once v->error is set.
 */
#ifndef BLK_TRACE_CTF_CTF2_H
#define BLK_TRACE_CTF_CTF2_H

#include "base/json_read.h"
#include "trace/ctf/ctf_parse.h"

#include "base/limits.h"

/*
 * Numbers of registers (CTF_NO_REG): those of the packet header begin at 1. Those of stream classes (packet context,
 * event header, common context) follow, then those of event classes. Classes of one kind share numbers. The ranges are
 * fixed, so a later class can refer to a field of an earlier one.
 */
#define CTF2_STREAM_REGS (1 + LIMIT_HEADER_LENGTHS)
#define CTF2_EVENT_REGS (CTF2_STREAM_REGS + LIMIT_CONTEXT_LENGTHS)

/* Properties of all kinds of objects. */
enum ctf2_prop {
	PROP_TYPE, PROP_NAME, PROP_NAMESPACE, PROP_UID, PROP_ID, PROP_VERSION, PROP_UUID,
	PROP_EXTENSIONS, PROP_ATTRIBUTES, PROP_FIELD_CLASS, PROP_ENVIRONMENT, PROP_PACKET_HEADER, PROP_FREQUENCY,
	PROP_ORIGIN, PROP_OFFSET, PROP_CLOCK_ID, PROP_PACKET_CONTEXT, PROP_EVENT_HEADER,
	PROP_COMMON_CONTEXT, PROP_STREAM_CLASS_ID, PROP_OWN_CONTEXT, PROP_PAYLOAD, PROP_LENGTH,
	PROP_BYTE_ORDER, PROP_BIT_ORDER, PROP_ALIGNMENT, PROP_MIN_ALIGNMENT, PROP_FLAGS,
	PROP_BASE, PROP_MAPPINGS, PROP_ROLES, PROP_ENCODING, PROP_LENGTH_LOCATION, PROP_MEDIA_TYPE,
	PROP_MEMBERS, PROP_ELEMENT, PROP_SELECTOR_LOCATION, PROP_SELECTOR_RANGES, PROP_OPTIONS,
	PROP_PATH, PROP_SECONDS, PROP_CYCLES, PROP_PRECISION, PROP_ACCURACY, PROP_DESCRIPTION,
	N_PROPS,
};

/* The properties of an object: indexes of tokens; 0: absent. As specified, unknown properties are ignored. */
struct ctf2_props {
	uint32_t token[N_PROPS];
};

/* A place in a fragment, for error messages. */
struct ctf2_at {
	const struct ctf2_at *up;	/* NULL: the fragment itself */
	const char *key;		/* of a property; NULL: an element */
	uint32_t index;
};

/* A JSON text with its tokens. */
struct ctf2_text {
	const char *s;
	GArray *tokens;			/* struct json_token */
};

/* A structure being parsed. */
struct ctf2_frame {
	struct ctf2_frame *up, *down;
	guint base;			/* ctf_parser.fields: index of its first member */
	const char *now;		/* name of the member being read */
};

struct ctf2 {
	struct ctf_parser *p;
	GError *error;			/* the first error */
	uint64_t number;		/* number of the current fragment, from 1 */
	const char *type;		/* its type, or NULL */
	struct ctf2_text text;		/* the text being parsed: the fragment, or an alias */
	GArray *own_tokens;		/* tokens of the fragment */
	GHashTable *aliases;		/* name -> struct ctf2_alias * */
	GHashTable *clocks;		/* id -> struct ctf_clock *, owned by the pool */
	GString *scratch;
	struct ctf_node *integer[64];	/* shared nodes, in order of first use */
	unsigned n_integers;
	bool has_preamble, has_trace_class;
	uint32_t packet_regs;		/* next register of the packet header */

	/* The scope being parsed: */
	bool unbound;			/* an alias that is only checked: its locations are not resolved yet */
	enum ctf_root now;		/* which scope */
	struct ctf_node *root[CTF_N_ROOTS];	/* the complete scopes before it; NULL: absent */
	struct ctf_stream *stream;	/* NULL: the packet header */
	const struct ctf_clock *clock;	/* default clock of the stream class, or NULL */
	struct ctf2_frame *top;		/* innermost structure */
	struct ctf2_frame *bottom;	/* the root structure */
	uint32_t next_reg;		/* next register of the event class */
	unsigned depth;			/* nesting of types */
	uint32_t cost;			/* number of types in the scope */
};

struct ctf2 *ctf2_new(struct ctf_parser *p);
void ctf2_free(struct ctf2 *v);		/* NULL is fine */

/* Parses one fragment: the text between two record separators (RS). */
bool ctf2_fragment(struct ctf2 *v, const char *text, size_t n);

/* ---- ctf2_object.c ---- */

/* Sets v->error if it is not set yet: "fragment 3 (event-record-class), a.b[2]: ...". Returns NULL, as
 * functions that return a bool or a pointer do. */
void *ctf2_fail(struct ctf2 *v, const struct ctf2_at *at, int code, const char *format, ...)
	G_GNUC_PRINTF(4, 5);

static inline const struct json_token *ctf2_token(const struct ctf2 *v, uint32_t i)
{
	return json_at(v->text.tokens, i);
}

/* Reads the properties of the object at token i. */
bool ctf2_object(struct ctf2 *v, uint32_t i, const struct ctf2_at *at, struct ctf2_props *ret);

const char *ctf2_prop_name(enum ctf2_prop which);

/* Values of properties. required: absence is an error; otherwise *ret stays as it is. Texts are owned by the pool and
 * contain no NUL. */
bool ctf2_text_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		  const struct ctf2_at *at, bool required, const char **ret);
bool ctf2_number_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		    const struct ctf2_at *at, bool required, uint64_t *ret);
bool ctf2_signed_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		    const struct ctf2_at *at, int64_t *ret);
/* A power of two up to LIMIT_ALIGNMENT. */
bool ctf2_alignment_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		       const struct ctf2_at *at, uint32_t *ret);
/* One of some words: its index in `words`, which ends with NULL. */
bool ctf2_word_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		  const struct ctf2_at *at, bool required, const char *const *words, int *ret);
/* The token of an array or object; *ret 0: it is absent and not required. */
bool ctf2_list_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		  const struct ctf2_at *at, enum json_kind kind, bool required, uint32_t *ret);
/* The string of token i, copied to the pool. NULL: it is no string, or contains a NUL. */
const char *ctf2_string(struct ctf2 *v, uint32_t i, const struct ctf2_at *at);

/* Appends [[low, high], ...] of token i to `ret` as struct ctf_select with that option, with values of a signed or
 * unsigned field. Ranges without any such value are left out. */
bool ctf2_ranges(struct ctf2 *v, uint32_t i, const struct ctf2_at *at, bool is_signed,
		 uint32_t option, GArray *ret);

/* ---- ctf2_fields.c ---- */

/* Parses the field class of token i: an object, or the name of an alias. */
struct ctf_node *ctf2_field_class(struct ctf2 *v, uint32_t i, const struct ctf2_at *at);

/* Parses the structure of a scope into v->root[root]; NULL if it is absent. */
bool ctf2_scope(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		enum ctf_root root);

/* Stores the alias's text, and checks it now. */
bool ctf2_add_alias(struct ctf2 *v, const char *name, uint32_t i, const struct ctf2_at *at);
void ctf2_alias_free(void *alias);

/* ---- ctf2_location.c ---- */

/* Finds the integer field that a field location refers to: its register and type. Register 0 and NULL in an alias
 * that is only checked. */
bool ctf2_locate(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		 const struct ctf2_at *at, uint16_t *ret, const struct ctf_type **ret_type);

#endif
