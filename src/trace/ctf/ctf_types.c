/* SPDX-License-Identifier: GPL-2.0-only */
/* Types of CTF 1.8 metadata, and the declarations that name them. See ctf_parse.h. */
#include "trace/ctf/ctf_parse.h"

#include "base/limits.h"

#include <string.h>

static struct ctf_node *parse_spec(struct ctf_parser *p);

/* ---- numbers ---- */

struct number {			/* integer, floating_point or string, as written */
	uint64_t size, align, exponent, mantissa;
	bool is_signed, is_text;
	enum ctf_order order;
	int base;
	const struct ctf_clock *clock;
};

static bool check_align(struct ctf_parser *p, const char *at, uint64_t align)
{
	if (!align || (align & (align - 1)))
		return ctf_corrupt(p, at, "an alignment that is not a power of two");
	return align <= LIMIT_ALIGNMENT || ctf_limited(p, at, "so wide an alignment");
}

static bool read_align(struct ctf_parser *p, void *target)
{
	struct number *n = target;
	const char *at = p->lex.tok.at;
	return ctf_parse_number(p, &n->align) && check_align(p, at, n->align);
}

static bool read_base(struct ctf_parser *p, void *target)
{
	static const struct ctf_choice_word bases[] = {
		{ "10", 10 }, { "16", 16 }, { "8", 8 }, { "2", 2 },
		{ "decimal", 10 }, { "dec", 10 }, { "d", 10 }, { "i", 10 }, { "u", 10 },
		{ "hexadecimal", 16 }, { "hex", 16 }, { "x", 16 }, { "X", 16 }, { "p", 16 },
		{ "octal", 8 }, { "oct", 8 }, { "o", 8 }, { "binary", 2 }, { "b", 2 },
	};
	return ctf_parse_choice(p, bases, G_N_ELEMENTS(bases), "base",
				&((struct number *)target)->base);
}

static bool read_encoding(struct ctf_parser *p, void *target)
{
	static const struct ctf_choice_word encodings[] = {
		{ "none", 0 }, { "UTF8", 1 }, { "ASCII", 1 }, { "NONE", 0 }, { "utf8", 1 },
		{ "ascii", 1 }, { "UTF-8", 1 }, { "utf-8", 1 },
	};
	int value;
	if (!ctf_parse_choice(p, encodings, G_N_ELEMENTS(encodings), "encoding", &value))
		return false;
	((struct number *)target)->is_text = value;
	return true;
}

static bool read_map(struct ctf_parser *p, void *target)
{
	struct ctf_path *path = ctf_parse_path(p);
	if (!path)
		return false;
	if (path->n != 3 || strcmp(path->part[0], "clock") || strcmp(path->part[2], "value"))
		return ctf_limited(p, path->at, "a map to anything but clock.NAME.value");
	const struct ctf_clock *c = ((struct number *)target)->clock = ctf_meta_clock(p, path->part[1]);
	return c || ctf_lex_fail(&p->lex, path->at, BLK_TRACE_ERROR_UNSUPPORTED,
				 "no clock '%.64s' before this", path->part[1]);
}

#define NUMBER(member) offsetof(struct number, member)

static const struct ctf_attribute integer_attributes[] = {
	{ "size", .value = CTF_VALUE_NUMBER, .to = NUMBER(size), .required = true },
	{ "align", .read = read_align },
	{ "signed", .value = CTF_VALUE_BOOL, .to = NUMBER(is_signed) },
	{ "encoding", .read = read_encoding },
	{ "base", .read = read_base },
	{ "byte_order", .value = CTF_VALUE_ORDER, .to = NUMBER(order) },
	{ "map", .read = read_map },
};

static const struct ctf_attribute float_attributes[] = {
	{ "exp_dig", .value = CTF_VALUE_NUMBER, .to = NUMBER(exponent), .required = true },
	{ "mant_dig", .value = CTF_VALUE_NUMBER, .to = NUMBER(mantissa), .required = true },
	{ "align", .read = read_align },
	{ "byte_order", .value = CTF_VALUE_ORDER, .to = NUMBER(order) },
};

static const struct ctf_attribute string_attributes[] = {
	{ "encoding", .read = read_encoding },
};

