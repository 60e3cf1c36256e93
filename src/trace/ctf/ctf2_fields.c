/* SPDX-License-Identifier: GPL-2.0-only */
/* Field classes of CTF 2 metadata (CTF2-SPEC-2.0, "Field classes") become types. See ctf2.h. */
#include "trace/ctf/ctf2.h"

#include "base/each.h"
#include "base/limits.h"

#include <string.h>

#define CORRUPT BLK_TRACE_ERROR_CORRUPT
#define UNSUPPORTED BLK_TRACE_ERROR_UNSUPPORTED

/* A field class being parsed. */
struct field_reading {
	struct ctf2 *v;
	const struct ctf2_at *at;
	struct ctf2_props o;
};

struct field_class {
	const char *name;
	struct ctf_node *(*read)(struct field_reading *x, unsigned what);
	unsigned what;
};

static void *refuse(const struct field_reading *x, int code, const char *why)
{
	return ctf2_fail(x->v, x->at, code, "%s", why);
}

static struct ctf_node *new_node(struct field_reading *x, enum ctf_kind kind)
{
	struct ctf2 *v = x->v;
	if (v->p->n_nodes >= LIMIT_TYPES)
		return ctf2_fail(v, x->at, UNSUPPORTED, "is more than %u types", LIMIT_TYPES);
	return ctf_node_new(v->p, kind);
}

/* ---- numbers ---- */

static const char *const byte_orders[] = { "little-endian", "big-endian", NULL };
static const char *const bit_orders[] = { "first-to-last", "last-to-first", NULL };

/* Length, byte order, bit order and alignment of a field of fixed length. */
static bool read_fixed(struct field_reading *x, uint64_t max, struct ctf_type *t)
{
	struct ctf2 *v = x->v;
	uint64_t bits = 0;
	int order = 0, bit_order;
	if (!ctf2_number_of(v, &x->o, PROP_LENGTH, x->at, true, &bits) ||
	    !ctf2_word_of(v, &x->o, PROP_BYTE_ORDER, x->at, true, byte_orders, &order))
		return false;
	if (!bits)
		return refuse(x, CORRUPT, "'length' is 0");
	if (bits > max)
		return ctf2_fail(v, x->at, UNSUPPORTED, "'length' is more than %" G_GUINT64_FORMAT " bits",
				 max);
	t->bits = (uint16_t)bits;
	t->big_endian = order;
	bit_order = order;		/* the usual order of bits for this byte order */
	if (!ctf2_word_of(v, &x->o, PROP_BIT_ORDER, x->at, false, bit_orders, &bit_order))
		return false;
	t->is_reversed = bit_order != order;
	return ctf2_alignment_of(v, &x->o, PROP_ALIGNMENT, x->at, &t->align);
}

static const struct role { const char *name; unsigned role; unsigned roots; } roles[] = {
	{ "packet-magic-number", CTF_ROLE_MAGIC, 1u << CTF_ROOT_PACKET_HEADER },
	{ "data-stream-class-id", CTF_ROLE_STREAM_CLASS, 1u << CTF_ROOT_PACKET_HEADER },
	{ "data-stream-id", CTF_ROLE_STREAM, 1u << CTF_ROOT_PACKET_HEADER },
	{ "packet-total-length", CTF_ROLE_PACKET_SIZE, 1u << CTF_ROOT_PACKET_CONTEXT },
	{ "packet-content-length", CTF_ROLE_CONTENT_SIZE, 1u << CTF_ROOT_PACKET_CONTEXT },
	{ "default-clock-timestamp", CTF_ROLE_TIMESTAMP,
	  1u << CTF_ROOT_PACKET_CONTEXT | 1u << CTF_ROOT_HEADER },
	{ "packet-end-default-clock-timestamp", CTF_ROLE_END_TIMESTAMP, 1u << CTF_ROOT_PACKET_CONTEXT },
	{ "discarded-event-record-counter-snapshot", CTF_ROLE_DISCARDED, 1u << CTF_ROOT_PACKET_CONTEXT },
	{ "packet-sequence-number", CTF_ROLE_SEQUENCE, 1u << CTF_ROOT_PACKET_CONTEXT },
	{ "event-record-class-id", CTF_ROLE_EVENT_CLASS, 1u << CTF_ROOT_HEADER },
	{ "metadata-stream-uuid", CTF_ROLE_UUID, 1u << CTF_ROOT_PACKET_HEADER },
};

