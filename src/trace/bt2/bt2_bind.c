/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Binds an event class to a row of the subscription table, once: finds the path to each requested field. Then reading
 * an event only follows indexes.
 */
#include "trace/bt2/bt2_bind.h"
#include "trace/bt2/bt2_all.h"
#include "trace/bt2/bt2_mip.h"
#include "trace/ctf/ctf_all.h"
#include "trace/ctf/layouts.h"

#include "base/limits.h"

static bool type_is(const bt_field_class *fc, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_class_get_type(fc), type);
}

static bool field_is(const bt_field *f, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_get_class_type(f), type);
}

/* ---- types ---- */

static struct ctf_type *make_type(struct bt2_types *t, const bt_field_class *fc, unsigned depth);

static struct ctf_type *new_type(struct bt2_types *t, enum ctf_kind kind)
{
	struct ctf_type *type = arena_alloc(&t->memory, sizeof *type);

	*type = (struct ctf_type){ .kind = (uint8_t)kind, .base = 10 };
	return type;
}

static struct ctf_type *make_integer(struct bt2_types *t, const bt_field_class *fc)
{
	struct ctf_type *type = new_type(t, type_is(fc, BT_FIELD_CLASS_TYPE_ENUMERATION) ? CTF_ENUM : CTF_INTEGER);

	type->bits = (uint16_t)bt_field_class_integer_get_field_value_range(fc);
	type->is_signed = type_is(fc, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	if (bt_field_class_integer_get_preferred_display_base(fc) ==
	    BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL)
		type->base = 16;
	return type;
}

static struct ctf_type *make_array(struct bt2_types *t, const bt_field_class *fc, unsigned depth)
{
	bool is_static = type_is(fc, BT_FIELD_CLASS_TYPE_STATIC_ARRAY);
	struct ctf_type *type = new_type(t, is_static ? CTF_ARRAY : CTF_SEQUENCE);

	type->element = make_type(t, bt_field_class_array_borrow_element_field_class_const(fc), depth);
	if (is_static)
		type->length = bt_field_class_array_static_get_length(fc);
	return type;
}

static struct ctf_type *new_compound(struct bt2_types *t, enum ctf_kind kind, uint64_t n)
{
	struct ctf_type *type = new_type(t, kind);

	type->n_fields = (uint32_t)n;
	type->field = arena_alloc(&t->memory, (n + 1) * sizeof *type->field);
	return type;
}

static void set_field(struct bt2_types *t, struct ctf_type *type, uint64_t i, const char *name,
		      const bt_field_class *fc, unsigned depth)
{
	type->field[i] = (struct ctf_field){ .name = (char *)(name ? name : ""), .type = make_type(t, fc, depth) };
}

static struct ctf_type *make_struct(struct bt2_types *t, const bt_field_class *fc, unsigned depth)
{
	uint64_t n = bt_field_class_structure_get_member_count(fc);
	struct ctf_type *type = new_compound(t, CTF_STRUCT, n);

	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *m = bt_field_class_structure_borrow_member_by_index_const(fc, i);
		set_field(t, type, i, bt_field_class_structure_member_get_name(m),
			  bt_field_class_structure_member_borrow_field_class_const(m), depth);
	}
	return type;
}

static struct ctf_type *make_variant(struct bt2_types *t, const bt_field_class *fc, unsigned depth)
{
	uint64_t n = bt_field_class_variant_get_option_count(fc);
	struct ctf_type *type = new_compound(t, CTF_VARIANT, n);

	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_variant_option *o = bt_field_class_variant_borrow_option_by_index_const(fc, i);
		set_field(t, type, i, bt_field_class_variant_option_get_name(o),
			  bt_field_class_variant_option_borrow_field_class_const(o), depth);
	}
	return type;
}