static void set_order(struct ctf_parser *p, struct ctf_node *node, enum ctf_order order)
{
	node->native = order == CTF_ORDER_NATIVE;
	node->t.big_endian = order == CTF_ORDER_BIG || (node->native && p->meta.big_endian);
	if (node->native && !p->meta.has_trace)
		g_ptr_array_add(p->native, node);
}

static struct ctf_node *new_number(struct ctf_parser *p, enum ctf_kind kind, const struct number *n)
{
	struct ctf_node *node = ctf_node_new(p, kind);
	if (!node)
		return NULL;
	node->t.bits = (uint8_t)n->size;
	node->t.align = (uint32_t)(n->align ? n->align : n->size % 8 ? 1 : 8);
	node->fixed = true;
	node->fixed_bits = node->min_bits = n->size;
	set_order(p, node, n->order);
	return node;
}

static struct ctf_node *new_integer(struct ctf_parser *p, const char *at)
{
	struct number n = { .base = 10 };
	if (!ctf_parse_block(p, integer_attributes, G_N_ELEMENTS(integer_attributes), &n, "integer"))
		return NULL;
	if (!n.size || n.size > 64)
		return (n.size ? ctf_unsupported : ctf_corrupt)(p, at, "an integer that has not 1 to 64 bits");
	struct ctf_node *node = new_number(p, CTF_INTEGER, &n);
	if (!node)
		return NULL;
	node->t.is_signed = n.is_signed;
	node->t.is_text = n.is_text;
	node->t.base = (uint8_t)n.base;
	node->t.clock = n.clock;
	return node;
}

/* Integers with the same text are the same type. */
static struct ctf_node *parse_integer(struct ctf_parser *p)
{
	const char *at = p->lex.tok.at;
	ctf_lex_next(&p->lex);
	const char *begin = p->lex.tok.at, *end = ctf_lex_block_end(&p->lex);
	if (!end)
		return new_integer(p, at);
	g_autofree char *text = g_strndup(begin, (size_t)(end + 1 - begin));
	struct ctf_node *node = g_hash_table_lookup(p->integers, text);
	if (node) {
		p->lex.at = end + 1;
		ctf_lex_next(&p->lex);
		return node;
	}
	node = new_integer(p, at);
	if (node)
		g_hash_table_insert(p->integers, ctf_pool_string(p->pool, text, strlen(text)), node);
	return node;
}

static struct ctf_node *parse_float(struct ctf_parser *p)
{
	const char *at = p->lex.tok.at;
	struct number n = { .align = 1 };
	ctf_lex_next(&p->lex);
	if (!ctf_parse_block(p, float_attributes, G_N_ELEMENTS(float_attributes), &n,
			     "floating_point"))
		return NULL;
	bool is_single = n.exponent == 8 && n.mantissa == 24;
	if (!is_single && !(n.exponent == 11 && n.mantissa == 53))
		return ctf_unsupported(p, at, "a floating_point of neither 32 nor 64 bits");
	n.size = is_single ? 32 : 64;
	return new_number(p, CTF_FLOAT, &n);
}

static struct ctf_node *parse_string(struct ctf_parser *p)
{
	struct number n = { .is_text = true };
	ctf_lex_next(&p->lex);
	if (ctf_lex_is(&p->lex, '{') &&
	    !ctf_parse_block(p, string_attributes, G_N_ELEMENTS(string_attributes), &n, "string"))
		return NULL;
	struct ctf_node *node = ctf_node_new(p, CTF_STRING);
	if (node) {
		node->t.align = 8;
		node->min_bits = 8;
		node->t.is_text = true;
	}
	return node;
}

/* ---- names ---- */

/* Reads the words of a type's name into p->name, with one blank between them. ret_last: the last word is the
 * declared name, not part of the type's name. */
static bool read_words(struct ctf_parser *p, struct ctf_token *ret_last)
{
	g_string_truncate(p->name, 0);
	if (!ctf_lex_is(&p->lex, CTF_TOKEN_WORD))
		return ctf_lex_unexpected(&p->lex, "a type");
	struct ctf_token word = p->lex.tok;
	bool more = false;
	for (ctf_lex_next(&p->lex);; ctf_lex_next(&p->lex)) {
		more = ctf_lex_is(&p->lex, CTF_TOKEN_WORD);
		if (!more && ret_last)
			break;
		if (p->name->len)
			g_string_append_c(p->name, ' ');
		g_string_append_len(p->name, word.s, (gssize)word.n);
		if (!more)
			return true;
		word = p->lex.tok;
	}
	if (word.word != CTF_WORD_NAME || !p->name->len)
		return ctf_lex_unexpected(&p->lex, "a name");
	*ret_last = word;
	return true;
}