static bool add_role(struct field_reading *x, uint32_t i, const struct ctf2_at *at, bool uuid,
		     struct ctf_type *t)
{
	struct ctf2 *v = x->v;
	const char *name = ctf2_string(v, i, at);
	for (size_t k = 0; name && k < G_N_ELEMENTS(roles); k++) {
		const struct role *r = &roles[k];
		if (strcmp(r->name, name))
			continue;
		if ((r->role == CTF_ROLE_UUID) != uuid)
			return ctf2_fail(v, at, CORRUPT, "is a role that this field class cannot have");
		if (!v->unbound && !(r->roots & 1u << v->now))
			return ctf2_fail(v, at, CORRUPT, "is a role that cannot be used here");
		if (r->role == CTF_ROLE_MAGIC && t->bits != 32)
			return ctf2_fail(v, at, CORRUPT, "is a role for fields of 32 bits only");
		if (!v->unbound && (r->role & (CTF_ROLE_TIMESTAMP | CTF_ROLE_END_TIMESTAMP)) && !v->clock)
			return ctf2_fail(v, at, CORRUPT, "refers to a clock, and the stream class has none");
		t->roles |= (uint16_t)r->role;
		return true;
	}
	return name && ctf2_fail(v, at, CORRUPT, "is not a known role");
}

static bool read_roles(struct field_reading *x, bool uuid, struct ctf_type *t)
{
	struct ctf2_at list = { .up = x->at, .key = "roles" }, here = { .up = &list };
	uint32_t i;
	if (!ctf2_list_of(x->v, &x->o, PROP_ROLES, x->at, JSON_ARRAY, false, &i))
		return false;
	uint32_t n = i ? ctf2_token(x->v, i)->count : 0;
	for (uint32_t each = i + 1; here.index < n; here.index++) {
		if (!add_role(x, each, &here, uuid, t))
			return false;
		each = ctf2_token(x->v, each)->next;
	}
	if (t->roles & CTF_ROLE_TIMESTAMP)
		t->clock = x->v->clock;
	return true;
}

/* Mappings: a name and ranges of values, or of bit numbers. */
static bool read_names(struct field_reading *x, enum ctf2_prop which, bool required, bool is_signed,
		       struct ctf_node *node)
{
	struct ctf2 *v = x->v;
	struct ctf2_at here = { .up = x->at, .key = ctf2_prop_name(which) };
	uint32_t i;
	if (!ctf2_list_of(v, &x->o, which, x->at, JSON_OBJECT, required, &i))
		return false;
	uint32_t n = i ? ctf2_token(v, i)->count : 0;
	if (!n)
		return true;
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct ctf_select));
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	uint32_t key = i + 1;
	for (uint32_t k = 0; k < n; k++) {
		char *name = (char *)ctf2_string(v, key, &here);
		if (!name || !ctf2_ranges(v, key + 1, &here, is_signed, k, all))
			return false;
		if (!g_hash_table_add(seen, name))
			return ctf2_fail(v, &here, CORRUPT, "has a name twice");
		g_ptr_array_add(names, name);
		key = ctf2_token(v, key + 1)->next;
	}
	node->t.kind = CTF_ENUM;
	node->t.n_ranges = all->len;
	node->t.range = ctf_pool_alloc(v->p->pool, all->len * sizeof(struct ctf_range));
	for (guint k = 0; k < all->len; k++) {
		const struct ctf_select *s = &g_array_index(all, struct ctf_select, k);
		node->t.range[k] = (struct ctf_range){ s->lo, s->hi, names->pdata[s->option] };
	}
	return true;
}

