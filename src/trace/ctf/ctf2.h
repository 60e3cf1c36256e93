/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CTF 2 metadata (CTF2-SPEC-2.0), as its files share it (inside src/trace/):
 *
 *     ctf_json.c		text -> tokens
 *     ctf2_object.c		properties of a JSON object, their values, errors with their place
 *     ctf2_fields.c		field classes -> types, roles, mappings
 *     ctf2_location.c	which field a length or selector is: registers
 *     ctf2_meta.c		fragments: preamble, trace, clock, stream and event classes
 *
 * The result is the struct ctf_meta that CTF 1.8 fills, too: everything behind it is one.
 * A field class alias is read anew at each use, so that locations in it are those of the
 * place where it is used; only integers without names or roles are shared.
 *
 * Every function that returns bool or a pointer says false or NULL once v->error is set.
 */
#ifndef BLK_TRACE_CTF_CTF2_H
#define BLK_TRACE_CTF_CTF2_H

#include "trace/ctf/ctf_json.h"
#include "trace/ctf/ctf_parse.h"

#include "base/limits.h"

/* Registers: 1 and up in the packet header, then those of stream classes (packet context,
 * event header, common context), then those of event classes, which share numbers. A
 * class that comes later may so name a field of an earlier one. */
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

/* An object's properties: indexes of tokens; 0: absent. Others are ignored, as the
 * specification asks for. */
struct ctf2_props {
	uint32_t token[N_PROPS];
};

/* Where something stands in a fragment, for errors. */
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

/* A structure that is being read, or a completed root. */
struct ctf2_frame {
	struct ctf2_frame *up, *down;
	guint base;			/* its members so far are those above, on the stack */
	const char *now;		/* name of the member being read */
};

struct ctf2 {
	struct ctf_parser *p;
	GError *error;			/* the first one */
	uint64_t number;		/* of the fragment being read, from 1 */
	const char *type;		/* of it, or NULL */
	struct ctf2_text text;		/* being read: the fragment's or an alias's */
	GArray *own_tokens;		/* of the fragment */
	GHashTable *aliases;		/* name -> struct ctf2_alias * */
	GHashTable *clocks;		/* id -> struct ctf_clock * (of the pool) */
	GString *scratch;
	struct ctf_node *integer[64];	/* shared ones, in order of first use */
	unsigned n_integers;
	bool has_preamble, has_trace_class;
	uint32_t packet_regs;		/* next register of the packet header */

	/* of the scope being read */
	bool unbound;			/* an alias: its locations mean nothing yet */
	enum ctf_root now;
	struct ctf_node *root[CTF_N_ROOTS];	/* those before it; NULL: there is none */
	struct ctf_stream *stream;	/* NULL: the packet header */
	const struct ctf_clock *clock;	/* default clock of the stream class, or NULL */
	struct ctf2_frame *top;		/* innermost structure */
	struct ctf2_frame *bottom;	/* the root structure */
	uint32_t next_reg;		/* of the event class */
	unsigned depth;			/* of types in each other */
	uint32_t cost;			/* types of the scope */
};

struct ctf2 *ctf2_new(struct ctf_parser *p);
void ctf2_free(struct ctf2 *v);		/* NULL is fine */

/* One fragment: what is between two RS. */
bool ctf2_fragment(struct ctf2 *v, const char *text, size_t n);

/* ---- ctf2_object.c ---- */

/* Sets v->error, unless it is: "fragment 3 (event-record-class), a.b[2]: ...". Always false. */
bool ctf2_fail(struct ctf2 *v, const struct ctf2_at *at, int code, const char *format, ...)
	G_GNUC_PRINTF(4, 5);

static inline const struct json_token *ctf2_token(const struct ctf2 *v, uint32_t i)
{
	return json_at(v->text.tokens, i);
}

/* The properties of the object that token i is. */
bool ctf2_object(struct ctf2 *v, uint32_t i, const struct ctf2_at *at, struct ctf2_props *ret);

const char *ctf2_prop_name(enum ctf2_prop which);

/* Values of properties. Where an absent one is an error, `required` is true; else *ret
 * stays. Texts are the pool's; they have no NULs. */
bool ctf2_text_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		  const struct ctf2_at *at, bool required, const char **ret);
bool ctf2_number_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		    const struct ctf2_at *at, bool required, uint64_t *ret);
bool ctf2_signed_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		    const struct ctf2_at *at, int64_t *ret);
/* A power of two up to LIMIT_ALIGNMENT. */
bool ctf2_alignment_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		       const struct ctf2_at *at, uint32_t *ret);
/* One of a few words: its index in `words`, which ends with NULL. */
bool ctf2_word_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		  const struct ctf2_at *at, bool required, const char *const *words, int *ret);
/* An array or object that must be there, or may be missing (*ret 0). */
bool ctf2_list_of(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		  const struct ctf2_at *at, enum json_kind kind, bool required, uint32_t *ret);
/* The string of token i, in the pool. NULL: it is none, or no name. */
const char *ctf2_string(struct ctf2 *v, uint32_t i, const struct ctf2_at *at);

/* [[low, high], ...] of token i as values of a signed or unsigned field: struct ctf_select
 * with that option. Ranges that such a field can't have are left out. */
bool ctf2_ranges(struct ctf2 *v, uint32_t i, const struct ctf2_at *at, bool is_signed,
		 uint32_t option, GArray *ret);

/* ---- ctf2_fields.c ---- */

/* The field class of token i: an object, or the name of an alias. */
struct ctf_node *ctf2_field_class(struct ctf2 *v, uint32_t i, const struct ctf2_at *at);

/* The structure of a scope; NULL without error: there is none. */
bool ctf2_scope(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		enum ctf_root root);

/* Keeps the alias's text; what it says is checked now. */
bool ctf2_add_alias(struct ctf2 *v, const char *name, uint32_t i, const struct ctf2_at *at);
void ctf2_alias_free(void *alias);

/* ---- ctf2_location.c ---- */

/* The register of the integer that a field location names, and its type. In an alias that
 * is only checked: register 0 and NULL. */
bool ctf2_locate(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which,
		 const struct ctf2_at *at, uint16_t *ret, const struct ctf_type **ret_type);

#endif