/* Finds the type called p->name. */
static struct ctf_node *find_named(struct ctf_parser *p, const char *at)
{
	struct ctf_node *type = ctf_scope_find(p, p->name->str);
	if (!type)
		ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_UNSUPPORTED, "no type '%.64s'",
			     p->name->str);
	return type;
}

static bool begins_spec(const struct ctf_parser *p)
{
	if (!ctf_lex_is(&p->lex, CTF_TOKEN_WORD))
		return false;
	switch (p->lex.tok.word) {
	case CTF_WORD_INTEGER:
	case CTF_WORD_FLOATING_POINT:
	case CTF_WORD_STRING:
	case CTF_WORD_STRUCT:
	case CTF_WORD_VARIANT:
	case CTF_WORD_ENUM:
		return true;
	default:
		return false;
	}
}

struct ctf_node *ctf_parse_type(struct ctf_parser *p)
{
	if (begins_spec(p))
		return parse_spec(p);
	const char *at = p->lex.tok.at;
	return read_words(p, NULL) ? find_named(p, at) : NULL;
}

/* The optional name after struct, variant, enum; "": none. */
static void read_tag_name(struct ctf_parser *p, struct ctf_token *ret)
{
	*ret = (struct ctf_token){ .at = p->lex.tok.at };
	if (ctf_lex_is_word(&p->lex, CTF_WORD_NAME)) {
		*ret = p->lex.tok;
		ctf_lex_next(&p->lex);
	}
}

static const char *tag_key(struct ctf_parser *p, const char *what, const struct ctf_token *name)
{
	g_string_printf(p->key, "%s %.*s", what, (int)MIN(name->n, G_MAXINT), name->s);
	return p->key->str;
}

static struct ctf_node *find_tagged(struct ctf_parser *p, const char *what,
				    const struct ctf_token *name)
{
	if (!name->n)
		return ctf_lex_unexpected(&p->lex, "'{'");
	struct ctf_node *type = ctf_scope_find(p, tag_key(p, what, name));
	if (!type)
		ctf_lex_fail(&p->lex, name->s, BLK_TRACE_ERROR_UNSUPPORTED, "no '%.64s'",
			     p->key->str);
	return type;
}

static struct ctf_node *add_tagged(struct ctf_parser *p, const char *what,
				   const struct ctf_token *name, struct ctf_node *type)
{
	if (!type || !name->n)
		return type;
	return ctf_scope_add(p, name->s, tag_key(p, what, name), type) ? type : NULL;
}

/* ---- enumerations ---- */

/* A value of the container type; signed values are stored as their bits. */
static bool read_enum_value(struct ctf_parser *p, bool is_signed, uint64_t *ret)
{
	if (!is_signed)
		return ctf_parse_number(p, ret);
	int64_t v;
	if (!ctf_parse_signed(p, &v))
		return false;
	*ret = (uint64_t)v;
	return true;
}