static bool read_base(struct field_reading *x, struct ctf_type *t)
{
	uint64_t base = 10;
	if (!ctf2_number_of(x->v, &x->o, PROP_BASE, x->at, false, &base))
		return false;
	if (base != 2 && base != 8 && base != 10 && base != 16)
		return refuse(x, CORRUPT, "'preferred-display-base' is not 2, 8, 10 or 16");
	t->base = (uint8_t)base;
	return true;
}

/* Equal integers share one node: a kernel has tens of thousands of about ten kinds. */
static struct ctf_node *share(struct ctf2 *v, const struct ctf_type *t)
{
	for (unsigned i = 0; i < v->n_integers; i++) {
		const struct ctf_type *same = &v->integer[i]->t;
		if (same->bits == t->bits && same->align == t->align && same->base == t->base &&
		    same->big_endian == t->big_endian && same->is_signed == t->is_signed &&
		    same->is_var == t->is_var && same->is_reversed == t->is_reversed)
			return v->integer[i];
	}
	return NULL;
}

static struct ctf_node *finish_integer(struct field_reading *x, const struct ctf_type *t, bool mapped)
{
	struct ctf2 *v = x->v;
	bool plain = !t->roles && !mapped && !x->o.token[PROP_MAPPINGS];
	struct ctf_node *node = plain ? share(v, t) : NULL;
	if (node)
		return node;
	node = new_node(x, CTF_INTEGER);
	if (!node)
		return NULL;
	node->t = *t;
	node->min_bits = t->is_var ? 8 : t->bits;
	if (plain && v->n_integers < G_N_ELEMENTS(v->integer))
		v->integer[v->n_integers++] = node;
	return node;
}

static struct ctf_node *read_integer(struct field_reading *x, unsigned is_signed)
{
	struct ctf_type t = { .kind = CTF_INTEGER, .align = 1, .is_signed = is_signed };
	if (!read_fixed(x, 64, &t) || !read_base(x, &t) || (!is_signed && !read_roles(x, false, &t)))
		return NULL;
	struct ctf_node *node = finish_integer(x, &t, false);
	return node && read_names(x, PROP_MAPPINGS, false, is_signed, node) ? node : NULL;
}

static struct ctf_node *read_var(struct field_reading *x, unsigned is_signed)
{
	struct ctf_type t = { .kind = CTF_INTEGER, .align = 8, .is_signed = is_signed, .is_var = true };
	if (!read_base(x, &t) || (!is_signed && !read_roles(x, false, &t)))
		return NULL;
	struct ctf_node *node = finish_integer(x, &t, false);
	return node && read_names(x, PROP_MAPPINGS, false, is_signed, node) ? node : NULL;
}

enum { IS_ARRAY, IS_BOOLEAN, IS_MAP };

/* A bit array is shown as a number, in hexadecimal. */
static struct ctf_node *read_bits(struct field_reading *x, unsigned what)
{
	struct ctf_type t = { .kind = CTF_INTEGER, .align = 1, .base = 16 };
	if (!read_fixed(x, 64, &t))
		return NULL;
	if (what == IS_BOOLEAN)
		t.base = 10;
	t.is_bool = what == IS_BOOLEAN;
	t.is_flags = what == IS_MAP;
	struct ctf_node *node = finish_integer(x, &t, what != IS_ARRAY);
	return node && (what != IS_MAP || read_names(x, PROP_FLAGS, true, false, node)) ? node : NULL;
}

static struct ctf_node *read_float(struct field_reading *x, unsigned what)
{
	struct ctf_node *node = new_node(x, CTF_FLOAT);
	if (!node || !read_fixed(x, LIMIT_FLOAT_BITS, &node->t))
		return NULL;
	unsigned bits = node->t.bits;
	node->min_bits = bits;
	if (bits != 16 && (bits < 32 || bits % 32 || bits == 96))
		return refuse(x, CORRUPT, "'length' is not a size of IEEE 754");
	return node;
}

/* ---- texts and bytes ---- */

static bool read_encoding(struct field_reading *x, uint8_t *ret)
{
	static const char *const words[] = { "utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be",
					     NULL };	/* in the order of enum ctf_encoding */
	int encoding = CTF_UTF8;
	if (!ctf2_word_of(x->v, &x->o, PROP_ENCODING, x->at, false, words, &encoding))
		return false;
	*ret = (uint8_t)encoding;
	return true;
}

