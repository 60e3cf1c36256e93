/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads all fields of an event from babeltrace2: see bt2_all.h. */
#include "trace/bt2/bt2_all.h"
#include "trace/bt2/bt2_mip.h"

#include "base/limits.h"

#include <string.h>

struct bt2_all {
	struct fields_run *to;
	uint8_t scope;			/* enum field_scope */
	unsigned depth;
};

static void put_field(struct bt2_all *a, const char *name, const bt_field *f);
static void put_option(struct bt2_all *a, const bt_field *f);

static bool is(const bt_field *f, bt_field_class_type kind)
{
	return bt_field_class_type_is(bt_field_get_class_type(f), kind);
}

static void put(struct bt2_all *a, struct field f, const char *name)
{
	f.name = name;
	f.scope = a->scope;
	fields_put(a->to, &f);
}

/* The first of an enumeration's labels, as the native reader takes it. */
static const char *label_of(const bt_field *f)
{
	bt_field_class_enumeration_mapping_label_array labels = NULL;
	uint64_t n = 0;
	if (is(f, BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION))
		bt_field_enumeration_unsigned_get_mapping_labels(f, &labels, &n);
	else if (is(f, BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION))
		bt_field_enumeration_signed_get_mapping_labels(f, &labels, &n);
	return n ? labels[0] : NULL;
}

static void put_integer(struct bt2_all *a, const char *name, const bt_field *f)
{
	bool is_signed = is(f, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	const char *label = label_of(f);
	put(a, (struct field){
		.kind = is_signed ? FIELD_SIGNED : FIELD_UNSIGNED,
		.value = is_signed ? (uint64_t)bt_field_integer_signed_get_value(f)
				   : bt_field_integer_unsigned_get_value(f),
		.base = (uint8_t)bt_field_class_integer_get_preferred_display_base(
			bt_field_borrow_class_const(f)),
		.text = label, .len = label ? (uint32_t)strlen(label) : 0,
		.bytes = (uint32_t)(bt_field_class_integer_get_field_value_range(
			bt_field_borrow_class_const(f)) + 7) / 8 }, name);
}

static void put_members(struct bt2_all *a, const bt_field *f)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	uint64_t n = bt_field_class_structure_get_member_count(fc);
	for (uint64_t i = 0; i < n; i++)
		put_field(a, bt_field_class_structure_member_get_name(
				  bt_field_class_structure_borrow_member_by_index_const(fc, i)),
			  bt_field_structure_borrow_member_field_by_index_const(f, i));
}

/* Structures, arrays, variants: the begin, the content, the end. */
static void put_compound(struct bt2_all *a, const char *name, const bt_field *f)
{
	uint64_t n = 1;
	bool is_list = is(f, BT_FIELD_CLASS_TYPE_ARRAY);
	if (a->depth == LIMIT_TYPE_DEPTH)
		return;
	a->depth++;
	if (is_list)
		n = bt_field_array_get_length(f);
	else if (is(f, BT_FIELD_CLASS_TYPE_STRUCTURE))
		n = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(f));
	put(a, (struct field){ .kind = FIELD_BEGIN, .is_list = is_list, .value = n }, name);
	if (is_list)
		for (uint64_t i = 0; i < n; i++)
			put_field(a, NULL, bt_field_array_borrow_element_field_by_index_const(f, i));
	else if (is(f, BT_FIELD_CLASS_TYPE_STRUCTURE))
		put_members(a, f);
	else if (is(f, BT_FIELD_CLASS_TYPE_VARIANT))
		put_option(a, f);
	put(a, (struct field){ .kind = FIELD_END }, NULL);
	a->depth--;
}