static bool is_less(uint64_t a, uint64_t b, bool is_signed)
{
	return is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* Parses label, label = value, or label = first ... last. */
static bool read_label(struct ctf_parser *p, bool is_signed, uint64_t *next)
{
	struct ctf_lexer *x = &p->lex;
	struct ctf_range r = { .lo = *next, .hi = *next };
	const char *at = x->tok.at;
	if (ctf_lex_is(x, CTF_TOKEN_WORD)) {
		r.label = ctf_pool_string(p->pool, x->tok.s, x->tok.n);
		ctf_lex_next(x);
	} else if (!ctf_lex_is(x, CTF_TOKEN_STRING)) {
		return ctf_lex_unexpected(x, "a label");
	} else if (!ctf_parse_text(p, &r.label)) {
		return false;
	}
	if (ctf_lex_skip(x, '=')) {
		if (!read_enum_value(p, is_signed, &r.lo))
			return false;
		r.hi = r.lo;
		if (ctf_lex_skip(x, CTF_TOKEN_TO) && !read_enum_value(p, is_signed, &r.hi))
			return false;
	}
	if (is_less(r.hi, r.lo, is_signed))
		return ctf_corrupt(p, at, "a range that ends before it begins");
	*next = r.hi + 1;
	g_array_append_val(p->ranges, r);
	return true;
}

static bool read_labels(struct ctf_parser *p, struct ctf_node *node)
{
	uint64_t next = 0;
	g_array_set_size(p->ranges, 0);
	if (!ctf_lex_expect(&p->lex, '{'))
		return false;
	while (!ctf_lex_is(&p->lex, '}')) {
		if (!read_label(p, node->t.is_signed, &next))
			return false;
		if (!ctf_lex_skip(&p->lex, ','))
			break;
	}
	size_t bytes = p->ranges->len * sizeof(struct ctf_range);
	node->t.n_ranges = p->ranges->len;
	node->t.range = ctf_pool_alloc(p->pool, bytes);
	if (bytes)
		memcpy(node->t.range, p->ranges->data, bytes);
	return ctf_lex_expect(&p->lex, '}');
}

static struct ctf_node *new_enum(struct ctf_parser *p, const struct ctf_node *container)
{
	struct ctf_node *node = ctf_node_new(p, CTF_ENUM);
	if (!node)
		return NULL;
	*node = *container;
	node->t.kind = CTF_ENUM;
	if (node->native)
		set_order(p, node, CTF_ORDER_NATIVE);
	return read_labels(p, node) ? node : NULL;
}

static struct ctf_node *parse_enum(struct ctf_parser *p)
{
	struct ctf_token name;
	ctf_lex_next(&p->lex);
	read_tag_name(p, &name);
	struct ctf_node *container;
	const char *at = p->lex.tok.at;
	if (ctf_lex_skip(&p->lex, ':')) {
		at = p->lex.tok.at;
		container = ctf_parse_type(p);
	} else if (ctf_lex_is(&p->lex, '{')) {
		g_string_assign(p->name, "int");
		container = find_named(p, at);
	} else {
		return find_tagged(p, "enum", &name);
	}
	if (!container)
		return NULL;
	if (container->t.kind != CTF_INTEGER)
		return ctf_corrupt(p, at, "an enum whose type is not an integer");
	return add_tagged(p, "enum", &name, new_enum(p, container));
}

/* ---- arrays ---- */

struct dimension {
	const char *at;
	const struct ctf_path *path;	/* NULL: .length is used */
	uint64_t length;
};

static bool check_shape(struct ctf_parser *p, const char *at, uint64_t depth, uint64_t cost)
{
	if (depth > LIMIT_TYPE_DEPTH)
		return ctf_lex_fail(&p->lex, at, CTF_LEX_OURS,
				    "types nested more than %d deep", LIMIT_TYPE_DEPTH);
	if (cost > LIMIT_TYPE_SIZE)
		return ctf_lex_fail(&p->lex, at, CTF_LEX_OURS,
				    "a type made of more than %u types", LIMIT_TYPE_SIZE);
	return true;
}

/* Computes the size of an array of e. False: it is too big. */
static bool measure_array(struct ctf_node *a, const struct ctf_node *e, uint64_t length)
{
	uint64_t stride = (MAX(e->fixed_bits, e->min_bits) + e->t.align - 1) & ~((uint64_t)e->t.align - 1);
	uint64_t all;
	if (__builtin_mul_overflow(stride, length, &all) || all > LIMIT_ARRAY_BITS)
		return false;
	a->min_bits = e->min_bits * length;
	a->fixed = e->fixed;
	a->fixed_bits = e->fixed && length ? stride * (length - 1) + e->fixed_bits : 0;
	return true;
}

static struct ctf_node *new_array(struct ctf_parser *p, struct ctf_node *e,
				  const struct dimension *d)
{
	if (!check_shape(p, d->at, e->depth + 1u, e->cost + 1u))
		return NULL;
	struct ctf_node *node = ctf_node_new(p, d->path ? CTF_SEQUENCE : CTF_ARRAY);
	if (!node)
		return NULL;
	if (!e->min_bits && !d->path && d->length > LIMIT_EMPTY_ELEMENTS)
		return ctf_unsupported(p, d->at, "so many elements that may have no size");
	node->t.element = &e->t;
	node->t.align = e->t.align;
	node->t.is_text = (e->t.kind == CTF_INTEGER || e->t.kind == CTF_ENUM) && e->t.is_text &&
			  e->t.bits == 8 && e->t.align == 8;
	node->depth = (uint8_t)(e->depth + 1);
	node->cost = e->cost + 1;
	node->dynamic = e->dynamic || d->path;
	node->ref = d->path;
	if (d->path)
		return node;
	node->t.length = d->length;
	if (!measure_array(node, e, d->length))
		return ctf_limited(p, d->at, "so big an array");
	return node;
}

/* Parses [2][_length] after a name; the last dimension is the innermost. */
static struct ctf_node *parse_dimensions(struct ctf_parser *p, struct ctf_node *type)
{
	struct ctf_lexer *x = &p->lex;
	struct dimension d[LIMIT_TYPE_DEPTH];
	size_t n = 0;
	while (ctf_lex_skip(x, '[')) {
		if (n == G_N_ELEMENTS(d)) {
			check_shape(p, x->tok.at, LIMIT_TYPE_DEPTH + 1, 0);
			return NULL;
		}
		d[n] = (struct dimension){ .at = x->tok.at };
		if (ctf_lex_is(x, CTF_TOKEN_NUMBER)) {
			if (!ctf_parse_number(p, &d[n].length))
				return NULL;
		} else if (!(d[n].path = ctf_parse_path(p))) {
			return NULL;
		}
		n++;
		if (!ctf_lex_expect(x, ']'))
			return NULL;
	}
	while (type && n)
		type = new_array(p, type, &d[--n]);
	return type;
}

/* ---- structures and variants ---- */

/* Parses TYPE name [dimensions], name ...; calls `add` for each. */
static bool parse_declarators(struct ctf_parser *p, struct ctf_node *type, struct ctf_token *name,
			      bool (*add)(struct ctf_parser *, const struct ctf_token *,
					  struct ctf_node *))
{
	struct ctf_lexer *x = &p->lex;
	for (;;) {
		if (!name->n) {
			if (!ctf_lex_is_word(x, CTF_WORD_NAME))
				return ctf_lex_unexpected(x, "a name");
			*name = x->tok;
			ctf_lex_next(x);
		}
		if (ctf_lex_is(x, ':'))
			return ctf_unsupported(p, x->tok.at, "a bit field");
		struct ctf_node *whole = parse_dimensions(p, type);
		if (!whole || !add(p, name, whole))
			return false;
		name->n = 0;
		if (!ctf_lex_skip(x, ','))
			return ctf_lex_expect(x, ';');
	}
}

/* Parses the type before declarators; *ret_name: the first declarator's name if it was read, too. */
static struct ctf_node *parse_declared_type(struct ctf_parser *p, struct ctf_token *ret_name)
{
	ret_name->n = 0;
	if (begins_spec(p))
		return parse_spec(p);
	const char *at = p->lex.tok.at;
	return read_words(p, ret_name) ? find_named(p, at) : NULL;
}

static bool add_field(struct ctf_parser *p, const struct ctf_token *name, struct ctf_node *type)
{
	struct ctf_field f = {
		.name = ctf_field_name(p->pool, name->s, name->n), .type = &type->t,
	};
	g_array_append_val(p->fields, f);
	return true;
}

static bool add_alias(struct ctf_parser *p, const struct ctf_token *name, struct ctf_node *type)
{
	g_string_truncate(p->name, 0);
	g_string_append_len(p->name, name->s, (gssize)name->n);
	return ctf_scope_add(p, name->s, p->name->str, type);
}

/* Parses a field, or a declaration among fields. */
static bool parse_member(struct ctf_parser *p)
{
	struct ctf_token name;
	if (ctf_lex_is_word(&p->lex, CTF_WORD_TYPEALIAS) ||
	    ctf_lex_is_word(&p->lex, CTF_WORD_TYPEDEF))
		return ctf_parse_declaration(p);
	bool may_declare = ctf_is_declaration(p);
	struct ctf_node *type = parse_declared_type(p, &name);
	if (!type)
		return false;
	if (may_declare && ctf_lex_skip(&p->lex, ';'))
		return true;
	return parse_declarators(p, type, &name, add_field);
}

/* Fields whose names differ only by a leading '_' have their names as they are written. */
static bool check_names(struct ctf_parser *p, const char *at, struct ctf_node *node)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	for (uint32_t i = 0; i < node->t.n_fields; i++) {
		struct ctf_field *f = &node->t.field[i], *same;
		/* A longer name may be that of another field, which then gets a longer one, too. */
		while ((same = g_hash_table_lookup(seen, f->name))) {
			if (same->name[-1] == f->name[-1])
				return ctf_lex_fail(&p->lex, at, BLK_TRACE_ERROR_CORRUPT, "two fields '%.64s'",
						    f->name - (f->name[-1] == '_'));
			if (same->name[-1] == '_') {
				g_hash_table_replace(seen, f->name, f);
				f = same;
			}
			f->name--;
		}
		g_hash_table_insert(seen, f->name, f);
	}
	return true;
}