static struct ctf_node *read_string(struct field_reading *x, unsigned what)
{
	struct ctf_node *node = new_node(x, CTF_STRING);
	if (!node || !read_encoding(x, &node->t.encoding))
		return NULL;
	node->t.align = 8;
	node->min_bits = 8;
	node->dynamic = true;
	return node;
}

static bool read_length(struct field_reading *x, struct ctf_node *node, uint64_t element_bits)
{
	if (!ctf2_number_of(x->v, &x->o, PROP_LENGTH, x->at, true, &node->t.length))
		return false;
	uint64_t all;
	if (__builtin_mul_overflow(node->t.length, MAX(element_bits, 1), &all) || all > LIMIT_ARRAY_BITS ||
	    (!element_bits && node->t.length > LIMIT_EMPTY_ELEMENTS))
		return refuse(x, UNSUPPORTED, "'length' makes the type too large");
	node->min_bits = node->t.length * element_bits;
	return true;
}

static bool read_length_location(struct field_reading *x, struct ctf_node *node)
{
	const struct ctf_type *type;
	if (!ctf2_locate(x->v, &x->o, PROP_LENGTH_LOCATION, x->at, &node->t.length_reg, &type))
		return false;
	return !type || !(type->is_signed || type->is_bool) ||
	       refuse(x, CORRUPT, "'length-field-location' names no unsigned integer");
}

enum { IS_DYNAMIC = 1 << 0, IS_TEXT = 1 << 1 };

/* An array of bytes. */
static struct ctf_node *read_bytes(struct field_reading *x, unsigned what)
{
	const struct ctf_type byte = {
		.kind = CTF_INTEGER, .align = 8, .bits = 8, .base = what & IS_TEXT ? 10 : 16,
	};
	struct ctf_node *node = new_node(x, what & IS_DYNAMIC ? CTF_SEQUENCE : CTF_ARRAY);
	struct field_reading none = { .v = x->v, .at = x->at };
	struct ctf_node *element = node ? finish_integer(&none, &byte, false) : NULL;
	if (!element)
		return NULL;
	node->t.element = &element->t;
	node->t.align = 8;
	node->t.is_text = what & IS_TEXT;
	if (!(what & IS_DYNAMIC ? read_length_location(x, node) : read_length(x, node, 8)))
		return NULL;
	const char *media = NULL;
	if (what & IS_TEXT ? !read_encoding(x, &node->t.encoding) : !read_roles(x, true, &node->t) ||
	    !ctf2_text_of(x->v, &x->o, PROP_MEDIA_TYPE, x->at, false, &media))
		return NULL;
	if ((node->t.roles & CTF_ROLE_UUID) && (what & IS_DYNAMIC || node->t.length != 16))
		return refuse(x, CORRUPT, "has the role of a uuid but not 16 bytes");
	return node;
}

/* ---- structures ---- */

static bool too_many(const struct ctf2 *v, const struct ctf2_at *at, uint32_t n)
{
	return n <= LIMIT_TYPE_SIZE ||
	       ctf2_fail((struct ctf2 *)v, at, UNSUPPORTED, "has more than %u members", LIMIT_TYPE_SIZE);
}

/* Moves the fields from `base` on from the stack to the node. */
static bool take_fields(struct field_reading *x, guint base, struct ctf_node *node)
{
	GArray *fields = x->v->p->fields;
	g_assert(base <= fields->len);
	size_t n = fields->len - base;
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	node->t.n_fields = (uint32_t)n;
	node->t.field = ctf_pool_alloc(x->v->p->pool, n * sizeof(struct ctf_field));
	for (size_t i = 0; i < n; i++) {
		node->t.field[i] = g_array_index(fields, struct ctf_field, base + i);
		if (!g_hash_table_add(seen, node->t.field[i].name))
			return refuse(x, CORRUPT, "has two members with the same name");
	}
	g_array_set_size(fields, base);
	return true;
}