/* Bytes, as the elements of a list. */
static void put_blob(struct bt2_all *a, const char *name, const bt_field *f)
{
	uint64_t n;
	const uint8_t *bytes = bt2_blob(f, &n);
	put(a, (struct field){ .kind = FIELD_BEGIN, .is_list = true, .value = n }, name);
	for (uint64_t i = 0; i < n; i++)
		put(a, (struct field){ .kind = FIELD_UNSIGNED, .base = 16, .value = bytes[i], .bytes = 1 }, NULL);
	put(a, (struct field){ .kind = FIELD_END }, NULL);
}

static void put_bits(struct bt2_all *a, const char *name, const bt_field *f)
{
	g_autofree char *flags = bt2_flags(f);
	put(a, (struct field){ .kind = FIELD_UNSIGNED, .base = 16,
			       .value = bt_field_bit_array_get_value_as_integer(f),
			       .text = flags, .len = flags ? (uint32_t)strlen(flags) : 0,
			       .bytes = (uint32_t)(bt_field_class_bit_array_get_length(
				       bt_field_borrow_class_const(f)) + 7) / 8 }, name);
}

static void put_optional(struct bt2_all *a, const char *name, const bt_field *f)
{
	const bt_field *is_there = bt_field_option_borrow_field_const(f);
	if (is_there)
		put_field(a, name, is_there);
}

/* The name is the option's, or its number if it has none. */
static void put_option(struct bt2_all *a, const bt_field *f)
{
	char number[24];
	const char *name = bt_field_class_variant_option_get_name(
		bt_field_variant_borrow_selected_option_class_const(f));
	g_snprintf(number, sizeof number, "%" G_GUINT64_FORMAT,
		   bt_field_variant_get_selected_option_index(f));
	put_field(a, name ? name : number, bt_field_variant_borrow_selected_option_field_const(f));
}

static void put_field(struct bt2_all *a, const char *name, const bt_field *f)
{
	if (fields_is_length(name))
		return;
	if (is(f, BT_FIELD_CLASS_TYPE_INTEGER))
		put_integer(a, name, f);
	else if (is(f, BT_FIELD_CLASS_TYPE_STRING))
		/* The length is asked first: for an empty string babeltrace2 2.0.4 returns the text of an older
		 * event. */
		put(a, (struct field){ .kind = FIELD_TEXT, .len = (uint32_t)bt_field_string_get_length(f),
				       .text = bt_field_string_get_value(f) }, name);
	else if (is(f, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
		put(a, (struct field){ .kind = FIELD_REAL, .bytes = 4, .real = (double)
				       bt_field_real_single_precision_get_value(f) }, name);
	else if (is(f, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL))
		put(a, (struct field){ .kind = FIELD_REAL, .bytes = 8, .real =
				       bt_field_real_double_precision_get_value(f) }, name);
	else if (is(f, BT_FIELD_CLASS_TYPE_BOOL))
		put(a, (struct field){ .kind = FIELD_UNSIGNED, .base = 10, .bytes = 1,
				       .value = bt_field_bool_get_value(f) }, name);
	else if (is(f, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		put_bits(a, name, f);
	else if (is(f, BT_FIELD_CLASS_TYPE_OPTION))
		put_optional(a, name, f);
	else if (bt2_is_blob(bt_field_borrow_class_const(f)))
		put_blob(a, name, f);
	else
		put_compound(a, name, f);
}

struct blk_text bt2_all_read(const bt_event *event, struct fields_run *run, struct arena *arena)
{
	const bt_field *scopes[] = {
		bt_event_borrow_common_context_field_const(event),
		bt_event_borrow_specific_context_field_const(event),
		bt_event_borrow_payload_field_const(event),
	};
	struct bt2_all a = { .to = run };
	fields_begin(run);
	for (unsigned i = 0; i < G_N_ELEMENTS(scopes); i++) {
		a.scope = (uint8_t)i;
		if (scopes[i])
			put_members(&a, scopes[i]);
	}
	char *copy = arena_alloc(arena, MAX(run->bytes->len, 1));
	memcpy(copy, run->bytes->data, run->bytes->len);
	return (struct blk_text){ copy, run->bytes->len };
}