static void measure_struct(struct ctf_node *node)
{
	node->fixed = true;
	for (uint32_t i = 0; i < node->t.n_fields; i++) {
		const struct ctf_node *f = ctf_node_of(node->t.field[i].type);
		uint64_t align = f->t.align;
		node->t.align = MAX(node->t.align, f->t.align);
		node->fixed = node->fixed && f->fixed;
		node->fixed_bits = ((node->fixed_bits + align - 1) & ~(align - 1)) + f->fixed_bits;
		node->min_bits = MIN(node->min_bits + f->min_bits, LIMIT_ARRAY_BITS);
	}
	if (!node->fixed)
		node->fixed_bits = 0;
}

static void measure_variant(struct ctf_node *node)
{
	node->dynamic = true;
	node->min_bits = node->t.n_fields ? LIMIT_ARRAY_BITS : 0;
	for (uint32_t i = 0; i < node->t.n_fields; i++)
		node->min_bits = MIN(node->min_bits, ctf_node_of(node->t.field[i].type)->min_bits);
}

/* Moves the fields from `base` on from the stack to the node. */
static bool take_fields(struct ctf_parser *p, const char *at, guint base, struct ctf_node *node)
{
	g_assert(base <= p->fields->len);
	size_t n = p->fields->len - base;
	node->t.n_fields = (uint32_t)n;
	node->t.field = ctf_pool_alloc(p->pool, n * sizeof(struct ctf_field));
	if (n)
		memcpy(node->t.field, &g_array_index(p->fields, struct ctf_field, base),
		       n * sizeof(struct ctf_field));
	g_array_set_size(p->fields, base);
	uint64_t cost = 1;
	unsigned depth = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ctf_node *f = ctf_node_of(node->t.field[i].type);
		cost += f->cost;
		depth = MAX(depth, f->depth);
		node->dynamic = node->dynamic || f->dynamic;
	}
	if (!check_shape(p, at, depth + 1u, cost))
		return false;
	node->cost = (uint32_t)cost;
	node->depth = (uint8_t)(depth + 1);
	return check_names(p, at, node);
}