static bool read_member(struct field_reading *x, struct ctf2_frame *f, uint32_t i, const struct ctf2_at *at)
{
	struct ctf2 *v = x->v;
	struct ctf2_at below = { .up = at, .key = "field-class" };
	struct ctf2_props o;
	const char *name = NULL;
	if (!ctf2_object(v, i, at, &o) || !ctf2_text_of(v, &o, PROP_NAME, at, true, &name))
		return false;
	if (!o.token[PROP_FIELD_CLASS])
		return ctf2_fail(v, at, CORRUPT, "'field-class' is missing");
	f->now = name;
	struct ctf_node *type = ctf2_field_class(v, o.token[PROP_FIELD_CLASS], &below);
	f->now = NULL;
	if (!type)
		return false;
	struct ctf_field field = { .name = (char *)name, .type = &type->t };
	g_array_append_val(v->p->fields, field);
	return true;
}

static bool read_members(struct field_reading *x, struct ctf2_frame *f, struct ctf_node *node)
{
	struct ctf2 *v = x->v;
	struct ctf2_at list = { .up = x->at, .key = "member-classes" }, here = { .up = &list };
	uint32_t i;
	if (!ctf2_list_of(v, &x->o, PROP_MEMBERS, x->at, JSON_ARRAY, false, &i))
		return false;
	uint32_t n = i ? ctf2_token(v, i)->count : 0;
	if (!too_many(v, x->at, n))
		return false;
	uint32_t each = i + 1;
	for (; here.index < n; here.index++) {
		if (!read_member(x, f, each, &here))
			return false;
		each = ctf2_token(v, each)->next;
	}
	return take_fields(x, f->base, node);
}

static struct ctf_node *read_struct(struct field_reading *x, unsigned what)
{
	struct ctf2 *v = x->v;
	struct ctf_node *node = new_node(x, CTF_STRUCT);
	if (!node || !ctf2_alignment_of(v, &x->o, PROP_MIN_ALIGNMENT, x->at, &node->t.align))
		return NULL;
	struct ctf2_frame f = { .up = v->top, .base = v->p->fields->len };
	if (f.up)
		f.up->down = &f;
	else
		v->bottom = &f;
	v->top = &f;
	bool ok = read_members(x, &f, node);
	v->top = f.up;
	if (f.up)
		f.up->down = NULL;
	else
		v->bottom = NULL;
	for (uint32_t i = 0; ok && i < node->t.n_fields; i++) {
		const struct ctf_type *t = node->t.field[i].type;
		node->t.align = MAX(node->t.align, t->align);
		node->min_bits = MIN(node->min_bits + ctf_node_of(t)->min_bits, LIMIT_ARRAY_BITS);
	}
	return ok ? node : NULL;
}

/* ---- arrays ---- */

static struct ctf_node *read_element(struct field_reading *x, enum ctf2_prop which)
{
	struct ctf2_at below = { .up = x->at, .key = ctf2_prop_name(which) };
	if (!x->o.token[which])
		return ctf2_fail(x->v, x->at, CORRUPT, "'%s' is missing", ctf2_prop_name(which));
	return ctf2_field_class(x->v, x->o.token[which], &below);
}

static struct ctf_node *read_array(struct field_reading *x, unsigned what)
{
	struct ctf_node *node = new_node(x, what & IS_DYNAMIC ? CTF_SEQUENCE : CTF_ARRAY);
	if (!node || !ctf2_alignment_of(x->v, &x->o, PROP_MIN_ALIGNMENT, x->at, &node->t.align))
		return NULL;
	/* The length of an array is outside its elements: it is located after they are parsed. */
	if (what & IS_DYNAMIC && !read_length_location(x, node))
		return NULL;
	struct ctf_node *element = read_element(x, PROP_ELEMENT);
	if (!element)
		return NULL;
	node->t.element = &element->t;
	node->t.align = MAX(node->t.align, element->t.align);
	if (!(what & IS_DYNAMIC) &&
	    !read_length(x, node, MAX(element->min_bits, element->min_bits ? element->t.align : 0)))
		return NULL;
	return node;
}

/* ---- variants and optionals ---- */