/* A type that no field is delivered of, if it is too deep. */
static struct ctf_type *make_type(struct bt2_types *t, const bt_field_class *fc, unsigned depth)
{
	if (++depth > LIMIT_TYPE_DEPTH)
		return new_type(t, CTF_FLOAT);
	if (type_is(fc, BT_FIELD_CLASS_TYPE_INTEGER))
		return make_integer(t, fc);
	if (type_is(fc, BT_FIELD_CLASS_TYPE_BOOL) || type_is(fc, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		return new_type(t, CTF_INTEGER);
	if (type_is(fc, BT_FIELD_CLASS_TYPE_STRING))
		return new_type(t, CTF_STRING);
	if (type_is(fc, BT_FIELD_CLASS_TYPE_STRUCTURE))
		return make_struct(t, fc, depth);
	if (type_is(fc, BT_FIELD_CLASS_TYPE_ARRAY))
		return make_array(t, fc, depth);
	if (type_is(fc, BT_FIELD_CLASS_TYPE_VARIANT))
		return make_variant(t, fc, depth);
	if (type_is(fc, BT_FIELD_CLASS_TYPE_OPTION)) {
		struct ctf_type *type = new_compound(t, CTF_OPTIONAL, 1);
		set_field(t, type, 0, NULL, bt_field_class_option_borrow_field_class_const(fc), depth);
		return type;
	}
	if (type_is(fc, BT_FIELD_CLASS_TYPE_REAL)) {
		struct ctf_type *real = new_type(t, CTF_FLOAT);
		real->bits = type_is(fc, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) ? 32 : 64;
		return real;
	}
	struct ctf_type *type = new_type(t, bt2_is_blob(fc) ? CTF_SEQUENCE : CTF_FLOAT);
	if (type->kind == CTF_SEQUENCE)
		type->element = new_type(t, CTF_INTEGER);
	return type;
}

static const struct ctf_type *make_root(struct bt2_types *t, const bt_field_class *fc)
{
	return fc ? make_type(t, fc, 0) : NULL;
}

void bt2_types_init(struct bt2_types *t, const bt_event_class *ec)
{
	const char *name = bt_event_class_get_name(ec);

	*t = (struct bt2_types){ .ec.name = (char *)(name ? name : "?") };
	t->sc.event_context = make_root(t, bt_stream_class_borrow_event_common_context_field_class_const(
					   bt_event_class_borrow_stream_class_const(ec)));
	t->ec.context = make_root(t, bt_event_class_borrow_specific_context_field_class_const(ec));
	t->ec.fields = make_root(t, bt_event_class_borrow_payload_field_class_const(ec));
}

void bt2_types_clear(struct bt2_types *t)
{
	arena_clear(&t->memory);
}

/* ---- bindings ---- */

static void add_getter(struct bt2_binding *b, struct blk_layout *layout, const struct ctf_wanted *w)
{
	g_assert(b->n_getters < BLK_MAX_SLOTS && w->slot < BLK_MAX_SLOTS);
	struct blk_slot_layout *l = &layout->slot[w->slot];
	b->getter[b->n_getters++] = (struct bt2_getter){ *w, b->size };
	l->off = b->size;
	if (!ctf_want_number(w->kind)) {
		l->repr = w->kind == CTF_WANT_TEXT ? BLK_TEXT_REF : BLK_BYTES_REF;
		b->size += sizeof(struct blk_text);
		return;
	}
	l->repr = w->kind == CTF_WANT_INT ? BLK_INT : BLK_REAL;
	l->size = w->kind == CTF_WANT_REAL && w->leaf->bits == 32 ? 4 : 8;
	l->is_signed = w->leaf->is_signed;
	l->is_hex = w->leaf->base == 16;
	b->size += 8;
}

static bool find_cpu(const struct bt2_types *t, enum ctf_scope scope, struct ctf_wanted *ret)
{
	const struct ctf_type *root = ctf_scope_type(&t->sc, &t->ec, scope);
	const struct ctf_field *f = root ? ctf_type_field(root, "perf_cpu") : NULL;

	if (!f || f->type->kind != CTF_INTEGER || f->type->is_signed)
		return false;
	*ret = (struct ctf_wanted){ .scope = (uint8_t)scope, .n_ways = 1, .way = { (uint32_t)(f - root->field) } };
	return true;
}

struct bt2_binding *bt2_binding_new(const struct bt2_types *t, const struct blk_subscription *row,
				    uint16_t row_index, uint32_t cls, GHashTable *layouts)
{
	struct bt2_binding *b = g_new0(struct bt2_binding, 1);
	struct ctf_wanted w[BLK_MAX_SLOTS];
	struct blk_layout layout = { 0 };
	struct ctf_contexts common;

	b->row = row ? row_index : G_MAXUINT16;
	b->cls = cls;
	b->all = blk_slot_of_all(row);
	b->has_cpu = find_cpu(t, CTF_PAYLOAD, &b->cpu.w) || find_cpu(t, CTF_COMMON, &b->cpu.w);
	if (!row)
		return b;
	ctf_contexts_find(&t->sc, &common);
	unsigned n = ctf_wanted_find(&common, &t->ec, row, w);
	for (unsigned i = 0; i < n; i++)
		add_getter(b, &layout, &w[i]);
	if (b->all >= 0) {
		b->all_off = b->size;
		layout.slot[b->all] = (struct blk_slot_layout){ .off = b->size, .repr = BLK_BYTES_REF };
		b->size += sizeof(struct blk_text);
	}
	b->size = MAX(b->size, 8);	/* so that a row is never NULL */
	b->layouts = layouts;
	b->layout = layouts_intern(layouts, &layout);
	return b;
}

void bt2_binding_free(struct bt2_binding *b)
{
	if (!b)			/* the array of classes has gaps */
		return;
	fields_clear(&b->run);
	g_free(b);
}

/* ---- reading ---- */

static const bt_field *root_of(const bt_event *event, enum ctf_scope scope)
{
	return scope == CTF_PAYLOAD ? bt_event_borrow_payload_field_const(event) :
	       scope == CTF_SPECIFIC ? bt_event_borrow_specific_context_field_const(event) :
	       bt_event_borrow_common_context_field_const(event);
}

/* Follows all ways; NULL: this event does not have the field. */
static const bt_field *find(const struct ctf_wanted *w, const bt_event *event)
{
	const bt_field *f = root_of(event, w->scope);

	for (unsigned i = 0; f && i < w->n_ways; i++) {
		uint32_t way = w->way[i];
		if (field_is(f, BT_FIELD_CLASS_TYPE_STRUCTURE))
			f = bt_field_structure_borrow_member_field_by_index_const(f, way);
		else if (field_is(f, BT_FIELD_CLASS_TYPE_ARRAY))
			f = way < bt_field_array_get_length(f) ?
				bt_field_array_borrow_element_field_by_index_const(f, way) : NULL;
		else if (field_is(f, BT_FIELD_CLASS_TYPE_VARIANT))
			f = bt_field_variant_get_selected_option_index(f) == way ?
				bt_field_variant_borrow_selected_option_field_const(f) : NULL;
		else if (field_is(f, BT_FIELD_CLASS_TYPE_OPTION))
			f = bt_field_option_borrow_field_const(f);
		else
			f = NULL;	/* a byte of a BLOB */
	}
	return f;
}

static uint64_t read_integer(const bt_field *f)
{
	if (field_is(f, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return bt_field_integer_unsigned_get_value(f);
	if (field_is(f, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return (uint64_t)bt_field_integer_signed_get_value(f);
	if (field_is(f, BT_FIELD_CLASS_TYPE_BOOL))
		return bt_field_bool_get_value(f);
	return bt_field_bit_array_get_value_as_integer(f);
}

/* The bits of a floating-point number, as many as its type has. */
static uint64_t read_real(const bt_field *f)
{
	uint64_t bits = 0;
	if (field_is(f, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)) {
		float single = bt_field_real_single_precision_get_value(f);
		uint32_t half;
		memcpy(&half, &single, sizeof half);
		return half;
	}
	double real = bt_field_real_double_precision_get_value(f);
	memcpy(&bits, &real, sizeof bits);
	return bits;
}

static struct blk_text copy_bytes(const void *bytes, uint64_t n, struct arena *arena)
{
	if (!n || n > G_MAXINT32)
		return (struct blk_text){ "", 0 };
	char *copy = arena_alloc(arena, n);
	memcpy(copy, bytes, n);
	return (struct blk_text){ copy, (uint32_t)n };
}

/* Bytes of an element of the array. */
static unsigned width_of(const bt_field *array)
{
	const bt_field_class *element = bt_field_class_array_borrow_element_field_class_const(
		bt_field_borrow_class_const(array));
	uint64_t bits = type_is(element, BT_FIELD_CLASS_TYPE_INTEGER) ?
		bt_field_class_integer_get_field_value_range(element) : 64;

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

/* The elements as bytes; text ends at a NUL. */
static struct blk_text copy_array(const bt_field *f, bool is_text, struct arena *arena)
{
	uint64_t n = bt_field_array_get_length(f);
	if (!n || n > G_MAXINT32 / 8)
		return (struct blk_text){ "", 0 };
	unsigned width = width_of(f);
	char *copy = arena_alloc(arena, n * width);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t v = GUINT64_TO_LE(read_integer(bt_field_array_borrow_element_field_by_index_const(f, i)));
		memcpy(copy + i * width, &v, width);
	}
	return (struct blk_text){ copy, is_text ? strnlen(copy, n * width) : n * width };
}

static struct blk_text copy_text(const bt_field *f, bool is_text, struct arena *arena)
{
	/* The length is asked first: for an empty string babeltrace2 2.0 returns the text of an older event. */
	if (field_is(f, BT_FIELD_CLASS_TYPE_STRING)) {
		uint64_t n = bt_field_string_get_length(f);
		return copy_bytes(n ? bt_field_string_get_value(f) : "", n, arena);
	}
	if (field_is(f, BT_FIELD_CLASS_TYPE_ARRAY))
		return copy_array(f, is_text, arena);
	uint64_t n;
	const uint8_t *bytes = bt2_blob(f, &n);
	return copy_bytes(bytes, n, arena);
}

static void read_leaf(const struct bt2_getter *g, const bt_field *f, struct arena *arena, uint8_t *row)
{
	if (ctf_want_number(g->w.kind)) {
		blk_store_int(row + g->off, g->w.kind == CTF_WANT_INT ? read_integer(f) : read_real(f));
		return;
	}
	struct blk_text t = copy_text(f, g->w.kind == CTF_WANT_TEXT, arena);
	memcpy(row + g->off, &t, sizeof t);
}

/* The layout without the slots of the mask: options of a variant that are not selected, elements beyond the end. */
static const struct blk_layout *partial_layout(struct bt2_binding *b, uint32_t missing)
{
	struct blk_layout l = *b->layout;
	for (unsigned i = 0; i < BLK_MAX_SLOTS; i++)
		if (missing & 1u << i)
			l.slot[i] = (struct blk_slot_layout){ 0 };
	return layouts_intern(b->layouts, &l);
}

void bt2_binding_read(struct bt2_binding *b, const bt_event *event, struct arena *arena,
		      struct blk_event *ret)
{
	uint8_t *row = arena_alloc(arena, b->size);
	uint32_t missing = 0;
	for (uint32_t i = 0; i < b->n_getters; i++) {
		const struct bt2_getter *g = &b->getter[i];
		const bt_field *f = find(&g->w, event);
		if (G_LIKELY(f))
			read_leaf(g, f, arena, row);
		else
			missing |= 1u << g->w.slot;
	}
	if (b->all >= 0) {
		struct blk_text t = bt2_all_read(event, &b->run, arena);
		memcpy(row + b->all_off, &t, sizeof t);
	}
	ret->data = row;
	ret->layout = G_LIKELY(!missing) ? b->layout : partial_layout(b, missing);
	ret->cls = b->cls;
	ret->row = b->row;
}

uint32_t bt2_binding_cpu(const struct bt2_binding *b, const bt_event *event)
{
	const bt_field *f = b->has_cpu ? find(&b->cpu.w, event) : NULL;
	return f ? (uint32_t)MIN(read_integer(f), UINT32_MAX) : UINT32_MAX;
}