/* Parses { fields } of a structure or variant. */
static struct ctf_node *parse_body(struct ctf_parser *p, enum ctf_kind kind)
{
	const char *at = p->lex.tok.at;
	guint base = p->fields->len;
	if (!check_shape(p, at, ++p->nested, 0) || !ctf_lex_expect(&p->lex, '{'))
		return NULL;
	struct ctf_scope scope;
	ctf_scope_push(p, &scope);
	bool ok = true;
	while (ok && !ctf_lex_is(&p->lex, '}'))
		ok = parse_member(p);
	ctf_scope_pop(p);
	p->nested--;
	if (!ok || !ctf_lex_expect(&p->lex, '}'))
		return NULL;
	struct ctf_node *node = ctf_node_new(p, kind);
	return node && take_fields(p, at, base, node) ? node : NULL;
}

/* Parses align(n) after a structure. */
static bool parse_struct_align(struct ctf_parser *p, struct ctf_node *node)
{
	uint64_t align;
	if (!ctf_lex_is_word(&p->lex, CTF_WORD_ALIGN))
		return true;
	ctf_lex_next(&p->lex);
	if (!ctf_lex_expect(&p->lex, '('))
		return false;
	const char *at = p->lex.tok.at;
	if (!ctf_parse_number(p, &align) || !check_align(p, at, align) ||
	    !ctf_lex_expect(&p->lex, ')'))
		return false;
	node->t.align = (uint32_t)align;
	return true;
}