static bool set_selects(struct field_reading *x, GArray *all, const struct ctf_type *tag,
			 struct ctf_node *node)
{
	struct ctf_select *select = ctf_pool_alloc(x->v->p->pool, all->len * sizeof *select);
	if (all->len)
		memcpy(select, all->data, all->len * sizeof *select);
	node->t.select = select;
	node->t.n_selects = all->len;
	node->t.tag_is_signed = tag && tag->is_signed;
	return true;
}

static int by_low(const void *a, const void *b, void *is_signed)
{
	const struct ctf_select *x = a, *y = b;
	if (x->lo == y->lo)
		return 0;
	return (is_signed ? (int64_t)x->lo < (int64_t)y->lo : x->lo < y->lo) ? -1 : 1;
}

/* A selector value must not select two options. */
static bool check_disjoint(struct field_reading *x, GArray *all, bool is_signed)
{
	g_array_sort_with_data(all, by_low, GINT_TO_POINTER(is_signed));
	const struct ctf_select *widest = NULL;		/* the earlier option with the highest end */
	ARRAY_EACH(const struct ctf_select, s, all) {
		bool within = widest && ctf_within(is_signed, s->lo, widest->lo, widest->hi);
		if (within && s->option != widest->option)
			return refuse(x, CORRUPT, "has options whose ranges intersect");
		if (!within || !ctf_within(is_signed, s->hi, widest->lo, widest->hi))
			widest = s;
	}
	return true;
}

static bool read_option(struct field_reading *x, uint32_t i, const struct ctf2_at *at,
			const struct ctf_type *tag, uint32_t number, GArray *all)
{
	struct ctf2 *v = x->v;
	struct ctf2_at below = { .up = at, .key = "field-class" };
	struct ctf2_at ranges = { .up = at, .key = "selector-field-ranges" };
	struct ctf2_props o;
	const char *name = NULL;
	uint32_t list;
	if (!ctf2_object(v, i, at, &o) || !ctf2_text_of(v, &o, PROP_NAME, at, false, &name) ||
	    !ctf2_list_of(v, &o, PROP_SELECTOR_RANGES, at, JSON_ARRAY, true, &list) ||
	    !ctf2_ranges(v, list, &ranges, tag && tag->is_signed, number, all))
		return false;
	if (!o.token[PROP_FIELD_CLASS])
		return ctf2_fail(v, at, CORRUPT, "'field-class' is missing");
	struct ctf_node *type = ctf2_field_class(v, o.token[PROP_FIELD_CLASS], &below);
	if (!type)
		return false;
	if (!name) {
		g_autofree char *made = g_strdup_printf("%u", number);
		name = ctf_pool_string(v->p->pool, made, strlen(made));
	}
	struct ctf_field field = { .name = (char *)name, .type = &type->t };
	g_array_append_val(v->p->fields, field);
	return true;
}

/* Options are not put on the stack of fields while the variant is parsed: a location in one option must not find
 * another option. */
static bool read_options(struct field_reading *x, const struct ctf_type *tag, struct ctf_node *node)
{
	struct ctf2 *v = x->v;
	struct ctf2_at list = { .up = x->at, .key = "options" }, here = { .up = &list };
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct ctf_select));
	uint32_t i;
	if (!ctf2_list_of(v, &x->o, PROP_OPTIONS, x->at, JSON_ARRAY, true, &i))
		return false;
	uint32_t n = ctf2_token(v, i)->count;
	if (!n)
		return refuse(x, CORRUPT, "'options' is empty");
	if (!too_many(v, x->at, n))
		return false;
	struct ctf_field *options = ctf_pool_alloc(v->p->pool, n * sizeof *options);
	GArray *fields = v->p->fields;
	uint32_t each = i + 1;
	node->min_bits = LIMIT_ARRAY_BITS;
	for (; here.index < n; here.index++) {
		if (!read_option(x, each, &here, tag, here.index, all))
			return false;
		options[here.index] = g_array_index(fields, struct ctf_field, fields->len - 1);
		g_array_set_size(fields, fields->len - 1);
		node->min_bits = MIN(node->min_bits, ctf_node_of(options[here.index].type)->min_bits);
		each = ctf2_token(v, each)->next;
	}
	node->t.field = options;
	node->t.n_fields = n;
	return check_disjoint(x, all, tag && tag->is_signed) && set_selects(x, all, tag, node);
}

static struct ctf_node *read_variant(struct field_reading *x, unsigned what)
{
	struct ctf_node *node = new_node(x, CTF_VARIANT);
	const struct ctf_type *tag;
	if (!node || !ctf2_locate(x->v, &x->o, PROP_SELECTOR_LOCATION, x->at, &node->t.tag, &tag))
		return NULL;
	if (tag && tag->is_bool)
		return refuse(x, CORRUPT, "'selector-field-location' names a boolean");
	return read_options(x, tag, node) ? node : NULL;
}

static bool read_condition(struct field_reading *x, const struct ctf_type *tag, struct ctf_node *node)
{
	struct ctf2_at here = { .up = x->at, .key = "selector-field-ranges" };
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct ctf_select));
	bool is_bool = tag && tag->is_bool;
	uint32_t i;
	if (!ctf2_list_of(x->v, &x->o, PROP_SELECTOR_RANGES, x->at, JSON_ARRAY, tag && !is_bool, &i))
		return false;
	if (is_bool)
		g_array_append_val(all, ((struct ctf_select){ 1, UINT64_MAX, 0 }));
	else if (i && !ctf2_ranges(x->v, i, &here, tag && tag->is_signed, 0, all))
		return false;
	return set_selects(x, all, tag, node);
}

static struct ctf_node *read_optional(struct field_reading *x, unsigned what)
{
	struct ctf_node *node = new_node(x, CTF_OPTIONAL);
	const struct ctf_type *tag;
	if (!node || !ctf2_locate(x->v, &x->o, PROP_SELECTOR_LOCATION, x->at, &node->t.tag, &tag) ||
	    !read_condition(x, tag, node))
		return NULL;
	struct ctf_node *type = read_element(x, PROP_FIELD_CLASS);
	if (!type)
		return NULL;
	node->t.n_fields = 1;
	node->t.field = ctf_pool_alloc(x->v->p->pool, sizeof(struct ctf_field));
	node->t.field[0] = (struct ctf_field){ .name = ctf_pool_string(x->v->p->pool, "", 0),
					       .type = &type->t };
	return node;
}

/* ---- aliases ---- */

struct ctf2_alias {
	struct ctf2_text text;		/* a separate copy */
	uint32_t token;			/* its field class */
};

void ctf2_alias_free(void *alias)
{
	struct ctf2_alias *a = alias;
	g_free((char *)a->text.s);
	g_array_unref(a->text.tokens);
	g_free(a);
}

bool ctf2_add_alias(struct ctf2 *v, const char *name, uint32_t i, const struct ctf2_at *at)
{
	if (g_hash_table_contains(v->aliases, name))
		return ctf2_fail(v, NULL, CORRUPT, "'name' is already the name of an alias");
	v->unbound = true;
	v->cost = 0;
	bool ok = ctf2_field_class(v, i, at);
	v->unbound = false;
	if (!ok)
		return false;
	struct ctf2_alias *a = g_new0(struct ctf2_alias, 1);
	guint n = v->text.tokens->len;
	const struct json_token *whole = ctf2_token(v, 0);
	a->text.s = g_strndup(v->text.s, whole->at + whole->n);
	a->text.tokens = json_tokens_new();
	g_array_append_vals(a->text.tokens, v->text.tokens->data, n);
	a->token = i;
	g_hash_table_insert(v->aliases, (char *)name, a);
	return true;
}

static struct ctf_node *read_alias(struct ctf2 *v, uint32_t i, const struct ctf2_at *at)
{
	const char *name = ctf2_string(v, i, at);
	const struct ctf2_alias *a = name ? g_hash_table_lookup(v->aliases, name) : NULL;
	if (!a)
		return ctf2_fail(v, at, CORRUPT, "does not name an earlier field class alias");
	struct ctf2_text before = v->text;
	v->text = a->text;
	struct ctf_node *node = ctf2_field_class(v, a->token, at);
	v->text = before;
	return node;
}