static struct ctf_node *parse_struct(struct ctf_parser *p)
{
	struct ctf_token name;
	ctf_lex_next(&p->lex);
	read_tag_name(p, &name);
	if (!ctf_lex_is(&p->lex, '{'))
		return find_tagged(p, "struct", &name);
	struct ctf_node *node = parse_body(p, CTF_STRUCT);
	if (!node || !parse_struct_align(p, node))
		return NULL;
	measure_struct(node);
	return add_tagged(p, "struct", &name, node);
}

/* A variant with the options of another one, but its own tag. */
static struct ctf_node *tag_variant(struct ctf_parser *p, const struct ctf_node *of,
				    const struct ctf_path *tag)
{
	if (of->ref)
		return ctf_corrupt(p, tag->at, "a variant that has a tag already");
	struct ctf_node *node = ctf_node_new(p, CTF_VARIANT);
	if (!node)
		return NULL;
	*node = *of;
	node->ref = tag;
	return node;
}

static struct ctf_node *parse_variant(struct ctf_parser *p)
{
	struct ctf_token name;
	const struct ctf_path *tag = NULL;
	ctf_lex_next(&p->lex);
	read_tag_name(p, &name);
	if (ctf_lex_skip(&p->lex, '<') &&
	    (!(tag = ctf_parse_path(p)) || !ctf_lex_expect(&p->lex, '>')))
		return NULL;
	struct ctf_node *node;
	if (!ctf_lex_is(&p->lex, '{')) {
		node = find_tagged(p, "variant", &name);
		return node && tag ? tag_variant(p, node, tag) : node;
	}
	node = parse_body(p, CTF_VARIANT);
	if (!node)
		return NULL;
	measure_variant(node);
	node->ref = tag;
	return add_tagged(p, "variant", &name, node);
}

static struct ctf_node *parse_spec(struct ctf_parser *p)
{
	switch (p->lex.tok.word) {
	case CTF_WORD_INTEGER:
		return parse_integer(p);
	case CTF_WORD_FLOATING_POINT:
		return parse_float(p);
	case CTF_WORD_STRING:
		return parse_string(p);
	case CTF_WORD_STRUCT:
		return parse_struct(p);
	case CTF_WORD_VARIANT:
		return parse_variant(p);
	default:
		return parse_enum(p);
	}
}

/* ---- declarations ---- */

bool ctf_is_declaration(const struct ctf_parser *p)
{
	if (!ctf_lex_is(&p->lex, CTF_TOKEN_WORD))
		return false;
	switch (p->lex.tok.word) {
	case CTF_WORD_TYPEALIAS:
	case CTF_WORD_TYPEDEF:
	case CTF_WORD_STRUCT:
	case CTF_WORD_VARIANT:
	case CTF_WORD_ENUM:
		return true;
	default:
		return false;
	}
}

bool ctf_parse_declaration(struct ctf_parser *p)
{
	struct ctf_lexer *x = &p->lex;
	struct ctf_token name;
	if (ctf_lex_is_word(x, CTF_WORD_TYPEDEF)) {
		ctf_lex_next(x);
		struct ctf_node *type = parse_declared_type(p, &name);
		return type && parse_declarators(p, type, &name, add_alias);
	}
	if (!ctf_lex_is_word(x, CTF_WORD_TYPEALIAS))
		return parse_spec(p) && ctf_lex_expect(x, ';');
	ctf_lex_next(x);
	struct ctf_node *type = ctf_parse_type(p);
	if (!type || !ctf_lex_expect(x, CTF_TOKEN_IS_TYPE))
		return false;
	const char *at = x->tok.at;
	if (begins_spec(p))
		return ctf_lex_unexpected(x, "the new name of a type");
	return read_words(p, NULL) && ctf_scope_add(p, at, p->name->str, type) &&
	       ctf_lex_expect(x, ';');
}