/* ---- all field classes ---- */

static const struct field_class classes[] = {
	{ "fixed-length-unsigned-integer", read_integer, false },
	{ "fixed-length-signed-integer", read_integer, true },
	{ "structure", read_struct, 0 },
	{ "null-terminated-string", read_string, 0 },
	{ "static-length-string", read_bytes, IS_TEXT },
	{ "dynamic-length-string", read_bytes, IS_TEXT | IS_DYNAMIC },
	{ "static-length-array", read_array, 0 },
	{ "dynamic-length-array", read_array, IS_DYNAMIC },
	{ "variant", read_variant, 0 },
	{ "optional", read_optional, 0 },
	{ "static-length-blob", read_bytes, 0 },
	{ "dynamic-length-blob", read_bytes, IS_DYNAMIC },
	{ "fixed-length-floating-point-number", read_float, 0 },
	{ "fixed-length-boolean", read_bits, IS_BOOLEAN },
	{ "fixed-length-bit-array", read_bits, IS_ARRAY },
	{ "fixed-length-bit-map", read_bits, IS_MAP },
	{ "variable-length-unsigned-integer", read_var, false },
	{ "variable-length-signed-integer", read_var, true },
};

static const struct field_class *class_of(struct ctf2 *v, const struct ctf2_props *o,
					  const struct ctf2_at *at)
{
	uint32_t i = o->token[PROP_TYPE];
	const struct json_token *t = i ? ctf2_token(v, i) : NULL;
	if (t && t->kind == JSON_STRING && json_string(v->text.s, t, v->scratch))
		for (size_t k = 0; k < G_N_ELEMENTS(classes); k++)
			if (!strcmp(classes[k].name, v->scratch->str))
				return &classes[k];
	ctf2_fail(v, at, CORRUPT, i ? "'type' is not a known field class" : "'type' is missing");
	return NULL;
}

/* Only unsigned integers and BLOBs may have roles. */
static bool check_roles(const struct field_reading *x, const struct field_class *c)
{
	bool may = ((c->read == read_integer || c->read == read_var) && !c->what) ||
		   (c->read == read_bytes && !(c->what & IS_TEXT));
	return may || !x->o.token[PROP_ROLES] || refuse(x, CORRUPT, "has 'roles', which its type cannot have");
}

struct ctf_node *ctf2_field_class(struct ctf2 *v, uint32_t i, const struct ctf2_at *at)
{
	struct field_reading x = { .v = v, .at = at };
	if (v->depth >= LIMIT_TYPE_DEPTH || ++v->cost > LIMIT_TYPE_SIZE ||
	    ++v->p->all_cost > LIMIT_ALL_TYPES)
		return ctf2_fail(v, at, UNSUPPORTED, "is nested more than %d deep, or one of more "
				 "than %u types", LIMIT_TYPE_DEPTH, LIMIT_TYPE_SIZE);
	v->depth++;
	struct ctf_node *node = NULL;
	if (ctf2_token(v, i)->kind == JSON_STRING) {
		node = read_alias(v, i, at);
	} else if (ctf2_object(v, i, at, &x.o)) {
		const struct field_class *c = class_of(v, &x.o, at);
		node = c && check_roles(&x, c) ? c->read(&x, c->what) : NULL;
	}
	v->depth--;
	return v->error ? NULL : node;
}

bool ctf2_scope(struct ctf2 *v, const struct ctf2_props *o, enum ctf2_prop which, enum ctf_root root)
{
	struct ctf2_at at = { .key = ctf2_prop_name(which) };
	v->now = root;
	v->root[root] = NULL;
	v->cost = 0;
	if (!o->token[which])
		return true;
	g_array_set_size(v->p->fields, 0);
	struct ctf_node *node = ctf2_field_class(v, o->token[which], &at);
	if (!node)
		return false;
	if (node->t.kind != CTF_STRUCT)
		return ctf2_fail(v, &at, CORRUPT, "is not a structure");
	v->root[root] = node;
	return true;
}
